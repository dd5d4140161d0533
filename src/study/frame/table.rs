//! Records → the Polars tables of [`Frames`](super::Frames): evaluations, best bounds, suboptimalities, runs.

use polars::prelude::*;

use super::align::{End, Run};
use super::{Bounds, Series, polars_error};
use crate::error::Result;
use crate::store::{RunRecord, Status};
use ssvm::drive::{StopReason, TracePoint};

/// One row per evaluation, and the rows of each run that has any; rows of a run are contiguous.
pub(super) fn points(planned: &[(&RunRecord, usize)]) -> Result<(DataFrame, Vec<Run>)> {
    let total = planned.iter().map(|(record, _)| record.points().len()).sum();
    let numbers = |value: fn(&TracePoint) -> f64| -> Vec<f64> {
        let mut column = Vec::with_capacity(total);
        for (record, _) in planned {
            column.extend(record.points().iter().map(value));
        }
        column
    };
    let counts = |value: fn(&TracePoint) -> u64| -> Vec<u64> {
        let mut column = Vec::with_capacity(total);
        for (record, _) in planned {
            column.extend(record.points().iter().map(value));
        }
        column
    };
    let mut passes = Vec::with_capacity(total);
    let (mut series, mut repeat) = (Vec::with_capacity(total), Vec::with_capacity(total));
    let mut terms = Vec::with_capacity(total);
    let (mut runs, mut end) = (Vec::new(), 0);
    for (record, at) in planned.iter().filter(|(record, _)| !record.points().is_empty()) {
        let (mut iteration, mut sum) = (0, 0);
        for p in record.points() {
            let iterations = p.iteration.saturating_sub(iteration).max(1);
            passes.push(p.approx_passes.saturating_sub(sum) as f64 / iterations as f64);
            (iteration, sum) = (p.iteration, p.approx_passes);
        }
        let rows = end..end + record.points().len();
        let part = record.points().iter().rev().take_while(|point| point.partial).count();
        end = rows.end;
        runs.push(Run {
            series: *at,
            repeat: record.repeat,
            seed: record.settings().seed,
            whole: rows.start..rows.end - part,
            rows,
            end: match &record.status {
                Status::Done(StopReason::Gap) => End::Gap,
                Status::Done(_) => End::Budget,
                Status::TimedOut { .. } => End::TimedOut,
                Status::OutOfMemory { .. } | Status::Failed(_) => End::Failed,
            },
        });
        series.resize(end, *at as u32);
        repeat.resize(end, record.repeat);
        terms.resize(end, record.environment.n);
    }
    let columns = vec![
        Column::new("series".into(), series),
        Column::new("repeat".into(), repeat),
        Column::new("iteration".into(), counts(|p| p.iteration)),
        Column::new("oracle_calls".into(), counts(|p| p.oracle_calls)),
        Column::new("time_s".into(), numbers(|p| p.time_s)),
        Column::new("oracle_time_s".into(), numbers(|p| p.oracle_time_s)),
        Column::new("primal".into(), numbers(|p| p.primal)),
        Column::new("dual".into(), numbers(|p| p.dual)),
        Column::new("gap".into(), numbers(|p| p.gap)),
        Column::new("oracle_slack".into(), numbers(|p| p.oracle_slack)),
        Column::new("proven".into(), counts(|p| p.proven)),
        Column::new("terms".into(), terms),
        Column::new("partial".into(), counts(|p| u64::from(p.partial))),
        Column::new("planes_mean".into(), numbers(|p| p.planes_mean)),
        Column::new("cached_bytes".into(), counts(|p| p.cached_bytes)),
        Column::new("approx_passes".into(), counts(|p| p.approx_passes)),
        Column::new("passes_per_iteration".into(), passes),
    ];
    Ok((DataFrame::new_infer_height(columns).map_err(polars_error)?, runs))
}

/// Per data set: `dataset`, `best_dual` (B_lo), `best_primal` (B_up), in the order of the series, over all runs that did
/// not fail (what one found before it timed out is as true as the rest) and what is known of the problem already. Bounds that exclude each other, by rounding or because an oracle
/// was not exact, change places: what lies between them is not known.
pub(super) fn bounds(
    points: &DataFrame,
    runs: &[Run],
    series: &[Series],
    known: impl Fn(usize) -> Option<Bounds>,
) -> Result<DataFrame> {
    let column = |name: &str| points.column(name).and_then(|c| c.f64()).and_then(|c| c.cont_slice());
    let (dual, primal) = (column("dual").map_err(polars_error)?, column("primal").map_err(polars_error)?);
    let (mut names, mut low, mut high): (Vec<&str>, Vec<f64>, Vec<f64>) = Default::default();
    for run in runs.iter().filter(|run| run.end != End::Failed) {
        let name = series[run.series].dataset.as_str();
        if names.last() != Some(&name) {
            let (lower, upper) = known(run.series).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            names.push(name);
            low.push(lower);
            high.push(upper);
        }
        // max and min pass over what is not a number.
        if let (Some(low), Some(high)) = (low.last_mut(), high.last_mut()) {
            *low = dual[run.rows.clone()].iter().copied().fold(*low, f64::max);
            *high = primal[run.rows.clone()].iter().copied().fold(*high, f64::min);
        }
    }
    for (low, high) in low.iter_mut().zip(&mut high) {
        (*low, *high) = (low.min(*high), high.max(*low));
    }
    DataFrame::new_infer_height(vec![
        Column::new("dataset".into(), names),
        Column::new("best_dual".into(), low),
        Column::new("best_primal".into(), high),
    ])
    .map_err(polars_error)
}

/// The evaluations with their distances to the best bounds. `bounds` gives those of a series.
pub(super) fn with_suboptimality(
    mut points: DataFrame,
    runs: &[Run],
    bounds: impl Fn(usize) -> Option<Bounds>,
) -> Result<DataFrame> {
    let (mut low, mut high) = (Vec::with_capacity(points.height()), Vec::with_capacity(points.height()));
    for run in runs {
        let (best_dual, best_primal) = bounds(run.series).unwrap_or((f64::NAN, f64::NAN));
        low.resize(run.rows.end, best_dual);
        high.resize(run.rows.end, best_primal);
    }
    let column = |name: &str| points.column(name).and_then(|c| c.f64()).and_then(|c| c.cont_slice());
    let (primal, dual) = (column("primal").map_err(polars_error)?, column("dual").map_err(polars_error)?);
    let primal_sub: Vec<f64> = primal.iter().zip(&low).map(|(primal, low)| primal - low).collect();
    let dual_sub: Vec<f64> = high.iter().zip(dual).map(|(high, dual)| high - dual).collect();
    let columns = [
        ("best_dual", low),
        ("best_primal", high),
        ("primal_suboptimality", primal_sub),
        ("dual_suboptimality", dual_sub),
    ];
    for (name, values) in columns {
        points.with_column(Column::new(name.into(), values)).map_err(polars_error)?;
    }
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
        text("reason", &|r| r.status.reason()),
        count("evaluations", &|r| r.points().len() as u64),
        count("iterations", &|r| r.points().last().map_or(0, |p| p.iteration)),
        count("oracle_calls", &|r| r.points().last().map_or(0, |p| p.oracle_calls)),
        number("time_s", &last(|p| p.time_s)),
        number("primal", &last(|p| p.primal)),
        number("dual", &last(|p| p.dual)),
        number("gap", &last(|p| p.gap)),
        number("oracle_slack", &last(|p| p.oracle_slack)),
        count("proven", &|r| r.points().last().map_or(0, |p| p.proven)),
        count("terms", &|r| r.environment.n),
        count("jobs", &|r| r.environment.jobs),
        Column::new("core".into(), planned.iter().map(|(r, _)| r.environment.core as f64).collect::<Vec<f64>>()),
        number("wall_s", &|r| r.measured.totals.wall_s),
        number("cpu_s", &|r| r.measured.totals.cpu_s),
        number("instrument_s", &|r| r.measured.totals.instrument_s),
        number("steal", &|r| r.environment.steal),
        text("host", &|r| r.environment.host.clone()),
        text("host_class", &|r| r.environment.host_class.clone()),
        text("build", &|r| r.environment.build.clone()),
    ];
    DataFrame::new_infer_height(columns).map_err(polars_error)
}
