//! One [`RunRecord`] ↔ the bytes of one Parquet file: evaluations as columns, histograms and facts as file metadata,
//! and a SHA-256 of the whole file, so that any changed or lost byte is detected.
//!
//! The digest is inside the file that it covers. It is first written as zeros, then the file is hashed and the zeros
//! are replaced; reading reverses this. The file stays plain Parquet for every other reader.

use std::ops::Range;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::file::reader::SerializedFileReader;

use super::columns::{self, ByteArray, FileColumn, Values, wrong};
use super::record::{Latencies, RunRecord, SCHEMA_VERSION, Status};
use crate::error::{Error, Result};
use crate::store;
use crate::store::files::sha256_hex;
use ssvm::drive::TracePoint;

/// The source of the values of a column, and their target when a file is read.
enum Content {
    /// The same text in every row. It is read from the metadata, which has it too, so that a file from before the
    /// column was added lacks nothing.
    Text(fn(&RunRecord) -> String),
    Whole(fn(&RunRecord) -> i64),
    Real(fn(&RunRecord) -> f64),
    /// A count of each evaluation.
    Count(fn(&TracePoint) -> u64, fn(&mut TracePoint, u64)),
    /// A number of each evaluation; the last field is the meaning of a missing value.
    Value(fn(&TracePoint) -> f64, fn(&mut TracePoint, f64), f64),
}
use Content::{Count, Real, Text, Value, Whole};

/// The column of a field of an evaluation that is a count.
macro_rules! count {
    ($field:ident) => {
        (stringify!($field), Count(|point| point.$field, |point, value| point.$field = value))
    };
}

/// The column of a field of an evaluation that is any other number.
macro_rules! value {
    ($field:ident) => {
        value!($field, NAN)
    };
    ($field:ident, $missing:ident) => {
        (stringify!($field), Value(|point| point.$field, |point, value| point.$field = value, f64::$missing))
    };
}

/// The columns in file order, which readers of result folders may rely on.
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
    // A solver may have no dual.
    value!(dual, NEG_INFINITY),
    value!(dual_solution, NEG_INFINITY),
    value!(gap, INFINITY),
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

pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name)
}

const VERSION_KEY: &str = "ssvm.schema_version";
const DIGEST_KEY: &str = "ssvm.sha256";
const FACTS_KEY: &str = "ssvm.facts";
const ORACLE_KEY: &str = "ssvm.oracle_ns";
const APPROX_KEY: &str = "ssvm.approx_ns";
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The bytes of the file of one run. Fails only for values that no run has, such as a seed above 2^63.
pub fn encode(record: &RunRecord) -> Result<Vec<u8>, store::Error> {
    let failed = |reason: &dyn std::fmt::Display| store::Error::Encoding(reason.to_string());
    if let Some(large) = [record.settings().seed, record.repeat].into_iter().find(|v| i64::try_from(*v).is_err()) {
        return Err(store::Error::LargeSeed(large));
    }
    let metadata = vec![
        (VERSION_KEY, SCHEMA_VERSION.to_string()),
        (FACTS_KEY, serde_json::to_string(record).map_err(|e| failed(&e))?),
        (ORACLE_KEY, STANDARD.encode(&record.measured.oracle_ns.0)),
        (APPROX_KEY, STANDARD.encode(&record.measured.approx_ns.0)),
        (DIGEST_KEY, NO_DIGEST.to_owned()),
    ];
    let columns = COLUMNS.iter().map(|(name, content)| column(name, content, record)).collect();
    let mut bytes = columns::encode(columns, metadata).map_err(|e| failed(&e))?;
    let place = digest_place(&bytes).ok_or_else(|| failed(&"the digest has no place in the file"))?;
    let digest = sha256_hex(&bytes);
    bytes[place].copy_from_slice(digest.as_bytes());
    Ok(bytes)
}

/// The values of a column. A run without evaluations has one row whose result columns are null.
fn column(name: &'static str, content: &Content, record: &RunRecord) -> FileColumn<'static> {
    let points = record.points();
    let rows = points.len().max(1);
    let values = match content {
        Text(get) => Values::Text(vec![Some(ByteArray::from(get(record).as_str())); rows]),
        Whole(get) => Values::Whole(vec![Some(get(record)); rows]),
        Real(get) => Values::Real(vec![Some(get(record)); rows]),
        Count(get, _) => Values::Whole((0..rows).map(|row| Some(get(points.get(row)?) as i64)).collect()),
        // A value that is not finite is not a measurement. It is stored as null, so that no reader averages it.
        Value(get, ..) => {
            Values::Real((0..rows).map(|row| points.get(row).map(get).filter(|value| value.is_finite())).collect())
        }
    };
    // Text columns are never null; the others are declared nullable in every file, so that schemas agree.
    FileColumn { name, nullable: !matches!(content, Text(_)), values }
}

/// The metadata of a file about its run.
pub struct Head {
    /// The run without evaluations and histograms.
    pub record: RunRecord,
    /// SHA-256 of the whole file.
    pub digest: String,
}

/// Reads the record in the bytes of one file; `path` is for messages.
pub fn decode(path: &Path, mut bytes: Vec<u8>) -> Result<RunRecord> {
    let Head { mut record, .. } = decode_head(path, &mut bytes)?;
    let histogram = |key: &str| STANDARD.decode(text(path, &bytes, key)?).map(Latencies).map_err(|e| damaged(path, e));
    record.measured.oracle_ns = histogram(ORACLE_KEY)?;
    record.measured.approx_ns = histogram(APPROX_KEY)?;
    let points = points(bytes).map_err(|e| damaged(path, format!("not a readable Parquet file ({e})")));
    record.measured.points = points?;
    Ok(record)
}

/// Reads the record without evaluations and histograms. This is for many files: it looks up the texts and parses no
/// Parquet. Nothing is read from bytes that do not match their digest, which is zeroed.
pub fn decode_head(path: &Path, bytes: &mut [u8]) -> Result<Head> {
    let place = digest_place(bytes).ok_or_else(|| damaged(path, "not a complete run file of this program"))?;
    let written = bytes[place.clone()].to_vec();
    bytes[place].copy_from_slice(NO_DIGEST.as_bytes());
    let digest = sha256_hex(bytes);
    if digest.as_bytes() != written {
        return Err(damaged(path, "its content does not match its checksum"));
    }
    let version = text(path, bytes, VERSION_KEY)?;
    if version != SCHEMA_VERSION.to_string() {
        return Err(store::Error::OtherLayout { path: path.to_owned(), version: version.to_owned() }.into());
    }
    let mut record: RunRecord = serde_json::from_str(text(path, bytes, FACTS_KEY)?).map_err(|e| damaged(path, e))?;
    record.status = typed(record.status);
    Ok(Head { record, digest })
}

/// The error of a file whose bytes are not those that were written.
pub fn damaged(path: &Path, reason: impl ToString) -> Error {
    Error::file(path, store::Error::Damaged(reason.to_string()))
}

/// Converts a status to today's form: version 0.1.0 stored a timeout as a failure with the message `timed out after
/// 2.50 s`.
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

/// The value of a key of the file's metadata.
fn text<'a>(path: &Path, bytes: &'a [u8], key: &str) -> Result<&'a str> {
    let text = value_place(bytes, key).and_then(|place| std::str::from_utf8(&bytes[place]).ok());
    text.ok_or_else(|| damaged(path, format!("'{key}' is missing")))
}

fn digest_place(bytes: &[u8]) -> Option<Range<usize>> {
    value_place(bytes, DIGEST_KEY).filter(|place| place.len() == NO_DIGEST.len())
}

/// Position of the value of a key in the Thrift footer: behind the key as field 2 (0x18), with its length in groups of
/// seven bits.
fn value_place(bytes: &[u8], key: &str) -> Option<Range<usize>> {
    let mark = [key.as_bytes(), &[0x18]].concat();
    let mut start = bytes.windows(mark.len()).rposition(|window| window == mark)? + mark.len();
    let (mut length, mut shift) = (0_usize, 0);
    loop {
        let group = *bytes.get(start)?;
        start += 1;
        length |= usize::from(group & 0x7f).checked_shl(shift)?;
        if group < 0x80 {
            break;
        }
        shift += 7;
    }
    let end = start.checked_add(length)?;
    (end <= bytes.len()).then_some(start..end)
}

/// The evaluations of a file.
fn points(bytes: Vec<u8>) -> parquet::errors::Result<Vec<TracePoint>> {
    let file = SerializedFileReader::new(bytes.into())?;
    let Values::Whole(iterations) = columns::read(&file, "iteration")? else { return Err(wrong("iteration")) };
    // A row without an iteration only states that the run has no evaluations.
    if iterations == [None] {
        return Ok(Vec::new());
    }
    let mut points = vec![TracePoint::default(); iterations.len()];
    for (name, content) in COLUMNS {
        match content {
            Text(_) | Whole(_) | Real(_) => {}
            Count(_, set) => match columns::read(&file, name)? {
                Values::Whole(values) if values.len() == points.len() => {
                    for (point, value) in points.iter_mut().zip(values) {
                        set(point, value.and_then(|count| count.try_into().ok()).ok_or_else(|| wrong(name))?);
                    }
                }
                _ => return Err(wrong(name)),
            },
            Value(_, set, missing) => match columns::read(&file, name)? {
                Values::Real(values) if values.len() == points.len() => {
                    for (point, value) in points.iter_mut().zip(values) {
                        set(point, value.unwrap_or(*missing));
                    }
                }
                _ => return Err(wrong(name)),
            },
        }
    }
    Ok(points)
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
                cost_model: None,
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

    fn decode(bytes: Vec<u8>) -> Result<RunRecord> {
        super::decode(Path::new("x.parquet"), bytes)
    }

    fn is_damaged(bytes: Vec<u8>) -> bool {
        decode(bytes).is_err_and(|error| error.to_string().starts_with("x.parquet: damaged: "))
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
            let Head { record, digest } = decode_head(Path::new("x"), &mut bytes.clone()).unwrap();
            let measured = Measured { totals: run.measured.totals.clone(), ..Measured::default() };
            assert_eq!(record, RunRecord { measured, ..run });
            assert!(String::from_utf8_lossy(&bytes).contains(&digest));
            assert!(decode_head(Path::new("x"), &mut bytes[1..].to_vec()).is_err());
        }
    }

    #[test]
    fn every_flipped_or_lost_byte_is_seen() {
        let bytes = encode(&record(3)).unwrap();
        for place in 0..bytes.len() {
            for mask in [0x01, 0x20, 0xff] {
                let mut broken = bytes.clone();
                broken[place] ^= mask;
                assert!(is_damaged(broken), "byte {place} ^ {mask:#x} went unseen");
            }
        }
        for len in 0..bytes.len() {
            assert!(is_damaged(bytes[..len].to_vec()), "cut at {len} went unseen");
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
        let error = decode(bytes).unwrap_err();
        assert!(matches!(error, Error::Store(store::Error::OtherLayout { version, .. }) if version == "0"));
    }

    #[test]
    fn what_is_not_finite_is_null() {
        let mut run = record(2);
        run.measured.points[1].primal = f64::INFINITY;
        let file = SerializedFileReader::new(bytes::Bytes::from(encode(&run).unwrap())).unwrap();
        let Values::Real(primal) = columns::read(&file, "primal").unwrap() else { panic!("no real numbers") };
        assert_eq!(primal, [Some(1.0), None]);
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
        let names: Vec<&str> = columns().collect();
        assert_eq!(
            names[..27].join(" "),
            "run_id dataset solver seed repeat iteration clock time_s cpu_s oracle_calls approx_steps approx_passes \
             oracle_time_s approx_time_s primal dual dual_solution gap planes_mean planes_max jobs core status \
             oracle_slack partial proven cached_bytes"
        );
    }

    #[test]
    fn other_readers_see_text_and_nullable_numbers() {
        use parquet::file::reader::FileReader;
        let reader = SerializedFileReader::new(bytes::Bytes::from(encode(&record(2)).unwrap())).unwrap();
        let mut schema = Vec::new();
        parquet::schema::printer::print_schema(&mut schema, reader.metadata().file_metadata().schema());
        let schema = String::from_utf8(schema).unwrap();
        for line in ["REQUIRED BYTE_ARRAY run_id (STRING);", "OPTIONAL INT64 seed;", "OPTIONAL DOUBLE primal;"] {
            assert!(schema.contains(line), "{schema}");
        }
        let names: Vec<&str> =
            schema.lines().filter_map(|line| line.trim().strip_suffix(';')?.split(' ').nth(2)).collect();
        assert_eq!(names, columns().collect::<Vec<_>>());
    }
}
