//! CPU time of the solver's thread and of those that help it.

use super::{Clock, Stopwatch};

pub(super) struct Cpu;

impl Clock for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "CPU time of the solver's threads"
    }

    fn now_ns(&self, watch: &Stopwatch) -> f64 {
        watch.cpu_ns()
    }

    /// What helpers took, and the wall time inside the calls times the CPU's part of all wall time: a CPU clock read
    /// would cost as much as a fast oracle.
    fn oracle_ns(&self, watch: &Stopwatch) -> f64 {
        let own = watch.oracle_wall_ns() * (watch.own_cpu_ns() / watch.wall_ns().max(1e-3)).min(1.0);
        own + watch.helped_ns()
    }

    /// The CPU's part of wall time goes up and down, and wall time holds what others did: each call is asked.
    fn charged_ns(&self, watch: &Stopwatch) -> f64 {
        watch.oracle_cpu_ns()
    }

    fn asks_each_call(&self) -> bool {
        true
    }
}
