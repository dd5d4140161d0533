//! What is measured whatever the run's clock is: time stamps, CPU time and operations of solver work.

use nix::time::{ClockId, clock_gettime};
use quanta::Clock as Stamps;

/// Wall time, CPU time and operations while it runs; the parts of them inside exact oracle calls.
pub struct Stopwatch {
    stamps: Stamps,
    ns_per_stamp: f64,
    running: bool,
    resumed_stamp: u64,
    resumed_cpu: u64,
    stamps_so_far: u64,
    cpu_ns: u64,
    /// CPU time of helpers: all of it inside oracle calls.
    pub(super) helped_ns: u64,
    pub(super) units: u64,
    pub(super) oracle_stamps: u64,
    pub(super) oracle_units: u64,
    /// CPU time of the solver's own thread inside exact oracle calls, where each is asked for it.
    pub(super) oracle_cpu_ns: u64,
}

/// CPU time of this thread, ns. Never inlined: where each call is asked for it, the oracle around it must stay small.
#[inline(never)]
pub(super) fn thread_cpu_ns() -> u64 {
    // Every Linux has this clock.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

impl Stopwatch {
    /// At zero, not running.
    pub(super) fn new() -> Self {
        let stamps = Stamps::new();
        Self {
            ns_per_stamp: stamps.delta_as_nanos(0, 1 << 40) as f64 / (1u64 << 40) as f64,
            stamps,
            running: false,
            resumed_stamp: 0,
            resumed_cpu: 0,
            stamps_so_far: 0,
            cpu_ns: 0,
            helped_ns: 0,
            units: 0,
            oracle_stamps: 0,
            oracle_units: 0,
            oracle_cpu_ns: 0,
        }
    }

    pub(super) fn resume(&mut self) {
        debug_assert!(!self.running);
        self.running = true;
        self.resumed_cpu = thread_cpu_ns();
        self.resumed_stamp = self.stamp();
    }

    pub(super) fn pause(&mut self) {
        debug_assert!(self.running);
        self.stamps_so_far += self.stamp() - self.resumed_stamp;
        self.cpu_ns += thread_cpu_ns() - self.resumed_cpu;
        self.running = false;
    }

    /// A time stamp: a few nanoseconds.
    #[inline(always)]
    pub(super) fn stamp(&self) -> u64 {
        self.stamps.raw()
    }

    /// The stamp at which this much more time will have passed.
    pub(super) fn stamp_after(&self, ns: f64) -> u64 {
        // A float too large for the cast saturates: never.
        self.stamp().saturating_add(self.to_stamps(ns))
    }

    pub(super) fn to_stamps(&self, ns: f64) -> u64 {
        (ns.max(0.0) / self.ns_per_stamp) as u64
    }

    pub(super) fn to_ns(&self, stamps: u64) -> f64 {
        stamps as f64 * self.ns_per_stamp
    }

    /// Wall time so far, ns.
    pub fn wall_ns(&self) -> f64 {
        let open = if self.running { self.stamp() - self.resumed_stamp } else { 0 };
        self.to_ns(self.stamps_so_far + open)
    }

    /// CPU time of the solver's own thread so far, ns.
    pub fn own_cpu_ns(&self) -> f64 {
        let open = if self.running { thread_cpu_ns() - self.resumed_cpu } else { 0 };
        (self.cpu_ns + open) as f64
    }

    /// CPU time so far, of helpers too, ns.
    pub fn cpu_ns(&self) -> f64 {
        self.own_cpu_ns() + self.helped_ns as f64
    }

    /// CPU time of helpers, ns.
    pub fn helped_ns(&self) -> f64 {
        self.helped_ns as f64
    }

    /// Operations so far, in units of the virtual clock.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Wall time inside exact oracle calls, ns.
    pub fn oracle_wall_ns(&self) -> f64 {
        self.to_ns(self.oracle_stamps)
    }

    /// CPU time inside exact oracle calls, of helpers too, ns; nothing unless [`super::Clock::asks_each_call`].
    pub fn oracle_cpu_ns(&self) -> f64 {
        (self.oracle_cpu_ns + self.helped_ns) as f64
    }

    /// Operations inside exact oracle calls.
    pub fn oracle_units(&self) -> u64 {
        self.oracle_units
    }
}
