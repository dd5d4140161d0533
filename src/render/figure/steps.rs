//! Step functions: per solver the ascending positions at which it rises → a panel with the share that lies to the left, and a
//! name at the end of every line.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::panel::{Scale, Ticks, Titles, axes, log_ticks};
use super::theme::{self, pt, stroke};
use crate::render::style::Style;

/// Height of a name.
pub(super) const LINE: f64 = 9.0;
/// Width of the names beside a panel.
pub(super) const NAMES: f64 = 112.0;

/// One line.
pub(super) struct Steps {
    /// Written at its end.
    pub name: String,
    pub style: Style,
    /// Where it rises, ascending.
    pub at: Vec<f64>,
    /// How many times it could rise.
    pub of: usize,
}

impl Steps {
    /// Where it ends.
    fn last(&self) -> f64 {
        self.at.len() as f64 / self.of.max(1) as f64
    }
}

/// Marks of an axis of shares that ends here.
fn shares(most: f64) -> Ticks {
    let step = match most {
        most if most > 0.5 => 0.25,
        most if most > 0.2 => 0.1,
        _ => 0.05,
    };
    let at = (0..=(most / step + 1e-9) as usize).map(|k| k as f64 * step).collect();
    Ticks { range: 0.0..1.04 * most, at, scale: Scale::Linear }
}

/// Draws a panel over a logarithmic axis, from the first rise to the last one or to `end`, with the names on its right.
pub(super) fn draw(area: &Area, titles: &Titles<'_>, lines: &[Steps], end: Option<f64>) -> Drawn {
    let at = || lines.iter().flat_map(|line| &line.at).copied().filter(|at| *at > 0.0);
    let low = at().fold(f64::INFINITY, f64::min).log10();
    let high = end.unwrap_or_else(|| at().fold(0.0, f64::max)).log10();
    if !(low.is_finite() && high.is_finite()) {
        return canvas::nothing(area, titles.above, "no gap was reached");
    }
    let wide = canvas::width(area) - NAMES;
    let x = log_ticks(low, high, (wide / 42.0) as usize);
    let y = shares(lines.iter().map(Steps::last).fold(0.0, f64::max));
    let (left, right) = (x.range.start, x.range.end);
    let panel = area.clone().shrink((0, 0), (pt(wide), area.dim_in_pixel().1));
    let mut chart = axes(&panel, titles, (x, y), 22.0)?;
    let mut ends = Vec::new();
    for line in lines {
        let mut path = vec![(left, 0.0)];
        let mut share = 0.0;
        for at in line.at.iter().map(|at| at.max(f64::MIN_POSITIVE).log10().max(left)) {
            if at > right {
                break;
            }
            path.push((at, share));
            share += 1.0 / line.of.max(1) as f64;
            path.push((at, share));
        }
        path.push((right, share));
        // Coordinates of the whole figure, drawn on a part of it.
        ends.push((line, chart.backend_coord(&(right, share)).1 - area.get_base_pixel().1));
        chart.draw_series(LineSeries::new(path, stroke(line.style.color, 1.1)))?;
    }
    names(area, ends, wide)
}

/// Names beside the ends of lines, moved apart where they would touch.
fn names(area: &Area, mut ends: Vec<(&Steps, i32)>, left: f64) -> Drawn {
    let height = area.dim_in_pixel().1 as i32;
    ends.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.last().total_cmp(&a.0.last())));
    let mut places: Vec<i32> = Vec::new();
    for (_, y) in &ends {
        let free = places.last().map_or(i32::MIN, |last| last + pt(LINE));
        places.push((*y).max(free));
    }
    let mut most = height - pt(LINE / 2.0);
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - pt(LINE);
    }
    let x = left - 6.0;
    for ((line, y), place) in ends.iter().zip(places) {
        let leader = vec![(pt(x), *y), (pt(x + 10.0), place), (pt(x + 16.0), place)];
        area.draw(&PathElement::new(leader, stroke(line.style.color, 0.7)))?;
        let words = theme::clip(&line.name, 7.0, NAMES - 16.0);
        area.draw(&Text::new(words, (pt(x + 18.0), place), theme::text(6.8, HPos::Left, VPos::Center)))?;
    }
    Ok(())
}
