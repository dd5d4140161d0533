//! Two result folders in, ratios with intervals out: solver time and oracle calls to each gap, paired by repeat (the same
//! repeat has the same data, seed and orders on both sides, and is refused otherwise).
//!
//! Only runs made from the same inputs are compared. Wall time is replaced by the CPU time of the same evaluations, which measures the
//! work whatever else runs on the machine. A run that did not reach a gap spent at least what it had spent at its end, as everywhere,
//! see [`crate::study::paired`]. The confidence holds for all metrics together that need statistics: those with noise, with a ratio,
//! and with values that differ in at least one pair.
//!
//! Nothing is decided about times of a busy machine, nor with fewer repeats than the confidence needs: folders are made one after
//! the other, so a change of the machine between them looks like a change of the code.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::{Runs, targets};
use super::rounds::Design;
use super::{CellKey, Error, Finding, Judgement, Metric, TraceColumn, both, judge_ratio};
use crate::Result;
use crate::store::identity::Identity;
use crate::store::{Environment, RunRecord};
use crate::study::busy::Disturbed;
use crate::study::claims::thresholds::Bars;
use crate::study::curve;
use crate::study::estimate::Sampling;
use crate::study::paired::{Paired, Spent, pairs_needed, simultaneous};
use crate::text::percent;
use ssvm::clock::ClockKind;
use ssvm::drive::TracePoint;
use ssvm::stats::{FEWEST_PAIRS, median};

/// On a clock with noise, a gap is a target if the runs of a side end this much below it, because a gap that is reached only just
/// before the end may be missed the next time by chance.
const MARGIN: f64 = 2.0;

/// The remark of every comparison of times.
pub const DRIFT: &str = "folders made one after the other also differ in time by what the machine did between them (drift); builds \
    in turns (--against) do not";

/// Two runs of the same repeat.
type RunPair<'a> = (&'a RunRecord, &'a RunRecord);

/// The measurements of one metric, before it is judged.
struct CellMetric<'a> {
    cell: &'a CellKey,
    metric: Metric,
    noisy: bool,
    /// What the old and the new run spent, per repeat in which at least one of them reaches the gap.
    spent: Vec<(Spent, Spent)>,
    /// The reason if times cannot be judged.
    hindrance: Option<Obstacle>,
}

/// Why a metric has no verdict.
#[derive(Clone)]
struct Obstacle {
    /// Not judged, or undecided where another measurement would decide.
    judgement: Judgement,
    reason: String,
}

impl Obstacle {
    fn not_judged(reason: String) -> Self {
        Self { judgement: Judgement::NotJudged, reason }
    }
}

/// The verdicts of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub findings: Vec<Finding>,
    /// The reason if its confidence is lower than requested, with the number of repeats that would be needed.
    pub remark: Option<String>,
    /// Times that could not be judged: too few repeats, a busy machine, or two host classes.
    pub unjudged_times: usize,
}

/// Compares cell by cell. What the second folder lost fails, what it has in addition is named; nothing in common is an
/// error.
pub fn compare(
    old: &BTreeMap<CellKey, Runs<'_>>,
    new: &BTreeMap<CellKey, Runs<'_>>,
    design: &Design,
) -> Result<Comparison> {
    if !old.keys().any(|cell| new.contains_key(cell)) {
        return Err(Error::NothingInCommon.into());
    }
    let (mut findings, mut measures) = (Vec::new(), Vec::new());
    for (cell, old, new) in both(old, new) {
        let (judgement, note) = match (old, new) {
            (Some(old), Some(new)) => {
                measures.extend(measure_cell(cell, &pairs(cell, old, new, &mut findings)));
                continue;
            }
            (Some(_), None) => (Judgement::Missing, "only in the first folder"),
            (None, _) => (Judgement::NotJudged, "only in the second folder"),
        };
        findings.push(Finding::bare(cell, "all metrics", judgement, note));
    }
    let needs_statistics = |m: &&CellMetric<'_>| m.noisy && !m.is_equal() && m.obstacle().is_none();
    let family: Vec<&CellMetric<'_>> = measures.iter().filter(needs_statistics).collect();
    // Bonferroni: max-t, as in the league, found 10 % more time in 29 of 40 trials with six repeats, this rule in 38 or more.
    let confidence = 1.0 - (1.0 - design.confidence) / family.len().max(1) as f64;
    let sampling = Sampling { draws: 4000, seed: design.seed, confidence, fewest: 1 };
    let needed = pairs_needed(family.len(), design.confidence);
    let mut unjudged_times = 0;
    for measure in &measures {
        let Some(ratio) = simultaneous(&[vec![measure.logs()]], &sampling).remove(0) else { continue };
        let obstacle = measure.obstacle().or_else(|| measure.want_of_repeats(&ratio, design, needed));
        let is_time = measure.metric.column != TraceColumn::OracleCalls;
        unjudged_times += usize::from(is_time && measure.noisy && obstacle.is_some() && !measure.is_equal());
        findings.push(measure.judge(ratio, obstacle, design));
    }
    findings.sort_by(|a, b| a.cell.cmp(&b.cell));
    Ok(Comparison { findings, remark: remark(&family, design.confidence, needed), unjudged_times })
}

fn remark(family: &[&CellMetric<'_>], confidence: f64, needed: usize) -> Option<String> {
    let repeats = family.iter().map(|measure| measure.spent.len()).min()?;
    (repeats < needed).then(|| {
        let (metrics, plural) = (family.len(), if family.len() == 1 { "" } else { "s" });
        let confidence = percent(confidence).replace(".0 %", " %");
        format!(
            "{repeats} repeats cannot support a confidence of {confidence} over {metrics} metric{plural}; {needed} are needed"
        )
    })
}

/// The runs of a cell that can be compared, and a finding about each that cannot.
fn pairs<'a>(cell: &CellKey, old: &Runs<'a>, new: &Runs<'a>, findings: &mut Vec<Finding>) -> Vec<RunPair<'a>> {
    let mut say = |metric: &str, judgement, note: String| findings.push(Finding::bare(cell, metric, judgement, note));
    let by_repeat = |runs: &Runs<'a>| runs.iter().map(|run| (run.repeat, *run)).collect::<BTreeMap<_, _>>();
    let (old, new) = (by_repeat(old), by_repeat(new));
    let (mut lost, mut added, mut same, mut other) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (repeat, old, new) in both(&old, &new) {
        match (old, new) {
            (Some(old), Some(new)) if old.identity.inputs() == new.identity.inputs() => same.push((*old, *new)),
            (Some(old), Some(new)) => other.push((*old, *new)),
            (Some(_), None) => lost.push(repeat.to_string()),
            (None, _) => added.push(repeat.to_string()),
        }
    }
    if !lost.is_empty() {
        say("repeats", Judgement::Missing, format!("only in the first folder: {}", lost.join(", ")));
    }
    if !added.is_empty() {
        say("repeats", Judgement::NotJudged, format!("only in the second folder: {}", added.join(", ")));
    }
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
    same.retain(|(old, new)| {
        if !old.status.is_done() {
            let note = format!("repeat {} failed in the first folder: {}", old.repeat, old.status.reason());
            say("all metrics", Judgement::NotJudged, note);
        } else if !new.status.is_done() {
            let note = format!("repeat {} failed: {}", new.repeat, new.status.reason());
            say("all metrics", Judgement::Missing, note);
        }
        old.status.is_done() && new.status.is_done()
    });
    same
}

/// The inputs in which two runs of one cell and repeat differ, besides the code.
fn differences(old: &Identity, new: &Identity) -> String {
    fn json(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap_or_default()
    }
    let facts = |Identity { problem, settings, cost_model, .. }: &Identity| {
        [
            ("cost model of the virtual clock", cost_model.map_or("none".to_owned(), |model| model.to_string())),
            ("data", problem.checksum.chars().take(12).collect()),
            ("λ", problem.lambda.to_string()),
            ("pairwise weight", problem.pairwise_weight.map_or("default".to_owned(), |weight| weight.to_string())),
            ("clock", settings.clock.name().to_owned()),
            ("seed", settings.seed.to_string()),
            ("budget", json(&settings.budget)),
            ("evaluation", json(&settings.evaluate)),
            ("solver", json(&settings.solver)),
        ]
    };
    let both = facts(old).into_iter().zip(facts(new));
    let found: Vec<String> = both
        .filter(|((_, old), (_, new))| old != new)
        .map(|((what, old), (_, new))| format!("{what} {old} → {new}"))
        .collect();
    if found.is_empty() { "their settings".to_owned() } else { found.join(", ") }
}

/// Every metric of a cell: time and calls to the gaps that a side reaches in all its repeats, and the time of the whole.
fn measure_cell<'a>(cell: &'a CellKey, pairs: &[RunPair<'_>]) -> Vec<CellMetric<'a>> {
    let Some((first, _)) = pairs.first() else { return Vec::new() };
    let noisy = !first.settings().clock.repeatable();
    let time = if first.settings().clock == ClockKind::WALL { TraceColumn::CpuS } else { TraceColumn::TimeS };
    let margin = if noisy { MARGIN } else { 1.0 };
    let (old, new): (Vec<&RunRecord>, Vec<&RunRecord>) = pairs.iter().copied().unzip();
    let mut gaps = [targets(&old, &[], margin), targets(&new, &[], margin)].concat();
    gaps.sort_by(|a, b| b.total_cmp(a));
    gaps.dedup();
    let mut metrics = Vec::new();
    for gap in gaps {
        metrics.extend([time, TraceColumn::OracleCalls].map(|column| Metric { gap: Some(gap), column }));
    }
    // A run that ends at a time limit takes exactly that time, so the time at its end is not a measurement.
    if old.iter().all(|old| old.settings().budget.time_s.is_none()) {
        metrics.push(Metric { gap: None, column: time });
    }
    let hindrance = if noisy { hindrance(pairs) } else { None };
    let measure = |metric: Metric| {
        let spent = pairs.iter().map(|(old, new)| (spent(old, metric), spent(new, metric)));
        let is_known =
            |one: &(Spent, Spent)| one.0.most.min(one.1.most).is_finite() && one.0.most > 0.0 && one.1.most > 0.0;
        let hindrance = hindrance.clone().filter(|_| metric.column != TraceColumn::OracleCalls);
        CellMetric { cell, metric, noisy, spent: spent.filter(is_known).collect(), hindrance }
    };
    metrics.into_iter().map(measure).filter(|measure| !measure.spent.is_empty()).collect()
}

/// What a run spent until a gap, or until its end. On a clock with noise it is read where the curve crosses the gap, so that one
/// evaluation more or less does not make it jump; otherwise at the evaluation itself, which is exact.
fn spent(run: &RunRecord, metric: Metric) -> Spent {
    let value = |point: &TracePoint| metric.column.read(point);
    match (metric.gap, metric.read(run)) {
        (Some(gap), _) if !run.settings().clock.repeatable() => {
            curve::spent(run.points().iter().map(|point| (value(point), point.gap)), gap)
        }
        (_, Some(spent)) => Spent::exactly(spent),
        (_, None) => Spent { least: run.points().last().map_or(0.0, value), most: f64::INFINITY },
    }
}

/// The reason if the times of these runs cannot be compared.
fn hindrance(pairs: &[RunPair<'_>]) -> Option<Obstacle> {
    unlike_machines(pairs).map(Obstacle::not_judged).or_else(|| {
        let (old, new): (Vec<&RunRecord>, Vec<&RunRecord>) = pairs.iter().copied().unzip();
        let reason = [("first", old), ("second", new)].into_iter().find_map(|(side, runs)| busy(side, &runs))?;
        Some(Obstacle { judgement: Judgement::Undecided, reason })
    })
}

/// Whether a side was timed while the machine was busy, by the rule of the claims.
fn busy(side: &str, runs: &[&RunRecord]) -> Option<String> {
    let (bars, disturbed) = (&Bars::default(), Disturbed::of(runs.iter().copied(), &Bars::default()));
    disturbed.is_busy(bars).then(|| disturbed.text(&format!("of the {side} folder"), bars))
}

fn unlike_machines(pairs: &[RunPair<'_>]) -> Option<String> {
    let different = |fact: fn(&Environment) -> String, separator: &str| {
        let runs = pairs.iter().flat_map(|(old, new)| [old, new]);
        let values: BTreeSet<String> = runs.map(|run| fact(&run.environment)).collect();
        (values.len() > 1).then(|| values.into_iter().collect::<Vec<_>>().join(separator))
    };
    if let Some(kinds) = different(|run| run.host_kind().to_owned(), "; ") {
        return Some(format!(
            "timed on different host classes ({kinds}), so only counters are compared; run both on one machine"
        ));
    }
    if let Some(jobs) = different(|run| run.jobs.to_string(), ", ") {
        return Some(format!("timed beside different numbers of workers ({jobs}); run both with the same --jobs"));
    }
    let threads = different(|run| run.threads.to_string(), ", ")?;
    Some(format!("timed with different numbers of threads ({threads}); run both with the same `threads`"))
}

impl CellMetric<'_> {
    fn lost(&self) -> usize {
        self.spent.iter().filter(|(_, new)| new.most.is_infinite()).count()
    }

    /// New over old.
    fn logs(&self) -> Vec<(f64, f64)> {
        self.spent.iter().map(|(old, new)| new.log_over(*old)).collect()
    }

    /// Equal in every pair, bounds included: the same whatever the confidence is.
    fn is_equal(&self) -> bool {
        self.spent.iter().all(|(old, new)| old == new)
    }

    /// The reason if there is no verdict. Without noise one pair is enough, and a gap that no repeat reaches any more needs no
    /// statistics.
    fn obstacle(&self) -> Option<Obstacle> {
        let (pairs, lost) = (self.spent.len(), self.lost());
        let (low, high): (Vec<f64>, Vec<f64>) = self.logs().into_iter().unzip();
        if lost == 0 && ![low, high].iter().any(|bounds| median(bounds).is_finite()) {
            let reason = "most repeats reach it at the first evaluation, so no ratio is known";
            return Some(Obstacle::not_judged(reason.to_owned()));
        }
        let few = self.noisy && pairs < FEWEST_PAIRS && lost < pairs;
        let few = few.then(|| Obstacle::not_judged(format!("{pairs} repeats of at least {FEWEST_PAIRS}")));
        self.hindrance.clone().or(few)
    }

    /// A verdict that the number of repeats cannot support: with five of them and 24 metrics, all pairs of one of these lie on one
    /// side by chance in every other comparison, and that they lie close together means as little.
    fn want_of_repeats(&self, ratio: &Paired, design: &Design, needed: usize) -> Option<Obstacle> {
        let pairs = self.spent.len();
        let decided = judge_ratio(ratio, design.threshold) != Judgement::Undecided;
        (self.noisy && decided && pairs < needed && self.lost() < pairs).then(|| Obstacle {
            judgement: Judgement::Undecided,
            reason: format!("{pairs} repeats are too few for the confidence; {needed} are needed"),
        })
    }

    fn judge(&self, ratio: Paired, obstacle: Option<Obstacle>, design: &Design) -> Finding {
        let (pairs, lost) = (self.spent.len(), self.lost());
        let gained = self.spent.iter().filter(|(old, _)| old.most.is_infinite()).count();
        let mut notes = Vec::new();
        if lost > 0 {
            notes.push(format!("{lost} of {pairs} repeats no longer reach it"));
        }
        if gained > 0 {
            notes.push(format!("{gained} of {pairs} repeats did not reach it before"));
        }
        let judgement = if self.is_equal() {
            Judgement::Same
        } else if let Some(Obstacle { judgement, reason }) = obstacle {
            notes.push(reason);
            judgement
        } else if lost > 0 && (!self.noisy || lost == pairs) {
            Judgement::Missing
        } else {
            match judge_ratio(&ratio, design.threshold) {
                Judgement::Worse if lost > 0 => Judgement::Missing,
                judgement => judgement,
            }
        };
        let bare = Finding::bare(self.cell, &self.metric.to_string(), judgement, notes.join("; "));
        if ratio.least.or(ratio.most).is_none() {
            // Bounds of what was spent cannot be shown as a change of values.
            return bare;
        }
        let (old, new): (Vec<f64>, Vec<f64>) = self.spent.iter().map(|(old, new)| (old.most, new.most)).unzip();
        let typical = |values: &[f64]| Some(median(values)).filter(|value| value.is_finite());
        let found = new.iter().copied().filter(|value| value.is_finite());
        let ratio = (!self.is_equal()).then_some(ratio);
        Finding { ratio, ..bare }.with_values(self.metric.column.unit(), typical(&old), typical(&new), found)
    }
}
