//! Records → one long table of evaluations, with the best bounds of each problem and the distances to them.
//!
//! Polars does the tabular work: bounds are aggregates over the runs of a problem, suboptimalities follow from them. Failed
//! runs are rows of the table of runs; what they measured before they failed is in the curves, and in no bound.

use std::ops::Range;
use std::sync::atomic::AtomicUsize;

use polars::prelude::*;

use super::align::{End, locate};
use super::curve::{Curve, rates};
use crate::error::{Error, Result};
use crate::store::keys::{ProblemKey, SeriesKey};
use crate::store::{RunRecord, Status};
use ssvm::drive::{StopReason, TracePoint};
use ssvm::settings::Cadence;

/// Best lower and best upper bound of the optimum.
pub type Bounds = (f64, f64);

/// The evaluations of one run in the table of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub seed: u64,
    pub rows: Range<usize>,
    /// The rows after whole iterations: a part of an iteration has no place on the iteration axis.
    pub whole: Range<usize>,
    pub end: End,
}

#[derive(Debug)]
pub struct Repeats {
    pub key: SeriesKey,
    pub records: Range<usize>,
    /// Those with evaluations.
    pub runs: Vec<Run>,
    /// Bounds of the optimum; `None` when nothing is known of it.
    pub bounds: Option<Bounds>,
    /// The runs with evaluations as curves.
    pub curves: Vec<Curve>,
}

/// All records of a study and their evaluations, each once.
#[derive(Debug)]
pub struct Points {
    /// The records, those of a series together, by repeat.
    pub records: Vec<RunRecord>,
    /// The series, in the order of tables and figures.
    pub repeats: Vec<Repeats>,
    /// One row per evaluation; rows of a run are contiguous. `series` is the position in `repeats`.
    pub table: DataFrame,
    /// How often bands were made, for a test: once for each view and axis that is asked for.
    pub bands_made: AtomicUsize,
}

impl Points {
    /// Of records in the order of their series. `known` says what is certain about the optimum of a problem already.
    pub fn new(records: Vec<RunRecord>, known: &dyn Fn(&ProblemKey) -> Option<Bounds>) -> Result<Self> {
        let mut repeats: Vec<Repeats> = Vec::new();
        for (at, record) in records.iter().enumerate() {
            let key = record.series();
            if let Some(last) = repeats.last_mut().filter(|last| last.key == key) {
                last.records.end = at + 1;
            } else {
                let (records, runs, curves) = (at..at + 1, Vec::new(), Vec::new());
                repeats.push(Repeats { key, records, runs, bounds: None, curves });
            }
        }
        let table = evaluations(&records, &mut repeats, known)?;
        let mut points = Self { records, repeats: Vec::new(), table, bands_made: AtomicUsize::new(0) };
        for mut series in repeats {
            if let Some(row) = series.runs.first().map(|run| run.rows.start) {
                let bounds = (points.f64s("best_dual")?[row], points.f64s("best_primal")?[row]);
                series.bounds = Some(bounds).filter(|(low, high)| low.is_finite() || high.is_finite());
                series.curves = points.curves(&series)?;
            }
            points.repeats.push(series);
        }
        Ok(points)
    }

    pub fn f64s(&self, column: &str) -> Result<&[f64]> {
        self.table.column(column).and_then(|c| c.f64()).and_then(|c| c.cont_slice()).map_err(polars_error)
    }

    pub fn u64s(&self, column: &str) -> Result<&[u64]> {
        self.table.column(column).and_then(|c| c.u64()).and_then(|c| c.cont_slice()).map_err(polars_error)
    }

    fn curves(&self, series: &Repeats) -> Result<Vec<Curve>> {
        let Some(rows) = series.runs.first().zip(series.runs.last()).map(|(a, b)| a.rows.start..b.rows.end) else {
            return Ok(Vec::new());
        };
        let number = |column: &str| -> Result<&[f64]> { Ok(&self.f64s(column)?[rows.clone()]) };
        let count = |column: &str| -> Result<Vec<f64>> {
            Ok(self.u64s(column)?[rows.clone()].iter().map(|count| *count as f64).collect())
        };
        let (iteration, passes, calls) = (count("iteration")?, count("approx_passes")?, count("oracle_calls")?);
        let (time, gap, planes) = (number("time_s")?, number("gap")?, number("planes_mean")?);
        let primal_sub = number("primal_suboptimality")?;
        let scale = series.bounds.filter(|(low, high)| low.is_finite() && *high > 0.0).map_or(f64::NAN, |b| 1.0 / b.1);
        let mut curves = Vec::new();
        for run in &series.runs {
            let whole = run.whole.start - rows.start..run.whole.end - rows.start;
            let marks: Vec<u64> = match iteration[whole.clone()] {
                [first, .., last] | [first @ last] => Cadence::log_marks((first as u64).max(1), last as u64),
                [] => Vec::new(),
            };
            let marks: Vec<f64> = marks.into_iter().map(|mark| mark as f64).collect();
            let located: Vec<_> = marks.iter().filter_map(|x| locate(&iteration, &whole, run.end, *x)).collect();
            let read = |column: &[f64]| -> Vec<f64> { located.iter().map(|at| at.value(column)).collect() };
            // The last evaluation of a run that stopped inside an iteration.
            let tail = (whole.end..run.rows.end - rows.start).last();
            let with_tail =
                |column: &[f64]| -> Vec<f64> { read(column).into_iter().chain(tail.map(|row| column[row])).collect() };
            let primal_sub = with_tail(primal_sub);
            let best = |best: &mut f64, value: &f64| {
                *best = if value.is_finite() { best.min(scale * value) } else { *best };
                Some(*best)
            };
            curves.push(Curve {
                seed: run.seed,
                end: run.end,
                time_s: with_tail(time),
                oracle_calls: with_tail(&calls),
                relative: primal_sub.iter().scan(f64::INFINITY, best).collect(),
                primal_sub,
                gap: with_tail(gap),
                planes: read(planes),
                passes: rates(&marks, &iteration[whole.clone()], &passes[whole]),
                iteration: marks,
            });
        }
        Ok(curves)
    }
}

fn evaluations(
    records: &[RunRecord],
    repeats: &mut [Repeats],
    known: &dyn Fn(&ProblemKey) -> Option<Bounds>,
) -> Result<DataFrame> {
    let (mut series, mut repeat, mut terms, mut passes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut problem, mut sound, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut problems: Vec<&ProblemKey> = Vec::new();
    for (at, of) in repeats.iter_mut().enumerate() {
        let key = &records[of.records.start].identity.problem;
        // Content and λ are the problem, whatever a config calls it.
        let same = |other: &&ProblemKey| ProblemKey { dataset: key.dataset.clone(), ..(*other).clone() } == *key;
        let place = problems.iter().position(same).unwrap_or(problems.len());
        if place == problems.len() {
            problems.push(key);
        }
        let (lower, upper) = known(key).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        for record in records[of.records.clone()].iter().filter(|record| !record.points().is_empty()) {
            let points = record.points();
            let rows = series.len()..series.len() + points.len();
            let part = points.iter().rev().take_while(|point| point.partial).count();
            let end = end(&record.status);
            of.runs.push(Run {
                seed: record.settings().seed,
                whole: rows.start..rows.end - part,
                rows: rows.clone(),
                end,
            });
            let (mut iteration, mut sum) = (0, 0);
            for point in points {
                let iterations = point.iteration.saturating_sub(iteration).max(1);
                passes.push(point.approx_passes.saturating_sub(sum) as f64 / iterations as f64);
                (iteration, sum) = (point.iteration, point.approx_passes);
            }
            series.resize(rows.end, at as u32);
            problem.resize(rows.end, place as u32);
            repeat.resize(rows.end, record.repeat);
            terms.resize(rows.end, record.environment.n);
            sound.resize(rows.end, end != End::Failed);
            low.resize(rows.end, lower);
            high.resize(rows.end, upper);
        }
    }
    let points = || records.iter().flat_map(RunRecord::points);
    let number =
        |name: &str, value: fn(&TracePoint) -> f64| Column::new(name.into(), points().map(value).collect::<Vec<_>>());
    let count =
        |name: &str, value: fn(&TracePoint) -> u64| Column::new(name.into(), points().map(value).collect::<Vec<_>>());
    let columns = vec![
        Column::new("series".into(), series),
        Column::new("repeat".into(), repeat),
        count("iteration", |p| p.iteration),
        count("oracle_calls", |p| p.oracle_calls),
        number("time_s", |p| p.time_s),
        number("oracle_time_s", |p| p.oracle_time_s),
        number("primal", |p| p.primal),
        number("dual", |p| p.dual),
        number("gap", |p| p.gap),
        number("oracle_slack", |p| p.oracle_slack),
        count("proven", |p| p.proven),
        Column::new("terms".into(), terms),
        count("partial", |p| u64::from(p.partial)),
        number("planes_mean", |p| p.planes_mean),
        count("cached_bytes", |p| p.cached_bytes),
        count("approx_passes", |p| p.approx_passes),
        Column::new("passes_per_iteration".into(), passes),
        Column::new("problem".into(), problem),
        Column::new("sound".into(), sound),
        Column::new("known_dual".into(), low),
        Column::new("known_primal".into(), high),
    ];
    with_bounds(DataFrame::new_infer_height(columns).map_err(polars_error)?).map_err(polars_error)
}

/// Adds B_lo and B_up of the problem of each row, over all runs that did not fail (what one found before it timed out is as
/// valid as the rest) and what is known already, and the distances to them. Bounds that exclude each other, by rounding or
/// because an oracle was not exact, change places: the optimum lies somewhere between them.
fn with_bounds(points: DataFrame) -> PolarsResult<DataFrame> {
    let either = |first: Expr, a: &str, b: &str| when(first).then(col(a)).otherwise(col(b));
    let sound = |column: &str| col("sound").and(col(column).is_not_nan());
    let low = either(sound("dual").and(col("dual").gt(col("known_dual"))), "dual", "known_dual").max();
    let high = either(sound("primal").and(col("primal").lt(col("known_primal"))), "primal", "known_primal").min();
    let crossed = || col("low").gt(col("high"));
    let mut table = points
        .lazy()
        .with_columns([low.over([col("problem")])?.alias("low"), high.over([col("problem")])?.alias("high")])
        .with_columns([
            either(crossed(), "high", "low").alias("best_dual"),
            either(crossed(), "low", "high").alias("best_primal"),
        ])
        .with_columns([
            (col("primal") - col("best_dual")).alias("primal_suboptimality"),
            (col("best_primal") - col("dual")).alias("dual_suboptimality"),
        ])
        .select([all().exclude_cols(["problem", "sound", "known_dual", "known_primal", "low", "high"]).as_expr()])
        .collect()?;
    table.rechunk_mut();
    Ok(table)
}

fn end(status: &Status) -> End {
    match status {
        Status::Done(StopReason::Gap) => End::Gap,
        Status::Done(_) => End::Budget,
        Status::TimedOut { .. } => End::TimedOut,
        _ => End::Failed,
    }
}

pub(super) fn polars_error(error: PolarsError) -> Error {
    Error::invalid(format!("result tables do not fit together: {error}"))
}
