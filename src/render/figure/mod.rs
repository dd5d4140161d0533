//! Results → SVG, PNG and PDF figures.
//!
//! [`FIGURES`] lists them; each has a file of its own. All of them draw with [`canvas`] and [`chart`], and [`files`] writes drawings
//! to files.

mod breakeven;
pub mod canvas;
mod chart;
pub mod convergence;
pub mod explain;
mod files;
pub mod index;
mod league;
mod league_targets;
mod oracle_time;
mod performance;
mod steps;
mod table;

pub use files::{FileFormat, write};
pub use table::{FIGURES, FigureRow};

use std::collections::{BTreeMap, BTreeSet};

use canvas::{Drawn, Sheet};

use super::Error;
use super::style::{self, Style};
use crate::error::Result;
use crate::study::{Study, Summary, View, names};

#[derive(Clone, Debug)]
pub struct Figure {
    pub row: &'static FigureRow,
    /// File name without extension.
    pub name: String,
    /// Whether it is about all data sets together.
    pub overall: bool,
    pub svg: String,
}

/// What figures are drawn from.
pub struct Scene<'a> {
    results: &'a Study,
    summary: &'a Summary,
    styles: BTreeMap<String, Style>,
    /// The series that the figures of the paper show.
    shown: Vec<bool>,
    /// Patterns of solvers that they were chosen by.
    solvers: &'a [String],
}

impl Scene<'_> {
    /// [`canvas::svg`] about some data sets.
    fn svg(&self, title: &str, datasets: &[&str], paint: impl FnOnce(&mut Sheet) -> Drawn) -> Result<Option<String>> {
        let title = format!("{title}: {}", titles(&self.results.own, datasets));
        canvas::svg(&title, self.styles.values(), paint)
    }

    fn bands(&self, kind: &convergence::BandFigure, datasets: &[&str]) -> Result<Option<String>> {
        convergence::draw(kind, &self.results.own, &self.styles, &self.shown, datasets)
    }

    /// The same for the runs in the paper's regime; `None` when there are none, or no others.
    fn regime_bands(&self, kind: &convergence::BandFigure, datasets: &[&str]) -> Result<Option<String>> {
        let regime = self.results.regime.as_ref().filter(|_| self.results.all_costs.is_some());
        let Some(frames) = regime else { return Ok(None) };
        let run = frames.datasets();
        let both: Vec<&str> = datasets.iter().copied().filter(|dataset| run.contains(dataset)).collect();
        if both.is_empty() {
            return Ok(None);
        }
        convergence::draw(kind, frames, &self.styles, &frames.shown(self.solvers), &both)
    }
}

fn titles(frames: &View, datasets: &[&str]) -> String {
    datasets.iter().map(|dataset| frames.title(dataset)).collect::<Vec<_>>().join(", ")
}

/// How many solvers are not shown, for a legend.
fn hidden(frames: &View, shown: &[bool], datasets: &[&str]) -> Option<String> {
    let hidden = datasets.iter().flat_map(|dataset| frames.series_of(dataset)).filter(|s| !shown[*s]);
    let count = hidden.map(|s| &frames.series[s].label).collect::<BTreeSet<_>>().len();
    let plural = if count == 1 { "solver is" } else { "solvers are" };
    (count > 0).then(|| format!("{count} more {plural} in the figure of the league"))
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
    let styles = style::styles(std::iter::once(frames).chain(&results.regime));
    let scene = Scene { results, summary, styles, shown: frames.shown(solvers), solvers };
    if !scene.shown.contains(&true) && !solvers.is_empty() {
        let known: BTreeSet<&str> = frames.series.iter().map(|series| series.solver.as_str()).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Error::NoSolver { patterns: solvers.join(", "), known }.into());
    }
    let datasets = frames.datasets();
    let stems = names::file_stems(&datasets);
    let (mut figures, mut left_out) = (Vec::new(), Vec::new());
    for row in FIGURES.iter() {
        let overall = (row.draw)(&scene, &datasets)?;
        match overall.clone() {
            Some(svg) => figures.push(Figure { row, name: row.name.to_owned(), overall: true, svg }),
            None if row.is_missed(summary.has_paper_data()) => left_out.push(row),
            None => {}
        }
        for (dataset, stem) in datasets.iter().zip(&stems).filter(|_| per_dataset && row.per_dataset) {
            // With a single data set, its figure would equal the one over all.
            let only = overall.clone().filter(|_| datasets.len() == 1);
            let svg = if only.is_some() { only } else { (row.draw)(&scene, &[dataset])? };
            figures.extend(svg.map(|svg| Figure { row, name: format!("{}_{stem}", row.name), overall: false, svg }));
        }
    }
    Ok((figures, left_out))
}
