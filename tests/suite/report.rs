//! The ratios of times to a gap on the pages about one folder and about two: paired by seed, with an interval and a verdict.

use std::path::Path;

use crate::common::hand::{self, point, run};
use ssvm_bench::Budget;
use ssvm_bench::render::report::{self, Beside, Page};
use ssvm_bench::store::RunRecord;
use ssvm_bench::study::Summary;
use ssvm_bench::study::{Study, targets};

/// Five runs that come from a gap of 0.8 at 1 s to one of 0.05 at `last`; those of `cut` seeds end at 0.7 after 1.5 s.
fn repeats(solver: &str, last: f64, cut: u64) -> Vec<RunRecord> {
    let end = |repeat: u64| if repeat < cut { point(2, 1.5, 1.7, 1.0) } else { point(2, last, 1.05, 1.0) };
    (0..5).map(|repeat| run("usps", solver, repeat, vec![point(1, 1.0, 1.8, 1.0), end(repeat)])).collect()
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
    let summaries = [old, new].map(|results| Summary::of(results, Path::new("results")).unwrap());
    let [a, b] = &summaries;
    let sides =
        [("A", old, a), ("B", new, b)].map(|(name, results, summary)| Page { name, results, summary, figures: &[] });
    report::side_by_side(&Beside { sides, findings: Ok(Vec::new()) }).unwrap()
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
    assert!(ratio(2).contains("1.63× (0.849 to ∞), undecided"), "{}", ratio(2));
    assert!(of_medians(2).is_some() && of_medians(2) == of_medians(0));
    // Most of them ended: what is left is a bound.
    assert!(ratio(3).contains("≥0.849× (0.849 to ∞), undecided"), "{}", ratio(3));
    assert_eq!(of_medians(3), None);
}

#[test]
fn a_run_that_ended_before_the_gap_bounds_the_ratio_of_two_folders() {
    let old = hand::results(&repeats("bcfw", 20.0, 0));
    let ratio = |last: f64, cut: u64| row(&both(&old, &hand::results(&repeats("bcfw", last, cut))), "3e-1");
    assert!(ratio(5.0, 0).contains("0.612× (0.612 to 0.612), B faster"), "{}", ratio(5.0, 0));
    assert!(ratio(80.0, 0).contains("1.63× (1.63 to 1.63), B slower"), "{}", ratio(80.0, 0));
    assert!(ratio(5.0, 2).contains("0.612× (0.520 to ∞), undecided"), "{}", ratio(5.0, 2));
}

#[test]
fn times_of_different_machines_are_not_judged() {
    let mut other = repeats("bcfw", 5.0, 0);
    for record in &mut other {
        "another kind of machine".clone_into(&mut record.environment.host_class);
    }
    let [old, new] = [repeats("bcfw", 20.0, 0), other].map(|records| hand::results(&records));
    let text = row(&both(&old, &new), "3e-1");
    assert!(text.contains("0.612× (0.612 to 0.612), not judged: different machines"), "{text}");
}

#[test]
fn times_under_different_budgets_are_not_judged_and_equal_ones_are_the_same() {
    let old = hand::results(&repeats("bcfw", 20.0, 0));
    let ratio = |records: &[RunRecord]| row(&both(&old, &hand::results(records)), "3e-1");
    assert!(ratio(&repeats("bcfw", 20.0, 0)).contains("1.00× (1.00 to 1.00), the same"));
    let mut other = repeats("bcfw", 5.0, 0);
    for record in &mut other {
        record.identity.settings.budget = Budget::iterations(7);
    }
    assert!(ratio(&other).contains("not judged: different budgets or cadences"), "{}", ratio(&other));
}
