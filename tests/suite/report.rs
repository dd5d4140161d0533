//! The ratios of times to a gap on the page about one folder, and that the page about two has one table of ratios.

use std::path::Path;

use crate::common::hand::{self, point, run};
use ssvm_bench::Value;
use ssvm_bench::gate::rounds::Design;
use ssvm_bench::gate::{folders, measure};
use ssvm_bench::render::report::{self, Beside, Page};
use ssvm_bench::store::RunRecord;
use ssvm_bench::study::Summary;
use ssvm_bench::study::{Study, targets};

/// Five runs that come from a gap of 0.8 at 1 s to one of 0.05 at `last`, a power law with evaluations near each other; those of `cut`
/// seeds end at 0.7 after 1.5 s.
fn repeats(solver: &str, last: f64, cut: u64) -> Vec<RunRecord> {
    let part = |k: u64| k as f64 / 5.0;
    let law = |k: u64| point(k + 1, last.powf(part(k)), 1.0 + 0.8 * 0.0625_f64.powf(part(k)), 1.0);
    let points = |repeat: u64| {
        if repeat < cut { vec![law(0), point(2, 1.5, 1.7, 1.0)] } else { (0..=5).map(law).collect() }
    };
    (0..5).map(|repeat| run("usps", solver, repeat, points(repeat))).collect()
}

/// What the section about times to a gap says about the gap 0.3, without markup.
fn row(page: &str, gap: &str) -> String {
    let section = page.split("id=\"targets\"").nth(1).unwrap().split("</section>").next().unwrap();
    let row = section.split("<tr>").find(|row| row.contains(gap)).unwrap_or_else(|| panic!("no {gap} in {section}"));
    let mut text = String::new();
    for part in row.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
        text.push(' ');
    }
    text
}

fn both(old: &Study, new: &Study) -> String {
    let summaries = [old, new].map(|results| Summary::of(results, Path::new("results")));
    let [a, b] = &summaries;
    let sides =
        [("A", old, a), ("B", new, b)].map(|(name, results, summary)| Page { name, results, summary, figures: &[] });
    let [old, new] = [old, new].map(|results| measure::by_cell(results.own.records()).unwrap());
    let compared = folders::compare(&old, &new, &Design::default()).map_err(|error| error.to_string());
    report::side_by_side(&Beside { sides, compared }).unwrap()
}

#[test]
fn a_run_that_ended_before_the_gap_bounds_the_ratio_of_two_solvers() {
    let results = |cut: u64| hand::results(&[repeats("bcfw", 20.0, cut), repeats("mp-bcfw", 5.0, 0)].concat());
    let ratio = |cut: u64| row(&hand::page("usps", &results(cut)).unwrap(), "3e-1");
    // The former value of the cell: it does not see that runs are censored.
    let of_medians = |cut: u64| {
        let cells = targets::time_to_gap(&results(cut).own, "usps").remove(0).cells;
        Some(cells[0].time_s? / cells[1].time_s?)
    };
    assert!(ratio(0).contains("1.63× (1.63 to 1.63), faster"), "{}", ratio(0));
    // Two of five runs of BCFW ended after 1.5 s: there it may need 0.85 times the time of MP-BCFW.
    assert!(ratio(2).contains("1.63× (from 0.849), undecided"), "{}", ratio(2));
    assert!(of_medians(2).is_some() && of_medians(2) == of_medians(0));
    // Most of them ended: what is left is a bound.
    assert!(ratio(3).contains("≥0.849× (from 0.849), undecided"), "{}", ratio(3));
    assert_eq!(of_medians(3), None);
}

#[test]
fn two_folders_have_one_table_of_ratios() {
    let [old, new] = [20.0, 5.0].map(|last| hand::results(&repeats("bcfw", last, 0)));
    let page = both(&old, &new);
    assert!(page.contains("-75.0 % (-75.0 % to -75.0 %)"), "the comparison of folders");
    assert!(row(&page, "3e-1").contains("2.89 s") && !page.contains("B over A"), "{}", row(&page, "3e-1"));
    assert!(page.contains("5 repeats cannot support a confidence of 95 % over"), "and what its repeats support");
}

/// Both folders call it `mp-bcfw`: a label names only what differs inside a folder.
#[test]
fn settings_of_one_solver_in_two_folders_do_not_stand_beside_each_other() {
    let with = |lifetime: u64| {
        let mut records = [repeats("bcfw", 20.0, 0), repeats("mp-bcfw", 5.0, 0)].concat();
        for record in records.iter_mut().filter(|record| record.solver() == "mp-bcfw") {
            let settings = &mut record.identity.settings;
            settings.solver = settings.solver.clone().with("T", Value::Count(lifetime));
        }
        hand::results(&records)
    };
    let shown = |page: &str, id: &str| {
        let section =
            page.split(&format!("id=\"{id}\"")).nth(1).unwrap().split("</section>").next().unwrap().to_owned();
        ["BCFW", "MP-BCFW"].map(|name| section.contains(&format!(">{name}<")))
    };
    let (same, other) = (both(&with(5), &with(5)), both(&with(5), &with(7)));
    for id in ["targets", "oracle"] {
        assert_eq!(shown(&same, id), [true, true], "{id}");
        assert_eq!(shown(&other, id), [true, false], "{id}");
    }
}
