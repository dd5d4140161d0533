//! One call of `run`: a checked experiment and a folder in, every missing run executed and on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::existing::Existing;
use super::interference::{self, Probing};
use super::progress::{Progress, Verbosity};
use super::scheduler::{RunBatch, run_batch};
use super::shard::digest;
use super::shard::part::{self, ShardRuns};
use super::worker::StopSignal;
use super::{host, oracle_cost};
use crate::dataset::DataDir;
use crate::dataset::memory::available_memory;
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::experiment::{Estimator, Experiment, Plan, RunSpec, plan_memory};
use crate::store::RunRecord;
use crate::store::files::sha256_hex;
use crate::store::folder::{Contents, Folder, Store, WriteLock, stem};
use crate::store::manifest::{ConfigText, Inflation, Manifest, Session};
use crate::text::{bytes, duration};
use ssvm::drive::AnyProblem;
use ssvm::stats::median;

/// How long a run that was asked to end may take to do so: longer than any call of an oracle should take.
const GRACE: Duration = Duration::from_mins(1);

/// How to run an experiment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Result folder.
    pub out: PathBuf,
    /// Where data sets are.
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
    /// How much to print.
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
    /// Result folder.
    #[serde(serialize_with = "displayed")]
    pub out: PathBuf,
    /// The folder of the shard; empty for a whole plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shard: String,
    /// Runs in the plan, or in the shard.
    pub planned: u64,
    /// Runs among them that were finished before.
    pub already: u64,
    /// Runs finished now.
    pub finished: u64,
    /// Runs that failed now, and those whose file could not be read.
    pub failed: FailedRuns,
    /// Whether it was stopped before the end.
    pub interrupted: bool,
    /// Wall time.
    pub seconds: f64,
}

/// A path that is not UTF-8 must not make the report fail after all the work.
fn displayed<S: serde::Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl Report {
    /// Of a session that has ended, with the records it made and the runs whose source has none.
    fn of(
        session: &Session,
        plan: &Plan,
        options: &Options,
        todo: Todo,
        (fresh, orphans): (&[RunRecord], FailedRuns),
        began: Instant,
    ) -> Self {
        let (planned, already, finished) = (plan.runs.len() as u64, todo.already, session.finished);
        let stopped = options.stop.is_set();
        let failures = fresh.iter().filter(|record| !record.status.is_done());
        let mut failed: FailedRuns = failures.map(|record| (record.label(), record.status.reason())).collect();
        failed.extend(orphans.into_iter().filter(|_| !stopped));
        failed.extend(todo.unread);
        Self {
            out: options.out.clone(),
            shard: session.shard.clone(),
            planned,
            already,
            finished,
            interrupted: stopped && already + finished + (failed.len() as u64) < planned,
            failed,
            seconds: began.elapsed().as_secs_f64(),
        }
    }

    /// Whether every planned run is on disk and none failed.
    pub fn complete(&self) -> bool {
        !self.interrupted && self.failed.is_empty()
    }
}

/// What a call of `run` leaves in memory: its report, and everything that is now in the folder, so that it need not be
/// read again.
pub struct Finished {
    /// What was done.
    pub report: Report,
    /// Configs, sessions, host, interference.
    pub manifest: Manifest,
    /// The runs in the folder and the files that could not be read.
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
/// not have are read. Everything is validated, and the folder is locked, before the first run starts.
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
    let mut progress = Progress::new(options.verbosity);
    let jobs = workers(experiment, options.jobs, options.isolated);
    let say = |line: &str| progress.say(Verbosity::Normal, line);
    let plan = Arc::new(oracle_cost::complete(plan, experiment, catalog, &options.data_dir, say)?);

    let (store, _lock, mut existing) = open_folder(&plan, options, known, &progress)?;
    warn(experiment, &plan, &existing, options, jobs, &progress);
    let mut estimator = existing.estimator(&plan);
    let todo = Todo::of(&plan, &mut existing, options.force);
    let problems = load(experiment, &plan, catalog, options, &todo.runs, &progress)?;
    progress.say(Verbosity::Normal, todo.text(experiment, &plan, &estimator, jobs));
    let mut manifest = store.manifest()?;
    let session = open_session(&mut manifest, experiment, &plan, options, &store);
    store.write_manifest(&manifest)?;

    let earlier = if options.force { &[][..] } else { &manifest.interference };
    let probing = probing(experiment, jobs, earlier);
    let batch = RunBatch {
        runs: todo.runs.clone(),
        plan: plan.clone(),
        execute: Box::new(move |run, execution, observer| match &problems[run.set] {
            Some(problem) => Ok(problem.run(run.settings(), execution, observer)?),
            None => Err(Error::invalid("the data set of this run was not loaded")),
        }),
        store: store.clone(),
        jobs,
        threads: experiment.threads,
        timeout: experiment.timeout,
        grace: GRACE,
        stop: options.stop.clone(),
        shard: manifest.sessions[session].shard.clone(),
        gate: Arc::default(),
        probing: probing.clone(),
    };
    let mut fresh = run_batch(batch, &mut estimator, &mut progress)?;
    say_notes(&fresh, &progress);
    let orphans = project(&todo.projected, &store, &existing.done, &mut fresh)?;
    close_session(&mut manifest.sessions[session], &fresh);
    let report = Report::of(&manifest.sessions[session], &plan, options, todo, (&fresh, orphans), began);

    let records: Vec<RunRecord> = existing.done.into_values().chain(existing.foreign).chain(fresh).collect();
    if let Some(line) = instrument_cost(&records) {
        progress.say(Verbosity::Normal, line);
    }
    if let Some(probing) = probing {
        add_interference(&mut manifest, probing.rows(jobs), &records, &progress);
    }
    store.write_manifest(&manifest)?;
    Ok(Finished { report, manifest, contents: Contents::new(records, existing.damaged) })
}

/// The folder that records go to, and what there is of the plan. A shard has a folder of its own, which needs no lock.
fn open_folder(
    plan: &Plan,
    options: &Options,
    known: Contents,
    progress: &Progress,
) -> Result<(Store, Option<WriteLock>, Existing)> {
    let Some(part) = &options.part else {
        let (store, lock) = Store::create(&options.out)?;
        let mut existing = Existing::of(store.refresh(Folder::Runs, known)?, plan);
        tidy(&store, plan, &mut existing, options, progress)?;
        return Ok((store, Some(lock), existing));
    };
    let host = &host::host().name;
    let store = Store::create_private(part.folder(&options.out, host))?;
    let mut existing = Existing::of(part::scan(&options.out, |id| part.ids.contains(id))?, plan);
    // Files of other shards stay where they are; what cannot be read is made once more.
    for damage in existing.damaged.drain(..) {
        progress.say(Verbosity::Quiet, format!("warning: {} (redone now)", damage.error));
    }
    let again = existing.forget_split_blocks(plan, host);
    if again > 0 {
        let message = format!("{again} finished runs are made once more: the rest of their block is timed here");
        progress.say(Verbosity::Normal, message);
    }
    Ok((store, None, existing))
}

/// Names damaged files, moves what is replaced to `stale/`, and warns of runs that are not in the plan.
fn tidy(store: &Store, plan: &Plan, existing: &mut Existing, options: &Options, progress: &Progress) -> Result<()> {
    for damage in &existing.damaged {
        let id = stem(&damage.path);
        let planned = plan.runs.iter().any(|run| run.run_id == id);
        let fate = match (planned, damage.is_unread()) {
            (false, _) => " (not in this plan)",
            (true, true) if options.force => " (redone now)",
            (true, true) => " (left where it is)",
            (true, false) => {
                store.set_aside(&id)?;
                " (moved to stale/, redone now)"
            }
        };
        progress.say(Verbosity::Quiet, format!("warning: {}{fate}", damage.error));
    }
    existing.damaged.retain(|damage| damage.path.exists() && !(options.force && damage.is_unread()));
    for run_id in &existing.stale {
        store.set_aside(run_id)?;
    }
    if !existing.stale.is_empty() {
        let moved = existing.stale.len();
        let message = format!("{moved} runs of older code, other data or another build were moved to stale/");
        progress.say(Verbosity::Normal, message);
    }
    if options.prune {
        existing.foreign.drain(..).try_for_each(|record| store.set_aside(&record.run_id()))?;
    } else if !existing.foreign.is_empty() && options.warn_of_others {
        let message = format!(
            "warning: {} runs in {} belong to another config and will be in its figures; --prune moves them to stale/",
            existing.foreign.len(),
            store.dir().display()
        );
        progress.say(Verbosity::Normal, message);
    }
    Ok(())
}

/// Warns beforehand of what will limit the numbers.
fn warn(
    experiment: &Experiment,
    plan: &Plan,
    existing: &Existing,
    options: &Options,
    jobs: usize,
    progress: &Progress,
) {
    let say = |text: &str| progress.say(Verbosity::Normal, text);
    plan.replacements().iter().for_each(|line| say(line));
    // A folder that cannot be listed is reported by the code that reads it.
    let shards = if options.part.is_none() { part::not_merged(&options.out).unwrap_or(0) } else { 0 };
    if shards > 0 {
        let out = options.out.display();
        say(&format!("warning: {shards} runs of shards are not merged yet: ssvm-bench merge {out} --out {out}"));
    }
    if let Some(warning) = memory_warning(plan_memory(plan, jobs)) {
        say(&warning);
    }
    if experiment.clock.repeatable() {
        return;
    }
    let (cores, threads) = (host::core_count(), experiment.threads);
    if jobs * threads > cores {
        let each = if threads > 1 { format!(" of {threads} threads") } else { String::new() };
        say(&format!("warning: {jobs} workers{each} share {cores} cores: times will mean little"));
    }
    let parallel = existing.done.values().filter(|done| done.environment.jobs > 1).count();
    if options.isolated && !options.force && parallel > 0 {
        say(&format!("warning: {parallel} finished runs were not timed in isolation; --force redoes them"));
    }
}

/// What is left of a plan.
struct Todo {
    /// Runs to execute.
    runs: Vec<RunSpec>,
    /// Runs that follow from others.
    projected: Vec<RunSpec>,
    /// Runs that are done.
    already: u64,
    /// Runs whose file cannot be read.
    unread: FailedRuns,
}

impl Todo {
    fn of(plan: &Plan, existing: &mut Existing, force: bool) -> Self {
        let mut unread = Vec::new();
        if force {
            existing.done.clear();
        } else {
            unread = existing.unread(plan);
        }
        let unread_ids: BTreeSet<&str> = unread.iter().map(|(run, _)| run.run_id.as_str()).collect();
        let is_due = |run: &&RunSpec| !existing.has(run) && !unread_ids.contains(run.run_id.as_str());
        let due = plan.runs.iter().filter(is_due).cloned();
        let (projected, runs): (Vec<_>, Vec<_>) = due.partition(|run| run.projected_from.is_some());
        let already = (plan.runs.len() - projected.len() - runs.len() - unread.len()) as u64;
        let unread = unread.into_iter().map(|(run, why)| (run.label(), why)).collect();
        Self { runs, projected, already, unread }
    }

    fn text(&self, experiment: &Experiment, plan: &Plan, estimator: &Estimator, jobs: usize) -> String {
        let seconds: f64 = self.runs.iter().map(|run| estimator.seconds(run)).sum();
        let follow = match self.projected.len() {
            0 => String::new(),
            count => format!(", {count} more follow from them"),
        };
        format!(
            "{}: {} runs, {} already done, {} to do with {jobs} workers{follow}, about {}",
            experiment.name,
            plan.runs.len(),
            self.already,
            self.runs.len(),
            duration(seconds / jobs as f64)
        )
    }
}

/// The problems of the data sets that the runs need, each loaded once, by the index of the data set.
fn load(
    experiment: &Experiment,
    plan: &Plan,
    catalog: &dyn Catalog,
    options: &Options,
    runs: &[RunSpec],
    progress: &Progress,
) -> Result<Vec<Option<Arc<dyn AnyProblem>>>> {
    let mut problems = Vec::new();
    for (set, planned) in plan.sets.iter().enumerate() {
        let mut problem = None;
        if runs.iter().any(|run| run.set == set) {
            let began = Instant::now();
            problem = Some(plan.problem(set, experiment, catalog, &options.data_dir)?);
            let message = format!("loaded {} in {:.1} s", planned.spec.name, began.elapsed().as_secs_f64());
            progress.say(Verbosity::Verbose, message);
        }
        problems.push(problem);
    }
    Ok(problems)
}

/// Appends a session to the manifest and returns its index.
fn open_session(
    manifest: &mut Manifest,
    experiment: &Experiment,
    plan: &Plan,
    options: &Options,
    store: &Store,
) -> usize {
    let shard = options.part.as_ref().and_then(|_| store.dir().file_name()?.to_str()).unwrap_or_default();
    let sha256 = sha256_hex(experiment.text.as_bytes());
    manifest.configs.retain(|config| config.sha256 != sha256);
    let (name, text) = (experiment.name.clone(), experiment.text.clone());
    manifest.configs.push(ConfigText { name, sha256: sha256.clone(), text });
    manifest.paper_costs.extend(plan.paper_costs.clone());
    manifest.sessions.push(Session {
        config: sha256,
        started_unix_s: host::unix_time(),
        ended_unix_s: None,
        jobs: workers(experiment, options.jobs, options.isolated) as u64,
        isolated: options.isolated,
        code: host::code(),
        host: host::host().clone(),
        finished: 0,
        failed: 0,
        peak_memory: 0,
        shard: shard.to_owned(),
        plan: options.part.as_ref().map_or_else(|| digest(plan), |part| part.plan.clone()),
    });
    manifest.sessions.len() - 1
}

fn close_session(session: &mut Session, records: &[RunRecord]) {
    session.ended_unix_s = Some(host::unix_time());
    session.finished = records.iter().filter(|record| record.status.is_done()).count() as u64;
    session.failed = records.len() as u64 - session.finished;
    session.peak_memory = host::peak_memory();
}

/// The probes of a session; `None` where runs cannot disturb each other's times.
fn probing(experiment: &Experiment, jobs: usize, earlier: &[Inflation]) -> Option<Arc<Probing>> {
    let disturbed = jobs > 1 && !experiment.clock.repeatable() && experiment.probes > 0;
    disturbed.then(|| Arc::new(Probing::new(experiment.probes, jobs, earlier)))
}

/// Prints what oracles noticed, each note once per data set.
fn say_notes(records: &[RunRecord], progress: &Progress) {
    let mut notes = BTreeSet::new();
    for record in records {
        notes.extend(record.measured.totals.notes.iter().map(|note| (record.dataset(), note)));
    }
    for (dataset, note) in notes {
        progress.say(Verbosity::Quiet, format!("warning: {dataset}: {note}"));
    }
}

/// Writes the runs that follow from others; label and reason of those whose source has no record.
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
        match source.filter(|record| record.status.is_done()) {
            Some(record) => {
                let projected = record.projected(run.identity.clone());
                store.write(Folder::Runs, &projected)?;
                fresh.push(projected);
            }
            None => orphans.push((run.label(), "the run that it follows from is not there".to_owned())),
        }
    }
    Ok(orphans)
}

/// What timing the oracle calls cost: the median over repeats, where it is largest.
fn instrument_cost(records: &[RunRecord]) -> Option<String> {
    let mut cells: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.measured.totals.wall_s > 0.0) {
        let share = record.measured.totals.instrument_s / record.measured.totals.wall_s;
        cells.entry((record.dataset(), record.settings().solver.to_string())).or_default().push(share);
    }
    let medians = cells.into_iter().map(|(cell, shares)| (median(&shares), cell));
    let (share, (dataset, solver)) = medians.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("timing the oracle took at most {:.2} % of solver time ({dataset} {solver})", 100.0 * share))
}

/// Prints the measured inflation and puts it into the manifest in place of older rows.
fn add_interference(manifest: &mut Manifest, rows: Vec<Inflation>, records: &[RunRecord], progress: &Progress) {
    let load = records.iter().map(|record| record.environment.load).fold(0.0, f64::max);
    for line in interference::summary(&rows, load) {
        progress.say(Verbosity::Normal, line);
    }
    let is_new = |old: &Inflation| rows.iter().any(|row| (&row.dataset, &row.solver) == (&old.dataset, &old.solver));
    manifest.interference.retain(|old| !is_new(old));
    manifest.interference.extend(rows);
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
