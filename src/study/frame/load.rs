//! A result folder in, its manifest, records and tables out.

use std::collections::BTreeMap;
use std::path::Path;

use super::profile::{self, ProfileRow};
use super::regime::{self, Regime};
use super::{Bounds, Frames};
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::store::RunRecord;
use crate::store::folder::{Contents, Damage, Folder, Store};
use crate::store::identity::Identity;
use crate::store::keys::CellPattern;
use crate::store::manifest::Manifest;
use crate::store::optimum;
use ssvm::clock::OracleCost;

/// A result folder in memory.
#[derive(Debug)]
pub struct Results {
    /// Configs, sessions, host, interference.
    pub manifest: Manifest,
    /// The runs, each data set at one price of the oracle: its own, or the lowest when there is no run at that.
    pub records: Vec<RunRecord>,
    /// Files that could not be used, each with what is wrong.
    pub damaged: Vec<Damage>,
    /// The tables of the records.
    pub frames: Frames,
    /// Where the time went.
    pub profile: Vec<ProfileRow>,
    /// What the oracle costs in the paper.
    pub regimes: Vec<Regime>,
    /// The runs in the paper's regime, when there are any.
    pub regime: Option<Box<Self>>,
    /// The runs at all prices together, when one is not the oracle's own.
    pub at_all_prices: Option<View>,
}

/// Some runs of a folder.
#[derive(Debug)]
pub struct View {
    /// The runs.
    pub records: Vec<RunRecord>,
    /// Their tables.
    pub frames: Frames,
    /// Where their time went.
    pub profile: Vec<ProfileRow>,
}

impl View {
    fn new(records: Vec<RunRecord>, bounds: &Certain, catalog: &dyn Catalog) -> Result<Self> {
        let frames = Frames::with_bounds(&records, catalog, &|identity| bounds.of_problem(identity))?;
        let profile = profile::profile(&records, &frames)?;
        Ok(Self { records, frames, profile })
    }
}

impl Results {
    /// Reads a folder. One without a single sound run is an error that says what to do. With patterns, only runs whose
    /// `DATASET/SOLVER (PARAMETERS)` fits one of them.
    pub fn open(dir: &Path, catalog: &dyn Catalog, only: &[String]) -> Result<Self> {
        let store = Store::open(dir)?;
        let manifest = store.manifest()?;
        Self::of(dir, manifest, store.scan(Folder::Runs)?, catalog, only)
    }

    /// From what is in memory already; `dir` is for messages.
    pub fn of(
        dir: &Path,
        manifest: Manifest,
        contents: Contents,
        catalog: &dyn Catalog,
        only: &[String],
    ) -> Result<Self> {
        let Contents { mut records, damaged } = contents;
        if records.is_empty() {
            let first = damaged.first().map_or(String::new(), |d| format!(" (first damaged file: {})", d.error));
            return Err(Error::file(
                dir,
                format!(
                    "no run to show, {} damaged files{first}; `ssvm-bench run --config C --out {}` makes them",
                    damaged.len(),
                    dir.display()
                ),
            ));
        }
        if !only.is_empty() {
            let patterns = CellPattern::parse_all(only)?;
            records.retain(|record| patterns.iter().any(|pattern| record.matches(pattern)));
            if records.is_empty() {
                return Err(Error::file(dir, format!("--only {} fits no DATASET/SOLVER in it", only.join(", "))));
            }
        }
        let mut prices: BTreeMap<String, OracleCost> = BTreeMap::new();
        for record in &records {
            let cost = record.settings().oracle_cost;
            let shown = prices.entry(record.dataset().to_owned()).or_insert(cost);
            if !shown.is_one() && (cost.is_one() || cost < *shown) {
                *shown = cost;
            }
        }
        let bounds = Certain::of(&records)?;
        let regimes = regime::regimes(records.iter(), catalog);
        let in_regime = |record: &&RunRecord| {
            let regime = regimes.iter().find(|regime| regime.dataset == record.dataset());
            let (cost, clock) = (record.settings().oracle_cost, record.settings().clock);
            regime.is_some_and(|regime| regime.clock == clock && regime.runs.is_some_and(|(at, _)| at == cost))
        };
        let regime: Vec<RunRecord> = records.iter().filter(in_regime).cloned().collect();
        let several = records.iter().any(|r| !r.settings().oracle_cost.is_one());
        let at_all_prices = several.then(|| View::new(records.clone(), &bounds, catalog)).transpose()?;
        let here = |record: &RunRecord| prices.get(record.dataset()) == Some(&record.settings().oracle_cost);
        records.retain(here);
        let View { records, frames, profile } = View::new(records, &bounds, catalog)?;
        let regime = (!regime.is_empty()).then(|| View::new(regime, &bounds, catalog)).transpose()?;
        let regime = regime.map(|View { records, frames, profile }| {
            let (manifest, damaged, regimes) = (manifest.clone(), Vec::new(), regimes.clone());
            Box::new(Self { manifest, records, damaged, frames, profile, regimes, regime: None, at_all_prices: None })
        });
        Ok(Self { manifest, records, damaged, frames, profile, regimes, regime, at_all_prices })
    }

    /// Lines for stderr: damaged files and failed runs, so that no output hides them.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.damaged.iter().map(|d| format!("left out: {}", d.error)).collect();
        let frames = self.at_all_prices.as_ref().map_or(&self.frames, |view| &view.frames);
        for series in frames.series.iter().filter(|s| s.failed > 0) {
            let all = series.failed + series.completed;
            lines.push(format!("{} of {all} runs failed: {} on {}", series.failed, series.label, series.dataset));
        }
        lines
    }
}

/// A problem: content, λ, weight of the pairwise term.
type ProblemKey = (String, u64, Option<u64>);

/// What is certain about optima: from the store, and from the runs at all prices.
struct Certain {
    optima: optimum::Store,
    found: BTreeMap<ProblemKey, Bounds>,
}

impl Certain {
    fn of(records: &[RunRecord]) -> Result<Self> {
        let mut found: BTreeMap<ProblemKey, Bounds> = BTreeMap::new();
        for record in records.iter().filter(|record| record.status.is_done() || record.status.is_timed_out()) {
            let bounds = found.entry(key(&record.identity)).or_insert((f64::NEG_INFINITY, f64::INFINITY));
            for point in record.points() {
                *bounds = (bounds.0.max(point.dual), bounds.1.min(point.primal));
            }
        }
        Ok(Self { optima: optimum::Store::known()?, found })
    }

    fn of_problem(&self, identity: &Identity) -> Option<Bounds> {
        let stored =
            self.optima.find(&identity.problem.checksum, identity.problem.lambda, identity.problem.pairwise_weight);
        let stored = stored.map(|optimum| (optimum.lower, optimum.upper));
        match (stored, self.found.get(&key(identity)).copied()) {
            (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.min(b.1))),
            (a, b) => a.or(b),
        }
    }
}

fn key(identity: &Identity) -> ProblemKey {
    (
        identity.problem.checksum.clone(),
        identity.problem.lambda.to_bits(),
        identity.problem.pairwise_weight.map(f64::to_bits),
    )
}
