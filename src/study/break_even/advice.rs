//! "My oracle takes 3 ms: which solver?" A data set of the table and an oracle cost → every solver's time over BCFW's there, and
//! which is the fastest.

use serde::{Deserialize, Serialize};

use super::{Bound, BreakEvenSet, REFERENCE, Ratio};
use crate::study::estimate::Estimate;
use ssvm::settings::total_order;
use ssvm::stats::portable::{exp, ln};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostGiven {
    /// Seconds of one call.
    Call(f64),
    /// BCFW's share of time in it.
    Share(f64),
    Factor(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    pub dataset: String,
    pub clock: String,
    pub title: String,
    #[serde(rename = "price")]
    pub cost: f64,
    /// The oracle cost that the table was read at: its nearest end when it does not reach that far.
    pub read_at: f64,
    pub call_s: f64,
    pub share: f64,
    pub targets: Vec<Choice>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    pub target: f64,
    /// All solvers that reached the gap, the fastest first; then those that did not.
    pub solvers: Vec<Candidate>,
    /// How many of the first do not differ significantly from the fastest.
    pub fastest: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub solver: String,
    pub display: String,
    pub ratio: Ratio,
}

impl Candidate {
    /// Whether it reached the gap; its ratio is a lower bound otherwise.
    pub fn reached(&self) -> bool {
        self.ratio.bound != Bound::AtLeast
    }
}

pub fn advise(set: &BreakEvenSet, given: CostGiven) -> Advice {
    let cost = match given {
        CostGiven::Call(seconds) => seconds / set.call_s,
        CostGiven::Share(share) => set.cost_of_share(share),
        CostGiven::Factor(cost) => cost,
    };
    let ends = (set.costs.first().copied().unwrap_or(cost), set.costs.last().copied().unwrap_or(cost));
    let read_at = cost.clamp(ends.0, ends.1);
    let odds = cost * set.share / (1.0 - set.share);
    Advice {
        dataset: set.dataset.clone(),
        clock: set.clock.clone(),
        title: set.title.clone(),
        cost,
        read_at,
        call_s: cost * set.call_s,
        share: odds / (1.0 + odds),
        targets: set.targets.iter().map(|target| choice(set, *target, read_at)).collect(),
    }
}

fn choice(set: &BreakEvenSet, target: f64, cost: f64) -> Choice {
    let own = Ratio { time: Estimate { value: 1.0, low: Some(1.0), high: Some(1.0) }, bound: Bound::None };
    let mut solvers = vec![Candidate { solver: REFERENCE.to_owned(), display: "BCFW".to_owned(), ratio: own }];
    for row in set.rows.iter().filter(|row| row.target == target) {
        if let Some(ratio) = between(&set.costs, &row.ratios, cost) {
            solvers.push(Candidate { solver: row.solver.clone(), display: row.display.clone(), ratio });
        }
    }
    let order = |one: &Candidate| (!one.reached(), total_order(one.ratio.time.value));
    solvers.sort_by_key(order);
    let most = solvers[0].ratio.high().unwrap_or(f64::INFINITY);
    let tied = |one: &&Candidate| one.reached() && one.ratio.low().is_none_or(|low| low <= most);
    let fastest = solvers.iter().take_while(tied).count();
    Choice { target, solvers, fastest }
}

/// The ratio at an oracle cost between two of the table: straight in logarithms, and a bound where one of them is.
fn between(costs: &[f64], ratios: &[Option<Ratio>], cost: f64) -> Option<Ratio> {
    let after = costs.partition_point(|p| *p < cost).min(costs.len().checked_sub(1)?);
    let before = if costs[after] == cost { after } else { after.saturating_sub(1) };
    let (a, b) = (ratios[before]?, ratios[after]?);
    let part = if before == after { 0.0 } else { ln(cost / costs[before]) / ln(costs[after] / costs[before]) };
    let mix = |a: f64, b: f64| exp(ln(a) + part * (ln(b) - ln(a)));
    let ends = |a: Option<f64>, b: Option<f64>| Some(mix(a?, b?));
    let time = Estimate {
        value: mix(a.time.value, b.time.value),
        low: ends(a.low(), b.low()),
        high: ends(a.high(), b.high()),
    };
    Some(Ratio { time, bound: if a.bound == Bound::None { b.bound } else { a.bound } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::break_even::BreakEvenRow;

    fn set() -> BreakEvenSet {
        let estimate = |value: f64| {
            let time = Estimate { value, low: Some(0.9 * value), high: Some(1.1 * value) };
            Some(Ratio { time, bound: Bound::None })
        };
        let row = |solver: &str, values: [f64; 3]| BreakEvenRow {
            solver: solver.to_owned(),
            display: solver.to_owned(),
            target: 0.01,
            pairs: 5,
            ratios: values.map(estimate).to_vec(),
            crossings: Vec::new(),
        };
        BreakEvenSet {
            dataset: "d".to_owned(),
            title: "D".to_owned(),
            clock: "virtual".to_owned(),
            costs: vec![1.0, 4.0, 16.0],
            call_s: 1e-3,
            share: 0.5,
            paper_share: Some(0.75),
            reached: 0.005,
            targets: vec![0.01],
            rows: vec![row("a", [2.0, 1.0, 0.5]), row("b", [0.98, 0.96, 0.94])],
        }
    }

    #[test]
    fn a_slow_oracle_and_a_large_share_are_the_same_cost() {
        let by = |known| advise(&set(), known);
        assert_eq!(by(CostGiven::Call(3e-3)).cost, 3.0);
        assert!(
            (by(CostGiven::Share(0.75)).cost - 3.0).abs() < 1e-12
                && (by(CostGiven::Call(3e-3)).share - 0.75).abs() < 1e-12
        );
        assert_eq!(set().paper_cost(), Some(3.0));
    }

    #[test]
    fn the_fastest_at_a_cost_is_first_and_ties_are_named() {
        let at = |cost| advise(&set(), CostGiven::Factor(cost)).targets.remove(0);
        let names = |choice: &Choice| choice.solvers.iter().map(|c| c.solver.clone()).collect::<Vec<_>>();
        let slow = at(16.0);
        assert_eq!((names(&slow), slow.fastest), (vec!["a".into(), "b".into(), "bcfw".into()], 1));
        let cheap = at(1.0);
        assert_eq!((names(&cheap), cheap.fastest), (vec!["b".into(), "bcfw".into(), "a".into()], 2));
        assert!((at(8.0).solvers[0].ratio.time.value - 0.5f64.sqrt()).abs() < 1e-12, "straight in logarithms");
        let beyond = advise(&set(), CostGiven::Factor(1000.0));
        assert_eq!((beyond.cost, beyond.read_at), (1000.0, 16.0));
    }
}
