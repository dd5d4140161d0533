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
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use sha2::{Digest, Sha256};

use super::{RunFacts, RunRecord, SCHEMA_VERSION, Status, StopReason, TracePoint};

/// The trace columns in file order, as every reader of a result folder may rely on them.
pub const COLUMNS: [&str; 23] = [
    "run_id",
    "dataset",
    "solver",
    "seed",
    "repeat",
    "iteration",
    "clock",
    "time_s",
    "cpu_s",
    "oracle_calls",
    "approx_steps",
    "approx_passes",
    "oracle_time_s",
    "approx_time_s",
    "primal",
    "dual",
    "dual_solution",
    "gap",
    "planes_mean",
    "planes_max",
    "jobs",
    "core",
    "status",
];

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

/// Lower-case hex SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl Status {
    /// The text of the `status` column: the stop reason, or `failed: …`.
    pub fn text(&self) -> String {
        match self {
            Self::Done(stop) => stop.name().to_owned(),
            Self::Failed(message) => format!("failed: {message}"),
        }
    }

    /// The inverse of [`Status::text`].
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(message) = text.strip_prefix("failed: ") {
            return Some(Self::Failed(message.to_owned()));
        }
        use StopReason::{Cancelled, Gap, Iterations, OracleCalls, Time};
        [Iterations, Time, OracleCalls, Gap, Cancelled].into_iter().find(|stop| stop.name() == text).map(Self::Done)
    }
}

/// The bytes of the file of one run. Fails only on values that no run has, such as a seed above 2^63.
pub fn encode(record: &RunRecord) -> Result<Vec<u8>, String> {
    let batch = rows(record)?;
    let facts = serde_json::to_string(&record.facts).map_err(|e| e.to_string())?;
    let metadata = [
        (VERSION_KEY, SCHEMA_VERSION.to_string()),
        (FACTS_KEY, facts),
        (ORACLE_KEY, histogram_text(&record.oracle_ns)?),
        (APPROX_KEY, histogram_text(&record.approx_ns)?),
        (DIGEST_KEY, NO_DIGEST.to_owned()),
    ];
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(metadata.into_iter().map(|(k, v)| KeyValue::new(k.to_owned(), v)).collect()))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).map_err(|e| e.to_string())?;
    writer.write(&batch).map_err(|e| e.to_string())?;
    writer.close().map_err(|e| e.to_string())?;
    let place = digest_place(&bytes).ok_or("the digest has no place in the file")?;
    let digest = sha256_hex(&bytes);
    bytes[place].copy_from_slice(digest.as_bytes());
    Ok(bytes)
}

/// The record in the bytes of one file. The digest is checked first: nothing else ever parses damaged bytes.
pub fn decode(mut bytes: Vec<u8>) -> Result<RunRecord, Fault> {
    let damaged = |reason: &str| Fault::Damaged(reason.to_owned());
    let place = digest_place(&bytes).ok_or_else(|| damaged("not a complete trace file of this program"))?;
    let digest: Vec<u8> = bytes[place.clone()].to_vec();
    bytes[place].copy_from_slice(NO_DIGEST.as_bytes());
    if sha256_hex(&bytes).as_bytes() != digest {
        return Err(damaged("its content does not match its checksum"));
    }
    let parquet = |e: &dyn std::fmt::Display| Fault::Damaged(format!("not a readable Parquet file ({e})"));
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|e| parquet(&e))?;
    let metadata = builder.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let mut metadata: HashMap<String, String> =
        metadata.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
    let mut take = |key: &str| metadata.remove(key).ok_or_else(|| Fault::Damaged(format!("'{key}' is missing")));
    let version = take(VERSION_KEY)?;
    if version != SCHEMA_VERSION.to_string() {
        return Err(Fault::Version(version));
    }
    let facts: RunFacts = serde_json::from_str(&take(FACTS_KEY)?).map_err(|e| Fault::Damaged(e.to_string()))?;
    let oracle_ns = parse_histogram(&take(ORACLE_KEY)?).map_err(Fault::Damaged)?;
    let approx_ns = parse_histogram(&take(APPROX_KEY)?).map_err(Fault::Damaged)?;
    let reader = builder.build().map_err(|e| parquet(&e))?;
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(|e| parquet(&e))?;
    let mut record: Option<RunRecord> = None;
    for batch in &batches {
        let columns = Columns { batch };
        if record.is_none() && batch.num_rows() > 0 {
            record = columns.head(&facts, &oracle_ns, &approx_ns);
        }
        let record = record.as_mut().ok_or_else(|| damaged("its identity columns are missing"))?;
        columns.append_points(&mut record.points).ok_or_else(|| damaged("a trace column is missing"))?;
    }
    record.ok_or_else(|| damaged("it has no row"))
}

/// Trace rows of a record; a run without points has one row whose result columns are null.
fn rows(record: &RunRecord) -> Result<RecordBatch, String> {
    let points = &record.points;
    let len = points.len().max(1);
    let signed = |name: &str, value: u64| i64::try_from(value).map_err(|_| format!("{name} {value} is above 2^63"));
    let text = |value: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, len))) };
    let whole = |value: i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(std::iter::repeat_n(value, len))) };
    let real = |value: f64| -> ArrayRef { Arc::new(Float64Array::from_iter_values(std::iter::repeat_n(value, len))) };
    let count = |get: fn(&TracePoint) -> u64| -> ArrayRef {
        Arc::new((0..len).map(|row| points.get(row).map(|point| get(point) as i64)).collect::<Int64Array>())
    };
    // A value that is not finite is no measurement; it is null, so that no reader averages it.
    let value = |get: fn(&TracePoint) -> f64| -> ArrayRef {
        Arc::new((0..len).map(|row| points.get(row).map(get).filter(|v| v.is_finite())).collect::<Float64Array>())
    };
    let facts = &record.facts;
    let trace: [ArrayRef; 23] = [
        text(&record.run_id),
        text(&record.dataset),
        text(record.solver.name()),
        whole(signed("seed", record.seed)?),
        whole(signed("repeat", record.repeat)?),
        count(|p| p.iteration),
        text(record.clock.name()),
        value(|p| p.time_s),
        value(|p| p.cpu_s),
        count(|p| p.oracle_calls),
        count(|p| p.approx_steps),
        count(|p| p.approx_passes),
        value(|p| p.oracle_time_s),
        value(|p| p.approx_time_s),
        value(|p| p.primal),
        value(|p| p.dual),
        value(|p| p.dual_solution),
        value(|p| p.gap),
        value(|p| p.planes_mean),
        count(|p| p.planes_max),
        whole(signed("jobs", record.jobs)?),
        whole(record.core),
        text(&record.status.text()),
    ];
    let per_run = [
        ("n", whole(signed("n", facts.n)?)),
        ("d", whole(signed("d", facts.d)?)),
        ("lambda", real(facts.lambda)),
        ("run_wall_s", real(facts.wall_s)),
        ("run_cpu_s", real(facts.cpu_s)),
        ("run_total_s", real(facts.total_s)),
        ("steal", real(facts.steal)),
        ("load", real(facts.load)),
    ];
    let columns = COLUMNS.into_iter().zip(trace).chain(per_run);
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .map(|(name, array)| {
            // Text columns are never null; the others are declared nullable in every file, so that schemas agree.
            let nullable = array.data_type() != &DataType::Utf8;
            (Field::new(name, array.data_type().clone(), nullable), array)
        })
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| e.to_string())
}

/// Typed access to the columns of one batch; `None` when a column is missing or of another type.
struct Columns<'a> {
    batch: &'a RecordBatch,
}

impl Columns<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.batch.column_by_name(name)?.as_string_opt::<i32>().map(|array| array.value(0))
    }

    fn whole(&self, name: &str) -> Option<&Int64Array> {
        self.batch.column_by_name(name)?.as_primitive_opt::<Int64Type>()
    }

    fn real(&self, name: &str) -> Option<&Float64Array> {
        self.batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()
    }

    fn head(&self, facts: &RunFacts, oracle_ns: &Histogram<u64>, approx_ns: &Histogram<u64>) -> Option<RunRecord> {
        Some(RunRecord {
            run_id: self.text("run_id")?.to_owned(),
            dataset: self.text("dataset")?.to_owned(),
            solver: self.text("solver")?.parse().ok()?,
            seed: self.whole("seed")?.value(0) as u64,
            repeat: self.whole("repeat")?.value(0) as u64,
            clock: self.text("clock")?.parse().ok()?,
            jobs: self.whole("jobs")?.value(0) as u64,
            core: self.whole("core")?.value(0),
            status: Status::parse(self.text("status")?)?,
            points: Vec::new(),
            oracle_ns: oracle_ns.clone(),
            approx_ns: approx_ns.clone(),
            facts: facts.clone(),
        })
    }

    fn append_points(&self, points: &mut Vec<TracePoint>) -> Option<()> {
        let counts = ["iteration", "oracle_calls", "approx_steps", "approx_passes", "planes_max"];
        let reals = [
            "time_s",
            "cpu_s",
            "oracle_time_s",
            "approx_time_s",
            "primal",
            "dual",
            "dual_solution",
            "gap",
            "planes_mean",
        ];
        let counts: Vec<_> = counts.iter().map(|name| self.whole(name)).collect::<Option<_>>()?;
        let reals: Vec<_> = reals.iter().map(|name| self.real(name)).collect::<Option<_>>()?;
        for row in (0..self.batch.num_rows()).filter(|&row| counts[0].is_valid(row)) {
            let count = |k: usize| counts[k].value(row) as u64;
            let real = |k: usize| if reals[k].is_valid(row) { reals[k].value(row) } else { f64::NAN };
            points.push(TracePoint {
                iteration: count(0),
                time_s: real(0),
                cpu_s: real(1),
                oracle_calls: count(1),
                approx_steps: count(2),
                approx_passes: count(3),
                oracle_time_s: real(2),
                approx_time_s: real(3),
                primal: real(4),
                dual: real(5),
                dual_solution: real(6),
                gap: real(7),
                planes_mean: real(8),
                planes_max: count(4),
            });
        }
        Some(())
    }
}

fn histogram_text(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).map_err(|e| format!("histogram: {e:?}"))?;
    Ok(STANDARD.encode(bytes))
}

fn parse_histogram(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|e| format!("histogram: {e}"))?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|e| format!("histogram: {e:?}"))
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

    pub(crate) fn record(points: usize) -> RunRecord {
        let mut oracle_ns = Histogram::new(3).unwrap();
        (1..500).for_each(|k| oracle_ns.record(k * k).unwrap());
        RunRecord {
            run_id: "0123456789abcdef".into(),
            dataset: "usps-synth:n=5".into(),
            solver: crate::config::SolverKind::MpBcfw,
            seed: 77,
            repeat: 3,
            clock: crate::config::ClockKind::Virtual,
            jobs: 2,
            core: 1,
            status: Status::Done(StopReason::Gap),
            points: (1..=points as u64)
                .map(|k| TracePoint {
                    iteration: k,
                    time_s: k as f64 / 3.0,
                    cpu_s: k as f64 / 7.0,
                    oracle_calls: 5 * k,
                    approx_steps: 9 * k,
                    approx_passes: 2 * k,
                    oracle_time_s: k as f64 * 0.1,
                    approx_time_s: k as f64 * 0.2,
                    primal: 1.0 / k as f64,
                    dual: -1.0 / k as f64,
                    dual_solution: -1.5 / k as f64,
                    gap: 2.0 / k as f64,
                    planes_mean: 1.25,
                    planes_max: 4,
                })
                .collect(),
            oracle_ns,
            approx_ns: Histogram::new(3).unwrap(),
            facts: RunFacts { n: 5, d: 2560, lambda: 0.2, host: "box".into(), ..RunFacts::default() },
        }
    }

    fn same(a: &RunRecord, b: &RunRecord) {
        let identity = |r: &RunRecord| (r.run_id.clone(), r.dataset.clone(), r.solver, r.seed, r.repeat, r.clock);
        assert_eq!(identity(a), identity(b));
        assert_eq!((a.jobs, a.core, &a.status, &a.points, &a.facts), (b.jobs, b.core, &b.status, &b.points, &b.facts));
        assert_eq!((&a.oracle_ns, &a.approx_ns), (&b.oracle_ns, &b.approx_ns));
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let mut run = record(40);
        same(&decode(encode(&run).unwrap()).unwrap(), &run);
        run.points.clear();
        run.status = Status::Failed("panicked: index 3: \"quoted\" …".into());
        same(&decode(encode(&run).unwrap()).unwrap(), &run);
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
        run.points[1].primal = f64::INFINITY;
        let batch = rows(&run).unwrap();
        assert_eq!(batch.column_by_name("primal").unwrap().null_count(), 1);
        assert!(decode(encode(&run).unwrap()).unwrap().points[1].primal.is_nan());
        run.seed = u64::MAX;
        assert!(encode(&run).unwrap_err().contains("seed"));
    }

    #[test]
    fn columns_are_the_contract() {
        let batch = rows(&record(1)).unwrap();
        let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names[..COLUMNS.len()], COLUMNS);
        assert_eq!(
            COLUMNS.join(" "),
            "run_id dataset solver seed repeat iteration clock time_s cpu_s oracle_calls approx_steps approx_passes \
             oracle_time_s approx_time_s primal dual dual_solution gap planes_mean planes_max jobs core status"
        );
    }
}
