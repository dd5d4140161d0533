//! Result folders as commands read them.

use std::path::Path;

use super::note;
use crate::experiment::catalog::Catalog;
use crate::render::Summary;
use crate::render::figure::FigureRow;
use crate::study::Study;

/// The numbers of a result folder, or those of a `summary.json`.
pub fn summary(path: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Summary> {
    if !path.is_file() {
        return Ok(Summary::of(&open(path, catalog, only)?, path)?);
    }
    anyhow::ensure!(only.is_empty(), "--only needs the runs: give the result folder instead of {}", path.display());
    Ok(Summary::read(path)?)
}

/// Reads a result folder and warns about what is wrong in it.
pub fn open(folder: &Path, catalog: &dyn Catalog, only: &[String]) -> anyhow::Result<Study> {
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
