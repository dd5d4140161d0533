//! Over the oracle cost: per data set a panel for each gap with the time of every solver over BCFW's.

use super::legend::Legend;
use super::panel::{self, Line, Panel, Row, Scale};
use super::theme::INK;
use super::{Scene, titles};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::break_even::{BreakEvenRow, BreakEvenSet};
use crate::study::estimate::interval_name;

const HEADING: f64 = 16.0;
const PANEL: f64 = 132.0;
/// Most solvers whose lines a reader can distinguish.
const MOST_SOLVERS: usize = 9;

/// Draws the figure of these data sets; `None` when BCFW was not run at several oracle costs.
pub(super) fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let (frames, table) = (&scene.results.own, &scene.summary.breakeven);
    let compared = |set: &&BreakEvenSet| datasets.contains(&set.dataset.as_str()) && !set.rows.is_empty();
    let sets: Vec<&BreakEvenSet> = table.sets.iter().filter(compared).collect();
    if sets.is_empty() {
        return Ok(None);
    }
    let styles = style::styles(frames);
    let style =
        |row: &BreakEvenRow| styles.get(&row.solver).copied().unwrap_or(Style { color: INK, dash: &[1.0, 1.0] });
    let mut solvers: Vec<&str> = table.sets.iter().flat_map(|set| &set.rows).map(|row| row.solver.as_str()).collect();
    solvers.sort_unstable();
    solvers.dedup();
    let in_paper = |row: &&BreakEvenRow| {
        frames.series.iter().zip(&scene.shown).any(|(series, shown)| *shown && series.label == row.solver)
    };
    let shown = |row: &&BreakEvenRow| solvers.len() <= MOST_SOLVERS || in_paper(row);
    let mut rows = Vec::new();
    for set in &sets {
        let panel = |target: &f64| Panel {
            title: format!("to a relative gap of {target:e}"),
            x_title: "oracle cost k",
            y_title: "time over BCFW's",
            x: Scale::Log,
            y: Scale::Log,
            lines: set
                .rows
                .iter()
                .filter(|row| row.target == *target && shown(row))
                .map(|row| line(style(row), &set.costs, row))
                .collect(),
            floor: None,
            level: Some(1.0),
            marks: std::iter::once((1.0, "here")).chain(set.paper_cost().map(|k| (k, "paper"))).collect(),
        };
        rows.push(Row { heading: set.title.clone(), panels: set.targets.iter().map(panel).collect() });
    }
    let all = || sets.iter().flat_map(|set| &set.rows);
    let interval = interval_name(all().map(|row| row.pairs).min().unwrap_or(0));
    let notes = [
        "time to a relative gap over that of BCFW with an oracle k× slower; below 1 is faster than BCFW".to_owned(),
        format!(
            "line = median over pairs with one seed, band = {interval}; k = 1: the oracle as the clock counts it; dashed: the \
             paper's (BCFW's oracle share as in the paper)"
        ),
    ];
    let legend = Legend::new(all().filter(shown).map(|row| (row.display.clone(), style(row))), &notes);
    let title = format!("oracle cost: {}", titles(frames, datasets));
    panel::rows(&title, styles.values(), &rows, (HEADING, PANEL), &legend).map(Some)
}

/// The costs with a ratio; an end that is not known is where the line is.
fn line(style: Style, costs: &[f64], row: &BreakEvenRow) -> Line {
    let (mut x, mut y) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    for (cost, ratio) in costs.iter().zip(&row.ratios).filter_map(|(cost, ratio)| Some((cost, (*ratio)?.time))) {
        x.push(*cost);
        y[0].push(ratio.low.unwrap_or(ratio.value));
        y[1].push(ratio.value);
        y[2].push(ratio.high.unwrap_or(ratio.value));
    }
    Line { style, x, y }
}
