//! Errors about the name, the settings and the size of a data set, and about an oracle program. An error inside a file
//! is a [`crate::Error`] with the file and the line.

use super::program;
use crate::text::{bytes, nearest};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("unknown data set '{name}'; known: {known}{near}")]
    Unknown { name: String, near: String, known: String },
    #[error("'{name}' is a file, not the name of a data set; write {kind}:{name}{other}")]
    IsAFile { name: String, kind: &'static str, other: &'static str },
    #[error(
        "is not the official file of {name}: its sha256 is {found}, not {expected}; move it away and get the official one with \
         `ssvm-bench data fetch {name}`, or use it as a data set of its own, {name}~accepted, with --accept-data"
    )]
    OtherContent { name: &'static str, expected: String, found: String },
    #[error("data set '{name}': {row} has no official file, so no other file can stand in for it; write {row}")]
    NothingToAccept { name: String, row: &'static str },
    #[error("data set '{0}' has no examples")]
    NoExample(String),
    #[error("data set '{name}' needs a path: {head}:PATH")]
    NoPath { name: String, head: String },
    #[error("data set '{name}': {wrong}")]
    Argument { name: String, wrong: ArgumentError },
    #[error("data set '{name}': {wrong}; expected oracle:PROGRAM[,limit=SECONDS…] [ARGUMENTS]")]
    CommandLine { name: String, wrong: ArgumentError },
    #[error("{what} must be {expected}, not {value}")]
    Setting { what: &'static str, expected: &'static str, value: String },
    #[error("'{name}' is a {family} problem, which has no pairwise_weight; leave it out")]
    NoPairwiseWeight { name: String, family: &'static str },
    #[error("{what} about {} of memory, but {} is free; use a smaller data set or a machine with more memory", bytes(*needed), bytes(*free))]
    Memory { what: String, needed: u64, free: u64 },
    #[error("no cache folder is known: set $XDG_CACHE_HOME to an absolute path")]
    NoCacheFolder,
    #[error("'{0}' is not an image set; the image sets are horses and stanford")]
    NotImages(String),
    #[error("{set} has no example {index}; its examples are 0 to {last}")]
    NoSuchExample { set: &'static str, last: usize, index: usize },
    #[error(transparent)]
    Program(#[from] program::Error),
}

/// Errors in the text behind the colon of a data set's name.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    #[error("unknown parameter '{part}'; {known}{near}")]
    Unknown { part: String, near: String, known: String },
    #[error("parameter '{0}' has no value; write {0}=VALUE")]
    NoValue(String),
    #[error("parameter '{0}' is given twice")]
    Twice(String),
    #[error("parameter '{key}={value}' must be {expected}")]
    Value { key: String, value: String, expected: String },
    #[error("no program is named")]
    NoProgram,
    #[error("a quote is not closed, or a backslash ends the text")]
    OpenQuote,
}

impl ArgumentError {
    /// Fails unless every part between commas is `key=…` with one of these keys, each at most once.
    pub(super) fn check(text: &str, keys: &[&str]) -> Result<(), Self> {
        let mut seen = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let key = part.split_once('=').map_or("", |(key, _)| key);
            if keys.contains(&part) {
                return Err(Self::NoValue(part.to_owned()));
            }
            if !keys.contains(&key) {
                let near = nearest(if key.is_empty() { part } else { key }, keys.iter().copied());
                let known =
                    if keys.is_empty() { "it has no parameters".into() } else { format!("known: {}", keys.join(", ")) };
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
