//! The store of certified optima: from data checksum, λ and pairwise weight to a bracket of the optimum, stored as
//! TOML.
//!
//! The program includes a store; a `results/optima.toml` in the working folder adds to it. Brackets of one problem are
//! intersected: the lower bound never falls, the upper bound never rises.

use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::error::{Error, Result};
use crate::store;
use crate::store::files::{self, SharedFile};
use ssvm::solver::Bracket;

/// The store of the working folder: read if it exists, and the default to write to.
pub const LOCAL: &str = "results/optima.toml";

const SHIPPED: &str = include_str!("../../results/optima.toml");

const HEADER: &str = "\
# Certified optima: the optimum of each problem lies between `lower` (F of a feasible plane) and `upper` (P at some w, the
# oracle exact or bounded from above). Both include an allowance for rounding. Filled by the command `data optimum DATASET`.
# A bracket is only ever narrowed.
";

/// The bounds of the optimum of one problem: one `[[optimum]]` of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Optimum {
    /// For people only; the checksum identifies the data.
    pub dataset: String,
    pub checksum: String,
    pub lambda: f64,
    /// The pairwise weight, if it is not the data set's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise_weight: Option<f64>,
    pub lower: f64,
    pub upper: f64,
    /// The solver that found it.
    pub solver: String,
    /// Version of the code that found it.
    pub code: String,
}

impl Optimum {
    pub fn bracket(&self) -> Bracket {
        Bracket { lower: self.lower, upper: self.upper }
    }

    fn is_of(&self, checksum: &str, lambda: f64, pairwise_weight: Option<f64>) -> bool {
        self.checksum == checksum && self.lambda == lambda && self.pairwise_weight == pairwise_weight
    }

    fn check(&self) -> Result<(), store::Error> {
        let Self { dataset, lambda, lower, upper, .. } = self;
        if !(lambda.is_finite() && *lambda > 0.0) {
            return Err(store::Error::Lambda(*lambda));
        }
        if !(lower.is_finite() && upper.is_finite() && lower <= upper) {
            return Err(store::Error::EmptyBracket { dataset: dataset.clone(), lower: *lower, upper: *upper });
        }
        Ok(())
    }
}

/// Certified optima, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optima {
    pub entries: Vec<Optimum>,
}

impl Optima {
    /// The included store, with the additions of a store in the working folder.
    pub fn known() -> Result<Self> {
        let path = Path::new(LOCAL);
        let mut store = Self::shipped().clone();
        for entry in Self::read(path)?.entries {
            store.add(entry).map_err(|error| Error::file(path, error))?;
        }
        Ok(store)
    }

    /// The store that is included in the program.
    pub fn shipped() -> &'static Self {
        static STORE: LazyLock<Optima> = LazyLock::new(|| Optima::parse(Path::new(LOCAL), SHIPPED).unwrap_or_default());
        &STORE
    }

    /// Reads a store; one that does not exist is empty.
    pub fn read(path: &Path) -> Result<Self> {
        files::read_text_if_there(path)?.map_or(Ok(Self::default()), |text| Self::parse(path, &text))
    }

    /// Checks the text of a store; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[serde(default)]
            optimum: Vec<Spanned<Optimum>>,
        }
        let wrong = |offset, reason: String| Error::offset(path, text, offset, store::Error::Optimum(reason));
        let file: File = toml::from_str(text).map_err(|error| {
            wrong(error.span().map_or(0, |span| span.start), error.message().trim().replace('\n', ", "))
        })?;
        let mut store = Self::default();
        for entry in file.optimum {
            let offset = entry.span().start;
            let added = entry.get_ref().check().and_then(|()| store.add(entry.into_inner()));
            added.map_err(|error| wrong(offset, error.to_string()))?;
        }
        Ok(store)
    }

    /// The bracket of a problem; `pairwise_weight` is given if it is not the data set's own.
    pub fn find(&self, checksum: &str, lambda: f64, pairwise_weight: Option<f64>) -> Option<Bracket> {
        self.entries.iter().find(|entry| entry.is_of(checksum, lambda, pairwise_weight)).map(Optimum::bracket)
    }

    /// Adds a bracket of a problem; returns the intersection with the known one. Fails if the two exclude each other.
    pub fn add(&mut self, new: Optimum) -> Result<Bracket, store::Error> {
        let found = new.bracket();
        let known = self.entries.iter_mut().find(|known| known.is_of(&new.checksum, new.lambda, new.pairwise_weight));
        let Some(entry) = known else {
            self.entries.push(new);
            return Ok(found);
        };
        let known = entry.bracket();
        let both = known.and(found);
        if both.lower > both.upper {
            return Err(store::Error::Brackets { dataset: new.dataset, known, new: found });
        }
        if both != known {
            *entry = Optimum { lower: both.lower, upper: both.upper, ..new };
        }
        Ok(both)
    }

    pub fn text(&self) -> Result<String, toml::ser::Error> {
        let mut text = HEADER.to_owned();
        for entry in &self.entries {
            text += &format!("\n[[optimum]]\n{}", toml::to_string(entry)?);
        }
        Ok(text)
    }

    /// Adds a bracket of a problem to the store in a file, safely beside other processes that do so; returns the new
    /// bracket.
    pub fn update(path: &Path, new: Optimum) -> Result<Bracket> {
        let shared = SharedFile::lock(path)?;
        let mut store = shared.text()?.map_or(Ok(Self::default()), |text| Self::parse(path, &text))?;
        let bracket = store.add(new)?;
        shared.write(&store.text().map_err(|error| Error::file(path, error))?)?;
        Ok(bracket)
    }
}
