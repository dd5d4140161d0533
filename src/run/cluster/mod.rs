//! A plan in shards → scripts and calls for the engines that run it on many machines: SLURM ([`sbatch`], [`squeue`],
//! [`status`]), HyperQueue, GNU parallel. One file per engine, each with `text(&Job)`; nothing here schedules anything.

pub mod cost;
pub mod hyperqueue;
pub mod jobs;
pub mod parallel;
pub mod programs;
pub mod ranges;
pub mod sbatch;
pub mod shell;
pub mod squeue;
pub mod status;

use crate::error::{Error, Result};

/// What every engine is told. Paths are absolute, and no word has a control character ([`shell::path`],
/// [`shell::checked`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Name of the experiment.
    pub name: String,
    /// This program.
    pub program: String,
    /// Config file, or the name of one that is built in.
    pub config: String,
    /// Result folder.
    pub out: String,
    /// Folder of the data files, where it is not the default.
    pub data_dir: Option<String>,
    /// Patterns that narrow the plan.
    pub only: Vec<String>,
    /// Folder that everything runs in: data sets may be named relative to it.
    pub folder: String,
    /// The id file.
    pub ids: String,
    /// Shards in it.
    pub shards: usize,
    /// Estimated seconds of the longest run.
    pub longest: f64,
    /// Partition of the cluster.
    pub partition: Option<String>,
    /// Time limit of a task.
    pub time: Option<TimeLimit>,
    /// Whole nodes.
    pub exclusive: bool,
    /// Tasks that may run at the same time.
    pub at_once: Option<usize>,
    /// Concurrent runs of a task; as many as its node has cores where it is not said.
    pub jobs: Option<usize>,
    /// Threads of a run.
    pub threads: usize,
    /// Timed runs one at a time.
    pub isolated: bool,
    /// Further options of `sbatch`.
    pub more: Vec<String>,
}

impl Job {
    /// The call that does a shard, up to `--shard`.
    fn run(&self) -> Vec<String> {
        let mut words = self.call(&["run", "--config", &self.config, "--out", &self.out, "--ids", &self.ids]);
        if let Some(jobs) = self.jobs {
            words.extend(["--jobs".to_owned(), jobs.to_string()]);
        }
        words.extend(self.only.iter().flat_map(|pattern| ["--only".to_owned(), pattern.clone()]));
        words.extend(self.isolated.then(|| "--isolated".to_owned()));
        words
    }

    /// The call that joins the shards, and fails when a run of the id file is not done.
    fn merge(&self) -> Vec<String> {
        self.call(&["merge", &self.out, "--out", &self.out, "--ids", &self.ids])
    }

    fn call(&self, words: &[&str]) -> Vec<String> {
        let mut all = vec![self.program.clone()];
        if let Some(dir) = &self.data_dir {
            all.extend(["--data-dir".to_owned(), dir.clone()]);
        }
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all
    }

    /// Cores of a task that does not have the node to itself.
    pub fn cores(&self) -> usize {
        self.jobs.unwrap_or(1) * self.threads.max(1)
    }
}

/// A time limit as `sbatch --time` reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLimit {
    /// As it was given.
    pub text: String,
    /// The same in seconds.
    pub seconds: f64,
}

impl std::str::FromStr for TimeLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let forms = "MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS or DAYS-HOURS:MINUTES";
            Error::invalid(format!("'{text}' is not a time limit: {forms}"))
        };
        let (days, rest) = text.split_once('-').map_or((None, text), |(days, rest)| (Some(days), rest));
        let number = |part: &str| part.parse::<u32>().map(f64::from).map_err(|_| wrong());
        let parts: Vec<f64> = rest.split(':').map(number).collect::<Result<_>>()?;
        let seconds = match (days, &parts[..]) {
            (None, [minutes]) => 60.0 * minutes,
            (None, [minutes, seconds]) => 60.0 * minutes + seconds,
            (None, [hours, minutes, seconds]) => 3600.0 * hours + 60.0 * minutes + seconds,
            (Some(days), [hours, rest @ ..]) if rest.len() <= 2 => {
                let small = rest.iter().zip([60.0, 1.0]).map(|(part, unit)| part * unit).sum::<f64>();
                86400.0 * number(days)? + 3600.0 * hours + small
            }
            _ => return Err(wrong()),
        };
        if seconds > 0.0 { Ok(Self { text: text.to_owned(), seconds }) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_those_of_sbatch() {
        for (text, seconds) in [
            ("30", 1800.0),
            ("30:15", 1815.0),
            ("01:00:00", 3600.0),
            ("1-0", 86400.0),
            ("1-2:30", 95400.0),
            ("1-2:30:10", 95410.0),
        ] {
            assert_eq!(text.parse::<TimeLimit>().map(|limit| limit.seconds).ok(), Some(seconds), "{text}");
        }
        for wrong in ["", "0", "x", "1:2:3:4", "-5", "1-", "1h", "1-2:3:4:5", "+ 3", "99999999999"] {
            assert!(wrong.parse::<TimeLimit>().is_err(), "{wrong}");
        }
    }
}
