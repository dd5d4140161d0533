//! `ssvm-bench plan`: the runs that would happen, what is already done, how long and how much memory; runs nothing.

use std::path::PathBuf;

use serde::Serialize;

use super::engines::{self, EngineArgs};
use super::{TextOrJson, note, print};
use crate::dataset::DataDir;
use crate::experiment::Experiment;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Estimator, Plan, RunSpec, plan_memory};
use crate::run::cluster::{Job, hyperqueue, parallel, sbatch};
use crate::run::existing::Existing;
use crate::run::oracle_cost;
use crate::run::session::{memory_warning, workers};
use crate::run::shard::{self, MOST_SHARDS, Split, part};
use crate::table::Grid;
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
    #[arg(long, value_enum, default_value_t)]
    pub format: TextOrJson,
    /// Only cells whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-bcfw (T=5)'; repeatable
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// List every run with its identity
    #[arg(long, short)]
    pub verbose: bool,
    /// Split the plan into N parts of about the same cost, for as many machines; prepares data sets where needed
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
    /// Runs of data sets that need work first; not among those in the plan, and not in the estimates.
    pub pending: u64,
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
    experiment.narrow(&args.only)?;
    let out = args.out.clone().unwrap_or_else(|| experiment.folder());
    experiment.paper_costs = super::run::costs_of(&experiment, &out, catalog);
    let plan = if args.shards.is_some() {
        // Shards name their runs, and every node must take the same oracle costs.
        oracle_cost::complete(Plan::new(&experiment, catalog, data)?, &experiment, catalog, data, note)?
    } else {
        Plan::outline(&experiment, catalog, data)?
    };
    let existing = Existing::of(part::scan(&out, |_| true)?, &plan);
    let estimator = existing.estimator(&plan);
    let jobs = workers(&experiment, args.jobs.map(usize::from), args.isolated);
    let left = plan.runs.iter().filter(|run| !existing.done.contains_key(&run.run_id)).chain(&plan.undetermined);
    let summary = PlanSummary {
        name: experiment.name.clone(),
        planned: (plan.runs.len() + plan.undetermined.len()) as u64,
        done: existing.done.len() as u64,
        pending: plan.pending.iter().map(|set| set.runs).sum(),
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
        TextOrJson::Table => print(&table(&plan, &existing, &estimator, &summary, args.verbose))?,
        TextOrJson::Json => {
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
            for run in &plan.undetermined {
                let seconds = estimator.seconds(run, plan.description(run));
                let line = serde_json::json!({"kind": "run", "run_id": null, "dataset": run.identity.problem.dataset,
                    "solver": run.settings().solver.to_string(), "oracle_cost": "paper", "repeat": run.repeat,
                    "seed": run.settings().seed, "done": false, "seconds": seconds});
                lines += &format!("{line}\n");
            }
            for set in &plan.pending {
                let (n, d) = (set.size.map(|size| size.n), set.size.map(|size| size.d));
                let line = serde_json::json!({"kind": "pending", "dataset": set.dataset, "work": set.work, "n": n, "d": d,
                    "runs": set.runs});
                lines += &format!("{line}\n");
            }
            let mut line = serde_json::to_value(&summary)?;
            line["kind"] = "plan".into();
            print(&format!("{lines}{line}\n"))?;
        }
    }
    plan.replacements().iter().for_each(|line| note(line));
    for set in plan.sets.iter().filter(|set| set.lacks_paper_cost()) {
        let (name, clock) = (&set.spec.name, experiment.clock.name());
        note(&format!(
            "{name}: the paper's oracle cost on the {clock} clock is not known yet: solved by the first run"
        ));
    }
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
    let mut grid = Grid::new(&[">shard", ">runs", ">estimate", ">longest run"]);
    for (k, shard) in split.shards.iter().enumerate() {
        let seconds = shard.seconds / summary.jobs as f64;
        grid.rows.push(vec![
            format!("{}/{}", k + 1, split.shards.len()),
            shard.runs.len().to_string(),
            duration(seconds),
            duration(shard.longest),
        ]);
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
        grid.text(),
        summary.name,
        split.runs(),
        shards,
        100.0 * split.imbalance(),
        summary.jobs
    )
}

fn table(plan: &Plan, existing: &Existing, estimator: &Estimator, summary: &PlanSummary, verbose: bool) -> String {
    let done = |run: &RunSpec| existing.done.contains_key(&run.run_id);
    let mut grid = Grid::new(&["data set", ">n", ">d", ">data", "solver", ">runs", ">done", ">each", ">left"]);
    for cell in plan.runs.chunk_by(|a, b| (a.set, a.settings().cell()) == (b.set, b.settings().cell())) {
        let facts = plan.description(&cell[0]);
        let left = cell.iter().filter(|run| !done(run)).count();
        let each = estimator.seconds(&cell[0], facts);
        let about = if estimator.knows(&cell[0]) { "" } else { "~" };
        grid.rows.push(vec![
            cell[0].identity.problem.dataset.clone(),
            facts.size.n.to_string(),
            facts.size.d.to_string(),
            bytes(facts.size.bytes),
            cell[0].settings().cell(),
            cell.len().to_string(),
            (cell.len() - left).to_string(),
            if cell[0].projected_from.is_some() {
                "projected".to_owned()
            } else {
                format!("{about}{}", duration(each))
            },
            format!("{about}{}", if left == 0 { "–".to_owned() } else { duration(each * left as f64) }),
        ]);
    }
    for cell in plan.undetermined.chunk_by(|a, b| (a.set, &a.settings().solver) == (b.set, &b.settings().solver)) {
        let (facts, each) = (plan.description(&cell[0]), estimator.seconds(&cell[0], plan.description(&cell[0])));
        grid.rows.push(vec![
            cell[0].identity.problem.dataset.clone(),
            facts.size.n.to_string(),
            facts.size.d.to_string(),
            bytes(facts.size.bytes),
            format!("{} k=paper", cell[0].settings().solver),
            cell.len().to_string(),
            "0".to_owned(),
            if cell[0].projected_from.is_some() { "projected".to_owned() } else { format!("~{}", duration(each)) },
            format!("~{}", duration(each * cell.len() as f64)),
        ]);
    }
    let mut text = grid.text();
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
    for set in &plan.pending {
        let size = set.size.map_or("size unknown".to_owned(), |size| {
            format!("n = {}, d = {}, about {}", size.n, size.d, bytes(size.bytes))
        });
        text.push_str(&format!("{} ({size}): `run` will {} first; {} runs follow\n", set.dataset, set.work, set.runs));
    }
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
