//! Exact and approximate steps of whole solvers, and what the instrument costs. Each line gives the time of a step (median
//! and quartiles of some runs) and beside it two floors: what it takes on this machine to stream the bytes that the step
//! must touch, and to do its operations at the speed of products in the cache.

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use ssvm::clock::UNIT_NS;
use ssvm::drive::AnyProblem;
use ssvm_bench::{ClockKind, Outcome, SolverSpec, Value};

#[path = "floor.rs"]
mod floor;
#[path = "rows.rs"]
mod rows;

/// Iterations of a run, the approximate passes of each, and runs of a line.
const ITERATIONS: u64 = 10;
const PASSES: u64 = 10;
const RUNS: usize = 7;

/// One family with its data set (the real one when it is there) and the lines it gets.
struct Case {
    family: &'static str,
    name: &'static str,
    averaged: bool,
    /// Bytes that an exact step must touch at least once in memory that does not stay in the first-level cache: the
    /// example's data and φ^i, read and written.
    exact_bytes: f64,
    /// Those of an approximate step with this many planes.
    approximate_bytes: fn(f64) -> f64,
}

fn cases() -> [Case; 4] {
    let real = std::env::var_os("SSVM_DATA").is_some();
    [
        // x_i (256 f64) and ten label shares.
        Case {
            family: "multiclass",
            name: if real { "usps" } else { "usps-synth" },
            averaged: false,
            exact_bytes: 256.0 * 8.0 + 160.0,
            approximate_bytes: |planes| 256.0 * 8.0 + 160.0 + planes * 16.0,
        },
        // 7.6 positions: pixel masks and 28 marginals each; planes of about 40 bytes.
        Case {
            family: "chain",
            name: if real { "ocr" } else { "ocr-synth" },
            averaged: true,
            exact_bytes: 7.6 * (16.0 + 448.0),
            approximate_bytes: |planes| 7.6 * (16.0 + 448.0) + planes * 40.0,
        },
        // 144 nodes × 649 f32; φ^i of 649 f64.
        Case {
            family: "binary graph",
            name: "horseseg-synth:n=300",
            averaged: false,
            exact_bytes: 144.0 * 649.0 * 4.0 + 2.0 * 649.0 * 8.0,
            approximate_bytes: |planes| (planes + 2.0) * 649.0 * 8.0,
        },
        // The same features; about four of eight blocks in use.
        Case {
            family: "Potts graph",
            name: "stanford-synth:n=60",
            averaged: false,
            exact_bytes: 144.0 * 649.0 * 4.0 + 8.0 * 649.0 * 8.0,
            approximate_bytes: |planes| (planes + 2.0) * 4.0 * 649.0 * 8.0,
        },
    ]
}

/// Seconds of an exact and of an approximate step, or on the virtual clock their operations.
fn steps_of(outcome: &Outcome, clock: ClockKind) -> [f64; 2] {
    let last = outcome.points.last().expect("the end is always evaluated");
    let unit = if clock == ClockKind::VIRTUAL { UNIT_NS * 1e-9 } else { 1.0 };
    let exact = (last.time_s - last.approx_time_s) / last.oracle_calls as f64;
    // Steps that are skipped cost nothing on a real clock, and what they stand for on the virtual one.
    let skipped = if clock == ClockKind::VIRTUAL { 0 } else { last.skipped_steps };
    [exact / unit, last.approx_time_s / (last.approx_steps - skipped).max(1) as f64 / unit]
}

/// The lines of one case for one pair of solvers: exact steps of the first, approximate ones of the second.
fn lines(case: &Case, problem: &dyn AnyProblem, [single, multi]: [&str; 2], speeds: [f64; 2]) {
    let measure = |solver: &str, clock| {
        let spec = SolverSpec::new(solver);
        let spec = if solver == multi { spec.with("passes", Value::Count(PASSES)) } else { spec };
        rows::run(problem, spec, clock, ITERATIONS)
    };
    let by_time = |a: &f64, b: &f64| a.total_cmp(b);
    for (at, solver, step) in [(0, single, "exact"), (1, multi, "approximate")] {
        let mut times: Vec<f64> =
            (0..RUNS).map(|_| steps_of(&measure(solver, ClockKind::WALL), ClockKind::WALL)[at]).collect();
        times.sort_by(by_time);
        let counted = measure(solver, ClockKind::VIRTUAL);
        let planes = counted.points.last().map_or(0.0, |point| point.planes_mean);
        let bytes = if at == 0 { case.exact_bytes } else { (case.approximate_bytes)(planes) };
        let operations = steps_of(&counted, ClockKind::VIRTUAL)[at];
        let [memory, arithmetic] = [bytes / speeds[0], operations / speeds[1]];
        let line = if at == 0 { step.to_owned() } else { format!("{step}, |W| = {planes:.1}") };
        println!(
            "{:<22} {:<12} {line:<22} {:>8.3} ({:.3} … {:.3}) {:>9.0} {:>8.3} {:>9.0} {:>8.3} {:>7.2}",
            case.name,
            solver,
            times[RUNS / 2] * 1e6,
            times[RUNS / 4] * 1e6,
            times[RUNS - 1 - RUNS / 4] * 1e6,
            bytes,
            memory * 1e6,
            operations,
            arithmetic * 1e6,
            times[RUNS / 2] / memory.max(arithmetic)
        );
    }
}

fn steps(criterion: &mut Criterion) {
    let speeds = [floor::stream_bytes_per_second(), floor::operations_per_second()];
    println!(
        "streaming a large array: {:.1} GB/s; products in the cache: {:.1} operations a nanosecond\n",
        speeds[0] / 1e9,
        speeds[1] / 1e9
    );
    println!(
        "{:<22} {:<12} {:<22} {:>8} {:<17} {:>9} {:>8} {:>9} {:>8} {:>7}",
        "data set", "solver", "step", "µs", "(quartiles)", "bytes", "floor µs", "operations", "floor µs", "× floor"
    );
    let mut group = criterion.benchmark_group("steps");
    group.sample_size(10);
    for case in cases() {
        let problem = rows::open(case.name);
        lines(&case, &*problem, ["bcfw", "mp-bcfw"], speeds);
        if case.averaged {
            lines(&case, &*problem, ["bcfw-avg", "mp-bcfw-avg"], speeds);
        }
        let family = case.family;
        group.bench_function(format!("{family}: one bcfw iteration"), |bencher| {
            bencher.iter_custom(|rounds| {
                let outcome = rows::run(&*problem, "bcfw", ClockKind::WALL, rounds);
                Duration::from_secs_f64(outcome.wall_s)
            });
        });
        instrument(family, &*problem);
    }
    group.finish();
}

/// Pairs are made for so long: a fast oracle gets enough of them to tell a hundredth.
const PAIRS_FOR: Duration = Duration::from_secs(5);

/// Paired rounds with and without latency readings, interleaved: the median ratio is the cost of the instrument.
fn instrument(family: &str, problem: &dyn AnyProblem) {
    let exact = |instrument| {
        let solver = if instrument { "bcfw" } else { "bare" };
        rows::run(problem, solver, ClockKind::WALL, 5).wall_s
    };
    let (began, mut ratios) = (Instant::now(), Vec::new());
    while ratios.len() < 15 || began.elapsed() < PAIRS_FOR {
        ratios.push(if ratios.len() % 2 == 0 {
            let with = exact(true);
            with / exact(false)
        } else {
            let without = exact(false);
            exact(true) / without
        });
    }
    ratios.sort_by(f64::total_cmp);
    let quartile = |k: usize| 100.0 * (ratios[k * ratios.len() / 4] - 1.0);
    println!(
        "{family:<13} instrument: {:+.2} % of an exact step (median of {} pairs; quartiles {:+.2} … {:+.2} %)",
        quartile(2),
        ratios.len(),
        quartile(1),
        quartile(3)
    );
}

criterion_group!(benches, steps);
criterion_main!(benches);
