//! The result folder as a whole: damage, foreign versions, full disks, two writers, and other people's readers.

use std::fs;
use std::path::Path;
use std::process::Command;

use hdrhistogram::Histogram;
use ssvm_bench::config::{ClockKind, SolverKind};
use ssvm_bench::trace::store::{Shelf, Store};
use ssvm_bench::trace::{RunFacts, RunRecord, Status, StopReason, TracePoint};

fn record(k: u64, points: u64) -> RunRecord {
    RunRecord {
        run_id: format!("{k:016x}"),
        dataset: "usps-synth:n=5".into(),
        solver: SolverKind::ALL[k as usize % 5],
        seed: k,
        repeat: k / 5,
        clock: ClockKind::Virtual,
        jobs: 2,
        core: -1,
        status: if points == 0 { Status::Failed("panicked: no".into()) } else { Status::Done(StopReason::Iterations) },
        points: (1..=points)
            .map(|i| TracePoint {
                iteration: i,
                time_s: i as f64,
                cpu_s: i as f64,
                oracle_calls: 5 * i,
                approx_steps: 0,
                approx_passes: 0,
                oracle_time_s: 0.5 * i as f64,
                approx_time_s: 0.0,
                primal: 1.0,
                dual: 0.25,
                dual_solution: 0.25,
                gap: 0.75,
                planes_mean: 0.0,
                planes_max: 0,
            })
            .collect(),
        oracle_ns: Histogram::new(3).unwrap(),
        approx_ns: Histogram::new(3).unwrap(),
        facts: RunFacts::default(),
    }
}

fn folder_with(runs: u64) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let (store, _lock) = Store::create(dir.path()).unwrap();
    for k in 0..runs {
        store.write(Shelf::Runs, &record(k, if k == 3 { 0 } else { 4 })).unwrap();
    }
    store.write(Shelf::Probes, &record(0, 2)).unwrap();
    store.write_manifest(&store.manifest().unwrap()).unwrap();
    (dir, store)
}

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let (_dir, store) = folder_with(12);
    let broken = store.path(Shelf::Runs, &record(7, 4).run_id);
    let mut bytes = fs::read(&broken).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&broken, &bytes).unwrap();
    let cut = store.path(Shelf::Runs, &record(8, 4).run_id);
    fs::write(&cut, &fs::read(&cut).unwrap()[..100]).unwrap();
    fs::copy(store.path(Shelf::Runs, &record(1, 4).run_id), store.path(Shelf::Runs, "copy")).unwrap();

    let contents = store.scan(Shelf::Runs).unwrap();
    assert_eq!(contents.records.len(), 10);
    let mut messages: Vec<String> = contents.damaged.iter().map(|damage| damage.error.to_string()).collect();
    messages.sort();
    assert_eq!(messages.len(), 3);
    assert!(messages[0].contains("0007.parquet: damaged: its content does not match its checksum; start"));
    assert!(messages[1].contains("0008.parquet: damaged: not a complete trace file"));
    assert!(messages[2].contains("copy.parquet: damaged: it holds run 0000000000000001"));
}

#[test]
fn foreign_and_empty_folders_have_a_clear_message() {
    let dir = tempfile::tempdir().unwrap();
    let message = Store::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("holds no results") && message.contains("ssvm-bench run"), "{message}");
    assert!(Store::open(dir.path().join("nowhere")).unwrap_err().to_string().contains("is not a folder"));

    let manifest = dir.path().join("manifest.json");
    fs::write(&manifest, r#"{"schema_version": 0, "anything": 1}"#).unwrap();
    let message = Store::open(dir.path()).unwrap().manifest().unwrap_err().to_string();
    assert!(message.contains("manifest.json") && message.contains("layout 0"), "{message}");
    fs::write(&manifest, "{\n\"schema_version\": 1, \"conf").unwrap();
    let message = Store::open(dir.path()).unwrap().manifest().unwrap_err().to_string();
    assert!(message.contains("manifest.json:2") && message.contains("delete it"), "{message}");
}

#[test]
fn the_second_writer_is_refused_and_readers_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let (store, lock) = Store::create(dir.path()).unwrap();
    store.write(Shelf::Runs, &record(0, 4)).unwrap();
    let message = Store::create(dir.path()).unwrap_err().to_string();
    assert!(message.contains("another `ssvm-bench run` is writing"), "{message}");
    assert_eq!(Store::open(dir.path()).unwrap().scan(Shelf::Runs).unwrap().records.len(), 1);
    drop(lock);
    fs::write(dir.path().join("runs/.x.parquet.tmp"), "half").unwrap();
    Store::create(dir.path()).unwrap();
    assert!(!dir.path().join("runs/.x.parquet.tmp").exists(), "a leftover of a killed writer stays");
}

/// `/dev/full` refuses every byte with ENOSPC; the temporary file is made to be it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_finished_runs_stay() {
    let (dir, store) = folder_with(2);
    std::os::unix::fs::symlink("/dev/full", dir.path().join(format!("runs/.{}.parquet.tmp", record(1, 4).run_id)))
        .unwrap();
    let message = store.write(Shelf::Runs, &record(1, 9)).unwrap_err().to_string();
    assert!(message.contains("the disk is full; finished runs are intact"), "{message}");
    assert_eq!(store.read(Shelf::Runs, &record(1, 4).run_id).unwrap().points.len(), 4);
    assert!(store.scan(Shelf::Runs).unwrap().damaged.is_empty());
}

#[test]
fn pandas_duckdb_and_polars_read_one_table() {
    let (dir, _store) = folder_with(12);
    for (reader, script) in [
        ("pandas", "import pandas as pd, sys; t = pd.read_parquet(sys.argv[1] + '/runs')"),
        ("duckdb", "import duckdb, sys; t = duckdb.sql(f\"from '{sys.argv[1]}/**/*.parquet'\").df()"),
        ("polars", "import polars, sys; t = polars.read_parquet(sys.argv[1] + '/runs/*.parquet').to_pandas()"),
    ] {
        let script = format!(
            "{script}\nprint(len(t), t.run_id.nunique(), int(t.primal.isna().sum()), t.status.str.startswith('failed: ').sum(), \
             t.seed.dtype, t.time_s.dtype, ' '.join(t.columns[:23]))"
        );
        let Some(text) = python(&script, dir.path(), reader) else { continue };
        let expected = format!("45 12 1 1 int64 float64 {}", ssvm_bench::trace::codec::COLUMNS.join(" "));
        assert_eq!(text.trim(), expected, "{reader}");
    }
}

fn python(script: &str, argument: &Path, module: &str) -> Option<String> {
    let present = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    if !present.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 with {module} is not installed");
        return None;
    }
    let output = Command::new("python3").arg("-c").arg(script).arg(argument).output().unwrap();
    assert!(output.status.success(), "{module}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
