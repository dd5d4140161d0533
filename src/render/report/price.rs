//! The price of the oracle as HTML: what it is here and in the paper, the table of ratios and crossings.

use std::fmt::Write as _;

use super::Input;
use super::sections::table;
use crate::render::tables::breakeven as text;
use crate::text::{escape, number, percent};

/// The section.
pub(super) fn html(input: &Input) -> String {
    let mut out = String::new();
    let regimes: Vec<Vec<String>> = input
        .results
        .regimes
        .iter()
        .map(|regime| {
            vec![
                escape(&regime.title),
                percent(regime.paper_share),
                regime.own_share.map_or("–".to_owned(), percent),
                number(regime.solved),
                regime.runs.map_or("no runs near it".to_owned(), |(cost, share)| {
                    format!("k = {cost} ({} of BCFW's time)", percent(share))
                }),
            ]
        })
        .collect();
    if !regimes.is_empty() {
        let head =
            ["data set", "BCFW's oracle share in the paper", "here, at k = 1", "k for the paper's share", "runs there"];
        out.push_str(&table("regimes", "What a call costs here and in the paper", &head, &regimes));
    }
    if input.breakeven.sets.is_empty() {
        out.push_str("<p>No data set was run at several prices of the oracle (<code>oracle_cost</code>).</p>");
        return out;
    }
    for line in text::heads(input.breakeven) {
        let _ = write!(out, "<p class=\"hint\">{}</p>", escape(&line));
    }
    out.push_str("<p class=\"hint\">Figure: <a href=\"#figure-breakeven\">the price of the oracle</a>.</p>");
    let grid = text::grid(input.breakeven);
    let head: Vec<&str> = grid.head.iter().map(|name| name.trim_start_matches('>')).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(|row| row.iter().map(|cell| escape(cell)).collect()).collect();
    out.push_str(&table("break-even", "Time to a relative gap over that of BCFW", &head, &rows));
    out
}
