//! Hand-made runs: small ones with known answers, and a folder's worth shaped like real ones.
#![allow(dead_code)] // each test binary uses its own part

use hdrhistogram::Histogram;
use ssvm_bench::config::{ClockKind, SolverKind};
use ssvm_bench::trace::{RunFacts, RunRecord, Status, StopReason, TracePoint};

/// An evaluation with 10 oracle calls per iteration and 3 approximate passes per iteration.
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
    }
}

/// A run that ended at its iteration budget.
pub fn run(dataset: &str, solver: SolverKind, repeat: u64, points: Vec<TracePoint>) -> RunRecord {
    let mut oracle_ns = Histogram::new(3).unwrap();
    let mut approx_ns = Histogram::new(3).unwrap();
    for k in 1..=100 {
        oracle_ns.record(1000 * k).unwrap();
        approx_ns.record(10 * k).unwrap();
    }
    let facts = RunFacts { n: 10, d: 4, lambda: 0.1, host: "here".into(), ..RunFacts::default() };
    RunRecord {
        run_id: format!("{:x}-{solver}-{repeat}", dataset.bytes().fold(7u64, |h, b| h.wrapping_mul(31) ^ b as u64)),
        dataset: dataset.into(),
        solver,
        seed: 100 + repeat,
        repeat,
        clock: ClockKind::Wall,
        jobs: 2,
        core: 1,
        status: Status::Done(StopReason::Iterations),
        points,
        oracle_ns,
        approx_ns,
        facts,
    }
}

/// A run that failed before its first evaluation.
pub fn failed(dataset: &str, solver: SolverKind, repeat: u64, why: &str) -> RunRecord {
    RunRecord { status: Status::Failed(why.into()), ..run(dataset, solver, repeat, Vec::new()) }
}

/// Traces that look like those of the paper: power-law convergence, noise per repeat, early stops, one failure, and
/// on the Stanford twin a gap that turns negative.
pub fn demo(datasets: &[&str], repeats: u64) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (which, dataset) in datasets.iter().enumerate() {
        for solver in SolverKind::ALL {
            for repeat in 0..repeats {
                records.push(demo_run(dataset, which, solver, repeat));
            }
        }
    }
    if let Some(dataset) = datasets.last() {
        let last = records.len() - 1;
        records[last] = failed(dataset, SolverKind::MpBcfwAvg, repeats - 1, "panicked: <planted> & \"quoted\"");
    }
    records
}

fn demo_run(dataset: &str, which: usize, solver: SolverKind, repeat: u64) -> RunRecord {
    let (rate, call_s, speed) = match solver {
        SolverKind::Fw => (0.5, 1.0, 1.0),
        SolverKind::Bcfw => (0.9, 1.0, 1.0),
        SolverKind::BcfwAvg => (1.1, 1.05, 1.0),
        SolverKind::MpBcfw => (1.2 + 0.1 * which as f64, 1.0, 1.5),
        SolverKind::MpBcfwAvg => (1.3 + 0.1 * which as f64, 1.05, 1.5),
    };
    let oracle = [0.15, 0.7, 0.99, 0.99][which.min(3)];
    let noise = |k: f64| 1.0 + 0.25 * ((repeat as f64 * 2.3 + k * 1.7).sin());
    let stop = if repeat % 4 == 3 { 150 } else { 400 };
    let optimum = 0.3 + 0.1 * which as f64;
    let (mut time, mut passes) = (0.0, 0.0);
    let mut points = Vec::new();
    for iteration in 1..=stop {
        let t = iteration as f64;
        let extra = if solver.multi_plane() { (1.0 + which as f64 * t.sqrt()).min(300.0) } else { 0.0 };
        passes += extra.round();
        time += 0.01 * call_s * speed * (1.0 + 0.05 * repeat as f64);
        if !ssvm_bench::config::Cadence::Log.due(iteration) && iteration != stop {
            continue;
        }
        let error = t.powf(-rate);
        let bias = if dataset.starts_with("stanford") { 0.002 } else { 0.0 };
        let primal = optimum + 0.6 * error * noise(t.ln()) - bias;
        let dual = optimum - 0.3 * error * noise(t.ln() + 1.0);
        let mut p = point(iteration, time, primal, dual);
        p.oracle_time_s = time * if solver.multi_plane() { oracle * 0.25 } else { oracle };
        p.approx_passes = passes as u64;
        p.planes_mean = if solver.multi_plane() { 1.0 + which as f64 * (1.0 + t.ln()) * noise(t) } else { 0.0 };
        points.push(p);
    }
    let mut record = run(dataset, solver, repeat, points);
    if solver.multi_plane() {
        record.facts.passes = vec![(0.0, 0.1), (0.02, 0.2), (0.022, 0.24), (0.024, 0.262), (0.026, 0.268)];
    }
    record.oracle_ns.clear();
    record.approx_ns.clear();
    let typical = [3e3, 5e4, 2e6, 4e6][which.min(3)];
    for k in 0..2000 {
        let z = ((k as f64 * 0.618).fract() - 0.5) * 2.0;
        record.oracle_ns.record((typical * (0.8 * z + 0.5 * z.powi(3)).exp()) as u64).unwrap();
        if solver.multi_plane() {
            record.approx_ns.record((300.0 * (0.5 * z).exp()) as u64).unwrap();
        }
    }
    record
}
