//! `run --dry-run`: the runs that would be executed, those that are done, and estimates of time and memory. Computes nothing.

use std::path::Path;

use serde_json::json;

use super::args::SelectArgs;
use super::run::found_runs;
use super::terminal::{print_width, verbosity};
use super::{note, print, say};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan, RunSpec, plan_memory};
use crate::run::existing::Existing;
use crate::run::progress::Verbosity;
use crate::run::session::{memory_warning, workers};
use crate::store::RunRecord;
use crate::table::Kind::{Count, Text, Values};
use crate::table::{Format, Table, cells};
use crate::text::{bytes, counted, duration};

/// Validates everything and prints the plan.
pub fn show(
    mut experiment: Experiment,
    out: &Path,
    select: &SelectArgs,
    format: Format,
    catalog: &dyn Catalog,
    data: &DataDir,
) -> anyhow::Result<()> {
    let known = found_runs(&mut experiment, out, catalog)?;
    let plan = Plan::outline(&experiment, catalog, data)?;
    let jobs = workers(&experiment, select.jobs(), select.isolated);
    let outlook = Outlook { name: &experiment.name, existing: Existing::of(known, &plan), plan, jobs };
    let Outlook { plan, existing, .. } = &outlook;
    match format {
        Format::Table => say(&outlook.text(verbosity() == Verbosity::Verbose))?,
        Format::Json => print(&outlook.json())?,
        _ => print(&outlook.table().render(format, print_width(), &())?)?,
    }
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

    /// A row per data set, solver and oracle cost.
    fn table(&self) -> Table {
        let Self { plan, existing, .. } = self;
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
        table
    }

    /// The table, every run when verbose, and what is left to do.
    fn text(&self, verbose: bool) -> String {
        let Self { name, plan, existing, jobs } = self;
        let mut text = self.table().text(print_width());
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
            "\n{name}: {planned} runs, {done} done, {to_do} to do with {}: about {left}{without}, {memory} of memory\n",
            counted(*jobs, "worker")
        );
        for set in &plan.pending {
            let size = set.size.map_or("size unknown".to_owned(), |size| {
                format!("n = {}, d = {}, about {}", size.n, size.d, bytes(size.bytes))
            });
            // Without the data the identities of these runs are unknown, so they cannot be matched with runs in the folder.
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
