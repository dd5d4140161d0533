//! Oracle shares and latencies as a table.

use crate::study::frame::profile::{Latency, ProfileRow};
use crate::table::Grid;
use crate::text::{percent, seconds};

/// The profile as a table.
pub fn grid(rows: &[ProfileRow]) -> Grid {
    let piped = rows.iter().any(|row| row.pipe.is_some());
    let mut head = vec!["data set", "solver", ">runs", ">failed", ">oracle share", ">min–max"];
    head.extend(piped.then_some(">pipe"));
    head.extend([">oracle calls", ">exact p50", ">p90", ">p99", ">max"]);
    head.extend([">approx steps", ">approx p50", ">p90", ">p99", ">max"]);
    let mut grid = Grid::new(&head);
    for row in rows {
        let latency = |l: Option<Latency>| match l {
            Some(l) => [l.p50, l.p90, l.p99, l.max].map(|ns| seconds(ns as f64 * 1e-9)),
            None => std::array::from_fn(|_| "–".to_owned()),
        };
        let range = row.share.map_or("–".into(), |s| format!("{:.1}–{:.1} %", 100.0 * s.min, 100.0 * s.max));
        let mut cells = vec![row.title.clone(), row.label.clone(), row.completed.to_string(), row.failed.to_string()];
        cells.extend([row.share.map_or("–".into(), |s| percent(s.median)), range]);
        cells.extend(piped.then(|| row.pipe.map_or("–".into(), |s| percent(s.median))));
        cells.push(row.oracle_calls.to_string());
        cells.extend(latency(row.oracle_ns));
        cells.push(row.approx_steps.to_string());
        cells.extend(latency(row.approx_ns));
        grid.rows.push(cells);
    }
    grid
}
