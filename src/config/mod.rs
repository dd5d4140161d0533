//! Settings: TOML text in, validated values out.

mod experiment;
mod settings;
mod wire;

pub use experiment::{DatasetSpec, Experiment};
pub use settings::{Budget, Cadence, ClockKind, Order, Passes, RunSettings, SolverKind, SolverSpec};
