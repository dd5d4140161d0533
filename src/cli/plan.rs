//! `ssvm-bench plan`: the runs that would happen, what is already done, how long and how much memory; runs nothing.

use std::path::PathBuf;

use serde::Serialize;

use super::engines::{self, EngineArgs};
use super::format::table_or_json;
use super::{note, print};
use crate::cells;
use crate::dataset::DataDir;
use crate::experiment::Experiment;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Estimator, Plan, RunSpec, plan_memory};
use crate::run::cluster::{Job, hyperqueue, parallel, sbatch};
use crate::run::existing::Existing;
use crate::run::session::{memory_warning, workers};
use crate::run::shard::{self, MOST_SHARDS, Split, part};
use crate::table::Kind::{Count, Text, Values};
use crate::table::{Format, Table};
use crate::text::{bytes, duration};

/// Arguments of `plan`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench plan --config configs/paper.toml --out results/paper\n  \
    ssvm-bench plan --config quick --out results/quick --shards 16 --emit lines > results/quick/shards.txt\n  \
    ssvm-bench plan --config quick --out results/quick --shards 16 --emit parallel > quick.sh\n\n\
    The scripts read DIR/shards.txt, the output of --emit lines; that of SLURM logs into DIR/slurm, which must be there.")]
pub struct PlanArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper, regime, breakeven, league, league-short
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Result folder, to see what is already done [default: results/NAME of the config]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Concurrent runs to plan for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Plan for one timed run at a time
    #[arg(long)]
    pub isolated: bool,
    /// Output: a table of data sets and solvers, or one JSON object per run and one for the plan
    #[arg(long, value_parser = table_or_json(), default_value = "table")]
    pub format: Format,
    /// Only cells whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-bcfw (T=5)'; repeatable
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// List every run with its identity
    #[arg(long, short)]
    pub verbose: bool,
    /// Split the plan into N parts of about the same cost, for as many machines
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=MOST_SHARDS as u64))]
    pub shards: Option<usize>,
    /// Print the shards for an engine, instead of the plan
    #[arg(long, value_enum, requires = "shards")]
    pub emit: Option<Emit>,
    /// Only runs that are not done yet
    #[arg(long, requires = "shards")]
    pub missing: bool,
    #[command(flatten, next_help_heading = "For the scripts of --emit")]
    pub engine: EngineArgs,
}

/// What the shards of a plan are printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Emit {
    /// The id file that `run --ids` reads: a line of run identities per shard.
    Lines,
    /// One JSON object: the runs and the estimated seconds of each shard.
    Json,
    /// The batch script of a SLURM array; `slurm submit` does the rest as well.
    Sbatch,
    /// A script for HyperQueue.
    Hq,
    /// A script for GNU parallel.
    Parallel,
}

/// What a plan amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanSummary {
    /// Name of the config.
    pub name: String,
    /// Runs in the plan.
    pub planned: u64,
    /// Of these, finished.
    pub done: u64,
    /// Workers.
    pub jobs: u64,
    /// Expected wall time of what is left.
    pub seconds_left: f64,
    /// Expected peak memory.
    pub memory_bytes: u64,
}

/// Validates everything and prints the plan.
pub fn run(args: &PlanArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let mut experiment = Experiment::load(&args.config, catalog.solvers())?;
    experiment.only.clone_from(&args.only);
    let out = args.out.clone().unwrap_or_else(|| experiment.folder());
    experiment.paper_prices = super::run::prices_of(&experiment, &out, catalog);
    let plan = Plan::new(&experiment, catalog, data)?;
    let existing = Existing::of(part::scan(&out, |_| true)?, &plan);
    let estimator = existing.estimator(&plan);
    let jobs = workers(&experiment, args.jobs.map(usize::from), args.isolated);
    let left = plan.runs.iter().filter(|run| !existing.done.contains_key(&run.run_id));
    let summary = PlanSummary {
        name: experiment.name.clone(),
        planned: plan.runs.len() as u64,
        done: existing.done.len() as u64,
        jobs: jobs as u64,
        seconds_left: left.map(|run| estimator.seconds(run, plan.description(run))).sum::<f64>() / jobs as f64,
        memory_bytes: plan_memory(&plan, jobs),
    };
    if let Some(shards) = args.shards {
        let wanted = |run: &RunSpec| !args.missing || !existing.done.contains_key(&run.run_id);
        let split = shard::split(&plan, shards, wanted, |run| estimator.seconds(run, plan.description(run)));
        let job = || -> anyhow::Result<Job> {
            let job = engines::job(&args.engine, &experiment, &out, data, shards, args.jobs, args.isolated)?;
            Ok(Job { longest: split.longest(), ..job })
        };
        return print(&match args.emit {
            None => shard_table(&split, &summary),
            Some(Emit::Lines) => split.lines(),
            Some(Emit::Json) => serde_json::to_string(&split)? + "\n",
            Some(Emit::Sbatch) => sbatch::text(&job()?),
            Some(Emit::Hq) => hyperqueue::text(&job()?),
            Some(Emit::Parallel) => parallel::text(&job()?),
        });
    }
    match args.format {
        Format::Table => print(&table(&plan, &existing, &estimator, &summary, args.verbose))?,
        _ => {
            let mut lines = String::new();
            for run in &plan.runs {
                let done = existing.done.contains_key(&run.run_id);
                let seconds = estimator.seconds(run, plan.description(run));
                let line = serde_json::json!({"kind": "run", "run_id": run.run_id, "dataset": run.identity.problem.dataset,
                    "solver": run.settings().solver.to_string(), "oracle_cost": run.settings().oracle_cost,
                    "projected_from": run.projected_from, "repeat": run.repeat, "seed": run.settings().seed,
                    "done": done, "seconds": seconds});
                lines += &format!("{line}\n");
            }
            let mut line = serde_json::to_value(&summary)?;
            line["kind"] = "plan".into();
            print(&format!("{lines}{line}\n"))?;
        }
    }
    plan.replacements().iter().for_each(|line| note(line));
    for damage in &existing.damaged {
        note(&format!("warning: {}", damage.error));
    }
    if let Some(warning) = memory_warning(summary.memory_bytes) {
        note(&warning);
    }
    Ok(())
}

fn shard_table(split: &Split, summary: &PlanSummary) -> String {
    let shards = split.shards.len();
    let mut table = Table::new("", [("shard", Values), ("runs", Count), ("estimate", Values), ("longest run", Values)]);
    for (k, shard) in split.shards.iter().enumerate() {
        let seconds = shard.seconds / summary.jobs as f64;
        let name = format!("{}/{}", k + 1, split.shards.len());
        table.push(cells![name, shard.runs.len(), duration(seconds), duration(shard.longest)]);
    }
    let empty = split.shards.iter().filter(|shard| shard.runs.is_empty()).count();
    let more = if empty == 0 {
        String::new()
    } else {
        format!(
            "{empty} shards have nothing to do: what is timed is kept together by data set and seed, so that there are only {} \
             parts\n",
            shards - empty
        )
    };
    format!(
        "{}\n{}: {} runs in {} shards, the longest {:.0} % above the average, {} workers each\n{more}",
        table.text(),
        summary.name,
        split.runs(),
        shards,
        100.0 * split.imbalance(),
        summary.jobs
    )
}

fn table(plan: &Plan, existing: &Existing, estimator: &Estimator, summary: &PlanSummary, verbose: bool) -> String {
    let done = |run: &RunSpec| existing.done.contains_key(&run.run_id);
    let mut table =
        Table::new("", [("data set", Text), ("n", Count), ("d", Count), ("data", Values), ("solver", Text)]);
    table.widen(Count, ["runs", "done"]);
    table.widen(Values, ["each", "left"]);
    for cell in plan.runs.chunk_by(|a, b| (a.set, a.settings().cell()) == (b.set, b.settings().cell())) {
        let facts = plan.description(&cell[0]);
        let left = cell.iter().filter(|run| !done(run)).count();
        let each = estimator.seconds(&cell[0], facts);
        let about = if estimator.knows(&cell[0]) { "" } else { "~" };
        table.push(cells![
            &cell[0].identity.problem.dataset,
            facts.size.n,
            facts.size.d,
            bytes(facts.size.bytes),
            cell[0].settings().cell(),
            cell.len(),
            cell.len() - left,
            if cell[0].projected_from.is_some() {
                "projected".to_owned()
            } else {
                format!("{about}{}", duration(each))
            },
            format!("{about}{}", if left == 0 { "–".to_owned() } else { duration(each * left as f64) }),
        ]);
    }
    let mut text = table.text();
    if verbose {
        text.push('\n');
        for run in &plan.runs {
            let mark = if done(run) { "done" } else { "    " };
            text.push_str(&format!("{} {mark} {} seed {}\n", run.run_id, run.label(), run.settings().seed));
        }
    }
    text.push_str(&format!(
        "\n{}: {} runs, {} done, {} to do with {} workers: about {}, {} of memory\n",
        summary.name,
        summary.planned,
        summary.done,
        summary.planned - summary.done,
        summary.jobs,
        duration(summary.seconds_left),
        bytes(summary.memory_bytes)
    ));
    for (count, what) in [
        (existing.failed, "failed before and will be tried again"),
        (existing.stale.len() as u64, "are of older code or data and will be replaced"),
        (existing.foreign.len() as u64, "in the folder are not in this plan"),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} runs {what}\n"));
        }
    }
    text
}
