//! Time to a gap: curves in; for each gap target the time and iterations each solver needed out.

use serde::Serialize;

use super::Frames;
use super::curve::{self, Curve};
use crate::error::Result;
use ssvm::stats;

/// How a series fared with one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// Position in [`Frames::series`].
    pub series: usize,
    /// Repeats that reached it.
    pub reached: usize,
    /// Repeats with evaluations.
    pub runs: usize,
    /// Median solver time at which the gap crosses the target, interpolated between evaluations; a repeat that did not
    /// reach it counts as endless. `None` when the median is endless.
    pub time_s: Option<f64>,
    /// The same in iterations.
    pub iterations: Option<f64>,
}

/// One gap target of a data set with every series of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetRow {
    /// The gap.
    pub target: f64,
    /// In the order of [`Frames::series`].
    pub cells: Vec<Reached>,
}

/// The median of what was reached, endless where it was not; `None` when that is endless.
pub fn median(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect();
    Some(stats::median(&values)).filter(|median| median.is_finite())
}

/// The targets 1, 0.3, 0.1, … below the first gap of all these curves, down to the least gap of any.
pub fn targets<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<f64> {
    let (mut start, mut least) = (f64::INFINITY, f64::INFINITY);
    for curve in curves {
        let first = curve.gap.first().copied().filter(|gap| gap.is_finite());
        start = first.map_or(start, |gap| start.min(gap));
        least = curve.gap.iter().copied().filter(|gap| *gap > 0.0).fold(least, f64::min);
    }
    // Through text, so that 3e-2 is the nearest number to 0.03.
    let candidates = (-12..=8).rev().flat_map(|k| [format!("1e{k}"), format!("3e{}", k - 1)]);
    let candidates = candidates.filter_map(|text| text.parse::<f64>().ok());
    candidates.filter(|target| start.is_finite() && *target < start && *target >= least).collect()
}

/// The targets of a data set that at least one series reached in the median.
pub fn time_to_gap(frames: &Frames, dataset: &str) -> Result<Vec<TargetRow>> {
    let curves = curve::curves(frames)?;
    let series: Vec<usize> = frames.series_of(dataset).collect();
    let mut table = Vec::new();
    for target in targets(series.iter().flat_map(|s| &curves[*s])) {
        let cell = |series: usize| {
            let hit: Vec<Option<(f64, f64)>> = curves[series].iter().map(|curve| curve.reached(target)).collect();
            Reached {
                series,
                reached: hit.iter().flatten().count(),
                runs: hit.len(),
                time_s: median(hit.iter().map(|hit| hit.map(|(time, _)| time))),
                iterations: median(hit.iter().map(|hit| hit.map(|(_, iterations)| iterations))),
            }
        };
        let cells: Vec<Reached> = series.iter().map(|s| cell(*s)).collect();
        if cells.iter().all(|cell| cell.time_s.is_none()) {
            break;
        }
        table.push(TargetRow { target, cells });
    }
    Ok(table)
}
