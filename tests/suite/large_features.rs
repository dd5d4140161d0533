//! Multiclass data with large features: right, or refused with advice.

use std::path::PathBuf;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ssvm::clock::Limits;
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::problem::{MulticlassProblem, Problem};
use ssvm::solver::order::Order;
use ssvm::solver::{Batching, MultiPlane, MultiPlaneParams, Schedule};
use ssvm_bench::{Cadence, Catalog, ClockKind, DataDir, Harness, Meter, Metered, Request, Solve, Solver};

const SOLVERS: [&str; 5] = ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"];

/// Five features that tell the three labels, and the time of each example, one a day, around `time`.
fn with_time(time: f64, n: usize, sparse: bool) -> MulticlassData {
    let mut rng = Pcg64::seed_from_u64(3);
    let (k, p) = (3, 6);
    let (mut labels, mut values) = (Vec::new(), Vec::new());
    for i in 0..n {
        let label = rng.random_range(0..k);
        labels.push(label as u32);
        values.extend((0..p - 1).map(|f| f64::from(u8::from(f == label)) + rng.random_range(-0.5..0.5)));
        values.push(time * (1.0 + 5e-5 * i as f64));
    }
    let features = if sparse {
        let offsets = (0..=n).map(|i| i * p).collect();
        Features::Sparse { offsets, indices: (0..n * p).map(|at| (at % p) as u32).collect(), values }
    } else {
        Features::Dense(values)
    };
    let label_names = (0..k).map(|y| y.to_string()).collect();
    MulticlassData { num_labels: k, dim: p, labels, label_names, features }
}

fn problem(data: MulticlassData) -> MulticlassProblem {
    let lambda = 1.0 / data.len() as f64;
    MulticlassProblem::new(Arc::new(data), lambda)
}

#[test]
fn a_time_stamp_does_not_break_the_objective() {
    for time in [1e3, 1.7e9, 1e12, 9e59] {
        for (solver, sparse) in SOLVERS.into_iter().zip([false, true, false, true, false]) {
            let problem = problem(with_time(time, 100, sparse));
            let run = Solve::new(&problem).solver(solver).iterations(30).clock(ClockKind::VIRTUAL);
            let points = run.evaluate(Cadence::Every(1)).run().unwrap().points;
            let best = points.iter().map(|point| point.dual).fold(f64::NEG_INFINITY, f64::max);
            assert!(points[0].dual > 0.0, "{solver} at {time:e}: no progress");
            for pair in points.windows(2) {
                assert!(pair[1].dual >= pair[0].dual - 1e-12, "{solver} at {time:e}: the dual falls");
            }
            for point in &points {
                let (t, primal) = (point.iteration, point.primal);
                assert!(primal >= best - 1e-9, "{solver} at {time:e}, iteration {t}: {primal} below {best}");
                assert!(primal < 20.0, "{solver} at {time:e}, iteration {t}: primal {primal}");
            }
        }
    }
}

#[test]
fn shares_say_what_the_steps_did() {
    for time in [1.0, 1e3, 1e6, 1.7e9, 1e12, 9e59] {
        for averaged in [false, true] {
            let problem = problem(with_time(time, 60, averaged));
            let params = MultiPlaneParams {
                t: 10,
                n: 1000,
                batching: Batching::NONE,
                schedule: Schedule { order: Order::PERMUTATION, m: 1000, fixed_passes: Some(3), averaged },
            };
            let mut solver = MultiPlane::new(Metered::new(&problem), &params, 1);
            let never = || false;
            let mut meter = Meter::new(ClockKind::VIRTUAL, Limits::default(), &never);
            for _ in 0..9 {
                meter.resume();
                solver.iterate(&mut meter).unwrap();
                meter.pause();
            }
            // Before the tenth iteration sums it afresh: w as the steps left it, and as the shares have it.
            let (now, sum) = (solver.iterate_now().solution(), solver.iterate_now().resummed());
            let (mut work, mut plane) = (problem.work(), 0);
            for i in 0..problem.terms() {
                problem.oracle(i, &now.w, &mut work, &mut plane).unwrap();
                let stepped = problem.value(i, &plane, &now.w, &work);
                problem.oracle(i, &sum.w, &mut work, &mut plane).unwrap();
                let summed = problem.value(i, &plane, &sum.w, &work);
                assert!((stepped - summed).abs() < 1e-9, "{time:e}, term {i}: {stepped} or {summed}");
            }
            let (stepped, summed) = (now.dual(problem.lambda()), sum.dual(problem.lambda()));
            assert!((stepped - summed).abs() < 1e-9, "{time:e}: F is {stepped} or {summed}");
        }
    }
}

#[test]
fn the_optimum_of_large_features_is_found() {
    // Two labels told by the sign of one feature of size a: w = ±1/(2a) has no loss, P* = λ/(4a²).
    for a in [1e3, 1.7e9, 1e12, 9e59] {
        let n = 20;
        let labels: Vec<u32> = (0..n).map(|i| i % 2).collect();
        let values = labels.iter().map(|y| if *y == 0 { -a } else { a }).collect();
        let label_names = vec!["a".into(), "b".into()];
        let data = MulticlassData { num_labels: 2, dim: 1, labels, label_names, features: Features::Dense(values) };
        let problem = problem(data);
        for solver in ["bcfw", "mp-bcfw"] {
            let run = Solve::new(&problem).solver(solver).iterations(25).clock(ClockKind::VIRTUAL).run().unwrap();
            let last = run.points.last().unwrap();
            assert!(last.gap.abs() < 1e-9 && last.primal < 1e-6, "{solver} at {a:e}: {last:?}");
            assert!((run.weights[1] * 2.0 * a - 1.0).abs() < 1e-6, "{solver} at {a:e}: {:?}", run.weights);
        }
    }
}

#[test]
fn features_beyond_computing_are_refused_with_advice() {
    for time in [1e61, 1e155, 1e300] {
        let error = Solve::new(&problem(with_time(time, 20, false))).iterations(1).run().unwrap_err().to_string();
        assert!(error.contains("example 1 ") && error.contains("scale the features"), "{error}");
    }
}

/// A file of its own for each test.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("true-features-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn open(path: &std::path::Path) -> Result<usize, String> {
    let name = format!("libsvm:{}", path.display());
    let opened = Harness::standard().open(&Request::new(&name, &DataDir::resolve(None)));
    std::fs::remove_file(path).unwrap();
    opened.map(|opened| opened.problem.terms()).map_err(|error| error.to_string())
}

#[test]
fn a_file_with_an_extreme_feature_names_its_line() {
    let error = open(&file("extreme", "1 1:0.5\n2 1:1e155\n1 1:0.25\n")).unwrap_err();
    assert!(error.contains("extreme") && error.contains('2') && error.contains("1e155"), "{error}");
    assert!(error.contains("scale the features"), "{error}");
}

#[test]
fn targets_of_a_regression_are_no_classes() {
    let mut rng = Pcg64::seed_from_u64(1);
    let real: String = (0..4000).map(|i| format!("{:.4} 1:0.5 2:{i}\n", rng.random_range(0.0..70.0))).collect();
    let error = open(&file("real", &real)).unwrap_err();
    assert!(error.contains("real:1: label") && error.contains("regression") && error.contains("rounding"), "{error}");
    let whole: String = (0..400).map(|i| format!("{} 1:{i}\n", 7 * i)).collect();
    assert!(open(&file("whole", &whole)).unwrap_err().contains("400 different labels"));
    // Many classes with a few examples each, small files: all fine. Classes are whole numbers, however they are written.
    let many: String = (0..400).map(|i| format!("{} 1:{i}\n", i % 150)).collect();
    assert_eq!(open(&file("many", &many)), Ok(400));
    assert_eq!(open(&file("small", "-1e0 1:1\n+2.0 1:2\n3 1:3\n")), Ok(3));
    assert!(
        open(&file("halves", "1 1:1\n1.5 1:2\n2 1:3\n")).unwrap_err().contains("halves:2: label 1.5 is not a whole")
    );
}
