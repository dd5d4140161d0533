//! Records of a result folder → the metrics of every cell.

use std::collections::BTreeMap;

use super::{CellKey, Error, Metric, TraceColumn};
use crate::Result;
use crate::store::RunRecord;
use ssvm::drive::TracePoint;

/// Most gap targets per cell when the config names none: the tightest ones.
const MOST_TARGETS: usize = 4;

/// The runs of one cell, by repeat.
pub type Runs<'a> = Vec<&'a RunRecord>;

/// The metrics of one cell; one value per repeat, `None` where the run did not reach the gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellValues {
    /// Per repeat, a hash of the data and the settings of the run.
    pub inputs: Vec<String>,
    /// The code of a cell that a baseline accepted from other code than the rest of it.
    pub made_by: Option<String>,
    pub metrics: BTreeMap<Metric, Vec<Option<f64>>>,
}

/// [`by_cell`] of runs whose numbers are repeatable; others are refused.
pub fn cells<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Result<BTreeMap<CellKey, Runs<'r>>> {
    let records: Vec<&RunRecord> = records.into_iter().collect();
    if let Some(noisy) = records.iter().find(|record| !record.settings().clock.repeatable()) {
        return Err(Error::Noisy { run: noisy.label(), clock: noisy.settings().clock.name() }.into());
    }
    by_cell(records)
}

/// Runs by data set and setting of a solver, in the order of repeats; refuses runs that nothing distinguishes.
pub fn by_cell<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Result<BTreeMap<CellKey, Runs<'r>>> {
    let mut cells: BTreeMap<CellKey, Runs<'_>> = BTreeMap::new();
    for record in records {
        cells.entry(record.cell()).or_default().push(record);
    }
    for (cell, runs) in &mut cells {
        runs.sort_by_key(|record| record.repeat);
        if let Some(pair) = runs.windows(2).find(|pair| pair[0].repeat == pair[1].repeat) {
            return Err(Error::Twice { cell: cell.clone(), repeat: pair[0].repeat }.into());
        }
    }
    Ok(cells)
}

/// The gaps to measure a cell at: those of `wanted` (the config's `gap_targets`) that every repeat ends below by the factor
/// `margin`; when none are wanted, the tightest decades and half decades (1, 0.3, 0.1, …). Evaluations with a negative gap
/// (inexact oracles) do not show how far a run has converged.
pub fn targets(runs: &[&RunRecord], wanted: &[f64], margin: f64) -> Vec<f64> {
    let (mut tightest, mut widest) = (0.0_f64, 0.0_f64);
    for run in runs {
        let gaps = run.points().iter().map(|point| point.gap);
        tightest = tightest.max(gaps.clone().filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min));
        widest = gaps.take(1).fold(widest, f64::max);
    }
    let decades = (-15..6).flat_map(|e| ["1", "3"].map(|m| format!("{m}e{e}").parse().unwrap_or(f64::NAN)));
    let mut targets: Vec<f64> = if wanted.is_empty() { decades.collect() } else { wanted.to_vec() };
    targets.retain(|gap| *gap >= margin * tightest && *gap < widest);
    targets.sort_by(f64::total_cmp);
    targets.truncate(if wanted.is_empty() { MOST_TARGETS } else { targets.len() });
    targets.reverse();
    targets
}

/// The metrics of a cell: costs at these gap targets and at the end, where a solver that reaches no gap has them too, and
/// objective values at the end.
pub fn values(runs: &[&RunRecord], targets: &[f64]) -> CellValues {
    let places = targets.iter().map(|gap| Some(*gap)).chain([None]);
    let costs = places.flat_map(|gap| TraceColumn::COSTS.map(|column| Metric { gap, column }));
    let has_dual = runs.iter().all(|run| run.points().iter().all(TracePoint::has_dual));
    let objectives = TraceColumn::OBJECTIVES.into_iter().filter(|column| has_dual || *column != TraceColumn::Dual);
    let objectives = objectives.map(|column| Metric { gap: None, column });
    let read = |metric: Metric| runs.iter().map(|run| metric.read(run).filter(|_| run.status.is_done())).collect();
    CellValues {
        inputs: runs.iter().map(|run| run.identity.inputs()).collect(),
        made_by: None,
        metrics: costs.chain(objectives).map(|metric| (metric, read(metric))).collect(),
    }
}

impl CellValues {
    /// The gap targets, widest first.
    pub fn targets(&self) -> Vec<f64> {
        let mut gaps: Vec<f64> = self.metrics.keys().filter_map(|metric| metric.gap).collect();
        gaps.dedup();
        gaps
    }
}
