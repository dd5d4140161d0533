//! One run as it is stored: its identity, its environment, how it ended, what it measured.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::Result;
use crate::store::identity::Identity;
use crate::store::keys::CellPattern;
use crate::text::seconds;
use ssvm::drive::{Outcome, StopReason, TracePoint};
use ssvm::settings::RunSettings;

/// Version of the trace file layout; files of another version are refused by name.
pub const SCHEMA_VERSION: u32 = 4;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It reached a limit of its budget.
    Done(StopReason),
    /// `timeout_s` ended it. What it measured until then is valid.
    TimedOut {
        /// Seconds since its start, with evaluations.
        after_s: f64,
    },
    /// It was aborted before the machine ran out of memory.
    OutOfMemory {
        /// How much the process held and how much was left.
        usage: String,
    },
    /// It failed: a panic, a divergence, bad data, an oracle call that never returned.
    Failed(String),
}

impl Status {
    /// Whether the run reached a limit of its budget.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// Whether `timeout_s` ended the run.
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// Why the run ended: the name of the limit, or what went wrong.
    pub fn reason(&self) -> String {
        match self {
            Self::Done(stop) => stop.name().to_owned(),
            Self::TimedOut { after_s } => format!("timed out after {}", seconds(*after_s)),
            Self::OutOfMemory { usage } => format!(
                "aborted to avoid running out of memory ({usage}); use smaller working sets, a smaller data set or fewer \
                 --jobs"
            ),
            Self::Failed(message) => message.clone(),
        }
    }

    /// The text of the `status` column: the name of the limit, or `failed: …`.
    pub fn text(&self) -> String {
        if self.is_done() { self.reason() } else { format!("failed: {}", self.reason()) }
    }
}

/// One run: what it was, where it ran, how it ended, what it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Everything the result depends on.
    pub identity: Identity,
    /// Repeat number from 0.
    pub repeat: u64,
    /// Where it ran.
    #[serde(rename = "circumstances")]
    pub environment: Environment,
    /// How it ended.
    pub status: Status,
    /// What it measured; empty when it failed early.
    #[serde(flatten)]
    pub measured: Measured,
}

impl RunRecord {
    /// [`Identity::run_id`].
    pub fn run_id(&self) -> String {
        self.identity.run_id()
    }

    /// Data set name as in the config, such as `usps-synth:n=500`.
    pub fn dataset(&self) -> &str {
        &self.identity.problem.dataset
    }

    /// Name of the solver.
    pub fn solver(&self) -> &str {
        &self.settings().solver.name
    }

    /// Solver, seed, clock, budget, cadence.
    pub fn settings(&self) -> &RunSettings {
        &self.identity.settings
    }

    /// Evaluations, in order.
    pub fn points(&self) -> &[TracePoint] {
        &self.measured.points
    }

    /// Data set and solver with its parameters, such as `usps-synth/mp-bcfw (T=5)`, and the oracle cost where that is
    /// not its own.
    pub fn cell(&self) -> String {
        format!("{}/{}", self.dataset(), self.settings().cell())
    }

    /// Whether a pattern of `--only` matches it.
    pub fn matches(&self, pattern: &CellPattern) -> bool {
        pattern.matches(self.dataset(), &self.settings().solver, Some(self.settings().oracle_cost))
    }

    /// Whether the oracle proved every maximiser: gaps then need no bound for an inexact oracle.
    pub fn is_exact(&self) -> bool {
        let exact = |point: &TracePoint| point.oracle_slack <= 0.0 && point.proven >= self.environment.n;
        self.points().iter().all(exact)
    }

    /// What a run of this identity, which is this one's but for the oracle cost, would have left: the steps of a solver that
    /// never reads the clock are the same, only their times differ. A run that a limit of time ends is not projected.
    pub fn projected(&self, identity: Identity) -> Self {
        let (from, to) = (self.settings().oracle_cost, identity.settings.oracle_cost);
        let at_cost = |point: &TracePoint| {
            let (time_s, oracle_time_s) = from.project(point.time_s, point.oracle_time_s, to);
            TracePoint { time_s, oracle_time_s, ..point.clone() }
        };
        let mut record = self.clone();
        record.environment.projected_from = Some(self.run_id());
        record.measured.points = self.points().iter().map(at_cost).collect();
        // Times of single passes are those of the cost they were made at.
        record.measured.totals.passes.clear();
        record.identity = identity;
        record
    }

    /// `usps-synth mp-bcfw #3`.
    pub fn label(&self) -> String {
        format!("{} {} #{}", self.dataset(), self.settings().cell(), self.repeat)
    }
}

/// Execution environment of a run. None of it is part of the identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Terms.
    pub n: u64,
    /// Dimension of w.
    pub d: u64,
    /// Concurrent workers during the run.
    pub jobs: u64,
    /// Threads that the run might use for oracle calls at one w.
    pub threads: u64,
    /// The core the run was pinned to; −1 when not pinned.
    pub core: i64,
    /// Host name or description.
    pub host: String,
    /// What kind of machine: [`manifest::Host::class`]. Times of different kinds are not put together.
    #[serde(default)]
    pub host_class: String,
    /// What the class is a hash of: [`manifest::Host::facts`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host_facts: String,
    /// The shard that it was made in, by its folder; empty where there was none. Its session has the rest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shard: String,
    /// How the program was built: target, optimisation, flags.
    #[serde(default)]
    pub build: String,
    /// Commit of the program.
    pub commit: String,
    /// The run it was computed from: the same steps at another oracle cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected_from: Option<String>,
    /// Unix time at the start.
    pub started_unix_s: u64,
    /// CPU steal during the run, fraction of wall time (0 when unknown).
    pub steal: f64,
    /// One-minute load average at the end of the run (0 when unknown).
    pub load: f64,
}

/// What was measured in one run. Only the totals are text: a file has columns for evaluations and bytes for histograms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Evaluations, in order.
    #[serde(skip)]
    pub points: Vec<TracePoint>,
    /// Latency of every exact oracle call, ns.
    #[serde(skip)]
    pub oracle_ns: Latencies,
    /// Latency of sampled approximate steps, ns.
    #[serde(skip)]
    pub approx_ns: Latencies,
    /// Totals of the run.
    pub totals: Totals,
}

/// What is measured once per run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Wall time of solver work, seconds.
    pub wall_s: f64,
    /// CPU time of solver work, seconds.
    pub cpu_s: f64,
    /// Wall time inside exact oracle calls, seconds.
    pub oracle_wall_s: f64,
    /// Wall time on the way to an oracle that is a program and back, seconds: no part of the oracle's time.
    #[serde(default)]
    pub pipe_s: f64,
    /// Estimated cost of the instrument itself, seconds.
    pub instrument_s: f64,
    /// What was noticed about the oracle.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Wall time of the whole run with evaluation, seconds.
    pub total_s: f64,
    /// (seconds, F) at the start of one iteration and after each of its passes, as its observer chose it.
    pub passes: Vec<(f64, f64)>,
}

impl Measured {
    /// What a run left behind, and how long it took with evaluation.
    pub fn of(outcome: Outcome, total_s: f64, passes: Vec<(f64, f64)>) -> Result<Self> {
        Ok(Self {
            points: outcome.points,
            oracle_ns: Latencies::of(&outcome.oracle_ns)?,
            approx_ns: Latencies::of(&outcome.approx_ns)?,
            totals: Totals {
                wall_s: outcome.wall_s,
                cpu_s: outcome.cpu_s,
                oracle_wall_s: outcome.oracle_wall_s,
                pipe_s: outcome.pipe_s,
                instrument_s: outcome.instrument_s,
                notes: outcome.notes,
                total_s,
                passes,
            },
        })
    }
}

/// A histogram as the bytes of its V2 form: a thousand open ones would take a gigabyte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(pub(crate) Vec<u8>);

impl Latencies {
    /// Packs a histogram.
    pub fn of(histogram: &Histogram<u64>) -> Result<Self> {
        let mut bytes = Vec::new();
        let wrong = |e| Error::Histogram { action: "stored", reason: format!("{e:?}") };
        V2Serializer::new().serialize(histogram, &mut bytes).map_err(wrong)?;
        Ok(Self(bytes))
    }

    /// The histogram; an empty one when nothing was packed.
    pub fn histogram(&self) -> Result<Histogram<u64>> {
        let wrong = |e: &dyn std::fmt::Debug| Error::Histogram { action: "read", reason: format!("{e:?}") };
        if self.0.is_empty() {
            return Ok(Histogram::new(3).map_err(|e| wrong(&e))?);
        }
        Ok(Deserializer::new().deserialize(&mut self.0.as_slice()).map_err(|e| wrong(&e))?)
    }
}
