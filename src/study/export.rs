//! Tables for other programs: the tables behind the figures, and any Polars table as Parquet or CSV.

use std::iter::repeat_n;
use std::path::Path;

use polars::prelude::*;

use super::{Axis, Band, Bands, Quantity, View};
use crate::error::{Error, Result};
use crate::store::columns::{self, ByteArray, Values};
use crate::store::{RunRecord, files};
use crate::table::{Cell, csv_line};
use ssvm::drive::TracePoint;

pub type Named = (&'static str, DataFrame);

/// The tables behind the figures: `runs`, `points`, `bounds` and `bands`.
pub fn tables(view: &View) -> Result<Vec<Named>> {
    let sets: Vec<_> = view.datasets().into_iter().filter_map(|d| Some((d, view.bounds_of(d)?))).collect();
    let bounds = table(vec![
        column("dataset", sets.iter().map(|(dataset, _)| *dataset)),
        column("best_dual", sets.iter().map(|(_, bounds)| bounds.0)),
        column("best_primal", sets.iter().map(|(_, bounds)| bounds.1)),
    ])?;
    Ok(vec![("runs", runs(view)?), ("points", points(view)?), ("bounds", bounds), ("bands", bands(view)?)])
}

pub(super) fn column<T>(name: &str, values: impl IntoIterator<Item = T>) -> Column
where
    Series: NamedFrom<Vec<T>, [T]>,
{
    Column::new(name.into(), values.into_iter().collect::<Vec<T>>())
}

pub(super) fn table(columns: Vec<Column>) -> PolarsResult<DataFrame> {
    DataFrame::new_infer_height(columns)
}

fn oracle_cost(series: &super::Series) -> f64 {
    series.key.oracle_cost.factor()
}

fn points(view: &View) -> PolarsResult<DataFrame> {
    let mut of_study = vec![None; view.points.repeats.len()];
    for series in &view.series {
        of_study[series.at] = Some(series);
    }
    let name = |name: &str, value: fn(&super::Series) -> &str| {
        let names: Vec<Option<&str>> = of_study.iter().map(|series| series.map(value)).collect();
        lit(Series::new(name.into(), names)).gather(col("series"), false).alias(name)
    };
    let costs: Vec<Option<f64>> = of_study.iter().map(|series| series.map(oracle_cost)).collect();
    let cost = lit(Series::new("oracle_cost".into(), costs)).gather(col("series"), false).alias("oracle_cost");
    let mut columns =
        vec![name("dataset", |s| &s.dataset), name("solver", |s| &s.solver), name("label", |s| &s.label), cost];
    columns.push(all().exclude_cols(["series"]).as_expr());
    let counts = ["iteration", "oracle_calls"].map(|name| col(name).cast(DataType::UInt64));
    let named = view.points.table.clone().lazy().with_columns(counts).select(columns);
    named.filter(col("label").is_not_null()).collect()
}

/// All bands, one below the other.
pub fn bands(view: &View) -> Result<DataFrame> {
    let mut tables = Vec::new();
    for axis in Axis::ALL {
        let all: Vec<(&super::Series, &Bands)> = view.series.iter().zip(view.bands(axis)?).collect();
        let rows = all.iter().map(|(_, bands)| bands.x.len()).sum();
        let text = |name: &str, value: fn(&super::Series) -> &str| {
            column(name, all.iter().flat_map(|(series, bands)| repeat_n(value(series), bands.x.len())))
        };
        for quantity in Quantity::ALL {
            let number = |name: &str, value: fn(&Band) -> &[f64]| {
                column(name, all.iter().flat_map(|(_, bands)| value(bands.of(quantity)).iter().copied()))
            };
            let columns = table(vec![
                text("dataset", |series| &series.dataset),
                text("solver", |series| &series.solver),
                text("label", |series| &series.label),
                column(
                    "oracle_cost",
                    all.iter().flat_map(|(series, bands)| repeat_n(oracle_cost(series), bands.x.len())),
                ),
                column("axis", repeat_n(axis.name(), rows)),
                column("quantity", repeat_n(quantity.name(), rows)),
                column("x", all.iter().flat_map(|(_, bands)| bands.x.iter().copied())),
                number("min", |band| &band.min),
                number("median", |band| &band.median),
                number("max", |band| &band.max),
                column("repeats", all.iter().flat_map(|(_, bands)| bands.count.iter().copied())),
            ])?;
            tables.push(columns.lazy());
        }
    }
    Ok(concat(tables, UnionArgs::default())?.collect()?)
}

/// One row per run, failed ones included, with how it ended and where it stood then.
pub fn runs(view: &View) -> Result<DataFrame> {
    let all: Vec<(&super::Series, &RunRecord)> =
        view.series.iter().enumerate().flat_map(|(at, s)| view.records_of(at).iter().map(move |r| (s, r))).collect();
    let records = || all.iter().map(|(_, record)| *record);
    let text = |name: &str, value: &dyn Fn(&RunRecord) -> String| column(name, records().map(value));
    let count = |name: &str, value: &dyn Fn(&RunRecord) -> u64| column(name, records().map(value));
    let number = |name: &str, value: &dyn Fn(&RunRecord) -> f64| column(name, records().map(value));
    let last = |value: fn(&TracePoint) -> f64| move |r: &RunRecord| r.points().last().map_or(f64::NAN, value);
    let so_far = |value: fn(&TracePoint) -> u64| move |r: &RunRecord| r.points().last().map_or(0, value);
    Ok(table(vec![
        text("run_id", &RunRecord::run_id),
        column("dataset", all.iter().map(|(series, _)| series.dataset.as_str())),
        text("solver", &|r| r.solver().to_owned()),
        column("label", all.iter().map(|(series, _)| series.label.as_str())),
        number("oracle_cost", &|r| r.settings().oracle_cost.factor()),
        count("repeat", &|r| r.repeat),
        count("seed", &|r| r.settings().seed),
        text("clock", &|r| r.settings().clock.name().to_owned()),
        text("status", &|r| if r.status.is_done() { "done" } else { "failed" }.to_owned()),
        text("reason", &|r| r.status.reason()),
        count("evaluations", &|r| r.points().len() as u64),
        count("iterations", &so_far(|p| p.iteration)),
        count("oracle_calls", &so_far(|p| p.oracle_calls)),
        number("time_s", &last(|p| p.time_s)),
        number("primal", &last(|p| p.primal)),
        number("dual", &last(|p| p.dual)),
        number("gap", &last(|p| p.gap)),
        number("oracle_slack", &last(|p| p.oracle_slack)),
        count("proven", &so_far(|p| p.proven)),
        count("terms", &|r| r.environment.n),
        count("jobs", &|r| r.environment.jobs),
        number("core", &|r| r.environment.core as f64),
        number("wall_s", &|r| r.measured.totals.wall_s),
        number("cpu_s", &|r| r.measured.totals.cpu_s),
        number("instrument_s", &|r| r.measured.totals.instrument_s),
        number("steal", &|r| r.environment.steal),
        text("host", &|r| r.environment.host.clone()),
        text("host_class", &|r| r.environment.host_class.clone()),
        text("build", &|r| r.environment.build.clone()),
    ])?)
}

pub fn write_parquet(tables: &[Named], dir: &Path) -> Result<Vec<String>> {
    write(tables, dir, "parquet", |table| parquet(table).map_err(|e| format!("cannot write this table: {e}")))
}

pub fn write_csv(tables: &[Named], dir: &Path) -> Result<Vec<String>> {
    write(tables, dir, "csv", |table| csv(table).map(String::into_bytes).map_err(|e| e.to_string()))
}

fn write(
    tables: &[Named],
    dir: &Path,
    extension: &str,
    bytes: fn(&DataFrame) -> Result<Vec<u8>, String>,
) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for (name, table) in tables {
        let name = format!("{name}.{extension}");
        let path = dir.join(&name);
        files::write_bytes(&path, &bytes(table).map_err(|why| Error::file(&path, why))?)?;
        written.push(name);
    }
    Ok(written)
}

fn parquet(table: &DataFrame) -> std::result::Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut columns = Vec::new();
    for column in table.columns() {
        let values = match column.dtype() {
            DataType::String => Values::Text(column.str()?.iter().map(|text| text.map(ByteArray::from)).collect()),
            DataType::Float64 => Values::Real(column.f64()?.iter().collect()),
            _ => Values::Unsigned(column.cast(&DataType::UInt64)?.u64()?.iter().collect()),
        };
        columns.push(columns::FileColumn { name: column.name(), nullable: column.null_count() > 0, values });
    }
    Ok(columns::encode(columns, Vec::new())?)
}

/// A table as CSV with a header; a missing number is an empty field.
pub fn csv(table: &DataFrame) -> Result<String> {
    let mut out = csv_line(table.columns().iter().map(|column| Cell::from(column.name().as_str())));
    for row in 0..table.height() {
        let mut cells = Vec::new();
        for column in table.columns() {
            cells.push(match column.get(row)? {
                AnyValue::String(text) => text.into(),
                AnyValue::Float64(number) => number.into(),
                other => other.to_string().into(),
            });
        }
        out += &csv_line(cells);
    }
    Ok(out)
}
