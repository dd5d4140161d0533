//! Shards: the same bits as one machine in any number, order and number of times, with kills; folders that merge in any
//! order, and those that must not; timing that says where it comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::runs;
use ssvm_bench::experiment::Experiment;
use ssvm_bench::experiment::Plan;
use ssvm_bench::run::shard::merge::merge;
use ssvm_bench::run::shard::{self, Split};
use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::store::manifest::{ConfigText, Host, Manifest, Session};
use ssvm_bench::store::{RunRecord, Status};
use ssvm_bench::study::Study;
use ssvm_bench::{Catalog, ClockKind, DataDir, Harness, OracleCost};

const CONFIG: &str = r#"name = "shards"
repeats = 4
clock = "virtual"
oracle_cost = [1, 8]
evaluate = "every:1"
[budget]
iterations = 6
[[dataset]]
name = "usps-synth:n=150"
[[dataset]]
name = "ocr-synth:n=40"
[[solver]]
name = "bcfw"
[[solver]]
name = "mp-bcfw"
[[solver]]
name = "mp-bcfw-avg"
"#;

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new(config: &str) -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::write(bench.path("config.toml"), config).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::common::program();
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a call that must work.
    fn fine(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The message of a call that must end with exit code 1.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    fn shard(&self, out: &str, which: &str) -> Output {
        self.call(&["run", "config.toml", "--out", out, "--shard", which, "--quiet", "--format", "json"])
    }

    fn merged(&self, folders: &[&str], out: &str) -> serde_json::Value {
        serde_json::from_str(
            &self.fine(&[&["cluster", "merge"], folders, &["--out", out, "--format", "json"]].concat()),
        )
        .unwrap()
    }
}

/// What is the same on every machine, by run.
fn bits(folder: &Path) -> BTreeMap<String, String> {
    let contents = Store::open(folder).unwrap().scan(Folder::Runs).unwrap();
    assert!(contents.damaged.is_empty(), "{:?}", contents.damaged);
    let text = |record: &RunRecord| {
        let points = record.points().iter().map(|point| ssvm_bench::TracePoint { cpu_s: 0.0, ..point.clone() });
        format!("{:?} {:?}", record.status, points.collect::<Vec<_>>())
    };
    contents.records.iter().map(|record| (record.run_id(), text(record))).collect()
}

fn plan_of(text: &str) -> Plan {
    let harness = Harness::standard();
    let experiment = Experiment::parse(Path::new("test.toml"), text, harness.solvers()).unwrap();
    Plan::new(&experiment, &harness, &DataDir::resolve(None)).unwrap()
}

fn split(plan: &Plan, shards: usize) -> Split {
    shard::split(plan, shards, |_| true, |run| run.model_s)
}

#[test]
fn every_run_is_in_one_shard_and_what_belongs_together_stays_together() {
    for clock in ["virtual", "wall", "cpu"] {
        let plan = plan_of(&CONFIG.replace("\"virtual\"", &format!("\"{clock}\"")));
        for shards in [1, 2, 3, 7, 64] {
            let split = split(&plan, shards);
            assert_eq!(split, self::split(&plan, shards));
            assert_eq!(split.shards.len(), shards);
            let mut place = BTreeMap::new();
            for (at, shard) in split.shards.iter().enumerate() {
                for id in &shard.runs {
                    assert_eq!(place.insert(id.clone(), at), None, "{id} is in two shards");
                }
            }
            assert_eq!(place.len(), plan.runs.len());
            for run in &plan.runs {
                if let Some(from) = &run.projected_from {
                    assert_eq!(place[from], place[&run.run_id], "{} is not where it follows from", run.label());
                }
                if clock != "virtual" {
                    let mates = plan.runs.iter().filter(|other| (other.set, other.repeat) == (run.set, run.repeat));
                    let places: BTreeSet<usize> = mates.map(|mate| place[&mate.run_id]).collect();
                    assert_eq!(places.len(), 1, "{} and its rivals are timed on several machines", run.label());
                }
            }
        }
    }
}

#[test]
fn shards_have_the_same_estimated_cost() {
    let plan = plan_of(&CONFIG.replace("repeats = 4", "repeats = 50").replace("\"virtual\"", "\"wall\""));
    for shards in [2, 4, 16] {
        assert!(split(&plan, shards).imbalance() < 0.15, "{shards} shards: {}", split(&plan, shards).imbalance());
    }
}

/// 1, 4 and 16 shards, in another order each time, half of them killed at first, some run twice.
#[test]
fn shards_in_any_number_and_order_with_kills_give_the_bits_of_one_machine() {
    let bench = Bench::new(CONFIG);
    bench.fine(&["run", "config.toml", "--out", "one", "--quiet", "--format", "json"]);
    let expected = bits(&bench.path("one"));
    for (count, step) in [(1, 1), (4, 3), (16, 5)] {
        let out = format!("out{count}");
        let order = || (0..count).map(|k| k * step % count + 1);
        for (k, shard) in order().enumerate().filter(|(k, _)| k % 2 == 0) {
            let which = format!("{shard}/{count}");
            let arguments = ["run", "config.toml", "--out", &out, "--shard", &which, "--quiet", "--format", "json"];
            let mut child = bench.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(20 * (k as u64 % 9)));
            // It may have ended already.
            let _ = child.kill();
            child.wait().unwrap();
        }
        for shard in order() {
            assert!(bench.shard(&out, &format!("{shard}/{count}")).status.success());
        }
        assert!(bench.shard(&out, &format!("1/{count}")).status.success(), "a shard that is done is no error");
        let merged = bench.merged(&[&out], &out);
        assert_eq!(merged["runs"], expected.len());
        assert_eq!((merged["failed"].clone(), merged["contradictions"].clone()), (0.into(), serde_json::json!([])));
        assert_eq!(bits(&bench.path(&out)), expected, "{count} shards");
    }
}

#[test]
fn a_shard_run_by_two_nodes_at_once_is_merged_once() {
    let bench = Bench::new(CONFIG);
    let arguments = ["run", "config.toml", "--out", "out", "--shard", "1/1", "--quiet", "--format", "json"];
    let start = || bench.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
    let both = [start(), start(), start()];
    for mut child in both {
        assert!(child.wait().unwrap().success());
    }
    let merged = bench.merged(&["out"], "out");
    assert_eq!((merged["folders"].as_u64(), merged["runs"].as_u64()), (Some(3), Some(48)));
    bench.fine(&["run", "config.toml", "--out", "one", "--quiet", "--format", "json"]);
    assert_eq!(bits(&bench.path("out")), bits(&bench.path("one")));
}

#[test]
fn an_id_file_says_which_runs_and_a_shard_does_not_repeat_what_is_done() {
    let bench = Bench::new(CONFIG);
    let lines = bench.fine(&["cluster", "plan", "config.toml", "--shards", "3", "--emit", "lines"]);
    assert_eq!(lines.lines().count(), 4, "{lines}");
    std::fs::write(bench.path("ids"), &lines).unwrap();
    let run = |which: &str| {
        let arguments =
            ["run", "config.toml", "--out", "out", "--ids", "ids", "--shard", which, "--quiet", "--format", "json"];
        serde_json::from_str::<serde_json::Value>(&bench.fine(&arguments)).unwrap()
    };
    let second = lines.lines().nth(2).unwrap().split(' ').count();
    assert_eq!(run("2/3")["finished"], second);
    let again = run("2/3");
    assert_eq!((again["already"].clone(), again["finished"].clone()), (second.into(), 0.into()));
    let missing = ["cluster", "plan", "config.toml", "--out", "out", "--shards", "2", "--missing", "--emit", "json"];
    let left: serde_json::Value = serde_json::from_str(&bench.fine(&missing)).unwrap();
    let runs = left["shards"].as_array().unwrap().iter().map(|shard| shard["runs"].as_array().unwrap().len());
    assert_eq!(runs.sum::<usize>(), 48 - second);
    let everything = bench.fine(&["run", "config.toml", "--out", "out", "--ids", "ids", "--quiet", "--format", "json"]);
    assert!(everything.contains(&format!("\"already\":{second}")), "{everything}");
    assert_eq!(bench.merged(&["out"], "out")["runs"], 48);
    for (content, which, message) in [
        (lines.replace("plan=", "plan=0"), "1/3", "another plan"),
        (lines.clone(), "1/4", "has 3 shards"),
        (lines.lines().take(3).collect::<Vec<_>>().join("\n"), "1/3", "has 2 of its 3 shards"),
        (lines.rsplit_once(' ').unwrap().0.to_owned() + "\n", "1/3", "has 47 of its 48 runs"),
        (String::new(), "1/1", "contains no runs"),
        ("0123456789abcdef0123\n".to_owned(), "1/1", "is not in the plan"),
        ("what is this\n".to_owned(), "1/1", "not the identity of a run"),
        (lines.replace("shards=3", "shards=x"), "1/3", "not part of a header"),
    ] {
        std::fs::write(bench.path("wrong"), content).unwrap();
        let arguments = ["run", "config.toml", "--out", "out", "--ids", "wrong", "--shard", which, "--format", "json"];
        let error = bench.refused(&arguments);
        assert!(error.contains("wrong") || error.contains("config.toml"), "no file is named: {error}");
        assert!(error.contains(message), "{error}");
    }
}

/// Each machine would solve the paper's price for itself, and they would not be in the same plan.
#[test]
fn the_paper_s_price_is_solved_once_for_all_nodes() {
    let timed =
        CONFIG.replace("\"virtual\"", "\"wall\"").replace("[1, 8]", "\"paper\"").replace("repeats = 4", "repeats = 1");
    let bench = Bench::new(&timed);
    let error = bench.refused(&["run", "config.toml", "--out", "out", "--shard", "1/2", "--format", "json"]);
    assert!(error.contains("each machine would solve") || error.contains("price"), "{error}");
    // A plan computes nothing: the list is made by `--write`.
    let plan = ["cluster", "plan", "config.toml", "--out", "out", "--shards", "2"];
    for emit in [&[][..], &["--emit", "lines"], &["--emit", "json"]] {
        let error = bench.refused(&[&plan[..], emit].concat());
        let advice = "does not do: solve the paper's oracle cost; `ssvm-bench cluster plan config.toml --out out --shards 2 --write`";
        assert!(error.contains(advice) && error.contains("then repeat `cluster plan`"), "{error}");
    }
    let split = ["config.toml", "--out", "out"];
    let submit = [&["cluster", "submit"], &split[..], &["--dry-run", "--shards"]].concat();
    let error = bench.refused(&[&submit[..], &["2"]].concat());
    assert!(
        error.contains("--out out --shards 2 --write`") && error.contains("then repeat `cluster submit`"),
        "{error}"
    );
    let error = bench.refused(&[&["run"], &split[..], &["--ids", "out/shards.txt", "--shard", "1/2"]].concat());
    assert!(error.contains("`ssvm-bench cluster plan config.toml --out out --shards 2 --write` writes"), "{error}");
    assert!(bench.fine(&[&plan[..], &["--emit", "hq"]].concat()).contains("--array 1-2"));
    let ids = bench.fine(&[&plan[..], &["--write"]].concat());
    assert_eq!(ids, "out/shards.txt\n");
    let lines = std::fs::read_to_string(bench.path("out/shards.txt")).unwrap();
    assert!(lines.contains("{\"dataset\":\"usps-synth:n=150\",") && lines.contains("\"clock\":\"wall\""), "{lines}");
    // The costs are known from here on.
    assert_eq!(bench.fine(&[&plan[..], &["--emit", "lines"]].concat()), lines);
    let error = bench.refused(&[&submit[..], &["3"]].concat());
    assert!(error.contains("shards.txt has 2 shards"), "{error}");
    let ids = "out/shards.txt";
    for which in ["1/2", "2/2"] {
        bench.fine(&[
            "run",
            "config.toml",
            "--out",
            "out",
            "--ids",
            ids,
            "--shard",
            which,
            "--quiet",
            "--format",
            "json",
        ]);
    }
    assert_eq!(bench.merged(&["out"], "out")["runs"], 6);
}

/// Nothing is computed for a folder that another process writes to.
#[test]
fn a_folder_is_locked_before_the_paper_s_price_is_solved() {
    let bench = Bench::new(&CONFIG.replace("[1, 8]", "\"paper\""));
    let lock = Store::create(bench.path("out")).unwrap();
    let error = bench.refused(&["run", "config.toml", "--out", "out", "--format", "json"]);
    assert!(error.contains("is writing into this folder") && !error.contains("the paper's oracle cost on"), "{error}");
    drop(lock);
    let fine = bench.call(&["run", "config.toml", "--out", "out", "--format", "json"]);
    assert!(String::from_utf8_lossy(&fine.stderr).contains("the paper's oracle cost on"));
}

/// SIGUSR1: the runs in flight end, no other is started.
#[cfg(unix)]
#[test]
fn a_shard_that_is_told_its_time_is_over_stops_between_runs() {
    let bench = Bench::new(&CONFIG.replace("iterations = 6", "iterations = 3000"));
    let arguments = ["run", "config.toml", "--out", "out", "--shard", "1/1", "--jobs", "1", "--format", "json"];
    let child = bench.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let records = || {
        let shards = bench.path("out/shards").read_dir().into_iter().flatten();
        shards.flat_map(|shard| shard.unwrap().path().join("runs").read_dir().into_iter().flatten()).count()
    };
    let began = Instant::now();
    while records() == 0 {
        assert!(began.elapsed() < Duration::from_mins(5), "no run ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), nix::sys::signal::Signal::SIGUSR1).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("are left; continue with") && error.contains("--shard 1/1"), "{error}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let finished = report["finished"].as_u64().unwrap();
    assert!((1..48).contains(&finished), "{report}");
    assert_eq!(records() as u64, finished);
}

/// A result folder with these records, from one session.
fn folder(dir: &Path, config: &str, shard: &str, records: &[RunRecord]) -> PathBuf {
    let store = Store::create_private(dir).unwrap();
    let config = ConfigText { name: config.to_owned(), sha256: format!("{config:x<64}"), text: config.to_owned() };
    let session = Session {
        config: config.sha256.clone(),
        started_unix_s: 1000,
        ended_unix_s: Some(2000),
        jobs: 1,
        isolated: false,
        code: ssvm_bench::run::host::code(),
        host: Host { name: format!("node of {shard}"), ..Host::default() },
        finished: records.len() as u64,
        failed: 0,
        peak_memory: 0,
        shard: shard.to_owned(),
        plan: String::new(),
    };
    let manifest = Manifest { configs: vec![config], sessions: vec![session], ..Manifest::default() };
    store.write_manifest(&manifest).unwrap();
    for record in records {
        store.write(Folder::Runs, record).unwrap();
    }
    dir.to_owned()
}

fn timed(repeat: u64, seconds: f64) -> RunRecord {
    let mut settings = runs::settings("bcfw", repeat, 3);
    settings.clock = ClockKind::WALL;
    runs::record("usps-synth", &settings, repeat, vec![runs::point(3, seconds, 2.0, 1.0)])
}

/// Everything in a folder that a merge wrote, but for the times of files.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for part in ["runs", "damaged"] {
        for entry in folder.join(part).read_dir().into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = format!("{part}/{}", path.file_name().unwrap().to_string_lossy());
            all.insert(name, std::fs::read(path).unwrap());
        }
    }
    all.insert("manifest.json".to_owned(), std::fs::read(folder.join("manifest.json")).unwrap());
    all
}

#[test]
fn merging_is_idempotent_associative_and_keeps_the_better_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let failed = |repeat| RunRecord { status: Status::Failed("panicked: so".to_owned()), ..timed(repeat, 9.0) };
    let stolen = |repeat, steal| {
        let mut record = timed(repeat, 1.0 + steal);
        record.environment.steal = steal;
        record
    };
    let of_shard = |mut record: RunRecord, shard: &str| {
        shard.clone_into(&mut record.environment.shard);
        record
    };
    let a = folder(&path("a"), "c", "a", &[failed(0), stolen(1, 0.5), of_shard(timed(2, 1.0), "a")]);
    let b = folder(&path("b"), "c", "b", &[timed(0, 1.0), stolen(1, 0.2), of_shard(stolen(2, 0.1), "b")]);
    let c = folder(&path("c"), "c", "c", &[failed(0), stolen(1, 0.3), timed(3, 1.0)]);
    std::fs::write(c.join("runs/0123456789abcdef0123.parquet"), b"PAR1 is not enough").unwrap();
    let all = |inputs: &[&PathBuf], out: &str| {
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| (*path).clone()).collect();
        (merge(&inputs, &path(out)).unwrap(), content(&path(out)))
    };
    let (merged, expected) = all(&[&a, &b, &c], "abc");
    assert_eq!((merged.runs, merged.failed, merged.doubles, merged.damaged.len()), (4, 0, 5, 1), "{merged:?}");
    assert!(merged.damaged[0].contains("0123456789abcdef0123"), "{merged:?}");
    assert!(expected.contains_key("damaged/c.0123456789abcdef0123.parquet"));
    let kept = Store::open(path("abc")).unwrap().scan(Folder::Runs).unwrap().records;
    let steal: Vec<f64> = kept.iter().map(|record| record.environment.steal).collect();
    assert_eq!(steal, [0.0, 0.2, 0.0, 0.0]);
    assert_eq!(kept[2].environment.shard, "a", "the machine that nothing was stolen from");
    assert!(kept.iter().all(|record| record.status.is_done()));

    assert_eq!(all(&[&a, &b, &c], "abc").1, expected, "again");
    assert_eq!(all(&[&c, &b, &a], "cba").1, expected, "in another order");
    let ab = (all(&[&b, &a], "ab"), path("ab")).1;
    assert_eq!(all(&[&ab, &c], "ab-c").1, expected, "in two steps");
    let bc = (all(&[&c, &b], "bc"), path("bc")).1;
    let runs = |all: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        all.iter().filter(|(name, _)| !name.starts_with("damaged")).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    assert_eq!(runs(&all(&[&a, &bc], "a-bc").1), runs(&expected), "in two other steps");
    all(&[&a], "one-by-one");
    all(&[&b], "one-by-one");
    assert_eq!(all(&[&c], "one-by-one").1, expected, "into what is there");
    let names: Vec<_> = path("abc/runs").read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "temporary names are left behind: {names:?}");
}

#[test]
fn folders_of_different_plans_data_or_prices_are_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let base = folder(&path("base"), "c", "", &[timed(0, 1.0)]);
    let refused = |other: &Path, message: &str| {
        let error = merge(&[base.clone(), other.to_owned()], &path("out")).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(!path("out").exists(), "something was written");
    };
    refused(&folder(&path("config"), "d", "", &[timed(1, 1.0)]), "merge only folders of the same configs");
    let mut data = timed(0, 1.0);
    data.identity.problem.checksum = "other".to_owned();
    refused(&folder(&path("data"), "c", "", &[data]), "differs in code or data");
    let mut code = timed(0, 1.0);
    code.identity.code_version = "other".to_owned();
    refused(&folder(&path("code"), "c", "", &[code]), "differs in code or data");
    let mut model = timed(0, 1.0);
    model.identity.cost_model = Some(987);
    refused(&folder(&path("model"), "c", "", &[model]), "cost model 987");
    for (name, price) in [("base", 2.0), ("price", 3.0)] {
        folder(&path(name), "c", "", &[timed(0, 1.0)]);
        let store = Store::open(path(name)).unwrap();
        let mut manifest = store.manifest().unwrap();
        let problem = timed(0, 1.0).identity.problem;
        manifest.paper_costs.0.insert((problem, ClockKind::WALL), OracleCost::new(price).unwrap());
        store.write_manifest(&manifest).unwrap();
    }
    refused(&path("price"), "the paper's oracle cost of usps-synth (λ = 0.1) on the wall clock");
    refused(&path("nowhere"), "does not exist");
    std::fs::create_dir(path("empty")).unwrap();
    refused(&path("empty"), "contains no results");
}

#[test]
fn two_records_of_a_repeatable_clock_that_differ_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let record =
        |primal| runs::record("usps-synth", &runs::settings("bcfw", 0, 3), 0, vec![runs::point(3, 1.0, primal, 1.0)]);
    let a = folder(&dir.path().join("a"), "c", "a", &[record(2.0)]);
    let same = folder(&dir.path().join("b"), "c", "b", &[record(2.0)]);
    let other = folder(&dir.path().join("c"), "c", "c", &[record(2.5)]);
    let out = dir.path().join("out");
    assert_eq!(merge(&[a.clone(), same], &out).unwrap().contradictions, [""; 0]);
    let merged = merge(&[a, other], &out).unwrap();
    assert!(merged.contradictions[0].contains("usps-synth bcfw #0"), "{merged:?}");
}

/// Seconds of machines of different kinds are different lines.
#[test]
fn times_of_different_machines_are_not_put_together() {
    let dir = tempfile::tempdir().unwrap();
    let on = |class: &str, shard: &str, repeat| {
        let mut record = timed(repeat, 1.0);
        class.clone_into(&mut record.environment.host_class);
        shard.clone_into(&mut record.environment.shard);
        record
    };
    let a = folder(&dir.path().join("a"), "c", "a", &[on("old", "a", 0), on("old", "a", 1)]);
    let b = folder(&dir.path().join("b"), "c", "b", &[on("new", "b", 2)]);
    let out = dir.path().join("out");
    merge(&[a, b], &out).unwrap();
    let results = Study::open(&out, &Harness::standard(), &[]).unwrap();
    let mut lines: Vec<(String, usize)> =
        results.own.series.iter().map(|series| (series.label.clone(), series.completed)).collect();
    lines.sort();
    assert_eq!(lines, [("bcfw (host=new)".to_owned(), 1), ("bcfw (host=old)".to_owned(), 2)]);
}

#[test]
fn a_folder_of_shards_says_what_to_do() {
    let bench = Bench::new(CONFIG);
    assert!(bench.shard("out", "1/40").status.success());
    let error = bench.refused(&["figures", "out"]);
    assert!(error.contains("merge out --out out"), "{error}");
    bench.fine(&["run", "config.toml", "--out", "out", "--only", "ocr*/bcfw", "--quiet", "--format", "json"]);
    let output = bench.call(&["run", "config.toml", "--out", "out", "--format", "json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("not merged yet") || bench.merged(&["out"], "out")["folders"] == 1, "{said}");
    for wrong in [["--shard", "0/2"], ["--shard", "3/2"], ["--shard", "x"]] {
        bench.refused(&["run", "config.toml", "--out", "out", wrong[0], wrong[1]]);
    }
    bench.refused(&["run", "config.toml", "--out", "out", "--shard", "1/2", "--force", "--format", "json"]);
    bench.refused(&["cluster", "merge", "out"]);
    bench.refused(&["cluster", "plan", "config.toml", "--shards", "0"]);
    bench.refused(&["run", "--dry-run", "config.toml", "--emit", "lines"]);
}

/// A pipe would be waited for, a device has no end, and what a link points to is not ours.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_named_and_not_copied() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let a = folder(&path("a"), "c", "a", &[timed(0, 1.0)]);
    let name = |digit: char| a.join("runs").join(format!("{}.parquet", digit.to_string().repeat(20)));
    nix::unistd::mkfifo(&name('1'), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("/dev/zero", name('2')).unwrap();
    std::fs::create_dir(name('3')).unwrap();
    std::fs::write(path("mine"), "nobody's business").unwrap();
    std::os::unix::fs::symlink(path("mine"), name('4')).unwrap();
    let b = folder(&path("b"), "c", "b", &[timed(1, 1.0)]);
    std::fs::remove_file(b.join("manifest.json")).unwrap();
    nix::unistd::mkfifo(&b.join("manifest.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let c = folder(&path("c"), "c", "c", &[timed(2, 1.0)]);
    std::fs::write(c.join("manifest.json"), "{").unwrap();
    let merged = merge(&[a, b, c], &path("out")).unwrap();
    assert_eq!(merged.runs, 3);
    for file in ["1111", "2222", "3333", "4444", "b/manifest.json", "c/manifest.json"] {
        assert!(merged.damaged.iter().any(|line| line.contains(file)), "{file}: {merged:?}");
    }
    let kept: Vec<_> = path("out/damaged").read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(kept, ["c.manifest.json"]);
}

#[test]
fn the_same_plan_in_other_words_is_the_same_plan() {
    let bench = Bench::new(CONFIG);
    assert!(bench.shard("a", "1/2").status.success());
    std::fs::write(bench.path("config.toml"), format!("# on another node\n{CONFIG}")).unwrap();
    assert!(bench.shard("b", "2/2").status.success());
    assert_eq!(bench.merged(&["a", "b"], "out")["runs"], 48);
    std::fs::write(bench.path("config.toml"), CONFIG.replace("iterations = 6", "iterations = 7")).unwrap();
    assert!(bench.shard("c", "2/2").status.success());
    assert!(
        bench
            .refused(&["cluster", "merge", "a", "c", "--out", "no"])
            .contains("merge only folders of the same configs")
    );
    // Into one folder, as `run` does it, with a word.
    assert!(bench.shard("a", "2/2").status.success());
    let output = bench.call(&["cluster", "merge", "a", "--out", "a"]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("several configs"));
}

/// A shard that goes on elsewhere times the solvers of a data set and seed there, all of them.
#[test]
fn a_block_that_another_machine_began_is_timed_anew() {
    let bench = Bench::new(&CONFIG.replace("\"virtual\"", "\"wall\"").replace("[1, 8]", "1"));
    let run = || -> serde_json::Value {
        let arguments = ["run", "config.toml", "--out", "out", "--shard", "1/1", "--quiet", "--format", "json"];
        serde_json::from_str(&bench.fine(&arguments)).unwrap()
    };
    assert_eq!(run()["finished"], 24);
    let shard = bench.path("out/shards").read_dir().unwrap().next().unwrap().unwrap().path();
    let store = Store::open(&shard).unwrap();
    let records = store.scan(Folder::Runs).unwrap().records;
    for mut record in records.clone() {
        record.environment.host = "elsewhere".to_owned();
        store.write(Folder::Runs, &record).unwrap();
    }
    assert_eq!(run()["finished"], 0, "whole blocks stay where they were timed");
    std::fs::remove_file(store.path(Folder::Runs, &records[0].run_id())).unwrap();
    let merged = bench.merged(&["out"], "before");
    assert_eq!((merged["runs"].clone(), merged["across"].clone()), (23.into(), serde_json::json!([])));
    let again = run();
    assert_eq!(
        (again["finished"].clone(), again["already"].clone()),
        (3.into(), 21.into()),
        "one block of three solvers"
    );
    let merged = bench.merged(&["out"], "out");
    assert_eq!((merged["runs"].clone(), merged["across"].clone()), (24.into(), serde_json::json!([])));
    // One of them alone from the other machine would be seen.
    let shards: Vec<PathBuf> =
        bench.path("out/shards").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    let last = shards.iter().find(|folder| folder.join("runs").read_dir().unwrap().count() == 3).unwrap();
    let one = Store::open(last).unwrap().path(Folder::Runs, &records[0].run_id());
    std::fs::create_dir_all(bench.path("part/runs")).unwrap();
    std::fs::copy(&one, bench.path("part/runs").join(one.file_name().unwrap())).unwrap();
    let across = bench.merged(&["before", "part"], "mixed")["across"].clone();
    assert_eq!(across.as_array().unwrap().len(), 1, "{across}");
}
