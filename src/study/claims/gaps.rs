//! Ratios of what two solvers spent until each gap of a list: exact at gaps that both reached, bounds at gaps that only one reached.

use super::verdict::undecided;
use super::{Claim, Reason, Verdict};
use crate::study::View;
use crate::study::paired::{LogBounds, Measure, Paired, Target};
use crate::study::targets;
use crate::text::number;

/// The gaps, from loose to tight, each with the ratio of what the first series spent to what the second spent.
pub(super) struct GapRatios {
    list: Vec<(f64, Paired)>,
    measure: Measure,
    pair: [usize; 2],
}

/// Whether both reached a gap in the median. A few runs that did not reach it only widen the bounds.
fn is_common(paired: &Paired) -> bool {
    paired.least.is_some() && paired.most.is_some()
}

impl GapRatios {
    pub fn new(view: &View, pair: [usize; 2], measure: Measure) -> Self {
        let [a, b] = pair;
        let mut list = Vec::new();
        for gap in targets::targets(view.matched(a, b).into_iter().flat_map(|(a, b)| [a, b])) {
            let compared = view.compare(b, a, Target::Gap(gap), measure);
            list.extend(compared.filter(|paired| paired.least.or(paired.most).is_some()).map(|paired| (gap, paired)));
        }
        Self { list, measure, pair }
    }

    /// The tightest gap that both reached in the median.
    pub fn tightest(&self) -> Option<(f64, Paired)> {
        self.list.iter().rev().find(|(_, paired)| is_common(paired)).copied()
    }

    /// The median over pairs of each pair's geometric mean over the gaps that both reached.
    pub fn mean(&self, view: &View) -> Option<Paired> {
        let gaps: Vec<f64> = self.list.iter().filter(|(_, paired)| is_common(paired)).map(|(gap, _)| *gap).collect();
        let mut means: Vec<LogBounds> = Vec::new();
        for gap in &gaps {
            let ratios = view.log_ratios(self.pair[1], self.pair[0], Target::Gap(*gap), self.measure);
            means.resize(ratios.len(), (0.0, 0.0));
            for (sum, (_, bounds)) in means.iter_mut().zip(ratios) {
                *sum = (sum.0 + bounds.0, sum.1 + bounds.1);
            }
        }
        let over = gaps.len() as f64;
        Paired::of(&[means.into_iter().map(|(least, most)| (least / over, most / over)).collect()])
    }

    /// Whether the ratio over the gaps that both reached is above the threshold. A tighter gap that only one of them reached gives a bound
    /// there. The claim is undecided if that bound is on the other side of the threshold, or does not exclude it.
    pub fn decide(&self, ratio: &Paired, bar: f64) -> (Verdict, Option<Reason>) {
        let verdict = if ratio.is_above(bar) {
            Verdict::Holds
        } else if ratio.has_interval() && ratio.high.is_some_and(|high| high <= bar) {
            Verdict::DoesNotHold
        } else {
            return (Verdict::Undecided, Some(undecided([ratio.low, ratio.high], ratio.pairs, Reason::RunsEnded)));
        };
        let Some((tightest, _)) = self.tightest() else { return (verdict, None) };
        let open = self.list.iter().filter(|(gap, _)| *gap < tightest).any(|(_, bound)| match verdict {
            Verdict::Holds => bound.least.is_none() || bound.most.is_some_and(|most| most <= bar),
            _ => bound.most.is_none() || bound.least.is_some_and(|least| least > bar),
        });
        if open { (Verdict::Undecided, Some(Reason::OpenBound)) } else { (verdict, None) }
    }

    /// A claim about series without a gap that both reached. It shows the bound at the loosest gap, because a mean of bounds would
    /// decrease as the faster solver reaches more gaps.
    pub fn apart(&self, view: &View, row: Claim) -> Claim {
        let known = self.list.first().and_then(|(gap, bound)| Some((gap, bound, bound.estimate()?)));
        let Some((gap, bound, estimate)) = known else {
            let none = view.matched(self.pair[0], self.pair[1]).is_empty();
            let why = if none { "no two runs with the same seed" } else { "no gap target was reached in the median" };
            return Claim { evidence: why.to_owned(), ..row };
        };
        let reason = Reason::NoCommonGap;
        Claim {
            measured: format!("{}× to gap {gap:e}", bound.shown(number)),
            estimate: Some(estimate),
            verdict: Verdict::Undecided,
            reason: Some(reason),
            evidence: format!("{} ({}){}", reason.text(), self.text(), self.alone(view)),
            ..row
        }
    }

    /// `3e-1: 2.00; 1e-1: ≥1.40`.
    pub fn text(&self) -> String {
        let ratio = |(gap, paired): &(f64, Paired)| format!("{gap:e}: {}", paired.value_text().trim_end_matches('×'));
        self.list.iter().map(ratio).collect::<Vec<_>>().join("; ")
    }

    /// Who reached gaps alone: `; only bcfw reached 1e-2`.
    pub fn alone(&self, view: &View) -> String {
        let [single, multi] = self.pair.map(|at| &view.series[at].label);
        let mut text = String::new();
        for (label, is_alone) in
            [(multi, (|p| p.most.is_none()) as fn(&Paired) -> bool), (single, |p| p.least.is_none())]
        {
            let gaps = self.list.iter().filter(|(_, paired)| is_alone(paired));
            let gaps: Vec<String> = gaps.map(|(gap, _)| format!("{gap:e}")).collect();
            if !gaps.is_empty() {
                text += &format!("; only {label} reached {}", gaps.join(", "));
            }
        }
        text
    }
}
