//! A number with its interval → the verdict that it allows, and what the evidence says about the interval.

use super::Verdict;
use crate::study::estimate::{Estimate, interval_name};
use ssvm::stats::FEWEST_PAIRS;

impl Estimate {
    /// Whether it lies in a range. Without an interval no number is a verdict: other seeds may give another one, whatever
    /// the clock.
    pub(super) fn verdict(&self, range: &Range) -> Verdict {
        let inside = |value: f64| value >= range.least && value <= range.most;
        match (self.low, self.high) {
            _ if !self.value.is_finite() => Verdict::NotMeasured,
            (Some(low), Some(high)) if inside(low) && inside(high) => Verdict::Holds,
            (Some(low), Some(high)) if high < range.least || low > range.most => Verdict::DoesNotHold,
            _ => Verdict::Undecided,
        }
    }
}

/// Where a number must lie, ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub least: f64,
    pub most: f64,
}

impl Range {
    pub fn from(least: f64) -> Self {
        Self { least, most: f64::INFINITY }
    }

    pub fn to(most: f64) -> Self {
        Self { least: f64::NEG_INFINITY, most }
    }

    pub fn positive() -> Self {
        Self::from(f64::MIN_POSITIVE)
    }
}

/// A claim holds when all its numbers are where they must be, and does not when one is not.
pub(super) fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
    let any = |verdict| verdicts.contains(&verdict);
    [Verdict::NotMeasured, Verdict::DoesNotHold, Verdict::Undecided]
        .into_iter()
        .find(|v| any(*v))
        .unwrap_or(if verdicts.is_empty() { Verdict::NotMeasured } else { Verdict::Holds })
}

/// What evidence says about the interval: `paired` repeats of two solvers, or repeats of one.
pub(super) fn basis(repeats: usize, paired: bool) -> String {
    let what = format!("{}repeat{}", if paired { "paired " } else { "" }, if repeats == 1 { "" } else { "s" });
    if repeats >= FEWEST_PAIRS {
        return format!("{} by bootstrap over {repeats} {what}", interval_name(repeats));
    }
    let gives = if repeats == 1 { "gives" } else { "give" };
    format!("{repeats} {what} {gives} no 95 % interval ({FEWEST_PAIRS} do): undecided")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::estimate::estimates;
    use ssvm::stats::median;

    fn median_of(values: &[f64]) -> Estimate {
        let [estimate] =
            estimates(&[values.len()], |draw| [median(&draw[0].iter().map(|at| values[*at]).collect::<Vec<_>>())]);
        estimate
    }

    #[test]
    fn an_interval_that_covers_the_threshold_decides_nothing() {
        let spread = median_of(&[0.8, 0.9, 1.0, 1.1, 1.2, 1.3]);
        assert_eq!(spread.verdict(&Range::from(1.05)), Verdict::Undecided);
        assert_eq!(spread.verdict(&Range::from(0.5)), Verdict::Holds);
        assert_eq!(spread.verdict(&Range::from(1.5)), Verdict::DoesNotHold);
        assert_eq!(spread.verdict(&Range::to(0.5)), Verdict::DoesNotHold);
    }

    #[test]
    fn few_repeats_decide_nothing() {
        for few in [&[2.0][..], &[2.0, 2.0], &[2.0; FEWEST_PAIRS - 1]] {
            let estimate = median_of(few);
            assert_eq!((estimate.low, estimate.high), (None, None));
            assert_eq!(estimate.verdict(&Range::from(1.0)), Verdict::Undecided);
            assert_eq!(estimate.verdict(&Range::from(3.0)), Verdict::Undecided);
        }
        assert_eq!(median_of(&[2.0; FEWEST_PAIRS]).verdict(&Range::from(1.0)), Verdict::Holds);
        assert_eq!(median_of(&[]).verdict(&Range::from(1.0)), Verdict::NotMeasured);
    }

    #[test]
    fn all_must_hold() {
        use Verdict::{DoesNotHold, Holds, NotMeasured, Undecided};
        assert_eq!(all([Holds, Holds]), Holds);
        assert_eq!(all([Holds, Undecided]), Undecided);
        assert_eq!(all([Undecided, DoesNotHold]), DoesNotHold);
        assert_eq!(all([]), NotMeasured);
    }
}
