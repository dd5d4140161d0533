//! A statistic over repeats in; its value and its 95 % interval out.
//!
//! Repeats are drawn with replacement, the statistic is computed anew for every draw, and the interval lies between the
//! percentiles of what comes out. Fewer than [`FEWEST_PAIRS`] repeats have no interval of 95 %: not even the range from
//! the smallest to the largest of four covers the median that often.

use serde::{Deserialize, Serialize};

use super::{Draws, FEWEST_PAIRS, percentiles};

/// Of every interval.
pub const CONFIDENCE: f64 = 0.95;
const RESAMPLES: usize = 1000;
/// The same draws every time.
const SEED: u64 = 5;

/// A measured number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Over all repeats.
    pub value: f64,
    /// Lower end of the 95 % interval; `None` when there are too few repeats for one.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub high: Option<f64>,
}

impl Estimate {
    /// The value and its interval, written by `show`: `71.0 % (69.2 % to 72.1 %)`.
    pub fn text(&self, show: impl Fn(f64) -> String) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{} ({} to {})", show(self.value), show(low), show(high)),
            _ => show(self.value),
        }
    }
}

/// Some numbers of all repeats, and of every draw of them with replacement; no draws when a group has fewer than
/// [`FEWEST_PAIRS`]. `groups` are the sizes of groups of repeats that are drawn apart; the statistic is told which
/// repeats of each to take.
pub fn resampled<const K: usize>(
    groups: &[usize],
    statistic: impl Fn(&[Vec<usize>]) -> [f64; K],
) -> ([f64; K], Vec<[f64; K]>) {
    let value = statistic(&groups.iter().map(|n| (0..*n).collect()).collect::<Vec<_>>());
    if groups.iter().any(|n| *n < FEWEST_PAIRS) {
        return (value, Vec::new());
    }
    let mut draws = Draws::new(SEED);
    let drawn = (0..RESAMPLES).map(|_| statistic(&groups.iter().map(|n| draws.of(*n)).collect::<Vec<_>>()));
    (value, drawn.collect())
}

/// Estimates of as many numbers as a statistic of one group gives. A draw may give an infinite number: an interval may end
/// there. One that is not a number is left out, and too many of them leave no interval.
pub fn estimates_of(repeats: usize, statistic: impl Fn(&[usize]) -> Vec<f64>) -> Vec<Estimate> {
    let values = statistic(&(0..repeats).collect::<Vec<_>>());
    let mut draws = Draws::new(SEED);
    let resamples = if repeats < FEWEST_PAIRS { 0 } else { RESAMPLES };
    let drawn: Vec<Vec<f64>> = (0..resamples).map(|_| statistic(&draws.of(repeats))).collect();
    let estimate = |(at, value): (usize, f64)| {
        let known: Vec<f64> = drawn.iter().map(|values| values[at]).filter(|value| !value.is_nan()).collect();
        let enough = resamples > 0 && known.len() as f64 >= CONFIDENCE * RESAMPLES as f64;
        let (low, high) = if enough { percentiles(known, CONFIDENCE).unzip() } else { (None, None) };
        Estimate { value, low, high }
    };
    values.into_iter().enumerate().map(estimate).collect()
}

/// Estimates of some numbers that one statistic gives, see [`resampled`].
pub fn estimates<const K: usize>(groups: &[usize], statistic: impl Fn(&[Vec<usize>]) -> [f64; K]) -> [Estimate; K] {
    let (value, drawn) = resampled(groups, statistic);
    let mut estimates = value.map(|value| Estimate { value, low: None, high: None });
    for (at, estimate) in estimates.iter_mut().enumerate() {
        let finite: Vec<f64> = drawn.iter().map(|values| values[at]).filter(|value| value.is_finite()).collect();
        // A number that many draws do not have is not known well enough for an interval.
        if finite.len() as f64 >= CONFIDENCE * RESAMPLES as f64 {
            (estimate.low, estimate.high) = percentiles(finite, CONFIDENCE).unzip();
        }
    }
    estimates
}
