//! Log-ratios of pairs at several oracle costs → ratios with intervals, and the oracle costs at which they cross 1.

use serde::{Deserialize, Serialize};

use crate::study::estimate::{Estimate, Sampling, resampled};
use crate::study::paired::{LogBounds, Paired};
use ssvm::stats::portable::{exp, ln};
use ssvm::stats::{median, percentiles};

/// What happens at a crossing as the oracle cost rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    Faster,
    Slower,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The oracle cost; an end of its interval that lies outside those of the table is absent.
    #[serde(rename = "price")]
    pub cost: Estimate,
    pub sense: Sense,
}

/// A pair of which one run is missing.
pub(super) const NOT_RUN: LogBounds = (f64::NAN, f64::NAN);

/// Ratios per oracle cost, and where they cross 1. `pairs` are bounds of log-ratios per pair and oracle cost.
pub(super) fn ratios(costs: &[f64], pairs: &[Vec<LogBounds>]) -> (Vec<Option<Paired>>, Vec<Crossing>) {
    let was_run = |bounds: &LogBounds| !bounds.0.is_nan();
    let mut ratios = Vec::new();
    for place in 0..costs.len() {
        let paired = Paired::of(&[pairs.iter().map(|pair| pair[place]).filter(was_run).collect()]);
        ratios.push(paired.filter(|paired| paired.least.or(paired.most).is_some()));
    }
    let logs: Vec<f64> = costs.iter().map(|cost| ln(*cost)).collect();
    // Pairs that were run at few of the costs must not make those at one cost look like enough for an interval.
    let fewest = ratios.iter().flatten().map(|ratio: &Paired| ratio.pairs).min().unwrap_or(0);
    let mut sampling = Sampling::default();
    sampling.draws = if fewest < sampling.fewest { 0 } else { sampling.draws };
    let (line, drawn) = resampled(&[pairs.len()], &sampling, |draw| {
        let at = |place: usize| exact_median(draw[0].iter().map(|pair| pairs[*pair][place]).filter(was_run));
        (0..costs.len()).map(at).collect::<Vec<f64>>()
    });
    let mut found = Vec::new();
    for (log, sense) in crossings(&logs, &line) {
        let places: Vec<LogBounds> = drawn.iter().map(|line| nearest(&logs, line, log, sense)).collect();
        let low = percentiles(places.iter().map(|place| place.0), sampling.confidence).map(|(low, _)| low);
        let high = percentiles(places.iter().map(|place| place.1), sampling.confidence).map(|(_, high)| high);
        let [low, high] = [low, high].map(|end| end.filter(|end| end.is_finite()).map(exp));
        found.push(Crossing { cost: Estimate { value: exp(log), low, high }, sense });
    }
    (ratios, found)
}

/// The crossing of a draw in the same direction that is nearest to a crossing of all pairs. A draw without one crosses below or above
/// all oracle costs; if it has only bounds, either is possible.
fn nearest(logs: &[f64], line: &[f64], log: f64, sense: Sense) -> LogBounds {
    let here = crossings(logs, line).into_iter().filter(|(_, other)| *other == sense).map(|(log, _)| log);
    if let Some(near) = here.min_by(|a, b| (a - log).abs().total_cmp(&(b - log).abs())) {
        return (near, near);
    }
    let is_slower = line.last().is_some_and(|last| *last > 0.0);
    match line.iter().any(|value| value.is_nan()) {
        true => (f64::NEG_INFINITY, f64::INFINITY),
        false if is_slower == (sense == Sense::Faster) => (f64::INFINITY, f64::INFINITY),
        false => (f64::NEG_INFINITY, f64::NEG_INFINITY),
    }
}

/// The median where it is known exactly; NaN where it is only bounded.
fn exact_median(bounds: impl Iterator<Item = LogBounds>) -> f64 {
    let (low, high): (Vec<f64>, Vec<f64>) = bounds.unzip();
    let (low, high) = (median(&low), median(&high));
    if low == high { low } else { f64::NAN }
}

/// Where a line of logarithms that is straight between oracle costs changes its sign.
fn crossings(logs: &[f64], line: &[f64]) -> Vec<(f64, Sense)> {
    let mut found = Vec::new();
    for (ends, two) in logs.windows(2).zip(line.windows(2)) {
        let sense = match (two[0] > 0.0, two[1] > 0.0) {
            (true, false) => Sense::Faster,
            (false, true) => Sense::Slower,
            _ => continue,
        };
        if two[0].is_finite() && two[1].is_finite() {
            found.push((ends[0] + (ends[1] - ends[0]) * two[0] / (two[0] - two[1]), sense));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::paired::Pace;

    #[test]
    fn signs_change_on_straight_logarithms() {
        let logs = [0.0, 1.0, 2.0, 3.0];
        let found = crossings(&logs, &[1.0, -1.0, -1.0, 3.0]);
        assert_eq!(found, [(0.5, Sense::Faster), (2.25, Sense::Slower)]);
        assert!(crossings(&logs, &[-1.0, -2.0, -1.0, -0.5]).is_empty());
        assert!(crossings(&logs, &[f64::INFINITY, -1.0, f64::NAN, 2.0]).is_empty(), "nothing is known in between");
    }

    fn exactly(log: f64) -> LogBounds {
        (log, log)
    }

    #[test]
    fn ratios_and_crossings_have_intervals_over_pairs() {
        let costs = [1.0, 4.0, 16.0];
        // Ratios 2, 1, 1/2 times a factor of the pair: it crosses 1 at 4 times the square of that factor.
        let pair = |factor: f64| [2.0, 1.0, 0.5].map(|ratio: f64| exactly((ratio * factor).ln())).to_vec();
        let (ratios, crossings) = ratios(&costs, &[0.9, 0.95, 1.0, 1.05, 1.1].map(pair));
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        let time = |at: usize| ratios[at].unwrap();
        assert!(near(time(0).exact().unwrap(), 2.0) && near(time(2).exact().unwrap(), 0.5));
        assert!(near(time(1).low.unwrap(), 0.9) && near(time(1).high.unwrap(), 1.1));
        let [Crossing { cost, sense: Sense::Faster }] = crossings[..] else { panic!("{crossings:?}") };
        assert!(near(cost.value, 4.0) && near(cost.low.unwrap(), 4.0 * 0.81) && near(cost.high.unwrap(), 4.0 * 1.21));
    }

    #[test]
    fn a_solver_that_does_not_get_there_has_a_bound() {
        use crate::study::paired::Spent;
        let spent = |reached: Option<f64>| match reached {
            Some(time) => Spent::exactly(time),
            None => Spent { least: 8.0, most: f64::INFINITY },
        };
        let ratio = |a: Option<f64>, b: Option<f64>| {
            let pair = vec![spent(a).log_over(spent(b))];
            ratios(&[1.0], &[pair.clone(), pair]).0[0].map(|ratio| ratio.value_text())
        };
        assert_eq!(ratio(Some(4.0), Some(2.0)).as_deref(), Some("2.00×"));
        assert_eq!(ratio(None, Some(2.0)).as_deref(), Some("≥4.00×"));
        assert_eq!(ratio(Some(16.0), None).as_deref(), Some("≤2.00×"));
        assert_eq!(ratio(None, None), None);
    }

    #[test]
    fn a_crossing_that_some_draws_do_not_have_is_open_at_that_end() {
        let costs = [1.0, 4.0];
        let pairs = [-1.0f64, 0.5, 0.5, 0.5, 2.0].map(|at| vec![exactly(1.0), exactly(at - 0.6)]);
        let (_, crossings) = ratios(&costs, &pairs);
        let [Crossing { cost, .. }] = crossings[..] else { panic!("{crossings:?}") };
        assert!(cost.low.is_some() && cost.high.is_none(), "{cost:?}");
    }

    #[test]
    fn a_draw_with_bounds_only_leaves_both_ends_of_a_crossing_open() {
        // Two of five pairs are bounds at the second cost: the median is exact, that of one draw in three is not.
        let mut pairs = vec![vec![exactly(1.0), exactly(-1.0)]; 3];
        pairs.extend(vec![vec![exactly(1.0), (-2.0, f64::INFINITY)]; 2]);
        let (_, crossings) = ratios(&[1.0, 4.0], &pairs);
        let [Crossing { cost, .. }] = crossings[..] else { panic!("{crossings:?}") };
        assert_eq!((cost.value.round(), cost.low, cost.high), (2.0, None, None));
    }

    #[test]
    fn no_crossing_is_read_from_bounds() {
        // At least 2 at the first oracle cost, at least a half at the second: it may be slower at both.
        let pairs = vec![vec![(2f64.ln(), f64::INFINITY), (0.5f64.ln(), f64::INFINITY)]; 5];
        let (ratios, crossings) = ratios(&[1.0, 4.0], &pairs);
        assert!(crossings.is_empty(), "{crossings:?}");
        let [first, second] = [0, 1].map(|at| ratios[at].unwrap());
        assert_eq!([first, second].map(|ratio| ratio.pace_of_spent()), [Pace::Slower, Pace::Undecided], "{ratios:?}");
    }
}
