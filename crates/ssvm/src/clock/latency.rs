//! Latencies. Readings are buffered and enter a histogram while the meter is paused, so that the histogram itself costs
//! no solver time. The cost of a reading is measured once per process.

use std::hint::black_box;
use std::sync::OnceLock;

use hdrhistogram::Histogram;
use quanta::Clock as Stamps;

use super::stopwatch::{Stopwatch, thread_cpu_ns};
use super::{ClockKind, OracleCost};
use crate::linalg::dot_rows;

/// Largest latency that a histogram distinguishes, in ns; longer calls are counted there.
const LONGEST_NS: u64 = 600_000_000_000;

/// A histogram of nanoseconds with three significant digits.
pub fn latency_histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|_| unreachable!("bounds are fixed"));
    histogram.auto(false);
    histogram
}

pub(super) struct LatencyReadings {
    /// In time stamps.
    pub pending: Vec<u64>,
    pub histogram: Histogram<u64>,
}

impl LatencyReadings {
    pub fn new() -> Self {
        Self { pending: Vec::new(), histogram: latency_histogram() }
    }

    pub fn record(&mut self, watch: &Stopwatch) {
        for stamps in self.pending.drain(..) {
            self.histogram.saturating_record((watch.to_ns(stamps) as u64).max(1));
        }
    }
}

/// Cost of one reading in ns: the median of many measurements and their quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadingCost {
    /// The median.
    pub ns: f64,
    /// The lower and the upper quartile.
    pub quartiles: [f64; 2],
}

impl std::fmt::Display for ReadingCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, high] = self.quartiles;
        write!(f, "{:.1} ns per reading, quartiles {low:.1} and {high:.1}", self.ns)
    }
}

/// A smaller cost cannot be distinguished from 0 and counts as this.
const LEAST_NS: f64 = 0.1;
/// Products per block, with or without readings, and the fewest and most pairs of blocks.
const ROUNDS: usize = 100;
const LEAST_PAIRS: usize = 1000;
const MOST_PAIRS: usize = 8000;
/// The median counts as stable when its standard error is below this part of it.
const STABLE: f64 = 0.02;

impl ReadingCost {
    /// Repeats a measurement until its median is stable. Medians, because a block that meets an interrupt says nothing.
    fn repeated(mut measure: impl FnMut(usize) -> f64) -> Self {
        let mut values: Vec<f64> = (0..LEAST_PAIRS).map(&mut measure).collect();
        loop {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let at = |quarter: usize| sorted[quarter * (sorted.len() - 1) / 4];
            let cost = Self { ns: at(2).max(LEAST_NS), quartiles: [at(1), at(3)] };
            // For a normal distribution: the quartiles are 1.35 deviations apart, and the median's error is 1.25 times
            // the mean's.
            let error = 1.25 * (at(3) - at(1)) / 1.35 / (values.len() as f64).sqrt();
            if error <= STABLE * cost.ns || values.len() >= MOST_PAIRS {
                return cost;
            }
            values.extend((values.len()..2 * values.len()).map(&mut measure));
        }
    }

    /// Cost of the longest reading that a run on this clock makes at each oracle call.
    pub fn of_call(clock: ClockKind, cost: OracleCost) -> Self {
        if clock.asks_each_call() && !cost.is_one() { Self::of_cpu_clock() } else { Self::of_latency() }
    }

    /// Cost of a latency: two time stamps and a buffered value, around work like that of a fast oracle. Blocks of the
    /// same products with and without readings alternate. Timing the stamps alone would overestimate, because they
    /// overlap with the arithmetic around them.
    pub fn of_latency() -> Self {
        static COST: OnceLock<ReadingCost> = OnceLock::new();
        *COST.get_or_init(|| {
            // On a thread of its own, whose stack begins at a page. The stack of the main thread begins anywhere, which
            // moves the result between 3 and 9 ns from one process to the next.
            let alone = std::thread::Builder::new().spawn(Self::measured).ok();
            alone.and_then(|thread| thread.join().ok()).unwrap_or_else(Self::measured)
        })
    }

    /// The same, measured now and on this thread.
    fn measured() -> Self {
        let clock = Stamps::new();
        let (rows, x) = (vec![0.5; 2560], vec![0.25; 256]);
        let mut notes: Vec<u64> = Vec::with_capacity(ROUNDS);
        let mut block = |reading: bool| {
            let mut out = [0.0; 10];
            notes.clear();
            let began = clock.raw();
            for _ in 0..ROUNDS {
                if reading {
                    let began = clock.raw();
                    dot_rows(black_box(&rows), &x, &mut out);
                    black_box(&out);
                    notes.push(clock.raw().saturating_sub(began));
                } else {
                    dot_rows(black_box(&rows), &x, &mut out);
                    black_box(&out);
                }
            }
            black_box(&notes);
            clock.delta_as_nanos(began, clock.raw()) as f64 / ROUNDS as f64
        };
        // The order alternates, so that a drift of the machine cancels.
        Self::repeated(|pair| {
            let first = block(pair % 2 == 0);
            let second = block(pair % 2 == 1);
            if pair % 2 == 0 { first - second } else { second - first }
        })
    }

    /// Cost of reading the CPU clock: one call of the operating system.
    pub(super) fn of_cpu_clock() -> Self {
        static COST: OnceLock<ReadingCost> = OnceLock::new();
        *COST.get_or_init(|| {
            Self::repeated(|_| {
                let began = thread_cpu_ns();
                for _ in 1..ROUNDS {
                    black_box(thread_cpu_ns());
                }
                (thread_cpu_ns() - began) as f64 / ROUNDS as f64
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_reading_is_a_stable_median() {
        // One in ten measurements is disturbed; the smallest of them would be 0.
        let measured = |pair: usize| if pair.is_multiple_of(10) { 0.0 } else { 9.0 + (pair % 3) as f64 };
        let cost = ReadingCost::repeated(measured);
        assert_eq!((cost.ns, cost.quartiles), (10.0, [9.0, 11.0]));
        // A reading whose cost cannot be measured still has a cost.
        assert_eq!(ReadingCost::repeated(|_| -1.0).ns, LEAST_NS);
    }
}
