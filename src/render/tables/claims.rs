//! The claims of the paper: every row with its evidence, and the verdicts at a glance.

use crate::study::claims::thresholds::{Sensitivity, THRESHOLDS};
use crate::study::claims::{CLAIMS, Claim, Reason, Verdict};
use crate::table::{Cell, Kind, Table, cells};
use crate::text::{fitted, number, wrapped};

pub fn verdict(verdict: Verdict) -> Cell {
    let class = match verdict {
        Verdict::Holds => "verdict yes",
        Verdict::DoesNotHold => "verdict no",
        Verdict::Undecided => "verdict open",
        Verdict::NotMeasured | Verdict::ByConstruction => "verdict none",
    };
    Cell::Mark(class, Some(verdict.mark()), verdict.name())
}

fn with_reason(of: Verdict, reason: Option<Reason>) -> Cell {
    match reason {
        Some(reason) => verdict(of).noted(format!(": {}", reason.text())),
        None => verdict(of),
    }
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
        let mut row = cells![claim.id(), &claim.title, &claim.claim, &claim.paper, &claim.measured];
        row.push(with_reason(claim.verdict, claim.reason));
        if in_regime {
            let measured = |cost: f64, measured: &str| format!("{measured}, k = {}", number(cost));
            row.push(claim.regime.as_ref().map(|regime| measured(regime.oracle_cost, &regime.measured)).into());
            let reason = claim.regime.as_ref().and_then(|regime| regime.reason);
            row.push(with_reason(claim.in_regime(), reason));
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
    for row in CLAIMS {
        let Some(first) = claims.iter().find(|claim| row.has(claim)) else { continue };
        let mut cells = cells![format!("{}. {}", first.id(), row.title)];
        for (dataset, _) in &datasets {
            let met: Vec<&Claim> = claims.iter().filter(|claim| row.has(claim) && claim.dataset == *dataset).collect();
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
        let made = match count(Verdict::ByConstruction) {
            0 => String::new(),
            made => format!(" ({made} by construction, not counted)"),
        };
        format!(
            "{} hold, {} do not hold, {} undecided, {} not measured{made}",
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

/// For a terminal of this width: a line for each verdict, those on this machine first, then those in the paper's regime; to
/// `explain`, with the evidence below each.
pub fn text(claims: &[Claim], width: usize, explain: bool) -> String {
    let line = |claim: &Claim, of: Verdict, reason: Option<Reason>, measured: &str| {
        let measured = match reason {
            // Its interval is there to be seen.
            None | Some(Reason::Interval) => measured.to_owned(),
            Some(reason) => format!("{}: {measured}", reason.text()),
        };
        [of.mark().to_string(), claim.id(), claim.title.clone(), claim.claim.clone(), claim.paper.clone(), measured]
    };
    let (mut rows, mut evidence) = (Vec::new(), Vec::new());
    for claim in claims {
        rows.push(line(claim, claim.verdict, claim.reason, &claim.measured));
        evidence.push(&claim.evidence);
    }
    for (claim, there) in claims.iter().filter_map(|claim| Some((claim, claim.regime.as_ref()?))) {
        let measured = format!("{}, k = {}", there.measured, number(there.oracle_cost));
        rows.push(line(claim, there.verdict, there.reason, &measured));
        evidence.push(&there.evidence);
    }
    let in_regime = rows.len() > claims.len();
    let head = ["", "#", "data set", "claim", "paper", "measured"].map(str::to_owned);
    rows.insert(0, head);
    let mut lines = fitted(&rows, width).into_iter();
    let mut out = lines.next().unwrap_or_default() + "\n";
    for (at, (line, evidence)) in lines.zip(evidence).enumerate() {
        match at {
            0 if in_regime => out += "On this machine\n",
            at if at == claims.len() => out += "\nIn the paper's regime\n",
            _ => {}
        }
        out += &format!("{line}\n");
        if explain {
            out += &wrapped(evidence, width, 6);
        }
    }
    let marks =
        [Verdict::Holds, Verdict::DoesNotHold, Verdict::Undecided, Verdict::NotMeasured, Verdict::ByConstruction];
    let marks: Vec<String> = marks.iter().map(|verdict| format!("{} {}", verdict.mark(), verdict.name())).collect();
    out += "\n";
    summary(claims).lines().for_each(|line| out += &wrapped(line, width, 0));
    out + &wrapped(&marks.join(", "), width, 0)
}

/// Every threshold with its sentence, its reason and, where it was computed, how many verdicts it decides.
pub fn thresholds(sensitivities: &[Sensitivity]) -> Table {
    let heads = ["threshold", "value", "sentence of the paper", "why this value", "halved", "doubled", "of verdicts"];
    let mut table = Table::new("", heads.map(|name| (name, Kind::Text)));
    for row in &THRESHOLDS {
        let found = sensitivities.iter().find(|found| found.key == row.key);
        let [half, double] = row.halved_and_doubled().map(number);
        let changed = |value: &str, count: fn(&Sensitivity) -> usize| match found {
            Some(found) => format!("{value}: {} change", count(found)),
            None => value.to_owned(),
        };
        let paper = if row.paper.is_empty() { "a rule of measurement" } else { row.paper };
        let mut cells = cells![row.key, number(row.value), paper, row.why, changed(&half, |found| found.halved)];
        cells.extend(cells![changed(&double, |found| found.doubled), found.map(|found| found.verdicts)]);
        table.push(cells);
    }
    table
}

/// The same for a terminal of this width.
pub fn thresholds_text(sensitivities: &[Sensitivity], width: usize) -> String {
    let mut out = wrapped("Thresholds: value; what half and twice of it would change; sentence; reason", width, 0);
    let table = thresholds(sensitivities);
    for row in &table.rows {
        let text: Vec<String> = row.iter().map(ToString::to_string).collect();
        let [key, value, paper, why, half, double, of] = &text[..] else { continue };
        out += &wrapped(&format!("{key} = {value} ({half}; {double}; of {of})"), width, 0);
        out += &wrapped(&format!("\u{201c}{paper}\u{201d}: {why}"), width, 6);
    }
    out
}
