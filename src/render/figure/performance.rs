//! Performance profiles (how often each solver is within a factor of the best, with its score) and the matrix of pairwise speed-ups,
//! for solver time and for oracle calls.

use plotters::prelude::*;

use super::Scene;
use super::canvas::{self, Area, CENTER, Drawn, GRID, RIGHT, TEXT, WIDTH, stroke};
use super::league::{absent, compared, fewest_pairs};
use super::steps::{self, LINE, NAMES, Steps};
use crate::error::Result;
use crate::study::league::{League, Matrix, Measure, Profile, Speedup, Standing};
use crate::study::paired::Pace;
use ssvm::stats::FEWEST_PAIRS;

/// Where the cells of the matrix begin, below its title and the numbers of its columns.
const FIRST: f64 = 16.0 + LINE + 4.0;
const GAP: f64 = 8.0;
/// The right end of the profiles, where scores end too.
const FACTOR: f64 = 100.0;

pub fn draw(scene: &Scene<'_>, datasets: &[&str]) -> Result<Option<String>> {
    let league = &scene.summary.league;
    let standings = compared(league, datasets);
    // Of the data set when there is one, over all of them otherwise.
    let (profiles, matrices, pooled) = match standings[..] {
        [] => return Ok(None),
        [only] => (&only.profiles, &only.matrices, None),
        _ => (&league.profiles, &league.matrices, Some(league)),
    };
    let n = matrices.first().map_or(0, |matrix| matrix.names.len());
    let side = ((WIDTH - NAMES - 8.0) / n.max(1) as f64).min(34.0);
    let cell = (side * 0.62).max(11.0);
    scene.svg("performance profile and speed-ups", datasets, |sheet| {
        for (measure, profile) in Measure::ALL.into_iter().zip(profiles) {
            let above = format!("share of {} problems solved, and score", profile.problems);
            let below = format!("{} over the best solver's", measure.name());
            let area = sheet.block((LINE * n as f64 + 44.0).max(110.0));
            steps::draw(&area, [&above, &below], &lines(scene, profile), Some(FACTOR))?;
            sheet.block(GAP);
        }
        draw_matrix(&sheet.block(FIRST + cell * n as f64 + GAP), matrices, pooled, (side, cell))?;
        canvas::notes(sheet, &notes(&standings, matrices))
    })
}

/// The lines of a profile, in the order of the scores, which is also that of names whose lines end at the same height.
fn lines(scene: &Scene<'_>, profile: &Profile) -> Vec<Steps> {
    let mut sorted: Vec<_> = profile.lines.iter().collect();
    sorted.sort_by(|a, b| b.score.value.total_cmp(&a.score.value));
    let mut lines = Vec::new();
    for line in sorted {
        let name = format!("{} {:.2}", line.display, line.score.value);
        lines.push(Steps { name, style: scene.styles[&line.label], at: line.ratios.clone(), of: line.problems });
    }
    lines
}

fn notes(standings: &[&Standing], matrices: &[Matrix]) -> Vec<String> {
    let mut notes = vec![
        "problem: a gap of a data set that a solver reaches in the median; a profile ranks against the best solver only, so \
         read it together with the matrix"
            .to_owned(),
        "matrix: median over seeds of the median over gaps; ≥ and ≤ where runs ended before a gap".to_owned(),
    ];
    notes.push(match fewest_pairs(standings.iter().copied()).filter(|pairs| *pairs >= FEWEST_PAIRS) {
        Some(_) => {
            let most = matrices.iter().map(Matrix::comparisons).max().unwrap_or(0);
            let each = if standings.len() > 1 { ", on each data set; ±: the data sets disagree" } else { "" };
            format!(
                "colour: faster (blue) or slower (orange), where the simultaneous interval ({most} comparisons) does not contain 1{each}"
            )
        }
        None => "no colours: too few seeds for intervals".to_owned(),
    });
    notes.extend(absent(standings));
    notes
}

/// One matrix for both measures: above the diagonal the first, below it the second.
fn draw_matrix(area: &Area, matrices: &[Matrix], pooled: Option<&League>, (side, cell): (f64, f64)) -> Drawn {
    let [time, calls] = matrices else { return Ok(()) };
    let n = time.names.len();
    let middle = (NAMES + side * n as f64 / 2.0).clamp(200.0, WIDTH / 2.0 + 10.0);
    let title = "speed-up of row over column: solver time above the diagonal, oracle calls below";
    canvas::words(area, title, (middle, 8.0), TEXT, CENTER)?;
    for (k, name) in time.names.iter().enumerate() {
        let (x, y) = (NAMES + side * (k as f64 + 0.5), FIRST + cell * (k as f64 + 0.5));
        canvas::words(area, format!("{}", k + 1), (x, FIRST - LINE / 2.0 - 1.0), 7.0, CENTER)?;
        let name = canvas::clip(&format!("{name} {}", k + 1), 7.2, NAMES - 4.0);
        canvas::words(area, name, (NAMES - 4.0, y), 7.5, RIGHT)?;
    }
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let (x, y) = (NAMES + side * column as f64, FIRST + cell * row as f64);
        let corners = [(x, y), (x + side, y + cell)];
        let (matrix, measure) = if row < column { (time, Measure::Time) } else { (calls, Measure::Calls) };
        let speedup = matrix.at(row, column);
        let decisions = pooled.map(|league| league.decisions(measure, &matrix.names[row], &matrix.names[column]));
        let mixed = decisions.as_ref().is_some_and(|d| !d.faster.is_empty() && !d.slower.is_empty());
        let pace = decisions.map_or(speedup.map_or(Pace::Undecided, |speedup| speedup.pace()), |d| d.pace());
        let fill = if row == column { GRID.mix(1.0) } else { shade(speedup, pace) };
        canvas::rectangle(area, corners, fill.filled())?;
        canvas::rectangle(area, corners, stroke(GRID, 0.4))?;
        let size = (side * 0.32).clamp(4.6, 7.5);
        let value = if mixed { "±".to_owned() } else { speedup.map_or(String::new(), short) };
        canvas::words(area, value, (x + side / 2.0, y + cell / 2.0), size, CENTER)?;
    }
    Ok(())
}

/// White where nothing is decided; deeper the further the ratio is from 1.
fn shade(speedup: Option<Speedup>, pace: Pace) -> RGBAColor {
    let far = |ratio: Option<f64>| 0.12 + 0.5 * (ratio.unwrap_or(8.0).ln().abs() / 8f64.ln()).min(1.0);
    match (speedup, pace) {
        (Some(s), Pace::Faster) => RGBColor(0x00, 0x72, 0xB2).mix(far(s.least)),
        (Some(s), Pace::Slower) => RGBColor(0xD5, 0x5E, 0x00).mix(far(s.most)),
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
