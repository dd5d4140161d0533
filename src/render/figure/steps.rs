//! Step functions: the ascending positions at which each line rises → a panel with the share of positions to the left, and a name at
//! the end of every line.

use plotters::prelude::*;

use super::canvas::{self, Area, Drawn, LEFT, pt, stroke};
use super::chart::{Scale, Ticks, axes, log_ticks};
use crate::render::style::Style;

/// Height of a name.
pub const LINE: f64 = 9.0;
/// Width of the names beside a panel.
pub const NAMES: f64 = 112.0;

pub struct Steps {
    /// The name at the end of the line.
    pub name: String,
    pub style: Style,
    /// Positions at which the line rises, ascending.
    pub at: Vec<f64>,
    /// The number of steps at which the line would reach 1.
    pub of: usize,
}

impl Steps {
    /// Where it ends.
    pub fn share(&self) -> f64 {
        self.at.len() as f64 / self.of.max(1) as f64
    }
}

/// Draws a panel over a logarithmic axis, from the first rise to the last one or to `end`, with the names on its right.
/// `titles` stand above and below.
pub fn draw(area: &Area, titles: [&str; 2], lines: &[Steps], end: Option<f64>) -> Drawn {
    let at = || lines.iter().flat_map(|line| &line.at).copied().filter(|at| *at > 0.0);
    let low = at().fold(f64::INFINITY, f64::min).log10();
    let high = end.unwrap_or_else(|| at().fold(0.0, f64::max)).log10();
    if !(low.is_finite() && high.is_finite()) {
        return canvas::nothing(area, titles[0], "no gap was reached");
    }
    let wide = canvas::size(area).0 - NAMES;
    let x = log_ticks(low, high, (wide / 42.0) as usize);
    let most = lines.iter().map(Steps::share).fold(0.0, f64::max);
    let step = [(0.5, 0.25), (0.2, 0.1)].into_iter().find(|(from, _)| most > *from).map_or(0.05, |(_, step)| step);
    let shares = (0..=(most / step + 1e-9) as usize).map(|k| k as f64 * step).collect();
    let y = Ticks { range: 0.0..1.04 * most, at: shares, scale: Scale::Linear };
    let (left, right) = (x.range.start, x.range.end);
    let panel = area.split_horizontally(pt(wide)).0;
    let chart = axes(&panel, [titles[0], titles[1], "share"], (x, y), 22.0)?;
    let mut ends = Vec::new();
    for line in lines {
        let mut path = vec![(left, 0.0)];
        let mut share = 0.0;
        for at in line.at.iter().map(|at| at.max(f64::MIN_POSITIVE).log10().max(left)).take_while(|at| *at <= right) {
            path.push((at, share));
            share += 1.0 / line.of.max(1) as f64;
            path.push((at, share));
        }
        path.push((right, share));
        // The coordinates are those of the whole figure, of which this panel is a part.
        ends.push((line, chart.map_coordinate(&(right, share)).1 - area.get_base_pixel().1));
        chart.draw(&PathElement::new(path, stroke(line.style.color, 1.1)))?;
    }
    names(area, ends, wide - 6.0)
}

/// Names beside the ends of lines, moved apart where they would touch.
fn names(area: &Area, mut ends: Vec<(&Steps, i32)>, x: f64) -> Drawn {
    ends.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.share().total_cmp(&a.0.share())));
    let mut places: Vec<i32> = Vec::new();
    for (_, y) in &ends {
        let free = places.last().map_or(i32::MIN, |last| last + pt(LINE));
        places.push((*y).max(free));
    }
    let mut most = area.dim_in_pixel().1 as i32 - pt(LINE / 2.0);
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - pt(LINE);
    }
    for ((line, y), place) in ends.iter().zip(places) {
        let leader = [(pt(x), *y), (pt(x + 10.0), place), (pt(x + 16.0), place)];
        area.draw(&PathElement::new(leader, stroke(line.style.color, 0.7)))?;
        let name = canvas::clip(&line.name, 7.0, NAMES - 16.0);
        area.draw(&Text::new(name, (pt(x + 18.0), place), canvas::text(6.8, LEFT)))?;
    }
    Ok(())
}
