//! The claims of the paper: every row with its evidence, and the verdicts at a glance.

use crate::study::claims::thresholds::THRESHOLDS;
use crate::study::claims::{CLAIMS, Claim, InRegime, Reason, Sensitivity, Verdict};
use crate::table::{Cell, Kind, Table, cells};
use crate::text::{Color, cut, number, wrapped};

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
    // Data sets in the order in which the claims name them.
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

/// A verdict and the reason if it is undecided.
type Judged = (Verdict, Option<Reason>);

/// "12 hold, 1 does not hold, 2 undecided (most often: too few repeats), 4 not measured"; the same for the paper's regime and for
/// verdicts that follow from a cost model; then the confidence.
pub fn summary(claims: &[Claim]) -> String {
    let (mut own, mut there, mut model) = (Vec::new(), Vec::new(), Vec::new());
    for claim in claims {
        if claim.circular { &mut model } else { &mut own }.push((claim.verdict, claim.reason));
        if let Some(regime) = &claim.regime {
            if regime.circular { &mut model } else { &mut there }.push((regime.verdict, regime.reason));
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
        lines.push(format!("by the cost model of the clock (no evidence about a machine): {}", counts(&model)));
    }
    let decided = |judged: &&Judged| matches!(judged.0, Verdict::Holds | Verdict::DoesNotHold);
    match own.iter().chain(&there).chain(&model).filter(decided).count() {
        0 => {}
        1 => lines.push(format!("1 verdict, {LEVEL}")),
        all => lines.push(format!("{all} verdicts, each on its own {LEVEL}, not corrected for their number")),
    }
    lines.join("\n")
}

/// Medians of five lie between their extremes, and percentiles of draws are nominal.
const LEVEL: &str = "at nominally 95 % (less with fewer than ten repeats)";

fn counts(verdicts: &[Judged]) -> String {
    let count = |verdict| verdicts.iter().filter(|(one, _)| *one == verdict).count();
    let counted = |verdict, one: &str, several: &str| match count(verdict) {
        1 => format!("1 {one}"),
        count => format!("{count} {several}"),
    };
    let undecided = verdicts.iter().filter(|(one, _)| *one == Verdict::Undecided);
    let reasons: Vec<&str> = undecided.filter_map(|(_, why)| why.map(Reason::kind)).collect();
    let made = match count(Verdict::ByConstruction) {
        0 => String::new(),
        made => format!(" ({made} by construction, not counted)"),
    };
    format!(
        "{}, {}, {} undecided{}, {} not measured{made}",
        counted(Verdict::Holds, "holds", "hold"),
        counted(Verdict::DoesNotHold, "does not hold", "do not hold"),
        count(Verdict::Undecided),
        most_common(&reasons).map_or(String::new(), |reason| format!(" (most often: {reason})")),
        count(Verdict::NotMeasured)
    )
}

/// The first of those that occur most often.
fn most_common<'a>(words: &[&'a str]) -> Option<&'a str> {
    let count = |word: &str| words.iter().filter(|other| **other == word).count();
    let most = words.iter().map(|word| count(word)).max()?;
    words.iter().copied().find(|word| count(word) == most)
}

/// A verdict on this machine or in the paper's regime.
struct VerdictLine<'a> {
    claim: &'a Claim,
    verdict: Verdict,
    reason: Option<Reason>,
    measured: &'a str,
    evidence: &'a str,
}

/// The text for a terminal of this width: one line per verdict below its claim, first on this machine, then in the paper's regime.
/// With `explain`, the full measured value and the evidence follow each line.
pub fn text(claims: &[Claim], width: usize, explain: bool, color: bool) -> String {
    let (mut own, mut there, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    let is_run = |title: &str| claims.iter().any(|one| one.title == title && one.verdict != Verdict::NotMeasured);
    let mut absent: Vec<&str> =
        claims.iter().map(|claim| claim.title.as_str()).filter(|title| !is_run(title)).collect();
    absent.dedup();
    // A data set without a verdict has no lines, unless there is no other.
    let all = claims.iter().all(|claim| claim.verdict == Verdict::NotMeasured);
    for claim in claims.iter().filter(|claim| all || explain || is_run(&claim.title)) {
        let Claim { verdict, reason, measured, evidence, .. } = claim;
        own.push(VerdictLine { claim, verdict: *verdict, reason: *reason, measured, evidence });
        if let Some(InRegime { oracle_cost, measured, verdict, reason, evidence, .. }) = &claim.regime {
            there.push(VerdictLine { claim, verdict: *verdict, reason: *reason, measured, evidence });
            let cost = format!("k = {} on {}", number(*oracle_cost), claim.title);
            costs.extend(Some(cost).filter(|cost| !costs.contains(cost)));
        }
    }
    let section = |lines: &[VerdictLine<'_>]| {
        let groups = lines.chunk_by(|a, b| a.claim.id() == b.claim.id());
        groups.map(|group| paragraph(group, width, explain, color)).collect::<String>()
    };
    let mut out = String::new();
    if there.is_empty() {
        out += &section(&own);
    } else {
        out += &format!("On this machine\n\n{}", section(&own));
        out += &wrapped(&format!("In the paper's regime ({})", costs.join(", ")), width, 0);
        out += &format!("\n{}", section(&there));
    }
    let marks =
        [Verdict::Holds, Verdict::DoesNotHold, Verdict::Undecided, Verdict::ByConstruction, Verdict::NotMeasured];
    let marks: Vec<String> = marks.iter().map(|verdict| format!("{} {}", verdict.mark(), verdict.name())).collect();
    let whole = if out.lines().any(|line| line.ends_with('…')) {
        "; --explain shows lines that end with … in full"
    } else {
        ""
    };
    out += &wrapped(&format!("{}{whole}", marks.join(", ")), width, 0);
    if !all && !explain && !absent.is_empty() {
        absent.sort_unstable();
        absent.dedup();
        out += &wrapped(&format!("not measured on {}", absent.join(", ")), width, 0);
    }
    summary(claims).lines().fold(out, |out, line| out + &wrapped(line, width, 0))
}

/// The name of a data set is not cut to fewer characters.
const SHORTEST: usize = 16;

/// The verdicts of one claim. The paper's value is in the heading if it is the same everywhere, otherwise after the measured value.
/// Of a line that is too long the reason is cut, then the paper's value is left out; the measured value is never cut, and goes
/// to a line of its own if it must.
fn paragraph(group: &[VerdictLine<'_>], width: usize, explain: bool, color: bool) -> String {
    let Some(first) = group.first().map(|line| line.claim) else { return String::new() };
    let title = CLAIMS.iter().find(|row| row.has(first)).map_or("", |row| row.title);
    let papers: Vec<&str> = group.iter().map(|line| line.claim.paper.as_str()).filter(|paper| *paper != "–").collect();
    let (mut head, one) = (format!("{}. {title}", first.id()), papers.windows(2).all(|two| two[0] == two[1]));
    if let (true, Some(paper)) = (one, papers.first()) {
        head += &format!(" (paper: {paper})");
    }
    let abouts: Vec<[String; 2]> = group.iter().map(|line| [line.claim.title.clone(), compared(line.claim)]).collect();
    let widest = |at: usize| abouts.iter().map(|cells| cells[at].chars().count()).max().unwrap_or(0);
    let [title, about] = [widest(0), widest(1)];
    // The name of the data set is cut first, where that makes room for the values.
    let values = |with: usize| {
        let of = |line: &VerdictLine<'_>| [line.measured, &paper_of(line.claim, one)].map(|text| text.chars().count());
        group.iter().map(of).map(|sizes| sizes[..with].iter().sum::<usize>()).max().unwrap_or(0)
    };
    let room = width.saturating_sub(about + 7);
    let beside = |values: usize| {
        room.checked_sub(values).map(|left| left.min(title)).filter(|left| *left >= title.min(SHORTEST))
    };
    let title = beside(values(2)).or_else(|| beside(values(1))).unwrap_or(title);
    let mut out = wrapped(&head, width, 0);
    for (line, [dataset, solvers]) in group.iter().zip(&abouts) {
        let VerdictLine { claim, verdict, reason, measured, evidence } = line;
        // An interval that decides nothing can be seen.
        let why = reason.filter(|reason| *reason != Reason::Interval).map(Reason::text);
        let paper = paper_of(claim, one);
        let why = why.map_or(String::new(), |why| format!("; {why}"));
        let mark = verdict.mark().to_string();
        let mark = if color { color_of(*verdict).paint(&mark) } else { mark };
        let about = format!("{:<title$}  {solvers:<about$}", cut(dataset, title));
        let line = verdict_line(&about, measured, [&paper, &why], width.saturating_sub(3));
        out += &format!(" {mark} {}\n", line.replace('\n', "\n     "));
        if explain {
            let why = reason.map_or(String::new(), |reason| format!("; undecided: {}", reason.text()));
            let remarks = [format!("{}: {measured}{paper}{why}", claim.claim), (*evidence).to_owned()];
            out.extend(remarks.iter().filter(|text| !text.is_empty()).map(|text| wrapped(text, width, 6)));
        }
    }
    out + "\n"
}

/// The paper's value behind a measured one, unless it is in the heading.
fn paper_of(claim: &Claim, one: bool) -> String {
    if one { String::new() } else { format!(" (paper: {})", claim.paper) }
}

/// What is compared, the measured value, then as much of the paper's value and of the reason as fits into this width. Without
/// room for the measured value it begins a second line, which is indented by two.
fn verdict_line(about: &str, measured: &str, [paper, why]: [&str; 2], width: usize) -> String {
    let size = |text: &str| text.chars().count();
    let beside = size(about) + 2 + size(measured) <= width;
    let (start, width) =
        if beside { (format!("{about}  {measured}"), width) } else { (measured.to_owned(), width - 2) };
    let first = if beside { String::new() } else { format!("{}\n", cut(about.trim_end(), width)) };
    let with_paper = format!("{start}{paper}");
    let whole = format!("{with_paper}{why}");
    let line = if size(&start) > width {
        wrapped(&start, width, 0).trim_end().to_owned()
    } else if size(&whole) <= width || size(&with_paper) + 2 <= width {
        cut(&whole, width).into_owned()
    } else if size(&start) + 2 <= width {
        format!("{start} …")
    } else {
        start
    };
    first + &line
}

/// The solvers that a claim compares.
fn compared(claim: &Claim) -> String {
    match &claim.other {
        Some(other) => format!("{} over {other}", claim.solver),
        None => claim.solver.clone(),
    }
}

fn color_of(verdict: Verdict) -> Color {
    match verdict {
        Verdict::Holds => Color::Good,
        Verdict::DoesNotHold => Color::Bad,
        Verdict::Undecided => Color::Open,
        Verdict::NotMeasured | Verdict::ByConstruction => Color::Dim,
    }
}

/// Every threshold with its sentence, its reason and, where it was computed, how many verdicts it decides.
pub fn thresholds(sensitivities: &[Sensitivity]) -> Table {
    let heads = ["threshold", "value", "sentence of the paper", "why this value", "halved", "doubled", "of verdicts"];
    let mut table = Table::new("", heads.map(|name| (name, Kind::Text)));
    for row in &THRESHOLDS {
        let found = sensitivities.iter().find(|found| found.key == row.key);
        let changed = |value: f64, count: fn(&Sensitivity) -> usize| match found {
            Some(found) => format!("{}: {} change", number(value), count(found)),
            None => number(value),
        };
        let paper = if row.paper.is_empty() { "a rule of measurement" } else { row.paper };
        let mut cells = cells![row.key, number(row.value), paper, row.why];
        cells.extend(match row.halved_and_doubled() {
            Some([half, double]) => cells![
                changed(half, |found| found.halved),
                changed(double, |found| found.doubled),
                found.map_or("not computed".to_owned(), |found| found.verdicts.to_string())
            ],
            None => cells!["–", "–", "not varied"],
        });
        table.push(cells);
    }
    table
}

/// The same for a terminal of this width.
pub fn thresholds_text(sensitivities: &[Sensitivity], width: usize) -> String {
    let mut out = wrapped(
        "Thresholds: value, verdicts that change when it is halved or doubled, sentence of the paper, reason",
        width,
        0,
    );
    let table = thresholds(sensitivities);
    for (row, threshold) in table.rows.iter().zip(&THRESHOLDS) {
        let text: Vec<String> = row.iter().map(ToString::to_string).collect();
        let [key, value, paper, why, half, double, of] = &text[..] else { continue };
        let varied = match threshold.halved_and_doubled() {
            None => of.clone(),
            Some(_) if sensitivities.is_empty() => format!("{half}; {double}; changes {of}"),
            Some(_) => format!("{half}; {double}; of {of}"),
        };
        out += &wrapped(&format!("{key} = {value} ({varied})"), width, 0);
        let paper = if threshold.paper.is_empty() { paper.clone() } else { format!("\u{201c}{paper}\u{201d}") };
        out += &wrapped(&format!("{paper}: {why}"), width, 6);
    }
    out
}
