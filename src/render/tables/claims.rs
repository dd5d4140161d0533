//! The claims of the paper as tables and text: every row with its evidence, or the verdicts at a glance.

use crate::study::claims::{CLAIMS, Claim, Verdict};
use crate::table::Grid;
use crate::text::number;

/// The claims as a table; evidence is a column of its own.
pub fn grid(claims: &[Claim]) -> Grid {
    let mut grid = Grid::new(&["#", "data set", "claim", "paper", "on this machine", "verdict"]);
    let priced = claims.iter().any(|claim| claim.regime.is_some());
    if priced {
        grid.head.extend(["in the paper's regime", "verdict there"].map(str::to_owned));
    }
    grid.head.push("evidence".to_owned());
    for claim in claims {
        let mut row = vec![
            claim.number.to_string(),
            claim.title.clone(),
            claim.claim.clone(),
            claim.paper.clone(),
            claim.measured.clone(),
            claim.verdict.name().to_owned(),
        ];
        if priced {
            let regime = claim.regime.as_ref();
            row.push(regime.map_or("–".to_owned(), |r| format!("{}, k = {}", r.measured, number(r.oracle_cost))));
            row.push(claim.in_regime().name().to_owned());
        }
        row.push(claim.evidence());
        grid.rows.push(row);
    }
    grid
}

/// The verdicts at a glance: a row per claim, a column per data set; for each checked row the mark on this machine and, where
/// there are runs in it, that in the paper's regime.
pub fn matrix(claims: &[Claim]) -> Grid {
    let mut datasets: Vec<(&str, &str)> = Vec::new();
    for claim in claims {
        let entry = (claim.dataset.as_str(), claim.title.as_str());
        if !datasets.iter().any(|(dataset, _)| *dataset == entry.0) {
            datasets.push(entry);
        }
    }
    let mut grid = Grid::new(&["claim"]);
    grid.head.extend(datasets.iter().map(|(_, title)| (*title).to_owned()));
    for (number, row) in (1..).zip(CLAIMS) {
        let cell = |(dataset, _): &(&str, &str)| {
            let of = claims.iter().filter(|claim| claim.number == number && claim.dataset == *dataset);
            let marks: Vec<String> = of.map(|claim| format!("{} {}", claim.marks(), claim.solver)).collect();
            marks.join("; ")
        };
        let mut cells = vec![format!("{number}. {}", row.title)];
        cells.extend(datasets.iter().map(cell));
        grid.rows.push(cells);
    }
    grid
}

/// "12 hold, 1 do not hold, 2 undecided, 4 not measured", and the same in the paper's regime where there are runs in it.
pub fn summary(claims: &[Claim]) -> String {
    let counts = |verdict_of: fn(&Claim) -> Verdict| {
        let count = |verdict| claims.iter().filter(|claim| verdict_of(claim) == verdict).count();
        format!(
            "{} hold, {} do not hold, {} undecided, {} not measured",
            count(Verdict::Holds),
            count(Verdict::DoesNotHold),
            count(Verdict::Undecided),
            count(Verdict::NotMeasured)
        )
    };
    let own = counts(|claim| claim.verdict);
    if claims.iter().all(|claim| claim.regime.is_none()) {
        return own;
    }
    format!("on this machine: {own}\nin the paper's regime: {}", counts(Claim::in_regime))
}

/// The claims for the terminal: a line each, the evidence indented below.
pub fn text(claims: &[Claim]) -> String {
    let mut lines = grid(claims);
    lines.head.pop();
    lines.rows.iter_mut().for_each(|row| drop(row.pop()));
    let table = lines.text();
    let mut table = table.lines();
    let mut out = format!("{}\n", table.next().unwrap_or_default());
    for (line, claim) in table.zip(claims) {
        out.push_str(&format!("{line}\n     {}\n", claim.evidence()));
    }
    out.push_str(&format!("\n{}\n", summary(claims)));
    out
}
