//! The league on hand-made runs with known answers, and on real ones: who wins and who does not, what is not compared,
//! and solvers without a dual.

use std::path::Path;

use crate::common::hand;
use crate::common::records::{executed, point, results, run};
use crate::common::sessions;
use ssvm_bench::gate::baseline::Provenance;
use ssvm_bench::gate::{Baseline, counters, measure};
use ssvm_bench::render::figure;
use ssvm_bench::render::tables::league::{Part, Section, leads, sections};
use ssvm_bench::render::tables::long::tables;
use ssvm_bench::render::tables::{NO_CLAIMS, opening};
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::study::export::csv;
use ssvm_bench::study::league::{League, Measure, Member, Standing, Winner};
use ssvm_bench::study::{Study, Summary};
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, Harness, Interrupt, Iterate, Iteration, Meter, Metered, Params, Problem,
    Solution, Solver, SolverInfo, SolverRow, TracePoint,
};

/// Optimum 1, known by a dual from the start; the relative gap falls a decade in five iterations, down to `least`.
fn curve(second: f64, least: f64) -> Vec<TracePoint> {
    let gap = |k: u64| 10f64.powf(-(k as f64) / 5.0);
    let whole = (1..=60).filter(|k| gap(*k) >= least * 0.999);
    whole.map(|k| point(k, second * k as f64, 1.0 + gap(k), 1.0)).collect()
}

/// Repeats of one solver, each with its own pace.
fn repeats(solver: &str, second: f64, least: f64) -> Vec<RunRecord> {
    let pace = |repeat: u64| second * (1.0 + 0.02 * repeat as f64);
    (0..5).map(|repeat| run("usps", solver, repeat, curve(pace(repeat), least))).collect()
}

fn standing(records: Vec<RunRecord>) -> Standing {
    League::of(&results(records).own).standings.remove(0)
}

fn member<'a>(standing: &'a Standing, label: &str) -> &'a Member {
    standing.members.iter().find(|member| member.label == label).unwrap()
}

fn place(standing: &Standing, target: f64) -> usize {
    standing.targets.iter().position(|t| *t == target).unwrap()
}

fn winner(standing: &Standing, measure: Measure, target: f64) -> &Winner {
    &standing.winners[measure as usize][place(standing, target)]
}

#[test]
fn known_curves_have_known_speed_ups() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    // Only down to 1e-2.
    records.extend(repeats("fw", 0.05, 1e-2));
    let standing = standing(records);
    assert_eq!((standing.targets.len(), standing.too_small.len()), (7, 0));
    let at = |label: &str, measure: Measure, target: f64| {
        member(&standing, label).scores[measure as usize].cells[place(&standing, target)]
    };
    let near = |value: Option<f64>, expected: f64| {
        assert!(value.is_some_and(|value| (value / expected - 1.0).abs() < 0.01), "{value:?}, not {expected}");
    };
    // Fifteen iterations to 1e-3, between two marks: 1.5 s and 150 calls; the third repeat is 4 % slower.
    near(at("mp-bcfw", Measure::Time, 1e-3).median, 1.5 * 1.04);
    near(at("mp-bcfw", Measure::Calls, 1e-3).median, 150.0);
    assert_eq!(at("mp-bcfw", Measure::Time, 1e-3).speedup, None, "the reference is not compared with itself");
    let half = at("bcfw", Measure::Time, 1e-3).speedup.unwrap();
    near(half.least, 0.5);
    near(half.most, 0.5);
    assert!(half.is_slower() && half.pairs == 5);
    let same = at("bcfw", Measure::Calls, 1e-3).speedup.unwrap();
    assert!(!same.is_slower() && !same.is_faster(), "{same:?}");
    // FW ended at ten iterations, 0.5 s; the reference needed 2 s for 1e-4.
    let never = at("fw", Measure::Time, 1e-4);
    assert_eq!((never.reached, never.median, never.ert), (0, None, None));
    let bound = never.speedup.unwrap();
    near(bound.most, 4.0);
    assert!(bound.least.is_none() && bound.low.is_none() && !bound.is_faster() && !bound.is_slower(), "{bound:?}");
    // All that was spent over five successes: the mean.
    near(at("mp-bcfw", Measure::Time, 1e-3).ert, 1.5 * 1.04);

    assert_eq!(winner(&standing, Measure::Time, 1e-2), &Winner::One("FW".into()));
    // FW might have reached it in less than the reference needed: it was stopped before.
    assert_eq!(winner(&standing, Measure::Time, 1e-4), &Winner::Undecided(vec!["MP-BCFW".into(), "FW".into()]));
    assert!(matches!(winner(&standing, Measure::Calls, 1e-2), Winner::Undecided(names) if names.len() == 3));
    // All were below 1 at the first evaluation, so the first of them is not known.
    assert!(matches!(winner(&standing, Measure::Time, 1.0), Winner::Undecided(names) if names.len() == 3));

    let [fw, bcfw, multi] =
        ["fw", "bcfw", "mp-bcfw"].map(|l| standing.members.iter().position(|m| m.label == l).unwrap());
    let time = &standing.matrices[Measure::Time as usize];
    near(time.at(multi, bcfw).unwrap().middle(), 2.0);
    near(time.at(bcfw, multi).unwrap().middle(), 0.5);
    assert!(time.at(multi, bcfw).unwrap().is_faster() && time.at(fw, fw).is_none());
    let area = |label: &str| member(&standing, label).scores[Measure::Time as usize].area.unwrap().value;
    assert!(area("mp-bcfw") > area("bcfw"), "{} {}", area("mp-bcfw"), area("bcfw"));
    // Always the best but at gaps of 1, where all were at the first evaluation, and where FW was: 1 of 7, 3 of 7.
    let profile = &standing.profiles[Measure::Time as usize];
    let line = |label: &str| profile.lines.iter().find(|line| line.label == label).unwrap();
    assert_eq!((profile.problems, line("fw").ratios.len(), line("bcfw").ratios.len()), (7, 3, 7));
    assert!((line("fw").within(1.0) - 3.0 / 7.0).abs() < 1e-12, "{profile:?}");
    assert!(line("mp-bcfw").score.value > line("bcfw").score.value);
    assert!(line("bcfw").ratios.iter().all(|ratio| (1.9..4.2).contains(ratio)), "{profile:?}");
    let score = &member(&standing, "mp-bcfw").scores[Measure::Time as usize];
    assert_eq!((score.share, score.half), (Some(1.0), Some(score.hits[32])), "65 pairs of gap and run");
    assert_eq!(member(&standing, "fw").scores[0].half, None, "25 of 65");
    let score = &member(&standing, "fw").scores[Measure::Calls as usize];
    assert_eq!((score.tries, score.hits.len()), (13 * 5, 5 * 5), "1, 3e-1, 1e-1, 3e-2, 1e-2 of thirteen");
    assert!((score.hits[24] - 10.0).abs() < 1e-6, "100 calls over 10 terms");
}

#[test]
fn what_is_not_known_of_the_optimum_is_not_compared() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-3);
    records.extend(repeats("bcfw", 0.2, 1e-3));
    let standing = standing(records);
    assert_eq!(standing.targets, [1.0, 1e-1, 1e-2, 1e-3]);
    assert_eq!(standing.too_small, [1e-4, 1e-5, 1e-6]);
    let text: Vec<_> = sections(&League { standings: vec![standing], ..League::default() }, &[Part::Winners]);
    assert!(text[0].table.note.contains("Nothing is compared at 1e-4, 1e-5, 1e-6, because"), "{}", text[0].table.note);
}

#[test]
fn every_statistic_is_a_table() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    let league = League::of(&results(records).own);
    let tables = tables(&league).unwrap();
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    let expected = ["ecdf", "targets", "anytime", "performance_profile", "performance_score", "speedups"];
    assert_eq!(names, expected);
    let text = |name: &str| csv(&tables.iter().find(|(known, _)| *known == name).unwrap().1).unwrap();
    let targets = text("targets");
    assert!(targets.starts_with("dataset,solver,measure,runs,reached,pairs,target,median,ert,"), "{targets}");
    assert_eq!(targets.lines().count(), 1 + 2 * 2 * 7, "solvers × measures × targets");
    assert!(targets.contains("usps,mp-bcfw,time_s,5,5,0,0.001,"), "{targets}");
    assert_eq!(text("anytime").lines().count(), 1 + 2 * 2);
    // The distribution ends at the share that was reached.
    let ecdf = text("ecdf");
    let last = ecdf.lines().rfind(|line| line.starts_with("usps,bcfw,oracle_calls,")).unwrap();
    assert!(last.ends_with(",1"), "{last}");
    // Both rows of a pair, on the data set and over all.
    assert_eq!(text("speedups").lines().count(), 1 + 2 * 2 * 2);
    // Every section is also Markdown and LaTeX.
    for section in sections(&league, &[]) {
        assert!(
            section.table.markdown().contains("| --- |") && section.table.latex().contains("\\end{table}"),
            "{section:?}"
        );
    }
    let parts: Vec<Part> = sections(&league, &[]).iter().map(|section| section.part).collect();
    assert!(Part::ALL.iter().all(|part| parts.contains(part)), "{parts:?}");
}

#[test]
fn four_pairs_and_other_seeds_decide_nothing() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8).into_iter().take(4));
    let few = standing(records.clone());
    assert_eq!(
        winner(&few, Measure::Time, 1e-3),
        &Winner::Undecided(vec!["MP-BCFW".into(), "BCFW".into()]),
        "twice as fast, but four pairs"
    );
    for record in records.iter_mut().filter(|record| record.solver() == "bcfw") {
        record.identity.settings.seed += 1000;
    }
    let other = standing(records.clone());
    assert_eq!(member(&other, "bcfw").scores[0].cells[2].speedup, None, "no seed in common");
    // Times of another machine are never compared.
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    for record in records.iter_mut().filter(|record| record.solver() == "bcfw") {
        record.environment.host_class = "elsewhere".into();
    }
    let apart = standing(records);
    assert!(apart.members.iter().all(|m| m.scores[0].cells.iter().all(|cell| cell.speedup.is_none())));
}

#[test]
fn a_failed_run_did_not_reach_its_gap() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    let broken = records.iter_mut().filter(|r| r.solver() == "bcfw").take(3);
    broken.for_each(|record| {
        record.status = Status::Failed("out of memory".into());
        record.measured.points.clear();
    });
    let standing = standing(records);
    let bcfw = member(&standing, "bcfw");
    let cell = bcfw.scores[0].cells[place(&standing, 1e-3)];
    assert_eq!((bcfw.runs, cell.reached, cell.median), (5, 2, None));
    assert_eq!(bcfw.scores[0].tries, 13 * 5);
}

/// BCFW in file order that does not tell its dual.
struct NoDual;

struct Silent<'p, P: Problem>(Iterate<'p, P>);

impl SolverRow for NoDual {
    fn info(&self) -> SolverInfo {
        SolverInfo { name: "no-dual", about: "primal only", ..SolverInfo::PLAIN }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _: &Params, _: u64) -> Box<dyn Solver + 'p> {
        Box::new(Silent(Iterate::new(problem)))
    }
}

impl<P: Problem> Solver for Silent<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> std::result::Result<Iteration, Interrupt> {
        for i in 0..self.0.problem.terms() {
            self.0.exact_step(i, meter, None)?;
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        Solution { offset: f64::NEG_INFINITY, ..self.0.solution() }
    }

    fn dual(&self) -> f64 {
        f64::NEG_INFINITY
    }
}

const CONFIG: &str = "name = \"league\"\nseed = 1\nrepeats = 5\nclock = \"virtual\"\n[budget]\niterations = 40\ngap = 1e-9\n\
    [[dataset]]\nname = \"usps-synth:n=50\"\nlambda = 1\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n[[solver]]\n\
    name = \"no-dual\"\n";

#[test]
fn a_solver_without_a_dual_goes_all_the_way() {
    let harness = Harness::standard().solver(NoDual);
    let folder = tempfile::tempdir().unwrap();
    let finished = sessions::run_with(CONFIG, &sessions::options(folder.path(), 1), &harness).unwrap();
    assert!(finished.report.failed.is_empty(), "{:?}", finished.report.failed);
    // From the disk, as every reader does.
    let results = Study::open(folder.path(), &harness, &[]).unwrap();
    let silent = |record: &&RunRecord| record.solver() == "no-dual";
    for point in results.own.records().filter(silent).flat_map(|record| record.points()) {
        assert!(point.is_sound() && !point.has_dual() && point.gap == f64::INFINITY, "{point:?}");
    }
    let frames = &results.own;
    let series = frames.series.iter().position(|series| series.solver == "no-dual").unwrap();
    assert!(!frames.series[series].has_dual && frames.series.iter().filter(|s| s.has_dual).count() == 2);
    let (low, high) = frames.bounds_of("usps-synth:n=50").unwrap();
    assert!(low.is_finite() && low <= high);
    let bands = frames.bands(ssvm_bench::study::Axis::Iteration).unwrap();
    let band = |quantity| bands[series].of(quantity);
    assert!(band(ssvm_bench::study::Quantity::PrimalSub).median.iter().all(|value| *value > 0.0));
    assert!(band(ssvm_bench::study::Quantity::Gap).median.iter().all(|value| value.is_nan()));
    assert!(band(ssvm_bench::study::Quantity::DualSub).median.iter().all(|value| value.is_nan()));

    // Its steps are those of BCFW in another order: it is measured against the certified optimum like every solver.
    let league = League::of(frames);
    let silent = member(&league.standings[0], "no-dual");
    assert!(!silent.has_dual && silent.scores[0].cells[0].reached > 0, "{silent:?}");
    let (figures, _) = hand::figures(&results, &[]).unwrap();
    figure::write(&figures, folder.path(), &[figure::FileFormat::Png]).unwrap();
    let of = |name: &str| &figures.iter().find(|figure| figure.name == name).unwrap().svg;
    assert!(of("oracle_convergence").contains("without a dual, in the first panel only: no-dual"));
    assert!(of("league").contains("no-dual"));
    let page = hand::page("league", &results).unwrap();
    assert!(page.contains("no-dual") && !page.contains("NaN") && !page.contains(">inf<"), "a number that is none");
    // A summary survives its JSON.
    let text = serde_json::to_string(&league).unwrap();
    let back: League = serde_json::from_str(&text).unwrap();
    assert_eq!(sections(&back, &[]), sections(&league, &[]));
    // Gates: saved, read back and passed; nothing is asked of a dual that is not there.
    let cells = measure::cells(results.own.records()).unwrap();
    let baseline = Baseline::of(&cells, &[], Provenance::default()).unwrap();
    let baseline = Baseline::parse(Path::new("baseline.toml"), &baseline.text()).unwrap();
    let findings = counters::judge(&baseline, &cells, &[]);
    assert!(findings.iter().all(|finding| !finding.judgement.fails()), "{findings:?}");
    let asked = |metric: &str| {
        findings.iter().any(|finding| finding.cell.solver.name == "no-dual" && finding.metric.contains(metric))
    };
    assert!(asked("primal") && !asked("dual"), "{findings:?}");
}

#[test]
fn alone_a_solver_without_a_dual_has_no_optimum_to_be_compared_with() {
    let mut record = run("usps", "ssg-avg", 0, curve(0.1, 1e-3));
    for point in &mut record.measured.points {
        (point.dual, point.dual_solution, point.gap) = (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    }
    let results = results(vec![record]);
    let standing = League::of(&results.own).standings.remove(0);
    assert_eq!((standing.optimum, standing.targets.len()), (None, 0));
    let (figures, left_out) = hand::figures(&results, &[]).unwrap();
    assert!(left_out.iter().any(|row| row.name == "league") && figures.len() >= 5);
}

#[test]
fn many_solvers_leave_the_figures_of_the_paper_to_the_paper() {
    let harness = Harness::standard();
    let mut records = Vec::new();
    for info in harness.solvers() {
        records.extend(executed("usps-synth:n=20", info.name, 2, &Budget::iterations(5), &Cadence::Log));
    }
    let results = results(records);
    let names = |patterns: &[String]| {
        let shown = results.own.shown(patterns);
        let series = results.own.series.iter().zip(shown).filter(|(_, shown)| *shown);
        series.map(|(series, _)| series.solver.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"]);
    assert_eq!(names(&["bcfw*".to_owned()]).iter().filter(|name| !name.starts_with("bcfw")).count(), 0);
    let (figures, _) = hand::figures(&results, &[]).unwrap();
    let of = |name: &str| &figures.iter().find(|figure| figure.name == name).unwrap().svg;
    let hidden = format!("{} more solvers are in the figure of the league", harness.solvers().len() - 5);
    assert!(of("oracle_convergence").contains(&hidden) && of("oracle_time").contains(&hidden));
    let error = hand::figures(&results, &["nobody".to_owned()]).map(drop).unwrap_err().to_string();
    assert!(error.contains("--only nobody") && error.contains("mp-bcfw"), "{error}");
}

/// Repeats of a solver on a data set, each with its own pace.
fn repeats_on(dataset: &str, solver: &str, second: f64) -> Vec<RunRecord> {
    let pace = |repeat: u64| second * (1.0 + 0.02 * repeat as f64);
    (0..5).map(|repeat| run(dataset, solver, repeat, curve(pace(repeat), 1e-8))).collect()
}

#[test]
fn a_mark_over_data_sets_needs_their_agreement() {
    let mut records = Vec::new();
    for (dataset, bcfw) in [("usps", 0.3), ("ocr", 0.35), ("horses", 0.4), ("stanford", 0.05)] {
        records.extend(repeats_on(dataset, "mp-bcfw", 0.1));
        records.extend(repeats_on(dataset, "bcfw", bcfw));
    }
    let league = League::of(&results(records).own);
    let all: Vec<_> = sections(&league, &[Part::Matrix]).into_iter().filter(|s| s.dataset.is_empty()).collect();
    let text = all[0].table.markdown();
    assert!(text.contains("mixed: 3▲ 1▼") && text.contains("mixed: 1▲ 3▼"), "{text}");
    assert!(text.contains("BCFW over MP-BCFW: ▲ Stanford; ▼ USPS, OCR, HorseSeg"), "data sets are named: {text}");
    assert!(text.contains("1 comparison"), "the table says how many comparisons it makes: {text}");
}

#[test]
fn a_busy_machine_makes_no_mark_and_no_winner() {
    let league = |busy: &str| {
        let mut records = Vec::new();
        for dataset in ["usps", "ocr"] {
            records.extend(repeats_on(dataset, "mp-bcfw", 0.1));
            records.extend(repeats_on(dataset, "bcfw", 0.3));
        }
        for record in &mut records {
            record.identity.settings.clock = ClockKind::WALL;
            let totals = &mut record.measured.totals;
            (totals.wall_s, totals.cpu_s) = (2.0, if record.identity.problem.dataset == busy { 1.2 } else { 1.98 });
        }
        League::of(&results(records).own)
    };
    let text = |league: &League, dataset: &str, part: Part| {
        let of = |section: &&Section| section.dataset == dataset;
        let sections = sections(league, &[part]);
        sections.iter().filter(of).map(|section| section.table.text(2000)).collect::<Vec<_>>().join("\n")
    };
    let (quiet, busy) = (league(""), league("usps"));
    assert!(text(&quiet, "USPS", Part::Matrix).contains('▲') && text(&quiet, "", Part::Matrix).contains('▲'));
    assert!(matches!(winner(&quiet.standings[0], Measure::Time, 1e-2), Winner::One(_)));
    let standing = &busy.standings[0];
    assert!(matches!(winner(standing, Measure::Time, 1e-2), Winner::Undecided(names) if names.len() == 2));
    let reason = "Not judged: the machine was busy: 10 of 10 runs on USPS got less than 90 % of a core; measure again";
    for part in [Part::Matrix, Part::Winners, Part::Targets] {
        let text = text(&busy, "USPS", part);
        assert!(!text.contains('▲') && text.replace('\n', " ").contains(reason), "{text}");
    }
    assert!(text(&busy, "USPS", Part::Winners).contains("not judged"));
    let over_all = text(&busy, "", Part::Matrix);
    assert!(over_all.contains("1▲ of 2") && !over_all.contains("× ▲"), "only the other data set: {over_all}");
    assert!(text(&busy, "OCR", Part::Matrix).contains('▲'), "the other one was quiet");
}

#[test]
fn gaps_that_no_solver_reached_are_one_sentence() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-2);
    records.extend(repeats("bcfw", 0.2, 1e-2));
    for point in records.iter_mut().flat_map(|record| &mut record.measured.points) {
        // The optimum is known to 1e-9, and no run comes near it.
        point.dual = 1.0;
    }
    let mut standing = standing(records);
    standing.targets.extend(std::mem::take(&mut standing.too_small));
    for (measure, winners) in standing.winners.iter_mut().enumerate() {
        winners.resize(standing.targets.len(), Winner::NotReached);
        for member in &mut standing.members {
            let empty = ssvm_bench::study::league::TargetCell { reached: 0, median: None, ert: None, speedup: None };
            member.scores[measure].cells.resize(standing.targets.len(), empty);
        }
    }
    let text =
        sections(&League { standings: vec![standing], ..League::default() }, &[Part::Winners])[0].table.text(2000);
    assert!(text.contains("No solver reached 1e-3, 1e-4, 1e-5, 1e-6 in the median"), "{text}");
    assert!(!text.contains("not reached"), "{text}");
}

#[test]
fn a_mark_over_data_sets_needs_a_decision_on_every_one() {
    let mut records = Vec::new();
    for dataset in ["usps", "ocr"] {
        records.extend(repeats_on(dataset, "mp-bcfw", 0.1));
        records.extend(repeats_on(dataset, "bcfw", 0.3));
    }
    // Times of another machine are not compared.
    let elsewhere = |record: &&mut RunRecord| record.dataset() == "ocr" && record.solver() == "bcfw";
    records.iter_mut().filter(elsewhere).for_each(|record| record.environment.host_class = "elsewhere".into());
    let league = League::of(&results(records).own);
    let all = sections(&league, &[Part::Matrix]).into_iter().find(|s| s.dataset.is_empty()).unwrap().table;
    let text = all.text(2000);
    // The value is that of one of the two, and stands in its own table.
    assert!(text.contains("1▲ of 2") && text.contains("1▼ of 2") && !text.contains('×'), "{text}");
    assert!(
        !all.note.contains("whose intervals") && all.note.contains("Marks combine those of the tables per data set"),
        "{}",
        all.note
    );
}

#[test]
fn three_repeats_have_no_interval_and_no_verdict() {
    let mut records: Vec<RunRecord> = repeats("mp-bcfw", 0.1, 1e-8).into_iter().take(3).collect();
    records.extend(repeats("bcfw", 0.2, 1e-8).into_iter().take(3));
    records.extend(repeats("fw", 0.3, 1e-8).into_iter().take(3));
    let league = League::of(&results(records).own);
    for section in sections(&league, &[Part::Winners, Part::Matrix, Part::Targets]) {
        let text = section.table.text(2000);
        assert_eq!(text.matches("too few repeats for an interval (3 of at least 5)").count(), 1, "{text}");
        assert!(!text.contains("hold together") && !text.contains("undecided"), "{text}");
    }
}

#[test]
fn a_league_of_several_oracle_costs_says_which_one_it_shows() {
    let at = |cost: &str, mut record: RunRecord| {
        record.identity.settings.oracle_cost = cost.parse().unwrap();
        record
    };
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    let notes = |records: Vec<RunRecord>| {
        let tables = sections(&League::of(&results(records).own), &[]);
        tables.into_iter().map(|section| section.table.note).collect::<Vec<String>>()
    };
    assert!(notes(records.clone()).iter().all(|note| !note.contains("oracle cost")));
    let both = ["4", "16"].map(|cost| records.iter().cloned().map(|record| at(cost, record)).collect::<Vec<_>>());
    let notes = notes(both.concat());
    assert!(notes.len() > 5, "every table says so, not the first only");
    assert!(notes.iter().all(|note| note.contains("oracle cost 4, the lowest of those that were run")), "{notes:?}");
}

/// BCFW is twice as fast to the gaps that both reach, 1e-1 and 1e-2; only MP-BCFW goes on, for long, to 1e-6.
#[test]
fn gaps_that_one_solver_reached_move_no_speed_up_of_the_matrix() {
    let mut records = repeats("mp-bcfw", 0.2, 1e-8);
    records.extend(repeats("bcfw", 0.1, 1e-2));
    let standing = standing(records);
    let place = |label: &str| standing.members.iter().position(|member| member.label == label).unwrap();
    let time = &standing.matrices[Measure::Time as usize];
    let speedup = time.at(place("bcfw"), place("mp-bcfw")).unwrap();
    assert!(speedup.exact().is_some_and(|value| (value - 2.0).abs() < 0.01), "{speedup:?}");
    assert!(!speedup.is_faster(), "it may never reach the gaps that the other one reached: {speedup:?}");
    assert!(speedup.low.is_none() && speedup.high.is_some(), "{speedup:?}");
}

/// The other one was stopped before the loosest gap: the bound there is what is known.
#[test]
fn solvers_without_a_gap_in_common_are_compared_at_the_loosest() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(
        (0..5).map(|repeat| run("usps", "bcfw", repeat, vec![point(1, 1.0, 3.0, 1.0), point(2, 9.0, 2.5, 1.0)])),
    );
    let standing = standing(records);
    let place = |label: &str| standing.members.iter().position(|member| member.label == label).unwrap();
    let speedup = standing.matrices[Measure::Time as usize].at(place("mp-bcfw"), place("bcfw")).unwrap();
    assert!(speedup.least.is_some_and(|least| least > 9.0) && speedup.most.is_none(), "{speedup:?}");
    assert!(speedup.is_faster(), "{speedup:?}");
}

/// The solver of a caller's beside others on the paper's data: it has a row in the first table, and the claims are one sentence.
#[test]
fn a_solver_of_ones_own_comes_before_the_claims() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    let summary = Summary::of(&results(records.clone()), Path::new("mine"));
    assert!(summary.has_paper_data() && !summary.has_own());
    assert!(opening(&summary, "out", 100, false).starts_with("1a. "));
    records.extend(repeats("my-bcfw", 0.05, 1e-8));
    let study = results(records);
    let summary = Summary::of(&study, Path::new("mine"));
    let text = opening(&summary, "out", 100, false);
    assert!(text.contains(": which solver is fastest\n\nmy-BCFW takes the least solver time."), "{text}");
    assert!(text.lines().any(|line| line.starts_with("my-BCFW  ") && line.contains("least")), "{text}");
    assert!(
        !text.contains("1a. ") && text.replace('\n', " ").contains("`ssvm-bench show out claims` shows them."),
        "{text}"
    );
    let page = hand::page("mine", &study).unwrap();
    assert!(page.find("id=\"fastest\"").unwrap() < page.find("id=\"claims\"").unwrap());
}

#[test]
fn a_solver_of_ones_own_is_in_the_figures_however_many_there_are() {
    let mut records = Vec::new();
    let library = ["bcfw", "mp-bcfw", "bcfw-gap", "bcfw-pair", "bcfw-cache", "bcfw-lazy", "one-slack", "mp-bcfw-gram"];
    for solver in library.into_iter().chain(["my-bcfw"]) {
        records.extend(repeats(solver, 0.1, 1e-8));
    }
    let view = results(records).own;
    let shown = view.shown(&[]);
    let names: Vec<&str> =
        view.series.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(series, _)| series.solver.as_str()).collect();
    assert_eq!(names, ["bcfw", "mp-bcfw", "my-bcfw"]);
    assert_eq!(view.hidden(&[]).len(), 6);
    assert!(view.hidden(&["*".to_owned()]).is_empty());
}

/// A median of each solver may order two of them as no median over pairs does: the table and its sentence use one of the two.
#[test]
fn the_fastest_solver_has_no_ratio_below_one() {
    let mut records = Vec::new();
    for (at, (a, b)) in [(1.0, 1.1), (2.0, 1.8), (3.0, 2.7), (4.0, 3.6), (2.9, 4.0)].into_iter().enumerate() {
        for (solver, scale) in [("mp-bcfw", a), ("bcfw", b)] {
            let mut record = repeats(solver, scale, 1e-8).remove(at);
            record.repeat = at as u64;
            records.push(record);
        }
    }
    let league = League::of(&results(records).own);
    let lead = league.standings[0].lead.clone().unwrap();
    let time = &lead.rows[1].costs[0];
    assert!(lead.rows[0].costs[0].least && lead.rows[0].display == "BCFW", "{lead:?}");
    assert!(time.over_least.unwrap().middle().unwrap() > 1.0, "{lead:?}");
}

/// Data that the paper does not have: what to read first is who is fastest, and no verdict on the paper's claims is given.
#[test]
fn own_data_begins_with_the_fastest_solver() {
    let mut records = repeats("mp-bcfw", 0.1, 1e-8);
    records.extend(repeats("bcfw", 0.2, 1e-8));
    records.extend(repeats("fw", 0.05, 1e-2));
    for record in &mut records {
        record.identity.problem.dataset = "libsvm:mine.txt".into();
    }
    let study = results(records.clone());
    let summary = Summary::of(&study, Path::new("mine"));
    assert!(!summary.has_paper_data());
    let lead = summary.league.standings[0].lead.clone().unwrap();
    let names: Vec<&str> = lead.rows.iter().map(|row| row.display.as_str()).collect();
    assert_eq!((lead.target, names), (1e-6, vec!["MP-BCFW", "BCFW", "FW"]));
    for width in [60, 80, 120] {
        let text = opening(&summary, "mine", width, false);
        assert!(
            text.starts_with("libsvm:mine.txt: which solver is fastest\n\nMP-BCFW takes the least solver time."),
            "{text}"
        );
        assert!(text.contains("slower") && !text.contains("not measured"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
    }
    let page = hand::page("mine", &study).unwrap();
    assert!(page.contains("id=\"fastest\"") && !page.contains("id=\"claims\"") && page.contains(NO_CLAIMS));

    // Too few repeats name the first without a verdict; without a gap in common none is named.
    records.retain(|record| record.repeat < 2);
    let few = leads(&League::of(&results(records.clone()).own)).remove(0);
    assert!(few.note.contains("too few repeats") && !few.text(200).contains("slower"), "{}", few.note);
    records.retain(|record| record.solver() == "fw");
    let none = leads(&League::of(&results(records).own)).remove(0);
    assert!(none.rows.is_empty() && none.note.starts_with("Not known: "), "{}", none.note);

    let paper = Summary::of(&results(repeats("bcfw", 0.2, 1e-8)), Path::new("usps"));
    assert!(
        paper.has_paper_data()
            && hand::page("usps", &results(repeats("bcfw", 0.2, 1e-8))).unwrap().contains("id=\"claims\"")
    );
}

/// MP-BCFW is at a relative gap of 1e-2 after iteration 11, which is no mark of the log cadence, and nowhere else.
#[test]
fn a_gap_that_was_seen_between_two_marks_was_reached() {
    let mut records = repeats("bcfw", 0.2, 1e-8);
    for record in repeats("mp-bcfw", 0.01, 1e-8) {
        let mut record = record;
        record.measured.points.iter_mut().for_each(|p| p.primal = if p.iteration == 11 { 1.009 } else { 1.5 });
        records.push(record);
    }
    let standing = standing(records);
    let at = place(&standing, 1e-2);
    let cell = member(&standing, "mp-bcfw").scores[Measure::Time as usize].cells[at];
    assert_eq!((cell.reached, cell.median.map(|median| (1e3 * median).round())), (5, Some(114.0)), "{cell:?}");
    assert_eq!(*winner(&standing, Measure::Time, 1e-2), Winner::One("MP-BCFW".to_owned()));
}

/// To 1e-3, MP-BCFW takes 1.5 s and BCFW 5 s. At iterations 1 and 60, MP-BCFW has spent 0.3 and 18 s and BCFW 0.1 and 6 s.
#[test]
fn what_lies_between_evaluations_far_apart_decides_nothing() {
    let runs = |seen: &dyn Fn(u64) -> bool| -> Vec<RunRecord> {
        let of = |solver: &str, second: f64, from: u64, least: f64| {
            let gap = move |k: u64| 1.0 + if k < from { 0.5 } else { least };
            let points = |repeat: u64| -> Vec<TracePoint> {
                let pace = second * (1.0 + 0.02 * repeat as f64);
                (1..=60).filter(|k| seen(*k)).map(|k| point(k, pace * k as f64, gap(k), 1.0)).collect()
            };
            (0..5).map(|repeat| run("usps", solver, repeat, points(repeat))).collect::<Vec<_>>()
        };
        [of("mp-bcfw", 0.3, 5, 9e-4), of("bcfw", 0.1, 50, 1e-6)].concat()
    };
    let [dense, sparse] = [standing(runs(&|_| true)), standing(runs(&|k| k == 1 || k == 60))];
    assert_eq!(*winner(&dense, Measure::Time, 1e-3), Winner::One("MP-BCFW".to_owned()));
    assert!(matches!(winner(&sparse, Measure::Time, 1e-3), Winner::Undecided(both) if both.len() == 2));
    let cell = member(&sparse, "bcfw").scores[Measure::Time as usize].cells[place(&sparse, 1e-3)];
    let speedup = cell.speedup.unwrap();
    assert!(speedup.least < Some(0.1) && speedup.most > Some(100.0), "a range of {}", speedup.text());
    // Twice as much spent is near, and a crossing in between is interpolated.
    let half = standing(runs(&|k| [1, 24, 32, 45, 60].contains(&k)));
    assert!(member(&half, "bcfw").scores[0].cells[place(&half, 1e-3)].median.is_some_and(|s| 4.5 < s && s < 6.5));
}
