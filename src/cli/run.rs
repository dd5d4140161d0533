//! `ssvm-bench run`: executes what is not yet in the result folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::{interrupt, note, print};
use crate::catalog::Catalog;
use crate::clock::{ClockKind, OracleCost};
use crate::config::{Experiment, Price};
use crate::dataset::DataDir;
use crate::exec::progress::Verbosity;
use crate::exec::session::{self, Options, Report};
use crate::frame::regime::regimes;
use crate::plan::Plan;
use crate::text::duration;
use crate::trace::store::{Folder, Store};

/// How runs are made: what `run` and `reproduce` share.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct HowArgs {
    /// Result folder [default: results/NAME of the config]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Concurrent runs, each pinned to its core [default: the config's, else the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Time runs one at a time whatever --jobs says, for numbers to publish
    #[arg(long)]
    pub isolated: bool,
    /// Only cells whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-bcfw (T=5)'; repeatable
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Say nothing but errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// A line for every run
    #[arg(long, short)]
    pub verbose: bool,
}

/// Arguments of `run`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench run --config configs/quick.toml --out results/quick --jobs 2\n\n\
    Safe to kill and start again: finished runs are kept, failed ones are tried again.")]
pub struct RunArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper, regime, breakeven, league, league-short
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Redo finished runs
    #[arg(long)]
    force: bool,
    /// Move runs that are not in this config's plan to DIR/stale
    #[arg(long, conflicts_with = "only")]
    prune: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

impl RunArgs {
    /// Nothing forced, nothing pruned.
    pub fn plain(config: PathBuf, how: HowArgs) -> Self {
        Self { config, force: false, prune: false, how }
    }

    /// The checked experiment, and how to run it.
    pub fn read(&self, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<(Experiment, Options)> {
        let how = &self.how;
        let mut experiment = Experiment::load(&self.config, catalog.solvers())?;
        experiment.only.clone_from(&how.only);
        let out = how.out.clone().unwrap_or_else(|| experiment.folder());
        if experiment.datasets.iter().any(|set| set.prices.contains(&Price::Paper)) {
            experiment.paper_prices = prices_of(&out, catalog);
        }
        let options = Options {
            out,
            data_dir: DataDir { quiet: how.quiet, ..data.clone() },
            jobs: how.jobs.map(usize::from),
            isolated: how.isolated,
            force: self.force,
            prune: self.prune,
            warn_of_others: how.only.is_empty(),
            verbosity: match (how.quiet, how.verbose) {
                (true, _) => Verbosity::Quiet,
                (_, true) => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
        };
        Ok((experiment, options))
    }
}

/// The prices of the paper that a folder was begun with; a folder that cannot be read is reported by whoever needs it.
pub fn prices_of(out: &Path, catalog: &dyn Catalog) -> BTreeMap<String, OracleCost> {
    let Ok(store) = Store::open(out) else { return BTreeMap::new() };
    let mut prices = store.manifest().map(|manifest| manifest.paper_prices).unwrap_or_default();
    // Whole runs of BCFW say it better than the first iterations of new ones.
    let records = store.scan(Folder::Runs).map(|contents| contents.records).unwrap_or_default();
    for clock in ClockKind::ALL.into_iter().filter(|clock| !clock.repeatable()) {
        for regime in regimes(records.iter().filter(|record| record.settings().clock == clock), catalog) {
            let solved = OracleCost::new(regime.solved).and_then(OracleCost::rounded);
            if let (Ok(price), Some(_)) = (solved, regime.own_share) {
                prices.entry(format!("{} {}", regime.dataset, clock.name())).or_insert(price);
            }
        }
    }
    prices
}

/// Executes what is missing and prints the outcome; an error when a run failed or was left out.
pub fn run(args: &RunArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (experiment, options) = args.read(catalog, data)?;
    let plan = Plan::new(&experiment, catalog, &options.data_dir)?;
    let report = session::run(&experiment, &plan, catalog, &options, interrupt::flag())?.report;
    // Outputs for programs come first: whatever is said below, the numbers are there.
    print(&(serde_json::to_string(&report)? + "\n"))?;
    complete(args, &report)
}

/// An error when a run failed or was left out, with the command that continues.
pub fn complete(args: &RunArgs, report: &Report) -> anyhow::Result<()> {
    let again = format!("ssvm-bench run --config {} --out {}", args.config.display(), report.out.display());
    let failed = report.failed.len() as u64;
    if report.interrupted {
        let left = report.planned - report.already - report.finished - failed;
        bail!("stopped: {left} of {} runs are left; continue with: {again}", report.planned);
    }
    if let Some((label, message)) = report.failed.first() {
        bail!("{failed} of {} runs failed, such as {label}: {message}; try them again with: {again}", report.planned);
    }
    if !args.how.quiet {
        let (now, before) = (report.finished, report.already);
        note(&format!(
            "{now} runs finished in {}, {before} were done before: {}",
            duration(report.seconds),
            report.out.display()
        ));
    }
    Ok(())
}
