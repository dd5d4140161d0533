//! A plan in shards on many machines: one [`ClusterJob`] rendered as [`scripts`] of SLURM, HyperQueue and GNU parallel;
//! for SLURM also the calls of its programs ([`slurm`]), what was submitted ([`jobs`]) and how far it is ([`status`]).
//! Nothing here schedules anything.

pub mod cost;
pub mod jobs;
pub mod scripts;
pub mod slurm;
pub mod status;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Folder of scripts, logs and job ids of SLURM below the result folder.
pub const SLURM_FOLDER: &str = "slurm";

/// The id file of a result folder.
pub fn id_file(out: &Path) -> PathBuf {
    out.join("shards.txt")
}

/// What to run, where, and with which resources. Paths are absolute, and no word has a control character
/// ([`script_path`], [`script_word`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterJob {
    /// Name of the experiment.
    pub name: String,
    /// This program.
    pub program: String,
    /// Config file, or the name of one that is built in.
    pub config: String,
    /// Result folder; its id file lists the shards.
    pub out: String,
    /// Where it is not the default.
    pub data_dir: Option<String>,
    /// Further options of this program that are about data sets.
    pub data_flags: Vec<String>,
    /// Patterns that narrow the plan.
    pub only: Vec<String>,
    /// Working directory: data sets may be named relative to it.
    pub folder: String,
    pub shards: usize,
    /// Estimated seconds of the longest run.
    pub longest_s: f64,
    pub partition: Option<String>,
    /// Time limit of a task in seconds.
    pub time: Option<f64>,
    /// Whole nodes.
    pub exclusive: bool,
    /// Tasks that may run at the same time.
    pub at_once: Option<usize>,
    /// Concurrent runs of a task; `None` for as many as its node has cores.
    pub jobs: Option<usize>,
    /// Threads of a run.
    pub threads: usize,
    pub isolated: bool,
    /// Further options of `sbatch`.
    pub more: Vec<String>,
}

impl ClusterJob {
    /// Cores of a task that does not have the node to itself.
    pub fn cores(&self) -> usize {
        self.jobs.unwrap_or(1) * self.threads.max(1)
    }

    /// Runs of a task at the same time, as far as it is known beforehand.
    pub fn workers(&self) -> usize {
        if self.isolated { 1 } else { self.jobs.unwrap_or(1) }
    }

    /// The options of `sbatch` for the part of a node that a task takes.
    pub fn node_share(&self) -> String {
        if self.exclusive { "--exclusive --mem=0".to_owned() } else { format!("--cpus-per-task={}", self.cores()) }
    }

    /// Seconds before the time limit at which no new run is started: time for the longest one to end. At most half the
    /// limit, since a task that is signalled when it begins does nothing.
    pub fn lead_s(&self) -> u64 {
        /// SLURM sends a signal up to a minute early, so a shorter lead is not reliable.
        const SHORTEST: f64 = 60.0;
        /// The longest that `--signal` takes.
        const LONGEST: f64 = 65535.0;
        let half = self.time.map_or(LONGEST, |limit| limit / 2.0);
        (1.5 * self.longest_s + 30.0).clamp(SHORTEST, LONGEST).min(half).ceil() as u64
    }
}

/// A time limit as `sbatch --time` reads it: `DAYS-HOURS:MINUTES:SECONDS`, whole seconds upwards.
pub fn slurm_time(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    let (days, hours, minutes) = (whole / 86400, whole / 3600 % 24, whole / 60 % 60);
    let days = if days == 0 { String::new() } else { format!("{days}-") };
    format!("{days}{hours:02}:{minutes:02}:{:02}", whole % 60)
}

/// A word that can stand in a script; fails for line breaks and other control characters.
pub fn script_word(word: &str, what: &'static str) -> Result<String> {
    let word = word.to_owned();
    if word.chars().any(char::is_control) {
        Err(super::Error::ControlCharacter { what, word }.into())
    } else {
        Ok(word)
    }
}

/// An absolute path that can stand in a script.
pub fn script_path(path: &Path) -> Result<String> {
    let whole = std::path::absolute(path).map_err(Error::io("find", path))?;
    let Some(text) = whole.to_str() else {
        return Err(Error::file(path, "the name is not UTF-8, so scripts cannot contain it; choose another"));
    };
    if text.contains("%{") {
        return Err(Error::file(path, "the name contains '%{', which engines replace; choose another"));
    }
    script_word(text, "the path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_written_as_sbatch_reads_them() {
        for (seconds, text) in [
            (1800.0, "00:30:00"),
            (0.5, "00:00:01"),
            (3600.0, "01:00:00"),
            (95410.0, "1-02:30:10"),
            (864_000.0, "10-00:00:00"),
        ] {
            assert_eq!(slurm_time(seconds), text);
        }
    }

    #[test]
    fn the_signal_comes_when_something_can_still_be_done() {
        let lead = |longest_s, time| ClusterJob { longest_s, time, ..ClusterJob::default() }.lead_s();
        assert_eq!(lead(0.0, None), 60);
        assert_eq!(lead(100.0, Some(3600.0)), 180);
        assert_eq!(lead(1e6, None), 65535);
        assert_eq!(lead(1e6, Some(600.0)), 300);
        assert_eq!(lead(0.0, Some(60.0)), 30);
    }

    #[test]
    fn what_no_script_can_hold_is_refused() {
        assert!(script_word("a\nb", "the name").unwrap_err().to_string().contains("line break"));
        assert!(script_path(Path::new("a\rb")).is_err());
        assert!(script_path(Path::new("a%{b}")).is_err());
        assert!(script_path(Path::new("a b")).unwrap().ends_with("/a b"));
    }
}
