//! The tables of the page as HTML: every text from a result folder is escaped on its way in.

use std::fmt::Write as _;

use super::Input;
use crate::error::Result;
use crate::render::style;
use crate::render::tables;
use crate::study::claims::{CLAIMS, Claim, Verdict};
use crate::study::frame::profile::{Latency, ProfileRow};
use crate::study::frame::{Frames, target};
use crate::text::{escape, number, percent, seconds};

/// A table with a caption and, for the script, a button that saves it as CSV. Cells are HTML already.
pub(super) fn table(name: &str, caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!(
        "<figure class=\"table\"><figcaption>{caption} <button class=\"csv\" data-csv=\"{}\">CSV</button></figcaption>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>",
        escape(name),
        escape(name)
    );
    for cell in head {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(cell));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let _ = match at {
                0 => write!(out, "<th scope=\"row\">{cell}</th>"),
                _ => write!(out, "<td data-head=\"{}\">{cell}</td>", escape(head[at])),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></figure>\n");
    out
}

/// The verdict in its colour.
pub(super) fn verdict(verdict: Verdict) -> String {
    let class = match verdict {
        Verdict::Holds => "yes",
        Verdict::DoesNotHold => "no",
        Verdict::Undecided => "open",
        Verdict::NotMeasured => "none",
    };
    format!("<span class=\"verdict {class}\">{}&nbsp;{}</span>", verdict.mark(), verdict.name())
}

/// What there is, in one paragraph and a line per claim.
pub(super) fn summary(input: &Input) -> String {
    let (done, failed) =
        input.results.frames.series.iter().fold((0, 0), |(done, failed), s| (done + s.completed, failed + s.failed));
    let datasets: Vec<String> =
        input.results.frames.datasets().iter().map(|d| escape(input.results.frames.title(d))).collect();
    let mut out = format!("<p>{done} runs on {}", datasets.join(", "));
    if let Some(all) = &input.results.at_all_prices {
        let (more, lost) = all.frames.series.iter().fold((0, 0), |(a, b), s| (a + s.completed, b + s.failed));
        let lost = if lost > failed { format!(", {} failed", lost - failed) } else { String::new() };
        let _ = write!(out, ", {} more at <a href=\"#price\">other prices of the oracle</a>{lost}", more - done);
    }
    if failed > 0 {
        let _ = write!(out, "; <a href=\"#runs\"><strong>{failed} failed</strong></a>");
    }
    if !input.results.damaged.is_empty() {
        let (count, plural) = (input.results.damaged.len(), if input.results.damaged.len() == 1 { "" } else { "s" });
        let _ = write!(out, "; <a href=\"#environment\"><strong>{count} damaged file{plural}</strong></a>");
    }
    let _ = write!(
        out,
        ". Claims of the paper: <strong>{}</strong>.</p>",
        tables::claims::summary(input.claims).replace('\n', "; ")
    );
    out
}

/// The verdicts at a glance: a row per claim, a column per data set, one mark per checked row.
fn matrix(claims: &[Claim]) -> String {
    // The claims are in the order of the tables; a data set that only later claims name comes where they put it.
    let mut datasets: Vec<(&str, &str)> = Vec::new();
    for claim in claims {
        let entry = (claim.dataset.as_str(), claim.title.as_str());
        if !datasets.contains(&entry) {
            datasets.push(entry);
        }
    }
    let rows: Vec<Vec<String>> = CLAIMS
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let cell = |(dataset, _): &(&str, &str)| {
                let of = || claims.iter().filter(|c| c.number as usize == at + 1 && c.dataset == *dataset);
                let several = of().count() > 1;
                let mark = |c: &Claim| {
                    let who = if several { escape(&c.solver) } else { String::new() };
                    let there =
                        c.regime.as_ref().map_or(String::new(), |regime| format!(" / {}", verdict(regime.verdict)));
                    let mark = verdict(c.verdict) + &there;
                    format!("<span title=\"{}\">{mark} <small>{who}</small></span>", escape(&c.claim))
                };
                let marks: Vec<String> = of().map(mark).collect();
                marks.join("<br>")
            };
            std::iter::once(format!("{}. {}", at + 1, row.title)).chain(datasets.iter().map(cell)).collect()
        })
        .collect();
    let mut head = vec!["claim"];
    head.extend(datasets.iter().map(|(_, title)| *title));
    let priced = claims.iter().any(|claim| claim.regime.is_some());
    let caption = if priced { "Verdicts on this machine / in the paper's regime" } else { "Verdicts" };
    table("verdicts", caption, &head, &rows)
}

/// The verdicts, then the claims grouped by number with their evidence.
pub(super) fn claims(claims: &[Claim]) -> String {
    let mut out = matrix(claims);
    out.push_str("<details id=\"evidence\"><summary>Paper's value, measured value and evidence of each</summary>");
    for (at, row) in CLAIMS.iter().enumerate() {
        let rows: Vec<Vec<String>> = claims
            .iter()
            .filter(|claim| claim.number as usize == at + 1)
            .map(|claim| {
                let there = claim.regime.as_ref();
                vec![
                    escape(&claim.title),
                    escape(&claim.claim),
                    escape(&claim.paper),
                    verdict(claim.verdict),
                    escape(&claim.measured),
                    there.map_or("–".to_owned(), |regime| verdict(regime.verdict)),
                    there.map_or("–".to_owned(), |r| escape(&format!("{}, k = {}", r.measured, r.oracle_cost))),
                    format!("<small>{}</small>", escape(&claim.evidence())),
                ]
            })
            .collect();
        let head = [
            "data set",
            "claim",
            "paper",
            "on this machine",
            "measured",
            "paper's regime",
            "measured there",
            "evidence",
        ];
        out.push_str(&table(&format!("claim-{}", at + 1), &format!("{}. {}", at + 1, row.title), &head, &rows));
    }
    out.push_str("</details>");
    out
}

/// Oracle share as bars, latencies as numbers.
pub(super) fn oracle(input: &Input) -> String {
    let styles = style::styles(&input.results.frames);
    let row = |p: &ProfileRow| {
        let plotters::style::RGBColor(r, g, b) = styles[&p.label].color;
        let share = p.share.map_or("no run ended well".to_owned(), |s| {
            format!(
                "<span class=\"bar\"><span style=\"width:{:.2}%;background:#{r:02x}{g:02x}{b:02x}\"></span></span> {} \
                 <small>({:.1}–{:.1})</small>",
                100.0 * s.median.clamp(0.0, 1.0),
                percent(s.median),
                100.0 * s.min,
                100.0 * s.max
            )
        });
        let latency = |l: Option<Latency>| {
            let show = |l: Latency| [l.p50, l.p90, l.p99, l.max].map(|ns| seconds(ns as f64 * 1e-9)).join(" / ");
            l.map_or("–".to_owned(), show)
        };
        vec![
            escape(&p.title),
            escape(&p.display),
            share,
            p.oracle_calls.to_string(),
            latency(p.oracle_ns),
            p.approx_steps.to_string(),
            latency(p.approx_ns),
        ]
    };
    let rows: Vec<Vec<String>> = input.results.profile.iter().map(row).collect();
    let head = [
        "data set",
        "solver",
        "oracle share (min–max %)",
        "oracle calls",
        "exact p50 / p90 / p99 / max",
        "approximate steps",
        "approximate p50 / p90 / p99 / max",
    ];
    let clock = input.results.profile.iter().map(|p| p.clock.as_str()).find(|c| !c.is_empty()).unwrap_or("wall");
    let caption = format!(
        "Exact oracle time over solver time on the {clock} clock, median over repeats; latencies are wall time, all \
         repeats merged"
    );
    table("oracle-time", &caption, &head, &rows)
}

/// Time to gap, a table per data set.
pub(super) fn targets(frames: &Frames) -> Result<String> {
    let (mut out, shown) = (String::new(), frames.shown(&[]));
    for dataset in frames.datasets() {
        let mut rows = target::time_to_gap(frames, dataset)?;
        for row in &mut rows {
            row.cells.retain(|cell| shown[cell.series]);
        }
        rows.retain(|row| row.cells.iter().any(|cell| cell.time_s.is_some()));
        let labelled = frames.series_of(dataset).filter(|s| shown[*s]);
        let labels: Vec<String> = labelled.map(|s| frames.series[s].display.clone()).collect();
        let mut head = vec![if frames.certified(dataset) { "certified gap ≤" } else { "gap ≤" }];
        head.extend(labels.iter().map(String::as_str));
        let first = |solver: &str| frames.series_of(dataset).find(|s| frames.series[*s].solver == solver);
        let pairs: Vec<(usize, usize, String)> = frames
            .pairs
            .iter()
            .filter_map(|(single, multi)| Some((first(single)?, first(multi)?)))
            .map(|(a, b)| (a, b, format!("{} / {}", frames.series[a].display, frames.series[b].display)))
            .collect();
        head.extend(pairs.iter().map(|(.., name)| name.as_str()));
        let cell = |c: &target::Reached| {
            let time = c.time_s.map_or("–".to_owned(), seconds);
            let iterations = c.iterations.map_or(String::new(), |k| format!(", {} it.", number(k)));
            format!("{time}<small>{iterations} ({}/{})</small>", c.reached, c.runs)
        };
        let line = |row: &target::TargetRow| {
            let time = |series| row.cells.iter().find(|c| c.series == series).and_then(|c| c.time_s);
            let ratio = |(single, multi, _): &(usize, usize, String)| {
                let both = time(*single).zip(time(*multi)).filter(|(_, multi)| *multi > 0.0);
                both.map_or("–".to_owned(), |(single, multi)| format!("{:.2}×", single / multi))
            };
            let cells = row.cells.iter().map(cell).chain(pairs.iter().map(ratio));
            std::iter::once(format!("{:e}", row.target)).chain(cells).collect()
        };
        let cells: Vec<Vec<String>> = rows.iter().map(line).collect();
        let title = escape(frames.title(dataset));
        if cells.is_empty() {
            let _ = write!(out, "<p>{title}: no gap target was reached in the median.</p>");
        } else {
            out.push_str(&table(&format!("time-to-gap {dataset}"), &title, &head, &cells));
        }
    }
    Ok(out)
}

/// Failures in full, then every run.
pub(super) fn runs(input: &Input) -> Result<String> {
    let runs = &input.results.frames.runs;
    let wrong = |e| crate::error::Error::invalid(format!("the table of runs is incomplete: {e}"));
    let text = |name: &str| runs.column(name).and_then(|c| c.str()).cloned().map_err(wrong);
    let count = |name: &str| runs.column(name).and_then(|c| c.u64()).cloned().map_err(wrong);
    let real = |name: &str| runs.column(name).and_then(|c| c.f64()).cloned().map_err(wrong);
    let (dataset, label, status, reason) = (text("dataset")?, text("label")?, text("status")?, text("reason")?);
    let (clock, run_id) = (text("clock")?, text("run_id")?);
    let (repeat, seed, iterations, jobs) = (count("repeat")?, count("seed")?, count("iterations")?, count("jobs")?);
    let (time, gap, primal, dual, core) =
        (real("time_s")?, real("gap")?, real("primal")?, real("dual")?, real("core")?);
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    for at in 0..runs.height() {
        let string = |column: &polars::prelude::StringChunked| escape(column.get(at).unwrap_or_default());
        let whole = |column: &polars::prelude::UInt64Chunked| column.get(at).unwrap_or_default().to_string();
        let float = |column: &polars::prelude::Float64Chunked| column.get(at).unwrap_or(f64::NAN);
        let name = escape(input.results.frames.title(dataset.get(at).unwrap_or_default()));
        let failed = status.get(at) == Some("failed");
        if failed {
            failures.push(vec![name.clone(), string(&label), whole(&repeat), string(&reason), string(&run_id)]);
        }
        let end = if failed { "<strong>failed</strong>".to_owned() } else { string(&reason) };
        all.push(vec![
            name,
            string(&label),
            whole(&repeat),
            whole(&seed),
            end,
            whole(&iterations),
            format!("{} <small>{}</small>", seconds(float(&time)), string(&clock)),
            number(float(&primal)),
            number(float(&dual)),
            number(float(&gap)),
            format!("{} / {}", whole(&jobs), float(&core)),
            format!("<code>{}</code>", string(&run_id)),
        ]);
    }
    let mut out = if failures.is_empty() {
        "<p>No run failed.</p>".to_owned()
    } else {
        table("failed-runs", "Failed runs", &["data set", "solver", "repeat", "error", "run"], &failures)
    };
    let certified = input.results.frames.series.iter().any(|series| series.certified);
    let head = [
        "data set",
        "solver",
        "repeat",
        "seed",
        "ended by",
        "iterations",
        "solver time",
        "primal",
        "dual",
        if certified { "gap (certified)" } else { "gap" },
        "jobs / core",
        "run",
    ];
    let _ = write!(
        out,
        "<details><summary>All {} runs</summary>{}</details>",
        all.len(),
        table("runs", "All runs", &head, &all)
    );
    Ok(out)
}

/// Sessions, host, interference, configs, damaged files.
pub(super) fn environment(input: &Input) -> String {
    let mut out = String::new();
    if !input.results.damaged.is_empty() {
        out.push_str("<h3>Damaged files, left out</h3><ul>");
        for damage in &input.results.damaged {
            let _ = write!(out, "<li>{}</li>", escape(&damage.error.to_string()));
        }
        out.push_str("</ul>");
    }
    let rows: Vec<Vec<String>> = input
        .results
        .manifest
        .sessions
        .iter()
        .map(|s| {
            let config = input.results.manifest.configs.iter().find(|c| c.sha256 == s.config);
            let host = &s.host;
            let cells = [
                utc(s.started_unix_s),
                s.ended_unix_s.map_or("killed".to_owned(), utc),
                config.map_or_else(|| s.config.clone(), |c| c.name.clone()),
                format!("{} finished, {} failed, peak memory {:.2} GiB", s.finished, s.failed, gib(s.peak_memory)),
                format!("{}{}", s.jobs, if s.isolated { ", isolated" } else { "" }),
                format!("{} ({}, {:.1} GiB, {})", host.name, host.class(), gib(host.memory), host.os),
                s.shard.split('.').next().unwrap_or_default().to_owned(),
                format!("{} {}, {}, {}", s.code.version, s.code.commit, s.code.rustc, s.code.flags),
            ];
            cells.map(|cell| escape(&cell)).to_vec()
        })
        .collect();
    let head = ["started (UTC)", "ended", "config", "runs", "jobs", "host", "shard", "program"];
    out.push_str(&table("sessions", "Calls of <code>ssvm-bench run</code> on this folder", &head, &rows));
    let rows: Vec<Vec<String>> = input
        .results
        .manifest
        .interference
        .iter()
        .map(|i| {
            let cells = [
                input.results.frames.title(&i.dataset).to_owned(),
                i.solver.clone(),
                i.jobs.to_string(),
                format!("{:.3}×", i.ratio),
                format!("{:.3}–{:.3}", i.low, i.high),
                i.probes.to_string(),
            ];
            cells.map(|cell| escape(&cell)).to_vec()
        })
        .collect();
    if !rows.is_empty() {
        let head = ["data set", "solver", "jobs", "parallel / isolated", "95 % interval", "probes"];
        out.push_str(&table("interference", "Time per iteration, parallel over isolated", &head, &rows));
    }
    for config in &input.results.manifest.configs {
        let (name, text) = (escape(&config.name), escape(&config.text));
        let _ = write!(
            out,
            "<details><summary>Config {name} <small>{}</small></summary><pre>{text}</pre></details>",
            escape(&config.sha256)
        );
    }
    out
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::powi(2.0, 30)
}

/// Unix seconds as `2026-11-16 02:09`.
fn utc(unix: u64) -> String {
    // Civil date from days since 1970-01-01 (Hinnant's algorithm).
    let days = (unix / 86400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", unix / 3600 % 24, unix / 60 % 60)
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
