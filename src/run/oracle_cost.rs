//! The paper's oracle cost: the factor at which BCFW spends the paper's share of its time in the oracle, solved from runs of
//! BCFW before those that need it.
//!
//! The share is that of a whole run, so the pilot has the budget of the runs. A few iterations are not enough: the first one
//! touches memory for the first time, and later ones have more steps that change nothing and are cheaper. On the wall clock, ten iterations
//! gave k = 0.061, 1.7, 1.8 and 2.0 on the four synthetic sets, whole runs of `quick` 0.041, 2.0, 1.3 and 1.4.

use std::time::Instant;

use super::worker::StopSignal;
use crate::dataset::DataDir;
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan};
use ssvm::clock::OracleCost;
use ssvm::drive::{AnyProblem, Execution, Quiet};
use ssvm::problem::Paper;
use ssvm::settings::{Budget, RunSettings, SolverSpec};

/// Maximum number of BCFW runs from which a cost is solved.
const RUNS: u64 = 4;
/// Two runs agree when the costs solved from them differ by at most this factor.
const AGREE: f64 = 1.1;

/// A plan in which the oracle cost of every run is known: solves the missing ones and prints each through `say`.
pub fn complete(
    mut plan: Plan,
    experiment: &Experiment,
    catalog: &dyn Catalog,
    data: &DataDir,
    stop: &StopSignal,
    say: impl Fn(&str),
) -> Result<Plan> {
    for at in 0..plan.sets.len() {
        if !plan.sets[at].lacks_paper_cost() {
            continue;
        }
        let spec = plan.sets[at].spec.clone();
        let problem = plan.problem(at, experiment, catalog, data)?;
        let Some(paper) = catalog.paper(&spec.name) else { continue };
        let cost = solve(paper, &*problem, experiment, &spec.budget, stop)
            .map_err(|error| Error::line(&experiment.path, spec.line, error.to_string()))?;
        say(&format!("{}: the paper's oracle cost on the {} clock is {cost}", spec.name, experiment.clock.name()));
        plan.set_paper_cost(at, cost, experiment, catalog)?;
    }
    Ok(plan)
}

/// Solves the cost to two digits. If a time limit ends a run, its length and therefore its share depend on the cost. Each run is then
/// made at the cost that the previous one gave, until two agree.
fn solve(
    paper: Paper,
    problem: &dyn AnyProblem,
    experiment: &Experiment,
    budget: &Budget,
    stop: &StopSignal,
) -> Result<OracleCost> {
    // Any cost but 1: the CPU clock then reads each call.
    let mut cost = OracleCost::new(2.0)?;
    for seed in 1..=RUNS {
        let settings = RunSettings {
            solver: SolverSpec::new(Paper::SOLVER),
            seed,
            clock: experiment.clock,
            oracle_cost: cost,
            budget: budget.clone(),
            evaluate: experiment.evaluate.clone(),
        };
        let began = Instant::now();
        let cancelled = || stop.is_set() || experiment.timeout.is_some_and(|most| began.elapsed() > most);
        let outcome =
            problem.run(&settings, &Execution { cancelled: &cancelled, ..Execution::default() }, &mut Quiet)?;
        if stop.is_set() {
            return Err(super::Error::StoppedEarly.into());
        }
        let last = outcome.points.last().ok_or(super::Error::NoIteration)?;
        let (time, oracle) = cost.project(last.time_s, last.oracle_time_s, OracleCost::ONE);
        let solved = OracleCost::for_share(paper.oracle_share(), time, oracle).and_then(OracleCost::rounded)?;
        let agree = (solved.factor() / cost.factor()).ln().abs() <= AGREE.ln();
        if agree || experiment.clock.repeatable() && budget.time_s.is_none() {
            return Ok(solved);
        }
        cost = solved;
    }
    Ok(cost)
}
