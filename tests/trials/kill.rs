//! Kill -9 at random moments, Ctrl-C, a full disk, a second process: what is finished stays finished.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::trials::{self, Skipped};
use nix::sys::signal::Signal;
use ssvm_bench::dataset::image::Picture;
use ssvm_bench::store::files;
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::optimum;

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
        let mut command = crate::common::program();
        command.args(["run", "--jobs", "2"]).arg(self.dir.path().join("config.toml")).arg("--out").arg(out);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Content of every finished run; panics when a file is unreadable.
    fn finished(&self) -> BTreeMap<String, Vec<u8>> {
        let Ok(store) = Store::open(self.out()) else { return BTreeMap::new() };
        store.manifest().expect("the manifest is readable");
        let contents = store.scan(Folder::Runs).unwrap();
        assert!(contents.damaged.is_empty(), "{:?}", contents.damaged);
        let content = |id: &str| std::fs::read(store.path(Folder::Runs, id)).unwrap();
        contents.records.iter().map(|record| (record.run_id(), content(&record.run_id()))).collect()
    }

    /// Names in the folder of the runs.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.out().join("runs")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

/// Every kill comes when a chosen number of runs was added, plus a moment more. Times of a run differ from one
/// execution to the next, so equal bytes mean: not executed twice. `SSVM_KILLS` says how often.
fn kills_lose_nothing_that_was_finished() {
    const PATIENCE: Duration = Duration::from_mins(5);
    let kills = kills();
    let bench = Bench::new(CONFIG);
    let mut draw = random();
    let mut before = BTreeMap::new();
    let (mut completed, mut torn) = (0, 0);
    for kill in 1..=kills {
        let wanted = draw(4) as usize;
        let mut child = bench.command(&bench.out()).spawn().unwrap();
        let began = Instant::now();
        let ended = loop {
            let there = bench.names().iter().filter(|name| name.ends_with(".parquet")).count();
            let ended = child.try_wait().unwrap();
            if ended.is_some() || there >= before.len() + wanted {
                break ended;
            }
            assert!(began.elapsed() < PATIENCE, "no {wanted} runs in {PATIENCE:?}");
            std::thread::sleep(Duration::from_micros(100));
        };
        // Without a run to wait for, a moment of the start; otherwise one inside the next runs and writes.
        std::thread::sleep(Duration::from_micros(draw(if wanted == 0 { 40_000 } else { 4_000 })));
        let _ = child.kill();
        child.wait().unwrap();
        torn += u64::from(bench.names().iter().any(|name| name.starts_with(".part-")));
        let after = bench.finished();
        for (run_id, bytes) in &before {
            let now = after.get(run_id).unwrap_or_else(|| panic!("kill {kill} lost run {run_id}"));
            assert!(now == bytes, "kill {kill}: run {run_id} was executed twice");
        }
        match ended {
            Some(status) => assert!(status.success() && after.len() == RUNS, "{status}, {} runs", after.len()),
            None => assert!(after.len() >= before.len() + wanted, "kill {kill} lost a run that was there"),
        }
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
    assert!(!bench.names().iter().any(|name| name.starts_with(".part-")), "leftovers of killed writers stay");
    eprintln!("{kills} kills: {torn} inside a write, {completed} plans completed on the way");
}

/// A folder of pictures that is taken for the horses.
fn horses(folder: &Path) {
    for (part, colour) in [("rgb", [200, 90, 10]), ("figure_ground", [255; 3])] {
        let part = folder.join("weizmann_horse_db").join(part);
        std::fs::create_dir_all(&part).unwrap();
        for at in 0..12usize {
            let shade = |k: usize| if (k / 60 + k % 60 + at) % 40 < 20 { colour } else { [0; 3] };
            let picture = Picture { width: 60, height: 40, rgb: (0..2400).map(shade).collect() };
            picture.save_png(&part.join(format!("horse{at:03}.jpg"))).unwrap();
        }
    }
}

/// A file that was there stays whole until the new one takes its place: every output of the other commands, killed at a
/// moment of the time that the command takes.
fn kills_of_other_commands_leave_whole_files() {
    let kills = kills() / 4;
    let bench = Bench::new(CONFIG);
    assert!(bench.command(&bench.out()).status().unwrap().success());
    let dir = bench.dir.path();
    horses(&dir.join("data/weizmann_horses"));
    let mut draw = random();
    let commands: [(&str, &str, &[&str]); 4] = [
        ("report", "page.html", &["report", "out", "--output", "page.html"]),
        ("figures", "figures/oracle_convergence.svg", &["figures", "out", "--out", "figures", "--format", "svg,png"]),
        (
            "data optimum",
            "optima.toml",
            &["data", "optimum", "usps-synth:n=60", "--gap", "1e-6", "--store", "optima.toml"],
        ),
        (
            "data prepare",
            "graph.npz",
            &["--accept-data", "--data-dir", "data", "data", "prepare", "horses", "--output", "graph.npz"],
        ),
    ];
    for (what, file, arguments) in commands {
        let file = dir.join(file);
        let command = || {
            let mut command = crate::common::program();
            command.args(arguments).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let began = Instant::now();
        assert!(command().status().unwrap().success(), "{what}");
        let took = began.elapsed().as_micros() as u64;
        let whole = std::fs::read(&file).unwrap();
        let (mut struck, mut replaced) = (0, 0);
        for _ in 0..kills {
            // A prepared file is not made again; the others are replaced.
            let old = if what == "data prepare" { None } else { Some(whole.clone()) };
            match &old {
                Some(old) => std::fs::write(&file, old).unwrap(),
                None => std::fs::remove_file(&file).unwrap_or(()),
            }
            let mut child = command().spawn().unwrap();
            std::thread::sleep(Duration::from_micros(draw(took + took / 10)));
            struck += u64::from(child.try_wait().unwrap().is_none());
            let _ = child.kill();
            child.wait().unwrap();
            match std::fs::read(&file) {
                Ok(now) if what == "data optimum" => {
                    assert!(std::str::from_utf8(&now).is_ok_and(|text| optimum::Optima::parse(&file, text).is_ok()));
                }
                Ok(now) => {
                    assert!(now == whole, "{what}: a file of {} bytes, whole it has {}", now.len(), whole.len());
                    replaced += u64::from(old.is_none());
                }
                Err(_) => assert!(old.is_none(), "{what}: the file that was there is gone"),
            }
        }
        let folder = file.parent().unwrap();
        let left =
            files::list(folder).unwrap().iter().filter(|path| path.to_string_lossy().contains("/.part-")).count();
        // A prepared file is not made again, so nothing is written.
        std::fs::remove_file(&file).unwrap_or(());
        assert!(command().status().unwrap().success(), "{what} after {kills} kills");
        let hidden = |path: &PathBuf| ["/.part-", "/.lock-"].iter().any(|name| path.to_string_lossy().contains(name));
        assert!(!files::list(folder).unwrap().iter().any(hidden), "{what}: the next one removes what killed ones left");
        eprintln!(
            "{what}: {kills} kills, {struck} struck, no file torn, {replaced} new ones whole, {left} temporary files left and removed"
        );
    }
}

/// Runs that are in the result of a merge are those of its inputs to the last byte, whenever it was killed; the inputs are
/// as they were, and the next merge completes.
fn kills_of_merge_leave_whole_runs() {
    let kills = kills() / 4;
    let bench = Bench::new(CONFIG);
    assert!(bench.command(&bench.out()).status().unwrap().success());
    let whole = bench.finished();
    let merged = Bench::new(CONFIG);
    let command = || {
        let mut command = crate::common::program();
        command.args(["cluster", "merge"]).arg(bench.out()).arg("--out").arg(merged.out());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let began = Instant::now();
    assert!(command().status().unwrap().success());
    let took = began.elapsed().as_micros() as u64;
    let mut draw = random();
    let (mut struck, mut torn) = (0, 0);
    for kill in 0..kills {
        if draw(2) == 0 {
            std::fs::remove_dir_all(merged.out()).unwrap_or(());
        }
        let mut child = command().spawn().unwrap();
        std::thread::sleep(Duration::from_micros(draw(took + took / 10)));
        struck += u64::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        torn += u64::from(merged.names().iter().any(|name| name.starts_with(".part-")));
        assert!(merged.finished().iter().all(|(run_id, bytes)| whole[run_id] == *bytes), "kill {kill}");
        assert!(bench.finished() == whole, "kill {kill} changed an input");
    }
    assert!(command().status().unwrap().success());
    assert!(merged.finished() == whole);
    let left = merged.names().iter().filter(|name| name.starts_with(".part-")).count();
    eprintln!(
        "merge: {kills} kills, {struck} struck, {torn} inside a write, no run lost or torn, {left} temporary files left"
    );
}

/// How often.
fn kills() -> u64 {
    std::env::var("SSVM_KILLS").map_or(40, |count| count.parse().expect("SSVM_KILLS is a number"))
}

/// Numbers below a bound, the same ones every time.
fn random() -> impl FnMut(u64) -> u64 {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    move |bound: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    }
}

/// One worker has a run without end, so that the plan is never done when the signal comes.
fn ctrl_c_ends_cleanly_and_says_how_to_continue() -> Result<(), Skipped> {
    trials::heard(Signal::SIGINT)?;
    let text = CONFIG.replace("repeats = 3", "repeats = 1").replace("every:1", "log");
    let endless = "name = \"ocr-synth:n=60\"\n[dataset.budget]\niterations = 1000000000\n";
    let bench = Bench::new(&text.replace("name = \"ocr-synth:n=60\"\n", endless));
    let mut command = bench.command(&bench.out());
    command.args(["--verbose", "--only", "usps-synth*", "--only", "ocr-synth*/bcfw"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // The first finished run proves that the plan is under way.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let first = lines.by_ref().map(Result::unwrap).find(|line| line.contains("stopped by iterations"));
    assert!(first.is_some(), "no run finished");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let status = child.wait().unwrap();
    let last = rest.last().unwrap();
    assert_eq!(status.code(), Some(1), "{rest:?}");
    assert!(
        last.contains("of 4 runs are left; continue with: ssvm-bench run --jobs 2")
            && last.contains("--only 'usps-synth*'"),
        "{rest:?}"
    );
    let before = bench.finished();
    assert!((1..=3).contains(&before.len()), "{} runs", before.len());
    assert!(bench.command(&bench.out()).args(["--only", "usps-synth*"]).status().unwrap().success());
    let after = bench.finished();
    assert_eq!(after.len(), 3);
    assert!(before.iter().all(|(run_id, bytes)| after[run_id] == *bytes));
    Ok(())
}

fn a_second_process_is_refused() {
    let bench = Bench::new(CONFIG);
    let (_store, lock) = Store::create(bench.out()).unwrap();
    let output = bench.command(&bench.out()).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("another `ssvm-bench run` or `cluster merge` is writing into this folder"), "{message}");
    drop(lock);
    assert!(bench.command(&bench.out()).status().unwrap().success());
}

/// A tiny tmpfs in a user namespace of its own fills up in the middle of the plan.
fn a_full_disk_stops_with_a_clear_error() -> Result<(), Skipped> {
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
    let output = output.map_err(|error| Skipped(format!("needs unshare: {error}")))?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || message.contains("unshare") {
        return Err(Skipped(format!("needs user namespaces with tmpfs: {}", message.trim())));
    }
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("the disk is full; finished files are intact"), "{message}");
    let contents = Store::open(&copy).unwrap().scan(Folder::Runs).unwrap();
    assert!(contents.damaged.is_empty(), "{:?}", contents.damaged);
    assert!((1..RUNS).contains(&contents.records.len()), "{} runs fitted", contents.records.len());
    Ok(())
}

crate::trials![
    kills_lose_nothing_that_was_finished,
    kills_of_other_commands_leave_whole_files,
    kills_of_merge_leave_whole_runs,
    ctrl_c_ends_cleanly_and_says_how_to_continue,
    a_second_process_is_refused,
    a_full_disk_stops_with_a_clear_error,
];
