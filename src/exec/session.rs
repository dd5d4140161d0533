//! One call of `run`: a checked experiment and a folder in, every missing run executed and on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::progress::{self, Progress, Verbosity};
use super::scheduler::{Batch, Tally, run_batch};
use super::{Observer, execute, host, interference};
use crate::config::{ClockKind, Experiment};
use crate::dataset::{self, DataDir, Description};
use crate::error::{Error, Result};
use crate::plan::{self, Estimator, RunSpec};
use crate::problem::AnyProblem;
use crate::trace::codec::sha256_hex;
use crate::trace::manifest::{ConfigText, Manifest, Session};
use crate::trace::store::{Damage, Shelf, Store};
use crate::trace::{RunRecord, Status};

/// How to run an experiment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Result folder.
    pub out: PathBuf,
    /// Where data sets are.
    pub data_dir: DataDir,
    /// Workers; the config's number, else one per core.
    pub jobs: Option<usize>,
    /// Timed work one at a time.
    pub isolated: bool,
    /// Redo finished runs.
    pub force: bool,
    /// Move runs that are not in the plan out of the way.
    pub prune: bool,
    /// How much to say.
    pub verbosity: Verbosity,
}

/// What a call of `run` did.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Result folder.
    pub out: PathBuf,
    /// Runs in the plan.
    pub planned: u64,
    /// Of these, finished before.
    pub already: u64,
    /// Finished now.
    pub finished: u64,
    /// Label and message of the runs that failed now.
    pub failed: Vec<(String, String)>,
    /// Whether it was stopped before the end.
    pub interrupted: bool,
    /// Wall time.
    pub seconds: f64,
}

impl Report {
    /// Whether every planned run is on disk and none failed.
    pub fn complete(&self) -> bool {
        !self.interrupted && self.failed.is_empty()
    }
}

/// What the planner wants to know of a finished run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// Wall time with evaluation.
    pub total_s: f64,
    /// Concurrent workers.
    pub jobs: u64,
}

/// What a result folder holds of a plan.
#[derive(Debug, Default)]
pub struct Standing {
    /// Runs of the plan that ended well, by identity, with their circumstances.
    pub done: BTreeMap<String, Done>,
    /// Runs of the plan whose record says they failed; they are tried again.
    pub failed: u64,
    /// Unreadable files.
    pub damaged: Vec<Damage>,
    /// Runs of the plan made by other code or from other data.
    pub stale: Vec<String>,
    /// Runs that have nothing to do with the plan.
    pub foreign: Vec<String>,
}

impl Standing {
    /// Compares a folder with a plan.
    pub fn of(store: &Store, runs: &[RunSpec]) -> Result<Self> {
        let (records, damaged) = without_histograms(store, Shelf::Runs)?;
        let planned: BTreeSet<&str> = runs.iter().map(|run| run.run_id.as_str()).collect();
        let mut standing = Self { damaged, ..Self::default() };
        for record in records {
            if planned.contains(record.run_id.as_str()) {
                match record.status {
                    Status::Done(_) => {
                        let done = Done { total_s: record.facts.total_s, jobs: record.jobs };
                        standing.done.insert(record.run_id, done);
                    }
                    Status::Failed(_) => standing.failed += 1,
                }
            } else if runs.iter().any(|run| run.identity.same_cell(&record.facts.settings)) {
                standing.stale.push(record.run_id);
            } else {
                standing.foreign.push(record.run_id);
            }
        }
        Ok(standing)
    }

    /// An estimator that knows how long the finished runs took.
    pub fn estimator(&self, runs: &[RunSpec], facts: &[Description]) -> Estimator {
        let mut estimator = Estimator::default();
        for run in runs {
            if let Some(done) = self.done.get(&run.run_id) {
                estimator.learn(run, &facts[run.set], done.total_s);
            }
        }
        estimator
    }
}

/// The number of workers: the flag, else the config, else one per core; one when isolated.
pub fn workers(experiment: &Experiment, jobs: Option<usize>, isolated: bool) -> usize {
    if isolated { 1 } else { jobs.or(experiment.jobs).unwrap_or_else(host::core_count).max(1) }
}

/// A warning when the plan may not fit into memory.
pub fn memory_warning(needed: u64) -> Option<String> {
    let available = host::available_memory().filter(|available| needed > *available)?;
    Some(format!(
        "warning: the plan needs about {}, but only {} is free; use fewer --jobs or smaller data sets",
        progress::bytes(needed),
        progress::bytes(available)
    ))
}

/// Executes what is missing. Everything is validated, and the folder open and locked, before the first run starts.
pub fn run(experiment: &Experiment, options: &Options, cancel: &AtomicBool) -> Result<Report> {
    let began = Instant::now();
    // Made here, before any thread is pinned: threads inherit the cores of the thread that makes them.
    rayon::current_num_threads();
    let mut progress = Progress::new(options.verbosity);
    let facts = plan::describe(experiment, &options.data_dir)?;
    let runs = plan::runs(experiment, &facts);
    let (store, _lock) = Store::create(&options.out)?;
    let jobs = workers(experiment, options.jobs, options.isolated);
    let mut manifest = store.manifest()?;
    let standing = Standing::of(&store, &runs)?;
    tidy(&store, &runs, &standing, options, &progress)?;
    if let Some(warning) = memory_warning(plan::plan_memory(&runs, &facts, jobs)) {
        progress.say(Verbosity::Normal, &warning);
    }
    if jobs > host::core_count() && experiment.clock != ClockKind::Virtual {
        let message = format!("warning: {jobs} workers share {} cores: times will mean little", host::core_count());
        progress.say(Verbosity::Normal, &message);
    }
    let done = |run: &RunSpec| !options.force && standing.done.contains_key(&run.run_id);
    let todo: Vec<RunSpec> = runs.iter().filter(|run| !done(run)).cloned().collect();
    let already = (runs.len() - todo.len()) as u64;
    let others = standing.done.values().filter(|done| done.jobs > 1).count();
    if options.isolated && !options.force && experiment.clock != ClockKind::Virtual && others > 0 {
        let message = format!("warning: {others} finished runs were not timed in isolation; --force redoes them");
        progress.say(Verbosity::Normal, &message);
    }
    let mut estimator = standing.estimator(&runs, &facts);
    drop(standing);

    let needed: BTreeSet<usize> = todo.iter().map(|run| run.set).collect();
    let probing = jobs > 1 && experiment.clock != ClockKind::Virtual && experiment.probes > 0;
    let problems = load(experiment, options, &progress, |set| probing || needed.contains(&set))?;
    let expected = todo.iter().map(|run| estimator.seconds(run, &facts[run.set])).sum::<f64>() / jobs as f64;
    let message = format!(
        "{}: {} runs, {already} already done, {} to do with {jobs} workers, about {}",
        experiment.name,
        runs.len(),
        todo.len(),
        progress::duration(expected)
    );
    progress.say(Verbosity::Normal, &message);
    let session = open_session(&mut manifest, experiment, jobs, options.isolated);
    store.write_manifest(&manifest)?;

    let work = |run: &RunSpec, observer: &mut dyn Observer| match &problems[run.set] {
        Some(problem) => execute(problem, run.settings(), observer),
        None => Err(Error::invalid("the data set of this run was not loaded")),
    };
    let timeout = experiment.timeout_s.map(Duration::from_secs_f64);
    let batch =
        Batch { runs: &todo, facts: &facts, work: &work, store: &store, shelf: Shelf::Runs, jobs, timeout, cancel };
    let Tally { finished, failed } = run_batch(&batch, &mut estimator, &mut progress)?;
    let interrupted = || cancel.load(Ordering::Relaxed);

    let (records, _) = without_histograms(&store, Shelf::Runs)?;
    if let Some(line) = instrument_cost(&records) {
        progress.say(Verbosity::Normal, &line);
    }
    if probing && !interrupted() {
        let fresh: BTreeSet<&str> = todo.iter().map(|run| run.run_id.as_str()).collect();
        let taken: BTreeSet<String> = store.visit(Shelf::Probes, |probe| probe.run_id)?.0.into_iter().collect();
        let mut probes = interference::probes(&runs, &records, experiment.probes);
        probes.retain(|probe| fresh.contains(probe.run_id.as_str()) || !taken.contains(&probe.run_id));
        let alone = Batch { runs: &probes, shelf: Shelf::Probes, jobs: 1, ..batch };
        run_batch(&alone, &mut Estimator::default(), &mut progress)?;
        let rows = interference::inflation(&records, &without_histograms(&store, Shelf::Probes)?.0);
        let busy = records.iter().map(|record| record.facts.load).fold(0.0, f64::max);
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
        session.failed = failed.len() as u64;
        session.peak_memory = host::peak_memory();
    }
    store.write_manifest(&manifest)?;
    Ok(Report {
        out: options.out.clone(),
        planned: runs.len() as u64,
        already,
        finished,
        interrupted: interrupted() && already + finished + (failed.len() as u64) < runs.len() as u64,
        failed,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Names what is damaged, moves what is replaced out of the way, says what else is there.
fn tidy(store: &Store, runs: &[RunSpec], standing: &Standing, options: &Options, progress: &Progress) -> Result<()> {
    for damage in &standing.damaged {
        let stem = damage.path.file_stem().unwrap_or_default().to_string_lossy();
        let planned = runs.iter().any(|run| run.run_id == stem);
        if planned {
            store.set_aside(&stem)?;
        }
        let fate = if planned { " (moved to stale/, redone now)" } else { " (not in this plan)" };
        progress.say(Verbosity::Quiet, &format!("warning: {}{fate}", damage.error));
    }
    for run_id in &standing.stale {
        store.set_aside(run_id)?;
    }
    if !standing.stale.is_empty() {
        let message = format!("{} runs of older code or data were moved to stale/", standing.stale.len());
        progress.say(Verbosity::Normal, &message);
    }
    let foreign = standing.foreign.len();
    if options.prune {
        standing.foreign.iter().try_for_each(|run_id| store.set_aside(run_id))?;
    } else if foreign > 0 {
        let message = format!(
            "warning: {foreign} runs in {} belong to another config and will be in its figures; --prune moves them to stale/",
            store.dir().display()
        );
        progress.say(Verbosity::Normal, &message);
    }
    Ok(())
}

/// Loads the data sets that are needed, each once.
fn load(
    experiment: &Experiment,
    options: &Options,
    progress: &Progress,
    needed: impl Fn(usize) -> bool,
) -> Result<Vec<Option<Arc<AnyProblem>>>> {
    let mut problems = Vec::new();
    for (set, spec) in experiment.datasets.iter().enumerate() {
        if !needed(set) {
            problems.push(None);
            continue;
        }
        let began = Instant::now();
        let problem = dataset::load(&spec.name, &options.data_dir)
            .and_then(|dataset| AnyProblem::new(&dataset, spec.lambda, spec.pairwise_weight))
            .map_err(|error| plan::at_line(experiment, spec, &error))?;
        let message = format!("loaded {} in {:.1} s", spec.name, began.elapsed().as_secs_f64());
        progress.say(Verbosity::Verbose, &message);
        problems.push(Some(Arc::new(problem)));
    }
    Ok(problems)
}

/// All records, their large part left out.
fn without_histograms(store: &Store, shelf: Shelf) -> Result<(Vec<RunRecord>, Vec<Damage>)> {
    let empty = Histogram::new(1).map_err(|error| Error::invalid(error.to_string()))?;
    store.visit(shelf, |record| RunRecord { oracle_ns: empty.clone(), approx_ns: empty.clone(), ..record })
}

/// What timing the oracle calls cost: the median over repeats, where it is largest.
fn instrument_cost(records: &[RunRecord]) -> Option<String> {
    let mut cells: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.facts.wall_s > 0.0) {
        let share = record.facts.instrument_s / record.facts.wall_s;
        cells.entry((&record.dataset, record.solver)).or_default().push(share);
    }
    let median = |shares: &mut Vec<f64>| {
        shares.sort_by(f64::total_cmp);
        shares[shares.len() / 2]
    };
    let medians = cells.into_iter().map(|(cell, mut shares)| (median(&mut shares), cell));
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
        host: host::host(),
        finished: 0,
        failed: 0,
        peak_memory: 0,
    });
    manifest.sessions.len() - 1
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_is_compared_with_what_is_free() {
        assert_eq!(super::memory_warning(0), None);
        if crate::exec::host::available_memory().is_some() {
            let warning = super::memory_warning(u64::MAX).unwrap();
            assert!(warning.contains("fewer --jobs"), "{warning}");
        }
    }
}
