//! The hard gate: a baseline and the runs of a result folder in, one finding per metric out. Exact: the virtual clock
//! leaves no noise to allow for.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::{self, Runs, Values};
use super::{Baseline, Cell, Finding, Judgement, Metric, Quantity};

/// Relative change of an objective value below which iterates count as the same. Counters have no tolerance.
pub const OBJECTIVE_TOLERANCE: f64 = 1e-9;

/// Compares every metric of every cell. What is on one side only fails.
pub fn judge(baseline: &Baseline, cells: &BTreeMap<Cell, Runs<'_>>) -> Vec<Finding> {
    let names: BTreeSet<&Cell> = baseline.cells.keys().chain(cells.keys()).collect();
    let mut findings = Vec::new();
    for cell in names {
        match (baseline.cells.get(cell), cells.get(cell)) {
            (Some(old), Some(runs)) => {
                let new = measure::values(runs, &baseline.targets(cell));
                findings.extend(judge_cell(cell, old, &new, runs));
            }
            (Some(_), None) => findings.push(Finding::bare(
                cell,
                "all metrics",
                Judgement::Missing,
                "in the baseline but not in the results",
            )),
            (None, _) => findings.push(Finding::bare(
                cell,
                "all metrics",
                Judgement::Missing,
                "in the results but not in the baseline",
            )),
        }
    }
    findings
}

fn judge_cell(cell: &Cell, old: &Values, new: &Values, runs: &Runs<'_>) -> Vec<Finding> {
    if old.inputs.len() != new.inputs.len() {
        let note = format!("{} repeats in the baseline, {} in the results", old.inputs.len(), new.inputs.len());
        return vec![Finding::bare(cell, "repeats", Judgement::Missing, note)];
    }
    if old.inputs != new.inputs {
        let note = "made from other data or with other settings than the baseline, so no number can be compared";
        return vec![Finding::bare(cell, "inputs", Judgement::Changed, note)];
    }
    if let Some(failed) = runs.iter().find(|record| !record.status.is_done()) {
        let note = format!("repeat {} failed: {}", failed.repeat, failed.status.reason());
        return vec![Finding::bare(cell, "all metrics", Judgement::Missing, note)];
    }
    let metrics: BTreeSet<&Metric> = old.metrics.keys().chain(new.metrics.keys()).collect();
    metrics.into_iter().map(|metric| judge_metric(cell, *metric, old, new)).collect()
}

/// The worst verdict over the repeats decides, and its numbers are shown.
fn judge_metric(cell: &Cell, metric: Metric, old: &Values, new: &Values) -> Finding {
    let get =
        |values: &Values, repeat: usize| values.metrics.get(&metric).and_then(|v| v.get(repeat).copied().flatten());
    let per_repeat = (0..old.inputs.len()).map(|repeat| {
        let (old, new) = (get(old, repeat), get(new, repeat));
        let judgement = match (old, new) {
            (Some(old), Some(new)) => compare(metric.quantity, old, new),
            _ => Judgement::Missing,
        };
        (judgement, repeat, old, new)
    });
    // The first repeat among the worst.
    let worst = per_repeat.rev().max_by_key(|(judgement, ..)| *judgement);
    let (judgement, repeat, old_value, new_value) = worst.unwrap_or((Judgement::Missing, 0, None, None));
    let found: Vec<f64> = (0..new.inputs.len()).filter_map(|repeat| get(new, repeat)).collect();
    let note = match (judgement, old_value, new_value) {
        (Judgement::Same, ..) => String::new(),
        (Judgement::Missing, Some(_), None) => format!("repeat {repeat} no longer reaches it"),
        (Judgement::Missing, ..) => "not in the baseline".to_owned(),
        (Judgement::Changed, ..) => {
            format!("repeat {repeat}; beyond the tolerance of {OBJECTIVE_TOLERANCE:e}: the iterates are not the same")
        }
        _ => format!("repeat {repeat}"),
    };
    Finding {
        unit: metric.quantity.unit(),
        smaller_is_better: metric.quantity != Quantity::Dual,
        old: old_value,
        new: new_value,
        range: found.iter().copied().map(|v| (v, v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        ..Finding::bare(cell, &metric.to_string(), judgement, note)
    }
}

fn compare(quantity: Quantity, old: f64, new: f64) -> Judgement {
    if quantity.is_objective() {
        let tolerance = OBJECTIVE_TOLERANCE * old.abs().max(new.abs());
        // Written so that a value that is no number is a change.
        return if (new - old).abs() <= tolerance { Judgement::Same } else { Judgement::Changed };
    }
    if new == old {
        Judgement::Same
    } else if new < old {
        Judgement::Better
    } else {
        Judgement::Worse
    }
}
