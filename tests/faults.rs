//! Faults on purpose: every call of `files` fails once, the disk fills at every byte, runs hang, panic or are cancelled.
//! Finished runs stay, messages are clear, and the next call of `run` completes. A target of its own: faults belong
//! to the process, and no other test may write files meanwhile.

mod common;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::sessions;
use ssvm_bench::Result;
use ssvm_bench::dataset::npz::{self, RawGraph};
use ssvm_bench::run::session::Finished;
use ssvm_bench::store::files;
use ssvm_bench::store::files::faults::Faults;
use ssvm_bench::store::folder::{Folder, Store};
use tempfile::TempDir;

const CONFIG: &str = "name = \"t\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 2\n\
    [[dataset]]\nname = \"usps-synth:n=8,size=4\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";
const RUNS: u64 = 4;

fn run(out: &Path) -> Result<Finished> {
    sessions::run(CONFIG, out, 1)
}

/// Faults belong to the process: one test at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In memory where that is possible: thousands of syncs take long on a disk.
fn tempdir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// What is in a folder after a fault: every run is whole; a following `run` does only the others.
fn completes(out: &Path, what: &str) {
    let before = Store::open(out).map_or(Vec::new(), |store| {
        let contents = store.scan(Folder::Runs).unwrap();
        assert!(contents.damaged.is_empty(), "{what}: {:?}", contents.damaged);
        contents.records
    });
    let Finished { report, contents, .. } = run(out).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(report.complete() && report.already == before.len() as u64, "{what}: {report:?}");
    assert_eq!(contents.records.len() as u64, RUNS, "{what}");
    for old in before {
        assert!(contents.records.contains(&old), "{what}: a finished run was done again");
    }
    let hidden =
        |folder: &Path| files::list(folder).unwrap().iter().filter(|p| p.to_string_lossy().contains("/.part-")).count();
    assert_eq!(hidden(out) + hidden(&out.join("runs")), 0, "{what}: files were left behind");
}

#[test]
fn every_call_that_fails_loses_nothing() {
    let _turn = turn();
    let calls = {
        let dir = tempdir();
        let faults = Faults::none();
        run(&dir.path().join("out")).unwrap();
        faults.calls()
    };
    assert!(calls > 20, "{calls}");
    let (mut failed, mut harmless) = (0, 0);
    for n in 1..=calls {
        let dir = tempdir();
        let out = dir.path().join("out");
        let faults = Faults::at_call(n);
        let result = run(&out);
        drop(faults);
        match result {
            Err(error) => {
                failed += 1;
                let message = error.to_string();
                assert!(message.contains("a fault on purpose") && message.contains("out"), "call {n}: {message}");
            }
            // A folder that is there, a file that was to be removed.
            Ok(_) => harmless += 1,
        }
        completes(&out, &format!("call {n}"));
    }
    eprintln!("{calls} calls failed once each: {failed} errors, {harmless} without consequence, nothing lost");
}

/// Reading what is there: every call fails once, nothing that is sound is moved or done again.
#[test]
fn every_read_that_fails_moves_nothing() {
    let _turn = turn();
    let dir = tempdir();
    let out = dir.path().join("out");
    let runs = run(&out).unwrap().contents.records;
    let calls = {
        let faults = Faults::none();
        run(&out).unwrap();
        faults.calls()
    };
    for n in 1..=calls {
        let faults = Faults::at_call(n);
        // A run whose file the system refuses to read is left alone and reported.
        let _ = run(&out).map(|finished| assert!(finished.report.finished == 0, "call {n}"));
        drop(faults);
        assert_eq!(Store::open(&out).unwrap().scan(Folder::Runs).unwrap().records, runs, "call {n}");
        assert!(!out.join("stale").exists(), "call {n}");
    }
}

#[test]
fn a_disk_that_fills_at_any_byte_loses_nothing() {
    let _turn = turn();
    let total = {
        let dir = tempdir();
        let faults = Faults::none();
        run(&dir.path().join("out")).unwrap();
        faults.written()
    };
    // Every 97th byte; SSVM_EVERY_BYTE=1 takes all of them.
    let step = if std::env::var_os("SSVM_EVERY_BYTE").is_some() { 1 } else { 97 };
    let mut tried = 0;
    // Times in a record have more or fewer digits: the last bytes of one run may not be there in the next.
    for room in (0..total - total / 10).step_by(step) {
        let dir = tempdir();
        let out = dir.path().join("out");
        let faults = Faults::full_after(room);
        let message = run(&out).map(drop).expect_err("the disk is full").to_string();
        drop(faults);
        assert!(message.contains("the disk is full; finished files are intact"), "{room}: {message}");
        completes(&out, &format!("a disk of {room} bytes"));
        tried += 1;
    }
    eprintln!("{tried} disks of 0 to {total} bytes filled up: nothing lost");
}

#[test]
fn a_graph_file_on_a_full_disk_is_an_error_and_nothing_else() {
    let _turn = turn();
    let dir = tempdir();
    let path = dir.path().join("graph.npz");
    std::fs::write(&path, "what was there").unwrap();
    let graph = RawGraph {
        num_labels: 2,
        features_per_node: 1,
        features: vec![1.0, 2.0].into(),
        labels: vec![0, 1],
        node_offsets: vec![0, 2],
        edges: vec![[0, 1]],
        edge_offsets: vec![0, 1],
        ..RawGraph::default()
    };
    for room in 0..1000 {
        let faults = Faults::full_after(room);
        let message = npz::write_graph(&path, &graph).unwrap_err().to_string();
        drop(faults);
        assert!(message.contains("the disk is full"), "{room}: {message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "what was there");
        assert_eq!(files::list(dir.path()).unwrap().len(), 1, "a part was left behind");
    }
    npz::write_graph(&path, &graph).unwrap();
    assert_eq!(RawGraph::read(&path).unwrap(), graph);
}
