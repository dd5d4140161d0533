//! Settings: TOML text in, validated values out.

mod settings;

pub use settings::{Budget, Cadence, ClockKind, Order, Passes, RunSettings, SolverKind, SolverSpec};
