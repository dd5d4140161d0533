//! Solver time: the clocks and the meter of a run. The meter runs only during solver work; the loop that drives the
//! solver pauses it to evaluate.

mod batch;
mod cost;
mod kind;
mod latency;
mod meter;
mod model;
mod stop;
mod stopwatch;
mod weights;

pub(crate) use batch::Call;
pub use batch::Helpers;
pub use cost::OracleCost;
pub use kind::{ClockKind, UNIT_NS};
pub use latency::{ReadingCost, latency_histogram};
pub use meter::{Counters, Interrupt, Limits, Meter};
pub use model::{Charge, Operations, PerCharge, cost_weights};
pub use stop::StopReason;
pub use weights::COST_MODEL;

/// Returns true to end the run at once. Called about every millisecond, inside passes and evaluations too.
pub type Cancelled<'a> = dyn Fn() -> bool + Sync + 'a;
