//! Records without a result folder: what a run would have left behind.
#![allow(dead_code)]

use hdrhistogram::Histogram;
use ssvm_bench::config::{Budget, Cadence, ClockKind, RunSettings, SolverKind, SolverSpec};
use ssvm_bench::exec::{self, Quiet};
use ssvm_bench::problem::Problem;
use ssvm_bench::trace::{RunFacts, RunRecord, Status, StopReason, TracePoint};

/// A run of some iterations under the virtual clock.
pub fn settings(solver: SolverSpec, repeat: u64, iterations: u64) -> RunSettings {
    RunSettings {
        solver,
        seed: 100 + repeat,
        clock: ClockKind::Virtual,
        budget: Budget { iterations: Some(iterations), ..Budget::default() },
        evaluate: Cadence::Every(1),
    }
}

/// Executes a run and keeps it as a record of `dataset`.
pub fn executed<P: Problem>(dataset: &str, problem: &P, settings: &RunSettings, repeat: u64) -> RunRecord {
    let outcome = exec::run(problem, settings, &mut Quiet).expect("a run");
    RunRecord {
        status: Status::Done(outcome.stop),
        points: outcome.points,
        ..empty(dataset, settings.solver.kind, repeat)
    }
}

/// A record without evaluations.
pub fn empty(dataset: &str, solver: SolverKind, repeat: u64) -> RunRecord {
    RunRecord {
        run_id: format!("{dataset} {solver} {repeat}"),
        dataset: dataset.to_owned(),
        solver,
        seed: 100 + repeat,
        repeat,
        clock: ClockKind::Virtual,
        jobs: 1,
        core: -1,
        status: Status::Done(StopReason::Iterations),
        points: Vec::new(),
        oracle_ns: Histogram::new(3).expect("a histogram"),
        approx_ns: Histogram::new(3).expect("a histogram"),
        facts: RunFacts { settings: format!("{dataset} {solver} {repeat}"), ..RunFacts::default() },
    }
}

/// A made-up run: iteration t costs `oracle_calls` calls and `time_s` seconds, the gap is 1/t.
pub fn made_up(dataset: &str, solver: SolverKind, repeat: u64, oracle_calls: u64, time_s: f64) -> RunRecord {
    let point = |t: u64| TracePoint {
        iteration: t,
        time_s: time_s * t as f64,
        cpu_s: time_s * t as f64,
        oracle_calls: oracle_calls * t,
        approx_steps: 3 * t,
        approx_passes: t,
        oracle_time_s: 0.0,
        approx_time_s: 0.0,
        primal: 2.0 + 1.0 / t as f64,
        dual: 2.0,
        dual_solution: 2.0,
        gap: 1.0 / t as f64,
        planes_mean: 1.5,
        planes_max: 3,
    };
    RunRecord { points: (1..=12).map(point).collect(), ..empty(dataset, solver, repeat) }
}
