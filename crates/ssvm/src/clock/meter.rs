//! The meter of one run. It times and counts every exact oracle call (solvers reach the oracle only through it), counts
//! approximate steps and samples their time, and decides when the run must stop.

use std::sync::Arc;

use hdrhistogram::Histogram;

use super::batch::{self, Call, Helpers};
use super::latency::{LatencyReadings, ReadingCost};
use super::model::{Charge, Operations, PerCharge, cost_weights};
use super::stopwatch::{Stopwatch, thread_cpu_ns};
use super::{Cancelled, ClockKind, OracleCost, StopReason};
use crate::error::{Error, Result};
use crate::problem::{Away, Family, Fault};

/// One in this many approximate steps is timed.
const SAMPLE_EVERY: u64 = 64;

/// Totals since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Exact oracle calls.
    pub oracle_calls: u64,
    /// Approximate steps, the skipped ones included.
    pub approx_steps: u64,
    /// Steps skipped because they could not change anything.
    pub skipped_steps: u64,
    /// Approximate passes.
    pub approx_passes: u64,
}

/// The limits that the meter itself checks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Most solver time in seconds of the run's clock.
    pub time_s: Option<f64>,
    /// Most exact oracle calls.
    pub oracle_calls: Option<u64>,
}

/// Why an iteration ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The run must stop: a limit is reached, or it is cancelled.
    Limit,
    /// The oracle cannot answer.
    Oracle(Fault),
}

impl From<Fault> for Interrupt {
    fn from(fault: Fault) -> Self {
        Self::Oracle(fault)
    }
}

/// The clock, the counters, the latencies and the limits of one run.
pub struct Meter<'a> {
    clock: ClockKind,
    cost: OracleCost,
    /// Whether the CPU clock is read around each exact call, and what one reading of it costs.
    each_call: bool,
    cpu_reading_ns: u64,
    watch: Stopwatch,
    instrument: bool,
    helpers: Option<Arc<Helpers>>,
    /// Operations on each lane of a batch.
    lanes: Vec<u64>,
    cancelled: &'a Cancelled<'a>,
    counters: Counters,
    approx_ns: f64,
    pass_began: f64,
    pipe_ns: u64,
    idle_ns: u64,
    oracle: LatencyReadings,
    approximate: LatencyReadings,
    time_limit_ns: f64,
    call_limit: u64,
    last_stamp: u64,
    /// When to check limits and cancellation next.
    look_at_stamp: u64,
    deadline_stamp: u64,
    deadline_units: u64,
    look_interval: u64,
    halt: Option<StopReason>,
}

impl<'a> Meter<'a> {
    /// A paused meter at zero.
    pub fn new(clock: ClockKind, limits: Limits, cancelled: &'a Cancelled<'a>) -> Self {
        let watch = Stopwatch::new(*cost_weights(&Family::OTHER));
        Self {
            clock,
            cost: OracleCost::ONE,
            each_call: false,
            cpu_reading_ns: 0,
            look_interval: watch.to_stamps(1e6),
            watch,
            instrument: true,
            helpers: None,
            lanes: Vec::new(),
            cancelled,
            counters: Counters::default(),
            approx_ns: 0.0,
            pass_began: 0.0,
            pipe_ns: 0,
            idle_ns: 0,
            oracle: LatencyReadings::new(),
            approximate: LatencyReadings::new(),
            time_limit_ns: limits.time_s.map_or(f64::INFINITY, |s| s * 1e9),
            call_limit: limits.oracle_calls.unwrap_or(u64::MAX),
            last_stamp: 0,
            look_at_stamp: 0,
            deadline_stamp: u64::MAX,
            deadline_units: u64::MAX,
            halt: None,
        }
    }

    /// The same meter at zero, with the virtual clock's weights for a family of problems.
    pub fn for_family(mut self, family: &Family) -> Self {
        self.watch = Stopwatch::new(*cost_weights(family));
        self
    }

    /// The same meter whose clock multiplies the time inside the exact oracle.
    pub(crate) fn with_oracle_cost(mut self, cost: OracleCost) -> Self {
        self.cost = cost;
        self.each_call = self.clock.asks_each_call() && !cost.is_one();
        if self.each_call {
            self.cpu_reading_ns = ReadingCost::of_cpu_clock().ns.round() as u64;
        }
        self
    }

    /// The same meter with threads that share the calls of a batch.
    pub(crate) fn with_helpers(mut self, helpers: Option<Arc<Helpers>>) -> Self {
        self.helpers = helpers;
        self
    }

    /// The same meter without latency readings, to measure what the instrument costs.
    pub fn without_instrument(mut self) -> Self {
        self.instrument = false;
        self
    }

    /// Starts the clock.
    pub fn resume(&mut self) {
        self.watch.resume();
        self.last_stamp = self.watch.stamp();
        self.look_at_stamp = self.last_stamp + self.look_interval;
        self.set_deadline();
    }

    /// Sets the time before which the limit cannot have been reached. With an oracle cost above 1 this deadline is
    /// conservative, and is set again when it is reached.
    fn set_deadline(&mut self) {
        if self.time_limit_ns.is_finite() {
            let left = self.cost.at_least(self.time_limit_ns - self.now_ns());
            (self.deadline_stamp, self.deadline_units) = self.clock.deadline(left, &self.watch);
        }
    }

    /// Stops the clock.
    pub fn pause(&mut self) {
        self.watch.pause();
        self.oracle.record(&self.watch);
        self.approximate.record(&self.watch);
    }

    /// Solver time so far on the run's clock, ns.
    pub fn now_ns(&self) -> f64 {
        self.cost.charge(self.clock.now_ns(&self.watch), self.clock.charged_ns(&self.watch))
    }

    /// Reserves memory for the readings of one pass, off the clock.
    pub(crate) fn expect_calls(&mut self, calls: usize) {
        self.oracle.pending.reserve(calls);
        self.approximate.pending.reserve(calls / SAMPLE_EVERY as usize + 1);
    }

    #[inline(always)]
    fn stamp(&self) -> u64 {
        if self.instrument { self.watch.stamp() } else { 0 }
    }

    /// Whether one more exact oracle call is allowed.
    #[inline]
    fn may_call(&mut self) -> bool {
        let due = self.counters.oracle_calls >= self.call_limit || self.due();
        !(due && self.must_stop(true))
    }

    /// How many of this many further exact oracle calls are allowed. Ask before announcing calls.
    pub fn may_call_some(&mut self, calls: usize) -> usize {
        if !self.may_call() {
            return 0;
        }
        let left = self.call_limit - self.counters.oracle_calls;
        usize::try_from(left).map_or(calls, |left| calls.min(left))
    }

    /// Makes exact oracle calls at one w; times and counts each with the operations it reports. On the virtual clock
    /// they take as long as these lanes need for them.
    pub(crate) fn exact_calls<T: Send>(
        &mut self,
        calls: &mut [Call<T>],
        lanes: usize,
        oracle: impl Fn(&mut T) -> Result<u64, Fault> + Sync,
    ) -> Result<(), Fault> {
        let cpu = self.cpu_before();
        let began = self.watch.stamp();
        self.watch.helped_ns += batch::make(calls, self.helpers.as_deref(), &self.watch, oracle);
        if let Some(fault) = calls.iter_mut().find_map(|call| call.fault.take()) {
            return Err(fault);
        }
        self.last_stamp = self.watch.stamp();
        self.watch.oracle_stamps += self.last_stamp.saturating_sub(began);
        self.cpu_after(cpu);
        self.lanes.resize(lanes, 0);
        let tally = &mut self.watch.tally;
        let units = batch::makespan(calls.iter().map(|call| tally.call_units(call.operations)), &mut self.lanes);
        tally.add_calls(calls.len() as u64, calls.iter().map(|call| call.operations).sum(), units);
        self.counters.oracle_calls += calls.len() as u64;
        if self.instrument {
            self.oracle.pending.extend(calls.iter().map(|call| call.stamps));
        }
        Ok(())
    }

    #[inline(always)]
    fn cpu_before(&self) -> u64 {
        if self.each_call { thread_cpu_ns() } else { 0 }
    }

    #[inline(always)]
    fn cpu_after(&mut self, before: u64) {
        if self.each_call {
            self.note_cpu(before);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_cpu(&mut self, before: u64) {
        // Between two readings lie the end of one and the beginning of the other: the cost of one reading in all.
        let spent = thread_cpu_ns().saturating_sub(before).saturating_sub(self.cpu_reading_ns);
        self.watch.oracle_cpu_ns += spent;
        self.watch.asking_cpu_ns += 2 * self.cpu_reading_ns;
    }

    /// Fails when reading the CPU clock costs more than a tenth of a median call: the run would measure its own
    /// readings.
    pub(crate) fn check_readings(&self) -> Result<()> {
        let call = self.oracle.histogram.value_at_quantile(0.5);
        let readings = 2 * self.cpu_reading_ns;
        if self.each_call && 10 * readings > call {
            return Err(Error::SlowReadings { readings, call });
        }
        Ok(())
    }

    /// Makes one exact oracle call, if one more is allowed; times it and counts it with the operations it reports.
    #[inline(always)]
    pub(crate) fn exact_call(&mut self, call: impl FnOnce() -> Result<u64, Fault>) -> Result<(), Interrupt> {
        if !self.may_call() {
            return Err(Interrupt::Limit);
        }
        let cpu = self.cpu_before();
        let began = self.stamp();
        let oracle_ops = call()?;
        let ended = self.stamp();
        self.cpu_after(cpu);
        self.counters.oracle_calls += 1;
        let units = self.watch.tally.call_units(oracle_ops);
        self.watch.tally.add_calls(1, oracle_ops, units);
        if self.instrument {
            // The counter may be a little behind on another core: a negative reading is zero.
            let stamps = ended.saturating_sub(began);
            self.watch.oracle_stamps += stamps;
            self.oracle.pending.push(stamps);
        }
        self.last_stamp = ended;
        Ok(())
    }

    /// Takes in what the last exact call spent outside this process.
    #[inline(always)]
    pub(crate) fn was_away(&mut self, away: Away) {
        if away.spent_ns | away.pipe_ns != 0 {
            self.were_away(std::iter::once(away));
        }
    }

    /// The same for each call of the last batch. The way to the oracle is solver time, but not the oracle's. What the
    /// oracle spent is time of another process, which the CPU clock counts like that of a helper.
    pub(crate) fn were_away(&mut self, calls: impl DoubleEndedIterator<Item = Away> + ExactSizeIterator) {
        let hands = self.helpers.as_ref().map_or(1, |helpers| 1 + helpers.count()).min(calls.len().max(1));
        let (mut pipe_ns, mut idle_ns) = (0, 0);
        let mut readings = self.oracle.pending.iter_mut().rev();
        for away in calls.rev() {
            self.watch.helped_ns += away.spent_ns;
            pipe_ns += away.pipe_ns;
            idle_ns += away.idle_ns;
            if let Some(reading) = readings.next() {
                *reading = reading.saturating_sub(self.watch.to_stamps(away.pipe_ns as f64));
            }
        }
        pipe_ns /= hands as u64;
        self.pipe_ns += pipe_ns;
        self.idle_ns += idle_ns / hands as u64;
        self.watch.oracle_stamps = self.watch.oracle_stamps.saturating_sub(self.watch.to_stamps(pipe_ns as f64));
    }

    /// Makes one approximate step, which returns its operations. One in 64 is timed. Fails when the run must stop after
    /// it.
    #[inline(always)]
    pub fn approximate_step(&mut self, step: impl FnOnce() -> Operations) -> Result<(), Interrupt> {
        let sampled = self.counters.approx_steps.is_multiple_of(SAMPLE_EVERY);
        let began = if sampled { self.stamp() } else { 0 };
        let done = step();
        self.counters.approx_steps += 1;
        self.watch.tally.add_approximate(done);
        if sampled {
            self.last_stamp = self.stamp();
            if self.instrument {
                self.approximate.pending.push(self.last_stamp.saturating_sub(began));
            }
            if self.due() && self.must_stop(false) {
                return Err(Interrupt::Limit);
            }
        }
        Ok(())
    }

    /// Counts an approximate step that could not change anything and is not made; only skipping it is charged. Fails
    /// when the run must stop.
    #[inline(always)]
    pub fn skipped_step(&mut self) -> Result<(), Interrupt> {
        let sampled = self.counters.approx_steps.is_multiple_of(SAMPLE_EVERY);
        self.counters.approx_steps += 1;
        self.counters.skipped_steps += 1;
        self.watch.tally.add(Charge::SkippedStep, 1);
        if sampled {
            self.last_stamp = self.stamp();
            if self.due() && self.must_stop(false) {
                return Err(Interrupt::Limit);
            }
        }
        Ok(())
    }

    /// Charges the step after an exact call; the call itself is charged already.
    #[inline(always)]
    pub fn exact_step(&mut self, done: Operations) {
        self.watch.tally.add_exact(done);
    }

    /// Charges work of the solver beyond its calls and steps.
    #[inline(always)]
    pub fn charge(&mut self, charge: Charge, amount: u64) {
        self.watch.tally.add(charge, amount);
    }

    /// Begins an approximate pass.
    pub fn begin_approx_pass(&mut self) {
        // At cost 1, which keeps the difference exact, because a pass makes no exact call.
        self.pass_began = self.clock.now_ns(&self.watch);
    }

    /// Ends an approximate pass; `complete` passes are counted.
    pub fn end_approx_pass(&mut self, complete: bool) {
        self.approx_ns += self.clock.now_ns(&self.watch) - self.pass_began;
        self.counters.approx_passes += u64::from(complete);
    }

    /// Whether it is time to check limits and cancellation: a cheap test for every step.
    #[inline(always)]
    fn due(&self) -> bool {
        self.last_stamp >= self.look_at_stamp.min(self.deadline_stamp) || self.watch.tally.units >= self.deadline_units
    }

    #[cold]
    /// Checks cancellation and limits now. The last allowed call does not end the run by itself, so that the passes
    /// that follow it are made: only the next call and the end of an iteration check `calls`.
    fn must_stop(&mut self, calls: bool) -> bool {
        self.look_at_stamp = self.last_stamp + self.look_interval;
        self.halt = if (self.cancelled)() {
            Some(StopReason::Cancelled)
        } else if calls && self.counters.oracle_calls >= self.call_limit {
            Some(StopReason::OracleCalls)
        } else if self.now_ns() >= self.time_limit_ns {
            Some(StopReason::Time)
        } else {
            if !self.cost.is_one() {
                self.set_deadline();
            }
            None
        };
        self.halt.is_some()
    }

    /// Checks now whether the run must stop, and returns why.
    pub fn halt(&mut self) -> Option<StopReason> {
        self.must_stop(true);
        self.halt
    }

    /// Totals since the run began.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Work so far, by kind.
    pub fn work(&self) -> PerCharge {
        self.watch.tally.counts
    }

    // The totals that a run reports, in seconds.

    pub(crate) fn cpu_s(&self) -> f64 {
        self.watch.cpu_ns() * 1e-9
    }

    pub(crate) fn wall_s(&self) -> f64 {
        self.watch.wall_ns() * 1e-9
    }

    pub(crate) fn oracle_wall_s(&self) -> f64 {
        self.watch.oracle_wall_ns() * 1e-9
    }

    pub(crate) fn pipe_s(&self) -> f64 {
        self.pipe_ns as f64 * 1e-9
    }

    pub(crate) fn idle_s(&self) -> f64 {
        self.idle_ns as f64 * 1e-9
    }

    /// On the run's clock.
    pub(crate) fn oracle_s(&self) -> f64 {
        let charged = self.clock.charged_ns(&self.watch);
        let oracle = if self.each_call { charged } else { self.clock.oracle_ns(&self.watch) };
        self.cost.charge(oracle, charged) * 1e-9
    }

    /// On the run's clock.
    pub(crate) fn approx_s(&self) -> f64 {
        self.approx_ns * 1e-9
    }

    /// Solver time that the instrument took: the number of readings times the cost of one.
    pub(crate) fn instrument_s(&self) -> f64 {
        let readings = self.oracle.histogram.len() + self.approximate.histogram.len();
        let latencies = if readings > 0 { readings as f64 * ReadingCost::of_latency().ns } else { 0.0 };
        (latencies + self.watch.asking_cpu_ns as f64) * 1e-9
    }

    /// Latencies of all exact oracle calls and of the sampled approximate steps.
    pub(crate) fn into_histograms(self) -> (Histogram<u64>, Histogram<u64>) {
        (self.oracle.histogram, self.approximate.histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_ends_no_approximate_pass() {
        let never = || false;
        let limits = Limits { oracle_calls: Some(1), ..Limits::default() };
        let mut meter = Meter::new(ClockKind::VIRTUAL, limits, &never);
        meter.resume();
        assert_eq!(meter.exact_call(|| Ok(1)), Ok(()));
        // Longer than the interval at which the meter checks its limits.
        let slow = || {
            std::thread::sleep(std::time::Duration::from_micros(50));
            Operations::default()
        };
        assert!((0..3 * SAMPLE_EVERY).all(|_| meter.approximate_step(slow).is_ok()));
        assert!(!meter.may_call() && meter.halt() == Some(StopReason::OracleCalls));
    }
}
