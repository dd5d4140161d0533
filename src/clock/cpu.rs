//! CPU time of the solver's thread.

use super::{Clock, Stopwatch};

pub(super) struct Cpu;

impl Clock for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "CPU time of the solver's thread"
    }

    fn now_ns(&self, watch: &Stopwatch) -> f64 {
        watch.cpu_ns()
    }

    /// The wall time inside the calls times the CPU's part of all wall time: a CPU clock read would cost as much as a
    /// fast oracle.
    fn oracle_ns(&self, watch: &Stopwatch) -> f64 {
        watch.oracle_wall_ns() * (watch.cpu_ns() / watch.wall_ns().max(1e-3)).min(1.0)
    }
}
