//! Oracle convergence, runtime convergence and parameter dynamics: bands → a row of panels per data set.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{self, Line, Panel, Scale};
use super::{canvas, hidden, titles};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::{Axis, Bands, Quantity, Series, View};
use crate::text::seconds;

/// Maximum number of solvers with a changing number of repeats that a legend names.
const MOST_CHANGES: usize = 4;

pub struct BandFigure {
    title: &'static str,
    axis: Axis,
    x_title: &'static str,
    quantities: &'static [Quantity],
    /// Linear for parameters: of solvers that keep planes, without an optimum.
    scale: Scale,
}

/// Primal, dual suboptimality and gap against iterations.
pub const ORACLE: BandFigure = BandFigure {
    title: "oracle convergence",
    axis: Axis::Iteration,
    x_title: "iteration",
    quantities: &Quantity::CONVERGENCE,
    scale: Scale::Log,
};
/// The same against solver time.
pub const RUNTIME: BandFigure =
    BandFigure { title: "runtime convergence", axis: Axis::Time, x_title: "solver time (s)", ..ORACLE };
/// Working-set size and approximate passes of the multi-plane solvers.
pub const DYNAMICS: BandFigure = BandFigure {
    title: "parameter dynamics",
    quantities: &[Quantity::Planes, Quantity::Passes],
    scale: Scale::Linear,
    ..ORACLE
};

/// The number of leading positions of a series that are drawn: up to the last one at which at least half of its repeats still run. A
/// repeat that has reached its gap no longer runs. The axis ends where the last line ends.
pub fn drawn_length(bands: &Bands) -> usize {
    let most = bands.count.iter().copied().max().unwrap_or(0);
    bands.running.iter().rposition(|running| 2 * running >= most).map_or(0, |at| at + 1)
}

struct DrawnCurve<'a> {
    series: &'a Series,
    bands: &'a Bands,
    /// Leading positions that are drawn.
    length: usize,
}

pub fn draw(
    kind: &BandFigure,
    frames: &View,
    styles: &BTreeMap<String, Style>,
    shown: &[bool],
    datasets: &[&str],
) -> Result<Option<String>> {
    let all = frames.bands(kind.axis)?;
    let (mut curves, mut rows) = (Vec::new(), Vec::new());
    for dataset in datasets {
        let drawn = |s: &usize| shown[*s] && (kind.scale == Scale::Log || frames.series[*s].keeps_planes());
        let series: Vec<usize> = frames.series_of(dataset).filter(drawn).collect();
        let first = curves.len();
        for s in series {
            curves.push(DrawnCurve { series: &frames.series[s], bands: all[s], length: drawn_length(all[s]) });
        }
        let panel = |quantity: &Quantity| Panel {
            titles: [frames.panel_title(*quantity, dataset), kind.x_title.to_owned(), quantity.unit().to_owned()],
            scale: kind.scale,
            lines: curves[first..].iter().map(|c| c.line(*quantity, styles[&c.series.label])).collect(),
            floor: quantity.is_suboptimality().then(|| frames.floor(dataset)),
            level: None,
            marks: Vec::new(),
        };
        rows.push((frames.title(dataset).to_owned(), kind.quantities.iter().map(panel).collect()));
    }
    let mut notes = notes(kind, &curves);
    if kind.scale == Scale::Log {
        notes.extend(notes_on_bounds(frames, datasets, &curves));
    }
    notes.extend(hidden(frames, shown, datasets));
    canvas::svg(&format!("{}: {}", kind.title, titles(frames, datasets)), styles.values(), |sheet| {
        chart::rows(sheet, &rows, [15.0, 122.0])?;
        let entries = curves.iter().map(|curve| (curve.series.display.clone(), styles[&curve.series.label]));
        canvas::samples(sheet, entries, true)?;
        canvas::notes(sheet, &notes)
    })
}

impl DrawnCurve<'_> {
    fn line(&self, quantity: Quantity, style: style::Style) -> Line {
        let (band, x) = (self.bands.of(quantity), &self.bands.x);
        let point = |at: usize| (x[at], [band.min[at], band.median[at], band.max[at]]);
        Line { color: style.color, points: (0..self.length).map(point).collect(), bounds: Vec::new() }
    }

    /// "BCFW on USPS: n = 9 from iteration 72": where repeats leave the band before its last tenth.
    fn changes(&self, axis: Axis) -> Option<String> {
        let Bands { x, count, .. } = self.bands;
        let end = x[..self.length].last()?;
        let falls = (1..self.length).filter(|at| count[*at] < count[*at - 1] && x[*at] < 0.9 * end);
        let place = |x: f64| if axis == Axis::Time { seconds(x) } else { format!("iteration {x}") };
        let falls: Vec<String> = falls.map(|at| format!("n = {} from {}", count[at], place(x[at]))).collect();
        let Series { display, title, .. } = self.series;
        (!falls.is_empty()).then(|| format!("{display} on {title}: {}", falls.join(", ")))
    }
}

/// Notes of a legend on bands: repeats, where their number changes, where lines end, failures.
fn notes(kind: &BandFigure, curves: &[DrawnCurve]) -> Vec<String> {
    let repeats = || curves.iter().map(|curve| curve.series.completed + curve.series.censored);
    let (least, most) = (repeats().min().unwrap_or(0), repeats().max().unwrap_or(0));
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let plural = if most == 1 { "" } else { "s" };
    let mut notes = vec![format!("line = median, band = min–max of {count} repeat{plural}")];
    if curves.iter().any(|curve| curve.length < curve.bands.x.len()) {
        notes.push("a line ends where more than half of its runs have ended".to_owned());
    }
    if kind.scale == Scale::Log && curves.iter().any(|curve| curve.bands.carried(curve.length)) {
        notes.push("a run that reached its gap stays at its last value".to_owned());
    }
    let mut changes: Vec<String> = curves.iter().filter_map(|curve| curve.changes(kind.axis)).collect();
    if changes.len() > MOST_CHANGES {
        let more = format!("and {} more", changes.len() - MOST_CHANGES);
        changes.splice(MOST_CHANGES.., [more]);
    }
    notes.extend((!changes.is_empty()).then(|| changes.join("; ")));
    let sum = |of: fn(&Series) -> usize| curves.iter().map(|curve| of(curve.series)).sum::<usize>();
    let (failed, censored) = (sum(|s| s.failed), sum(|s| s.censored));
    if failed > 0 {
        let counted =
            if censored > 0 { format!("; {censored} of them count until they failed") } else { String::new() };
        notes.push(format!("{failed} of {} runs failed{counted}", failed + sum(|s| s.completed)));
    }
    notes
}

/// Notes of a legend on the optimum and its bounds.
fn notes_on_bounds(frames: &View, datasets: &[&str], curves: &[DrawnCurve]) -> Vec<String> {
    let mut notes = Vec::new();
    if datasets.iter().any(|dataset| frames.floor(dataset) > 0.0) {
        notes.push("shaded: uncertainty of the optimum".to_owned());
    }
    notes.push("P primal, D dual, B_lo and B_up the best bounds of the optimum".to_owned());
    let no_dual = curves.iter().filter(|curve| !curve.series.has_dual);
    let no_dual: BTreeSet<&str> = no_dual.map(|curve| curve.series.display.as_str()).collect();
    if !no_dual.is_empty() {
        let names = no_dual.into_iter().collect::<Vec<_>>().join(", ");
        notes.push(format!("without a dual, in the first panel only: {names}"));
    }
    notes
}
