//! Monotonic wall time, from the CPU's time-stamp counter.

use super::{Clock, Stopwatch};

pub(super) struct Wall;

impl Clock for Wall {
    fn name(&self) -> &'static str {
        "wall"
    }

    fn about(&self) -> &'static str {
        "monotonic wall time"
    }

    fn now_ns(&self, watch: &Stopwatch) -> f64 {
        watch.wall_ns()
    }

    fn oracle_ns(&self, watch: &Stopwatch) -> f64 {
        watch.oracle_wall_ns()
    }

    fn deadline(&self, left_ns: f64, watch: &Stopwatch) -> (u64, u64) {
        (watch.stamp_after(left_ns), u64::MAX)
    }
}
