//! Records → one long table of evaluations, with the best bounds of each problem and the distances to them.
//!
//! Polars does the tabular work: bounds are aggregates over the runs of a problem, suboptimalities follow from them. Failed
//! runs are rows of the table of runs; what they measured before they failed is in the curves, and in no bound.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use polars::prelude::*;

use super::align::End;
use super::bands::{Axis, Bands};
use super::curve::Curve;
use super::export::{column, table};
use crate::error::Result;
use crate::store::RunRecord;
use crate::store::keys::{ProblemKey, SeriesKey};
use ssvm::drive::TracePoint;

/// Best lower and best upper bound of the optimum.
pub type Bounds = (f64, f64);

#[derive(Debug)]
pub struct Run {
    pub rows: Range<usize>,
    /// The rows after whole iterations. Evaluations inside an iteration have no position on the iteration axis.
    pub whole: Range<usize>,
    pub end: End,
}

#[derive(Debug)]
pub struct Repeats {
    pub key: SeriesKey,
    pub records: Range<usize>,
    pub runs: Vec<Run>,
    pub curves: Vec<Curve>,
    /// Bounds of the optimum; `None` when nothing is known of it.
    pub bounds: Option<Bounds>,
    /// Its grid, and its index among the series of that grid.
    pub(super) grid: usize,
    pub(super) place: usize,
}

/// Series of one problem, oracle cost and clock. They are drawn together, so their bands share positions.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub series: Vec<usize>,
    /// Bands per axis, computed at the first request.
    pub bands: [OnceLock<Vec<Bands>>; Axis::ALL.len()],
}

#[derive(Debug)]
pub struct Points {
    /// The records, those of a series together, by repeat.
    pub records: Vec<RunRecord>,
    /// The series, in the order of tables and figures.
    pub repeats: Vec<Repeats>,
    pub(super) grids: Vec<Grid>,
    /// One row per evaluation; rows of a run are contiguous. `series` is the position in `repeats`.
    pub table: DataFrame,
    /// The number of bands computed so far, for a test: one per requested series and axis.
    pub bands_made: AtomicUsize,
}

impl Points {
    /// The points of records in the order of their series. `known` returns the certified bounds of the optimum of a problem.
    pub fn new(records: Vec<RunRecord>, known: &dyn Fn(&ProblemKey) -> Option<Bounds>) -> Result<Self> {
        let (mut repeats, mut rows): (Vec<Repeats>, usize) = (Vec::new(), 0);
        for (at, record) in records.iter().enumerate() {
            let key = record.series();
            let mut of = match repeats.pop_if(|last| last.key == key) {
                Some(last) => last,
                None => Repeats {
                    key,
                    records: at..at,
                    runs: Vec::new(),
                    curves: Vec::new(),
                    bounds: None,
                    grid: 0,
                    place: 0,
                },
            };
            of.records.end = at + 1;
            let points = record.points();
            if !points.is_empty() {
                let (start, end) = (rows, rows + points.len());
                let part = points.iter().rev().take_while(|point| point.partial).count();
                of.runs.push(Run { rows: start..end, whole: start..end - part, end: (&record.status).into() });
                rows = end;
            }
            repeats.push(of);
        }
        let table = evaluations(&records, &repeats, known)?;
        for of in &mut repeats {
            let Some(row) = of.runs.first().map(|run| run.rows.start) else { continue };
            let bounds = (numbers(&table, "best_dual")?[row], numbers(&table, "best_primal")?[row]);
            of.bounds = Some(bounds).filter(|(low, high)| low.is_finite() || high.is_finite());
            let mut runs = of.runs.iter().peekable();
            let curve = |record: &RunRecord| match runs.next_if(|_| !record.points().is_empty()) {
                Some(run) => Curve::of(record, run, bounds),
                None => Curve::absent(record),
            };
            of.curves = records[of.records.clone()].iter().map(curve).collect();
        }
        let (mut grids, mut keys): (Vec<Grid>, BTreeMap<_, usize>) = (Vec::new(), BTreeMap::new());
        for (at, of) in repeats.iter_mut().enumerate() {
            of.grid = *keys.entry((of.key.problem.clone(), of.key.oracle_cost, of.key.clock)).or_insert(grids.len());
            grids.resize_with(keys.len(), Grid::default);
            of.place = grids[of.grid].series.len();
            grids[of.grid].series.push(at);
        }
        Ok(Self { records, repeats, grids, table, bands_made: AtomicUsize::new(0) })
    }
}

pub fn numbers<'t>(table: &'t DataFrame, column: &str) -> Result<&'t [f64]> {
    Ok(table.column(column)?.f64()?.cont_slice()?)
}

struct Evaluated<'r> {
    series: usize,
    record: &'r RunRecord,
    before: Option<&'r TracePoint>,
    point: &'r TracePoint,
}

impl Evaluated<'_> {
    fn is_sound(&self) -> bool {
        End::from(&self.record.status) != End::Failed
    }

    /// Whether the primal is certified: the maximisers of all terms are proven, or the oracle gives bounds.
    fn is_certified(&self) -> bool {
        self.point.proven == self.record.environment.n || self.point.oracle_slack > 0.0
    }
}

/// Bounds that contradict each other by less than this, relative to their size, do so because of rounding.
const CROSSING: f64 = 1e-9;

fn evaluations(
    records: &[RunRecord],
    repeats: &[Repeats],
    known: &dyn Fn(&ProblemKey) -> Option<Bounds>,
) -> Result<DataFrame> {
    let mut rows: Vec<Evaluated<'_>> = Vec::new();
    let mut problems: BTreeMap<ProblemKey, usize> = BTreeMap::new();
    let mut of_series: Vec<(u32, Bounds)> = Vec::new();
    for (series, of) in repeats.iter().enumerate() {
        // The problem is identified by content and λ, not by its name in a config.
        let content = ProblemKey { dataset: String::new(), ..of.key.problem.clone() };
        let next = problems.len();
        let bounds = known(&of.key.problem).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        of_series.push((*problems.entry(content).or_insert(next) as u32, bounds));
        for record in &records[of.records.clone()] {
            let before = std::iter::once(None).chain(record.points().iter().map(Some));
            let points = before.zip(record.points());
            rows.extend(points.map(|(before, point)| Evaluated { series, record, before, point }));
        }
    }
    let number = |name: &str, value: fn(&TracePoint) -> f64| column(name, rows.iter().map(|row| value(row.point)));
    let count = |name: &str, value: fn(&TracePoint) -> u64| column(name, rows.iter().map(|row| value(row.point)));
    let passes = |row: &Evaluated<'_>| {
        let (iteration, passes) = row.before.map_or((0, 0), |before| (before.iteration, before.approx_passes));
        let iterations = row.point.iteration.saturating_sub(iteration).max(1);
        row.point.approx_passes.saturating_sub(passes) as f64 / iterations as f64
    };
    let points = table(vec![
        column("series", rows.iter().map(|row| row.series as u32)),
        column("repeat", rows.iter().map(|row| row.record.repeat)),
        // Positions on axes; counts again in exports.
        number("iteration", |p| p.iteration as f64),
        number("oracle_calls", |p| p.oracle_calls as f64),
        number("time_s", |p| p.time_s),
        number("oracle_time_s", |p| p.oracle_time_s),
        number("primal", |p| p.primal),
        number("dual", |p| p.dual),
        number("gap", |p| p.gap),
        number("oracle_slack", |p| p.oracle_slack),
        count("proven", |p| p.proven),
        column("terms", rows.iter().map(|row| row.record.environment.n)),
        count("partial", |p| u64::from(p.partial)),
        number("planes_mean", |p| p.planes_mean),
        count("cached_bytes", |p| p.cached_bytes),
        count("approx_passes", |p| p.approx_passes),
        column("passes_per_iteration", rows.iter().map(passes)),
        column("problem", rows.iter().map(|row| of_series[row.series].0)),
        column("sound", rows.iter().map(Evaluated::is_sound)),
        column("known_dual", rows.iter().map(|row| of_series[row.series].1.0)),
        column("known_primal", rows.iter().map(|row| of_series[row.series].1.1)),
    ])?;
    let mut table = with_bounds(points)?;
    let crossed = numbers(&table, "low")?.iter().zip(numbers(&table, "high")?).enumerate();
    for (at, (low, high)) in crossed.filter(|(_, (low, high))| *low - *high > CROSSING * low.abs().max(high.abs())) {
        refuse_crossing(&rows, &of_series, at, (*low, *high))?;
    }
    table.drop_in_place("low")?;
    table.drop_in_place("high")?;
    Ok(table)
}

/// Bounds that contradict each other are an error that names both sources, unless the upper one is not a certificate: an oracle program
/// that is not exact and gives no bounds may report a primal below P, and so below the optimum.
#[cold]
fn refuse_crossing(
    rows: &[Evaluated<'_>],
    of_series: &[(u32, Bounds)],
    at: usize,
    (low, high): Bounds,
) -> Result<(), super::Error> {
    let problem = |row: &Evaluated<'_>| of_series[row.series].0;
    let same = || rows.iter().filter(|row| problem(row) == problem(&rows[at]) && row.is_sound());
    let upper = same().find(|row| row.point.primal == high);
    // Where one primal of the problem has bounds, all of them have.
    if upper.is_some_and(|row| !row.is_certified()) && !same().any(|row| row.point.oracle_slack > 0.0) {
        return Ok(());
    }
    let of = |row: Option<&Evaluated<'_>>| match row {
        Some(Evaluated { record, .. }) => {
            format!("run {} ({}, repeat {})", record.run_id(), record.cell(), record.repeat)
        }
        None => "the store of certified optima".to_owned(),
    };
    Err(super::Error::Crossing {
        dataset: rows[at].record.dataset().to_owned(),
        low,
        low_of: of(same().find(|row| row.point.dual == low)),
        high,
        high_of: of(upper),
    })
}

/// Adds B_lo and B_up of the problem of each row and the distances to them, over all runs that did not fail (evaluations before a timeout
/// are valid) and the known bounds. Bounds that contradict each other because of rounding are swapped, because the optimum lies between
/// them. If they contradict each other by more, the oracle was not exact and the upper one is not a bound: only the dual bounds the
/// optimum then. `low` and `high` keep the original values.
fn with_bounds(points: DataFrame) -> PolarsResult<DataFrame> {
    let either = |first: Expr, a: &str, b: &str| when(first).then(col(a)).otherwise(col(b));
    let sound = |column: &str| col("sound").and(col(column).is_not_nan());
    let low = either(sound("dual").and(col("dual").gt(col("known_dual"))), "dual", "known_dual").max();
    let high = either(sound("primal").and(col("primal").lt(col("known_primal"))), "primal", "known_primal").min();
    let crossed = || col("low").gt(col("high"));
    let square = |value: Expr| value.clone() * value;
    let apart = || {
        let sizes = square(col("low")) + square(col("high"));
        crossed().and(square(col("low") - col("high")).gt(lit(CROSSING * CROSSING) * sizes))
    };
    let mut table = points
        .lazy()
        .with_columns([low.over([col("problem")])?.alias("low"), high.over([col("problem")])?.alias("high")])
        .with_columns([
            when(apart()).then(col("low")).otherwise(either(crossed(), "high", "low")).alias("best_dual"),
            when(apart()).then(lit(f64::INFINITY)).otherwise(either(crossed(), "low", "high")).alias("best_primal"),
        ])
        .with_columns([
            (col("primal") - col("best_dual")).alias("primal_suboptimality"),
            (col("best_primal") - col("dual")).alias("dual_suboptimality"),
        ])
        .select([all().exclude_cols(["problem", "sound", "known_dual", "known_primal"]).as_expr()])
        .collect()?;
    table.rechunk_mut();
    Ok(table)
}
