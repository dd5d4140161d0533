//! Oracle time: per data set and solver a bar of the oracle share and the latency distributions.

use hdrhistogram::Histogram;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::panel::{Ticks, log_ticks};
use super::theme::{self, GRID, INK, SMALL, TEXT, WIDTH, pt, stroke};
use super::{Scene, hidden, titles};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::profile::ProfileRow;

const TITLE: f64 = 16.0;
const HEADING: f64 = 15.0;
const ROW: f64 = 16.0;
const AXIS: f64 = 16.0;
/// Width of a latency bin, decades.
const BIN: f64 = 0.05;

/// The two panels: left and right edge in points, and the axis of latencies (log10 of ns), absent without a latency.
struct Columns {
    share: [f64; 2],
    latency: [f64; 2],
    ticks: Option<Ticks>,
}

impl Columns {
    /// Beside the names of the rows. Right of the share stands a number, right of the latency half a label.
    fn new(rows: &[&ProfileRow]) -> Self {
        let labels = rows.iter().map(|row| theme::text_width(&row.display, SMALL)).fold(0.0, f64::max);
        let left = (labels + 10.0).clamp(70.0, 170.0);
        let right = WIDTH - 14.0;
        let share = left + 0.37 * (right - left - 42.0);
        let all = rows.iter().flat_map(|row| [&row.oracle_histogram, &row.approx_histogram]);
        let range = all.filter(|h| !h.is_empty()).fold(None, |range: Option<(f64, f64)>, h| {
            let (low, high) = ((h.min().max(1) as f64).log10(), (h.value_at_quantile(0.9999).max(1) as f64).log10());
            Some(range.map_or((low, high), |(a, b)| (a.min(low), b.max(high))))
        });
        let ticks = range.map(|(low, high)| log_ticks(low, high, 5));
        Self { share: [left, share], latency: [share + 42.0, right], ticks }
    }

    fn share_x(&self, share: f64) -> f64 {
        self.share[0] + share * (self.share[1] - self.share[0])
    }

    fn latency_x(&self, log_ns: f64) -> f64 {
        let span = self.ticks.as_ref().map_or(0.0..1.0, |ticks| ticks.range.clone());
        let [left, right] = self.latency;
        left + (log_ns - span.start) / (span.end - span.start) * (right - left)
    }

    /// Titles, grid lines and their labels.
    fn draw(&self, root: &Area, bottom: f64) -> Drawn {
        for (name, [left, right]) in [("oracle share of time (%)", self.share), ("latency of one call", self.latency)] {
            let at = (f64::midpoint(left, right), TITLE / 2.0);
            canvas::words(root, name, at, theme::text(TEXT, HPos::Center, VPos::Center))?;
        }
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (self.share_x(share), format!("{}", 100.0 * share)));
        let ticks = self.ticks.iter().flat_map(|ticks| &ticks.at);
        for (x, label) in shares.into_iter().chain(ticks.map(|tick| (self.latency_x(*tick), unit_label(*tick)))) {
            canvas::line(root, &[(x, TITLE), (x, bottom)], stroke(GRID, 0.4))?;
            canvas::words(root, label, (x, bottom + 3.0), theme::text(SMALL, HPos::Center, VPos::Top))?;
        }
        Ok(())
    }
}

/// Draws the figure of these data sets.
pub(super) fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<String> {
    let frames = &scene.results.own;
    let styles = style::styles(frames);
    // The profile has a row for every series.
    let shown = scene.results.profile.iter().zip(&scene.shown).filter(|(_, shown)| **shown).map(|(row, _)| row);
    let rows: Vec<&ProfileRow> = shown.filter(|row| datasets.contains(&row.dataset.as_str())).collect();
    let mut notes = vec![
        "bar = median share, whisker = min–max over repeats".to_owned(),
        "filled = exact oracle calls, outline = approximate steps (sampled), tick = median".to_owned(),
    ];
    if let Some(row) = rows.iter().find(|row| row.clock != "wall" && !row.clock.is_empty()) {
        notes.push(format!("shares on the {} clock, latencies in wall time", row.clock));
    }
    notes.extend(hidden(frames, &scene.shown, datasets));
    let legend = Legend::of_notes(&notes);
    let columns = Columns::new(&rows);
    let bottom = TITLE + HEADING * datasets.len() as f64 + ROW * rows.len() as f64;
    let title = format!("oracle time: {}", titles(frames, datasets));
    canvas::svg(&title, bottom + AXIS + legend.height(), styles.values(), |root| {
        columns.draw(root, bottom)?;
        let mut y = TITLE;
        for dataset in datasets {
            // Long names run over the grid: the page below them is cleared first.
            let heading = theme::clip(frames.title(dataset), 10.0, WIDTH - 8.0);
            let wide = theme::text_width(&heading, TEXT) * 1.15 + 8.0;
            canvas::rectangle(root, [(0.0, y + 1.0), (wide, y + HEADING - 1.0)], WHITE.filled())?;
            canvas::words(root, heading, (4.0, y + HEADING / 2.0), theme::bold(TEXT, HPos::Left, VPos::Center))?;
            y += HEADING;
            for row in rows.iter().filter(|row| row.dataset == *dataset) {
                draw_row(root, row, styles[&row.label], y + ROW / 2.0, &columns)?;
                y += ROW;
            }
        }
        legend.draw(root, bottom + AXIS)
    })
}

fn unit_label(log_ns: f64) -> String {
    let ns = 10f64.powf(log_ns);
    let (scale, unit) = match ns {
        v if v < 0.999e3 => (1.0, "ns"),
        v if v < 0.999e6 => (1e3, "µs"),
        v if v < 0.999e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", (ns / scale * 100.0).round() / 100.0)
}

fn draw_row(root: &Area, row: &ProfileRow, style: Style, y: f64, columns: &Columns) -> Drawn {
    let name = theme::clip(&row.display, SMALL, 165.0);
    canvas::words(root, name, (columns.share[0] - 4.0, y), theme::text(SMALL, HPos::Right, VPos::Center))?;
    let left = theme::text(SMALL, HPos::Left, VPos::Center);
    let Some(share) = row.share else {
        return canvas::words(
            root,
            format!("no run ended well ({} failed)", row.failed),
            (columns.share[0] + 4.0, y),
            left,
        );
    };
    let [low, middle, high] = [share.min, share.median, share.max].map(|share| columns.share_x(share));
    canvas::rectangle(root, [(columns.share[0], y - 5.0), (middle, y + 5.0)], style.color.mix(0.75).filled())?;
    canvas::line(root, &[(low, y), (high, y)], stroke(INK, 0.8))?;
    for end in [low, high] {
        canvas::line(root, &[(end, y - 2.5), (end, y + 2.5)], stroke(INK, 0.8))?;
    }
    canvas::words(root, format!("{:.0} %", 100.0 * share.median), (high + 4.0, y), left)?;
    violin(root, &row.oracle_histogram, Some(style), y, columns)?;
    violin(root, &row.approx_histogram, None, y, columns)
}

/// Share of the counts in each bin of [`BIN`] decades of ns, smoothed over neighbours, as (centre, height ≤ 1).
fn density(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    let bin = |value: u64| ((value.max(1) as f64).log10() / BIN).floor() as i64;
    let first = bin(histogram.min()) - 2;
    let mut counts = vec![0.0; (bin(histogram.max()) - first + 3).max(1) as usize];
    for step in histogram.iter_recorded() {
        counts[(bin(step.value_iterated_to()) - first) as usize] += step.count_at_value() as f64;
    }
    let at = |k: i64| counts.get(k as usize).copied().unwrap_or(0.0);
    let smooth: Vec<f64> =
        (0..counts.len() as i64).map(|k| 0.25 * at(k - 1) + 0.5 * at(k) + 0.25 * at(k + 1)).collect();
    let top = smooth.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let centre = |k: usize| (first as f64 + k as f64 + 0.5) * BIN;
    smooth.into_iter().enumerate().map(|(k, count)| (centre(k), count / top)).collect()
}

/// The distribution around `y`: filled with the colour of a style, or an outline.
fn violin(root: &Area, histogram: &Histogram<u64>, fill: Option<Style>, y: f64, columns: &Columns) -> Drawn {
    if histogram.is_empty() {
        return Ok(());
    }
    let place = |p: f64| columns.latency_x(p).clamp(columns.latency[0], columns.latency[1]);
    // Bins thinner than a hair are the long tail; its quantiles are in the profile table.
    let bins: Vec<(f64, f64)> = density(histogram).into_iter().filter(|(_, height)| *height > 0.005).collect();
    for part in bins.chunk_by(|a, b| b.0 - a.0 < 1.5 * BIN) {
        let upper = part.iter().map(|(p, height)| (place(*p), y - 6.5 * height));
        let lower = part.iter().rev().map(|(p, height)| (place(*p), y + 6.5 * height));
        let mut edge: Vec<(f64, f64)> = upper.chain(lower).collect();
        if let Some(style) = fill {
            let edge: Vec<(i32, i32)> = edge.iter().map(|(x, y)| (pt(*x), pt(*y))).collect();
            root.draw(&Polygon::new(edge, style.color.mix(0.6)))?;
        } else {
            edge.extend(edge.first().copied());
            canvas::line(root, &edge, stroke(INK, 0.6))?;
        }
    }
    let median = place((histogram.value_at_quantile(0.5).max(1) as f64).log10());
    canvas::line(root, &[(median, y - 6.5), (median, y + 6.5)], stroke(INK, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_has_its_top_where_the_counts_are() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(1000, 50).unwrap();
        histogram.record_n(100_000, 10).unwrap();
        let bins = density(&histogram);
        let top = bins.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert!((top.0 - 3.0).abs() <= BIN && top.1 == 1.0, "{top:?}");
        let minor = bins.iter().filter(|(p, _)| (*p - 5.0).abs() < 2.0 * BIN).map(|(_, h)| *h).fold(0.0, f64::max);
        assert!((minor - 0.2).abs() < 0.01, "{minor}");
    }

    #[test]
    fn labels_carry_units() {
        assert_eq!([1.0, 2.0, 3.0, 4.0, 6.0, 9.0].map(unit_label), ["10 ns", "100 ns", "1 µs", "10 µs", "1 ms", "1 s"]);
    }
}
