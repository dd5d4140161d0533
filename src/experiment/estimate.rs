//! Estimates of the time and memory of a run: from a rough model at first, then from measurements. They order the queue
//! and feed the remaining time on the screen; no result depends on them.

use std::collections::BTreeMap;

use super::plan::{Plan, RunSpec, SolverFacts};
use crate::dataset::Description;
use crate::store::keys::CellKey;
use ssvm::settings::{RunSettings, Until};

/// Estimates seconds per run, and learns from finished runs.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    /// Measured and modelled seconds (sums) per data set and solver.
    cells: BTreeMap<CellKey, (f64, f64)>,
}

impl Estimator {
    /// Wall seconds of a run with evaluation.
    pub fn seconds(&self, run: &RunSpec) -> f64 {
        let key = run.identity.cell();
        // For a solver without measurements, the model is assumed to be as far off as for the other solvers of the data
        // set.
        let others = || self.cells.iter().filter(|(cell, _)| cell.dataset == key.dataset).map(|(_, cell)| *cell);
        let seen = self.cells.get(&key).copied().or_else(|| others().reduce(|a, b| (a.0 + b.0, a.1 + b.1)));
        let (measured, modelled) = seen.unwrap_or((1.0, 1.0));
        run.model_s * (measured / modelled)
    }

    /// Whether a run of this data set and solver has been measured.
    pub fn knows(&self, run: &RunSpec) -> bool {
        self.cells.contains_key(&run.identity.cell())
    }

    /// Learns from a run that took this long; a projected run took no time of its own.
    pub fn learn(&mut self, run: &RunSpec, total_s: f64) {
        if total_s > 0.0 && run.model_s > 0.0 {
            let cell = self.cells.entry(run.identity.cell()).or_default();
            *cell = (cell.0 + total_s, cell.1 + run.model_s);
        }
    }
}

/// Wall seconds of a run with evaluation by the model alone, and bytes beside the data (working sets and blocks).
pub(super) fn model(settings: &RunSettings, facts: &Description, solver: &SolverFacts) -> (f64, u64) {
    let budget = &settings.budget;
    let terms = facts.size.n.max(1) as f64;
    let pass = terms * (facts.family.oracle_seconds)(&facts.size).max(1e-9);
    let by_iterations = budget.iterations.map(|count| count as f64);
    let by_calls = budget.oracle_calls.map(|calls| calls as f64 / terms);
    // The time of an iteration, and what the clock counts for it. A slope rule makes passes while they pay off, in
    // proportion to the oracle's time on the clock.
    let cost = if settings.clock.repeatable() { 1.0 } else { settings.oracle_cost.factor() };
    let rest = pass * (solver.pass_factor - 1.0) * if solver.reads_clock { cost } else { 1.0 };
    let (iteration, counted) = (pass + rest, cost * pass + rest);
    let by_time = budget.time_s.map(|time| time / counted);
    let longest = match (budget.until, by_iterations, by_time) {
        (Until::All, Some(iterations), Some(time)) => [Some(iterations.max(time)), by_calls, None],
        _ => [by_iterations, by_calls, by_time],
    };
    let iterations = longest.into_iter().flatten().fold(1e6, f64::min).ceil();
    let evaluations = settings.evaluate.count(iterations as u64).max(1);
    let seconds = iterations * iteration + evaluations as f64 * pass + 1e-3;
    // A call adds at most one plane, and an iteration has as many calls as terms.
    let planes = facts.size.n.saturating_mul(solver.kept_planes.min(iterations as u64));
    let bytes = planes.saturating_mul((facts.family.plane_bytes)(&facts.size)).saturating_add(facts.run_bytes);
    (seconds, bytes)
}

/// Peak memory of a plan in bytes: all data sets, and the largest run of each worker.
pub fn plan_memory(plan: &Plan, jobs: usize) -> u64 {
    let data: u64 = plan.sets.iter().map(|set| set.description.size.bytes).sum();
    let largest = plan.runs.iter().map(|run| run.bytes).max().unwrap_or(0);
    data.saturating_add(largest.saturating_mul(jobs as u64))
}
