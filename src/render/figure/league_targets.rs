//! Speed-ups against the reference: per data set a column for every gap with a dot and an interval for the time and the oracle
//! calls of every solver.

use plotters::prelude::*;

use super::canvas::{self, Area, CENTER, Drawn, GRID, INK, RIGHT, SMALL, Sheet, Span, TEXT, TOP, WIDTH, stroke};
use super::league::{fewest_pairs, gap};
use super::{Scene, titles};
use crate::error::Result;
use crate::study::estimate::interval_name;
use crate::study::league::{Measure, Member, REFERENCE, Speedup, Standing};

const HEADING: f64 = 28.0;
const ROW: f64 = 12.0;
const AXIS: f64 = 23.0;
const NAMES: f64 = 104.0;
/// Widest column.
const WIDEST: f64 = 90.0;
/// Ends of the axis of speed-ups; what lies beyond is drawn at the edge.
const EDGE: f64 = 30.0;
/// Free space on both sides of an axis.
const MARGIN: f64 = 4.0;
const COLORS: [RGBColor; 2] = [RGBColor(0xD5, 0x5E, 0x00), RGBColor(0x00, 0x72, 0xB2)];

pub fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let wanted = scene.summary.league.standings.iter().filter(|s| datasets.contains(&s.dataset.as_str()));
    let blocks = wanted.map(|standing| (standing, reached(standing))).filter(|(_, targets)| !targets.is_empty());
    let blocks: Vec<(&Standing, Vec<usize>)> = blocks.collect();
    if blocks.is_empty() {
        return Ok(None);
    }
    let interval = interval_name(fewest_pairs(blocks.iter().map(|(standing, _)| *standing)).unwrap_or(0));
    let notes = [
        format!("speed-up over {REFERENCE}; right of the line is faster"),
        format!(
            "dot = median over pairs with one seed, line = {interval}; filled = solver time, hollow = oracle calls"
        ),
        "a line to the edge is an open interval: runs ended before the gap, or reached it by the first evaluation"
            .to_owned(),
    ];
    // Without the styles of solvers: here a colour is a measure, and lines are solid.
    let title = format!("speed-ups to gaps: {}", titles(&scene.results.own, datasets));
    canvas::svg(&title, [], |sheet| {
        for (standing, targets) in &blocks {
            draw_block(sheet, standing, targets)?;
        }
        canvas::notes(sheet, &notes)
    })
}

/// The places of the gaps at which a solver can be compared.
fn reached(standing: &Standing) -> Vec<usize> {
    let compared = |at: &usize| {
        let scores = standing.members.iter().flat_map(|member| &member.scores);
        scores.filter_map(|score| score.cells.get(*at)?.speedup).any(|s| is_known(&s))
    };
    (0..standing.targets.len()).filter(compared).collect()
}

fn is_known(speedup: &Speedup) -> bool {
    speedup.least.is_some() || speedup.most.is_some()
}

fn draw_block(sheet: &mut Sheet, standing: &Standing, targets: &[usize]) -> Drawn {
    let members: Vec<&Member> = standing.members.iter().filter(|member| !member.reference).collect();
    let bottom = HEADING + ROW * members.len() as f64;
    let area = &sheet.block(bottom + AXIS);
    canvas::heading(area, &standing.title, 7.0)?;
    let wide = ((WIDTH - NAMES - 6.0) / targets.len() as f64).min(WIDEST);
    for (column, target) in targets.iter().enumerate() {
        let left = NAMES + wide * column as f64;
        let span = Span { values: -EDGE.ln()..EDGE.ln(), ends: [left + MARGIN, left + wide - MARGIN] };
        let title = format!("gap {}", gap(standing.targets[*target]));
        canvas::words(area, title, (span.middle(), 20.0), SMALL, CENTER)?;
        for (ratio, label, ink) in [(0.1f64, "0.1", GRID), (1.0, "1", INK), (10.0, "10", GRID)] {
            let x = span.at(ratio.ln());
            canvas::line(area, &[(x, HEADING - 2.0), (x, bottom)], stroke(ink, 0.5))?;
            canvas::words(area, label, (x, bottom + 2.0), 6.5, TOP)?;
        }
        canvas::words(area, "times as fast", (span.middle(), bottom + 11.0), 6.5, TOP)?;
        for (row, member) in members.iter().enumerate() {
            let y = HEADING + ROW * (row as f64 + 0.5);
            if column == 0 {
                let name = canvas::clip(&member.display, 7.2, NAMES - 6.0);
                canvas::words(area, name, (NAMES - 4.0, y), TEXT - 1.5, RIGHT)?;
            }
            for (measure, shift) in Measure::ALL.into_iter().zip([-2.6, 2.6]) {
                if let Some(speedup) = member.scores[measure as usize].cells[*target].speedup.filter(is_known) {
                    mark(area, &speedup, measure, y + shift, &span)?;
                }
            }
        }
    }
    Ok(())
}

/// A dot where the median is or a wedge where it is bounded, a line over the interval.
fn mark(area: &Area, speedup: &Speedup, measure: Measure, y: f64, span: &Span) -> Drawn {
    let (color, filled) = (COLORS[measure as usize], measure == Measure::Time);
    let [left, right] = span.ends;
    if speedup.has_interval() {
        let from = speedup.low.map_or(left - MARGIN / 2.0, |low| span.at(low.ln()));
        let to = speedup.high.map_or(right + MARGIN / 2.0, |high| span.at(high.ln()));
        canvas::line(area, &[(from, y), (to, y)], stroke(color, 0.9))?;
    }
    if let Some(middle) = speedup.middle() {
        let at = (span.at(middle.ln()), y);
        canvas::circle(area, at, 1.7, if filled { color } else { WHITE }.filled())?;
        canvas::circle(area, at, 1.7, stroke(color, 0.7))?;
    } else if let Some((bound, side)) = speedup.least.map(|b| (b, 3.4)).or(speedup.most.map(|b| (b, -3.4))) {
        // A median that is only bounded is a wedge that points to where it may lie.
        let x = span.at(bound.ln());
        canvas::polygon(
            area,
            &[(x, y - 1.8), (x + side, y), (x, y + 1.8)],
            color.mix(if filled { 1.0 } else { 0.35 }),
        )?;
    }
    Ok(())
}
