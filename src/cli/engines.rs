//! What `plan --emit` and `slurm submit` share: options of the engines that run shards, and the job they describe.

use std::path::Path;

use super::run::SelectArgs;
use crate::dataset::DataDir;
use crate::experiment::Experiment;
use crate::run::cluster::{ClusterJob, TimeLimit, script_path, script_word};

#[derive(Clone, Debug, Default, clap::Args)]
pub struct EngineArgs {
    /// Partition of the cluster
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Time limit of a task, as sbatch reads it: MINUTES, HOURS:MINUTES:SECONDS, DAYS-HOURS; no run starts shortly before it
    #[arg(long, value_name = "TIME")]
    pub time: Option<TimeLimit>,
    /// Whole nodes, for timings that no other job disturbs
    #[arg(long)]
    pub exclusive: bool,
    /// Tasks that may run at the same time; with GNU parallel on each machine [default: as many as fit]
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
            anyhow::bail!("{out}: sbatch takes no output path with a backslash; choose another --out");
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
            only: select.only.iter().map(|pattern| script_word(pattern, "--only")).collect::<Result<_, _>>()?,
            folder: script_path(&std::env::current_dir()?)?,
            shards,
            longest_s: 0.0,
            partition: self.partition.as_ref().map(|name| script_word(name, "--partition")).transpose()?,
            time: self.time.clone(),
            exclusive: self.exclusive,
            at_once: self.at_once.map(|count| count as usize),
            // Without a node of its own a task must not take every core it sees.
            jobs: select.jobs().or(experiment.jobs).or((!self.exclusive).then_some(1)),
            threads: experiment.threads,
            isolated: select.isolated,
            more: Vec::new(),
        })
    }
}
