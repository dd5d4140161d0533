//! One run on one worker thread: [`RunSpec`] in, [`RunRecord`] out. Panics, timeouts and divergence become failed
//! records (a run that timed out keeps what it measured until then); a run cancelled from outside leaves no record, and
//! one that never answers is given up.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::gate::Gate;
use super::host;
use crate::dataset::Description;
use crate::error::Result;
use crate::experiment::RunSpec;
use crate::store::panics;
use crate::store::{Environment, Measured, RunRecord, Status, Totals};
use crate::text::seconds;
use ssvm::clock::Helpers;
use ssvm::drive::{Execution, Observer, Outcome, StopReason, TracePoint};
use ssvm::solver::Moment;

/// What a worker does with a run; the loop of [`ssvm::drive`] in the program, anything in tests.
pub type Runner<'a> = dyn Fn(&RunSpec, &Execution<'_>, &mut dyn Observer) -> Result<Outcome> + Send + Sync + 'a;

/// Why a run should stop before its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Halt {
    No,
    Cancel,
    Timeout,
    Memory,
}

/// What a worker is doing, for the progress display and the watchdog.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Index of the run in the queue.
    pub run: Option<usize>,
    /// When it started.
    pub started: Option<Instant>,
    /// When its last iteration ended.
    pub heard: Option<Instant>,
    /// Iterations by then.
    pub iteration: u64,
    /// Solver time by then, as far as it is known.
    pub time_s: f64,
    /// Exact oracle calls at the last evaluation.
    pub oracle_calls: u64,
    /// Gap at the last evaluation.
    pub gap: Option<f64>,
    /// What was known when it was told to stop because memory was running out.
    shortage: Option<String>,
    /// Whether the watcher has given it up: whatever it still finds belongs to nobody.
    given_up: bool,
}

impl Activity {
    /// When its run started, and which it is.
    pub fn at_work(&self) -> Option<(Instant, usize)> {
        Some((self.started?, self.run?))
    }
}

/// A run that was told to stop and did not.
#[derive(Clone, Debug)]
pub struct GivenUp {
    /// Index of the run in the queue.
    pub index: usize,
    /// Why it failed; nothing when it was cancelled.
    pub why: Option<Status>,
    /// How long it was at work.
    pub after: Duration,
}

/// Shared between one worker and the thread that watches it.
#[derive(Debug, Default)]
pub struct Slot {
    halt: AtomicU8,
    activity: Mutex<Activity>,
}

impl Slot {
    /// What the worker is doing.
    pub fn activity(&self) -> Activity {
        self.lock().clone()
    }

    /// Asks the run to stop and leave no record.
    pub fn cancel(&self) {
        self.halt(Halt::Cancel);
    }

    /// Fails the run if it is older than this.
    pub fn enforce(&self, timeout: Duration) {
        let activity = self.lock();
        if activity.run.is_some() && activity.started.is_some_and(|started| started.elapsed() > timeout) {
            self.halt(Halt::Timeout);
        }
    }

    /// Fails this run, of all that take memory while it runs out; what is known of that goes into its record.
    pub fn spare_memory(&self, index: usize, numbers: String) {
        let mut activity = self.lock();
        if activity.run == Some(index) {
            activity.shortage = Some(numbers);
            self.halt(Halt::Memory);
        }
    }

    /// Whether its run was told to stop because memory was running out.
    pub fn spares_memory(&self) -> bool {
        self.halt.load(Ordering::Relaxed) == Halt::Memory as u8
    }

    /// Gives up a run that was told to stop and does not. From here on the worker's thread is nobody's.
    pub fn give_up(&self) -> Option<GivenUp> {
        let mut activity = self.lock();
        let index = activity.run.take()?;
        activity.given_up = true;
        let after = activity.started.map_or(Duration::ZERO, |started| started.elapsed());
        let inside = "it was still inside one call of the oracle or an evaluation";
        let why = match self.halt.load(Ordering::Relaxed) {
            halt if halt == Halt::Timeout as u8 => {
                let after = seconds(after.as_secs_f64());
                Some(Status::Failed(format!("hung: {after} after its start {inside}, its time long over")))
            }
            halt if halt == Halt::Memory as u8 => {
                let shortage = activity.shortage.as_deref().unwrap_or_default();
                Some(Status::OutOfMemory { usage: format!("{shortage}; {inside}") })
            }
            _ => None,
        };
        Some(GivenUp { index, why, after })
    }

    /// Whether its run must stop.
    pub fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed) != Halt::No as u8
    }

    fn halt(&self, why: Halt) {
        // The first reason stays.
        let _ = self.halt.compare_exchange(Halt::No as u8, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The observer of a worker's run. Keeps the passes of the iteration that shows the slope rule best, for its figure, and
/// stands still at the gate while somebody else is timed alone: it is only called while the clock is stopped.
struct Watch<'a> {
    slot: Arc<Slot>,
    gate: &'a Gate,
    passes: Vec<Moment>,
}

/// How well an iteration shows the slope rule: best with six approximate passes; its start and the end of its exact pass
/// are moments too.
fn instructive(passes: &[Moment]) -> i64 {
    if passes.len() < 3 { i64::MIN } else { -(passes.len() as i64 - 8).abs() }
}

impl Observer for Watch<'_> {
    fn iteration(&mut self, iteration: u64, passes: &[Moment]) {
        let mut activity = self.slot.lock();
        activity.heard = Some(Instant::now());
        activity.iteration = iteration;
        activity.time_s = passes.last().map_or(activity.time_s, |moment| moment.time * 1e-9);
        drop(activity);
        self.gate.pass();
        if instructive(passes) > instructive(&self.passes) {
            self.passes.clear();
            self.passes.extend_from_slice(passes);
        }
    }

    fn point(&mut self, point: &TracePoint) {
        let mut activity = self.slot.lock();
        activity.iteration = point.iteration;
        activity.time_s = point.time_s;
        activity.oracle_calls = point.oracle_calls;
        activity.gap = Some(point.gap);
        drop(activity);
        self.gate.pass();
    }
}

/// Where and with how many neighbours a worker runs.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Concurrent workers.
    pub jobs: usize,
    /// The core it is pinned to.
    pub core: Option<usize>,
    /// Threads that help it with the calls at one w.
    pub helpers: Option<&'a Arc<Helpers>>,
    /// Where they wait while one of them is timed alone.
    pub gate: &'a Gate,
    /// What they are part of.
    pub allocation: &'a Allocation,
}

/// What the runs of a process are part of.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// The shard, by its folder; empty when the whole plan is run here.
    pub shard: String,
}

/// Executes one run; `None` when it was cancelled.
pub fn execute(
    index: usize,
    run: &RunSpec,
    facts: &Description,
    runner: &Runner<'_>,
    slot: &Arc<Slot>,
    place: Place<'_>,
) -> Option<RunRecord> {
    let _inside = place.gate.enter();
    let started = Instant::now();
    *slot.lock() = Activity { run: Some(index), started: Some(started), ..Activity::default() };
    let started_unix_s = host::unix_time();
    let steal = host::StealMeter::start(place.core);
    // With several workers every core is taken: evaluation may spread over cores only when nobody else is timed.
    let parallel_evaluation = place.jobs == 1;
    // Asked inside passes, on the clock: one relaxed load.
    let cancelled = || slot.halted();
    let execution = Execution { parallel_evaluation, helpers: place.helpers.cloned(), cancelled: &cancelled };
    let mut observer = Watch { slot: slot.clone(), gate: place.gate, passes: Vec::new() };
    let result = panics::catch(|| runner(run, &execution, &mut observer));
    // From here on the watchdog sees an idle worker; a reason it gave before is taken with the run it was given to.
    let mut activity = slot.lock();
    activity.run = None;
    if activity.given_up {
        return None;
    }
    let shortage = activity.shortage.take().unwrap_or_default();
    drop(activity);
    let halt = slot.halt.load(Ordering::Relaxed);
    if halt != Halt::Cancel as u8 {
        slot.halt.store(Halt::No as u8, Ordering::Relaxed);
    }
    let total_s = started.elapsed().as_secs_f64();
    let passes = observer.passes.iter().map(|moment| (moment.time * 1e-9, moment.dual)).collect();
    let nothing = || Measured { totals: Totals { total_s, ..Totals::default() }, ..Measured::default() };
    let failed = |message: String| (Status::Failed(message), nothing());
    let (status, measured) = match result {
        Err(panic) => failed(format!("panicked: {panic}")),
        // Its program may have been ended with it.
        Ok(Err(_)) if halt == Halt::Cancel as u8 => return None,
        Ok(Err(error)) => failed(error.to_string()),
        Ok(Ok(outcome)) => match outcome.points.iter().find(|point| !point.is_sound()) {
            Some(point) => failed(format!("diverged: the objective is not finite at iteration {}", point.iteration)),
            None if outcome.stop == StopReason::Cancelled && halt == Halt::Cancel as u8 => return None,
            None => {
                let status = match outcome.stop {
                    // Its points stay: a slow run that leaves no trace would make its solver look faster.
                    StopReason::Cancelled if halt == Halt::Memory as u8 => Status::OutOfMemory { usage: shortage },
                    StopReason::Cancelled => Status::TimedOut { after_s: total_s },
                    stop => Status::Done(stop),
                };
                match Measured::of(outcome, total_s, passes) {
                    Ok(measured) => (status, measured),
                    Err(error) => failed(error.to_string()),
                }
            }
        },
    };
    let environment = Environment { started_unix_s, steal: steal.fraction(), ..environment(facts, place) };
    Some(RunRecord { identity: run.identity.clone(), repeat: run.repeat, environment, status, measured })
}

/// The record of a run that was given up: it never answered, so that nothing is known of it.
pub fn given_up(run: &RunSpec, facts: &Description, place: Place<'_>, why: Status, after: Duration) -> RunRecord {
    let after = after.as_secs_f64();
    RunRecord {
        identity: run.identity.clone(),
        repeat: run.repeat,
        environment: environment(facts, place),
        status: why,
        measured: Measured { totals: Totals { total_s: after, ..Totals::default() }, ..Measured::default() },
    }
}

fn environment(facts: &Description, place: Place<'_>) -> Environment {
    Environment {
        n: facts.size.n,
        d: facts.size.d,
        jobs: place.jobs as u64,
        threads: 1 + place.helpers.map_or(0, |helpers| helpers.count() as u64),
        core: place.core.map_or(-1, |core| core as i64),
        host: host::host().name.clone(),
        host_class: host::host().class(),
        host_facts: host::host().facts(),
        shard: place.allocation.shard.clone(),
        build: env!("SSVM_FLAGS").to_owned(),
        commit: env!("SSVM_COMMIT").to_owned(),
        projected_from: None,
        started_unix_s: host::unix_time(),
        steal: 0.0,
        load: host::load(),
    }
}

/// Worker threads are called this, plus a number.
pub const THREAD_NAME: &str = "ssvm-worker";
