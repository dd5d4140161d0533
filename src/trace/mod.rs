//! What one run leaves behind: trace points, histograms and provenance in a [`RunRecord`], and (in `store`) its file.

pub mod codec;
pub mod manifest;
pub mod store;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::config::{ClockKind, SolverKind};

/// Version of the trace file layout; files of another version are refused by name.
pub const SCHEMA_VERSION: u32 = 1;

/// One evaluation of one run. All counters and times are totals since the run began; times are solver time only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Completed iterations.
    pub iteration: u64,
    /// Solver time on the run's clock, seconds.
    pub time_s: f64,
    /// CPU time of the solver's thread during solver work, seconds.
    pub cpu_s: f64,
    /// Exact oracle calls.
    pub oracle_calls: u64,
    /// Approximate steps.
    pub approx_steps: u64,
    /// Approximate passes.
    pub approx_passes: u64,
    /// Time inside exact oracle calls, on the run's clock.
    pub oracle_time_s: f64,
    /// Time inside approximate passes, on the run's clock.
    pub approx_time_s: f64,
    /// P at the returned vector.
    pub primal: f64,
    /// max(dual_solution, F of the current iterate).
    pub dual: f64,
    /// F of the returned vector.
    pub dual_solution: f64,
    /// primal − dual.
    pub gap: f64,
    /// Mean working-set size per term.
    pub planes_mean: f64,
    /// Largest working set.
    pub planes_max: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The iteration budget.
    Iterations,
    /// The solver-time budget.
    Time,
    /// The oracle-call budget.
    OracleCalls,
    /// The gap was reached.
    Gap,
    /// Cancelled from outside (Ctrl-C).
    Cancelled,
}

impl StopReason {
    /// The name in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Time => "time",
            Self::OracleCalls => "oracle-calls",
            Self::Gap => "gap",
            Self::Cancelled => "cancelled",
        }
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
    /// Estimated cost of the instrument itself, seconds.
    pub instrument_s: f64,
    /// (seconds, F) at the start of one instructive iteration and after each of its passes; empty without approximate
    /// passes.
    pub passes: Vec<(f64, f64)>,
    /// The returned weights in the block order of the data set's joint features.
    pub weights: Vec<f64>,
}

/// Ended well or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Ended for this reason.
    Done(StopReason),
    /// Failed with this message (panic, timeout, divergence, bad data).
    Failed(String),
}

/// One run on disk: identity, circumstances, what it measured.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// Stable identity: hash of everything the result depends on.
    pub run_id: String,
    /// Data set name as in the config, such as `usps-synth:n=500`.
    pub dataset: String,
    /// The solver.
    pub solver: SolverKind,
    /// Seed of the order.
    pub seed: u64,
    /// Repeat number from 0.
    pub repeat: u64,
    /// The clock of `time_s`.
    pub clock: ClockKind,
    /// Concurrent workers during the run.
    pub jobs: u64,
    /// The core the run was pinned to; −1 when not pinned.
    pub core: i64,
    /// How it ended.
    pub status: Status,
    /// Evaluations, in order. May be empty when the run failed.
    pub points: Vec<TracePoint>,
    /// Latency of every exact oracle call, ns.
    pub oracle_ns: Histogram<u64>,
    /// Latency of sampled approximate steps, ns.
    pub approx_ns: Histogram<u64>,
    /// Facts that are per run, not per point; stored as JSON in the file.
    pub facts: RunFacts,
}

/// Per-run facts beside the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Terms.
    pub n: u64,
    /// Dimension of w.
    pub d: u64,
    /// λ.
    pub lambda: f64,
    /// Wall time of solver work, seconds.
    pub wall_s: f64,
    /// CPU time of solver work, seconds.
    pub cpu_s: f64,
    /// Wall time inside exact oracle calls, seconds.
    pub oracle_wall_s: f64,
    /// Estimated cost of the instrument itself, seconds.
    pub instrument_s: f64,
    /// Wall time of the whole run with evaluation, seconds.
    pub total_s: f64,
    /// CPU steal during the run, fraction of wall time (0 when unknown).
    pub steal: f64,
    /// One-minute load average at the end of the run (0 when unknown).
    pub load: f64,
    /// Unix time at the start.
    pub started_unix_s: u64,
    /// Version of this program and commit.
    pub code_version: String,
    /// Host name or description.
    pub host: String,
    /// Content checksum of the data set.
    pub data_checksum: String,
    /// The full settings of the run, as JSON.
    pub settings: String,
    /// As in [`Outcome::passes`].
    #[serde(default)]
    pub passes: Vec<(f64, f64)>,
    /// Whether this is an isolated repetition taken to estimate interference (not part of the plan's repeats).
    pub isolated_probe: bool,
}
