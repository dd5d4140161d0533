//! A statistic over repeats in; its value and its 95 % interval out.
//!
//! Repeats are drawn with replacement, the statistic is computed anew for every draw, and the interval lies between the
//! percentiles of what comes out. Fewer than [`FEWEST_PAIRS`] repeats have no interval of 95 %: not even the range from
//! the smallest to the largest of four covers the median that often.

use serde::{Deserialize, Serialize};

use ssvm::stats::{Draws, FEWEST_PAIRS, percentiles};

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
            (None, Some(high)) => format!("{} (at most {})", show(self.value), show(high)),
            (Some(low), None) => format!("{} (at least {})", show(self.value), show(low)),
            (None, None) => show(self.value),
        }
    }
}

/// A statistic of all repeats, and of every draw of them with replacement; no draws when a group has fewer than
/// [`FEWEST_PAIRS`]. `groups` are the sizes of groups of repeats that are drawn apart; the statistic is told which
/// repeats of each to take.
pub fn resampled<T>(groups: &[usize], statistic: impl Fn(&[Vec<usize>]) -> T) -> (T, Vec<T>) {
    let value = statistic(&groups.iter().map(|n| (0..*n).collect()).collect::<Vec<_>>());
    if groups.iter().any(|n| *n < FEWEST_PAIRS) {
        return (value, Vec::new());
    }
    let mut draws = Draws::new(SEED);
    let drawn = (0..RESAMPLES).map(|_| statistic(&groups.iter().map(|n| draws.of(*n)).collect::<Vec<_>>()));
    (value, drawn.collect())
}

/// Estimates of some numbers that one statistic gives, see [`resampled`]; one that is infinite in a draw is not known there.
pub fn estimates<const K: usize>(groups: &[usize], statistic: impl Fn(&[Vec<usize>]) -> [f64; K]) -> [Estimate; K] {
    let (values, drawn) = resampled(groups, statistic);
    let known = |at: usize| drawn.iter().map(move |values| values[at]).filter(|value| value.is_finite());
    std::array::from_fn(|at| estimate(values[at], known(at)))
}

/// Estimates of as many numbers as a statistic gives. A draw may give an infinite number: an interval may end there. One
/// that is not a number is left out, and too many of them leave no interval.
pub fn estimates_of(groups: &[usize], statistic: impl Fn(&[Vec<usize>]) -> Vec<f64>) -> Vec<Estimate> {
    let (values, drawn) = resampled(groups, statistic);
    let known = |at: usize| drawn.iter().map(move |values| values[at]).filter(|value| !value.is_nan());
    values.iter().enumerate().map(|(at, value)| estimate(*value, known(at))).collect()
}

/// With an interval, unless many draws do not know the number.
fn estimate(value: f64, drawn: impl Iterator<Item = f64>) -> Estimate {
    let known: Vec<f64> = drawn.collect();
    let enough = known.len() as f64 >= CONFIDENCE * RESAMPLES as f64;
    let (low, high) = percentiles(known, CONFIDENCE).filter(|_| enough).unzip();
    Estimate { value, low, high }
}

/// What an interval over so many repeats is: that of the median of five reaches from the smallest to the largest, and
/// between these the median lies in 93.75 % of all cases.
pub fn interval_name(repeats: usize) -> String {
    if repeats < FEWEST_PAIRS {
        return "no interval (too few repeats)".to_owned();
    }
    let widest = 1.0 - 0.5f64.powi(repeats as i32 - 1);
    if widest < CONFIDENCE {
        return format!("{} % interval (smallest to largest of {repeats})", 100.0 * widest);
    }
    format!("{} % interval", 100.0 * CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_says_what_it_is() {
        assert_eq!(interval_name(4), "no interval (too few repeats)");
        assert_eq!(interval_name(5), "93.75 % interval (smallest to largest of 5)");
        assert_eq!(interval_name(6), "95 % interval");
        assert_eq!(interval_name(10), "95 % interval");
    }

    #[test]
    fn a_list_of_numbers_is_estimated_like_an_array() {
        let values = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0];
        let mean = |draw: &[usize]| draw.iter().map(|at| values[*at]).sum::<f64>() / draw.len() as f64;
        let array = estimates(&[values.len()], |draw| [mean(&draw[0]), -mean(&draw[0])]);
        assert_eq!(estimates_of(&[values.len()], |draw| vec![mean(&draw[0]), -mean(&draw[0])]), array);
        assert!(array[0].low < Some(array[0].value) && array[1].high > Some(array[1].value));
    }
}
