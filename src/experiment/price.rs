//! Prices of the oracle: what a config says in, factors out; and which run of a solver that never reads the clock stands for
//! those at all other prices.

use crate::error::{Error, Result};
use crate::experiment::Price;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::drive::{AnyProblem, Execution, Quiet};
use ssvm::problem::Paper;
use ssvm::settings::{Budget, Cadence, RunSettings, SolverSpec};
use ssvm::stats::median;

/// Iterations of BCFW that the paper's price is solved from.
const ITERATIONS: u64 = 10;
/// Runs of BCFW where a clock has noise.
const RUNS: u64 = 5;

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
    let probe = OracleCost::new(2.0)?;
    for seed in 1..=if clock.repeatable() { 1 } else { RUNS } {
        let settings = RunSettings {
            solver: SolverSpec::new(Paper::SOLVER),
            seed,
            clock,
            // Any price but its own: the CPU clock then asks each call.
            oracle_cost: probe,
            budget: Budget::iterations(ITERATIONS),
            evaluate: Cadence::At(vec![ITERATIONS]),
        };
        let outcome = problem.run(&settings, &Execution::default(), &mut Quiet)?;
        let last = outcome.points.last().ok_or_else(|| Error::invalid("no iteration of BCFW was evaluated"))?;
        let (time, oracle) = probe.project(last.time_s, last.oracle_time_s, OracleCost::ONE);
        shares.push(oracle / time);
    }
    Ok(OracleCost::for_share(paper.oracle_share(), 1.0, median(&shares)).and_then(OracleCost::rounded)?)
}

/// The price at which a solver that never reads the clock is run; its times at all others follow from that run. `None` when
/// it must be run at each: a limit of time ends the same steps elsewhere.
pub(super) fn run_at(costs: &[OracleCost], budget: &Budget) -> Option<OracleCost> {
    let first = if costs.contains(&OracleCost::ONE) { Some(OracleCost::ONE) } else { costs.first().copied() };
    first.filter(|_| budget.time_s.is_none())
}
