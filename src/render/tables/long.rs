//! The league as tables for people who plot or compute elsewhere: a league in, one long table per statistic out.

use polars::prelude::{Column, DataFrame};

use crate::error::{Error, Result};
use crate::study::frame::export::Named;
use crate::study::league::{League, Matrix, Measure, Profile, Speedup};

/// Columns of a table that grow row by row; a number that is not known is NaN.
#[derive(Default)]
struct Rows {
    text: Vec<(&'static str, Vec<String>)>,
    counts: Vec<(&'static str, Vec<u64>)>,
    numbers: Vec<(&'static str, Vec<f64>)>,
}

fn push<T>(columns: &mut Vec<(&'static str, Vec<T>)>, values: impl IntoIterator<Item = (&'static str, T)>) {
    for (name, value) in values {
        match columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, column)) => column.push(value),
            None => columns.push((name, vec![value])),
        }
    }
}

impl Rows {
    fn add<const T: usize, const C: usize, const N: usize>(
        &mut self,
        text: [(&'static str, &str); T],
        counts: [(&'static str, usize); C],
        numbers: [(&'static str, Option<f64>); N],
    ) {
        push(&mut self.text, text.map(|(name, value)| (name, value.to_owned())));
        push(&mut self.counts, counts.map(|(name, value)| (name, value as u64)));
        push(&mut self.numbers, numbers.map(|(name, value)| (name, value.unwrap_or(f64::NAN))));
    }

    fn table(self) -> Result<DataFrame> {
        let text = self.text.into_iter().map(|(name, values)| Column::new(name.into(), values));
        let counts = self.counts.into_iter().map(|(name, values)| Column::new(name.into(), values));
        let numbers = self.numbers.into_iter().map(|(name, values)| Column::new(name.into(), values));
        DataFrame::new_infer_height(text.chain(counts).chain(numbers).collect())
            .map_err(|error| Error::invalid(format!("the tables of the league do not fit together: {error}")))
    }
}

/// The name of what is over all data sets.
const ALL: &str = "all";

/// All tables that have a row:
///
/// | table | a row for every |
/// |---|---|
/// | `ecdf` | step of the distribution over targets: what was spent, and the share of pairs of target and run reached |
/// | `targets` | target: runs that got there, median, expected running time (`ert`), speed-up over the reference |
/// | `anytime` | solver: share of pairs reached, what half of them cost, area over the convergence curve |
/// | `performance_profile` | step of a profile: factor of the best, and the share of problems solved within it |
/// | `performance_score` | solver: score of its profile |
/// | `speedups` | pair of solvers: how many times as fast the first is as the second |
///
/// `projected` is 1 where a solver that reads the clock was run at one price of the oracle and is told at another.
pub fn tables(league: &League) -> Result<Vec<Named>> {
    let mut all = vec![("ecdf", ecdf(league)), ("targets", targets(league)), ("anytime", anytime(league))];
    let (steps, scores) = profiles(league);
    all.extend([("performance_profile", steps), ("performance_score", scores), ("speedups", speedups(league))]);
    let filled = all.into_iter().filter(|(_, rows)| !rows.text.is_empty());
    filled.map(|(name, rows)| Ok((name, rows.table()?))).collect()
}

fn ecdf(league: &League) -> Rows {
    let mut rows = Rows::default();
    for standing in &league.standings {
        for (member, measure) in standing.members.iter().flat_map(|m| Measure::ALL.map(|measure| (m, measure))) {
            let Some(score) = member.scores.get(measure as usize) else { continue };
            for (at, spent) in score.hits.iter().enumerate() {
                // Of several pairs reached at once the last is the step.
                if score.hits.get(at + 1) == Some(spent) {
                    continue;
                }
                rows.add(
                    [("dataset", &standing.dataset), ("solver", &member.label), ("measure", measure.key())],
                    [("projected", usize::from(member.is_projected(measure)))],
                    [("spent", Some(*spent)), ("share", Some((at + 1) as f64 / score.tries as f64))],
                );
            }
        }
    }
    rows
}

fn targets(league: &League) -> Rows {
    let mut rows = Rows::default();
    for standing in &league.standings {
        for (member, measure) in standing.members.iter().flat_map(|m| Measure::ALL.map(|measure| (m, measure))) {
            let cells = member.scores.get(measure as usize).map_or(&[][..], |score| &score.cells);
            for (target, cell) in standing.targets.iter().zip(cells) {
                let speedup = cell.speedup.unwrap_or_default();
                rows.add(
                    [("dataset", &standing.dataset), ("solver", &member.label), ("measure", measure.key())],
                    [
                        ("runs", member.runs),
                        ("reached", cell.reached),
                        ("projected", usize::from(member.is_projected(measure))),
                        ("pairs", speedup.pairs),
                    ],
                    [
                        ("target", Some(*target)),
                        ("median", cell.median),
                        ("ert", cell.ert),
                        ("speedup_least", speedup.least),
                        ("speedup_most", speedup.most),
                        ("speedup_low", speedup.low.filter(|_| speedup.has_interval())),
                        ("speedup_high", speedup.high.filter(|_| speedup.has_interval())),
                    ],
                );
            }
        }
    }
    rows
}

fn anytime(league: &League) -> Rows {
    let mut rows = Rows::default();
    for standing in &league.standings {
        for (member, measure) in standing.members.iter().flat_map(|m| Measure::ALL.map(|measure| (m, measure))) {
            let Some(score) = member.scores.get(measure as usize) else { continue };
            rows.add(
                [("dataset", &standing.dataset), ("solver", &member.label), ("measure", measure.key())],
                [("runs", member.runs), ("projected", usize::from(member.is_projected(measure)))],
                [
                    ("share", score.share),
                    ("half", score.half),
                    ("area", score.area.map(|area| area.value)),
                    ("area_low", score.area.and_then(|area| area.low)),
                    ("area_high", score.area.and_then(|area| area.high)),
                ],
            );
        }
    }
    rows
}

/// Steps, and scores.
fn profiles(league: &League) -> (Rows, Rows) {
    let (mut steps, mut scores) = (Rows::default(), Rows::default());
    let of_sets = league.standings.iter().map(|standing| (standing.dataset.as_str(), &standing.profiles));
    for (dataset, profiles) in of_sets.chain([(ALL, &league.profiles)]) {
        for (measure, Profile { lines, .. }) in Measure::MEASURED.into_iter().zip(profiles) {
            for line in lines {
                let text = [("dataset", dataset), ("solver", line.label.as_str()), ("measure", measure.key())];
                let score =
                    [("score", Some(line.score.value)), ("score_low", line.score.low), ("score_high", line.score.high)];
                scores.add(text, [("problems", line.problems), ("solved", line.ratios.len())], score);
                for (at, ratio) in line.ratios.iter().enumerate() {
                    if line.ratios.get(at + 1) != Some(ratio) {
                        steps.add(text, [], [("factor", Some(*ratio)), ("share", Some(line.within(*ratio)))]);
                    }
                }
            }
        }
    }
    (steps, scores)
}

fn speedups(league: &League) -> Rows {
    let mut rows = Rows::default();
    let of_sets = league.standings.iter().map(|standing| (standing.dataset.as_str(), &standing.matrices));
    for (dataset, matrices) in of_sets.chain([(ALL, &league.matrices)]) {
        for (measure, matrix) in Measure::MEASURED.into_iter().zip(matrices) {
            for (row, column, speedup) in pairs(matrix) {
                let interval = |end: Option<f64>| end.filter(|_| speedup.has_interval());
                let names = [("solver", label(league, row)), ("over", label(league, column))];
                rows.add(
                    [("dataset", dataset), ("measure", measure.key()), names[0], names[1]],
                    [("pairs", speedup.pairs)],
                    [
                        ("least", speedup.least),
                        ("most", speedup.most),
                        ("low", interval(speedup.low)),
                        ("high", interval(speedup.high)),
                    ],
                );
            }
        }
    }
    rows
}

/// A solver as the other tables name it.
fn label<'a>(league: &'a League, display: &'a str) -> &'a str {
    let mut members = league.standings.iter().flat_map(|standing| &standing.members);
    members.find(|member| member.display == display).map_or(display, |member| &member.label)
}

fn pairs(matrix: &Matrix) -> impl Iterator<Item = (&str, &str, Speedup)> {
    let n = matrix.names.len();
    let all = (0..n).flat_map(move |row| (0..n).map(move |column| (row, column)));
    all.filter_map(|(row, column)| {
        Some((matrix.names[row].as_str(), matrix.names[column].as_str(), matrix.at(row, column)?))
    })
}
