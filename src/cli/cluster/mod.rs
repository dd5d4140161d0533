//! `cluster`: the shards of a config on many machines. This file has what its commands share: the plan to split, its id file, and
//! the job that the options of an engine describe.

mod merge;
mod plan;
mod status;
mod submit;

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::args::{SelectArgs, config_help, duration};
use super::note;
use crate::dataset::{Argument, DataDir};
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, PendingSet, Plan};
use crate::run::cluster::scripts::quoted;
use crate::run::cluster::{ClusterJob, id_file, script_path, script_word};
use crate::run::oracle_cost;
use crate::run::worker::StopSignal;
use crate::store::files::{self, SharedFile};

/// Split a config over many machines, and join the results
///
/// `plan` splits a config into shards and writes scripts for SLURM, HyperQueue or GNU parallel; `submit` and `status`
/// run and watch the shards on SLURM; `merge` joins result folders. See docs/cluster.md.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench cluster plan smoke --shards 2\n  \
    ssvm-bench cluster submit smoke --shards 2 --time 1h --dry-run")]
pub struct ClusterArgs {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(clap::Subcommand)]
enum ClusterCommand {
    Plan(plan::PlanArgs),
    Submit(Box<submit::SubmitArgs>),
    Status(status::StatusArgs),
    Merge(merge::MergeArgs),
}

pub fn run(args: &ClusterArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    match &args.command {
        ClusterCommand::Plan(args) => plan::run(args, catalog, data),
        ClusterCommand::Submit(args) => submit::run(args, catalog, data),
        ClusterCommand::Status(args) => status::run(args),
        ClusterCommand::Merge(args) => merge::run(args),
    }
}

/// Which config, and which of its runs.
#[derive(Clone, Debug, clap::Args)]
struct ConfigArgs {
    #[arg(value_name = "CONFIG", help = config_help())]
    config: PathBuf,
    #[command(flatten)]
    select: SelectArgs,
}

/// The command that writes the id file of these runs.
pub fn split_command(config: &Path, select: &SelectArgs, out: &Path, shards: Option<usize>) -> String {
    let [config, out] = [config, out].map(|path| quoted(&path.to_string_lossy()));
    let only: String = select.only.only.iter().map(|pattern| format!(" --only {}", quoted(pattern))).collect();
    let shards = shards.map_or("N".to_owned(), |shards| shards.to_string());
    format!("ssvm-bench cluster plan {config} --out {out}{only} --shards {shards} --write")
}

/// The plan with the identity of every run. What identities depend on is prepared, started and solved.
pub fn whole_plan(
    experiment: &Experiment,
    catalog: &dyn Catalog,
    data: &DataDir,
    stop: &StopSignal,
) -> anyhow::Result<Plan> {
    let plan = Plan::new(experiment, catalog, data)?;
    Ok(oracle_cost::complete(plan, experiment, catalog, data, stop, note)?)
}

/// The same for a command that computes nothing: fails where identities depend on work. `split` is the command that does it. Data
/// sets that are programs stay pending, because no file would tell a later call what they say when they start.
pub fn known_plan(
    experiment: &Experiment,
    catalog: &dyn Catalog,
    data: &DataDir,
    [look, command]: [&str; 2],
    split: &str,
) -> anyhow::Result<Plan> {
    let plan = Plan::outline(experiment, catalog, data)?;
    let is_program =
        |name: &str| catalog.dataset(name).is_some_and(|info| matches!(info.argument, Argument::Program(_)));
    let pending = plan.pending.iter().filter(|set| !is_program(&set.dataset));
    let pending = pending.map(|set| (&set.dataset, set.work.as_str()));
    let unsolved = plan.sets.iter().filter(|set| set.lacks_paper_cost());
    let unsolved = unsolved.map(|set| (&set.spec.name, "solve the paper's oracle cost"));
    if let Some((dataset, work)) = pending.chain(unsolved).next() {
        bail!(
            "the runs of {dataset} depend on work that {look} does not do: {work}; `{split}` does it and writes the \
             shards; then repeat `{command}`"
        );
    }
    Ok(plan)
}

/// What a command that starts no program says of those that a plan needs.
fn unknown_runs(plan: &Plan, split: &str) -> String {
    let line = |set: &PendingSet| {
        let PendingSet { dataset, work, runs, .. } = set;
        format!("{dataset}: its {runs} runs are unknown, because this command does not {work}; `{split}` does\n")
    };
    plan.pending.iter().map(line).collect()
}

/// Fails when the id file leads to a stream: it is read again by every task.
fn plain_ids(out: &Path) -> anyhow::Result<()> {
    let path = id_file(out);
    if files::is_stream(&path) {
        bail!("{} is not a plain file; remove it, or choose another --out", path.display());
    }
    Ok(())
}

/// Writes the id file of a result folder. An engine may be using another one that is there: replaced only if wanted.
pub fn write_ids(out: &Path, text: &str, replace: bool) -> anyhow::Result<()> {
    plain_ids(out)?;
    let path = id_file(out);
    let shared = SharedFile::lock(&path)?;
    if !replace && shared.text()?.is_some_and(|there| there != text) {
        bail!(
            "{} already exists and was not written by `cluster submit`; another engine may be using it: remove it, \
             or choose another --out",
            path.display()
        );
    }
    Ok(shared.write(text)?)
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct EngineArgs {
    /// Partition of the cluster
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Time limit of a task, such as 90m or 12h; no run starts shortly before it
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// Whole nodes, for timings that no other job disturbs
    #[arg(long)]
    pub exclusive: bool,
    /// Maximum number of tasks at the same time; with GNU parallel, on each machine [default: as many as fit]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
}

impl EngineArgs {
    /// A job of this many shards; its longest run is not known yet.
    pub fn job(
        &self,
        experiment: &Experiment,
        select: &SelectArgs,
        out: &Path,
        data: &DataDir,
        shards: usize,
    ) -> anyhow::Result<ClusterJob> {
        let out = script_path(out)?;
        if out.contains('\\') {
            bail!("{out}: sbatch accepts no backslash in an output path; choose another --out");
        }
        // A config that is built in has a name and no file.
        let config = if experiment.path.exists() {
            script_path(&experiment.path)?
        } else {
            script_word(&experiment.path.to_string_lossy(), "the config")?
        };
        Ok(ClusterJob {
            name: script_word(&experiment.name, "the name")?,
            program: script_path(&std::env::current_exe()?)?,
            config,
            out,
            data_dir: Some(script_path(&data.path)?),
            data_flags: data.flags(),
            only: select.only.only.iter().map(|pattern| script_word(pattern, "--only")).collect::<Result<_, _>>()?,
            folder: script_path(&std::env::current_dir()?)?,
            shards,
            longest_s: 0.0,
            partition: self.partition.as_ref().map(|name| script_word(name, "--partition")).transpose()?,
            time: self.time,
            exclusive: self.exclusive,
            at_once: self.at_once.map(|count| count as usize),
            // A task that shares its node must not use every core.
            jobs: select.jobs().or(experiment.jobs).or((!self.exclusive).then_some(1)),
            threads: experiment.threads,
            isolated: select.isolated,
            more: Vec::new(),
        })
    }
}
