//! The tables over all gaps at once: standings, profiles and matrices in; distribution over gaps, area over the
//! convergence curve, performance profile and speed-ups as titled tables out.

use super::league::{Part, Section, spent};
use crate::study::league::{Matrix, Measure, Member, Profile, ProfileLine, Score, Speedup, Standing};
use crate::table::Grid;
use crate::text::{number, percent};

/// Profiles, then matrices.
pub(super) fn over_gaps(title: &str, profiles: &[Profile], matrices: &[Matrix]) -> Vec<Section> {
    let profiles = Measure::MEASURED.into_iter().zip(profiles).map(|(measure, p)| profile(title, measure, p));
    let matrices = Measure::MEASURED.into_iter().zip(matrices).map(|(measure, m)| matrix(title, measure, m));
    profiles.chain(matrices).collect()
}

/// `oracle × 100`, for the head of a column.
fn short(measure: Measure) -> String {
    match measure.price().filter(|price| *price != 1.0) {
        Some(price) => format!(">oracle × {price}"),
        None => format!(">{}", measure.name()),
    }
}

/// A table with a row per solver and a column per measure that somebody has a value of; projections have a star.
fn by_measure(standing: &Standing, value: impl Fn(Measure, &Score) -> Option<String>) -> Grid {
    let of = |member: &Member, measure: Measure| member.scores.get(measure as usize).and_then(|s| value(measure, s));
    let known = |measure: &Measure| standing.members.iter().any(|member| of(member, *measure).is_some());
    let measures: Vec<Measure> = Measure::ALL.into_iter().filter(known).collect();
    let mut grid = Grid::new(&["solver"]);
    grid.head.extend(measures.iter().map(|measure| short(*measure)));
    for member in &standing.members {
        let cell = |measure: &Measure| {
            let star = if member.is_projected(*measure) { " *" } else { "" };
            of(member, *measure).map_or("–".to_owned(), |text| text + star)
        };
        grid.rows.push(std::iter::once(member.display.clone()).chain(measures.iter().map(cell)).collect());
    }
    grid
}

/// What share of gaps was reached, and what half of them cost.
pub(super) fn distribution(standing: &Standing) -> Section {
    let half = |measure, score: &Score| {
        score.half.map(|half| if measure == Measure::Calls { number(half) } else { spent(measure, half) })
    };
    let share = |member: &Member| member.scores.first().and_then(|score| score.share);
    let mut grid = by_measure(standing, half);
    grid.head.insert(1, ">reached".to_owned());
    for (row, member) in grid.rows.iter_mut().zip(&standing.members) {
        row.insert(1, share(member).map_or("–".to_owned(), percent));
    }
    // An old summary does not say it.
    if standing.members.iter().all(|member| share(member).is_none()) {
        grid.rows.clear();
    }
    let title = "share of gaps reached, and what half of them cost".to_owned();
    Section { part: Part::Anytime, dataset: standing.title.clone(), title, note: clock(standing), grid }
}

/// Area over the convergence curve.
pub(super) fn area(standing: &Standing) -> Section {
    let mut grid = by_measure(standing, |_, score| score.area.map(|area| area.text(|share| format!("{share:.3}"))));
    if grid.head.len() == 1 {
        grid.rows.clear();
    }
    let title = "area over the convergence curve".to_owned();
    Section { part: Part::Anytime, dataset: standing.title.clone(), title, note: clock(standing), grid }
}

/// Which clock the times are of.
pub(super) fn clock(standing: &Standing) -> String {
    format!("On the {} clock.", standing.clock)
}

fn profile(dataset: &str, measure: Measure, profile: &Profile) -> Section {
    let mut grid = Grid::new(&["solver", ">score", ">best", ">within 2×", ">within 10×", ">solved", ">problems"]);
    let mut lines: Vec<&ProfileLine> = profile.lines.iter().collect();
    lines.sort_by(|a, b| b.score.value.total_cmp(&a.score.value));
    for line in lines.into_iter().filter(|_| profile.lines.len() > 1) {
        let shares = [1.0, 2.0, 10.0, f64::MAX].map(|factor| percent(line.within(factor)));
        let mut row = vec![line.display.clone(), line.score.text(|score| format!("{score:.3}"))];
        row.extend(shares);
        row.push(line.problems.to_string());
        grid.rows.push(row);
    }
    let title = format!("performance profile in {}", measure.name());
    Section { part: Part::Profile, dataset: dataset.to_owned(), title, note: String::new(), grid }
}

fn matrix(dataset: &str, measure: Measure, matrix: &Matrix) -> Section {
    let n = matrix.names.len();
    let mut grid = Grid::new(&["row over column"]);
    grid.head.extend(matrix.names.iter().map(|name| format!(">{name}")));
    let known = (0..n).any(|row| (0..n).any(|column| matrix.at(row, column).is_some()));
    for row in (0..n).filter(|_| known) {
        let cell = |column: usize| {
            let mark = |s: Speedup| {
                let mark = if s.is_faster() {
                    " ▲"
                } else if s.is_slower() {
                    " ▼"
                } else {
                    ""
                };
                s.value_text() + mark
            };
            if row == column { "·".to_owned() } else { matrix.at(row, column).map_or("–".to_owned(), mark) }
        };
        grid.rows.push(std::iter::once(matrix.names[row].clone()).chain((0..n).map(cell)).collect());
    }
    let note = String::new();
    let title = format!("speed-ups in {}", measure.name());
    Section { part: Part::Matrix, dataset: dataset.to_owned(), title, note, grid }
}
