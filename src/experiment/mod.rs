//! From TOML to a checked [`Experiment`], and from that to ordered runs with a typed identity.

pub mod catalog;
mod config;
mod estimate;
mod plan;
mod wire;

pub use config::{BUILTIN, CostSetting, DatasetSpec, Experiment};
pub use estimate::{Estimator, plan_memory};
pub use plan::{PendingSet, Plan, PlannedSet, RunSpec};
