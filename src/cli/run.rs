//! `ssvm-bench run`: executes what is not yet in the result folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::{interrupt, note, print};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Estimator, Experiment, Plan, RunSpec};
use crate::run::oracle_cost;
use crate::run::progress::Verbosity;
use crate::run::session::{self, Options, Report};
use crate::run::shard::list::List;
use crate::run::shard::part::Part;
use crate::run::shard::{self, Which};
use crate::store::folder::{Folder, Store};
use crate::store::manifest::paper_cost_key;
use crate::study::frame::regime::regimes;
use crate::text::duration;
use ssvm::clock::{ClockKind, OracleCost};

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
    Safe to kill and start again: finished runs are kept, failed ones are tried again.\n\
    On several machines: docs/cluster.md. SIGUSR1 lets the runs in flight end and starts no further one.")]
pub struct RunArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper, regime, breakeven, league, league-short
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Redo finished runs
    #[arg(long, conflicts_with_all = ["shard", "ids"])]
    force: bool,
    /// Move runs that are not in this config's plan to DIR/stale
    #[arg(long, conflicts_with_all = ["only", "shard", "ids"])]
    prune: bool,
    /// Only the I-th of N parts of the plan, into a folder of its own under DIR/shards; `merge` joins them
    #[arg(long, value_name = "I/N")]
    shard: Option<Which>,
    /// Only the runs of an id file (`plan --emit lines`); with --shard, line I of its N
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    #[command(flatten)]
    pub how: HowArgs,
}

impl RunArgs {
    /// Nothing forced, nothing pruned.
    pub fn plain(config: PathBuf, how: HowArgs) -> Self {
        Self { config, force: false, prune: false, shard: None, ids: None, how }
    }

    /// The checked experiment, and how to run it.
    pub fn read(&self, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<(Experiment, Options)> {
        let how = &self.how;
        let mut experiment = Experiment::load(&self.config, catalog.solvers())?;
        experiment.narrow(&how.only)?;
        let out = how.out.clone().unwrap_or_else(|| experiment.folder());
        if self.shard.is_none() && self.ids.is_none() {
            experiment.paper_costs = costs_of(&experiment, &out, catalog);
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
            part: None,
            drain: interrupt::drain(),
        };
        Ok((experiment, options))
    }

    /// The plan, and the part of it that was asked for.
    fn plan(
        &self,
        experiment: &mut Experiment,
        options: &Options,
        catalog: &dyn Catalog,
    ) -> anyhow::Result<(Plan, Option<Part>)> {
        let list = self.ids.as_deref().map(List::read).transpose()?;
        if let Some(list) = &list {
            experiment.paper_costs.clone_from(&list.prices);
        } else if self.shard.is_some() && experiment.wants_paper_cost() && !experiment.clock.repeatable() {
            let begun = Store::open(&options.out).ok();
            experiment.paper_costs = begun.map(|store| store.manifest()).transpose()?.unwrap_or_default().paper_costs;
        }
        let mut plan = Plan::new(experiment, catalog, &options.data_dir)?;
        let in_part = self.shard.is_some() || list.is_some();
        if in_part && !experiment.clock.repeatable() && !plan.undetermined.is_empty() {
            bail!(
                "the paper's oracle cost would be solved by each machine for itself; keep it in an id file: plan \
                 --config {} --shards N --emit lines > FILE, then run with --ids FILE",
                self.config.display()
            );
        }
        if in_part {
            plan = oracle_cost::complete(plan, experiment, catalog, &options.data_dir, |_| ())?;
        }
        let digest = shard::digest(&plan);
        let mut part = match (&list, self.shard) {
            (None, None) => return Ok((plan, None)),
            (Some(list), which) => {
                list.belongs_to(&digest)?;
                let ids = list.ids(which)?;
                let known: BTreeSet<&str> = plan.runs.iter().map(|run| run.run_id.as_str()).collect();
                if let Some(id) = ids.iter().find(|id| !known.contains(id.as_str())) {
                    bail!("run {id} is not in the plan of {}; plan --verbose lists its runs", self.config.display());
                }
                Part { name: which.map_or("some".to_owned(), name), ids, plan: digest }
            }
            (None, Some(which)) => {
                // Every node must come to the same shards: nothing but the plan decides.
                let seconds = |run: &RunSpec| Estimator::model(run, plan.description(run));
                let mut split = shard::split(&plan, which.of, |_| true, seconds);
                let ids = split.shards.swap_remove(which.shard - 1).runs.into_iter().collect();
                Part { name: name(which), ids, plan: digest }
            }
        };
        part.narrow(&mut plan);
        Ok((plan, Some(part)))
    }
}

fn name(which: Which) -> String {
    format!("{}-of-{}", which.shard, which.of)
}

/// The paper's oracle costs that a folder was begun with; a folder that cannot be read has none, its reader reports it.
pub fn costs_of(experiment: &Experiment, out: &Path, catalog: &dyn Catalog) -> BTreeMap<String, OracleCost> {
    // Records are read for them.
    if !experiment.wants_paper_cost() {
        return BTreeMap::new();
    }
    let Ok(store) = Store::open(out) else { return BTreeMap::new() };
    let mut costs = store.manifest().map(|manifest| manifest.paper_costs).unwrap_or_default();
    // Whole runs of BCFW say it better than the first iterations of new ones.
    let records = store.scan(Folder::Runs).map(|contents| contents.records).unwrap_or_default();
    for clock in ClockKind::ALL.into_iter().filter(|clock| !clock.repeatable()) {
        for regime in regimes(records.iter().filter(|record| record.settings().clock == clock), catalog) {
            let solved = OracleCost::new(regime.solved).and_then(OracleCost::rounded);
            if let (Ok(price), Some(_)) = (solved, regime.own_share) {
                costs.entry(paper_cost_key(&regime.dataset, clock)).or_insert(price);
            }
        }
    }
    costs
}

/// Executes what is missing and prints the outcome; an error when a run failed or was left out.
pub fn run(args: &RunArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (mut experiment, mut options) = args.read(catalog, data)?;
    let (plan, part) = args.plan(&mut experiment, &options, catalog)?;
    options.part = part;
    let report = session::run(&experiment, &plan, catalog, &options, interrupt::flag())?.report;
    // Outputs for programs come first: whatever is said below, the numbers are there.
    print(&(serde_json::to_string(&report)? + "\n"))?;
    complete(args, &report)
}

/// An error when a run failed or was left out, with the command that continues.
pub fn complete(args: &RunArgs, report: &Report) -> anyhow::Result<()> {
    let mut again = format!("ssvm-bench run --config {} --out {}", args.config.display(), report.out.display());
    again += &args.ids.as_ref().map_or(String::new(), |ids| format!(" --ids {}", ids.display()));
    again += &args.shard.map_or(String::new(), |which| format!(" --shard {which}"));
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
