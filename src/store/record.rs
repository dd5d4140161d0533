//! One run on disk: a typed [`RunRecord`] (identity, circumstances, status, what was measured), and (in `store`) its file.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::identity::Identity;
use crate::text::fits;
use ssvm::drive::{Outcome, StopReason, TracePoint};
use ssvm::settings::RunSettings;

/// Version of the trace file layout; files of another version are refused by name.
pub const SCHEMA_VERSION: u32 = 4;

/// Ended well or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Ended for this reason.
    Done(StopReason),
    /// Failed with this message (panic, timeout, divergence, bad data).
    Failed(String),
}

/// How the message of a run that was stopped by `timeout_s` begins.
const TIMED_OUT: &str = "timed out after ";

impl Status {
    /// Of a run that was stopped after so long; what it found until then is as true as if it had ended.
    pub fn timed_out(after: &str) -> Self {
        Self::Failed(format!("{TIMED_OUT}{after}"))
    }

    /// Whether it was stopped by `timeout_s`.
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Self::Failed(message) if message.starts_with(TIMED_OUT))
    }

    /// Whether it ended well.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// Why it ended: the stop reason, or the message of a failure.
    pub fn reason(&self) -> &str {
        match self {
            Self::Done(stop) => stop.name(),
            Self::Failed(message) => message,
        }
    }

    /// The text of the `status` column: the stop reason, or `failed: …`.
    pub fn text(&self) -> String {
        match self {
            Self::Done(stop) => stop.name().to_owned(),
            Self::Failed(message) => format!("failed: {message}"),
        }
    }
}

/// One run: what it was, where it ran, how it ended, what it measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Everything the result depends on.
    pub identity: Identity,
    /// Repeat number from 0.
    pub repeat: u64,
    /// Where and beside whom it ran.
    pub circumstances: Circumstances,
    /// How it ended.
    pub status: Status,
    /// What it measured; empty when it failed early.
    pub measured: Measured,
}

impl RunRecord {
    /// [`Identity::run_id`].
    pub fn run_id(&self) -> String {
        self.identity.run_id()
    }

    /// Data set name as in the config, such as `usps-synth:n=500`.
    pub fn dataset(&self) -> &str {
        &self.identity.dataset
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

    /// Data set and solver with its parameters, such as `usps-synth/mp-bcfw (T=5)`, and the price of the oracle where that is
    /// not its own.
    pub fn cell(&self) -> String {
        format!("{}/{}", self.dataset(), self.settings().cell())
    }

    /// Whether a pattern of `--only` fits it; one without a price means all of them.
    pub fn fits(&self, pattern: &str) -> bool {
        fits(pattern, &self.cell()) || fits(pattern, &format!("{}/{}", self.dataset(), self.settings().solver))
    }

    /// `usps-synth mp-bcfw #3`.
    pub fn label(&self) -> String {
        format!("{} {} #{}", self.dataset(), self.settings().cell(), self.repeat)
    }
}

/// Where and beside whom a run was made. None of it is part of the identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Circumstances {
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
    /// The run it was not run beside but computed from: the same steps at another price of the oracle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected_from: Option<String>,
    /// Unix time at the start.
    pub started_unix_s: u64,
    /// CPU steal during the run, fraction of wall time (0 when unknown).
    pub steal: f64,
    /// One-minute load average at the end of the run (0 when unknown).
    pub load: f64,
}

/// What was measured in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Evaluations, in order.
    pub points: Vec<TracePoint>,
    /// Latency of every exact oracle call, ns.
    pub oracle_ns: Latencies,
    /// Latency of sampled approximate steps, ns.
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
        let wrong = |e| Error::invalid(format!("a latency histogram cannot be stored: {e:?}"));
        V2Serializer::new().serialize(histogram, &mut bytes).map_err(wrong)?;
        Ok(Self(bytes))
    }

    /// The histogram; an empty one when nothing was packed.
    pub fn histogram(&self) -> Result<Histogram<u64>> {
        let wrong = |e: &dyn std::fmt::Debug| Error::invalid(format!("a latency histogram cannot be read: {e:?}"));
        if self.0.is_empty() {
            return Histogram::new(3).map_err(|e| wrong(&e));
        }
        Deserializer::new().deserialize(&mut self.0.as_slice()).map_err(|e| wrong(&e))
    }
}
