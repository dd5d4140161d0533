//! The store of certified optima: (data checksum, λ, pairwise weight) → a bracket of the optimum, and TOML ↔ store.
//!
//! What is shipped is part of the program; a `results/optima.toml` in the working folder adds to it. Brackets of one
//! problem are intersected: the lower bound never falls, the upper bound never rises.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::error::{Error, Result};
use crate::store::{self, files};
use ssvm::solver::Bracket;

/// The store of the working folder: read if it exists, and the default to write to.
pub const LOCAL: &str = "results/optima.toml";

const SHIPPED: &str = include_str!("../../results/optima.toml");

const HEADER: &str = "\
# Certified optima: the optimum of each problem lies between `lower` (F of a feasible plane) and `upper` (P at some w, the
# oracle exact or bounded from above). Both include an allowance for rounding. Filled by `ssvm-bench optimum DATASET`.
# A bracket is only ever narrowed.
";

/// The optimum of one problem, as far as it is known: one `[[optimum]]` of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Optimum {
    /// Name of the data set, for people.
    pub dataset: String,
    /// Checksum of its content.
    pub checksum: String,
    /// λ.
    pub lambda: f64,
    /// Weight of the pairwise term, where it is not the data set's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise_weight: Option<f64>,
    /// The optimum is at least this.
    pub lower: f64,
    /// The optimum is at most this.
    pub upper: f64,
    /// What found it.
    pub solver: String,
    /// Version of the code that did.
    pub code: String,
}

impl Optimum {
    /// Where the optimum lies.
    pub fn bracket(&self) -> Bracket {
        Bracket { lower: self.lower, upper: self.upper }
    }

    fn is_of(&self, checksum: &str, lambda: f64, pairwise_weight: Option<f64>) -> bool {
        self.checksum == checksum && self.lambda == lambda && self.pairwise_weight == pairwise_weight
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    optimum: Vec<Spanned<Optimum>>,
}

/// Certified optima.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    entries: Vec<Optimum>,
}

impl Store {
    /// What is shipped, and what a store in the working folder adds.
    pub fn known() -> Result<Self> {
        Self::beside(Path::new(LOCAL))
    }

    /// What is shipped, and what the store in this file adds if there is one.
    pub fn beside(path: &Path) -> Result<Self> {
        let mut store = Self::shipped().clone();
        for entry in Self::read(path)?.entries {
            store.add(entry).map_err(|error| Error::file(path, error))?;
        }
        Ok(store)
    }

    /// What is part of the program.
    pub fn shipped() -> &'static Self {
        static STORE: LazyLock<Store> = LazyLock::new(|| Store::parse(Path::new(LOCAL), SHIPPED).unwrap_or_default());
        &STORE
    }

    /// Reads a store; one that is not there is empty.
    pub fn read(path: &Path) -> Result<Self> {
        files::read_text_if_there(path)?.map_or(Ok(Self::default()), |text| Self::parse(path, &text))
    }

    /// Checks the text of a store; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let at = |offset: usize| 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        let wrong = |offset, message: String| Error::line(path, at(offset), store::Error::Optimum(message));
        let file: File = toml::from_str(text).map_err(|error| {
            wrong(error.span().map_or(0, |span| span.start), error.message().trim().replace('\n', ", "))
        })?;
        let mut store = Self::default();
        for spanned in file.optimum {
            let offset = spanned.span().start;
            let new = spanned.into_inner();
            let Optimum { dataset, lambda, lower, upper, .. } = &new;
            if !(lambda.is_finite() && *lambda > 0.0) {
                return Err(wrong(offset, store::Error::Lambda(*lambda).to_string()));
            }
            if !(lower.is_finite() && upper.is_finite() && lower <= upper) {
                return Err(wrong(
                    offset,
                    store::Error::EmptyBracket { dataset: dataset.clone(), lower: *lower, upper: *upper }.to_string(),
                ));
            }
            store.add(new).map_err(|error| wrong(offset, error.to_string()))?;
        }
        Ok(store)
    }

    /// The entries, in the order they came.
    pub fn entries(&self) -> &[Optimum] {
        &self.entries
    }

    /// The bracket of a problem: checksum of its data, λ, and the weight of the pairwise term if it is not the data
    /// set's own.
    pub fn find(&self, checksum: &str, lambda: f64, pairwise_weight: Option<f64>) -> Option<Bracket> {
        self.entries.iter().find(|entry| entry.is_of(checksum, lambda, pairwise_weight)).map(Optimum::bracket)
    }

    /// Adds what is certain about a problem; returns what is certain now. An error if both cannot be true.
    pub fn add(&mut self, new: Optimum) -> Result<Bracket> {
        let known = self.entries.iter_mut().find(|known| known.is_of(&new.checksum, new.lambda, new.pairwise_weight));
        let Some(known) = known else {
            let bracket = new.bracket();
            self.entries.push(new);
            return Ok(bracket);
        };
        let both = known.bracket().and(new.bracket());
        if both.lower > both.upper {
            let (known, found) = (known.bracket(), new.bracket());
            return Err(store::Error::Brackets { dataset: new.dataset, known, new: found }.into());
        }
        if both != known.bracket() {
            *known = Optimum { lower: both.lower, upper: both.upper, ..new };
        }
        Ok(both)
    }

    /// The text of the store.
    pub fn text(&self) -> Result<String> {
        let mut text = HEADER.to_owned();
        for entry in &self.entries {
            let body = toml::to_string(entry).map_err(|error| Error::invalid(error.to_string()))?;
            text += &format!("\n[[optimum]]\n{body}");
        }
        Ok(text)
    }

    /// Writes the store whole or not at all.
    pub fn write(&self, path: &Path) -> Result<PathBuf> {
        files::write_bytes(path, self.text()?.as_bytes())?;
        Ok(path.to_owned())
    }
}
