//! `manifest.json` of a result folder: which configs were run, with which code, on which host, when, and how much
//! parallel timing was inflated. Rewritten as a whole (temporary name, rename) at the start and the end of each `run`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Error;
use super::keys::ProblemKey;
use super::record::SCHEMA_VERSION;
use crate::store::files::sha256_hex;
use ssvm::clock::{ClockKind, OracleCost};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema_version: u32,
    /// Every config that was run into this folder, the last one last.
    pub configs: Vec<ConfigText>,
    pub sessions: Vec<Session>,
    /// Inflation of parallel against isolated timing, one row per data set and solver.
    pub interference: Vec<Inflation>,
    /// The paper's oracle costs as solved for this folder; other sessions use the same ones.
    #[serde(default, skip_serializing_if = "PaperCosts::is_empty")]
    pub paper_costs: PaperCosts,
}

/// The solved oracle costs of the paper, by problem and clock; a list in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<PaperCost>", into = "Vec<PaperCost>")]
pub struct PaperCosts(pub BTreeMap<(ProblemKey, ClockKind), OracleCost>);

#[derive(Serialize, Deserialize)]
struct PaperCost {
    #[serde(flatten)]
    problem: ProblemKey,
    clock: ClockKind,
    cost: OracleCost,
}

impl PaperCosts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<PaperCost>> for PaperCosts {
    fn from(costs: Vec<PaperCost>) -> Self {
        Self(costs.into_iter().map(|PaperCost { problem, clock, cost }| ((problem, clock), cost)).collect())
    }
}

impl From<PaperCosts> for Vec<PaperCost> {
    fn from(costs: PaperCosts) -> Self {
        costs.0.into_iter().map(|((problem, clock), cost)| PaperCost { problem, clock, cost }).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigText {
    pub name: String,
    pub sha256: String,
    pub text: String,
}

/// One call of `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// SHA-256 of its config.
    pub config: String,
    pub started_unix_s: u64,
    /// Absent when the process was killed.
    pub ended_unix_s: Option<u64>,
    pub jobs: u64,
    /// Whether timed work ran on its own.
    pub isolated: bool,
    pub code: Code,
    pub host: Host,
    pub finished: u64,
    /// Runs that ended as failed records.
    pub failed: u64,
    /// Peak memory of the process, bytes; 0 when unknown.
    #[serde(default)]
    pub peak_memory: u64,
    /// The folder of its shard; empty for a call that ran the whole plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shard: String,
    /// Hash of the identities of all runs of its plan; empty if a program without shards wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
}

impl Session {
    /// The identity of a session, in the order of time.
    fn key(&self) -> (u64, &str, &str, &str, u64) {
        (self.started_unix_s, &self.shard, &self.host.name, &self.config, self.jobs)
    }
}

/// The source of the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// The version that run identities depend on: crate version and hash of the sources that affect results.
    pub version: String,
    /// Commit, with `-dirty` when the tree had changes; `unknown` outside a repository.
    pub commit: String,
    pub rustc: String,
    /// Flags, target and profile.
    pub flags: String,
}

/// Facts of the machine; empty or zero where unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    pub cpu: String,
    /// Cores this process may use.
    pub cores: u64,
    pub threads_per_core: u64,
    pub memory: u64,
    pub os: String,
    /// Frequency governor of the first core.
    pub governor: String,
    /// CPU features by which programs choose their code.
    #[serde(default)]
    pub features: String,
    /// Caches of the first core, such as `L1d 32K, L2 1024K, L3 36608K`.
    #[serde(default)]
    pub caches: String,
}

impl Host {
    /// The host class, on which times depend: CPU model, number of cores, and a short hash of everything else that is known to
    /// change times.
    pub fn class(&self) -> String {
        let cpu = if self.cpu.is_empty() { "unknown CPU" } else { &self.cpu };
        format!("{cpu}, {} cores, kind {}", self.cores, &sha256_hex(self.facts().as_bytes())[..6])
    }

    /// Facts that change times, besides the CPU model and the number of cores.
    pub fn facts(&self) -> String {
        let unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
        let Self { features, caches, governor, .. } = self;
        // The trailing `memory unknown` is part of stored classes: without it, this machine would have another class.
        format!("{}; {}; governor {}; memory unknown", unknown(features), unknown(caches), unknown(governor))
    }
}

/// Time of the same short work with the other workers busy, over its time with the others paused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inflation {
    pub dataset: String,
    /// Absent in a manifest of an older program, which did not distinguish the λ of a data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemKey>,
    pub solver: String,
    /// Workers of the parallel runs.
    pub jobs: u64,
    /// Median of the ratios.
    pub ratio: f64,
    /// Its 95 % bootstrap interval.
    pub low: f64,
    pub high: f64,
    pub probes: u64,
    /// The ratios, in the order of measurement.
    #[serde(default)]
    pub ratios: Vec<f64>,
}

impl Inflation {
    /// What was probed.
    pub fn cell(&self) -> (String, Option<ProblemKey>, String) {
        (self.dataset.clone(), self.problem.clone(), self.solver.clone())
    }
}

/// Whether a commit identifies the sources of a program, which that of a changed tree or outside a repository does not.
pub fn is_committed(commit: &str) -> bool {
    !commit.is_empty() && commit != "unknown" && !commit.ends_with("-dirty")
}

impl Manifest {
    /// Merges another manifest, in either order; fails when the two contradict each other.
    pub fn join(&mut self, other: Self) -> Result<(), Error> {
        for (key, cost) in other.paper_costs.0 {
            let known = *self.paper_costs.0.entry(key.clone()).or_insert(cost);
            if known != cost {
                let (ProblemKey { dataset, lambda, .. }, clock) = key;
                return Err(Error::OracleCost { dataset, lambda, clock, here: cost, there: known });
            }
        }
        // Of two versions of one session the later one is kept: the other was read while the session was running.
        self.sessions.extend(other.sessions);
        let progress = |session: &Session| Reverse((session.ended_unix_s, session.finished));
        self.sessions.sort_by(|a, b| (a.key(), progress(a)).cmp(&(b.key(), progress(b))));
        self.sessions.dedup_by(|a, b| a.key() == b.key());
        self.configs.extend(other.configs);
        self.configs.sort_by_cached_key(|config| {
            let own = self.sessions.iter().filter(|session| session.config == config.sha256);
            (own.map(|session| session.started_unix_s).max(), config.sha256.clone(), config.name.clone())
        });
        self.configs.dedup();
        // Of two measurements of one cell the one with more probes is kept.
        self.interference.extend(other.interference);
        self.interference.sort_by_cached_key(|one| (one.cell(), Reverse((one.probes, one.ratio.to_bits()))));
        self.interference.dedup_by_key(|one| one.cell());
        Ok(())
    }
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            configs: Vec::new(),
            sessions: Vec::new(),
            interference: Vec::new(),
            paper_costs: PaperCosts::default(),
        }
    }
}
