//! Claims 3 and 4: the share of time in the oracle, and the time to a gap. On a repeatable clock the cost model decides both, and the
//! rows say so.

use std::ops::RangeInclusive;

use super::gaps::GapRatios;
use super::thresholds::{Bar, around};
use super::verdict::{at_least, at_most, of_median};
use super::{Claim, MULTI, Reason, SINGLE, Subject, Verdict};
use crate::store::RunRecord;
use crate::study::Series;
use crate::study::estimate::median_of;
use crate::study::paired::Measure;
use crate::text::{number_beside, percent, seconds};
use ssvm::problem::Paper;

/// Remarks on times of a repeatable clock, for the measured value and for the evidence.
fn circular(series: &Series) -> (&'static str, String) {
    if !series.repeatable() {
        return ("", String::new());
    }
    let clock = series.key.clock.name();
    let why = format!("; this follows from the cost model of the {clock} clock and is no evidence about a machine");
    (", cost model", why)
}

pub(super) fn oracle_share(subject: &Subject<'_>) -> Vec<Claim> {
    let Some(paper) = subject.paper else { return Vec::new() };
    if matches!(paper, Paper::Usps | Paper::Ocr) {
        return shares(subject, SINGLE, &around(paper.oracle_share(), subject.bars[Bar::About]));
    }
    let mut claims = shares(subject, SINGLE, &at_least(subject.bars[Bar::NearlyAll]));
    for claim in shares(subject, MULTI, &at_most(subject.bars[Bar::Quarter])) {
        claims.push(Claim { paper: "below 25 %".to_owned(), ..claim });
    }
    claims
}

fn shares(subject: &Subject<'_>, solver: &str, range: &RangeInclusive<f64>) -> Vec<Claim> {
    let missing = format!("no {solver} run with solver time");
    subject.each_setting(solver, "oracle share", &missing, |at, row| judge_share(subject, at, range, row))
}

fn judge_share(subject: &Subject<'_>, at: usize, range: &RangeInclusive<f64>, row: Claim) -> Claim {
    let (series, profile) = (&subject.view.series[at], &subject.profile[at]);
    let shares = &profile.shares;
    let share = median_of(shares);
    let Some(spread) = profile.share.filter(|_| share.value.is_finite()) else {
        return Claim { evidence: format!("no {} run with solver time", series.label), ..row };
    };
    let call = profile.oracle_ns.map_or(String::new(), |l| format!(", median call {}", seconds(l.p50 as f64 * 1e-9)));
    let (model, circular) = circular(series);
    let rule = match (*range.start(), *range.end()) {
        (least, f64::INFINITY) => format!("from {}", percent(least)),
        (f64::NEG_INFINITY, most) => format!("up to {}", percent(most)),
        (least, most) => format!("from {} to {}", percent(least), percent(most)),
    };
    let mut evidence = format!(
        "median over repeats, {} to {}, on the {} clock{call}; {}; holds {rule}{}{circular}",
        percent(spread.min),
        percent(spread.max),
        series.key.clock.name(),
        of_median(shares.len(), false),
        subject.failures(&[at]),
    );
    let (mut verdict, mut reason) = share.decide(range, shares.len());
    let mut measured = share.text(percent);
    if series.keeps_planes() {
        // The share falls while working sets fill, so a verdict that depends on the length of the run is undecided.
        let late = median_of(&profile.late_shares);
        measured += &format!(", last half {}", late.text(percent));
        evidence += &format!("; in the last half of the iterations {}", late.text(percent));
        if verdict != late.verdict(range) {
            (verdict, reason) = (Verdict::Undecided, Some(Reason::DependsOnLength));
            evidence += "; undecided because the whole run and the last half of its iterations differ";
        }
    }
    measured += model;
    if !subject.view.records_of(at).iter().all(RunRecord::measures_oracle) {
        (verdict, reason) = (Verdict::Undecided, Some(Reason::Clock));
        evidence += &format!("; undecided because {}, which reads no call at oracle cost 1", Reason::Clock.text());
    }
    if subject.in_regime && series.solver == SINGLE {
        (verdict, reason) = (Verdict::ByConstruction, None);
        evidence += "; by construction: the oracle cost was chosen by this share";
    }
    // What holds by construction does so on every clock.
    let circular = series.repeatable() && verdict != Verdict::ByConstruction;
    Claim { measured, verdict, reason, circular, evidence, estimate: Some(share), ..row }
}

pub(super) fn runtime(subject: &Subject<'_>) -> Vec<Claim> {
    let substantially = matches!(subject.paper, Some(Paper::HorseSeg | Paper::Stanford));
    let bars = subject.bars;
    let bar = if substantially { bars[Bar::Substantially] } else { 1.0 / bars[Bar::NotSlower] };
    let claim = |multi: &str, single: &str| format!("{multi} against {single} in runtime");
    subject.each_pair(claim, |pair, row| judge_runtime(subject, pair, bar, row))
}

/// How many times as fast the multi-plane solver is, over the gaps that both reach. A gap that only one of them reaches does not
/// change the value.
fn judge_runtime(subject: &Subject<'_>, pair: [usize; 2], bar: f64, row: Claim) -> Claim {
    let view = subject.view;
    let (single, multi) = (&view.series[pair[0]], &view.series[pair[1]]);
    let repeats = view.matched(pair[0], pair[1]).len();
    let gaps = GapRatios::new(view, pair, Measure::Time);
    let (model, circular) = circular(single);
    let Some((speed, estimate)) = gaps.mean(view).and_then(|speed| Some((speed, speed.estimate()?))) else {
        let row = gaps.apart(view, row);
        let measured = row.measured + if row.estimate.is_some() { model } else { "" };
        let evidence = row.evidence + &subject.failures(&pair) + &circular;
        return Claim { measured, circular: single.repeatable(), evidence, ..row };
    };
    let (verdict, reason) = gaps.decide(&speed, bar);
    let evidence = format!(
        "time of {} / time of {} to each gap, crossings interpolated ({}), medians over pairs on the {} clock; measured is the \
         median over pairs of each pair's geometric mean over the gaps that both reached, which may lie outside the medians at \
         single gaps; where one did not reach a gap its whole time is a bound (≥, ≤); {}; holds above {bar:.2}×{}\
         {}{}{circular}{}",
        single.label,
        multi.label,
        gaps.text(),
        single.key.clock.name(),
        of_median(repeats, true),
        gaps.alone(view),
        subject.failures(&pair),
        if single.certified { "; gaps are certified" } else { "" },
        reason.map_or(String::new(), |reason| format!("; undecided: {}", reason.text())),
    );
    let measured = format!("{}× as fast{model}", speed.shown(|speed| number_beside(speed, bar)));
    Claim { measured, verdict, reason, circular: single.repeatable(), evidence, estimate: Some(estimate), ..row }
}
