//! Result folders and data files that are not as expected: nothing readable is moved, nothing foreign is touched, no
//! content is taken for another.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sessions;
use flate2::Compression;
use flate2::write::GzEncoder;
use ssvm_bench::dataset::fetch::{Fetched, MAX_DOWNLOAD, download};
use ssvm_bench::dataset::known::FileList;
use ssvm_bench::dataset::known::{self, Checked};
use ssvm_bench::run::session::{Finished, Options};
use ssvm_bench::store::folder::{Folder, Store, read_file};
use ssvm_bench::{Catalog, Harness, Result};

const CONFIG: &str = "name = \"t\"\nclock = \"virtual\"\nrepeats = 3\n[budget]\niterations = 2\n\
    [[dataset]]\nname = \"usps-synth:n=10\"\n[[solver]]\nname = \"bcfw\"\n";

fn run(text: &str, out: &Path, force: bool) -> Result<Finished> {
    sessions::run_with(text, &Options { force, ..sessions::options(out, 1) }, &Harness::standard())
}

#[test]
fn the_lock_is_the_folder_and_touches_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (out, precious) = (dir.path().join("v"), dir.path().join("precious.txt"));
    fs::create_dir(&out).unwrap();
    fs::write(&precious, "years of work").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&precious, out.join(".lock")).unwrap();
    let first = Store::create(&out).unwrap();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "years of work");
    // Whatever is deleted in the folder, there is one writer.
    let _ = fs::remove_file(out.join(".lock"));
    let message = Store::create(&out).map(drop).unwrap_err().to_string();
    assert!(message.contains("is writing into this folder"), "{message}");
    drop(first);
    drop(Store::create(&out).unwrap());
}

#[test]
fn only_leftovers_of_killed_writers_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("runs")).unwrap();
    let names =
        ["notes.txt", ".hidden", "runs/.x.parquet.tmp", "runs/part-1", "runs/.part-abc", "runs/.part-0123456789aZ"];
    for name in names {
        // From before this process began.
        fs::File::create(dir.path().join(name)).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    drop(Store::create(dir.path()).unwrap());
    let there: Vec<&str> = names.iter().copied().filter(|name| dir.path().join(name).exists()).collect();
    assert_eq!(there, &names[..5]);
}

#[test]
fn runs_of_another_cost_model_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    run(CONFIG, dir.path(), false).unwrap();
    sessions::under_cost_model(dir.path(), 987);
    let again = run(CONFIG, dir.path(), false).unwrap();
    assert_eq!((again.report.already, again.report.finished, again.contents.records.len()), (0, 3, 3));
}

/// A folder with repeats of two models, as a merge can leave it, has a series of each.
#[test]
fn runs_of_two_cost_models_are_two_series() {
    let dir = tempfile::tempdir().unwrap();
    run(CONFIG, dir.path(), false).unwrap();
    sessions::under_cost_model(dir.path(), 987);
    let fewer = run(&CONFIG.replace("repeats = 3", "repeats = 1"), dir.path(), false).unwrap();
    let keys: std::collections::BTreeSet<_> =
        fewer.contents.records.iter().map(ssvm_bench::store::RunRecord::series).collect();
    assert_eq!((fewer.contents.records.len(), keys.len()), (3, 2));
    let facts: Vec<String> = keys.iter().map(|key| key.facts()["cost_model"].clone()).collect();
    assert_eq!(facts, [ssvm::clock::COST_MODEL.to_string(), "987".to_owned()]);
    assert!(!keys.first().unwrap().same_times(keys.last().unwrap()));
}

/// A folder in place of a file: reading it is refused by the system, whoever asks.
fn make_unreadable(path: &Path) {
    let kept = path.with_extension("kept");
    fs::rename(path, kept).unwrap();
    fs::create_dir(path).unwrap();
}

#[test]
fn a_file_that_cannot_be_read_is_reported_and_left_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(CONFIG, dir.path(), false).unwrap();
    assert!(first.report.complete());
    let store = Store::open(dir.path()).unwrap();
    let id = first.contents.records[1].run_id();
    let path = store.path(Folder::Runs, &id);
    make_unreadable(&path);
    let contents = store.scan(Folder::Runs).unwrap();
    assert_eq!((contents.records.len(), contents.damaged.len()), (2, 1));
    assert!(contents.damaged[0].is_unread(), "{}", contents.damaged[0].error);

    let again = run(CONFIG, dir.path(), false).unwrap();
    assert_eq!((again.report.already, again.report.finished, again.report.failed.len()), (2, 0, 1));
    let (label, message) = &again.report.failed[0];
    assert!(
        label == "usps-synth:n=10 bcfw #1" && message.contains(&id) && message.contains("move it out of the folder"),
        "{message}"
    );
    assert!(path.is_dir() && !store.path(Folder::Stale, &id).exists());
    assert_eq!(again.contents.damaged.len(), 1, "it stays in the warnings");

    // A file that can be read and is not what was written is damage, and is redone.
    let damaged = store.path(Folder::Runs, &first.contents.records[0].run_id());
    fs::write(&damaged, "not a run").unwrap();
    let again = run(CONFIG, dir.path(), false).unwrap();
    assert_eq!((again.report.already, again.report.finished), (1, 1));
    assert!(store.path(Folder::Stale, &first.contents.records[0].run_id()).is_file());
    assert!(read_file(&store.path(Folder::Runs, &first.contents.records[0].run_id())).is_ok());
}

#[test]
fn times_that_no_clock_can_count_are_refused_and_long_ones_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let with = |line: &str| CONFIG.replace("repeats = 3\n", &format!("repeats = 1\n{line}\n"));
    let out = dir.path().join("never");
    let message = run(&with("timeout_s = 1e300"), &out, false).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(message.contains("test.toml") && message.contains("timeout_s"), "{message}");
    assert!(!out.exists(), "refused before anything is written");
    let long = with("timeout_s = 1e10").replace("iterations = 2", "iterations = 2\ntime_s = 1e10");
    for (clock, name) in [("virtual", "v"), ("wall", "w"), ("cpu", "c")] {
        let text = long.replace("\"virtual\"", &format!("\"{clock}\""));
        let finished = run(&text, &dir.path().join(name), false).unwrap();
        assert!(finished.report.complete(), "{clock}");
        assert_eq!(finished.contents.records[0].points().last().unwrap().iteration, 2, "{clock}");
    }
}

/// A gzipped tar archive of these files.
fn archive(path: &Path, files: &[(&str, &str)]) {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, body) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, body.as_bytes()).unwrap();
    }
    fs::write(path, tar.into_inner().unwrap().finish().unwrap()).unwrap();
}

/// Of `set/a/1.jpg` with `one` and `set/b/1.txt` with `two`, as
/// `find set -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` prints it.
const LIST: FileList = FileList {
    top: "set",
    parts: &[("a", ".jpg"), ("b", ".txt")],
    count: 2,
    sha256: "3a9baea3037b735c0682945ba76f4ed451cf6bfa388795159c4aa6a0e7271fc4",
};
const FILES: [(&str, &str); 2] = [("set/a/1.jpg", "one"), ("set/b/1.txt", "two")];

#[test]
fn an_archive_is_judged_by_the_files_it_shares() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, files: &[(&str, &str)]| -> PathBuf {
        let path = dir.path().join(name);
        archive(&path, files);
        path
    };
    let check = |path: &Path| known::check_file(path, path, ssvm_bench::dataset::known::Expected::Files(LIST)).unwrap();
    assert_eq!(check(&file("same.tar.gz", &FILES)), Checked::Known);
    // As the authors pack it: another order, a dot in front, more files.
    let more = [
        ("./set/horizons.txt", "x"),
        ("./set/b/1.txt", "two"),
        ("./set/b/1.surfaces.bin", "y"),
        ("./set/a/1.jpg", "one"),
    ];
    assert_eq!(check(&file("more.tar.gz", &more)), Checked::Known);
    for wrong in [
        vec![("set/a/1.jpg", "one"), ("set/b/1.txt", "TWO")],
        vec![("set/a/1.jpg", "one")],
        vec![FILES[0], FILES[1], ("set/a/2.jpg", "three")],
        vec![("other/a/1.jpg", "one"), ("other/b/1.txt", "two")],
    ] {
        let found = check(&file("wrong.tar.gz", &wrong));
        assert!(matches!(&found, Checked::Different(expected, _) if expected.ends_with("over 2 files")), "{found:?}");
    }
    // Unpacked it is the same set, whatever the folder is called.
    for (name, body) in FILES {
        let path = dir.path().join("elsewhere").join(name.strip_prefix("set/").unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, body).unwrap();
    }
    assert_eq!(check(&dir.path().join("elsewhere")), Checked::Known);
    let cut = dir.path().join("cut.tar.gz");
    fs::write(&cut, &fs::read(dir.path().join("same.tar.gz")).unwrap()[..60]).unwrap();
    assert!(known::check_file(&cut, &cut, ssvm_bench::dataset::known::Expected::Files(LIST)).is_err());
    // A file that is there is compared before anybody is asked for it.
    let here = dir.path().join("same.tar.gz");
    let expected = ssvm_bench::dataset::known::Expected::Files(LIST);
    let outcome = download("http://127.0.0.1:1/", &here, expected, MAX_DOWNLOAD, &mut |_, _| {}, &|_| {});
    assert_eq!(outcome.unwrap(), Fetched::AlreadyThere(Checked::Known));
}

#[test]
fn every_official_file_of_the_four_sets_is_pinned() {
    let catalog = Harness::standard();
    for name in ["usps", "ocr", "horses", "stanford"] {
        let known = catalog.datasets().iter().find(|info| info.name == name).and_then(|info| info.known).unwrap();
        for file in known.files {
            assert_ne!(file.expected, ssvm_bench::dataset::known::Expected::Nothing, "{name}");
        }
    }
}
