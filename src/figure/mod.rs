//! Result tables → SVG, PNG and PDF figures. One file per figure; [`theme`] is how they look, [`panel`] how bands are
//! drawn, [`canvas`] how drawings become files.

pub mod canvas;
pub mod convergence;
pub mod explain;
pub mod legend;
pub mod oracle_time;
pub mod panel;
pub mod theme;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::frame::profile::ProfileRow;
use crate::frame::{Frames, names};
use convergence::Kind;
use explain::PassTrace;

/// File formats of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
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

/// All figures of a result folder: the four of the paper over all data sets and per data set, and the two that
/// explain the step and the slope rule (the latter when the passes of an iteration were recorded).
pub fn all(frames: &Frames, profile: &[ProfileRow], passes: Option<&PassTrace>) -> Result<Vec<Figure>> {
    let datasets = frames.datasets();
    let stems = names::file_stems(&datasets);
    let mut figures = Vec::new();
    for kind in [Kind::Oracle, Kind::Runtime, Kind::Dynamics] {
        let bands = convergence::bands(kind, frames)?;
        let mut add = |name: String, sets: &[&str]| -> Result<()> {
            figures.push(Figure { name, svg: convergence::draw(kind, frames, &bands, sets)? });
            Ok(())
        };
        add(kind.name().to_owned(), &datasets)?;
        for (dataset, stem) in datasets.iter().zip(&stems) {
            add(format!("{}_{stem}", kind.name()), &[dataset])?;
        }
    }
    figures.push(Figure { name: "oracle_time".into(), svg: oracle_time::draw(frames, profile, &datasets)? });
    for (dataset, stem) in datasets.iter().zip(&stems) {
        figures
            .push(Figure { name: format!("oracle_time_{stem}"), svg: oracle_time::draw(frames, profile, &[dataset])? });
    }
    figures.push(Figure { name: "fw_step".into(), svg: explain::fw_step()? });
    if let Some(passes) = passes {
        figures.push(Figure { name: "slope_rule".into(), svg: explain::slope_rule(passes)? });
    }
    Ok(figures)
}

/// Writes figures into `dir` in these formats; returns the files in order.
pub fn write(figures: &[Figure], dir: &Path, formats: &[Format]) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
    let written: Vec<Result<Vec<PathBuf>>> = figures.par_iter().map(|figure| write_one(figure, dir, formats)).collect();
    Ok(written.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

fn write_one(figure: &Figure, dir: &Path, formats: &[Format]) -> Result<Vec<PathBuf>> {
    let rendering = if formats.iter().any(|format| *format != Format::Svg) {
        Some(canvas::Rendering::new(&figure.svg)?)
    } else {
        None
    };
    let mut files = Vec::new();
    for format in formats {
        let (extension, bytes) = match (format, &rendering) {
            (Format::Png, Some(rendering)) => ("png", rendering.png()?),
            (Format::Pdf, Some(rendering)) => ("pdf", rendering.pdf()?),
            _ => ("svg", figure.svg.clone().into_bytes()),
        };
        let path = dir.join(format!("{}.{extension}", figure.name));
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        files.push(path);
    }
    Ok(files)
}
