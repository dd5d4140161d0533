//! Where the time goes: oracle shares and latencies.

use crate::study::profile::{Latency, ProfileRow};
use crate::table::{Cell, Kind, Table, cells};

pub fn table(rows: &[ProfileRow]) -> Table {
    let piped = rows.iter().any(|row| row.pipe.is_some());
    let mut table = Table::new("", [("data set", Kind::Text), ("solver", Kind::Text)]);
    table.widen(Kind::Count, ["runs", "failed"]);
    table.widen(Kind::Share, ["oracle share"]);
    table.widen(Kind::Values, ["min–max"]);
    let late = rows.iter().any(|row| row.late_share.is_some());
    table.widen(Kind::Percent, late.then_some("last half"));
    table.widen(Kind::Percent, piped.then_some("pipe"));
    table.widen(Kind::Count, ["oracle calls"]);
    table.widen(Kind::Seconds, ["exact p50", "exact p90", "exact p99", "exact max"]);
    table.widen(Kind::Count, ["approx steps"]);
    table.widen(Kind::Seconds, ["approx p50", "approx p90", "approx p99", "approx max"]);
    // What is left says where the time goes, and what one call takes.
    table.spare([
        "approx max",
        "approx p99",
        "approx p90",
        "exact max",
        "exact p99",
        "exact p90",
        "approx p50",
        "min–max",
        "approx steps",
        "last half",
        "pipe",
        "oracle calls",
        "exact p50",
        "runs",
        "failed",
    ]);
    for row in rows {
        let latency = |latency: Option<Latency>| match latency {
            Some(Latency { p50, p90, p99, max, .. }) => [p50, p90, p99, max].map(|ns| Cell::Number(ns as f64 * 1e-9)),
            None => std::array::from_fn(|_| Cell::Missing),
        };
        let mut cells = cells![&row.title, &row.label, row.completed, row.failed, row.share.map(|s| s.median)];
        cells.push(row.share.map(|s| format!("{:.1}–{:.1} %", 100.0 * s.min, 100.0 * s.max)).into());
        cells.extend(late.then(|| row.late_share.map(|s| s.median).into()));
        cells.extend(piped.then(|| row.pipe.map(|s| s.median).into()));
        cells.push(row.oracle_calls.into());
        cells.extend(latency(row.oracle_ns));
        cells.push(row.approx_steps.into());
        cells.extend(latency(row.approx_ns));
        table.push(cells);
    }
    table
}
