//! The results of one run: evaluations, stop reason, latencies, weights.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::clock::{PerCharge, StopReason};

/// One evaluation of one run. All counters and times are totals since the run began; times are solver time only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Completed iterations.
    pub iteration: u64,
    /// Whether the run stopped inside the next iteration; such a point has no place on the iteration axis.
    pub partial: bool,
    /// Solver time on the run's clock, seconds.
    pub time_s: f64,
    /// CPU time of the solver's threads during solver work, seconds.
    pub cpu_s: f64,
    /// Exact oracle calls.
    pub oracle_calls: u64,
    /// Approximate steps.
    pub approx_steps: u64,
    /// Of these, skipped because they could not change anything.
    pub skipped_steps: u64,
    /// Approximate passes.
    pub approx_passes: u64,
    /// Time inside exact oracle calls, on the run's clock.
    pub oracle_time_s: f64,
    /// Time inside approximate passes, on the run's clock.
    pub approx_time_s: f64,
    /// P at the returned vector; a certified upper bound of it when the oracle is not exact.
    pub primal: f64,
    /// max(dual_solution, F of the current iterate); −∞ when the solver has no dual.
    pub dual: f64,
    /// F of the returned vector.
    pub dual_solution: f64,
    /// primal − dual: the certified gap; +∞ without a dual.
    pub gap: f64,
    /// Part of the gap that may be due to an inexact oracle: the bounds of all H_i less the best planes known.
    pub oracle_slack: f64,
    /// Terms whose maximiser is proven; n when the oracle is exact.
    pub proven: u64,
    /// Mean working-set size per term.
    pub planes_mean: f64,
    /// Largest working set.
    pub planes_max: u64,
    /// Memory for the products between planes that the solver keeps, bytes.
    pub cached_bytes: u64,
}

impl TracePoint {
    /// Whether the solver has a dual. Without one the dual is −∞ and the gap infinite.
    pub fn has_dual(&self) -> bool {
        self.dual != f64::NEG_INFINITY
    }

    /// Whether all values are finite, except for the dual and the gap of a solver without a dual.
    pub fn is_sound(&self) -> bool {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        finite(&[self.primal, self.time_s]) && (!self.has_dual() || finite(&[self.dual, self.dual_solution, self.gap]))
    }
}

/// What the executor measured in one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Evaluations, in order.
    pub points: Vec<TracePoint>,
    /// Why it ended.
    pub stop: StopReason,
    /// Latency of every exact oracle call, ns.
    pub oracle_ns: Histogram<u64>,
    /// Latency of sampled approximate steps, ns.
    pub approx_ns: Histogram<u64>,
    /// Wall time of solver work, seconds.
    pub wall_s: f64,
    /// CPU time of solver work, seconds.
    pub cpu_s: f64,
    /// Wall time inside exact oracle calls, seconds (from the histograms' clock, whatever the run's clock is).
    pub oracle_wall_s: f64,
    /// Wall time on the way to an oracle outside this process and back, seconds; not counted as oracle time.
    pub pipe_s: f64,
    /// The part of `pipe_s` in which the solver's thread waited with nothing to do, seconds.
    pub idle_s: f64,
    /// Estimated cost of the readings themselves, seconds.
    pub instrument_s: f64,
    /// Work that the virtual clock charges for, by kind.
    pub work: PerCharge,
    /// Remarks about the oracle, a sentence each.
    pub notes: Vec<String>,
    /// The returned weights in the block order of the data set's joint features.
    pub weights: Vec<f64>,
}
