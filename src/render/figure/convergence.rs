//! Oracle convergence, runtime convergence and parameter dynamics: bands → a row of panels per data set.

use super::legend::Legend;
use super::panel::{self, Line, Panel, Row, Scale};
use super::{hidden, titles};
use crate::error::Result;
use crate::render::style;
use crate::study::{Axis, Bands, Quantity, Series, View};
use crate::text::seconds;

const HEADING: f64 = 15.0;
const PANEL: f64 = 122.0;
/// Most solvers whose bands lose repeats that a legend names.
const MOST_CHANGES: usize = 4;

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
        ["oracle convergence", "runtime convergence", "parameter dynamics"][self as usize]
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

/// A line of the figure.
struct Curve<'a> {
    series: &'a Series,
    bands: &'a Bands,
    /// Leading positions that are drawn.
    length: usize,
}

/// Draws the figure of these data sets with the series that are shown.
pub fn draw(kind: Kind, frames: &View, shown: &[bool], datasets: &[&str]) -> Result<String> {
    let (all, styles) = (frames.bands(kind.axis())?, style::styles(frames));
    let mut sets: Vec<Vec<Curve>> = Vec::new();
    for dataset in datasets {
        let drawn = |s: &usize| shown[*s] && (kind != Kind::Dynamics || frames.series[*s].keeps_planes());
        let series: Vec<usize> = frames.series_of(dataset).filter(drawn).collect();
        let end = axis_end(series.iter().map(|s| all[*s]));
        let curve = |s: usize| Curve { series: &frames.series[s], bands: all[s], length: drawn_length(all[s], end) };
        sets.push(series.into_iter().map(curve).collect());
    }
    let mut rows = Vec::new();
    for (dataset, curves) in datasets.iter().zip(&sets) {
        let panel = |quantity: &Quantity| Panel {
            title: frames.panel_title(*quantity, dataset),
            x_title: if kind == Kind::Runtime { "solver time (s)" } else { "iteration" },
            y_title: quantity.unit(),
            x: Scale::Log,
            y: if kind == Kind::Dynamics { Scale::Linear } else { Scale::Log },
            lines: curves.iter().map(|curve| curve.line(*quantity, styles[&curve.series.label])).collect(),
            floor: quantity.is_suboptimality().then(|| frames.floor(dataset)),
            level: None,
            marks: Vec::new(),
        };
        let panels = kind.quantities().iter().map(panel).collect();
        rows.push(Row { heading: frames.title(dataset).to_owned(), panels });
    }
    let curves: Vec<&Curve> = sets.iter().flatten().collect();
    let mut notes = notes(kind, &curves);
    if kind != Kind::Dynamics {
        notes.extend(notes_on_bounds(frames, datasets, &curves));
    }
    notes.extend(hidden(frames, shown, datasets));
    let entries = curves.iter().map(|curve| (curve.series.display.clone(), styles[&curve.series.label]));
    let legend = Legend::new(entries, &notes);
    let title = format!("{}: {}", kind.title(), titles(frames, datasets));
    panel::rows(&title, styles.values(), &rows, (HEADING, PANEL), &legend)
}

impl Curve<'_> {
    fn line(&self, quantity: Quantity, style: style::Style) -> Line {
        let (band, length) = (self.bands.of(quantity), self.length);
        let y = [&band.min, &band.median, &band.max].map(|column| column[..length].to_vec());
        Line { style, x: self.bands.x[..length].to_vec(), y }
    }

    /// "BCFW on USPS: n = 9 from iteration 72": where repeats leave the band before its last tenth.
    fn changes(&self, axis: Axis) -> Option<String> {
        let Bands { x, count, .. } = self.bands;
        let end = x[..self.length].last()?;
        let place = |x: f64| match axis {
            Axis::Iteration => format!("iteration {x}"),
            Axis::Time => seconds(x),
            Axis::OracleCalls => format!("call {x}"),
        };
        let falls = (1..self.length).filter(|at| count[*at] < count[*at - 1] && x[*at] < 0.9 * end);
        let falls: Vec<String> = falls.map(|at| format!("n = {} from {}", count[at], place(x[at]))).collect();
        let series = self.series;
        (!falls.is_empty()).then(|| format!("{} on {}: {}", series.display, series.title, falls.join(", ")))
    }
}

/// What a legend says about bands: repeats, where their number changes, what is cut, failures.
fn notes(kind: Kind, curves: &[&Curve]) -> Vec<String> {
    let repeats = || curves.iter().map(|curve| curve.series.completed + curve.series.censored);
    let (least, most) = (repeats().min().unwrap_or(0), repeats().max().unwrap_or(0));
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let plural = if most == 1 { "" } else { "s" };
    let mut notes = vec![format!("line = median, band = min–max of {count} repeat{plural}")];
    if curves.iter().any(|curve| curve.length < curve.bands.x.len()) {
        notes.push("x-axes are cut at the shortest run of a data set".to_owned());
    }
    if kind != Kind::Dynamics && curves.iter().any(|curve| curve.bands.carried(curve.length)) {
        notes.push("a run that reached its gap stays at its last value".to_owned());
    }
    let mut changes: Vec<String> = curves.iter().filter_map(|curve| curve.changes(kind.axis())).collect();
    if changes.len() > MOST_CHANGES {
        let more = format!("and {} more", changes.len() - MOST_CHANGES);
        changes.splice(MOST_CHANGES.., [more]);
    }
    notes.extend((!changes.is_empty()).then(|| changes.join("; ")));
    let sum = |of: fn(&Series) -> usize| curves.iter().map(|curve| of(curve.series)).sum::<usize>();
    let (failed, censored) = (sum(|s| s.failed), sum(|s| s.censored));
    if failed > 0 {
        let counted =
            if censored > 0 { format!("; {censored} of them count as far as they went") } else { String::new() };
        notes.push(format!("{failed} of {} runs failed{counted}", failed + sum(|s| s.completed)));
    }
    notes
}

/// What a legend says about the optimum and its bounds.
fn notes_on_bounds(frames: &View, datasets: &[&str], curves: &[&Curve]) -> Vec<String> {
    let mut notes = Vec::new();
    if datasets.iter().any(|dataset| frames.floor(dataset) > 0.0) {
        notes.push("shaded: uncertainty of the optimum".to_owned());
    }
    notes.push("P primal, D dual, B_lo and B_up the best bounds of the optimum".to_owned());
    let no_dual = curves.iter().filter(|curve| !curve.series.has_dual);
    let mut no_dual: Vec<&str> = no_dual.map(|curve| curve.series.display.as_str()).collect();
    no_dual.sort_unstable();
    no_dual.dedup();
    if !no_dual.is_empty() {
        notes.push(format!("without a dual, in the first panel only: {}", no_dual.join(", ")));
    }
    notes
}
