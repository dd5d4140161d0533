//! Result tables → SVG, PNG and PDF figures. One file per figure; [`theme`] is how they look, [`panel`] how bands are
//! drawn, [`canvas`] how drawings become files.

mod breakeven;
pub mod canvas;
pub mod convergence;
pub mod explain;
pub mod index;
mod league;
mod league_targets;
pub mod legend;
pub mod oracle_time;
pub mod panel;
mod performance;
mod steps;
mod table;
pub mod theme;

pub use table::{FIGURES, FigureRow, Quote};

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::store::files;
use crate::study::league::League;
use crate::study::price::BreakEven;
use crate::study::{Axis, Bands, Study, View, names};
use convergence::Kind;

/// File formats of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FileFormat {
    /// For the web and for editing.
    Svg,
    /// Three pixels per point.
    Png,
    /// For LaTeX.
    Pdf,
}

/// A drawn figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without extension.
    pub name: String,
    /// SVG text.
    pub svg: String,
}

/// What figures are drawn from; bands are made once, when the first figure asks for them.
pub struct Source<'a> {
    /// The result folder.
    pub results: &'a Study,
    /// The series that are drawn: those at the oracle's own cost, or those in the paper's regime.
    pub frames: &'a View,
    /// Which series the figures of the paper show.
    pub shown: Vec<bool>,
    league: OnceLock<League>,
    breakeven: OnceLock<BreakEven>,
    /// The same in the paper's regime.
    regime: Option<Box<Source<'a>>>,
}

impl<'a> Source<'a> {
    /// Of a result folder; the figures of the paper show solvers that fit one of the patterns, see [`crate::study::View::shown`].
    pub fn new(results: &'a Study, solvers: &[String]) -> Self {
        let of = |frames: &'a View, regime| Self {
            results,
            frames,
            shown: frames.shown(solvers),
            league: OnceLock::new(),
            breakeven: OnceLock::new(),
            regime,
        };
        of(&results.frames, results.regime.as_ref().map(|regime| Box::new(of(regime, None))))
    }

    /// Solvers over the price of the oracle.
    pub fn breakeven(&self) -> Result<&BreakEven> {
        Ok(self.breakeven.get_or_init(|| BreakEven::of(self.results)))
    }

    /// Draws a figure of what was run in the paper's regime; `None` when nothing was, or when that is all there is.
    fn in_regime(&self, kind: Kind, datasets: &[&str]) -> Result<Option<String>> {
        let Some(regime) = self.regime.as_deref().filter(|_| self.results.at_all_prices.is_some()) else {
            return Ok(None);
        };
        let run = regime.frames.datasets();
        let both: Vec<&str> = datasets.iter().copied().filter(|dataset| run.contains(dataset)).collect();
        if both.is_empty() { Ok(None) } else { convergence::draw(kind, regime, &both).map(Some) }
    }

    /// With tables that are made already.
    #[must_use]
    pub fn knowing(self, league: &League, breakeven: &BreakEven) -> Self {
        Self { league: OnceLock::from(league.clone()), breakeven: OnceLock::from(breakeven.clone()), ..self }
    }

    /// The headings of some data sets.
    pub fn titles(&self, datasets: &[&str]) -> String {
        datasets.iter().map(|dataset| self.frames.title(dataset)).collect::<Vec<_>>().join(", ")
    }

    /// The league of the results.
    pub fn league(&self) -> Result<&League> {
        Ok(self.league.get_or_init(|| League::of(self.frames)))
    }

    /// What is not shown of some data sets, for a legend.
    pub fn hidden(&self, datasets: &[&str]) -> Option<String> {
        let frames = self.frames;
        let hidden = datasets.iter().flat_map(|dataset| frames.series_of(dataset)).filter(|s| !self.shown[*s]);
        let mut labels: Vec<&str> = hidden.map(|s| frames.series[s].label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        let plural = if labels.len() == 1 { "solver is" } else { "solvers are" };
        (!labels.is_empty()).then(|| format!("{} more {plural} in the figure of the league", labels.len()))
    }

    /// The bands of every series against iterations or solver time.
    pub fn bands(&self, axis: Axis) -> Result<&[Bands]> {
        self.frames.bands(axis)
    }
}

/// All figures of a result folder, and the rows of those that it has nothing for. The figures of the paper show solvers
/// that fit one of the patterns, see [`crate::study::View::shown`].
pub fn all(results: &Study, solvers: &[String]) -> Result<(Vec<Figure>, Vec<&'static FigureRow>)> {
    let source = Source::new(results, solvers);
    if !source.shown.contains(&true) && !solvers.is_empty() {
        let mut known: Vec<&str> = results.frames.series.iter().map(|series| series.solver.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let message = format!("--solvers {} fits no solver; there are: {}", solvers.join(", "), known.join(", "));
        return Err(Error::invalid(message));
    }
    let datasets = results.frames.datasets();
    let stems = names::file_stems(&datasets);
    let (mut figures, mut left_out) = (Vec::new(), Vec::new());
    for row in FIGURES {
        match (row.draw)(&source, &datasets)? {
            Some(svg) => figures.push(Figure { name: row.name.to_owned(), svg }),
            None => left_out.push(row),
        }
        for (dataset, stem) in datasets.iter().zip(&stems).filter(|_| row.per_dataset) {
            if let Some(svg) = (row.draw)(&source, &[dataset])? {
                figures.push(Figure { name: format!("{}_{stem}", row.name), svg });
            }
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
    let rendering = if formats.iter().any(|format| *format != FileFormat::Svg) {
        Some(canvas::Rendering::new(&figure.svg)?)
    } else {
        None
    };
    let mut files = Vec::new();
    for format in formats {
        let (extension, bytes) = match (format, &rendering) {
            (FileFormat::Png, Some(rendering)) => ("png", rendering.png()?),
            (FileFormat::Pdf, Some(rendering)) => ("pdf", rendering.pdf()?),
            _ => ("svg", figure.svg.clone().into_bytes()),
        };
        let path = dir.join(format!("{}.{extension}", figure.name));
        files::write_bytes(&path, &bytes)?;
        files.push(path);
    }
    Ok(files)
}
