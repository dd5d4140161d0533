//! Time to a gap: for each gap of a list the time and the iterations that each solver of a data set needed.

use serde::Serialize;

use super::View;
use super::curve::{self, Curve};
use super::paired::{Measure, Target};
use ssvm::stats;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    pub series: usize,
    pub reached: usize,
    pub runs: usize,
    /// Median solver time at which the gap crosses the target; infinite for a repeat that did not reach it, and `None` when the
    /// median is.
    pub time_s: Option<f64>,
    pub iterations: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetRow {
    pub target: f64,
    pub cells: Vec<Reached>,
}

/// The median of what was spent, infinite where a target was not reached; `None` when that is infinite.
pub fn median(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect();
    Some(stats::median(&values)).filter(|median| median.is_finite())
}

/// The targets 1, 0.3, 0.1, … below the first gap of all these curves, down to the least gap of any.
pub fn targets<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<f64> {
    let (mut start, mut least) = (f64::INFINITY, f64::INFINITY);
    for Curve { gap: gaps, .. } in curves {
        start = gaps.first().copied().filter(|gap| gap.is_finite()).map_or(start, |gap| start.min(gap));
        least = gaps.iter().copied().filter(|gap| *gap > 0.0).fold(least, f64::min);
    }
    // Through text, so that 3e-2 is the nearest number to 0.03.
    let candidates = (-12..=8).rev().flat_map(|k| [format!("1e{k}"), format!("3e{}", k - 1)]);
    let candidates = candidates.filter_map(|text| text.parse::<f64>().ok());
    candidates.filter(|target| start.is_finite() && *target < start && *target >= least).collect()
}

/// The targets of a data set that at least one series reached in the median.
pub fn time_to_gap(view: &View, dataset: &str) -> Vec<TargetRow> {
    let series: Vec<usize> = view.series_of(dataset).collect();
    let mut table = Vec::new();
    for target in targets(series.iter().flat_map(|s| view.curves(*s))) {
        let mut cells = Vec::new();
        for series in series.iter().copied() {
            let (mut times, mut iterations) = (Vec::new(), Vec::new());
            for curve in view.curves(series) {
                times.push(curve.reached(Target::Gap(target), Measure::Time));
                // A run that stopped inside an iteration counts with its last complete iteration.
                let spent = curve::spent(curve.evaluated.iter().copied().zip(curve.gap.iter().copied()), target);
                iterations.push(Some(spent.most).filter(|most| most.is_finite()));
            }
            let (reached, runs) = (times.iter().flatten().count(), times.len());
            cells.push(Reached { series, reached, runs, time_s: median(times), iterations: median(iterations) });
        }
        if cells.iter().all(|cell| cell.time_s.is_none()) {
            break;
        }
        table.push(TargetRow { target, cells });
    }
    table
}
