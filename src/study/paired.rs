//! The one question of every comparison: what did one solver spend over what another did until a target?
//!
//! Runs with one seed are a pair. What a run spent is an interval ([`Spent`]): one that never reached the target spent at
//! least all of its own, one that was there at its first evaluation at most that. Ratios of such pairs are bounded, so their
//! median is, and the bootstrap interval reaches from the lower end of the lower bounds to the upper end of the upper ones: it
//! may be open, and is never too narrow. Claims, league, break-even, advice and the comparison of folders ask here.

use serde::{Deserialize, Serialize};

use super::View;
use super::curve::Curve;
use super::estimate::{Estimate, Sampling, resampled};
use crate::text::number;
use ssvm::stats::portable::{exp, ln};
use ssvm::stats::{FEWEST_PAIRS, median, percentiles};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Solver time, seconds of the run's clock.
    Time,
    Calls,
}

impl Measure {
    pub const ALL: [Self; 2] = [Self::Time, Self::Calls];

    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "solver time",
            Self::Calls => "oracle calls",
        }
    }

    pub fn key(self) -> &'static str {
        match self {
            Self::Time => "time_s",
            Self::Calls => "oracle_calls",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A duality gap P − D; a certified one where the oracle is not exact.
    Gap(f64),
    /// A distance of the best primal so far to the certified optimum, relative to it: (P − B_lo) / B_up.
    Relative(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    pub least: f64,
    /// At most this; infinite for a run that never reached the target.
    pub most: f64,
}

pub type LogBounds = (f64, f64);

impl Spent {
    pub fn exactly(spent: f64) -> Self {
        Self { least: spent, most: spent }
    }

    pub fn log_over(self, other: Self) -> LogBounds {
        let log = |a: f64, b: f64| ln(a / b.max(f64::MIN_POSITIVE));
        (log(self.least, other.most), if other.least > 0.0 { log(self.most, other.least) } else { f64::INFINITY })
    }
}

/// What a comparison decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Faster,
    Slower,
    Undecided,
}

impl Pace {
    pub fn name(self) -> &'static str {
        ["faster", "slower", "undecided"][self as usize]
    }
}

/// A median ratio over pairs with its 95 % interval. An end that is not known is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// And at most this; the same number when no run of the middle pairs is censored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Pairs with one seed, the fewest of any group.
    pub pairs: usize,
}

impl Paired {
    /// Of the logarithms of the ratios of all pairs; groups of pairs, such as data sets, are drawn apart. `None` without a pair.
    pub fn of(groups: &[Vec<LogBounds>]) -> Option<Self> {
        let pairs = groups.iter().map(Vec::len).min().filter(|pairs| *pairs > 0)?;
        let LogMedian { least, most, low, high } = log_median(groups, &Sampling::default());
        let ratio = |log: f64| Some(exp(log)).filter(|_| log.is_finite());
        Some(Self {
            least: ratio(least),
            most: ratio(most),
            low: low.and_then(ratio),
            high: high.and_then(ratio),
            pairs,
        })
    }

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

    pub fn has_interval(&self) -> bool {
        self.pairs >= FEWEST_PAIRS
    }

    /// Whether the whole interval, bounds included, is above this.
    pub fn is_above(&self, ratio: f64) -> bool {
        self.has_interval() && self.low.is_some_and(|low| low > ratio)
    }

    /// Whether the whole interval, bounds included, is below this.
    pub fn is_below(&self, ratio: f64) -> bool {
        self.has_interval() && self.high.is_some_and(|high| high < ratio)
    }

    pub fn is_faster(&self) -> bool {
        self.is_above(1.0)
    }

    pub fn is_slower(&self) -> bool {
        self.is_below(1.0)
    }

    pub fn pace(&self) -> Pace {
        if self.is_faster() {
            Pace::Faster
        } else if self.is_slower() {
            Pace::Slower
        } else {
            Pace::Undecided
        }
    }

    /// The median where it is known exactly: no run of the middle pairs is censored.
    pub fn exact(&self) -> Option<f64> {
        self.least.filter(|_| self.least == self.most)
    }

    /// The median, or the end of it that is known, with its interval.
    pub fn estimate(&self) -> Option<Estimate> {
        let value = self.exact().or_else(|| self.middle()).or(self.least).or(self.most)?;
        Some(Estimate { value, low: self.low, high: self.high })
    }

    /// The middle of what is known of the median, for colours and places; `None` when an end is open.
    pub fn middle(&self) -> Option<f64> {
        Some((self.least? * self.most?).sqrt())
    }

    /// `≥` or `≤` where only one end of the median is known.
    pub fn sign(&self) -> &'static str {
        match (self.least, self.most) {
            (Some(_), None) => "≥",
            (None, Some(_)) => "≤",
            _ => "",
        }
    }

    /// The median: `1.40×`, `≥1.40×` and `≤0.30×` where runs are censored.
    pub fn value_text(&self) -> String {
        match (self.least.map(number), self.most.map(number)) {
            (Some(least), Some(most)) if least != most => format!("{least}–{most}×"),
            (None, None) => "–".to_owned(),
            (least, most) => format!("{}{}×", self.sign(), least.or(most).unwrap_or_default()),
        }
    }

    /// The median and its interval: `1.40× (1.20 to 1.61)`.
    pub fn text(&self) -> String {
        let value = self.value_text();
        if !self.has_interval() || self.low.or(self.high).is_none() {
            return value;
        }
        let [low, high] = [(self.low, "0"), (self.high, "∞")].map(|(end, open)| end.map_or(open.to_owned(), number));
        format!("{value} ({low} to {high})")
    }
}

/// A median of bounded logarithms: bounds of it, and its interval where there are draws.
pub struct LogMedian {
    pub least: f64,
    pub most: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

pub fn log_median(groups: &[Vec<LogBounds>], sampling: &Sampling) -> LogMedian {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let ([least, most], drawn) = resampled(&sizes, sampling, |draw| {
        let all = || draw.iter().zip(groups).flat_map(|(draw, group)| draw.iter().map(|at| group[*at]));
        [median_of(all().map(|(low, _)| low)), median_of(all().map(|(_, high)| high))]
    });
    let low = percentiles(drawn.iter().map(|[least, _]| *least), sampling.confidence).map(|(low, _)| low);
    let high = percentiles(drawn.iter().map(|[_, most]| *most), sampling.confidence).map(|(_, high)| high);
    LogMedian { least, most, low, high }
}

fn median_of(values: impl Iterator<Item = f64>) -> f64 {
    median(&values.collect::<Vec<_>>())
}

/// One pair over several targets: bounds of the median over those that are given.
pub fn over_targets(bounds: &[LogBounds]) -> LogBounds {
    (median_of(bounds.iter().map(|b| b.0)), median_of(bounds.iter().map(|b| b.1)))
}

fn with_one_seed<'c>(a: &'c [Curve], b: &'c [Curve]) -> impl Iterator<Item = (&'c Curve, &'c Curve)> {
    a.iter().filter_map(|a| Some((a, b.iter().find(|b| b.seed == a.seed)?)))
}

/// How many times as fast the runs `a` are as the runs `b`: what those of `b` spent over what those of `a` did until the target.
/// `None` when they have no seed in common. The caller makes sure that their times may be compared.
pub fn compare(a: &[Curve], b: &[Curve], target: Target, measure: Measure) -> Option<Paired> {
    let pairs = with_one_seed(a, b);
    Paired::of(&[pairs.map(|(a, b)| b.spent(target, measure).log_over(a.spent(target, measure))).collect()])
}

impl View {
    /// [`compare`] of two series; `None` also when their times may not be compared.
    pub fn compare(&self, a: usize, b: usize, target: Target, measure: Measure) -> Option<Paired> {
        compare(self.comparable(a, b)?, self.curves(b), target, measure)
    }

    /// The same for each pair: its seed, and bounds of the logarithm of the ratio.
    pub fn log_ratios(&self, a: usize, b: usize, target: Target, measure: Measure) -> Vec<(u64, LogBounds)> {
        let spent = |(a, b): (&Curve, &Curve)| (a.seed, b.spent(target, measure).log_over(a.spent(target, measure)));
        self.matched(a, b).into_iter().map(spent).collect()
    }

    /// The curves of two series with one seed, none where their times may not be compared.
    pub fn matched(&self, a: usize, b: usize) -> Vec<(&Curve, &Curve)> {
        with_one_seed(self.comparable(a, b).unwrap_or_default(), self.curves(b)).collect()
    }

    /// The curves of the first series, where its times may be compared with those of the second.
    fn comparable(&self, a: usize, b: usize) -> Option<&[Curve]> {
        self.series[a].key.same_times(&self.series[b].key).then(|| self.curves(a))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(value: f64) -> Spent {
        Spent::exactly(value)
    }

    fn at_target(pairs: impl IntoIterator<Item = (Spent, Spent)>) -> Option<Paired> {
        Paired::of(&[pairs.into_iter().map(|(other, own)| other.log_over(own)).collect()])
    }

    const NEVER: Spent = Spent { least: 10.0, most: f64::INFINITY };

    #[test]
    fn a_clear_lead_is_one_both_ways() {
        let factors = [1.8, 2.0, 2.2, 1.9, 2.1];
        let lead = at_target(factors.map(|factor| (spent(factor), spent(1.0)))).unwrap();
        assert!(lead.is_faster() && lead.inverse().is_slower() && !lead.is_slower());
        assert_eq!(lead.text(), "2.00× (1.80 to 2.20)");
        assert_eq!(lead.inverse().inverse().value_text(), lead.value_text());
        let few = at_target(factors[..4].iter().map(|factor| (spent(*factor), spent(1.0)))).unwrap();
        assert!(!few.is_faster() && !few.has_interval(), "four pairs have no interval: {few:?}");
    }

    #[test]
    fn censored_runs_bound_and_never_invent() {
        // The other never reached it in 10 s, this one needed 1 to 2: at least that many times as fast.
        let all = at_target([1.0, 1.25, 2.0, 1.6, 1.1].map(|own| (NEVER, spent(own)))).unwrap();
        assert_eq!((all.most, all.high, all.value_text().as_str()), (None, None, "≥8.00×"));
        assert!(all.is_faster(), "{all:?}");
        // In most pairs no run reached it: nothing is known, whatever the others say.
        let most = [(NEVER, NEVER), (NEVER, NEVER), (NEVER, NEVER), (NEVER, spent(1.0)), (NEVER, spent(1.0))];
        let most = at_target(most).unwrap();
        assert!(!most.is_faster() && !most.is_slower() && most.text() == "–", "{most:?}");
        // Both were there at their first evaluation.
        let early = Spent { least: 0.0, most: 1.0 };
        let early = at_target([(early, early); 6]).unwrap();
        assert_eq!((early.least, early.most, early.low, early.high), (None, None, None, None));
        assert_eq!(at_target([]), None);
    }

    #[test]
    fn an_interval_that_covers_one_decides_nothing() {
        let split = at_target([0.5, 2.0, 0.6, 1.8, 1.9].map(|factor| (spent(factor), spent(1.0)))).unwrap();
        assert!(!split.is_faster() && !split.is_slower());
        assert_eq!(over_targets(&[(1.0, 1.0), (f64::NEG_INFINITY, 2.0), (3.0, f64::INFINITY)]), (1.0, 2.0));
    }
}
