//! Claims 3 and 4: where the time goes, and how long a gap takes. On a repeatable clock the cost model decides both, and the
//! rows say so.

use std::ops::RangeInclusive;

use super::verdict::{at_least, at_most, basis};
use super::{Claim, MULTI, SINGLE, Subject, Verdict};
use crate::study::Series;
use crate::study::estimate::median_of;
use crate::study::paired::{LogBounds, Measure, Paired, Target};
use crate::study::targets;
use crate::text::{number, percent, seconds};
use ssvm::problem::Paper;

/// "About x %": within this many percentage points.
const ABOUT: f64 = 0.10;
/// "99 %" is at least this.
const NEARLY_ALL: f64 = 0.95;
/// The share of MP-BCFW on the last two data sets.
const QUARTER: f64 = 0.25;
/// "Not slower": at most this factor.
const NOT_SLOWER: f64 = 1.1;
/// "Substantially faster": at least this factor.
const SUBSTANTIALLY: f64 = 1.5;

/// What a repeatable clock means for a number of seconds: a remark for the measured value and one for the evidence.
fn circular(series: &Series) -> (&'static str, String) {
    if !series.repeatable() {
        return ("", String::new());
    }
    let clock = series.key.clock.name();
    let why = format!("; the cost model of the {clock} clock decides this: circular, says nothing about a machine");
    (", cost model", why)
}

pub(super) fn oracle_share(subject: &Subject<'_>) -> Vec<Claim> {
    let Some(paper) = subject.paper else { return Vec::new() };
    let share = paper.oracle_share();
    if matches!(paper, Paper::Usps | Paper::Ocr) {
        let rule = format!("holds within {:.0} points", 100.0 * ABOUT);
        return shares(subject, SINGLE, &rule, &(share - ABOUT..=share + ABOUT));
    }
    let mut claims = shares(subject, SINGLE, &format!("holds from {}", percent(NEARLY_ALL)), &at_least(NEARLY_ALL));
    for claim in shares(subject, MULTI, "holds below 25 %", &at_most(QUARTER)) {
        claims.push(Claim { paper: "below 25 %".to_owned(), ..claim });
    }
    claims
}

fn shares(subject: &Subject<'_>, solver: &str, rule: &str, range: &RangeInclusive<f64>) -> Vec<Claim> {
    let missing = format!("no {solver} run with solver time");
    subject.each_setting(solver, "oracle share", &missing, |at, row| judge_share(subject, at, rule, range, row))
}

fn judge_share(subject: &Subject<'_>, at: usize, rule: &str, range: &RangeInclusive<f64>, row: Claim) -> Claim {
    let (series, profile) = (&subject.view.series[at], &subject.profile[at]);
    let shares = subject.view.oracle_shares(at);
    let share = median_of(&shares);
    let Some(spread) = profile.share.filter(|_| share.value.is_finite()) else {
        return Claim { evidence: format!("no {} run with solver time", series.label), ..row };
    };
    let call = profile.oracle_ns.map_or(String::new(), |l| format!(", median call {}", seconds(l.p50 as f64 * 1e-9)));
    let (model, circular) = circular(series);
    let evidence = format!(
        "median over repeats, {} to {}, on the {} clock{call}; {}; {rule}{}{circular}",
        percent(spread.min),
        percent(spread.max),
        series.key.clock.name(),
        basis(shares.len(), false),
        subject.failures(&[at]),
    );
    let measured = format!("{}{model}", share.text(percent));
    Claim { measured, verdict: share.verdict(range), evidence, estimate: Some(share), ..row }
}

pub(super) fn runtime(subject: &Subject<'_>) -> Vec<Claim> {
    let substantially = matches!(subject.paper, Some(Paper::HorseSeg | Paper::Stanford));
    let bar = if substantially { SUBSTANTIALLY } else { 1.0 / NOT_SLOWER };
    let claim = |multi: &str, single: &str| format!("runtime of {multi} against {single}");
    subject.each_pair(claim, |pair, row| judge_runtime(subject, pair, bar, row))
}

/// How many times as fast the multi-plane solver is, over the gaps that both reach. A gap that only one of them reaches bounds
/// the ratio there: it is evidence that may contradict the verdict, and never moves the value.
fn judge_runtime(subject: &Subject<'_>, [a, b]: [usize; 2], bar: f64, row: Claim) -> Claim {
    let view = subject.view;
    let (single, multi, matched) = (&view.series[a], &view.series[b], view.matched(a, b));
    let mut gaps: Vec<(f64, Paired)> = Vec::new();
    for gap in targets::targets(matched.iter().flat_map(|(a, b)| [*a, *b])) {
        let compared = view.compare(b, a, Target::Gap(gap), Measure::Time);
        gaps.extend(compared.filter(|paired| paired.least.or(paired.most).is_some()).map(|paired| (gap, paired)));
    }
    let those = |which: fn(&Paired) -> bool| -> Vec<f64> {
        gaps.iter().filter(|(_, paired)| which(paired)).map(|(gap, _)| *gap).collect()
    };
    let mut alone = String::new();
    for (label, gaps) in [(&multi.label, those(|p| p.most.is_none())), (&single.label, those(|p| p.least.is_none()))] {
        if !gaps.is_empty() {
            let gaps: Vec<String> = gaps.iter().map(|gap| format!("{gap:e}")).collect();
            alone += &format!("; only {label} reached {}", gaps.join(", "));
        }
    }
    let both = those(|paired| paired.exact().is_some());
    let speed = mean_speed(subject, [a, b], &if both.is_empty() { those(|_| true) } else { both });
    let Some((speed, estimate)) = speed.and_then(|speed| Some((speed, speed.estimate()?))) else {
        let why =
            if matched.is_empty() { "no two runs with one seed" } else { "no gap target was reached in the median" };
        return Claim { evidence: format!("{why}{alone}"), ..row };
    };
    let list: Vec<String> =
        gaps.iter().map(|(gap, p)| format!("{gap:e}: {}", p.value_text().trim_end_matches('×'))).collect();
    let (model, circular) = circular(single);
    let mut evidence = format!(
        "time of {} / time of {} to each gap, crossings interpolated ({}), medians over pairs on the {} clock, geometric mean \
         over the gaps that both reached; where one did not its whole time is a bound (≥, ≤); {}; holds from {bar:.2}×{alone}\
         {}{}{circular}",
        single.label,
        multi.label,
        list.join("; "),
        single.key.clock.name(),
        basis(matched.len(), true),
        subject.failures(&[a, b]),
        if single.certified { "; gaps are certified" } else { "" },
    );
    let mut verdict = Verdict::Undecided;
    if speed.has_interval() && speed.low.is_some_and(|low| low >= bar) {
        verdict = Verdict::Holds;
    } else if speed.is_below(bar) {
        verdict = Verdict::DoesNotHold;
    }
    let contradicted = gaps.iter().any(|(_, paired)| match verdict {
        Verdict::Holds => paired.least.is_none() && paired.is_below(bar),
        Verdict::DoesNotHold => paired.most.is_none() && paired.is_above(bar),
        _ => false,
    });
    if contradicted {
        verdict = Verdict::Undecided;
        evidence += "; undecided because a gap that only one of them reached says otherwise";
    }
    let measured = format!("{}{}× as fast{model}", speed.sign(), estimate.text(number));
    Claim { measured, verdict, evidence, estimate: Some(estimate), ..row }
}

/// The geometric mean over gaps of each pair, and the median over pairs of that.
fn mean_speed(subject: &Subject<'_>, [a, b]: [usize; 2], gaps: &[f64]) -> Option<Paired> {
    let mut means: Vec<LogBounds> = Vec::new();
    for gap in gaps {
        let ratios = subject.view.log_ratios(b, a, Target::Gap(*gap), Measure::Time);
        means.resize(ratios.len(), (0.0, 0.0));
        for (sum, (_, bounds)) in means.iter_mut().zip(ratios) {
            *sum = (sum.0 + bounds.0, sum.1 + bounds.1);
        }
    }
    let over = gaps.len() as f64;
    Paired::of(&[means.into_iter().map(|(least, most)| (least / over, most / over)).collect()])
}
