//! The paper's oracle cost: the factor at which BCFW spends the paper's share of its time in the oracle, solved from a few
//! iterations before the runs that need it.

use crate::dataset::DataDir;
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan};
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::drive::{AnyProblem, Execution, Quiet};
use ssvm::problem::Paper;
use ssvm::settings::{Budget, Cadence, RunSettings, SolverSpec};
use ssvm::stats::median;

/// Iterations of BCFW that the cost is solved from.
const ITERATIONS: u64 = 10;
/// Runs of BCFW on a clock with noise.
const RUNS: u64 = 5;

/// A plan in which the oracle cost of every run is known: solves the missing ones and prints each through `say`.
pub fn complete(
    mut plan: Plan,
    experiment: &Experiment,
    catalog: &dyn Catalog,
    data: &DataDir,
    say: impl Fn(&str),
) -> Result<Plan> {
    for at in 0..plan.sets.len() {
        if !plan.sets[at].lacks_paper_cost() {
            continue;
        }
        let name = plan.sets[at].spec.name.clone();
        let problem = plan.problem(at, experiment, catalog, data)?;
        let Some(paper) = catalog.paper(&name) else { continue };
        let cost = solve(paper, &*problem, experiment.clock)
            .map_err(|error| Error::line(&experiment.path, plan.sets[at].spec.line, error.to_string()))?;
        say(&format!("{name}: the paper's oracle cost on the {} clock is {cost}", experiment.clock.name()));
        plan.set_paper_cost(at, cost, experiment, catalog)?;
    }
    Ok(plan)
}

/// To two digits.
fn solve(paper: Paper, problem: &dyn AnyProblem, clock: ClockKind) -> Result<OracleCost> {
    let mut shares = Vec::new();
    // Any cost but 1: the CPU clock then reads each call.
    let probe = OracleCost::new(2.0)?;
    for seed in 1..=if clock.repeatable() { 1 } else { RUNS } {
        let settings = RunSettings {
            solver: SolverSpec::new(Paper::SOLVER),
            seed,
            clock,
            oracle_cost: probe,
            budget: Budget::iterations(ITERATIONS),
            evaluate: Cadence::At(vec![ITERATIONS]),
        };
        let outcome = problem.run(&settings, &Execution::default(), &mut Quiet)?;
        let last = outcome.points.last().ok_or(super::Error::NoIteration)?;
        let (time, oracle) = probe.project(last.time_s, last.oracle_time_s, OracleCost::ONE);
        shares.push(oracle / time);
    }
    Ok(OracleCost::for_share(paper.oracle_share(), 1.0, median(&shares)).and_then(OracleCost::rounded)?)
}
