//! Records → curves, bounds, bands and paired comparisons; claims, league and break-even are functions of these.
//!
//! A [`Study`] owns the records of a result folder once. Its parts are [`View`]s: named series, such as those at the oracle's
//! own cost or those in the paper's regime. In the order of reading:
//!
//! | file | takes → gives |
//! |---|---|
//! | [`names`] | keys of series → display names |
//! | [`points`] | records → one table of evaluations with bounds and suboptimalities, and the curve of every run |
//! | [`align`], [`bands`] | repeats → a common grid → min, median and max of a series on an axis |
//! | [`curve`], [`paired`] | two series and a target → the ratio of what they spent, with an interval and a verdict |
//! | [`estimate`] | a statistic over repeats → a number with its interval |
//! | [`targets`] | a data set → time and iterations to a list of gaps |
//! | [`profile`], [`regime`] | oracle shares and latencies, and the oracle cost in the paper |
//! | [`busy`] | data sets that were timed on a busy machine, about which nothing is decided |
//! | [`claims`], [`league`], [`break_even`] | the statements of the paper; all solvers against each other; over the oracle cost |
//! | [`Summary`] | all of these, and where the records come from → `summary.json` |
//! | [`export`] | tables → Parquet and CSV |

pub mod align;
pub mod bands;
pub mod break_even;
pub mod busy;
pub mod claims;
pub mod curve;
mod error;
pub mod estimate;
pub mod export;
pub mod league;
pub mod names;
pub mod paired;
pub mod points;
pub mod profile;
pub mod regime;
mod summary;
pub mod targets;
mod view;

pub use bands::{Axis, Band, Bands, Quantity};
pub use error::Error;
pub use points::Bounds;
pub use summary::{Origin, Summary};
pub use view::{Series, View};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::error::Result;
use crate::experiment::catalog::Catalog;
use crate::store::RunRecord;
use crate::store::folder::{Contents, Damage, Folder, Store};
use crate::store::keys::{CellPattern, ProblemKey};
use crate::store::manifest::Manifest;
use crate::store::optimum;
use points::Points;
use profile::ProfileRow;
use regime::Regime;
use ssvm::clock::OracleCost;

#[derive(Debug)]
pub struct Study {
    pub manifest: Manifest,
    /// Files that could not be used, each with what is wrong.
    pub damaged: Vec<Damage>,
    /// Each data set at one oracle cost: k = 1, or the lowest cost if it was not run at 1.
    pub own: View,
    pub profile: Vec<ProfileRow>,
    pub regimes: Vec<Regime>,
    /// The runs in the paper's regime; `None` when it was not run.
    pub regime: Option<View>,
    pub regime_profile: Vec<ProfileRow>,
    /// The runs at all oracle costs, when one of them is not 1.
    pub all_costs: Option<View>,
}

impl Study {
    /// Reads a folder. Fails with advice if it has no sound run. With patterns, only runs whose
    /// `DATASET/SOLVER (PARAMETERS)` matches one of them.
    pub fn open(dir: &Path, catalog: &dyn Catalog, only: &[String]) -> Result<Self> {
        let store = Store::open(dir)?;
        let manifest = store.manifest()?;
        Self::of(dir, manifest, store.scan(Folder::Runs)?, catalog, only)
    }

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
            let folder = dir.display().to_string();
            return Err(crate::Error::file(dir, Error::NoRun { damaged: damaged.len(), first, folder }));
        }
        if !only.is_empty() {
            let patterns = CellPattern::parse_all(only)?;
            records.retain(|record| patterns.iter().any(|pattern| record.matches(pattern)));
            if records.is_empty() {
                return Err(crate::Error::file(dir, Error::NothingSelected(only.join(", "))));
            }
        }
        let optima = optimum::Optima::known()?;
        let known = |problem: &ProblemKey| {
            let stored = optima.find(&problem.checksum, problem.lambda, problem.pairwise_weight);
            stored.map(|optimum| (optimum.lower, optimum.upper))
        };
        Ok(Self { manifest, damaged, ..Self::from_records(records, catalog, &known)? })
    }

    pub fn from_records(
        mut records: Vec<RunRecord>,
        catalog: &dyn Catalog,
        known: &dyn Fn(&ProblemKey) -> Option<Bounds>,
    ) -> Result<Self> {
        let regimes = regime::regimes(records.iter(), catalog);
        records.sort_by_cached_key(|record| {
            let ranks = (catalog.dataset_rank(record.dataset()), catalog.solver_rank(record.solver()));
            (ranks.0, record.problem().clone(), ranks.1, record.series(), record.repeat, record.run_id())
        });
        let mut costs: BTreeMap<ProblemKey, OracleCost> = BTreeMap::new();
        for record in &records {
            let cost = record.settings().oracle_cost;
            let shown = costs.entry(record.problem().clone()).or_insert(cost);
            if !shown.is_one() && (cost.is_one() || cost < *shown) {
                *shown = cost;
            }
        }
        let points = Arc::new(Points::new(records, known)?);
        let in_regime = |of: &points::Repeats| {
            let regime = regimes.iter().find(|regime| regime.problem.as_ref() == Some(&of.key.problem));
            regime.is_some_and(|regime| {
                regime.clock == of.key.clock && regime.runs.is_some_and(|(cost, _)| cost == of.key.oracle_cost)
            })
        };
        let several = points.repeats.iter().any(|of| !of.key.oracle_cost.is_one());
        let is_own = |of: &points::Repeats| costs.get(&of.key.problem) == Some(&of.key.oracle_cost);
        let own = View::new(&points, &is_own, None, catalog);
        let regime = points.repeats.iter().any(in_regime).then(|| View::new(&points, &in_regime, Some(&own), catalog));
        Ok(Self {
            manifest: Manifest::default(),
            damaged: Vec::new(),
            profile: profile::profile(&own)?,
            own,
            regime_profile: regime.as_ref().map(profile::profile).transpose()?.unwrap_or_default(),
            regime,
            all_costs: several.then(|| View::new(&points, &|_| true, None, catalog)),
            regimes,
        })
    }

    /// The runs at all oracle costs.
    pub fn all(&self) -> &View {
        self.all_costs.as_ref().unwrap_or(&self.own)
    }

    pub fn warnings(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.damaged.iter().map(|d| format!("left out: {}", d.error)).collect();
        for series in self.all().series.iter().filter(|s| s.failed > 0) {
            let all = series.failed + series.completed;
            lines.push(format!("{} of {all} runs failed: {} on {}", series.failed, series.label, series.dataset));
        }
        lines
    }
}
