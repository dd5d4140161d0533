//! How long a run will take and how much memory the plan needs: a rough model first, what was measured afterwards.
//! Decides the order of the queue and the "time left" on the screen; no result depends on it.

use std::collections::HashMap;

use super::RunSpec;
use crate::config::{SolverKind, SolverSpec};
use crate::dataset::Description;

/// Estimates seconds per run; learns from finished ones.
#[derive(Clone, Debug, Default)]
pub struct Estimator {
    /// Measured over modelled seconds (sums) per data set and solver.
    cells: HashMap<(String, SolverKind), (f64, f64)>,
}

impl Estimator {
    /// Wall seconds of a run with evaluation.
    pub fn seconds(&self, run: &RunSpec, facts: &Description) -> f64 {
        let key = (run.identity.dataset.clone(), run.settings().solver.kind);
        let model = model_seconds(run, facts);
        let (measured, modelled) = match self.cells.get(&key) {
            Some(cell) => *cell,
            // Not seen yet: as far off as the model was for other solvers of the same data set.
            None => self.sum(|(dataset, _)| *dataset == key.0).unwrap_or((1.0, 1.0)),
        };
        model * measured / modelled
    }

    /// Whether a run of this data set and solver has been measured.
    pub fn knows(&self, run: &RunSpec) -> bool {
        self.cells.contains_key(&(run.identity.dataset.clone(), run.settings().solver.kind))
    }

    /// Takes note of a run that took this long.
    pub fn learn(&mut self, run: &RunSpec, facts: &Description, total_s: f64) {
        if total_s > 0.0 {
            let cell = self.cells.entry((run.identity.dataset.clone(), run.settings().solver.kind)).or_default();
            *cell = (cell.0 + total_s, cell.1 + model_seconds(run, facts));
        }
    }

    fn sum(&self, which: impl Fn(&(String, SolverKind)) -> bool) -> Option<(f64, f64)> {
        let cells = self.cells.iter().filter(|(key, _)| which(key)).map(|(_, cell)| cell);
        cells.copied().reduce(|a, b| (a.0 + b.0, a.1 + b.1))
    }
}

/// Features per node of the segmentation sets; only their ratio to d matters here.
const NODE_FEATURES: f64 = 649.0;

fn oracle_seconds(facts: &Description) -> f64 {
    let (values, d) = (facts.bytes as f64 / 4.0 / facts.n.max(1) as f64, facts.d as f64);
    let labels = (d / NODE_FEATURES).max(2.0);
    let nodes = values / NODE_FEATURES;
    match facts.family {
        "multiclass" => 0.1e-9 * d,
        "chain" => 5e-9 * values + 2e-6,
        "binary graph" => 0.3e-9 * values + 0.1e-6 * nodes,
        _ => 0.1e-9 * values * labels + 0.15e-6 * nodes * labels,
    }
}

fn model_seconds(run: &RunSpec, facts: &Description) -> f64 {
    let settings = run.settings();
    let budget = &settings.budget;
    let pass = facts.n as f64 * oracle_seconds(facts).max(1e-9);
    let approximate = if settings.solver.kind.multi_plane() { 4.0 } else { 0.5 };
    let by_iterations = budget.iterations.map(|count| count as f64);
    let by_calls = budget.oracle_calls.map(|calls| calls as f64 / facts.n.max(1) as f64);
    let by_time = budget.time_s.map(|time| time / (pass * (1.0 + approximate)));
    let iterations = [by_iterations, by_calls, by_time].into_iter().flatten().fold(1e6, f64::min).ceil();
    let evaluations = (1..=iterations as u64).filter(|k| settings.evaluate.due(*k)).count().max(1);
    pass * (iterations * (1.0 + approximate) + evaluations as f64) + 1e-3
}

/// Peak bytes of a plan: all data sets, and per worker the largest working sets and blocks among the runs.
pub fn plan_memory(runs: &[RunSpec], facts: &[Description], jobs: usize) -> u64 {
    let data: u64 = facts.iter().map(|set| set.bytes).sum();
    let largest = runs.iter().map(|run| run_bytes(&facts[run.set], &run.settings().solver)).max().unwrap_or(0);
    data + jobs as u64 * largest
}

fn run_bytes(facts: &Description, solver: &SolverSpec) -> u64 {
    let (plane, block) = match facts.family {
        "multiclass" => (64, 4 * facts.d),
        "chain" => (4096, 8192),
        _ => (4 * facts.d + 64, 8 * facts.d),
    };
    // A plane stays T iterations after its last use and each iteration adds at most one.
    let planes = if solver.kind.multi_plane() { (solver.n as u64).min(2 * (solver.t + 1)) } else { 0 };
    facts.n * (block + planes * plane)
}
