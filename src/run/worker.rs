//! One run on one worker thread: the index of a run in, its [`RunRecord`] out.
//!
//! Panics, timeouts and divergence become failed records; a run that timed out keeps what it measured. A run that was
//! cancelled before its time was over leaves no record, and one that never returns is abandoned by the scheduler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::host::{self, StealMeter};
use super::scheduler::RunBatch;
use crate::error::Result;
use crate::experiment::RunSpec;
use crate::store::{Environment, Measured, RunRecord, Status, Totals, panics};
use crate::text::seconds;
use ssvm::clock::Helpers;
use ssvm::drive::{Execution, Observer, Outcome, StopReason, TracePoint};
use ssvm::solver::Moment;

/// Executes one run: [`ssvm::drive`] in the program, anything in tests.
pub type Runner = dyn Fn(&RunSpec, &Execution<'_>, &mut dyn Observer) -> Result<Outcome> + Send + Sync;

/// Asks the runs of this process to end. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    /// Set to drop the runs in flight.
    pub cancel: Arc<AtomicBool>,
    /// Set to let the runs in flight end and start no other.
    pub drain: Arc<AtomicBool>,
}

impl StopSignal {
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Whether no further run is started.
    pub fn is_set(&self) -> bool {
        self.is_cancelled() || self.drain.load(Ordering::Relaxed)
    }
}

/// Why the scheduler ends a run before its budget does.
#[derive(Clone, Debug)]
pub enum AbortReason {
    /// It took longer than `timeout_s`.
    Timeout,
    /// Memory is nearly exhausted; how much is used and how much is left.
    Memory(String),
}

/// A worker, shared by its thread and the scheduler that watches it.
#[derive(Debug, Default)]
pub struct Worker {
    pub(super) number: usize,
    /// Where its threads are pinned; empty where they are not.
    pub(super) cores: Vec<usize>,
    /// Read on the clock, inside passes: one relaxed load.
    pub(super) aborted: Arc<AtomicBool>,
    current: Mutex<CurrentRun>,
}

#[derive(Debug, Default)]
struct CurrentRun {
    /// Index in the batch, and when the run started.
    run: Option<(usize, Instant)>,
    abort: Option<AbortReason>,
    /// When the scheduler first saw that the run has to end.
    asked: Option<Instant>,
    /// Whether the scheduler no longer waits for this worker.
    abandoned: bool,
}

/// A run that is no longer waited for: its index, the reason (none when it was cancelled) and how long it took.
pub(super) type Abandoned = (usize, Option<Status>, Duration);

impl Worker {
    pub fn new(number: usize, cores: Vec<usize>) -> Self {
        Self { number, cores, ..Self::default() }
    }

    /// The run that the worker executes, by its index, and when it started.
    pub(super) fn run(&self) -> Option<(usize, Instant)> {
        self.current.lock().run
    }

    /// Asks the worker to end this run, unless it has another one by now. The first reason stays.
    pub(super) fn abort(&self, index: usize, reason: AbortReason) {
        let mut current = self.current.lock();
        if current.run.is_some_and(|(run, _)| run == index) {
            current.abort.get_or_insert(reason);
            self.aborted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the current run was asked to end because memory is nearly exhausted.
    pub(super) fn is_out_of_memory(&self) -> bool {
        matches!(self.current.lock().abort, Some(AbortReason::Memory(_)))
    }

    /// Asks this run to end if it takes longer than it may.
    fn check_time(&self, index: usize, timeout: Option<Duration>) {
        let started = self.run().filter(|(run, _)| *run == index).map(|(_, started)| started);
        if timeout.is_some_and(|most| started.is_some_and(|started| started.elapsed() > most)) {
            self.abort(index, AbortReason::Timeout);
        }
    }

    /// Asks a run to end whose time is over, and abandons one that was asked to, or cancelled, longer than `grace` ago.
    pub(super) fn end_overdue(&self, timeout: Option<Duration>, cancelled: bool, grace: Duration) -> Option<Abandoned> {
        self.check_time(self.run()?.0, timeout);
        let mut current = self.current.lock();
        if !cancelled && current.abort.is_none() {
            return None;
        }
        let asked = *current.asked.get_or_insert_with(Instant::now);
        if asked.elapsed() >= grace { abandon(&mut current) } else { None }
    }

    pub(super) fn abandon(&self) -> Option<Abandoned> {
        abandon(&mut self.current.lock())
    }

    fn begin(&self, index: usize) {
        *self.current.lock() = CurrentRun { run: Some((index, Instant::now())), ..CurrentRun::default() };
    }

    /// Marks the worker as idle. A reason that was given belongs to the run that ends here.
    fn end(&self) -> CurrentRun {
        let mut current = self.current.lock();
        self.aborted.store(false, Ordering::Relaxed);
        let abandoned = current.abandoned;
        std::mem::replace(&mut current, CurrentRun { abandoned, ..CurrentRun::default() })
    }
}

/// Stops waiting for a run. Whatever its thread still computes is discarded.
fn abandon(current: &mut CurrentRun) -> Option<Abandoned> {
    const INSIDE: &str = "it was still inside one call of the oracle or an evaluation";
    let (index, started) = current.run.take()?;
    current.abandoned = true;
    let status = current.abort.take().map(|reason| match reason {
        AbortReason::Timeout => {
            let after = seconds(started.elapsed().as_secs_f64());
            Status::Failed(format!("hung: {INSIDE} {after} after its start, long after its timeout"))
        }
        AbortReason::Memory(usage) => Status::OutOfMemory { usage: format!("{usage}; {INSIDE}") },
    });
    Some((index, status, started.elapsed()))
}

/// A worker and the batch that it works for.
#[derive(Clone, Copy)]
pub struct WorkerContext<'a> {
    pub batch: &'a RunBatch,
    pub worker: &'a Worker,
    /// The core that the thread is pinned to.
    pub core: Option<usize>,
    /// Threads that share the oracle calls at one w.
    pub helpers: Option<&'a Arc<Helpers>>,
}

impl WorkerContext<'_> {
    /// Executes one run of the batch; `None` when it was cancelled or abandoned.
    pub fn execute(self, index: usize) -> Option<RunRecord> {
        let Self { batch, worker, core, .. } = self;
        let run = &batch.runs[index];
        let _inside = batch.gate.enter();
        let (started, started_unix_s, steal) = (Instant::now(), host::unix_time(), StealMeter::start(core));
        worker.begin(index);
        let mut observer = RunObserver { batch, worker, index, passes: Vec::new() };
        let execution = Execution {
            // With several workers every core is taken.
            parallel_evaluation: batch.jobs == 1,
            helpers: self.helpers.cloned(),
            cancelled: &|| worker.aborted.load(Ordering::Relaxed) || batch.stop.is_cancelled(),
        };
        let result = panics::catch(|| (batch.execute)(run, &execution, &mut observer));
        observer.check_time();
        let total_s = started.elapsed().as_secs_f64();
        let passes = observer.passes.iter().map(|moment| (moment.time * 1e-9, moment.dual)).collect();
        let CurrentRun { abort, abandoned, .. } = worker.end();
        if abandoned {
            return None;
        }
        // A run whose time or memory was over before everything was cancelled has a record of that.
        let dropped = batch.stop.is_cancelled() && abort.is_none();
        let outcome = match result {
            Err(panic) => Err(format!("panicked: {panic}")),
            Ok(Ok(outcome)) if outcome.stop == StopReason::Cancelled && dropped => return None,
            Ok(Ok(outcome)) => measured(outcome, abort, total_s, passes),
            // An oracle program may have been killed with the rest.
            Ok(Err(_)) if dropped => return None,
            // Its oracle program was ended with it.
            Ok(Err(_)) if abort.is_some() => Ok((aborted(abort, total_s), only_total(total_s))),
            Ok(Err(error)) => Err(error.to_string()),
        };
        let (status, measured) = outcome.unwrap_or_else(|message| (Status::Failed(message), only_total(total_s)));
        let mut record = self.record(run, status, measured);
        record.environment.started_unix_s = started_unix_s;
        record.environment.steal = steal.fraction();
        Some(record)
    }

    /// The record of a run that was abandoned: nothing is known but how long it took.
    pub(super) fn abandoned(self, index: usize, status: Status, after: Duration) -> RunRecord {
        self.record(&self.batch.runs[index], status, only_total(after.as_secs_f64()))
    }

    fn record(self, run: &RunSpec, status: Status, measured: Measured) -> RunRecord {
        let Self { batch, core, .. } = self;
        let (size, host) = (&batch.plan.description(run).size, host::host());
        let environment = Environment {
            n: size.n,
            d: size.d,
            jobs: batch.jobs as u64,
            threads: batch.threads as u64,
            core: core.map_or(-1, |core| core as i64),
            host: host.name.clone(),
            host_class: host.class(),
            host_facts: host.facts(),
            shard: batch.shard.clone(),
            build: ssvm::BUILD_FLAGS.to_owned(),
            commit: env!("SSVM_COMMIT").to_owned(),
            projected_from: None,
            started_unix_s: host::unix_time(),
            steal: 0.0,
            load: host::load(),
        };
        RunRecord { identity: run.identity.clone(), repeat: run.repeat, environment, status, measured }
    }
}

/// How a run ended and what it measured; the message of a run whose numbers cannot be used.
fn measured(
    outcome: Outcome,
    abort: Option<AbortReason>,
    total_s: f64,
    passes: Vec<(f64, f64)>,
) -> Result<(Status, Measured), String> {
    if let Some(point) = outcome.points.iter().find(|point| !point.is_sound()) {
        return Err(format!("diverged: the objective is not finite at iteration {}", point.iteration));
    }
    // The evaluations of an aborted run are kept, because dropping slow runs would make a solver look faster.
    let status = match (outcome.stop, &abort) {
        // Its budget may have ended it a moment before it was asked to end.
        (StopReason::Cancelled, _) | (_, Some(AbortReason::Timeout)) => aborted(abort, total_s),
        (stop, _) => Status::Done(stop),
    };
    let measured = Measured::of(outcome, total_s, passes).map_err(|error| error.to_string())?;
    Ok((status, measured))
}

fn aborted(abort: Option<AbortReason>, total_s: f64) -> Status {
    match abort {
        Some(AbortReason::Memory(usage)) => Status::OutOfMemory { usage },
        _ => Status::TimedOut { after_s: total_s },
    }
}

fn only_total(total_s: f64) -> Measured {
    Measured { totals: Totals { total_s, ..Totals::default() }, ..Measured::default() }
}

/// Keeps the passes of the iteration that shows the slope rule best for its figure, ends a run that exceeds its time, and waits at the
/// gate while another worker is timed alone. It is called only while the clock is stopped.
struct RunObserver<'a> {
    batch: &'a RunBatch,
    worker: &'a Worker,
    /// Of the run.
    index: usize,
    passes: Vec<Moment>,
}

impl RunObserver<'_> {
    /// The scheduler does the same to runs that are inside an iteration; a short run may end before it looks.
    fn check_time(&self) {
        self.worker.check_time(self.index, self.batch.timeout);
    }
}

/// How well an iteration shows the slope rule: best with six approximate passes. Its start and the end of its exact pass
/// are moments too.
fn instructive(passes: &[Moment]) -> i64 {
    if passes.len() < 3 { i64::MIN } else { -(passes.len() as i64 - 8).abs() }
}

impl Observer for RunObserver<'_> {
    fn iteration(&mut self, _iteration: u64, passes: &[Moment]) {
        self.check_time();
        self.batch.gate.pass();
        if instructive(passes) > instructive(&self.passes) {
            self.passes.clear();
            self.passes.extend_from_slice(passes);
        }
    }

    fn point(&mut self, _point: &TracePoint) {
        self.check_time();
        self.batch.gate.pass();
    }
}
