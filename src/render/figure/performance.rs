//! Performance profiles and the matrix of speed-ups: for solver time and oracle calls how often each solver is within a factor
//! of the best, with its score, and every solver against every other.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{self, Area, Drawn};
use super::league::{absent, compared, fewest_pairs};
use super::legend::Legend;
use super::panel::Titles;
use super::steps::{self, LINE, NAMES, Steps};
use super::theme::{self, GRID, WIDTH, stroke};
use super::{Scene, titles};
use crate::error::Result;
use crate::render::style;
use crate::study::estimate::interval_name;
use crate::study::league::{Matrix, Measure, Profile, ProfileLine, Speedup};
use ssvm::stats::FEWEST_PAIRS;

const TITLE: f64 = 16.0;
const GAP: f64 = 8.0;
/// The right end of the profiles, where scores end too.
const FACTOR: f64 = 100.0;

/// Draws the figure of these data sets; `None` when no two solvers can be compared.
pub(super) fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let (frames, league) = (&scene.results.own, &scene.summary.league);
    let standings = compared(league, datasets);
    // Of the data set when there is one, over all of them otherwise.
    let (profiles, matrices) = match standings[..] {
        [] => return Ok(None),
        [only] => (&only.profiles, &only.matrices),
        _ => (&league.profiles, &league.matrices),
    };
    let styles = style::styles(frames);
    let lines = |profile: &Profile| -> Vec<Steps> {
        let line = |line: &ProfileLine| Steps {
            name: format!("{} {:.2}", line.display, line.score.value),
            style: styles[&line.label],
            at: line.ratios.clone(),
            of: line.problems,
        };
        // Where lines end together, names are in this order.
        let mut lines: Vec<&ProfileLine> = profile.lines.iter().collect();
        lines.sort_by(|a, b| b.score.value.total_cmp(&a.score.value));
        lines.into_iter().map(line).collect()
    };
    let n = matrices.first().map_or(0, |matrix| matrix.names.len());
    let tall = (LINE * n as f64 + 44.0).max(110.0);
    let side = ((WIDTH - NAMES - 8.0) / n.max(1) as f64).min(34.0);
    let (cell, top) = ((side * 0.62).max(11.0), profiles.len() as f64 * (tall + GAP));
    let body = top + TITLE + LINE + 4.0 + cell * n as f64 + GAP;
    let legend = Legend::of_notes(&notes(fewest_pairs(standings.iter().copied()), absent(&standings)));
    let title = format!("performance profile and speed-ups: {}", titles(frames, datasets));
    let svg = canvas::svg(&title, body + legend.height(), styles.values(), |root| {
        for (at, (measure, profile)) in Measure::ALL.into_iter().zip(profiles).enumerate() {
            let above = format!("share of {} problems solved, and score", profile.problems);
            let below = format!("{} over the best solver's", measure.name());
            let titles = Titles { above: &above, below: &below, beside: "share" };
            steps::draw(&canvas::below(root, at as f64 * (tall + GAP), tall), &titles, &lines(profile), Some(FACTOR))?;
        }
        draw_matrix(root, matrices, top, (side, cell))?;
        legend.draw(root, body)
    });
    svg.map(Some)
}

fn notes(pairs: Option<usize>, absent: Option<String>) -> Vec<String> {
    let mut notes = vec![
        "a problem = a gap of a data set that a solver reaches in the median; a profile ranks against the best only: \
         read it beside the matrix"
            .to_owned(),
        "matrix: median over seeds of the median over gaps; ≥ and ≤ where runs ended before".to_owned(),
    ];
    notes.push(match pairs.filter(|pairs| *pairs >= FEWEST_PAIRS) {
        Some(pairs) => format!("colour: faster (blue) or slower (orange), the {} is clear of 1", interval_name(pairs)),
        None => "no colours: too few seeds for intervals".to_owned(),
    });
    notes.extend(absent);
    notes
}

/// One matrix for both measures: above the diagonal the first, below it the second.
fn draw_matrix(root: &Area, matrices: &[Matrix], top: f64, (side, cell): (f64, f64)) -> Drawn {
    let [time, calls] = matrices else { return Ok(()) };
    let n = time.names.len();
    let middle = (NAMES + side * n as f64 / 2.0).clamp(200.0, WIDTH / 2.0 + 10.0);
    let words = "speed-up of row over column: solver time above the diagonal, oracle calls below";
    let centred = |size: f64| theme::text(size, HPos::Center, VPos::Center);
    canvas::words(root, words, (middle, top + TITLE / 2.0), centred(theme::TEXT))?;
    let first = top + TITLE + LINE + 4.0;
    for (k, name) in time.names.iter().enumerate() {
        let x = NAMES + side * (k as f64 + 0.5);
        canvas::words(root, format!("{}", k + 1), (x, first - LINE / 2.0 - 1.0), centred(7.0))?;
        let name = theme::clip(&format!("{name} {}", k + 1), 7.2, NAMES - 4.0);
        let y = first + cell * (k as f64 + 0.5);
        canvas::words(root, name, (NAMES - 4.0, y), theme::text(7.5, HPos::Right, VPos::Center))?;
    }
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let (x, y) = (NAMES + side * column as f64, first + cell * row as f64);
        let corners = [(x, y), (x + side, y + cell)];
        let speedup = if row < column { time.at(row, column) } else { calls.at(row, column) };
        let fill = if row == column { GRID.mix(1.0) } else { shade(speedup) };
        canvas::rectangle(root, corners, fill.filled())?;
        canvas::rectangle(root, corners, stroke(GRID, 0.4))?;
        let size = (side * 0.32).clamp(4.6, 7.5);
        canvas::words(root, speedup.map_or(String::new(), short), (x + side / 2.0, y + cell / 2.0), centred(size))?;
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
