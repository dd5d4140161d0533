//! Prices of the oracle: what a config says in, factors out; and which run of a solver that never reads the clock stands for
//! those at all other prices.

use crate::clock::{ClockKind, OracleCost};
use crate::config::Price;
use crate::drive::{AnyProblem, Quiet};
use crate::error::{Error, Result};
use crate::problem::Paper;
use crate::settings::{Budget, Cadence, RunSettings, SolverSpec};
use crate::stats::median;

/// Iterations of BCFW that the paper's price is solved from.
const ITERATIONS: u64 = 5;
/// Runs of BCFW where a clock has noise.
const RUNS: u64 = 3;

/// The factors of a list of prices, each once.
pub(super) fn resolve(prices: &[Price], paper: Option<OracleCost>) -> Vec<OracleCost> {
    let mut costs: Vec<OracleCost> = Vec::new();
    for price in prices {
        let cost = match price {
            Price::Factor(cost) => Some(*cost),
            Price::Paper => paper,
        };
        costs.extend(cost.filter(|cost| !costs.contains(cost)));
    }
    costs
}

/// The factor at which BCFW's oracle has the paper's share of the time on this clock, to two digits, from its first iterations.
pub(super) fn paper_price(paper: Paper, problem: &dyn AnyProblem, clock: ClockKind) -> Result<OracleCost> {
    let mut shares = Vec::new();
    for seed in 1..=if clock.repeatable() { 1 } else { RUNS } {
        let settings = RunSettings {
            solver: SolverSpec::new("bcfw"),
            seed,
            clock,
            oracle_cost: OracleCost::ONE,
            budget: Budget::iterations(ITERATIONS),
            evaluate: Cadence::At(vec![ITERATIONS]),
        };
        let outcome = problem.run(&settings, &mut Quiet)?;
        let last = outcome.points.last().ok_or_else(|| Error::invalid("no iteration of BCFW was evaluated"))?;
        shares.push(last.oracle_time_s / last.time_s);
    }
    OracleCost::for_share(paper.oracle_share(), 1.0, median(&shares)).and_then(OracleCost::rounded)
}

/// The price at which a solver that never reads the clock is run; its times at all others follow from that run. A limit of
/// time is reached last where the oracle is cheapest.
pub(super) fn run_at(costs: &[OracleCost], budget: &Budget) -> OracleCost {
    if budget.time_s.is_none() && costs.contains(&OracleCost::ONE) {
        return OracleCost::ONE;
    }
    let least = |a: OracleCost, b: OracleCost| if b < a { b } else { a };
    costs.iter().copied().reduce(least).unwrap_or_default()
}
