//! Panels: axes with ticks at decades, a grid, and on it lines with bands.

use std::cmp::Ordering;
use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{
    self, Area, BAND_ALPHA, CENTER, Drawn, GRID, INK, SMALL, Sheet, TEXT, TOP, pt, stroke, text_width,
};

/// How values become positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Decimal logarithm; values that are not positive have no position.
    Log,
}

impl Scale {
    fn place(self, value: f64) -> Option<f64> {
        let position = if self == Self::Log { value.log10() } else { value };
        position.is_finite().then_some(position)
    }
}

/// A line with its band.
pub struct Line {
    pub color: RGBColor,
    /// Horizontal value; lower edge of the band, line, upper edge.
    pub points: Vec<(f64, [f64; 3])>,
    /// Values that the line lies above or below of: triangles that point to where it may be.
    pub bounds: Vec<(f64, f64, Ordering)>,
}

/// Lines over a logarithmic horizontal axis.
pub struct Panel {
    /// Above it, below it, beside it.
    pub titles: [String; 3],
    /// Vertical scale; a linear one starts at 0.
    pub scale: Scale,
    pub lines: Vec<Line>,
    /// Values below this are not known; shaded when it is in sight.
    pub floor: Option<f64>,
    /// A value that is drawn as a line across, and kept in sight.
    pub level: Option<f64>,
    /// Horizontal values with a name, drawn as lines from top to bottom and kept in sight; the first solid, others dashed.
    pub marks: Vec<(f64, &'static str)>,
}

/// Draws rows of panels, each below its heading; `heights` are those of a heading and of a panel.
pub fn rows(sheet: &mut Sheet, rows: &[(String, Vec<Panel>)], heights: [f64; 2]) -> Drawn {
    for (heading, panels) in rows {
        canvas::heading(&sheet.block(heights[0]), heading, heights[0] / 2.0)?;
        let cells = sheet.block(heights[1]).split_evenly((1, panels.len().max(1)));
        cells.iter().zip(panels).try_for_each(|(cell, panel)| panel.draw(cell))?;
    }
    Ok(())
}

/// An axis: a range of positions and the labelled ones among them.
#[derive(Clone)]
pub struct Ticks {
    pub range: Range<f64>,
    pub at: Vec<f64>,
    pub scale: Scale,
}

impl Ticks {
    /// The label of a position. Powers of ten on all labels of an axis or on none.
    fn label(&self, position: f64) -> String {
        let powers = self.at.iter().any(|p| !(-2.5..=3.5).contains(p)) && self.at.iter().all(|p| p.round() == *p);
        match self.scale {
            Scale::Linear => plain((position * 1e9).round() / 1e9),
            Scale::Log if powers => {
                const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
                let power = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
                format!("10{}", format!("{position:.0}").chars().map(power).collect::<String>())
            }
            // Three significant digits undo the rounding of the logarithm.
            Scale::Log => format!("{:.2e}", 10f64.powf(position)).parse::<f64>().map_or(String::new(), plain),
        }
    }

    /// Whether labels below an axis of this width in points would touch.
    fn crowded(&self, width: f64) -> bool {
        let place = |p: f64| (p - self.range.start) / (self.range.end - self.range.start) * width;
        let half = |p: f64| 0.5 * text_width(&self.label(p), SMALL);
        self.at.windows(2).any(|two| place(two[1]) - place(two[0]) < half(two[0]) + half(two[1]) + 2.0)
    }
}

fn plain(value: f64) -> String {
    let scientific = value != 0.0 && !(1e-4..1e5).contains(&value.abs());
    let text = if scientific { format!("{value:e}") } else { format!("{value}") };
    text.replace('-', "−")
}

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.at.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format_ext(&self, position: &f64) -> String {
        self.label(*position)
    }
}

/// Decades, thinned when there are many, with steps between them when there are fewer than three.
pub fn log_ticks(low: f64, high: f64, most: usize) -> Ticks {
    const STEPS: [&[f64]; 4] = [&[1.0], &[1.0, 3.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]];
    let (low, high) = if high - low < 0.05 { (low - 0.15, high + 0.15) } else { (low, high) };
    let pad = 0.03 * (high - low);
    let range = low - pad..high + pad;
    let places = |steps: &[f64]| -> Vec<f64> {
        let decades = range.start.floor() as i64..=range.end.floor() as i64;
        let all = decades.flat_map(|k| steps.iter().map(move |m| k as f64 + m.log10()));
        all.filter(|p| range.contains(p)).collect()
    };
    let fitting = STEPS.iter().map(|steps| places(steps)).find(|at| (3..=most.max(3)).contains(&at.len()));
    let at = fitting.unwrap_or_else(|| {
        let decades = places(STEPS[0]);
        if decades.len() >= 2 {
            let stride = decades.len().div_ceil(most.max(2)) as i64;
            return decades.into_iter().filter(|p| (*p as i64).rem_euclid(stride) == 0).collect();
        }
        // Within a fraction of a decade: round numbers.
        let values = linear_ticks(10f64.powf(range.start), 10f64.powf(range.end), 4).at;
        values.into_iter().map(f64::log10).filter(|p| range.contains(p)).collect()
    });
    Ticks { range, at, scale: Scale::Log }
}

/// Round steps of 1, 2 or 5 from 0.
pub fn linear_ticks(low: f64, high: f64, most: usize) -> Ticks {
    let high = if high > low { high } else { low + 1.0 };
    let rough = (high - low) / most.max(1) as f64;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].map(|m| m * decade).into_iter().find(|s| *s >= rough).unwrap_or(10.0 * decade);
    let multiples = (low / step).ceil() as i64..=(high / step).floor() as i64;
    let at = multiples.map(|k| k as f64 * step).collect();
    Ticks { range: low..high + 0.05 * (high - low), at, scale: Scale::Linear }
}

/// Where a panel draws by the values of its axes.
pub type Chart<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<Ticks, Ticks>>;

/// Width of the title of the vertical axis in points.
const BESIDE: f64 = 10.0;

/// Draws axes, grid, and titles above, below and beside; `left` is the width of the vertical labels in points.
pub fn axes<'a>(area: &Area<'a>, titles: [&str; 3], (x, y): (Ticks, Ticks), left: f64) -> Drawn<Chart<'a>> {
    let (width, height) = canvas::size(area);
    let left = left + BESIDE;
    let middle = left + (width - left - 6.0) / 2.0;
    canvas::words(area, titles[0], (middle, 1.5), TEXT, TOP)?;
    canvas::words(area, titles[1], (middle, height - 1.5), SMALL, Pos::new(HPos::Center, VPos::Bottom))?;
    let turned = canvas::text(SMALL, TOP).transform(FontTransform::Rotate270);
    area.draw(&Text::new(titles[2].to_owned(), (pt(1.0), pt((height - 10.0) / 2.0)), turned))?;
    let mut chart = ChartBuilder::on(area)
        .margin_top(pt(14.0))
        .margin_right(pt(6.0))
        .x_label_area_size(pt(24.0))
        .y_label_area_size(pt(left))
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .bold_line_style(stroke(GRID, 0.4))
        .light_line_style(TRANSPARENT)
        .axis_style(stroke(INK, 0.6))
        .set_all_tick_mark_size(pt(1.8))
        .label_style(canvas::text(SMALL, CENTER))
        .draw()?;
    Ok(chart.plotting_area().clone())
}

/// Runs of positions without a break: a value without a position interrupts the line, it is never moved.
fn stretches<const K: usize>(points: impl Iterator<Item = (f64, [f64; K])>, scale: Scale) -> Vec<Vec<(f64, [f64; K])>> {
    let mut all = vec![Vec::<(f64, [f64; K])>::new()];
    for (x, values) in points {
        let places = values.map(|value| scale.place(value).unwrap_or(f64::NAN));
        let Some(open) = all.last_mut() else { break };
        match Scale::Log.place(x).filter(|_| places.iter().all(|y| !y.is_nan())) {
            Some(x) => {
                // The inside of a plateau adds nothing to the drawing.
                if matches!(open[..], [.., before, last] if before.1 == last.1 && last.1 == places) {
                    open.pop();
                }
                open.push((x, places));
            }
            None if open.is_empty() => {}
            None => all.push(Vec::new()),
        }
    }
    all.retain(|stretch| !stretch.is_empty());
    all
}

/// The smallest range with all of these; reversed without any.
fn range(positions: impl Iterator<Item = f64>) -> (f64, f64) {
    positions.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
}

impl Panel {
    fn draw(&self, area: &Area) -> Drawn {
        let place = |value: &f64| self.scale.place(*value);
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(|(x, _)| Scale::Log.place(*x).is_some());
        let visible = points().filter(|(_, values)| values.iter().any(|value| place(value).is_some()));
        let bounds = || self.lines.iter().flat_map(|line| &line.bounds);
        let xs = visible.map(|(x, _)| x).chain(self.marks.iter().map(|(x, _)| x)).chain(bounds().map(|(x, ..)| x));
        let (x0, x1) = range(xs.filter_map(|x| Scale::Log.place(*x)));
        let (y0, y1) = range(
            points()
                .flat_map(|(_, values)| values)
                .chain(&self.level)
                .chain(bounds().map(|(_, y, _)| y))
                .filter_map(place),
        );
        if x0 > x1 || y0 > y1 {
            let empty = self.lines.iter().all(|line| line.points.is_empty() && line.bounds.is_empty());
            let why = if empty { "no run to show" } else { "no positive value to show" };
            return canvas::nothing(area, &self.titles[0], why);
        }
        // The floor is in sight when a line comes near it.
        let floor = self.floor.as_ref().and_then(place).filter(|floor| *floor > y0 - 0.3 * (y1 - y0));
        let y0 = floor.map_or(y0, |floor| y0.min(floor - 0.1 * (y1 - y0)));
        let wide = canvas::size(area).0 - 32.0 - BESIDE;
        let mut fewer = (3..=(wide / 24.0) as usize).rev().map(|most| log_ticks(x0, x1, most));
        let x = fewer.find(|ticks| !ticks.crowded(wide - 6.0)).unwrap_or_else(|| log_ticks(x0, x1, 2));
        let y = if self.scale == Scale::Log { log_ticks(y0, y1, 5) } else { linear_ticks(y0.min(0.0), y1, 5) };
        let labels = y.at.iter().map(|p| text_width(&y.label(*p), SMALL)).fold(0.0, f64::max);
        let (xs, ys) = (x.range.clone(), y.range.clone());
        let chart = axes(area, self.titles.each_ref().map(String::as_str), (x, y), (labels + 7.0).max(22.0))?;
        if let Some(floor) = floor {
            let corners = [(xs.start, ys.start), (xs.end, floor.min(y1))];
            chart.draw(&Rectangle::new(corners, INK.mix(BAND_ALPHA).filled()))?;
        }
        if let Some(level) = self.level.as_ref().and_then(place) {
            chart.draw(&PathElement::new([(xs.start, level), (xs.end, level)], stroke(INK, 0.6)))?;
        }
        self.draw_marks(&chart, &xs, &ys)?;
        self.draw_lines(&chart)
    }

    fn draw_marks(&self, chart: &Chart, xs: &Range<f64>, ys: &Range<f64>) -> Drawn {
        for (at, (value, name)) in self.marks.iter().enumerate() {
            let Some(x) = Scale::Log.place(*value) else { continue };
            let (line, ink) = ([(x, ys.start), (x, ys.end)], stroke(INK, 0.5));
            if at == 0 {
                chart.draw(&PathElement::new(line, ink))?;
            } else {
                chart.draw(&DashedPathElement::new(line, pt(2.0), pt(2.0), ink))?;
            }
            let left = x < f64::midpoint(xs.start, xs.end);
            let (side, shift) = if left { (HPos::Left, pt(2.0)) } else { (HPos::Right, -pt(2.0)) };
            let words = canvas::text(SMALL - 1.0, Pos::new(side, VPos::Top));
            let name = Text::new(*name, (shift, pt(1.0 + 8.0 * at as f64)), words);
            chart.draw(&(EmptyElement::at((x, ys.end)) + name))?;
        }
        Ok(())
    }

    /// Bands, then lines above all of them.
    fn draw_lines(&self, chart: &Chart) -> Drawn {
        for Line { color, points, .. } in &self.lines {
            for band in stretches(points.iter().map(|(x, [low, _, high])| (*x, [*low, *high])), self.scale) {
                let lower = band.iter().map(|(x, [low, _])| (*x, *low));
                let edge = lower.chain(band.iter().rev().map(|(x, [_, high])| (*x, *high))).collect::<Vec<_>>();
                if band.len() > 1 {
                    chart.draw(&Polygon::new(edge, color.mix(BAND_ALPHA)))?;
                }
            }
        }
        for Line { color, points, bounds } in &self.lines {
            for (x, y, side) in bounds {
                let Some(at) = Scale::Log.place(*x).zip(self.scale.place(*y)) else { continue };
                // Without a stroke, which would have the dashes of the line.
                let (wide, high) = (pt(2.2), if side.is_gt() { -pt(4.2) } else { pt(4.2) });
                let triangle = Polygon::new(vec![(-wide, 0), (0, high), (wide, 0)], color.mix(0.6));
                chart.draw(&(EmptyElement::at(at) + triangle))?;
            }
            for line in stretches(points.iter().map(|(x, [_, middle, _])| (*x, [*middle])), self.scale) {
                let path: Vec<(f64, f64)> = line.into_iter().map(|(x, [y])| (x, y)).collect();
                match path[..] {
                    [only] => chart.draw(&Circle::new(only, pt(1.3), color.filled()))?,
                    _ => chart.draw(&PathElement::new(path, stroke(*color, 1.2)))?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(x: &[f64], y: &[f64], scale: Scale) -> Vec<Vec<(f64, [f64; 1])>> {
        stretches(x.iter().zip(y).map(|(x, y)| (*x, [*y])), scale)
    }

    #[test]
    fn values_without_a_logarithm_interrupt_and_are_never_moved() {
        let (x, y) = ([1.0, 10.0, 100.0, 1000.0, 1e4], [0.1, -0.5, 0.01, f64::NAN, 0.001]);
        let parts = parts_of(&x, &y, Scale::Log);
        assert_eq!(parts, [vec![(0.0, [-1.0])], vec![(2.0, [-2.0])], vec![(4.0, [-3.0])]]);
        assert_eq!(parts_of(&x, &y, Scale::Linear).len(), 2, "only NaN has no place on a linear axis");
    }

    #[test]
    fn log_ticks_are_decades_when_there_are_enough() {
        assert_eq!(log_ticks(-3.2, 0.1, 5).at, [-3.0, -2.0, -1.0, 0.0]);
        assert_eq!(log_ticks(-9.0, 1.0, 4).at, [-9.0, -6.0, -3.0, 0.0]);
        let labels = |ticks: Ticks| ticks.at.iter().map(|p| ticks.label(*p)).collect::<Vec<_>>();
        assert_eq!(labels(log_ticks(-0.9, -0.2, 5)), ["0.15", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(log_ticks(0.0, 1.6, 5)), ["1", "3", "10", "30"]);
        assert_eq!(labels(log_ticks(-1.7, 0.6, 3)), ["0.1", "1"]);
        assert_eq!(labels(log_ticks(0.301, 0.352, 5)), ["2", "2.1", "2.2"]);
        assert_eq!(labels(log_ticks(-12.0, 0.0, 5)), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
        assert_eq!(labels(log_ticks(-2.0, 2.6, 5)), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(linear_ticks(-1.0, 2.0, 3)), ["−1", "0", "1", "2"]);
        assert!(!log_ticks(0.0, 0.0, 5).at.is_empty(), "a single value still gets a label");
    }

    #[test]
    fn labels_that_would_touch_are_noticed() {
        let ticks = log_ticks(-3.5, -1.2, 5);
        assert_eq!(ticks.at.len(), 5);
        assert!(ticks.crowded(90.0) && !ticks.crowded(300.0));
    }

    #[test]
    fn plateaus_keep_their_ends_only() {
        let (x, y) = ([1e1, 1e2, 1e3, 1e4, 1e5], [7.0, 7.0, 7.0, 7.0, 8.0]);
        let parts = parts_of(&x, &y, Scale::Linear);
        assert_eq!(parts, [vec![(1.0, [7.0]), (4.0, [7.0]), (5.0, [8.0])]]);
        assert_eq!(linear_ticks(0.0, 283.0, 5).at, [0.0, 100.0, 200.0]);
    }
}
