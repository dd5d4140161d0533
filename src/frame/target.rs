//! Time to a gap: evaluations in; for each gap target the time and iterations each solver needed out.

use serde::Serialize;

use super::Frames;
use crate::error::Result;
use crate::stats;

/// How a series fared with one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// Position in [`Frames::series`].
    pub series: usize,
    /// Repeats that reached it.
    pub reached: usize,
    /// Repeats that ended well.
    pub runs: usize,
    /// Median solver time of the first evaluation at or below the target, a repeat that did not reach it counting as
    /// endless; `None` when the median is endless.
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

/// The targets 1, 0.3, 0.1, … below every run's first gap that at least one series reached in the median.
pub fn time_to_gap(frames: &Frames, dataset: &str) -> Result<Vec<TargetRow>> {
    let (gap, time, iteration) = (frames.f64s("gap")?, frames.f64s("time_s")?, frames.u64s("iteration")?);
    let runs: Vec<(usize, Vec<_>)> = frames
        .series_of(dataset)
        .map(|s| (s, frames.rows(s).into_iter().filter(|rows| !rows.is_empty()).collect()))
        .collect();
    let firsts = runs.iter().flat_map(|(_, rows)| rows).map(|rows| gap[rows.start]);
    let start = firsts.filter(|g| g.is_finite()).fold(f64::INFINITY, f64::min);
    let mut table = Vec::new();
    if !start.is_finite() || start <= 0.0 {
        return Ok(table);
    }
    // Through text, so that 3e-2 is the nearest number to 0.03.
    let candidates = (-12..=8).rev().flat_map(|k| [format!("1e{k}"), format!("3e{}", k - 1)]);
    let candidates = candidates.filter_map(|text| text.parse::<f64>().ok());
    // Below the smallest positive gap only negative ones (inexact oracles) are left: no target says anything there.
    let positive = runs.iter().flat_map(|(_, rows)| rows.iter().cloned().flatten()).map(|row| gap[row]);
    let least = positive.filter(|g| *g > 0.0).fold(f64::INFINITY, f64::min);
    for target in candidates.filter(|t| *t < start && *t >= least) {
        let mut cells = Vec::new();
        for (series, rows) in &runs {
            let hit: Vec<Option<usize>> = rows.iter().map(|rows| rows.clone().find(|r| gap[*r] <= target)).collect();
            let median = |value: &dyn Fn(usize) -> f64| {
                let values: Vec<f64> = hit.iter().map(|row| row.map_or(f64::INFINITY, value)).collect();
                Some(stats::median(&values)).filter(|m| m.is_finite())
            };
            cells.push(Reached {
                series: *series,
                reached: hit.iter().flatten().count(),
                runs: rows.len(),
                time_s: median(&|row| time[row]),
                iterations: median(&|row| iteration[row] as f64),
            });
        }
        if cells.iter().all(|cell| cell.time_s.is_none()) {
            break;
        }
        table.push(TargetRow { target, cells });
    }
    Ok(table)
}
