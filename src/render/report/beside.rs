//! Two result folders in; one page with their figures in two columns, their tables with both values, and the ratios of
//! the comparison with intervals, out. Data sets of one name are put side by side; where a folder has none of that name,
//! the one that stands for the same data set of the paper.

use std::fmt::Write as _;

use super::figures::{Drawing, caption, drawings, index};
use super::sections::{summary, table, verdict};
use super::{Input, STYLE, TABLES, fill, policy};
use crate::error::Result;
use crate::gate::{Finding, Judgement};
use crate::study::claims::Claim;
use crate::study::profile::ProfileRow;
use crate::study::{View, targets};
use crate::text::{change, escape, exact, number, percent, seconds};

const PAGE: &str = concat!(include_str!("head.html"), include_str!("beside.html"));

/// What the page shows.
pub struct Beside<'a> {
    /// The two folders.
    pub sides: [Input<'a>; 2],
    /// The comparison of the second with the first, or why there is none.
    pub findings: std::result::Result<Vec<Finding>, String>,
}

/// The page.
pub fn html(beside: &Beside<'_>) -> Result<String> {
    let [a, b] = &beside.sides;
    let names = [a.name, b.name].map(escape);
    let parts = [
        ("{{title}}", format!("{} and {}", names[0], names[1])),
        ("{{policy}}", policy(TABLES)),
        ("{{style}}", STYLE.to_owned()),
        ("{{summary}}", columns(["A", "B"].into_iter().zip([a, b]).map(|(letter, side)| head(letter, side)))),
        ("{{claims}}", claims(beside)),
        ("{{ratios}}", ratios(beside)),
        ("{{targets}}", targets(beside)?),
        ("{{oracle}}", oracle(beside)),
        ("{{figures}}", figures(beside)?),
        ("{{script}}", TABLES.to_owned()),
    ];
    Ok(fill(PAGE, &parts))
}

fn columns(cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|cell| format!("<div>{cell}</div>")).collect();
    format!("<div class=\"two\">{cells}</div>")
}

fn head(letter: &str, side: &Input) -> String {
    let made = side.results.manifest.sessions.last().map_or(String::new(), |session| {
        let host = format!("{}, {} cores", session.host.cpu, session.host.cores);
        format!(
            "<p class=\"hint\">{} {}; {}</p>",
            escape(&session.code.version),
            escape(&session.code.commit),
            escape(&host)
        )
    });
    format!("<h2>{letter}: {}</h2>{}{made}", escape(side.name), summary(side))
}

/// The pairs of data sets that stand beside each other, in the order of the first folder.
fn pairs<'a>(a: &'a View, b: &'a View) -> Vec<(&'a str, &'a str)> {
    let others = b.datasets();
    let partner = |dataset: &&'a str| {
        let same = others.iter().find(|other| *other == dataset);
        let stands_for = |other: &&&str| !a.datasets().contains(*other) && b.paper(other) == a.paper(dataset);
        same.or_else(|| others.iter().find(stands_for).filter(|_| a.paper(dataset).is_some())).copied()
    };
    a.datasets().into_iter().filter_map(|dataset| Some((dataset, partner(&dataset)?))).collect()
}

/// One heading for both.
fn heading(beside: &Beside<'_>, (a, b): (&str, &str)) -> String {
    let [first, second] = &beside.sides;
    let (a, b) = (first.results.frames.title(a), second.results.frames.title(b));
    if a == b { escape(a) } else { format!("{} | {}", escape(a), escape(b)) }
}

fn claims(beside: &Beside<'_>) -> String {
    let [a, b] = &beside.sides;
    let of = |input: &Input, number: u8, dataset: &str, solver: &str| -> Option<Claim> {
        let is = |c: &&Claim| c.number == number && c.dataset == dataset && c.solver == solver;
        input.claims.iter().find(is).cloned()
    };
    let mut rows = Vec::new();
    for (left, right) in pairs(&a.results.frames, &b.results.frames) {
        for claim in a.claims.iter().filter(|claim| claim.dataset == left) {
            let other = of(b, claim.number, right, &claim.solver);
            let cell = |claim: Option<&Claim>| {
                let Some(claim) = claim else { return "–".to_owned() };
                let own = format!("{}<br><small>{}</small>", verdict(claim.verdict), escape(&claim.measured));
                claim.regime.as_ref().map_or(own.clone(), |regime| {
                    let there = format!("{} <small>{}</small>", verdict(regime.verdict), escape(&regime.measured));
                    format!("{own}<br>in the paper's regime: {there}")
                })
            };
            let set = heading(beside, (left, right));
            rows.push(vec![
                format!("{}. {set}", claim.number),
                escape(&claim.claim),
                escape(&claim.paper),
                cell(Some(claim)),
                cell(other.as_ref()),
            ]);
        }
    }
    rows.sort_by_key(|row| row[0].split('.').next().and_then(|number| number.parse::<u8>().ok()));
    nonempty(table("claims", "Verdicts and measured values", &["data set", "claim", "paper", "A", "B"], &rows), &rows)
}

fn nonempty(table: String, rows: &[Vec<String>]) -> String {
    if rows.is_empty() { "<p>The two folders have nothing of this in common.</p>".to_owned() } else { table }
}

/// The comparison: every metric that is not as it was, and every one that has an interval.
fn ratios(beside: &Beside<'_>) -> String {
    let findings = match &beside.findings {
        Ok(findings) => findings,
        Err(why) => return format!("<p>No ratio is said: {}.</p>", escape(why.trim_end_matches('.'))),
    };
    let shown = findings.iter().filter(|finding| finding.judgement != Judgement::Same || finding.ratio.is_some());
    let rows: Vec<Vec<String>> = shown.map(finding_row).collect();
    let same = findings.len() - rows.len();
    let more = if same > 0 { format!("; {same} more are the same on both sides") } else { String::new() };
    let caption = format!("B over A, the confidence holds for all intervals together{more}");
    let head = ["data set / solver", "metric", "A", "B", "B over A", "interval", "verdict"];
    if rows.is_empty() && same > 0 {
        return format!("<p>All {same} metrics are the same on both sides.</p>");
    }
    nonempty(table("ratios", &caption, &head, &rows), &rows)
}

fn finding_row(finding: &Finding) -> Vec<String> {
    let value =
        |value: Option<f64>| value.map_or("–".to_owned(), |v| if v == v.trunc() { exact(v) } else { number(v) });
    let plain = finding.old.zip(finding.new).filter(|(old, _)| *old != 0.0).map(|(old, new)| new / old);
    let ratio = finding.ratio.map(|ratio| ratio.median).or(plain);
    let class = match finding.judgement {
        Judgement::Better => "better",
        judgement if judgement.fails() => "worse",
        _ => "",
    };
    let note =
        if finding.note.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(&finding.note)) };
    vec![
        escape(&finding.cell.to_string()),
        escape(&finding.metric),
        value(finding.old),
        value(finding.new),
        ratio.map_or("–".to_owned(), change),
        finding.ratio.map_or("–".to_owned(), |ratio| format!("{} to {}", change(ratio.low), change(ratio.high))),
        format!("<span class=\"{class}\">{}</span>{note}", finding.judgement.word().to_lowercase()),
    ]
}

/// Time to gap of the solvers that both have, a table per pair of data sets.
fn targets(beside: &Beside<'_>) -> Result<String> {
    let [a, b] = beside.sides.each_ref().map(|side| &side.results.frames);
    let mut out = String::new();
    for (left, right) in pairs(a, b) {
        let (own, others) = (targets::time_to_gap(a, left), targets::time_to_gap(b, right));
        let shown = a.shown(&[]);
        let mut rows = Vec::new();
        for (row, other) in own.iter().filter_map(|row| Some((row, others.iter().find(|o| o.target == row.target)?))) {
            for cell in row.cells.iter().filter(|cell| shown[cell.series]) {
                let label = &a.series[cell.series].label;
                let Some(partner) = other.cells.iter().find(|c| b.series[c.series].label == *label) else { continue };
                let text = |c: &targets::Reached| {
                    let time = c.time_s.map_or("–".to_owned(), seconds);
                    let iterations = c.iterations.map_or(String::new(), |k| format!(", {} it.", number(k)));
                    format!("{time}<small>{iterations} ({}/{})</small>", c.reached, c.runs)
                };
                if cell.time_s.or(partner.time_s).is_none() {
                    continue;
                }
                let both = cell.time_s.zip(partner.time_s).filter(|(a, _)| *a > 0.0 && left == right);
                let ratio = both.map(|(a, b)| b / a);
                rows.push(vec![
                    format!("{:e}", row.target),
                    escape(&a.series[cell.series].display),
                    text(cell),
                    text(partner),
                    ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}×")),
                ]);
            }
        }
        if !rows.is_empty() {
            let head = ["gap ≤", "solver", "A", "B", "B over A"];
            out.push_str(&table(&format!("time-to-gap {left}"), &heading(beside, (left, right)), &head, &rows));
        }
    }
    Ok(if out.is_empty() { nonempty(out, &[]) } else { out })
}

/// Oracle shares and latencies of the solvers that both have.
fn oracle(beside: &Beside<'_>) -> String {
    let [a, b] = beside.sides.each_ref().map(|side| side.results);
    let mut rows = Vec::new();
    for (left, right) in pairs(&a.frames, &b.frames) {
        for row in a.profile.iter().filter(|row| row.dataset == left) {
            let Some(other) = b.profile.iter().find(|o| o.dataset == right && o.label == row.label) else { continue };
            let share = |row: &ProfileRow| row.share.map_or("–".to_owned(), |share| percent(share.median));
            let call = |row: &ProfileRow| row.oracle_ns.map_or("–".to_owned(), |l| seconds(l.p50 as f64 * 1e-9));
            let set = heading(beside, (left, right));
            rows.push(vec![set, escape(&row.display), share(row), share(other), call(row), call(other)]);
        }
    }
    let head = ["data set", "solver", "share A", "share B", "median call A", "median call B"];
    nonempty(table("oracle-time", "Exact oracle time over solver time, and one exact call", &head, &rows), &rows)
}

/// The figures in two columns; one that only one folder has stands alone.
fn figures(beside: &Beside<'_>) -> Result<String> {
    let [a, b] = [drawings(&beside.sides[0])?, drawings(&beside.sides[1])?];
    let find = |drawings: &'_ [Drawing], name: &str| drawings.iter().position(|(row, _)| row.name == name);
    let rows = crate::render::figure::FIGURES.iter().filter(|row| [&a, &b].iter().any(|d| find(d, row.name).is_some()));
    let mut out = index(rows.clone());
    for row in rows {
        let column = |(letter, drawings): (&str, &Vec<Drawing>)| {
            let svg = find(drawings, row.name).map(|at| drawings[at].1.as_str());
            let drawing = svg
                .map_or(format!("<p>{}</p>", escape(row.missing)), |svg| format!("<div class=\"paper\">{svg}</div>"));
            format!("<h4>{letter}</h4>{drawing}")
        };
        let same = find(&a, row.name).zip(find(&b, row.name)).is_some_and(|(x, y)| a[x].1 == b[y].1);
        let body = if same {
            format!("<p class=\"hint\">The same in both.</p>{}", column(("A and B", &a)))
        } else {
            columns([("A", &a), ("B", &b)].into_iter().map(column))
        };
        let _ = write!(
            out,
            "<h3 id=\"figure-{}\">{}</h3>{body}<figure class=\"words\">{}</figure>",
            row.name,
            row.title,
            caption(row)
        );
    }
    Ok(out)
}
