//! Commands whose reader went away (`claims R | true`, `… | head`): they end quietly, without a panic.

use std::io::{ErrorKind, PipeWriter, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use crate::common::hand;
use ssvm_bench::store::folder::{Folder, Store};

/// The end of a pipe without a reader.
fn closed() -> PipeWriter {
    let (reader, mut writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(writer.write_all(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    writer
}

/// The program without a reader of its standard output, so that every write to it fails.
fn unread(arguments: &[&str], dir: &Path) -> Output {
    let mut command = crate::common::program();
    command.args(arguments).current_dir(dir).stdin(Stdio::null()).stdout(closed()).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let (store, lock) = Store::create(dir.path().join("results")).unwrap();
    for record in hand::demo(&["usps-synth:n=9"], 2) {
        store.write(Folder::Runs, &record).unwrap();
    }
    drop(lock);
    for arguments in [
        &["show", "results", "claims"][..],
        &["show", "results", "claims", "--format", "json"],
        &["show", "results", "oracle"],
        &["report", "results"],
        &["figures", "results", "--format", "svg"],
        &["run", "--dry-run", "smoke"],
        &["run", "--dry-run", "smoke", "--format", "json"],
        &["data", "list"],
        &["data", "list", "--format", "json"],
        &["solve", "--dataset", "usps-synth:n=9", "--solver", "bcfw", "--iterations", "3"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let output = unread(arguments, dir.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked") && !errors.contains("error:"), "{arguments:?}: {errors}");
    }
    // The page was written before it was announced.
    assert!(dir.path().join("results/report.html").is_file());
}

/// Standard error has no reader either: messages are dropped, and an error is still an error.
#[test]
fn closed_messages_change_no_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, code) in
        [(&["run", "--dry-run", "smoke"][..], 0), (&["show", "nowhere", "claims"], 1), (&["no-such"], 1)]
    {
        let mut command = crate::common::program();
        command.args(arguments).current_dir(dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(closed());
        assert_eq!(command.status().unwrap().code(), Some(code), "{arguments:?}");
    }
}
