//! Speed-ups against the reference: standings in; per data set a column for every gap with a dot and an interval for the
//! time and the oracle calls of every solver out.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Source;
use super::canvas::{self, Area, Drawn};
use super::league::gap;
use super::legend::Legend;
use super::theme::{self, GRID, INK, SMALL, TEXT, WIDTH, pt};
use crate::error::Result;
use crate::study::estimate::interval_name;
use crate::study::league::{Measure, REFERENCE, Speedup, Standing};

const HEADING: f64 = 28.0;
const ROW: f64 = 12.0;
const AXIS: f64 = 23.0;
const NAMES: f64 = 104.0;
/// Widest column.
const WIDEST: f64 = 90.0;
/// Ends of the axis of speed-ups; what lies beyond is drawn at the edge.
const EDGE: f64 = 30.0;
const COLORS: [RGBColor; 2] = [RGBColor(0xD5, 0x5E, 0x00), RGBColor(0x00, 0x72, 0xB2)];

/// A block of the figure: a data set, and the places of the gaps that somebody reached.
struct Block<'a> {
    standing: &'a Standing,
    targets: Vec<usize>,
}

impl Block<'_> {
    fn height(&self) -> f64 {
        HEADING + ROW * self.standing.members.iter().filter(|m| !m.reference).count() as f64 + AXIS
    }
}

/// Draws the figure of these data sets; `None` when nobody can be compared with the reference.
pub(super) fn draw(source: &Source<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let league = source.league()?;
    let wanted = league.standings.iter().filter(|standing| datasets.contains(&standing.dataset.as_str()));
    let blocks: Vec<Block> = wanted.map(block).filter(|block| !block.targets.is_empty()).collect();
    if blocks.is_empty() {
        return Ok(None);
    }
    let speedups = || blocks.iter().flat_map(|block| &block.standing.members).flat_map(|member| &member.scores);
    let pairs = speedups().flat_map(|score| &score.cells).filter_map(|cell| Some(cell.speedup?.pairs)).min();
    let interval = format!("line = {}", interval_name(pairs.unwrap_or(0)));
    let notes = [
        format!("how many times as fast as {REFERENCE}; right of the line is faster"),
        format!("dot = median over pairs with one seed, {interval}; filled = solver time, hollow = oracle calls"),
        "a line to the edge has no end there: runs ended before the gap or were there at the first evaluation"
            .to_owned(),
    ];
    let legend = Legend::new([], &notes).without_bands();
    let body: f64 = blocks.iter().map(Block::height).sum();
    let title = format!("speed-ups to gaps: {}", source.titles(datasets));
    let svg = canvas::svg(&title, (WIDTH, body + legend.height()), [], |root| {
        let mut top = 0.0;
        for block in &blocks {
            draw_block(root, block, top)?;
            top += block.height();
        }
        legend.draw(root, body)
    })?;
    Ok(Some(svg))
}

fn block(standing: &Standing) -> Block<'_> {
    let compared = |at: &usize| {
        let scores = standing.members.iter().flat_map(|member| &member.scores);
        let cells = scores.filter_map(|score| score.cells.get(*at));
        cells.filter_map(|cell| cell.speedup).any(|s| s.least.is_some() || s.most.is_some())
    };
    Block { standing, targets: (0..standing.targets.len()).filter(compared).collect() }
}

fn draw_block(root: &Area, block: &Block<'_>, top: f64) -> Drawn {
    let standing = block.standing;
    let heading = theme::bold(10.0, INK, HPos::Left, VPos::Center);
    let words = theme::clip(&standing.title, 11.0, WIDTH - 8.0);
    root.draw(&Text::new(words, (pt(4.0), pt(top + 7.0)), heading))?;
    let wide = ((WIDTH - NAMES - 6.0) / block.targets.len() as f64).min(WIDEST);
    let bottom = top + block.height() - AXIS;
    for (column, target) in block.targets.iter().enumerate() {
        let left = NAMES + wide * column as f64;
        let middle = left + wide / 2.0;
        let place = |ratio: f64| middle + (ratio.ln() / EDGE.ln()).clamp(-1.0, 1.0) * (wide / 2.0 - 4.0);
        let title = theme::text(SMALL, INK, HPos::Center, VPos::Center);
        let gap = gap(standing.targets[*target]);
        root.draw(&Text::new(format!("gap {gap}"), (pt(middle), pt(top + 20.0)), title))?;
        for (ratio, label) in [(0.1, "0.1"), (1.0, "1"), (10.0, "10")] {
            let ink = if ratio == 1.0 { INK } else { GRID };
            let line = vec![(pt(place(ratio)), pt(top + HEADING - 2.0)), (pt(place(ratio)), pt(bottom))];
            root.draw(&PathElement::new(line, ink.stroke_width(pt(0.5) as u32)))?;
            let style = theme::text(6.5, INK, HPos::Center, VPos::Top);
            root.draw(&Text::new(label, (pt(place(ratio)), pt(bottom + 2.0)), style))?;
        }
        let below = theme::text(6.5, INK, HPos::Center, VPos::Top);
        root.draw(&Text::new("times as fast", (pt(middle), pt(bottom + 11.0)), below))?;
        for (row, member) in standing.members.iter().filter(|member| !member.reference).enumerate() {
            let y = top + HEADING + ROW * (row as f64 + 0.5);
            if column == 0 {
                let name = theme::text(TEXT - 1.5, INK, HPos::Right, VPos::Center);
                let words = theme::clip(&member.display, 7.2, NAMES - 6.0);
                root.draw(&Text::new(words, (pt(NAMES - 4.0), pt(y)), name))?;
            }
            for measure in Measure::ALL {
                if let Some(speedup) = member.scores[measure as usize].cells[*target].speedup {
                    let y = y + if measure == Measure::Time { -2.6 } else { 2.6 };
                    mark(root, &speedup, measure, y, (left + 2.0, left + wide - 2.0), &place)?;
                }
            }
        }
    }
    Ok(())
}

/// A dot where the median is or a wedge where it is bounded, a line over the interval; nothing where nothing is known.
fn mark(
    root: &Area,
    speedup: &Speedup,
    measure: Measure,
    y: f64,
    (left, right): (f64, f64),
    place: &dyn Fn(f64) -> f64,
) -> Drawn {
    let color = COLORS[measure as usize];
    let known = speedup.least.is_some() || speedup.most.is_some();
    if speedup.has_interval() && known {
        let from = speedup.low.map_or(left, place);
        let to = speedup.high.map_or(right, place);
        root.draw(&PathElement::new(vec![(pt(from), pt(y)), (pt(to), pt(y))], color.stroke_width(pt(0.9) as u32)))?;
    }
    // A median that is only bounded is a wedge that points to where it may lie.
    if speedup.middle().is_none()
        && let Some((bound, side)) = speedup.least.map(|b| (b, 3.4)).or(speedup.most.map(|b| (b, -3.4)))
    {
        let x = place(bound);
        let wedge = vec![(pt(x), pt(y - 1.8)), (pt(x + side), pt(y)), (pt(x), pt(y + 1.8))];
        let fill = if measure == Measure::Time { color.mix(1.0) } else { color.mix(0.35) };
        root.draw(&Polygon::new(wedge, fill))?;
    }
    if let Some(middle) = speedup.middle() {
        let fill = if measure == Measure::Time { color.filled() } else { WHITE.filled() };
        root.draw(&Circle::new((pt(place(middle)), pt(y)), pt(1.7), fill))?;
        root.draw(&Circle::new((pt(place(middle)), pt(y)), pt(1.7), color.stroke_width(pt(0.7) as u32)))?;
    }
    Ok(())
}
