//! Oracle convergence, runtime convergence and parameter dynamics: bands in, a row of panels per data set out.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Source;
use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::panel::{Line, Panel, Scale};
use super::theme::{self, INK, WIDTH, pt};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::frame::{Axis, Bands, Frames, Quantity};
use crate::text::seconds;

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

    fn shows(self, source: &Source<'_>, series: usize) -> bool {
        source.shown[series] && (self != Self::Dynamics || source.results.frames.series[series].keeps_planes())
    }
}

/// How many leading positions of a series count: those where at least half of its repeats do.
fn counted(bands: &Bands) -> usize {
    let most = bands.count.iter().copied().max().unwrap_or(0);
    bands.count.iter().rposition(|count| 2 * count >= most).map_or(0, |at| at + 1)
}

/// Where the axis of a data set ends: where its first solver does, so that none looks shorter than another. Infinite
/// without a series.
pub fn axis_end<'a>(bands: impl IntoIterator<Item = &'a Bands>) -> f64 {
    let ends = bands.into_iter().filter_map(|bands| bands.x.get(counted(bands).checked_sub(1)?));
    ends.copied().fold(f64::INFINITY, f64::min)
}

/// How many leading positions of a series are drawn on an axis that ends there.
pub fn drawn_length(bands: &Bands, end: f64) -> usize {
    // Runs that ended by time end a little apart: the next position is still on the axis when it is that near.
    let inside = bands.x.partition_point(|x| *x <= end * (1.0 + 1e-9));
    inside.min(counted(bands))
}

/// "n = 9 from iteration 72", "n = 9 from 310 ms": where repeats fall out of a band before its last tenth.
fn changes(axis: Axis, bands: &Bands, length: usize) -> Vec<String> {
    let Some(end) = bands.x[..length].last() else { return Vec::new() };
    let fall = |at: &usize| bands.count[*at] < bands.count[*at - 1] && bands.x[*at] < 0.9 * end;
    let place = |x: f64| match axis {
        Axis::Iteration => format!("iteration {x}"),
        Axis::Time => seconds(x),
        Axis::OracleCalls => format!("call {x}"),
    };
    (1..length).filter(fall).map(|at| format!("n = {} from {}", bands.count[at], place(bands.x[at]))).collect()
}

/// What a legend says about bands: "line = median, band = min–max of 10 repeats", where n changes, what is cut, failures.
fn notes(kind: Kind, frames: &Frames, bands: &[Bands], shown: &[(usize, usize)]) -> Vec<String> {
    let series = || shown.iter().map(|(s, _)| &frames.series[*s]);
    let drawn = || series().map(|s| s.completed + s.censored);
    let (least, most) = (drawn().min(), drawn().max());
    let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let plural = if most == 1 { "" } else { "s" };
    let mut notes = vec![format!("line = median, band = min–max of {count} repeat{plural}")];
    if shown.iter().any(|(s, length)| *length < bands[*s].x.len()) {
        let axis = if kind == Kind::Runtime { "time" } else { "iteration" };
        notes.push(format!("the {axis} axis of a data set ends where its first solver ends"));
    }
    if kind != Kind::Dynamics && shown.iter().any(|(s, length)| bands[*s].carried(*length)) {
        notes.push("a run that reached its gap stays at its last value".to_owned());
    }
    let told: Vec<String> = shown
        .iter()
        .map(|(s, length)| (&frames.series[*s], changes(kind.axis(), &bands[*s], *length)))
        .filter(|(_, changes)| !changes.is_empty())
        .map(|(series, changes)| format!("{} on {}: {}", series.display, series.title, changes.join(", ")))
        .collect();
    if !told.is_empty() {
        let more = if told.len() > 4 { format!("; and {} more", told.len() - 4) } else { String::new() };
        notes.push(format!("{}{more}", told[..told.len().min(4)].join("; ")));
    }
    let failed: usize = series().map(|s| s.failed).sum();
    if failed > 0 {
        let (all, censored) =
            (failed + series().map(|s| s.completed).sum::<usize>(), series().map(|s| s.censored).sum::<usize>());
        let counted =
            if censored > 0 { format!("; {censored} of them count as far as they went") } else { String::new() };
        notes.push(format!("{failed} of {all} runs failed{counted}"));
    }
    notes
}

/// Draws the figure of these data sets.
pub fn draw(kind: Kind, source: &Source<'_>, datasets: &[&str]) -> Result<String> {
    let (frames, bands) = (&source.results.frames, source.bands(kind.axis())?);
    let styles = style::styles(frames);
    let mut entries: Vec<(String, Style)> = Vec::new();
    for series in datasets.iter().flat_map(|dataset| shown_of(kind, source, dataset)).map(|s| &frames.series[s]) {
        let entry = (series.display.clone(), styles[&series.label]);
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    let ends: Vec<f64> = datasets.iter().map(|d| axis_end(shown_of(kind, source, d).map(|s| &bands[s]))).collect();
    let lengths = |(dataset, end): (&&str, &f64)| -> Vec<(usize, usize)> {
        shown_of(kind, source, dataset).map(|s| (s, drawn_length(&bands[s], *end))).collect()
    };
    let drawn: Vec<(usize, usize)> = datasets.iter().zip(&ends).flat_map(lengths).collect();
    let mut notes = notes(kind, frames, bands, &drawn);
    if kind != Kind::Dynamics && datasets.iter().any(|dataset| frames.floor(dataset) > 0.0) {
        notes.push("shaded: not known of the optimum, nothing is compared below".to_owned());
    }
    if kind != Kind::Dynamics {
        notes.push("P primal, D dual, B_lo and B_up the best bounds of the optimum".to_owned());
    }
    let no_dual: Vec<&str> = entries_without_dual(frames, &drawn);
    if kind != Kind::Dynamics && !no_dual.is_empty() {
        notes.push(format!("without a dual, in the first panel only: {}", no_dual.join(", ")));
    }
    notes.extend(source.hidden(datasets));
    let legend = Legend::new(entries, &notes);
    let row = HEADING + PANEL;
    let height = row * datasets.len() as f64 + legend.height();
    let title = format!("{}: {}", kind.title(), source.titles(datasets));
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
            draw_row(kind, source, bands, (dataset, ends[at]), &area)?;
        }
        legend.draw(root, row * datasets.len() as f64)
    })
}

/// Names of the drawn solvers that have no dual.
fn entries_without_dual<'a>(frames: &'a Frames, drawn: &[(usize, usize)]) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        drawn.iter().map(|(s, _)| &frames.series[*s]).filter(|s| !s.has_dual).map(|s| s.display.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn shown_of<'a>(kind: Kind, source: &'a Source<'_>, dataset: &'a str) -> impl Iterator<Item = usize> + 'a {
    source.results.frames.series_of(dataset).filter(move |s| kind.shows(source, *s))
}

fn draw_row(kind: Kind, source: &Source<'_>, bands: &[Bands], (dataset, end): (&str, f64), area: &Area) -> Drawn {
    let frames = &source.results.frames;
    let styles = style::styles(frames);
    let quantities = kind.quantities();
    for (cell, quantity) in area.split_evenly((1, quantities.len())).iter().zip(quantities) {
        let lines = shown_of(kind, source, dataset).map(|s| {
            let (band, length) = (bands[s].of(*quantity), drawn_length(&bands[s], end));
            Line {
                style: styles[&frames.series[s].label],
                x: &bands[s].x[..length],
                y: [&band.min[..length], &band.median[..length], &band.max[..length]],
            }
        });
        let panel = Panel {
            title: frames.panel_title(*quantity, dataset),
            x_title: if kind == Kind::Runtime { "solver time (s)" } else { "iteration" }.to_owned(),
            y_title: quantity.unit().to_owned(),
            x: Scale::Log,
            y: if kind == Kind::Dynamics { Scale::Linear } else { Scale::Log },
            lines: lines.collect(),
            floor: quantity.is_suboptimality().then(|| frames.floor(dataset)),
            level: None,
            marks: Vec::new(),
        };
        panel.draw(cell)?;
    }
    Ok(())
}
