//! The claims of the paper: every row with its evidence, and the verdicts at a glance.

use crate::study::claims::{CLAIMS, Claim, Verdict};
use crate::table::{Cell, Kind, Table, cells};
use crate::text::number;

pub fn verdict(verdict: Verdict) -> Cell {
    let class = match verdict {
        Verdict::Holds => "verdict yes",
        Verdict::DoesNotHold => "verdict no",
        Verdict::Undecided => "verdict open",
        Verdict::NotMeasured => "verdict none",
    };
    Cell::Mark(class, Some(verdict.mark()), verdict.name())
}

pub fn table(claims: &[Claim]) -> Table {
    use Kind::Text;
    let heads = ["#", "data set", "claim", "paper", "on this machine", "verdict"];
    let mut table = Table::new("", heads.map(|name| (name, Text)));
    let in_regime = claims.iter().any(|claim| claim.regime.is_some());
    if in_regime {
        table.widen(Text, ["in the paper's regime", "verdict there"]);
    }
    table.widen(Text, ["evidence"]);
    for claim in claims {
        let number_of_claim = claim.number.to_string();
        let mut row = cells![number_of_claim, &claim.title, &claim.claim, &claim.paper, &claim.measured];
        row.push(verdict(claim.verdict));
        if in_regime {
            let measured = |cost: f64, measured: &str| format!("{measured}, k = {}", number(cost));
            row.push(claim.regime.as_ref().map(|regime| measured(regime.oracle_cost, &regime.measured)).into());
            row.push(verdict(claim.in_regime()));
        }
        row.push(claim.evidence().into());
        table.push(row);
    }
    table
}

fn at_a_glance(claims: &[Claim], mark: impl Fn(&Claim, bool) -> Cell) -> Table {
    // In the order of the claims: a data set that only later claims name comes where they put it.
    let mut datasets: Vec<(&str, &str)> = Vec::new();
    for claim in claims {
        let entry = (claim.dataset.as_str(), claim.title.as_str());
        if !datasets.iter().any(|(dataset, _)| *dataset == entry.0) {
            datasets.push(entry);
        }
    }
    let mut table = Table::new("", [("claim", Kind::Text)]);
    table.widen(Kind::Text, datasets.iter().map(|(_, title)| *title));
    for (number, row) in (1..).zip(CLAIMS) {
        let mut cells = cells![format!("{number}. {}", row.title)];
        for (dataset, _) in &datasets {
            let met: Vec<&Claim> =
                claims.iter().filter(|claim| claim.number == number && claim.dataset == *dataset).collect();
            cells.push(Cell::List(met.iter().map(|claim| mark(claim, met.len() > 1)).collect()));
        }
        table.push(cells);
    }
    table
}

/// The verdicts at a glance: for each checked row the sign on this machine and, where runs exist, in the paper's regime.
pub fn matrix(claims: &[Claim]) -> Table {
    at_a_glance(claims, |claim, _| format!("{} {}", claim.marks(), claim.solver).into())
}

pub fn verdicts(claims: &[Claim]) -> Table {
    let in_regime = claims.iter().any(|claim| claim.regime.is_some());
    let title = if in_regime { "Verdicts on this machine, then in the paper's regime" } else { "Verdicts" };
    let table = at_a_glance(claims, |claim, several| {
        let solver = if several { format!(" {}", claim.solver) } else { String::new() };
        let own = verdict(claim.verdict).noted(solver);
        match &claim.regime {
            Some(regime) => Cell::List(vec![own, verdict(regime.verdict).noted(" (regime)")]),
            None => own,
        }
    });
    Table { title: title.to_owned(), ..table }
}

/// "12 hold, 1 do not hold, 2 undecided, 4 not measured", and the same in the paper's regime where runs exist in it.
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

/// For the terminal: a line for each claim, its evidence indented below.
pub fn text(claims: &[Claim]) -> String {
    let mut table = table(claims);
    table.columns.pop();
    for row in &mut table.rows {
        row.pop();
    }
    let lines = table.text();
    let (head, lines) = lines.split_once('\n').unwrap_or_default();
    let mut out = format!("{head}\n");
    for (line, claim) in lines.lines().zip(claims) {
        out += &format!("{line}\n     {}\n", claim.evidence());
    }
    out + &format!("\n{}\n", summary(claims))
}
