//! The league as long tables for programs: one table per statistic.
//!
//! | table | a row for every |
//! |---|---|
//! | `ecdf` | step of the distribution over targets: what was spent, and the share of pairs of target and run reached |
//! | `targets` | target: runs that reached it, median, expected running time (`ert`), speed-up over the reference |
//! | `anytime` | solver: share of pairs reached, what half of them cost, area over the convergence curve |
//! | `performance_profile` | step of a profile: factor of the best, and the share of problems solved within it |
//! | `performance_score` | solver: score of its profile |
//! | `speedups` | pair of solvers: how many times as fast the first is as the second |

use polars::prelude::{Column, DataFrame};

use crate::error::Result;
use crate::study::export::Named;
use crate::study::league::{League, Measure, Member, Profile, Score, Speedup, Standing, distinct};
use crate::table::{Cell, Kind, Table, cells};
use Kind::{Count, Number, Text};

pub fn tables(league: &League) -> Result<Vec<Named>> {
    let [steps, scores] = profiles(league);
    let all = [
        ("ecdf", ecdf(league)),
        ("targets", targets(league)),
        ("anytime", anytime(league)),
        ("performance_profile", steps),
        ("performance_score", scores),
        ("speedups", speedups(league)),
    ];
    let filled = all.into_iter().filter(|(_, table)| !table.rows.is_empty());
    filled.map(|(name, table)| Ok((name, frame(&table)?))).collect()
}

/// As Polars has it; a number that is not known is NaN.
fn frame(table: &Table) -> Result<DataFrame> {
    let column = |(at, column): (usize, &crate::table::Column)| {
        let (name, cells) = (column.name.as_str().into(), table.rows.iter().map(|row| &row[at]));
        match column.kind {
            Count => {
                Column::new(name, cells.map(|c| if let Cell::Count(n) = c { *n } else { 0 }).collect::<Vec<u64>>())
            }
            Number => Column::new(
                name,
                cells.map(|c| if let Cell::Number(x) = c { *x } else { f64::NAN }).collect::<Vec<f64>>(),
            ),
            _ => Column::new(name, cells.map(|c| if let Cell::Text(t) = c { t } else { "" }).collect::<Vec<&str>>()),
        }
    };
    Ok(DataFrame::new_infer_height(table.columns.iter().enumerate().map(column).collect())?)
}

fn scores(league: &League) -> impl Iterator<Item = (&Standing, &Member, Measure, &Score)> {
    let members = league.standings.iter().flat_map(|standing| standing.members.iter().map(move |m| (standing, m)));
    members.flat_map(|(standing, member)| {
        let measures = Measure::ALL.into_iter().zip(&member.scores);
        measures.map(move |(measure, score)| (standing, member, measure, score))
    })
}

fn keyed<const C: usize, const N: usize>(counts: [&str; C], numbers: [&str; N]) -> Table {
    let mut table = Table::new("", [("dataset", Text), ("solver", Text), ("measure", Text)]);
    table.widen(Count, counts);
    table.widen(Number, numbers);
    table
}

fn ecdf(league: &League) -> Table {
    let mut table = keyed([], ["spent", "share"]);
    for (standing, member, measure, score) in scores(league) {
        for (at, spent) in score.hits.iter().enumerate() {
            // Of several pairs reached at once the last is the step.
            if score.hits.get(at + 1) != Some(spent) {
                let share = (at + 1) as f64 / score.tries as f64;
                table.push(cells![&standing.dataset, &member.label, measure.key(), *spent, share]);
            }
        }
    }
    table
}

fn targets(league: &League) -> Table {
    let speedup = ["speedup_least", "speedup_most", "speedup_low", "speedup_high"];
    let mut table = keyed(["runs", "reached", "pairs"], ["target", "median", "ert"]);
    table.widen(Number, speedup);
    for (standing, member, measure, score) in scores(league) {
        for (target, cell) in standing.targets.iter().zip(&score.cells) {
            let speedup = cell.speedup.unwrap_or_default();
            let mut row = cells![&standing.dataset, &member.label, measure.key()];
            row.extend(cells![member.runs, cell.reached, speedup.pairs, *target, cell.median, cell.ert]);
            row.extend(bounds(&speedup));
            table.push(row);
        }
    }
    table
}

/// What is known of a speed-up; an interval needs enough pairs.
fn bounds(speedup: &Speedup) -> Vec<Cell> {
    let end = |end: Option<f64>| end.filter(|_| speedup.has_interval());
    cells![speedup.least, speedup.most, end(speedup.low), end(speedup.high)]
}

fn anytime(league: &League) -> Table {
    let mut table = keyed(["runs"], ["share", "half", "area", "area_low", "area_high"]);
    for (standing, member, measure, score) in scores(league) {
        let area = [score.area.map(|area| area.value), score.area.and_then(|a| a.low), score.area.and_then(|a| a.high)];
        let mut row = cells![&standing.dataset, &member.label, measure.key(), member.runs, score.share, score.half];
        row.extend(area.map(Cell::from));
        table.push(row);
    }
    table
}

fn everywhere<'a, T>(
    league: &'a League,
    of_set: fn(&'a Standing) -> &'a Vec<T>,
    of_all: &'a [T],
) -> impl Iterator<Item = (&'a str, Measure, &'a T)> {
    let sets = league.standings.iter().map(move |standing| (standing.dataset.as_str(), of_set(standing).as_slice()));
    sets.chain([("all", of_all)])
        .flat_map(|(name, all)| Measure::ALL.into_iter().zip(all).map(move |(measure, one)| (name, measure, one)))
}

fn profiles(league: &League) -> [Table; 2] {
    let mut steps = keyed([], ["factor", "share"]);
    let mut scores = keyed(["problems", "solved"], ["score", "score_low", "score_high"]);
    for (dataset, measure, Profile { lines, .. }) in everywhere(league, |standing| &standing.profiles, &league.profiles)
    {
        for line in lines {
            let score = line.score;
            let mut row = cells![dataset, &line.label, measure.key(), line.problems, line.ratios.len()];
            row.extend(cells![score.value, score.low, score.high]);
            scores.push(row);
            for (at, ratio) in line.ratios.iter().enumerate() {
                if line.ratios.get(at + 1) != Some(ratio) {
                    steps.push(cells![dataset, &line.label, measure.key(), *ratio, line.within(*ratio)]);
                }
            }
        }
    }
    [steps, scores]
}

fn speedups(league: &League) -> Table {
    let columns = [("dataset", Text), ("measure", Text), ("solver", Text), ("over", Text), ("pairs", Count)];
    let mut table = Table::new("", columns);
    table.widen(Number, ["least", "most", "low", "high"]);
    let sets = league.standings.iter().map(|set| (set.dataset.as_str(), std::slice::from_ref(set), &set.matrices));
    for (dataset, standings, matrices) in sets.chain([("all", &league.standings[..], &league.matrices)]) {
        // A matrix has the solvers of its data sets in the order in which they come.
        let labels = distinct(standings.iter().flat_map(|set| &set.members).map(|m| (&*m.label, &*m.display)));
        for (measure, matrix) in Measure::ALL.into_iter().zip(matrices) {
            for (row, column) in (0..labels.len()).flat_map(|row| (0..labels.len()).map(move |column| (row, column))) {
                let Some(speedup) = matrix.at(row, column) else { continue };
                let [solver, over] = [labels[row].0, labels[column].0];
                let mut cells = cells![dataset, measure.key(), solver, over, speedup.pairs];
                cells.extend(bounds(&speedup));
                table.push(cells);
            }
        }
    }
    table
}
