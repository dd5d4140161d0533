//! Tables for people who plot elsewhere: a Polars table in, a Parquet or CSV file out.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use polars::prelude::{Column, DataFrame, DataType};

use super::Frames;
use crate::error::{Error, Result};
use crate::store::files;

/// One column in plain values; every table here is made of these three kinds.
enum Values<'a> {
    Text(Vec<&'a str>),
    Count(Vec<u64>),
    Number(Vec<f64>),
}

fn values(column: &Column) -> Result<Values<'_>> {
    let wrong = |e| Error::invalid(format!("column {} cannot be written: {e}", column.name()));
    Ok(match column.dtype() {
        DataType::String => Values::Text(column.str().map_err(wrong)?.iter().map(Option::unwrap_or_default).collect()),
        DataType::UInt64 => Values::Count(column.u64().map_err(wrong)?.iter().map(Option::unwrap_or_default).collect()),
        DataType::UInt32 => {
            Values::Count(column.u32().map_err(wrong)?.iter().map(|v| v.unwrap_or_default() as u64).collect())
        }
        DataType::Float64 => {
            Values::Number(column.f64().map_err(wrong)?.iter().map(|v| v.unwrap_or(f64::NAN)).collect())
        }
        other => {
            return Err(Error::invalid(format!("column {} has type {other}, which is not exported", column.name())));
        }
    })
}

/// A table and the name of its files.
pub type Named = (&'static str, DataFrame);

/// Writes tables as Parquet into `dir`; returns the file names.
pub fn write_parquet(tables: &[Named], dir: &Path) -> Result<Vec<String>> {
    let names = tables.iter().map(|(name, _)| format!("{name}.parquet")).collect::<Vec<_>>();
    for ((_, table), name) in tables.iter().zip(&names) {
        parquet_file(table, &dir.join(name))?;
    }
    Ok(names)
}

/// Writes tables as CSV into `dir`; returns the file names.
pub fn write_csv(tables: &[Named], dir: &Path) -> Result<Vec<String>> {
    let names = tables.iter().map(|(name, _)| format!("{name}.csv")).collect::<Vec<_>>();
    for ((_, table), name) in tables.iter().zip(&names) {
        files::write_bytes(&dir.join(name), csv(table)?.as_bytes())?;
    }
    Ok(names)
}

fn parquet_file(table: &DataFrame, path: &Path) -> Result<()> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for column in table.columns() {
        let array: ArrayRef = match values(column)? {
            Values::Text(v) => Arc::new(StringArray::from(v)),
            Values::Count(v) => Arc::new(UInt64Array::from(v)),
            Values::Number(v) => Arc::new(Float64Array::from(v)),
        };
        columns.push((column.name().as_str(), array));
    }
    let wrong = |e: String| Error::file(path, format!("cannot write this table: {e}"));
    let batch = RecordBatch::try_from_iter(columns).map_err(|e| wrong(e.to_string()))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).map_err(|e| wrong(e.to_string()))?;
    writer.write(&batch).and_then(|()| writer.close().map(drop)).map_err(|e| wrong(e.to_string()))?;
    files::write_bytes(path, &bytes)
}

/// A table as CSV with a header; a missing number is an empty field.
pub fn csv(table: &DataFrame) -> Result<String> {
    let mut out = String::new();
    let names: Vec<String> = table.columns().iter().map(|c| csv_field(c.name())).collect();
    out.push_str(&names.join(","));
    out.push('\n');
    let columns: Vec<Values> = table.columns().iter().map(values).collect::<Result<_>>()?;
    for row in 0..table.height() {
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            // Writing to a String cannot fail.
            let _ = match column {
                Values::Text(v) => write!(out, "{}", csv_field(v[row])),
                Values::Count(v) => write!(out, "{}", v[row]),
                Values::Number(v) if !v[row].is_finite() => Ok(()),
                Values::Number(v) => write!(out, "{}", v[row]),
            };
        }
        out.push('\n');
    }
    Ok(out)
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// The tables behind the figures: `runs`, `points`, `bounds` and `bands`.
pub fn tables(frames: &Frames) -> Result<Vec<Named>> {
    let (runs, bounds) = (frames.runs.clone(), frames.bounds.clone());
    Ok(vec![("runs", runs), ("points", named_points(frames)?), ("bounds", bounds), ("bands", frames.bands_table()?)])
}

/// The evaluations with names in place of series numbers.
fn named_points(frames: &Frames) -> Result<DataFrame> {
    let wrong = |e| Error::invalid(format!("the table of evaluations cannot be written: {e}"));
    let ids = frames.points.column("series").and_then(|c| c.u32()).map_err(wrong)?;
    let series: Vec<_> = ids.iter().flatten().map(|id| &frames.series[id as usize]).collect();
    let mut columns = vec![
        Column::new("dataset".into(), series.iter().map(|s| s.dataset.as_str()).collect::<Vec<_>>()),
        Column::new("solver".into(), series.iter().map(|s| s.solver.as_str()).collect::<Vec<_>>()),
        Column::new("label".into(), series.iter().map(|s| s.label.as_str()).collect::<Vec<_>>()),
    ];
    columns.extend(frames.points.columns().iter().filter(|c| c.name() != "series").cloned());
    DataFrame::new_infer_height(columns).map_err(wrong)
}
