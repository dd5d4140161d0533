//! `ssvm-bench plan`: the runs that would happen, what is already done, how long and how much memory; runs nothing.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::run::note;
use crate::config::Experiment;
use crate::dataset::{DataDir, Description};
use crate::exec::progress::{bytes, duration};
use crate::exec::session::{Standing, memory_warning, workers};
use crate::plan::{self, Estimator, RunSpec};
use crate::trace::store::Store;

/// Arguments of `plan`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench plan --config configs/paper.toml --out results/paper")]
pub struct PlanArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper
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
    pub format: PlanFormat,
    /// List every run with its identity
    #[arg(long, short)]
    pub verbose: bool,
}

/// Output of `plan`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PlanFormat {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
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
pub fn run(args: &PlanArgs, data: &DataDir) -> anyhow::Result<()> {
    let experiment = Experiment::load(&args.config)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(&experiment.name));
    let facts = plan::describe(&experiment, data)?;
    let runs = plan::runs(&experiment, &facts);
    let standing = match Store::open(&out) {
        Ok(store) => Standing::of(&store, &runs)?,
        // Nothing there yet is no error of a plan.
        Err(_) => Standing::default(),
    };
    let estimator = standing.estimator(&runs, &facts);
    let jobs = workers(&experiment, args.jobs.map(usize::from), args.isolated);
    let left = runs.iter().filter(|run| !standing.done.contains_key(&run.run_id));
    let summary = PlanSummary {
        name: experiment.name.clone(),
        planned: runs.len() as u64,
        done: standing.done.len() as u64,
        jobs: jobs as u64,
        seconds_left: left.map(|run| estimator.seconds(run, &facts[run.set])).sum::<f64>() / jobs as f64,
        memory_bytes: plan::plan_memory(&runs, &facts, jobs),
    };
    let mut stdout = std::io::stdout().lock();
    match args.format {
        PlanFormat::Table => write!(stdout, "{}", table(&runs, &facts, &standing, &estimator, &summary, args.verbose))?,
        PlanFormat::Json => {
            for run in &runs {
                let done = standing.done.contains_key(&run.run_id);
                let seconds = estimator.seconds(run, &facts[run.set]);
                let line = serde_json::json!({"kind": "run", "run_id": run.run_id, "dataset": run.identity.dataset,
                    "solver": run.settings().solver.kind, "repeat": run.repeat, "seed": run.settings().seed,
                    "done": done, "seconds": seconds});
                writeln!(stdout, "{line}")?;
            }
            let mut line = serde_json::to_value(&summary)?;
            line["kind"] = "plan".into();
            writeln!(stdout, "{line}")?;
        }
    }
    for damage in &standing.damaged {
        note(&format!("warning: {}", damage.error));
    }
    if let Some(warning) = memory_warning(summary.memory_bytes) {
        note(&warning);
    }
    Ok(())
}

fn table(
    runs: &[RunSpec],
    facts: &[Description],
    standing: &Standing,
    estimator: &Estimator,
    summary: &PlanSummary,
    verbose: bool,
) -> String {
    let done = |run: &RunSpec| standing.done.contains_key(&run.run_id);
    let mut rows = vec![["data set", "n", "d", "data", "solver", "runs", "done", "each", "left"].map(str::to_owned)];
    for cell in runs.chunk_by(|a, b| (a.set, a.settings().solver.kind) == (b.set, b.settings().solver.kind)) {
        let set = &facts[cell[0].set];
        let left = cell.iter().filter(|run| !done(run)).count();
        let each = estimator.seconds(&cell[0], set);
        let about = if estimator.knows(&cell[0]) { "" } else { "~" };
        rows.push([
            cell[0].identity.dataset.clone(),
            set.n.to_string(),
            set.d.to_string(),
            bytes(set.bytes),
            cell[0].settings().solver.kind.to_string(),
            cell.len().to_string(),
            (cell.len() - left).to_string(),
            format!("{about}{}", duration(each)),
            format!("{about}{}", if left == 0 { "–".to_owned() } else { duration(each * left as f64) }),
        ]);
    }
    let mut text = aligned(&rows);
    if verbose {
        text.push('\n');
        for run in runs {
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
        (standing.failed, "failed before and will be tried again"),
        (standing.stale.len() as u64, "are of older code or data and will be replaced"),
        (standing.foreign.len() as u64, "in the folder are not in this plan"),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} runs {what}\n"));
        }
    }
    text
}

/// Columns padded to their widest cell; text to the left, numbers to the right.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: Vec<usize> = (0..N).map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(k, cell)| {
            let pad = " ".repeat(widths[k] - cell.chars().count());
            let left = k == 0 || rows[0][k] == "solver";
            if left { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
