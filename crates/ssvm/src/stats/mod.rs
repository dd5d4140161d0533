//! Median, spread and intervals, defined once for all tables.

pub mod portable;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// With fewer pairs, an interval of timings says too little to fail a gate: the range of four values covers the median
/// in only 87.5 % of all cases.
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

/// Median, smallest and largest value.
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
    /// The spread of the finite values; `None` when there are none.
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

/// Median and its interval, between order statistics ([`median_rank`]); `None` without a value.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = sorted(values.iter().copied());
    let last = sorted.len().checked_sub(1)?;
    let (rank, _) = median_rank(sorted.len(), confidence);
    Some(Interval { median: median_of_sorted(&sorted), low: sorted[rank], high: sorted[last - rank] })
}

/// How many of `n` values an interval of the median leaves out at each end, and the probability that it covers the
/// median of the distribution, whatever that is (the sign test). It leaves out as many as the confidence allows. Where
/// even the range of all values covers less than that, it leaves out none, and the probability says how much it covers.
///
/// ```
/// use ssvm::stats::median_rank;
///
/// assert_eq!(median_rank(5, 0.95), (0, 0.9375));
/// assert_eq!(median_rank(9, 0.95), (1, 0.9609375));
/// ```
pub fn median_rank(n: usize, confidence: f64) -> (usize, f64) {
    // Powers of a half underflow there. The fraction left out grows with n, so that of 1000 values is on the safe side.
    if n > 1000 {
        let (rank, covered) = median_rank(1000, confidence);
        return (rank * n / 1000, covered);
    }
    // The probability that exactly `left` of them are below the median, and that at most `left` are.
    let mut exactly = 0.5f64.powi(n as i32);
    let mut at_most = exactly;
    let mut found = (0, 1.0 - 2.0 * at_most);
    for left in 1..n.div_ceil(2) {
        exactly *= (n - left + 1) as f64 / left as f64;
        at_most += exactly;
        if 1.0 - 2.0 * at_most < confidence {
            break;
        }
        found = (left, 1.0 - 2.0 * at_most);
    }
    found
}

/// The interval of this confidence between percentiles of the values; `None` when there are none.
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

    /// `n` draws from 0..n.
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
        let interval = median_interval(&ratios, 0.95).unwrap();
        assert_eq!(interval, Interval { median: 1.10, low: 1.08, high: 1.13 });
        assert_eq!(median_interval(&[], 0.95), None);
    }

    /// Of many samples from a known distribution, at least the stated share of intervals must cover its median.
    /// Percentiles of a bootstrap cover it in 88 % of all cases for seven values.
    #[test]
    fn an_interval_covers_the_median_as_often_as_stated() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        for n in [5, 6, 7, 8, 10, 15, 20] {
            let (_, stated) = median_rank(n, 0.95);
            assert!(stated >= 0.95 || n == 5, "{n}: {stated}");
            let held = (0..4000).filter(|_| {
                let sample: Vec<f64> = (0..n).map(|_| unit()).collect();
                median_interval(&sample, 0.95).is_some_and(|i| i.low <= 0.5 && 0.5 <= i.high)
            });
            let held = held.count() as f64 / 4000.0;
            assert!((held - stated).abs() < 0.012, "{n}: {held}, not {stated}");
        }
        assert_eq!(median_rank(0, 0.95).0, 0);
        assert!((450..500).contains(&median_rank(1000, 0.95).0) && median_rank(4000, 0.95).0 < 2000);
    }
}
