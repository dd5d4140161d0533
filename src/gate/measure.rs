//! Records of a result folder → the metrics of every cell.

use std::collections::BTreeMap;

use super::{Cell, Error, Metric, Place, Quantity};
use crate::Result;
use crate::store::RunRecord;
use crate::study::curve::crossing;
use ssvm::drive::TracePoint;

/// Most gap targets per cell when the config names none: the tightest ones.
const MOST_TARGETS: usize = 4;

/// The runs of one cell, by repeat.
pub type Runs<'a> = Vec<&'a RunRecord>;

/// The metrics of one cell; one value per repeat, `None` where the run did not get there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Per repeat, a hash of the data and the settings of the run.
    pub inputs: Vec<String>,
    /// The metrics.
    pub metrics: BTreeMap<Metric, Vec<Option<f64>>>,
}

/// Runs by cell. Refuses runs whose numbers are not repeatable and runs that cannot be told apart.
pub fn cells<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Result<BTreeMap<Cell, Runs<'r>>> {
    let records: Vec<&RunRecord> = records.into_iter().collect();
    for record in &records {
        if !record.settings().clock.repeatable() {
            return Err(Error::Noisy { run: record.label(), clock: record.settings().clock.name() }.into());
        }
    }
    by_cell(records)
}

/// Runs by data set and setting of a solver, in the order of repeats, whatever their clock; refuses runs that cannot be told apart.
pub fn by_cell<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Result<BTreeMap<Cell, Runs<'r>>> {
    let mut cells: BTreeMap<Cell, Runs<'_>> = BTreeMap::new();
    for record in records {
        let cell = Cell { dataset: record.dataset().to_owned(), solver: record.settings().cell() };
        cells.entry(cell).or_default().push(record);
    }
    for (cell, runs) in &mut cells {
        runs.sort_by_key(|record| record.repeat);
        if let Some(pair) = runs.windows(2).find(|pair| pair[0].repeat == pair[1].repeat) {
            return Err(Error::Twice { cell: cell.clone(), repeat: pair[0].repeat }.into());
        }
    }
    Ok(cells)
}

/// The first evaluation at or below a gap.
pub fn reached(record: &RunRecord, gap: f64) -> Option<&TracePoint> {
    record.points().iter().find(|point| point.gap <= gap)
}

/// What a run has spent where its gap crosses this one, or at its first evaluation when that is already there. `None` when it
/// does not reach it.
pub fn interpolated(record: &RunRecord, gap: f64, quantity: Quantity) -> Option<f64> {
    crossing(record.points().iter().map(|point| (read(point, quantity), point.gap)), gap)
}

/// The gaps to measure a cell at: those of `wanted` (the config's `gap_targets`) that every repeat reaches; when none are
/// wanted, the tightest decades and half decades (1, 0.3, 0.1, …). Evaluations with a negative gap (inexact oracles) say
/// nothing about how far a run got.
pub fn targets(runs: &[&RunRecord], wanted: &[f64]) -> Vec<f64> {
    clear_targets(runs, wanted, 1.0)
}

/// [`targets`] that every repeat ends below by this factor.
pub fn clear_targets(runs: &[&RunRecord], wanted: &[f64], margin: f64) -> Vec<f64> {
    let tightest = |record: &&RunRecord| {
        record.points().iter().map(|point| point.gap).filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min)
    };
    let floor = runs.iter().map(tightest).fold(0.0, f64::max);
    let widest = runs.iter().filter_map(|record| record.points().first()).map(|point| point.gap).fold(0.0, f64::max);
    let decades = (-15..6).flat_map(|e| ["1", "3"].map(|m| format!("{m}e{e}").parse().unwrap_or(f64::NAN)));
    let mut targets: Vec<f64> = if wanted.is_empty() { decades.collect() } else { wanted.to_vec() };
    targets.retain(|gap| *gap >= margin * floor && *gap < widest);
    targets.sort_by(f64::total_cmp);
    targets.truncate(if wanted.is_empty() { MOST_TARGETS } else { targets.len() });
    targets.reverse();
    targets
}

/// The metrics of a cell at these gap targets.
pub fn values(runs: &[&RunRecord], targets: &[f64]) -> Values {
    let mut metrics = BTreeMap::new();
    let has_dual = |record: &&RunRecord| record.points().iter().all(TracePoint::has_dual);
    let at = |place: Place| {
        runs.iter().map(move |record| match place {
            _ if !record.status.is_done() => None,
            Place::Gap(gap) => reached(record, gap),
            Place::End => record.points().last(),
        })
    };
    for place in targets.iter().map(|gap| Place::Gap(*gap)).chain([Place::End]) {
        let quantities: &[Quantity] = if place == Place::End { &Quantity::OBJECTIVES } else { &Quantity::COSTS };
        let measured = |quantity: &&Quantity| **quantity != Quantity::Dual || runs.iter().all(has_dual);
        for &quantity in quantities.iter().filter(measured) {
            let values = at(place).map(|point| point.map(|point| read(point, quantity))).collect();
            metrics.insert(Metric { place, quantity }, values);
        }
    }
    Values { inputs: runs.iter().map(|record| record.identity.inputs()).collect(), metrics }
}

/// One quantity of an evaluation.
pub fn read(point: &TracePoint, quantity: Quantity) -> f64 {
    match quantity {
        Quantity::OracleCalls => point.oracle_calls as f64,
        Quantity::ApproxSteps => point.approx_steps as f64,
        Quantity::ApproxPasses => point.approx_passes as f64,
        Quantity::PlanesMean => point.planes_mean,
        Quantity::TimeS => point.time_s,
        Quantity::CpuS => point.cpu_s,
        Quantity::Primal => point.primal,
        Quantity::Dual => point.dual,
    }
}

/// The versions of the code that made these runs, each once.
pub fn code_versions(records: &[RunRecord]) -> Vec<&str> {
    let mut versions: Vec<&str> = records.iter().map(|record| record.identity.code_version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}
