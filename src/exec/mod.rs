//! Execution of runs.

pub mod host;
pub mod interference;
pub mod progress;
pub mod scheduler;
pub mod worker;

use crate::trace::TracePoint;

/// Told of each evaluation; asked inside passes whether to stop.
pub trait Observer {
    /// An evaluation, off the clock.
    fn point(&mut self, _point: &TracePoint) {}
    /// Whether to stop now.
    fn cancelled(&self) -> bool {
        false
    }
}
