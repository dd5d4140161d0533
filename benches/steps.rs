//! Exact and approximate steps of whole solvers, and what the instrument costs. Each line gives the time of a step, the
//! bytes it must touch, and its time as a multiple of streaming those bytes on this machine.

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use ssvm_bench::drive::AnyProblem;
use ssvm_bench::{ClockKind, SolverSpec, Value};

#[path = "floor.rs"]
mod floor;
#[path = "rows.rs"]
mod rows;

/// The data sets of the four families; the real ones when they are there.
fn cases() -> Vec<(&'static str, &'static str)> {
    let real = std::env::var_os("SSVM_DATA").is_some();
    vec![
        ("multiclass", if real { "usps" } else { "usps-synth" }),
        ("chain", if real { "ocr" } else { "ocr-synth" }),
        ("binary graph", "horseseg-synth:n=400"),
        ("Potts graph", "stanford-synth:n=60"),
    ]
}

/// Mean seconds of an exact step and of an approximate step that is made, not skipped, and the mean working-set size.
struct StepTimes {
    exact: f64,
    approximate: f64,
    planes: f64,
    steps: u64,
}

/// BCFW, or MP-BCFW with so many approximate passes.
fn measure(problem: &dyn AnyProblem, iterations: u64, passes: u64) -> StepTimes {
    let spec = match passes {
        0 => SolverSpec::new("bcfw"),
        _ => SolverSpec::new("mp-bcfw").with("passes", Value::Count(passes)),
    };
    let outcome = rows::run(problem, spec, ClockKind::WALL, iterations);
    let last = outcome.points.last().expect("the end is always evaluated");
    StepTimes {
        exact: (outcome.wall_s - last.approx_time_s) / last.oracle_calls as f64,
        approximate: last.approx_time_s / (last.approx_steps - last.skipped_steps).max(1) as f64,
        planes: last.planes_mean,
        steps: last.approx_steps,
    }
}

/// Bytes that an exact step and an approximate step must touch at least once in memory that does not stay in the
/// first-level cache: the example's data, φ^i (read and written) and the planes of W_i.
fn floors(family: &str, planes: f64) -> (f64, f64) {
    match family {
        // x_i (256 f64) and ten label shares, read and written.
        "multiclass" => (256.0 * 8.0 + 160.0, 256.0 * 8.0 + 160.0 + planes * 16.0),
        // 7.6 positions: pixel masks and 28 marginals each, read and written; planes of about 40 bytes.
        "chain" => (7.6 * (16.0 + 448.0), 7.6 * (16.0 + 448.0) + planes * 40.0),
        // 144 nodes × 649 f32; φ^i of 649 f64 read and written.
        "binary graph" => (144.0 * 649.0 * 4.0 + 2.0 * 649.0 * 8.0, (planes + 2.0) * 649.0 * 8.0),
        // The same features; about four of eight blocks in use.
        _ => (144.0 * 649.0 * 4.0 + 8.0 * 649.0 * 8.0, (planes + 2.0) * 4.0 * 649.0 * 8.0),
    }
}

fn steps(criterion: &mut Criterion) {
    let stream = floor::stream_bytes_per_second();
    println!("streaming a large array: {:.1} GB/s\n", stream / 1e9);
    println!("{:<13} {:<24} {:>12} {:>10} {:>9} {:>7}", "family", "data set", "step", "µs", "floor µs", "× floor");
    let mut group = criterion.benchmark_group("steps");
    group.sample_size(10);
    for (family, name) in cases() {
        let problem = rows::open(name);
        let single = measure(&*problem, 10, 0);
        let (exact_floor, _) = floors(family, 0.0);
        let line = |step: &str, seconds: f64, bytes: f64| {
            let floor = bytes / stream;
            println!(
                "{family:<13} {name:<24} {step:>12} {:>10.3} {:>9.3} {:>7.2}",
                seconds * 1e6,
                floor * 1e6,
                seconds / floor
            );
        };
        line("exact", single.exact, exact_floor);
        for passes in [1, 4, 10] {
            let multi = measure(&*problem, 10, passes);
            assert!(multi.steps > 0);
            let (_, approximate_floor) = floors(family, multi.planes);
            line(&format!("|W| = {:.1}", multi.planes), multi.approximate, approximate_floor);
        }
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
