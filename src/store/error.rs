//! Errors of files and result folders. Most of them are the reason of a [`crate::Error::File`] or `Line`, which has the
//! place.

use std::io;
use std::path::PathBuf;

use super::SCHEMA_VERSION;
use ssvm::clock::{ClockKind, OracleCost};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    // Files.
    #[error("the disk is full; finished files are intact: free some space and start again")]
    DiskFull,
    #[error("is a folder; expected the name of a file")]
    IsAFolder,
    #[error("the folder {} does not exist; create it or choose another path", .0.display())]
    NoFolder(PathBuf),
    #[error("has more than {0} MiB, so it is not a file of this kind")]
    TooLarge(u64),
    #[error("is not text (invalid UTF-8)")]
    NotText,
    #[error("cannot be read to its end ({0}); fetch it again")]
    Cut(io::Error),
    #[error("contains no SHA-256 checksum; delete it to record a new one")]
    NoChecksum,
    #[error("has been locked by {holder} for {seconds} s; wait until that process ends, then try again")]
    Held { seconds: u64, holder: String },
    #[error("cannot be locked against other writers ({0}); choose a file on a disk of this machine")]
    NoFileLock(io::Error),
    #[error("has the name of a lock file of this program but is not one; move it away, then try again")]
    NotALock,
    #[error(
        "has the name of an unfinished download but is not a plain file with one name; move it away, then try again"
    )]
    NotAPart,
    #[error(
        "the lock of this process was removed, so another process may be changing the file; nothing was written: try again"
    )]
    LockGone,

    // Result folders.
    #[error("contains only shards; `ssvm-bench cluster merge {dir} --out {dir}` joins them", dir = .0.display())]
    OnlyShards(PathBuf),
    #[error("{why}; make results with `ssvm-bench run CONFIG --out {}`", dir.display())]
    NoResults { why: &'static str, dir: PathBuf },
    #[error(
        "another `ssvm-bench run` or `cluster merge` is writing into this folder; wait for it or choose another --out"
    )]
    Locked,
    #[error("cannot be locked ({0}); choose an --out on a disk of this machine")]
    NoLock(io::Error),
    #[error(
        "was deleted, moved or replaced while this process wrote into it, and {0} runs that it had finished are gone; start \
         again"
    )]
    FolderGone(u64),
    #[error(
        "was moved to {now} while this process wrote into it; {written} runs that it had finished are there: move the folder back, \
         or continue with --out {now}",
        now = now.display()
    )]
    FolderMoved { written: u64, now: PathBuf },
    #[error(
        "{0} runs that this process wrote are gone, because something else removed files of this folder; start again"
    )]
    FilesGone(u64),
    #[error("the manifest is damaged ({0}); delete it: the runs stay valid")]
    Manifest(serde_json::Error),
    #[error(
        "the paper's oracle cost of {dataset} (λ = {lambda}) on the {} clock is {here} here and {there} in another folder; run all shards from one id file \
         (cluster plan --shards N --emit lines), which stores it",
        clock.name()
    )]
    OracleCost { dataset: String, lambda: f64, clock: ClockKind, here: OracleCost, there: OracleCost },

    // Records.
    #[error("a seed or repeat of {0} is above 2^63")]
    LargeSeed(u64),
    #[error("cannot be written as Parquet: {0}")]
    Encoding(String),
    #[error("damaged: {0}; start `ssvm-bench run` again to redo this run")]
    Damaged(String),
    #[error("damaged: it contains run {0}; rename it to that or delete it")]
    Misnamed(String),
    /// Ends the reading of a whole folder, which is not damaged but foreign.
    #[error(
        "{}: written with result layout {version}, but this program reads layout {SCHEMA_VERSION}; read it with the \
         version of the program that wrote it, or run again into another --out",
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
    #[error("the bracket of '{dataset}' is empty: its lower bound {lower} is above its upper bound {upper}")]
    EmptyBracket { dataset: String, lower: f64, upper: f64 },
    #[error(
        "two brackets of '{dataset}' exclude each other: {} to {} and {} to {}; one of them is wrong",
        known.lower, known.upper, new.lower, new.upper
    )]
    Brackets { dataset: String, known: ssvm::solver::Bracket, new: ssvm::solver::Bracket },
    #[error("{0}; correct the line, or delete its [[optimum]] and run `ssvm-bench data optimum` again")]
    Optimum(String),
}
