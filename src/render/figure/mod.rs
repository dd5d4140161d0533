//! Results → SVG, PNG and PDF figures.
//!
//! [`FIGURES`] is the list of them, one file per figure draws it. [`theme`] is how they look, [`panel`], [`steps`] and [`legend`]
//! are their parts, [`canvas`] makes files of drawings.

mod breakeven;
pub mod canvas;
pub mod convergence;
pub mod explain;
pub mod index;
mod league;
mod league_targets;
mod legend;
mod oracle_time;
mod panel;
mod performance;
mod steps;
mod table;
mod theme;

pub use table::{FIGURES, FigureRow, Quote};

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Summary;
use crate::error::{Error, Result};
use crate::store::files;
use crate::study::Study;
use crate::study::{View, names};

/// File formats of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// For the web and for editing.
    Svg,
    /// Three pixels per point.
    Png,
    /// For LaTeX.
    Pdf,
}

impl FileFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// Extension of its files.
    pub fn name(self) -> &'static str {
        ["svg", "png", "pdf"][self as usize]
    }
}

/// A drawn figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows.
    pub row: &'static FigureRow,
    /// File name without extension.
    pub name: String,
    /// Whether it is about all data sets together.
    pub overall: bool,
    /// SVG text.
    pub svg: String,
}

/// What figures are drawn from.
pub struct Scene<'a> {
    /// Curves and profile.
    pub results: &'a Study,
    /// League and break-even table.
    pub summary: &'a Summary,
    /// The series that the figures of the paper show.
    pub shown: Vec<bool>,
    /// Patterns of solvers that they were chosen by.
    solvers: &'a [String],
}

impl Scene<'_> {
    /// Draws a figure of what was run in the paper's regime; `None` when nothing was, or when nothing else was.
    fn in_regime(&self, kind: convergence::Kind, datasets: &[&str]) -> Result<Option<String>> {
        let regime = self.results.regime.as_ref().filter(|_| self.results.all_costs.is_some());
        let Some(frames) = regime else { return Ok(None) };
        let run = frames.datasets();
        let both: Vec<&str> = datasets.iter().copied().filter(|dataset| run.contains(dataset)).collect();
        if both.is_empty() {
            return Ok(None);
        }
        convergence::draw(kind, frames, &frames.shown(self.solvers), &both).map(Some)
    }
}

/// The headings of some data sets.
fn titles(frames: &View, datasets: &[&str]) -> String {
    datasets.iter().map(|dataset| frames.title(dataset)).collect::<Vec<_>>().join(", ")
}

/// How many solvers are not shown, for a legend.
fn hidden(frames: &View, shown: &[bool], datasets: &[&str]) -> Option<String> {
    let hidden = datasets.iter().flat_map(|dataset| frames.series_of(dataset)).filter(|s| !shown[*s]);
    let mut labels: Vec<&str> = hidden.map(|s| frames.series[s].label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let plural = if labels.len() == 1 { "solver is" } else { "solvers are" };
    (!labels.is_empty()).then(|| format!("{} more {plural} in the figure of the league", labels.len()))
}

/// Draws every figure of a result folder once: those over all data sets and, if wanted, one for each data set. Returns also
/// the rows of figures that the folder has nothing for. The figures of the paper show solvers that match one of the
/// patterns, see [`View::shown`]; patterns that match none are an error.
pub fn draw(
    results: &Study,
    summary: &Summary,
    solvers: &[String],
    per_dataset: bool,
) -> Result<(Vec<Figure>, Vec<&'static FigureRow>)> {
    let frames = &results.own;
    let scene = Scene { results, summary, shown: frames.shown(solvers), solvers };
    if !scene.shown.contains(&true) && !solvers.is_empty() {
        let mut known: Vec<&str> = frames.series.iter().map(|series| series.solver.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let (solvers, known) = (solvers.join(", "), known.join(", "));
        return Err(Error::invalid(format!("--solvers {solvers} matches no solver; the folder has: {known}")));
    }
    let datasets = frames.datasets();
    let stems = names::file_stems(&datasets);
    let (mut figures, mut left_out) = (Vec::new(), Vec::new());
    for row in FIGURES {
        match (row.draw)(&scene, &datasets)? {
            Some(svg) => figures.push(Figure { row, name: row.name.to_owned(), overall: true, svg }),
            None => left_out.push(row),
        }
        for (dataset, stem) in datasets.iter().zip(&stems).filter(|_| per_dataset && row.per_dataset) {
            let svg = match figures.last() {
                // The only data set is all of them.
                Some(Figure { row: last, svg, .. }) if datasets.len() == 1 && last.name == row.name => {
                    Some(svg.clone())
                }
                _ => (row.draw)(&scene, &[dataset])?,
            };
            figures.extend(svg.map(|svg| Figure { row, name: format!("{}_{stem}", row.name), overall: false, svg }));
        }
    }
    Ok((figures, left_out))
}

/// Writes figures into `dir` in these formats; returns the files in order.
pub fn write(figures: &[Figure], dir: &Path, formats: &[FileFormat]) -> Result<Vec<PathBuf>> {
    let written: Vec<Result<Vec<PathBuf>>> = figures.par_iter().map(|figure| write_one(figure, dir, formats)).collect();
    Ok(written.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

fn write_one(figure: &Figure, dir: &Path, formats: &[FileFormat]) -> Result<Vec<PathBuf>> {
    let needed = formats.iter().any(|format| *format != FileFormat::Svg);
    let rendering = needed.then(|| canvas::Rendering::new(&figure.svg)).transpose()?;
    let mut files = Vec::new();
    for format in formats {
        let bytes = match (format, &rendering) {
            (FileFormat::Png, Some(rendering)) => rendering.png()?,
            (FileFormat::Pdf, Some(rendering)) => rendering.pdf()?,
            _ => figure.svg.clone().into_bytes(),
        };
        let path = dir.join(format!("{}.{}", figure.name, format.name()));
        files::write_bytes(&path, &bytes)?;
        files.push(path);
    }
    Ok(files)
}
