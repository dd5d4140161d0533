//! The price of the oracle: per data set a panel for each gap with the time of every solver over BCFW's, against the price.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Source;
use super::canvas;
use super::legend::Legend;
use super::panel::{Line, Panel, Scale};
use super::theme::{self, INK, WIDTH, pt};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::estimate::interval_name;
use crate::study::price::{BreakEven, PricedSet, Ratio};

const HEADING: f64 = 16.0;
const PANEL: f64 = 132.0;

/// The columns of one line: prices, lower end, value, upper end.
type Columns = [Vec<f64>; 4];

/// Draws the figure of these data sets; `None` when there are no runs at several prices.
pub(super) fn draw(source: &Source<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let table = source.breakeven()?;
    let compared = |set: &&PricedSet| datasets.contains(&set.dataset.as_str()) && !set.rows.is_empty();
    let sets: Vec<&PricedSet> = table.sets.iter().filter(compared).collect();
    if sets.is_empty() {
        return Ok(None);
    }
    let styles = style::styles(&source.results.frames);
    let style = |solver: &str| styles.get(solver).copied().unwrap_or(Style { color: INK, dash: &[1.0, 1.0] });
    let mut entries: Vec<(String, Style)> = Vec::new();
    for row in sets.iter().flat_map(|set| &set.rows) {
        let entry = (row.display.clone(), style(&row.solver));
        if shown(source, table, &row.solver) && !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    let pairs = sets.iter().flat_map(|set| &set.rows).map(|row| row.pairs).min().unwrap_or(0);
    let notes = [
        "time to a relative gap over that of BCFW, the oracle k times as dear; below 1 is faster than BCFW".to_owned(),
        format!(
            "line = median over pairs with one seed, band = {}; k = 1: the oracle as the clock counts it; dashed: the paper's (BCFW's \
             oracle share as in the paper)",
            interval_name(pairs)
        ),
    ];
    let legend = Legend::new(entries, &notes);
    let row = HEADING + PANEL;
    let height = row * sets.len() as f64 + legend.height();
    let title = format!("price of the oracle: {}", source.titles(datasets));
    let svg = canvas::svg(&title, (WIDTH, height), styles.values(), |root| {
        for (at, set) in sets.iter().enumerate() {
            let top = row * at as f64;
            let heading = theme::bold(10.0, INK, HPos::Left, VPos::Center);
            let words = theme::clip(&set.title, 11.0, WIDTH - 8.0);
            root.draw(&Text::new(words, (pt(4.0), pt(top + HEADING / 2.0)), heading))?;
            let area = root.clone().shrink((0, pt(top + HEADING)), (pt(WIDTH), pt(PANEL)));
            for (cell, target) in area.split_evenly((1, set.targets.len().max(1))).iter().zip(&set.targets) {
                let of = set.rows.iter().filter(|row| row.target == *target && shown(source, table, &row.solver));
                let lines: Vec<(Style, Columns)> =
                    of.map(|row| (style(&row.solver), columns(&set.prices, &row.ratios))).collect();
                let lines =
                    lines.iter().map(|(style, [x, low, value, high])| Line { style: *style, x, y: [low, value, high] });
                let panel = Panel {
                    title: format!("to a relative gap of {target:e}"),
                    x_title: "price of the oracle k".to_owned(),
                    y_title: "time over BCFW's".to_owned(),
                    x: Scale::Log,
                    y: Scale::Log,
                    lines: lines.collect(),
                    floor: None,
                    level: Some(1.0),
                    marks: [Some((1.0, "here")), set.paper_price().map(|k| (k, "paper"))]
                        .into_iter()
                        .flatten()
                        .collect(),
                };
                panel.draw(cell)?;
            }
        }
        legend.draw(root, row * sets.len() as f64)
    })?;
    Ok(Some(svg))
}

/// Whether a solver is drawn: all while they can be told apart, else those that the figures of the paper show and the best.
fn shown(source: &Source<'_>, table: &BreakEven, solver: &str) -> bool {
    const MOST: usize = 9;
    let mut all: Vec<&str> = table.sets.iter().flat_map(|set| &set.rows).map(|row| row.solver.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    let frames = &source.results.frames;
    let in_paper = frames.series.iter().zip(&source.shown).any(|(series, shown)| *shown && series.label == solver);
    all.len() <= MOST || in_paper
}

/// The prices with a ratio; an end that is not known is where the line is.
fn columns(prices: &[f64], ratios: &[Option<Ratio>]) -> Columns {
    let known = || prices.iter().zip(ratios).filter_map(|(k, ratio)| Some((*k, (*ratio)?.time)));
    [
        known().map(|(k, _)| k).collect(),
        known().map(|(_, ratio)| ratio.low.unwrap_or(ratio.value)).collect(),
        known().map(|(_, ratio)| ratio.value).collect(),
        known().map(|(_, ratio)| ratio.high.unwrap_or(ratio.value)).collect(),
    ]
}
