//! Findings → a table for people: what fails in full, what passes in counts.

use crate::gate::{Cell, Finding, Judgement};
use crate::table::Grid;
use crate::text::{change, exact};

/// Most lines of one cell and verdict; the files for machines hold them all.
const MOST_LINES: usize = 6;

/// The table for the terminal. Metrics that are as they were are only counted, unless they carry an interval.
pub fn table(findings: &[Finding]) -> String {
    let grid = grid(findings);
    let table = if grid.rows.is_empty() { String::new() } else { grid.text() + "\n" };
    table + &tally(findings) + "\n"
}

fn grid(findings: &[Finding]) -> Grid {
    let mut grid = Grid::new(&["verdict", "data set / solver", "metric", "old → new", "change"]);
    grid.rows.extend(shown(findings).into_iter().map(|row| row.columns().to_vec()));
    grid
}

/// The same as Markdown with a heading.
pub fn markdown(title: &str, findings: &[Finding]) -> String {
    let failed = findings.iter().any(|finding| finding.judgement.fails());
    let mut text = format!("### {} {title}\n\n", if failed { "❌" } else { "✅" });
    let grid = grid(findings);
    if !grid.rows.is_empty() {
        text += &(grid.markdown() + "\n");
    }
    text + &tally(findings) + "\n"
}

/// `3 worse, 1 missing, 420 same`.
fn tally(findings: &[Finding]) -> String {
    use Judgement::{Better, Changed, Missing, NotJudged, Same, Worse};
    let counts = [Missing, Changed, Worse, Better, Same, NotJudged].map(|kind| {
        let count = findings.iter().filter(|finding| finding.judgement == kind).count();
        (count > 0).then(|| format!("{count} {}", kind.word().to_lowercase()))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() { "nothing to compare".to_owned() } else { format!("metrics: {}", counts.join(", ")) }
}

/// A line of the table: a finding, or how many more like it there are.
enum Row<'a> {
    One(&'a Finding),
    More(&'a Cell, Judgement, usize),
}

impl Row<'_> {
    fn columns(&self) -> [String; 5] {
        match self {
            Row::One(finding) => {
                let values = match (finding.old, finding.new) {
                    (None, None) => String::new(),
                    (old, new) => {
                        let text = |value: Option<f64>| value.map_or("–".to_owned(), |value| short(value, finding));
                        format!("{} → {}", text(old), text(new))
                    }
                };
                let mut changed = match (finding.ratio, finding.old, finding.new) {
                    (Some(ratio), ..) => {
                        format!("{} [{}, {}]", change(ratio.median), change(ratio.low), change(ratio.high))
                    }
                    (None, Some(old), Some(new)) if old != 0.0 => change(new / old),
                    _ => String::new(),
                };
                if !finding.note.is_empty() {
                    let join = if changed.is_empty() { "" } else { "; " };
                    changed += &format!("{join}{}", finding.note);
                }
                [finding.judgement.word().to_owned(), finding.cell.to_string(), finding.metric.clone(), values, changed]
            }
            Row::More(cell, judgement, count) => {
                let more = format!("… {count} more");
                [judgement.word().to_owned(), cell.to_string(), more, String::new(), String::new()]
            }
        }
    }
}

/// Timings with four digits, all else exactly.
fn short(value: f64, finding: &Finding) -> String {
    if finding.ratio.is_some() && value != value.trunc() { format!("{value:.4}") } else { exact(value) }
}

/// What is worth a line, the worst verdicts first, cells in order.
fn shown(findings: &[Finding]) -> Vec<Row<'_>> {
    let mut worth: Vec<&Finding> =
        findings.iter().filter(|f| f.judgement != Judgement::Same || f.ratio.is_some()).collect();
    worth.sort_by_key(|finding| (std::cmp::Reverse(finding.judgement), finding.cell.clone()));
    let mut rows = Vec::new();
    for group in worth.chunk_by(|a, b| (a.judgement, &a.cell) == (b.judgement, &b.cell)) {
        // One line more is no shorter than saying that there is one.
        let most = if group.len() == MOST_LINES + 1 { group.len() } else { MOST_LINES };
        rows.extend(group.iter().take(most).map(|finding| Row::One(finding)));
        if group.len() > most {
            rows.push(Row::More(&group[0].cell, group[0].judgement, group.len() - most));
        }
    }
    rows
}
