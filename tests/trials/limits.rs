//! Little memory, runs that take all of it, and signals: refused or ended with a message and exit code 1, other runs
//! continue. The programs whose oracle takes all memory are this test binary, called with `SSVM_TEST_PROGRAM=1`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::Duration;

use crate::common::trials::{self, Skipped};
use nix::sys::signal::Signal;
use ssvm_bench::dataset::Argument;
use ssvm_bench::dataset::image::Picture;
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::{
    DatasetInfo, DatasetRow, Fault, Harness, Loaded, MaxOracle, Request, Result as Outcome, Simple, SparsePlane,
};

/// Memory without end: in planes that a working set keeps, or inside one call of the oracle.
struct Greedy {
    inside: bool,
}

const DIM: usize = 20_000;

impl MaxOracle for Greedy {
    fn terms(&self) -> usize {
        10
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn lambda(&self) -> f64 {
        0.1
    }

    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> std::result::Result<u64, Fault> {
        if self.inside {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![1u8; 1 << 20]);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        // A plane that is above zero whatever w is, and another one at every w.
        plane.entries.clear();
        plane.entries.extend((0..DIM).map(|j| (j, 1e-6 * ((i + j) as f64 + 1e3 * w[j]).sin())));
        plane.offset = 10.0;
        Ok(DIM as u64)
    }
}

struct GreedySet;

impl DatasetRow for GreedySet {
    type Problem = Simple<'static>;

    fn info(&self) -> DatasetInfo {
        DatasetInfo {
            name: "greedy",
            title: "greedy",
            about: "takes all memory",
            argument: Argument::Parameters(&["inside"]),
            ..DatasetInfo::PLAIN
        }
    }

    fn load(&self, request: &Request<'_>) -> Outcome<Loaded<Self::Problem>> {
        let inside = request.count("inside", 0..=1)? == Some(1);
        Ok(Loaded::new(Simple::new(Greedy { inside }), 1, format!("greedy {inside}")))
    }
}

/// This binary as a program, in a folder, with this much address space.
fn limited(dir: &Path, mib: u64, arguments: &[&str]) -> Result<Output, Skipped> {
    let own = std::env::current_exe().unwrap();
    let mut shell = Command::new("sh");
    let kib = (mib * 1024).to_string();
    shell.args(["-c", "ulimit -v \"$1\" || exit 77; shift; exec \"$@\"", "sh", &kib]).arg(own).args(arguments);
    shell.current_dir(dir).env("SSVM_TEST_PROGRAM", "1").env_remove("SSVM_DATA").stdin(Stdio::null());
    let output = shell.output().map_err(|error| Skipped(format!("needs sh: {error}")))?;
    if output.status.code() == Some(77) {
        return Err(Skipped("needs ulimit -v".into()));
    }
    Ok(output)
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder(config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("c.toml"), config).unwrap();
    dir
}

fn records(dir: &Path) -> Vec<RunRecord> {
    let contents = Store::open(dir.join("v")).unwrap().scan(Folder::Runs).unwrap();
    assert!(contents.damaged.is_empty());
    contents.records
}

const TINY: &str = "name = \"t\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 2\n\
    [[dataset]]\nname = \"usps-synth:n=8,size=4\"\n[[solver]]\nname = \"bcfw\"\n";

/// What does not fit into the limit of the process is refused with the numbers, whatever the machine has.
fn limits_of_the_process_are_counted() -> Result<(), Skipped> {
    let dir = folder(&TINY.replace("usps-synth:n=8,size=4", "libsvm:wide"));
    // 50,000 features that all occur, and 200 labels: d = 10^7, 80 MB for every w.
    let entries = |i: usize| (1..=250).map(|f| format!(" {}:1", 250 * i + f)).collect::<String>();
    let wide: String = (0..600).map(|i| format!("{}{}\n", i % 200, entries(i % 200))).collect();
    fs::write(dir.path().join("wide"), wide).unwrap();
    for arguments in [
        &["run", "--dry-run", "c.toml"][..],
        &["run", "c.toml", "--out", "v"],
        &["solve", "--dataset", "libsvm:wide", "--solver", "bcfw"],
        &["data", "optimum", "libsvm:wide"],
    ] {
        let output = limited(dir.path(), 400, arguments)?;
        let message = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.replace('\n', " ").contains("needs about 459 MiB of memory, but "), "{arguments:?}: {message}");
    }
    Ok(())
}

/// However little there is: an error, not a signal.
fn no_limit_ends_in_a_signal() -> Result<(), Skipped> {
    let dir = folder(TINY);
    // Below some size the system cannot even start it.
    let mut least = 40;
    while !limited(dir.path(), least, &["--version"])?.status.success() {
        least += 10;
    }
    for more in [0, 5, 10, 15, 20, 30, 40, 60, 100, 200] {
        let output = limited(dir.path(), least + more, &["run", "c.toml", "--out", "v", "--force"])?;
        let message = errors(&output);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{least} + {more} MiB: {:?} {message}", output.status);
        assert!(output.status.success() || !message.is_empty(), "{least} + {more} MiB");
    }
    Ok(())
}

/// One run's working sets grow until nothing is left: its record says so and the others finish.
fn a_run_that_takes_all_memory_is_ended_and_its_neighbours_go_on() -> Result<(), Skipped> {
    let dir = folder(
        "name = \"t\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 20\n\
         [[dataset]]\nname = \"usps-synth:n=50\"\n[[dataset]]\nname = \"greedy\"\n[dataset.budget]\niterations = 1000000\n\
         [[solver]]\nname = \"mp-bcfw\"\nN = 1000000\nT = 1000000\npasses = 1\n",
    );
    let output = limited(dir.path(), 1300, &["run", "c.toml", "--out", "v", "--jobs", "2"])?;
    let message = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("2 of 4 runs failed") && message.contains("running out of memory (this process held"),
        "{message}"
    );
    let (done, failed): (Vec<_>, Vec<_>) = records(dir.path()).into_iter().partition(|record| record.status.is_done());
    assert_eq!((done.len(), failed.len()), (2, 2));
    for record in &failed {
        assert!(record.dataset() == "greedy" && matches!(record.status, Status::OutOfMemory { .. }));
        assert!(!record.measured.points.is_empty(), "what it found until then is there");
    }
    Ok(())
}

/// A call cannot be ended: the program ends in order, with the record of that run and those of its neighbours.
fn a_call_that_takes_all_memory_ends_the_program_in_order() -> Result<(), Skipped> {
    let dir = folder(
        "name = \"t\"\nclock = \"virtual\"\nrepeats = 1\n[budget]\niterations = 2\n\
         [[dataset]]\nname = \"usps-synth:n=8,size=4\"\n[[dataset]]\nname = \"greedy:inside=1\"\n[[solver]]\nname = \"bcfw\"\n",
    );
    let output = limited(dir.path(), 700, &["run", "c.toml", "--out", "v", "--jobs", "2"])?;
    let message = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("running out of memory") && message.contains("leave this run out with --only"),
        "{message}"
    );
    let records = records(dir.path());
    let failed = records.iter().filter(|record| matches!(record.status, Status::OutOfMemory { .. })).count();
    assert_eq!((records.len(), failed), (2, 1), "{message}");
    let output = limited(dir.path(), 700, &["solve", "--dataset", "greedy:inside=1", "--solver", "bcfw"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("out of memory: this program uses"), "{}", errors(&output));
    Ok(())
}

/// What a plan says is enough for a run, and not far from it; the program itself comes on top.
fn a_plan_tells_the_memory_of_its_runs() {
    let dir = folder(&TINY.replace("usps-synth:n=8,size=4", "libsvm:wide"));
    let program = env!("CARGO_BIN_EXE_ssvm-bench");
    // A third of the features occur: enough for all of them to have weights.
    let features: String = (0..1_000_000).map(|at| format!(" {}:1", 3 * at + 3)).collect();
    fs::write(dir.path().join("wide"), format!("1{features}\n2 1:1\n")).unwrap();
    let json = |arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str::<serde_json::Value>(text.lines().last().unwrap()).unwrap()
    };
    let plan = json(&["run", "--dry-run", "c.toml", "--format", "json"])["memory_bytes"].as_u64().unwrap() / 2;
    let taken = ["bcfw", "mp-bcfw-avg", "fw", "mp-bcfw-gram"].map(|solver| {
        let arguments = ["solve", "--dataset", "libsvm:wide", "--solver", solver, "--iterations", "2"];
        let peak = json(&[&arguments[..], &["--format", "json"]].concat())["peak_memory_bytes"].as_u64().unwrap();
        peak.saturating_sub(40 << 20)
    });
    let most = taken.into_iter().max().unwrap_or(0);
    assert!(plan > most * 3 / 4 && plan < most * 2, "plan {plan}, taken {taken:?}");
}

/// Starts it, waits until it has said something on a stream, sends the signal; code and what else it said.
fn signalled(mut command: Command, ready: impl Fn(&mut Child)) -> (Option<i32>, String) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    ready(&mut child);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), errors(&output))
}

/// While it works and while it loads: an error, and the file that was there is as it was.
fn a_signal_is_an_error_and_files_stay() -> Result<(), Skipped> {
    trials::heard(Signal::SIGTERM)?;
    let dir = folder(TINY);
    let weights = dir.path().join("w.npy");
    fs::write(&weights, "years of work").unwrap();
    let solve = |dataset: &str| {
        let mut command = crate::common::program();
        command.args(["solve", "--dataset", dataset, "--solver", "bcfw", "--iterations", "1000000000"]);
        command.args(["--save-weights", "w.npy"]).current_dir(dir.path());
        command
    };
    let at_work = |child: &mut Child| {
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.as_mut().unwrap()));
        assert!(lines.nth(2).is_some(), "no evaluation");
    };
    let (code, message) = signalled(solve("usps-synth:n=50"), at_work);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("error: stopped by a signal before the end; nothing was saved"), "{message}");
    // The data comes from a pipe that is never closed, so that it loads for ever.
    let pipe = dir.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.map_err(|error| Skipped(format!("needs mkfifo: {error}")))?.success() {
        return Err(Skipped("needs mkfifo".into()));
    }
    let loading = |_: &mut Child| {
        // Opens when the program has: from here on it reads.
        let mut writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        writer.write_all(b"1 1:1\n").unwrap();
        std::mem::forget(writer);
    };
    let (code, message) = signalled(solve("libsvm:pipe"), loading);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("error: stopped by a signal; existing files are intact"), "{message}");
    assert_eq!(fs::read_to_string(&weights).unwrap(), "years of work");
    Ok(())
}

/// A megabyte of nonsense is not repeated.
fn messages_have_a_length_that_can_be_read() {
    let long = "x".repeat(1_500_000);
    for config in [
        TINY.replace("\"virtual\"", &format!("\"{long}\"")),
        TINY.replace("usps-synth:n=8,size=4", &long),
        TINY.replace("\"bcfw\"", &format!("\"{long}\"")),
        TINY.replace("repeats", &long),
        format!("{TINY}{long}"),
    ] {
        let dir = folder(&config);
        let mut command = crate::common::program();
        let output = command.args(["run", "--dry-run", "c.toml"]).current_dir(dir.path()).output().unwrap();
        let message = errors(&output);
        assert_eq!(output.status.code(), Some(1));
        assert!(message.len() < 5000 && message.starts_with("error: c.toml:"), "{} bytes", message.len());
    }
}

/// A named pipe that nothing writes to, or whose writer sends nothing, is an error, unless the user wants to wait.
fn a_pipe_without_a_writer_ends_the_program() -> Result<(), Skipped> {
    trials::program(&["mkfifo"])?;
    let dir = folder(TINY);
    for name in ["config", "libsvm", "waited"] {
        trials::named_pipe(&dir.path().join(name));
    }
    let start = |arguments: &[&str]| {
        let mut command = crate::common::program();
        command.args(arguments).current_dir(dir.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut waiting = start(&["run", "--dry-run", "waited", "--wait"]);
    // A writer that sends nothing.
    trials::named_pipe(&dir.path().join("silent"));
    let _silent = fs::File::options().read(true).write(true).open(dir.path().join("silent")).unwrap();
    for part in ["rgb", "figure_ground"] {
        let part = dir.path().join("data/weizmann_horses").join(part);
        fs::create_dir_all(&part).unwrap();
        let picture = Picture { width: 60, height: 40, rgb: (0..2400).map(|k| [(k % 60 * 4) as u8; 3]).collect() };
        picture.save_png(&part.join("horse001.jpg")).unwrap();
    }
    let show = ["--accept-data", "--data-dir", "data", "data", "show", "horses", "0", "--output", "0.png", "--weights"];
    let others = [
        start(&[&show[..], &["silent"]].concat()),
        start(&["run", "--dry-run", "silent"]),
        start(&["run", "--dry-run", "config"]),
        start(&["solve", "--dataset", "libsvm:libsvm", "--solver", "bcfw", "--iterations", "1"]),
    ];
    for other in others {
        let output = other.wait_with_output().unwrap();
        let message = errors(&output);
        assert!(output.status.code() == Some(1) && message.contains("it is a named pipe"), "{message}");
        assert!(message.contains("--wait"), "{message}");
    }
    assert!(waiting.try_wait().unwrap().is_none(), "--wait has no limit");
    fs::write(dir.path().join("waited"), TINY).unwrap();
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    Ok(())
}

/// The program with data sets that take all memory, if this binary was called as one.
pub fn program() -> Option<ExitCode> {
    std::env::var_os("SSVM_TEST_PROGRAM").map(|_| Harness::standard().problem(GreedySet).main())
}

crate::trials![
    limits_of_the_process_are_counted,
    no_limit_ends_in_a_signal,
    a_run_that_takes_all_memory_is_ended_and_its_neighbours_go_on,
    a_call_that_takes_all_memory_ends_the_program_in_order,
    a_plan_tells_the_memory_of_its_runs,
    a_signal_is_an_error_and_files_stay,
    messages_have_a_length_that_can_be_read,
    a_pipe_without_a_writer_ends_the_program,
];
