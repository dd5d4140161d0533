//! The claims of the paper: every row with its evidence, and the verdicts at a glance.

use crate::study::claims::thresholds::THRESHOLDS;
use crate::study::claims::{CLAIMS, Claim, Reason, Sensitivity, Verdict};
use crate::table::{Cell, Kind, Table, cells};
use crate::text::{number, wrapped};

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
            let there = claim.regime.as_ref().map(|regime| with_reason(regime.verdict, regime.reason));
            row.push(there.unwrap_or_else(|| None::<String>.into()));
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
    let marks = |claim: &Claim| claim.verdicts().map(Verdict::mark).collect::<String>();
    at_a_glance(claims, |claim, _| format!("{} {}", marks(claim), claim.solver).into())
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

/// "12 hold, 1 does not hold, 2 undecided, 4 not measured"; the same of the verdicts in the paper's regime, and of those that a
/// cost model decides; and how many may be wrong.
pub fn summary(claims: &[Claim]) -> String {
    let (mut own, mut there, mut model) = (Vec::new(), Vec::new(), Vec::new());
    for claim in claims {
        if claim.circular { &mut model } else { &mut own }.push(claim.verdict);
        if let Some(regime) = &claim.regime {
            if regime.circular { &mut model } else { &mut there }.push(regime.verdict);
        }
    }
    let mut lines = vec![counts(&own)];
    if !there.is_empty() || !model.is_empty() {
        lines[0].insert_str(0, "on this machine: ");
    }
    if !there.is_empty() {
        lines.push(format!("in the paper's regime: {}", counts(&there)));
    }
    if !model.is_empty() {
        lines.push(format!("by the cost model of the clock, which says nothing about a machine: {}", counts(&model)));
    }
    let decided = |verdict: &&Verdict| matches!(verdict, Verdict::Holds | Verdict::DoesNotHold);
    match own.iter().chain(&there).chain(&model).filter(decided).count() {
        0 => {}
        1 => lines.push("1 verdict, at 95 %".to_owned()),
        all => lines.push(format!("{all} verdicts, each at 95 % by itself, not all of them together")),
    }
    lines.join("\n")
}

fn counts(verdicts: &[Verdict]) -> String {
    let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
    let said = |verdict, one: &str, several: &str| match count(verdict) {
        1 => format!("1 {one}"),
        count => format!("{count} {several}"),
    };
    let made = match count(Verdict::ByConstruction) {
        0 => String::new(),
        made => format!(" ({made} by construction, not counted)"),
    };
    format!(
        "{}, {}, {} undecided, {} not measured{made}",
        said(Verdict::Holds, "holds", "hold"),
        said(Verdict::DoesNotHold, "does not hold", "do not hold"),
        count(Verdict::Undecided),
        count(Verdict::NotMeasured)
    )
}

/// A verdict on this machine or in the paper's regime.
struct VerdictLine<'a> {
    claim: &'a Claim,
    verdict: Verdict,
    measured: String,
    evidence: &'a str,
}

impl<'a> VerdictLine<'a> {
    fn new(claim: &'a Claim, verdict: Verdict, reason: Option<Reason>, measured: &str, evidence: &'a str) -> Self {
        let measured = match reason {
            // Its interval is there to be seen.
            None | Some(Reason::Interval) => measured.to_owned(),
            Some(reason) => format!("{measured}; {}", reason.text()),
        };
        Self { claim, verdict, measured, evidence }
    }
}

/// For a terminal of this width: the verdicts on this machine, then those in the paper's regime, below the claim that they are
/// about; to `explain`, with the evidence below each.
pub fn text(claims: &[Claim], width: usize, explain: bool) -> String {
    let own: Vec<VerdictLine<'_>> =
        claims.iter().map(|c| VerdictLine::new(c, c.verdict, c.reason, &c.measured, &c.evidence)).collect();
    let mut there = Vec::new();
    for claim in claims {
        if let Some(regime) = &claim.regime {
            let measured = format!("{}, k = {}", regime.measured, number(regime.oracle_cost));
            there.push(VerdictLine::new(claim, regime.verdict, regime.reason, &measured, &regime.evidence));
        }
    }
    let mut out = String::new();
    if there.is_empty() {
        out += &section(&own, width, explain);
    } else {
        out += &format!("On this machine\n\n{}", section(&own, width, explain));
        out += &format!("In the paper's regime\n\n{}", section(&there, width, explain));
    }
    for line in summary(claims).lines() {
        out += &wrapped(line, width, 0);
    }
    let marks =
        [Verdict::Holds, Verdict::DoesNotHold, Verdict::Undecided, Verdict::NotMeasured, Verdict::ByConstruction];
    let marks: Vec<String> = marks.iter().map(|verdict| format!("{} {}", verdict.mark(), verdict.name())).collect();
    out + &wrapped(&marks.join(", "), width, 0)
}

fn section(lines: &[VerdictLine<'_>], width: usize, explain: bool) -> String {
    lines.chunk_by(|a, b| a.claim.id() == b.claim.id()).map(|group| paragraph(group, width, explain)).collect()
}

/// The verdicts of one claim: what the paper says stands in the head where it is the same everywhere, else behind what was
/// measured.
fn paragraph(group: &[VerdictLine<'_>], width: usize, explain: bool) -> String {
    let Some(first) = group.first().map(|line| line.claim) else { return String::new() };
    let title = CLAIMS.iter().find(|row| row.has(first)).map_or("", |row| row.title);
    let papers: Vec<&str> = group.iter().map(|line| line.claim.paper.as_str()).filter(|paper| *paper != "–").collect();
    let (mut head, one) = (format!("{}. {title}", first.id()), papers.windows(2).all(|two| two[0] == two[1]));
    if let (true, Some(paper)) = (one, papers.first()) {
        head += &format!(" (paper: {paper})");
    }
    let mut abouts: Vec<[&str; 2]> = Vec::new();
    for claim in group.iter().map(|line| line.claim) {
        let alike =
            |other: &&VerdictLine<'_>| (&other.claim.dataset, &other.claim.solver) == (&claim.dataset, &claim.solver);
        // Several settings of the other solver: the claim names them.
        let several = group.iter().filter(alike).count() > 1;
        abouts.push([&claim.title, if several { &claim.claim } else { &claim.solver }]);
    }
    let widest = |at: usize| abouts.iter().map(|cells| cells[at].chars().count()).max().unwrap_or(0);
    let [title, about] = [widest(0), widest(1)];
    let column = title + about + 7;
    let mut out = wrapped(&head, width, 0);
    for (line, [dataset, solver]) in group.iter().zip(&abouts) {
        let paper = if one { String::new() } else { format!(" (paper: {})", line.claim.paper) };
        let (mark, measured) = (line.verdict.mark(), format!("{}{paper}", line.measured));
        // What was measured stands beside the rest, and is wrapped there, or below it where the terminal is too narrow.
        if column + 24 <= width {
            out += &format!(" {mark} {dataset:<title$}  {solver:<about$}  ");
            out += wrapped(&measured, width, column).trim_start();
        } else {
            out += &wrapped(&format!("{mark} {dataset} {solver}"), width, 1);
            out += &wrapped(&measured, width, 6);
        }
        if explain {
            out += &wrapped(line.evidence, width, 6);
        }
    }
    out + "\n"
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
        let of = found.map_or("not computed".to_owned(), |found| found.verdicts.to_string());
        cells.extend(cells![changed(&double, |found| found.doubled), of]);
        table.push(cells);
    }
    table
}

/// The same for a terminal of this width.
pub fn thresholds_text(sensitivities: &[Sensitivity], width: usize) -> String {
    let mut out = wrapped("Thresholds: value; what half and twice of it would change; sentence; reason", width, 0);
    let table = thresholds(sensitivities);
    for (row, threshold) in table.rows.iter().zip(&THRESHOLDS) {
        let text: Vec<String> = row.iter().map(ToString::to_string).collect();
        let [key, value, paper, why, half, double, of] = &text[..] else { continue };
        let of = if sensitivities.is_empty() { format!("changes {of}") } else { format!("of {of}") };
        out += &wrapped(&format!("{key} = {value} ({half}; {double}; {of})"), width, 0);
        let paper = if threshold.paper.is_empty() { paper.clone() } else { format!("\u{201c}{paper}\u{201d}") };
        out += &wrapped(&format!("{paper}: {why}"), width, 6);
    }
    out
}
