//! Trajectories of the authors' program beside ours: a problem and the stem of its reference files in, a panic out where
//! the two differ.

use std::sync::Arc;

use ssvm::drive::AnyProblem;
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Execution, Harness, Outcome, Quiet, Request, RunSettings, SolverSpec,
    TracePoint, Value,
};

/// A data set by name, with λ = 1/n.
pub fn open(name: &str, data: &DataDir) -> Arc<dyn AnyProblem> {
    Harness::standard().open(&Request::new(name, data)).unwrap_or_else(|error| panic!("{error}")).problem
}

/// The evaluations of one run under the virtual clock.
pub fn points(problem: &dyn AnyProblem, solver: SolverSpec, iterations: u64, evaluate: Cadence) -> Vec<TracePoint> {
    run(problem, solver, Budget::iterations(iterations), evaluate).points
}

/// One run under the virtual clock.
pub fn run(problem: &dyn AnyProblem, solver: SolverSpec, budget: Budget, evaluate: Cadence) -> Outcome {
    let settings = RunSettings {
        solver,
        seed: 1,
        clock: ClockKind::VIRTUAL,
        oracle_cost: ssvm_bench::OracleCost::ONE,
        budget,
        evaluate,
    };
    problem.run(&settings, &Execution::default(), &mut Quiet).expect("a run")
}

/// Compares with all six files `STEM_sequential_passes{0,1,5}_{raw,avg}.csv`.
pub fn follow(problem: &dyn AnyProblem, stem: &str) {
    for (passes, readout, solver) in [
        (0, "raw", "bcfw"),
        (0, "avg", "bcfw-avg"),
        (1, "raw", "mp-bcfw"),
        (1, "avg", "mp-bcfw-avg"),
        (5, "raw", "mp-bcfw"),
        (5, "avg", "mp-bcfw-avg"),
    ] {
        let mut spec = SolverSpec::new(solver).with("order", Value::Word("sequential".into()));
        if passes > 0 {
            spec = spec.with("passes", Value::Count(passes));
        }
        compare(problem, spec, &format!("{stem}_sequential_passes{passes}_{readout}.csv"));
    }
}

fn compare(problem: &dyn AnyProblem, solver: SolverSpec, path: &str) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|f| f.parse().expect("a number")).collect()).collect();
    assert!(rows.len() >= 5, "{path} has only {} rows", rows.len());
    let at: Vec<u64> = rows.iter().map(|row| row[0] as u64).collect();
    let ours = points(problem, solver, at[at.len() - 1], Cadence::At(at));
    assert_eq!(ours.len(), rows.len());
    for (row, point) in rows.iter().zip(&ours) {
        for (what, theirs, ours) in [
            ("primal", row[1], point.primal),
            ("dual_solution", row[2], point.dual_solution),
            ("dual", row[2].max(row[3]), point.dual),
        ] {
            let allowed = 1e-9 * theirs.abs() + 1e-12;
            assert!(
                (theirs - ours).abs() <= allowed,
                "{path}, iteration {}: {what} {ours:.15} instead of {theirs:.15}",
                row[0]
            );
        }
    }
}
