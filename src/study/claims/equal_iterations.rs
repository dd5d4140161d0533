//! Two series at equal iterations: pairs of repeats with the same seed, read at the same marks, and the distance of their medians.

use super::common_end;
use super::thresholds::Bar;
use crate::study::View;
use crate::study::align::End;
use crate::study::curve::Curve;
use crate::study::paired::LogBounds;
use ssvm::settings::Cadence;
use ssvm::stats::median;
use ssvm::stats::portable::ln;

/// Primal suboptimality of matched repeats at common iterations. The last common iteration is the one at which the first successful
/// run ends (a run that reached its gap does not count as ended), or that of the last pair if all are shorter.
pub(super) struct EqualIterations {
    pub x: Vec<f64>,
    /// The last iteration of the shortest run. A run that reached its gap keeps its last value and carries no further information.
    pub shortest: f64,
    /// Whether every run was evaluated near every mark, so that no value is interpolated over a long distance.
    pub seen: bool,
    single: Vec<Vec<f64>>,
    multi: Vec<Vec<f64>>,
    floor: f64,
}

impl EqualIterations {
    pub fn new(view: &View, [a, b]: [usize; 2], most: f64) -> Option<Self> {
        let mut matched = view.matched(a, b);
        matched.retain(|(a, b)| a.is_evaluated() && b.is_evaluated());
        let (mut first, mut budget, mut longest, mut last_pair) = (f64::NAN, f64::INFINITY, f64::NAN, 0.0_f64);
        for (a, b) in &matched {
            let mut end = f64::INFINITY;
            for curve in [a, b] {
                let Some((from, to)) = curve.range() else {
                    end = 0.0;
                    continue;
                };
                (first, longest) = (first.max(from), longest.max(to));
                budget = if curve.end == End::Budget { budget.min(to) } else { budget };
                end = if curve.end == End::Gap { end } else { end.min(to) };
            }
            last_pair = last_pair.max(end);
        }
        // Not past the end of the last pair: runs that timed out may all be shorter than those that did not.
        let last = if budget.is_finite() { budget } else { longest }.min(last_pair).min(most);
        if first.is_nan() || last < first {
            return None;
        }
        let x: Vec<f64> = Cadence::log_marks(first as u64, last as u64).into_iter().map(|mark| mark as f64).collect();
        let read = |curve: &Curve| -> Vec<f64> {
            x.iter().map(|x| curve.at(&curve.primal_sub, *x).unwrap_or(f64::NAN)).collect()
        };
        let seen = matched.iter().flat_map(|(a, b)| [*a, *b]).all(|curve| {
            let marks = curve.iteration.iter().zip(&curve.seen);
            marks.filter(|(mark, _)| (first..=last).contains(*mark)).all(|(_, seen)| *seen)
        });
        let (single, multi) = matched.iter().map(|(a, b)| (read(a), read(b))).unzip();
        let shortest = common_end(matched.iter().flat_map(|(a, b)| [*a, *b])).map_or(last, |end| end.min(last));
        Some(Self { x, shortest, seen, single, multi, floor: view.floor(&view.series[a].dataset) })
    }

    pub fn repeats(&self) -> usize {
        self.single.len()
    }

    fn known<'d>(&'d self, draw: impl IntoIterator<Item = usize> + 'd, at: usize) -> impl Iterator<Item = usize> + 'd {
        draw.into_iter().filter(move |k| self.single[*k][at].is_finite() && self.multi[*k][at].is_finite())
    }

    pub fn medians(&self, draw: &[usize], at: usize) -> (f64, f64) {
        let known: Vec<usize> = self.known(draw.iter().copied(), at).collect();
        let of = |values: &[Vec<f64>]| median(&known.iter().map(|k| values[*k][at]).collect::<Vec<_>>());
        (of(&self.single), of(&self.multi))
    }

    /// log10 of single-plane over multi-plane suboptimality at every position, both raised to the floor; `None` where both are at or
    /// below it.
    pub fn differences(&self, draw: &[usize]) -> Vec<Option<f64>> {
        let difference = |at: usize| {
            let (a, b) = self.medians(draw, at);
            let least = self.floor.max(f64::MIN_POSITIVE);
            (a > least || b > least).then(|| (a.max(least) / b.max(least)).log10()).filter(|d| d.is_finite())
        };
        (0..self.x.len()).map(difference).collect()
    }

    /// Bounds of that logarithm at every position, for all positions of the optimum between its bounds; `None` where both are at or
    /// below the floor.
    fn bounds(&self, draw: &[usize]) -> Vec<Option<LogBounds>> {
        let bounds = |at: usize| {
            let (a, b) = self.medians(draw, at);
            (a > self.floor || b > self.floor).then(|| ratio_bounds(a, b, self.floor))
        };
        (0..self.x.len()).map(bounds).collect()
    }

    /// The bounds at the last compared position; unbounded without one.
    pub fn last_ratio(&self, draw: &[usize]) -> LogBounds {
        self.bounds(draw).into_iter().flatten().last().unwrap_or(NOTHING)
    }

    /// The bounds of the mean over log-iterations, starting at an iteration.
    pub fn mean_ratio(&self, draw: &[usize], from: f64) -> LogBounds {
        let bounds = self.bounds(draw);
        let mean = |end: fn(LogBounds) -> f64| {
            over_log(&self.x, &bounds.iter().map(|bounds| bounds.map(end)).collect::<Vec<_>>(), from)
        };
        (mean(|bounds| bounds.0), mean(|bounds| bounds.1))
    }

    fn count(&self, at: usize) -> usize {
        self.known(0..self.repeats(), at).count()
    }

    /// The least number of pairs at any position. Those that end early because one of them failed leave a median of the rest.
    pub fn fewest(&self) -> usize {
        (0..self.x.len()).map(|at| self.count(at)).min().unwrap_or(0)
    }

    /// "n = 9 from iteration 30": where pairs end because one of them failed.
    pub fn changes(&self) -> String {
        let changed = (1..self.x.len()).filter(|at| self.count(*at) != self.count(at - 1));
        changed.map(|at| format!("; n = {} from iteration {}", self.count(at), self.x[at])).collect()
    }
}

/// The bounds of a number about which nothing is known.
const NOTHING: LogBounds = (f64::NAN, f64::NAN);

/// Bounds of the logarithm of `a` over `b`, two distances to a lower bound of the optimum, if the optimum lies up to `width` above that
/// bound. Both distances then shrink by the same amount, so the ratio moves away from 1. They shrink by at most the smaller of the two,
/// because the optimum is not above any primal that was found.
fn ratio_bounds(a: f64, b: f64, width: f64) -> LogBounds {
    let [a, b] = [a, b].map(|distance| distance.max(f64::MIN_POSITIVE));
    if a.total_cmp(&b).is_eq() {
        return (0.0, 0.0);
    }
    let most = width.min(a).min(b);
    let [near, far] = [ln(a / b), ln((a - most) / (b - most))];
    (near.min(far), near.max(far))
}

/// The position from which a curve is above 0 to its end, with crossings interpolated over log x; NaN without a value. If the curve is
/// not above 0 at its last value, the result is one more than the last x, so that no threshold on the axis can take "never" for
/// "from the start".
pub(super) fn lower_from(x: &[f64], values: &[Option<f64>]) -> f64 {
    let known: Vec<(f64, f64)> = x.iter().zip(values).filter_map(|(x, value)| Some((*x, (*value)?))).collect();
    let (Some((first, _)), Some((_, end)), Some(last)) = (known.first(), known.last(), x.last()) else {
        return f64::NAN;
    };
    if *end <= 0.0 {
        return last + 1.0;
    }
    match known.windows(2).rfind(|two| two[0].1 <= 0.0) {
        Some(two) => two[0].0 * (two[1].0 / two[0].0).powf(two[0].1 / (two[0].1 - two[1].1)),
        None => *first,
    }
}

/// The end of the beginning of the log-iterations, their first quarter. Curves that begin later do not show how a run develops.
pub(super) fn quarter(last: f64) -> f64 {
    last.powf(Bar::Beginning.value())
}

/// The mean over log x of a piecewise linear curve, starting at an x; NaN without a value.
pub(super) fn over_log(x: &[f64], values: &[Option<f64>], from: f64) -> f64 {
    let (mut total, mut sum) = (0.0, 0.0);
    for (ends, two) in x.windows(2).zip(values.windows(2)) {
        if let (Some(a), Some(b)) = (two[0], two[1]) {
            let whole = (ends[1] / ends[0]).ln();
            let width = (ends[1] / ends[0].max(from)).ln().max(0.0);
            total += width;
            if width > 0.0 {
                // The line at the middle of the part that counts; its ends may be infinite.
                let before = 0.5 * width / whole;
                sum += width * (before * a + (1.0 - before) * b);
            }
        }
    }
    match values.iter().flatten().last() {
        // A single position has no width.
        Some(only) if total == 0.0 => *only,
        _ => sum / total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_interpolated_on_the_log_axis() {
        let x = [1.0, 10.0, 100.0];
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(lower_from(&x, &[Some(-1.0), Some(1.0), Some(1.0)]), 10f64.sqrt()));
        assert!(near(lower_from(&x, &[Some(1.0), Some(-1.0), Some(3.0)]), 10f64.powf(1.25)), "only the last stretch");
        assert!(near(lower_from(&x, &[Some(1.0), Some(2.0), None]), 1.0), "what is not compared is left out");
        assert!(near(lower_from(&x, &[Some(1.0), Some(0.0), None]), 101.0), "never is later than the axis");
        assert!(lower_from(&x, &[None, None, None]).is_nan());
        assert!(near(over_log(&x, &[Some(-1.0), Some(1.0), Some(1.0)], 1.0), 0.5));
        assert!(near(over_log(&x, &[Some(3.0), Some(-1.0), None], 0.1), 1.0), "what is not compared has no width");
        assert!(near(over_log(&[1.0], &[Some(2.0)], 1.0), 2.0));
        // A half of the first decade, where it rises from 0 to 1, and the second one.
        assert!(near(over_log(&x, &[Some(-1.0), Some(1.0), Some(1.0)], 10f64.sqrt()), (0.25 + 1.0) / 1.5));
        assert!(over_log(&x, &[None, None, None], 1.0).is_nan());
    }
}
