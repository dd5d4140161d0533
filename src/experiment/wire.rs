//! TOML text → wire types with the place of every value, or an error with file, line and the nearest valid key.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, Result};
use crate::text::nearest;

/// A config file as written; nothing checked beyond names and types.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub name: Spanned<String>,
    pub seed: Option<u64>,
    pub repeats: Option<Spanned<u64>>,
    pub clock: Option<Spanned<String>>,
    pub evaluate: Option<Spanned<String>>,
    pub jobs: Option<Spanned<u64>>,
    pub oracle_cost: Option<Spanned<toml::Value>>,
    pub threads: Option<Spanned<u64>>,
    pub timeout_s: Option<Spanned<f64>>,
    pub probes: Option<u32>,
    pub gap_targets: Option<Spanned<Vec<f64>>>,
    #[serde(default)]
    pub budget: Budget,
    #[serde(default)]
    pub dataset: Vec<Spanned<Dataset>>,
    #[serde(default)]
    pub solver: Vec<Spanned<Solver>>,
}

/// `[budget]`, and `[dataset.budget]`, whose keys replace those of the former.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    pub iterations: Option<Spanned<u64>>,
    pub time_s: Option<Spanned<f64>>,
    pub oracle_calls: Option<Spanned<u64>>,
    pub gap: Option<Spanned<f64>>,
    pub until: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dataset {
    pub name: Spanned<String>,
    #[serde(rename = "else")]
    pub otherwise: Option<Spanned<String>>,
    pub lambda: Option<Spanned<f64>>,
    pub pairwise_weight: Option<Spanned<f64>>,
    pub oracle_cost: Option<Spanned<toml::Value>>,
    pub budget: Option<Budget>,
}

/// One `[[solver]]`: its name, and parameters that the solver's row knows.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Solver(pub BTreeMap<String, Spanned<toml::Value>>);

/// A file and its text: turns places into lines.
pub(super) struct Source<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl Source<'_> {
    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
    }

    /// An error at a value.
    pub fn error<T>(&self, value: &Spanned<T>, message: impl ToString) -> Error {
        Error::line(self.path, self.line(value.span().start), message.to_string())
    }

    pub fn parse(&self) -> Result<File> {
        toml::from_str(self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Error::line(self.path, self.line(offset), self.explain(error.message(), offset))
        })
    }

    /// Serde's message made useful: the nearest valid key, or the key whose value has the wrong type.
    fn explain(&self, message: &str, offset: usize) -> String {
        let mut quoted = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown field") {
            let key = quoted.next().unwrap_or_default();
            let valid: Vec<&str> = quoted.collect();
            return format!(
                "unknown key `{key}`{}; valid here: {}",
                nearest(key, valid.iter().copied()),
                valid.join(", ")
            );
        }
        if message.starts_with("missing field") {
            return format!("the key `{}` is missing", quoted.next().unwrap_or_default());
        }
        let start = self.text[..offset.min(self.text.len())].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        match line.split_once('=') {
            Some((key, _)) if message.starts_with("invalid") => format!("wrong value of `{}`: {message}", key.trim()),
            _ => message.trim().replace('\n', ", "),
        }
    }
}
