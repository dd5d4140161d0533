//! Records for tests of tables and claims: hand-made ones with known answers, and real ones on the virtual clock.

use std::path::Path;

use ssvm::clock::latency_histogram;
use ssvm_bench::store::folder::Contents;
use ssvm_bench::store::identity::{Identity, order_seed};
use ssvm_bench::store::keys::ProblemKey;
use ssvm_bench::store::manifest::Manifest;
use ssvm_bench::store::{Environment, Latencies, Measured, RunRecord, Status, Totals};
use ssvm_bench::study::Study;
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Execution, Harness, Quiet, Request, RunSettings, SolverSpec,
    StopReason, TracePoint,
};

/// An evaluation with 10 oracle calls and 3 approximate passes per iteration.
pub fn point(iteration: u64, time_s: f64, primal: f64, dual: f64) -> TracePoint {
    TracePoint {
        iteration,
        time_s,
        oracle_calls: 10 * iteration,
        approx_passes: 3 * iteration,
        oracle_time_s: 0.25 * time_s,
        primal,
        dual,
        dual_solution: dual,
        gap: primal - dual,
        proven: 10,
        planes_mean: 2.0,
        planes_max: 4,
        cached_bytes: 0,
        ..TracePoint::default()
    }
}

/// A run on the wall clock that ended at its iteration budget.
pub fn run(dataset: &str, solver: impl Into<SolverSpec>, repeat: u64, points: Vec<TracePoint>) -> RunRecord {
    let mut histogram = latency_histogram();
    (1..=100).for_each(|k| histogram.record(1000 * k).unwrap());
    RunRecord {
        identity: Identity {
            problem: ProblemKey {
                dataset: dataset.to_owned(),
                checksum: "abc".to_owned(),
                lambda: 0.1,
                pairwise_weight: None,
            },
            settings: RunSettings {
                solver: solver.into(),
                seed: order_seed(1, repeat),
                clock: ClockKind::WALL,
                oracle_cost: ssvm_bench::OracleCost::ONE,
                budget: Budget::iterations(40),
                evaluate: Cadence::Every(1),
            },
            cost_model: None,
            code_version: "0".to_owned(),
            solver_version: None,
            problem_version: None,
        },
        repeat,
        environment: Environment { n: 10, d: 4, jobs: 2, host: "here".to_owned(), ..Environment::default() },
        status: Status::Done(StopReason::Iterations),
        measured: Measured {
            points,
            oracle_ns: Latencies::of(&histogram).unwrap(),
            approx_ns: Latencies::of(&latency_histogram()).unwrap(),
            totals: Totals::default(),
        },
    }
}

/// Real runs of one solver on the virtual clock, one for each repeat.
pub fn executed(dataset: &str, solver: &str, repeats: u64, budget: &Budget, evaluate: &Cadence) -> Vec<RunRecord> {
    let harness = Harness::standard();
    let folder = DataDir::resolve(Some(Path::new("nowhere")));
    let opened = harness.open(&Request::new(dataset, &folder)).unwrap();
    (0..repeats)
        .map(|repeat| {
            let mut record = run(dataset, solver, repeat, Vec::new());
            let settings = &mut record.identity.settings;
            settings.clock = ClockKind::VIRTUAL;
            settings.budget = budget.clone();
            settings.evaluate = evaluate.clone();
            let outcome = opened.problem.run(settings, &Execution::default(), &mut Quiet).unwrap();
            dataset.clone_into(&mut record.identity.problem.checksum);
            record.environment.n = opened.problem.terms() as u64;
            record.status = Status::Done(outcome.stop);
            record.measured = Measured::of(outcome, 0.0, Vec::new()).unwrap();
            record
        })
        .collect()
}

/// The tables of a folder with these records.
pub fn results(records: Vec<RunRecord>) -> Study {
    let contents = Contents { records, damaged: Vec::new() };
    let manifest = Manifest::default();
    Study::of(Path::new("here"), manifest, contents, &Harness::standard(), &[]).unwrap()
}
