//! A batch of runs in, one record per run out: pinned worker threads take runs from one queue, and the calling thread
//! watches them (timeouts, memory, Ctrl-C, progress).
//!
//! A thread cannot be stopped from outside. A run that is asked to end and does not, because it hangs inside one call, is
//! abandoned: its record has the reason, a new worker takes over, and the old thread ends with the process. When memory runs
//! out, runs are aborted one by one until enough is free; a run that allocates inside one call ends the batch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{self, Receiver, Sender};

use super::host;
use super::interference::Probing;
use super::memory::{EXHAUSTED, MemoryWatch, memory_usage};
use super::pause::PauseGate;
use super::progress::{BatchProgress, BatchStatus};
use super::worker::{Abandoned, AbortReason, Runner, StopSignal, Worker, WorkerContext};
use crate::dataset::program::stop_calls_by;
use crate::error::{Error, Result};
use crate::experiment::{Estimator, Plan, RunSpec};
use crate::store::folder::{Folder, Store};
use crate::store::{RunRecord, panics};
use ssvm::clock::Helpers;
use ssvm::settings::SolverSpec;

/// Everything that the workers of a batch need.
pub struct RunBatch {
    /// In any order.
    pub runs: Vec<RunSpec>,
    /// The plan that they are part of.
    pub plan: Arc<Plan>,
    pub execute: Box<Runner>,
    /// Takes the records.
    pub store: Store,
    /// Number of workers.
    pub jobs: usize,
    /// Threads of each worker.
    pub threads: usize,
    /// Longest wall time of a run.
    pub timeout: Option<Duration>,
    /// How long a run that was asked to end may take to do so before it is abandoned.
    pub grace: Duration,
    /// Ends the batch from outside. The batch sets it when a record cannot be written.
    pub stop: StopSignal,
    /// The folder of the shard that is run; empty for a whole plan.
    pub shard: String,
    /// Where workers wait while one of them is timed alone.
    pub gate: Arc<PauseGate>,
    /// Measures how much the runs disturb each other.
    pub probing: Option<Arc<Probing>>,
}

/// Executes a batch and returns its records. Fails when a record cannot be written; all written ones are intact.
pub fn run_batch(batch: RunBatch, estimator: &mut Estimator, progress: &mut BatchProgress) -> Result<Vec<RunRecord>> {
    // The queue is filled and closed before the first worker starts.
    let (fill, queue) = channel::unbounded();
    order(&batch.runs, &batch.plan.runs, |run| estimator.seconds(run))
        .into_iter()
        .try_for_each(|run| fill.send(run))
        .ok();
    let (report, events) = channel::unbounded();
    progress.begin(batch.runs.len());
    let mut scheduler = Scheduler {
        pending: vec![true; batch.runs.len()],
        batch: Arc::new(batch),
        queue,
        report,
        workers: Vec::new(),
        started: 0,
        memory: MemoryWatch::default(),
        records: Vec::new(),
        fatal: None,
        estimator,
        progress,
    };
    scheduler.start_workers();
    scheduler.watch(&events);
    scheduler.progress.end();
    scheduler.fatal.map_or(Ok(scheduler.records), Err)
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
    let mut blocks: BTreeMap<(u64, usize), f64> = BTreeMap::new();
    for run in runs {
        *blocks.entry((run.repeat, run.set)).or_default() += seconds(run);
    }
    let turn = |run: &RunSpec| {
        let list = &solvers[&run.set];
        let at = list.iter().position(|solver| **solver == run.settings().solver).unwrap_or(0);
        let first = (run.repeat % list.len() as u64) as usize;
        (at + list.len() - first) % list.len()
    };
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&runs[a], &runs[b]);
        let length = |run: &RunSpec| blocks[&(run.repeat, run.set)];
        let longest_first = length(b).total_cmp(&length(a)).then(a.set.cmp(&b.set));
        a.repeat.cmp(&b.repeat).then(longest_first).then_with(|| turn(a).cmp(&turn(b)))
    });
    order
}

enum Event {
    Record(usize, Box<RunRecord>),
    /// The worker of this number has ended.
    Gone(usize, Result<()>),
}

/// Collects records, enforces timeouts, abandons runs that hang, and shows progress, until the last worker has ended.
struct Scheduler<'a> {
    batch: Arc<RunBatch>,
    /// Indices of runs that no worker has taken.
    queue: Receiver<usize>,
    report: Sender<Event>,
    workers: Vec<Arc<Worker>>,
    /// Workers started so far.
    started: usize,
    memory: MemoryWatch,
    /// Runs without a record, by index.
    pending: Vec<bool>,
    records: Vec<RunRecord>,
    fatal: Option<Error>,
    estimator: &'a mut Estimator,
    progress: &'a mut BatchProgress,
}

impl Scheduler<'_> {
    fn start_workers(&mut self) {
        let (jobs, threads) = (self.batch.jobs, self.batch.threads);
        let cores = host::cores();
        for k in 0..jobs {
            // With more threads than cores no worker has a core of its own, so none is pinned.
            let own = cores.get(k * threads..(k + 1) * threads).filter(|_| jobs * threads <= cores.len());
            if let Err(error) = self.start(self.workers.len(), own.unwrap_or_default().to_vec()) {
                self.fail(error);
                return;
            }
        }
    }

    /// Starts a worker on these cores, at this place of the list.
    fn start(&mut self, at: usize, cores: Vec<usize>) -> Result<()> {
        let number = self.started;
        let worker = Arc::new(Worker::new(number, cores));
        let (batch, queue, report, own) = (self.batch.clone(), self.queue.clone(), self.report.clone(), worker.clone());
        let body = move || {
            let died = |_| Err(super::Error::WorkerDied.into());
            let ended = panics::catch(|| work(&batch, &own, &queue, &report)).unwrap_or_else(died);
            // The scheduler does not listen to a worker that it has abandoned.
            let _ = report.send(Event::Gone(number, ended));
        };
        let builder = std::thread::Builder::new().name(format!("ssvm-worker-{number}"));
        builder.spawn(body).map_err(|reason| super::Error::NoWorker { number, reason })?;
        self.started += 1;
        self.workers.insert(at, worker);
        Ok(())
    }

    fn watch(&mut self, events: &Receiver<Event>) {
        /// What is shown is computed this often: this thread shares a core with a worker.
        const SHOW: Duration = Duration::from_millis(500);
        let mut shown = Instant::now();
        while !self.workers.is_empty() {
            match events.recv_timeout(self.memory.pause()) {
                Ok(Event::Record(index, record)) => self.finished(index, *record),
                Ok(Event::Gone(number, ended)) => {
                    self.workers.retain(|worker| worker.number != number);
                    ended.unwrap_or_else(|error| self.fail(error));
                }
                Err(_) => {}
            }
            if let Err(error) = self.spare_memory().and_then(|()| self.end_overdue()) {
                self.fail(error);
            }
            if shown.elapsed() >= SHOW {
                shown = Instant::now();
                self.progress.show(&self.status());
            }
        }
    }

    fn finished(&mut self, index: usize, record: RunRecord) {
        self.pending[index] = false;
        self.estimator.learn(&self.batch.runs[index], record.measured.totals.total_s);
        self.progress.finished(&record);
        self.records.push(record);
    }

    /// Ends the batch; the first error is the one that is returned.
    fn fail(&mut self, error: Error) {
        self.batch.stop.cancel();
        self.fatal.get_or_insert(error);
    }

    /// Aborts the run that took most memory when memory is nearly exhausted. If the run does not end before the rest is used up, its
    /// record is written and the batch ends; otherwise the system would kill the process with all runs in progress.
    fn spare_memory(&mut self) -> Result<()> {
        let mut running: Vec<(Instant, usize)> =
            self.workers.iter().filter_map(|worker| worker.run()).map(|(run, started)| (started, run)).collect();
        running.sort_unstable();
        let running: Vec<usize> = running.into_iter().map(|(_, run)| run).collect();
        let left = self.memory.look(&running);
        if left >= 1.0 {
            return Ok(());
        }
        let Some(worker) = self.workers.iter().find(|worker| worker.is_out_of_memory()).cloned() else {
            if let Some(run) = self.memory.suspect(&running) {
                self.workers.iter().for_each(|worker| worker.abort(run, AbortReason::Memory(memory_usage())));
            }
            return Ok(());
        };
        // A run that ended in the meantime cannot be abandoned.
        if left < EXHAUSTED
            && let Some(abandoned) = worker.abandon()
            && let Some((index, record)) = self.write_abandoned(&worker, abandoned)?
        {
            self.workers.clear();
            let (run, reason) = (self.batch.runs[index].label(), record.status.reason());
            return Err(super::Error::OutOfMemory { run, reason }.into());
        }
        Ok(())
    }

    /// Asks runs that have exceeded their time to end, and replaces workers whose run does not end within the grace period.
    fn end_overdue(&mut self) -> Result<()> {
        let (timeout, grace, cancelled) = (self.batch.timeout, self.batch.grace, self.batch.stop.is_cancelled());
        for at in (0..self.workers.len()).rev() {
            let Some(abandoned) = self.workers[at].end_overdue(timeout, cancelled, grace) else { continue };
            let worker = self.workers.remove(at);
            if let Some((index, record)) = self.write_abandoned(&worker, abandoned)? {
                self.finished(index, record);
            }
            if !cancelled {
                self.start(at, worker.cores.clone())?;
            }
        }
        Ok(())
    }

    /// Writes the record of an abandoned run, unless it was cancelled.
    fn write_abandoned(&self, worker: &Worker, abandoned: Abandoned) -> Result<Option<(usize, RunRecord)>> {
        let (index, Some(status), after) = abandoned else { return Ok(None) };
        let (batch, core) = (&*self.batch, worker.cores.first().copied());
        let record = WorkerContext { batch, worker, core, helpers: None }.abandoned(index, status, after);
        batch.store.write(Folder::Runs, &record)?;
        Ok(Some((index, record)))
    }

    fn status(&self) -> BatchStatus {
        let (mut all_s, mut left_s, mut longest_s) = (0.0, 0.0, 0.0_f64);
        let mut running = Vec::new();
        let at_work: BTreeMap<usize, Instant> = self.workers.iter().filter_map(|worker| worker.run()).collect();
        for (index, run) in self.batch.runs.iter().enumerate().filter(|(index, _)| self.pending[*index]) {
            let estimate = self.estimator.seconds(run);
            let mut rest = estimate;
            if let Some(started) = at_work.get(&index) {
                running.push(run.label());
                let elapsed = started.elapsed().as_secs_f64();
                // A run that takes longer than expected may take longer still.
                rest = (estimate - elapsed).max(0.1 * elapsed);
                longest_s = longest_s.max(rest);
            }
            all_s += estimate.max(rest);
            left_s += rest;
        }
        all_s += self.records.iter().map(|record| record.measured.totals.total_s).sum::<f64>();
        BatchStatus {
            done: self.records.len(),
            failed: self.records.iter().filter(|record| !record.status.is_done()).count(),
            share: 1.0 - left_s / all_s.max(f64::MIN_POSITIVE),
            left_s: longest_s.max(left_s / self.batch.jobs as f64),
            running,
        }
    }
}

/// The thread of a worker: executes runs until the queue is empty, or no further run is to start.
fn work(batch: &RunBatch, worker: &Worker, queue: &Receiver<usize>, report: &Sender<Event>) -> Result<()> {
    let core = worker.cores.first().copied().filter(|core| host::pin(*core));
    let cores = worker.cores.clone();
    let (stop, alone) = (worker.aborted.clone(), batch.jobs == 1);
    stop_calls_by(&stop, alone);
    // Threads inherit the core of the thread that makes them: each moves to its own.
    let pin = move |k: usize| {
        stop_calls_by(&stop, alone);
        if let Some(core) = cores.get(k + 1) {
            host::pin(*core);
        }
    };
    let helpers = (batch.threads > 1).then(|| Helpers::new(batch.threads - 1, pin).map(Arc::new)).transpose()?;
    let context = WorkerContext { batch, worker, core, helpers: helpers.as_ref() };
    while !batch.stop.is_set()
        && let Ok(index) = queue.try_recv()
        && let Some(record) = context.execute(index)
    {
        batch.store.write(Folder::Runs, &record)?;
        if let Some(probing) = &batch.probing {
            probing.after(context, &batch.runs[index], &record);
        }
        let _ = report.send(Event::Record(index, Box::new(record)));
    }
    Ok(())
}
