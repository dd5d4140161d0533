//! Solver time: the clocks, and the meter that a solver runs under. The meter runs during solver work only; whoever drives the
//! solver pauses it to evaluate.

mod batch;
mod cost;
mod kind;
mod latency;
mod meter;
mod stop;
mod stopwatch;

pub(crate) use batch::Call;
pub use batch::Helpers;
pub use cost::OracleCost;
pub use kind::{ClockKind, UNIT_NS};
pub use latency::latency_histogram;
pub use meter::{Counters, Interrupt, Limits, Meter};
pub use stop::StopReason;

/// Whether a run is to end at once: asked about every millisecond, inside passes and evaluations too.
pub type Cancelled<'a> = dyn Fn() -> bool + Sync + 'a;
