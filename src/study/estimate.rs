//! A statistic over repeats → its value and its interval.
//!
//! The interval of a median lies between order statistics. For any other statistic, repeats are drawn with replacement, and the interval
//! lies between percentiles of its values over the draws; the confidence is nominal. Fewer than [`FEWEST_PAIRS`] repeats have no
//! interval: even the range of four repeats covers the median in only 87.5 % of all cases.

use serde::{Deserialize, Serialize};

use ssvm::stats::{Draws, FEWEST_PAIRS, Interval, median, median_interval, median_rank, percentiles};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    pub draws: usize,
    pub seed: u64,
    pub confidence: f64,
    pub fewest: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { draws: 1000, seed: 5, confidence: 0.95, fewest: FEWEST_PAIRS }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// Lower end of the 95 % interval; `None` when it is not known.
    #[serde(default)]
    pub low: Option<f64>,
    #[serde(default)]
    pub high: Option<f64>,
}

/// The text of an interval, the same everywhere: ` (1.20 to 1.61)`, ` (from 1.20)` or ` (up to 1.61)` where an end is open, ` (open)` where
/// both are.
pub fn interval_text(low: Option<f64>, high: Option<f64>, show: impl Fn(f64) -> String) -> String {
    match (low.map(&show), high.map(&show)) {
        (Some(low), Some(high)) => format!(" ({low} to {high})"),
        (Some(low), None) => format!(" (from {low})"),
        (None, Some(high)) => format!(" (up to {high})"),
        (None, None) => " (open)".to_owned(),
    }
}

impl Estimate {
    /// The value and its interval, written by `show`: `71.0 % (69.2 % to 72.1 %)`.
    pub fn text(&self, show: impl Fn(f64) -> String) -> String {
        let known = self.low.or(self.high).is_some();
        show(self.value) + &if known { interval_text(self.low, self.high, show) } else { String::new() }
    }

    /// The estimate of a monotone function of the number.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { value: f(self.value), low: self.low.map(&f), high: self.high.map(&f) }
    }
}

/// A statistic of all repeats and of every draw of them; no draws if a group is too small. `groups` are the sizes of groups of repeats
/// that are drawn separately; the statistic gets the drawn repeats of each group.
pub fn resampled<T>(groups: &[usize], sampling: &Sampling, statistic: impl Fn(&[Vec<usize>]) -> T) -> (T, Vec<T>) {
    let value = statistic(&groups.iter().map(|n| (0..*n).collect()).collect::<Vec<_>>());
    let draws = if groups.iter().any(|n| *n < sampling.fewest) { 0 } else { sampling.draws };
    let mut source = Draws::new(sampling.seed);
    let drawn = (0..draws).map(|_| statistic(&groups.iter().map(|n| source.of(*n)).collect::<Vec<_>>()));
    (value, drawn.collect())
}

/// Estimates of the numbers that a statistic returns. A number that is not finite in a draw is unknown there; too many unknown draws
/// leave no interval.
pub fn estimates_of(groups: &[usize], statistic: impl Fn(&[Vec<usize>]) -> Vec<f64>) -> Vec<Estimate> {
    let sampling = Sampling::default();
    let (values, drawn) = resampled(groups, &sampling, statistic);
    let estimate = |(at, value): (usize, &f64)| {
        let known: Vec<f64> = drawn.iter().map(|values| values[at]).filter(|value| value.is_finite()).collect();
        let enough = known.len() as f64 >= sampling.confidence * sampling.draws as f64;
        let (low, high) = percentiles(known, sampling.confidence).filter(|_| enough).unzip();
        Estimate { value: *value, low, high }
    };
    values.iter().enumerate().map(estimate).collect()
}

pub fn estimates<const K: usize>(groups: &[usize], statistic: impl Fn(&[Vec<usize>]) -> [f64; K]) -> [Estimate; K] {
    let all = estimates_of(groups, |draw| statistic(draw).to_vec());
    std::array::from_fn(|at| all[at])
}

/// The median, and an interval between order statistics, which covers it as often as stated.
pub fn median_of(values: &[f64]) -> Estimate {
    let interval = median_interval(values, Sampling::default().confidence).filter(|_| values.len() >= FEWEST_PAIRS);
    let end = |end: fn(&Interval) -> f64| interval.as_ref().map(end).filter(|end| end.is_finite());
    Estimate { value: median(values), low: end(|all| all.low), high: end(|all| all.high) }
}

/// Why a table over this many repeats judges nothing; `None` if it judges.
pub fn too_few(repeats: usize) -> Option<String> {
    (repeats < FEWEST_PAIRS).then(|| format!("too few repeats for an interval ({repeats} of at least {FEWEST_PAIRS})"))
}

/// The name of the interval of a median over this many repeats: that of five reaches from the smallest to the largest, and
/// between these the median lies in 93.75 % of all cases.
pub fn interval_name(repeats: usize) -> String {
    if repeats < FEWEST_PAIRS {
        return "no interval (too few repeats)".to_owned();
    }
    let confidence = Sampling::default().confidence;
    match median_rank(repeats, confidence) {
        (_, covered) if covered < confidence => {
            format!("{} % interval (smallest to largest of {repeats})", 100.0 * covered)
        }
        _ => format!("{} % interval", 100.0 * confidence),
    }
}

/// The remark below a table of this number of intervals, which are not corrected for their number.
pub fn of_each(comparisons: usize, repeats: usize) -> String {
    let plural = if comparisons == 1 { "" } else { "s" };
    format!("{comparisons} comparison{plural}, each with a {}; not corrected for their number", interval_name(repeats))
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
    fn the_interval_of_a_median_leaves_out_what_its_confidence_allows() {
        let ends = |n: usize| {
            let Estimate { low, high, .. } = median_of(&(1..=n).map(|k| k as f64).collect::<Vec<_>>());
            low.zip(high)
        };
        assert_eq!(
            [4, 5, 6, 7, 9].map(ends),
            [None, Some((1.0, 5.0)), Some((1.0, 6.0)), Some((1.0, 7.0)), Some((2.0, 8.0))]
        );
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
