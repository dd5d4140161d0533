//! Two series at equal iterations: the repeats that share a seed, read at the same marks, and how far apart their medians are.

use crate::study::View;
use crate::study::align::End;
use crate::study::curve::Curve;
use ssvm::settings::Cadence;
use ssvm::stats::median;

/// Primal suboptimality of matched repeats at common iterations. The last is where the first run that did not fail ends
/// (one that reached its gap does not end), or the last pair, when all are shorter.
pub(super) struct EqualIterations {
    pub x: Vec<f64>,
    single: Vec<Vec<f64>>,
    multi: Vec<Vec<f64>>,
    floor: f64,
}

impl EqualIterations {
    pub fn new(view: &View, [a, b]: [usize; 2], most: f64) -> Option<Self> {
        let matched = view.matched(a, b);
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
        let (single, multi) = matched.iter().map(|(a, b)| (read(a), read(b))).unzip();
        Some(Self { x, single, multi, floor: view.floor(&view.series[a].dataset) })
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

    /// log10 of single over multi at every position, both raised to the floor; `None` where both are at or below it.
    pub fn differences(&self, draw: &[usize]) -> Vec<Option<f64>> {
        let difference = |at: usize| {
            let (a, b) = self.medians(draw, at);
            let least = self.floor.max(f64::MIN_POSITIVE);
            (a > least || b > least).then(|| (a.max(least) / b.max(least)).log10()).filter(|d| d.is_finite())
        };
        (0..self.x.len()).map(difference).collect()
    }

    /// "n = 9 from iteration 30": where pairs end because one of them failed.
    pub fn changes(&self) -> String {
        let count = |at: usize| self.known(0..self.repeats(), at).count();
        let changed = (1..self.x.len()).filter(|at| count(*at) != count(at - 1));
        changed.map(|at| format!("; n = {} from iteration {}", count(at), self.x[at])).collect()
    }
}

/// Share of log x over which a piecewise linear curve is above 0, and its mean over log x; NaN without a value.
pub(super) fn over_log(x: &[f64], values: &[Option<f64>]) -> (f64, f64) {
    let (mut total, mut above, mut sum) = (0.0, 0.0, 0.0);
    for (ends, two) in x.windows(2).zip(values.windows(2)) {
        if let (Some(a), Some(b)) = (two[0], two[1]) {
            let width = (ends[1] / ends[0]).ln();
            let share = match (a > 0.0, b > 0.0) {
                (true, true) => 1.0,
                (false, false) => 0.0,
                (true, false) => a / (a - b),
                (false, true) => b / (b - a),
            };
            total += width;
            above += width * share;
            sum += width * f64::midpoint(a, b);
        }
    }
    match values.iter().flatten().last() {
        // A single position has no width.
        Some(only) if total == 0.0 => (f64::from(u8::from(*only > 0.0)), *only),
        _ => (above / total, sum / total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_interpolated_on_the_log_axis() {
        let x = [1.0, 10.0, 100.0];
        let near = |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).abs() < 1e-12 && (b - d).abs() < 1e-12;
        assert!(near(over_log(&x, &[Some(-1.0), Some(1.0), Some(1.0)]), (0.75, 0.5)));
        assert!(near(over_log(&x, &[Some(3.0), Some(-1.0), None]), (0.75, 1.0)), "what is not compared has no width");
        assert!(near(over_log(&[1.0], &[Some(2.0)]), (1.0, 2.0)));
        assert!(over_log(&x, &[None, None, None]).0.is_nan());
    }
}
