//! Bounds, suboptimalities, bands, time to gap and profile on hand-made traces with known answers.

use crate::common::hand::{self, failed, point, run};
use parquet::file::reader::{FileReader, SerializedFileReader};
use ssvm_bench::render;
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::study::Summary;
use ssvm_bench::study::claims::Claim;
use ssvm_bench::study::export::{self, csv};
use ssvm_bench::study::{Axis, Quantity, Study, View, profile, targets};
use ssvm_bench::{Harness, SolverSpec, StopReason, TracePoint, Value};
use std::collections::BTreeSet;

fn tables(records: &[RunRecord]) -> View {
    Study::from_records(records.to_vec(), &Harness::standard(), &|_| None).unwrap().own
}

/// Equal but for rounding.
fn assert_near(values: &[f64], expected: &[f64], what: &str) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
    assert!(
        values.len() == expected.len() && values.iter().zip(expected).all(near),
        "{what}: {values:?}, {expected:?}"
    );
}

/// The value at `x` of a straight line in log-log through two points.
fn line((x0, y0): (f64, f64), (x1, y1): (f64, f64), x: f64) -> f64 {
    let slope = (y1.ln() - y0.ln()) / (x1.ln() - x0.ln());
    (y0.ln() + slope * (x.ln() - x0.ln())).exp()
}

/// Two repeats of one solver (the second stops early), one run of another, one failed run.
fn records() -> Vec<RunRecord> {
    vec![
        run("usps", "bcfw", 1, vec![point(1, 2.0, 4.0, 0.0), point(2, 4.0, 3.0, 0.5), point(3, 6.0, 2.75, 0.5)]),
        run("usps", "mp-bcfw", 0, vec![point(1, 3.0, 2.5, 0.75), point(2, 6.0, 1.5, 1.0)]),
        run("usps", "bcfw", 0, vec![point(1, 1.0, 5.0, -1.0), point(2, 2.0, 2.0, 0.25), point(4, 4.0, 1.75, 0.5)]),
        failed("usps", "bcfw", 2, "out of memory"),
    ]
}

#[test]
fn bounds_are_over_all_good_runs_of_the_data_set() {
    let frames = tables(&records());
    assert_eq!(frames.bounds_of("usps"), Some((1.0, 1.5)));
    assert_eq!(frames.bounds_of("ocr"), None);
    let of = |record: &RunRecord| frames.series.iter().position(|series| series.key == record.series()).unwrap();
    assert_eq!(records().iter().map(of).collect::<Vec<_>>(), [0, 1, 0, 0]);
    let bcfw = &frames.series[0];
    assert_eq!((bcfw.label.as_str(), bcfw.completed, bcfw.failed), ("bcfw", 2, 1));
    assert_eq!(export::runs(&frames).unwrap().height(), 4, "the failed run is a row, the probe is not");
}

#[test]
fn bands_on_iterations_stop_where_repeats_stop() {
    let frames = tables(&records());
    let bands = frames.bands(Axis::Iteration).unwrap();
    // At iteration 3, where one repeat ends, the other is on the line from 2 to 4; at 4 it is alone. The end of mp-bcfw
    // at 2 is a position already, and mp-bcfw itself has none after it.
    assert_eq!((bands[0].x.as_slice(), bands[0].count.as_slice()), (&[1.0, 2.0, 3.0, 4.0][..], &[2, 2, 2, 1][..]));
    assert_eq!(bands[1].x, [1.0, 2.0], "nothing is known after the budget");
    let primal = bands[0].of(Quantity::PrimalSub);
    let three = line((2.0, 1.0), (4.0, 0.75), 3.0);
    assert_near(&primal.min, &[3.0, 1.0, three, 0.75], "smallest");
    assert_near(&primal.median, &[3.5, 1.5, 0.5 * (three + 1.75), 0.75], "median");
    assert_near(&primal.max, &[4.0, 2.0, 1.75, 0.75], "largest");
    let three = line((2.0, 1.25), (4.0, 1.0), 3.0);
    assert_near(&bands[0].of(Quantity::DualSub).median, &[2.0, 1.125, 0.5 * (three + 1.0), 1.0], "dual");
    assert_near(&bands[0].of(Quantity::Gap).max, &[6.0, 2.5, 2.25, 1.25], "gap");
    assert_eq!(bands[1].of(Quantity::Passes).median, [3.0, 3.0], "a single repeat is its own band");
    let calls = frames.bands(Axis::OracleCalls).unwrap();
    assert_eq!(calls[0].x, [10.0, 20.0, 30.0, 40.0]);
    assert_eq!(calls[1].x, [10.0, 20.0]);
}

#[test]
fn bands_go_on_where_a_repeat_stopped_at_its_gap() {
    let mut records = records();
    records[0].status = Status::Done(StopReason::Gap);
    let frames = tables(&records);
    let bands = &frames.bands(Axis::Iteration).unwrap()[0];
    assert_eq!((bands.x.as_slice(), bands.count.as_slice()), (&[1.0, 2.0, 3.0, 4.0][..], &[2, 2, 2, 2][..]));
    assert_eq!(bands.running, [2, 2, 2, 1]);
    let primal = bands.of(Quantity::PrimalSub);
    assert_eq!((primal.min[3], primal.median[3], primal.max[3]), (0.75, 1.25, 1.75), "one of them stays at 1.75");
}

#[test]
fn bands_on_time_are_lines_in_log_log_between_first_and_last_evaluation() {
    let frames = tables(&records());
    let bands = &frames.bands(Axis::Time).unwrap()[0];
    let gap = bands.of(Quantity::Gap);
    for (at, t) in bands.x.iter().enumerate() {
        let first = [(1.0, 6.0), (2.0, 1.75), (4.0, 1.25)];
        let second = [(2.0, 4.0), (4.0, 2.5), (6.0, 2.25)];
        let read = |run: &[(f64, f64)]| {
            let part = run.windows(2).find(|ends| *t >= ends[0].0 && *t <= ends[1].0)?;
            Some(line(part[0], part[1], *t))
        };
        let mut expected: Vec<f64> = [read(&first), read(&second)].into_iter().flatten().collect();
        expected.sort_by(f64::total_cmp);
        assert_eq!(bands.count[at] as usize, expected.len(), "t = {t}");
        let median = expected.iter().sum::<f64>() / expected.len() as f64;
        let expected = [expected[0], median, expected[expected.len() - 1]];
        assert_near(&[gap.min[at], gap.median[at], gap.max[at]], &expected, &format!("t = {t}"));
    }
    assert_eq!((bands.x[0], *bands.x.last().unwrap()), (1.0, 6.0));
    assert!(bands.x.contains(&4.0), "the end of the shorter repeat is on the grid");
}

#[test]
fn negative_gaps_stay_negative_and_nan_is_left_out() {
    let nan = point(2, 2.0, f64::NAN, 1.0);
    let a = run("stanford", "bcfw", 0, vec![point(1, 1.0, 2.0, 1.0), nan]);
    let b = run("stanford", "bcfw", 1, vec![point(1, 1.0, 2.0, 1.0), point(2, 2.0, 0.5, 1.0)]);
    let frames = tables(&[a, b]);
    // The best dual value 1 excludes the best primal value 0.5, which is not certified: nothing is known above 1.
    assert_eq!(frames.bounds_of("stanford"), Some((1.0, f64::INFINITY)));
    let bands = &frames.bands(Axis::Iteration).unwrap()[0];
    assert_eq!(bands.count, [2, 2]);
    assert_eq!(bands.of(Quantity::Gap).median, [1.0, -0.5]);
    assert_eq!(bands.of(Quantity::PrimalSub).min, [1.0, -0.5], "2 and 0.5, from 1");
}

#[test]
fn a_folder_of_failures_has_no_bands_and_does_not_panic() {
    let frames = tables(&[failed("ocr", "bcfw", 0, "timeout")]);
    assert_eq!((frames.series[0].completed, frames.series[0].failed), (0, 1));
    assert_eq!(frames.bounds_of("ocr"), None);
    for axis in Axis::ALL {
        assert!(frames.bands(axis).unwrap()[0].x.is_empty());
    }
    assert!(targets::time_to_gap(&frames, "ocr").is_empty());
    assert!(tables(&[]).series.is_empty());
}

#[test]
fn the_points_of_a_failed_run_move_no_bound() {
    let mut broken = run("usps", "bcfw", 3, vec![point(1, 1.0, -100.0, 100.0)]);
    broken.status = Status::Failed("diverged".into());
    let frames = tables(&[run("usps", "bcfw", 0, vec![point(1, 1.0, 2.0, 1.0)]), broken]);
    assert_eq!(frames.bounds_of("usps"), Some((1.0, 2.0)));
}

#[test]
fn one_solver_with_two_settings_is_two_series() {
    let a = run("usps", "mp-bcfw", 0, vec![point(1, 1.0, 2.0, 1.0)]);
    let mut b = a.clone();
    b.identity.settings.solver = SolverSpec::new("mp-bcfw").with("passes", Value::Count(5));
    let frames = tables(&[a, b]);
    let labels: Vec<&str> = frames.series.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels, ["mp-bcfw", "mp-bcfw (passes=5)"]);
}

#[test]
fn two_lambdas_are_two_problems_with_bounds_of_their_own() {
    let a = run("usps", "bcfw", 0, vec![point(1, 1.0, 2.0, 1.0)]);
    let mut b = run("usps", "bcfw", 0, vec![point(1, 1.0, 9.0, 8.0)]);
    b.identity.problem.lambda = 0.5;
    let frames = tables(&[a, b]);
    assert_eq!(frames.datasets(), ["usps (lambda=0.1)", "usps (lambda=0.5)"]);
    assert_eq!(frames.bounds_of("usps (lambda=0.1)"), Some((1.0, 2.0)));
    assert_eq!(frames.bounds_of("usps (lambda=0.5)"), Some((8.0, 9.0)));
}

#[test]
fn time_to_gap_counts_repeats_that_did_not_reach_it_as_infinite() {
    let at = |gaps: [f64; 3]| (1..=3).zip(gaps).map(|(k, g)| point(k, k as f64, 1.0 + g, 1.0)).collect();
    let records = [
        run("usps", "bcfw", 0, at([0.8, 0.2, 0.05])),
        run("usps", "bcfw", 1, at([0.8, 0.5, 0.05])),
        run("usps", "bcfw", 2, at([0.8, 0.5, 0.4])),
        run("usps", "mp-bcfw", 0, at([0.5, 0.09, 0.02])),
    ];
    let frames = tables(&records);
    let table = targets::time_to_gap(&frames, "usps");
    // A second per iteration: the time at which a line in log-log crosses the target is the iteration, too.
    let cross = |(k0, g0): (f64, f64), (k1, g1): (f64, f64), target: f64| line((g0, k0), (g1, k1), target);
    let check = |at: usize, target: f64, expected: [(usize, Option<f64>); 2]| {
        assert!((table[at].target / target - 1.0).abs() < 1e-12, "{}", table[at].target);
        for (cell, (reached, crossing)) in table[at].cells.iter().zip(expected) {
            assert_eq!(cell.reached, reached, "{target}: {cell:?}");
            for measured in [cell.time_s, cell.iterations] {
                assert_eq!(measured.is_some(), crossing.is_some(), "{target}: {cell:?}");
                let apart = measured.unwrap_or(0.0) - crossing.unwrap_or(0.0);
                assert!(apart.abs() < 1e-9, "{target}: {cell:?}, {crossing:?}");
            }
        }
    };
    // Targets start below the smallest first gap. The third repeat does not reach them, so the later of the other two is the median.
    let (second, multi) = (cross((2.0, 0.5), (3.0, 0.05), 0.3), cross((1.0, 0.5), (2.0, 0.09), 0.3));
    assert!(second > 2.0 && cross((1.0, 0.8), (2.0, 0.2), 0.3) < 2.0, "the first repeat is earlier");
    check(0, 0.3, [(2, Some(second)), (1, Some(multi))]);
    let (second, multi) = (cross((2.0, 0.5), (3.0, 0.05), 0.1), cross((1.0, 0.5), (2.0, 0.09), 0.1));
    assert!(second > cross((2.0, 0.2), (3.0, 0.05), 0.1), "again");
    check(1, 0.1, [(2, Some(second)), (1, Some(multi))]);
    check(2, 0.03, [(0, None), (1, Some(cross((2.0, 0.09), (3.0, 0.02), 0.03)))]);
    assert!(table.iter().all(|row| (row.cells[0].runs, row.cells[1].runs) == (3, 1)));
    assert_eq!(table.len(), 3);
}

#[test]
fn profile_takes_shares_per_repeat_and_merges_histograms() {
    let records = records();
    let rows = profile::profile(&tables(&records)).unwrap();
    let share = rows[0].share.unwrap();
    assert_eq!((share.median, share.min, share.max), (0.25, 0.25, 0.25));
    assert_eq!((rows[0].completed, rows[0].failed), (2, 1));
    let oracle = rows[0].oracle_ns.unwrap();
    assert_eq!(oracle.count, 200, "two good runs of 100 calls; the failed run is not in the numbers");
    assert!((50_000..=50_100).contains(&oracle.p50) && oracle.max >= 100_000, "{oracle:?}");
    let text = ssvm_bench::render::tables::profile::table(&rows).text(2000);
    assert!(text.contains("25.0 %") && text.contains("50.0 µs"), "{text}");
}

#[test]
fn exported_tables_come_back() {
    let frames = tables(&records());
    let dir = tempfile::tempdir().unwrap();
    let tables = export::tables(&frames).unwrap();
    let files =
        [export::write_parquet(&tables, dir.path()).unwrap(), export::write_csv(&tables, dir.path()).unwrap()].concat();
    assert_eq!(files.len(), 8);
    let file = std::fs::File::open(dir.path().join("bands.parquet")).unwrap();
    let rows = SerializedFileReader::new(file).unwrap().get_row_iter(None).unwrap().map(Result::unwrap).count();
    assert_eq!(rows, export::bands(&frames).unwrap().height());
    let bounds = csv(&tables.iter().find(|(name, _)| *name == "bounds").unwrap().1).unwrap();
    assert_eq!(bounds, "dataset,best_dual,best_primal\nusps,1,1.5\n");
    let points = std::fs::read_to_string(dir.path().join("points.csv")).unwrap();
    assert!(points.starts_with("dataset,solver,label,oracle_cost,repeat,iteration"), "{points}");
    assert_eq!(points.lines().count(), 1 + 8);
}

#[test]
fn bands_are_made_once_for_a_series_and_an_axis() {
    let frames = tables(&records());
    for _ in 0..2 {
        assert_eq!(Axis::ALL.map(|axis| frames.bands(axis).unwrap().len()), [2; 3]);
        export::tables(&frames).unwrap();
    }
    let made = frames.points.bands_made.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(made, 2 * Axis::ALL.len());
}

/// The pages of a folder with one data set that is in both views as it is, one in the paper's regime at another oracle cost,
/// and runs at a cost that is in neither.
#[test]
fn one_reproduce_makes_the_bands_of_a_series_in_both_views_once() {
    let mut records = Vec::new();
    for (dataset, cost, share) in [("usps", "1", 0.15), ("ocr", "1", 0.1), ("ocr", "20", 0.7), ("ocr", "400", 0.98)] {
        for (solver, repeat) in ["bcfw", "mp-bcfw"].into_iter().flat_map(|solver| [(solver, 0), (solver, 1)]) {
            let at = |k: u64| TracePoint {
                oracle_time_s: share * k as f64,
                ..point(k, k as f64, 1.0 + 1.0 / k as f64, 1.0 - 1.0 / k as f64)
            };
            let mut record = run(dataset, solver, repeat, (1..=4).map(at).collect());
            record.identity.settings.oracle_cost = cost.parse().unwrap();
            records.push(record);
        }
    }
    let study = hand::results(&records);
    let regime = study.regime.as_ref().unwrap();
    assert_eq!((study.own.datasets(), regime.datasets()), (vec!["usps", "ocr"], vec!["usps", "ocr"]));
    let keys = |view: &View| view.series.iter().map(|series| series.key.clone()).collect::<BTreeSet<_>>();
    let (own, there) = (keys(&study.own), keys(regime));
    assert_eq!((own.len(), there.len(), own.intersection(&there).count()), (4, 4, 2), "both views have USPS as it is");
    let dir = tempfile::tempdir().unwrap();
    let summary = Summary::of(&study, dir.path());
    render::write_pages(&study, &summary, dir.path(), &str::to_owned, &|_| Ok(())).unwrap();
    let made = || study.own.points.bands_made.load(std::sync::atomic::Ordering::Relaxed);
    // The tables read all axes of the runs at all oracle costs: two series of USPS, and two of OCR at each of its costs.
    assert_eq!(made(), (2 + 3 * 2) * 3, "bands were made more than once");
    let [first, second] = [&study.own, regime].map(|view| view.bands(Axis::Time).unwrap());
    assert!(std::ptr::eq(first[0], second[0]), "one and the same band");
    assert_eq!(made(), 24);
}

#[test]
fn a_million_rows_make_the_same_bands_as_a_few() {
    // Five thousand evaluations in each of 200 runs; the time is printed, not asserted.
    let mut records = Vec::new();
    for dataset in ["usps", "ocr", "horseseg", "stanford"] {
        for solver in hand::SOLVERS {
            for repeat in 0..10 {
                let value = |k: u64| point(k, k as f64 * 0.01, 1.0 + (repeat + 1) as f64 / k as f64, 1.0);
                records.push(run(dataset, solver, repeat, (1..=5000).map(value).collect()));
            }
        }
    }
    let start = std::time::Instant::now();
    let frames = tables(&records);
    let bands = frames.bands(Axis::Iteration).unwrap();
    let time = frames.bands(Axis::Time).unwrap();
    println!("{} rows into bands in {:.2} s", frames.points.table.height(), start.elapsed().as_secs_f64());
    assert_eq!((frames.points.table.height(), bands.len(), bands[19].x.len()), (1_000_000, 20, 5000));
    assert!((bands[7].of(Quantity::PrimalSub).median[9] - 0.55).abs() < 1e-12);
    assert_eq!(time[0].count.iter().max(), Some(&10));
}

#[test]
fn headings_are_for_people() {
    let names = ["usps", "usps-synth:n=9", "ocr-synth:n=5", "ocr-synth:n=6", "horses", "libsvm:/a/b.txt"];
    let records: Vec<RunRecord> = names.iter().map(|name| run(name, "fw", 0, vec![point(1, 0.5, 2.0, 1.0)])).collect();
    let frames = tables(&records);
    let titles = names.map(|name| frames.title(name).to_owned());
    let expected =
        ["USPS", "USPS twin", "OCR twin (n=5)", "OCR twin (n=6)", "HorseSeg (Weizmann horses)", "libsvm:/a/b.txt"];
    assert_eq!(titles, expected, "what follows the name is told only where it must be");
    // One set at two values of λ is two problems.
    let mut other = records[0].clone();
    other.identity.problem.lambda = 2.0;
    let frames = tables(&[records[0].clone(), other]);
    let titles: Vec<&str> = frames.series.iter().map(|series| series.title.as_str()).collect();
    assert_eq!(titles, ["USPS (lambda=0.1)", "USPS (lambda=2)"]);
}

#[test]
fn a_run_without_an_evaluation_says_nothing_about_a_dual() {
    let mut silent = run("usps", "ssg-avg", 0, vec![point(1, 0.5, 2.0, 1.0)]);
    for point in &mut silent.measured.points {
        (point.dual, point.dual_solution, point.gap) = (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    }
    let broken = |solver: &str, repeat| failed("usps", solver, repeat, "out of memory");
    let frames = tables(&[silent, broken("ssg-avg", 1), broken("fw", 0)]);
    let has_dual = |solver: &str| frames.series.iter().find(|s| s.solver == solver).map(|s| s.has_dual);
    assert_eq!((has_dual("ssg-avg"), has_dual("fw")), (Some(false), Some(true)));
}

#[test]
fn solvers_that_read_the_clock_are_known() {
    let fixed = SolverSpec::new("mp-bcfw").with("passes", Value::Count(3));
    let specs = [SolverSpec::new("fw"), SolverSpec::new("bcfw"), SolverSpec::new("mp-bcfw-avg"), fixed];
    let mut records: Vec<RunRecord> = Vec::new();
    for spec in specs {
        let mut record = run("usps", &spec.name, 0, vec![point(1, 0.5, 2.0, 1.0)]);
        record.identity.settings.solver = spec;
        records.push(record);
    }
    records.push(run("usps", "somebody-elses", 0, vec![point(1, 0.5, 2.0, 1.0)]));
    let frames = tables(&records);
    let of = |record: &RunRecord| frames.series.iter().find(|series| series.key == record.series()).unwrap();
    let reads = |place: usize| of(&records[place]).reads_clock;
    assert_eq!([0, 1, 2, 3, 4].map(reads), [false, false, true, false, true]);
}

/// Five runs of a solver on OCR at a λ and an oracle cost, in which it spends this share of its time in the oracle.
fn at_cost(solver: SolverSpec, lambda: f64, cost: &str, share: f64) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for repeat in 0..5 {
        let at = |k: u64| TracePoint {
            oracle_time_s: share * k as f64,
            ..point(k, k as f64, 1.0 + 1.0 / k as f64, 1.0 - 1.0 / k as f64)
        };
        let mut record = run("ocr", "bcfw", repeat, (1..=4).map(at).collect());
        record.identity.problem.lambda = lambda;
        record.identity.settings.solver = solver.clone();
        record.identity.settings.oracle_cost = cost.parse().unwrap();
        records.push(record);
    }
    records
}

/// Claims in the paper's regime were attached by the name of a solver in their own view, where a setting that is alone there
/// has the plain name of its solver.
#[test]
fn a_setting_has_one_name_and_its_own_claims_in_both_views() {
    let [bcfw, multi] = ["bcfw", "mp-bcfw"].map(SolverSpec::new);
    let narrow = multi.clone().with("T", Value::Count(3));
    let records = [
        at_cost(bcfw.clone(), 0.1, "1", 0.1),
        at_cost(multi, 0.1, "1", 0.05),
        at_cost(narrow.clone(), 0.1, "1", 0.05),
        at_cost(bcfw, 0.1, "20", 0.7),
        at_cost(narrow, 0.1, "20", 0.6),
    ];
    let study = hand::results(&records.concat());
    let labels = |view: &View| view.series.iter().map(|series| series.label.clone()).collect::<Vec<_>>();
    assert_eq!(labels(&study.own), ["bcfw", "mp-bcfw", "mp-bcfw (T=3)"]);
    assert_eq!(labels(study.regime.as_ref().unwrap()), ["bcfw", "mp-bcfw (T=3)"]);
    let claims = ssvm_bench::study::claims::check(&study);
    // Claim 2 compares data sets: without USPS it has one row for all settings.
    let about = |c: &&Claim, solver: &str| c.dataset == "ocr" && c.number != 2 && c.solver == solver;
    let of = |solver: &str| claims.iter().filter(|claim| about(claim, solver)).collect::<Vec<_>>();
    assert!(!of("mp-bcfw").is_empty() && of("mp-bcfw").iter().all(|claim| claim.regime.is_none()));
    assert!(!of("mp-bcfw (T=3)").is_empty() && of("mp-bcfw (T=3)").iter().all(|claim| claim.regime.is_some()));
}

/// Costs, regimes and figures were looked up by the name of a data set, which two problems may share.
#[test]
fn one_data_set_at_two_lambdas_is_two_problems_everywhere() {
    let [bcfw, multi] = ["bcfw", "mp-bcfw"].map(SolverSpec::new);
    let mut records = Vec::new();
    for solver in [bcfw, multi] {
        records.extend(at_cost(solver.clone(), 0.1, "1", 0.1));
        records.extend(at_cost(solver.clone(), 0.1, "20", 0.7));
        records.extend(at_cost(solver, 0.01, "16", 0.2));
    }
    let study = hand::results(&records);
    assert_eq!(study.own.records().count(), 20, "λ = 0.01 was run at k = 16 only and is shown at that");
    assert_eq!(study.own.datasets(), ["ocr (lambda=0.01)", "ocr (lambda=0.1)"]);
    assert_eq!(study.regime.as_ref().unwrap().datasets(), ["ocr (lambda=0.1)"]);
    assert_eq!(study.regimes.len(), 2);
    let claims = ssvm_bench::study::claims::check(&study);
    let regime = claims.iter().filter(|claim| claim.dataset == "ocr (lambda=0.1)");
    assert!(regime.clone().count() > 0 && regime.into_iter().all(|claim| claim.regime.is_some()));
    let (figures, _) = hand::figures(&study, &[]).unwrap();
    assert!(figures.iter().any(|figure| figure.name.contains("regime_runtime_convergence")));
}
