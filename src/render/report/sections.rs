//! The sections of the page about one folder.

use maud::{Markup, PreEscaped, html};

use super::{Page, PageSection, caption, index};
use crate::render::tables;
use crate::render::tables::league::{Part, sections};
use crate::store::RunRecord;
use crate::store::manifest::{Manifest, Session};
use crate::study::Study;
use crate::study::claims::{CLAIMS, Claim};
use crate::study::league::League;
use crate::study::paired::{Measure, Target};
use crate::study::{Origin, View, targets};
use crate::table::Kind::{Count, Number, Percent, Seconds, Text, Values};
use crate::table::{Cell, Table, cells};
use crate::text::{bytes, number, percent};
use ssvm::stats::Spread;

pub(super) fn all(page: &Page) -> Vec<PageSection> {
    let Page { results, summary, .. } = page;
    let section = |id, title, hint, body| PageSection { id, title, hint, body };
    let mut sections = Vec::new();
    if !summary.has_paper_data() || summary.has_own() {
        sections.push(section("fastest", "Which solver is fastest", "", fastest(&summary.league)));
    }
    if summary.has_paper_data() {
        sections.push(section("claims", "Claims of the paper", "", claims(&summary.claims)));
    }
    sections.extend([
        section("convergence", "Convergence", "", PreEscaped(include_str!("controls.html").to_owned())),
        section(
            "dynamics",
            "Parameter dynamics",
            "Mean working-set size per term and approximate passes per iteration of the multi-plane solvers, with the controls \
             above.",
            html! { div #plots-dynamics {} },
        ),
        section("oracle", "Oracle time", "", oracle(results).html()),
        section(
            "targets",
            "Time to gap",
            "Median solver time and iterations at which the gap crosses the target, interpolated between evaluations; brackets \
             contain the repeats that reached it, and the others count as infinite. With many solvers, only those of the paper are \
             shown; the league has all. Ratios are medians over pairs of runs with the same seed, with an interval, and ≥ or ≤ where \
             runs ended before the gap. The second solver is called faster or slower only if the whole interval is on one side of 1.",
            targets(&results.own),
        ),
        section("league", "League", "", league(page)),
        section("price", "Oracle cost", "", oracle_cost(page)),
        section(
            "figures",
            "Figures",
            "The figures that <code>ssvm-bench figures</code> writes, over all data sets.",
            figures(page),
        ),
        section(
            "certified",
            "Certified gaps",
            "Where the max-oracle is not exact, the primal is bounded from above and the gap is the certified one. Slack is the \
             part of it that an exact oracle might remove; a term is proven when its bound is attained.",
            certified(results).html(),
        ),
        section("runs", "Runs", "", runs(results)),
        section("environment", "Environment and provenance", "", environment(results)),
    ]);
    sections
}

/// What was run, in one paragraph.
pub(super) fn summary(page: &Page) -> Markup {
    let count =
        |frames: &View| frames.series.iter().fold((0, 0), |(done, failed), s| (done + s.completed, failed + s.failed));
    let frames = &page.results.own;
    let (done, failed) = count(frames);
    let titles: Vec<&str> = frames.datasets().into_iter().map(|dataset| frames.title(dataset)).collect();
    let damaged = page.results.damaged.len();
    html! {
        p {
            (done) " runs on " (titles.join(", "))
            @if let Some((more, lost)) = page.results.all_costs.as_ref().map(count) {
                ", " (more - done) " more at " a href="#price" { "other oracle costs" }
                @if lost > failed { ", " (lost - failed) " failed" }
            }
            @if failed > 0 { "; " a href="#runs" { strong { (failed) " failed" } } }
            @if damaged > 0 {
                "; " a href="#environment" { strong { (damaged) " damaged file" @if damaged != 1 { "s" } } }
            }
            ". "
            @if page.summary.has_own() && page.summary.has_paper_data() {}
            @else if page.summary.has_paper_data() {
                "Claims of the paper: "
                strong { (tables::claims::summary(&page.summary.claims).replace('\n', "; ")) }
                "."
            } @else { (tables::NO_CLAIMS) }
            @if let Some(origin) = &page.summary.origin { " " (made_by(origin)) }
            @if let Some(session) = page.results.manifest.sessions.last() {
                " Last run on " (utc(session.started_unix_s)) " UTC on " (session.host.name) " ("
                (session.host.cpu) ", " (session.host.cores) " cores)."
            }
        }
    }
}

/// The commit that made the runs; red when they come from several.
fn made_by(origin: &Origin) -> Markup {
    let runs = |(commit, runs): (&String, &u64)| {
        let plural = if *runs == 1 { "" } else { "s" };
        format!("{} ({runs} run{plural})", if commit.is_empty() { "unknown" } else { commit })
    };
    let commits = origin.commits.iter().map(runs).collect::<Vec<_>>().join(", ");
    // Those of the library: the program may be another one.
    let not = if origin.commits.len() == 1 { "Made by uncommitted ssvm-bench: " } else { "Not made by one commit: " };
    html! {
        @if origin.is_mixed() { span.worse { (not) (commits) "." } }
        @else { "Made by commit " (commits) " of ssvm-bench." }
    }
}

/// For a folder without data of the paper: time and oracle calls to a common gap.
fn fastest(league: &League) -> Markup {
    html! {
        @for table in tables::league::leads(league) {
            @if table.rows.is_empty() { p { (table.title) ". " (table.note) } }
            @else { (table.html()) }
        }
    }
}

/// The verdicts, then the claims by number with their evidence.
fn claims(claims: &[Claim]) -> Markup {
    let by_number = CLAIMS.iter().map(|row| {
        let of: Vec<Claim> = claims.iter().filter(|claim| row.has(claim)).cloned().collect();
        let mut table = tables::claims::table(&of);
        table.title = format!("{}. {}", of.first().map_or_else(String::new, Claim::id), row.title);
        table.columns.remove(0);
        for (row, claim) in table.rows.iter_mut().zip(&of) {
            row.remove(0);
            row.pop();
            row.push(Cell::from("").noted(claim.evidence()));
        }
        table
    });
    html! {
        (tables::claims::verdicts(claims).html())
        details #evidence {
            summary { "Paper's value, measured value and evidence of each" }
            @for table in by_number { (table.html()) }
        }
    }
}

fn oracle(results: &Study) -> Table {
    let clock = results.profile.iter().map(|row| row.clock.as_str()).find(|clock| !clock.is_empty()).unwrap_or("wall");
    let title = format!(
        "Exact oracle time over solver time on the {clock} clock, median over repeats; latencies are wall time, all repeats \
         merged"
    );
    Table { title, ..tables::profile::table(&results.profile) }
}

/// "12 ms, 30 it. (5/5)".
pub(super) fn reached(cell: &targets::Reached) -> Cell {
    let iterations = cell.iterations.map_or(String::new(), |k| format!(", {} it.", number(k)));
    Cell::from(cell.time_s).noted(format!("{iterations} ({}/{})", cell.reached, cell.runs))
}

fn targets(frames: &View) -> Markup {
    let (mut out, shown) = (Vec::new(), frames.shown(&[]));
    for dataset in frames.datasets() {
        let gap = if frames.certified(dataset) { "certified gap ≤" } else { "gap ≤" };
        let mut table = Table::new(format!("Time to gap: {}", frames.title(dataset)), [(gap, Text)]);
        let labelled = frames.series_of(dataset).filter(|s| shown[*s]);
        table.widen(Seconds, labelled.map(|s| &frames.series[s].display));
        // The pairs that the paper compares.
        let of = |solver: &str| -> Vec<usize> {
            frames.series_of(dataset).filter(|s| frames.series[*s].solver == solver).collect()
        };
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (single, multi) in &frames.pairs {
            let Some(multi) = of(multi).first().copied() else { continue };
            pairs.extend(frames.partners(multi, &of(single)).first().map(|single| (*single, multi)));
        }
        let display = |s: usize| &frames.series[s].display;
        table.widen(Values, pairs.iter().map(|(a, b)| format!("{} / {}", display(*a), display(*b))));
        for targets::TargetRow { target, cells } in targets::time_to_gap(frames, dataset) {
            if !cells.iter().any(|cell| shown[cell.series] && cell.time_s.is_some()) {
                continue;
            }
            let mut row = cells![format!("{target:e}")];
            row.extend(cells.iter().filter(|cell| shown[cell.series]).map(reached));
            for (single, multi) in &pairs {
                let ratio = frames.compare(*multi, *single, Target::Gap(target), Measure::Time);
                row.push(ratio.map(|ratio| format!("{}, {}", ratio.text(), ratio.pace().name())).into());
            }
            table.push(row);
        }
        out.push(table);
    }
    html! {
        @for table in &out {
            @if table.rows.is_empty() { p { (table.title) ": no target was reached in the median." } }
            @else { (table.html()) }
        }
    }
}

/// The winners, and all other tables folded up by data set.
fn league(page: &Page) -> Markup {
    if page.summary.league.is_empty() {
        return html! { p { "No two solvers can be compared at a gap of the certified optimum." } };
    }
    let (winners, rest): (Vec<_>, Vec<_>) =
        sections(&page.summary.league, &[]).into_iter().partition(|section| section.part == Part::Winners);
    html! {
        p.hint { (Part::Winners.explain()) }
        @for section in &winners { (section.table.html()) }
        p.hint {
            "Figures: " a href="#figure-league" { "distributions over gaps" } ", "
            a href="#figure-performance_profile" { "performance profile and speed-ups" } ", "
            a href="#figure-league_targets" { "speed-ups to gaps" } "."
        }
        @for group in rest.chunk_by(|a, b| a.dataset == b.dataset) {
            details {
                summary {
                    @if group[0].dataset.is_empty() { "all data sets" } @else { (group[0].dataset) }
                    ": every solver at every gap"
                }
                @for part in group.chunk_by(|a, b| a.part == b.part) {
                    p.hint { (part[0].part.explain()) }
                    @for section in part { (section.table.html()) }
                }
            }
        }
    }
}

/// What the oracle costs here and in the paper, then ratios and crossings.
fn oracle_cost(page: &Page) -> Markup {
    let mut regimes = Table::new(
        "What a call costs here and in the paper",
        [
            ("data set", Text),
            ("BCFW's oracle share in the paper", Percent),
            ("here, at k = 1", Percent),
            ("k for the paper's share", Number),
            ("runs there", Text),
        ],
    );
    for regime in &page.results.regimes {
        let runs = regime.runs.map_or("no runs near it".to_owned(), |(cost, share)| {
            format!("k = {cost} ({} of BCFW's time)", percent(share))
        });
        regimes.push(cells![&regime.title, regime.paper_share, regime.own_share, regime.solved, runs]);
    }
    let breakeven = &page.summary.breakeven;
    let ratios =
        Table { title: "Time to a relative gap over that of BCFW".to_owned(), ..tables::breakeven::table(breakeven) };
    html! {
        @if !regimes.rows.is_empty() { (regimes.html()) }
        @if breakeven.sets.is_empty() {
            p { "No data set was run at several oracle costs (" code { "oracle_cost" } ")." }
        } @else {
            @for line in tables::breakeven::heads(breakeven) { p.hint { (line) } }
            p.hint { "Figure: " a href="#figure-breakeven" { "time over the oracle cost" } "." }
            (ratios.html())
        }
    }
}

/// What the script of the page draws is a drawing only where no script runs.
fn figures(page: &Page) -> Markup {
    const PLOTTED: [&str; 3] = ["oracle_convergence", "runtime_convergence", "parameter_dynamics"];
    let drawings = || page.figures.iter().filter(|figure| figure.overall);
    let paper = page.summary.has_paper_data();
    html! {
        (index(drawings().map(|figure| figure.row)))
        @for figure in drawings() {
            @let drawing = html! { div.paper { (PreEscaped(&figure.svg)) } };
            h3 id={ "figure-" (figure.row.name) } { (figure.row.title) }
            figure.drawing {
                @if PLOTTED.contains(&figure.row.name) {
                    p { "Drawn " a href="#convergence" { "above" } "." }
                    noscript { (drawing) }
                } @else { (drawing) }
                (caption(figure.row, paper))
            }
        }
    }
}

/// Proven terms and slack at the last evaluation, medians over repeats.
fn certified(results: &Study) -> Table {
    let mut table = Table::new(
        "At the last evaluation, median (min to max) over repeats",
        [("data set", Text), ("solver", Text), ("oracle", Text), ("proven terms", Percent)],
    );
    table.widen(Number, ["slack", "certified gap"]);
    for of in records(results).chunk_by(|a, b| a.0 == b.0) {
        let series = &results.own.series[of[0].0];
        let last = || of.iter().filter_map(|(_, record)| Some((record, record.points().last()?)));
        let oracle = if series.certified { "bounded" } else { "exact" };
        let mut row = cells![&series.title, &series.display, oracle];
        row.push(spread(last().map(|(record, point)| point.proven as f64 / record.environment.n as f64), percent));
        row.push(spread(last().map(|(_, point)| point.oracle_slack), number));
        row.push(spread(last().map(|(_, point)| point.gap), number));
        table.push(row);
    }
    table
}

fn spread(values: impl IntoIterator<Item = f64>, show: fn(f64) -> String) -> Cell {
    let noted = |s: Spread| Cell::Number(s.median).noted(format!(" ({} to {})", show(s.min), show(s.max)));
    Spread::of(values).map_or(Cell::Missing, noted)
}

/// All runs with the places of their series, in order.
fn records(results: &Study) -> Vec<(usize, &RunRecord)> {
    let of = |at: usize| results.own.records_of(at).iter().map(move |record| (at, record));
    (0..results.own.series.len()).flat_map(of).collect()
}

/// Failures in full, then every run.
fn runs(results: &Study) -> Markup {
    let frames = &results.own;
    let mut failures =
        Table::new("Failed runs", ["data set", "solver", "repeat", "error", "run"].map(|name| (name, Text)));
    let mut all = Table::new("All runs", [("data set", Text), ("solver", Text), ("repeat", Count), ("seed", Count)]);
    all.widen(Text, ["ended by"]);
    all.widen(Count, ["iterations"]);
    all.widen(Seconds, ["solver time"]);
    let certified = frames.series.iter().any(|series| series.certified);
    all.widen(Number, ["primal", "dual", if certified { "gap (certified)" } else { "gap" }]);
    all.widen(Text, ["jobs / core", "run"]);
    for (at, record) in records(results) {
        let (series, reason) = (&frames.series[at], record.status.reason());
        let failed = !record.status.is_done();
        if failed {
            failures.push(cells![&series.title, &series.label, record.repeat.to_string(), &reason, record.run_id()]);
        }
        let last = record.points().last();
        let mut row = cells![&series.title, &series.label, record.repeat, record.settings().seed];
        row.push(if failed { Cell::Mark("worse", None, "failed") } else { reason.into() });
        row.push(last.map(|point| point.iteration).into());
        row.push(Cell::from(last.map(|point| point.time_s)).noted(format!(" {}", record.settings().clock.name())));
        row.extend(cells![last.map(|point| point.primal), last.map(|point| point.dual), last.map(|point| point.gap)]);
        row.extend(cells![format!("{} / {}", record.environment.jobs, record.environment.core), record.run_id()]);
        all.push(row);
    }
    html! {
        @if failures.rows.is_empty() { p { "No run failed." } } @else { (failures.html()) }
        details { summary { "All " (all.rows.len()) " runs" } (all.html()) }
    }
}

/// Damaged files, sessions, interference, configs.
fn environment(results: &Study) -> Markup {
    let Manifest { configs, sessions, interference, .. } = &results.manifest;
    let heads = ["started (UTC)", "ended", "config", "runs", "jobs", "host", "shard", "program"];
    let mut table = Table::new("Calls of `ssvm-bench run` on this folder", heads.map(|name| (name, Text)));
    for session in sessions {
        let config = configs.iter().find(|config| config.sha256 == session.config);
        table.push(session_row(session, config.map_or(&session.config, |config| &config.name)));
    }
    let mut parallel = Table::new(
        "Time per iteration, parallel over isolated",
        [("data set", Text), ("solver", Text), ("jobs", Count), ("parallel / isolated", Values)],
    );
    parallel.widen(Values, ["95 % interval"]);
    parallel.widen(Count, ["probes"]);
    for one in interference {
        let (ratio, interval) = (format!("{:.3}×", one.ratio), format!("{:.3}–{:.3}", one.low, one.high));
        let title = results.own.title(&one.dataset);
        parallel.push(cells![title, &one.solver, one.jobs, ratio, interval, one.probes]);
    }
    html! {
        @if !results.damaged.is_empty() {
            h3 { "Damaged files, left out" }
            ul { @for damage in &results.damaged { li { (damage.error) } } }
        }
        (table.html())
        @if !parallel.rows.is_empty() { (parallel.html()) }
        @for config in configs {
            details {
                summary { "Config " (config.name) " " small { (config.sha256) } }
                pre { (config.text) }
            }
        }
    }
}

fn session_row(session: &Session, config: &str) -> Vec<Cell> {
    let (host, code) = (&session.host, &session.code);
    cells![
        utc(session.started_unix_s),
        session.ended_unix_s.map_or("killed".to_owned(), utc),
        config,
        format!("{} finished, {} failed, {} of memory", session.finished, session.failed, bytes(session.peak_memory)),
        format!("{}{}", session.jobs, if session.isolated { ", isolated" } else { "" }),
        format!("{} ({}, {}, {})", host.name, host.class(), bytes(host.memory), host.os),
        session.shard.split('.').next().unwrap_or_default(),
        format!("{}, {}, {}", code.version, code.rustc, code.flags),
    ]
}

/// Unix seconds as `2026-11-16 02:09`.
fn utc(unix: u64) -> String {
    let time = jiff::Timestamp::from_second(unix as i64);
    time.map_or_else(|_| unix.to_string(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01 00:00");
        assert_eq!(utc(951_827_696), "2000-02-29 12:34");
        assert_eq!(utc(1_794_794_940), "2026-11-16 02:09");
    }
}
