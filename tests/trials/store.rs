//! The result folder as a whole: damage, foreign versions, full disks, two writers, other people's files and readers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::runs;
use crate::common::trials::Skipped;
use ssvm_bench::run::shard::merge::merge;
use ssvm_bench::store::codec;
use ssvm_bench::store::files;
use ssvm_bench::store::folder::{Folder, Store, read_file};
use ssvm_bench::store::manifest::{Host, Manifest, Session};
use ssvm_bench::store::{Measured, RunRecord, Status};

const SOLVERS: [&str; 5] = ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"];

/// The k-th run of a folder, with this many evaluations; one without any has failed.
fn record(k: u64, points: usize) -> RunRecord {
    let mut record = runs::made_up("usps-synth:n=5", SOLVERS[k as usize % 5], k / 5, 5, 1.0);
    record.measured.points.truncate(points);
    if points == 0 {
        record.status = Status::Failed("panicked: no".into());
        record.measured = Measured::default();
    }
    record
}

fn folder_with(runs: u64) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let (store, _lock) = Store::create(dir.path()).unwrap();
    for k in 0..runs {
        store.write(Folder::Runs, &record(k, if k == 3 { 0 } else { 4 })).unwrap();
    }
    store.write_manifest(&store.manifest().unwrap()).unwrap();
    (dir, store)
}

fn damage_is_named_and_the_rest_is_read() {
    let (_dir, store) = folder_with(12);
    let path = |k: u64| store.path(Folder::Runs, &record(k, 4).run_id());
    let mut bytes = fs::read(path(7)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path(7), &bytes).unwrap();
    fs::write(path(8), &fs::read(path(8)).unwrap()[..100]).unwrap();
    fs::copy(path(1), store.path(Folder::Runs, "copy")).unwrap();

    let contents = store.scan(Folder::Runs).unwrap();
    assert_eq!(contents.records.len(), 10);
    assert_eq!(contents.damaged.len(), 3);
    for (path, complaint) in [
        (path(7), "damaged: its content does not match its checksum; start".to_owned()),
        (path(8), "damaged: not a complete run file".to_owned()),
        (store.path(Folder::Runs, "copy"), format!("damaged: it contains run {}", record(1, 4).run_id())),
    ] {
        let damage = contents.damaged.iter().find(|damage| damage.path == path).expect("every damaged file is listed");
        let message = damage.error.to_string();
        assert!(message.starts_with(&format!("{}: {complaint}", path.display())), "{message}");
    }
}

fn foreign_and_empty_folders_have_a_clear_message() {
    let dir = tempfile::tempdir().unwrap();
    let message = Store::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("contains no results") && message.contains("ssvm-bench run"), "{message}");
    assert!(Store::open(dir.path().join("nowhere")).unwrap_err().to_string().contains("does not exist"));

    let manifest = dir.path().join("manifest.json");
    fs::write(&manifest, r#"{"schema_version": 0, "anything": 1}"#).unwrap();
    let message = Store::open(dir.path()).unwrap().manifest().unwrap_err().to_string();
    assert!(message.contains("manifest.json") && message.contains("layout 0"), "{message}");
    fs::write(&manifest, "{\n\"schema_version\": 2, \"conf").unwrap();
    let message = Store::open(dir.path()).unwrap().manifest().unwrap_err().to_string();
    assert!(message.contains("manifest.json:2") && message.contains("delete it"), "{message}");
}

fn the_second_writer_is_refused_and_readers_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let (store, lock) = Store::create(dir.path()).unwrap();
    store.write(Folder::Runs, &record(0, 4)).unwrap();
    let message = Store::create(dir.path()).unwrap_err().to_string();
    assert!(message.contains("another `ssvm-bench run` or `cluster merge` is writing"), "{message}");
    assert_eq!(Store::open(dir.path()).unwrap().scan(Folder::Runs).unwrap().records.len(), 1);
    drop(lock);
}

/// λ = 1/n is rarely a short decimal; if one bit were lost, the run would be another one.
fn what_is_read_is_the_run_that_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _lock) = Store::create(dir.path()).unwrap();
    let written = [3, 7, 49, 103, 491, 592, 715, 6251, 7291, 60_000].map(|n| {
        let mut record = record(1, 4);
        record.identity.problem.lambda = 1.0 / f64::from(n);
        store.write(Folder::Runs, &record).unwrap();
        record
    });
    let contents = store.scan(Folder::Runs).unwrap();
    assert!(contents.damaged.is_empty(), "{:?}", contents.damaged);
    assert_eq!(contents.records.len(), written.len());
    for record in &written {
        let back = read_file(&store.path(Folder::Runs, &record.run_id())).unwrap();
        assert_eq!(back.identity.problem.lambda.to_bits(), record.identity.problem.lambda.to_bits());
        assert_eq!((&back, back.run_id()), (record, record.run_id()));
        assert!(contents.records.contains(record));
    }
}

/// The same through the program: what the plan calls a run, its file is called, and λ in it is 1/n to the bit.
fn files_are_named_as_the_plan_names_the_runs() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let text = program(&["run", "--dry-run", "--format", "json"], dir.path(), &out);
    let mut planned: Vec<String> = Vec::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        planned.extend(line["run_id"].as_str().map(str::to_owned));
    }
    planned.sort();
    program(&["run", "--quiet"], dir.path(), &out);
    let names = fs::read_dir(out.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!((planned.len(), &names), (4, &planned));
    for record in Store::open(&out).unwrap().scan(Folder::Runs).unwrap().records {
        assert_eq!(record.identity.problem.lambda.to_bits(), (1.0_f64 / 49.0).to_bits());
    }
}

/// Only what killed writers of this program left is removed; what people keep beside their results is theirs.
fn other_peoples_files_stay() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let runs = out.join("runs");
    let (kept_file, kept_folder) = (out.join("notes.tmp"), out.join("x.tmp"));
    fs::create_dir_all(kept_folder.join("deep")).unwrap();
    fs::create_dir_all(runs.join("x.tmp")).unwrap();
    fs::create_dir_all(runs.join(".part-folder")).unwrap();
    let short = runs.join(".part-backup");
    let kept =
        [short, kept_file, kept_folder.join("deep/notes"), runs.join("notes.tmp"), runs.join(".notes.parquet.tmp")];
    let leftovers = [out.join(".part-a1b2c3a1b2c3"), runs.join(".part-d4e5f6D4E5F6")];
    kept.iter().chain(&leftovers).for_each(|path| fs::write(path, "half").unwrap());
    for _ in 0..2 {
        program(&["run", "--quiet"], dir.path(), &out);
        for path in &kept {
            assert_eq!(fs::read_to_string(path).unwrap(), "half", "{} was touched", path.display());
        }
        assert!(runs.join("x.tmp").is_dir() && runs.join(".part-folder").is_dir());
        for path in &leftovers {
            assert!(!path.exists(), "{}, left by a killed writer, stays", path.display());
        }
    }
    assert_eq!(Store::open(&out).unwrap().scan(Folder::Runs).unwrap().records.len(), 4);
}

/// `/dev/full` refuses every byte with ENOSPC, as a full disk does.
#[cfg(target_os = "linux")]
fn a_full_disk_is_named_and_the_old_file_stays() {
    use std::io::Write;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    files::write_bytes(&path, b"old").unwrap();
    let full = |_: &mut files::Draft| fs::File::options().write(true).open("/dev/full")?.write_all(b"new");
    let message = files::write_atomically(&path, full).unwrap_err().to_string();
    assert!(message.contains("the disk is full; finished files are intact"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file stays");
}

#[cfg(not(target_os = "linux"))]
fn a_full_disk_is_named_and_the_old_file_stays() -> Result<(), Skipped> {
    Err(Skipped("needs /dev/full".into()))
}

fn pandas_reads_one_table() -> Result<(), Skipped> {
    read_by("pandas", "import pandas as pd, sys; t = pd.read_parquet(sys.argv[1] + '/runs')")
}

fn duckdb_reads_one_table() -> Result<(), Skipped> {
    read_by("duckdb", "import duckdb, sys; t = duckdb.sql(f\"from '{sys.argv[1]}/**/*.parquet'\").df()")
}

fn polars_reads_one_table() -> Result<(), Skipped> {
    read_by("polars", "import polars, sys; t = polars.read_parquet(sys.argv[1] + '/runs/*.parquet').to_pandas()")
}

/// A folder of 12 runs, one of them failed, as one table of another reader.
fn read_by(reader: &str, script: &str) -> Result<(), Skipped> {
    let (dir, _store) = folder_with(12);
    let script = format!(
        "{script}\nprint(len(t), t.run_id.nunique(), int(t.primal.isna().sum()), t.status.str.startswith('failed: ').sum(), \
         t.seed.dtype, t.time_s.dtype, ' '.join(t.columns))"
    );
    let text = python(&script, dir.path(), reader)?;
    let columns: Vec<&str> = codec::columns().collect();
    assert_eq!(text.trim(), format!("45 12 1 1 int64 float64 {}", columns.join(" ")), "{reader}");
    Ok(())
}

fn python(script: &str, argument: &Path, module: &str) -> Result<String, Skipped> {
    let present = Command::new("python3").args(["-c", &format!("import {module}, pandas")]).output();
    if !present.is_ok_and(|output| output.status.success()) {
        let modules = if module == "pandas" { module.to_owned() } else { format!("{module} and pandas") };
        return Err(Skipped(format!("needs python3 with {modules}")));
    }
    let output = Command::new("python3").arg("-c").arg(script).arg(argument).output().unwrap();
    assert!(output.status.success(), "{module}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command of the program on a small config of four runs; what it printed.
fn program(arguments: &[&str], dir: &Path, out: &Path) -> String {
    let config = dir.join("config.toml");
    let text = "name = 'small'\nrepeats = 2\nclock = 'virtual'\n[budget]\niterations = 2\n\
        [[dataset]]\nname = 'usps-synth:n=49'\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n";
    fs::write(&config, text).unwrap();
    let mut command = crate::common::program();
    let output = command.args(arguments).arg(&config).arg("--out").arg(out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What is merged belongs to the result: no link to others' files, and nothing that is not plain is replaced.
fn a_merge_places_no_links_and_replaces_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let (foreign, input) = (path("foreign.parquet"), path("in"));
    let store = Store::create_private(&input).unwrap();
    store.write_manifest(&store.manifest().unwrap()).unwrap();
    store.write(Folder::Runs, &record(0, 4)).unwrap();
    store.write(Folder::Runs, &record(1, 4)).unwrap();
    let name = |k: u64| format!("runs/{}.parquet", record(k, 4).run_id());
    // A relative link, which leads nowhere from another folder.
    fs::rename(input.join(name(0)), &foreign).unwrap();
    symlink("../../foreign.parquet", input.join(name(0))).unwrap();
    merge(std::slice::from_ref(&input), &path("out")).unwrap();
    let placed = path("out").join(name(0));
    assert!(placed.symlink_metadata().unwrap().is_file(), "a link was placed");
    assert_eq!(fs::read(&placed).unwrap(), fs::read(&foreign).unwrap());
    assert_ne!(files::number(&placed), files::number(&foreign), "it is a file of others");
    assert_eq!(
        files::number(&path("out").join(name(1))),
        files::number(&input.join(name(1))),
        "a plain file is shared"
    );
    // Merging again changes nothing.
    merge(std::slice::from_ref(&input), &path("out")).unwrap();
    assert_eq!(fs::read_dir(path("out/runs")).unwrap().count(), 2);
    for kind in ["link", "fifo"] {
        let out = path(kind);
        fs::create_dir_all(out.join("runs")).unwrap();
        let target = out.join(name(1));
        if kind == "link" {
            fs::write(path("precious"), "precious").unwrap();
            symlink(path("precious"), &target).unwrap();
        } else {
            nix::unistd::mkfifo(&target, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
        let message = merge(std::slice::from_ref(&input), &out).unwrap_err().to_string();
        assert!(message.contains("move it out of the folder"), "{kind}: {message}");
        assert!(!target.symlink_metadata().unwrap().is_file(), "{kind} was replaced");
    }
    assert_eq!(fs::read_to_string(path("precious")).unwrap(), "precious");
}

/// The folder is locked before it is read, so that a merge that ends well is in the result.
fn merges_at_once_lose_no_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: String| dir.path().join(name);
    let inputs: Vec<_> = (0..6).map(|k| path(format!("s{k}"))).collect();
    for (k, input) in inputs.iter().enumerate() {
        let store = Store::create_private(input).unwrap();
        store.write(Folder::Runs, &record(k as u64, 4)).unwrap();
        let session = Session { shard: format!("s{k}"), started_unix_s: k as u64, ..session() };
        store.write_manifest(&Manifest { sessions: vec![session], ..Manifest::default() }).unwrap();
    }
    for round in 0..20 {
        let out = path(format!("o{round}"));
        let merged: Vec<bool> = std::thread::scope(|scope| {
            let merges: Vec<_> =
                inputs.iter().map(|input| scope.spawn(|| merge(std::slice::from_ref(input), &out).is_ok())).collect();
            merges.into_iter().map(|merge| merge.join().unwrap()).collect()
        });
        let sessions = Store::open(&out).unwrap().manifest().unwrap().sessions;
        for (k, _) in merged.iter().enumerate().filter(|(_, ended_well)| **ended_well) {
            assert!(sessions.iter().any(|session| session.shard == format!("s{k}")), "round {round}: s{k} is lost");
            assert!(out.join(format!("runs/{}.parquet", record(k as u64, 4).run_id())).exists());
        }
        assert!(merged.contains(&true));
    }
}

fn session() -> Session {
    Session {
        config: "x".repeat(64),
        started_unix_s: 1,
        ended_unix_s: Some(2),
        jobs: 1,
        isolated: false,
        code: ssvm_bench::run::host::code(),
        host: Host::default(),
        finished: 1,
        failed: 0,
        peak_memory: 0,
        shard: String::new(),
        plan: String::new(),
    }
}

/// A file that cannot be used is kept beside one of the same name that was kept before.
fn damaged_files_of_one_name_are_all_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (input, out) = (dir.path().join("in"), dir.path().join("out"));
    let store = Store::create_private(&input).unwrap();
    store.write(Folder::Runs, &record(0, 4)).unwrap();
    for content in ["first", "second", "second"] {
        fs::write(store.path(Folder::Runs, "0123456789abcdef0123"), content).unwrap();
        merge(std::slice::from_ref(&input), &out).unwrap();
    }
    let kept = files::list(&out.join("damaged")).unwrap();
    let kept: Vec<String> = kept.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept.contains(&"first".to_owned()) && kept.contains(&"second".to_owned()));
}

crate::trials![
    damage_is_named_and_the_rest_is_read,
    foreign_and_empty_folders_have_a_clear_message,
    the_second_writer_is_refused_and_readers_are_not,
    what_is_read_is_the_run_that_was_written,
    files_are_named_as_the_plan_names_the_runs,
    other_peoples_files_stay,
    a_full_disk_is_named_and_the_old_file_stays,
    pandas_reads_one_table,
    duckdb_reads_one_table,
    polars_reads_one_table,
    a_merge_places_no_links_and_replaces_none,
    merges_at_once_lose_no_session,
    damaged_files_of_one_name_are_all_kept,
];
