//! [`Experiment`] and tables → [`Plan`]: checked data sets and ordered [`RunSpec`]s, each with a stable identity and an
//! estimate. A data set that had to be read for the plan is kept, so that it is loaded once.

use super::price;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::dataset::{DataDir, Described, Description, Request};
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::experiment::{DatasetSpec, Experiment, Price};
use crate::store::identity::{CODE_VERSION, Identity, order_seed};
use crate::store::keys::ProblemKey;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::drive::AnyProblem;
use ssvm::problem::Size;
use ssvm::settings::RunSettings;

/// One run to be done.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Identity of the run: [`Identity::run_id`].
    pub run_id: String,
    /// Everything the result depends on.
    pub identity: Identity,
    /// Index of the data set in the plan.
    pub set: usize,
    /// Repeat number from 0.
    pub repeat: u64,
    /// The run whose times at this price follow from its own; `None` for one that must be made.
    pub projected_from: Option<String>,
    /// Time of an iteration over that of its exact pass, roughly.
    pub pass_factor: f64,
    /// Planes kept per term, at most, roughly.
    pub kept_planes: u64,
    /// Whether its steps depend on the clock.
    pub reads_clock: bool,
}

impl RunSpec {
    /// The settings the executor gets.
    pub fn settings(&self) -> &RunSettings {
        &self.identity.settings
    }

    /// `usps-synth mp-bcfw #3`.
    pub fn label(&self) -> String {
        format!("{} {} #{}", self.identity.problem.dataset, self.settings().cell(), self.repeat)
    }
}

/// A data set of a plan.
pub struct PlannedSet {
    /// What the config says; the name is that of the data set that is used.
    pub spec: DatasetSpec,
    /// The data set that the config would rather have, and whose files are not there.
    pub instead_of: Option<String>,
    /// What is known of it.
    pub description: Description,
    /// Prices of its oracle.
    pub costs: Vec<OracleCost>,
    /// The paper's price, where the config asks for it.
    pub paper_price: Option<OracleCost>,
    problem: OnceLock<Arc<dyn AnyProblem>>,
}

impl PlannedSet {
    /// The price at which BCFW's oracle has the paper's share.
    fn solve_price(&self, clock: ClockKind, catalog: &dyn Catalog, data: &DataDir) -> Result<OracleCost> {
        let paper = catalog.paper(&self.spec.name).ok_or_else(|| {
            Error::invalid(format!("the paper has no price for {}: give oracle_cost as a number", self.spec.name))
        })?;
        price::paper_price(paper, &*self.problem(catalog, data)?, clock)
    }

    /// The problem, loaded at the first call.
    fn problem(&self, catalog: &dyn Catalog, data: &DataDir) -> Result<Arc<dyn AnyProblem>> {
        if let Some(problem) = self.problem.get() {
            return Ok(problem.clone());
        }
        let opened = catalog.open(&request(&self.spec, data))?;
        Ok(self.problem.get_or_init(|| opened.problem).clone())
    }
}

/// A data set whose runs are known only after some work: images must be prepared, or a program started.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingSet {
    /// Its name.
    pub dataset: String,
    /// What a run does first.
    pub work: String,
    /// An estimate of its size, when there is one.
    pub size: Option<Size>,
    /// Number of its runs.
    pub runs: u64,
}

/// Everything that would happen.
pub struct Plan {
    /// Data sets, in the order of the config.
    pub sets: Vec<PlannedSet>,
    /// Data sets of an outline whose runs are not known yet.
    pub pending: Vec<PendingSet>,
    /// data set × solver × repeat, in that order.
    pub runs: Vec<RunSpec>,
    /// The paper's prices that it was made with, by [`Experiment::price_key`].
    pub paper_prices: BTreeMap<String, OracleCost>,
}

impl Plan {
    /// Validates every data set and lists the runs; errors name the config's line. Where the identity of runs depends on
    /// it, images are prepared and oracle programs started.
    pub fn new(experiment: &Experiment, catalog: &dyn Catalog, data: &DataDir) -> Result<Self> {
        Self::make(experiment, catalog, data, true)
    }

    /// [`Plan::new`] that only reads: data sets that need work first are listed in [`Plan::pending`], without their runs.
    pub fn outline(experiment: &Experiment, catalog: &dyn Catalog, data: &DataDir) -> Result<Self> {
        Self::make(experiment, catalog, data, false)
    }

    fn make(experiment: &Experiment, catalog: &dyn Catalog, data: &DataDir, work: bool) -> Result<Self> {
        let (mut sets, mut pending) = (Vec::new(), Vec::new());
        for spec in &experiment.datasets {
            let (spec, instead_of) = &available(spec, catalog, data).map_err(|e| at_line(experiment, spec, &e))?;
            if !experiment.solvers.iter().any(|solver| experiment.wants(&spec.name, solver)) {
                continue;
            }
            let problem = OnceLock::new();
            let described = catalog.describe(&request(spec, data)).map_err(|e| at_line(experiment, spec, &e))?;
            let description = match described {
                Described::Known(description) => description,
                Described::Pending { work: first, size } if !work => {
                    let runs = count_runs(experiment, spec);
                    pending.push(PendingSet { dataset: spec.name.clone(), work: first, size, runs });
                    continue;
                }
                Described::Unread | Described::Pending { .. } => {
                    let opened = catalog.open(&request(spec, data)).map_err(|e| at_line(experiment, spec, &e))?;
                    // The cell is new: nothing can be in it.
                    let _ = problem.set(opened.problem);
                    opened.description
                }
            };
            let (costs, instead_of) = (Vec::new(), instead_of.clone());
            let mut set = PlannedSet { spec: spec.clone(), instead_of, description, costs, paper_price: None, problem };
            if spec.prices.contains(&Price::Paper) {
                let solved = match experiment.paper_prices.get(&experiment.price_key(&spec.name)) {
                    Some(before) => Ok(*before),
                    None => set.solve_price(experiment.clock, catalog, data),
                };
                set.paper_price = Some(solved.map_err(|e| at_line(experiment, spec, &e))?);
            }
            set.costs = price::resolve(&spec.prices, set.paper_price);
            sets.push(set);
        }
        if sets.is_empty() && pending.is_empty() {
            let cells = experiment.only.join(", ");
            let known: Vec<String> = experiment.solvers.iter().map(ToString::to_string).collect();
            let message =
                format!("--only {cells} fits no DATASET/SOLVER of this config; its solvers are {}", known.join(", "));
            return Err(Error::file(&experiment.path, message));
        }
        let runs = runs(experiment, catalog, &sets)?;
        let solved = |set: &PlannedSet| Some((experiment.price_key(&set.spec.name), set.paper_price?));
        let paper_prices = sets.iter().filter_map(solved).collect();
        Ok(Self { sets, pending, runs, paper_prices })
    }

    /// A line for every data set that takes the place of another.
    pub fn replacements(&self) -> Vec<String> {
        let line = |set: &PlannedSet| {
            Some(format!("{} is not there: {} takes its place", set.instead_of.as_ref()?, set.spec.name))
        };
        self.sets.iter().filter_map(line).collect()
    }

    /// The problem of a data set, loaded at the first call.
    pub fn problem(
        &self,
        set: usize,
        experiment: &Experiment,
        catalog: &dyn Catalog,
        data: &DataDir,
    ) -> Result<Arc<dyn AnyProblem>> {
        let set = &self.sets[set];
        set.problem(catalog, data).map_err(|error| at_line(experiment, &set.spec, &error))
    }

    /// What is known of the data set of a run.
    pub fn description(&self, run: &RunSpec) -> &Description {
        &self.sets[run.set].description
    }
}

/// The data set of an entry, or the one that takes its place when its files are not there, and for which.
fn available(spec: &DatasetSpec, catalog: &dyn Catalog, data: &DataDir) -> Result<(DatasetSpec, Option<String>)> {
    let Some(other) = &spec.otherwise else { return Ok((spec.clone(), None)) };
    let other = DatasetSpec { name: other.clone(), ..spec.clone() };
    if catalog.dataset(&other.name).is_none() {
        // The error says what there is.
        catalog.describe(&request(&other, data))?;
    }
    let there = catalog.dataset(&spec.name).is_none_or(|info| info.is_there(&request(spec, data)));
    Ok(if there { (spec.clone(), None) } else { (other, Some(spec.name.clone())) })
}

fn request<'a>(spec: &'a DatasetSpec, data: &'a DataDir) -> Request<'a> {
    Request { name: &spec.name, data, lambda: spec.lambda, pairwise_weight: spec.pairwise_weight }
}

/// An error of a data set, at the line of the config that asks for it.
fn at_line(experiment: &Experiment, spec: &DatasetSpec, error: &Error) -> Error {
    Error::line(&experiment.path, spec.line, error.to_string())
}

/// Number of runs of a data set.
fn count_runs(experiment: &Experiment, spec: &DatasetSpec) -> u64 {
    let solvers = experiment.solvers.iter().filter(|solver| experiment.wants(&spec.name, solver)).count();
    (solvers * spec.prices.len().max(1)) as u64 * experiment.repeats
}

/// Most runs of a plan; all of them are held in memory.
const MOST_RUNS: u64 = 500_000;

fn runs(experiment: &Experiment, catalog: &dyn Catalog, sets: &[PlannedSet]) -> Result<Vec<RunSpec>> {
    let mut runs = Vec::new();
    let cells = sets.iter().map(|set| set.costs.len().max(1) as u64).sum::<u64>() * experiment.solvers.len() as u64;
    if let count @ MOST_RUNS.. = cells.saturating_mul(experiment.repeats) {
        let message = format!("{count} runs are more than a plan may have ({MOST_RUNS}); use several configs");
        return Err(Error::file(&experiment.path, message));
    }
    for (set, PlannedSet { spec, description, costs, problem, .. }) in sets.iter().enumerate() {
        // A program may have a λ of its own; such a set is always loaded.
        let default_lambda = problem.get().map_or(1.0 / description.size.n as f64, |problem| problem.lambda());
        for solver in experiment.solvers.iter().filter(|solver| experiment.wants(&spec.name, solver)) {
            let info = catalog.solver(&solver.name);
            let params = info.and_then(|info| info.resolve(solver, catalog.solvers()).ok()).unwrap_or_default();
            if let Some(info) = info {
                (info.fits)(&params, description.size.n).map_err(|refusal| {
                    let message = format!("{} on {}: {}", solver.name, spec.name, refusal.message);
                    Error::line(&experiment.path, spec.line, message)
                })?;
            }
            let kept_planes = info.filter(|info| info.keeps_planes).map_or(0, |_| {
                // A plane stays T iterations after its last use and each iteration adds at most one.
                params.count("N").min(2 * params.count("T").saturating_add(1))
            });
            let reads_clock = info.is_none_or(|info| (info.reads_clock)(&params));
            let run_at = price::run_at(costs, &spec.budget);
            let identity = |repeat: u64, oracle_cost: OracleCost| Identity {
                problem: ProblemKey {
                    dataset: spec.name.clone(),
                    checksum: description.checksum.clone(),
                    lambda: spec.lambda.unwrap_or(default_lambda),
                    pairwise_weight: spec.pairwise_weight,
                },
                settings: RunSettings {
                    solver: solver.clone(),
                    seed: order_seed(experiment.seed, repeat),
                    clock: experiment.clock,
                    oracle_cost,
                    budget: spec.budget.clone(),
                    evaluate: experiment.evaluate.clone(),
                },
                code_version: CODE_VERSION.to_owned(),
            };
            let pass_factor = info.map_or(1.5, |info| info.pass_factor);
            for cost in costs.iter().filter(|cost| experiment.wants_at(&spec.name, solver, **cost)) {
                for repeat in 0..experiment.repeats {
                    let identity = |cost| identity(repeat, cost);
                    let wanted = |from: &OracleCost| from != cost && experiment.wants_at(&spec.name, solver, *from);
                    let projected_from =
                        run_at.filter(wanted).filter(|_| !reads_clock).map(|from| identity(from).run_id());
                    let (identity, run_id) = (identity(*cost), identity(*cost).run_id());
                    runs.push(RunSpec {
                        run_id,
                        identity,
                        set,
                        repeat,
                        projected_from,
                        pass_factor,
                        kept_planes,
                        reads_clock,
                    });
                }
            }
        }
    }
    Ok(runs)
}
