//! How much of the gaps is the oracle's: the last evaluations in; a table with proven terms and slack per data set and
//! solver out.

use super::sections::table;
use crate::error::Result;
use crate::study::View;
use crate::text::{escape, number, percent};
use ssvm::stats::Spread;

/// A row per data set and solver: medians over repeats at the last evaluation.
fn rows(frames: &View) -> Result<Vec<Vec<String>>> {
    let (gap, slack) = (frames.points.f64s("gap")?, frames.points.f64s("oracle_slack")?);
    let (proven, terms) = (frames.points.u64s("proven")?, frames.points.u64s("terms")?);
    let mut all = Vec::new();
    for (at, series) in frames.series.iter().enumerate() {
        let last = || frames.runs_of(at).iter().map(|run| run.rows.end - 1);
        let spread = |value: &dyn Fn(usize) -> f64| Spread::of(last().map(value));
        let share = spread(&|row| proven[row] as f64 / terms[row] as f64);
        let range = |s: Spread, show: fn(f64) -> String| {
            format!("{} <small>({} to {})</small>", show(s.median), show(s.min), show(s.max))
        };
        let cell = |s: Option<Spread>, show: fn(f64) -> String| s.map_or("–".to_owned(), |s| range(s, show));
        all.push(vec![
            escape(&series.title),
            escape(&series.display),
            if series.certified { "bounded".to_owned() } else { "exact".to_owned() },
            cell(share, percent),
            cell(spread(&|row| slack[row]), number),
            cell(spread(&|row| gap[row]), number),
        ]);
    }
    Ok(all)
}

/// The table as HTML.
pub(super) fn html(frames: &View) -> Result<String> {
    let head = ["data set", "solver", "oracle", "proven terms", "slack", "certified gap"];
    Ok(table("certified-gaps", "At the last evaluation, median (min to max) over repeats", &head, &rows(frames)?))
}
