//! One call of `run`: a checked experiment and a folder in, every missing run executed and on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::existing::Existing;
use super::interference::Probing;
use super::progress::{Progress, Verbosity};
use super::scheduler::{Batch, run_batch};
use super::worker::Allocation;
use super::{host, interference, oracle_cost};
use crate::dataset::DataDir;
use crate::dataset::memory::available_memory;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::experiment::catalog::Catalog;
use crate::experiment::{Plan, RunSpec, plan_memory};
use crate::run::shard::digest;
use crate::run::shard::part::{self, Part};
use crate::store::RunRecord;
use crate::store::files::sha256_hex;
use crate::store::folder::{Contents, Folder, Store};
use crate::store::manifest::{ConfigText, Manifest, Session};
use crate::text::{bytes, duration};
use ssvm::drive::{AnyProblem, Observer};
use ssvm::stats::median;

/// How long a run that was told to stop may take to do so: the longest call of an oracle, and then some.
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
    /// Move runs that are not in the plan out of the way.
    pub prune: bool,
    /// Say that runs are there that are not in the plan; not when the plan was narrowed on purpose.
    pub warn_of_others: bool,
    /// How much to say.
    pub verbosity: Verbosity,
    /// The part of the plan that is run, into a folder of its own below `out`; the plan holds nothing else.
    pub part: Option<Part>,
    /// Set from outside to start no further run.
    pub drain: Option<&'static AtomicBool>,
}

/// What a call of `run` did.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Result folder.
    #[serde(serialize_with = "as_shown")]
    pub out: PathBuf,
    /// The folder of the shard; empty for a whole plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shard: String,
    /// Runs in the plan, or in the shard.
    pub planned: u64,
    /// Of these, finished before.
    pub already: u64,
    /// Finished now.
    pub finished: u64,
    /// Label and message of the runs that failed now, and of those whose file could not be read.
    pub failed: Vec<(String, String)>,
    /// Whether it was stopped before the end.
    pub interrupted: bool,
    /// Wall time.
    pub seconds: f64,
}

/// A path need not be text; its report must not fail for that after all the work.
fn as_shown<S: serde::Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl Report {
    /// Whether every planned run is on disk and none failed.
    pub fn complete(&self) -> bool {
        !self.interrupted && self.failed.is_empty()
    }
}

/// What a call of `run` leaves in memory: the report, and everything that is now in the folder, so that nobody has to
/// read it again.
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

/// Executes what is missing. Everything is validated, and the folder open and locked, before the first run starts.
pub fn run(
    experiment: &Experiment,
    plan: &Plan,
    catalog: &dyn Catalog,
    options: &Options,
    cancel: &AtomicBool,
) -> Result<Finished> {
    let began = Instant::now();
    // Made here, before any thread is pinned: threads inherit the cores of the thread that makes them.
    rayon::current_num_threads();
    let mut progress = Progress::new(options.verbosity);
    let jobs = workers(experiment, options.jobs, options.isolated);
    let completed;
    let plan = if plan.undetermined.is_empty() {
        plan
    } else {
        let say = |line: &str| progress.say(Verbosity::Normal, line);
        completed = oracle_cost::complete(plan.clone(), experiment, catalog, &options.data_dir, say)?;
        &completed
    };
    let (store, _lock, mut existing) = match &options.part {
        None => {
            let (store, lock) = Store::create(&options.out)?;
            let mut existing = Existing::of(store.scan(Folder::Runs)?, plan);
            tidy(&store, plan, &mut existing, options, &progress)?;
            (store, Some(lock), existing)
        }
        Some(part) => {
            let store = Store::create_private(part.folder(&options.out, &host::host().name))?;
            let mut existing = Existing::of(part::scan(&options.out, |id| part.ids.contains(id))?, plan);
            // Files of others stay where they are; what cannot be read is made once more.
            for damage in existing.damaged.drain(..) {
                progress.say(Verbosity::Quiet, &format!("warning: {} (redone now)", damage.error));
            }
            let again = existing.forget_split_blocks(plan, &host::host().name);
            if again > 0 {
                let message =
                    format!("{again} finished runs are made once more: the rest of their block is timed here");
                progress.say(Verbosity::Normal, &message);
            }
            (store, None, existing)
        }
    };
    let mut manifest = store.manifest()?;
    warn(experiment, plan, &existing, options, jobs, &progress);
    let mut estimator = existing.estimator(plan);
    if options.force {
        existing.done.clear();
    }
    let unread = if options.force { Vec::new() } else { existing.unread(plan) };
    let is_due = |run: &&RunSpec| {
        !existing.done.contains_key(&run.run_id) && !unread.iter().any(|(unread, _)| unread.run_id == run.run_id)
    };
    let due: Vec<RunSpec> = plan.runs.iter().filter(is_due).cloned().collect();
    let already = (plan.runs.len() - due.len() - unread.len()) as u64;
    let (projected, todo): (Vec<RunSpec>, Vec<RunSpec>) = due.into_iter().partition(|run| run.projected_from.is_some());
    let probing = jobs > 1 && !experiment.clock.repeatable() && experiment.probes > 0;
    let needed: BTreeSet<usize> = todo.iter().map(|run| run.set).collect();
    let problems = load(experiment, plan, catalog, options, &progress, |set| needed.contains(&set))?;
    let expected = todo.iter().map(|run| estimator.seconds(run, plan.description(run))).sum::<f64>() / jobs as f64;
    let follow = match projected.len() {
        0 => String::new(),
        count => format!(", {count} more follow from them"),
    };
    let message = format!(
        "{}: {} runs, {already} already done, {} to do with {jobs} workers{follow}, about {}",
        experiment.name,
        plan.runs.len(),
        todo.len(),
        duration(expected)
    );
    progress.say(Verbosity::Normal, &message);
    let session = open_session(&mut manifest, experiment, jobs, options.isolated);
    let allocation = Allocation {
        shard: options.part.as_ref().and_then(|_| store.dir().file_name()?.to_str()).unwrap_or_default().to_owned(),
    };
    manifest.sessions[session].shard.clone_from(&allocation.shard);
    manifest.sessions[session].plan = options.part.as_ref().map_or_else(|| digest(plan), |part| part.plan.clone());
    manifest.paper_costs.extend(plan.paper_costs.clone());
    store.write_manifest(&manifest)?;

    let runner = move |run: &RunSpec, observer: &mut dyn Observer| match &problems[run.set] {
        Some(problem) => Ok(problem.run(run.settings(), observer)?),
        None => Err(Error::invalid("the data set of this run was not loaded")),
    };
    let earlier = if options.force { &[][..] } else { &manifest.interference };
    let probing = probing.then(|| Arc::new(Probing::new(experiment.probes, jobs, earlier)));
    let batch = Batch {
        runs: &todo,
        plan,
        runner: Arc::new(runner),
        store: &store,
        jobs,
        threads: experiment.threads,
        timeout: experiment.timeout,
        grace: GRACE,
        cancel,
        drain: options.drain,
        allocation,
        probing: probing.clone(),
    };
    let mut fresh = run_batch(&batch, &mut estimator, &mut progress)?;
    let notes: BTreeSet<(&str, &str)> = fresh
        .iter()
        .flat_map(|record| record.measured.totals.notes.iter().map(|note| (record.dataset(), &**note)))
        .collect();
    for (dataset, note) in notes {
        progress.say(Verbosity::Quiet, &format!("warning: {dataset}: {note}"));
    }
    let drained = || options.drain.is_some_and(|drain| drain.load(Ordering::Relaxed));
    let interrupted = || cancel.load(Ordering::Relaxed) || drained();
    let lost = project(&projected, &store, &existing.done, &mut fresh)?;
    let finished = fresh.iter().filter(|record| record.status.is_done()).count() as u64;
    let mut failed: Vec<(String, String)> = fresh
        .iter()
        .filter(|record| !record.status.is_done())
        .map(|record| (record.label(), record.status.reason()))
        .collect();
    let failures = failed.len() as u64;
    failed.extend(lost.into_iter().filter(|_| !interrupted()));
    failed.extend(unread.iter().map(|(run, error)| (run.label(), error.clone())));
    let mut records: Vec<RunRecord> = existing.done.into_values().chain(existing.foreign).chain(fresh).collect();

    if let Some(line) = instrument_cost(&records) {
        progress.say(Verbosity::Normal, &line);
    }
    if let Some(probing) = probing {
        let rows = probing.rows(jobs);
        let busy = records.iter().map(|record| record.environment.load).fold(0.0, f64::max);
        for line in interference::summary(&rows, busy) {
            progress.say(Verbosity::Normal, &line);
        }
        manifest
            .interference
            .retain(|old| !rows.iter().any(|row| (&row.dataset, &row.solver) == (&old.dataset, &old.solver)));
        manifest.interference.extend(rows);
    }
    if let Some(session) = manifest.sessions.get_mut(session) {
        session.ended_unix_s = Some(host::unix_time());
        session.finished = finished;
        session.failed = failures;
        session.peak_memory = host::peak_memory();
    }
    store.write_manifest(&manifest)?;
    records.sort_by_cached_key(|r| (r.dataset().to_owned(), r.solver().to_owned(), r.repeat, r.run_id()));
    let planned = plan.runs.len() as u64;
    let report = Report {
        out: options.out.clone(),
        shard: batch.allocation.shard,
        planned,
        already,
        finished,
        interrupted: interrupted() && already + finished + (failed.len() as u64) < planned,
        failed,
        seconds: began.elapsed().as_secs_f64(),
    };
    Ok(Finished { report, manifest, contents: Contents { records, damaged: existing.damaged } })
}

/// Writes the runs that follow from others, as far as those are there; label and reason of the rest.
fn project(
    runs: &[RunSpec],
    store: &Store,
    done: &BTreeMap<String, RunRecord>,
    fresh: &mut Vec<RunRecord>,
) -> Result<Vec<(String, String)>> {
    let made: BTreeMap<String, RunRecord> = fresh.iter().map(|record| (record.run_id(), record.clone())).collect();
    let mut lost = Vec::new();
    for run in runs {
        let from = run.projected_from.as_ref();
        match from.and_then(|from| made.get(from).or_else(|| done.get(from))).filter(|record| record.status.is_done()) {
            Some(record) => {
                let projected = record.projected(run.identity.clone());
                store.write(Folder::Runs, &projected)?;
                fresh.push(projected);
            }
            None => lost.push((run.label(), "the run that it follows from is not there".to_owned())),
        }
    }
    Ok(lost)
}

/// Says beforehand what will limit the numbers.
fn warn(
    experiment: &Experiment,
    plan: &Plan,
    existing: &Existing,
    options: &Options,
    jobs: usize,
    progress: &Progress,
) {
    plan.replacements().iter().for_each(|line| progress.say(Verbosity::Normal, line));
    // A folder that cannot be listed is somebody else's error.
    let shards = if options.part.is_none() { part::not_merged(&options.out).unwrap_or(0) } else { 0 };
    if shards > 0 {
        let out = options.out.display();
        let message =
            format!("warning: {shards} runs of shards are not merged yet: ssvm-bench merge {out} --out {out}");
        progress.say(Verbosity::Normal, &message);
    }
    if let Some(warning) = memory_warning(plan_memory(plan, jobs)) {
        progress.say(Verbosity::Normal, &warning);
    }
    if experiment.clock.repeatable() {
        return;
    }
    if jobs * experiment.threads > host::core_count() {
        let each = if experiment.threads > 1 { format!(" of {} threads", experiment.threads) } else { String::new() };
        let cores = host::core_count();
        let message = format!("warning: {jobs} workers{each} share {cores} cores: times will mean little");
        progress.say(Verbosity::Normal, &message);
    }
    let parallel = existing.done.values().filter(|done| done.environment.jobs > 1).count();
    if options.isolated && !options.force && parallel > 0 {
        let message = format!("warning: {parallel} finished runs were not timed in isolation; --force redoes them");
        progress.say(Verbosity::Normal, &message);
    }
}

/// Names what is damaged, moves what is replaced out of the way, says what else is there.
fn tidy(store: &Store, plan: &Plan, existing: &mut Existing, options: &Options, progress: &Progress) -> Result<()> {
    for damage in &existing.damaged {
        let stem = damage.path.file_stem().unwrap_or_default().to_string_lossy();
        let planned = plan.runs.iter().any(|run| run.run_id == stem);
        let fate = match (planned, damage.is_unread()) {
            (false, _) => " (not in this plan)",
            (true, true) if options.force => " (redone now)",
            (true, true) => " (left where it is)",
            (true, false) => {
                store.set_aside(&stem)?;
                " (moved to stale/, redone now)"
            }
        };
        progress.say(Verbosity::Quiet, &format!("warning: {}{fate}", damage.error));
    }
    existing.damaged.retain(|damage| damage.path.exists() && !(options.force && damage.is_unread()));
    for run_id in &existing.stale {
        store.set_aside(run_id)?;
    }
    if !existing.stale.is_empty() {
        let message =
            format!("{} runs of older code, other data or another build were moved to stale/", existing.stale.len());
        progress.say(Verbosity::Normal, &message);
    }
    if options.prune {
        existing.foreign.drain(..).try_for_each(|record| store.set_aside(&record.run_id()))?;
    } else if !existing.foreign.is_empty() && options.warn_of_others {
        let message = format!(
            "warning: {} runs in {} belong to another config and will be in its figures; --prune moves them to stale/",
            existing.foreign.len(),
            store.dir().display()
        );
        progress.say(Verbosity::Normal, &message);
    }
    Ok(())
}

/// The problems of the data sets that are needed, each loaded once.
fn load(
    experiment: &Experiment,
    plan: &Plan,
    catalog: &dyn Catalog,
    options: &Options,
    progress: &Progress,
    needed: impl Fn(usize) -> bool,
) -> Result<Vec<Option<Arc<dyn AnyProblem>>>> {
    let mut problems = Vec::new();
    for (set, planned) in plan.sets.iter().enumerate() {
        if !needed(set) {
            problems.push(None);
            continue;
        }
        let began = Instant::now();
        problems.push(Some(plan.problem(set, experiment, catalog, &options.data_dir)?));
        let message = format!("loaded {} in {:.1} s", planned.spec.name, began.elapsed().as_secs_f64());
        progress.say(Verbosity::Verbose, &message);
    }
    Ok(problems)
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

/// Appends a session to the manifest; its index.
fn open_session(manifest: &mut Manifest, experiment: &Experiment, jobs: usize, isolated: bool) -> usize {
    let sha256 = sha256_hex(experiment.text.as_bytes());
    manifest.configs.retain(|config| config.sha256 != sha256);
    manifest.configs.push(ConfigText {
        name: experiment.name.clone(),
        sha256: sha256.clone(),
        text: experiment.text.clone(),
    });
    manifest.sessions.push(Session {
        config: sha256,
        started_unix_s: host::unix_time(),
        ended_unix_s: None,
        jobs: jobs as u64,
        isolated,
        code: host::code(),
        host: host::host().clone(),
        finished: 0,
        failed: 0,
        peak_memory: 0,
        shard: String::new(),
        plan: String::new(),
    });
    manifest.sessions.len() - 1
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
