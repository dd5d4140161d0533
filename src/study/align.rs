//! Aligns repeats on a common grid, the one step without a Polars expression: ascending positions of a run → its value at a position.
//!
//! Between two evaluations a run is interpolated linearly in log-log. It is never extrapolated past its last evaluation, except that
//! a run that reached its gap keeps its last value.

use crate::store::Status;
use ssvm::drive::StopReason;
use ssvm::stats::portable::{exp, ln, powf};

/// How a run ended, as far as its curve is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It used up its budget: nothing is known past its last evaluation.
    Budget,
    /// It reached its gap: it stays at its last value.
    Gap,
    /// It timed out: its evaluations count as far as they go.
    TimedOut,
    /// It failed: its evaluations count as far as they go, but not as bounds.
    Failed,
}

impl From<&Status> for End {
    fn from(status: &Status) -> Self {
        match status {
            Status::Done(StopReason::Gap) => Self::Gap,
            Status::Done(_) => Self::Budget,
            Status::TimedOut { .. } => Self::TimedOut,
            _ => Self::Failed,
        }
    }
}

/// A position in a run: on a row, or a share of the way to the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located {
    row: usize,
    next: usize,
    share: f64,
    /// Whether it is past the end of a run that reached its gap.
    pub carried: bool,
}

impl Located {
    /// The value of a column there: between positive values along a straight line in log-log.
    pub fn value(&self, column: &[f64]) -> f64 {
        let (from, to) = (column[self.row], column[self.next]);
        if self.share == 0.0 {
            from
        } else if from > 0.0 && to > 0.0 {
            from * powf(to / from, self.share)
        } else {
            from + self.share * (to - from)
        }
    }
}

/// Where `x` is among the ascending positions of a run; `None` before the first and, except for a run that reached its gap,
/// after the last. Of several rows at one position the last counts.
pub fn locate(positions: &[f64], end: End, x: f64) -> Option<Located> {
    let next = positions.partition_point(|position| *position <= x);
    let row = next.checked_sub(1)?;
    let from = positions[row];
    if from == x || next == positions.len() {
        let carried = from != x;
        return (!carried || end == End::Gap).then_some(Located { row, next: row, share: 0.0, carried });
    }
    let to = positions[next];
    let share = if from > 0.0 { ln(x / from) / ln(to / from) } else { (x - from) / (to - from) };
    Some(Located { row, next, share, carried: false })
}

/// Every position where one of these runs was evaluated, and the ends of the runs that they are compared with, ascending.
pub fn count_grid<'a>(runs: impl Iterator<Item = &'a [f64]>, compared: &[&'a [f64]]) -> Vec<f64> {
    let ends = compared.iter().filter_map(|positions| positions.last());
    sorted_positions(runs.flatten().chain(ends).copied().collect())
}

fn sorted_positions(mut grid: Vec<f64>) -> Vec<f64> {
    grid.sort_unstable_by(f64::total_cmp);
    grid.dedup();
    grid
}

/// `points` log-spaced times from the earliest first evaluation to the latest last one, and the end of every run, so that no
/// final value falls between two grid times. Empty when no time is positive.
pub fn time_grid(runs: &[&[f64]], points: usize) -> Vec<f64> {
    let (mut low, mut grid) = (f64::INFINITY, Vec::new());
    for times in runs {
        let mut positive = times.iter().copied().filter(|t| *t > 0.0 && t.is_finite());
        low = low.min(positive.next().unwrap_or(f64::INFINITY));
        grid.extend(times.last().copied().filter(|t| *t > 0.0 && t.is_finite()));
    }
    if !low.is_finite() {
        return Vec::new();
    }
    let high = grid.iter().copied().fold(low, f64::max);
    let ratio = ln(high / low);
    grid.push(low);
    grid.extend((1..points).map(|k| low * exp(ratio * k as f64 / points as f64)).filter(|t| *t < high));
    sorted_positions(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_evaluations_a_run_is_a_line_in_log_log() {
        let (x, y) = ([1.0, 100.0], [1.0, 1e-4]);
        let at = |x_: f64| locate(&x, End::Budget, x_).map(|p| p.value(&y));
        assert_eq!((at(1.0), at(100.0), at(0.5), at(101.0)), (Some(1.0), Some(1e-4), None, None));
        assert!(at(10.0).is_some_and(|v| (v - 1e-2).abs() < 1e-12));
        let sign = locate(&x, End::Budget, 10.0).map(|p| p.value(&[1.0, -1.0]));
        assert!(sign.is_some_and(|v| v.abs() < 1e-12), "what is not positive has no logarithm: {sign:?}");
    }

    #[test]
    fn only_a_run_that_reached_its_gap_is_carried_on() {
        let (long, short) = ([1.0, 2.0, 4.0], [1.0, 2.0]);
        for (end, counts) in
            [(End::Gap, [2, 2, 2]), (End::Budget, [2, 2, 1]), (End::TimedOut, [2, 2, 1]), (End::Failed, [2, 2, 1])]
        {
            let runs = [(&long[..], End::Budget), (&short[..], end)];
            let grid = count_grid(runs.iter().map(|(x, _)| *x), &[&[4.0]]);
            assert_eq!(grid, [1.0, 2.0, 4.0]);
            let places = |x_: f64| runs.iter().filter_map(|(x, end)| locate(x, *end, x_)).collect::<Vec<_>>();
            assert_eq!([1.0, 2.0, 4.0].map(|x_| places(x_).len()), counts, "{end:?}");
            assert_eq!(places(4.0).iter().filter(|p| p.carried).count(), usize::from(end == End::Gap));
        }
    }

    #[test]
    fn the_grid_holds_every_end_and_no_zero() {
        let grid = time_grid(&[&[0.0, 1.0, 16.0], &[2.0, 9.0], &[], &[0.0]], 4);
        assert_eq!((grid[0], grid[grid.len() - 1]), (1.0, 16.0));
        assert!(grid.contains(&9.0) && grid.is_sorted());
        assert!([2.0, 4.0, 8.0].iter().all(|t| grid.iter().any(|g| (g - t).abs() < 1e-12)), "{grid:?}");
        assert!(time_grid(&[&[0.0]], 4).is_empty());
    }
}
