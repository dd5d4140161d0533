//! The gate of timings: paired rounds with made-up noise, result folders, and the command.

use std::path::Path;

use crate::common::runs;
use assert_cmd::Command;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use ssvm_bench::ClockKind;
use ssvm_bench::gate::rounds::{self, Design, Side};
use ssvm_bench::gate::workload::{self, WorkDone};
use ssvm_bench::gate::{Finding, Judgement, folders, measure};
use ssvm_bench::store::RunRecord;
use ssvm_bench::store::folder::{Folder, Store};

/// A machine whose speed drifts, with noise of ±3 % and one run in ten disturbed by up to a half; the new side takes
/// `factor` times as long.
fn noisy_gate(seed: u64, factor: f64) -> Vec<Finding> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut drift = 1.0;
    let run = |_: &workload::Workload, side: Side| {
        drift *= 1.001;
        let spike = if unit() < 0.1 { 1.0 + 0.5 * unit() } else { 1.0 };
        let cpu_s = 0.02 * drift * spike * (1.0 + 0.06 * (unit() - 0.5)) * if side == Side::New { factor } else { 1.0 };
        Ok(WorkDone { cpu_s, oracle_calls: 5, approx_steps: 0 })
    };
    rounds::compare(&workload::standard()[..1], &Design::default(), run, |_| {}).unwrap()
}

#[test]
fn noise_raises_no_alarm_and_ten_percent_are_found() {
    let verdicts =
        |factor: f64| -> Vec<Judgement> { (0..100).map(|seed| noisy_gate(seed, factor)[0].judgement).collect() };
    let count = |verdicts: &[Judgement], which| verdicts.iter().filter(|verdict| **verdict == which).count();
    let (same, slower, faster) = (verdicts(1.0), verdicts(1.1), verdicts(1.0 / 1.1));
    assert_eq!(count(&same, Judgement::Worse), 0);
    assert!(count(&slower, Judgement::Worse) >= 90, "{}", count(&slower, Judgement::Worse));
    assert!(count(&faster, Judgement::Better) >= 90, "{}", count(&faster, Judgement::Better));
    assert_eq!(noisy_gate(3, 1.1), noisy_gate(3, 1.1));
}

#[test]
fn rounds_alternate_and_a_drift_cancels() {
    let mut order = String::new();
    let mut seconds = 0.02;
    let run = |_: &workload::Workload, side: Side| {
        order.push(if side == Side::Old { 'A' } else { 'B' });
        seconds *= 1.05;
        Ok(WorkDone { cpu_s: seconds, oracle_calls: 1, approx_steps: if side == Side::Old { 2 } else { 3 } })
    };
    let design = Design { rounds: 6, ..Design::default() };
    let findings = rounds::compare(&workload::standard()[..1], &design, run, |_| {}).unwrap();
    assert_eq!(order, format!("AB{}", "ABBABAAB".repeat(3)));
    let ratio = findings[0].ratio.unwrap();
    assert!((ratio.low.unwrap() - 1.0).abs() < 1e-12 && (ratio.high.unwrap() - 1.0).abs() < 1e-12, "{ratio:?}");
    assert!(findings[0].note.contains("2 and 3 approximate steps"), "{}", findings[0].note);
    let too_few = Design { rounds: 4, ..design };
    let run = |_: &workload::Workload, _| -> ssvm_bench::Result<WorkDone> { unreachable!() };
    assert!(rounds::compare(&[], &too_few, run, |_| {}).is_err());
}

#[test]
fn a_change_that_the_rounds_cannot_support_is_undecided() {
    let slower = |workloads: usize, rounds: usize, confidence: f64| {
        let mut at = 0;
        let run = |_: &workload::Workload, side: Side| {
            at += 1;
            let cpu_s = (1.0 + 0.001 * f64::from(at % 7)) * if side == Side::New { 1.5 } else { 1.0 };
            Ok(WorkDone { cpu_s, oracle_calls: 1, approx_steps: 0 })
        };
        let design = Design { rounds, confidence, ..Design::default() };
        rounds::compare(&workload::standard()[..workloads], &design, run, |_| {}).unwrap()
    };
    for (workloads, rounds, confidence, needed) in [(1, 5, 0.9999, 15), (1, 5, 0.95, 6), (8, 8, 0.95, 9)] {
        for finding in slower(workloads, rounds, confidence) {
            assert_eq!(finding.judgement, Judgement::Undecided, "{finding:?}");
            let note = format!("{rounds} rounds are too few for this confidence; {needed} are needed");
            assert!(finding.note.contains(&note), "{}", finding.note);
        }
        for finding in slower(workloads, needed, confidence) {
            assert_eq!((finding.judgement, finding.note.as_str()), (Judgement::Worse, ""), "{finding:?}");
        }
    }
}

fn side(repeats: u64, time_s: f64, clock: ClockKind) -> Vec<RunRecord> {
    let jitter = |repeat: u64| 1.0 + 0.002 * repeat as f64;
    let run = |repeat| {
        let mut record = runs::made_up("set", "mp-bcfw", repeat, 10, time_s * jitter(repeat));
        record.identity.settings.clock = clock;
        record
    };
    (0..repeats).map(run).collect()
}

fn folder_verdicts(old: &[RunRecord], new: &[RunRecord]) -> Vec<(String, Judgement)> {
    let (old, new) = (measure::by_cell(old).unwrap(), measure::by_cell(new).unwrap());
    let findings = folders::compare(&old, &new, &Design::default()).unwrap().findings;
    findings.into_iter().map(|finding| (finding.metric, finding.judgement)).collect()
}

#[test]
fn folders_are_compared_by_repeat() {
    let old = side(7, 0.5, ClockKind::WALL);
    let verdict = |new: &[RunRecord], metric: &str| {
        let verdicts = folder_verdicts(&old, new);
        verdicts.iter().find(|(name, _)| name == metric).unwrap_or_else(|| panic!("{verdicts:?}")).1
    };
    assert_eq!(verdict(&old, "cpu_s to gap 0.3"), Judgement::Same);
    let slower = side(7, 0.6, ClockKind::WALL);
    assert_eq!(verdict(&slower, "cpu_s to gap 0.3"), Judgement::Worse);
    assert_eq!(verdict(&slower, "cpu_s at the end"), Judgement::Worse);
    assert_eq!(verdict(&slower, "oracle_calls to gap 0.3"), Judgement::Same);
    assert_eq!(verdict(&side(7, 0.4, ClockKind::WALL), "cpu_s to gap 0.3"), Judgement::Better);
    // Few repeats of a noisy clock are shown, not judged; the virtual clock has no noise.
    assert_eq!(verdict(&slower[..4], "cpu_s to gap 0.3"), Judgement::NotJudged);
    let pair = (side(1, 0.5, ClockKind::VIRTUAL), side(1, 0.6, ClockKind::VIRTUAL));
    assert!(folder_verdicts(&pair.0, &pair.1).contains(&("time_s at the end".into(), Judgement::Worse)));
    let within = folder_verdicts(&pair.0, &side(1, 0.51, ClockKind::VIRTUAL));
    assert!(within.contains(&("time_s at the end".into(), Judgement::Same)), "{within:?}");
    // What cannot be compared is said.
    assert!(folder_verdicts(&old, &pair.1).contains(&("inputs".into(), Judgement::Changed)), "two clocks");
    let (old, other) = (measure::by_cell(&old).unwrap(), vec![runs::made_up("other", "bcfw", 0, 1, 1.0)]);
    assert!(folders::compare(&old, &measure::by_cell(&other).unwrap(), &Design::default()).is_err());
}

/// Runs that got this part of a core.
fn beside_others(mut runs: Vec<RunRecord>, share: f64) -> Vec<RunRecord> {
    for (at, run) in runs.iter_mut().enumerate() {
        let totals = &mut run.measured.totals;
        (totals.wall_s, totals.cpu_s) = (1.0, if at % 2 == 0 { share } else { 1.0 });
    }
    runs
}

/// CPU time is 0.7 of the wall time of a run that waits for its oracle program; what matters is the rest of the wall time.
#[test]
fn the_wait_for_an_oracle_program_is_not_a_busy_machine() {
    let old = beside_others(side(7, 0.5, ClockKind::WALL), 1.0);
    let waited = |idle_s: Option<f64>| {
        let mut runs = beside_others(side(7, 0.6, ClockKind::WALL), 0.7);
        for run in &mut runs {
            let totals = &mut run.measured.totals;
            (totals.cpu_s, totals.pipe_s, totals.idle_s) = (0.7, 0.4, idle_s);
        }
        folder_verdicts(&old, &runs).into_iter().find(|(metric, _)| metric == "cpu_s at the end").unwrap().1
    };
    assert_eq!(waited(Some(0.3)), Judgement::Worse, "it worked whenever it could");
    assert_eq!(waited(Some(0.1)), Judgement::Undecided, "it could have worked in 0.9 s");
    assert_eq!(waited(None), Judgement::Worse, "not known in records of an earlier version");
}

#[test]
fn times_of_a_busy_machine_are_undecided() {
    let old = beside_others(side(7, 0.5, ClockKind::WALL), 1.0);
    let slower = side(7, 0.6, ClockKind::WALL);
    let worse = ("cpu_s at the end".to_owned(), Judgement::Worse);
    assert!(folder_verdicts(&old, &beside_others(slower.clone(), 0.95)).contains(&worse));
    let busy = folder_verdicts(&old, &beside_others(slower.clone(), 0.8));
    assert!(busy.contains(&("cpu_s at the end".into(), Judgement::Undecided)), "{busy:?}");
    assert!(
        busy.contains(&("oracle_calls to gap 0.3".into(), Judgement::Same)),
        "calls depend on no machine: {busy:?}"
    );
    assert!(
        folder_verdicts(&beside_others(slower, 0.8), &old).iter().all(|(_, verdict)| *verdict != Judgement::Better)
    );
}

#[test]
fn a_change_that_the_repeats_cannot_support_is_undecided() {
    let change = |repeats| folder_verdicts(&side(repeats, 0.5, ClockKind::WALL), &side(repeats, 0.6, ClockKind::WALL));
    let end = |judgement| ("cpu_s at the end".to_owned(), judgement);
    for few in [5, 6] {
        assert!(change(few).contains(&end(Judgement::Undecided)), "{:?}", change(few));
    }
    assert!(change(7).contains(&end(Judgement::Worse)));
}

#[test]
fn a_required_time_that_cannot_be_judged_fails() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    stored(&old, &beside_others(side(7, 0.5, ClockKind::WALL), 1.0));
    stored(&new, &beside_others(side(7, 0.6, ClockKind::WALL), 0.5));
    let output = program().arg("compare").args([&old, &new]).assert().code(0).get_output().clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("could not be judged"), "{said}");
    assert_eq!(said.matches("(drift)").count(), 1, "{said}");
    program().arg("compare").args([&old, &new]).args(["--require", "time"]).assert().code(2);
    program().arg("compare").args([&old, &old]).args(["--require", "time"]).assert().code(0);
}

fn program() -> Command {
    let mut command = Command::cargo_bin("ssvm-bench").unwrap();
    command.env_remove("GITHUB_STEP_SUMMARY");
    command
}

fn stored(dir: &Path, records: &[RunRecord]) {
    let (store, _lock) = Store::create(dir).unwrap();
    for record in records {
        store.write(Folder::Runs, record).unwrap();
    }
}

#[test]
fn the_command_compares_folders() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    stored(&old, &side(7, 0.5, ClockKind::CPU));
    stored(&new, &side(7, 0.6, ClockKind::CPU));
    program().arg("compare").args([&old, &old]).assert().code(0);
    let output = program().arg("compare").args([&old, &new]).assert().code(2).get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text.lines().find(|line| line.contains("time_s to gap 0.3")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.starts_with("WORSE") && row.contains("set/mp-bcfw") && row.contains("+20.0 % (+"), "{row}");
    program().arg("compare").args([&old, &new]).args(["--noise-threshold", "0.3"]).assert().code(0);
}

#[test]
fn the_command_drives_builds_and_solvers() {
    let this = assert_cmd::cargo::cargo_bin("ssvm-bench");
    let short = ["--only", "usps-synth:n=20/mp-bcfw", "--iterations", "3", "--rounds", "6"];
    // No verdict on time in a test: the threshold is out of reach.
    let run = |arguments: &[&str]| {
        let mut command = program();
        command.env("COLUMNS", "1000").arg("compare").args(short).args(["--noise-threshold", "0.99"]).args(arguments);
        command.assert()
    };
    let output = run(&["--against", this.to_str().unwrap()]).code(0).get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("usps-synth:n=20/mp-bcfw  solver time (CPU s)"), "{text}");
    assert!(!text.contains("not the same work"), "{text}");
    let output =
        program().env("COLUMNS", "1000").arg("compare").args(short).args(["--versus", "bcfw"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("not the same work"), "{output:?}");
    for (arguments, words) in [
        (vec!["--against", "/no/such/program"], "no build and no commit is called '/no/such/program'"),
        (vec!["--against", "/bin/true"], "ends without a summary"),
        (vec![], "nothing to compare; name two result folders"),
    ] {
        let output = run(&arguments).code(1).get_output().clone();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(words), "{text}");
    }
}

/// A package of one file in a folder of a repository with two commits and a change that is not committed.
#[test]
fn a_commit_and_the_present_files_are_built_in_one_folder() {
    use ssvm_bench::gate::build::Builds;
    let dir = tempfile::tempdir().unwrap();
    let package = dir.path().join("tool");
    let write = |name: &str, text: &str| std::fs::write(package.join(name), text).unwrap();
    let git = |arguments: &[&str]| {
        let all = [&["-c", "user.name=a", "-c", "user.email=b"], arguments].concat();
        let output = std::process::Command::new("git").current_dir(dir.path()).args(all).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::create_dir_all(package.join("src")).unwrap();
    write("Cargo.toml", "[package]\nname = \"tool\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    let main = |text: &str| write("src/main.rs", &format!("fn main() {{ print!(\"{text} {{}}\", file!()) }}"));
    git(&["init", "--quiet"]);
    std::fs::write(dir.path().join(".gitignore"), "target\nCargo.lock\n").unwrap();
    for text in ["first", "second"] {
        main(text);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", text]);
    }
    main("changed");
    let before = git(&["status", "--porcelain"]);
    let builds = Builds::of(&package, "tool".into()).unwrap();
    let says = |commit: String| {
        let program = builds.build(&commit).unwrap();
        String::from_utf8(std::process::Command::new(program).output().unwrap().stdout).unwrap()
    };
    assert_eq!(says(builds.commit("HEAD~1").unwrap()), "first src/main.rs");
    assert_eq!(says(builds.now().unwrap()), "changed src/main.rs");
    // The same files are not compiled again, and nothing of the repository has changed.
    let times = |commit: String| builds.build(&commit).unwrap().metadata().unwrap().modified().unwrap();
    assert_eq!(times(builds.now().unwrap()), times(builds.now().unwrap()));
    assert_eq!((git(&["status", "--porcelain"]), git(&["worktree", "list"]).lines().count()), (before, 1));
    let message = builds.commit("no-such-branch").unwrap_err().to_string();
    assert!(message.starts_with("no build and no commit is called 'no-such-branch'; "), "{message}");
    write("src/main.rs", "fn main() {");
    let message = builds.build(&builds.now().unwrap()).unwrap_err().to_string();
    assert!(message.contains("does not build") && message.contains("the messages of Cargo are above"), "{message}");
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1);
}
