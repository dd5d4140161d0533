//! Budgets are met exactly, and a part of an iteration is never taken for a whole one.

use crate::common::reference;
use ssvm_bench::{Budget, Cadence, DataDir, Outcome, SolverSpec, StopReason, Value};

const SOLVERS: [&str; 5] = ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"];

fn run(solver: SolverSpec, budget: Budget) -> Outcome {
    let problem = reference::open("usps-synth:n=100", &DataDir::resolve(None));
    reference::run(&*problem, solver, budget, Cadence::Every(1))
}

fn calls(count: u64) -> Budget {
    Budget { oracle_calls: Some(count), ..Budget::default() }
}

fn axis(outcome: &Outcome) -> Vec<(u64, bool, u64)> {
    outcome.points.iter().map(|point| (point.iteration, point.partial, point.oracle_calls)).collect()
}

#[test]
fn a_budget_of_n_calls_is_one_iteration() {
    for solver in SOLVERS {
        let outcome = run(SolverSpec::new(solver), calls(100));
        assert_eq!(axis(&outcome), [(1, false, 100)], "{solver}");
        assert_eq!(outcome.stop, StopReason::OracleCalls);
        assert!(outcome.points[0].dual > 0.0, "{solver} threw its calls away");
    }
}

#[test]
fn a_part_of_an_iteration_is_marked_and_keeps_the_number_of_whole_ones() {
    for solver in SOLVERS {
        let outcome = run(SolverSpec::new(solver), calls(250));
        assert_eq!(axis(&outcome), [(1, false, 100), (2, false, 200), (2, true, 250)], "{solver}");
        let outcome = run(SolverSpec::new(solver), calls(99));
        assert_eq!(axis(&outcome), [(0, true, 99)], "{solver}");
        let outcome = run(SolverSpec::new(solver), calls(101));
        assert_eq!(axis(&outcome), [(1, false, 100), (1, true, 101)], "{solver}");
    }
}

#[test]
fn an_iteration_that_ends_in_its_approximate_passes_is_a_part() {
    let solver = || SolverSpec::new("mp-bcfw").with("passes", Value::Count(20));
    let whole = run(solver(), Budget::iterations(2));
    assert_eq!(axis(&whole), [(1, false, 100), (2, false, 200)]);
    let [first, second] = &whole.points[..] else { unreachable!("two points") };
    // Late in the second iteration: its exact pass is over, its approximate passes are not.
    let time_s = Some(first.time_s + 0.95 * (second.time_s - first.time_s));
    let outcome = run(solver(), Budget { time_s, ..Budget::default() });
    assert_eq!(outcome.stop, StopReason::Time);
    assert_eq!(axis(&outcome), [(1, false, 100), (1, true, 200)]);
    assert!(outcome.points[1].approx_passes > 20 && outcome.points[1].approx_passes < 40);
}

/// A run may take `timeout_s`, and the scheduler looks at short runs too rarely to see it.
#[test]
fn every_run_that_takes_longer_than_its_timeout_has_timed_out() {
    let dir = tempfile::tempdir().unwrap();
    let config = "name = \"t\"\ntimeout_s = 1e-9\nrepeats = 4\nclock = \"virtual\"\n[budget]\niterations = 5\n\
                  [[dataset]]\nname = \"usps-synth:n=60\"\n[[dataset]]\nname = \"ocr-synth:n=20\"\n\
                  [[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";
    let report = crate::common::sessions::run(config, dir.path(), 2).unwrap().report;
    assert_eq!((report.planned, report.finished, report.failed.len()), (16, 0, 16), "{report:?}");
    assert!(report.failed.iter().all(|(_, why)| why.starts_with("timed out after")), "{report:?}");
}
