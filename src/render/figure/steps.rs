//! Step functions: ascending positions per solver in; a panel with the share of them that lies to the left, and a name at
//! the end of every line, out.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Area, Drawn};
use super::panel::{Scale, Ticks, Titles, axes, log_ticks};
use super::theme::{self, INK, SMALL, TEXT, pt};
use crate::render::style::Style;

/// Height of a name.
pub(super) const LINE: f64 = 9.0;
/// Room for names beside a panel.
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

/// Draws a panel over a logarithmic axis, from and to where the lines rise, or at least to `end`; with names the right
/// part of the area is theirs.
pub(super) fn draw(area: &Area, titles: &Titles<'_>, lines: &[Steps], end: Option<f64>, named: bool) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let at = || lines.iter().flat_map(|line| &line.at).copied().filter(|at| *at > 0.0);
    let low = at().fold(f64::INFINITY, f64::min).log10();
    let high = at().fold(end.unwrap_or(0.0), |a, b| if end.is_some() { a } else { a.max(b) }).log10();
    if !(low.is_finite() && high.is_finite()) {
        let title = theme::text(TEXT, INK, HPos::Center, VPos::Top);
        area.draw(&Text::new(titles.above.to_owned(), (width as i32 / 2, pt(1.5)), title))?;
        let note = theme::text(SMALL, INK, HPos::Center, VPos::Center);
        return area.draw(&Text::new("no gap was reached", (width as i32 / 2, height as i32 / 2), note));
    }
    let room = width as f64 / theme::UNIT - if named { NAMES } else { 0.0 };
    let x = log_ticks(low, high, (room / 42.0) as usize);
    let y = shares(lines.iter().map(Steps::last).fold(0.0, f64::max));
    let (left, right) = (x.range.start, x.range.end);
    let panel = area.clone().shrink((0, 0), (pt(room), height));
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
        chart.draw_series(LineSeries::new(path, line.style.color.stroke_width(pt(1.1) as u32)))?;
    }
    if named { names(area, ends, room) } else { Ok(()) }
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
        area.draw(&PathElement::new(leader, line.style.color.stroke_width(pt(0.7) as u32)))?;
        let style = theme::text(6.8, INK, HPos::Left, VPos::Center);
        area.draw(&Text::new(theme::clip(&line.name, 7.0, NAMES - 16.0), (pt(x + 18.0), place), style))?;
    }
    Ok(())
}
