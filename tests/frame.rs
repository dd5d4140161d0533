//! Bounds, suboptimalities, bands, time to gap and profile on hand-made traces with known answers.

mod hand;

use hand::{failed, point, run};
use ssvm_bench::frame::export::{csv, write_frames};
use ssvm_bench::frame::{Axis, Frames, Quantity, profile, target};
use ssvm_bench::trace::{RunRecord, Status};
use ssvm_bench::{Harness, SolverSpec, Value};

fn tables(records: &[RunRecord]) -> Frames {
    Frames::new(records, &Harness::standard()).unwrap()
}

/// Two repeats of one solver (the second stops early), one run of another, one failed run, one isolated probe.
fn records() -> Vec<RunRecord> {
    let mut probe = run("usps", "bcfw", 0, vec![point(1, 0.1, 0.0, 9.0)]);
    probe.circumstances.probe_of = Some("another".into());
    vec![
        run("usps", "bcfw", 1, vec![point(1, 2.0, 4.0, 0.0), point(2, 4.0, 3.0, 0.5), point(3, 6.0, 2.75, 0.5)]),
        probe,
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
    assert_eq!(frames.of_record, [Some(0), None, Some(1), Some(0), Some(0)]);
    let bcfw = &frames.series[0];
    assert_eq!((bcfw.label.as_str(), bcfw.completed, bcfw.failed), ("bcfw", 2, 1));
    assert_eq!(frames.runs.height(), 4, "the failed run is a row, the probe is not");
}

#[test]
fn bands_on_iterations_stop_where_repeats_stop() {
    let frames = tables(&records());
    let bands = frames.bands(Axis::Iteration).unwrap();
    // Iteration 3 is the off-cadence end of one repeat while the other still runs: no common position.
    assert_eq!((bands[0].x.as_slice(), bands[0].count.as_slice()), (&[1.0, 2.0, 4.0][..], &[2, 2, 1][..]));
    let primal = bands[0].of(Quantity::PrimalSub);
    assert_eq!(primal.min, [3.0, 1.0, 0.75]);
    assert_eq!(primal.median, [3.5, 1.5, 0.75]);
    assert_eq!(primal.max, [4.0, 2.0, 0.75]);
    assert_eq!(bands[0].of(Quantity::DualSub).median, [2.0, 1.125, 1.0]);
    assert_eq!(bands[0].of(Quantity::Gap).max, [6.0, 2.5, 1.25]);
    assert_eq!(bands[1].of(Quantity::Passes).median, [3.0, 3.0], "a single repeat is its own band");
    let calls = frames.bands(Axis::OracleCalls).unwrap();
    assert_eq!(calls[0].x, [10.0, 20.0, 40.0]);
}

#[test]
fn bands_on_time_are_step_functions_between_first_and_last_evaluation() {
    let frames = tables(&records());
    let bands = &frames.bands(Axis::Time).unwrap()[0];
    let gap = bands.of(Quantity::Gap);
    for (at, t) in bands.x.iter().enumerate() {
        let first = [(1.0, 6.0), (2.0, 1.75), (4.0, 1.25)];
        let second = [(2.0, 4.0), (4.0, 2.5), (6.0, 2.25)];
        let step = |run: &[(f64, f64)]| {
            let inside = *t >= run[0].0 && *t <= run[2].0;
            inside.then(|| run.iter().rfind(|(time, _)| time <= t).unwrap().1)
        };
        let mut expected: Vec<f64> = [step(&first), step(&second)].into_iter().flatten().collect();
        expected.sort_by(f64::total_cmp);
        assert_eq!(bands.count[at] as usize, expected.len(), "t = {t}");
        assert_eq!((gap.min[at], gap.max[at]), (expected[0], expected[expected.len() - 1]), "t = {t}");
        assert_eq!(gap.median[at], expected.iter().sum::<f64>() / expected.len() as f64, "t = {t}");
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
    assert_eq!(frames.bounds_of("stanford"), Some((1.0, 0.5)));
    let bands = &frames.bands(Axis::Iteration).unwrap()[0];
    assert_eq!(bands.count, [2, 2]);
    assert_eq!(bands.of(Quantity::Gap).median, [1.0, -0.5]);
    assert_eq!(bands.of(Quantity::PrimalSub).min, [1.0, -0.5]);
    assert_eq!(bands.of(Quantity::DualSub).max, [-0.5, -0.5]);
}

#[test]
fn a_folder_of_failures_has_no_bands_and_does_not_panic() {
    let frames = tables(&[failed("ocr", "bcfw", 0, "timeout")]);
    assert_eq!((frames.series[0].completed, frames.series[0].failed), (0, 1));
    assert_eq!(frames.bounds_of("ocr"), None);
    for axis in Axis::ALL {
        assert!(frames.bands(axis).unwrap()[0].x.is_empty());
    }
    assert!(target::time_to_gap(&frames, "ocr").unwrap().is_empty());
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
    b.identity.lambda = 0.5;
    let frames = tables(&[a, b]);
    assert_eq!(frames.datasets(), ["usps (lambda=0.1)", "usps (lambda=0.5)"]);
    assert_eq!(frames.bounds_of("usps (lambda=0.1)"), Some((1.0, 2.0)));
    assert_eq!(frames.bounds_of("usps (lambda=0.5)"), Some((8.0, 9.0)));
}

#[test]
fn time_to_gap_counts_repeats_that_never_got_there_as_endless() {
    let at = |gaps: [f64; 3]| (1..=3).zip(gaps).map(|(k, g)| point(k, k as f64, 1.0 + g, 1.0)).collect();
    let records = [
        run("usps", "bcfw", 0, at([0.8, 0.2, 0.05])),
        run("usps", "bcfw", 1, at([0.8, 0.5, 0.05])),
        run("usps", "bcfw", 2, at([0.8, 0.5, 0.4])),
        run("usps", "mp-bcfw", 0, at([0.5, 0.09, 0.02])),
    ];
    let frames = tables(&records);
    let table = target::time_to_gap(&frames, "usps").unwrap();
    let row = |target: f64| {
        let row = table.iter().find(|row| (row.target / target - 1.0).abs() < 1e-9).unwrap();
        row.cells.iter().map(|c| (c.reached, c.time_s)).collect::<Vec<_>>()
    };
    assert!((table[0].target - 0.3).abs() < 1e-12, "targets start below the smallest first gap");
    assert_eq!(row(0.3), [(2, Some(3.0)), (1, Some(2.0))]);
    assert_eq!(row(0.1), [(2, Some(3.0)), (1, Some(2.0))]);
    assert_eq!(row(0.03), [(0, None), (1, Some(3.0))]);
    assert_eq!(table.len(), 3);
}

#[test]
fn profile_takes_shares_per_repeat_and_merges_histograms() {
    let records = records();
    let rows = profile::profile(&records, &tables(&records)).unwrap();
    let share = rows[0].share.unwrap();
    assert_eq!((share.median, share.min, share.max), (0.25, 0.25, 0.25));
    assert_eq!((rows[0].completed, rows[0].failed), (2, 1));
    let oracle = rows[0].oracle_ns.unwrap();
    assert_eq!(oracle.count, 200, "two good runs of 100 calls; the failed run is not in the numbers");
    assert!((50_000..=50_100).contains(&oracle.p50) && oracle.max >= 100_000, "{oracle:?}");
    let text = profile::grid(&rows).text();
    assert!(text.contains("25.0 %") && text.contains("50.0 µs"), "{text}");
}

#[test]
fn exported_tables_come_back() {
    let frames = tables(&records());
    let dir = tempfile::tempdir().unwrap();
    let files = write_frames(&frames, dir.path()).unwrap();
    assert_eq!(files.len(), 8);
    let file = std::fs::File::open(dir.path().join("bands.parquet")).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, frames.bands_table().unwrap().height());
    let bounds = csv(&frames.bounds).unwrap();
    assert_eq!(bounds, "dataset,best_dual,best_primal\nusps,1,1.5\n");
    let points = std::fs::read_to_string(dir.path().join("points.csv")).unwrap();
    assert!(points.starts_with("dataset,solver,label,repeat,iteration"), "{points}");
    assert_eq!(points.lines().count(), 1 + 8);
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
    println!("{} rows into bands in {:.2} s", frames.points.height(), start.elapsed().as_secs_f64());
    assert_eq!((frames.points.height(), bands.len(), bands[19].x.len()), (1_000_000, 20, 5000));
    assert!((bands[7].of(Quantity::PrimalSub).median[9] - 0.55).abs() < 1e-12);
    assert_eq!(time[0].count.iter().max(), Some(&10));
}
