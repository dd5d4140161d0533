//! Records without a result folder: what a run would have left behind. The one factory of evaluations and records.

use ssvm::solver::{SolverTable, Standard};
use ssvm_bench::store::identity::Identity;
use ssvm_bench::store::keys::ProblemKey;
use ssvm_bench::store::{Environment, Measured, RunRecord, Status};
use ssvm_bench::{
    Budget, Cadence, ClockKind, Problem, Quiet, RunLimits, RunSettings, SolverSpec, StopReason, TracePoint,
};

/// An evaluation after this many iterations of 10 oracle calls, 3 approximate passes and 30 approximate steps each. What a
/// test wants different it sets: `TracePoint { planes_max: 9, ..point(1, 0.5, 2.0, 1.0) }`.
pub fn point(iteration: u64, time_s: f64, primal: f64, dual: f64) -> TracePoint {
    TracePoint {
        iteration,
        time_s,
        cpu_s: time_s,
        oracle_calls: 10 * iteration,
        approx_steps: 30 * iteration,
        approx_passes: 3 * iteration,
        oracle_time_s: 0.25 * time_s,
        approx_time_s: 0.5 * time_s,
        primal,
        dual,
        dual_solution: dual,
        gap: primal - dual,
        planes_mean: 2.0,
        planes_max: 4,
        cached_bytes: 0,
        ..TracePoint::default()
    }
}

/// A run of some iterations under the virtual clock.
pub fn settings(solver: impl Into<SolverSpec>, repeat: u64, iterations: u64) -> RunSettings {
    RunSettings {
        solver: solver.into(),
        seed: 100 + repeat,
        clock: ClockKind::VIRTUAL,
        oracle_cost: ssvm_bench::OracleCost::ONE,
        budget: Budget::iterations(iterations),
        evaluate: Cadence::Every(1),
    }
}

/// A record with these settings and evaluations, ended at its iteration budget.
pub fn record(dataset: &str, settings: &RunSettings, repeat: u64, points: Vec<TracePoint>) -> RunRecord {
    RunRecord {
        identity: Identity {
            problem: ProblemKey {
                dataset: dataset.to_owned(),
                checksum: format!("checksum of {dataset}"),
                lambda: 0.1,
                pairwise_weight: None,
            },
            settings: settings.clone(),
            cost_model: None,
            code_version: "0".to_owned(),
            solver_version: None,
            problem_version: None,
        },
        repeat,
        environment: Environment { n: 10, d: 4, jobs: 1, core: -1, host: "here".into(), ..Environment::default() },
        status: Status::Done(StopReason::Iterations),
        measured: Measured { points, ..Measured::default() },
    }
}

/// Executes a run and keeps it as a record of `dataset`.
pub fn executed<P: Problem>(dataset: &str, problem: &P, settings: &RunSettings, repeat: u64) -> RunRecord {
    let RunSettings { solver, seed, clock, oracle_cost, budget, evaluate } = settings.clone();
    let mut solver = Standard.build(&solver, problem, seed).expect("a solver");
    let limits = RunLimits { clock, oracle_cost, ..RunLimits::new(budget, evaluate) };
    let outcome = ssvm::drive(problem, &mut *solver, &limits, &mut Quiet).expect("a run");
    let mut record = record(dataset, settings, repeat, Vec::new());
    record.identity.problem.lambda = problem.lambda();
    record.environment.n = problem.terms() as u64;
    record.environment.d = problem.dim() as u64;
    record.status = Status::Done(outcome.stop);
    record.measured = Measured::of(outcome, 0.0, Vec::new()).expect("histograms that can be packed");
    record
}

/// A record without evaluations.
pub fn empty(dataset: &str, solver: impl Into<SolverSpec>, repeat: u64) -> RunRecord {
    record(dataset, &settings(solver, repeat, 12), repeat, Vec::new())
}

/// A run that failed before its first evaluation.
pub fn failed(dataset: &str, solver: impl Into<SolverSpec>, repeat: u64, why: &str) -> RunRecord {
    RunRecord { status: Status::Failed(why.to_owned()), ..empty(dataset, solver, repeat) }
}

/// A made-up run of 12 iterations: each costs `oracle_calls` calls and `time_s` seconds, the gap after t of them is 1/t.
pub fn made_up(dataset: &str, solver: impl Into<SolverSpec>, repeat: u64, oracle_calls: u64, time_s: f64) -> RunRecord {
    let at = |t: u64| TracePoint {
        oracle_calls: oracle_calls * t,
        approx_steps: 3 * t,
        approx_passes: t,
        oracle_time_s: 0.0,
        approx_time_s: 0.0,
        gap: 1.0 / t as f64,
        planes_mean: 1.5,
        planes_max: 3,
        cached_bytes: 0,
        ..point(t, time_s * t as f64, 2.0 + 1.0 / t as f64, 2.0)
    };
    record(dataset, &settings(solver, repeat, 12), repeat, (1..=12).map(at).collect())
}
