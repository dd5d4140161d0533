//! What can be wrong with the name, the settings and the size of a data set, and with an oracle program. What is wrong inside
//! a file is a [`crate::Error`] with the file and the line.

use super::program;
use crate::text::{bytes, nearest, program_name};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("unknown data set '{name}'{near}; known: {known}")]
    Unknown { name: String, near: String, known: String },
    #[error("'{name}' is a file, and not the name of a data set: write {kind}:{name}{other}")]
    IsAFile { name: String, kind: &'static str, other: &'static str },
    #[error(
        "is not the official file of {name}: its sha256 is {found}, not {expected}; move it away and get the official one with \
         `{program} data fetch {name}`, or use it as a data set of its own, {name}~accepted, with --accept-data",
        program = program_name()
    )]
    OtherContent { name: &'static str, expected: String, found: String },
    #[error("data set '{name}': {row} has no official file, so there is no other one to accept; write {row}")]
    NothingToAccept { name: String, row: &'static str },
    #[error("data set '{0}' has no example")]
    NoExample(String),
    #[error("data set '{name}' needs a path: {head}:PATH")]
    NoPath { name: String, head: String },
    #[error("data set '{name}': {wrong}")]
    Argument { name: String, wrong: ArgumentError },
    #[error("data set '{name}': {wrong}; expected oracle:PROGRAM[,limit=SECONDS…] [ARGUMENTS]")]
    CommandLine { name: String, wrong: ArgumentError },
    #[error("{what} must be {expected}, not {value}")]
    Setting { what: &'static str, expected: &'static str, value: String },
    #[error("'{name}' is a {family} problem: it has no pairwise_weight")]
    NoPairwiseWeight { name: String, family: &'static str },
    #[error("{what} about {} of memory, and {} is free; use a smaller data set, or a machine with more", bytes(*needed), bytes(*free))]
    Memory { what: String, needed: u64, free: u64 },
    #[error("no cache folder: set $XDG_CACHE_HOME to an absolute path")]
    NoCacheFolder,
    #[error("{0:?} is not an image set; `data prepare` and `data show` know horses and stanford")]
    NotImages(String),
    #[error("{set} has the examples 0 to {last}, not {index}")]
    NoSuchExample { set: &'static str, last: usize, index: usize },
    #[error(transparent)]
    Program(#[from] program::Error),
}

/// What is wrong with the text behind the colon of a data set's name.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    #[error("parameter '{part}' is unknown{near}; {known}")]
    Unknown { part: String, near: String, known: String },
    #[error("parameter '{0}' is given twice")]
    Twice(String),
    #[error("parameter '{key}={value}' must be {expected}")]
    Value { key: String, value: String, expected: String },
    #[error("there is no program")]
    NoProgram,
    #[error("a quote is not closed, or it ends with a backslash")]
    OpenQuote,
}

impl ArgumentError {
    /// Fails unless every part between commas is `key=…` with one of these keys, each at most once.
    pub(super) fn check(text: &str, keys: &[&str]) -> Result<(), Self> {
        let mut seen = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let key = part.split_once('=').map_or("", |(key, _)| key);
            if !keys.contains(&key) {
                let near = nearest(if key.is_empty() { part } else { key }, keys.iter().copied());
                let known = if keys.is_empty() { "it has none".into() } else { format!("known: {}", keys.join(", ")) };
                return Err(Self::Unknown { part: part.to_owned(), near, known });
            }
            if seen.contains(&key) {
                return Err(Self::Twice(key.to_owned()));
            }
            seen.push(key);
        }
        Ok(())
    }

    pub(super) fn value(key: &str, value: &str, expected: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), value: value.to_owned(), expected: expected.into() }
    }
}
