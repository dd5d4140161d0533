//! Prices of the oracle: what a config says in, factors out; and which run of a solver that never reads the clock stands for
//! those at all other prices.

use std::sync::Arc;

use crate::clock::{ClockKind, OracleCost};
use crate::config::Price;
use crate::drive::{AnyProblem, Quiet};
use crate::error::{Error, Result};
use crate::problem::Paper;
use crate::settings::{Budget, Cadence, RunSettings, SolverSpec};

/// Iterations of BCFW that the paper's price is solved from.
const ITERATIONS: u64 = 5;

/// The factors of a list of prices; `paper` gives the data set of the paper and the problem, where that is needed.
pub(super) fn resolve(
    prices: &[Price],
    paper: impl Fn() -> Result<(Paper, Arc<dyn AnyProblem>)>,
) -> Result<Vec<OracleCost>> {
    let mut costs: Vec<OracleCost> = Vec::new();
    for price in prices {
        let cost = match price {
            Price::Factor(cost) => *cost,
            Price::Paper => {
                let (paper, problem) = paper()?;
                paper_price(paper, &*problem)?
            }
        };
        if !costs.contains(&cost) {
            costs.push(cost);
        }
    }
    Ok(costs)
}

/// The factor at which BCFW's oracle has the paper's share of the time, to two digits: by the operations of its first
/// iterations, so that it is the same on every machine and in every session of a folder.
fn paper_price(paper: Paper, problem: &dyn AnyProblem) -> Result<OracleCost> {
    let settings = RunSettings {
        solver: SolverSpec::new("bcfw"),
        seed: 1,
        clock: ClockKind::VIRTUAL,
        oracle_cost: OracleCost::ONE,
        budget: Budget::iterations(ITERATIONS),
        evaluate: Cadence::At(vec![ITERATIONS]),
    };
    let outcome = problem.run(&settings, &mut Quiet)?;
    let last = outcome.points.last().ok_or_else(|| Error::invalid("no iteration of BCFW was evaluated"))?;
    OracleCost::for_share(paper.oracle_share(), last.time_s, last.oracle_time_s).and_then(OracleCost::rounded)
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
