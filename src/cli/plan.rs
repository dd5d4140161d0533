//! `ssvm-bench plan`: the runs that would happen, what is already done, how long and how much memory. Computes nothing.

use serde_json::json;

use super::engines::{EngineArgs, known_plan, shard_count};
use super::format::table_or_json;
use super::run::{ConfigArgs, found_runs};
use super::{note, print, print_width};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Plan, RunSpec, plan_memory};
use crate::run::cluster::scripts;
use crate::run::existing::Existing;
use crate::run::session::{memory_warning, workers};
use crate::run::shard::{self, Split};
use crate::store::RunRecord;
use crate::table::Kind::{Count, Text, Values};
use crate::table::{Format, Table, cells};
use crate::text::{bytes, duration};

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench plan --config configs/paper.toml --out results/paper\n  \
    ssvm-bench plan --config league --out results/league --shards 16\n  \
    ssvm-bench plan --config quick --out results/quick --shards 16 --emit parallel > quick.sh\n\n\
    The scripts read DIR/shards.txt, which `run --split` writes; that of SLURM logs into DIR/slurm, which must be there.")]
pub struct PlanArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Output: a table of data sets and solvers, or one JSON object per run and one for the plan
    #[arg(long, value_parser = table_or_json(), default_value = "table")]
    format: Format,
    /// List every run with its identity
    #[arg(long, short)]
    verbose: bool,
    /// Split the plan into N parts of about the same cost, for as many machines. An error where the identities of runs depend
    /// on work that a plan leaves out (images, oracle programs, the paper's oracle cost): `run --split` does it
    #[arg(long, value_name = "N", value_parser = shard_count())]
    shards: Option<usize>,
    /// Print the shards for an engine, instead of the plan
    #[arg(long, value_enum, requires = "shards")]
    emit: Option<Emit>,
    /// Only runs that are not done yet
    #[arg(long, requires = "shards")]
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
    /// The batch script of a SLURM array; `slurm submit` does the rest as well.
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

/// Validates everything and prints the plan.
pub fn run(args: &PlanArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let (mut experiment, out) = args.config.read(catalog)?;
    let known = found_runs(&mut experiment, &out, catalog)?;
    let plan = if args.shards.is_some() && !args.emit.is_some_and(Emit::is_script) {
        // Shards name their runs, and every node must take the same oracle costs.
        known_plan(&experiment, catalog, data, ["a plan", "plan"], &args.config.split_command(&out, args.shards))?
    } else {
        Plan::outline(&experiment, catalog, data)?
    };
    let select = &args.config.select;
    let jobs = workers(&experiment, select.jobs(), select.isolated);
    let outlook = Outlook { name: &experiment.name, existing: Existing::of(known, &plan), plan, jobs };
    let Outlook { plan, existing, .. } = &outlook;
    if let Some(shards) = args.shards {
        let wanted = |run: &RunSpec| !args.missing || !existing.has(run);
        let split = shard::split(plan, shards, wanted, |run| existing.estimator.seconds(run));
        let script = |template| -> anyhow::Result<String> {
            let mut job = args.engine.job(&experiment, select, &out, data, shards)?;
            job.longest_s = outlook.runs().map(|run| outlook.seconds(run)).fold(0.0, f64::max);
            Ok(job.script(template))
        };
        return print(&match args.emit {
            None => outlook.shard_table(&split),
            Some(Emit::Lines) => split.lines(),
            Some(Emit::Json) => serde_json::to_string(&split)? + "\n",
            Some(Emit::Sbatch) => script(scripts::SLURM_ARRAY)?,
            Some(Emit::Hq) => script(scripts::HYPERQUEUE)?,
            Some(Emit::Parallel) => script(scripts::PARALLEL)?,
        });
    }
    print(&if args.format == Format::Json { outlook.json() } else { outlook.table(args.verbose) })?;
    plan.replacements().iter().for_each(|line| note(line));
    for set in plan.sets.iter().filter(|set| set.lacks_paper_cost()) {
        let (name, clock) = (&set.spec.name, experiment.clock.name());
        note(&format!(
            "{name}: the paper's oracle cost on the {clock} clock is not known yet: solved by the first run"
        ));
    }
    existing.damaged.iter().for_each(|damage| note(&format!("warning: {}", damage.error)));
    if let Some(line) = memory_warning(plan_memory(plan, jobs)) {
        note(&line);
    }
    Ok(())
}

/// A plan beside what its result folder holds.
struct Outlook<'a> {
    /// Of the config.
    name: &'a str,
    plan: Plan,
    existing: Existing,
    /// Workers.
    jobs: usize,
}

impl Outlook<'_> {
    fn seconds(&self, run: &RunSpec) -> f64 {
        self.existing.estimator.seconds(run)
    }

    /// All runs; those whose oracle cost is not known yet come last and have no identity.
    fn runs(&self) -> impl Iterator<Item = &RunSpec> {
        self.plan.runs.iter().chain(&self.plan.undetermined)
    }

    /// How many runs of the plan have to wait for their data.
    fn waiting(&self) -> u64 {
        self.plan.pending.iter().map(|set| set.runs).sum()
    }

    /// All runs of the plan, those that are done and those that are not.
    fn counts(&self) -> (u64, u64, u64) {
        let (planned, done) = (self.runs().count() as u64 + self.waiting(), self.existing.done.len() as u64);
        (planned, done, planned - done)
    }

    /// Estimated wall time of what is left, without what has to wait for its data.
    fn seconds_left(&self) -> f64 {
        let left = self.runs().filter(|run| !self.existing.has(run));
        left.map(|run| self.seconds(run)).fold(0.0, |sum, seconds| sum + seconds) / self.jobs as f64
    }

    fn shard_table(&self, split: &Split) -> String {
        let (shards, name, jobs) = (split.shards.len(), self.name, self.jobs);
        let mut table =
            Table::new("", [("shard", Values), ("runs", Count), ("estimate", Values), ("longest run", Values)]);
        for (k, shard) in split.shards.iter().enumerate() {
            let (number, seconds) = (format!("{}/{shards}", k + 1), shard.seconds / jobs as f64);
            table.push(cells![number, shard.runs.len(), duration(seconds), duration(shard.longest)]);
        }
        let mut text = format!(
            "{}\n{name}: {} runs in {shards} shards, the longest {:.0} % above the average, {jobs} workers each\n",
            table.text(print_width()),
            split.runs(),
            100.0 * split.imbalance(),
        );
        let empty = split.shards.iter().filter(|shard| shard.runs.is_empty()).count();
        if empty > 0 {
            text += &format!(
                "{empty} shards have nothing to do: what is timed is kept together by data set and seed, so that there are \
                 only {} parts\n",
                shards - empty
            );
        }
        text
    }

    /// One object per run and one for the plan.
    fn json(&self) -> String {
        let mut lines = Vec::new();
        for run in self.runs() {
            let settings = run.settings();
            let mut line = json!({"kind": "run", "run_id": run.run_id,
                "dataset": run.identity.problem.dataset, "solver": settings.solver.to_string(),
                "oracle_cost": settings.oracle_cost, "projected_from": run.projected_from, "repeat": run.repeat,
                "seed": settings.seed, "done": self.existing.has(run), "seconds": self.seconds(run)});
            if run.run_id.is_empty() {
                (line["run_id"], line["oracle_cost"]) = (().into(), "paper".into());
            }
            lines.push(line);
        }
        for set in &self.plan.pending {
            let (n, d) = (set.size.map(|size| size.n), set.size.map(|size| size.d));
            let (dataset, work, runs) = (&set.dataset, &set.work, set.runs);
            lines.push(json!({"kind": "pending", "dataset": dataset, "work": work, "n": n, "d": d, "runs": runs}));
        }
        let (planned, done, pending) = self.counts();
        lines.push(json!({"kind": "plan", "name": self.name, "planned": planned, "done": done, "pending": pending,
            "jobs": self.jobs, "seconds_left": self.seconds_left(), "memory_bytes": plan_memory(&self.plan, self.jobs)}));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// A row per data set, solver and oracle cost; every run when verbose.
    fn table(&self, verbose: bool) -> String {
        let Self { name, plan, existing, jobs } = self;
        let mut table =
            Table::new("", [("data set", Text), ("n", Count), ("d", Count), ("data", Values), ("solver", Text)]);
        table.widen(Count, ["runs", "done"]);
        table.widen(Values, ["each", "left"]);
        table.spare(["d", "data", "n", "each"]);
        let runs: Vec<&RunSpec> = self.runs().collect();
        let cell_of = |run: &RunSpec| (run.set, run.identity.cell(), run.run_id.is_empty());
        for cell in runs.chunk_by(|a, b| cell_of(a) == cell_of(b)) {
            let (first, determined) = (cell[0], !cell[0].run_id.is_empty());
            let size = &plan.description(first).size;
            let left = cell.iter().filter(|run| !existing.has(run)).count();
            let each = self.seconds(first);
            let about = if determined && existing.estimator.knows(first) { "" } else { "~" };
            table.push(cells![
                &first.identity.problem.dataset,
                size.n,
                size.d,
                bytes(size.bytes),
                if determined {
                    first.identity.cell().setting()
                } else {
                    format!("{} k=paper", first.settings().solver)
                },
                cell.len(),
                cell.len() - left,
                match first.projected_from {
                    Some(_) => "projected".to_owned(),
                    None => format!("{about}{}", duration(each)),
                },
                format!("{about}{}", if left == 0 { "–".to_owned() } else { duration(each * left as f64) }),
            ]);
        }
        let mut text = table.text(print_width());
        if verbose {
            text.push('\n');
            for run in &plan.runs {
                let mark = if existing.has(run) { "done" } else { "    " };
                text += &format!("{} {mark} {} seed {}\n", run.run_id, run.label(), run.settings().seed);
            }
        }
        let ((planned, done, to_do), waiting) = (self.counts(), self.waiting());
        let without = if waiting == 0 { String::new() } else { format!(" without the {waiting} below") };
        let (left, memory) = (duration(self.seconds_left()), bytes(plan_memory(plan, *jobs)));
        text += &format!(
            "\n{name}: {planned} runs, {done} done, {to_do} to do with {jobs} workers: about {left}{without}, {memory} of memory\n"
        );
        for set in &plan.pending {
            let size = set.size.map_or("size unknown".to_owned(), |size| {
                format!("n = {}, d = {}, about {}", size.n, size.d, bytes(size.bytes))
            });
            // Without the data their identity is not known, so neither is which of the runs in the folder these are.
            let found = existing.foreign.iter().filter(|record| record.dataset() == set.dataset).count();
            let found =
                if found == 0 { String::new() } else { format!("; {found} of this data set are in the folder") };
            text +=
                &format!("{} ({size}): `run` will {} first; {} runs follow{found}\n", set.dataset, set.work, set.runs);
        }
        let pending = |record: &&RunRecord| plan.pending.iter().any(|set| set.dataset == record.dataset());
        let foreign = existing.foreign.iter().filter(|record| !pending(record)).count();
        for (count, what) in [
            (existing.failed, "failed before and will be tried again"),
            (existing.stale.len() as u64, "are of older code or data and will be replaced"),
            (foreign as u64, "in the folder are not in this plan"),
        ] {
            if count > 0 {
                text += &format!("{count} runs {what}\n");
            }
        }
        text
    }
}
