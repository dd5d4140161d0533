//! Hand-made runs: small ones with known answers, and a folder's worth shaped like real ones.

use std::path::Path;

use hdrhistogram::Histogram;
use ssvm_bench::render::figure::{self, Figure, FigureRow};
use ssvm_bench::render::report::{self, Page};
use ssvm_bench::store::{Latencies, RunRecord, Status};
use ssvm_bench::study::Study;
use ssvm_bench::study::Summary;
use ssvm_bench::{Cadence, ClockKind, Harness, TracePoint};

use super::runs;
pub use super::runs::point;

/// The solvers of the paper.
pub const SOLVERS: [&str; 5] = ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"];

/// What a folder with these records would show.
pub fn results(records: &[RunRecord]) -> Study {
    Study::from_records(records.to_vec(), &Harness::standard(), &|_| None).unwrap()
}

/// Every figure of these results, and the rows of those that they have nothing for.
pub fn figures(results: &Study, solvers: &[String]) -> ssvm_bench::Result<(Vec<Figure>, Vec<&'static FigureRow>)> {
    figure::draw(results, &Summary::of(results, Path::new("results")), solvers, true)
}

/// The page about these results.
pub fn page(name: &str, results: &Study) -> ssvm_bench::Result<String> {
    let summary = &Summary::of(results, Path::new("results"));
    let (figures, _) = figure::draw(results, summary, &[], false)?;
    report::html(&Page { name, results, summary, figures: &figures })
}

/// A run that ended at its iteration budget.
pub fn run(dataset: &str, solver: &str, repeat: u64, points: Vec<TracePoint>) -> RunRecord {
    let mut oracle_ns = Histogram::new(3).unwrap();
    let mut approx_ns = Histogram::new(3).unwrap();
    for k in 1..=100 {
        oracle_ns.record(1000 * k).unwrap();
        approx_ns.record(10 * k).unwrap();
    }
    let mut settings = runs::settings(solver, repeat, 400);
    settings.clock = ClockKind::WALL;
    settings.evaluate = Cadence::Log;
    let mut record = runs::record(dataset, &settings, repeat, points);
    (record.environment.jobs, record.environment.core) = (2, 1);
    record.measured.oracle_ns = Latencies::of(&oracle_ns).unwrap();
    record.measured.approx_ns = Latencies::of(&approx_ns).unwrap();
    record
}

/// A run that failed before its first evaluation.
pub fn failed(dataset: &str, solver: &str, repeat: u64, why: &str) -> RunRecord {
    RunRecord { status: Status::Failed(why.into()), ..run(dataset, solver, repeat, Vec::new()) }
}

/// Traces that look like those of the paper: power-law convergence, noise per repeat, early stops, one failure, and
/// on the Stanford twin a gap that turns negative.
pub fn demo(datasets: &[&str], repeats: u64) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (which, dataset) in datasets.iter().enumerate() {
        for solver in SOLVERS {
            for repeat in 0..repeats {
                records.push(demo_run(dataset, which, solver, repeat));
            }
        }
    }
    if let Some(dataset) = datasets.last() {
        let last = records.len() - 1;
        records[last] = failed(dataset, "mp-bcfw-avg", repeats - 1, "panicked: <planted> & \"quoted\"");
    }
    records
}

fn demo_run(dataset: &str, which: usize, solver: &str, repeat: u64) -> RunRecord {
    let multi_plane = solver.starts_with("mp-");
    let (rate, call_s, speed) = match solver {
        "fw" => (0.5, 1.0, 1.0),
        "bcfw" => (0.9, 1.0, 1.0),
        "bcfw-avg" => (1.1, 1.05, 1.0),
        "mp-bcfw" => (1.2 + 0.1 * which as f64, 1.0, 1.5),
        _ => (1.3 + 0.1 * which as f64, 1.05, 1.5),
    };
    let oracle = [0.15, 0.7, 0.99, 0.99][which.min(3)];
    let noise = |k: f64| 1.0 + 0.25 * ((repeat as f64 * 2.3 + k * 1.7).sin());
    let stop = if repeat % 4 == 3 { 150 } else { 400 };
    let optimum = 0.3 + 0.1 * which as f64;
    let (mut time, mut passes) = (0.0, 0.0);
    let mut points = Vec::new();
    for iteration in 1..=stop {
        let t = iteration as f64;
        let extra = if multi_plane { (1.0 + which as f64 * t.sqrt()).min(300.0) } else { 0.0 };
        passes += extra.round();
        time += 0.01 * call_s * speed * (1.0 + 0.05 * repeat as f64);
        if !Cadence::Log.due(iteration) && iteration != stop {
            continue;
        }
        let error = t.powf(-rate);
        let bias = if dataset.starts_with("stanford") { 0.002 } else { 0.0 };
        let primal = optimum + 0.6 * error * noise(t.ln()) - bias;
        let dual = optimum - 0.3 * error * noise(t.ln() + 1.0);
        let mut p = point(iteration, time, primal, dual);
        p.oracle_time_s = time * if multi_plane { oracle * 0.25 } else { oracle };
        p.approx_passes = passes as u64;
        p.planes_mean = if multi_plane { 1.0 + which as f64 * (1.0 + t.ln()) * noise(t) } else { 0.0 };
        points.push(p);
    }
    let mut record = run(dataset, solver, repeat, points);
    if multi_plane {
        record.measured.totals.passes = vec![(0.0, 0.1), (0.02, 0.2), (0.022, 0.24), (0.024, 0.262), (0.026, 0.268)];
    }
    let (mut oracle_ns, mut approx_ns) = (Histogram::new(3).unwrap(), Histogram::new(3).unwrap());
    let typical = [3e3, 5e4, 2e6, 4e6][which.min(3)];
    for k in 0..2000 {
        let z = ((k as f64 * 0.618).fract() - 0.5) * 2.0;
        oracle_ns.record((typical * (0.8 * z + 0.5 * z.powi(3)).exp()) as u64).unwrap();
        if multi_plane {
            approx_ns.record((300.0 * (0.5 * z).exp()) as u64).unwrap();
        }
    }
    record.measured.oracle_ns = Latencies::of(&oracle_ns).unwrap();
    record.measured.approx_ns = Latencies::of(&approx_ns).unwrap();
    record
}
