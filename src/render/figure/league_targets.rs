//! Speed-ups against the reference: per data set a column for every gap with a dot and an interval for the time and the oracle
//! calls of every solver.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::league::{fewest_pairs, gap};
use super::legend::Legend;
use super::theme::{self, GRID, INK, SMALL, TEXT, WIDTH, pt, stroke};
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
const COLORS: [RGBColor; 2] = [RGBColor(0xD5, 0x5E, 0x00), RGBColor(0x00, 0x72, 0xB2)];

/// A block of the figure: a data set, and the places of the gaps that a solver reached.
struct Block<'a> {
    standing: &'a Standing,
    targets: Vec<usize>,
}

impl<'a> Block<'a> {
    fn new(standing: &'a Standing) -> Self {
        let compared = |at: &usize| {
            let scores = standing.members.iter().flat_map(|member| &member.scores);
            let cells = scores.filter_map(|score| score.cells.get(*at));
            cells.filter_map(|cell| cell.speedup).any(|s| s.least.is_some() || s.most.is_some())
        };
        Self { standing, targets: (0..standing.targets.len()).filter(compared).collect() }
    }

    /// The solvers that are compared with the reference.
    fn members(&self) -> impl Iterator<Item = &'a Member> {
        self.standing.members.iter().filter(|member| !member.reference)
    }

    fn height(&self) -> f64 {
        HEADING + ROW * self.members().count() as f64 + AXIS
    }
}

/// Draws the figure of these data sets; `None` when no solver can be compared with the reference.
pub(super) fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let wanted = scene.summary.league.standings.iter().filter(|s| datasets.contains(&s.dataset.as_str()));
    let blocks: Vec<Block> = wanted.map(Block::new).filter(|block| !block.targets.is_empty()).collect();
    if blocks.is_empty() {
        return Ok(None);
    }
    let interval = interval_name(fewest_pairs(blocks.iter().map(|block| block.standing)).unwrap_or(0));
    let notes = [
        format!("how many times as fast as {REFERENCE}; right of the line is faster"),
        format!(
            "dot = median over pairs with one seed, line = {interval}; filled = solver time, hollow = oracle calls"
        ),
        "a line to the edge has no end there: runs ended before the gap or were there at the first evaluation"
            .to_owned(),
    ];
    let legend = Legend::of_notes(&notes);
    let body: f64 = blocks.iter().map(Block::height).sum();
    let title = format!("speed-ups to gaps: {}", titles(&scene.results.own, datasets));
    let svg = canvas::svg(&title, body + legend.height(), [], |root| {
        let mut top = 0.0;
        for block in &blocks {
            draw_block(root, block, top)?;
            top += block.height();
        }
        legend.draw(root, body)
    });
    svg.map(Some)
}

/// A column of a block: left edge and width.
#[derive(Clone, Copy)]
struct Span {
    left: f64,
    wide: f64,
}

impl Span {
    /// Where a ratio is drawn.
    fn place(self, ratio: f64) -> f64 {
        let middle = self.left + self.wide / 2.0;
        middle + (ratio.ln() / EDGE.ln()).clamp(-1.0, 1.0) * (self.wide / 2.0 - 4.0)
    }
}

fn draw_block(root: &Area, block: &Block<'_>, top: f64) -> Drawn {
    canvas::heading(root, &block.standing.title, top + 7.0)?;
    let wide = ((WIDTH - NAMES - 6.0) / block.targets.len() as f64).min(WIDEST);
    let bottom = top + block.height() - AXIS;
    for (column, target) in block.targets.iter().enumerate() {
        let span = Span { left: NAMES + wide * column as f64, wide };
        let middle = span.place(1.0);
        let title = format!("gap {}", gap(block.standing.targets[*target]));
        canvas::words(root, title, (middle, top + 20.0), theme::text(SMALL, HPos::Center, VPos::Center))?;
        let small = || theme::text(6.5, HPos::Center, VPos::Top);
        for (ratio, label) in [(0.1, "0.1"), (1.0, "1"), (10.0, "10")] {
            let (x, ink) = (span.place(ratio), if ratio == 1.0 { INK } else { GRID });
            canvas::line(root, &[(x, top + HEADING - 2.0), (x, bottom)], stroke(ink, 0.5))?;
            canvas::words(root, label, (x, bottom + 2.0), small())?;
        }
        canvas::words(root, "times as fast", (middle, bottom + 11.0), small())?;
        for (row, member) in block.members().enumerate() {
            let y = top + HEADING + ROW * (row as f64 + 0.5);
            if column == 0 {
                let words = theme::clip(&member.display, 7.2, NAMES - 6.0);
                canvas::words(root, words, (NAMES - 4.0, y), theme::text(TEXT - 1.5, HPos::Right, VPos::Center))?;
            }
            for (measure, shift) in Measure::ALL.into_iter().zip([-2.6, 2.6]) {
                if let Some(speedup) = member.scores[measure as usize].cells[*target].speedup {
                    mark(root, &speedup, measure, y + shift, span)?;
                }
            }
        }
    }
    Ok(())
}

/// A dot where the median is or a wedge where it is bounded, a line over the interval; nothing where nothing is known.
fn mark(root: &Area, speedup: &Speedup, measure: Measure, y: f64, span: Span) -> Drawn {
    let color = COLORS[measure as usize];
    let known = speedup.least.is_some() || speedup.most.is_some();
    if speedup.has_interval() && known {
        let from = speedup.low.map_or(span.left + 2.0, |low| span.place(low));
        let to = speedup.high.map_or(span.left + span.wide - 2.0, |high| span.place(high));
        canvas::line(root, &[(from, y), (to, y)], stroke(color, 0.9))?;
    }
    // A median that is only bounded is a wedge that points to where it may lie.
    if speedup.middle().is_none()
        && let Some((bound, side)) = speedup.least.map(|b| (b, 3.4)).or(speedup.most.map(|b| (b, -3.4)))
    {
        let x = span.place(bound);
        let wedge = vec![(pt(x), pt(y - 1.8)), (pt(x + side), pt(y)), (pt(x), pt(y + 1.8))];
        let fill = if measure == Measure::Time { color.mix(1.0) } else { color.mix(0.35) };
        root.draw(&Polygon::new(wedge, fill))?;
    }
    if let Some(middle) = speedup.middle() {
        let (at, fill) = ((pt(span.place(middle)), pt(y)), if measure == Measure::Time { color } else { WHITE });
        root.draw(&Circle::new(at, pt(1.7), fill.filled()))?;
        root.draw(&Circle::new(at, pt(1.7), stroke(color, 0.7)))?;
    }
    Ok(())
}
