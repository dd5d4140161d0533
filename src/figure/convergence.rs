//! Oracle convergence, runtime convergence and parameter dynamics: bands in, a row of panels per data set out.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Source;
use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::panel::{Line, Panel, Scale};
use super::theme::{self, INK, Style, WIDTH, pt};
use crate::error::Result;
use crate::frame::{Axis, Bands, Frames, Quantity};

const HEADING: f64 = 15.0;
const PANEL: f64 = 122.0;

/// A figure made of rows of band panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Primal, dual suboptimality and gap against iterations.
    Oracle,
    /// The same against solver time.
    Runtime,
    /// Working-set size and approximate passes of the multi-plane solvers.
    Dynamics,
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Self::Oracle => "oracle convergence",
            Self::Runtime => "runtime convergence",
            Self::Dynamics => "parameter dynamics",
        }
    }

    fn axis(self) -> Axis {
        if self == Self::Runtime { Axis::Time } else { Axis::Iteration }
    }

    fn quantities(self) -> &'static [Quantity] {
        match self {
            Self::Dynamics => &[Quantity::Planes, Quantity::Passes],
            _ => &Quantity::CONVERGENCE,
        }
    }

    fn shows(self, frames: &Frames, series: usize) -> bool {
        self != Self::Dynamics || frames.series[series].keeps_planes()
    }
}

/// How many leading positions are drawn: those where at least half of the repeats still run.
pub fn drawn_length(bands: &Bands) -> usize {
    let most = bands.count.iter().copied().max().unwrap_or(0);
    bands.count.iter().rposition(|count| 2 * count >= most).map_or(0, |at| at + 1)
}

/// What a legend says about bands: "line = median, band = min–max of 10 repeats", cuts, failures.
fn notes(frames: &Frames, bands: &[Bands], shown: &[usize]) -> Vec<String> {
    let repeats = shown.iter().map(|s| frames.series[*s].completed);
    let (least, most) = (repeats.clone().min().unwrap_or(0), repeats.max().unwrap_or(0));
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let plural = if most == 1 { "" } else { "s" };
    let mut note = format!("line = median, band = min–max of {count} repeat{plural}");
    if shown.iter().any(|s| drawn_length(&bands[*s]) < bands[*s].x.len()) {
        note.push_str(", drawn while at least half of them run");
    }
    let failed: usize = shown.iter().map(|s| frames.series[*s].failed).sum();
    if failed > 0 {
        let all = failed + shown.iter().map(|s| frames.series[*s].completed).sum::<usize>();
        return vec![note, format!("{failed} of {all} runs failed and are not in the bands")];
    }
    vec![note]
}

/// Draws the figure of these data sets.
pub fn draw(kind: Kind, source: &Source<'_>, datasets: &[&str]) -> Result<String> {
    let (frames, bands) = (&source.results.frames, source.bands(kind.axis())?);
    let styles = theme::styles(frames);
    let shown: Vec<usize> =
        datasets.iter().flat_map(|d| frames.series_of(d)).filter(|s| kind.shows(frames, *s)).collect();
    let mut entries: Vec<(String, Style)> = Vec::new();
    for series in shown.iter().map(|s| &frames.series[*s]) {
        let entry = (series.display.clone(), styles[&series.label]);
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    let legend = Legend::new(entries, &notes(frames, bands, &shown));
    let row = HEADING + PANEL;
    let height = row * datasets.len() as f64 + legend.height();
    let title = format!("{}: {}", kind.title(), datasets.join(", "));
    canvas::svg(&title, (WIDTH, height), styles.values(), |root| {
        for (at, dataset) in datasets.iter().enumerate() {
            let top = row * at as f64;
            let heading = theme::bold(10.0, INK, HPos::Left, VPos::Center);
            root.draw(&Text::new(
                theme::clip(frames.title(dataset), 11.0, WIDTH - 8.0),
                (pt(4.0), pt(top + HEADING / 2.0)),
                heading,
            ))?;
            let area = root.clone().shrink((0, pt(top + HEADING)), (pt(WIDTH), pt(PANEL)));
            draw_row(kind, frames, bands, dataset, &area)?;
        }
        legend.draw(root, row * datasets.len() as f64)
    })
}

fn draw_row(kind: Kind, frames: &Frames, bands: &[Bands], dataset: &str, area: &Area) -> Drawn {
    let styles = theme::styles(frames);
    let quantities = kind.quantities();
    for (cell, quantity) in area.split_evenly((1, quantities.len())).iter().zip(quantities) {
        let lines = frames.series_of(dataset).filter(|s| kind.shows(frames, *s)).map(|s| {
            let (band, length) = (bands[s].of(*quantity), drawn_length(&bands[s]));
            Line {
                style: styles[&frames.series[s].label],
                x: &bands[s].x[..length],
                y: [&band.min[..length], &band.median[..length], &band.max[..length]],
            }
        });
        let panel = Panel {
            title: quantity.title().to_owned(),
            x_title: if kind == Kind::Runtime { "solver time (s)" } else { "iteration" }.to_owned(),
            x: Scale::Log,
            y: if kind == Kind::Dynamics { Scale::Linear } else { Scale::Log },
            lines: lines.collect(),
        };
        panel.draw(cell)?;
    }
    Ok(())
}
