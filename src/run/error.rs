//! Errors of runs, of their split into shards, and of their submission and merge.

use std::io;
use std::process::ExitStatus;

use super::shard::MOST_SHARDS;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no iteration of BCFW was evaluated, so the paper's oracle cost is not known")]
    NoIteration,
    #[error("stopped before the paper's oracle cost was solved; run the same command again to solve it")]
    StoppedEarly,
    #[error("the data set of this run was not loaded")]
    NotLoaded,
    #[error("a worker thread died outside a run; please report this")]
    WorkerDied,
    #[error("cannot start worker {number}: {reason}; use fewer --jobs")]
    NoWorker { number: usize, reason: io::Error },
    #[error("cannot start threads: {0}")]
    NoThreads(rayon::ThreadPoolBuildError),
    #[error(
        "{run} {reason}; the call that it is in cannot be interrupted, so the program ends: leave this run out with --only"
    )]
    OutOfMemory { run: String, reason: String },
    #[error("must be I/N, such as 3/16, with I from 1 to N and N at most {MOST_SHARDS}")]
    ShardIndex,
    #[error("{missing} of {runs} runs are missing, in shards {shards}{failed}; run these shards again")]
    Incomplete { missing: usize, runs: usize, shards: String, failed: String },
    #[error("{what} {word:?} has a line break or another control character, which scripts cannot contain")]
    ControlCharacter { what: &'static str, word: String },
    #[error(
        "{program} is not installed here; run this command on a login node of the cluster (`cluster plan --emit hq` and \
         `--emit parallel` make scripts for other engines)"
    )]
    NotInstalled { program: &'static str },
    #[error("cannot start {program}: {reason}")]
    NotStarted { program: &'static str, reason: io::Error },
    #[error(
        "{program} failed ({status}): {reason}; check that the cluster is up and that {program} works on this machine"
    )]
    ProgramFailed { program: &'static str, status: ExitStatus, reason: String },
    #[error("{program} did not answer within {seconds} s; check that the cluster is up, then try again")]
    NoAnswer { program: &'static str, seconds: u64 },
    #[error("{program} printed more than {mebibytes} MiB, so it is not that of SLURM")]
    TooMuch { program: &'static str, mebibytes: u64 },
    #[error("sbatch printed '{0}' instead of a job id; `squeue --me` shows whether it was submitted")]
    NoJobId(String),
    #[error(
        "this cluster has no job arrays (MaxArraySize = {0}); `cluster plan --emit hq` and `--emit parallel` need none"
    )]
    NoArrays(usize),
    #[error("squeue --json did not print JSON with jobs ({0})")]
    NoQueue(String),
}

impl Error {
    /// Whether sbatch has certainly submitted nothing. A controller that answers too late may have taken the job.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotInstalled { .. } | Self::NotStarted { .. } => true,
            Self::ProgramFailed { status, reason, .. } => status.code().is_some() && !reason.contains("timed out"),
            _ => false,
        }
    }
}
