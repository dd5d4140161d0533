//! Times of pairs at several prices in; ratios with intervals, and the prices at which they cross 1, out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Seeds;
use crate::study::estimate::{Estimate, estimates_of};
use ssvm::stats::median;
use ssvm::stats::portable::{self, ln};

/// What happens at a crossing as the price rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// The solver becomes faster than BCFW.
    Faster,
    /// It becomes slower.
    Slower,
}

/// A price at which a solver takes as long as BCFW.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The price; an end of its interval that lies outside the prices of the table is absent.
    pub price: Estimate,
    /// Which way.
    pub sense: Sense,
}

/// A time over BCFW's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio, or a bound of it.
    pub time: Estimate,
    /// Which bound, where half of the pairs or more have no more than one.
    pub bound: Bound,
}

/// What a ratio is when not both got to the gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Both did.
    #[default]
    None,
    /// The solver did not: all of its time counts.
    AtLeast,
    /// BCFW did not: all of its time counts.
    AtMost,
}

impl Bound {
    /// `≥`, `≤` or nothing.
    pub fn sign(self) -> &'static str {
        match self {
            Self::None => "",
            Self::AtLeast => "≥",
            Self::AtMost => "≤",
        }
    }
}

/// Per pair and price: ln of the time of the solver over that of BCFW, or a bound of it; not a number without one.
pub(super) type Pairs = Vec<Vec<(f64, Bound)>>;

/// The runs with one seed, at every price, to the target at this place; not a number where one was not run.
pub(super) fn pairs(runs: &[Seeds], references: &[Seeds], target: usize) -> Pairs {
    let seeds: BTreeSet<u64> = references.iter().flat_map(|of| of.keys().copied()).collect();
    let run = |seed: &u64| runs.iter().any(|of| of.contains_key(seed));
    let ratio = |seed: u64, at: usize| match (runs[at].get(&seed), references[at].get(&seed)) {
        (Some(run), Some(reference)) => match (run.reached[target], reference.reached[target]) {
            (Some(time), Some(reference)) => (ln(time / reference), Bound::None),
            (Some(time), None) => (ln(time / reference.whole), Bound::AtMost),
            (None, Some(reference)) => (ln(run.whole / reference), Bound::AtLeast),
            (None, None) => (f64::NAN, Bound::None),
        },
        _ => (f64::NAN, Bound::None),
    };
    seeds.into_iter().filter(run).map(|seed| (0..runs.len()).map(|at| ratio(seed, at)).collect()).collect()
}

/// Ratios per price, and where they cross 1.
pub(super) fn ratios(prices: &[f64], pairs: &Pairs) -> (Vec<Option<Ratio>>, Vec<Crossing>) {
    let logs: Vec<f64> = prices.iter().map(|price| ln(*price)).collect();
    let line = |draw: &[usize]| -> Vec<f64> {
        let at = |price: usize| {
            let values: Vec<f64> = draw.iter().map(|k| pairs[*k][price].0).filter(|v| !v.is_nan()).collect();
            if 2 * values.len() > draw.len() { median(&values) } else { f64::NAN }
        };
        (0..prices.len()).map(at).collect()
    };
    let all: Vec<usize> = (0..pairs.len()).collect();
    let found = crossings(&logs, &line(&all));
    // The ratios, then every crossing: of each draw the one of the same sense that is nearest; beyond the ends of the
    // table where there is none.
    let drawn = estimates_of(&[pairs.len()], |draw| {
        let line = line(&draw[0]);
        let here = crossings(&logs, &line);
        let nearest = |(log, sense): &(f64, Sense)| {
            let same = here.iter().filter(|(_, other)| other == sense).map(|(log, _)| *log);
            let near = same.min_by(|a, b| (a - log).abs().total_cmp(&(b - log).abs()));
            near.unwrap_or_else(|| beyond(&line, *sense))
        };
        let crossed: Vec<f64> = found.iter().map(nearest).collect();
        line.into_iter().chain(crossed).collect()
    });
    let exp = |estimate: &Estimate| Estimate {
        value: portable::exp(estimate.value),
        low: estimate.low.map(portable::exp),
        high: estimate.high.map(portable::exp),
    };
    let within = |end: Option<f64>| end.filter(|log| log.is_finite());
    let ratio = |(at, estimate): (usize, &Estimate)| {
        let bounded = |bound| 2 * pairs.iter().filter(|pair| pair[at].1 == bound).count() >= pairs.len();
        let bound = [Bound::AtLeast, Bound::AtMost].into_iter().find(|bound| bounded(*bound)).unwrap_or_default();
        let ends = Estimate { low: within(estimate.low), high: within(estimate.high), ..*estimate };
        estimate.value.is_finite().then(|| Ratio { time: exp(&ends), bound })
    };
    let crossing = |(estimate, (_, sense)): (&Estimate, &(f64, Sense))| Crossing {
        price: exp(&Estimate { low: within(estimate.low), high: within(estimate.high), ..*estimate }),
        sense: *sense,
    };
    let (first, rest) = drawn.split_at(prices.len());
    (first.iter().enumerate().map(ratio).collect(), rest.iter().zip(&found).map(crossing).collect())
}

/// Where a line of logarithms that is straight between prices changes its sign.
fn crossings(logs: &[f64], line: &[f64]) -> Vec<(f64, Sense)> {
    let mut found = Vec::new();
    for (ends, two) in logs.windows(2).zip(line.windows(2)) {
        let sense = match (two[0] > 0.0, two[1] > 0.0) {
            (true, false) => Sense::Faster,
            (false, true) if two[0].is_finite() => Sense::Slower,
            _ => continue,
        };
        if two[0].is_finite() && two[1].is_finite() {
            found.push((ends[0] + (ends[1] - ends[0]) * two[0] / (two[0] - two[1]), sense));
        }
    }
    found
}

/// Where a line without a crossing of this sense has it: below all prices or above them.
fn beyond(line: &[f64], sense: Sense) -> f64 {
    let slower = line.iter().rev().find(|value| !value.is_nan()).is_some_and(|last| *last > 0.0);
    if slower == (sense == Sense::Faster) { f64::INFINITY } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::price::Timed;

    #[test]
    fn signs_change_on_straight_logarithms() {
        let logs = [0.0, 1.0, 2.0, 3.0];
        let found = crossings(&logs, &[1.0, -1.0, -1.0, 3.0]);
        assert_eq!(found, [(0.5, Sense::Faster), (2.25, Sense::Slower)]);
        assert!(crossings(&logs, &[-1.0, -2.0, -1.0, -0.5]).is_empty());
        assert!(crossings(&logs, &[f64::INFINITY, -1.0, f64::NAN, 2.0]).is_empty(), "nothing is known in between");
    }

    #[test]
    fn ratios_and_crossings_have_intervals_over_pairs() {
        let prices = [1.0, 4.0, 16.0];
        // Ratios 2, 1, 1/2 times a factor of the pair: it crosses 1 at 4 times the square of that factor.
        let pair = |factor: f64| [2.0, 1.0, 0.5].map(|ratio| ((ratio * factor).ln(), Bound::None)).to_vec();
        let pairs: Pairs = [0.9, 0.95, 1.0, 1.05, 1.1].map(pair).to_vec();
        let (ratios, crossings) = ratios(&prices, &pairs);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        let time = |at: usize| ratios[at].unwrap().time;
        assert!(near(time(0).value, 2.0) && near(time(2).value, 0.5));
        assert!(near(time(1).low.unwrap(), 0.9) && near(time(1).high.unwrap(), 1.1));
        let [Crossing { price, sense: Sense::Faster }] = crossings[..] else { panic!("{crossings:?}") };
        assert!(
            near(price.value, 4.0) && near(price.low.unwrap(), 4.0 * 0.81) && near(price.high.unwrap(), 4.0 * 1.21)
        );
    }

    #[test]
    fn a_solver_that_does_not_get_there_has_a_bound() {
        let run = |reached: Option<f64>| Timed { reached: vec![reached], whole: 8.0 };
        let of = |reached: Option<f64>| vec![Seeds::from([(1, run(reached)), (2, run(reached))])];
        let ratio = |a, b| ratios(&[1.0], &pairs(&of(a), &of(b), 0)).0[0];
        let told = |ratio: Option<Ratio>| ratio.map(|ratio| (ratio.time.value.round(), ratio.bound));
        assert_eq!(told(ratio(Some(4.0), Some(2.0))), Some((2.0, Bound::None)));
        assert_eq!(told(ratio(None, Some(2.0))), Some((4.0, Bound::AtLeast)));
        assert_eq!(told(ratio(Some(16.0), None)), Some((2.0, Bound::AtMost)));
        assert_eq!(ratio(None, None), None);
    }

    #[test]
    fn a_crossing_that_some_draws_do_not_have_is_open_at_that_end() {
        let prices = [1.0, 4.0];
        let pairs: Pairs =
            [-1.0f64, 0.5, 0.5, 0.5, 2.0].map(|at| vec![(1.0, Bound::None), (at - 0.6, Bound::None)]).to_vec();
        let (_, crossings) = ratios(&prices, &pairs);
        let [Crossing { price, .. }] = crossings[..] else { panic!("{crossings:?}") };
        assert!(price.low.is_some() && price.high.is_none(), "{price:?}");
    }
}
