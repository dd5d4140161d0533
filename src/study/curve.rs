//! One run as a curve. What it spent until a target is read from all its evaluations, because a gap that was seen is never "not
//! reached". Its values over iterations are read at the marks of the log cadence, so that a run evaluated after every iteration and one
//! evaluated at the marks only are the same line.

use super::align::{End, Located, locate};
use super::claims::thresholds::Bar;
use super::paired::{Measure, Spent, Target};
use super::points::{Bounds, Run};
use crate::store::RunRecord;
use ssvm::drive::TracePoint;
use ssvm::settings::Cadence;
use ssvm::stats::portable::{ln, powf};

/// A run from its first to its last evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Seed of its orders. Solvers with the same seed had the same orders.
    pub seed: u64,
    pub end: End,
    // One value per evaluation, those inside an iteration included.
    /// Whole iterations before it.
    pub evaluated: Vec<f64>,
    pub time_s: Vec<f64>,
    pub oracle_calls: Vec<f64>,
    /// Least P − B_lo so far over B_up; infinite before the first finite one.
    pub relative: Vec<f64>,
    /// P − D.
    pub gap: Vec<f64>,
    // One value per mark from the first to the last evaluated whole iteration.
    pub iteration: Vec<f64>,
    /// Whether each mark has an evaluation nearby ([`Bar::Near`]), so that no value is interpolated over a long distance.
    pub seen: Vec<bool>,
    /// P − B_lo.
    pub primal_sub: Vec<f64>,
    pub planes: Vec<f64>,
    /// Approximate passes per iteration since the mark before.
    pub passes: Vec<f64>,
}

/// What a run had spent when its (spent, value) points first reached the target: between the last point before and the first one
/// at the target. Where these are near each other ([`Bar::Near`]) it is interpolated linearly in log-log; where they are not, a curve may
/// have fallen anywhere between them. A run whose first point is at the target spent at most what it had spent there; one that never
/// reached the target spent at least what it had spent at its end.
pub fn spent(points: impl IntoIterator<Item = (f64, f64)>, target: f64) -> Spent {
    let mut before = (0.0, f64::INFINITY);
    for (spent, value) in points {
        if value <= target {
            let (least, above) = before;
            let near = above.is_finite() && least > 0.0 && spent <= Bar::Near.value() * least;
            let way = if value > 0.0 { ln(above / target) / ln(above / value) } else { 1.0 };
            return if near { Spent::exactly(least * powf(spent / least, way)) } else { Spent { least, most: spent } };
        }
        before = (spent, value);
    }
    Spent { least: before.0, most: f64::INFINITY }
}

impl Curve {
    /// The curve of a run that ended before its first evaluation. What it would have spent until a target is unknown.
    pub(super) fn absent(record: &RunRecord) -> Self {
        Self {
            seed: record.settings().seed,
            end: (&record.status).into(),
            evaluated: Vec::new(),
            time_s: Vec::new(),
            oracle_calls: Vec::new(),
            relative: Vec::new(),
            gap: Vec::new(),
            iteration: Vec::new(),
            seen: Vec::new(),
            primal_sub: Vec::new(),
            planes: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// The curve of a run with evaluations; `bounds` are those of the optimum.
    pub(super) fn of(record: &RunRecord, run: &Run, (low, high): Bounds) -> Self {
        let (points, whole) = (record.points(), run.whole.len());
        let column = |value: &dyn Fn(&TracePoint) -> f64| -> Vec<f64> { points.iter().map(value).collect() };
        let evaluated = column(&|point| point.iteration as f64);
        let iterations = &evaluated[..whole];
        let marks = match &points[..whole] {
            [first, .., last] | [first @ last] => Cadence::log_marks(first.iteration.max(1), last.iteration),
            [] => Vec::new(),
        };
        let marks: Vec<f64> = marks.into_iter().map(|mark| mark as f64).collect();
        let located: Vec<Located> = marks.iter().filter_map(|mark| locate(iterations, run.end, *mark)).collect();
        let at_marks = |value: &dyn Fn(&TracePoint) -> f64| -> Vec<f64> {
            let column = column(value);
            located.iter().map(|at| at.value(&column)).collect()
        };
        let scale = if low.is_finite() && high.is_finite() && high > 0.0 { 1.0 / high } else { f64::NAN };
        let (mut relative, mut best) = (Vec::new(), f64::INFINITY);
        for point in points {
            // `min` ignores NaN.
            best = best.min(scale * (point.primal - low));
            relative.push(best);
        }
        Self {
            seed: record.settings().seed,
            end: run.end,
            time_s: column(&|point| point.time_s),
            oracle_calls: column(&|point| point.oracle_calls as f64),
            relative,
            gap: column(&|point| point.gap),
            primal_sub: at_marks(&|point| point.primal - low),
            planes: at_marks(&|point| point.planes_mean),
            seen: marks.iter().map(|mark| is_seen(iterations, *mark)).collect(),
            passes: rates(&marks, iterations, &column(&|point| point.approx_passes as f64)[..whole]),
            iteration: marks,
            evaluated,
        }
    }

    /// The value of a column at an iteration, interpolated linearly in log-log between marks. A run that reached its gap keeps its last
    /// value.
    pub fn at(&self, column: &[f64], iteration: f64) -> Option<f64> {
        locate(&self.iteration, self.end, iteration).map(|located| located.value(column))
    }

    pub fn is_evaluated(&self) -> bool {
        !self.time_s.is_empty()
    }

    pub fn range(&self) -> Option<(f64, f64)> {
        Some((*self.iteration.first()?, *self.iteration.last()?))
    }

    pub fn is_measured(&self) -> bool {
        self.relative.last().is_some_and(|best| best.is_finite())
    }

    pub fn column(&self, measure: Measure) -> &[f64] {
        match measure {
            Measure::Time => &self.time_s,
            Measure::Calls => &self.oracle_calls,
        }
    }

    /// The most that was spent until the target; `None` if the target was not reached.
    pub fn reached(&self, target: Target, measure: Measure) -> Option<f64> {
        Some(self.spent(target, measure).most).filter(|most| most.is_finite())
    }

    /// What was spent until the target, see [`spent`].
    pub fn spent(&self, target: Target, measure: Measure) -> Spent {
        let (values, target) = self.values(target);
        spent(self.column(measure).iter().copied().zip(values.iter().copied()), target)
    }

    fn values(&self, target: Target) -> (&[f64], f64) {
        match target {
            Target::Gap(gap) => (&self.gap, gap),
            Target::Relative(gap) => (&self.relative, gap),
        }
    }
}

/// Whether one of these ascending iterations is near a mark.
fn is_seen(iterations: &[f64], mark: f64) -> bool {
    let after = iterations.partition_point(|iteration| *iteration < mark);
    let near = |iteration: &f64| iteration.max(mark) <= Bar::Near.value() * iteration.min(mark);
    iterations.get(after).is_some_and(near) || iterations[..after].last().is_some_and(near)
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

    fn curve(time_s: &[f64], relative: &[f64]) -> Curve {
        Curve {
            seed: 0,
            end: End::Budget,
            evaluated: Vec::new(),
            time_s: time_s.to_vec(),
            oracle_calls: time_s.iter().map(|t| 10.0 * t).collect(),
            relative: relative.to_vec(),
            gap: relative.to_vec(),
            iteration: Vec::new(),
            seen: Vec::new(),
            primal_sub: Vec::new(),
            planes: Vec::new(),
            passes: Vec::new(),
        }
    }

    #[test]
    fn marks_far_from_any_evaluation_are_not_seen() {
        let every_ten: Vec<f64> = (1..=10).map(|k| 10.0 * f64::from(k)).collect();
        assert!([10.0, 14.0, 15.0, 28.0, 100.0].iter().all(|mark| is_seen(&every_ten, *mark)));
        assert!(!is_seen(&every_ten, 4.0) && !is_seen(&[1.0, 40.0], 6.0) && !is_seen(&[], 1.0));
        assert!(is_seen(&[1.0, 2.0, 4.0], 3.0) && is_seen(&[1.0, 40.0], 40.0));
    }

    #[test]
    fn totals_grow_evenly_between_evaluations() {
        assert_eq!(rates(&[1.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 4.0], &[3.0, 5.0, 6.0, 13.0]), [3.0, 2.0, 4.0]);
        assert_eq!(rates(&[1.0, 2.0, 4.0], &[4.0], &[12.0]), [3.0, 3.0, 3.0]);
    }

    #[test]
    fn targets_are_reached_between_evaluations() {
        let curve = curve(&[5.0, 10.0, 20.0], &[1.0, 1e-4, 1e-5]);
        for (target, time) in [(1.0, 5.0), (1e-2, 50f64.sqrt()), (1e-4, 10.0), (1e-5, 20.0)] {
            let near = |value: Option<f64>| value.is_some_and(|value| (value / time - 1.0).abs() < 1e-9);
            assert!(near(curve.reached(Target::Gap(target), Measure::Time)), "{target}");
            assert!(near(curve.reached(Target::Relative(target), Measure::Calls).map(|calls| calls / 10.0)));
        }
        assert_eq!(curve.reached(Target::Gap(1e-6), Measure::Time), None);
    }

    #[test]
    fn what_is_not_seen_is_bounded() {
        let run = curve(&[1.0, 60.0, 100.0], &[0.5, 5e-2, 5e-4]);
        let spent = |target: f64| run.spent(Target::Relative(target), Measure::Time);
        assert_eq!(spent(0.6), Spent { least: 0.0, most: 1.0 }, "there before the first evaluation");
        assert_eq!(spent(1e-4), Spent { least: 100.0, most: f64::INFINITY }, "never there");
        assert_eq!(spent(0.2), Spent { least: 1.0, most: 60.0 }, "anywhere between evaluations that are far apart");
        let seen = spent(5e-3);
        assert!(seen.least == seen.most && (seen.least - 6000f64.sqrt()).abs() < 1e-9, "{seen:?}");
        let (never, early) = (spent(1e-4), spent(0.6));
        assert_eq!(never.log_over(seen), (ln(100.0 / seen.most), f64::INFINITY));
        assert_eq!(seen.log_over(never), (f64::NEG_INFINITY, ln(seen.most / 100.0)));
        assert_eq!(never.log_over(never), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(early.log_over(early), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
