//! Claims 3 and 4: where the time goes, and how long a gap takes. On a repeatable clock the cost model decides both, and
//! the rows say so.

use super::verdict::{Range, basis};
use super::{Claim, ClaimRow, MULTI, SINGLE, Study, Subject, Verdict};
use crate::error::Result;
use crate::study::estimate::{Estimate, estimates};
use crate::study::frame::Series;
use crate::study::frame::align::End;
use crate::study::frame::curve::{Curve, Matched};
use crate::study::frame::target;
use crate::text::{number, percent, seconds};
use ssvm::problem::Paper;
use ssvm::stats::median;

/// "About x %": within so many percentage points.
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
    check: |study, subject, claims| study.oracle_share(subject, claims),
    anywhere: false,
};

pub(super) const RUNTIME: ClaimRow = ClaimRow {
    title: "Convergence against runtime",
    short: "runtime of MP-BCFW against BCFW",
    solver: MULTI,
    paper: |paper| Some(if substantially(paper) { "substantially faster" } else { "not slower" }),
    check: |study, subject, claims| study.runtime(subject, claims),
    anywhere: false,
};

fn substantially(paper: Paper) -> bool {
    matches!(paper, Paper::HorseSeg | Paper::Stanford)
}

/// What a repeatable clock means for a number of seconds.
fn circular(series: &Series) -> String {
    if !series.repeatable {
        return String::new();
    }
    format!("; the cost model of the {} clock decides this: circular, says nothing about a machine", series.clock)
}

fn model(series: &Series) -> &'static str {
    if series.repeatable { ", cost model" } else { "" }
}

impl Study<'_> {
    /// Claim 3.
    fn oracle_share(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        let about = |share: f64| Range { least: share - ABOUT, most: share + ABOUT };
        let points = format!("holds within {:.0} points", 100.0 * ABOUT);
        let rows: Vec<(&str, Option<&str>, String, Range)> = match subject.paper {
            Some(Paper::Usps) => vec![(SINGLE, None, points, about(Paper::Usps.oracle_share()))],
            Some(Paper::Ocr) => vec![(SINGLE, None, points, about(Paper::Ocr.oracle_share()))],
            Some(Paper::HorseSeg | Paper::Stanford) => vec![
                (SINGLE, None, format!("holds from {}", percent(NEARLY_ALL)), Range::from(NEARLY_ALL)),
                (MULTI, Some("below 25 %"), "holds below 25 %".to_owned(), Range::to(QUARTER)),
            ],
            None => Vec::new(),
        };
        for (solver, paper, rule, range) in rows {
            let settings = self.settings(subject.dataset, solver);
            if settings.is_empty() {
                let mut row = subject.row(self.frames, solver, format!("oracle share of {solver}"));
                row.paper = paper.map_or(row.paper, str::to_owned);
                claims.push(Claim { evidence: format!("no {solver} run with solver time"), ..row });
            }
            for at in settings {
                let series = &self.frames.series[at];
                let mut row = subject.row(self.frames, &series.label, format!("oracle share of {}", series.label));
                row.paper = paper.map_or(row.paper, str::to_owned);
                claims.push(self.judge_share(at, &rule, &range, row));
            }
        }
    }

    fn judge_share(&self, at: usize, rule: &str, range: &Range, row: Claim) -> Claim {
        let (series, profile) = (&self.frames.series[at], &self.profile[at]);
        let shares = &self.shares[at];
        let [share] =
            estimates(&[shares.len()], |draw| [median(&draw[0].iter().map(|at| shares[*at]).collect::<Vec<_>>())]);
        let Some(spread) = profile.share.filter(|_| share.value.is_finite()) else {
            return Claim { evidence: format!("no {} run with solver time", series.label), ..row };
        };
        let call =
            profile.oracle_ns.map_or(String::new(), |l| format!(", median call {}", seconds(l.p50 as f64 * 1e-9)));
        let evidence = format!(
            "median over repeats, {} to {}, on the {} clock{call}; {}; {rule}{}{}",
            percent(spread.min),
            percent(spread.max),
            series.clock,
            basis(shares.len(), false),
            self.failures(&[at]),
            circular(series),
        );
        let verdict = share.verdict(range);
        let measured = format!("{}{}", share.text(percent), model(series));
        Claim { measured, verdict, evidence, estimate: Some(share), ..row }
    }

    /// Claim 4.
    fn runtime(&self, subject: &Subject<'_>, claims: &mut Vec<Claim>) {
        let claim = |multi: &str, single: &str| format!("runtime of {multi} against {single}");
        let bar = if subject.paper.is_some_and(substantially) { SUBSTANTIALLY } else { 1.0 / NOT_SLOWER };
        for (single, multi) in &self.frames.pairs {
            let pairs = self.pairs(subject.dataset, single, multi);
            if pairs.is_empty() {
                let row = subject.row(self.frames, multi, claim(multi, single));
                claims.push(Claim { evidence: self.unpaired(subject.dataset, single, multi), ..row });
            }
            for (a, b) in pairs {
                let [one, other] = [a, b].map(|s| self.frames.series[s].label.as_str());
                let row = subject.row(self.frames, other, claim(other, one));
                claims.push(self.judge_runtime([a, b], bar, row));
            }
        }
    }

    fn judge_runtime(&self, [a, b]: [usize; 2], bar: f64, row: Claim) -> Claim {
        let matched = self.matched(a, b);
        let [series, other] = [a, b].map(|s| &self.frames.series[s]);
        let race = Race::new(&matched);
        let everyone: Vec<usize> = (0..matched.len()).collect();
        let counted: Vec<(f64, Outcome)> = race.targets.iter().map(|t| (*t, race.outcome(&everyone, *t))).collect();
        let alone = |which: fn(&Outcome) -> bool, label: &str| {
            let gaps: Vec<String> =
                counted.iter().filter(|(_, o)| which(o)).map(|(gap, _)| format!("{gap:e}")).collect();
            if gaps.is_empty() { String::new() } else { format!("; only {label} reached {}", gaps.join(", ")) }
        };
        let alone = alone(|o| matches!(o, Outcome::Multi(_)), &other.label)
            + &alone(|o| matches!(o, Outcome::Single(_)), &series.label);
        let [speed] = estimates(&[matched.len()], |draw| [race.speed(&draw[0])]);
        if !speed.value.is_finite() {
            let why = if matched.is_empty() {
                "no two runs with one seed"
            } else {
                "no gap target was reached in the median"
            };
            return Claim { evidence: format!("{why}{alone}"), ..row };
        }
        let list = counted.iter().filter_map(|(gap, outcome)| Some(format!("{gap:e}: {}", outcome.text()?)));
        let power = |value: Option<f64>| value.map(f64::exp);
        let speed = Estimate { value: speed.value.exp(), low: power(speed.low), high: power(speed.high) };
        let mut evidence = format!(
            "time of {} / time of {} to each gap, crossings interpolated ({}), medians on the {} clock, geometric mean \
             over gaps; where one never got there its whole time counts (≥, ≤); {}; holds from {bar:.2}×{alone}{}{}{}",
            series.label,
            other.label,
            list.collect::<Vec<_>>().join("; "),
            series.clock,
            basis(matched.len(), true),
            self.failures(&[a, b]),
            if series.certified { "; gaps are certified" } else { "" },
            circular(series),
        );
        let mut verdict = speed.verdict(&Range::from(bar));
        // A mean with bounds is a bound: what lies on its open side is not excluded.
        let more = counted.iter().any(|(_, outcome)| matches!(outcome, Outcome::Multi(Some(_))));
        let less = counted.iter().any(|(_, outcome)| matches!(outcome, Outcome::Single(Some(_))));
        if verdict == Verdict::DoesNotHold && more || verdict == Verdict::Holds && less {
            let side = if verdict == Verdict::Holds { "less" } else { "more" };
            verdict = Verdict::Undecided;
            evidence.push_str(&format!("; undecided because it may be {side}: bounds are open to that side"));
        }
        let sign = match (more, less) {
            (true, false) => "≥",
            (false, true) => "≤",
            _ => "",
        };
        let measured = format!("{sign}{}× as fast{}", speed.text(number), model(series));
        Claim { measured, verdict, evidence, estimate: Some(speed), ..row }
    }
}

/// How two series fared with a target: ln of the time of the single-plane solver over that of the other.
enum Outcome {
    Both(f64),
    /// Only the multi-plane solver got there: at least this, from the whole time of the other. `None` when the other was
    /// not asked to: it had reached its gap.
    Multi(Option<f64>),
    /// Only the single-plane solver got there: at most this.
    Single(Option<f64>),
    Neither,
}

impl Outcome {
    fn ratio(&self) -> Option<f64> {
        match self {
            Self::Both(ratio) => Some(*ratio),
            Self::Multi(bound) | Self::Single(bound) => *bound,
            Self::Neither => None,
        }
    }

    fn text(&self) -> Option<String> {
        let sign = match self {
            Self::Multi(_) => "≥",
            Self::Single(_) => "≤",
            _ => "",
        };
        self.ratio().map(|ratio| format!("{sign}{}", number(ratio.exp())))
    }
}

/// Times of matched repeats to every target.
struct Race {
    targets: Vec<f64>,
    /// Per repeat and target.
    single: Vec<Vec<Option<f64>>>,
    multi: Vec<Vec<Option<f64>>>,
    /// How long each ran; endless for a run that stopped because it had reached its gap.
    ends: Vec<(f64, f64)>,
}

impl Race {
    fn new(matched: &Matched<'_>) -> Self {
        let targets = target::targets(matched.iter().flat_map(|(a, b)| [*a, *b]));
        let times = |curve: &Curve| -> Vec<Option<f64>> {
            targets.iter().map(|target| curve.reached(*target).map(|(time, _)| time)).collect()
        };
        let end = |curve: &Curve| match curve.end {
            End::Gap => f64::INFINITY,
            _ => curve.last_time().unwrap_or(0.0),
        };
        let (single, multi) = matched.iter().map(|(a, b)| (times(a), times(b))).unzip();
        let ends = matched.iter().map(|(a, b)| (end(a), end(b))).collect();
        Self { targets, single, multi, ends }
    }

    fn outcome(&self, draw: &[usize], target: f64) -> Outcome {
        let Some(at) = self.targets.iter().position(|t| *t == target) else { return Outcome::Neither };
        let time = |times: &[Vec<Option<f64>>]| target::median(draw.iter().map(|k| times[*k][at]));
        let whole = |of: fn(&(f64, f64)) -> f64| median(&draw.iter().map(|k| of(&self.ends[*k])).collect::<Vec<_>>());
        match (time(&self.single), time(&self.multi)) {
            (Some(a), Some(b)) => Outcome::Both((a / b).ln()),
            (None, Some(b)) => Outcome::Multi(Some((whole(|e| e.0) / b).ln()).filter(|r| r.is_finite())),
            (Some(a), None) => Outcome::Single(Some((a / whole(|e| e.1)).ln()).filter(|r| r.is_finite())),
            (None, None) => Outcome::Neither,
        }
    }

    /// Mean over targets of ln of the ratio; NaN when no target was reached.
    fn speed(&self, draw: &[usize]) -> f64 {
        let ratios: Vec<f64> = self.targets.iter().filter_map(|t| self.outcome(draw, *t).ratio()).collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    }
}

/// Oracle time over solver time at the last evaluation of every run of every series.
pub(super) fn shares(frames: &crate::study::frame::Frames) -> Result<Vec<Vec<f64>>> {
    let (oracle, time) = (frames.f64s("oracle_time_s")?, frames.f64s("time_s")?);
    let of = |series: usize| -> Vec<f64> {
        let ends = frames.runs_of(series).iter().map(|run| run.rows.end - 1);
        ends.map(|row| oracle[row] / time[row]).filter(|share| share.is_finite()).collect()
    };
    Ok((0..frames.series.len()).map(of).collect())
}
