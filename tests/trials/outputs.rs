//! Where outputs go: links, streams, `-`, files that several processes change at once, and folders that vanish while they are
//! written to.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::runs;
use crate::common::trials::Skipped;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use ssvm_bench::store::files::{self, SharedFile};
use ssvm_bench::store::folder::{Contents, Folder, Store};
use ssvm_bench::store::optimum::Optima;

const CONFIG: &str = "name = \"t\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 2\n\
    [[dataset]]\nname = \"usps-synth:n=8,size=4\"\n[[dataset]]\nname = \"usps-synth:n=9,size=4\"\n\
    [[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";

/// A folder with a config; `results` is made when asked for.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("tiny.toml"), CONFIG).unwrap();
        Self { dir }
    }

    fn with_results() -> Self {
        let bench = Self::new();
        bench.succeeds(&["run", "--quiet", "tiny.toml", "--out", "results"]);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::common::program();
        command.args(arguments).current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn succeeds(&self, arguments: &[&str]) -> Output {
        let output = self.call(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
        output
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        let message = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("error: ") && !message.contains("panicked"), "{arguments:?}: {message}");
        message
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every command that writes one file, with FILE in its place, and how what it writes begins.
const WRITERS: [(&[&str], &str); 6] = [
    (&["report", "results", "--output", "FILE"], "<!DOCTYPE html>"),
    (&["check", "results", "--save", "FILE"], "#"),
    (&["check", "results", "--baseline", "base.toml", "--junit", "FILE"], "<?xml"),
    (&["data", "optimum", "usps-synth:n=8,size=4", "--gap", "0.5", "--store", "FILE"], "# Certified optima"),
    (&["init", "--force", "FILE"], "#"),
    (&["solve", "--dataset", "usps-synth:n=8,size=4", "--solver", "fw", "--save-weights", "FILE"], "\u{fffd}NUMPY"),
];

fn writing<'a>(arguments: &[&'a str], file: &'a str) -> Vec<&'a str> {
    arguments.iter().map(|word| if *word == "FILE" { file } else { word }).collect()
}

fn begins(bytes: &[u8], expected: &str) -> bool {
    String::from_utf8_lossy(bytes).starts_with(expected)
}

fn a_link_stays_and_its_target_is_replaced() {
    let bench = Bench::with_results();
    bench.succeeds(&["check", "results", "--save", "base.toml"]);
    fs::create_dir(bench.path("far")).unwrap();
    for (at, (arguments, start)) in WRITERS.iter().enumerate() {
        // A link to a link, and one whose target does not exist yet.
        let (link, target) = (format!("link{at}"), format!("far/target{at}"));
        symlink(format!("far/second{at}"), bench.path(&link)).unwrap();
        symlink(format!("target{at}"), bench.path(&format!("far/second{at}"))).unwrap();
        for round in 0..2 {
            bench.succeeds(&writing(arguments, &link));
            assert!(bench.path(&link).is_symlink(), "{arguments:?}: the link was replaced");
            assert!(bench.path(&format!("far/second{at}")).is_symlink(), "{arguments:?}");
            let bytes = fs::read(bench.path(&target)).unwrap();
            assert!(begins(&bytes, start), "{arguments:?}, round {round}: {}", String::from_utf8_lossy(&bytes));
        }
    }
    let names = files::list(&bench.path("far")).unwrap();
    assert_eq!(names.len(), 2 * WRITERS.len(), "something else was left: {names:?}");
}

fn links_that_lead_nowhere_are_errors() {
    let bench = Bench::with_results();
    symlink("round", bench.path("round")).unwrap();
    symlink("missing/page", bench.path("dangling")).unwrap();
    symlink("results", bench.path("folder")).unwrap();
    symlink("tiny.toml/page", bench.path("through")).unwrap();
    for (link, words) in [
        ("round", "symbolic link"),
        ("dangling", "does not exist; create it"),
        ("folder", "is a folder"),
        ("through", "Not a directory"),
    ] {
        let message = bench.refused(&["report", "results", "--output", link]);
        assert!(message.contains(words) && message.contains(link), "{link}: {message}");
        assert!(bench.path(link).is_symlink(), "{link} was replaced");
    }
    assert!(!bench.path("missing").exists() && bench.text("tiny.toml") == CONFIG);
}

/// `/dev/stdout` is a link to `/proc/self/fd/1`; as root the link of the whole machine would be replaced.
fn a_link_to_standard_output_is_a_stream() -> Result<(), Skipped> {
    if !Path::new("/proc/self/fd").exists() {
        return Err(Skipped("needs /proc/self/fd".into()));
    }
    let bench = Bench::with_results();
    bench.succeeds(&["check", "results", "--save", "base.toml"]);
    fs::create_dir(bench.path("fd")).unwrap();
    symlink("/proc/self/fd/1", bench.path("fd/stdout")).unwrap();
    for (arguments, start) in WRITERS {
        for file in ["fd/stdout", "-"] {
            let output = bench.succeeds(&writing(arguments, file));
            assert!(begins(&output.stdout, start), "{arguments:?} {file}: {}", String::from_utf8_lossy(&output.stdout));
            assert!(bench.path("fd/stdout").is_symlink() && !bench.path("-").exists(), "{arguments:?} {file}");
        }
    }
    // Nothing but the file: it can be read back.
    let saved = bench.succeeds(&["data", "optimum", "usps-synth:n=8,size=4", "--gap", "0.5", "--store", "-"]);
    let text = String::from_utf8(saved.stdout.clone()).unwrap();
    assert_eq!(Optima::parse(Path::new("-"), &text).unwrap().entries.len(), 1);
    assert!(errors(&saved).contains("lower "), "what is said goes to the other stream: {}", errors(&saved));
    // A file that standard output is appended to keeps what it has.
    fs::write(bench.path("log"), "before\n").unwrap();
    let log = fs::File::options().append(true).open(bench.path("log")).unwrap();
    assert!(bench.command(&["init", "fd/stdout"]).stdout(log).status().unwrap().success());
    let log = bench.text("log");
    assert!(log.starts_with("before\n#") && log.contains("[[dataset]]"), "{log}");
    Ok(())
}

fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::with_results();
    let mut child = bench.command(&["report", "results", "--output", "-"]).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

fn a_fifo_and_a_socket_are_written_to() {
    let bench = Bench::with_results();
    let pipe = bench.path("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let reader = thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    bench.succeeds(&["report", "results", "--output", "pipe"]);
    assert!(reader.join().unwrap().starts_with("<!DOCTYPE html>"));
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "the FIFO was replaced");
    let listener = UnixListener::bind(bench.path("socket")).unwrap();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    bench.succeeds(&["init", "socket"]);
    assert!(reader.join().unwrap().contains("[[dataset]]"));
    assert!(fs::symlink_metadata(bench.path("socket")).unwrap().file_type().is_socket());
}

fn a_device_that_takes_nothing_is_an_error() -> Result<(), Skipped> {
    if !Path::new("/dev/full").exists() {
        return Err(Skipped("needs /dev/full".into()));
    }
    let bench = Bench::with_results();
    bench.succeeds(&["check", "results", "--save", "base.toml"]);
    for (arguments, _) in WRITERS {
        let message = bench.refused(&writing(arguments, "/dev/full"));
        assert!(message.contains("the disk is full"), "{message}");
        bench.succeeds(&writing(arguments, "/dev/null"));
    }
    for device in ["/dev/full", "/dev/null"] {
        assert!(fs::symlink_metadata(device).unwrap().file_type().is_char_device(), "{device} was replaced");
    }
    Ok(())
}

fn what_only_its_owner_may_read_stays_so() {
    let bench = Bench::new();
    fs::write(bench.path("private.toml"), "").unwrap();
    fs::set_permissions(bench.path("private.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    bench.succeeds(&["init", "--force", "private.toml"]);
    let mode = fs::metadata(bench.path("private.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn a_file_that_must_not_be_written_is_not_replaced() -> Result<(), Skipped> {
    let bench = Bench::new();
    fs::write(bench.path("mine.toml"), "mine").unwrap();
    fs::set_permissions(bench.path("mine.toml"), fs::Permissions::from_mode(0o444)).unwrap();
    if fs::File::options().append(true).open(bench.path("mine.toml")).is_ok() {
        return Err(Skipped("needs a user who may not write everything".into()));
    }
    assert!(bench.refused(&["init", "--force", "mine.toml"]).contains("Permission denied"));
    assert_eq!(bench.text("mine.toml"), "mine");
    Ok(())
}

/// How often writers meet. `SSVM_ROUNDS` says how often.
fn rounds() -> usize {
    std::env::var("SSVM_ROUNDS").map_or(3, |count| count.parse().expect("SSVM_ROUNDS is a number"))
}

fn all_at_once(bench: &Bench, calls: &[Vec<&str>]) -> Vec<Output> {
    let children: Vec<Child> = calls.iter().map(|arguments| bench.command(arguments).spawn().unwrap()).collect();
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

/// No work is done for bounds that cannot be stored, and bounds that were found are printed.
fn bounds_that_cannot_be_stored_are_not_lost() {
    let bench = Bench::new();
    let call = ["data", "optimum", "usps-synth:n=8,size=4", "--gap", "0.5", "--store", "s.toml"];
    bench.succeeds(&call);
    let mut store = Optima::read(&bench.path("s.toml")).unwrap();
    (store.entries[0].lower, store.entries[0].upper) = (1e6, 1e6);
    let text = store.text().unwrap();
    fs::write(bench.path("s.toml"), &text).unwrap();
    let output = bench.call(&call);
    let message = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("exclude each other") && message.contains("were not stored"), "{message}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("[[optimum]]"), "{message}");
    assert_eq!(bench.text("s.toml"), text);

    let lock = format!(".lock-{}", &files::sha256_hex(b"s.toml")[..12]);
    fs::write(bench.path(&lock), "not a lock").unwrap();
    let message = bench.refused(&call);
    assert!(message.contains(&lock) && !message.contains("n = 8"), "the work was done first: {message}");
}

fn six_writers_at_once_lose_no_optimum() {
    let bench = Bench::new();
    let sets: Vec<String> = (5..11).map(|n| format!("usps-synth:n={n},size=4")).collect();
    for round in 0..rounds() {
        let store = bench.path("s.toml");
        let _ = fs::remove_file(&store);
        let call = |set| vec!["data", "optimum", set, "--gap", "0.9", "--store", "s.toml"];
        let calls: Vec<Vec<&str>> = sets.iter().map(|set| call(set)).collect();
        for output in all_at_once(&bench, &calls) {
            assert!(output.status.success(), "round {round}: {}", errors(&output));
        }
        assert_eq!(Optima::read(&store).unwrap().entries.len(), sets.len(), "round {round}");
        assert_eq!(files::list(bench.dir.path()).unwrap().len(), 2, "round {round}: a lock or a temporary file stays");
    }
}

fn six_writers_at_once_lose_no_update_of_a_baseline() {
    let bench = Bench::with_results();
    bench.succeeds(&["check", "results", "--save", "base.toml"]);
    let saved = bench.text("base.toml");
    let line = |name: &str| saved.lines().find(|line| line.starts_with(name)).unwrap();
    // An accepted cell of another commit is marked.
    let older = saved.replace(line("code = "), "code = \"0.0.1+0\"").replace(line("commit = "), "commit = \"aa\"");
    let mut cells: Vec<String> = Vec::new();
    for set in ["usps-synth:n=8,size=4", "usps-synth:n=9,size=4"] {
        cells.extend(["bcfw", "mp-bcfw"].map(|solver| format!("{set}/{solver}")));
    }
    for round in 0..rounds() {
        fs::write(bench.path("base.toml"), &older).unwrap();
        let call = |cell| vec!["check", "results", "--baseline", "base.toml", "--update", cell];
        // Two cells twice: six writers.
        let calls: Vec<Vec<&str>> = cells.iter().chain(&cells[..2]).map(|cell| call(cell)).collect();
        for output in all_at_once(&bench, &calls) {
            assert!(output.status.success(), "round {round}: {}", errors(&output));
        }
        let accepted = bench.text("base.toml").matches("made_by = ").count();
        assert_eq!(accepted, cells.len(), "round {round}");
    }
}

fn many_threads_lose_no_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list");
    thread::scope(|scope| {
        for writer in 0..6 {
            let path = &path;
            scope.spawn(move || {
                for at in 0..50 {
                    let shared = SharedFile::lock(path).unwrap();
                    let text = shared.text().unwrap().unwrap_or_default();
                    shared.write(&format!("{text}{writer} {at}\n")).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().collect::<std::collections::BTreeSet<_>>().len(), 300);
    assert_eq!(files::list(dir.path()).unwrap(), [path]);
}

fn a_lock_names_its_holder_and_is_not_held_by_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list");
    let held = SharedFile::lock(&path).unwrap();
    let other = dir.path().join("link");
    symlink("list", &other).unwrap();
    for name in [&path, &other] {
        let message = SharedFile::lock_within(name, Duration::ZERO).unwrap_err().to_string();
        assert!(message.contains(&format!("process {} on ", std::process::id())), "{message}");
    }
    // Another file of the folder has a lock of its own.
    SharedFile::lock_within(&dir.path().join("other"), Duration::ZERO).unwrap();
    // Who removes the lock takes the right to write with it.
    let hidden = |path: &PathBuf| path.to_string_lossy().contains("/.lock-");
    let lock = files::list(dir.path()).unwrap().into_iter().find(hidden).unwrap();
    let signed = fs::read(&lock).unwrap();
    fs::remove_file(&lock).unwrap();
    let second = SharedFile::lock_within(&path, Duration::ZERO).unwrap();
    assert!(held.write("lost").unwrap_err().to_string().contains("the lock of this process was removed"));
    drop(held);
    second.write("kept").unwrap();
    drop(second);
    assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
    // What a killed process leaves is a file that is not locked, and the next one removes it.
    fs::write(&lock, signed).unwrap();
    SharedFile::lock_within(&path, Duration::ZERO).unwrap().write("after").unwrap();
    assert!(!lock.exists() && fs::read_to_string(&path).unwrap() == "after");
    // What has the name of a lock and is none is left alone.
    fs::write(dir.path().join("precious"), "precious").unwrap();
    symlink("precious", &lock).unwrap();
    assert!(SharedFile::lock_within(&path, Duration::ZERO).is_err());
    assert_eq!(fs::read_to_string(dir.path().join("precious")).unwrap(), "precious");
}

/// Neither a second name of a file, nor a file, a FIFO or a folder of another program is written to, removed or waited for.
fn what_has_the_name_of_a_lock_and_is_none_stays() {
    let bench = Bench::new();
    let store = bench.path("store.toml");
    let lock = {
        let held = SharedFile::lock(&store).unwrap();
        let is_lock =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".lock-"));
        let lock = files::list(store.parent().unwrap()).unwrap().into_iter().find(is_lock).unwrap();
        drop(held);
        lock
    };
    let refused = |there: &str| {
        let message = SharedFile::lock_within(&store, Duration::ZERO).unwrap_err().to_string();
        assert!(message.contains("has the name of a lock file of this program but is not one"), "{there}: {message}");
        assert!(lock.symlink_metadata().is_ok(), "{there} was removed");
    };
    fs::write(bench.path("precious"), "").unwrap();
    fs::hard_link(bench.path("precious"), &lock).unwrap();
    refused("a second name of a file");
    fs::remove_file(&lock).unwrap();
    fs::write(&lock, "notes").unwrap();
    refused("a file");
    assert_eq!(fs::read_to_string(&lock).unwrap(), "notes");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    refused("a folder");
    fs::remove_dir(&lock).unwrap();
    std::os::unix::fs::symlink("precious", &lock).unwrap();
    refused("a link");
    fs::remove_file(&lock).unwrap();
    nix::unistd::mkfifo(&lock, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused("a FIFO");
    fs::remove_file(&lock).unwrap();
    let held = SharedFile::lock(&store).unwrap();
    fs::write(&lock, "process 1 on h: \x1b[2J\nx").unwrap();
    let message = SharedFile::lock_within(&store, Duration::ZERO).unwrap_err().to_string();
    assert!(!message.contains(char::is_control), "{message:?}");
    drop(held);
}

/// Starts a plan of many runs and waits until two are finished.
fn begun(bench: &Bench) -> (Child, BufReader<std::process::ChildStderr>) {
    let config = CONFIG.replace("repeats = 2", "repeats = 15").replace("iterations = 2", "iterations = 400");
    fs::write(bench.path("long.toml"), config.replace("n=8,size=4", "n=80").replace("n=9,size=4", "n=90")).unwrap();
    let run = ["run", "--verbose", "--jobs", "1", "long.toml", "--out", "out", "--format", "json"];
    let mut child = bench.command(&run).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut finished = 0;
    while finished < 2 {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended too early");
        finished += usize::from(line.contains("stopped by iterations"));
    }
    (child, lines)
}

fn ended(mut child: Child, mut lines: BufReader<std::process::ChildStderr>) -> (Option<i32>, String, String) {
    let (mut error, mut printed) = (String::new(), String::new());
    lines.read_to_string(&mut error).unwrap();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    (child.wait().unwrap().code(), printed, error)
}

fn a_folder_that_vanishes_while_it_is_written_to_is_an_error() {
    let bench = Bench::new();
    let (child, lines) = begun(&bench);
    fs::rename(bench.path("out"), bench.path("moved")).unwrap();
    let (code, printed, error) = ended(child, lines);
    assert_eq!(code, Some(1), "{printed}{error}");
    let moved = bench.path("moved").canonicalize().unwrap();
    assert!(error.contains("out: was moved to ") && error.contains(&format!("--out {}", moved.display())), "{error}");
    let before = fs::read_dir(bench.path("moved/runs")).unwrap().count();
    assert!((2..60).contains(&before), "{before}");
    // At most the one that was being written at that moment.
    let after = fs::read_dir(bench.path("out/runs")).map_or(0, Iterator::count);
    assert!(after <= 1, "{after} runs in a folder that was not there");
}

fn runs_that_vanish_or_change_are_not_counted_as_finished() {
    let bench = Bench::new();
    let (child, lines) = begun(&bench);
    let runs = files::list(&bench.path("out/runs")).unwrap();
    let mut runs = runs.iter().filter(|path| path.extension().is_some_and(|end| end == "parquet"));
    let (gone, cut) = (runs.next().unwrap(), runs.next().unwrap());
    fs::remove_file(gone).unwrap();
    fs::File::options().write(true).open(cut).unwrap().set_len(100).unwrap();
    let (code, printed, error) = ended(child, lines);
    assert_eq!(code, Some(1), "{printed}{error}");
    assert!(error.contains("2 of 60 finished runs are no longer in out"), "{error}");
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&report["finished"], &report["gone"]), (&58.into(), &2.into()));
    // The command that it names makes both again.
    bench.succeeds(&["run", "--quiet", "long.toml", "--out", "out"]);
    assert!(gone.exists() && cut.metadata().unwrap().len() > 1000);
}

fn a_second_writer_in_a_new_folder_of_the_same_name_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let record = |repeat| runs::made_up("usps-synth:n=5", "bcfw", repeat, 5, 1.0);
    let (first, _lock) = Store::create(&out).unwrap();
    first.write(Folder::Runs, &record(0)).unwrap();
    fs::remove_dir_all(&out).unwrap();
    let (second, _second_lock) = Store::create(&out).unwrap();
    second.write(Folder::Runs, &record(1)).unwrap();
    let refusals = [
        first.write(Folder::Runs, &record(1)),
        first.write_manifest(&first.manifest().unwrap()),
        first.set_aside(&record(1).run_id()),
        first.count_gone([]).map(drop),
    ];
    for refused in refusals {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("and 1 runs that it had finished are gone"), "{message}");
    }
    assert_eq!(second.scan(Folder::Runs).unwrap().records, [record(1)]);
    assert_eq!(second.count_gone(&[1, 2].map(|repeat| record(repeat).run_id())).unwrap(), 1);
    let message = Store::create(&out).unwrap_err().to_string();
    assert!(message.contains("another `ssvm-bench run` or `cluster merge` is writing"), "{message}");
}

fn what_killed_commands_left_is_removed_by_the_next_one() {
    let bench = Bench::with_results();
    let old = SystemTime::now() - Duration::from_hours(1);
    let plant = |name: &str, time: SystemTime| {
        let path = bench.path(name);
        let file = fs::File::create(&path).unwrap();
        file.set_modified(time).unwrap();
        (path, file)
    };
    fs::create_dir(bench.path("figures")).unwrap();
    let left =
        ["figures/.part-a1b2c3a1b2c3", ".part-A1b2c3a1b2c3", ".lock-0123456789ab"].map(|name| plant(name, old).0);
    let (in_use, live) = plant(".part-liveliveLIVE", old);
    live.lock().unwrap();
    let newer = plant(".part-newernewer00", SystemTime::now() + Duration::from_hours(1)).0;
    let others = [".part-notes", "figures/.part-mine-mine-1", ".lock-mine", "part-a1b2c3a1b2c3"];
    let others = others.map(|name| plant(name, old).0);
    bench.succeeds(&["figures", "results", "--out", "figures", "--format", "svg"]);
    bench.succeeds(&["data", "optimum", "usps-synth:n=8,size=4", "--gap", "0.5", "--store", "optima.toml"]);
    assert!(left.iter().all(|path| !path.exists()), "leftovers stay");
    assert!(in_use.exists() && newer.exists() && others.iter().all(|path| path.exists()));
    drop(live);
    bench.succeeds(&["init", "new.toml"]);
    assert!(!in_use.exists(), "its process has ended");
}

/// `runs/` of another folder in the place of the own one would take records that belong elsewhere.
fn runs_that_are_swapped_for_a_link_end_the_run() {
    let bench = Bench::new();
    let (child, lines) = begun(&bench);
    fs::rename(bench.path("out/runs"), bench.path("own")).unwrap();
    fs::create_dir(bench.path("foreign")).unwrap();
    symlink("../foreign", bench.path("out/runs")).unwrap();
    let (code, printed, error) = ended(child, lines);
    assert!(code == Some(1) && error.contains("out/runs: was deleted, moved or replaced"), "{printed}{error}");
    // At most the one that was being written at that moment.
    assert!(fs::read_dir(bench.path("foreign")).unwrap().count() <= 1);
}

/// Contents count, and not only sizes; so do runs of earlier sessions. A new time alone is no change.
fn runs_that_change_without_a_new_size_are_not_counted() {
    let dir = tempfile::tempdir().unwrap();
    let record = |repeat| runs::made_up("usps-synth:n=5", "bcfw", repeat, 5, 1.0);
    let ids: Vec<String> = (0..4).map(|repeat| record(repeat).run_id()).collect();
    {
        let (earlier, _lock) = Store::create(dir.path()).unwrap();
        earlier.write(Folder::Runs, &record(0)).unwrap();
        earlier.write(Folder::Runs, &record(1)).unwrap();
    }
    let (store, _lock) = Store::create(dir.path()).unwrap();
    store.refresh(Folder::Runs, Contents::default()).unwrap();
    store.write(Folder::Runs, &record(2)).unwrap();
    store.write(Folder::Runs, &record(3)).unwrap();
    let later = SystemTime::now() + Duration::from_secs(5);
    let change = |at: usize, content: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let path = store.path(Folder::Runs, &ids[at]);
        fs::write(&path, content(fs::read(&path).unwrap())).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    };
    change(1, &|bytes| bytes);
    change(3, &|bytes| bytes);
    assert_eq!(store.count_gone(&ids).unwrap(), 0);
    change(0, &|bytes| bytes[..100].to_vec());
    change(2, &|bytes| vec![0; bytes.len()]);
    assert_eq!(store.count_gone(&ids).unwrap(), 2);
}

fn what_is_set_aside_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let record = runs::made_up("usps-synth:n=5", "bcfw", 0, 5, 1.0);
    let (store, _lock) = Store::create(dir.path()).unwrap();
    let path = store.path(Folder::Runs, &record.run_id());
    for content in ["first", "second", "second", "third"] {
        fs::write(&path, content).unwrap();
        store.set_aside(&record.run_id()).unwrap();
    }
    let kept = files::list(&dir.path().join("stale")).unwrap();
    let mut kept: Vec<String> = kept.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["first", "second", "third"]);
}

/// Weights of sparse features have a second file: where there is none, or one of another program, the run does not begin.
fn weights_with_a_second_file_replace_nothing_and_are_no_stream() {
    let bench = Bench::new();
    fs::write(bench.path("wide.txt"), "1 3:1 20000000:1\n2 5:1\n").unwrap();
    let save = |file| ["solve", "-d", "libsvm:wide.txt", "-s", "bcfw", "--iterations", "2", "--save-weights", file];
    let pipe = bench.path("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    for stream in ["-", "/dev/null", "/dev/stdout", "/proc/self/fd/1", "pipe"] {
        let message = bench.refused(&save(stream));
        assert!(message.contains("need a second file") && message.contains("name a file"), "{stream}: {message}");
    }
    assert!(!Path::new("/dev/null.features.npy").exists() && !bench.path("-.features.npy").exists());
    fs::write(bench.path("w.npy"), "mine").unwrap();
    fs::write(bench.path("w.features.npy"), "mine").unwrap();
    let message = bench.refused(&save("w.npy"));
    assert!(message.contains("w.features.npy") && message.contains("would replace this file"), "{message}");
    assert_eq!((bench.text("w.npy"), bench.text("w.features.npy")), ("mine".into(), "mine".into()));
    fs::remove_file(bench.path("w.features.npy")).unwrap();
    mkfifo(&bench.path("w.features.npy"), Mode::S_IRWXU).unwrap();
    assert!(bench.refused(&save("w.npy")).contains("would replace this file"));
    fs::remove_file(bench.path("w.features.npy")).unwrap();
    // Its own files are replaced.
    for _ in 0..2 {
        bench.succeeds(&save("w.npy"));
        assert!(fs::read(bench.path("w.features.npy")).unwrap().starts_with(b"\x93NUMPY"));
    }
}

fn two_outputs_into_one_file_are_refused() {
    let bench = Bench::with_results();
    bench.succeeds(&["check", "results", "--save", "base.toml"]);
    let saved = bench.text("base.toml");
    symlink("a", bench.path("b")).unwrap();
    let check = |more: &[&str]| bench.refused(&[&["check", "results", "--baseline", "base.toml"], more].concat());
    for more in [
        ["--junit", "a", "--bencher", "a"],
        ["--junit", "a", "--github-benchmark", "b"],
        ["--junit", "-", "--bencher", "-"],
    ] {
        assert!(check(&more).contains("is named twice"), "{more:?}");
    }
    assert!(check(&["--junit", "base.toml"]).contains("is named twice") && bench.text("base.toml") == saved);
    assert!(!bench.path("a").exists());
    // Saving compares nothing, so that it has no findings to write.
    assert!(
        bench.refused(&["check", "results", "--save", "new.toml", "--junit", "j.xml"]).contains("cannot be used with")
    );
}

fn a_closed_standard_output_is_an_error_where_the_output_goes_there() {
    let bench = Bench::with_results();
    let shell = |words: &str| {
        let script = format!("{} {words}", env!("CARGO_BIN_EXE_ssvm-bench"));
        Command::new("sh").args(["-c", &script]).current_dir(bench.dir.path()).output().unwrap()
    };
    let closed = shell("report results --output - >&-");
    assert!(
        closed.status.code() == Some(1) && errors(&closed).contains("standard output is closed"),
        "{}",
        errors(&closed)
    );
    assert!(shell("report results --output - >/dev/null").status.success());
}

fn a_step_summary_without_a_reader_ends_with_an_error() {
    let bench = Bench::with_results();
    bench.succeeds(&["check", "results", "--save", "base.toml"]);
    mkfifo(&bench.path("pipe"), Mode::S_IRWXU).unwrap();
    let mut check = bench.command(&["check", "results", "--baseline", "base.toml"]);
    let mut child = check.env("GITHUB_STEP_SUMMARY", bench.path("pipe")).spawn().unwrap();
    let began = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_mins(1), "it waits without an end");
        thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code() == Some(1) && errors(&output).contains("no process has opened this FIFO"));
}

/// What a comparison of builds starts is as restricted as the call itself.
fn compared_builds_get_the_options_about_data() {
    let bench = Bench::new();
    let own = env!("CARGO_BIN_EXE_ssvm-bench");
    let cell = format!("oracle:touch {}/bcfw", bench.path("started").display());
    for more in [["--versus", "fw"], ["--against", own]] {
        let call = ["compare", "--only", cell.as_str(), "--rounds", "5", "--no-programs", more[0], more[1]];
        let message = bench.refused(&call);
        assert!(message.contains("--no-programs refuses it"), "{message}");
        assert!(!bench.path("started").exists(), "{more:?} started the program");
    }
    let usps = ["compare", "--only", "usps/bcfw", "--rounds", "5", "--versus", "fw", "--data-dir", "elsewhere"];
    let message = bench.refused(&usps);
    assert!(message.contains("elsewhere/"), "{message}");
}

crate::trials![
    a_link_stays_and_its_target_is_replaced,
    links_that_lead_nowhere_are_errors,
    a_link_to_standard_output_is_a_stream,
    a_reader_that_goes_away_is_no_error,
    a_fifo_and_a_socket_are_written_to,
    a_device_that_takes_nothing_is_an_error,
    what_only_its_owner_may_read_stays_so,
    a_file_that_must_not_be_written_is_not_replaced,
    bounds_that_cannot_be_stored_are_not_lost,
    six_writers_at_once_lose_no_optimum,
    six_writers_at_once_lose_no_update_of_a_baseline,
    many_threads_lose_no_line,
    a_lock_names_its_holder_and_is_not_held_by_a_file,
    what_has_the_name_of_a_lock_and_is_none_stays,
    a_folder_that_vanishes_while_it_is_written_to_is_an_error,
    runs_that_vanish_or_change_are_not_counted_as_finished,
    a_second_writer_in_a_new_folder_of_the_same_name_is_not_overwritten,
    what_killed_commands_left_is_removed_by_the_next_one,
    runs_that_are_swapped_for_a_link_end_the_run,
    runs_that_change_without_a_new_size_are_not_counted,
    what_is_set_aside_replaces_nothing,
    weights_with_a_second_file_replace_nothing_and_are_no_stream,
    two_outputs_into_one_file_are_refused,
    a_closed_standard_output_is_an_error_where_the_output_goes_there,
    a_step_summary_without_a_reader_ends_with_an_error,
    compared_builds_get_the_options_about_data,
];
