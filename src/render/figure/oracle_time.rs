//! Oracle time: per data set and solver a bar of the oracle share and the latency distributions.

use hdrhistogram::Histogram;
use plotters::prelude::*;

use super::canvas::{self, Area, CENTER, Drawn, GRID, INK, LEFT, RIGHT, SMALL, Span, TEXT, TOP, WIDTH, stroke};
use super::chart::log_ticks;
use super::{Scene, hidden};
use crate::error::Result;
use crate::render::style::Style;
use crate::study::profile::ProfileRow;

const TITLE: f64 = 16.0;
const HEADING: f64 = 15.0;
const ROW: f64 = 16.0;
const AXIS: f64 = 16.0;
/// Width of a latency bin, decades.
const BIN: f64 = 0.05;

/// The two panels: the share, and the latency as log10 of ns.
struct Columns {
    share: Span,
    latency: Span,
    /// Labelled latencies; none without a latency.
    ticks: Vec<f64>,
}

impl Columns {
    /// Beside the names of the rows. Right of the share stands a number, right of the latency half a label.
    fn new(rows: &[&ProfileRow]) -> Self {
        let labels = rows.iter().map(|row| canvas::text_width(&row.display, SMALL)).fold(0.0, f64::max);
        let left = (labels + 10.0).clamp(70.0, 170.0);
        let right = WIDTH - 14.0;
        let middle = left + 0.37 * (right - left - 42.0);
        let all =
            || rows.iter().flat_map(|row| [&row.oracle_histogram, &row.approx_histogram]).filter(|h| !h.is_empty());
        let low = all().map(|h| log_ns(h.min())).fold(f64::INFINITY, f64::min);
        let high = all().map(|h| log_ns(h.value_at_quantile(0.9999))).fold(f64::NEG_INFINITY, f64::max);
        let (values, ticks) = if low <= high {
            let ticks = log_ticks(low, high, 5);
            (ticks.range, ticks.at)
        } else {
            (0.0..1.0, Vec::new())
        };
        let latency = Span { values, ends: [middle + 42.0, right] };
        Self { share: Span { values: 0.0..1.0, ends: [left, middle] }, latency, ticks }
    }

    fn draw(&self, area: &Area, bottom: f64) -> Drawn {
        for (name, span) in [("oracle share of time (%)", &self.share), ("latency of one call", &self.latency)] {
            canvas::words(area, name, (span.middle(), TITLE / 2.0), TEXT, CENTER)?;
        }
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (self.share.at(share), format!("{}", 100.0 * share)));
        let latencies = self.ticks.iter().map(|tick| (self.latency.at(*tick), unit_label(*tick)));
        for (x, label) in shares.into_iter().chain(latencies) {
            canvas::line(area, &[(x, TITLE), (x, bottom)], stroke(GRID, 0.4))?;
            canvas::words(area, label, (x, bottom + 3.0), SMALL, TOP)?;
        }
        Ok(())
    }
}

pub fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let frames = &scene.results.own;
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
    let columns = Columns::new(&rows);
    let bottom = TITLE + HEADING * datasets.len() as f64 + ROW * rows.len() as f64;
    scene.svg("oracle time", datasets, |sheet| {
        let area = sheet.block(bottom + AXIS);
        columns.draw(&area, bottom)?;
        let mut y = TITLE;
        for dataset in datasets {
            // Long names run over the grid: the page below them is cleared first.
            let heading = canvas::clip(frames.title(dataset), 10.0, WIDTH - 8.0);
            let wide = canvas::text_width(&heading, TEXT) * 1.15 + 8.0;
            canvas::rectangle(&area, [(0.0, y + 1.0), (wide, y + HEADING - 1.0)], WHITE.filled())?;
            canvas::bold(&area, heading, (4.0, y + HEADING / 2.0), TEXT)?;
            y += HEADING;
            for row in rows.iter().filter(|row| row.dataset == *dataset) {
                draw_row(&area, row, scene.styles[&row.label], y + ROW / 2.0, &columns)?;
                y += ROW;
            }
        }
        canvas::notes(sheet, &notes)
    })
}

fn log_ns(ns: u64) -> f64 {
    (ns.max(1) as f64).log10()
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

fn draw_row(area: &Area, row: &ProfileRow, style: Style, y: f64, columns: &Columns) -> Drawn {
    let left = columns.share.ends[0];
    canvas::words(area, canvas::clip(&row.display, SMALL, 165.0), (left - 4.0, y), SMALL, RIGHT)?;
    let Some(share) = row.share else {
        return canvas::words(area, format!("no run succeeded ({} failed)", row.failed), (left + 4.0, y), SMALL, LEFT);
    };
    let [low, middle, high] = [share.min, share.median, share.max].map(|share| columns.share.at(share));
    canvas::rectangle(area, [(left, y - 5.0), (middle, y + 5.0)], style.color.mix(0.75).filled())?;
    canvas::line(area, &[(low, y), (high, y)], stroke(INK, 0.8))?;
    for end in [low, high] {
        canvas::line(area, &[(end, y - 2.5), (end, y + 2.5)], stroke(INK, 0.8))?;
    }
    canvas::words(area, format!("{:.0} %", 100.0 * share.median), (high + 4.0, y), SMALL, LEFT)?;
    violin(area, &row.oracle_histogram, Some(style), y, &columns.latency)?;
    violin(area, &row.approx_histogram, None, y, &columns.latency)
}

/// Share of the counts in each bin of [`BIN`] decades of ns, smoothed over neighbours, as (centre, height ≤ 1).
fn density(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    let bin = |value: u64| (log_ns(value) / BIN).floor() as i64;
    let first = bin(histogram.min()) - 2;
    let mut counts = vec![0.0; (bin(histogram.max()) - first + 3).max(1) as usize];
    for step in histogram.iter_recorded() {
        counts[(bin(step.value_iterated_to()) - first) as usize] += step.count_at_value() as f64;
    }
    // The bins at both ends are empty.
    let smooth: Vec<f64> = counts.windows(3).map(|three| 0.25 * three[0] + 0.5 * three[1] + 0.25 * three[2]).collect();
    let top = smooth.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let centre = |k: usize| (first as f64 + k as f64 + 1.5) * BIN;
    smooth.into_iter().enumerate().map(|(k, count)| (centre(k), count / top)).collect()
}

/// The distribution around `y`: filled with the colour of a style, or an outline.
fn violin(area: &Area, histogram: &Histogram<u64>, fill: Option<Style>, y: f64, span: &Span) -> Drawn {
    if histogram.is_empty() {
        return Ok(());
    }
    // Very thin bins are the long tail, whose quantiles are in the table of oracle time.
    let bins: Vec<(f64, f64)> = density(histogram).into_iter().filter(|(_, height)| *height > 0.005).collect();
    for part in bins.chunk_by(|a, b| b.0 - a.0 < 1.5 * BIN) {
        let upper = part.iter().map(|(p, height)| (span.at(*p), y - 6.5 * height));
        let lower = part.iter().rev().map(|(p, height)| (span.at(*p), y + 6.5 * height));
        let mut edge: Vec<(f64, f64)> = upper.chain(lower).collect();
        if let Some(style) = fill {
            canvas::polygon(area, &edge, style.color.mix(0.6))?;
        } else {
            edge.push(edge[0]);
            canvas::line(area, &edge, stroke(INK, 0.6))?;
        }
    }
    let median = span.at(log_ns(histogram.value_at_quantile(0.5)));
    canvas::line(area, &[(median, y - 6.5), (median, y + 6.5)], stroke(INK, 1.0))
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
