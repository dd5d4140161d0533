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
use crate::store::manifest::PaperCosts;
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
    pub name: String,
    /// The file it came from, for messages.
    pub path: PathBuf,
    /// The TOML text.
    pub text: String,
    /// Base seed of the orders.
    pub seed: u64,
    pub repeats: u64,
    pub clock: ClockKind,
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
    pub datasets: Vec<DatasetSpec>,
    pub solvers: Vec<SolverSpec>,
    /// Only cells that match one of these are run; all of them when there is none.
    pub only: Vec<CellPattern>,
    /// The paper's oracle costs that were solved before: the same in every session of a folder.
    pub paper_costs: PaperCosts,
}

/// An oracle cost as a config gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostSetting {
    /// A factor of the oracle's time.
    Factor(OracleCost),
    /// The factor at which BCFW spends as much of its time in the oracle as it does in the paper.
    Paper,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSpec {
    /// With its argument, such as `usps-synth:n=500`.
    pub name: String,
    /// The data set that takes its place where its files are not there.
    pub otherwise: Option<String>,
    /// 1/n when absent.
    pub lambda: Option<f64>,
    /// The data set's own when absent.
    pub pairwise_weight: Option<f64>,
    /// Every solver is run, or projected, at each.
    pub oracle_costs: Vec<CostSetting>,
    pub budget: Budget,
    /// Line in the config, for messages.
    pub line: usize,
}

impl DatasetSpec {
    pub fn wants_paper_cost(&self) -> bool {
        self.oracle_costs.contains(&CostSetting::Paper)
    }
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
        let clock: ClockKind = source.word(file.clock)?.unwrap_or(ClockKind::WALL);
        source.check_name(&file.name)?;
        Ok(Self {
            name: file.name.into_inner(),
            path: path.to_owned(),
            text: text.to_owned(),
            seed: file.seed.unwrap_or(0),
            repeats: source.count(file.repeats, "repeats", MOST_REPEATS)?.unwrap_or(1),
            clock,
            evaluate: source.word(file.evaluate)?.unwrap_or(Cadence::Log),
            jobs: source.count(file.jobs, "jobs", MOST_THREADS)?.map(|count| count as usize),
            threads: source.count(file.threads, "threads", MOST_THREADS)?.unwrap_or(1) as usize,
            timeout: source.time(file.timeout_s, "timeout_s")?.map(Duration::from_secs_f64),
            // A repeatable clock cannot be disturbed.
            probes: file.probes.unwrap_or(if clock.repeatable() { 0 } else { 3 }),
            gap_targets: source.gap_targets(file.gap_targets)?,
            datasets: source.datasets(file.dataset, file.oracle_cost.as_ref(), &file.budget)?,
            solvers: source.solvers(&file.solver, solvers)?,
            only: Vec::new(),
            paper_costs: PaperCosts::default(),
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

    pub fn wants_paper_cost(&self) -> bool {
        self.datasets.iter().any(DatasetSpec::wants_paper_cost)
    }

    /// Whether a data set and solver is to be run at this oracle cost, or at any.
    pub fn wants(&self, dataset: &str, solver: &SolverSpec, cost: Option<OracleCost>) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(dataset, solver, cost))
    }
}

impl Source<'_> {
    /// An error at a value, unless it is fine.
    fn ensure<T>(&self, fine: bool, value: &Spanned<T>, message: impl ToString) -> Result<()> {
        if fine { Ok(()) } else { Err(self.error(value, message)) }
    }

    /// An error when a name cannot be that of one folder in `results`.
    fn check_name(&self, name: &Spanned<String>) -> Result<()> {
        let text = name.get_ref();
        self.ensure(!text.trim().is_empty(), name, "the name is empty")?;
        let strange = |c: char| c.is_control() || c == '/' || c == '\\';
        let fine = text.chars().count() <= 100 && !text.starts_with('.') && !text.contains(strange);
        let message = "the name also names the folder of the results: at most 100 characters, none of them / or \\ or a \
            control character, no dot at the beginning";
        self.ensure(fine, name, message)
    }

    fn datasets(
        &self,
        entries: Vec<Spanned<wire::Dataset>>,
        common_costs: Option<&Spanned<toml::Value>>,
        common_budget: &wire::Budget,
    ) -> Result<Vec<DatasetSpec>> {
        if entries.is_empty() {
            return Err(Error::file(self.path, "no data set; add `[[dataset]]` with `name = \"usps-synth\"`"));
        }
        let mut datasets: Vec<DatasetSpec> = Vec::new();
        // Both names of an entry, and the line it is on.
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for entry in entries.into_iter().map(Spanned::into_inner) {
            let line = self.line(entry.name.span().start);
            for name in std::iter::once(&entry.name).chain(&entry.otherwise).map(Spanned::get_ref) {
                if let Some(other) = taken.insert(name.clone(), line).filter(|other| *other != line) {
                    let message = format!(
                        "data set '{name}' is already on line {other}; results are distinguished by name: use two configs"
                    );
                    return Err(self.error(&entry.name, message));
                }
            }
            let costs = entry.oracle_cost.as_ref().or(common_costs);
            let not_negative = |weight| weight >= 0.0;
            datasets.push(DatasetSpec {
                name: entry.name.into_inner(),
                otherwise: entry.otherwise.map(Spanned::into_inner),
                lambda: self.positive(entry.lambda, "lambda")?,
                pairwise_weight: self.real(entry.pairwise_weight, "pairwise_weight", "not negative", not_negative)?,
                oracle_costs: costs.map_or(Ok(vec![CostSetting::Factor(OracleCost::ONE)]), |c| self.oracle_costs(c))?,
                budget: self.budget(common_budget.clone(), entry.budget.unwrap_or_default(), line)?,
                line,
            });
        }
        Ok(datasets)
    }

    /// One oracle cost or a list of them.
    fn oracle_costs(&self, given: &Spanned<toml::Value>) -> Result<Vec<CostSetting>> {
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
            self.ensure(!costs.contains(&cost), given, format!("oracle_cost has {text} twice"))?;
            costs.push(cost);
        }
        self.ensure(!costs.is_empty(), given, "oracle_cost has no value; leave it out for the machine as it is")?;
        Ok(costs)
    }

    /// The keys of a data set replace the common ones.
    fn budget(&self, common: wire::Budget, own: wire::Budget, line: usize) -> Result<Budget> {
        let until = own.until.or(common.until);
        let budget = Budget {
            iterations: self.count(own.iterations.or(common.iterations), "iterations", u64::MAX)?,
            time_s: self.time(own.time_s.or(common.time_s), "time_s")?,
            oracle_calls: self.count(own.oracle_calls.or(common.oracle_calls), "oracle_calls", u64::MAX)?,
            gap: self.positive(own.gap.or(common.gap), "gap")?,
            until: self.word(until.clone())?.unwrap_or(Until::First),
        };
        if let Some(word) = until.filter(|_| budget.lacks_one_of_both()) {
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

    fn solvers(&self, entries: &[Spanned<wire::Solver>], known: &[SolverInfo]) -> Result<Vec<SolverSpec>> {
        if entries.is_empty() {
            return Err(Error::file(self.path, "no solver; add `[[solver]]` with `name = \"mp-bcfw\"`"));
        }
        let name_of = |entry: &Spanned<wire::Solver>| -> Option<String> {
            Some(entry.get_ref().0.get("name")?.get_ref().as_str()?.to_owned())
        };
        let named: Vec<String> = entries.iter().filter_map(name_of).collect();
        if let Some(twice) = entries.iter().filter(|entry| name_of(entry).as_deref() == Some(ALL)).nth(1) {
            return Err(self.error(twice, "'*' stands for all solvers already: once is enough"));
        }
        let mut solvers: Vec<SolverSpec> = Vec::new();
        for entry in entries {
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
            let info = SolverInfo::find(known, word).map_err(|e| self.error(name, e))?;
            let given: Vec<(&str, String)> =
                params().map(|(key, value)| (key.as_str(), as_text(value.get_ref()))).collect();
            let spec = info
                .spec(&given, known)
                .map_err(|refusal| self.error(keys.get(&refusal.key).unwrap_or(name), refusal.message))?;
            let twice = format!("solver '{word}' is listed twice with the same parameters");
            self.ensure(!solvers.contains(&spec), name, twice)?;
            solvers.push(spec);
        }
        Ok(solvers)
    }

    fn gap_targets(&self, targets: Option<Spanned<Vec<f64>>>) -> Result<Vec<f64>> {
        let Some(spanned) = targets else { return Ok(Vec::new()) };
        let list = spanned.get_ref();
        let fine =
            list.iter().all(|gap| gap.is_finite() && *gap > 0.0) && list.windows(2).all(|pair| pair[0] > pair[1]);
        self.ensure(fine, &spanned, "gap_targets must be above 0 and falling, such as [0.1, 0.01]")?;
        Ok(spanned.into_inner())
    }

    /// A word that a type of the library parses.
    fn word<T: FromStr<Err = ssvm::Error>>(&self, value: Option<Spanned<String>>) -> Result<Option<T>> {
        let parsed = value.map(|word| word.get_ref().parse().map_err(|e: ssvm::Error| self.error(&word, e)));
        parsed.transpose()
    }

    /// A number from 1.
    fn count(&self, value: Option<Spanned<u64>>, key: &str, most: u64) -> Result<Option<u64>> {
        let Some(count) = value else { return Ok(None) };
        match *count.get_ref() {
            0 => Err(self.error(&count, format!("{key} must be at least 1"))),
            large if large > most => Err(self.error(&count, format!("{key} must be at most {most}"))),
            fine => Ok(Some(fine)),
        }
    }

    /// A time limit in seconds, as written: nanoseconds would be another number, and another identity.
    fn time(&self, value: Option<Spanned<f64>>, key: &str) -> Result<Option<f64>> {
        let checked = self.positive(value.clone(), key)?;
        if let (Some(seconds), Some(given)) = (checked, &value) {
            time_limit(seconds).map_err(|error| self.error(given, format!("{key}: {error}")))?;
        }
        Ok(checked)
    }

    fn positive(&self, value: Option<Spanned<f64>>, key: &str) -> Result<Option<f64>> {
        self.real(value, key, "above 0", |number| number > 0.0)
    }

    fn real(
        &self,
        value: Option<Spanned<f64>>,
        key: &str,
        range: &str,
        in_range: fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        let Some(given) = value else { return Ok(None) };
        match *given.get_ref() {
            number if number.is_finite() && in_range(number) => Ok(Some(number)),
            number => Err(self.error(&given, format!("{key} must be finite and {range}, not {number}"))),
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
