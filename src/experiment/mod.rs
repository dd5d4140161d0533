//! TOML → checked [`Experiment`] → ordered runs with a typed identity.

pub mod catalog;
mod config;
mod estimate;
mod plan;
mod price;
mod wire;

pub use config::{BUILTIN, DatasetSpec, Experiment, Price};
pub use estimate::{Estimator, plan_memory};
pub use plan::{PendingSet, Plan, PlannedSet, RunSpec};
