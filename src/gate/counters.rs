//! The gate of counters: a baseline and the runs of a result folder → one finding per metric. It is exact, because the virtual clock
//! has no noise.

use std::collections::BTreeMap;

use super::measure::{self, CellValues, Runs};
use super::{Baseline, CellKey, Finding, Judgement, Metric, TraceColumn, both};

/// Relative change of an objective value below which iterates count as the same. Counters have no tolerance.
pub const OBJECTIVE_TOLERANCE: f64 = 1e-9;

/// Compares every metric of every cell. A cell or metric on one side only is a failure. `wanted` as in [`measure::targets`].
pub fn judge(baseline: &Baseline, cells: &BTreeMap<CellKey, Runs<'_>>, wanted: &[f64]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cell, old, runs) in both(&baseline.cells, cells) {
        match (old, runs) {
            (Some(old), Some(runs)) => findings.extend(judge_cell(cell, old, runs, wanted)),
            (old, _) => {
                let [here, there] = if old.is_some() { ["baseline", "results"] } else { ["results", "baseline"] };
                let note = format!("in the {here} but not in the {there}");
                findings.push(Finding::bare(cell, "all metrics", Judgement::Missing, note));
            }
        }
    }
    findings
}

fn judge_cell(cell: &CellKey, old: &CellValues, runs: &Runs<'_>, wanted: &[f64]) -> Vec<Finding> {
    let targets = old.targets();
    let new = measure::values(runs, &targets);
    let bare = |metric: &str, judgement, note: String| vec![Finding::bare(cell, metric, judgement, note)];
    if old.inputs.len() != new.inputs.len() {
        let note = format!("{} repeats in the baseline, {} in the results", old.inputs.len(), new.inputs.len());
        return bare("repeats", Judgement::Missing, note);
    }
    if old.inputs != new.inputs {
        let note = "made from other data or with other settings than the baseline, so no number can be compared";
        return bare("inputs", Judgement::Changed, note.to_owned());
    }
    if let Some(failed) = runs.iter().find(|record| !record.status.is_done()) {
        let note = format!("repeat {} failed: {}", failed.repeat, failed.status.reason());
        return bare("all metrics", Judgement::Missing, note);
    }
    let nothing = vec![None; runs.len()];
    let metrics = both(&old.metrics, &new.metrics);
    let mut findings: Vec<Finding> = metrics
        .map(|(metric, old, new)| judge_metric(cell, *metric, old.unwrap_or(&nothing), new.unwrap_or(&nothing)))
        .collect();
    // The same iterates reach the same gaps, so a gap that the baseline lacks was removed from it. Different iterates may reach more.
    let unchanged = findings.iter().all(|finding| finding.judgement == Judgement::Same);
    for gap in measure::targets(runs, wanted, 1.0).into_iter().filter(|gap| !targets.contains(gap)) {
        let (judgement, note) = if unchanged {
            (Judgement::Missing, "not in the baseline, although nothing else has changed")
        } else {
            (Judgement::Better, "reached now, not in the baseline")
        };
        findings.push(Finding::bare(cell, &format!("gap {gap}"), judgement, note.to_owned()));
    }
    findings
}

/// The worst verdict over the repeats decides, and its numbers are shown.
fn judge_metric(cell: &CellKey, metric: Metric, old: &[Option<f64>], new: &[Option<f64>]) -> Finding {
    let per_repeat = old.iter().zip(new).enumerate().map(|(repeat, (old, new))| {
        let judgement = old.zip(*new).map_or(Judgement::Missing, |(old, new)| compare(metric.column, old, new));
        (judgement, repeat, *old, *new)
    });
    // The first repeat among the worst.
    let worst = per_repeat.rev().max_by_key(|(judgement, ..)| *judgement);
    let (judgement, repeat, old_value, new_value) = worst.unwrap_or((Judgement::Missing, 0, None, None));
    let note = match (judgement, old_value, new_value) {
        (Judgement::Same, ..) => String::new(),
        (Judgement::Missing, Some(_), None) => format!("repeat {repeat} no longer reaches it"),
        (Judgement::Missing, ..) => "not in the baseline".to_owned(),
        (Judgement::Changed, ..) => {
            format!("repeat {repeat}; beyond the tolerance of {OBJECTIVE_TOLERANCE:e}: the iterates are not the same")
        }
        _ => format!("repeat {repeat}"),
    };
    let bare = Finding::bare(cell, &metric.to_string(), judgement, note);
    Finding { smaller_is_better: metric.column != TraceColumn::Dual, ..bare }.with_values(
        metric.column.unit(),
        old_value,
        new_value,
        new.iter().copied().flatten(),
    )
}

fn compare(column: TraceColumn, old: f64, new: f64) -> Judgement {
    if TraceColumn::OBJECTIVES.contains(&column) {
        let tolerance = OBJECTIVE_TOLERANCE * old.abs().max(new.abs());
        // Written so that NaN counts as a change.
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
