//! The primitive behind every comparison: the ratio of what two solvers spent until a target.
//!
//! Two runs with the same seed are a pair. What a run spent is an interval ([`Spent`]): a run that never reached the target spent at
//! least what it had spent at its end, and a run that was at the target at its first evaluation spent at most what it had spent there.
//! Ratios of pairs are therefore bounded, and so is their median. Its interval reaches from the lower end for the lower bounds to the
//! upper end for the upper bounds; it may be open, but is never too narrow. Tables of many comparisons have wider, simultaneous
//! intervals ([`simultaneous`]). Claims, league, break-even, advice and the comparison of folders use this module.

use serde::{Deserialize, Serialize};

use super::View;
use super::curve::Curve;
use super::estimate::{Estimate, Sampling, interval_text, resampled};
use super::targets;
use crate::text::{number, number_beside};
use ssvm::stats::portable::{exp, ln};
use ssvm::stats::{FEWEST_PAIRS, median, median_interval, median_rank, percentiles};

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
    /// Whether the machine was busy while one of its data sets was timed; then nothing is decided, see [`super::busy`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub busy: bool,
}

impl Paired {
    /// From the logarithms of the ratios of all pairs; groups of pairs, such as data sets, are drawn separately. `None` without a pair.
    pub fn of(groups: &[Vec<LogBounds>]) -> Option<Self> {
        simultaneous(&[groups.to_vec()], &Sampling::default()).remove(0)
    }

    /// Ratios from bounds of their logarithms, which a statistic computes from groups of pairs. Their intervals lie between percentiles over
    /// draws of the pairs. `None` for a ratio that is unknown or NaN.
    pub fn of_draws<const K: usize>(
        groups: &[usize],
        statistic: impl Fn(&[Vec<usize>]) -> [LogBounds; K],
    ) -> [Option<Self>; K] {
        let sampling = Sampling::default();
        let (values, drawn) = resampled(groups, &sampling, statistic);
        let pairs = groups.iter().copied().min().unwrap_or(0);
        let ratio = |log: f64| Some(exp(log)).filter(|_| log.is_finite());
        std::array::from_fn(|at| {
            // A draw without a value may have had any value.
            let end = |of: fn(LogBounds) -> f64, unknown: f64| {
                let ends = drawn.iter().map(|draw| of(draw[at]));
                percentiles(ends.map(|end| if end.is_nan() { unknown } else { end }), sampling.confidence)
            };
            let (low, high) = (end(|bounds| bounds.0, f64::NEG_INFINITY), end(|bounds| bounds.1, f64::INFINITY));
            let [low, high] = [low.map(|(low, _)| low), high.map(|(_, high)| high)].map(|end| end.and_then(ratio));
            let (least, most) = values[at];
            (!least.is_nan() && !most.is_nan()).then(|| Self {
                least: ratio(least),
                most: ratio(most),
                low,
                high,
                pairs,
                busy: false,
            })
        })
    }

    #[must_use]
    pub fn inverse(self) -> Self {
        let over = |value: Option<f64>| value.map(|value| 1.0 / value);
        Self { least: over(self.most), most: over(self.least), low: over(self.high), high: over(self.low), ..self }
    }

    /// The same, which decides nothing when this is so.
    #[must_use]
    pub fn withheld(self, busy: bool) -> Self {
        Self { busy: self.busy || busy, ..self }
    }

    pub fn has_interval(&self) -> bool {
        self.pairs >= FEWEST_PAIRS
    }

    /// Whether the whole interval, bounds included, is above this.
    pub fn is_above(&self, ratio: f64) -> bool {
        !self.busy && self.has_interval() && self.low.is_some_and(|low| low > ratio)
    }

    /// Whether the whole interval, bounds included, is below this.
    pub fn is_below(&self, ratio: f64) -> bool {
        !self.busy && self.has_interval() && self.high.is_some_and(|high| high < ratio)
    }

    pub fn is_faster(&self) -> bool {
        self.is_above(1.0)
    }

    pub fn is_slower(&self) -> bool {
        self.is_below(1.0)
    }

    /// The verdict on a ratio of what was spent, of which less is faster.
    pub fn pace_of_spent(&self) -> Pace {
        self.inverse().pace()
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

    /// The middle of the bounds of the median, for colours and positions; `None` if an end is open.
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
        let value = self.value(number);
        if value == "–" { value } else { value + "×" }
    }

    /// The median and its interval: `1.40× (1.20 to 1.61)`, `≥1.40× (from 1.20)`.
    pub fn text(&self) -> String {
        self.value_text() + &self.interval(end)
    }

    /// The same without the sign, where a heading names the number: `1.40 (1.20 to 1.61)`.
    pub fn plain(&self) -> String {
        self.value(number) + &self.interval(end)
    }

    /// The same with numbers as `show` writes them: `+40.0 % (+20.0 % to +61.0 %)`.
    pub fn shown(&self, show: impl Fn(f64) -> String) -> String {
        self.value(&show) + &self.interval(&show)
    }

    fn value(&self, show: impl Fn(f64) -> String) -> String {
        match (self.least.map(&show), self.most.map(&show)) {
            (Some(least), Some(most)) if least != most => format!("{least}–{most}"),
            (None, None) => "–".to_owned(),
            (least, most) => format!("{}{}", self.sign(), least.or(most).unwrap_or_default()),
        }
    }

    fn interval(&self, show: impl Fn(f64) -> String) -> String {
        let known = self.has_interval() && self.least.or(self.most).is_some();
        if known { interval_text(self.low, self.high, show) } else { String::new() }
    }
}

/// The text of an end of an interval whose threshold is 1.
fn end(value: f64) -> String {
    number_beside(value, 1.0)
}

/// A median of bounded logarithms, of all pairs and of every draw of them.
struct Resampled {
    pairs: usize,
    /// Lower and upper bound.
    median: [f64; 2],
    /// Of the median of one group between order statistics, of that of several groups between percentiles of the draws.
    interval: Option<[f64; 2]>,
    drawn: Vec<[f64; 2]>,
}

impl Resampled {
    /// Draws are needed for several groups, and for comparisons that hold together.
    fn new(groups: &[Vec<LogBounds>], sampling: &Sampling, together: bool) -> Option<Self> {
        let draws = if together || groups.len() > 1 { sampling.draws } else { 0 };
        let sampling = &Sampling { draws, ..*sampling };
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let pairs = sizes.iter().copied().min().filter(|pairs| *pairs > 0)?;
        let (median, drawn) = resampled(&sizes, sampling, |draw| {
            let all = || draw.iter().zip(groups).flat_map(|(draw, group)| draw.iter().map(|at| group[*at]));
            [median_of(all().map(|(low, _)| low)), median_of(all().map(|(_, high)| high))]
        });
        let end = |end: usize| if end == 0 { |bounds: &LogBounds| bounds.0 } else { |bounds: &LogBounds| bounds.1 };
        let interval = match groups {
            [one] if pairs >= sampling.fewest => {
                let of = |at: usize| median_interval(&one.iter().map(end(at)).collect::<Vec<_>>(), sampling.confidence);
                of(0).zip(of(1)).map(|(low, high)| [low.low, high.high])
            }
            _ => {
                let of = |at: usize| percentiles(drawn.iter().map(|draw| draw[at]), sampling.confidence);
                of(0).zip(of(1)).map(|((low, _), (_, high))| [low, high])
            }
        };
        Some(Self { pairs, median, interval, drawn })
    }

    /// The distance of each draw beyond the median at one end, in standard errors. `None` for an open end, at which the median or more than
    /// this share of the draws is unknown.
    fn beyond(&self, end: usize, open: f64) -> Option<(f64, impl Iterator<Item = f64>)> {
        let (median, sign) = (self.median[end], [-1.0, 1.0][end]);
        let away = self.drawn.iter().map(move |draw| sign * (draw[end] - median));
        let known: Vec<f64> = away.clone().filter(|far| far.is_finite()).collect();
        let unknown = (self.drawn.len() - known.len()) as f64;
        if !median.is_finite() || known.is_empty() || unknown > open * self.drawn.len() as f64 {
            return None;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let error = (known.iter().map(|far| (far - mean).powi(2)).sum::<f64>() / known.len() as f64).sqrt();
        Some((error, away.map(move |far| if far.is_finite() { far / error } else { 0.0 })))
    }
}

/// Comparisons with simultaneous intervals at the confidence of the sampling, each over groups of pairs as in [`Paired::of`]; `None` for
/// a comparison without a pair.
///
/// The interval of a single comparison lies between order statistics of its pairs. With several comparisons, each interval also extends
/// from the median by the number of standard errors that covers the largest deviation of any comparison in that share of the draws
/// (max-t). The same seeds are drawn for all of them, so dependent comparisons do not widen the intervals twice.
pub fn simultaneous(comparisons: &[Vec<Vec<LogBounds>>], sampling: &Sampling) -> Vec<Option<Paired>> {
    let together = comparisons.len() > 1;
    let all: Vec<Option<Resampled>> =
        comparisons.iter().map(|groups| Resampled::new(groups, sampling, together)).collect();
    let several = all.iter().flatten().count();
    let open = 0.5 * (1.0 - sampling.confidence) / several.max(1) as f64;
    let mut furthest = vec![0.0_f64; if several > 1 { sampling.draws } else { 0 }];
    for (one, end) in all.iter().flatten().flat_map(|one| [(one, 0), (one, 1)]) {
        if let Some((_, away)) = one.beyond(end, open) {
            // Without spread the standard error is 0 and the quotient may be NaN, which `max` ignores.
            furthest.iter_mut().zip(away).for_each(|(furthest, away)| *furthest = furthest.max(away));
        }
    }
    let reach = percentiles(furthest, 2.0 * sampling.confidence - 1.0).map_or(0.0, |(_, reach)| reach);
    let paired = |one: &Resampled| {
        let [low, high] = [0, 1].map(|end| {
            let single = one.interval?[end];
            if one.drawn.is_empty() {
                return Some(single);
            }
            let (error, _) = one.beyond(end, open)?;
            let sign = [-1.0, 1.0][end];
            let wide = one.median[end] + sign * reach * error;
            Some(if sign < 0.0 { single.min(wide) } else { single.max(wide) })
        });
        let ratio = |log: f64| Some(exp(log)).filter(|_| log.is_finite());
        let [least, most] = one.median.map(ratio);
        Paired { least, most, low: low.and_then(ratio), high: high.and_then(ratio), pairs: one.pairs, busy: false }
    };
    all.iter().map(|one| one.as_ref().map(paired)).collect()
}

/// The fewest pairs whose intervals can have the confidence for all of several comparisons together, each with its part of what may
/// be wrong: not even the range of fewer pairs covers the median that often.
pub fn pairs_needed(comparisons: usize, confidence: f64) -> usize {
    let each = 1.0 - (1.0 - confidence) / comparisons.max(1) as f64;
    (FEWEST_PAIRS..64).find(|pairs| median_rank(*pairs, each).1 >= each).unwrap_or(64)
}

fn median_of(values: impl Iterator<Item = f64>) -> f64 {
    median(&values.collect::<Vec<_>>())
}

/// Bounds of the median of bounded values.
pub fn median_bounds(bounds: &[LogBounds]) -> LogBounds {
    (median_of(bounds.iter().map(|b| b.0)), median_of(bounds.iter().map(|b| b.1)))
}

fn with_one_seed<'c>(a: &'c [Curve], b: &'c [Curve]) -> impl Iterator<Item = (&'c Curve, &'c Curve)> {
    a.iter().filter_map(|a| Some((a, b.iter().find(|b| b.seed == a.seed)?)))
}

/// How many times as fast the runs `a` are as the runs `b`: what `b` spent until the target divided by what `a` spent. `None` if they
/// have no seed in common. The caller ensures that their times are comparable.
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

    /// The series whose runs spent least until the target, in the median, and after it those that it is not clearly faster than;
    /// empty when no series reaches the target in the median.
    pub fn fastest(&self, rivals: &[usize], target: Target, measure: Measure) -> Vec<usize> {
        let medians = rivals.iter().filter_map(|at| Some((*at, self.median_spent(*at, target, measure)?)));
        let Some((best, _)) = medians.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
        let busy = self.busy(&self.series[best].dataset).is_some();
        let lead = |other: usize| self.compare(best, other, target, measure).map(|lead| lead.withheld(busy));
        let beaten = |other: usize| lead(other).is_some_and(|lead| lead.is_faster());
        let open = rivals.iter().copied().filter(|other| *other != best && !beaten(*other));
        std::iter::once(best).chain(open).collect()
    }

    /// What the runs of a series spent until the target, in the median; `None` when they do not reach it. A run that failed
    /// before its first evaluation did not.
    pub fn median_spent(&self, at: usize, target: Target, measure: Measure) -> Option<f64> {
        targets::median(self.curves(at).iter().map(|curve| curve.reached(target, measure)))
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
        assert_eq!(median_bounds(&[(1.0, 1.0), (f64::NEG_INFINITY, 2.0), (3.0, f64::INFINITY)]), (1.0, 2.0));
    }

    /// Log-ratios of every two of `solvers` that do not differ, over seeds that they share.
    fn no_difference(solvers: usize, seeds: usize, source: &mut impl FnMut() -> f64) -> Vec<Vec<Vec<LogBounds>>> {
        let costs: Vec<Vec<f64>> = (0..solvers).map(|_| (0..seeds).map(|_| source()).collect()).collect();
        let over = |a: &[f64], b: &[f64]| vec![a.iter().zip(b).map(|(a, b)| (a - b, a - b)).collect()];
        (0..solvers).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| over(&costs[a], &costs[b])).collect()
    }

    #[test]
    fn marks_of_many_comparisons_are_rarely_wrong_together() {
        use rand::{Rng, SeedableRng};
        let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        // Twelve uniform numbers are nearly normal.
        let mut normal = || (0..12).map(|_| unit()).sum::<f64>() - 6.0;
        let sampling = Sampling { draws: 300, ..Sampling::default() };
        let (mut together, mut apart) = (0, 0);
        for _ in 0..60 {
            let pairs = no_difference(6, 10, &mut normal);
            let wrong = |all: &[Option<Paired>]| all.iter().flatten().any(|one| one.pace() != Pace::Undecided);
            together += usize::from(wrong(&simultaneous(&pairs, &sampling)));
            let alone: Vec<_> =
                pairs.iter().map(|one| simultaneous(std::slice::from_ref(one), &sampling).remove(0)).collect();
            apart += usize::from(wrong(&alone));
        }
        assert!(
            together <= 10 && apart >= 2 * together && apart >= 10,
            "wrong tables of 60: {together} together, {apart} one by one"
        );
    }

    #[test]
    fn an_interval_among_many_holds_the_one_alone_and_a_clear_lead_stays_one() {
        let exact = |factor: f64| (factor.ln(), factor.ln());
        let clear: Vec<LogBounds> = [3.8, 4.0, 4.2, 3.9, 4.1].map(exact).to_vec();
        let narrow: Vec<LogBounds> = [1.001, 1.06, 1.02, 1.05, 1.03].map(exact).to_vec();
        let censored: Vec<LogBounds> = [8.0, 9.0, 7.0, 8.5, 7.5].map(|least: f64| (least.ln(), f64::INFINITY)).to_vec();
        let all = [clear, narrow, censored].map(|pairs| vec![pairs]);
        let together = simultaneous(&all, &Sampling::default());
        for (groups, wide) in all.iter().zip(&together) {
            let (alone, wide) = (Paired::of(groups).unwrap(), wide.unwrap());
            assert_eq!((alone.least, alone.most), (wide.least, wide.most));
            assert!(wide.low <= alone.low && (wide.high.is_none() || wide.high >= alone.high), "{alone:?} {wide:?}");
        }
        let [clear, narrow, censored] = [0, 1, 2].map(|at| together[at].unwrap());
        assert!(clear.is_faster() && censored.is_faster() && censored.high.is_none(), "{clear:?} {censored:?}");
        assert!(Paired::of(&all[1]).unwrap().is_faster() && !narrow.is_faster(), "{narrow:?}");
        assert_eq!(censored.text(), format!("≥8.00× (from {})", number(censored.low.unwrap())));
        assert_eq!([1, 24, 171].map(|comparisons| pairs_needed(comparisons, 0.95)), [6, 10, 13]);
    }

    #[test]
    fn an_end_next_to_one_shows_the_digit_that_decides() {
        let paired = |low: f64, high: f64| Paired {
            least: Some(1.05),
            most: Some(1.05),
            low: Some(low),
            high: Some(high),
            pairs: 5,
            busy: false,
        };
        assert_eq!(paired(1.0036, 1.08).text(), "1.05× (1.004 to 1.08)");
        assert_eq!(paired(1.0036, 1.08).plain(), "1.05 (1.004 to 1.08)");
        assert_eq!(paired(0.8, 0.99996).text(), "1.05× (0.800 to 0.99996)");
        assert_eq!(paired(1.0, 1.08).text(), "1.05× (1.00 to 1.08)");
    }
}
