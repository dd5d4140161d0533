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

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio, or the bound of it that is known.
    pub time: Estimate,
    pub bound: Bound,
}

/// Whether a ratio is one, or a bound because half of the pairs or more have no more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    #[default]
    None,
    /// The solver did not reach the gap: it needs at least all of its time.
    AtLeast,
    /// BCFW did not.
    AtMost,
}

impl Bound {
    pub fn sign(self) -> &'static str {
        match self {
            Self::None => "",
            Self::AtLeast => "≥",
            Self::AtMost => "≤",
        }
    }
}

impl Ratio {
    fn of(paired: &Paired) -> Option<Self> {
        let bound = match (paired.least, paired.most) {
            (Some(_), None) => Bound::AtLeast,
            (None, Some(_)) => Bound::AtMost,
            _ => Bound::None,
        };
        Some(Self { time: paired.estimate()?, bound })
    }

    /// Upper end of what is known of it: there is none for a solver that did not reach the gap.
    pub fn high(&self) -> Option<f64> {
        self.time.high.filter(|_| self.bound != Bound::AtLeast)
    }

    /// Lower end: there is none when BCFW did not reach the gap.
    pub fn low(&self) -> Option<f64> {
        self.time.low.filter(|_| self.bound != Bound::AtMost)
    }

    pub fn is_faster(&self) -> bool {
        self.high().is_some_and(|high| high < 1.0)
    }

    pub fn is_slower(&self) -> bool {
        self.low().is_some_and(|low| low > 1.0)
    }
}

/// A pair of which one was not run.
pub(super) const NOT_RUN: LogBounds = (f64::NAN, f64::NAN);

/// Ratios per oracle cost, and where they cross 1. `pairs` are bounds of log-ratios per pair and oracle cost.
pub(super) fn ratios(costs: &[f64], pairs: &[Vec<LogBounds>]) -> (Vec<Option<Ratio>>, Vec<Crossing>) {
    let was_run = |bounds: &LogBounds| !bounds.0.is_nan();
    let mut ratios = Vec::new();
    for place in 0..costs.len() {
        let paired = Paired::of(&[pairs.iter().map(|pair| pair[place]).filter(was_run).collect()]);
        ratios.push(paired.and_then(|paired| Ratio::of(&paired)));
    }
    let logs: Vec<f64> = costs.iter().map(|cost| ln(*cost)).collect();
    let sampling = Sampling::default();
    let (line, drawn) = resampled(&[pairs.len()], &sampling, |draw| {
        let at = |place: usize| exact_median(draw[0].iter().map(|pair| pairs[*pair][place]).filter(was_run));
        (0..costs.len()).map(at).collect::<Vec<f64>>()
    });
    let mut found = Vec::new();
    for (log, sense) in crossings(&logs, &line) {
        // Of each draw the crossing of the same sense that is nearest; beyond the ends of the table where there is none.
        let nearest = |line: &Vec<f64>| {
            let here = crossings(&logs, line).into_iter().filter(|(_, other)| *other == sense).map(|(log, _)| log);
            let near = here.min_by(|a, b| (a - log).abs().total_cmp(&(b - log).abs()));
            near.unwrap_or_else(|| beyond(line, sense))
        };
        let ends = percentiles(drawn.iter().map(nearest), sampling.confidence);
        let within = |end: f64| Some(exp(end)).filter(|_| end.is_finite());
        let (low, high) = ends.map_or((None, None), |(low, high)| (within(low), within(high)));
        found.push(Crossing { cost: Estimate { value: exp(log), low, high }, sense });
    }
    (ratios, found)
}

/// The median where it is known exactly; not a number where it is only bounded.
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

/// Where a line without a crossing of this sense has it: below all oracle costs or above them.
fn beyond(line: &[f64], sense: Sense) -> f64 {
    let slower = line.iter().rev().find(|value| !value.is_nan()).is_some_and(|last| *last > 0.0);
    if slower == (sense == Sense::Faster) { f64::INFINITY } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let time = |at: usize| ratios[at].unwrap().time;
        assert!(near(time(0).value, 2.0) && near(time(2).value, 0.5));
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
            ratios(&[1.0], &[pair.clone(), pair]).0[0].map(|ratio| (ratio.time.value.round(), ratio.bound))
        };
        assert_eq!(ratio(Some(4.0), Some(2.0)), Some((2.0, Bound::None)));
        assert_eq!(ratio(None, Some(2.0)), Some((4.0, Bound::AtLeast)));
        assert_eq!(ratio(Some(16.0), None), Some((2.0, Bound::AtMost)));
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
    fn no_crossing_is_read_from_bounds() {
        // At least 2 at the first oracle cost, at least a half at the second: it may be slower at both.
        let pairs = vec![vec![(2f64.ln(), f64::INFINITY), (0.5f64.ln(), f64::INFINITY)]; 5];
        let (ratios, crossings) = ratios(&[1.0, 4.0], &pairs);
        assert!(crossings.is_empty(), "{crossings:?}");
        let [first, second] = [0, 1].map(|at| ratios[at].unwrap());
        assert!(first.is_slower() && !second.is_slower() && !second.is_faster(), "{ratios:?}");
    }
}
