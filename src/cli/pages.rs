//! Result folders as commands read them.

use std::path::{Path, PathBuf};

use super::{note, readme};
use crate::experiment::catalog::Catalog;
use crate::render::figure::FigureRow;
use crate::study::{Study, Summary};

/// Which results a command prints.
#[derive(Clone, Debug, clap::Args)]
pub struct FoundIn {
    /// Result folder, or the summary.json of one
    pub results: PathBuf,
    /// Only runs whose DATASET/SOLVER matches, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

impl FoundIn {
    pub fn summary(&self, catalog: &dyn Catalog) -> anyhow::Result<Summary> {
        summary(&self.results, catalog, &self.only)
    }

    /// The same with what the thresholds of the claims decide, which takes longer.
    pub fn explained(&self, catalog: &dyn Catalog) -> anyhow::Result<Summary> {
        if self.results.is_file() {
            return self.summary(catalog);
        }
        let study = open(&self.results, catalog, &self.only)?;
        Ok(Summary::of(&study, &self.results).with_sensitivities(&study))
    }
}

/// The numbers of a result folder, or those of a `summary.json`.
pub fn summary(path: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Summary> {
    if !path.is_file() {
        return Ok(Summary::of(&open(path, catalog, only)?, path));
    }
    anyhow::ensure!(only.is_empty(), "--only needs the runs: give the result folder instead of {}", path.display());
    let summary = Summary::read(path)?;
    if readme::publishing() {
        readme::publishable(path, &summary)?;
    }
    Ok(summary)
}

/// Reads a result folder and warns about what is wrong in it.
pub fn open(folder: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Study> {
    if readme::publishing() {
        anyhow::bail!("{}: is a result folder; pages show committed summaries", folder.display());
    }
    let results = Study::open(folder, catalog, only)?;
    warn(&results);
    Ok(results)
}

/// Damaged files and failed runs, once.
pub fn warn(results: &Study) {
    for line in results.warnings() {
        note(&format!("warning: {line}"));
    }
}

/// Figures that were not drawn, and why.
pub fn note_left_out(rows: &[&FigureRow]) {
    for row in rows {
        note(&format!("note: {}, {} is left out", row.missing, row.name));
    }
}
