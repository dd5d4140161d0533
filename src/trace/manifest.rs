//! `manifest.json` of a result folder: which configs were run, by which code, on which host, when, and how much
//! parallel timing was inflated. Rewritten whole (temporary name, rename) at the start and the end of each `run`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SCHEMA_VERSION;
use crate::clock::OracleCost;

/// The manifest of one result folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Layout of the folder, [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Every config that was run into this folder, the last one last.
    pub configs: Vec<ConfigText>,
    /// Every call of `run` on this folder, in order.
    pub sessions: Vec<Session>,
    /// Inflation of parallel against isolated timing, one row per data set and solver.
    pub interference: Vec<Inflation>,
    /// The paper's price of the oracle as it was solved for this folder, by data set and clock: other sessions take the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paper_prices: BTreeMap<String, OracleCost>,
}

/// A config as it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigText {
    /// Its `name`.
    pub name: String,
    /// SHA-256 of the text.
    pub sha256: String,
    /// The TOML text.
    pub text: String,
}

/// One call of `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// SHA-256 of its config.
    pub config: String,
    /// Unix time at the start.
    pub started_unix_s: u64,
    /// Unix time at the end; absent when the process was killed.
    pub ended_unix_s: Option<u64>,
    /// Workers.
    pub jobs: u64,
    /// Whether timed work ran one at a time.
    pub isolated: bool,
    /// The program.
    pub code: Code,
    /// The machine.
    pub host: Host,
    /// Runs finished by this call.
    pub finished: u64,
    /// Runs of this call that ended as failed records.
    pub failed: u64,
    /// Largest memory the process had, bytes; 0 when unknown.
    #[serde(default)]
    pub peak_memory: u64,
}

/// What the program was built from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// What run identities depend on: crate version and hash of the sources that affect results.
    pub version: String,
    /// Commit, `-dirty` appended when the tree had changes; `unknown` outside a repository.
    pub commit: String,
    /// Compiler.
    pub rustc: String,
    /// Flags, target and profile.
    pub flags: String,
}

/// What is known of the machine; empty or zero where it is not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// CPU model.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: u64,
    /// Threads per core.
    pub threads_per_core: u64,
    /// Memory in bytes.
    pub memory: u64,
    /// Operating system and kernel.
    pub os: String,
    /// Frequency governor of the first core.
    pub governor: String,
}

/// Time of the same short work with the other workers busy over its time with the others paused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inflation {
    /// Data set.
    pub dataset: String,
    /// Solver.
    pub solver: String,
    /// Workers of the parallel runs.
    pub jobs: u64,
    /// Median of the ratios.
    pub ratio: f64,
    /// Lower end of its 95 % bootstrap interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Ratios behind it.
    pub probes: u64,
    /// The ratios, in the order they were taken.
    #[serde(default)]
    pub ratios: Vec<f64>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            configs: Vec::new(),
            sessions: Vec::new(),
            interference: Vec::new(),
            paper_prices: BTreeMap::new(),
        }
    }
}
