//! `cluster plan`: a config split into shards, as a table, an id file or a script for an engine.

use anyhow::bail;

use super::super::args::shard_count;
use super::super::run::{found_runs, name_programs};
use super::super::terminal::print_width;
use super::super::{interrupt, print};
use super::{ConfigArgs, EngineArgs, known_plan, plain_ids, split_command, unknown_runs, whole_plan, write_ids};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Plan, RunSpec};
use crate::run::cluster::{id_file, scripts};
use crate::run::existing::Existing;
use crate::run::session::workers;
use crate::run::shard::{self, Split};
use crate::table::Kind::{Count, Values};
use crate::table::{Table, cells};
use crate::text::{counted, duration, fitted};

/// Split the runs of a config into shards of about the same cost
///
/// Prints the shards or, with --emit, the input of an engine. Computes nothing, and fails if the identities of runs
/// depend on work that a plan does not do (images, oracle programs, the paper's oracle cost). --write does that work
/// and writes DIR/shards.txt, which `run --ids` and the scripts read. The SLURM script writes its logs to DIR/slurm,
/// which must exist.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench cluster plan smoke --out results/cluster --shards 2\n  \
    ssvm-bench cluster plan smoke --out results/cluster --shards 2 --write\n  \
    ssvm-bench cluster plan smoke --out results/cluster --shards 2 --emit parallel > shards.sh")]
pub struct PlanArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Number of shards, usually a few times the number of machines
    #[arg(long, value_name = "N", value_parser = shard_count)]
    shards: usize,
    /// Do the work that the identities of runs depend on and write DIR/shards.txt, but execute no run
    #[arg(long, conflicts_with_all = ["emit", "missing"])]
    write: bool,
    /// Print the shards for an engine instead of a table
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Only runs that are not done yet
    #[arg(long)]
    missing: bool,
    #[command(flatten, next_help_heading = "For the scripts of --emit")]
    engine: EngineArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// The id file that `run --ids` reads: a line of run identities per shard.
    Lines,
    /// One JSON object: the runs and the estimated seconds of each shard.
    Json,
    /// The batch script of a SLURM array; `cluster submit` also submits it.
    Sbatch,
    /// A script for HyperQueue.
    Hq,
    /// A script for GNU parallel.
    Parallel,
}

impl Emit {
    /// A script names the id file and not the runs in it.
    fn is_script(self) -> bool {
        !matches!(self, Self::Lines | Self::Json)
    }
}

pub fn run(args: &PlanArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (select, shards) = (&args.config.select, args.shards);
    let (mut experiment, out) = select.experiment(&args.config.config, catalog)?;
    if args.write {
        plain_ids(&out)?;
        name_programs(&experiment, catalog);
    }
    let known = found_runs(&mut experiment, &out, catalog)?;
    let command = split_command(&args.config.config, select, &out, Some(shards));
    let plan = if args.write {
        whole_plan(&experiment, catalog, data, &interrupt::stop_signal())?
    } else if args.emit.is_some_and(Emit::is_script) {
        Plan::outline(&experiment, catalog, data)?
    } else {
        // Shards name their runs, and every node must take the same oracle costs.
        let plan = known_plan(&experiment, catalog, data, ["a plan", "cluster plan"], &command)?;
        if args.emit.is_some() && !plan.pending.is_empty() {
            bail!("{}", unknown_runs(&plan, &command).trim_end());
        }
        plan
    };
    let existing = Existing::of(known, &plan);
    let seconds = |run: &RunSpec| existing.estimator.seconds(run);
    let split = shard::split(&plan, shards, |run| !args.missing || !existing.has(run), seconds);
    if args.write {
        write_ids(&out, &split.lines(), false)?;
        return print(&format!("{}\n", id_file(&out).display()));
    }
    let script = |template| -> anyhow::Result<String> {
        let mut job = args.engine.job(&experiment, select, &out, data, shards)?;
        job.longest_s = plan.runs.iter().chain(&plan.undetermined).map(seconds).fold(0.0, f64::max);
        Ok(job.script(template))
    };
    let jobs = workers(&experiment, select.jobs(), select.isolated);
    print(&match args.emit {
        None => fitted(&table(&experiment.name, &split, jobs), print_width()) + &unknown_runs(&plan, &command),
        Some(Emit::Lines) => split.lines(),
        Some(Emit::Json) => serde_json::to_string(&split)? + "\n",
        Some(Emit::Sbatch) => script(scripts::SLURM_ARRAY)?,
        Some(Emit::Hq) => script(scripts::HYPERQUEUE)?,
        Some(Emit::Parallel) => script(scripts::PARALLEL)?,
    })
}

fn table(name: &str, split: &Split, jobs: usize) -> String {
    let shards = split.shards.len();
    let mut table = Table::new("", [("shard", Values), ("runs", Count), ("estimate", Values), ("longest run", Values)]);
    for (k, shard) in split.shards.iter().enumerate() {
        let (number, seconds) = (format!("{}/{shards}", k + 1), shard.seconds / jobs as f64);
        table.push(cells![number, shard.runs.len(), duration(seconds), duration(shard.longest)]);
    }
    let mut text = format!(
        "{}\n{name}: {} runs in {shards} shards, the longest {:.0} % above the average, {} each\n",
        table.text(print_width()),
        split.runs(),
        100.0 * split.imbalance(),
        counted(jobs, "worker"),
    );
    let empty = split.shards.iter().filter(|shard| shard.runs.is_empty()).count();
    if empty > 0 && split.runs() > 0 {
        text += &format!(
            "{empty} shards are empty: timed runs of one data set and seed stay together, and there are only {} \
             such groups\n",
            shards - empty
        );
    }
    text
}
