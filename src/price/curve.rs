//! Times of pairs at several prices in; ratios with intervals, and the prices at which they cross 1, out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Seeds;
use crate::stats::portable::{self, ln};
use crate::stats::{Estimate, estimates_of, median};

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

/// Per pair and price: ln of the time of the solver over that of BCFW; infinite where one of them did not get there.
pub(super) type Pairs = Vec<Vec<f64>>;

/// The runs with one seed, at every price, to the target at this place; not a number where one was not run.
pub(super) fn pairs(runs: &[Seeds], references: &[Seeds], target: usize) -> Pairs {
    let seeds: BTreeSet<u64> = references.iter().flat_map(|of| of.keys().copied()).collect();
    let run = |seed: &u64| runs.iter().any(|of| of.contains_key(seed));
    let ratio = |seed: u64, at: usize| match (runs[at].get(&seed), references[at].get(&seed)) {
        (Some(run), Some(reference)) => match (run[target], reference[target]) {
            (Some(time), Some(reference)) => ln(time / reference),
            (Some(_), None) => f64::NEG_INFINITY,
            (None, Some(_)) => f64::INFINITY,
            (None, None) => f64::NAN,
        },
        _ => f64::NAN,
    };
    seeds.into_iter().filter(run).map(|seed| (0..runs.len()).map(|at| ratio(seed, at)).collect()).collect()
}

/// Ratios per price, and where they cross 1.
pub(super) fn ratios(prices: &[f64], pairs: &Pairs) -> (Vec<Option<Estimate>>, Vec<Crossing>) {
    let logs: Vec<f64> = prices.iter().map(|price| ln(*price)).collect();
    let line = |draw: &[usize]| -> Vec<f64> {
        let at = |price: usize| {
            let values: Vec<f64> = draw.iter().map(|k| pairs[*k][price]).filter(|v| !v.is_nan()).collect();
            if 2 * values.len() > draw.len() { median(&values) } else { f64::NAN }
        };
        (0..prices.len()).map(at).collect()
    };
    let all: Vec<usize> = (0..pairs.len()).collect();
    let found = crossings(&logs, &line(&all));
    // The ratios, then every crossing: of each draw the one of the same sense that is nearest; beyond the ends of the
    // table where there is none.
    let drawn = estimates_of(pairs.len(), |draw| {
        let line = line(draw);
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
    let ratio = |estimate: &Estimate| {
        let ends = Estimate { low: within(estimate.low), high: within(estimate.high), ..*estimate };
        estimate.value.is_finite().then(|| exp(&ends))
    };
    let crossing = |(estimate, (_, sense)): (&Estimate, &(f64, Sense))| Crossing {
        price: exp(&Estimate { low: within(estimate.low), high: within(estimate.high), ..*estimate }),
        sense: *sense,
    };
    let (first, rest) = drawn.split_at(prices.len());
    (first.iter().map(ratio).collect(), rest.iter().zip(&found).map(crossing).collect())
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
        let pair = |factor: f64| vec![(2.0 * factor).ln(), factor.ln(), (0.5 * factor).ln()];
        let pairs: Pairs = [0.9, 0.95, 1.0, 1.05, 1.1].map(pair).to_vec();
        let (ratios, crossings) = ratios(&prices, &pairs);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(ratios[0].unwrap().value, 2.0) && near(ratios[2].unwrap().value, 0.5));
        assert!(near(ratios[1].unwrap().low.unwrap(), 0.9) && near(ratios[1].unwrap().high.unwrap(), 1.1));
        let [Crossing { price, sense: Sense::Faster }] = crossings[..] else { panic!("{crossings:?}") };
        assert!(
            near(price.value, 4.0) && near(price.low.unwrap(), 4.0 * 0.81) && near(price.high.unwrap(), 4.0 * 1.21)
        );
    }

    #[test]
    fn a_crossing_that_some_draws_do_not_have_is_open_at_that_end() {
        let prices = [1.0, 4.0];
        let pairs: Pairs = [-1.0f64, 0.5, 0.5, 0.5, 2.0].map(|at| vec![1.0, at - 0.6]).to_vec();
        let (_, crossings) = ratios(&prices, &pairs);
        let [Crossing { price, .. }] = crossings[..] else { panic!("{crossings:?}") };
        assert!(price.low.is_some() && price.high.is_none(), "{price:?}");
    }
}
