//! Solver time: the meter that a solver runs under. Starts and stops in, seconds, counters and histograms out.
//!
//! The meter runs during solver work only; whoever drives the solver pauses it to evaluate. Time inside exact oracle
//! calls comes from the CPU's time-stamp counter (two reads per call, a few nanoseconds); the readings are buffered
//! and put into the histogram while the meter is paused, so that the histogram itself costs no solver time.
//!
//! # The virtual clock
//! One unit is one multiply–add of a product, [`UNIT_NS`] ns long. An exact step costs the operations its oracle
//! reports plus two plane products; an approximate step costs |W_i| + 2 plane products; both add [`STEP_UNITS`].

use std::hint::black_box;
use std::sync::OnceLock;

use hdrhistogram::Histogram;
use nix::time::{ClockId, clock_gettime};
use quanta::Clock;

use crate::config::{Budget, ClockKind};
use crate::linalg::dot_rows;
use crate::trace::StopReason;

/// Length of one unit of the virtual clock.
pub const UNIT_NS: f64 = 0.25;
/// Fixed cost of any step in units.
pub const STEP_UNITS: u64 = 100;
/// One in this many approximate steps is timed.
pub const SAMPLE_EVERY: u64 = 64;
/// Largest latency a histogram tells apart, ns; longer calls are counted there.
const LONGEST_NS: u64 = 600_000_000_000;

/// Totals since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Exact oracle calls.
    pub oracle_calls: u64,
    /// Approximate steps.
    pub approx_steps: u64,
    /// Approximate passes.
    pub approx_passes: u64,
}

/// CPU time of this thread, ns.
pub fn thread_cpu_ns() -> u64 {
    // Every Linux has this clock.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// A histogram of nanoseconds with three digits.
pub fn latency_histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|_| unreachable!("bounds are fixed"));
    histogram.auto(false);
    histogram
}

/// The clock, the counters, the histograms and the budget of one run.
pub struct Meter<'a> {
    kind: ClockKind,
    clock: Clock,
    ns_per_raw: f64,
    instrument: bool,
    cancelled: &'a (dyn Fn() -> bool + Sync),

    running: bool,
    resumed_raw: u64,
    resumed_cpu: u64,
    raw: u64,
    cpu_ns: u64,
    units: u64,

    counters: Counters,
    oracle_raw: u64,
    oracle_units: u64,
    approx_ns: f64,
    pass_began: f64,
    pending_oracle: Vec<u64>,
    pending_approx: Vec<u64>,
    oracle_histogram: Histogram<u64>,
    approx_histogram: Histogram<u64>,

    time_limit_ns: f64,
    call_limit: u64,
    deadline_raw: u64,
    poll_raw: u64,
    poll_interval: u64,
    stop: Option<StopReason>,
}

impl<'a> Meter<'a> {
    /// A paused meter at zero. `cancelled` is asked about every millisecond.
    pub fn new(kind: ClockKind, budget: &Budget, cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        let clock = Clock::new();
        let ns_per_raw = clock.delta_as_nanos(0, 1 << 40) as f64 / (1u64 << 40) as f64;
        Self {
            kind,
            ns_per_raw,
            clock,
            instrument: true,
            cancelled,
            running: false,
            resumed_raw: 0,
            resumed_cpu: 0,
            raw: 0,
            cpu_ns: 0,
            units: 0,
            counters: Counters::default(),
            oracle_raw: 0,
            oracle_units: 0,
            approx_ns: 0.0,
            pass_began: 0.0,
            pending_oracle: Vec::new(),
            pending_approx: Vec::new(),
            oracle_histogram: latency_histogram(),
            approx_histogram: latency_histogram(),
            time_limit_ns: budget.time_s.map_or(f64::INFINITY, |s| s * 1e9),
            call_limit: budget.oracle_calls.unwrap_or(u64::MAX),
            deadline_raw: u64::MAX,
            poll_raw: 0,
            poll_interval: (1e6 / ns_per_raw) as u64,
            stop: None,
        }
    }

    /// The same meter without latency readings: to measure what the instrument costs.
    pub fn without_instrument(mut self) -> Self {
        self.instrument = false;
        self
    }

    /// Starts the clock.
    pub fn resume(&mut self) {
        debug_assert!(!self.running);
        self.running = true;
        self.resumed_cpu = thread_cpu_ns();
        self.resumed_raw = self.clock.raw();
        self.poll_raw = self.resumed_raw + self.poll_interval;
        self.deadline_raw = u64::MAX;
        if self.kind == ClockKind::Wall && self.time_limit_ns.is_finite() {
            let left = self.time_limit_ns - self.raw as f64 * self.ns_per_raw;
            self.deadline_raw = self.resumed_raw + (left.max(0.0) / self.ns_per_raw) as u64;
        }
    }

    /// Stops the clock and moves the readings into the histograms.
    pub fn pause(&mut self) {
        debug_assert!(self.running);
        self.raw += self.clock.raw() - self.resumed_raw;
        self.cpu_ns += thread_cpu_ns() - self.resumed_cpu;
        self.running = false;
        for (pending, histogram) in [
            (&mut self.pending_oracle, &mut self.oracle_histogram),
            (&mut self.pending_approx, &mut self.approx_histogram),
        ] {
            for raw in pending.drain(..) {
                histogram.saturating_record(((raw as f64 * self.ns_per_raw) as u64).max(1));
            }
        }
    }

    /// Solver time so far on the run's clock, ns.
    pub fn now_ns(&self) -> f64 {
        match self.kind {
            ClockKind::Wall => {
                let open = if self.running { self.clock.raw() - self.resumed_raw } else { 0 };
                (self.raw + open) as f64 * self.ns_per_raw
            }
            ClockKind::Cpu => {
                let open = if self.running { thread_cpu_ns() - self.resumed_cpu } else { 0 };
                (self.cpu_ns + open) as f64
            }
            ClockKind::Virtual => self.units as f64 * UNIT_NS,
        }
    }

    /// A time stamp for [`Meter::exact_step`] and [`Meter::approx_sample`].
    #[inline(always)]
    pub fn tick(&self) -> u64 {
        if self.instrument { self.clock.raw() } else { 0 }
    }

    /// Makes room for the readings of one pass, off the clock.
    pub fn expect_calls(&mut self, calls: usize) {
        self.pending_oracle.reserve(calls);
        self.pending_approx.reserve(calls / SAMPLE_EVERY as usize + 1);
    }

    /// Counts an exact step whose oracle ran between two ticks and reported `oracle_ops`. True when the run must stop.
    #[inline]
    pub fn exact_step(&mut self, began: u64, ended: u64, oracle_ops: u64, product_ops: u64) -> bool {
        self.counters.oracle_calls += 1;
        self.units += oracle_ops + 2 * product_ops + STEP_UNITS;
        self.oracle_units += oracle_ops;
        if self.instrument {
            // The counter may be a little behind on another core: a negative reading is zero.
            let raw = ended.saturating_sub(began);
            self.oracle_raw += raw;
            self.pending_oracle.push(raw);
        }
        (self.counters.oracle_calls >= self.call_limit || self.due(ended)) && self.must_stop(ended)
    }

    /// Counts an approximate step over `planes` planes.
    #[inline]
    pub fn approx_step(&mut self, planes: usize, product_ops: u64) {
        self.counters.approx_steps += 1;
        self.units += (planes as u64 + 2) * product_ops + STEP_UNITS;
    }

    /// Whether the next approximate step is one to be timed.
    #[inline(always)]
    pub fn samples_next(&self) -> bool {
        self.counters.approx_steps.is_multiple_of(SAMPLE_EVERY)
    }

    /// Records a timed approximate step. True when the run must stop.
    pub fn approx_sample(&mut self, began: u64, ended: u64) -> bool {
        if self.instrument {
            self.pending_approx.push(ended.saturating_sub(began));
        }
        self.due(ended) && self.must_stop(ended)
    }

    /// Begins an approximate pass.
    pub fn begin_approx_pass(&mut self) {
        self.pass_began = self.now_ns();
    }

    /// Ends an approximate pass; `complete` passes are counted.
    pub fn end_approx_pass(&mut self, complete: bool) {
        self.approx_ns += self.now_ns() - self.pass_began;
        self.counters.approx_passes += u64::from(complete);
    }

    /// Whether it is time to look at limits and cancellation: a cheap test for every step.
    #[inline(always)]
    fn due(&self, raw: u64) -> bool {
        raw >= self.poll_raw.min(self.deadline_raw)
            || self.kind == ClockKind::Virtual && self.units as f64 * UNIT_NS >= self.time_limit_ns
    }

    #[cold]
    fn must_stop(&mut self, raw: u64) -> bool {
        self.poll_raw = raw + self.poll_interval;
        self.stop = if (self.cancelled)() {
            Some(StopReason::Cancelled)
        } else if self.counters.oracle_calls >= self.call_limit {
            Some(StopReason::OracleCalls)
        } else if self.now_ns() >= self.time_limit_ns {
            Some(StopReason::Time)
        } else {
            None
        };
        self.stop.is_some()
    }

    /// Whether a limit was hit, checked now.
    pub fn stop_reason(&mut self) -> Option<StopReason> {
        self.must_stop(self.poll_raw);
        self.stop
    }

    /// Totals since the run began.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// CPU time of solver work, seconds.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_ns as f64 * 1e-9
    }

    /// Wall time of solver work, seconds.
    pub fn wall_s(&self) -> f64 {
        self.raw as f64 * self.ns_per_raw * 1e-9
    }

    /// Wall time inside exact oracle calls, seconds.
    pub fn oracle_wall_s(&self) -> f64 {
        self.oracle_raw as f64 * self.ns_per_raw * 1e-9
    }

    /// Time inside exact oracle calls on the run's clock, seconds. Under the CPU clock it is the wall time inside them
    /// times the CPU's part of all wall time: a CPU clock read would cost as much as a fast oracle.
    pub fn oracle_s(&self) -> f64 {
        match self.kind {
            ClockKind::Virtual => self.oracle_units as f64 * UNIT_NS * 1e-9,
            ClockKind::Wall => self.oracle_wall_s(),
            ClockKind::Cpu => self.oracle_wall_s() * (self.cpu_s() / self.wall_s().max(1e-12)).min(1.0),
        }
    }

    /// Time inside approximate passes on the run's clock, seconds.
    pub fn approx_s(&self) -> f64 {
        self.approx_ns * 1e-9
    }

    /// Latencies of all exact oracle calls and of the sampled approximate steps.
    pub fn histograms(&self) -> (&Histogram<u64>, &Histogram<u64>) {
        (&self.oracle_histogram, &self.approx_histogram)
    }

    /// Solver time that the instrument took: readings made times the cost of one.
    pub fn instrument_s(&self) -> f64 {
        let readings = self.oracle_histogram.len() + self.approx_histogram.len();
        readings as f64 * reading_ns() * 1e-9
    }
}

/// What one reading (two time stamps and a note) adds to work like that of a fast oracle, ns: the same products with
/// and without readings, alternating, the best of each. Time stamps overlap with the arithmetic around them, so timing
/// them alone would say too much. Measured once per process.
pub fn reading_ns() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    const ROUNDS: usize = 2000;
    *COST.get_or_init(|| {
        let clock = Clock::new();
        let (rows, x) = (vec![0.5; 2560], vec![0.25; 256]);
        let mut out = [0.0; 10];
        let mut notes: Vec<u64> = Vec::with_capacity(ROUNDS);
        let mut best = [f64::INFINITY; 2];
        for trial in 0..30 {
            notes.clear();
            let began = clock.raw();
            for _ in 0..ROUNDS {
                if trial % 2 == 0 {
                    dot_rows(black_box(&rows), &x, &mut out);
                    black_box(&out);
                } else {
                    let t0 = clock.raw();
                    dot_rows(black_box(&rows), &x, &mut out);
                    let t1 = clock.raw();
                    black_box(&out);
                    notes.push(t1.saturating_sub(t0));
                }
            }
            let ns = clock.delta_as_nanos(began, clock.raw()) as f64 / ROUNDS as f64;
            best[trial % 2] = best[trial % 2].min(ns);
        }
        black_box(&notes);
        (best[1] - best[0]).max(0.0)
    })
}
