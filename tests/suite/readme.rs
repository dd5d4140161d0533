//! `readme`: which numbers may be published.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::records::{point, results, run};
use assert_cmd::Command;
use ssvm_bench::ClockKind;
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::manifest::{Inflation, Manifest};
use ssvm_bench::study::busy::Disturbed;
use ssvm_bench::study::{Origin, Summary};

/// A folder with a page that shows a summary of this origin.
fn published(origin: Option<Origin>) -> tempfile::TempDir {
    let clock = if origin.as_ref().is_some_and(|origin| !origin.timed) { ClockKind::VIRTUAL } else { ClockKind::WALL };
    published_as(origin, clock, "0.1.0")
}

/// The same of runs on a clock, made by this code.
fn published_as(origin: Option<Origin>, clock: ClockKind, code: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut record = run("usps", "bcfw", 0, vec![point(1, 0.5, 2.0, 1.0), point(2, 1.0, 1.5, 1.1)]);
    record.identity.settings.clock = clock;
    let study = results(vec![record]);
    let summary = Summary { origin, code: code.to_owned(), ..Summary::of(&study, dir.path()) };
    summary.write(&dir.path().join("s.json")).unwrap();
    page(dir.path(), "stale");
    dir
}

fn page(dir: &Path, body: &str) {
    page_of(dir, "s.json", body);
}

fn page_of(dir: &Path, results: &str, body: &str) {
    let text = format!("<!-- made by: ssvm-bench show {results} claims --format markdown -->\n{body}\n<!-- end -->\n");
    std::fs::write(dir.join("page.md"), text).unwrap();
}

fn readme(dir: &Path, action: &str) -> assert_cmd::assert::Assert {
    Command::cargo_bin("ssvm-bench")
        .unwrap()
        .env("COLUMNS", "1000")
        .current_dir(dir)
        .args(["readme", action, "--file", "page.md"])
        .assert()
}

fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

fn of(commit: &str, interference: Option<f64>) -> Origin {
    let commits = BTreeMap::from([(commit.to_owned(), 3)]);
    Origin { commits, timed: true, isolated: false, interference, ..Origin::default() }
}

/// Alone on the machine, but for what is no run of this program.
fn busy(few: usize, runs: usize) -> Origin {
    let disturbed = BTreeMap::from([("usps".to_owned(), Disturbed { few, runs, solver: None })]);
    Origin { isolated: true, disturbed, ..of("0123456789ab", None) }
}

#[test]
fn uncommitted_code_and_disturbed_times_are_not_published() {
    let isolated = Origin { isolated: true, ..of("0123456789ab", None) };
    let virtual_time = Origin { timed: false, ..of("0123456789ab", None) };
    for fine in [isolated, virtual_time, of("0123456789ab", Some(1.03)), of("0123456789ab", Some(0.97)), busy(2, 10)] {
        let dir = published(Some(fine));
        assert!(stderr(&readme(dir.path(), "check").failure()).contains("differs from the output of its command"));
        readme(dir.path(), "refresh").success();
        let checked = readme(dir.path(), "check").success();
        assert!(!stderr(&checked).contains("exception"), "{}", stderr(&checked));
    }
    let mut two_commits = of("0123456789ab", Some(1.0));
    two_commits.commits.insert("ba9876543210".to_owned(), 1);
    for (origin, reason) in [
        (
            Some(of("0123456789ab-dirty", Some(1.0))),
            "3 runs were made by code that is not committed (0123456789ab-dirty)",
        ),
        (Some(of("unknown", Some(1.0))), "not committed (unknown)"),
        (Some(of("0123456789ab", Some(1.1))), "took up to 1.10 times as long as isolated ones; run with --isolated"),
        (Some(of("0123456789ab", None)), "was not measured; run with --isolated"),
        (
            Some(of("0123456789ab", Some(-5.0))),
            "-5.00 times as long as isolated ones, so the measurement was disturbed",
        ),
        (Some(of("0123456789ab", Some(0.1))), "0.100 times as long as isolated ones, so the measurement was disturbed"),
        (
            Some(of("0123456789ab", Some(0.96))),
            "0.960 times as long as isolated ones, so the measurement was disturbed",
        ),
        (Some(busy(3, 10)), "the machine was busy: 3 of 10 runs on usps got less than 90 % of a core"),
        (Some(Origin { commits: BTreeMap::new(), ..of("", Some(1.0)) }), "does not say which commit made it"),
        (Some(two_commits), "its runs were made by 2 commits (0123456789ab, ba9876543210)"),
        (None, "does not say which commit made it"),
    ] {
        let dir = published(origin);
        for action in ["check", "refresh"] {
            let told = stderr(&readme(dir.path(), action).failure());
            assert!(told.contains("s.json cannot be published: ") && told.contains(reason), "{told}");
        }
        assert!(std::fs::read_to_string(dir.path().join("page.md")).unwrap().contains("stale"), "it was published");
    }
}

/// A file that says one thing and shows another, or names a commit that this repository does not have.
#[test]
fn what_a_summary_says_of_itself_is_checked() {
    let clean = || Origin { isolated: true, ..of("0123456789ab", None) };
    let untimed = Origin { timed: false, ..clean() };
    for (dir, reason) in [
        (published_as(Some(untimed), ClockKind::WALL, "0.1.0"), "shows times of the wall clock"),
        (published_as(Some(clean()), ClockKind::WALL, "0.1.0+1 0123456789ab-dirty"), "0123456789ab-dirty"),
    ] {
        let told = stderr(&readme(dir.path(), "refresh").failure());
        assert!(told.contains("s.json cannot be published: ") && told.contains(reason), "{told}");
    }
    let dir = published(Some(clean()));
    let git = |words: &str| {
        let words = words.split_whitespace();
        std::process::Command::new("git").current_dir(dir.path()).args(words).output().unwrap().status.success()
    };
    assert!(git("init -q") && git("-c user.name=a -c user.email=a@b commit -q --allow-empty -m x"));
    let told = stderr(&readme(dir.path(), "refresh").failure());
    assert!(told.contains("commit 0123456789ab is not in the history of this repository"), "{told}");
}

#[test]
fn verdicts_of_earlier_rules_say_so() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/summary");
    let shown = |words: &[&str]| {
        let output = Command::cargo_bin("ssvm-bench").unwrap().current_dir(&folder).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for words in [
        &["show", "paper.json", "claims"][..],
        &["show", "paper.json", "claims", "--part", "matrix", "--format", "markdown"],
        &["show", "league.json", "league"],
    ] {
        assert!(shown(words).replace('\n', " ").contains("those of an earlier version (code 0.1.0+"), "{words:?}");
    }
}

/// What a command reads decides, not how the words of the command end.
#[cfg(unix)]
#[test]
fn no_name_lets_uncommitted_numbers_through() {
    let dir = published(Some(of("0123456789ab-dirty", Some(1.0))));
    let names = ["DIRTY.JSON", "dirty.txt", "dirty", "link"];
    for name in &names[..3] {
        std::fs::copy(dir.path().join("s.json"), dir.path().join(name)).unwrap();
    }
    std::os::unix::fs::symlink("s.json", dir.path().join("link")).unwrap();
    // A result folder needs no manifest.
    let record = run("usps", "bcfw", 0, vec![point(1, 0.5, 2.0, 1.0), point(2, 1.0, 1.5, 1.1)]);
    let store = Store::create_private(dir.path().join("folder")).unwrap();
    store.write(Folder::Runs, &record).unwrap();
    let mut passed = Vec::new();
    for (name, reason) in names.map(|name| (name, "not committed")).into_iter().chain([("folder", "a result folder")]) {
        page_of(dir.path(), name, "stale");
        for action in ["refresh", "check"] {
            let assert = readme(dir.path(), action);
            if assert.get_output().status.success() || !stderr(&assert).contains(reason) {
                passed.push((action, name, stderr(&assert)));
            }
        }
    }
    assert!(passed.is_empty(), "{passed:#?}");
    // A command that reads results in another way has no place on a page.
    std::fs::write(
        dir.path().join("page.md"),
        "<!-- made by: ssvm-bench run smoke --dry-run --out folder -->\nx\n<!-- end -->\n",
    )
    .unwrap();
    assert!(stderr(&readme(dir.path(), "refresh").failure()).contains("cannot be shown on a page"));
}

#[test]
fn a_summary_from_before_is_published_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/summary/quick.json");
    std::fs::copy(&known, dir.path().join("s.json")).unwrap();
    page(dir.path(), "stale");
    let told = stderr(&readme(dir.path(), "refresh").success());
    assert!(told.contains("note: s.json is still an exception: made by uncommitted code"), "{told}");
    readme(dir.path(), "check").success();
    // Not one byte of it may change.
    std::fs::write(dir.path().join("s.json"), std::fs::read_to_string(known).unwrap() + "\n").unwrap();
    assert!(stderr(&readme(dir.path(), "check").failure()).contains("does not say which commit made it"));
}

#[test]
fn the_origin_is_that_of_the_records() {
    let mut records: Vec<_> = (0..3).map(|repeat| run("usps", "bcfw", repeat, vec![point(1, 0.5, 2.0, 1.0)])).collect();
    for record in &mut records {
        (record.environment.commit, record.environment.jobs) = ("aa".to_owned(), 1);
    }
    let manifest = Manifest::default();
    let origin = Origin::of(&records, &manifest);
    assert_eq!((origin.is_mixed(), origin.objections().len(), origin.isolated), (false, 0, true));
    // Isolated, and disturbed by what is no run of this program.
    let mut shared = records.clone();
    for record in &mut shared[1..] {
        record.identity.settings.clock = ClockKind::WALL;
        (record.measured.totals.wall_s, record.measured.totals.cpu_s) = (2.0, 1.0);
    }
    let origin = Origin::of(&shared, &manifest);
    assert!(origin.isolated && origin.disturbed["usps"].few == 2, "{origin:?}");
    assert!(origin.objections().concat().contains("the machine was busy: 2 of "), "{:?}", origin.objections());
    let disturbed = Manifest {
        interference: [0.8, 1.0].map(|ratio| Inflation { ratio, ..Inflation::default() }).into(),
        ..manifest.clone()
    };
    assert_eq!(Origin::of(&records, &disturbed).interference, Some(0.8));
    records[2].environment.commit = "aa-dirty".to_owned();
    records[1].environment.jobs = 2;
    let mut inflated = manifest.clone();
    inflated.interference = [1.01, 1.2, 0.9].map(|ratio| Inflation { ratio, ..Inflation::default() }).into();
    let origin = Origin::of(&records, &inflated);
    assert_eq!(origin.commits, BTreeMap::from([("aa".to_owned(), 2), ("aa-dirty".to_owned(), 1)]));
    assert_eq!((origin.is_mixed(), origin.objections().len(), origin.interference), (true, 3, Some(1.2)));
}

/// Once on the page, red when there is more than one answer.
#[test]
fn the_report_shows_which_commit_made_its_runs() {
    let mut records: Vec<_> = (0..2).map(|repeat| run("usps", "bcfw", repeat, vec![point(1, 0.5, 2.0, 1.0)])).collect();
    let show = |records: &[_], commits: [&str; 2]| {
        let mut records = records.to_vec();
        for (record, commit) in records.iter_mut().zip(commits) {
            let record: &mut ssvm_bench::store::RunRecord = record;
            commit.clone_into(&mut record.environment.commit);
        }
        crate::common::hand::page("x", &results(records)).unwrap()
    };
    let page = show(&records, ["0123456789ab"; 2]);
    assert_eq!(page.matches("Made by commit 0123456789ab (2 runs) of ssvm-bench.").count(), 1);
    assert!(!page.contains("Not made by one commit"));
    let red = r#"<span class="worse">Not made by one commit: "#;
    let page = show(&records, ["0123456789ab", "ba9876543210"]);
    assert!(page.contains(&format!("{red}0123456789ab (1 run), ba9876543210 (1 run).</span>")));
    records.truncate(1);
    let page = show(&records, ["0123456789ab-dirty", ""]);
    assert!(page.contains(r#"<span class="worse">Made by uncommitted ssvm-bench: 0123456789ab-dirty (1 run).</span>"#));
}
