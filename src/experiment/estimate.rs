//! How long a run will take and how much memory the plan needs: a rough model first, what was measured afterwards.
//! Decides the order of the queue and the "time left" on the screen; no result depends on it.

use std::collections::HashMap;

use super::plan::{Plan, RunSpec};
use crate::dataset::Description;
use ssvm::settings::Until;

/// Estimates seconds per run; learns from finished ones.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    /// Measured over modelled seconds (sums) per data set and solver.
    cells: HashMap<(String, String), (f64, f64)>,
}

impl Estimator {
    /// Wall seconds of a run with evaluation.
    pub fn seconds(&self, run: &RunSpec, facts: &Description) -> f64 {
        Self::model(run, facts) * self.factor(run)
    }

    /// The same before anything was measured; a run that follows from another takes none.
    pub fn model(run: &RunSpec, facts: &Description) -> f64 {
        if run.projected_from.is_some() { 0.0 } else { model_seconds(run, facts) }
    }

    /// How far off the model is for this run.
    pub fn factor(&self, run: &RunSpec) -> f64 {
        let key = key(run);
        let (measured, modelled) = match self.cells.get(&key) {
            Some(cell) => *cell,
            // Not seen yet: as far off as the model was for other solvers of the same data set.
            None => self.sum(|(dataset, _)| *dataset == key.0).unwrap_or((1.0, 1.0)),
        };
        measured / modelled
    }

    /// Whether a run of this data set and solver has been measured.
    pub fn knows(&self, run: &RunSpec) -> bool {
        self.cells.contains_key(&key(run))
    }

    /// Takes note of a run that took this long; one that follows from another took no time of its own.
    pub fn learn(&mut self, run: &RunSpec, facts: &Description, total_s: f64) {
        self.note(run, total_s, Self::model(run, facts));
    }

    /// Takes note of a part of a run: measured seconds, and those that the model has for it.
    pub fn note(&mut self, run: &RunSpec, measured_s: f64, model_s: f64) {
        if measured_s > 0.0 && model_s > 0.0 {
            let cell = self.cells.entry(key(run)).or_default();
            *cell = (cell.0 + measured_s, cell.1 + model_s);
        }
    }

    fn sum(&self, which: impl Fn(&(String, String)) -> bool) -> Option<(f64, f64)> {
        let cells = self.cells.iter().filter(|(key, _)| which(key)).map(|(_, cell)| cell);
        cells.copied().reduce(|a, b| (a.0 + b.0, a.1 + b.1))
    }
}

fn key(run: &RunSpec) -> (String, String) {
    (run.identity.problem.dataset.clone(), run.settings().cell())
}

fn model_seconds(run: &RunSpec, facts: &Description) -> f64 {
    let settings = run.settings();
    let budget = &settings.budget;
    let terms = facts.size.n.max(1) as f64;
    let pass = terms * (facts.family.oracle_seconds)(&facts.size).max(1e-9);
    let by_iterations = budget.iterations.map(|count| count as f64);
    let by_calls = budget.oracle_calls.map(|calls| calls as f64 / terms);
    // What an iteration takes, and what the clock counts for it. A slope rule makes passes as long as they pay, which they do
    // in proportion to what the clock says of the oracle.
    let cost = if settings.clock.repeatable() { 1.0 } else { settings.oracle_cost.factor() };
    let rest = pass * (run.pass_factor - 1.0) * if run.reads_clock { cost } else { 1.0 };
    let (iteration, counted) = (pass + rest, cost * pass + rest);
    let by_time = budget.time_s.map(|time| time / counted);
    let longest = match (budget.until, by_iterations, by_time) {
        (Until::All, Some(iterations), Some(time)) => [Some(iterations.max(time)), by_calls, None],
        _ => [by_iterations, by_calls, by_time],
    };
    let iterations = longest.into_iter().flatten().fold(1e6, f64::min).ceil();
    let evaluations = settings.evaluate.count(iterations as u64).max(1);
    iterations * iteration + evaluations as f64 * pass + 1e-3
}

/// Peak bytes of a plan: all data sets, and per worker the largest working sets and blocks among the runs.
pub fn plan_memory(plan: &Plan, jobs: usize) -> u64 {
    let data: u64 = plan.sets.iter().map(|set| set.description.size.bytes).sum();
    let largest = plan.runs.iter().map(|run| run_bytes(plan.description(run), run.kept_planes)).max().unwrap_or(0);
    data.saturating_add(largest.saturating_mul(jobs as u64))
}

fn run_bytes(facts: &Description, planes: u64) -> u64 {
    let plane = (facts.family.plane_bytes)(&facts.size);
    facts.size.n.saturating_mul(planes).saturating_mul(plane).saturating_add(facts.run_bytes)
}
