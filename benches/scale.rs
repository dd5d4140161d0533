//! Steps against the number of terms, and memory against the size of the data: the USPS twin with 10^4 terms and more. Each
//! line gives the time of an exact and of an approximate step (median of some runs), their ratio to the first line's, and the
//! most memory this process ever had, divided by the data. The number of zeros of the largest is an argument: 6 takes 2.3 GB.

use std::hint::black_box;

use ssvm_bench::{ClockKind, SolverSpec, Value};

#[path = "rows.rs"]
mod rows;

const ITERATIONS: u64 = 3;
const PASSES: u64 = 5;
const RUNS: usize = 3;

/// Microseconds of an exact step of `bcfw` and of an approximate step of `mp-bcfw`.
fn steps(name: &str) -> [f64; 2] {
    let problem = rows::open(name);
    let median = |at: usize| {
        let mut times: Vec<f64> = (0..RUNS)
            .map(|_| {
                let solver = [SolverSpec::new("bcfw"), SolverSpec::new("mp-bcfw").with("passes", Value::Count(PASSES))];
                let outcome = rows::run(&*problem, solver[at].clone(), ClockKind::WALL, ITERATIONS);
                let last = outcome.points.last().expect("the end is always evaluated");
                let exact = (last.time_s - last.approx_time_s) / last.oracle_calls as f64;
                let made = (last.approx_steps - last.skipped_steps).max(1);
                [exact, last.approx_time_s / made as f64][at] * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    };
    [median(0), median(1)]
}

/// The most memory that this process ever had, bytes.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

fn main() {
    let most: u32 = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(5);
    println!(
        "{:>9} {:>9} {:>9} {:>11} {:>9} {:>12}",
        "terms", "exact µs", "× first", "approx. µs", "× first", "peak / data"
    );
    let mut first = None;
    for n in (4..=most.max(4)).map(|zeros| 10usize.pow(zeros)) {
        let times = black_box(steps(&format!("usps-synth:n={n}")));
        let [exact, approximate] = *first.get_or_insert(times);
        let peak = peak().map_or_else(|| "-".to_owned(), |peak| format!("{:.2}", peak / (n * 256 * 8) as f64));
        let ratios = [times[0] / exact, times[1] / approximate];
        println!("{n:>9} {:>9.3} {:>9.2} {:>11.3} {:>9.2} {peak:>12}", times[0], ratios[0], times[1], ratios[1]);
    }
}
