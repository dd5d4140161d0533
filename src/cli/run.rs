//! `ssvm-bench run`: executes what is not yet in the result folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::engines::{shard_count, whole_plan, write_ids};
use super::{interrupt, note, print};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{BUILTIN, Experiment, Plan};
use crate::run::cluster::id_file;
use crate::run::cluster::scripts::quoted;
use crate::run::existing::Existing;
use crate::run::oracle_cost;
use crate::run::progress::Verbosity;
use crate::run::session::{self, Options, Report};
use crate::run::shard::list::IdFile;
use crate::run::shard::part::{self, ShardRuns};
use crate::run::shard::{self, ShardIndex};
use crate::run::supervisor;
use crate::store::RunRecord;
use crate::store::folder::{Contents, Folder, Store};
use crate::store::manifest::PaperCosts;
use crate::study::regime::regimes;
use crate::text::duration;
use ssvm::clock::{ClockKind, OracleCost};

/// Which config: what `run`, `plan` and `slurm submit` share.
#[derive(Clone, Debug, clap::Args)]
pub struct ConfigArgs {
    #[arg(long, value_name = "FILE", help = config_help())]
    pub config: PathBuf,
    #[command(flatten)]
    pub select: SelectArgs,
}

pub fn config_help() -> String {
    format!("Config file, or one that is built in: {}", BUILTIN.map(|(name, _)| name).join(", "))
}

/// Which runs of a config, where and how many at once: what all commands that plan runs share.
#[derive(Clone, Debug, clap::Args)]
pub struct SelectArgs {
    /// Result folder [default: results/NAME of the config]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Concurrent runs, each pinned to its core [default: the config's, else the number of cores; on a cluster 1, unless
    /// nodes are exclusive]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Time runs one at a time whatever --jobs says, for numbers to publish
    #[arg(long)]
    pub isolated: bool,
    /// Only cells whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-bcfw (T=5)'; repeatable
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
}

impl ConfigArgs {
    /// The checked experiment, narrowed to what was selected, and its result folder.
    pub fn read(&self, catalog: &dyn Catalog) -> anyhow::Result<(Experiment, PathBuf)> {
        let mut experiment = Experiment::load(&self.config, catalog.solvers())?;
        experiment.narrow(&self.select.only)?;
        let out = self.select.out.clone().unwrap_or_else(|| experiment.folder());
        Ok((experiment, out))
    }

    /// The command that writes the id file of these runs.
    pub fn split_command(&self, out: &Path, shards: Option<usize>) -> String {
        let [config, out] = [&self.config, out].map(|path| quoted(&path.to_string_lossy()));
        let only: String = self.select.only.iter().map(|pattern| format!(" --only {}", quoted(pattern))).collect();
        let shards = shards.map_or("N".to_owned(), |shards| shards.to_string());
        format!("ssvm-bench run --config {config} --out {out}{only} --split {shards}")
    }
}

impl SelectArgs {
    pub fn jobs(&self) -> Option<usize> {
        self.jobs.map(usize::from)
    }

    /// Options of a session that executes a whole plan into this folder.
    pub fn options(&self, out: PathBuf, output: &VerbosityArgs, data: &DataDir) -> Options {
        Options {
            out,
            data_dir: DataDir { quiet: output.quiet, ..data.clone() },
            jobs: self.jobs(),
            isolated: self.isolated,
            force: false,
            prune: false,
            warn_of_others: self.only.is_empty(),
            verbosity: match (output.quiet, output.verbose) {
                (true, _) => Verbosity::Quiet,
                (_, true) => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
            part: None,
            stop: interrupt::stop_signal(),
            journal: supervisor::journal().unwrap_or_default(),
        }
    }
}

/// How much to print while runs are executed.
#[derive(Clone, Debug, clap::Args)]
pub struct VerbosityArgs {
    /// Print nothing but errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line for every run
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench run --config configs/quick.toml --out results/quick --jobs 2\n\n\
    Safe to kill and start again: finished runs are kept, failed ones are tried again.\n\
    On several machines: docs/cluster.md. SIGUSR1 lets the runs in flight end and starts no further one.")]
pub struct RunArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Redo finished runs
    #[arg(long, conflicts_with_all = ["shard", "ids"])]
    force: bool,
    /// Move runs that are not in this config's plan to DIR/stale
    #[arg(long, conflicts_with_all = ["only", "shard", "ids"])]
    prune: bool,
    /// Only the I-th of N parts of the plan, into a folder of its own under DIR/shards; `merge` joins them
    #[arg(long, value_name = "I/N")]
    shard: Option<ShardIndex>,
    /// Only the runs of an id file (`run --split`); with --shard, line I of its N
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    /// Write N parts of about the same cost to DIR/shards.txt, the id file of --ids, and execute nothing; prepares data, starts
    /// oracle programs and solves the paper's oracle cost, because the identities of runs depend on them
    #[arg(long, value_name = "N", value_parser = shard_count(), conflicts_with_all = ["force", "prune", "shard", "ids"])]
    split: Option<usize>,
    #[command(flatten)]
    output: VerbosityArgs,
}

/// Executes what is missing and prints the outcome; an error when a run failed or was left out.
pub fn run(args: &RunArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (mut experiment, out) = args.config.read(catalog)?;
    name_programs(&experiment, catalog, args.output.quiet);
    let mut options = args.config.select.options(out, &args.output, data);
    (options.force, options.prune) = (args.force, args.prune);
    if let Some(shards) = args.split {
        return split(experiment, shards, &options, catalog);
    }
    let mut known = Contents::default();
    let plan = if args.shard.is_some() || args.ids.is_some() {
        let (plan, part) = plan_part(args, &mut experiment, &options, catalog)?;
        options.part = Some(part);
        plan
    } else {
        known = known_costs(&mut experiment, &options.out, known, catalog);
        Plan::new(&experiment, catalog, &options.data_dir)?
    };
    let report = session::run(&experiment, plan, catalog, &options, known)?.report;
    // Output for programs comes first: it is complete whatever is printed below.
    print(&(serde_json::to_string(&report)? + "\n"))?;
    let mut again = command(&args.config.config, &report);
    again += &args.ids.as_ref().map_or(String::new(), |ids| format!(" --ids {}", ids.display()));
    again += &args.shard.map_or(String::new(), |index| format!(" --shard {index}"));
    complete(&report, &again, args.output.quiet)
}

/// Names the programs that a config starts, before it does: a config of others may run anything.
pub fn name_programs(experiment: &Experiment, catalog: &dyn Catalog, quiet: bool) {
    let programs = experiment.programs(catalog);
    if !quiet && !programs.is_empty() {
        let config = experiment.path.display();
        note(&format!("{config} starts programs on this machine; --no-programs refuses them:"));
        for name in programs {
            note(&format!("  {name}"));
        }
    }
}

/// Does what the identities of runs depend on, and writes the id file.
fn split(mut experiment: Experiment, shards: usize, options: &Options, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let Options { out, data_dir, .. } = options;
    let known = found_runs(&mut experiment, out, catalog)?;
    let plan = whole_plan(&experiment, catalog, data_dir, &options.stop)?;
    let existing = Existing::of(known, &plan);
    let split = shard::split(&plan, shards, |_| true, |run| existing.estimator.seconds(run));
    write_ids(out, &split.lines(), false)?;
    print(&format!("{}\n", id_file(out).display()))
}

/// The plan with nothing but the runs of a shard or an id file, and which runs these are.
fn plan_part(
    args: &RunArgs,
    experiment: &mut Experiment,
    options: &Options,
    catalog: &dyn Catalog,
) -> anyhow::Result<(Plan, ShardRuns)> {
    let config = args.config.config.display();
    let split = args.config.split_command(&options.out, args.shard.map(|index| index.of));
    if let Some(missing) = args.ids.as_deref().filter(|path| !path.exists()) {
        bail!("{}: no such id file; `{split}` writes {}", missing.display(), id_file(&options.out).display());
    }
    let list = args.ids.as_deref().map(IdFile::read).transpose()?;
    let timed = !experiment.clock.repeatable();
    if let Some(list) = &list {
        experiment.paper_costs.clone_from(&list.costs);
    } else if timed
        && experiment.wants_paper_cost()
        && let Ok(begun) = Store::open(&options.out)
    {
        experiment.paper_costs = begun.manifest()?.paper_costs;
    }
    let plan = Plan::new(experiment, catalog, &options.data_dir)?;
    if timed && !plan.undetermined.is_empty() {
        bail!(
            "the paper's oracle cost would be solved by each machine for itself; keep it in an id file: `{split}`, \
             then run with --ids {}",
            id_file(&options.out).display()
        );
    }
    let mut plan = oracle_cost::complete(plan, experiment, catalog, &options.data_dir, &options.stop, |_| ())?;
    let digest = shard::digest(&plan);
    let mut ids = BTreeSet::new();
    if let Some(list) = &list {
        list.belongs_to(&digest)?;
        ids = list.ids(args.shard)?;
    } else if let Some(index) = args.shard {
        // Every node must come to the same shards: nothing but the plan decides.
        let mut split = shard::split(&plan, index.of, |_| true, |run| run.model_s);
        ids.extend(split.shards.swap_remove(index.shard - 1).runs);
    }
    let known: BTreeSet<&str> = plan.runs.iter().map(|run| run.run_id.as_str()).collect();
    if let Some(id) = ids.iter().find(|id| !known.contains(id.as_str())) {
        bail!("run {id} is not in the plan of {config}; plan --verbose lists its runs");
    }
    let name = args.shard.map_or("some".to_owned(), |index| format!("{}-of-{}", index.shard, index.of));
    let mut part = ShardRuns { name, ids, plan: digest };
    part.narrow(&mut plan);
    Ok((plan, part))
}

/// Takes the paper's oracle costs that a folder was begun with into the experiment. `known` are records that were read
/// before; returns them with those that had to be read. A folder that cannot be read is reported by the session.
pub fn known_costs(experiment: &mut Experiment, out: &Path, known: Contents, catalog: &dyn Catalog) -> Contents {
    let Some(store) = Store::open(out).ok().filter(|_| experiment.wants_paper_cost()) else { return known };
    let known = store.refresh(Folder::Runs, known).unwrap_or_default();
    experiment.paper_costs = costs_of(out, &known.records, catalog);
    known
}

/// The runs of a folder and of its shards; the paper's oracle costs that it was begun with go into the experiment.
pub fn found_runs(experiment: &mut Experiment, out: &Path, catalog: &dyn Catalog) -> crate::Result<Contents> {
    let known = part::scan(out, |_| true)?;
    experiment.paper_costs = costs_of(out, &known.records, catalog);
    Ok(known)
}

/// The paper's oracle costs in a folder with these records.
fn costs_of(out: &Path, records: &[RunRecord], catalog: &dyn Catalog) -> PaperCosts {
    let manifest = Store::open(out).and_then(|store| store.manifest());
    let mut costs = manifest.map(|manifest| manifest.paper_costs).unwrap_or_default();
    // What a session has stored stays, then what `run --split` has solved.
    let split = Some(id_file(out)).filter(|path| path.exists()).and_then(|path| IdFile::read(&path).ok());
    for (key, cost) in split.into_iter().flat_map(|list| list.costs.0) {
        costs.0.entry(key).or_insert(cost);
    }
    // Without these, whole runs of BCFW measure it better than the first iterations of new ones.
    for clock in ClockKind::ALL.into_iter().filter(|clock| !clock.repeatable()) {
        for regime in regimes(records.iter().filter(|record| record.settings().clock == clock), catalog) {
            let solved = OracleCost::new(regime.solved).and_then(OracleCost::rounded);
            if let (Ok(cost), Some(_), Some(problem)) = (solved, regime.own_share, regime.problem) {
                costs.0.entry((problem, clock)).or_insert(cost);
            }
        }
    }
    costs
}

/// The command that continues a session.
pub fn command(config: &Path, report: &Report) -> String {
    format!("ssvm-bench run --config {} --out {}", config.display(), report.out)
}

/// An error when a run failed or was left out, with the command that continues.
pub fn complete(report: &Report, again: &str, quiet: bool) -> anyhow::Result<()> {
    let (planned, now, before) = (report.planned, report.finished, report.already);
    let failed = report.failed.len() as u64;
    if report.interrupted {
        bail!("stopped: {} of {planned} runs are left; continue with: {again}", planned - before - now - failed);
    }
    if report.gone > 0 {
        bail!(
            "{} of {} finished runs are no longer in {}: their files were removed while it ran; make them again with: {again}",
            report.gone,
            before + now + report.gone,
            report.out
        );
    }
    if let Some((label, message)) = report.failed.first() {
        bail!(
            "{failed} of {planned} runs failed, such as {label}: {message}; with this mended, continue with: {again}"
        );
    }
    if !quiet {
        let (took, out) = (duration(report.seconds), &report.out);
        note(&format!("{now} runs finished in {took}, {before} were done before: {out}"));
    }
    Ok(())
}
