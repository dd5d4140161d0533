//! Two result folders → one page with their figures in two columns, their tables with both values, and the ratios of the
//! comparison with intervals. The same problem of both folders is put side by side; where a folder has no data set of that name, the
//! one that reproduces the same data set of the paper.

use maud::{Markup, PreEscaped, html};

use super::sections::{reached, summary};
use super::{Page, PageSection, caption, index, shell};
use crate::error::Result;
use crate::gate::Judgement;
use crate::gate::folders::Comparison;
use crate::render::figure::FIGURES;
use crate::render::tables;
use crate::store::keys::SeriesKey;
use crate::study::claims::Claim;
use crate::study::{View, targets};
use crate::table::Kind::{Percent, Seconds, Text};
use crate::table::{Cell, Table, cells};

pub struct Beside<'a> {
    pub sides: [Page<'a>; 2],
    /// The comparison of the second folder with the first, or the reason why they cannot be compared.
    pub compared: std::result::Result<Comparison, String>,
}

pub fn html(beside: &Beside<'_>) -> Result<String> {
    let [a, b] = &beside.sides;
    let section = |id, title, hint, body| PageSection { id, title, hint, body };
    let sections = [
        section(
            "ratios",
            "Ratios",
            "As <code>ssvm-bench compare A B</code> prints them: runs of one data set, solver, repeat and seed are paired; ≥ and \
             ≤ mark runs that ended before the gap. <i>Better</i> and <i>worse</i> require an interval entirely beyond 5 %, \
             <i>same</i> one entirely within 5 %; anything else is <i>undecided</i>.",
            ratios(beside),
        ),
        section("claims", "Claims of the paper", "", claims(beside)),
        section(
            "targets",
            "Time to gap",
            "Median solver time and iterations at which the gap crosses the target; brackets contain the number of repeats that \
             reached it. The ratios are in the first section.",
            targets(beside),
        ),
        section("oracle", "Oracle time", "", oracle(beside)),
        section(
            "figures",
            "Figures",
            "The figures of each folder, over all its data sets. Axes end where the runs of the folder end, so compare numbers, not heights.",
            figures(beside),
        ),
    ];
    let header = two([("A", a), ("B", b)].map(|(letter, page)| head(letter, page)));
    Ok(shell(&format!("{} and {}", a.name, b.name), &header, &sections, None))
}

fn two(cells: [Markup; 2]) -> Markup {
    html! { div.two { @for cell in cells { div { (cell) } } } }
}

fn head(letter: &str, page: &Page) -> Markup {
    html! {
        h2 { (letter) ": " (page.name) }
        (summary(page))
        @if let Some(session) = page.results.manifest.sessions.last() {
            p.hint {
                (session.code.version) "; " (session.host.cpu) ", " (session.host.cores) " cores"
            }
        }
    }
}

/// Pairs of corresponding data sets with a heading for both, in the order of the first folder.
fn pairs<'a>(beside: &'a Beside<'_>) -> Vec<(&'a str, &'a str, String)> {
    let [a, b] = beside.sides.each_ref().map(|page| &page.results.own);
    // By problem: names contain only the facts in which the problems of one folder differ.
    let problem =
        |view: &View, dataset: &str| view.series_of(dataset).next().map(|at| view.series[at].key.problem.clone());
    let name = |view: &View, dataset: &str| problem(view, dataset).map(|problem| problem.dataset);
    let has = |view: &View, wanted: &Option<String>| view.datasets().iter().any(|one| name(view, one) == *wanted);
    let others = b.datasets();
    let mut pairs = Vec::new();
    for dataset in a.datasets() {
        let paper = a.paper(dataset).filter(|_| !has(b, &name(a, dataset)));
        let is_partner = |other: &&&str| match paper {
            Some(paper) => !has(a, &name(b, other)) && b.paper(other) == Some(paper),
            None => problem(b, other) == problem(a, dataset),
        };
        if let Some(partner) = others.iter().find(is_partner) {
            let (left, right) = (a.title(dataset), b.title(partner));
            let heading = if left == right { left.to_owned() } else { format!("{left} | {right}") };
            pairs.push((dataset, *partner, heading));
        }
    }
    pairs
}

/// The series of the other folder with the same setting of the solver, on the corresponding data set. Labels cannot be compared for
/// this, because they contain only what differs inside a folder.
fn partner(a: &View, at: usize, b: &View, dataset: &str) -> Option<usize> {
    let key = &a.series[at].key;
    let is_same = |other: &SeriesKey| (&other.solver, other.oracle_cost) == (&key.solver, key.oracle_cost);
    let same = b.series_of(dataset).filter(|s| is_same(&b.series[*s].key));
    same.max_by_key(|s| key.alike(&b.series[*s].key))
}

/// The tables, or a sentence when they have no row.
fn nonempty(tables: &[Table]) -> Markup {
    html! {
        @if tables.iter().all(|table| table.rows.is_empty()) { p { "The two folders have no such data in common." } }
        @for table in tables.iter().filter(|table| !table.rows.is_empty()) { (table.html()) }
    }
}

fn claims(beside: &Beside<'_>) -> Markup {
    let [a, b] = beside.sides.map(|page| &page.summary.claims);
    let mut found: Vec<(&Claim, Option<&Claim>, String)> = Vec::new();
    for (left, right, heading) in pairs(beside) {
        for claim in a.iter().filter(|claim| claim.dataset == left) {
            let same = |c: &&Claim| c.id() == claim.id() && c.dataset == right && c.solver == claim.solver;
            found.push((claim, b.iter().find(same), heading.clone()));
        }
    }
    found.sort_by_key(|(claim, ..)| (claim.number, claim.part));
    let heads = ["data set", "claim", "paper", "A", "B"];
    let mut table = Table::new("Verdicts and measured values", heads.map(|name| (name, Text)));
    for (claim, other, heading) in found {
        let mut row = cells![format!("{}. {heading}", claim.id()), &claim.claim, &claim.paper];
        for claim in [Some(claim), other] {
            row.push(claim.map_or(Cell::Missing, |claim| {
                let own = tables::claims::verdict(claim.verdict).noted(format!(" {}", claim.measured));
                let there = claim.regime.as_ref().map(|regime| {
                    let remark = format!(" in the paper's regime: {}", regime.measured);
                    tables::claims::verdict(regime.verdict).noted(remark)
                });
                Cell::List(std::iter::once(own).chain(there).collect())
            }));
        }
        table.push(row);
    }
    nonempty(&[table])
}

fn ratios(beside: &Beside<'_>) -> Markup {
    let Comparison { findings, remark, .. } = match &beside.compared {
        Ok(compared) => compared,
        Err(why) => return html! { p { "No ratio is shown: " (why.trim_end_matches('.')) "." } },
    };
    let mut table = tables::findings::table(findings, usize::MAX);
    let same = findings.iter().filter(|f| f.judgement == Judgement::Same && f.ratio.is_none()).count();
    let more = if same > 0 { format!("; {same} more are the same on both sides") } else { String::new() };
    table.title = format!("From A to B, with simultaneous intervals{more}");
    if table.rows.is_empty() && same > 0 {
        return html! { p { "All " (same) " metrics are the same on both sides." } };
    }
    html! { (nonempty(&[table])) @if let Some(remark) = remark { p.hint { (remark) "." } } }
}

/// Time to gap of the solvers that both have, a table per pair of data sets.
fn targets(beside: &Beside<'_>) -> Markup {
    let [a, b] = beside.sides.each_ref().map(|page| &page.results.own);
    let shown = a.shown(&[]);
    let mut tables = Vec::new();
    for (left, right, heading) in pairs(beside) {
        let mut table = Table::new(format!("Time to gap: {heading}"), [("gap ≤", Text), ("solver", Text)]);
        table.widen(Seconds, ["A", "B"]);
        let others = targets::time_to_gap(b, right);
        for row in targets::time_to_gap(a, left) {
            let Some(other) = others.iter().find(|other| other.target == row.target) else { continue };
            for cell in row.cells.iter().filter(|cell| shown[cell.series]) {
                let series = &a.series[cell.series];
                let partner = partner(a, cell.series, b, right);
                let partner = other.cells.iter().find(|c| Some(c.series) == partner);
                let Some(partner) = partner.filter(|partner| cell.time_s.or(partner.time_s).is_some()) else {
                    continue;
                };
                let mut cells = cells![format!("{:e}", row.target), &series.display];
                cells.extend([reached(cell), reached(partner)]);
                table.push(cells);
            }
        }
        tables.push(table);
    }
    nonempty(&tables)
}

/// Oracle shares and latencies of the solvers that both have.
fn oracle(beside: &Beside<'_>) -> Markup {
    let title = "Exact oracle time over solver time, and one exact call";
    let mut table =
        Table::new(title, [("data set", Text), ("solver", Text), ("share A", Percent), ("share B", Percent)]);
    table.widen(Seconds, ["median call A", "median call B"]);
    let [a, b] = beside.sides.map(|page| page.results);
    for (left, right, heading) in pairs(beside) {
        for at in a.own.series_of(left) {
            let Some(partner) = partner(&a.own, at, &b.own, right) else { continue };
            // A profile has a row for every series.
            let (row, other) = (&a.profile[at], &b.profile[partner]);
            let mut cells = cells![&heading, &row.display];
            cells.extend([row, other].map(|row| row.share.map(|share| share.median).into()));
            cells.extend([row, other].map(|row| row.oracle_ns.map(|latency| latency.p50 as f64 * 1e-9).into()));
            table.push(cells);
        }
    }
    nonempty(&[table])
}

/// The figures in two columns; one that is the same in both folders stands once.
fn figures(beside: &Beside<'_>) -> Markup {
    let drawn = |name: &str| {
        beside.sides.map(|Page { figures, .. }| {
            figures.iter().find(|figure| figure.overall && figure.row.name == name).map(|figure| figure.svg.as_str())
        })
    };
    let rows = || FIGURES.iter().filter(|row| drawn(row.name).iter().any(Option::is_some));
    let column = |letter: &str, missing: &str, svg: Option<&str>| {
        html! {
            h4 { (letter) }
            @match svg {
                Some(svg) => div.paper { (PreEscaped(svg)) }
                None => p { (missing) }
            }
        }
    };
    html! {
        (index(rows()))
        @for row in rows() {
            @let [a, b] = drawn(row.name);
            h3 id={ "figure-" (row.name) } { (row.title) }
            @if a == b { p.hint { "The same in both." } (column("A and B", &row.missing, a)) }
            @else { (two([column("A", &row.missing, a), column("B", &row.missing, b)])) }
            figure.words { (caption(row, beside.sides.iter().any(|page| page.summary.has_paper_data()))) }
        }
    }
}
