//! Latencies: readings are buffered and put into a histogram while the meter is paused, so that the histogram itself costs
//! no solver time.

use std::hint::black_box;
use std::sync::OnceLock;

use hdrhistogram::Histogram;
use quanta::Clock as Stamps;

use super::stopwatch::Stopwatch;
use crate::linalg::dot_rows;

/// Largest latency a histogram tells apart, ns; longer calls are counted there.
const LONGEST_NS: u64 = 600_000_000_000;

/// A histogram of nanoseconds with three digits.
pub fn latency_histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|_| unreachable!("bounds are fixed"));
    histogram.auto(false);
    histogram
}

pub(super) struct Latencies {
    /// In time stamps.
    pub pending: Vec<u64>,
    pub histogram: Histogram<u64>,
}

impl Latencies {
    pub fn new() -> Self {
        Self { pending: Vec::new(), histogram: latency_histogram() }
    }

    pub fn record(&mut self, watch: &Stopwatch) {
        for stamps in self.pending.drain(..) {
            self.histogram.saturating_record((watch.to_ns(stamps) as u64).max(1));
        }
    }
}

/// What one reading (two time stamps and a note) adds to work like that of a fast oracle, ns: the same products with
/// and without readings, alternating, the best of each. Time stamps overlap with the arithmetic around them, so timing
/// them alone would say too much. Measured once per process.
pub(super) fn reading_ns() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    const ROUNDS: usize = 2000;
    *COST.get_or_init(|| {
        let clock = Stamps::new();
        let (rows, x) = (vec![0.5; 2560], vec![0.25; 256]);
        let mut out = [0.0; 10];
        let mut notes: Vec<u64> = Vec::with_capacity(ROUNDS);
        let mut best = [f64::INFINITY; 2];
        for trial in 0..30 {
            notes.clear();
            let began = clock.raw();
            for _ in 0..ROUNDS {
                if trial % 2 == 0 {
                    dot_rows(black_box(&rows), &x, &mut out);
                    black_box(&out);
                } else {
                    let t0 = clock.raw();
                    dot_rows(black_box(&rows), &x, &mut out);
                    let t1 = clock.raw();
                    black_box(&out);
                    notes.push(t1.saturating_sub(t0));
                }
            }
            let ns = clock.delta_as_nanos(began, clock.raw()) as f64 / ROUNDS as f64;
            best[trial % 2] = best[trial % 2].min(ns);
        }
        black_box(&notes);
        (best[1] - best[0]).max(0.0)
    })
}
