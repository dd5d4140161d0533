//! Wire types → the checked [`Experiment`]: every value in range, every combination possible, defaults filled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
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

/// Most workers, and most threads of each.
const MOST_THREADS: u64 = 1024;

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
        let clock: ClockKind = source.word(file.clock.as_ref())?.unwrap_or(ClockKind::WALL);
        source.name(&file.name)?;
        Ok(Self {
            name: file.name.get_ref().clone(),
            path: path.to_owned(),
            text: text.to_owned(),
            seed: file.seed.unwrap_or(0),
            repeats: source.count(file.repeats.as_ref(), "repeats", MOST_REPEATS)?.unwrap_or(1),
            clock,
            evaluate: source.word(file.evaluate.as_ref())?.unwrap_or(Cadence::Log),
            jobs: source.count(file.jobs.as_ref(), "jobs", MOST_THREADS)?.map(|count| count as usize),
            threads: source.count(file.threads.as_ref(), "threads", MOST_THREADS)?.unwrap_or(1) as usize,
            timeout: source.limit(file.timeout_s.as_ref(), "timeout_s")?,
            // A repeatable clock cannot be disturbed.
            probes: file.probes.unwrap_or(if clock.repeatable() { 0 } else { 3 }),
            gap_targets: source.gap_targets(file.gap_targets.as_ref())?,
            datasets: source.datasets(&file)?,
            solvers: source.solvers(&file, solvers)?,
            only: Vec::new(),
            paper_costs: BTreeMap::new(),
        })
    }

    /// The default folder of its results.
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
    /// An error when a name cannot be that of one folder in `results`.
    fn name(&self, name: &Spanned<String>) -> Result<()> {
        let text = name.get_ref();
        if text.trim().is_empty() {
            return Err(self.error(name, "the name is empty"));
        }
        let strange = |c: char| c.is_control() || c == '/' || c == '\\';
        if text.chars().count() > 100 || text.starts_with('.') || text.contains(strange) {
            let message = "the name also names the folder of the results: at most 100 characters, none of them / or \\ \
                or a control character, no dot at the beginning";
            return Err(self.error(name, message));
        }
        Ok(())
    }

    fn datasets(&self, file: &wire::File) -> Result<Vec<DatasetSpec>> {
        if file.dataset.is_empty() {
            return Err(Error::file(self.path, "no data set; add `[[dataset]]` with `name = \"usps-synth\"`"));
        }
        let mut datasets: Vec<DatasetSpec> = Vec::new();
        // Both names of an entry, and the line it is on.
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in &file.dataset {
            let entry = entry.get_ref();
            let line = self.line(entry.name.span().start);
            let otherwise = entry.otherwise.as_ref().map(Spanned::get_ref);
            for name in [Some(entry.name.get_ref()), otherwise].into_iter().flatten() {
                if let Some(other) = taken.get(name.as_str()).filter(|other| **other != line) {
                    let message = format!(
                        "data set '{name}' is already on line {other}; results are distinguished by name: use two configs"
                    );
                    return Err(self.error(&entry.name, message));
                }
                taken.insert(name, line);
            }
            let weight = entry.pairwise_weight.as_ref();
            datasets.push(DatasetSpec {
                otherwise: otherwise.cloned(),
                name: entry.name.get_ref().clone(),
                lambda: self.positive(entry.lambda.as_ref(), "lambda")?,
                pairwise_weight: self.real(weight, "pairwise_weight", "not negative", |weight| weight >= 0.0)?,
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
            let cost = match text.parse() {
                _ if text == PAPER => CostSetting::Paper,
                Ok(cost) => CostSetting::Factor(cost),
                Err(_) => {
                    let message = format!(
                        "oracle_cost must lie between 1e-6 and 1e6, such as 16 or \"1/16\", or \"{PAPER}\", not {value}"
                    );
                    return Err(self.error(given, message));
                }
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
        let mut keys = common.map_or_else(wire::Budget::default, |budget| budget.get_ref().clone());
        if let Some(own) = own.map(|budget| budget.get_ref().clone()) {
            keys.iterations = own.iterations.or(keys.iterations);
            keys.time_s = own.time_s.or(keys.time_s);
            keys.oracle_calls = own.oracle_calls.or(keys.oracle_calls);
            keys.gap = own.gap.or(keys.gap);
            keys.until = own.until.or(keys.until);
        }
        let time = keys.time_s.as_ref();
        let budget = Budget {
            iterations: self.count(keys.iterations.as_ref(), "iterations", u64::MAX)?,
            // As written: nanoseconds would be another number, and another identity.
            time_s: self.limit(time, "time_s")?.and(time.map(|seconds| *seconds.get_ref())),
            oracle_calls: self.count(keys.oracle_calls.as_ref(), "oracle_calls", u64::MAX)?,
            gap: self.positive(keys.gap.as_ref(), "gap")?,
            until: self.word(keys.until.as_ref())?.unwrap_or(Until::First),
        };
        if let Some(word) = keys.until.filter(|_| budget.lacks_one_of_both()) {
            return Err(self.error(&word, "until = \"all\" needs iterations and time_s: it ends when both are reached"));
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
        let name_of = |entry: &Spanned<wire::Solver>| -> Option<String> {
            Some(entry.get_ref().0.get("name")?.get_ref().as_str()?.to_owned())
        };
        let named: Vec<String> = file.solver.iter().filter_map(name_of).collect();
        if let Some(twice) = file.solver.iter().filter(|entry| name_of(entry).as_deref() == Some(ALL)).nth(1) {
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
            let params = || keys.iter().filter(|(key, _)| *key != "name");
            if word == ALL {
                if let Some((_, value)) = params().next() {
                    let message = "'*' stands for solvers with their defaults; name one to set a parameter";
                    return Err(self.error(value, message));
                }
                for info in known.iter().filter(|info| !named.iter().any(|name| name == info.name)) {
                    solvers.push(info.spec(&[], known).map_err(|refusal| self.error(name, refusal.message))?);
                }
                continue;
            }
            let info = SolverInfo::find(known, word).map_err(|e| self.error(name, e.to_string()))?;
            let given: Vec<(&str, String)> =
                params().map(|(key, value)| (key.as_str(), as_text(value.get_ref()))).collect();
            let spec = info
                .spec(&given, known)
                .map_err(|refusal| self.error(keys.get(&refusal.key).unwrap_or(name), refusal.message))?;
            if solvers.contains(&spec) {
                return Err(self.error(name, format!("solver '{word}' is listed twice with the same parameters")));
            }
            solvers.push(spec);
        }
        Ok(solvers)
    }

    fn gap_targets(&self, targets: Option<&Spanned<Vec<f64>>>) -> Result<Vec<f64>> {
        let Some(spanned) = targets else { return Ok(Vec::new()) };
        let list = spanned.get_ref();
        if list.iter().any(|gap| !gap.is_finite() || *gap <= 0.0) || list.windows(2).any(|pair| pair[0] <= pair[1]) {
            return Err(self.error(spanned, "gap_targets must be above 0 and falling, such as [0.1, 0.01]"));
        }
        Ok(list.clone())
    }

    /// A word that a type of the library parses.
    fn word<T: FromStr<Err = ssvm::Error>>(&self, value: Option<&Spanned<String>>) -> Result<Option<T>> {
        let Some(word) = value else { return Ok(None) };
        word.get_ref().parse().map(Some).map_err(|error: ssvm::Error| self.error(word, error.to_string()))
    }

    /// A number from 1.
    fn count(&self, value: Option<&Spanned<u64>>, key: &str, most: u64) -> Result<Option<u64>> {
        let Some(count) = value else { return Ok(None) };
        match *count.get_ref() {
            0 => Err(self.error(count, format!("{key} must be at least 1"))),
            large if large > most => Err(self.error(count, format!("{key} must be at most {most}"))),
            fine => Ok(Some(fine)),
        }
    }

    /// A time limit in seconds.
    fn limit(&self, value: Option<&Spanned<f64>>, key: &str) -> Result<Option<Duration>> {
        let (Some(seconds), Some(given)) = (self.positive(value, key)?, value) else { return Ok(None) };
        time_limit(seconds).map(Some).map_err(|error| self.error(given, format!("{key}: {error}")))
    }

    fn positive(&self, value: Option<&Spanned<f64>>, key: &str) -> Result<Option<f64>> {
        self.real(value, key, "above 0", |number| number > 0.0)
    }

    fn real(
        &self,
        value: Option<&Spanned<f64>>,
        key: &str,
        range: &str,
        in_range: fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        let Some(given) = value else { return Ok(None) };
        match *given.get_ref() {
            number if number.is_finite() && in_range(number) => Ok(Some(number)),
            number => Err(self.error(given, format!("{key} must be finite and {range}, not {number}"))),
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
