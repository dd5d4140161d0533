//! One run read at the marks of the log cadence: its evaluations in; values that do not depend on how often it was
//! evaluated out. A run evaluated after every iteration and one evaluated at the marks only are the same curve.

use super::align::{End, Run, place};
use super::{Frames, Quantity};
use crate::error::Result;
use ssvm::settings::Cadence;
use ssvm::stats::portable::{ln, powf};

/// A run at the marks from its first to its last evaluated whole iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Repeat number.
    pub repeat: u64,
    /// Seed of its orders.
    pub seed: u64,
    /// How it ended.
    pub end: End,
    /// The marks.
    pub iteration: Vec<f64>,
    /// Solver time there.
    pub time_s: Vec<f64>,
    /// Exact oracle calls until there.
    pub oracle_calls: Vec<f64>,
    /// Time inside them.
    pub oracle_time_s: Vec<f64>,
    /// P − B_lo there.
    pub primal_sub: Vec<f64>,
    /// Gap there.
    pub gap: Vec<f64>,
    /// Mean working-set size there.
    pub planes: Vec<f64>,
    /// Approximate passes per iteration since the mark before.
    pub passes: Vec<f64>,
    /// Its end when the run stopped inside an iteration.
    pub tail: Option<Tail>,
}

/// The last evaluation of a run that stopped inside an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Solver time.
    pub time_s: f64,
    /// Exact oracle calls.
    pub oracle_calls: f64,
    /// Time inside them.
    pub oracle_time_s: f64,
    /// P − B_lo.
    pub primal_sub: f64,
    /// Gap.
    pub gap: f64,
}

/// Pairs of curves with the same seed.
pub type Matched<'a> = Vec<(&'a Curve, &'a Curve)>;

/// The repeats of two series with the same seed.
pub fn matched<'a>(a: &'a [Curve], b: &'a [Curve]) -> Matched<'a> {
    let partner = |a: &'a Curve| b.iter().find(|b| b.seed == a.seed).map(|b| (a, b));
    a.iter().filter_map(partner).collect()
}

/// What was spent where (spent, value) points in the order of a run are first at or below the target: straight in
/// log-log between points, at the first point when that is there already.
pub fn crossing(points: impl IntoIterator<Item = (f64, f64)>, target: f64) -> Option<f64> {
    let mut before: Option<(f64, f64)> = None;
    for (spent, value) in points {
        if value <= target {
            let Some((s, v)) = before.filter(|(s, _)| value > 0.0 && *s > 0.0) else { return Some(spent) };
            return Some(s * powf(spent / s, ln(v / target) / ln(v / value)));
        }
        before = value.is_finite().then_some((spent, value)).or(before);
    }
    None
}

impl Curve {
    /// The value of one of its columns at an iteration: straight in log-log between marks; a run that reached its gap
    /// stays at its last value.
    pub fn at(&self, column: &[f64], iteration: f64) -> Option<f64> {
        place(&self.iteration, &(0..self.iteration.len()), self.end, iteration).map(|place| place.value(column))
    }

    /// First and last mark; `None` when no whole iteration was evaluated.
    pub fn range(&self) -> Option<(f64, f64)> {
        Some((*self.iteration.first()?, *self.iteration.last()?))
    }

    /// Solver time at its end.
    pub fn last_time(&self) -> Option<f64> {
        self.tail.map(|tail| tail.time_s).or(self.time_s.last().copied())
    }

    /// Solver time and iteration at which the gap is first at or below the target, both interpolated.
    pub fn reached(&self, target: f64) -> Option<(f64, f64)> {
        let last = self.iteration.last().copied().unwrap_or(0.0);
        let times = self.time_s.iter().copied().chain(self.tail.map(|tail| tail.time_s));
        let iterations = self.iteration.iter().copied().chain(self.tail.map(|_| last));
        let gaps = || self.gap.iter().copied().chain(self.tail.map(|tail| tail.gap));
        Some((crossing(times.zip(gaps()), target)?, crossing(iterations.zip(gaps()), target)?))
    }
}

/// The curve of every run of every series.
pub fn curves(frames: &Frames) -> Result<Vec<Vec<Curve>>> {
    let iteration: Vec<f64> = frames.u64s("iteration")?.iter().map(|k| *k as f64).collect();
    let passes: Vec<f64> = frames.u64s("approx_passes")?.iter().map(|k| *k as f64).collect();
    let calls: Vec<f64> = frames.u64s("oracle_calls")?.iter().map(|k| *k as f64).collect();
    let (time, gap) = (frames.f64s("time_s")?, frames.f64s("gap")?);
    let oracle_time = frames.f64s("oracle_time_s")?;
    let (primal_sub, planes) = (frames.f64s(Quantity::PrimalSub.name())?, frames.f64s(Quantity::Planes.name())?);
    let curve = |run: &Run| {
        let whole = &iteration[run.whole.clone()];
        let marks = match (whole.first(), whole.last()) {
            (Some(first), Some(last)) => Cadence::log_marks((*first as u64).max(1), *last as u64),
            _ => Vec::new(),
        };
        let marks: Vec<f64> = marks.into_iter().map(|mark| mark as f64).collect();
        let places: Vec<_> = marks.iter().filter_map(|x| place(&iteration, &run.whole, run.end, *x)).collect();
        let read = |column: &[f64]| -> Vec<f64> { places.iter().map(|place| place.value(column)).collect() };
        Curve {
            repeat: run.repeat,
            seed: run.seed,
            end: run.end,
            time_s: read(time),
            oracle_calls: read(&calls),
            oracle_time_s: read(oracle_time),
            primal_sub: read(primal_sub),
            gap: read(gap),
            planes: read(planes),
            passes: rates(&marks, whole, &passes[run.whole.clone()]),
            tail: (run.whole.end..run.rows.end).last().map(|row| Tail {
                time_s: time[row],
                oracle_calls: calls[row],
                oracle_time_s: oracle_time[row],
                primal_sub: primal_sub[row],
                gap: gap[row],
            }),
            iteration: marks,
        }
    };
    Ok((0..frames.series.len()).map(|series| frames.runs_of(series).iter().map(curve).collect()).collect())
}

/// Growth of a running total per iteration since the mark before; the total grows evenly between evaluations.
fn rates(marks: &[f64], iterations: &[f64], totals: &[f64]) -> Vec<f64> {
    let total = |x: f64| {
        let after = iterations.partition_point(|k| *k <= x);
        let (k0, c0) = if after == 0 { (0.0, 0.0) } else { (iterations[after - 1], totals[after - 1]) };
        match iterations.get(after) {
            Some(k1) => c0 + (totals[after] - c0) * (x - k0) / (k1 - k0),
            None => c0,
        }
    };
    let befores = std::iter::once(0.0).chain(marks.iter().copied());
    befores.zip(marks).map(|(before, mark)| (total(*mark) - total(before)) / (mark - before)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_grow_evenly_between_evaluations() {
        assert_eq!(rates(&[1.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 4.0], &[3.0, 5.0, 6.0, 13.0]), [3.0, 2.0, 4.0]);
        assert_eq!(rates(&[1.0, 2.0, 4.0], &[4.0], &[12.0]), [3.0, 3.0, 3.0]);
    }

    #[test]
    fn targets_are_reached_between_evaluations() {
        let curve = Curve {
            repeat: 0,
            seed: 0,
            end: End::Budget,
            iteration: vec![1.0, 100.0],
            time_s: vec![0.1, 10.0],
            oracle_calls: vec![5.0, 500.0],
            oracle_time_s: vec![0.05, 5.0],
            primal_sub: vec![1.0, 1e-4],
            gap: vec![1.0, 1e-4],
            planes: vec![1.0, 1.0],
            passes: vec![1.0, 1.0],
            tail: Some(Tail { time_s: 20.0, oracle_calls: 501.0, oracle_time_s: 5.1, primal_sub: 1e-5, gap: 1e-5 }),
        };
        let near = |target: f64, time: f64, iteration: f64| {
            let (t, k) = curve.reached(target).expect("reached");
            assert!((t / time - 1.0).abs() < 1e-9 && (k / iteration - 1.0).abs() < 1e-9, "{target}: {t} {k}");
        };
        near(1.0, 0.1, 1.0);
        near(1e-2, 1.0, 10.0);
        near(1e-4, 10.0, 100.0);
        near(1e-5, 20.0, 100.0);
        assert_eq!(curve.reached(1e-6), None);
    }
}
