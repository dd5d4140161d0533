//! Curves that say what was measured: runs that stop early, runs of other machines, parts of iterations, bounds.

use crate::common::records::{point, run};
use ssvm::clock::ClockKind;
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::study::points::numbers;
use ssvm_bench::study::{Axis, Quantity, Study, View, targets};
use ssvm_bench::{Harness, StopReason, TracePoint};

fn frames(records: &[RunRecord]) -> View {
    Study::from_records(records.to_vec(), &Harness::standard(), &|_| None).unwrap().own
}

/// Gap `scale / k` after k iterations of a second each.
fn falling(scale: f64, iterations: u64) -> Vec<TracePoint> {
    (1..=iterations).map(|k| point(k, k as f64, 1.0 + scale / k as f64, 1.0)).collect()
}

#[test]
fn the_median_does_not_rise_when_good_repeats_reach_their_gap() {
    let mut records: Vec<RunRecord> = (0..3).map(|repeat| run("usps", "bcfw", repeat, falling(8.0, 40))).collect();
    for repeat in 3..6 {
        let mut good = run("usps", "bcfw", repeat, falling(1.0, 10));
        good.status = Status::Done(StopReason::Gap);
        records.push(good);
    }
    let frames = frames(&records);
    for axis in Axis::ALL {
        let bands = &frames.bands(axis).unwrap()[0];
        let gap = &bands.of(Quantity::Gap).median;
        assert!(gap.windows(2).all(|two| two[1] <= two[0] * (1.0 + 1e-12)), "{axis:?}: {gap:?}");
        assert!(bands.count.iter().all(|count| *count == 6), "{axis:?}: {:?}", bands.count);
        assert_eq!((bands.running[0], *bands.running.last().unwrap()), (6, 3));
    }
    let passes = frames.bands(Axis::Iteration).unwrap()[0].of(Quantity::Passes).clone();
    assert!(passes.max.iter().all(|value| value.is_finite()), "what has stopped makes no passes");
}

#[test]
fn a_run_that_reached_its_gap_stays_to_the_end_of_the_axis() {
    let mut good = run("usps", "mp-bcfw", 0, falling(1.0, 10));
    good.status = Status::Done(StopReason::Gap);
    let frames = frames(&[run("usps", "bcfw", 0, falling(8.0, 40)), good]);
    for axis in Axis::ALL {
        let bands = frames.bands(axis).unwrap();
        assert_eq!(bands[0].x.last(), bands[1].x.last(), "{axis:?}");
        assert_eq!(bands[1].of(Quantity::Gap).median.last().map(|gap| (gap * 1e9).round()), Some(1e8));
    }
}

#[test]
fn a_run_that_timed_out_is_counted_as_far_as_it_goes() {
    let mut broken = run("usps", "bcfw", 1, falling(0.001, 10));
    broken.status = Status::TimedOut { after_s: 120.0 };
    let frames = frames(&[run("usps", "bcfw", 0, falling(1.0, 20)), broken]);
    let series = &frames.series[0];
    assert_eq!((series.completed, series.failed, series.censored), (1, 1, 1));
    let bands = &frames.bands(Axis::Iteration).unwrap()[0];
    assert_eq!((bands.count[9], bands.count[10]), (2, 1));
    // 1 + 0.001 / 10 was found, and nothing that happens later makes it untrue.
    assert_eq!(frames.bounds_of("usps"), Some((1.0, 1.0001)));
}

#[test]
fn a_cell_whose_runs_all_timed_out_has_bounds_and_curves() {
    let records: Vec<RunRecord> = (0..3)
        .map(|repeat| RunRecord {
            status: Status::TimedOut { after_s: 120.0 },
            ..run("usps", "bcfw", repeat, falling(1.0, 10 + repeat))
        })
        .collect();
    let frames = frames(&records);
    assert_eq!(frames.bounds_of("usps"), Some((1.0, 1.0 + 1.0 / 12.0)));
    let bands = &frames.bands(Axis::Iteration).unwrap()[0];
    assert_eq!(bands.count, [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1]);
    assert!(bands.of(Quantity::PrimalSub).median.iter().all(|value| value.is_finite()));
    let table = targets::time_to_gap(&frames, "usps");
    assert_eq!(table.iter().map(|row| (row.target, row.cells[0].reached)).collect::<Vec<_>>(), [(0.3, 3), (0.1, 2)]);
    let profile = ssvm_bench::study::profile::profile(&frames).unwrap();
    assert_eq!((profile[0].completed, profile[0].failed, profile[0].oracle_calls), (0, 3, 100 + 110 + 120));
    assert!(profile[0].share.is_some_and(|share| (share.median - 0.25).abs() < 1e-12));
}

#[test]
fn a_part_of_an_iteration_is_on_the_axis_of_time_only() {
    let mut points = falling(1.0, 4);
    points.push(TracePoint { partial: true, time_s: 4.5, primal: 1.1, gap: 0.1, ..points[3].clone() });
    let frames = frames(&[run("usps", "bcfw", 0, points)]);
    let iterations = &frames.bands(Axis::Iteration).unwrap()[0];
    assert_eq!(iterations.x, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(iterations.of(Quantity::Gap).median.last(), Some(&0.25));
    let time = &frames.bands(Axis::Time).unwrap()[0];
    assert_eq!(time.x.last(), Some(&4.5));
    assert!((time.of(Quantity::Gap).median.last().unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn between_evaluations_there_are_no_stairs() {
    let points: Vec<TracePoint> = [1, 10, 100].map(|k| point(k, k as f64, 1.0 + 1.0 / k as f64, 1.0)).to_vec();
    let frames = frames(&[run("usps", "bcfw", 0, points)]);
    let bands = &frames.bands(Axis::Time).unwrap()[0];
    let gap = &bands.of(Quantity::Gap).median;
    assert!(bands.x.len() > 100);
    for (time, gap) in bands.x.iter().zip(gap) {
        assert!((gap * time - 1.0).abs() < 1e-9, "a power law stays one: {gap} at {time}");
    }
}

#[test]
fn times_to_a_gap_are_interpolated() {
    // At most a factor of 2 apart.
    let marks = [1, 2, 4, 8, 16, 32, 64];
    let sparse: Vec<TracePoint> = marks.map(|k| point(k, k as f64, 1.0 + 1.0 / k as f64, 1.0)).to_vec();
    let frames = frames(&[run("usps", "bcfw", 0, falling(1.0, 64)), run("usps", "mp-bcfw", 0, sparse)]);
    let table = targets::time_to_gap(&frames, "usps");
    assert_eq!(table.iter().map(|row| row.target).collect::<Vec<_>>(), [0.3, 0.1, 0.03]);
    for row in table {
        for cell in row.cells {
            let time = cell.time_s.unwrap();
            assert!((time * row.target - 1.0).abs() < 1e-2, "{time} to {}", row.target);
        }
    }
}

#[test]
fn what_changes_times_tells_series_apart_unless_the_clock_is_repeatable() {
    let make = |change: &dyn Fn(&mut RunRecord)| {
        let mut other = run("usps", "bcfw", 1, falling(1.0, 4));
        change(&mut other);
        [run("usps", "bcfw", 0, falling(1.0, 4)), other]
    };
    let host = |r: &mut RunRecord| r.environment.host_class = "another CPU, 64 cores".to_owned();
    let alone = |r: &mut RunRecord| r.environment.jobs = 1;
    let debug = |r: &mut RunRecord| r.environment.build = "opt-level=0".to_owned();
    let name = |r: &mut RunRecord| r.environment.host = "there".to_owned();
    for (change, told) in
        [(&host as &dyn Fn(&mut RunRecord), "host="), (&alone, "jobs=isolated"), (&debug, "build="), (&name, "host=")]
    {
        let mut records = make(change);
        let labels: Vec<String> = frames(&records).series.iter().map(|s| s.label.clone()).collect();
        assert_eq!(labels.len(), 2, "{told}: {labels:?}");
        assert!(labels.iter().any(|label| label.contains(told)), "{told}: {labels:?}");
        for record in &mut records {
            record.identity.settings.clock = ClockKind::VIRTUAL;
        }
        assert_eq!(frames(&records).series.len(), 1, "{told}: a repeatable clock does not care");
    }
    let mut same = make(&name);
    for record in &mut same {
        record.environment.host_class = "one CPU, 2 cores".to_owned();
    }
    assert_eq!(frames(&same).series.len(), 1, "machines of one kind are one series");
}

#[test]
fn bounds_known_before_are_used_and_never_cross() {
    let mut records = [run("usps", "bcfw", 0, falling(1.0, 10))];
    for point in &mut records[0].measured.points {
        point.proven = 0;
    }
    let with = |known: (f64, f64)| {
        let study = Study::from_records(records.to_vec(), &Harness::standard(), &|problem| {
            (problem.checksum == "abc" && problem.lambda == 0.1).then_some(known)
        });
        let frames = study.unwrap().own;
        (frames.bounds_of("usps").unwrap(), frames.floor("usps"))
    };
    assert_eq!(with((1.01, 1.02)), ((1.01, 1.02), 1.02 - 1.01));
    assert_eq!(with((0.0, 9.0)).0, (1.0, 1.1), "runs may know better");
    assert_eq!(with((1.5, 9.0)).0, (1.5, f64::INFINITY), "an upper bound that is not proven and is excluded is none");
    let primal = Study::from_records(records.to_vec(), &Harness::standard(), &|_| Some((1.01, 1.02))).unwrap().own;
    let last = *numbers(&primal.points.table, "primal_suboptimality").unwrap().last().unwrap();
    assert!((last - 0.09).abs() < 1e-12);
}

/// A lower bound above a proven upper one is a bug of one of the two, and the message names both.
#[test]
fn proven_bounds_that_exclude_each_other_are_an_error() {
    let proven = |solver: &str, repeat, above: f64| {
        let mut record = run("usps", solver, repeat, falling(1.0, 10));
        for point in &mut record.measured.points {
            point.proven = record.environment.n;
            point.primal += above;
            point.dual += above;
        }
        record
    };
    let study = |records: &[RunRecord], known: Option<(f64, f64)>| {
        Study::from_records(records.to_vec(), &Harness::standard(), &|_| known)
    };
    let (high, low) = (proven("bcfw", 0, 0.0), proven("fw", 1, 0.5));
    assert!(study(std::slice::from_ref(&low), None).is_ok() && study(std::slice::from_ref(&high), None).is_ok());
    let message = study(&[low.clone(), high.clone()], None).unwrap_err().to_string();
    for named in ["usps/bcfw", "usps/fw", "repeat 0", "repeat 1", &low.run_id(), &high.run_id()] {
        assert!(message.contains(named), "{named}: {message}");
    }
    // The best dual of this one is 1, its best primal 1.1.
    let one = std::slice::from_ref(&high);
    assert!(study(one, Some((1.1 + 1e-12, 2.0))).is_ok(), "rounding");
    for known in [(1.2, 2.0), (0.0, 0.9)] {
        let message = study(one, Some(known)).unwrap_err().to_string();
        assert!(message.contains("the store of certified optima") && message.contains(&high.run_id()), "{message}");
    }
}

/// A bound of a term stands in for its maximiser: that primal is certified as well.
#[test]
fn bounded_terms_certify_a_primal_that_a_dual_must_not_exclude() {
    let unproven = |solver: &str, above: f64, slack: f64| {
        let mut record = run("stanford", solver, 0, falling(1.0, 10));
        for point in &mut record.measured.points {
            (point.proven, point.oracle_slack) = (0, slack);
            point.primal += above;
            point.dual += above;
        }
        record
    };
    let study = |slack: f64| {
        let records = vec![unproven("bcfw", 0.0, slack), unproven("fw", 0.5, slack)];
        Study::from_records(records, &Harness::standard(), &|_| None)
    };
    let study_without = study(0.0).expect("a program without a bound certifies nothing");
    let (low, high) = study_without.own.bounds_of("stanford").unwrap();
    assert!(low > 1.4 && high == f64::INFINITY, "the dual still bounds the optimum: {low} to {high}");
    let reached = study_without.own.curves(0).iter().any(|curve| curve.is_measured());
    assert!(!reached, "nothing is measured against an optimum that may be anywhere above");
    let message = study(0.01).unwrap_err().to_string();
    assert!(message.contains("the certified upper bound 1.1e0") && !message.contains("proven"), "{message}");
}

#[test]
fn gaps_of_an_oracle_that_is_not_exact_are_called_certified() {
    let mut points = falling(1.0, 4);
    for point in &mut points {
        point.oracle_slack = 0.01;
    }
    // Terms whose maximiser is not proven, although the bounds happen to be tight.
    let mut unproven = run("stanford", "bcfw", 0, falling(1.0, 4));
    unproven.environment.n = 20;
    let frames = frames(&[run("usps", "bcfw", 0, falling(1.0, 4)), unproven, run("graph:mine.npz", "bcfw", 0, points)]);
    let title = |dataset| frames.panel_title(Quantity::Gap, dataset);
    assert_eq!(title("usps"), "duality gap");
    assert_eq!([title("stanford"), title("graph:mine.npz")], ["duality gap (certified)"; 2]);
}
