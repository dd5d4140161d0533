//! Measurements that do not depend on the run's clock: time stamps, CPU time and operations of solver work.

use nix::time::{ClockId, clock_gettime};
use quanta::Clock as Stamps;

use super::model::{PerCharge, Tally};

/// Wall time, CPU time and operations while it runs, and the parts of them inside exact oracle calls.
pub(super) struct Stopwatch {
    stamps: Stamps,
    ns_per_stamp: f64,
    /// Stamp and CPU time of the last start, while it runs.
    resumed: Option<(u64, u64)>,
    stamps_so_far: u64,
    cpu_ns: u64,
    /// CPU time of helpers: all of it inside oracle calls.
    pub helped_ns: u64,
    /// Work on the virtual clock.
    pub tally: Tally,
    pub oracle_stamps: u64,
    /// Their number at the last start.
    resumed_oracle_stamps: u64,
    /// Time inside exact oracle calls up to the last stop, each stretch between a start and a stop scaled by the CPU time in it over its
    /// wall time.
    pub oracle_scaled_ns: f64,
    /// CPU time of the solver's own thread inside exact oracle calls, where the CPU clock is read at each.
    pub oracle_cpu_ns: u64,
    /// CPU time of those readings, which is no solver work.
    pub asking_cpu_ns: u64,
}

/// CPU time of this thread, ns. Never inlined: the code around the oracle must stay small.
#[inline(never)]
pub(super) fn thread_cpu_ns() -> u64 {
    // Every Linux has this clock.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

impl Stopwatch {
    pub fn new(weights: PerCharge) -> Self {
        let stamps = Stamps::new();
        let ns_per_stamp = stamps.delta_as_nanos(0, 1 << 40) as f64 / (1u64 << 40) as f64;
        Self {
            stamps,
            ns_per_stamp,
            resumed: None,
            stamps_so_far: 0,
            cpu_ns: 0,
            helped_ns: 0,
            tally: Tally::new(weights),
            oracle_stamps: 0,
            resumed_oracle_stamps: 0,
            oracle_scaled_ns: 0.0,
            oracle_cpu_ns: 0,
            asking_cpu_ns: 0,
        }
    }

    pub fn resume(&mut self) {
        debug_assert!(self.resumed.is_none());
        self.resumed_oracle_stamps = self.oracle_stamps;
        let cpu = thread_cpu_ns();
        self.resumed = Some((self.stamp(), cpu));
    }

    pub fn pause(&mut self) {
        debug_assert!(self.resumed.is_some());
        if let Some((stamp, cpu)) = self.resumed.take() {
            let (stamps, cpu) = (self.stamp() - stamp, thread_cpu_ns() - cpu);
            self.stamps_so_far += stamps;
            self.cpu_ns += cpu;
            let share = (cpu as f64 / self.to_ns(stamps).max(1e-3)).min(1.0);
            let inside = self.oracle_stamps.saturating_sub(self.resumed_oracle_stamps);
            self.oracle_scaled_ns += share * self.to_ns(inside);
        }
    }

    /// A time stamp: a few nanoseconds.
    #[inline(always)]
    pub fn stamp(&self) -> u64 {
        self.stamps.raw()
    }

    pub fn to_stamps(&self, ns: f64) -> u64 {
        (ns.max(0.0) / self.ns_per_stamp) as u64
    }

    pub fn to_ns(&self, stamps: u64) -> f64 {
        stamps as f64 * self.ns_per_stamp
    }

    pub fn wall_ns(&self) -> f64 {
        self.to_ns(self.stamps_so_far + self.resumed.map_or(0, |(stamp, _)| self.stamp() - stamp))
    }

    /// CPU time of the solver's own thread.
    pub fn own_cpu_ns(&self) -> f64 {
        let all = self.cpu_ns + self.resumed.map_or(0, |(_, cpu)| thread_cpu_ns() - cpu);
        all.saturating_sub(self.asking_cpu_ns) as f64
    }

    /// CPU time, that of helpers included.
    pub fn cpu_ns(&self) -> f64 {
        self.own_cpu_ns() + self.helped_ns as f64
    }

    pub fn oracle_wall_ns(&self) -> f64 {
        self.to_ns(self.oracle_stamps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thread works inside a call, and then waits outside of one.
    #[test]
    fn scaled_time_inside_calls_never_decreases_and_never_exceeds_the_total() {
        let mut watch = Stopwatch::new(PerCharge::default());
        let mut before = 0.0;
        for waits in [false, true, false, true] {
            watch.resume();
            let began = watch.stamp();
            if waits {
                std::thread::sleep(std::time::Duration::from_millis(2));
            } else {
                (0..100_000_u64).for_each(|k| {
                    std::hint::black_box(k);
                });
                watch.oracle_stamps += watch.stamp() - began;
            }
            watch.pause();
            let now = watch.oracle_scaled_ns;
            assert!(before <= now && 0.0 < now && now <= watch.own_cpu_ns(), "{before} {now} {}", watch.own_cpu_ns());
            before = now;
        }
    }
}
