//! Over the oracle cost: per data set a panel for each gap with the time of every solver over BCFW's.

use std::collections::BTreeSet;

use super::Scene;
use super::canvas::{self, INK};
use super::chart::{self, Line, Panel, Scale};
use crate::error::Result;
use crate::render::style::Style;
use crate::study::break_even::{BreakEvenRow, BreakEvenSet};
use crate::study::estimate::interval_name;

/// Most solvers whose lines a reader can distinguish.
const MOST_SOLVERS: usize = 9;

pub fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let (frames, table) = (&scene.results.own, &scene.summary.breakeven);
    let compared = |set: &&BreakEvenSet| datasets.contains(&set.dataset.as_str()) && !set.rows.is_empty();
    let sets: Vec<&BreakEvenSet> = table.sets.iter().filter(compared).collect();
    if sets.is_empty() {
        return Ok(None);
    }
    let solvers: BTreeSet<&str> = table.sets.iter().flat_map(|set| &set.rows).map(|row| row.solver.as_str()).collect();
    let in_paper = |row: &BreakEvenRow| {
        frames.series.iter().zip(&scene.shown).any(|(series, shown)| *shown && series.label == row.solver)
    };
    let shown = |row: &&BreakEvenRow| solvers.len() <= MOST_SOLVERS || in_paper(row);
    let style =
        |row: &BreakEvenRow| scene.styles.get(&row.solver).copied().unwrap_or(Style { color: INK, dash: &[1.0, 1.0] });
    let mut rows = Vec::new();
    for set in &sets {
        let mut panels = Vec::new();
        for target in &set.targets {
            let lines = set.rows.iter().filter(|row| row.target == *target).filter(shown);
            panels.push(Panel {
                titles: [&format!("to a relative gap of {target:e}"), "oracle cost k", "time over BCFW's"]
                    .map(str::to_owned),
                scale: Scale::Log,
                lines: lines.map(|row| Line { color: style(row).color, points: points(&set.costs, row) }).collect(),
                floor: None,
                level: Some(1.0),
                marks: std::iter::once((1.0, "here")).chain(set.paper_cost().map(|k| (k, "paper"))).collect(),
            });
        }
        rows.push((set.title.clone(), panels));
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
    scene.svg("oracle cost", datasets, |sheet| {
        chart::rows(sheet, &rows, [16.0, 132.0])?;
        canvas::samples(sheet, all().filter(shown).map(|row| (row.display.clone(), style(row))), true)?;
        canvas::notes(sheet, &notes)
    })
}

/// The costs with a ratio; an end of its interval that is not known is where the line is.
fn points(costs: &[f64], row: &BreakEvenRow) -> Vec<(f64, [f64; 3])> {
    let mut points = Vec::new();
    for (cost, ratio) in costs.iter().zip(&row.ratios) {
        let Some(time) = ratio.map(|ratio| ratio.time) else { continue };
        points.push((*cost, [time.low.unwrap_or(time.value), time.value, time.high.unwrap_or(time.value)]));
    }
    points
}
