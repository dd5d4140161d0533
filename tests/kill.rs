//! Kill -9 at random moments, Ctrl-C, a full disk, a second process: what is finished stays finished.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ssvm_bench::trace::store::{Shelf, Store};

const CONFIG: &str = r#"name = "kill"
repeats = 3
clock = "virtual"
evaluate = "every:1"
[budget]
iterations = 6
[[dataset]]
name = "usps-synth:n=200"
[[dataset]]
name = "ocr-synth:n=60"
[[dataset]]
name = "horseseg-synth:n=3"
[[solver]]
name = "bcfw"
[[solver]]
name = "mp-bcfw"
[[solver]]
name = "mp-bcfw-avg"
"#;
const RUNS: usize = 27;

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), config).unwrap();
        Self { dir }
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn command(&self, out: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssvm-bench"));
        command.args(["run", "--jobs", "2", "--config"]).arg(self.dir.path().join("config.toml")).arg("--out").arg(out);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Content of every finished run; panics when a file is unreadable.
    fn finished(&self) -> BTreeMap<String, Vec<u8>> {
        let Ok(store) = Store::open(self.out()) else { return BTreeMap::new() };
        store.manifest().expect("the manifest is readable");
        let contents = store.scan(Shelf::Runs).unwrap();
        assert!(contents.damaged.is_empty(), "{:?}", contents.damaged);
        let content = |id: &str| std::fs::read(store.path(Shelf::Runs, id)).unwrap();
        contents.records.iter().map(|record| (record.run_id.clone(), content(&record.run_id))).collect()
    }
}

/// Times of a run differ from one execution to the next, so equal bytes mean: not executed twice.
/// A busy machine may need `patience` for fewer kills, but never less than twenty.
fn kill_many_times(kills: u32, patience: Duration) {
    let bench = Bench::new(CONFIG);
    // Moments are spread over the length of an undisturbed plan on this machine as busy as it is.
    let began = std::time::Instant::now();
    assert!(bench.command(&bench.dir.path().join("undisturbed")).status().unwrap().success());
    let length = began.elapsed().as_micros() as u64;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut before = BTreeMap::new();
    let (mut kill, mut completed, mut progressed) = (0, 0, 0);
    let began = std::time::Instant::now();
    while kill < kills && (kill < 20 || began.elapsed() < patience) {
        kill += 1;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = bench.command(&bench.out()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random % length));
        let _ = child.kill();
        child.wait().unwrap();
        let after = bench.finished();
        for (run_id, bytes) in &before {
            let now = after.get(run_id).unwrap_or_else(|| panic!("kill {kill} lost run {run_id}"));
            assert!(now == bytes, "kill {kill}: run {run_id} was executed twice");
        }
        progressed += u32::from(after.len() > before.len());
        before = after;
        if before.len() == RUNS {
            completed += 1;
            std::fs::remove_dir_all(bench.out()).unwrap();
            before.clear();
        }
    }
    assert!(bench.command(&bench.out()).status().unwrap().success());
    let after = bench.finished();
    assert_eq!(after.len(), RUNS);
    assert!(before.iter().all(|(run_id, bytes)| after[run_id] == *bytes));
    eprintln!("{kill} kills: {progressed} in the middle of work, {completed} plans completed on the way");
    assert!(progressed > kill / 10, "kills came too early or too late to mean anything");
}

#[test]
fn kills_lose_nothing_that_was_finished() {
    kill_many_times(100, Duration::from_secs(20));
}

#[test]
#[ignore = "long"]
fn a_thousand_kills_lose_nothing_that_was_finished() {
    kill_many_times(1000, Duration::MAX);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_cleanly_and_says_how_to_continue() {
    let bench = Bench::new(&CONFIG.replace("iterations = 6", "iterations = 400").replace("repeats = 3", "repeats = 1"));
    let mut child = bench.command(&bench.out()).arg("--verbose").stderr(Stdio::piped()).spawn().unwrap();
    // The first finished run proves that the plan is under way.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let first = lines.by_ref().map(Result::unwrap).find(|line| line.contains("stopped by iterations"));
    assert!(first.is_some(), "no run finished");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let status = child.wait().unwrap();
    let last = rest.last().unwrap();
    assert_eq!(status.code(), Some(1), "{rest:?}");
    assert!(last.contains("runs are left; continue with: ssvm-bench run --config"), "{rest:?}");
    let before = bench.finished();
    assert!((1..9).contains(&before.len()));
    assert!(bench.command(&bench.out()).status().unwrap().success());
    let after = bench.finished();
    assert_eq!(after.len(), 9);
    assert!(before.iter().all(|(run_id, bytes)| after[run_id] == *bytes));
}

#[test]
fn a_second_process_is_refused() {
    let bench = Bench::new(CONFIG);
    let (_store, lock) = Store::create(bench.out()).unwrap();
    let output = bench.command(&bench.out()).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("another `ssvm-bench run` is writing into this folder"), "{message}");
    drop(lock);
    assert!(bench.command(&bench.out()).status().unwrap().success());
}

/// A tiny tmpfs in a user namespace of its own fills up in the middle of the plan.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_with_a_clear_error() {
    let bench = Bench::new(CONFIG);
    let out = bench.out();
    std::fs::create_dir(&out).unwrap();
    let script = |size: &str, then: &str| {
        let run = format!("{:?}", bench.command(&out.join("results")));
        format!("mount -t tmpfs -o size={size} none '{}' || exit 77; {run}; code=$?; {then}; exit $code", out.display())
    };
    // Half of the runs fit; what is there is copied out of the namespace to be looked at.
    let copy = bench.dir.path().join("copy");
    let copying = format!("cp -r '{}' '{}'", out.join("results").display(), copy.display());
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &script("160k", &copying)]).output();
    let Ok(output) = output.map_err(drop) else { return eprintln!("skipped: unshare is not installed") };
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || message.contains("unshare") {
        return eprintln!("skipped: no user namespaces here: {message}");
    }
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("the disk is full; finished runs are intact"), "{message}");
    let contents = Store::open(&copy).unwrap().scan(Shelf::Runs).unwrap();
    assert!(contents.damaged.is_empty(), "{:?}", contents.damaged);
    assert!((1..RUNS).contains(&contents.records.len()), "{} runs fitted", contents.records.len());
}
