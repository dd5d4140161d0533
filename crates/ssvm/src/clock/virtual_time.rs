//! A deterministic cost model in place of time: the same seed gives the same bits on any machine.
//!
//! One unit is one multiply–add of a product, [`UNIT_NS`] ns long. An exact step costs the operations its oracle
//! reports plus two plane products; an approximate step costs |W_i| + 2 plane products; both add [`STEP_UNITS`]. The calls
//! of a batch cost what the longest of its lanes does, whatever threads there are, and each of its steps three products.

use super::{Clock, Stopwatch};

/// Length of one unit.
pub const UNIT_NS: f64 = 0.25;
/// Fixed cost of any step in units.
pub const STEP_UNITS: u64 = 100;

pub(super) struct Virtual;

impl Clock for Virtual {
    fn name(&self) -> &'static str {
        "virtual"
    }

    fn about(&self) -> &'static str {
        "a cost model that counts operations: the same bits on every machine"
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn now_ns(&self, watch: &Stopwatch) -> f64 {
        watch.units() as f64 * UNIT_NS
    }

    fn oracle_ns(&self, watch: &Stopwatch) -> f64 {
        watch.oracle_units() as f64 * UNIT_NS
    }

    fn deadline(&self, left_ns: f64, watch: &Stopwatch) -> (u64, u64) {
        // A float too large for the cast saturates: never.
        (u64::MAX, watch.units().saturating_add((left_ns.max(0.0) / UNIT_NS).ceil() as u64))
    }
}
