//! What can go wrong while runs are executed, split into shards, submitted and merged.

use std::io;
use std::process::ExitStatus;

use super::shard::MOST_SHARDS;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no iteration of BCFW was evaluated")]
    NoIteration,
    #[error("stopped before the paper's oracle cost was solved; the same command solves it")]
    StoppedEarly,
    #[error("the data set of this run was not loaded")]
    NotLoaded,
    #[error("a worker thread died outside a run; please report this")]
    WorkerDied,
    #[error("cannot start worker {number}: {reason}; use fewer --jobs")]
    NoWorker { number: usize, reason: io::Error },
    #[error("cannot start threads: {0}")]
    NoThreads(rayon::ThreadPoolBuildError),
    #[error("{0}; run again for the runs that are left")]
    Again(String),
    #[error("{0} has ended the process that executes the runs, outside of a run")]
    Died(String),
    #[error("cannot start the process that executes the runs: {0}")]
    Unsupervised(io::Error),
    #[error("must be I/N with I from 1 to N, such as 3/16, and N at most {MOST_SHARDS}")]
    ShardIndex,
    #[error("{missing} of {runs} runs are missing, in shards {shards}{failed}; run these shards again")]
    Incomplete { missing: usize, runs: usize, shards: String, failed: String },
    #[error(
        "'{0}' is not a time limit: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS or DAYS-HOURS:MINUTES"
    )]
    TimeLimit(String),
    #[error("{what} {word:?} has a line break or another control character: no script can hold it")]
    ControlCharacter { what: &'static str, word: String },
    #[error(
        "{program} is not installed here: call this on a login node of the cluster; `plan --emit hq` and `--emit parallel` \
         make scripts for other engines"
    )]
    NotInstalled { program: &'static str },
    #[error("cannot start {program}: {reason}")]
    NotStarted { program: &'static str, reason: io::Error },
    #[error("{program} failed ({status}): {reason}")]
    ProgramFailed { program: &'static str, status: ExitStatus, reason: String },
    #[error("sbatch printed no job id but '{0}'; `squeue --me` shows whether it was submitted")]
    NoJobId(String),
    #[error("MaxArraySize = {0}: this cluster has no job arrays; `plan --emit hq` and `--emit parallel` need none")]
    NoArrays(usize),
    #[error("squeue --json printed something else than JSON with jobs ({0})")]
    NoQueue(String),
}
