//! What can be wrong with files and result folders. Most of it is the reason of a [`crate::Error::File`] or `Line`, which has the
//! place.

use std::io;
use std::path::PathBuf;

use super::SCHEMA_VERSION;
use crate::text::program_name;
use ssvm::clock::{ClockKind, OracleCost};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    // Files.
    #[error("the disk is full; what was finished before is intact: free some space and start again")]
    DiskFull,
    #[error("is a folder, expected the name of a file")]
    IsAFolder,
    #[error("there is no folder {}; make it, or name a file in one that exists", .0.display())]
    NoFolder(PathBuf),
    #[error("has more than {0} MiB: not a file of this kind")]
    TooLarge(u64),
    #[error("is not text (invalid UTF-8)")]
    NotText,
    #[error("cannot be read to its end ({0}); fetch it again")]
    Cut(io::Error),
    #[error("does not hold a SHA-256 checksum; delete it to record a new one")]
    NoChecksum,
    #[error("has been in the hands of {holder} for {seconds} s; wait until it has ended, then try again")]
    Held { seconds: u64, holder: String },
    #[error("cannot be locked against other writers ({0}); choose a file on a disk of this machine")]
    NoFileLock(io::Error),
    #[error(
        "the lock of this process was removed, so another one may be changing the file; nothing was written: try again"
    )]
    LockGone,

    // Result folders.
    #[error("holds shards only; `{program} merge {dir} --out {dir}` joins them", program = program_name(), dir = .0.display())]
    OnlyShards(PathBuf),
    #[error("{why}; `{program} run --config C --out {}` makes them", dir.display(), program = program_name())]
    NoResults { why: &'static str, dir: PathBuf },
    #[error(
        "another `{} run` or `merge` is writing into this folder; wait for it or choose another --out",
        program_name()
    )]
    Locked,
    #[error("cannot be locked ({0}); choose an --out on a disk of this machine")]
    NoLock(io::Error),
    #[error(
        "is not the folder any more that this process writes into: it was deleted, moved or replaced, and with it {0} runs that were \
         finished since the start; start again"
    )]
    FolderGone(u64),
    #[error(
        "{0} runs were written and are not there any more: something else removes files of this folder; start again"
    )]
    FilesGone(u64),
    #[error("{0}; the manifest is damaged: delete it, the runs stay valid")]
    Manifest(serde_json::Error),
    #[error(
        "the paper's oracle cost of {dataset} (λ = {lambda}) on the {} clock is {here} here and {there} in another folder; run all shards from one id file \
         (plan --shards N --emit lines), which keeps it",
        clock.name()
    )]
    OracleCost { dataset: String, lambda: f64, clock: ClockKind, here: OracleCost, there: OracleCost },

    // Records.
    #[error("a seed or repeat of {0} is above 2^63")]
    LargeSeed(u64),
    #[error("cannot be written as Parquet: {0}")]
    Encoding(String),
    #[error("damaged: {0}; start `{program} run` again to redo this run", program = program_name())]
    Damaged(String),
    #[error("damaged: it holds run {0}; give it back that name or delete it")]
    Misnamed(String),
    /// Stops the reading of a whole folder: it is not damaged but foreign.
    #[error(
        "{}: written with result layout {version}, this program reads layout {SCHEMA_VERSION}; read it with the program \
         version that wrote it, or run again into another --out",
        path.display()
    )]
    OtherLayout { path: PathBuf, version: String },
    #[error("a latency histogram cannot be {action}: {reason}")]
    Histogram { action: &'static str, reason: String },
    #[error("--only '{text}': {reason}")]
    Pattern { text: String, reason: String },

    // Certified optima.
    #[error("lambda must be positive and finite, not {0}")]
    Lambda(f64),
    #[error("no optimum of '{dataset}' lies between {lower} and {upper}")]
    EmptyBracket { dataset: String, lower: f64, upper: f64 },
    #[error(
        "two brackets of '{dataset}' exclude each other: {} to {} and {} to {}; one of them is wrong",
        known.lower, known.upper, new.lower, new.upper
    )]
    Brackets { dataset: String, known: ssvm::solver::Bracket, new: ssvm::solver::Bracket },
    #[error("{0}; mend the line, or delete its [[optimum]] and run `{program} optimum` again", program = program_name())]
    Optimum(String),
}
