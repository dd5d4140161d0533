//! Records → the Polars tables of [`Frames`](super::Frames): evaluations, best bounds, suboptimalities, runs.

use std::ops::Range;

use polars::prelude::*;

use super::{Series, polars_error};
use crate::drive::TracePoint;
use crate::error::Result;
use crate::trace::RunRecord;

/// A series and its rows.
pub(super) type Span = (usize, Range<usize>);

/// One row per evaluation of the runs that ended well, and the rows of each; rows of a run are contiguous.
pub(super) fn points(planned: &[(&RunRecord, usize)]) -> Result<(DataFrame, Vec<Span>)> {
    let done = || planned.iter().filter(|(record, _)| record.status.is_done());
    let total = done().map(|(record, _)| record.points().len()).sum();
    let numbers = |value: fn(&TracePoint) -> f64| -> Vec<f64> {
        let mut column = Vec::with_capacity(total);
        done().for_each(|(record, _)| column.extend(record.points().iter().map(value)));
        column
    };
    let counts = |value: fn(&TracePoint) -> u64| -> Vec<u64> {
        let mut column = Vec::with_capacity(total);
        done().for_each(|(record, _)| column.extend(record.points().iter().map(value)));
        column
    };
    let mut passes = Vec::with_capacity(total);
    let (mut series, mut repeat) = (Vec::with_capacity(total), Vec::with_capacity(total));
    let (mut spans, mut end) = (Vec::new(), 0);
    for (record, at) in done() {
        let (mut iteration, mut sum) = (0, 0);
        for p in record.points() {
            let iterations = p.iteration.saturating_sub(iteration).max(1);
            passes.push(p.approx_passes.saturating_sub(sum) as f64 / iterations as f64);
            (iteration, sum) = (p.iteration, p.approx_passes);
        }
        spans.push((*at, end..end + record.points().len()));
        end += record.points().len();
        series.resize(end, *at as u32);
        repeat.resize(end, record.repeat);
    }
    let columns = vec![
        Column::new("series".into(), series),
        Column::new("repeat".into(), repeat),
        Column::new("iteration".into(), counts(|p| p.iteration)),
        Column::new("oracle_calls".into(), counts(|p| p.oracle_calls)),
        Column::new("time_s".into(), numbers(|p| p.time_s)),
        Column::new("primal".into(), numbers(|p| p.primal)),
        Column::new("dual".into(), numbers(|p| p.dual)),
        Column::new("gap".into(), numbers(|p| p.gap)),
        Column::new("planes_mean".into(), numbers(|p| p.planes_mean)),
        Column::new("passes_per_iteration".into(), passes),
    ];
    Ok((DataFrame::new_infer_height(columns).map_err(polars_error)?, spans))
}

/// Per data set, over all its runs: `dataset`, `best_dual` (B_lo), `best_primal` (B_up), in the order of the series.
pub(super) fn bounds(points: &DataFrame, series: &[Series]) -> Result<DataFrame> {
    let ids: Vec<u32> = (0..series.len() as u32).collect();
    let names: Vec<&str> = series.iter().map(|s| s.dataset.as_str()).collect();
    let names =
        DataFrame::new_infer_height(vec![Column::new("series".into(), ids), Column::new("dataset".into(), names)]);
    let best = || [col("best_dual").max(), col("best_primal").min()];
    let per_series = points
        .clone()
        .lazy()
        .select([col("series"), col("dual").alias("best_dual"), col("primal").alias("best_primal")])
        .group_by([col("series")])
        .agg(best());
    names
        .and_then(|names| {
            names
                .lazy()
                .join(per_series, [col("series")], [col("series")], JoinArgs::new(JoinType::Inner))
                .sort(["series"], SortMultipleOptions::default())
                .group_by_stable([col("dataset")])
                .agg(best())
                .collect()
        })
        .map_err(polars_error)
}

/// The evaluations with their distances to the best bounds. `bounds` gives those of a series.
pub(super) fn with_suboptimality(
    mut points: DataFrame,
    spans: &[Span],
    bounds: impl Fn(usize) -> Option<(f64, f64)>,
) -> Result<DataFrame> {
    let (mut low, mut high) = (Vec::with_capacity(points.height()), Vec::with_capacity(points.height()));
    for (series, rows) in spans {
        let (best_dual, best_primal) = bounds(*series).unwrap_or((f64::NAN, f64::NAN));
        low.resize(rows.end, best_dual);
        high.resize(rows.end, best_primal);
    }
    for column in [Column::new("best_dual".into(), low), Column::new("best_primal".into(), high)] {
        points.with_column(column).map_err(polars_error)?;
    }
    let mut points = points
        .lazy()
        .with_columns([
            (col("primal") - col("best_dual")).alias("primal_suboptimality"),
            (col("best_primal") - col("dual")).alias("dual_suboptimality"),
        ])
        .collect()
        .map_err(polars_error)?;
    points.rechunk_mut();
    Ok(points)
}

/// One row per planned run, with how it ended and where it stood then.
pub(super) fn runs(planned: &[(&RunRecord, usize)], series: &[Series]) -> Result<DataFrame> {
    let text = |name: &str, value: &dyn Fn(&RunRecord) -> String| {
        Column::new(name.into(), planned.iter().map(|(record, _)| value(record)).collect::<Vec<String>>())
    };
    let count = |name: &str, value: &dyn Fn(&RunRecord) -> u64| {
        Column::new(name.into(), planned.iter().map(|(record, _)| value(record)).collect::<Vec<u64>>())
    };
    let number = |name: &str, value: &dyn Fn(&RunRecord) -> f64| {
        Column::new(name.into(), planned.iter().map(|(record, _)| value(record)).collect::<Vec<f64>>())
    };
    let labels: Vec<&str> = planned.iter().map(|(_, at)| series[*at].label.as_str()).collect();
    let datasets: Vec<&str> = planned.iter().map(|(_, at)| series[*at].dataset.as_str()).collect();
    let last = |value: fn(&TracePoint) -> f64| move |r: &RunRecord| r.points().last().map_or(f64::NAN, value);
    let columns = vec![
        text("run_id", &|r| r.run_id()),
        Column::new("dataset".into(), datasets),
        text("solver", &|r| r.solver().to_owned()),
        Column::new("label".into(), labels),
        count("repeat", &|r| r.repeat),
        count("seed", &|r| r.settings().seed),
        text("clock", &|r| r.settings().clock.name().to_owned()),
        text("status", &|r| if r.status.is_done() { "done".to_owned() } else { "failed".to_owned() }),
        text("reason", &|r| r.status.reason().to_owned()),
        count("evaluations", &|r| r.points().len() as u64),
        count("iterations", &|r| r.points().last().map_or(0, |p| p.iteration)),
        count("oracle_calls", &|r| r.points().last().map_or(0, |p| p.oracle_calls)),
        number("time_s", &last(|p| p.time_s)),
        number("primal", &last(|p| p.primal)),
        number("dual", &last(|p| p.dual)),
        number("gap", &last(|p| p.gap)),
        count("jobs", &|r| r.circumstances.jobs),
        Column::new("core".into(), planned.iter().map(|(r, _)| r.circumstances.core as f64).collect::<Vec<f64>>()),
        number("wall_s", &|r| r.measured.totals.wall_s),
        number("cpu_s", &|r| r.measured.totals.cpu_s),
        number("instrument_s", &|r| r.measured.totals.instrument_s),
        number("steal", &|r| r.circumstances.steal),
    ];
    DataFrame::new_infer_height(columns).map_err(polars_error)
}
