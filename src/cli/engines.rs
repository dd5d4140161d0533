//! What `plan --emit` and `slurm submit` share: options of the engines that run shards, and the job they are told of.

use std::path::{Path, PathBuf};

use super::run::SelectArgs;
use crate::dataset::DataDir;
use crate::experiment::Experiment;
use crate::run::cluster::{Job, TimeLimit, sbatch, shell};

/// Options of engines.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct EngineArgs {
    /// Partition of the cluster
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Time limit of a task, as sbatch reads it: MINUTES, HOURS:MINUTES:SECONDS, DAYS-HOURS; no run starts shortly before it
    #[arg(long, value_name = "TIME")]
    pub time: Option<TimeLimit>,
    /// Whole nodes, for timings that nobody else disturbs
    #[arg(long)]
    pub exclusive: bool,
    /// Tasks that may run at the same time; with GNU parallel on each machine [default: as many as there is room for]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
}

/// The id file of a result folder.
pub fn ids(out: &Path) -> PathBuf {
    out.join("shards.txt")
}

/// A job of so many shards; its longest run is not known yet.
pub fn job(
    args: &EngineArgs,
    experiment: &Experiment,
    select: &SelectArgs,
    out: &Path,
    data: &DataDir,
    shards: usize,
) -> anyhow::Result<Job> {
    let out = shell::path(out)?;
    sbatch::check_folder(&out)?;
    let program = std::env::current_exe()?;
    let word = |text: &String, what: &str| shell::checked(text, what);
    Ok(Job {
        name: word(&experiment.name, "the name")?,
        program: shell::path(&program)?,
        config: config(&experiment.path)?,
        ids: shell::path(&ids(Path::new(&out)))?,
        out,
        data_dir: Some(shell::path(&data.path)?),
        only: experiment.only.iter().map(|pattern| word(&pattern.to_string(), "--only")).collect::<Result<_, _>>()?,
        folder: shell::path(&std::env::current_dir()?)?,
        shards,
        longest: 0.0,
        partition: args.partition.as_ref().map(|name| word(name, "--partition")).transpose()?,
        time: args.time.clone(),
        exclusive: args.exclusive,
        at_once: args.at_once.map(|count| count as usize),
        // Without a node of its own a task must not take every core it sees.
        jobs: select.jobs().or(experiment.jobs).or((!args.exclusive).then_some(1)),
        threads: experiment.threads,
        isolated: select.isolated,
        more: Vec::new(),
    })
}

/// A config file by its whole path; one that is built in by its name.
fn config(path: &Path) -> anyhow::Result<String> {
    if path.exists() {
        return Ok(shell::path(path)?);
    }
    Ok(shell::checked(&path.to_string_lossy(), "the config")?)
}
