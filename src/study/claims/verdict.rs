//! A number with its interval → the verdict that it allows, and the words of the evidence about the interval.

use std::ops::RangeInclusive;

use super::{Reason, Verdict};
use crate::study::estimate::{Estimate, interval_name};
use ssvm::stats::FEWEST_PAIRS;

impl Estimate {
    /// Whether it lies in a range. A number without an interval decides nothing on any clock, because other seeds may give another
    /// number.
    pub(super) fn verdict(&self, range: &RangeInclusive<f64>) -> Verdict {
        match (self.low, self.high) {
            _ if !self.value.is_finite() => Verdict::NotMeasured,
            (Some(low), Some(high)) if range.contains(&low) && range.contains(&high) => Verdict::Holds,
            (Some(low), Some(high)) if high < *range.start() || low > *range.end() => Verdict::DoesNotHold,
            _ => Verdict::Undecided,
        }
    }

    /// The verdict on a number over this many repeats, and the reason if it is undecided.
    pub(super) fn decide(&self, range: &RangeInclusive<f64>, repeats: usize) -> (Verdict, Option<Reason>) {
        let verdict = self.verdict(range);
        let why = || undecided([self.low, self.high], repeats, Reason::OpenInterval);
        (verdict, (verdict == Verdict::Undecided).then(why))
    }
}

/// Why an interval decides nothing: `open` if there are enough repeats but neither end of the interval is known.
pub(super) fn undecided(ends: [Option<f64>; 2], repeats: usize, open: Reason) -> Reason {
    match ends {
        [None, None] if repeats < FEWEST_PAIRS => Reason::FewRepeats,
        [None, None] => open,
        _ => Reason::Interval,
    }
}

pub(super) fn at_least(least: f64) -> RangeInclusive<f64> {
    least..=f64::INFINITY
}

pub(super) fn at_most(most: f64) -> RangeInclusive<f64> {
    f64::NEG_INFINITY..=most
}

/// A claim holds if all its numbers are in their ranges, and does not hold if one is outside.
pub(super) fn all(verdicts: &[Verdict]) -> Verdict {
    use Verdict::{DoesNotHold, Holds, NotMeasured, Undecided};
    let worst = [NotMeasured, DoesNotHold, Undecided, Holds].into_iter().find(|verdict| verdicts.contains(verdict));
    worst.unwrap_or(NotMeasured)
}

/// The evidence text about the interval of a median: over `paired` repeats of two solvers, or over repeats of one.
pub(super) fn of_median(repeats: usize, paired: bool) -> String {
    basis(repeats, paired, &interval_name(repeats))
}

/// The same of a statistic of median curves.
pub(super) fn of_curves(repeats: usize, paired: bool) -> String {
    basis(repeats, paired, "nominal 95 % interval by bootstrap")
}

fn basis(repeats: usize, paired: bool, interval: &str) -> String {
    let what = format!("{}repeat{}", if paired { "paired " } else { "" }, if repeats == 1 { "" } else { "s" });
    if repeats >= FEWEST_PAIRS {
        return format!("{interval} over {repeats} {what}");
    }
    let gives = if repeats == 1 { "gives" } else { "give" };
    format!("{repeats} {what} {gives} no interval ({FEWEST_PAIRS} are needed): undecided")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::estimate::median_of;

    #[test]
    fn an_interval_that_covers_the_threshold_decides_nothing() {
        let spread = median_of(&[0.8, 0.9, 1.0, 1.1, 1.2, 1.3]);
        assert_eq!(spread.verdict(&at_least(1.05)), Verdict::Undecided);
        assert_eq!(spread.verdict(&at_least(0.5)), Verdict::Holds);
        assert_eq!(spread.verdict(&at_least(1.5)), Verdict::DoesNotHold);
        assert_eq!(spread.verdict(&at_most(0.5)), Verdict::DoesNotHold);
    }

    #[test]
    fn few_repeats_decide_nothing() {
        for few in [&[2.0][..], &[2.0, 2.0], &[2.0; FEWEST_PAIRS - 1]] {
            let estimate = median_of(few);
            assert_eq!((estimate.low, estimate.high), (None, None));
            assert_eq!(estimate.verdict(&at_least(1.0)), Verdict::Undecided);
            assert_eq!(estimate.verdict(&at_least(3.0)), Verdict::Undecided);
        }
        assert_eq!(median_of(&[2.0; FEWEST_PAIRS]).verdict(&at_least(1.0)), Verdict::Holds);
        assert_eq!(median_of(&[]).verdict(&at_least(1.0)), Verdict::NotMeasured);
    }

    #[test]
    fn all_must_hold() {
        use Verdict::{DoesNotHold, Holds, NotMeasured, Undecided};
        assert_eq!(all(&[Holds, Holds]), Holds);
        assert_eq!(all(&[Holds, Undecided]), Undecided);
        assert_eq!(all(&[Undecided, DoesNotHold]), DoesNotHold);
        assert_eq!(all(&[]), NotMeasured);
    }
}
