//! Ratios of paired timings → a bootstrap interval of their median → a verdict that noise alone cannot cause.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::Judgement;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 4000;
/// Below this many pairs an interval of timings says too little to fail a gate by: the interval of the median of
/// five values reaches from the smallest to the largest.
pub const FEWEST_PAIRS: usize = 5;

/// A median with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Judges a ratio new/old: worse or better only when the whole interval is beyond the threshold.
    pub fn judge(&self, threshold: f64) -> Judgement {
        if self.low > 1.0 + threshold {
            Judgement::Worse
        } else if self.high < 1.0 / (1.0 + threshold) {
            Judgement::Better
        } else {
            Judgement::Same
        }
    }
}

/// The median of values; NaN when there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// Percentile bootstrap of the median with the given confidence; the same values and seed give the same interval.
pub fn bootstrap(values: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let mut rng = Pcg64::seed_from_u64(seed);
    let n = values.len();
    let mut draw = vec![0.0; n];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for value in &mut draw {
                // The high word of a product: a bias of n/2^64 does not matter here.
                *value = values[((u128::from(rng.next_u64()) * n as u128) >> 64) as usize];
            }
            median(&draw)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    let at = |q: f64| medians[((q * (RESAMPLES - 1) as f64).round() as usize).min(RESAMPLES - 1)];
    let tail = 0.5 * (1.0 - confidence);
    Some(Interval { median: median(values), low: at(tail), high: at(1.0 - tail) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_covers_and_repeats() {
        // Ratios around 1.1 with one spike: the spike must not matter.
        let ratios = [1.08, 1.12, 1.10, 1.09, 1.11, 1.13, 1.07, 1.10, 3.0];
        let interval = bootstrap(&ratios, 0.95, 7).unwrap();
        assert_eq!(bootstrap(&ratios, 0.95, 7), Some(interval));
        assert_eq!(interval.median, 1.10);
        assert!(interval.low >= 1.07 && interval.low < 1.10 && interval.high > 1.10 && interval.high <= 1.13);
        assert_eq!(interval.judge(0.05), Judgement::Worse);
        assert_eq!(interval.judge(0.09), Judgement::Same);
        let inverse = Interval { median: 1.0 / 1.1, low: 1.0 / 1.13, high: 1.0 / 1.07 };
        assert_eq!(inverse.judge(0.05), Judgement::Better);
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
