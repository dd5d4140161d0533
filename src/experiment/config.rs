//! Wire types → the checked [`Experiment`]: every value in range, every combination possible, defaults filled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;

use super::wire::{self, Source};
use crate::error::{Error, Result};
use crate::store::files;
use crate::store::keys::CellPattern;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::settings::{Budget, Cadence, SolverSpec, Until, time_limit};
use ssvm::solver::SolverInfo;

/// The configs that are part of the program, by name.
pub const BUILTIN: [(&str, &str); 8] = [
    ("quick", include_str!("../../configs/quick.toml")),
    ("smoke", include_str!("../../configs/smoke.toml")),
    ("ci", include_str!("../../configs/ci.toml")),
    ("paper", include_str!("../../configs/paper.toml")),
    ("regime", include_str!("../../configs/regime.toml")),
    ("breakeven", include_str!("../../configs/breakeven.toml")),
    ("league", include_str!("../../configs/league.toml")),
    ("league-short", include_str!("../../configs/league-short.toml")),
];

/// The name that stands for every solver of the table that no other entry names.
const ALL: &str = "*";

/// The word for the oracle cost of the paper.
const PAPER: &str = "paper";

/// Most repeats: the runs of a plan are held in memory.
const MOST_REPEATS: u64 = 10_000;

/// Whether a name can be that of one folder here, and of nothing else.
fn is_plain(name: &str) -> bool {
    let strange = |c: char| c.is_control() || c == '/' || c == '\\';
    name.chars().count() <= 100 && !name.starts_with('.') && !name.contains(strange)
}

/// A checked config: data sets × solvers × repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// The file it came from, for messages.
    pub path: PathBuf,
    /// The TOML text.
    pub text: String,
    /// Base seed of the orders.
    pub seed: u64,
    /// Repeats of every data set and solver.
    pub repeats: u64,
    /// The clock.
    pub clock: ClockKind,
    /// When to evaluate.
    pub evaluate: Cadence,
    /// Workers; as many as the cores have threads for when absent.
    pub jobs: Option<usize>,
    /// Threads of each worker, for the calls that a solver makes at one w (`tau`). No result depends on it.
    pub threads: usize,
    /// Most wall time of one run with evaluation.
    pub timeout: Option<Duration>,
    /// Isolated repetitions per data set and solver that estimate interference.
    pub probes: u32,
    /// Gaps, falling, at which regression gates compare counters and times; no run depends on them.
    pub gap_targets: Vec<f64>,
    /// Data sets, in file order.
    pub datasets: Vec<DatasetSpec>,
    /// Solvers, in file order.
    pub solvers: Vec<SolverSpec>,
    /// Only cells that match one of these are run; all of them when there is none.
    pub only: Vec<CellPattern>,
    /// The paper's oracle costs that were solved before, by [`crate::store::manifest::paper_cost_key`]: the same in every
    /// session of a folder.
    pub paper_costs: BTreeMap<String, OracleCost>,
}

/// An oracle cost as a config gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostSetting {
    /// A factor of the oracle's time.
    Factor(OracleCost),
    /// The factor at which BCFW spends as much of its time in the oracle as it does in the paper.
    Paper,
}

/// A data set with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSpec {
    /// Name as the data sets know it, such as `usps-synth:n=500`.
    pub name: String,
    /// The data set that takes its place where its files are not there.
    pub otherwise: Option<String>,
    /// λ; 1/n when absent.
    pub lambda: Option<f64>,
    /// Weight of the pairwise term; the data set's own when absent.
    pub pairwise_weight: Option<f64>,
    /// Oracle costs: every solver is run, or projected, at each.
    pub oracle_costs: Vec<CostSetting>,
    /// When its runs stop.
    pub budget: Budget,
    /// Line in the config, for messages.
    pub line: usize,
}

impl Experiment {
    /// Reads a config file. Those of [`BUILTIN`] (`quick`, also as `configs/quick.toml`) need no file.
    pub fn load(path: impl AsRef<Path>, solvers: &[SolverInfo]) -> Result<Self> {
        let path = path.as_ref();
        if let Some(text) = files::read_text_if_there(path)? {
            return Self::parse(path, &text, solvers);
        }
        let stem = path.to_string_lossy();
        let stem = stem.strip_prefix("configs/").unwrap_or(&stem);
        let stem = stem.strip_suffix(".toml").unwrap_or(stem);
        let Some((name, text)) = BUILTIN.iter().find(|(name, _)| *name == stem) else {
            let names = BUILTIN.map(|(name, _)| name).join(", ");
            let message = format!("no such config; built in: {names}; `ssvm-bench init` writes a new one");
            return Err(Error::file(path, message));
        };
        Self::parse(Path::new(&format!("configs/{name}.toml")), text, solvers)
    }

    /// Checks the text of a config against the table of solvers; `path` is for messages.
    pub fn parse(path: &Path, text: &str, solvers: &[SolverInfo]) -> Result<Self> {
        let source = Source { path, text };
        let file = source.parse()?;
        let clock = match &file.clock {
            Some(word) => word.get_ref().parse().map_err(|e: ssvm::Error| source.error(word, e.to_string()))?,
            None => ClockKind::WALL,
        };
        let evaluate = match &file.evaluate {
            Some(word) => word.get_ref().parse().map_err(|e: ssvm::Error| source.error(word, e.to_string()))?,
            None => Cadence::Log,
        };
        if file.name.get_ref().trim().is_empty() {
            return Err(source.error(&file.name, "the name is empty"));
        }
        if !is_plain(file.name.get_ref()) {
            let message = "the name also names the folder of the results: at most 100 characters, none of them / or \\ \
                or a control character, no dot at the beginning";
            return Err(source.error(&file.name, message));
        }
        let repeats = source.at_least_one(file.repeats.as_ref(), "repeats")?.unwrap_or(1);
        if let Some(given) = file.repeats.as_ref().filter(|_| repeats > MOST_REPEATS) {
            return Err(source.error(given, format!("repeats must be at most {MOST_REPEATS}")));
        }
        let jobs = source.few(file.jobs.as_ref(), "jobs")?;
        let threads = source.few(file.threads.as_ref(), "threads")?;
        Ok(Self {
            name: file.name.get_ref().clone(),
            path: path.to_owned(),
            text: text.to_owned(),
            seed: file.seed.unwrap_or(0),
            repeats,
            clock,
            evaluate,
            jobs,
            threads: threads.unwrap_or(1),
            timeout: source.limit(file.timeout_s.as_ref(), "timeout_s")?,
            // A repeatable clock cannot be disturbed.
            probes: file.probes.unwrap_or(if clock.repeatable() { 0 } else { 3 }),
            gap_targets: source.falling(file.gap_targets.as_ref())?,
            datasets: source.datasets(&file)?,
            solvers: source.solvers(&file, solvers)?,
            only: Vec::new(),
            paper_costs: BTreeMap::new(),
        })
    }

    /// Where its results go unless told otherwise.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from("results").join(&self.name)
    }

    /// Runs only the cells that match one of these patterns; all of them when there is none.
    pub fn narrow(&mut self, only: &[String]) -> Result<()> {
        self.only = CellPattern::parse_all(only)?;
        Ok(())
    }

    /// Whether a data set asks for the paper's oracle cost.
    pub fn wants_paper_cost(&self) -> bool {
        self.datasets.iter().any(|set| set.oracle_costs.contains(&CostSetting::Paper))
    }

    /// Whether a data set and solver is to be run at some oracle cost.
    pub fn wants(&self, dataset: &str, solver: &SolverSpec) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(dataset, solver, None))
    }

    /// Whether a data set and solver is to be run at this oracle cost.
    pub fn wants_at(&self, dataset: &str, solver: &SolverSpec, cost: OracleCost) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(dataset, solver, Some(cost)))
    }
}

impl Source<'_> {
    fn datasets(&self, file: &wire::File) -> Result<Vec<DatasetSpec>> {
        if file.dataset.is_empty() {
            return Err(Error::file(self.path, "no data set; add `[[dataset]]` with `name = \"usps-synth\"`"));
        }
        let mut datasets: Vec<DatasetSpec> = Vec::new();
        for entry in &file.dataset {
            let line = self.line(entry.get_ref().name.span().start);
            let entry = entry.get_ref();
            let name = entry.name.get_ref().clone();
            let otherwise = entry.otherwise.as_ref().map(|name| name.get_ref().clone());
            let names = [Some(&name), otherwise.as_ref()];
            let taken = |other: &DatasetSpec| {
                names.into_iter().flatten().find(|name| **name == other.name || Some(*name) == other.otherwise.as_ref())
            };
            if let Some((other, name)) = datasets.iter().find_map(|other| Some((other, taken(other)?))) {
                return Err(self.error(
                    &entry.name,
                    format!(
                        "data set '{name}' is already on line {}; results are told apart by name: use two configs",
                        other.line
                    ),
                ));
            }
            let pairwise_weight = entry.pairwise_weight.as_ref().map(|weight| match *weight.get_ref() {
                value if value.is_finite() && value >= 0.0 => Ok(value),
                value => {
                    Err(self.error(weight, format!("pairwise_weight must be finite and not negative, not {value}")))
                }
            });
            datasets.push(DatasetSpec {
                otherwise,
                name,
                lambda: self.positive(entry.lambda.as_ref(), "lambda")?,
                pairwise_weight: pairwise_weight.transpose()?,
                oracle_costs: self.oracle_costs(entry.oracle_cost.as_ref().or(file.oracle_cost.as_ref()))?,
                budget: self.budget(file.budget.as_ref(), entry.budget.as_ref(), line)?,
                line,
            });
        }
        Ok(datasets)
    }

    /// One oracle cost or a list of them; 1 when there is none.
    fn oracle_costs(&self, given: Option<&Spanned<toml::Value>>) -> Result<Vec<CostSetting>> {
        let Some(given) = given else { return Ok(vec![CostSetting::Factor(OracleCost::ONE)]) };
        let list = match given.get_ref() {
            toml::Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut costs = Vec::new();
        for value in list {
            let text = as_text(value);
            let cost = match text.as_str() {
                PAPER => CostSetting::Paper,
                text => CostSetting::Factor(text.parse().map_err(|_| {
                    let message = format!(
                        "oracle_cost must lie between 1e-6 and 1e6, such as 16 or \"1/16\", or \"{PAPER}\", not {value}"
                    );
                    self.error(given, message)
                })?),
            };
            if costs.contains(&cost) {
                return Err(self.error(given, format!("oracle_cost has {text} twice")));
            }
            costs.push(cost);
        }
        if costs.is_empty() {
            return Err(self.error(given, "oracle_cost has no value; leave it out for the machine as it is"));
        }
        Ok(costs)
    }

    /// The data set's keys replace the common ones.
    fn budget(
        &self,
        common: Option<&Spanned<wire::Budget>>,
        own: Option<&Spanned<wire::Budget>>,
        line: usize,
    ) -> Result<Budget> {
        let none = wire::Budget::default();
        let common = common.map_or(&none, Spanned::get_ref);
        let own = own.map_or(&none, Spanned::get_ref);
        let until = own.until.as_ref().or(common.until.as_ref());
        let time = own.time_s.as_ref().or(common.time_s.as_ref());
        let budget = Budget {
            iterations: self.at_least_one(own.iterations.as_ref().or(common.iterations.as_ref()), "iterations")?,
            // As written: nanoseconds would be another number, and another identity.
            time_s: self.limit(time, "time_s")?.and(time.map(|seconds| *seconds.get_ref())),
            oracle_calls: self
                .at_least_one(own.oracle_calls.as_ref().or(common.oracle_calls.as_ref()), "oracle_calls")?,
            gap: self.positive(own.gap.as_ref().or(common.gap.as_ref()), "gap")?,
            until: match until {
                Some(word) => word.get_ref().parse().map_err(|e: ssvm::Error| self.error(word, e.to_string()))?,
                None => Until::First,
            },
        };
        if let Some(word) = until.filter(|_| budget.lacks_one_of_both()) {
            return Err(self.error(word, "until = \"all\" needs iterations and time_s: it ends when both are reached"));
        }
        if budget.iterations.is_none() && budget.time_s.is_none() && budget.oracle_calls.is_none() {
            let message = if budget.gap.is_some() {
                "a budget with only a gap may never end; add iterations, time_s or oracle_calls"
            } else {
                "this data set has no budget; add `[budget]` with iterations, time_s or oracle_calls"
            };
            return Err(Error::line(self.path, line, message));
        }
        Ok(budget)
    }

    fn solvers(&self, file: &wire::File, known: &[SolverInfo]) -> Result<Vec<SolverSpec>> {
        if file.solver.is_empty() {
            return Err(Error::file(self.path, "no solver; add `[[solver]]` with `name = \"mp-bcfw\"`"));
        }
        let names = file.solver.iter().filter_map(|entry| entry.get_ref().0.get("name")?.get_ref().as_str());
        let named: Vec<&str> = names.collect();
        let stars = |entry: &&Spanned<wire::Solver>| {
            entry.get_ref().0.get("name").is_some_and(|name| name.get_ref().as_str() == Some(ALL))
        };
        if let Some(twice) = file.solver.iter().filter(stars).nth(1) {
            return Err(self.error(twice, "'*' stands for all solvers already: once is enough"));
        }
        let mut solvers: Vec<SolverSpec> = Vec::new();
        for entry in &file.solver {
            let wire::Solver(keys) = entry.get_ref();
            let Some(name) = keys.get("name") else {
                return Err(self.error(entry, "the key `name` is missing"));
            };
            let toml::Value::String(word) = name.get_ref() else {
                return Err(self.error(name, "wrong value of `name`: it must be text"));
            };
            if word == ALL {
                if let Some((_, value)) = keys.iter().find(|(key, _)| *key != "name") {
                    return Err(
                        self.error(value, "'*' stands for solvers with their defaults; name one to set a parameter")
                    );
                }
                let unnamed = known.iter().filter(|info| !named.contains(&info.name));
                for spec in unnamed.map(|info| info.spec(&[], known)) {
                    solvers.push(spec.map_err(|refusal| self.error(name, refusal.message))?);
                }
                continue;
            }
            let info = SolverInfo::find(known, word).map_err(|e| self.error(name, e.to_string()))?;
            let given: Vec<(&str, String)> = keys
                .iter()
                .filter(|(key, _)| *key != "name")
                .map(|(key, value)| (key.as_str(), as_text(value.get_ref())))
                .collect();
            let spec = info.spec(&given, known).map_err(|refusal| match keys.get(&refusal.key) {
                Some(value) => self.error(value, refusal.message),
                None => self.error(name, refusal.message),
            })?;
            if solvers.contains(&spec) {
                return Err(self.error(name, format!("solver '{word}' is listed twice with the same parameters")));
            }
            solvers.push(spec);
        }
        Ok(solvers)
    }

    fn falling(&self, targets: Option<&Spanned<Vec<f64>>>) -> Result<Vec<f64>> {
        let Some(spanned) = targets else { return Ok(Vec::new()) };
        let list = spanned.get_ref();
        if list.iter().any(|gap| !gap.is_finite() || *gap <= 0.0) || list.windows(2).any(|pair| pair[0] <= pair[1]) {
            return Err(self.error(spanned, "gap_targets must be above 0 and falling, such as [0.1, 0.01]"));
        }
        Ok(list.clone())
    }

    fn at_least_one(&self, value: Option<&Spanned<u64>>, key: &str) -> Result<Option<u64>> {
        match value {
            Some(spanned) if *spanned.get_ref() == 0 => Err(self.error(spanned, format!("{key} must be at least 1"))),
            _ => Ok(value.map(|spanned| *spanned.get_ref())),
        }
    }

    /// A number of workers or threads.
    fn few(&self, value: Option<&Spanned<u64>>, key: &str) -> Result<Option<usize>> {
        let count = self.at_least_one(value, key)?;
        match value {
            Some(spanned) if *spanned.get_ref() > 1024 => {
                Err(self.error(spanned, format!("{key} must be at most 1024")))
            }
            _ => Ok(count.map(|count| count as usize)),
        }
    }

    /// A time limit in seconds.
    fn limit(&self, value: Option<&Spanned<f64>>, key: &str) -> Result<Option<Duration>> {
        let (Some(seconds), Some(given)) = (self.positive(value, key)?, value) else { return Ok(None) };
        time_limit(seconds).map(Some).map_err(|error| self.error(given, format!("{key}: {error}")))
    }

    fn positive(&self, value: Option<&Spanned<f64>>, key: &str) -> Result<Option<f64>> {
        match value.map(|spanned| (spanned, *spanned.get_ref())) {
            Some((spanned, number)) if !number.is_finite() || number <= 0.0 => {
                Err(self.error(spanned, format!("{key} must be finite and above 0, not {number}")))
            }
            other => Ok(other.map(|(_, number)| number)),
        }
    }
}

/// A value as a user would write it on the command line.
fn as_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
