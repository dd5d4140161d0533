//! Claims 3 and 4: where the time goes, and how long a gap takes. On a repeatable clock the cost model decides both, and the
//! rows say so.

use super::verdict::{Range, basis};
use super::{Claim, ClaimRow, MULTI, SINGLE, Subject, Verdict};
use crate::study::Series;
use crate::study::estimate::estimates;
use crate::study::paired::{LogBounds, Measure, Paired, Target};
use crate::study::targets;
use crate::text::{number, percent, seconds};
use ssvm::problem::Paper;
use ssvm::stats::median;

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

pub(super) const ORACLE_SHARE: ClaimRow = ClaimRow {
    title: "Share of the time spent in the max-oracle",
    short: "oracle share of BCFW",
    solver: SINGLE,
    paper: |paper| {
        Some(match paper {
            Paper::Usps => "about 15 %",
            Paper::Ocr => "about 70 %",
            Paper::HorseSeg | Paper::Stanford => "almost 99 %",
        })
    },
    check: oracle_share,
    anywhere: false,
};

pub(super) const RUNTIME: ClaimRow = ClaimRow {
    title: "Convergence against runtime",
    short: "runtime of MP-BCFW against BCFW",
    solver: MULTI,
    paper: |paper| Some(if substantially(paper) { "substantially faster" } else { "not slower" }),
    check: runtime,
    anywhere: false,
};

fn substantially(paper: Paper) -> bool {
    matches!(paper, Paper::HorseSeg | Paper::Stanford)
}

/// What a repeatable clock means for a number of seconds.
fn circular(series: &Series) -> String {
    if !series.repeatable() {
        return String::new();
    }
    format!(
        "; the cost model of the {} clock decides this: circular, says nothing about a machine",
        series.key.clock.name()
    )
}

fn model(series: &Series) -> &'static str {
    if series.repeatable() { ", cost model" } else { "" }
}

/// Claim 3.
fn oracle_share(subject: &Subject<'_>) -> Vec<Claim> {
    let Some(paper) = subject.paper else { return Vec::new() };
    let share = paper.oracle_share();
    let rows = match paper {
        Paper::Usps | Paper::Ocr => {
            let rule = format!("holds within {:.0} points", 100.0 * ABOUT);
            vec![(SINGLE, None, rule, Range { least: share - ABOUT, most: share + ABOUT })]
        }
        Paper::HorseSeg | Paper::Stanford => vec![
            (SINGLE, None, format!("holds from {}", percent(NEARLY_ALL)), Range::from(NEARLY_ALL)),
            (MULTI, Some("below 25 %"), "holds below 25 %".to_owned(), Range::to(QUARTER)),
        ],
    };
    let mut claims = Vec::new();
    for (solver, words, rule, range) in rows {
        let missing = format!("no {solver} run with solver time");
        let claim = |label: &str| format!("oracle share of {label}");
        let judge = |at: usize, row: Claim| judge_share(subject, at, &rule, &range, row);
        let mut of_solver = subject.each_setting(solver, claim, &missing, judge);
        for row in of_solver.iter_mut().filter(|_| words.is_some()) {
            words.unwrap_or_default().clone_into(&mut row.paper);
        }
        claims.extend(of_solver);
    }
    claims
}

fn judge_share(subject: &Subject<'_>, at: usize, rule: &str, range: &Range, row: Claim) -> Claim {
    let (series, profile) = (&subject.view.series[at], &subject.profile[at]);
    let shares = subject.view.oracle_shares(at);
    let [share] =
        estimates(&[shares.len()], |draw| [median(&draw[0].iter().map(|at| shares[*at]).collect::<Vec<_>>())]);
    let Some(spread) = profile.share.filter(|_| share.value.is_finite()) else {
        return Claim { evidence: format!("no {} run with solver time", series.label), ..row };
    };
    let call = profile.oracle_ns.map_or(String::new(), |l| format!(", median call {}", seconds(l.p50 as f64 * 1e-9)));
    let evidence = format!(
        "median over repeats, {} to {}, on the {} clock{call}; {}; {rule}{}{}",
        percent(spread.min),
        percent(spread.max),
        series.key.clock.name(),
        basis(shares.len(), false),
        subject.failures(&[at]),
        circular(series),
    );
    let measured = format!("{}{}", share.text(percent), model(series));
    Claim { measured, verdict: share.verdict(range), evidence, estimate: Some(share), ..row }
}

/// Claim 4.
fn runtime(subject: &Subject<'_>) -> Vec<Claim> {
    let bar = if subject.paper.is_some_and(substantially) { SUBSTANTIALLY } else { 1.0 / NOT_SLOWER };
    let claim = |multi: &str, single: &str| format!("runtime of {multi} against {single}");
    subject.each_pair(claim, |pair, row| judge_runtime(subject, pair, bar, row))
}

/// How many times as fast the multi-plane solver is, over the gaps that both reach. A gap that only one of them reaches bounds
/// the ratio there: it is evidence that may contradict the verdict, and never moves the value.
fn judge_runtime(subject: &Subject<'_>, pair: [usize; 2], bar: f64, row: Claim) -> Claim {
    let ([a, b], view) = (pair, subject.view);
    let [series, other] = pair.map(|at| &view.series[at]);
    let matched = view.matched(a, b);
    let mut gaps: Vec<(f64, Paired)> = Vec::new();
    for gap in targets::targets(matched.iter().flat_map(|(a, b)| [*a, *b])) {
        let compared = view.compare(b, a, Target::Gap(gap), Measure::Time);
        gaps.extend(compared.filter(|paired| paired.least.or(paired.most).is_some()).map(|paired| (gap, paired)));
    }
    let reached: Vec<f64> = gaps.iter().filter(|(_, paired)| paired.exact().is_some()).map(|(gap, _)| *gap).collect();
    let decisive = if reached.is_empty() { gaps.iter().map(|(gap, _)| *gap).collect() } else { reached };
    let only = |label: &str, which: fn(&Paired) -> bool| {
        let alone: Vec<String> = gaps.iter().filter(|(_, p)| which(p)).map(|(gap, _)| format!("{gap:e}")).collect();
        if alone.is_empty() { String::new() } else { format!("; only {label} reached {}", alone.join(", ")) }
    };
    let alone =
        only(&other.label, |paired| paired.most.is_none()) + &only(&series.label, |paired| paired.least.is_none());
    let Some((speed, estimate)) =
        mean_speed(subject, pair, &decisive).and_then(|speed| Some((speed, speed.estimate()?)))
    else {
        let why =
            if matched.is_empty() { "no two runs with one seed" } else { "no gap target was reached in the median" };
        return Claim { evidence: format!("{why}{alone}"), ..row };
    };
    let list: Vec<String> =
        gaps.iter().map(|(gap, p)| format!("{gap:e}: {}", p.value_text().trim_end_matches('×'))).collect();
    let mut evidence = format!(
        "time of {} / time of {} to each gap, crossings interpolated ({}), medians over pairs on the {} clock, geometric mean \
         over the gaps that both reached; where one did not its whole time is a bound (≥, ≤); {}; holds from {bar:.2}×{alone}\
         {}{}{}",
        series.label,
        other.label,
        list.join("; "),
        series.key.clock.name(),
        basis(matched.len(), true),
        subject.failures(&pair),
        if series.certified { "; gaps are certified" } else { "" },
        circular(series),
    );
    let open = |end: Option<f64>, beyond: f64| Some(end.unwrap_or(beyond)).filter(|_| speed.has_interval());
    let ends = (open(speed.low, 0.0), open(speed.high, f64::INFINITY));
    let mut verdict = match ends {
        (Some(low), _) if low >= bar => Verdict::Holds,
        (_, Some(high)) if high < bar => Verdict::DoesNotHold,
        _ => Verdict::Undecided,
    };
    let contradicted = gaps.iter().any(|(_, paired)| match verdict {
        Verdict::Holds => paired.least.is_none() && paired.is_below(bar),
        Verdict::DoesNotHold => paired.most.is_none() && paired.is_above(bar),
        _ => false,
    });
    if contradicted {
        verdict = Verdict::Undecided;
        evidence += "; undecided because a gap that only one of them reached says otherwise";
    }
    let sign = match (speed.least, speed.most) {
        (Some(_), None) => "≥",
        (None, Some(_)) => "≤",
        _ => "",
    };
    let measured = format!("{sign}{}× as fast{}", estimate.text(number), model(series));
    Claim { measured, verdict, evidence, estimate: Some(estimate), ..row }
}

/// The geometric mean over gaps of each pair, and the median over pairs of that.
fn mean_speed(subject: &Subject<'_>, [a, b]: [usize; 2], gaps: &[f64]) -> Option<Paired> {
    let ratios = |gap: &f64| subject.view.log_ratios(b, a, Target::Gap(*gap), Measure::Time);
    let of_gaps: Vec<Vec<(u64, LogBounds)>> = gaps.iter().map(ratios).collect();
    let mean = |pair: usize, end: fn(LogBounds) -> f64| {
        of_gaps.iter().map(|of_gap| end(of_gap[pair].1)).sum::<f64>() / gaps.len() as f64
    };
    let pairs = 0..of_gaps.first()?.len();
    Paired::of(&[pairs.map(|pair| (mean(pair, |bounds| bounds.0), mean(pair, |bounds| bounds.1))).collect()])
}
