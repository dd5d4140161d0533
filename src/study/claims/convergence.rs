//! Claims 1 and 2: primal suboptimality at equal iterations, over log-iterations.

use super::pairs::{Paired, over_log};
use super::verdict::{Range, all, basis};
use super::{Claim, ClaimRow, MULTI, SINGLE, Study, Subject, Verdict};
use crate::study::estimate::{Estimate, estimates};
use crate::text::{number, percent};
use ssvm::problem::Paper;

/// Share of the log-iterations over which MP-BCFW must be lower for "always" to hold; it must be lower at the last one too.
const ALWAYS: f64 = 0.9;

pub(super) const LOWER_SUBOPTIMALITY: ClaimRow = ClaimRow {
    title: "At equal iterations the multi-plane solvers are closer to the optimum",
    short: "lower primal suboptimality at equal iterations",
    solver: MULTI,
    paper: |_| Some("always lower"),
    check: |study, subject, claims| study.lower_suboptimality(subject, claims),
    anywhere: true,
};

pub(super) const LARGER_EFFECT: ClaimRow = ClaimRow {
    title: "The effect is larger where the label space is larger",
    short: "larger effect than on USPS",
    solver: MULTI,
    paper: |paper| (paper != Paper::Usps).then_some("larger"),
    check: |study, subject, claims| study.larger_effect(subject, claims),
    anywhere: false,
};

impl Study<'_> {
    /// Claim 1.
    fn lower_suboptimality(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        for (single, multi) in &self.frames.pairs {
            let pairs = self.pairs(subject.dataset, single, multi);
            if pairs.is_empty() {
                let row = subject.row(self.frames, multi, lower(multi, single));
                claims.push(Claim { evidence: self.unpaired(subject.dataset, single, multi), ..row });
            }
            for (a, b) in pairs {
                let [one, other] = [a, b].map(|s| self.frames.series[s].label.as_str());
                let row = subject.row(self.frames, other, lower(other, one));
                let paired = Paired::new(&self.matched(a, b), self.frames.floor(subject.dataset), f64::INFINITY);
                claims.push(match paired {
                    Some(paired) => self.judge_lower(&paired, [a, b], row),
                    None => Claim { evidence: "no common iteration of two runs with one seed".to_owned(), ..row },
                });
            }
        }
    }

    fn judge_lower(&self, paired: &Paired, [a, b]: [usize; 2], row: Claim) -> Claim {
        let [share, last] = estimates(&[paired.repeats()], |draw| {
            let differences = paired.differences(&draw[0]);
            let last = differences.iter().flatten().last().copied().unwrap_or(f64::NAN);
            [over_log(&paired.x, &differences).0, last]
        });
        let Some(end) = paired.x.len().checked_sub(1).filter(|_| share.value.is_finite()) else {
            let evidence = "all medians are below what is known of the optimum".to_owned();
            return Claim { evidence, ..row };
        };
        let series = &self.frames.series[a];
        let (one, other) = paired.medians(&(0..paired.repeats()).collect::<Vec<_>>(), end);
        let mut evidence = format!(
            "medians of iterations {} to {}, at the end {} against {}, lower by a factor of {}; {}; holds from {} of the \
             log-iterations, crossings interpolated, with the last one",
            paired.x[0],
            paired.x[end],
            number(other),
            number(one),
            last.text(|d| number(10f64.powf(d))),
            basis(paired.repeats(), true),
            percent(ALWAYS)
        );
        let floor = self.frames.floor(&series.dataset);
        if floor > 0.0 {
            evidence.push_str(&format!("; nothing below {} is compared", number(floor)));
        }
        evidence.push_str(&paired.changes());
        evidence.push_str(&self.failures(&[a, b]));
        let mut verdict = all([share.verdict(&Range::from(ALWAYS)), last.verdict(&Range::positive())]);
        if verdict == Verdict::Holds && paired.x[0] > 1.0 {
            // "Always" cannot be seen on curves that begin later.
            verdict = Verdict::Undecided;
            evidence.push_str("; undecided because nothing was evaluated before");
        }
        let measured = format!("lower over {} of log-iterations", share.text(percent));
        Claim { measured, verdict, evidence, estimate: Some(share), ..row }
    }

    /// Claim 2: against the USPS set of the same kind (real or synthetic), else any. Means over the same log-iterations.
    fn larger_effect(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        let claim = || "larger effect than on USPS".to_owned();
        let twin = |dataset: &str| self.frames.series.iter().any(|s| s.dataset == dataset && s.twin);
        let usps = || self.frames.datasets().into_iter().filter(|d| self.frames.paper(d) == Some(Paper::Usps));
        let reference = usps().find(|d| twin(d) == twin(subject.dataset)).or_else(|| usps().next());
        let there = reference.map_or(Vec::new(), |usps| self.pairs(usps, SINGLE, MULTI));
        let here = self.pairs(subject.dataset, SINGLE, MULTI);
        if here.is_empty() || there.is_empty() {
            let evidence =
                "needs bcfw and mp-bcfw here and on a USPS data set, under the same circumstances".to_owned();
            claims.push(Claim { evidence, ..subject.row(self.frames, MULTI, claim()) });
            return;
        }
        for pair in here {
            let alike = |other: &(usize, usize)| self.frames.alike(other.1, pair.1);
            // The first of the most alike.
            let Some(other) = there.iter().copied().rev().max_by_key(alike) else { continue };
            let row = subject.row(self.frames, &self.frames.series[pair.1].label, claim());
            claims.push(self.judge_effect(pair, other, row));
        }
    }

    fn judge_effect(&self, here: (usize, usize), there: (usize, usize), row: Claim) -> Claim {
        let read = |(a, b): (usize, usize), most: f64| {
            Paired::new(&self.matched(a, b), self.frames.floor(&self.frames.series[a].dataset), most)
        };
        let end = |pair| read(pair, f64::INFINITY).and_then(|paired| paired.x.last().copied());
        let most = end(here).unwrap_or(0.0).min(end(there).unwrap_or(0.0));
        let (Some(paired), Some(usps)) = (read(here, most), read(there, most)) else {
            return Claim { evidence: "no common iteration of two runs with one seed".to_owned(), ..row };
        };
        let mean = |paired: &Paired, draw: &[usize]| over_log(&paired.x, &paired.differences(draw)).1;
        // Seeds are the same on both data sets, but orders of other terms: the groups are drawn apart.
        let [more, effect, usual] = estimates(&[paired.repeats(), usps.repeats()], |draw| {
            let (effect, usual) = (mean(&paired, &draw[0]), mean(&usps, &draw[1]));
            [effect - usual, effect, usual]
        });
        if !more.value.is_finite() {
            return Claim { evidence: "all medians are below what is known of the optimum".to_owned(), ..row };
        }
        let [series, other] = [here.1, there.1].map(|s| &self.frames.series[s]);
        let factor = |log: f64| number(10f64.powf(log));
        let evidence = format!(
            "mean over log-iterations up to {most} of the ratio of primal suboptimality {} / {}, {} on {} with {}; {} \
             times as large; {}{}",
            self.frames.series[here.0].label,
            series.label,
            usual.text(factor),
            other.dataset,
            other.label,
            more.text(factor),
            basis(paired.repeats().min(usps.repeats()), true),
            self.failures(&[here.0, here.1, there.0, there.1]),
        );
        let verdict = more.verdict(&Range::positive());
        let measured = format!("factor {} against {}", effect.text(factor), factor(usual.value));
        let power = |value: Option<f64>| value.map(|log| 10f64.powf(log));
        let estimate = Estimate { value: 10f64.powf(more.value), low: power(more.low), high: power(more.high) };
        Claim { measured, verdict, evidence, estimate: Some(estimate), ..row }
    }
}

fn lower(multi: &str, single: &str) -> String {
    format!("{multi} below {single} in primal suboptimality at equal iterations")
}
