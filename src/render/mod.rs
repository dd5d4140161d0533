//! Typed tables and curves → text, Markdown, LaTeX, CSV, HTML, SVG, PNG and PDF.
//!
//! In the order of `reproduce`: [`figure`] draws every figure once, [`tables`] turns findings into tables and text, and [`report`]
//! puts all of them into one HTML page. [`style`] has the colours and dashes of lines.

mod error;
pub mod figure;
pub mod report;
pub mod style;
pub mod tables;

pub use error::Error;

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::store::files;
use crate::study::{Study, Summary, export};
use figure::{FigureRow, FileFormat};
use report::Page;

pub struct Pages {
    pub files: Vec<PathBuf>,
    pub report: PathBuf,
    /// Figures for which the folder has no data.
    pub left_out: Vec<&'static FigureRow>,
}

/// Writes figures, tables, report and summary into a result folder. `named` puts the name of this program into the report. `begin` is
/// called before each step with its name; an error that it returns ends the work.
pub fn write_pages(
    results: &Study,
    summary: &Summary,
    out: &Path,
    named: &dyn Fn(&str) -> String,
    begin: &dyn Fn(&str) -> Result<()>,
) -> Result<Pages> {
    begin("drawing figures")?;
    let (figures, left_out) = figure::draw(results, summary, &[], true)?;
    let mut files = figure::write(&figures, &out.join("figures"), &FileFormat::ALL)?;
    files.extend(write_tables(results, summary, &out.join("tables"))?);
    begin("writing the report")?;
    let report = out.join("report.html");
    let page = report::html(&Page { name: &summary.name, results, summary, figures: &figures })?;
    files::write_bytes(&report, named(&page).as_bytes())?;
    summary.write(&out.join("summary.json"))?;
    Ok(Pages { files, report, left_out })
}

/// Writes the tables behind figures and league as Parquet and CSV; returns the files.
pub fn write_tables(results: &Study, summary: &Summary, dir: &Path) -> Result<Vec<PathBuf>> {
    let mut tables = export::tables(results.all())?;
    tables.extend(tables::long::tables(&summary.league)?);
    let names = [export::write_parquet(&tables, dir)?, export::write_csv(&tables, dir)?].concat();
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}
