//! Runs and a store in, one file per run out: pinned worker threads fed by one queue, repeat by repeat, watched by the
//! calling thread (timeouts, Ctrl-C, progress).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, RecvTimeoutError};

use super::gate::Gate;
use super::host;
use super::interference::Probing;
use super::progress::{Progress, View, Work};
use super::remaining::{self, Item, Running};
use super::worker::{self, Activity, Place, Runner, Slot};
use crate::clock::Helpers;
use crate::error::{Error, Result};
use crate::plan::{Estimator, Plan, RunSpec};
use crate::settings::SolverSpec;
use crate::trace::RunRecord;
use crate::trace::store::{Folder, Store};

/// What to execute, how, and where records go.
pub struct Batch<'a> {
    /// The runs, in any order.
    pub runs: &'a [RunSpec],
    /// What is known of their data sets.
    pub plan: &'a Plan,
    /// How a run is executed.
    pub runner: &'a Runner<'a>,
    /// Where records go.
    pub store: &'a Store,
    /// Workers.
    pub jobs: usize,
    /// Threads of each worker.
    pub threads: usize,
    /// Most wall time of a run.
    pub timeout: Option<Duration>,
    /// Set from outside to stop; set here when a record cannot be written.
    pub cancel: &'a AtomicBool,
    /// Measures how much the runs disturb each other.
    pub probing: Option<&'a Probing>,
}

enum Event {
    Record { index: usize, record: Box<RunRecord> },
    Fatal(Error),
}

/// Executes a batch and returns its records. An error means that records could not be written; all written ones are intact.
pub fn run_batch(batch: &Batch<'_>, estimator: &mut Estimator, progress: &mut Progress) -> Result<Vec<RunRecord>> {
    let (queue, next) = channel::unbounded();
    let seconds = |run: &RunSpec| estimator.seconds(run, batch.plan.description(run));
    for index in order(batch.runs, &batch.plan.runs, seconds) {
        // Cannot fail: the receiver is alive.
        let _ = queue.send(index);
    }
    drop(queue);
    let cores = host::cores();
    // With more threads than cores nobody has a core of its own, so none is claimed.
    let enough = batch.jobs * batch.threads <= cores.len();
    let own = |k: usize| if enough { cores[k * batch.threads..(k + 1) * batch.threads].to_vec() } else { Vec::new() };
    let slots: Vec<Arc<Slot>> = (0..batch.jobs).map(|_| Arc::default()).collect();
    let (report, events) = channel::unbounded();
    let gate = Gate::default();
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for (k, slot) in slots.iter().enumerate() {
            let (next, report, slot) = (next.clone(), report.clone(), slot.clone());
            let (cores, gate) = (own(k), &gate);
            let body = move || work_loop(batch, &next, &report, &slot, cores, gate);
            let name = format!("{}-{k}", worker::THREAD_NAME);
            match std::thread::Builder::new().name(name).spawn_scoped(scope, body) {
                Ok(worker) => workers.push(worker),
                Err(error) => {
                    batch.cancel.store(true, Ordering::Relaxed);
                    return Err(Error::invalid(format!("cannot start worker {k}: {error}; use fewer --jobs")));
                }
            }
        }
        drop(report);
        let result = watch(batch, &events, &slots, estimator, progress);
        for worker in workers {
            if worker.join().is_err() {
                return Err(Error::invalid("a worker thread died outside a run; please report this"));
            }
        }
        result
    })
}

/// The order of a queue, as indices into `runs`: repeat by repeat; within a repeat the solvers of a data set next to
/// each other, so that they see the same machine, and each repeat begins with another of them, so that none is always
/// first. Longest first only among the data sets of a repeat. `planned` are the runs of the whole plan: what is already
/// done does not shift the rotation.
pub fn order(runs: &[RunSpec], planned: &[RunSpec], seconds: impl Fn(&RunSpec) -> f64) -> Vec<usize> {
    let mut solvers: BTreeMap<usize, Vec<&SolverSpec>> = BTreeMap::new();
    for run in planned.iter().chain(runs) {
        let list = solvers.entry(run.set).or_default();
        if !list.contains(&&run.settings().solver) {
            list.push(&run.settings().solver);
        }
    }
    let place = |run: &RunSpec| {
        let list = &solvers[&run.set];
        let at = list.iter().position(|solver| **solver == run.settings().solver).unwrap_or(0);
        let first = (run.repeat % list.len() as u64) as usize;
        (at + list.len() - first) % list.len()
    };
    let mut blocks: BTreeMap<(u64, usize), f64> = BTreeMap::new();
    for run in runs {
        *blocks.entry((run.repeat, run.set)).or_default() += seconds(run);
    }
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&runs[a], &runs[b]);
        let length = |run: &RunSpec| blocks[&(run.repeat, run.set)];
        let set = length(b).total_cmp(&length(a)).then(a.set.cmp(&b.set));
        a.repeat.cmp(&b.repeat).then(set).then_with(|| place(a).cmp(&place(b)))
    });
    order
}

/// So many helpers of a worker that has these cores, the first of them its own.
fn helpers(count: usize, cores: Vec<usize>) -> Result<Option<Arc<Helpers>>> {
    if count == 0 {
        return Ok(None);
    }
    // Threads inherit the core of the thread that makes them: each moves to its own.
    let pin = move |k: usize| {
        if let Some(core) = cores.get(k + 1) {
            host::pin(*core);
        }
    };
    Helpers::new(count, pin).map(|helpers| Some(Arc::new(helpers)))
}

fn work_loop(
    batch: &Batch<'_>,
    next: &channel::Receiver<usize>,
    report: &channel::Sender<Event>,
    slot: &Arc<Slot>,
    cores: Vec<usize>,
    gate: &Gate,
) {
    let core = cores.first().copied().filter(|core| host::pin(*core));
    let helpers = match helpers(batch.threads - 1, cores) {
        Ok(helpers) => helpers,
        Err(error) => {
            batch.cancel.store(true, Ordering::Relaxed);
            let _ = report.send(Event::Fatal(error));
            return;
        }
    };
    let place = Place { jobs: batch.jobs, core, helpers: helpers.as_ref(), gate };
    while let Ok(index) = next.try_recv() {
        if batch.cancel.load(Ordering::Relaxed) {
            return;
        }
        let run = &batch.runs[index];
        let Some(record) = worker::execute(index, run, batch.plan.description(run), batch.runner, slot, place) else {
            return;
        };
        let event = match batch.store.write(Folder::Runs, &record) {
            Ok(()) => {
                if let Some(probing) = batch.probing {
                    probing.after(run, &record, batch.runner, slot, place);
                }
                Event::Record { index, record: Box::new(record) }
            }
            Err(error) => {
                batch.cancel.store(true, Ordering::Relaxed);
                Event::Fatal(error)
            }
        };
        // The watcher outlives the workers.
        let _ = report.send(event);
    }
}

/// Until the last worker is gone: collect, learn, enforce timeouts, pass on cancellation, show progress.
fn watch(
    batch: &Batch<'_>,
    events: &channel::Receiver<Event>,
    slots: &[Arc<Slot>],
    estimator: &mut Estimator,
    progress: &mut Progress,
) -> Result<Vec<RunRecord>> {
    const TICK: Duration = Duration::from_millis(100);
    /// What is shown is computed this often: the watcher shares a core with a worker.
    const SHOW: Duration = Duration::from_millis(500);
    let models: Vec<f64> = batch.runs.iter().map(|run| Estimator::model(run, batch.plan.description(run))).collect();
    let mut records: Vec<RunRecord> = Vec::new();
    let mut pending: Vec<bool> = vec![true; batch.runs.len()];
    let mut fatal = None;
    let mut shown = Instant::now();
    progress.begin(batch.runs.len(), batch.jobs);
    loop {
        match events.recv_timeout(TICK) {
            Ok(Event::Record { index, record }) => {
                let run = &batch.runs[index];
                pending[index] = false;
                estimator.learn(run, batch.plan.description(run), record.measured.totals.total_s);
                progress.finished(&run.label(), &record);
                records.push(*record);
            }
            Ok(Event::Fatal(error)) => {
                fatal.get_or_insert(error);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if batch.cancel.load(Ordering::Relaxed) {
            for slot in slots {
                slot.cancel();
            }
        }
        if let Some(timeout) = batch.timeout {
            for slot in slots {
                slot.enforce(timeout);
            }
        }
        if shown.elapsed() >= SHOW {
            shown = Instant::now();
            progress.show(&view(batch, slots, &pending, &models, &records, estimator));
        }
    }
    progress.end();
    fatal.map_or(Ok(records), Err)
}

/// How far a worker's run is.
fn running(run: &RunSpec, activity: &Activity) -> Option<Running> {
    let started = activity.started?;
    let Activity { iteration, time_s, oracle_calls, .. } = *activity;
    let used = remaining::used(&run.settings().budget, iteration, time_s, oracle_calls);
    let heard = activity.heard.map_or(0.0, |heard| heard.saturating_duration_since(started).as_secs_f64());
    Some(Running::new(run, (used, iteration), (started.elapsed().as_secs_f64(), heard)))
}

fn view(
    batch: &Batch<'_>,
    slots: &[Arc<Slot>],
    pending: &[bool],
    models: &[f64],
    records: &[RunRecord],
    estimator: &Estimator,
) -> View {
    let activities: Vec<Activity> = slots.iter().map(|slot| slot.activity()).collect();
    let item = |index: usize| {
        let run = &batch.runs[index];
        let activity = activities.iter().find(|activity| activity.run == Some(index));
        Item { run, model_s: models[index], running: activity.and_then(|activity| running(run, activity)) }
    };
    let items: Vec<Item> = (0..batch.runs.len()).filter(|index| pending[*index]).map(item).collect();
    let left = remaining::left(&items, estimator, batch.jobs);
    let done = records.iter().map(|record| record.measured.totals.total_s).sum::<f64>();
    let work = |activity: &Activity| {
        let run = &batch.runs[activity.run?];
        Some(Work {
            label: run.label(),
            share: running(run, activity).map_or(0.0, |running| running.share()),
            iteration: activity.iteration,
            iterations: run.settings().budget.iterations,
            gap: activity.gap,
        })
    };
    View {
        done: records.len(),
        failed: records.iter().filter(|record| !record.status.is_done()).count(),
        share: (done + left.done_s) / (done + left.whole_s).max(f64::MIN_POSITIVE),
        left_s: left.wall_s,
        workers: activities.iter().map(work).collect(),
    }
}
