//! One call of `run`: a checked experiment and a folder in, every missing run executed and on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::existing::Existing;
use super::interference::{self, Probing};
use super::progress::{BatchProgress, Verbosity};
use super::scheduler::{RunBatch, run_batch};
use super::shard::digest;
use super::shard::part::{self, ShardRuns};
use super::worker::StopSignal;
use super::{host, oracle_cost};
use crate::dataset::DataDir;
use crate::dataset::memory::available_memory;
use crate::error::Result;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan, RunSpec, plan_memory};
use crate::store::RunRecord;
use crate::store::files::sha256_hex;
use crate::store::folder::{Contents, Folder, Store, WriteLock, stem};
use crate::store::manifest::{ConfigText, Inflation, Manifest, Session};
use crate::text::{bytes, counted, duration, number};
use ssvm::clock::ReadingCost;
use ssvm::drive::AnyProblem;
use ssvm::settings::RunSettings;
use ssvm::stats::median;

/// How long a run that was asked to end may take to do so: longer than any call of an oracle should take.
const GRACE: Duration = Duration::from_mins(1);

/// How to run an experiment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Result folder.
    pub out: PathBuf,
    pub data_dir: DataDir,
    /// Workers; the config's number, else as many as the cores have threads for.
    pub jobs: Option<usize>,
    /// Timed work one at a time.
    pub isolated: bool,
    /// Redo finished runs.
    pub force: bool,
    /// Move runs that are not in the plan to `stale/`.
    pub prune: bool,
    /// Warn of runs that are not in the plan; not when the plan was narrowed on purpose.
    pub warn_of_others: bool,
    pub verbosity: Verbosity,
    /// The part of the plan that is run, into a folder of its own below `out`; the plan holds nothing else.
    pub part: Option<ShardRuns>,
    /// Ends the session early.
    pub stop: StopSignal,
}

/// Labels of runs, each with what went wrong.
type FailedRuns = Vec<(String, String)>;

/// What a call of `run` did.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Result folder, as it is shown: a path that is not UTF-8 must not make the report fail after all the work.
    pub out: String,
    /// The folder of the shard; empty for a whole plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shard: String,
    /// Runs in the plan, or in the shard.
    pub planned: u64,
    /// Runs among them that were finished before.
    pub already: u64,
    /// Runs finished now.
    pub finished: u64,
    /// Finished runs whose file is not in the folder at the end: something else has removed them.
    pub gone: u64,
    /// Runs that failed now, and those whose file could not be read.
    pub failed: FailedRuns,
    /// Whether it was stopped before the end.
    pub interrupted: bool,
    /// Wall time.
    pub seconds: f64,
}

impl Report {
    /// Whether every planned run is on disk and none failed.
    pub fn complete(&self) -> bool {
        !self.interrupted && self.failed.is_empty() && self.gone == 0
    }
}

/// The result of a call of `run`: its report, and the contents of the folder, so that they need not be read again.
pub struct Finished {
    pub report: Report,
    pub manifest: Manifest,
    pub contents: Contents,
}

/// The number of workers: the flag, else the config, else as many as the cores have threads for; one when isolated.
pub fn workers(experiment: &Experiment, jobs: Option<usize>, isolated: bool) -> usize {
    let all = || host::core_count() / experiment.threads;
    if isolated { 1 } else { jobs.or(experiment.jobs).unwrap_or_else(all).max(1) }
}

/// A warning when the plan may not fit into memory.
pub fn memory_warning(needed: u64) -> Option<String> {
    let available = available_memory().filter(|available| needed > *available)?;
    Some(format!(
        "warning: the plan needs about {}, but only {} is free; use fewer --jobs or smaller data sets",
        bytes(needed),
        bytes(available)
    ))
}

/// Executes what is missing. `known` are records of the folder that the caller has read already; only files that it does
/// not have are read. The folder is locked before anything is computed; then the paper's oracle cost is solved where the plan
/// needs it, and everything is validated before the first run starts.
pub fn run(
    experiment: &Experiment,
    plan: Plan,
    catalog: &dyn Catalog,
    options: &Options,
    known: Contents,
) -> Result<Finished> {
    let began = Instant::now();
    // Made here, before any thread is pinned: threads inherit the cores of the thread that makes them.
    rayon::current_num_threads();
    let progress = BatchProgress::new(options.verbosity);
    let say = |line: &str| progress.say(Verbosity::Normal, line);
    // Before anything is computed: another session may be at work in the folder.
    let (store, _lock) = open_folder(options)?;
    let plan = oracle_cost::complete(plan, experiment, catalog, &options.data_dir, &options.stop, say)?;
    let jobs = workers(experiment, options.jobs, options.isolated);
    let mut call = SessionCall { experiment, plan: Arc::new(plan), options, jobs, progress };
    let mut existing = call.existing(&store, known)?;
    call.warn(&existing);
    if options.force {
        existing.done.clear();
    }
    let todo = call.todo(&existing);
    let problems = call.load(catalog, &todo.runs)?;
    call.say_todo(&todo, &existing);
    let mut manifest = store.manifest()?;
    let mut session = call.open_session(&mut manifest, &store);
    manifest.sessions.push(session.clone());
    store.write_manifest(&manifest)?;
    manifest.sessions.pop();

    // Probes, where runs can disturb each other's times.
    let disturbed = jobs > 1 && !experiment.clock.repeatable() && experiment.probes > 0;
    let earlier = if options.force { &[][..] } else { &manifest.interference };
    let probing = disturbed.then(|| Arc::new(Probing::new(experiment.probes, jobs, earlier)));
    let batch = RunBatch {
        runs: todo.runs,
        plan: call.plan.clone(),
        execute: Box::new(move |run, execution, observer| match &problems[run.set] {
            Some(problem) => Ok(problem.run(run.settings(), execution, observer)?),
            None => Err(super::Error::NotLoaded.into()),
        }),
        store: store.clone(),
        jobs,
        threads: experiment.threads,
        timeout: experiment.timeout,
        grace: GRACE,
        stop: options.stop.clone(),
        shard: session.shard.clone(),
        gate: Arc::default(),
        probing: probing.clone(),
    };
    let mut fresh = run_batch(batch, &mut existing.estimator, &mut call.progress)?;
    call.say_notes(&fresh);
    let orphans = project(&todo.projected, &store, &existing.done, &mut fresh)?;

    let failures = fresh.iter().filter(|record| !record.status.is_done());
    let mut failed: FailedRuns = failures.map(|record| (record.label(), record.status.reason())).collect();
    session.ended_unix_s = Some(host::unix_time());
    session.failed = failed.len() as u64;
    session.finished = fresh.len() as u64 - session.failed;
    session.peak_memory = host::peak_memory();
    let stopped = options.stop.is_set();
    failed.extend(orphans.into_iter().filter(|_| !stopped));
    failed.extend(todo.unread);
    // Only files that exist now count. Earlier runs of a shard are in other folders.
    let earlier = existing.done.keys().filter(|_| options.part.is_none());
    let made: Vec<String> = fresh.iter().filter(|record| record.status.is_done()).map(RunRecord::run_id).collect();
    let gone = [store.count_gone(earlier)?, store.count_gone(&made)?];
    session.finished -= gone[1];
    let (planned, already, finished) =
        (call.plan.runs.len() as u64, todo.already.saturating_sub(gone[0]), session.finished);
    let report = Report {
        out: options.out.display().to_string(),
        shard: session.shard.clone(),
        planned,
        already,
        finished,
        gone: gone.iter().sum(),
        interrupted: stopped && already + finished + (failed.len() as u64) < planned,
        failed,
        seconds: began.elapsed().as_secs_f64(),
    };
    manifest.sessions.push(session);
    let records = existing.done.into_values().chain(existing.foreign).chain(fresh).collect();
    let contents = Contents::new(records, existing.damaged);
    call.say_timing(&contents.records, probing.map(|probing| probing.rows(jobs)).unwrap_or_default(), &mut manifest);
    store.write_manifest(&manifest)?;
    Ok(Finished { report, manifest, contents })
}

/// The folder that records go to. A shard has a folder of its own, which needs no lock.
fn open_folder(options: &Options) -> Result<(Store, Option<WriteLock>)> {
    match &options.part {
        Some(part) => Ok((Store::create_private(part.folder(&options.out, &host::host().name))?, None)),
        None => Store::create(&options.out).map(|(store, lock)| (store, Some(lock))),
    }
}

/// What is left of a plan.
struct Todo {
    /// Runs to execute.
    runs: Vec<RunSpec>,
    /// Runs that follow from others.
    projected: Vec<RunSpec>,
    /// Runs whose file cannot be read.
    unread: FailedRuns,
    /// Number of runs that are done.
    already: u64,
}

/// One call of [`run`].
struct SessionCall<'a> {
    experiment: &'a Experiment,
    plan: Arc<Plan>,
    options: &'a Options,
    jobs: usize,
    progress: BatchProgress,
}

impl SessionCall<'_> {
    fn say(&self, text: impl AsRef<str>) {
        self.progress.say(Verbosity::Normal, text);
    }

    /// What the folder, or that of all shards, holds of the plan.
    fn existing(&self, store: &Store, known: Contents) -> Result<Existing> {
        let Some(part) = &self.options.part else {
            let mut existing = Existing::of(store.refresh(Folder::Runs, known)?, &self.plan);
            self.tidy(store, &mut existing)?;
            return Ok(existing);
        };
        let mut existing = Existing::of(part::scan(&self.options.out, |id| part.ids.contains(id))?, &self.plan);
        // Files of other shards stay where they are; what cannot be read is made once more.
        for damage in existing.damaged.drain(..) {
            self.progress.say(Verbosity::Quiet, format!("warning: {} (redone now)", damage.error));
        }
        let again = existing.forget_split_blocks(&self.plan, &host::host().name);
        if again > 0 {
            self.say(format!("{again} finished runs of other machines are repeated, because other solvers on the same data set and seed are timed here"));
        }
        Ok(existing)
    }

    /// Names damaged files, moves what is replaced to `stale/`, and warns of runs that are not in the plan.
    fn tidy(&self, store: &Store, existing: &mut Existing) -> Result<()> {
        let Options { force, prune, warn_of_others, .. } = *self.options;
        for damage in &existing.damaged {
            let id = stem(&damage.path);
            let planned = self.plan.runs.iter().any(|run| run.run_id == id);
            let fate = match (planned, damage.is_unread()) {
                (false, _) => " (not in this plan)",
                (true, true) if force => " (redone now)",
                (true, true) => " (left where it is)",
                (true, false) => {
                    store.set_aside(&id)?;
                    " (moved to stale/, redone now)"
                }
            };
            self.progress.say(Verbosity::Quiet, format!("warning: {}{fate}", damage.error));
        }
        existing.damaged.retain(|damage| damage.path.exists() && !(force && damage.is_unread()));
        existing.stale.iter().try_for_each(|run_id| store.set_aside(run_id))?;
        if !existing.stale.is_empty() {
            let moved = existing.stale.len();
            self.say(format!("{moved} runs of older code, different data or another build were moved to stale/"));
        }
        if prune {
            existing.foreign.drain(..).try_for_each(|record| store.set_aside(&record.run_id()))?;
        } else if !existing.foreign.is_empty() && warn_of_others {
            let (others, dir) = (existing.foreign.len(), store.dir().display());
            self.say(format!(
                "warning: {others} runs in {dir} belong to another config and will appear in its figures; --prune moves them to \
                 stale/"
            ));
        }
        Ok(())
    }

    /// Warns beforehand of what will limit the numbers.
    fn warn(&self, existing: &Existing) {
        let Self { experiment, options, jobs, .. } = self;
        self.plan.replacements().iter().for_each(|line| self.say(line));
        // A folder that cannot be listed is reported by the code that reads it.
        let shards = if options.part.is_none() { part::not_merged(&options.out).unwrap_or(0) } else { 0 };
        if shards > 0 {
            let out = options.out.display();
            self.say(format!(
                "warning: {shards} runs of shards are not merged yet: ssvm-bench cluster merge {out} --out {out}"
            ));
        }
        if let Some(line) = memory_warning(plan_memory(&self.plan, *jobs)) {
            self.say(line);
        }
        if experiment.clock.repeatable() {
            return;
        }
        let (cores, threads) = (host::core_count(), experiment.threads);
        if jobs * threads > cores {
            let each = if threads > 1 { format!(" of {threads} threads") } else { String::new() };
            self.say(format!(
                "warning: {}{each} share {cores} cores, so their times are not meaningful",
                counted(*jobs, "worker")
            ));
        }
        let parallel = existing.done.values().filter(|done| done.environment.jobs > 1).count();
        if options.isolated && !options.force && parallel > 0 {
            self.say(format!("warning: {parallel} finished runs were not timed in isolation; --force redoes them"));
        }
    }

    fn todo(&self, existing: &Existing) -> Todo {
        let planned = &self.plan.runs;
        let unread = if self.options.force { Vec::new() } else { existing.unread(&self.plan) };
        let is_due = |run: &&RunSpec| !existing.has(run) && !unread.iter().any(|(other, _)| other.run_id == run.run_id);
        let due = planned.iter().filter(is_due).cloned();
        let (projected, runs): (Vec<_>, Vec<_>) = due.partition(|run| run.projected_from.is_some());
        let already = (planned.len() - projected.len() - runs.len() - unread.len()) as u64;
        let unread = unread.into_iter().map(|(run, why)| (run.label(), why)).collect();
        Todo { runs, projected, unread, already }
    }

    fn say_todo(&self, todo: &Todo, existing: &Existing) {
        let seconds: f64 = todo.runs.iter().map(|run| existing.estimator.seconds(run)).sum();
        let follow = match todo.projected.len() {
            0 => String::new(),
            count => format!(", {count} more follow from them"),
        };
        let (name, planned, jobs) = (&self.experiment.name, self.plan.runs.len(), self.jobs);
        let (already, due, about) = (todo.already, todo.runs.len(), duration(seconds / jobs as f64));
        self.say(format!(
            "{name}: {planned} runs, {already} already done, {due} to do with {}{follow}, about {about}",
            counted(jobs, "worker")
        ));
    }

    /// The problems of the data sets that the runs need, each loaded once, by the index of the data set.
    fn load(&self, catalog: &dyn Catalog, runs: &[RunSpec]) -> Result<Vec<Option<Arc<dyn AnyProblem>>>> {
        let mut problems = vec![None; self.plan.sets.len()];
        for set in runs.iter().map(|run| run.set).collect::<BTreeSet<_>>() {
            let began = Instant::now();
            problems[set] = Some(self.plan.problem(set, self.experiment, catalog, &self.options.data_dir)?);
            let (name, took) = (&self.plan.sets[set].spec.name, began.elapsed().as_secs_f64());
            self.progress.say(Verbosity::Verbose, format!("loaded {name} in {took:.1} s"));
        }
        Ok(problems)
    }

    /// The session of this call; what it has in common with others goes into the manifest.
    fn open_session(&self, manifest: &mut Manifest, store: &Store) -> Session {
        let Self { experiment, options, .. } = self;
        let shard = options.part.as_ref().and_then(|_| store.dir().file_name()?.to_str()).unwrap_or_default();
        let (name, text) = (experiment.name.clone(), experiment.text.clone());
        let sha256 = sha256_hex(text.as_bytes());
        manifest.configs.retain(|config| config.sha256 != sha256);
        manifest.configs.push(ConfigText { name, sha256: sha256.clone(), text });
        manifest.paper_costs.0.extend(self.plan.paper_costs.0.clone());
        Session {
            config: sha256,
            started_unix_s: host::unix_time(),
            ended_unix_s: None,
            jobs: self.jobs as u64,
            isolated: options.isolated,
            code: host::code(),
            host: host::host().clone(),
            finished: 0,
            failed: 0,
            peak_memory: 0,
            shard: shard.to_owned(),
            plan: options.part.as_ref().map_or_else(|| digest(&self.plan), |part| part.plan.clone()),
        }
    }

    /// Prints the notes of oracles, each once per data set.
    fn say_notes(&self, records: &[RunRecord]) {
        let mut notes = BTreeSet::new();
        for record in records {
            notes.extend(record.measured.totals.notes.iter().map(|note| (record.dataset(), note)));
        }
        for (dataset, note) in notes {
            self.progress.say(Verbosity::Quiet, format!("warning: {dataset}: {note}"));
        }
    }

    /// Prints the cost of timing and the interference of concurrent runs. The new rows of interference replace older ones in the
    /// manifest.
    fn say_timing(&self, records: &[RunRecord], rows: Vec<Inflation>, manifest: &mut Manifest) {
        // The median over repeats, where it is largest.
        let mut cells: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        // A run that follows from another was timed at that one's oracle cost.
        let timed = records.iter().filter(|record| record.environment.projected_from.is_none());
        for record in timed.filter(|record| record.measured.totals.wall_s > 0.0) {
            let share = record.measured.totals.instrument_s / record.measured.totals.wall_s;
            let RunSettings { solver, clock, oracle_cost, .. } = record.settings();
            let cell = (record.dataset(), solver.to_string(), *clock, *oracle_cost);
            cells.entry(cell).or_default().push(share);
        }
        let medians = cells.into_iter().map(|(cell, shares)| (100.0 * median(&shares), cell));
        if let Some((share, (dataset, solver, clock, oracle_cost))) = medians.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let (share, reading) = (number(share), ReadingCost::of_call(clock, oracle_cost));
            self.say(format!(
                "timing the oracle took at most {share} % of solver time ({dataset} {solver}; {reading})"
            ));
        }
        let load = records.iter().map(|record| record.environment.load).fold(0.0, f64::max);
        for line in interference::summary(&rows, load) {
            self.say(line);
        }
        let is_new = |old: &Inflation| rows.iter().any(|row| row.cell() == old.cell());
        manifest.interference.retain(|old| !is_new(old));
        manifest.interference.extend(rows);
    }
}

/// Writes the runs that follow from others, failed ones as far as they went; label and reason of those whose source has no record.
fn project(
    runs: &[RunSpec],
    store: &Store,
    done: &BTreeMap<String, RunRecord>,
    fresh: &mut Vec<RunRecord>,
) -> Result<FailedRuns> {
    let made: BTreeMap<String, usize> = fresh.iter().enumerate().map(|(at, record)| (record.run_id(), at)).collect();
    let mut orphans = Vec::new();
    for run in runs {
        let source = run.projected_from.as_ref();
        let source = source.and_then(|id| made.get(id).map(|at| &fresh[*at]).or_else(|| done.get(id)));
        match source {
            Some(record) => {
                let projected = record.projected(run.identity.clone());
                store.write(Folder::Runs, &projected)?;
                fresh.push(projected);
            }
            None => orphans.push((run.label(), "the run that it is projected from is missing".to_owned())),
        }
    }
    Ok(orphans)
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_is_compared_with_what_is_free() {
        assert_eq!(super::memory_warning(0), None);
        if crate::dataset::memory::available_memory().is_some() {
            let warning = super::memory_warning(u64::MAX).unwrap();
            assert!(warning.contains("fewer --jobs"), "{warning}");
        }
    }
}
