//! Turns wire types into a checked [`Experiment`]: combinations are checked and defaults filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;

use super::catalog::Catalog;
use super::wire::{Costs, DatasetKeys, SolverKeys, Source, WireBudget, as_text};
use crate::dataset::Argument;
use crate::error::{Error, Result};
use crate::store::files;
use crate::store::keys::CellPattern;
use crate::store::manifest::PaperCosts;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::settings::{Budget, Cadence, SolverSpec, Until};
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

/// The name that stands for every solver of the table that the config does not name elsewhere.
const ALL: &str = "*";

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
    /// Workers; by default one per hardware thread of the cores.
    pub jobs: Option<usize>,
    /// Threads of each worker, for the calls that a solver makes at one w (`tau`). No result depends on it.
    pub threads: usize,
    /// Most wall time of one run with evaluation.
    pub timeout: Option<Duration>,
    /// Isolated repetitions per data set and solver, which measure interference.
    pub probes: u32,
    /// Gaps, descending, at which regression gates compare counters and times; no run depends on them.
    pub gap_targets: Vec<f64>,
    pub datasets: Vec<DatasetSpec>,
    pub solvers: Vec<SolverSpec>,
    /// Patterns of cells to run; all cells when empty.
    pub only: Vec<CellPattern>,
    /// The paper's oracle costs that were solved before: the same in every session of a folder.
    pub paper_costs: PaperCosts,
}

/// An oracle cost as written in a config.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostSetting {
    /// A factor on the oracle's time.
    Factor(OracleCost),
    /// The factor at which BCFW spends the same part of its time in the oracle as in the paper.
    Paper,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSpec {
    /// Its name with its argument, such as `usps-synth:n=500`.
    pub name: String,
    /// The data set that takes its place if its files are missing.
    pub otherwise: Option<String>,
    /// 1/n when absent.
    pub lambda: Option<f64>,
    /// The data set's own when absent.
    pub pairwise_weight: Option<f64>,
    /// Every solver is run, or projected, at each of these.
    pub oracle_costs: Vec<CostSetting>,
    pub budget: Budget,
    /// Line in the config, for messages.
    pub line: usize,
}

impl DatasetSpec {
    /// Its name, and that of the data set that may take its place.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.otherwise.as_deref())
    }

    pub fn wants_paper_cost(&self) -> bool {
        self.oracle_costs.contains(&CostSetting::Paper)
    }
}

impl Experiment {
    /// Reads a config file. The configs of [`BUILTIN`] (`quick`, also as `configs/quick.toml`) need no file.
    pub fn load(path: impl AsRef<Path>, solvers: &[SolverInfo]) -> Result<Self> {
        let path = path.as_ref();
        let stem = path.to_string_lossy();
        let stem = stem.strip_prefix("configs/").unwrap_or(&stem);
        let stem = stem.strip_suffix(".toml").unwrap_or(stem);
        let built_in = BUILTIN.iter().find(|(name, _)| *name == stem);
        // A folder of that name contains results, such as those of `run smoke --out smoke`.
        let folder = built_in.is_some() && path.is_dir();
        if !folder && let Some(text) = files::read_text_if_there(path)? {
            return Self::parse(path, &text, solvers);
        }
        let Some((name, text)) = built_in else {
            let names = BUILTIN.map(|(name, _)| name).join(", ");
            let message = format!("no such config; built in: {names}; `ssvm-bench init` writes a new one");
            return Err(Error::file(path, message));
        };
        Self::parse(Path::new(&format!("configs/{name}.toml")), text, solvers)
    }

    /// Checks the text of a config against the table of solvers; `path` is for messages.
    pub fn parse(path: &Path, text: &str, solvers: &[SolverInfo]) -> Result<Self> {
        let source = Source::new(path, text);
        let file = source.parse()?;
        Ok(Self {
            name: file.name.0,
            path: path.to_owned(),
            text: text.to_owned(),
            seed: file.seed,
            repeats: file.repeats.map_or(1, |count| count.0),
            clock: file.clock,
            evaluate: file.evaluate.map_or(Cadence::Log, |cadence| cadence.0),
            jobs: file.jobs.map(|count| count.0),
            threads: file.threads.map_or(1, |count| count.0),
            timeout: file.timeout_s.map(|limit| Duration::from_secs_f64(limit.0)),
            // Times on a repeatable clock cannot be disturbed.
            probes: file.probes.unwrap_or(if file.clock.repeatable() { 0 } else { 3 }),
            gap_targets: file.gap_targets.map_or(Vec::new(), |gaps| gaps.0),
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

    /// The data sets that are oracle programs, as written; running the config starts them.
    pub fn programs(&self, catalog: &dyn Catalog) -> Vec<&str> {
        let is_program = |name: &str| {
            let info = catalog.dataset(name).filter(|info| matches!(info.argument, Argument::Program(_)));
            info.is_some() && self.solvers.iter().any(|solver| self.wants(name, solver, None))
        };
        self.datasets.iter().flat_map(DatasetSpec::names).filter(|name| is_program(name)).collect()
    }

    /// Whether a data set and solver are run at this oracle cost, or at any.
    pub fn wants(&self, dataset: &str, solver: &SolverSpec, cost: Option<OracleCost>) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(dataset, solver, cost))
    }
}

impl Source<'_> {
    fn datasets(
        &self,
        entries: Vec<DatasetKeys>,
        common_costs: Option<&Costs>,
        common_budget: &WireBudget,
    ) -> Result<Vec<DatasetSpec>> {
        if entries.is_empty() {
            return Err(Error::file(self.path, "has no data set; add `[[dataset]]` with `name = \"usps-synth\"`"));
        }
        let mut datasets: Vec<DatasetSpec> = Vec::new();
        // Both names of an entry, with its line.
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for entry in entries {
            let line = self.line(entry.name.span().start);
            for name in std::iter::once(entry.name.get_ref()).chain(&entry.otherwise) {
                if let Some(other) = taken.insert(name.clone(), line).filter(|other| *other != line) {
                    let message = format!(
                        "data set '{name}' is already on line {other}; results are distinguished by name, so use \
                         two configs"
                    );
                    return Err(self.error(&entry.name, message));
                }
            }
            let costs = entry.oracle_cost.as_ref().or(common_costs);
            datasets.push(DatasetSpec {
                name: entry.name.into_inner(),
                otherwise: entry.otherwise,
                lambda: entry.lambda.map(|lambda| lambda.0),
                pairwise_weight: entry.pairwise_weight.map(|weight| weight.0),
                oracle_costs: costs.map_or(vec![CostSetting::Factor(OracleCost::ONE)], |costs| costs.0.clone()),
                budget: self.budget(common_budget.clone(), entry.budget.unwrap_or_default(), line)?,
                line,
            });
        }
        Ok(datasets)
    }

    /// The keys of a data set replace the common ones.
    fn budget(&self, common: WireBudget, own: WireBudget, line: usize) -> Result<Budget> {
        let until = own.until.or(common.until);
        let budget = Budget {
            iterations: own.iterations.or(common.iterations).map(|count| count.0),
            time_s: own.time_s.or(common.time_s).map(|limit| limit.0),
            oracle_calls: own.oracle_calls.or(common.oracle_calls).map(|count| count.0),
            gap: own.gap.or(common.gap).map(|gap| gap.0),
            until: until.as_ref().map_or(Until::First, |until| until.get_ref().0),
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

    fn solvers(&self, entries: &[Spanned<SolverKeys>], known: &[SolverInfo]) -> Result<Vec<SolverSpec>> {
        if entries.is_empty() {
            return Err(Error::file(self.path, "has no solver; add `[[solver]]` with `name = \"mp-bcfw\"`"));
        }
        let name_of =
            |entry: &'_ Spanned<SolverKeys>| entry.get_ref().get("name")?.get_ref().as_str().map(str::to_owned);
        let named: Vec<String> = entries.iter().filter_map(name_of).collect();
        if let Some(twice) = entries.iter().filter(|entry| name_of(entry).as_deref() == Some(ALL)).nth(1) {
            return Err(self.error(twice, "'*' already stands for all solvers; write it once"));
        }
        let mut solvers: Vec<SolverSpec> = Vec::new();
        let mut listed: BTreeSet<SolverSpec> = BTreeSet::new();
        for entry in entries {
            let keys = entry.get_ref();
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
            if !listed.insert(spec.clone()) {
                return Err(self.error(name, format!("solver '{word}' is listed twice with the same parameters")));
            }
            solvers.push(spec);
        }
        Ok(solvers)
    }
}
