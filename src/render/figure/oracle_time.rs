//! Oracle time: profile rows in; per data set and solver a bar of the oracle share and the latency distributions out.

use hdrhistogram::Histogram;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Source;
use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::panel::log_ticks;
use super::theme::{self, GRID, INK, SMALL, TEXT, WIDTH, pt};
use crate::error::Result;
use crate::render::style::{self, Style};
use crate::study::frame::profile::ProfileRow;

const TITLE: f64 = 16.0;
const HEADING: f64 = 15.0;
const ROW: f64 = 16.0;
const AXIS: f64 = 16.0;
/// Width of a latency bin, decades.
const BIN: f64 = 0.05;

/// Left and right edge of the two panels, points.
struct Columns {
    share: [f64; 2],
    latency: [f64; 2],
}

impl Columns {
    /// Beside labels of this width; right of the share is room for a number, right of the latency for half a label.
    fn beside(labels: f64) -> Self {
        let left = (labels + 10.0).clamp(70.0, 170.0);
        let right = WIDTH - 14.0;
        let share = left + 0.37 * (right - left - 42.0);
        Self { share: [left, share], latency: [share + 42.0, right] }
    }

    fn share_x(&self, share: f64) -> f64 {
        self.share[0] + share * (self.share[1] - self.share[0])
    }
}

/// Draws the figure of these data sets.
pub fn draw(source: &Source<'_>, datasets: &[&str]) -> Result<String> {
    let frames = &source.results.frames;
    // A row of the profile for every series.
    let profile = || source.results.profile.iter().zip(&source.shown).filter(|(_, shown)| **shown).map(|(row, _)| row);
    let styles = style::styles(frames);
    let blocks: Vec<(&str, Vec<&ProfileRow>)> =
        datasets.iter().map(|dataset| (*dataset, profile().filter(|row| row.dataset == *dataset).collect())).collect();
    let body: f64 = blocks.iter().map(|(_, rows)| HEADING + ROW * rows.len() as f64).sum();
    let rows = || blocks.iter().flat_map(|(_, rows)| rows);
    let all = rows().flat_map(|row| [&row.oracle_histogram, &row.approx_histogram]).filter(|h| !h.is_empty());
    let range = all.fold(None, |range: Option<(f64, f64)>, h| {
        let (low, high) = ((h.min().max(1) as f64).log10(), (h.value_at_quantile(0.9999).max(1) as f64).log10());
        Some(range.map_or((low, high), |(a, b)| (a.min(low), b.max(high))))
    });
    let clocks: Vec<&str> = rows().map(|row| row.clock.as_str()).filter(|c| *c != "wall" && !c.is_empty()).collect();
    let mut notes = vec![
        "bar = median share, whisker = min–max over repeats".to_owned(),
        "filled = exact oracle calls, outline = approximate steps (sampled), tick = median".to_owned(),
    ];
    if let Some(clock) = clocks.first() {
        notes.push(format!("shares on the {clock} clock, latencies in wall time"));
    }
    notes.extend(source.hidden(datasets));
    let legend = Legend::new([], &notes);
    let widest = rows().map(|row| theme::text_width(&row.display, SMALL)).fold(0.0, f64::max);
    let columns = Columns::beside(widest);
    let title = format!("oracle time: {}", source.titles(datasets));
    canvas::svg(&title, (WIDTH, TITLE + body + AXIS + legend.height()), styles.values(), |root| {
        let bottom = TITLE + body;
        let ticks = range.map(|(low, high)| log_ticks(low, high, 5));
        let latency_x = |p: f64| {
            let span = ticks.as_ref().map_or(0.0..1.0, |t| t.range.clone());
            let [left, right] = columns.latency;
            left + (p - span.start) / (span.end - span.start) * (right - left)
        };
        let head = theme::text(TEXT, INK, HPos::Center, VPos::Center);
        for (name, [left, right]) in
            [("oracle share of time (%)", columns.share), ("latency of one call", columns.latency)]
        {
            root.draw(&Text::new(name, (pt(f64::midpoint(left, right)), pt(TITLE / 2.0)), head.clone()))?;
        }
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            rule(root, columns.share_x(share), bottom, format!("{}", 100.0 * share))?;
        }
        for tick in ticks.as_ref().map_or(&[][..], |t| &t.at) {
            rule(root, latency_x(*tick), bottom, unit_label(*tick))?;
        }
        let mut y = TITLE;
        for (dataset, rows) in &blocks {
            let heading = theme::bold(TEXT, INK, HPos::Left, VPos::Center);
            // Long names run over the grid: the page below them is cleared first.
            let heading_text = theme::clip(frames.title(dataset), 10.0, WIDTH - 8.0);
            let wide = theme::text_width(&heading_text, TEXT) * 1.15 + 8.0;
            root.draw(&Rectangle::new([(0, pt(y + 1.0)), (pt(wide), pt(y + HEADING - 1.0))], WHITE.filled()))?;
            root.draw(&Text::new(heading_text, (pt(4.0), pt(y + HEADING / 2.0)), heading))?;
            y += HEADING;
            for row in rows {
                draw_row(root, row, &styles[&row.label], y + ROW / 2.0, &columns, &latency_x)?;
                y += ROW;
            }
        }
        legend.draw(root, bottom + AXIS)
    })
}

/// A vertical grid line with its label.
fn rule(root: &Area, x: f64, bottom: f64, label: String) -> Drawn {
    let line = vec![(pt(x), pt(TITLE)), (pt(x), pt(bottom))];
    root.draw(&PathElement::new(line, GRID.stroke_width(pt(0.4) as u32)))?;
    root.draw(&Text::new(label, (pt(x), pt(bottom + 3.0)), theme::text(SMALL, INK, HPos::Center, VPos::Top)))
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

fn draw_row(
    root: &Area,
    row: &ProfileRow,
    style: &Style,
    y: f64,
    columns: &Columns,
    latency_x: &dyn Fn(f64) -> f64,
) -> Drawn {
    let label = theme::text(SMALL, INK, HPos::Right, VPos::Center);
    let name = theme::clip(&row.display, SMALL, 165.0);
    root.draw(&Text::new(name, (pt(columns.share[0] - 4.0), pt(y)), label))?;
    let left_text = theme::text(SMALL, INK, HPos::Left, VPos::Center);
    let Some(share) = row.share else {
        let text = format!("no run ended well ({} failed)", row.failed);
        return root.draw(&Text::new(text, (pt(columns.share[0] + 4.0), pt(y)), left_text));
    };
    let x = |share: f64| columns.share_x(share);
    root.draw(&Rectangle::new(
        [(pt(x(0.0)), pt(y - 5.0)), (pt(x(share.median)), pt(y + 5.0))],
        style.color.mix(0.75).filled(),
    ))?;
    let ink = INK.stroke_width(pt(0.8) as u32);
    root.draw(&PathElement::new(vec![(pt(x(share.min)), pt(y)), (pt(x(share.max)), pt(y))], ink))?;
    for end in [share.min, share.max] {
        root.draw(&PathElement::new(vec![(pt(x(end)), pt(y - 2.5)), (pt(x(end)), pt(y + 2.5))], ink))?;
    }
    let percent = format!("{:.0} %", 100.0 * share.median);
    root.draw(&Text::new(percent, (pt(x(share.max) + 4.0), pt(y)), left_text))?;
    for (histogram, filled) in [(&row.oracle_histogram, true), (&row.approx_histogram, false)] {
        violin(root, histogram, style, filled, y, columns.latency, latency_x)?;
    }
    Ok(())
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

fn violin(
    root: &Area,
    histogram: &Histogram<u64>,
    style: &Style,
    filled: bool,
    y: f64,
    [left, right]: [f64; 2],
    latency_x: &dyn Fn(f64) -> f64,
) -> Drawn {
    if histogram.is_empty() {
        return Ok(());
    }
    let place = |p: f64| pt(latency_x(p).clamp(left, right));
    // Bins thinner than a hair are the long tail; its quantiles are in the profile table.
    let bins: Vec<(f64, f64)> = density(histogram).into_iter().filter(|(_, height)| *height > 0.005).collect();
    for part in bins.chunk_by(|a, b| b.0 - a.0 < 1.5 * BIN) {
        let upper = part.iter().map(|(p, height)| (place(*p), pt(y - 6.5 * height)));
        let lower = part.iter().rev().map(|(p, height)| (place(*p), pt(y + 6.5 * height)));
        let mut edge: Vec<(i32, i32)> = upper.chain(lower).collect();
        if filled {
            root.draw(&Polygon::new(edge, style.color.mix(0.6)))?;
        } else {
            edge.extend(edge.first().copied());
            root.draw(&PathElement::new(edge, INK.stroke_width(pt(0.6) as u32)))?;
        }
    }
    let median = place((histogram.value_at_quantile(0.5).max(1) as f64).log10());
    let tick = vec![(median, pt(y - 6.5)), (median, pt(y + 6.5))];
    root.draw(&PathElement::new(tick, INK.stroke_width(pt(1.0) as u32)))
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
