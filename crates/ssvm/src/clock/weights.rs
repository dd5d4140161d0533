//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.

use super::model::PerCharge;

/// Version of this table: part of the identity of runs on the virtual clock, and of baselines.
pub const COST_MODEL: u32 = 1;

pub(super) const MULTICLASS: PerCharge = [25, 2000, 25, 25000, 25, 25, 12000, 1000, 25, 250, 25];
pub(super) const CHAIN: PerCharge = [25, 2000, 25, 25000, 25, 25, 12000, 1000, 25, 250, 25];
pub(super) const BINARY_GRAPH: PerCharge = [25, 2000, 25, 25000, 25, 25, 12000, 1000, 25, 250, 25];
pub(super) const POTTS_GRAPH: PerCharge = [25, 2000, 25, 25000, 25, 25, 12000, 1000, 25, 250, 25];
pub(super) const GENERIC: PerCharge = [64, 0, 64, 6400, 64, 64, 6400, 1000, 64, 64, 64];
