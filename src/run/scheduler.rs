//! Runs and a store in, one file per run out: pinned worker threads fed by one queue, repeat by repeat, watched by the
//! calling thread (timeouts, Ctrl-C, progress).
//!
//! A thread cannot be stopped from outside. A run that is told to stop and does not, because it hangs inside one call, is
//! given up: its record says so, another worker takes over, and the old thread goes with the process. While memory runs
//! out, runs are ended one by one until there is enough; one that takes it inside one call ends them all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, RecvTimeoutError};

use super::gate::Gate;
use super::host;
use super::interference::Probing;
use super::ledger::{self, Ledger, Left};
use super::progress::{Progress, View, Work};
use super::remaining::{self, Item, Running};
use super::worker::{self, Activity, Allocation, GivenUp, Place, Runner, Slot};
use crate::dataset::Description;
use crate::error::{Error, Result};
use crate::experiment::{Estimator, Plan, RunSpec};
use crate::store::RunRecord;
use crate::store::folder::{Folder, Store};
use ssvm::clock::Helpers;
use ssvm::settings::SolverSpec;

/// What to execute, how, and where records go.
pub struct Batch<'a> {
    /// The runs, in any order.
    pub runs: &'a [RunSpec],
    /// What is known of their data sets.
    pub plan: &'a Plan,
    /// How a run is executed.
    pub runner: Arc<Runner<'static>>,
    /// Where records go.
    pub store: &'a Store,
    /// Workers.
    pub jobs: usize,
    /// Threads of each worker.
    pub threads: usize,
    /// Most wall time of a run.
    pub timeout: Option<Duration>,
    /// How long a run that was told to stop may take to do so before it is given up.
    pub grace: Duration,
    /// Set from outside to stop; set here when a record cannot be written.
    pub cancel: &'a AtomicBool,
    /// Set from outside to start no further run.
    pub drain: Option<&'a AtomicBool>,
    /// What the runs are part of.
    pub allocation: Allocation,
    /// Measures how much the runs disturb each other.
    pub probing: Option<Arc<Probing>>,
}

enum Event {
    Record {
        index: usize,
        record: Box<RunRecord>,
    },
    Fatal(Error),
    /// The worker of this number has ended.
    Gone(usize),
}

/// What the workers of a batch share. A thread that hangs keeps it until the process ends.
struct Shared {
    runs: Vec<RunSpec>,
    facts: Vec<Description>,
    runner: Arc<Runner<'static>>,
    store: Store,
    jobs: usize,
    threads: usize,
    stop: AtomicBool,
    drain: AtomicBool,
    allocation: Allocation,
    probing: Option<Arc<Probing>>,
    gate: Gate,
    next: channel::Receiver<usize>,
    report: channel::Sender<Event>,
}

/// A worker as the watcher sees it.
struct Worker {
    number: usize,
    slot: Arc<Slot>,
    cores: Vec<usize>,
    /// When it was told to stop.
    told: Option<Instant>,
}

/// Says that a worker has ended, however it did.
struct Leaving<'a> {
    number: usize,
    report: &'a channel::Sender<Event>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = Error::invalid("a worker thread died outside a run; please report this");
            let _ = self.report.send(Event::Fatal(error));
        }
        // Nobody listens to a worker that was given up.
        let _ = self.report.send(Event::Gone(self.number));
    }
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
    let (report, events) = channel::unbounded();
    let shared = Arc::new(Shared {
        runs: batch.runs.to_vec(),
        facts: batch.runs.iter().map(|run| batch.plan.description(run).clone()).collect(),
        runner: batch.runner.clone(),
        store: batch.store.clone(),
        jobs: batch.jobs,
        threads: batch.threads,
        stop: AtomicBool::new(false),
        drain: AtomicBool::new(false),
        allocation: batch.allocation.clone(),
        probing: batch.probing.clone(),
        gate: Gate::default(),
        next,
        report,
    });
    let cores = host::cores();
    // With more threads than cores nobody has a core of its own, so none is claimed.
    let enough = batch.jobs * batch.threads <= cores.len();
    let own = |k: usize| if enough { cores[k * batch.threads..(k + 1) * batch.threads].to_vec() } else { Vec::new() };
    let mut workers = Vec::new();
    let mut started = Ok(());
    for number in 0..batch.jobs {
        match start(&shared, number, own(number)) {
            Ok(worker) => workers.push(worker),
            Err(error) => {
                shared.stop.store(true, Ordering::Relaxed);
                started = Err(error);
                break;
            }
        }
    }
    let watcher =
        Watcher { batch, shared: &shared, workers, started: batch.jobs, ledger: Ledger::default(), over: false };
    let records = watcher.watch(&events, estimator, progress);
    started.and(records)
}

fn start(shared: &Arc<Shared>, number: usize, cores: Vec<usize>) -> Result<Worker> {
    let slot: Arc<Slot> = Arc::default();
    let (body_shared, body_slot, body_cores) = (shared.clone(), slot.clone(), cores.clone());
    let body = move || {
        let _leaving = Leaving { number, report: &body_shared.report };
        work_loop(&body_shared, &body_slot, body_cores);
    };
    let spawned = std::thread::Builder::new().name(format!("{}-{number}", worker::THREAD_NAME)).spawn(body);
    spawned.map_err(|error| Error::invalid(format!("cannot start worker {number}: {error}; use fewer --jobs")))?;
    Ok(Worker { number, slot, cores, told: None })
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
    Ok(Some(Arc::new(Helpers::new(count, pin)?)))
}

fn work_loop(shared: &Shared, slot: &Arc<Slot>, cores: Vec<usize>) {
    let core = cores.first().copied().filter(|core| host::pin(*core));
    let helpers = match helpers(shared.threads - 1, cores) {
        Ok(helpers) => helpers,
        Err(error) => {
            shared.stop.store(true, Ordering::Relaxed);
            let _ = shared.report.send(Event::Fatal(error));
            return;
        }
    };
    let Shared { jobs, gate, allocation, .. } = shared;
    let place = Place { jobs: *jobs, core, helpers: helpers.as_ref(), gate, allocation };
    while let Ok(index) = shared.next.try_recv() {
        if shared.stop.load(Ordering::Relaxed) || shared.drain.load(Ordering::Relaxed) {
            return;
        }
        let (run, facts) = (&shared.runs[index], &shared.facts[index]);
        let Some(record) = worker::execute(index, run, facts, &*shared.runner, slot, place) else {
            return;
        };
        let event = match shared.store.write(Folder::Runs, &record) {
            Ok(()) => {
                if let Some(probing) = &shared.probing {
                    probing.after(run, &record, &*shared.runner, slot, place);
                }
                Event::Record { index, record: Box::new(record) }
            }
            Err(error) => {
                shared.stop.store(true, Ordering::Relaxed);
                Event::Fatal(error)
            }
        };
        // The watcher outlives the workers.
        let _ = shared.report.send(event);
    }
}

/// Until the last worker is gone: collect, learn, enforce timeouts, pass on cancellation, give up what hangs, show
/// progress.
struct Watcher<'a> {
    batch: &'a Batch<'a>,
    shared: &'a Arc<Shared>,
    workers: Vec<Worker>,
    /// Workers started so far.
    started: usize,
    ledger: Ledger,
    /// Set when nothing can be waited for any more.
    over: bool,
}

impl Watcher<'_> {
    fn watch(
        mut self,
        events: &channel::Receiver<Event>,
        estimator: &mut Estimator,
        progress: &mut Progress,
    ) -> Result<Vec<RunRecord>> {
        /// What is shown is computed this often: the watcher shares a core with a worker.
        const SHOW: Duration = Duration::from_millis(500);
        let batch = self.batch;
        let models: Vec<f64> =
            batch.runs.iter().map(|run| Estimator::model(run, batch.plan.description(run))).collect();
        let mut records: Vec<RunRecord> = Vec::new();
        let mut pending: Vec<bool> = vec![true; batch.runs.len()];
        let mut fatal = None;
        let mut shown = Instant::now();
        progress.begin(batch.runs.len(), batch.jobs);
        while !self.workers.is_empty() && !self.over {
            let mut finished = |index: usize, record: RunRecord| {
                let run = &batch.runs[index];
                pending[index] = false;
                estimator.learn(run, batch.plan.description(run), record.measured.totals.total_s);
                progress.finished(&run.label(), &record);
                records.push(record);
            };
            match events.recv_timeout(self.ledger.wait()) {
                Ok(Event::Record { index, record }) => finished(index, *record),
                Ok(Event::Fatal(error)) => {
                    fatal.get_or_insert(error);
                }
                Ok(Event::Gone(number)) => self.workers.retain(|worker| worker.number != number),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            match self.spare_memory().and_then(|()| self.halt()) {
                Ok(hung) => hung.into_iter().for_each(|(index, record)| finished(index, record)),
                Err(error) => {
                    fatal.get_or_insert(error);
                }
            }
            if shown.elapsed() >= SHOW {
                shown = Instant::now();
                progress.show(&view(batch, &self.workers, &pending, &models, &records, estimator));
            }
        }
        progress.end();
        fatal.map_or(Ok(records), Err)
    }

    /// Ends the run that took the memory, when that is nearly gone. One that does not end while the last of it goes leaves
    /// its record and an error: the system would end the whole process, and all records in flight with it.
    fn spare_memory(&mut self) -> Result<()> {
        let mut at_work: Vec<(Instant, usize)> =
            self.workers.iter().filter_map(|worker| worker.slot.activity().at_work()).collect();
        at_work.sort_unstable();
        let at_work: Vec<usize> = at_work.into_iter().map(|(_, run)| run).collect();
        let left = self.ledger.look(&at_work);
        let told = self.workers.iter().position(|worker| worker.slot.spares_memory());
        match (left, told) {
            (Left::Enough, _) | (Left::Little, Some(_)) => {}
            (Left::Little | Left::Nothing, None) => {
                if let Some(run) = self.ledger.suspect(&at_work) {
                    let numbers = ledger::numbers();
                    self.workers.iter().for_each(|worker| worker.slot.spare_memory(run, numbers.clone()));
                }
            }
            (Left::Nothing, Some(at)) => {
                let (batch, shared, worker) = (self.batch, self.shared, &self.workers[at]);
                let Some(end) = worker.slot.give_up() else { return Ok(()) };
                self.over = true;
                shared.stop.store(true, Ordering::Relaxed);
                self.workers.iter().for_each(|worker| worker.slot.cancel());
                if let Some((index, record)) = given_up(batch, shared, worker, end)? {
                    return Err(Error::invalid(format!(
                        "{} {}; a call cannot be ended, so everything is: leave it out with --only",
                        batch.runs[index].label(),
                        record.status.reason()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Tells runs to stop whose time is over or that were cancelled; those that were told and hang become records.
    fn halt(&mut self) -> Result<Vec<(usize, RunRecord)>> {
        let (batch, shared) = (self.batch, self.shared);
        if batch.drain.is_some_and(|drain| drain.load(Ordering::Relaxed)) {
            shared.drain.store(true, Ordering::Relaxed);
        }
        // Either side may ask for the end.
        let stop = batch.cancel.load(Ordering::Relaxed) || shared.stop.load(Ordering::Relaxed);
        if stop {
            batch.cancel.store(true, Ordering::Relaxed);
            shared.stop.store(true, Ordering::Relaxed);
        }
        let mut hung = Vec::new();
        let mut replaced = Vec::new();
        for worker in &mut self.workers {
            if stop {
                worker.slot.cancel();
            }
            if let Some(timeout) = batch.timeout {
                worker.slot.enforce(timeout);
            }
            if !worker.slot.halted() {
                worker.told = None;
                continue;
            }
            if worker.told.get_or_insert_with(Instant::now).elapsed() < batch.grace {
                continue;
            }
            let Some(end) = worker.slot.give_up() else { continue };
            hung.extend(given_up(batch, shared, worker, end)?);
            replaced.push(worker.number);
        }
        for number in replaced {
            let Some(at) = self.workers.iter().position(|worker| worker.number == number) else { continue };
            let Worker { cores, .. } = self.workers.remove(at);
            if !stop {
                let worker = start(shared, self.started, cores)?;
                self.started += 1;
                self.workers.insert(at, worker);
            }
        }
        Ok(hung)
    }
}

/// Writes the record of a run that was given up, unless it was cancelled.
fn given_up(batch: &Batch<'_>, shared: &Shared, worker: &Worker, end: GivenUp) -> Result<Option<(usize, RunRecord)>> {
    let GivenUp { index, why: Some(why), after } = end else { return Ok(None) };
    let core = worker.cores.first().copied();
    let place = Place { jobs: batch.jobs, core, helpers: None, gate: &shared.gate, allocation: &shared.allocation };
    let record = worker::given_up(&shared.runs[index], &shared.facts[index], place, why, after);
    shared.store.write(Folder::Runs, &record)?;
    Ok(Some((index, record)))
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
    workers: &[Worker],
    pending: &[bool],
    models: &[f64],
    records: &[RunRecord],
    estimator: &Estimator,
) -> View {
    let activities: Vec<Activity> = workers.iter().map(|worker| worker.slot.activity()).collect();
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
