//! Oracles that are programs: the same trajectories as the built-in ones, faults that end one run and nothing else, checks
//! that notice a bad oracle, and nothing left running. The programs are this test binary, called with `serve`. A target of
//! its own: memory, children and zombies of this process are counted.

#[path = "../common/mod.rs"]
mod common;
mod served;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

use common::trials::{self, Skipped};
use nix::sys::signal::Signal;
use served::{BAD_HELLOS, FAULTS};
use ssvm::problem::Problem;
use ssvm::solver::{SolverTable, Standard};
use ssvm_bench::dataset::program::{Launch, Plane, ProgramProblem, trial};
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Harness, Outcome, Quiet, Request, RunLimits, Solve, SolverSpec,
    Value, drive,
};

/// Where Python programs find the package.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

fn own() -> PathBuf {
    std::env::current_exe().expect("a test has a file")
}

fn launch(arguments: &[&str]) -> Launch {
    let all = ["serve"].iter().chain(arguments).copied();
    Launch::new(own().display().to_string(), all)
}

fn program(arguments: &[&str]) -> ProgramProblem {
    ProgramProblem::open(launch(arguments), None).expect("a healthy program")
}

/// The name as a data set.
fn dataset(options: &str, arguments: &str) -> String {
    format!("oracle:{}{options} serve {arguments}", own().display())
}

fn bench(arguments: &[&str]) -> Output {
    let mut command = crate::common::program();
    command.args(arguments).env("PYTHONPATH", PACKAGE).output().expect("the program starts")
}

/// Processes of anybody whose command line has all of these words.
fn running(words: &[&str]) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("a Linux").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| words.iter().all(|word| line.contains(word))).collect()
}

/// Whether nothing like this runs any more, soon.
fn all_gone(words: &[&str]) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !running(words).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// The numbers of the processes with these words, all of them children of this one.
fn children(words: &[&str]) -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a Linux").flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let numbers = lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let fits = |pid: &String| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        words.iter().all(|word| line.contains(word))
    };
    numbers.filter(fits).collect()
}

/// Whether a child of this process stays a zombie; those of other tests are for a moment.
fn zombies_stay() -> bool {
    let zombie = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    };
    let mut suspects: Vec<String> = children(&[]).into_iter().filter(zombie).collect();
    let deadline = Instant::now() + Duration::from_secs(5);
    while !suspects.is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        suspects.retain(zombie);
    }
    !suspects.is_empty()
}

fn run<P: Problem>(problem: &P, spec: &SolverSpec, iterations: u64) -> Outcome {
    let mut solver = Standard.build(spec, problem, 7).expect("a solver");
    let budget = Budget::iterations(iterations);
    let limits = RunLimits { clock: ClockKind::VIRTUAL, ..RunLimits::new(budget, Cadence::Every(1)) };
    drive(problem, &mut *solver, &limits, &mut Quiet).expect("a run")
}

/// Every solver of the table; where the virtual clock decides on passes their number is fixed, for a plane product of a
/// program counts more operations.
fn solvers() -> Vec<SolverSpec> {
    let spec = |info: &ssvm_bench::SolverInfo| {
        let spec = SolverSpec::new(info.name);
        if info.params.iter().any(|param| param.key == "passes") { spec.with("passes", Value::Count(3)) } else { spec }
    };
    Standard.infos().iter().map(spec).collect()
}

fn follow<P: Problem>(built_in: &P, program: &ProgramProblem, iterations: u64) {
    for spec in solvers() {
        let (ours, theirs) = (run(built_in, &spec, iterations), run(program, &spec, iterations));
        assert!(theirs.notes.is_empty(), "{spec}: {:?}", theirs.notes);
        assert_eq!(ours.points.len(), theirs.points.len(), "{spec}");
        for (ours, theirs) in ours.points.iter().zip(&theirs.points) {
            let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3);
            assert!(close(ours.primal, theirs.primal), "{spec}: primal {} {}", ours.primal, theirs.primal);
            assert!(close(ours.dual, theirs.dual), "{spec}: dual {} {}", ours.dual, theirs.dual);
            assert_eq!(ours.oracle_calls, theirs.oracle_calls, "{spec}");
        }
    }
}

fn every_solver_follows_the_built_in_oracle() {
    follow(&served::synthetic(120), &program(&["usps", "120"]), 6);
}

fn usps_through_the_protocol_is_usps() -> Result<(), Skipped> {
    let data = trials::official("usps")?;
    let path = ["usps/zip.train.gz", "usps/zip.train"].map(|name| data.path.join(name));
    let path = path.iter().find(|path| path.is_file()).expect("located before").display().to_string();
    follow(&served::official(&path), &program(&["official", &path]), 2);
    Ok(())
}

fn w_is_sent_when_it_changes_and_announced_answers_arrive() {
    let (problem, built_in) = (program(&["usps", "50"]), served::synthetic(50));
    let (mut work, mut plane) = (problem.work(), Plane::default());
    let (mut other_work, mut label) = (built_in.work(), 0);
    let (zero, one) = (vec![0.0; problem.dim()], vec![1e-3; problem.dim()]);
    let mut check = |i: usize, w: &[f64], work: &mut _| {
        problem.oracle(i, w, work, &mut plane).unwrap();
        built_in.oracle(i, w, &mut other_work, &mut label).unwrap();
        let expected = built_in.value(i, &label, w, &other_work);
        assert!((problem.value(i, &plane, w, work) - expected).abs() < 1e-12);
    };
    for (i, w) in [(0, &zero), (1, &zero), (1, &one), (2, &zero), (0, &one)] {
        check(i, w, &mut work);
    }
    let terms: Vec<u32> = (0..50).rev().collect();
    problem.announce(&terms, &one, &mut work).unwrap();
    for i in (20..50).rev() {
        check(i, &one, &mut work);
    }
    // The rest of the announced terms is not asked for; another one is.
    check(7, &zero, &mut work);
    problem.announce(&terms[..3], &one, &mut work).unwrap();
    check(49, &zero, &mut work);
}

fn memory_does_not_grow_and_the_round_trip_is_short() {
    let d = 2560;
    let problem = program(&["nothing", &d.to_string()]);
    let (mut work, mut plane) = (problem.work(), Plane::default());
    let mut w = vec![0.25; d];
    let resident = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("a size");
        line.split_whitespace().nth(1).expect("a number").parse::<u64>().expect("a number")
    };
    let child = children(&["serve nothing"]).first().expect("the program").clone();
    let mut round_trips = Vec::new();
    let mut calls = |count: usize| {
        for call in 0..count {
            w[call % d] += 1e-6;
            let began = Instant::now();
            problem.oracle(call % 4, &w, &mut work, &mut plane).unwrap();
            round_trips.push(began.elapsed().as_nanos() as u64);
        }
    };
    calls(2_000);
    let before = [resident("self"), resident(&child)];
    calls(20_000);
    let after = [resident("self"), resident(&child)];
    // Other tests run in this process meanwhile, and have taken 76 MB; a plane lost in each call would be 400 MB.
    for ((before, after), allowed) in before.iter().zip(after).zip([204_800, 2048]) {
        assert!(after <= before + allowed, "{before} kB, then {after} kB");
    }
    round_trips.sort_unstable();
    let away = problem.away(&work);
    eprintln!(
        "d = {d}, dense plane, new w each time: median {} ns, best {} ns, 90 % {} ns; last call {away:?}; {:?}",
        round_trips[round_trips.len() / 2],
        round_trips[0],
        round_trips[round_trips.len() * 9 / 10],
        (problem.pipe().fixed_ns, problem.pipe().byte_ns)
    );
}

/// Several threads have programs of their own, and no more than allowed.
fn threads_share_no_more_programs_than_allowed() {
    let built_in = served::synthetic(43);
    for most in [1, 2, 5] {
        let problem = ProgramProblem::open(Launch { programs: most, ..launch(&["usps", "43"]) }, None).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let (problem, built_in) = (&problem, &built_in);
                scope.spawn(move || {
                    let (mut work, mut plane) = (problem.work(), Plane::default());
                    let (mut other_work, mut label) = (built_in.work(), 0);
                    for round in 0..50 {
                        let w = vec![1e-4 * (thread * round) as f64; problem.dim()];
                        let i = (7 * round + thread) % 43;
                        problem.oracle(i, &w, &mut work, &mut plane).unwrap();
                        built_in.oracle(i, &w, &mut other_work, &mut label).unwrap();
                        let expected = built_in.value(i, &label, &w, &other_work);
                        assert!((problem.value(i, &plane, &w, &work) - expected).abs() < 1e-12);
                    }
                });
            }
        });
        assert_eq!(children(&["serve usps 43"]).len(), most.min(5), "one has this thread, four have the others");
    }
}

const CONFIG: &str = "name = \"faults\"\nclock = \"virtual\"\nevaluate = \"every:1\"\n[budget]\niterations = 3\n";

/// `SSVM_FAULTS` says how many; every kind equally often, beside runs of a healthy program.
fn every_fault_is_a_failed_record_and_nothing_else() {
    let count: usize = std::env::var("SSVM_FAULTS").map_or(1000, |count| count.parse().expect("a number"));
    let repeats = count.div_ceil(FAULTS.len());
    let folder = tempfile::tempdir().unwrap();
    let mut config = format!("repeats = {repeats}\n{CONFIG}");
    // A copy of this binary has a unique name.
    let copy = folder.path().join("oracle-of-this-test");
    std::fs::copy(own(), &copy).unwrap();
    let name = |options: &str, what: &str| format!("oracle:{},programs=2{options} serve {what}", copy.display());
    let healthy = name("", "usps 20");
    for what in FAULTS.iter().map(|(fault, _)| name(",limit=0.1", fault)).chain([healthy.clone()]) {
        config += &format!("[[dataset]]\nname = \"{what}\"\n");
    }
    config += "[[solver]]\nname = \"bcfw\"\n";
    std::fs::write(folder.path().join("config.toml"), config).unwrap();
    let out = folder.path().join("out");
    let paths = [folder.path().join("config.toml"), out.clone()].map(|path| path.display().to_string());
    let began = Instant::now();
    let output = bench(&["run", "--jobs", "2", &paths[0], "--out", &paths[1], "--quiet"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    let records = Store::open(&out).unwrap().scan(Folder::Runs).unwrap().records;
    assert_eq!(records.len(), repeats * (FAULTS.len() + 1));
    let failed = |record: &&RunRecord| !record.status.is_done();
    for (fault, expected) in FAULTS {
        let ours: Vec<&RunRecord> =
            records.iter().filter(|r| r.dataset().ends_with(&format!("serve {fault}"))).collect();
        assert_eq!(ours.len(), repeats, "{fault}");
        for record in ours {
            let Status::Failed(reason) = &record.status else { panic!("{fault} did not fail: {:?}", record.status) };
            // On a busy machine a program may be late before it does anything wrong.
            let clear =
                expected.split('|').any(|words| reason.contains(words)) || reason.contains("within its time limit");
            assert!(clear && reason.contains("oracle program") && !reason.contains("panicked"), "{fault}: {reason}");
        }
        let said = records.iter().filter(|r| r.status.reason().contains(&format!("last words of {fault}"))).count();
        assert!(said * 2 > repeats || ["close", "flood", "error"].contains(fault), "{fault}: {said} of {repeats}");
    }
    assert!(records.iter().filter(|r| r.dataset() == healthy).all(|r| r.status.is_done()));
    assert_eq!(records.iter().filter(failed).count(), repeats * FAULTS.len());
    assert!(all_gone(&["oracle-of-this-test", "serve"]), "{:?}", running(&["oracle-of-this-test", "serve"]));
    assert!(all_gone(&["sleep 98765"]));
    eprintln!("{} faults, {} s", repeats * FAULTS.len(), began.elapsed().as_secs());
}

fn faults_leave_no_zombie_in_a_process_that_goes_on() {
    for (fault, expected) in FAULTS.iter().filter(|(fault, _)| !["flood", "endless"].contains(fault)) {
        let problem = ProgramProblem::open(Launch { limit: Duration::from_millis(300), ..launch(&[fault]) }, None);
        let error = Solve::new(&problem.unwrap()).iterations(20).run().unwrap_err().to_string();
        let clear = expected.split('|').any(|words| error.contains(words));
        assert!(clear || error.contains("within its time limit"), "{fault}: {error}");
        assert!(!zombies_stay() && all_gone(&[&own().display().to_string(), &format!("serve {fault}")]), "{fault}");
    }
    for (fault, expected) in BAD_HELLOS {
        let start = Launch { start: Duration::from_millis(300), ..launch(&[fault]) };
        let error = ProgramProblem::open(start, None).err().expect(fault).to_string();
        assert!(error.contains(expected) || error.contains("within its time limit"), "{fault}: {error}");
        // One that explains itself is not quoted, too.
        let quoted = error.contains(&format!("last words of {fault}"));
        assert_eq!(quoted, *fault != "hello-error", "{fault}: {error}");
        assert!(!zombies_stay() && all_gone(&[&own().display().to_string(), &format!("serve {fault}")]), "{fault}");
    }
    let error = ProgramProblem::open(Launch::new("/no/such/program", ["x"]), None).err().unwrap().to_string();
    assert!(error.contains("cannot be started"), "{error}");
}

fn solve_ends_with_a_plain_message() {
    for (fault, expected) in
        [("die", "exit code 3"), ("nan", "the offset NaN"), ("hello-words", "is not an oracle program")]
    {
        let name = dataset(",limit=5", fault);
        let output = bench(&["solve", "--dataset", &name, "--solver", "mp-bcfw", "--iterations", "50"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        let last = message.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: oracle program") && last.contains(expected), "{message}");
        assert!(last.contains(&format!("last words of {fault}")) && !message.contains("panicked"), "{message}");
    }
    for (name, expected) in [
        ("oracle:", "no program is named"),
        ("oracle:/no/such/file", "there is no such file"),
        ("oracle:no-such-program-anywhere x", "it is in no folder of $PATH"),
        ("oracle:sh,limt=3", "did you mean 'limit'?"),
        ("oracle:sh 'x", "is not closed"),
    ] {
        let output = bench(&["solve", "--dataset", name, "--solver", "bcfw"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && message.contains(expected), "{message}");
    }
}

fn solve_tells_pipe_and_oracle_apart() {
    let output = bench(&[
        "solve",
        "--dataset",
        &dataset("", "usps 40"),
        "--solver",
        "fw",
        "--iterations",
        "5",
        "--format",
        "json",
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let summary: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let number = |key: &str| summary[key].as_f64().unwrap_or(f64::NAN);
    assert!(number("pipe_s") > 0.0 && number("pipe_s") + number("oracle_time_s") <= number("wall_s"), "{summary}");
    assert_eq!(summary["notes"].as_array().map(Vec::len), Some(0), "{summary}");
    assert_eq!(summary["oracle_calls"], 200);
}

fn bad_oracles_are_noticed_during_runs() {
    let spec = SolverSpec::new("mp-bcfw").with("passes", Value::Count(1));
    let notes = run(&program(&["forgetful", "40"]), &spec, 6).notes;
    assert!(notes.iter().any(|note| note.contains("not a maximiser")), "{notes:?}");
    let error = Solve::new(&program(&["negative", "40"])).iterations(6).run().unwrap_err().to_string();
    assert!(error.contains("the gap is negative in iteration 1"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "repeats = 1\n{CONFIG}[[dataset]]\nname = \"{}\"\n[[solver]]\nname = \"mp-bcfw\"\n",
        dataset("", "forgetful 40")
    );
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let paths = ["c.toml", "out"].map(|name| folder.path().join(name).display().to_string());
    let output = bench(&["run", &paths[0], "--out", &paths[1], "--quiet"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("warning") && message.contains("not a maximiser"), "{message}");
    let records = Store::open(&paths[1]).unwrap().scan(Folder::Runs).unwrap().records;
    assert!(records[0].measured.totals.notes.iter().any(|note| note.contains("not a maximiser")));
    let totals = &records[0].measured.totals;
    assert!(totals.pipe_s > 0.0 && totals.idle_s.is_some_and(|idle| idle > 0.0 && idle < totals.pipe_s), "{totals:?}");
}

fn the_test_command_finds_what_is_wrong() {
    let test =
        |what: &str, format: &str| bench(&["data", "test", &dataset("", what), "--terms", "15", "--format", format]);
    let fine = test("usps 40", "table");
    let text = String::from_utf8_lossy(&fine.stdout).into_owned();
    assert!(fine.status.success(), "{text} {}", String::from_utf8_lossy(&fine.stderr));
    for words in
        ["n = 40, d = 2560", "in the program", "the pipe:", "H_i is convex: fine", "no plane is above H_i: fine"]
    {
        assert!(text.contains(words), "{text}");
    }
    for (what, words) in [
        ("forgetful 40", vec!["the same answer to the same question", "no plane is above H_i"]),
        ("negative 40", vec!["H_i is not negative"]),
    ] {
        let output = test(what, "json");
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = found["findings"].as_array().unwrap();
        for word in words {
            assert!(findings.iter().any(|finding| finding["check"] == word && finding["term"].is_u64()), "{found}");
        }
    }
    let died = test("die", "table");
    assert_eq!(died.status.code(), Some(1), "{}", String::from_utf8_lossy(&died.stderr));
    assert!(trial(&program(&["usps", "20"]), 5, 3).unwrap().findings.is_empty());
}

fn the_identity_is_the_program_and_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let path = folder.path().join(name);
        std::fs::copy(own(), &path).unwrap();
        path.display().to_string()
    };
    let (one, two) = (copy("oracle"), copy("other"));
    let harness = Harness::standard();
    let data = DataDir::resolve(None);
    let checksum = |name: &str| harness.open(&Request::new(name, &data)).unwrap().description.checksum;
    let plain = checksum(&format!("oracle:{one} serve usps 20"));
    assert_eq!(plain, checksum(&format!("oracle:{one},limit=7 serve usps 20")));
    assert_ne!(plain, checksum(&format!("oracle:{one},version=2 serve usps 20")));
    assert_ne!(plain, checksum(&format!("oracle:{one} serve usps 21")));
    assert_ne!(plain, checksum(&format!("oracle:{two} serve usps 20")));
    let mut bytes = std::fs::read(&one).unwrap();
    bytes.push(0);
    std::fs::write(folder.path().join("new"), bytes).unwrap();
    std::fs::set_permissions(folder.path().join("new"), std::fs::metadata(&one).unwrap().permissions()).unwrap();
    std::fs::rename(folder.path().join("new"), &one).unwrap();
    assert_ne!(plain, checksum(&format!("oracle:{one} serve usps 20")));
}

/// A plan, and a dry run of a cluster, only look at a config: they start no program that it names.
fn planning_starts_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let (script, trace) = (folder.path().join("oracle"), folder.path().join("started"));
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\n", trace.display())).unwrap();
    let executable = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let name = format!("oracle:{}", script.display());
    let config = format!("repeats = 3\n{CONFIG}[[dataset]]\nname = \"{name}\"\n[[solver]]\nname = \"bcfw\"\n");
    std::fs::write(path("c.toml"), config).unwrap();
    let plan = bench(&["run", "--dry-run", &path("c.toml")]);
    let text = String::from_utf8_lossy(&plan.stdout).into_owned();
    assert!(plan.status.success() && text.contains("(size unknown)"), "{text}");
    assert!(text.contains(&format!("will start the program {}", script.display())), "{text}");
    assert!(text.contains("3 runs follow"), "{text}");
    let dry = bench(&["cluster", "submit", "--dry-run", "--shards", "2", &path("c.toml"), "--out", &path("out")]);
    let text = String::from_utf8_lossy(&dry.stdout).into_owned();
    let unknown = format!("{name}: its 3 runs are unknown, because this command does not start the program");
    assert!(dry.status.success() && text.contains(&unknown) && text.contains("array.sbatch would be"), "{text}");
    assert!(text.ends_with("nothing was written or submitted (--dry-run)\n"), "{text}");
    let shards = bench(&["cluster", "plan", &path("c.toml"), "--shards", "2"]);
    let text = String::from_utf8_lossy(&shards.stdout).into_owned();
    assert!(shards.status.success() && text.contains(&unknown) && text.contains("--shards 2 --write"), "{text}");
    let out = path("out");
    for look in [
        &["run", "--dry-run", &path("c.toml"), "--verbose", "--format", "json"][..],
        &["cluster", "plan", &path("c.toml"), "--shards", "2", "--emit", "sbatch"],
        &["cluster", "plan", &path("c.toml"), "--shards", "2", "--emit", "lines"],
        &["data", "list"],
        &["data", "check"],
        &["cluster", "status", &out],
        &["show", &out, "claims"],
        &["completions", "bash"],
        &["--no-programs", "run", &path("c.toml"), "--out", &out],
        &["reproduce", &path("c.toml"), "--out", &out, "--no-programs"],
        &["solve", "--dataset", &name, "--solver", "bcfw", "--no-programs"],
        &["data", "optimum", &name, "--no-programs"],
        &["data", "test", &name, "--no-programs"],
    ] {
        let output = bench(look);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!trace.exists(), "{look:?} started the program");
        let refused = format!("oracle program '{}' is not started: --no-programs refuses it", script.display());
        assert!(!look.contains(&"--no-programs") || text.contains(&refused), "{look:?}: {text}");
    }
    let write = ["--quiet", "cluster", "plan", &path("c.toml"), "--out", &path("out"), "--shards", "2", "--write"];
    let missing = bench(&write);
    assert!(!missing.status.success() && trace.exists(), "identities need the program");
    let text = String::from_utf8_lossy(&missing.stderr);
    assert!(
        text.contains(&format!("starts programs on this machine; --no-programs refuses them:\n  {name}\n")),
        "{text}"
    );
}

/// The whole way: plan, run with two workers, resume, profile, league, report, gate.
fn everything_works_with_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        format!("repeats = 2\n{CONFIG}[[dataset]]\nname = \"{}\"\n[[solver]]\nname = \"*\"\n", dataset("", "usps 30"));
    std::fs::write(folder.path().join("c.toml"), config).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let fine = |arguments: &[&str]| {
        let output = bench(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(fine(&["run", "--dry-run", &path("c.toml")]).contains("serve usps 30"));
    let ran = fine(&["run", &path("c.toml"), "--out", &path("out"), "--jobs", "2", "--quiet", "--format", "json"]);
    assert!(ran.contains("\"failed\":[]"), "{ran}");
    let again = fine(&["run", &path("c.toml"), "--out", &path("out"), "--quiet", "--format", "json"]);
    assert!(again.contains("\"finished\":0"), "{again}");
    assert!(fine(&["show", &path("out"), "oracle"]).contains("pipe"));
    fine(&["show", &path("out"), "claims"]);
    fine(&["report", &path("out")]);
    fine(&["check", &path("out"), "--save", &path("baseline.toml")]);
    assert!(fine(&["check", &path("out"), "--baseline", &path("baseline.toml")]).contains("same"));
    let priced = std::fs::read_to_string(path("c.toml")).unwrap();
    let priced = priced.replace("name = \"*\"", "name = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"");
    let priced = format!("oracle_cost = [1, 64]\n{priced}").replace("iterations = 3", "iterations = 400\ngap = 0.002");
    std::fs::write(path("p.toml"), priced.replace("repeats = 2", "repeats = 5")).unwrap();
    fine(&["run", &path("p.toml"), "--out", &path("priced"), "--quiet"]);
    let advice = fine(&["advise", "--results", &path("priced"), "--dataset", "oracle", "--oracle-cost", "8"]);
    let words: Vec<&str> = advice.split_whitespace().collect();
    assert!(words.join(" ").contains("k = 8.00"), "{advice}");
}

/// A program that does not answer is ended with its run, so that its worker is free long before the limit of the call.
fn a_run_that_times_out_ends_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let name = dataset(",limit=1000", "hang");
    let config = format!(
        "repeats = 2\ntimeout_s = 1\n{CONFIG}[[dataset]]\nname = \"{name}\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"fw\"\n"
    );
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("c.toml"), config.replace("iterations = 3", "iterations = 1000")).unwrap();
    for jobs in ["1", "2"] {
        let began = Instant::now();
        let out = path(jobs);
        let output = bench(&["run", &path("c.toml"), "--out", &out, "--jobs", jobs, "--quiet"]);
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        // Four runs of about a second; each held its worker for a minute more.
        assert!(began.elapsed() < Duration::from_secs(50), "{} s", began.elapsed().as_secs());
        let records = Store::open(&out).unwrap().scan(Folder::Runs).unwrap().records;
        assert_eq!(records.len(), 4);
        for record in &records {
            assert!(matches!(record.status, Status::TimedOut { after_s } if after_s < 20.0), "{:?}", record.status);
        }
    }
    assert!(all_gone(&[&own().display().to_string(), "serve hang"]));
}

fn interrupted(arguments: &[&str], tag: &str) {
    let mut child =
        crate::common::program().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while running(&[tag, "serve hang"]).len() < 2 {
        assert!(Instant::now() < deadline, "the program did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    // It hangs after some calls; until then the signal may come at any time.
    std::thread::sleep(Duration::from_millis(700));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(all_gone(&[tag, "serve"]), "{:?}", running(&[tag, "serve"]));
}

fn ctrl_c_ends_programs_that_hang() -> Result<(), Skipped> {
    trials::heard(Signal::SIGINT)?;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("oracle-that-hangs");
    std::fs::copy(own(), &copy).unwrap();
    let name = format!("oracle:{},limit=600 serve hang", copy.display());
    interrupted(&["solve", "--dataset", &name, "--solver", "bcfw", "--iterations", "1000"], "oracle-that-hangs");
    let config = format!("repeats = 1\n{CONFIG}[[dataset]]\nname = \"{name}\"\n[[solver]]\nname = \"bcfw\"\n");
    std::fs::write(folder.path().join("c.toml"), config.replace("iterations = 3", "iterations = 1000")).unwrap();
    let paths = ["c.toml", "out"].map(|name| folder.path().join(name).display().to_string());
    interrupted(&["run", &paths[0], "--out", &paths[1], "--quiet"], "oracle-that-hangs");
    let records = Store::open(&paths[1]).unwrap().scan(Folder::Runs).unwrap().records;
    assert!(records.is_empty(), "an interrupted run leaves no record: {:?}", records[0].status);
    Ok(())
}

/// Python with these modules.
fn python(modules: &[&str]) -> Result<String, Skipped> {
    let python = trials::program(&["python3", "python"])?;
    for module in modules {
        let imported = Command::new(&python).args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
        if !imported.is_ok_and(|status| status.success()) {
            return Err(Skipped(format!("needs the Python module {module}")));
        }
    }
    Ok(python)
}

fn solved(name: &str, solver: &str) -> Vec<serde_json::Value> {
    let mut arguments = vec!["solve", "--dataset", name, "--solver", solver, "--iterations", "4", "--clock", "virtual"];
    arguments.extend(["--evaluate", "every:1", "--format", "json"]);
    if solver.starts_with("mp-bcfw") {
        arguments.extend(["--set", "passes=3"]);
    }
    let output = bench(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SOLVERS: [&str; 4] = ["fw", "bcfw", "mp-bcfw", "one-slack"];

/// The same duals and primals at every evaluation.
fn agree(program: &str, built_in: &str, solvers: &[&str]) {
    for solver in solvers {
        let (theirs, ours) = (solved(program, solver), solved(built_in, solver));
        assert_eq!(theirs.len(), ours.len());
        for (theirs, ours) in theirs.iter().zip(&ours) {
            for key in ["dual", "primal"] {
                let [a, b] = [theirs, ours].map(|point| point[key].as_f64().expect("a number"));
                assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{solver} {key}: {a} {b}");
            }
        }
        assert_eq!(theirs.last().unwrap()["notes"].as_array().map(Vec::len), Some(0));
    }
}

fn python_digits_agree_with_the_built_in_oracle() -> Result<(), Skipped> {
    let python = python(&["numpy", "sklearn"])?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("digits.libsvm").display().to_string();
    let mut digits = Command::new(&python);
    digits.args(["examples/digits_oracle.py", "--libsvm", &file]).env("PYTHONPATH", PACKAGE);
    let made = digits.status().unwrap();
    assert!(made.success());
    let program = format!("oracle:{python} examples/digits_oracle.py");
    let tested = bench(&["data", "test", &program]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    agree(&program, &format!("libsvm:{file}"), &SOLVERS);
    Ok(())
}

fn python_cuts_agree_with_the_built_in_oracle() -> Result<(), Skipped> {
    let python = python(&["numpy", "maxflow"])?;
    let graphs = "tests/fixtures/reference/twins/graphcut.npz";
    let program = format!("oracle:{python} examples/segment_oracle.py {graphs}");
    let tested = bench(&["data", "test", &program]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    agree(&program, &format!("graph:{graphs}"), &SOLVERS);
    Ok(())
}

fn python_cuts_agree_on_the_real_horses() -> Result<(), Skipped> {
    let python = python(&["numpy", "maxflow"])?;
    let data = trials::official("horses")?.path.display().to_string();
    let prepared = bench(&["data", "prepare", "horses", "--data-dir", &data]);
    assert!(prepared.status.success(), "{}", String::from_utf8_lossy(&prepared.stderr));
    let graphs = String::from_utf8_lossy(&prepared.stdout).trim().to_owned();
    agree(&format!("oracle:{python} examples/segment_oracle.py {graphs}"), &format!("graph:{graphs}"), &["mp-bcfw"]);
    Ok(())
}

/// What the examples do not use: bounds, a truth that is not 0, a λ, a version, print(), an exception.
const PYTHON: &str = r#"
import sys
sys.path.insert(0, "python")
import numpy as np
from ssvm_bench import Oracle, Plane

class Hinges(Oracle):
    """H_i(w) = max(0, 1 - a_i w) with the truth's plane a_i w in every plane; bounds are a little too high."""
    n, d, lambda_, exact, truth_is_zero, version = 5, 3, 0.25, False, False, "two words"
    a = np.arange(15.0).reshape(5, 3) / 7.0

    def max_oracle(self, i, w):
        if len(sys.argv) > 1 and i == 3:
            print("about to fail")
            raise KeyError("a key\nthat is missing")
        lose = 1.0 - self.a[i] @ w > 0
        values = np.zeros(3) if lose else self.a[i]
        bound = max(1.0, self.a[i] @ w) / self.n + 0.01
        return Plane(values / self.n, float(lose) / self.n, bound=bound, key=str(lose))

    def truth(self, i):
        return self.a[i] / self.n, 0.0

Hinges().serve()
"#;

fn python_programs_may_use_everything() -> Result<(), Skipped> {
    let python = python(&["numpy"])?;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("hinges.py");
    std::fs::write(&script, PYTHON).unwrap();
    let name = format!("oracle:{python} {}", script.display());
    let data = DataDir::resolve(None);
    let opened = Harness::standard().open(&Request::new(&name, &data)).unwrap();
    assert_eq!((opened.problem.terms(), opened.problem.weights(), opened.problem.lambda()), (5, 3, 0.25));
    let points = solved(&name, "mp-bcfw");
    let last = points.last().unwrap();
    // P* by the same formula; 5 bounds are 0.01 too high.
    let number = |key: &str| last[key].as_f64().unwrap();
    assert!((number("oracle_slack") - 0.05).abs() < 1e-9 && number("gap") >= 0.05 - 1e-9, "{last}");
    let w_is_1d = number("dual");
    assert!(w_is_1d > 0.0 && number("primal") > w_is_1d, "{last}");
    let output = bench(&["solve", "--dataset", &format!("{name} fail"), "--solver", "bcfw"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("hinges.py' reported an error when asked for term 3: KeyError: 'a key\\nthat is missing'"),
        "{message}"
    );
    assert!(message.contains("about to fail"), "{message}");
    Ok(())
}

crate::trials![
    every_solver_follows_the_built_in_oracle,
    usps_through_the_protocol_is_usps,
    w_is_sent_when_it_changes_and_announced_answers_arrive,
    memory_does_not_grow_and_the_round_trip_is_short,
    threads_share_no_more_programs_than_allowed,
    every_fault_is_a_failed_record_and_nothing_else,
    faults_leave_no_zombie_in_a_process_that_goes_on,
    solve_ends_with_a_plain_message,
    solve_tells_pipe_and_oracle_apart,
    bad_oracles_are_noticed_during_runs,
    the_test_command_finds_what_is_wrong,
    the_identity_is_the_program_and_what_it_says,
    planning_starts_no_program,
    everything_works_with_a_program,
    a_run_that_times_out_ends_its_program,
    ctrl_c_ends_programs_that_hang,
    python_digits_agree_with_the_built_in_oracle,
    python_cuts_agree_with_the_built_in_oracle,
    python_cuts_agree_on_the_real_horses,
    python_programs_may_use_everything,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "serve") {
        return match served::main(&arguments[1..]) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    trials::run(trials())
}
