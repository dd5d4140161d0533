//! One [`RunRecord`] ↔ the bytes of one Parquet file: trace rows as columns, histograms and facts as file metadata,
//! and a SHA-256 over the whole file, so that no flipped or lost byte goes unseen.
//!
//! The digest sits inside the file it covers: it is written as zeros, the file is hashed, the zeros are replaced.
//! Reading undoes this. The file stays plain Parquet for every other reader.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::Error;
use super::record::{Latencies, RunRecord, SCHEMA_VERSION, Status};
use crate::store::files::sha256_hex;
use ssvm::drive::TracePoint;

/// Where the values of a column come from, and where they go when a file is read.
#[derive(Clone, Copy)]
enum Content {
    /// The same text in every row.
    Text(fn(&RunRecord) -> String),
    /// The same number in every row.
    Whole(fn(&RunRecord) -> i64),
    /// The same number in every row.
    Real(fn(&RunRecord) -> f64),
    /// A count of each evaluation.
    Count(fn(&TracePoint) -> u64, fn(&mut TracePoint, u64)),
    /// A number of each evaluation.
    Value(fn(&TracePoint) -> f64, fn(&mut TracePoint, f64)),
    /// The same of a solver that has a dual; what it is without one.
    Dual(fn(&TracePoint) -> f64, fn(&mut TracePoint, f64), f64),
}
use Content::{Count, Dual, Real, Text, Value, Whole};

/// The column of a field of an evaluation that is a count.
macro_rules! count {
    ($field:ident) => {
        (stringify!($field), Count(|point| point.$field, |point, value| point.$field = value))
    };
}

/// The column of a field of an evaluation that is any other number.
macro_rules! value {
    ($field:ident) => {
        (stringify!($field), Value(|point| point.$field, |point, value| point.$field = value))
    };
}

/// The columns in file order, as every reader of a result folder may rely on them.
const COLUMNS: &[(&str, Content)] = &[
    ("run_id", Text(|r| r.run_id())),
    ("dataset", Text(|r| r.dataset().to_owned())),
    ("solver", Text(|r| r.solver().to_owned())),
    ("seed", Whole(|r| r.settings().seed as i64)),
    ("repeat", Whole(|r| r.repeat as i64)),
    count!(iteration),
    ("clock", Text(|r| r.settings().clock.name().to_owned())),
    value!(time_s),
    value!(cpu_s),
    count!(oracle_calls),
    count!(approx_steps),
    count!(approx_passes),
    value!(oracle_time_s),
    value!(approx_time_s),
    value!(primal),
    ("dual", Dual(|p| p.dual, |p, v| p.dual = v, f64::NEG_INFINITY)),
    ("dual_solution", Dual(|p| p.dual_solution, |p, v| p.dual_solution = v, f64::NEG_INFINITY)),
    ("gap", Dual(|p| p.gap, |p, v| p.gap = v, f64::INFINITY)),
    value!(planes_mean),
    count!(planes_max),
    ("jobs", Whole(|r| r.environment.jobs as i64)),
    ("core", Whole(|r| r.environment.core)),
    ("status", Text(|r| r.status.text())),
    value!(oracle_slack),
    ("partial", Count(|p| u64::from(p.partial), |p, v| p.partial = v != 0)),
    count!(proven),
    count!(cached_bytes),
    ("n", Whole(|r| r.environment.n as i64)),
    ("d", Whole(|r| r.environment.d as i64)),
    ("lambda", Real(|r| r.problem().lambda)),
    ("run_wall_s", Real(|r| r.measured.totals.wall_s)),
    ("run_cpu_s", Real(|r| r.measured.totals.cpu_s)),
    ("run_total_s", Real(|r| r.measured.totals.total_s)),
    ("steal", Real(|r| r.environment.steal)),
    ("load", Real(|r| r.environment.load)),
    ("host_class", Text(|r| r.environment.host_class.clone())),
    count!(skipped_steps),
    ("threads", Whole(|r| r.environment.threads as i64)),
    ("oracle_cost", Real(|r| r.settings().oracle_cost.factor())),
];

/// Names of the columns, in file order.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name)
}

const VERSION_KEY: &str = "ssvm.schema_version";
const DIGEST_KEY: &str = "ssvm.sha256";
const FACTS_KEY: &str = "ssvm.facts";
const ORACLE_KEY: &str = "ssvm.oracle_ns";
const APPROX_KEY: &str = "ssvm.approx_ns";
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What is wrong with the bytes of a run file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are not what was written; the reason, for people.
    Damaged(String),
    /// The file was written by a program with another layout.
    Version(String),
}

/// The bytes of the file of one run. Fails only on values that no run has, such as a seed above 2^63.
pub fn encode(record: &RunRecord) -> Result<Vec<u8>, Error> {
    let batch = rows(record)?;
    let metadata = [
        (VERSION_KEY, SCHEMA_VERSION.to_string()),
        (FACTS_KEY, serde_json::to_string(record).map_err(|e| Error::Encoding(e.to_string()))?),
        (ORACLE_KEY, STANDARD.encode(&record.measured.oracle_ns.0)),
        (APPROX_KEY, STANDARD.encode(&record.measured.approx_ns.0)),
        (DIGEST_KEY, NO_DIGEST.to_owned()),
    ];
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(metadata.into_iter().map(|(k, v)| KeyValue::new(k.to_owned(), v)).collect()))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))
        .map_err(|e| Error::Encoding(e.to_string()))?;
    writer.write(&batch).map_err(|e| Error::Encoding(e.to_string()))?;
    writer.close().map_err(|e| Error::Encoding(e.to_string()))?;
    let place =
        digest_place(&bytes).ok_or_else(|| Error::Encoding("the digest has no place in the file".to_owned()))?;
    let digest = sha256_hex(&bytes);
    bytes[place].copy_from_slice(digest.as_bytes());
    Ok(bytes)
}

/// What a file says of its run beside its rows.
pub struct Head {
    /// The run without evaluations and histograms.
    pub record: RunRecord,
    /// SHA-256 of the whole file.
    pub digest: String,
}

/// The bytes of a file whose digest is right, with zeros in its place, and the digest. Nothing else ever parses damaged bytes.
fn intact(mut bytes: Vec<u8>) -> Result<(Vec<u8>, String), Fault> {
    let damaged = |reason: &str| Fault::Damaged(reason.to_owned());
    let place = digest_place(&bytes).ok_or_else(|| damaged("not a complete trace file of this program"))?;
    let written: Vec<u8> = bytes[place.clone()].to_vec();
    bytes[place].copy_from_slice(NO_DIGEST.as_bytes());
    let digest = sha256_hex(&bytes);
    if digest.as_bytes() == written {
        Ok((bytes, digest))
    } else {
        Err(damaged("its content does not match its checksum"))
    }
}

fn facts(version: &str, facts: &str) -> Result<RunRecord, Fault> {
    if version != SCHEMA_VERSION.to_string() {
        return Err(Fault::Version(version.to_owned()));
    }
    let record: RunRecord = serde_json::from_str(facts).map_err(|e| Fault::Damaged(e.to_string()))?;
    Ok(RunRecord { status: typed(record.status), ..record })
}

/// A status as it is today: version 0.1.0 stored a timeout as a failure with the message `timed out after 2.50 s`.
fn typed(status: Status) -> Status {
    let Status::Failed(message) = &status else { return status };
    let after = message.strip_prefix("timed out after ").and_then(|after| after.split_once(' '));
    let Some((Ok(number), unit)) = after.map(|(number, unit)| (number.parse::<f64>(), unit)) else { return status };
    let scale = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        _ => return status,
    };
    Status::TimedOut { after_s: number * scale }
}

/// The record in the bytes of one file.
pub fn decode(bytes: Vec<u8>) -> Result<RunRecord, Fault> {
    let (bytes, _) = intact(bytes)?;
    let parquet = |e: &dyn std::fmt::Display| Fault::Damaged(format!("not a readable Parquet file ({e})"));
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|e| parquet(&e))?;
    let metadata = builder.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let mut metadata: HashMap<String, String> =
        metadata.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
    let mut take = |key: &str| metadata.remove(key).ok_or_else(|| Fault::Damaged(format!("'{key}' is missing")));
    let mut record = facts(&take(VERSION_KEY)?, &take(FACTS_KEY)?)?;
    let histogram = |text: String| STANDARD.decode(text).map(Latencies).map_err(|e| Fault::Damaged(e.to_string()));
    record.measured.oracle_ns = histogram(take(ORACLE_KEY)?)?;
    record.measured.approx_ns = histogram(take(APPROX_KEY)?)?;
    for batch in builder.build().map_err(|e| parquet(&e))? {
        let batch = batch.map_err(|e| parquet(&e))?;
        let appended = append_points(&batch, &mut record.measured.points);
        appended.ok_or_else(|| Fault::Damaged("a trace column is missing or wrong".to_owned()))?;
    }
    Ok(record)
}

/// The same without evaluations and histograms: no Parquet is parsed, the texts are looked up, which many files need.
pub fn decode_head(bytes: Vec<u8>) -> Result<Head, Fault> {
    let (bytes, digest) = intact(bytes)?;
    let text = |key: &str| text_of(&bytes, key).ok_or_else(|| Fault::Damaged(format!("'{key}' is missing")));
    Ok(Head { record: facts(text(VERSION_KEY)?, text(FACTS_KEY)?)?, digest })
}

/// The value of a key in the Thrift footer: field 2 (0x18), its length in groups of seven bits, the text.
fn text_of<'a>(bytes: &'a [u8], key: &str) -> Option<&'a str> {
    let mark = [key.as_bytes(), &[0x18]].concat();
    let mut at = bytes.windows(mark.len()).rposition(|window| window == mark)? + mark.len();
    let (mut length, mut shift) = (0_usize, 0);
    loop {
        let group = *bytes.get(at)?;
        at += 1;
        length |= usize::from(group & 0x7f).checked_shl(shift)?;
        if group < 0x80 {
            break;
        }
        shift += 7;
    }
    std::str::from_utf8(bytes.get(at..at.checked_add(length)?)?).ok()
}

/// Trace rows of a record; a run without points has one row whose result columns are null.
fn rows(record: &RunRecord) -> Result<RecordBatch, Error> {
    let points = record.points();
    let len = points.len().max(1);
    if let Some(large) = [record.settings().seed, record.repeat].into_iter().find(|v| i64::try_from(*v).is_err()) {
        return Err(Error::LargeSeed(large));
    }
    let column = |content: Content| -> ArrayRef {
        match content {
            Text(get) => Arc::new(StringArray::from_iter_values(std::iter::repeat_n(get(record), len))),
            Whole(get) => Arc::new(Int64Array::from_iter_values(std::iter::repeat_n(get(record), len))),
            Real(get) => Arc::new(Float64Array::from_iter_values(std::iter::repeat_n(get(record), len))),
            Count(get, _) => {
                Arc::new((0..len).map(|row| points.get(row).map(|point| get(point) as i64)).collect::<Int64Array>())
            }
            // A value that is not finite is no measurement; it is null, so that no reader averages it.
            Value(get, _) | Dual(get, ..) => Arc::new(
                (0..len).map(|row| points.get(row).map(get).filter(|v| v.is_finite())).collect::<Float64Array>(),
            ),
        }
    };
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = COLUMNS
        .iter()
        .map(|(name, content)| {
            let array = column(*content);
            // Text columns are never null; the others are declared nullable in every file, so that schemas agree.
            let nullable = array.data_type() != &DataType::Utf8;
            (Field::new(*name, array.data_type().clone(), nullable), array)
        })
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| Error::Encoding(e.to_string()))
}

/// The evaluations of one batch; `None` when a column is missing or of another type, or a count is negative.
fn append_points(batch: &RecordBatch, points: &mut Vec<TracePoint>) -> Option<()> {
    let first = points.len();
    // Without an iteration a row says only that the run has no evaluation.
    let iterations = batch.column_by_name("iteration")?.as_primitive_opt::<Int64Type>()?;
    let rows: Vec<usize> = (0..batch.num_rows()).filter(|row| iterations.is_valid(*row)).collect();
    points.resize(first + rows.len(), TracePoint::default());
    for (name, content) in COLUMNS {
        // What is the same in every row is in the metadata: a file from before the column was added lacks nothing.
        if matches!(content, Text(_) | Whole(_) | Real(_)) {
            continue;
        }
        let column = batch.column_by_name(name)?;
        match content {
            Count(_, set) => {
                let column = column.as_primitive_opt::<Int64Type>()?;
                if rows.iter().any(|row| column.value(*row) < 0) {
                    return None;
                }
                rows.iter().zip(&mut points[first..]).for_each(|(row, point)| set(point, column.value(*row) as u64));
            }
            Value(_, set) | Dual(_, set, _) => {
                let column = column.as_primitive_opt::<Float64Type>()?;
                let missing = if let Dual(.., missing) = content { *missing } else { f64::NAN };
                let value = |row: usize| if column.is_valid(row) { column.value(row) } else { missing };
                rows.iter().zip(&mut points[first..]).for_each(|(row, point)| set(point, value(*row)));
            }
            Text(_) | Whole(_) | Real(_) => {}
        }
    }
    Some(())
}

/// Where the digest lies: behind its key in the Thrift footer, as field 2 (0x18) with its length of 64 (0x40).
fn digest_place(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let mark = [DIGEST_KEY.as_bytes(), &[0x18, 0x40]].concat();
    let start = bytes.windows(mark.len()).rposition(|window| window == mark)? + mark.len();
    (start + NO_DIGEST.len() <= bytes.len()).then_some(start..start + NO_DIGEST.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::identity::Identity;
    use crate::store::keys::ProblemKey;
    use crate::store::{Environment, Measured, Totals};
    use ssvm::clock::{ClockKind, OracleCost, latency_histogram};
    use ssvm::drive::StopReason;
    use ssvm::settings::{Budget, Cadence, RunSettings, SolverSpec};

    fn record(points: usize) -> RunRecord {
        let mut oracle_ns = latency_histogram();
        (1..500).for_each(|k| oracle_ns.record(k * k).unwrap());
        let point = |k: u64| TracePoint {
            iteration: k,
            partial: k % 7 == 3,
            time_s: k as f64 / 3.0,
            cpu_s: k as f64 / 7.0,
            oracle_calls: 5 * k,
            approx_steps: 9 * k,
            skipped_steps: 4 * k,
            approx_passes: 2 * k,
            oracle_time_s: k as f64 * 0.1,
            approx_time_s: k as f64 * 0.2,
            primal: 1.0 / k as f64,
            dual: -1.0 / k as f64,
            dual_solution: -1.5 / k as f64,
            gap: 2.0 / k as f64,
            oracle_slack: 0.5 / k as f64,
            proven: k + 1,
            planes_mean: 1.25,
            planes_max: 4,
            cached_bytes: 5,
        };
        RunRecord {
            identity: Identity {
                problem: ProblemKey {
                    dataset: "usps-synth:n=5".into(),
                    checksum: "abc".into(),
                    lambda: 1.0 / 3.0,
                    pairwise_weight: None,
                },
                settings: RunSettings {
                    solver: SolverSpec::new("mp-bcfw"),
                    seed: 77,
                    clock: ClockKind::VIRTUAL,
                    oracle_cost: OracleCost::ONE,
                    budget: Budget { time_s: Some(0.1), ..Budget::iterations(9) },
                    evaluate: Cadence::At(vec![1, 5]),
                },
                code_version: "0.1.0+0".into(),
                solver_version: None,
                problem_version: None,
            },
            repeat: 3,
            environment: Environment { n: 5, d: 2560, jobs: 2, core: 1, host: "box".into(), ..Default::default() },
            status: Status::Done(StopReason::Gap),
            measured: Measured {
                points: (1..=points as u64).map(point).collect(),
                oracle_ns: Latencies::of(&oracle_ns).unwrap(),
                approx_ns: Latencies::of(&latency_histogram()).unwrap(),
                totals: Totals { wall_s: 1.5, passes: vec![(0.0, 0.1), (0.3, 0.2)], ..Totals::default() },
            },
        }
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let mut run = record(40);
        let back = decode(encode(&run).unwrap()).unwrap();
        assert_eq!((&back, back.run_id()), (&run, run.run_id()));
        assert_eq!(back.measured.oracle_ns.histogram().unwrap().len(), 499);
        run.measured.points.clear();
        run.status = Status::Failed("panicked: index 3: \"quoted\" …".into());
        assert_eq!(decode(encode(&run).unwrap()).unwrap(), run);
    }

    #[test]
    fn a_timeout_of_the_first_layout_is_a_timeout() {
        let stored = |text: &str| Status::Failed(text.to_owned());
        for (text, after_s) in [("timed out after 120 s", 120.0), ("timed out after 310 ms", 0.31)] {
            assert_eq!(typed(stored(text)), Status::TimedOut { after_s });
            assert_eq!(typed(stored(text)).reason(), text);
        }
        assert_eq!(typed(stored("timed out after all")), stored("timed out after all"));
        let mut run = record(2);
        run.status = Status::TimedOut { after_s: 0.1 };
        assert_eq!(decode(encode(&run).unwrap()).unwrap(), run);
    }

    #[test]
    fn the_head_of_a_file_is_that_of_its_record() {
        for points in [0, 1, 300] {
            let run = record(points);
            let bytes = encode(&run).unwrap();
            let Head { record, digest } = decode_head(bytes.clone()).unwrap();
            let measured = Measured { totals: run.measured.totals.clone(), ..Measured::default() };
            assert_eq!(record, RunRecord { measured, ..run });
            assert!(String::from_utf8_lossy(&bytes).contains(&digest));
            assert!(decode_head(bytes[1..].to_vec()).is_err());
        }
    }

    #[test]
    fn every_flipped_or_lost_byte_is_seen() {
        let bytes = encode(&record(3)).unwrap();
        for place in 0..bytes.len() {
            for mask in [0x01, 0x20, 0xff] {
                let mut broken = bytes.clone();
                broken[place] ^= mask;
                assert!(matches!(decode(broken), Err(Fault::Damaged(_))), "byte {place} ^ {mask:#x} went unseen");
            }
        }
        for len in 0..bytes.len() {
            assert!(matches!(decode(bytes[..len].to_vec()), Err(Fault::Damaged(_))), "cut at {len} went unseen");
        }
    }

    #[test]
    fn another_version_is_told_from_damage() {
        let mut bytes = encode(&record(3)).unwrap();
        let mark = [VERSION_KEY.as_bytes(), &[0x18, 1]].concat();
        let place = bytes.windows(mark.len()).rposition(|w| w == mark).unwrap() + mark.len();
        bytes[place] = b'0';
        let digest = digest_place(&bytes).unwrap();
        bytes[digest.clone()].copy_from_slice(NO_DIGEST.as_bytes());
        let sum = sha256_hex(&bytes);
        bytes[digest].copy_from_slice(sum.as_bytes());
        assert_eq!(decode(bytes).unwrap_err(), Fault::Version("0".into()));
    }

    #[test]
    fn what_is_not_finite_is_null() {
        let mut run = record(2);
        run.measured.points[1].primal = f64::INFINITY;
        let batch = rows(&run).unwrap();
        assert_eq!(batch.column_by_name("primal").unwrap().null_count(), 1);
        assert!(decode(encode(&run).unwrap()).unwrap().points()[1].primal.is_nan());
        run.identity.settings.seed = u64::MAX;
        assert!(encode(&run).unwrap_err().to_string().contains("seed"));
    }

    #[test]
    fn a_solver_without_a_dual_comes_back_without_one() {
        let mut run = record(2);
        for point in &mut run.measured.points {
            (point.dual, point.dual_solution, point.gap) = (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        }
        let back = decode(encode(&run).unwrap()).unwrap();
        assert_eq!(back, run);
        assert!(back.points().iter().all(|point| point.is_sound() && !point.has_dual()));
    }

    #[test]
    fn columns_are_the_contract() {
        let batch = rows(&record(1)).unwrap();
        let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(
            names[..27].join(" "),
            "run_id dataset solver seed repeat iteration clock time_s cpu_s oracle_calls approx_steps approx_passes \
             oracle_time_s approx_time_s primal dual dual_solution gap planes_mean planes_max jobs core status \
             oracle_slack partial proven cached_bytes"
        );
    }
}
