//! Putting repeats side by side: ascending positions per run in, for each common position the rows of the repeats
//! still running there out.

use std::ops::Range;

/// Common positions, and at each the rows (of the column the positions came from) of the repeats still running.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aligned {
    /// Positions, ascending.
    pub x: Vec<f64>,
    rows: Vec<usize>,
    ends: Vec<usize>,
}

impl Aligned {
    /// The rows at one position; never empty.
    pub fn rows(&self, at: usize) -> &[usize] {
        &self.rows[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]]
    }

    /// Closes a position: keeps the rows pushed since the last one, if there are any.
    fn close(&mut self, x: f64) {
        if self.rows.len() > self.ends.last().copied().unwrap_or(0) {
            self.x.push(x);
            self.ends.push(self.rows.len());
        }
    }
}

/// Alignment on a count (iterations, oracle calls). `keys[runs[r]]` ascends. A position stays when every repeat still
/// running was evaluated there: the last evaluation of a repeat that stopped off the others' cadence is no position.
pub fn on_counts(keys: &[u64], runs: &[Range<usize>]) -> Aligned {
    let mut aligned = Aligned::default();
    let mut heads: Vec<Range<usize>> = runs.iter().filter(|run| !run.is_empty()).cloned().collect();
    let firsts: Vec<u64> = heads.iter().map(|run| keys[run.start]).collect();
    while let Some(x) = heads.iter().filter(|head| !head.is_empty()).map(|head| keys[head.start]).min() {
        let open = aligned.rows.len();
        let mut common = true;
        for (head, first) in heads.iter_mut().zip(&firsts) {
            if head.start == head.end || *first > x {
                continue;
            }
            if keys[head.start] == x {
                while head.len() > 1 && keys[head.start + 1] == x {
                    head.start += 1;
                }
                aligned.rows.push(head.start);
                head.start += 1;
            } else {
                common = false;
            }
        }
        if !common {
            aligned.rows.truncate(open);
        }
        aligned.close(x as f64);
    }
    aligned
}

/// Alignment of step functions on a grid: the last evaluation at or before each grid time, never before a run's first
/// evaluation, never past its last.
pub fn on_grid(times: &[f64], runs: &[Range<usize>], grid: &[f64]) -> Aligned {
    let mut aligned = Aligned::default();
    let mut heads: Vec<Range<usize>> = runs.iter().filter(|run| !run.is_empty()).cloned().collect();
    for t in grid {
        for head in &mut heads {
            while head.len() > 1 && times[head.start + 1] <= *t {
                head.start += 1;
            }
            let running = *t <= times[head.end - 1];
            if running && times[head.start] <= *t {
                aligned.rows.push(head.start);
            }
        }
        aligned.close(*t);
    }
    aligned
}

/// `points` log-spaced times from the earliest first evaluation to the latest last one, and the end of every run, so
/// that no final value falls between two grid times. Empty when no time is positive.
pub fn time_grid<'a>(runs: impl Iterator<Item = &'a [f64]>, points: usize) -> Vec<f64> {
    let (mut low, mut ends) = (f64::INFINITY, Vec::new());
    for times in runs {
        low = times.iter().copied().find(|t| *t > 0.0 && t.is_finite()).map_or(low, |t| low.min(t));
        ends.extend(times.last().copied().filter(|t| *t > 0.0 && t.is_finite()));
    }
    let high = ends.iter().copied().fold(low, f64::max);
    if !low.is_finite() {
        return Vec::new();
    }
    let ratio = (high / low).ln();
    let mut grid = ends;
    grid.push(low);
    grid.extend((1..points).map(|k| low * (ratio * k as f64 / points as f64).exp()).filter(|t| *t < high));
    grid.sort_unstable_by(f64::total_cmp);
    grid.dedup();
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(aligned: &Aligned) -> Vec<(f64, Vec<usize>)> {
        (0..aligned.x.len()).map(|at| (aligned.x[at], aligned.rows(at).to_vec())).collect()
    }

    #[test]
    fn counts_drop_the_off_cadence_end_of_an_early_stopper() {
        // Rows 0..3: 1, 2, 4; rows 3..6: 1, 2, 3 (stopped at 3, off the cadence).
        let keys = [1, 2, 4, 1, 2, 3];
        let aligned = on_counts(&keys, &[0..3, 3..6]);
        assert_eq!(shape(&aligned), [(1.0, vec![0, 3]), (2.0, vec![1, 4]), (4.0, vec![2])]);
    }

    #[test]
    fn steps_hold_between_the_first_and_the_last_evaluation_only() {
        let times = [1.0, 3.0, 2.0, 5.0];
        let aligned = on_grid(&times, &[0..2, 2..4, 4..4], &[0.5, 1.0, 2.0, 2.9, 3.0, 4.0, 5.0, 6.0]);
        let expected =
            [(1.0, vec![0]), (2.0, vec![0, 2]), (2.9, vec![0, 2]), (3.0, vec![1, 2]), (4.0, vec![2]), (5.0, vec![3])];
        assert_eq!(shape(&aligned), expected);
    }

    #[test]
    fn the_grid_holds_every_end_and_no_zero() {
        let grid = time_grid([&[0.0, 1.0, 16.0][..], &[2.0, 9.0], &[], &[0.0]].into_iter(), 4);
        assert_eq!((grid[0], grid[grid.len() - 1]), (1.0, 16.0));
        assert!(grid.contains(&9.0) && grid.is_sorted());
        assert!([2.0, 4.0, 8.0].iter().all(|t| grid.iter().any(|g| (g - t).abs() < 1e-12)), "{grid:?}");
        assert!(time_grid(std::iter::once(&[0.0][..]), 4).is_empty());
    }
}
