//! One panel: lines with bands → axes with ticks at decades, grid, bands and lines. And rows of panels, one per data set.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::theme::{self, BAND_ALPHA, GRID, INK, SMALL, TEXT, pt, stroke};
use crate::render::style::Style;

/// How values become positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Linear,
    /// Decimal logarithm; values that are not positive have no position.
    Log,
}

impl Scale {
    /// The position of a value, if it has one.
    fn place(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => Some(value),
            Self::Log => (value > 0.0).then(|| value.log10()),
        }
        .filter(|p| p.is_finite())
    }

    fn ticks(self, low: f64, high: f64, most: usize) -> Ticks {
        match self {
            Self::Linear => linear_ticks(low, high, most),
            Self::Log => log_ticks(low, high, most),
        }
    }
}

/// One line with its band; the columns are of one length.
#[derive(Clone, Debug)]
pub struct Line {
    /// Colour and dashes.
    pub style: Style,
    /// Positions.
    pub x: Vec<f64>,
    /// Lower edge, line, upper edge.
    pub y: [Vec<f64>; 3],
}

/// One panel.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Below it.
    pub x_title: &'static str,
    /// Beside it.
    pub y_title: &'static str,
    /// Horizontal scale.
    pub x: Scale,
    /// Vertical scale; a linear one starts at 0.
    pub y: Scale,
    /// What it shows.
    pub lines: Vec<Line>,
    /// Values below this are not known; shaded when it is in sight.
    pub floor: Option<f64>,
    /// A value that is drawn as a line across, and kept in sight.
    pub level: Option<f64>,
    /// Positions with a name, drawn as lines from top to bottom and kept in sight; the first solid, others dashed.
    pub marks: Vec<(f64, &'static str)>,
}

/// A row of panels with a heading.
pub struct Row {
    /// Above the row.
    pub heading: String,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// A figure of rows of panels; `heights` are those of a heading and of a panel.
pub fn rows<'s>(
    title: &str,
    styles: impl IntoIterator<Item = &'s Style>,
    rows: &[Row],
    heights: (f64, f64),
    legend: &Legend,
) -> crate::Result<String> {
    let tall = heights.0 + heights.1;
    let body = tall * rows.len() as f64;
    canvas::svg(title, body + legend.height(), styles, |root| {
        for (at, row) in rows.iter().enumerate() {
            let top = tall * at as f64;
            canvas::heading(root, &row.heading, top + heights.0 / 2.0)?;
            let area = canvas::below(root, top + heights.0, heights.1);
            for (cell, panel) in area.split_evenly((1, row.panels.len().max(1))).iter().zip(&row.panels) {
                panel.draw(cell)?;
            }
        }
        legend.draw(root, body)
    })
}

/// An axis: a range of positions and the labelled ones among them.
pub(super) struct Ticks {
    pub(super) range: std::ops::Range<f64>,
    pub(super) at: Vec<f64>,
    pub(super) scale: Scale,
}

impl Ticks {
    /// The label of a position. Powers of ten on all labels of an axis or on none.
    pub(super) fn label(&self, position: f64) -> String {
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
}

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * (limit.1 - limit.0) as f64).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.at.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format_ext(&self, position: &f64) -> String {
        self.label(*position)
    }
}

/// A chart with these axes.
pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ticks, Ticks>>;

/// What stands around a panel.
pub(super) struct Titles<'a> {
    /// What it shows.
    pub above: &'a str,
    /// The horizontal axis.
    pub below: &'a str,
    /// The vertical axis.
    pub beside: &'a str,
}

/// Width of the title of the vertical axis in points.
const BESIDE: f64 = 10.0;

/// Draws titles, axes and grid; `left` is the width of the vertical labels in points.
pub(super) fn axes<'a, 'b>(
    area: &'a Area<'b>,
    titles: &Titles<'_>,
    (x, y): (Ticks, Ticks),
    left: f64,
) -> Result<Chart<'a, 'b>, DrawingAreaErrorKind<std::io::Error>> {
    let (width, height) = area.dim_in_pixel();
    let left = left + BESIDE;
    let right = pt(6.0);
    let middle = pt(left) + (width as i32 - pt(left) - right) / 2;
    let above = theme::text(TEXT, HPos::Center, VPos::Top);
    let below = theme::text(SMALL, HPos::Center, VPos::Bottom);
    let beside = theme::text(SMALL, HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
    area.draw(&Text::new(titles.above.to_owned(), (middle, pt(1.5)), above))?;
    area.draw(&Text::new(titles.below.to_owned(), (middle, height as i32 - pt(1.5)), below))?;
    area.draw(&Text::new(titles.beside.to_owned(), (pt(1.0), (pt(14.0) + height as i32 - pt(24.0)) / 2), beside))?;
    let mut chart = ChartBuilder::on(area)
        .margin_top(pt(14.0))
        .margin_right(right)
        .x_label_area_size(pt(24.0))
        .y_label_area_size(pt(left))
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .bold_line_style(stroke(GRID, 0.4))
        .light_line_style(TRANSPARENT)
        .axis_style(stroke(INK, 0.6))
        .set_all_tick_mark_size(pt(1.8))
        .label_style(theme::text(SMALL, HPos::Center, VPos::Center))
        .draw()?;
    Ok(chart)
}

/// Whether labels below an axis of this width in points would touch.
fn crowded(ticks: &Ticks, width: f64) -> bool {
    let place = |p: f64| (p - ticks.range.start) / (ticks.range.end - ticks.range.start) * width;
    let half = |p: f64| 0.5 * theme::text_width(&ticks.label(p), SMALL);
    ticks.at.windows(2).any(|two| place(two[1]) - place(two[0]) < half(two[0]) + half(two[1]) + 2.0)
}

/// Decades, thinned when there are many, with steps between them when there are fewer than three.
pub(super) fn log_ticks(low: f64, high: f64, most: usize) -> Ticks {
    const STEPS: [&[f64]; 4] = [&[1.0], &[1.0, 3.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]];
    let (low, high) = if high - low < 0.05 { (low - 0.15, high + 0.15) } else { (low, high) };
    let pad = 0.03 * (high - low);
    let range = low - pad..high + pad;
    let decades = range.start.floor() as i64..=range.end.floor() as i64;
    let places = |steps: &[f64]| -> Vec<f64> {
        let all = decades.clone().flat_map(|k| steps.iter().map(move |m| k as f64 + m.log10()));
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
pub(super) fn linear_ticks(low: f64, high: f64, most: usize) -> Ticks {
    let high = if high > low { high } else { low + 1.0 };
    let rough = (high - low) / most.max(1) as f64;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade).into_iter().find(|s| *s >= rough).unwrap_or(10.0 * decade);
    let first = (low / step).ceil() as i64;
    let at = (first..=(high / step).floor() as i64).map(|k| k as f64 * step).collect();
    Ticks { range: low..high + 0.05 * (high - low), at, scale: Scale::Linear }
}

fn plain(value: f64) -> String {
    let scientific = value != 0.0 && !(1e-4..1e5).contains(&value.abs());
    let text = if scientific { format!("{value:e}") } else { format!("{value}") };
    text.replace('-', "−")
}

/// Runs of positions without a break: a value without a position interrupts the line, it is never moved.
pub(super) fn stretches<const K: usize>(xs: &[f64], ys: [&[f64]; K], x: Scale, y: Scale) -> Vec<Vec<(f64, [f64; K])>> {
    let mut all: Vec<Vec<(f64, [f64; K])>> = vec![Vec::new()];
    for (at, value) in xs.iter().enumerate() {
        let place = x.place(*value).and_then(|px| {
            let mut places = [0.0; K];
            for (place, column) in places.iter_mut().zip(ys) {
                *place = y.place(column[at])?;
            }
            Some((px, places))
        });
        match (place, all.last_mut()) {
            (Some(place), Some(open)) => {
                // The inside of a plateau adds nothing to the drawing.
                if let [.., before, last] = open.as_slice()
                    && before.1 == last.1
                    && last.1 == place.1
                {
                    open.pop();
                }
                open.push(place);
            }
            (None, Some(open)) if !open.is_empty() => all.push(Vec::new()),
            _ => {}
        }
    }
    all.retain(|stretch| !stretch.is_empty());
    all
}

impl Panel {
    /// Left, right, bottom and top of what is drawn; `None` when nothing has a position.
    fn extent(&self) -> Option<[f64; 4]> {
        let mut extent = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
        let mut include = |side: usize, p: f64| {
            extent[side] = extent[side].min(p);
            extent[side + 1] = extent[side + 1].max(p);
        };
        for line in &self.lines {
            for (at, value) in line.x.iter().enumerate() {
                let Some(px) = self.x.place(*value) else { continue };
                for py in line.y.iter().filter_map(|column| self.y.place(column[at])) {
                    include(0, px);
                    include(2, py);
                }
            }
        }
        self.marks.iter().filter_map(|(value, _)| self.x.place(*value)).for_each(|px| include(0, px));
        self.level.and_then(|level| self.y.place(level)).iter().for_each(|py| include(2, *py));
        (extent[0].is_finite() && extent[2].is_finite()).then_some(extent)
    }

    /// Draws the panel.
    pub fn draw(&self, area: &Area) -> Drawn {
        let Some([x0, x1, y0, y1]) = self.extent() else {
            let empty = self.lines.iter().all(|line| line.x.is_empty());
            return canvas::nothing(
                area,
                &self.title,
                if empty { "no run to show" } else { "no positive value to show" },
            );
        };
        // The floor is in sight when a line comes near it.
        let floor = self.floor.and_then(|floor| self.y.place(floor)).filter(|floor| *floor > y0 - 0.3 * (y1 - y0));
        let y0 = floor.map_or(y0, |floor| y0.min(floor - 0.1 * (y1 - y0)));
        let from = if self.x == Scale::Linear { 0.0 } else { x0 };
        let columns = ((canvas::width(area) - 32.0 - BESIDE) / 24.0) as usize;
        let mut fewer = (2..=columns.max(2)).rev().map(|most| self.x.ticks(from, x1, most));
        let fitting = fewer.find(|ticks| !crowded(ticks, canvas::width(area) - 38.0 - BESIDE));
        let xt = fitting.unwrap_or_else(|| self.x.ticks(from, x1, 2));
        let yt = self.y.ticks(if self.y == Scale::Linear { y0.min(0.0) } else { y0 }, y1, 5);
        let widest = yt.at.iter().map(|p| theme::text_width(&yt.label(*p), SMALL)).fold(0.0, f64::max);
        let (xs, ys) = (xt.range.clone(), yt.range.clone());
        let titles = Titles { above: &self.title, below: self.x_title, beside: self.y_title };
        let mut chart = axes(area, &titles, (xt, yt), (widest + 7.0).max(22.0))?;
        if let Some(floor) = floor {
            let corners = [(xs.start, ys.start), (xs.end, floor.min(y1))];
            chart.draw_series(std::iter::once(Rectangle::new(corners, INK.mix(BAND_ALPHA).filled())))?;
        }
        if let Some(level) = self.level.and_then(|level| self.y.place(level)) {
            chart.draw_series(LineSeries::new([(xs.start, level), (xs.end, level)], stroke(INK, 0.6)))?;
        }
        self.draw_marks(&mut chart, f64::midpoint(xs.start, xs.end), (ys.start, ys.end))?;
        self.draw_lines(&mut chart)
    }

    fn draw_marks(&self, chart: &mut Chart<'_, '_>, middle: f64, (bottom, top): (f64, f64)) -> Drawn {
        for (at, (value, name)) in self.marks.iter().enumerate() {
            let Some(px) = self.x.place(*value) else { continue };
            let (line, ink) = ([(px, bottom), (px, top)], stroke(INK, 0.5));
            if at == 0 {
                chart.draw_series(LineSeries::new(line, ink))?;
            } else {
                chart.draw_series(DashedLineSeries::new(line, pt(2.0) as u32, pt(2.0) as u32, ink))?;
            }
            let (side, shift) = if px < middle { (HPos::Left, pt(2.0)) } else { (HPos::Right, -pt(2.0)) };
            let words = theme::text(SMALL - 1.0, side, VPos::Top);
            let name = Text::new((*name).to_owned(), (shift, pt(1.0 + 8.0 * at as f64)), words);
            chart.draw_series(std::iter::once(EmptyElement::at((px, top)) + name))?;
        }
        Ok(())
    }

    /// Bands, then lines above all of them.
    fn draw_lines(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        for line in &self.lines {
            for stretch in stretches(&line.x, [&line.y[0], &line.y[2]], self.x, self.y) {
                let lower = stretch.iter().map(|(px, [low, _])| (*px, *low));
                let upper = stretch.iter().rev().map(|(px, [_, high])| (*px, *high));
                let edge: Vec<(f64, f64)> = lower.chain(upper).collect();
                if stretch.len() > 1 {
                    chart.draw_series(std::iter::once(Polygon::new(edge, line.style.color.mix(BAND_ALPHA))))?;
                }
            }
        }
        for line in &self.lines {
            for stretch in stretches(&line.x, [&line.y[1]], self.x, self.y) {
                let path: Vec<(f64, f64)> = stretch.into_iter().map(|(px, [py])| (px, py)).collect();
                match path.as_slice() {
                    [only] => {
                        chart.draw_series(std::iter::once(Circle::new(*only, pt(1.3), line.style.color.filled())))?
                    }
                    _ => chart.draw_series(LineSeries::new(path, stroke(line.style.color, 1.2)))?,
                };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_a_logarithm_interrupt_and_are_never_moved() {
        let (x, y) = ([1.0, 10.0, 100.0, 1000.0, 1e4], [0.1, -0.5, 0.01, f64::NAN, 0.001]);
        let parts = stretches(&x, [&y], Scale::Log, Scale::Log);
        assert_eq!(parts, [vec![(0.0, [-1.0])], vec![(2.0, [-2.0])], vec![(4.0, [-3.0])]]);
        assert_eq!(stretches(&x, [&y], Scale::Log, Scale::Linear).len(), 2, "only NaN has no place on a linear axis");
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
        assert!(crowded(&ticks, 90.0) && !crowded(&ticks, 300.0));
    }

    #[test]
    fn plateaus_keep_their_ends_only() {
        let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [7.0, 7.0, 7.0, 7.0, 8.0]);
        let parts = stretches(&x, [&y], Scale::Linear, Scale::Linear);
        assert_eq!(parts, [vec![(1.0, [7.0]), (4.0, [7.0]), (5.0, [8.0])]]);
        assert_eq!(linear_ticks(0.0, 283.0, 5).at, [0.0, 100.0, 200.0]);
    }
}
