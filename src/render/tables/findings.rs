//! The verdicts of a gate or a comparison: failures in full, the rest as counts.

use crate::gate::{Finding, Judgement};
use crate::table::{Cell, Kind, Table};
use crate::text::{change, exact, wrapped};

/// Most lines of one cell and verdict on the terminal; the files for machines hold them all.
const MOST_LINES: usize = 6;

/// The text for a terminal of this width. Unchanged metrics are only counted, unless they have an interval.
pub fn text(findings: &[Finding], remark: Option<&str>, width: usize) -> String {
    let table = table(findings, MOST_LINES);
    let text = if table.rows.is_empty() { String::new() } else { table.text(width) + "\n" };
    let below = [Some(tally(findings)), remark.map(str::to_owned)];
    text + &below.iter().flatten().map(|line| wrapped(line, width, 0)).collect::<String>()
}

pub fn markdown(title: &str, findings: &[Finding], remark: Option<&str>) -> String {
    let failed = findings.iter().any(|finding| finding.judgement.fails());
    let table = table(findings, MOST_LINES);
    let text = if table.rows.is_empty() { String::new() } else { table.markdown() + "\n" };
    let remark = remark.map_or(String::new(), |remark| format!("\n{remark}\n"));
    format!("### {} {title}\n\n{text}{}\n{remark}", if failed { "❌" } else { "✅" }, tally(findings))
}

/// `3 worse, 1 missing, 420 same`.
fn tally(findings: &[Finding]) -> String {
    use Judgement::{Better, Changed, Missing, NotJudged, Same, Undecided, Worse};
    let counts = [Missing, Changed, Worse, Better, Same, Undecided, NotJudged].map(|kind| {
        let count = findings.iter().filter(|finding| finding.judgement == kind).count();
        (count > 0).then(|| format!("{count} {}", kind.word().to_lowercase()))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() { "nothing to compare".to_owned() } else { format!("metrics: {}", counts.join(", ")) }
}

/// What is worth a row, the worst verdicts first, cells in order; with a limit on the rows of one cell and verdict. Cells
/// whose inputs changed in the same way share a row.
pub fn table(findings: &[Finding], most: usize) -> Table {
    let heads = ["verdict", "data set / solver", "metric", "old → new", "change"];
    let mut table = Table::new("", heads.map(|name| (name, Kind::Text)));
    let mut worth: Vec<&Finding> =
        findings.iter().filter(|f| f.judgement != Judgement::Same || f.ratio.is_some()).collect();
    worth.sort_by_key(|finding| (std::cmp::Reverse(finding.judgement), finding.cell.clone()));
    let alike = |a: &Finding, b: &Finding| {
        a.judgement == Judgement::Changed && a.old.is_none() && (&a.metric, &a.note) == (&b.metric, &b.note)
    };
    for group in worth.chunk_by(|a, b| a.judgement == b.judgement && (a.cell == b.cell || alike(a, b))) {
        let (verdict, mut cell) = (verdict(group[0].judgement), group[0].cell.to_string());
        let cells = group.chunk_by(|a, b| a.cell == b.cell).count();
        if cells > 1 {
            cell += &format!(" and {} more", cells - 1);
        }
        let group = if cells > 1 { &group[..1] } else { group };
        // Showing the last finding takes no more space than saying that there is one more.
        let shown = if group.len() <= most.saturating_add(1) { group.len() } else { most };
        for finding in &group[..shown] {
            let (values, changed) = (values(finding), changed(finding));
            table.push(vec![verdict.clone(), (&cell).into(), (&finding.metric).into(), values.into(), changed.into()]);
        }
        if shown < group.len() {
            let more = format!("… {} more", group.len() - shown);
            table.push(vec![verdict, cell.into(), more.into(), "".into(), "".into()]);
        }
    }
    table
}

fn verdict(judgement: Judgement) -> Cell {
    let class = match judgement {
        Judgement::Better => "better",
        judgement if judgement.fails() => "worse",
        _ => "",
    };
    Cell::Mark(class, None, judgement.word())
}

fn values(finding: &Finding) -> String {
    let short = |value: f64| match finding.ratio {
        Some(_) if value != value.trunc() => format!("{value:.4}"),
        _ => exact(value),
    };
    let text = |value: Option<f64>| value.map_or("–".to_owned(), short);
    match (finding.old, finding.new) {
        (None, None) => String::new(),
        (old, new) => format!("{} → {}", text(old), text(new)),
    }
}

fn changed(finding: &Finding) -> String {
    let mut changed = match (finding.ratio, finding.old, finding.new) {
        (Some(ratio), ..) => ratio.shown(change),
        (None, Some(old), Some(new)) if old != 0.0 => change(new / old),
        _ => String::new(),
    };
    if !finding.note.is_empty() {
        let join = if changed.is_empty() { "" } else { "; " };
        changed += &format!("{join}{}", finding.note);
    }
    changed
}
