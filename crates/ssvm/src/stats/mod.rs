//! Median, spread and bootstrap intervals, defined once for all tables.

pub mod portable;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 4000;
/// Below this many pairs an interval of timings says too little to fail a gate by: the interval of the median of
/// five values reaches from the smallest to the largest.
pub const FEWEST_PAIRS: usize = 5;

/// The median of values, the mean of the middle two for an even count; NaN when there are none.
pub fn median(values: &[f64]) -> f64 {
    median_of_sorted(&sorted(values.iter().copied()))
}

/// [`median`] of values that are already in ascending order.
pub fn median_of_sorted(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        // Two infinities have no midpoint but a median.
        n if sorted[n / 2 - 1] == sorted[n / 2] => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The values in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Median, smallest and largest of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of the finite ones among these numbers; `None` when there is none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values.into_iter().filter(|v| v.is_finite()));
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        Some(Self { median: median_of_sorted(&sorted), min, max })
    }
}

/// A median with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Percentile bootstrap of the median with the given confidence; the same values and seed give the same interval.
pub fn bootstrap(values: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let mut draws = Draws::new(seed);
    let medians = (0..RESAMPLES).map(|_| {
        let draw: Vec<f64> = draws.of(values.len()).into_iter().map(|at| values[at]).collect();
        median(&draw)
    });
    let (low, high) = percentiles(medians, confidence)?;
    Some(Interval { median: median(values), low, high })
}

/// The interval of this confidence between the percentiles of some values; `None` when there is none.
pub fn percentiles(values: impl IntoIterator<Item = f64>, confidence: f64) -> Option<(f64, f64)> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let at = |q: f64| sorted[((q * last as f64).round() as usize).min(last)];
    let tail = 0.5 * (1.0 - confidence);
    Some((at(tail), at(1.0 - tail)))
}

/// Draws with replacement; the same seed gives the same draws.
pub struct Draws(Pcg64);

impl Draws {
    /// From this seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// `n` of the numbers below `n`.
    pub fn of(&mut self, n: usize) -> Vec<usize> {
        // The high word of a product: a bias of n/2^64 does not matter here.
        (0..n).map(|_| ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[f64::INFINITY, 1.0, f64::INFINITY, 2.0, f64::INFINITY, f64::INFINITY]), f64::INFINITY);
        assert!(median(&[]).is_nan());
        assert_eq!(Spread::of([f64::NAN, 2.0, 1.0]), Some(Spread { median: 1.5, min: 1.0, max: 2.0 }));
        assert_eq!(Spread::of([f64::NAN]), None);
    }

    #[test]
    fn interval_covers_and_repeats() {
        // Ratios around 1.1 with one spike: the spike must not matter.
        let ratios = [1.08, 1.12, 1.10, 1.09, 1.11, 1.13, 1.07, 1.10, 3.0];
        let interval = bootstrap(&ratios, 0.95, 7).unwrap();
        assert_eq!(bootstrap(&ratios, 0.95, 7), Some(interval));
        assert_eq!(interval.median, 1.10);
        assert!(interval.low >= 1.07 && interval.low < 1.10 && interval.high > 1.10 && interval.high <= 1.13);
        assert_eq!(bootstrap(&[], 0.95, 7), None);
    }

    /// Of many samples from a known distribution about 95 % of the intervals must hold its median.
    #[test]
    fn coverage() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let held = (0..300).filter(|round| {
            let sample: Vec<f64> = (0..15).map(|_| 1.0 + 0.1 * (unit() - 0.5)).collect();
            bootstrap(&sample, 0.95, *round).is_some_and(|i| i.low <= 1.0 && 1.0 <= i.high)
        });
        let held = held.count();
        assert!((270..=298).contains(&held), "{held} of 300");
    }
}
