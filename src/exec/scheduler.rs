//! Runs and a store in, one file per run out: pinned worker threads fed by one queue, longest expected run first,
//! watched by the calling thread (timeouts, Ctrl-C, progress).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, RecvTimeoutError};

use super::host;
use super::progress::{Progress, View};
use super::worker::{self, Place, Runner, Slot};
use crate::error::{Error, Result};
use crate::plan::{Estimator, Plan, RunSpec};
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
    /// Which folder of it.
    pub folder: Folder,
    /// Workers.
    pub jobs: usize,
    /// Most wall time of a run.
    pub timeout: Option<Duration>,
    /// Set from outside to stop; set here when a record cannot be written.
    pub cancel: &'a AtomicBool,
}

enum Event {
    Record { index: usize, record: Box<RunRecord> },
    Fatal(Error),
}

/// Executes a batch and returns its records. An error means that records could not be written; all written ones are intact.
pub fn run_batch(batch: &Batch<'_>, estimator: &mut Estimator, progress: &mut Progress) -> Result<Vec<RunRecord>> {
    let (queue, next) = channel::unbounded();
    for index in longest_first(batch, estimator) {
        // Cannot fail: the receiver is alive.
        let _ = queue.send(index);
    }
    drop(queue);
    let cores = host::cores();
    // With more workers than cores nobody has a core of its own, so none is claimed.
    let core = |k: usize| cores.get(k).copied().filter(|_| batch.jobs <= cores.len());
    let slots: Vec<Arc<Slot>> = (0..batch.jobs).map(|_| Arc::default()).collect();
    let (report, events) = channel::unbounded();
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for (k, slot) in slots.iter().enumerate() {
            let (next, report, slot) = (next.clone(), report.clone(), slot.clone());
            let core = core(k);
            let body = move || work_loop(batch, &next, &report, &slot, core);
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

/// Longest processing time first: the last runs to start are short, so workers end together.
fn longest_first(batch: &Batch<'_>, estimator: &Estimator) -> Vec<usize> {
    let mut order: Vec<(f64, usize)> = batch
        .runs
        .iter()
        .enumerate()
        .map(|(index, run)| (estimator.seconds(run, batch.plan.description(run)), index))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, index)| index).collect()
}

fn work_loop(
    batch: &Batch<'_>,
    next: &channel::Receiver<usize>,
    report: &channel::Sender<Event>,
    slot: &Arc<Slot>,
    core: Option<usize>,
) {
    let core = core.filter(|core| host::pin(*core));
    let place = Place { jobs: batch.jobs, core };
    while let Ok(index) = next.try_recv() {
        if batch.cancel.load(Ordering::Relaxed) {
            return;
        }
        let run = &batch.runs[index];
        let Some(record) = worker::execute(index, run, batch.plan.description(run), batch.runner, slot, place) else {
            return;
        };
        let event = match batch.store.write(batch.folder, &record) {
            Ok(()) => Event::Record { index, record: Box::new(record) },
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
    let mut records: Vec<RunRecord> = Vec::new();
    let mut pending: Vec<bool> = vec![true; batch.runs.len()];
    let mut fatal = None;
    let mut shown = Instant::now();
    progress.begin(batch.runs.len(), batch.jobs, batch.folder);
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
        if shown.elapsed() >= TICK {
            shown = Instant::now();
            progress.show(&view(batch, slots, &pending, &records, estimator));
        }
    }
    progress.end();
    fatal.map_or(Ok(records), Err)
}

fn view(
    batch: &Batch<'_>,
    slots: &[Arc<Slot>],
    pending: &[bool],
    records: &[RunRecord],
    estimator: &Estimator,
) -> View {
    let activities: Vec<_> = slots.iter().map(|slot| slot.activity()).collect();
    let elapsed = |index: usize| {
        let activity = activities.iter().find(|activity| activity.run == Some(index))?;
        activity.started.map(|started| started.elapsed().as_secs_f64())
    };
    let left = pending.iter().enumerate().filter(|(_, pending)| **pending).map(|(index, _)| {
        let run = &batch.runs[index];
        (estimator.seconds(run, batch.plan.description(run)) - elapsed(index).unwrap_or(0.0)).max(0.0)
    });
    View {
        done: records.len(),
        failed: records.iter().filter(|record| !record.status.is_done()).count(),
        left_s: left.sum::<f64>() / batch.jobs as f64,
        workers: activities
            .iter()
            .map(|activity| {
                let label = activity.run.map(|index| batch.runs[index].label());
                label.map(|label| (label, activity.iteration, activity.gap))
            })
            .collect(),
    }
}
