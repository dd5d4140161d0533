//! What pairs of runs with one seed spent in; how many times as fast one solver is as the other, with an interval, out.
//!
//! Where a run never reached a target, or was there before its first evaluation, the ratio of a pair is only bounded.
//! The median of the lower bounds and the median of the upper bounds then bound the median ratio, and the interval
//! reaches from the lower end of the one to the upper end of the other: it may be open, and is never too narrow.

use serde::{Deserialize, Serialize};

use super::course::Spent;
use crate::study::estimate::{CONFIDENCE, resampled};
use crate::text::number;
use ssvm::stats::{FEWEST_PAIRS, median, percentiles};

/// How many times as fast one solver is as another. An end that is not known is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// The median over pairs is at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// And at most this; the same number when no run of the middle pairs is censored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// Lower end of the 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Pairs with one seed, per data set.
    pub pairs: usize,
}

/// ln of a ratio: between these.
pub(super) type Bounds = (f64, f64);

impl Speedup {
    /// From ln of what the other spent over what this one did, of every pair; groups of pairs are drawn apart. `None`
    /// without a pair.
    pub(super) fn of(groups: &[Vec<Bounds>]) -> Option<Self> {
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let pairs = sizes.iter().copied().min().filter(|pairs| *pairs > 0)?;
        let ([least, most], drawn) = resampled(&sizes, |draw| {
            let all = || draw.iter().zip(groups).flat_map(|(draw, group)| draw.iter().map(|at| group[*at]));
            [
                median(&all().map(|(low, _)| low).collect::<Vec<_>>()),
                median(&all().map(|(_, high)| high).collect::<Vec<_>>()),
            ]
        });
        let low = percentiles(drawn.iter().map(|[least, _]| *least), CONFIDENCE).map(|(low, _)| low);
        let high = percentiles(drawn.iter().map(|[_, most]| *most), CONFIDENCE).map(|(_, high)| high);
        let ratio = |log: f64| Some(log.exp()).filter(|_| log.is_finite());
        Some(Self {
            least: ratio(least),
            most: ratio(most),
            low: low.and_then(ratio),
            high: high.and_then(ratio),
            pairs,
        })
    }

    /// Of one target: what the other and this one spent, seed by seed.
    pub(super) fn at_target(pairs: impl IntoIterator<Item = (Spent, Spent)>) -> Option<Self> {
        Self::of(&[pairs.into_iter().map(|(other, own)| other.log_over(own)).collect()])
    }

    /// How many times as fast the other is.
    #[must_use]
    pub fn inverse(self) -> Self {
        let over = |value: Option<f64>| value.map(|value| 1.0 / value);
        Self {
            least: over(self.most),
            most: over(self.least),
            low: over(self.high),
            high: over(self.low),
            pairs: self.pairs,
        }
    }

    /// Whether there are enough pairs for an interval.
    pub fn has_interval(&self) -> bool {
        self.pairs >= FEWEST_PAIRS
    }

    /// Whether the whole interval says faster.
    pub fn is_faster(&self) -> bool {
        self.has_interval() && self.low.is_some_and(|low| low > 1.0)
    }

    /// Whether the whole interval says slower.
    pub fn is_slower(&self) -> bool {
        self.has_interval() && self.high.is_some_and(|high| high < 1.0)
    }

    /// The middle of what is known of the median, for colours and places; `None` when an end is open.
    pub fn middle(&self) -> Option<f64> {
        Some((self.least? * self.most?).sqrt())
    }

    /// The median: `1.40×`, `≥1.40×` and `≤0.30×` where runs are censored.
    pub fn value_text(&self) -> String {
        match (self.least, self.most) {
            (Some(least), Some(most)) if number(least) == number(most) => format!("{}×", number(least)),
            (Some(least), Some(most)) => format!("{}–{}×", number(least), number(most)),
            (Some(least), None) => format!("≥{}×", number(least)),
            (None, Some(most)) => format!("≤{}×", number(most)),
            (None, None) => "–".to_owned(),
        }
    }

    /// The median and its interval: `1.40× (1.20 to 1.61)`.
    pub fn text(&self) -> String {
        let value = self.value_text();
        match (self.low, self.high) {
            _ if !self.has_interval() => value,
            (None, None) => value,
            (low, high) => {
                format!("{value} ({} to {})", low.map_or("0".to_owned(), number), high.map_or("∞".to_owned(), number))
            }
        }
    }
}

/// The median over several targets of one pair of runs: bounds of it. Targets that tell nothing of any pair are not among
/// them.
pub(super) fn over_targets(bounds: &[Bounds]) -> Bounds {
    let of = |end: fn(&Bounds) -> f64| median(&bounds.iter().map(end).collect::<Vec<_>>());
    (of(|b| b.0), of(|b| b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(value: f64) -> Spent {
        Spent { least: value, most: value }
    }

    const NEVER: Spent = Spent { least: 10.0, most: f64::INFINITY };

    #[test]
    fn a_clear_lead_is_one_both_ways() {
        let factors = [1.8, 2.0, 2.2, 1.9, 2.1];
        let lead = Speedup::at_target(factors.map(|factor| (spent(factor), spent(1.0)))).unwrap();
        assert!(lead.is_faster() && lead.inverse().is_slower() && !lead.is_slower());
        assert_eq!(lead.text(), "2.00× (1.80 to 2.20)");
        assert_eq!(lead.inverse().inverse().value_text(), lead.value_text());
        let few = Speedup::at_target(factors[..4].iter().map(|factor| (spent(*factor), spent(1.0)))).unwrap();
        assert!(!few.is_faster() && !few.has_interval(), "four pairs have no interval: {few:?}");
    }

    #[test]
    fn censored_runs_bound_and_never_invent() {
        // The other never got there in 10 s, this one needed 1 to 2: at least so many times as fast.
        let all = Speedup::at_target([1.0, 1.25, 2.0, 1.6, 1.1].map(|own| (NEVER, spent(own)))).unwrap();
        assert_eq!((all.most, all.high, all.value_text().as_str()), (None, None, "≥8.00×"));
        assert!(all.is_faster(), "{all:?}");
        // In most pairs nobody got there: nothing is known, whatever the others say.
        let most = [(NEVER, NEVER), (NEVER, NEVER), (NEVER, NEVER), (NEVER, spent(1.0)), (NEVER, spent(1.0))];
        let most = Speedup::at_target(most).unwrap();
        assert!(!most.is_faster() && !most.is_slower() && most.text() == "–", "{most:?}");
        // Both were there before anybody looked.
        let early = Spent { least: 0.0, most: 1.0 };
        let early = Speedup::at_target([(early, early); 6]).unwrap();
        assert_eq!((early.least, early.most, early.low, early.high), (None, None, None, None));
        assert_eq!(Speedup::at_target([]), None);
    }

    #[test]
    fn an_interval_that_covers_one_decides_nothing() {
        let split = Speedup::at_target([0.5, 2.0, 0.6, 1.8, 1.9].map(|factor| (spent(factor), spent(1.0)))).unwrap();
        assert!(!split.is_faster() && !split.is_slower());
        assert_eq!(over_targets(&[(1.0, 1.0), (f64::NEG_INFINITY, 2.0), (3.0, f64::INFINITY)]), (1.0, 2.0));
    }
}
