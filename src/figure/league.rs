//! The league: standings in; the distribution over targets of time and oracle calls with a name at the end of every line,
//! and the matrix of speed-ups, out.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::legend::Legend;
use super::panel::{Scale, Ticks, axes, log_ticks};
use super::theme::{self, GRID, INK, SMALL, Style, WIDTH, pt};
use crate::error::Result;
use crate::frame::Frames;
use crate::league::{League, Matrix, Measure, Speedup, Standing};

/// Room for names beside a panel or a matrix.
const NAMES: f64 = 112.0;
/// Height of a name.
const LINE: f64 = 9.0;
const TITLE: f64 = 16.0;
const GAP: f64 = 8.0;

/// One line: what was spent at each target that was reached, ascending, of so many.
struct Share {
    name: String,
    style: Style,
    hits: Vec<f64>,
    tries: usize,
}

impl Share {
    fn last(&self) -> f64 {
        self.hits.len() as f64 / self.tries.max(1) as f64
    }
}

/// Draws the figure of these data sets; `None` when nobody can be compared.
pub fn draw(frames: &Frames, league: &League, datasets: &[&str]) -> Result<Option<String>> {
    let standings: Vec<&Standing> =
        league.standings.iter().filter(|s| datasets.contains(&s.dataset.as_str()) && !s.targets.is_empty()).collect();
    if standings.iter().all(|standing| standing.members.len() < 2) {
        return Ok(None);
    }
    let styles = theme::styles(frames);
    let panels = Measure::ALL.map(|measure| shares(&standings, measure, &styles));
    let matrices = matrices(league, &standings);
    let n = matrices.first().map_or(0, |matrix| matrix.names.len());
    let tall = (LINE * n as f64 + 44.0).max(120.0);
    let side = ((WIDTH - NAMES - 8.0) / n.max(1) as f64).min(34.0);
    let (cell, top) = ((side * 0.62).max(11.0), 2.0 * (tall + GAP));
    let body = top + TITLE + LINE + 4.0 + cell * n as f64 + GAP;
    let legend = Legend::new([], &notes(&standings)).without_bands();
    let title = format!("league: {}", datasets.join(", "));
    let svg = canvas::svg(&title, (WIDTH, body + legend.height()), styles.values(), |root| {
        for (at, (measure, shares)) in Measure::ALL.into_iter().zip(&panels).enumerate() {
            let area = root.clone().shrink((0, pt(at as f64 * (tall + GAP))), (pt(WIDTH), pt(tall)));
            ecdf(&area, measure, shares)?;
        }
        draw_matrix(root, &matrices, top, (side, cell))?;
        legend.draw(root, body)
    })?;
    Ok(Some(svg))
}

fn notes(standings: &[&Standing]) -> Vec<String> {
    let sets: Vec<&str> = standings.iter().map(|standing| standing.title.as_str()).collect();
    let smallest = |s: &&Standing| s.targets.last().map_or(String::new(), |t| format!("{} to {t:e}", s.title));
    let targets: Vec<String> = standings.iter().map(smallest).collect();
    let mut notes = vec![
        format!("over relative gaps of the certified optimum, two a decade from 1, and seeds: {}", targets.join(", ")),
        format!("matrix: row over column, median over seeds of the median over gaps; {}", sets.join(", ")),
        "colour: faster (blue), slower (orange) with a 95 % interval clear of 1; ≥ and ≤ where runs ended before"
            .to_owned(),
    ];
    let mut absent: Vec<&str> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        let on = |standing: &&&Standing| standing.members.iter().any(|other| other.label == member.label);
        if standings.iter().filter(on).count() < standings.len() && !absent.contains(&member.display.as_str()) {
            absent.push(&member.display);
        }
    }
    if !absent.is_empty() {
        notes.push(format!("not on every data set: {}", absent.join(", ")));
    }
    notes
}

/// The lines of a measure, solvers of one label put together over data sets.
fn shares(standings: &[&Standing], measure: Measure, styles: &std::collections::BTreeMap<String, Style>) -> Vec<Share> {
    let mut shares: Vec<(&str, Share)> = Vec::new();
    for member in standings.iter().flat_map(|standing| &standing.members) {
        let score = &member.scores[measure as usize];
        if let Some((_, share)) = shares.iter_mut().find(|(label, _)| *label == member.label) {
            share.hits.extend(&score.hits);
            share.tries += score.tries;
        } else {
            let style = styles[&member.label];
            let (name, hits, tries) = (member.display.clone(), score.hits.clone(), score.tries);
            shares.push((&member.label, Share { name, style, hits, tries }));
        }
    }
    for (_, share) in &mut shares {
        share.hits.sort_unstable_by(f64::total_cmp);
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Matrices of both measures: of the data set when there is one, over all of them otherwise.
fn matrices<'a>(league: &'a League, standings: &[&'a Standing]) -> Vec<&'a Matrix> {
    match standings {
        [only] => only.matrices.iter().collect(),
        _ => league.matrices.iter().collect(),
    }
}

/// The share of (target, seed, data set) that was reached over what it cost, named at the right end.
fn ecdf(area: &Area, measure: Measure, shares: &[Share]) -> Drawn {
    let (_, height) = area.dim_in_pixel();
    let spent = || shares.iter().flat_map(|share| &share.hits).copied().filter(|spent| *spent > 0.0);
    let (low, high) = (spent().fold(f64::INFINITY, f64::min).log10(), spent().fold(0.0, f64::max).log10());
    let (title, x_title) = match measure {
        Measure::Time => ("share of targets reached", "solver time (s)"),
        Measure::Calls => ("share of targets reached", "oracle calls per term"),
    };
    if !(low.is_finite() && high.is_finite()) {
        let note = theme::text(SMALL, INK, HPos::Center, VPos::Center);
        return area.draw(&Text::new("no target was reached", (pt(WIDTH / 2.0), height as i32 / 2), note));
    }
    let x = log_ticks(low, high, 7);
    let most = shares.iter().map(Share::last).fold(0.0, f64::max);
    let step = if most > 0.5 {
        0.25
    } else if most > 0.2 {
        0.1
    } else {
        0.05
    };
    let at = (0..=(most / step + 1e-9) as usize).map(|k| k as f64 * step).collect();
    let y = Ticks { range: 0.0..1.04 * most, at, scale: Scale::Linear };
    let (left, right) = (x.range.start, x.range.end);
    let panel = area.clone().shrink((0, 0), (pt(WIDTH - NAMES), height));
    let mut chart = axes(&panel, (title, x_title), (x, y), 30.0)?;
    let mut ends = Vec::new();
    for share in shares {
        let mut path = vec![(left, 0.0)];
        let mut reached = 0.0;
        for spent in share.hits.iter().map(|spent| spent.max(f64::MIN_POSITIVE).log10().max(left)) {
            path.push((spent, reached));
            reached += 1.0 / share.tries.max(1) as f64;
            path.push((spent, reached));
        }
        path.push((right, reached));
        // Coordinates of the whole figure, drawn on a part of it.
        ends.push((share, chart.backend_coord(&(right, reached)).1 - area.get_base_pixel().1));
        chart.draw_series(LineSeries::new(path, share.style.color.stroke_width(pt(1.1) as u32)))?;
    }
    names(area, ends, height as i32)
}

/// Names beside the ends of lines, moved apart where they would touch.
fn names(area: &Area, mut ends: Vec<(&Share, i32)>, height: i32) -> Drawn {
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
    let x = WIDTH - NAMES - 6.0;
    for ((share, y), place) in ends.iter().zip(places) {
        let line = vec![(pt(x), *y), (pt(x + 10.0), place), (pt(x + 16.0), place)];
        area.draw(&PathElement::new(line, share.style.color.stroke_width(pt(0.7) as u32)))?;
        let text = format!("{} {:.0} %", share.name, 100.0 * share.last());
        let style = theme::text(6.8, INK, HPos::Left, VPos::Center);
        area.draw(&Text::new(theme::clip(&text, 7.0, NAMES - 16.0), (pt(x + 18.0), place), style))?;
    }
    Ok(())
}

/// One matrix for both measures: above the diagonal the first, below it the second.
fn draw_matrix(root: &Area, matrices: &[&Matrix], top: f64, (side, cell): (f64, f64)) -> Drawn {
    let [time, calls] = matrices else { return Ok(()) };
    let n = time.names.len();
    let heading = theme::text(theme::TEXT, INK, HPos::Center, VPos::Center);
    let middle = NAMES + side * n as f64 / 2.0;
    let words = "speed-up of row over column: solver time above the diagonal, oracle calls below";
    root.draw(&Text::new(words, (pt(middle.clamp(200.0, WIDTH / 2.0 + 10.0)), pt(top + TITLE / 2.0)), heading))?;
    let first = top + TITLE + LINE + 4.0;
    let size = (side * 0.32).clamp(4.6, 7.5);
    for k in 0..n {
        let x = NAMES + side * (k as f64 + 0.5);
        let number = theme::text(7.0, INK, HPos::Center, VPos::Center);
        root.draw(&Text::new(format!("{}", k + 1), (pt(x), pt(first - LINE / 2.0 - 1.0)), number))?;
        let name = theme::clip(&format!("{} {}", time.names[k], k + 1), 7.2, NAMES - 4.0);
        let y = first + cell * (k as f64 + 0.5);
        let style = theme::text(7.5, INK, HPos::Right, VPos::Center);
        root.draw(&Text::new(name, (pt(NAMES - 4.0), pt(y)), style))?;
    }
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let (x, y) = (NAMES + side * column as f64, first + cell * row as f64);
        let corners = [(pt(x), pt(y)), (pt(x + side), pt(y + cell))];
        let speedup = if row < column { time.at(row, column) } else { calls.at(row, column) };
        let fill = if row == column { GRID.mix(1.0) } else { shade(speedup) };
        root.draw(&Rectangle::new(corners, fill.filled()))?;
        root.draw(&Rectangle::new(corners, GRID.stroke_width(pt(0.4) as u32)))?;
        let words = speedup.map_or(String::new(), short);
        let style = theme::text(size, INK, HPos::Center, VPos::Center);
        root.draw(&Text::new(words, (pt(x + side / 2.0), pt(y + cell / 2.0)), style))?;
    }
    Ok(())
}

/// White unless the interval is clear of 1; deeper the further from it.
fn shade(speedup: Option<Speedup>) -> RGBAColor {
    let Some(speedup) = speedup else { return WHITE.mix(1.0) };
    let far = |ratio: Option<f64>| 0.12 + 0.5 * (ratio.unwrap_or(8.0).ln().abs() / 8f64.ln()).min(1.0);
    match speedup {
        s if s.is_faster() => RGBColor(0x00, 0x72, 0xB2).mix(far(s.least)),
        s if s.is_slower() => RGBColor(0xD5, 0x5E, 0x00).mix(far(s.most)),
        _ => WHITE.mix(1.0),
    }
}

/// Two digits: `1.4`, `≥2.4`, `<.1`.
fn short(speedup: Speedup) -> String {
    let two = |v: f64| match v {
        v if v >= 9.95 => format!("{v:.0}"),
        v if v >= 0.0995 => format!("{v:.1}"),
        _ => format!("{v:.2}"),
    };
    match (speedup.least, speedup.most) {
        (Some(least), None) => format!("≥{}", two(least)),
        (None, Some(most)) => format!("≤{}", two(most)),
        _ => speedup.middle().map_or(String::new(), two),
    }
}
