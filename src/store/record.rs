//! The stored form of a run: its identity, its environment, how it ended, and its measurements.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::Result;
use crate::store::identity::Identity;
use crate::store::keys::CellPattern;
use crate::text::seconds;
use ssvm::clock::ClockKind;
use ssvm::drive::{Outcome, StopReason, TracePoint};
use ssvm::settings::RunSettings;

/// Version of the layout of run files; files of another version are refused.
pub const SCHEMA_VERSION: u32 = 4;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It reached a limit of its budget.
    Done(StopReason),
    /// `timeout_s` ended it. The time counts from its start and includes evaluations. Everything measured before is
    /// valid.
    TimedOut { after_s: f64 },
    /// It was aborted before the machine ran out of memory; the memory that it used and that was left.
    OutOfMemory { usage: String },
    /// It failed: a panic, a divergence, bad data, or an oracle call that never returned.
    Failed(String),
}

impl Status {
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// Why the run ended: the name of the limit, or the failure.
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

/// One run: its identity, its environment, how it ended, and its measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub identity: Identity,
    /// Number of the repeat, from 0.
    pub repeat: u64,
    #[serde(rename = "circumstances")]
    pub environment: Environment,
    pub status: Status,
    /// Its measurements; empty when it failed early.
    #[serde(flatten)]
    pub measured: Measured,
}

impl RunRecord {
    pub fn run_id(&self) -> String {
        self.identity.run_id()
    }

    /// Data set name as in the config, such as `usps-synth:n=500`.
    pub fn dataset(&self) -> &str {
        &self.identity.problem.dataset
    }

    pub fn solver(&self) -> &str {
        &self.settings().solver.name
    }

    /// The part of a core that the run got: 1 on a quiet machine. `None` where that cannot be known: on clocks other
    /// than the wall clock, in a run of less than a millisecond, where several oracles are called at a time, because
    /// the run then waits for threads that are not its own, and in a run on an oracle program that did not record how
    /// long it waited. The time that a program spends counts as CPU time, and the wait beyond it is left out: only the
    /// run's own work shows whether the machine was busy.
    pub fn core_share(&self) -> Option<f64> {
        let totals = &self.measured.totals;
        let alone = self.settings().clock == ClockKind::WALL && !self.settings().solver.params.contains_key("tau");
        let idle_s = totals.idle_s.or((totals.pipe_s == 0.0).then_some(0.0))?;
        (alone && totals.wall_s > 1e-3).then(|| totals.cpu_s / (totals.wall_s - idle_s))
    }

    /// Whether its time inside the exact oracle was measured and not estimated.
    pub fn measures_oracle(&self) -> bool {
        self.settings().clock.measures_oracle(self.settings().oracle_cost)
    }

    pub fn settings(&self) -> &RunSettings {
        &self.identity.settings
    }

    pub fn points(&self) -> &[TracePoint] {
        &self.measured.points
    }

    /// Whether a pattern of `--only` matches the run.
    pub fn matches(&self, pattern: &CellPattern) -> bool {
        pattern.matches(self.dataset(), &self.settings().solver, Some(self.settings().oracle_cost))
    }

    /// The record that a run of this identity would have, which differs from this one only in the oracle cost: the
    /// steps of a solver that never reads the clock are the same, only their times differ. A run that a time limit ends
    /// is not projected.
    pub fn projected(&self, identity: Identity) -> Self {
        let (from, to) = (self.settings().oracle_cost, identity.settings.oracle_cost);
        let at_cost = |point: &TracePoint| {
            let (time_s, oracle_time_s) = from.project(point.time_s, point.oracle_time_s, to);
            TracePoint { time_s, oracle_time_s, ..point.clone() }
        };
        let mut record = self.clone();
        record.environment.projected_from = Some(self.run_id());
        record.measured.points = self.points().iter().map(at_cost).collect();
        // Times of single passes hold only at the oracle cost of this run.
        record.measured.totals.passes.clear();
        record.identity = identity;
        record
    }

    /// `usps-synth mp-bcfw #3`.
    pub fn label(&self) -> String {
        self.identity.label(self.repeat)
    }
}

/// Execution environment of a run. None of it is part of the identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Terms.
    pub n: u64,
    /// Dimension of w.
    pub d: u64,
    /// Concurrent workers.
    pub jobs: u64,
    /// Threads that the run might use for oracle calls at one w.
    pub threads: u64,
    /// The core the run was pinned to; −1 when not pinned.
    pub core: i64,
    pub host: String,
    /// Host class, see [`manifest::Host::class`]. Times of different classes are never combined.
    #[serde(default)]
    pub host_class: String,
    /// The facts that the class is a hash of: [`manifest::Host::facts`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host_facts: String,
    /// The folder of the shard that made it; empty if none did. The session of the shard has the rest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shard: String,
    /// Target, optimisation, flags.
    #[serde(default)]
    pub build: String,
    pub commit: String,
    /// The run that it was projected from: the same steps at another oracle cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected_from: Option<String>,
    pub started_unix_s: u64,
    /// CPU steal during the run, fraction of wall time (0 when unknown).
    pub steal: f64,
    /// One-minute load average at the end of the run (0 when unknown).
    pub load: f64,
}

impl Environment {
    /// The host class; the host's name if the class is not known.
    pub fn host_kind(&self) -> &str {
        if self.host_class.is_empty() { &self.host } else { &self.host_class }
    }
}

/// The measurements of one run. Only the totals are text: a file has columns for evaluations and bytes for histograms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    #[serde(skip)]
    pub points: Vec<TracePoint>,
    /// Latency of every exact oracle call, ns.
    #[serde(skip)]
    pub oracle_ns: Latencies,
    /// Latency of sampled approximate steps, ns.
    #[serde(skip)]
    pub approx_ns: Latencies,
    pub totals: Totals,
}

/// Measurements made once per run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Wall time of solver work.
    pub wall_s: f64,
    /// CPU time of solver work.
    pub cpu_s: f64,
    /// Wall time inside exact oracle calls.
    pub oracle_wall_s: f64,
    /// Wall time on the way to an oracle program and back; not counted as oracle time.
    #[serde(default)]
    pub pipe_s: f64,
    /// The part of `pipe_s` in which the run waited with nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<f64>,
    /// Estimated cost of the readings themselves.
    pub instrument_s: f64,
    /// Remarks about the oracle.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Time of the whole run, with evaluations.
    pub total_s: f64,
    /// (seconds, F) at the start of one iteration and after each of its passes; the observer chooses the iteration.
    pub passes: Vec<(f64, f64)>,
}

impl Measured {
    /// The measurements in an outcome, with the time of the whole run.
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
                idle_s: (outcome.pipe_s > 0.0).then_some(outcome.idle_s),
                instrument_s: outcome.instrument_s,
                notes: outcome.notes,
                total_s,
                passes,
            },
        })
    }
}

/// A histogram as the bytes of its V2 form: a thousand open histograms would take a gigabyte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(pub(crate) Vec<u8>);

impl Latencies {
    pub fn of(histogram: &Histogram<u64>) -> Result<Self> {
        let mut bytes = Vec::new();
        let wrong = |e| Error::Histogram { action: "stored", reason: format!("{e:?}") };
        V2Serializer::new().serialize(histogram, &mut bytes).map_err(wrong)?;
        Ok(Self(bytes))
    }

    /// The histogram; empty when there are no bytes.
    pub fn histogram(&self) -> Result<Histogram<u64>> {
        let wrong = |e: &dyn std::fmt::Debug| Error::Histogram { action: "read", reason: format!("{e:?}") };
        if self.0.is_empty() {
            return Ok(Histogram::new(3).map_err(|e| wrong(&e))?);
        }
        Ok(Deserializer::new().deserialize(&mut self.0.as_slice()).map_err(|e| wrong(&e))?)
    }
}
