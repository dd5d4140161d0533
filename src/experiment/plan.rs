//! Turns an [`Experiment`] and the tables into a [`Plan`]: checked data sets, and ordered [`RunSpec`]s, each with a
//! stable identity and an estimate. Nothing is solved here. A data set that the plan had to read is kept, so that it is
//! loaded once.

use std::sync::{Arc, OnceLock};

use crate::dataset::{DataDir, DatasetName, Described, Description, Request};
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::experiment::estimate::model;
use crate::experiment::{CostSetting, DatasetSpec, Experiment};
use crate::store::identity::{CODE_VERSION, Identity, order_seed};
use crate::store::keys::ProblemKey;
use crate::store::manifest::PaperCosts;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::drive::AnyProblem;
use ssvm::problem::Size;
use ssvm::settings::{Budget, RunSettings, SolverSpec};

/// One run to be done.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// [`Identity::run_id`]; empty while the oracle cost is not known.
    pub run_id: String,
    pub identity: Identity,
    /// Index of the data set in the plan.
    pub set: usize,
    /// Number of the repeat, from 0.
    pub repeat: u64,
    /// The run from which its times at this oracle cost are projected; `None` for a run that must be made.
    pub projected_from: Option<String>,
    /// Wall seconds by the model alone; 0 for a projected run.
    pub model_s: f64,
    /// Memory beside the data, roughly.
    pub bytes: u64,
}

impl RunSpec {
    pub fn settings(&self) -> &RunSettings {
        &self.identity.settings
    }

    /// `usps-synth mp-bcfw #3`.
    pub fn label(&self) -> String {
        self.identity.label(self.repeat)
    }
}

/// A data set of a plan.
#[derive(Clone)]
pub struct PlannedSet {
    /// The entry of the config; its name is that of the data set that is used.
    pub spec: DatasetSpec,
    /// The data set that the config prefers, if its files are missing or not the official ones.
    pub instead_of: Option<String>,
    pub description: Description,
    /// The paper's oracle cost, where the config asks for it and it is known.
    pub paper_cost: Option<OracleCost>,
    problem: OnceLock<Arc<dyn AnyProblem>>,
}

impl PlannedSet {
    /// Whether the config asks for the paper's oracle cost and it has not been solved yet.
    pub fn lacks_paper_cost(&self) -> bool {
        self.paper_cost.is_none() && self.spec.wants_paper_cost()
    }

    /// The oracle costs that are known, each once.
    fn costs(&self) -> Vec<OracleCost> {
        let mut costs: Vec<OracleCost> = Vec::new();
        for setting in &self.spec.oracle_costs {
            let cost = match setting {
                CostSetting::Factor(cost) => Some(*cost),
                CostSetting::Paper => self.paper_cost,
            };
            costs.extend(cost.filter(|cost| !costs.contains(cost)));
        }
        costs
    }
}

/// A data set whose runs are known only after some work: images must be prepared, or a program started.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingSet {
    pub dataset: String,
    /// The work that a run does first.
    pub work: String,
    /// An estimate, if known.
    pub size: Option<Size>,
    /// Number of its runs.
    pub runs: u64,
}

/// The data sets and runs of an experiment.
#[derive(Clone, Default)]
pub struct Plan {
    /// Data sets, in the order of the config.
    pub sets: Vec<PlannedSet>,
    /// Data sets of an outline whose runs are not known yet.
    pub pending: Vec<PendingSet>,
    /// Runs in the order data set × solver × oracle cost × repeat.
    pub runs: Vec<RunSpec>,
    /// Runs at the paper's oracle cost where it is not known yet, listed as at cost 1 for estimates. They get
    /// identities once the cost is known.
    pub undetermined: Vec<RunSpec>,
    /// The paper's oracle costs that are known.
    pub paper_costs: PaperCosts,
}

impl Plan {
    /// Validates every data set and lists the runs; errors name the line of the config. Prepares images and starts
    /// oracle programs where the identity of runs depends on them.
    pub fn new(experiment: &Experiment, catalog: &dyn Catalog, data: &DataDir) -> Result<Self> {
        Self::make(experiment, catalog, data, true)
    }

    /// [`Plan::new`] that only reads. Data sets that need work first are listed in [`Plan::pending`], without their
    /// runs.
    pub fn outline(experiment: &Experiment, catalog: &dyn Catalog, data: &DataDir) -> Result<Self> {
        Self::make(experiment, catalog, data, false)
    }

    fn make(experiment: &Experiment, catalog: &dyn Catalog, data: &DataDir, may_work: bool) -> Result<Self> {
        check_count(experiment)?;
        let mut plan = Self::default();
        for spec in &experiment.datasets {
            let added = plan.add_set(experiment, spec, catalog, data, may_work);
            added.map_err(|error| at_line(experiment, spec, &error))?;
        }
        if plan.sets.is_empty() && plan.pending.is_empty() {
            let cells: Vec<String> = experiment.only.iter().map(ToString::to_string).collect();
            let known: Vec<String> = experiment.solvers.iter().map(ToString::to_string).collect();
            let sets: Vec<&str> = experiment.datasets.iter().map(|spec| spec.name.as_str()).collect();
            let (cells, sets, known) = (cells.join(", "), sets.join(", "), known.join(", "));
            let message = format!(
                "--only '{cells}' matches no DATASET/SOLVER of this config; its data sets are {sets}; its solvers are {known}"
            );
            return Err(Error::file(&experiment.path, message));
        }
        plan.list_runs(experiment, catalog)?;
        Ok(plan)
    }

    /// Adds the data set of an entry, unless `--only` excludes all of it.
    fn add_set(
        &mut self,
        experiment: &Experiment,
        spec: &DatasetSpec,
        catalog: &dyn Catalog,
        data: &DataDir,
        may_work: bool,
    ) -> Result<()> {
        let (spec, instead_of) = available(spec, catalog, data)?;
        let solvers = experiment.solvers.iter().filter(|solver| experiment.wants(&spec.name, solver, None)).count();
        if solvers == 0 {
            return Ok(());
        }
        if spec.wants_paper_cost() && catalog.paper(&spec.name).is_none() {
            let message = format!("the paper has no oracle cost for {}; give oracle_cost as a number", spec.name);
            return Err(Error::invalid(message));
        }
        let (description, problem) = match catalog.describe(&request(&spec, data))? {
            Described::Known(description) => (description, OnceLock::new()),
            Described::Pending { work, size } if !may_work => {
                let runs = (solvers * spec.oracle_costs.len().max(1)) as u64 * experiment.repeats;
                self.pending.push(PendingSet { dataset: spec.name, work, size, runs });
                return Ok(());
            }
            Described::Unread | Described::Pending { .. } => {
                let opened = catalog.open(&request(&spec, data))?;
                (opened.description, OnceLock::from(opened.problem))
            }
        };
        let mut set = PlannedSet { spec, instead_of, description, paper_cost: None, problem };
        let known = experiment.paper_costs.0.get(&(problem_key(&set), experiment.clock));
        set.paper_cost = known.copied().filter(|_| set.spec.wants_paper_cost());
        self.sets.push(set);
        Ok(())
    }

    /// The same plan, with the paper's oracle cost of one data set known.
    pub fn set_paper_cost(
        &mut self,
        set: usize,
        cost: OracleCost,
        experiment: &Experiment,
        catalog: &dyn Catalog,
    ) -> Result<()> {
        self.sets[set].paper_cost = Some(cost);
        self.list_runs(experiment, catalog)
    }

    /// A line for every data set that takes the place of another.
    pub fn replacements(&self) -> Vec<String> {
        let replaced = self.sets.iter().filter_map(|set| Some((set.instead_of.as_ref()?, set.spec.name.as_str())));
        let line = |(asked, used): (&String, &str)| match DatasetName::from(used).row() {
            (_, true) => format!("the file of {asked} is not the official one; its runs are stored as {used}"),
            _ => format!("{asked} is missing; {used} is used instead"),
        };
        replaced.map(line).collect()
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
        if let Some(problem) = set.problem.get() {
            return Ok(problem.clone());
        }
        let opened = catalog.open(&request(&set.spec, data)).map_err(|e| at_line(experiment, &set.spec, &e))?;
        Ok(set.problem.get_or_init(|| opened.problem).clone())
    }

    pub fn description(&self, run: &RunSpec) -> &Description {
        &self.sets[run.set].description
    }

    fn list_runs(&mut self, experiment: &Experiment, catalog: &dyn Catalog) -> Result<()> {
        let known = self.sets.iter().filter_map(|set| Some(((problem_key(set), experiment.clock), set.paper_cost?)));
        self.paper_costs = PaperCosts(known.collect());
        self.runs.clear();
        self.undetermined.clear();
        for (at, set) in self.sets.iter().enumerate() {
            let (name, costs) = (&set.spec.name, set.costs());
            let problem = problem_key(set);
            let problem_version = catalog.problem_version(name)?;
            for solver in experiment.solvers.iter().filter(|solver| experiment.wants(name, solver, None)) {
                let solver_version = catalog.solver_version(&solver.name)?;
                let facts = SolverFacts::of(experiment, set, solver, catalog)?;
                let identity = |repeat, oracle_cost| Identity {
                    problem: problem.clone(),
                    settings: RunSettings {
                        solver: solver.clone(),
                        seed: order_seed(experiment.seed, repeat),
                        clock: experiment.clock,
                        oracle_cost,
                        budget: set.spec.budget.clone(),
                        evaluate: experiment.evaluate.clone(),
                    },
                    cost_model: experiment.clock.cost_model(),
                    code_version: CODE_VERSION.to_owned(),
                    solver_version: solver_version.clone(),
                    problem_version: problem_version.clone(),
                };
                // All repeats at one oracle cost, projected from those at another, if given.
                let repeats = |cost: OracleCost, from: Option<OracleCost>| {
                    let run = |repeat| {
                        let identity_at = identity(repeat, cost);
                        let (model_s, bytes) = model(&identity_at.settings, &set.description, &facts);
                        RunSpec {
                            run_id: identity_at.run_id(),
                            set: at,
                            repeat,
                            projected_from: from.map(|base| identity(repeat, base).run_id()),
                            model_s: if from.is_some() { 0.0 } else { model_s },
                            bytes,
                            identity: identity_at,
                        }
                    };
                    (0..experiment.repeats).map(run).collect::<Vec<_>>()
                };
                let wanted = |cost: &OracleCost| experiment.wants(name, solver, Some(*cost));
                let base = projection_base(&costs, &set.spec.budget, experiment.clock);
                let base = base.filter(|_| !facts.reads_clock);
                for cost in costs.iter().copied().filter(wanted) {
                    let is_other = |base: &OracleCost| *base != cost && experiment.clock.measures_oracle(cost);
                    self.runs.extend(repeats(cost, base.filter(|base| is_other(base) && wanted(base))));
                }
                if set.lacks_paper_cost() {
                    let runs = repeats(OracleCost::ONE, base).into_iter();
                    self.undetermined.extend(runs.map(|run| RunSpec { run_id: String::new(), ..run }));
                }
            }
        }
        Ok(())
    }
}

/// Most runs of a plan; all of them are held in memory.
const MOST_RUNS: u64 = 500_000;

/// Counts the runs before any data set is described.
fn check_count(experiment: &Experiment) -> Result<()> {
    let count = |spec: &DatasetSpec| {
        let wanted = |solver: &&SolverSpec| spec.names().any(|name| experiment.wants(name, solver, None));
        (experiment.solvers.iter().filter(wanted).count() * spec.oracle_costs.len()) as u64
    };
    let cells: u64 = experiment.datasets.iter().map(count).sum();
    let count = cells.saturating_mul(experiment.repeats);
    if count < MOST_RUNS {
        return Ok(());
    }
    let message = format!("{count} runs are more than a plan may have ({MOST_RUNS}); use several configs");
    Err(Error::file(&experiment.path, message))
}

/// The facts of a solver that estimates need.
pub(super) struct SolverFacts {
    /// Rough ratio of the time of an iteration to that of its exact pass.
    pub pass_factor: f64,
    /// Rough limit of the planes kept per term.
    pub kept_planes: u64,
    /// Whether its steps depend on the clock.
    pub reads_clock: bool,
}

impl SolverFacts {
    /// Fails when the parameters of the solver do not fit the data set.
    fn of(experiment: &Experiment, set: &PlannedSet, solver: &SolverSpec, catalog: &dyn Catalog) -> Result<Self> {
        let Some(info) = catalog.solver(&solver.name) else {
            return Ok(Self { pass_factor: 1.5, kept_planes: 0, reads_clock: true });
        };
        let params = info.resolve(solver, catalog.solvers()).unwrap_or_default();
        (info.fits)(&params, set.description.size.n).map_err(|refusal| {
            let message = format!("{} on {}: {}", solver.name, set.spec.name, refusal.message);
            Error::line(&experiment.path, set.spec.line, message)
        })?;
        Ok(Self {
            pass_factor: info.pass_factor,
            kept_planes: info.planes.map_or(0, |planes| planes(&params)),
            reads_clock: (info.reads_clock)(&params),
        })
    }
}

/// The oracle cost at which a solver that never reads the clock is run; its times at all other costs are projected from
/// that run. `None` if it must be run at each cost, because a time limit ends the steps elsewhere or the clock does not
/// measure the time inside the oracle.
fn projection_base(costs: &[OracleCost], budget: &Budget, clock: ClockKind) -> Option<OracleCost> {
    let measured = || costs.iter().copied().filter(|cost| clock.measures_oracle(*cost));
    measured().find(OracleCost::is_one).or_else(|| measured().next()).filter(|_| budget.time_s.is_none())
}

fn problem_key(set: &PlannedSet) -> ProblemKey {
    // A program may have a λ of its own, so such a set is always loaded.
    let default_lambda = || match set.problem.get() {
        Some(problem) => problem.lambda(),
        None => 1.0 / set.description.size.n as f64,
    };
    ProblemKey {
        dataset: set.spec.name.clone(),
        checksum: set.description.checksum.clone(),
        lambda: set.spec.lambda.unwrap_or_else(default_lambda),
        pairwise_weight: set.spec.pairwise_weight,
    }
}

/// The data set of an entry, or the one that takes its place when its files are missing or not the official ones, with
/// the reason.
fn available(spec: &DatasetSpec, catalog: &dyn Catalog, data: &DataDir) -> Result<(DatasetSpec, Option<String>)> {
    let mut name = &spec.name;
    if let Some(other) = &spec.otherwise {
        if catalog.dataset(other).is_none() {
            // The error names the data sets that exist.
            catalog.describe(&request(&DatasetSpec { name: other.clone(), ..spec.clone() }, data))?;
        }
        let exists = catalog.dataset(name).is_none_or(|info| info.is_there(&request(spec, data)));
        name = if exists { name } else { other };
    }
    let name = catalog.used_name(name, data)?;
    let instead_of = Some(spec.name.clone()).filter(|asked| *asked != name);
    Ok((DatasetSpec { name, ..spec.clone() }, instead_of))
}

fn request<'a>(spec: &'a DatasetSpec, data: &'a DataDir) -> Request<'a> {
    Request { name: &spec.name, data, lambda: spec.lambda, pairwise_weight: spec.pairwise_weight }
}

/// Moves an error of a data set to the line of the config that names it.
fn at_line(experiment: &Experiment, spec: &DatasetSpec, error: &Error) -> Error {
    Error::line(&experiment.path, spec.line, error.to_string())
}
