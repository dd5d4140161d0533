//! Over the oracle cost: per data set a panel for each gap with the time of every solver over BCFW's.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use plotters::style::RGBColor;

use super::Scene;
use super::canvas::{self, INK};
use super::chart::{self, Line, Panel, Scale};
use crate::error::Result;
use crate::render::style::Style;
use crate::study::break_even::{BreakEvenRow, BreakEvenSet};
use crate::study::estimate::interval_name;
use crate::study::paired::Paired;

/// Maximum number of solvers whose lines a reader can distinguish.
const MOST_SOLVERS: usize = 9;

pub fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let (frames, table) = (&scene.results.own, &scene.summary.breakeven);
    let compared = |set: &&BreakEvenSet| datasets.contains(&set.dataset.as_str()) && !set.rows.is_empty();
    let sets: Vec<&BreakEvenSet> = table.sets.iter().filter(compared).collect();
    if sets.is_empty() {
        return Ok(None);
    }
    let solvers: BTreeSet<&str> = table.sets.iter().flat_map(|set| &set.rows).map(|row| row.solver.as_str()).collect();
    // Labels contain only the parameters that differ, rows of the table all of them.
    let series_of = |row: &BreakEvenRow| {
        let all = frames.series.iter().zip(&scene.shown);
        all.filter(|(series, _)| series.key.solver.to_string() == row.solver).max_by_key(|(_, shown)| **shown)
    };
    let in_paper = |row: &BreakEvenRow| series_of(row).is_some_and(|(_, shown)| *shown);
    let shown = |row: &&BreakEvenRow| solvers.len() <= MOST_SOLVERS || in_paper(row);
    let style = |row: &BreakEvenRow| {
        series_of(row)
            .and_then(|(series, _)| scene.styles.get(&series.label))
            .copied()
            .unwrap_or(Style { color: INK, dash: &[1.0, 1.0] })
    };
    let mut rows = Vec::new();
    for set in &sets {
        let mut panels = Vec::new();
        for target in &set.targets {
            let lines = set.rows.iter().filter(|row| row.target == *target).filter(shown);
            panels.push(Panel {
                titles: [&format!("to a relative gap of {target:e}"), "oracle cost k", "time over BCFW's"]
                    .map(str::to_owned),
                scale: Scale::Log,
                lines: lines.map(|row| line(&set.costs, row, style(row).color)).collect(),
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
        "triangle = bound, because runs ended before the gap; it points towards the median".to_owned(),
    ];
    scene.svg("oracle cost", datasets, |sheet| {
        chart::rows(sheet, &rows, [16.0, 132.0])?;
        canvas::samples(sheet, all().filter(shown).map(|row| (row.display.clone(), style(row))), true)?;
        canvas::notes(sheet, &notes)
    })
}

/// The medians that are known exactly with their intervals, and the bounds of the others. A line is interrupted where it is not
/// known, and a band where an end of it is open.
fn line(costs: &[f64], row: &BreakEvenRow, color: RGBColor) -> Line {
    let mut line = Line { color, points: Vec::new(), bounds: Vec::new() };
    for (cost, ratio) in costs.iter().zip(&row.ratios) {
        let Paired { least, most, low, high, .. } = ratio.unwrap_or_default();
        let exact = ratio.and_then(|ratio| ratio.exact());
        line.points.push((*cost, [low, exact, high].map(|value| value.unwrap_or(f64::NAN))));
        if exact.is_none() {
            line.bounds.extend(least.map(|least| (*cost, least, Ordering::Greater)));
            line.bounds.extend(most.map(|most| (*cost, most, Ordering::Less)));
        }
    }
    line
}
