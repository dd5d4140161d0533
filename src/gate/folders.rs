//! Two result folders in, ratios with intervals out: solver time and oracle calls to each gap, paired by repeat (the same
//! repeat has the same data and the same orders on both sides).
//!
//! Only runs made from the same inputs are compared. Wall time is replaced by the CPU time of the same evaluations: it
//! says how much work was done, whoever else was on the machine. A gap that only one side reaches counts as infinitely
//! slow on the other. The confidence holds for all metrics of a comparison together (Bonferroni): times to nested gaps
//! of one run depend on each other in ways that nobody knows, and this rule asks for nothing to be known.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::{Runs, clear_targets, interpolated, reached, read};
use super::rounds::Design;
use super::{Cell, Error, Finding, Judgement, Metric, Place, Quantity, judge_ratio};
use crate::Result;
use crate::store::identity::Identity;
use crate::store::{Environment, RunRecord};
use crate::study::estimate::Sampling;
use crate::study::paired::{LogMedian, Spent, log_median};
use ssvm::clock::ClockKind;
use ssvm::stats::portable::exp;
use ssvm::stats::{FEWEST_PAIRS, Interval, median};

/// Under a clock with noise a gap is a target when the runs of a side end this much below it: one that is reached in the
/// last moment is missed the next time by chance.
const MARGIN: f64 = 2.0;

/// Two runs of the same repeat.
type Pair<'a> = (&'a RunRecord, &'a RunRecord);

/// What was measured of one metric, before it is judged.
struct Measure<'a> {
    cell: &'a Cell,
    metric: Metric,
    clock: ClockKind,
    /// Old and new cost per repeat that at least one side has; infinite where a side does not get there.
    values: Vec<(f64, f64)>,
    /// Why times cannot be judged, if so.
    hindrance: Option<String>,
}

/// Compares cell by cell. What the second folder lost fails, what it has in addition is named; nothing in common is an
/// error.
pub fn compare(
    old: &BTreeMap<Cell, Runs<'_>>,
    new: &BTreeMap<Cell, Runs<'_>>,
    design: &Design,
) -> Result<Vec<Finding>> {
    if !old.keys().any(|cell| new.contains_key(cell)) {
        return Err(Error::NothingInCommon.into());
    }
    let names: BTreeSet<&Cell> = old.keys().chain(new.keys()).collect();
    let (mut findings, mut measures) = (Vec::new(), Vec::new());
    for cell in names {
        match (old.get(cell), new.get(cell)) {
            (Some(old), Some(new)) => {
                let pairs = pairs(cell, old, new, &mut findings);
                measures.extend(measure_cell(cell, &pairs));
            }
            (Some(_), None) => {
                findings.push(Finding::bare(cell, "all metrics", Judgement::Missing, "only in the first folder"));
            }
            (None, _) => {
                findings.push(Finding::bare(cell, "all metrics", Judgement::NotJudged, "only in the second folder"));
            }
        }
    }
    let family = measures.iter().filter(|measure| measure.is_noisy() && measure.bears_a_verdict()).count().max(1);
    let confidence = 1.0 - (1.0 - design.confidence) / family as f64;
    findings.extend(measures.iter().filter_map(|measure| measure.judge(confidence, design)));
    findings.sort_by(|a, b| a.cell.cmp(&b.cell));
    Ok(findings)
}

/// The runs of a cell that can be compared; what cannot is said.
fn pairs<'a>(cell: &Cell, old: &Runs<'a>, new: &Runs<'a>, findings: &mut Vec<Finding>) -> Vec<Pair<'a>> {
    let mut say = |metric: &str, judgement, note: String| findings.push(Finding::bare(cell, metric, judgement, note));
    let of = |runs: &Runs<'a>, repeat: u64| runs.iter().copied().find(|run| run.repeat == repeat);
    let lacking = |here: &Runs<'a>, there: &Runs<'a>| -> Vec<String> {
        here.iter().filter(|run| of(there, run.repeat).is_none()).map(|run| run.repeat.to_string()).collect()
    };
    let (lost, added) = (lacking(old, new), lacking(new, old));
    if !lost.is_empty() {
        say("repeats", Judgement::Missing, format!("only in the first folder: {}", lost.join(", ")));
    }
    if !added.is_empty() {
        say("repeats", Judgement::NotJudged, format!("only in the second folder: {}", added.join(", ")));
    }
    let both = old.iter().filter_map(|old| Some((*old, of(new, old.repeat)?)));
    let (same, other): (Vec<Pair<'a>>, Vec<Pair<'a>>) =
        both.partition(|(old, new)| old.identity.inputs() == new.identity.inputs());
    if let Some((old, new)) = other.first() {
        let note = format!(
            "{} of {} repeats were made from other inputs, so no number can be compared: {}",
            other.len(),
            other.len() + same.len(),
            differences(&old.identity, &new.identity)
        );
        say("inputs", Judgement::Changed, note);
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (old, new) in same {
        if !old.status.is_done() {
            let note = format!("repeat {} failed in the first folder: {}", old.repeat, old.status.reason());
            say("all metrics", Judgement::NotJudged, note);
        } else if !new.status.is_done() {
            let note = format!("repeat {} failed: {}", new.repeat, new.status.reason());
            say("all metrics", Judgement::Missing, note);
        } else {
            pairs.push((old, new));
        }
    }
    pairs
}

/// In what two runs of one cell and repeat differ besides the code.
fn differences(old: &Identity, new: &Identity) -> String {
    fn json(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap_or_default()
    }
    let facts = |Identity { problem, settings, .. }: &Identity| {
        [
            ("data", problem.checksum.clone()),
            ("λ", problem.lambda.to_string()),
            ("pairwise weight", problem.pairwise_weight.map_or("default".to_owned(), |weight| weight.to_string())),
            ("clock", settings.clock.name().to_owned()),
            ("seed", settings.seed.to_string()),
            ("budget", json(&settings.budget)),
            ("evaluation", json(&settings.evaluate)),
            ("solver", json(&settings.solver)),
        ]
    };
    let short = |what: &str, text: &str| text.chars().take(if what == "data" { 12 } else { usize::MAX }).collect();
    let mut found = Vec::new();
    for ((what, old), (_, new)) in facts(old).into_iter().zip(facts(new)).filter(|(old, new)| old != new) {
        let [old, new]: [String; 2] = [short(what, &old), short(what, &new)];
        found.push(format!("{what} {old} → {new}"));
    }
    if found.is_empty() { "their settings".to_owned() } else { found.join(", ") }
}

/// Every metric of a cell: time and calls to the gaps that a side reaches in all its repeats, and the time of the whole.
fn measure_cell<'a>(cell: &'a Cell, pairs: &[Pair<'_>]) -> Vec<Measure<'a>> {
    let Some(clock) = pairs.first().map(|(old, _)| old.settings().clock) else { return Vec::new() };
    let margin = if clock.repeatable() { 1.0 } else { MARGIN };
    let (old, new): (Vec<&RunRecord>, Vec<&RunRecord>) = pairs.iter().copied().unzip();
    let mut gaps = [clear_targets(&old, &[], margin), clear_targets(&new, &[], margin)].concat();
    gaps.sort_by(|a, b| b.total_cmp(a));
    gaps.dedup();
    let time = if clock == ClockKind::WALL { Quantity::CpuS } else { Quantity::TimeS };
    let places = gaps.into_iter().flat_map(|gap| [time, Quantity::OracleCalls].map(|what| (Place::Gap(gap), what)));
    let hindrance = hindrance(pairs);
    // A run that a time limit ends takes as long as the limit says: its end is no measurement.
    let by_time = pairs.iter().any(|(old, _)| old.settings().budget.time_s.is_some());
    let end = (!by_time).then_some((Place::End, time));
    places
        .chain(end)
        .map(|(place, quantity)| {
            let metric = Metric { place, quantity };
            let values = pairs.iter().map(|(old, new)| (value(old, metric, clock), value(new, metric, clock)));
            let values = values.filter(|(old, new)| (old.is_finite() || new.is_finite()) && *old > 0.0 && *new > 0.0);
            let hindrance = hindrance.clone().filter(|_| quantity != Quantity::OracleCalls && !clock.repeatable());
            Measure { cell, metric, clock, values: values.collect(), hindrance }
        })
        .collect()
}

/// Why the times of these runs say nothing about the code, if so.
fn hindrance(pairs: &[Pair<'_>]) -> Option<String> {
    let runs = || pairs.iter().flat_map(|(old, new)| [old, new]).map(|run| &run.environment);
    let kinds: BTreeSet<&str> =
        runs().map(|c| if c.host_class.is_empty() { c.host.as_str() } else { c.host_class.as_str() }).collect();
    if kinds.len() > 1 {
        let kinds: Vec<&str> = kinds.into_iter().collect();
        return Some(format!(
            "timed on different kinds of machines ({}), so only counters are compared; run both on one of them",
            kinds.join("; ")
        ));
    }
    let different = |what: &str, count: fn(&Environment) -> u64, flag: &str| {
        let counts: BTreeSet<u64> = runs().map(count).collect();
        let list = || counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        (counts.len() > 1).then(|| format!("timed {what} ({}); run both with the same {flag}", list()))
    };
    different("beside different numbers of workers", |run| run.jobs, "--jobs")
        .or_else(|| different("with different numbers of threads", |run| run.threads, "`threads`"))
}

/// The cost of a run; infinite when it does not reach the gap: both sides had the same budget. Under a clock with noise it is
/// read where the curve crosses the gap, so that one evaluation more or less is no jump.
fn value(record: &RunRecord, metric: Metric, clock: ClockKind) -> f64 {
    let cost = match metric.place {
        Place::Gap(gap) if clock.repeatable() => reached(record, gap).map(|point| read(point, metric.quantity)),
        Place::Gap(gap) => interpolated(record, gap, metric.quantity),
        Place::End => record.points().last().map(|point| read(point, metric.quantity)),
    };
    cost.unwrap_or(f64::INFINITY)
}

impl Measure<'_> {
    fn is_noisy(&self) -> bool {
        !self.clock.repeatable()
    }

    fn lost(&self) -> usize {
        self.values.iter().filter(|(_, new)| new.is_infinite()).count()
    }

    /// Enough pairs; without noise one is enough, and what no repeat reaches any more needs no statistics.
    fn bears_a_verdict(&self) -> bool {
        let pairs = self.values.len();
        self.hindrance.is_none() && (!self.is_noisy() || pairs >= FEWEST_PAIRS || pairs > 0 && self.lost() == pairs)
    }

    fn judge(&self, confidence: f64, design: &Design) -> Option<Finding> {
        let (pairs, lost) = (self.values.len(), self.lost());
        let logs = self.values.iter().map(|(old, new)| Spent::exactly(*new).log_over(Spent::exactly(*old)));
        let sampling = Sampling { draws: 4000, seed: design.seed, confidence, fewest: 1 };
        let LogMedian { least, low, high, .. } = log_median(&[logs.collect()], &sampling);
        let interval = Interval { median: exp(least), low: exp(low?), high: exp(high?) };
        let gained = self.values.iter().filter(|(old, _)| old.is_infinite()).count();
        let mut notes = Vec::new();
        if lost > 0 {
            notes.push(format!("{lost} of {pairs} repeats do not get there any more"));
        }
        if gained > 0 {
            notes.push(format!("{gained} of {pairs} repeats did not get there before"));
        }
        let judgement = if !self.is_noisy() && lost > 0 {
            Judgement::Missing
        } else if self.bears_a_verdict() {
            match judge_ratio(&interval, design.threshold) {
                Judgement::Worse if lost > 0 => Judgement::Missing,
                judgement => judgement,
            }
        } else {
            notes.push(match &self.hindrance {
                Some(hindrance) => hindrance.clone(),
                None => format!("{pairs} repeats; judged from {FEWEST_PAIRS} on"),
            });
            Judgement::NotJudged
        };
        let (old, new): (Vec<f64>, Vec<f64>) = self.values.iter().copied().unzip();
        let typical = |values: &[f64]| Some(median(values)).filter(|value| value.is_finite());
        let there = new.iter().copied().filter(|value| value.is_finite());
        Some(Finding {
            unit: self.metric.quantity.unit(),
            old: typical(&old),
            new: typical(&new),
            range: there.map(|v| (v, v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
            ratio: Some(interval).filter(|interval| interval.high.is_finite() && interval.low > 0.0),
            ..Finding::bare(self.cell, &self.metric.to_string(), judgement, notes.join("; "))
        })
    }
}
