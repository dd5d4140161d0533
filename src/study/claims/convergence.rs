//! Claims 1 and 2: primal suboptimality at equal iterations, over log-iterations.

use std::ops::RangeInclusive;

use super::equal_iterations::{EqualIterations, over_log};
use super::verdict::{all, at_least, basis};
use super::{Claim, MULTI, SINGLE, Subject, Verdict};
use crate::study::estimate::estimates;
use crate::text::{number, percent};
use ssvm::problem::Paper;

/// Share of the log-iterations over which MP-BCFW must be lower for "always" to hold; it must be lower at the last one too.
const ALWAYS: f64 = 0.9;

const POSITIVE: RangeInclusive<f64> = f64::MIN_POSITIVE..=f64::INFINITY;
const NOTHING_IN_COMMON: &str = "no common iteration of two runs with one seed";
const BELOW_FLOOR: &str = "all medians are below what is known of the optimum";

pub(super) fn lower_suboptimality(subject: &Subject<'_>) -> Vec<Claim> {
    let claim =
        |multi: &str, single: &str| format!("{multi} below {single} in primal suboptimality at equal iterations");
    subject.each_pair(claim, |pair, row| match EqualIterations::new(subject.view, pair, f64::INFINITY) {
        Some(paired) => judge_lower(subject, &paired, pair, row),
        None => Claim { evidence: NOTHING_IN_COMMON.to_owned(), ..row },
    })
}

fn judge_lower(subject: &Subject<'_>, paired: &EqualIterations, pair: [usize; 2], row: Claim) -> Claim {
    let [share, last] = estimates(&[paired.repeats()], |draw| {
        let differences = paired.differences(&draw[0]);
        let last = differences.iter().flatten().last().copied().unwrap_or(f64::NAN);
        [over_log(&paired.x, &differences).0, last]
    });
    let Some(end) = paired.x.len().checked_sub(1).filter(|_| share.value.is_finite()) else {
        return Claim { evidence: BELOW_FLOOR.to_owned(), ..row };
    };
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
    let floor = subject.view.floor(subject.dataset);
    if floor > 0.0 {
        evidence += &format!("; nothing below {} is compared", number(floor));
    }
    evidence += &(paired.changes() + &subject.failures(&pair));
    let mut verdict = all(&[share.verdict(&at_least(ALWAYS)), last.verdict(&POSITIVE)]);
    if verdict == Verdict::Holds && paired.x[0] > 1.0 {
        // "Always" cannot be seen on curves that begin later.
        verdict = Verdict::Undecided;
        evidence += "; undecided because nothing was evaluated before";
    }
    let measured = format!("lower over {} of log-iterations", share.text(percent));
    Claim { measured, verdict, evidence, estimate: Some(share), ..row }
}

/// Claim 2: against the USPS set of the same kind (real or synthetic), else any. Means over the same log-iterations.
pub(super) fn larger_effect(subject: &Subject<'_>) -> Vec<Claim> {
    let claim = || "larger effect than on USPS".to_owned();
    let view = subject.view;
    let twin = |dataset: &str| view.series.iter().any(|s| s.dataset == dataset && s.twin);
    let usps = || view.datasets().into_iter().filter(|d| view.paper(d) == Some(Paper::Usps));
    let reference = usps().find(|d| twin(d) == twin(subject.dataset)).or_else(|| usps().next());
    let there = reference.map_or(Vec::new(), |usps| subject.pairs(usps, SINGLE, MULTI));
    let here = subject.pairs(subject.dataset, SINGLE, MULTI);
    if here.is_empty() || there.is_empty() {
        let why = "needs bcfw and mp-bcfw here and on a USPS data set, under the same circumstances";
        return vec![subject.row(MULTI, claim(), why)];
    }
    let mut claims = Vec::new();
    for pair in here {
        // The first of the most alike.
        let alike = |other: &[usize; 2]| view.alike(other[1], pair[1]);
        if let Some(other) = there.iter().copied().rev().max_by_key(alike) {
            claims.push(judge_effect(subject, pair, other, subject.row(&view.series[pair[1]].label, claim(), "")));
        }
    }
    claims
}

fn judge_effect(subject: &Subject<'_>, here: [usize; 2], there: [usize; 2], row: Claim) -> Claim {
    let read = |pair: [usize; 2], most: f64| EqualIterations::new(subject.view, pair, most);
    let end = |pair| read(pair, f64::INFINITY).and_then(|paired| paired.x.last().copied()).unwrap_or(0.0);
    let most = end(here).min(end(there));
    let (Some(paired), Some(usps)) = (read(here, most), read(there, most)) else {
        return Claim { evidence: NOTHING_IN_COMMON.to_owned(), ..row };
    };
    let mean = |paired: &EqualIterations, draw: &[usize]| over_log(&paired.x, &paired.differences(draw)).1;
    // Seeds are the same on both data sets, but orders of other terms: the groups are drawn apart.
    let [more, effect, usual] = estimates(&[paired.repeats(), usps.repeats()], |draw| {
        let (effect, usual) = (mean(&paired, &draw[0]), mean(&usps, &draw[1]));
        [effect - usual, effect, usual]
    });
    if !more.value.is_finite() {
        return Claim { evidence: BELOW_FLOOR.to_owned(), ..row };
    }
    let series = &subject.view.series;
    let factor = |log: f64| number(10f64.powf(log));
    let evidence = format!(
        "mean over log-iterations up to {most} of the ratio of primal suboptimality {} / {}, {} on {} with {}; {} times as \
         large; {}{}",
        series[here[0]].label,
        series[here[1]].label,
        usual.text(factor),
        series[there[1]].dataset,
        series[there[1]].label,
        more.text(factor),
        basis(paired.repeats().min(usps.repeats()), true),
        subject.failures(&[here, there].concat()),
    );
    let measured = format!("factor {} against {}", effect.text(factor), factor(usual.value));
    let (verdict, estimate) = (more.verdict(&POSITIVE), more.map(|log| 10f64.powf(log)));
    Claim { measured, verdict, evidence, estimate: Some(estimate), ..row }
}
