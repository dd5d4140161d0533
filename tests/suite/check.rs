//! The gate of counters: verdicts of the pure function, baseline files, the command and the files it writes.

use std::path::{Path, PathBuf};

use crate::common::{runs, sessions};
use assert_cmd::Command;
use serde_json::Value;
use ssvm_bench::gate::baseline::Provenance;
use ssvm_bench::gate::{Baseline, Finding, Judgement, counters, measure, output};
use ssvm_bench::render::tables::findings;
use ssvm_bench::store::keys::CellKey;
use ssvm_bench::store::{RunRecord, Status};

fn sample() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for solver in ["bcfw", "mp-bcfw"] {
        records.extend((0..2).map(|repeat| runs::made_up("set:n=5", solver, repeat, 10 + repeat, 0.125)));
    }
    records
}

fn baseline(records: &[RunRecord]) -> Baseline {
    Baseline::of(&measure::cells(records).unwrap(), &[], Provenance::default()).unwrap()
}

fn judge(baseline: &Baseline, records: &[RunRecord]) -> Vec<Finding> {
    counters::judge(baseline, &measure::cells(records).unwrap(), &[])
}

/// The verdicts that are not "same", as (metric, verdict).
fn noted(findings: &[Finding]) -> Vec<(String, Judgement)> {
    let noted = findings.iter().filter(|finding| finding.judgement != Judgement::Same);
    noted.map(|finding| (format!("{} {}", finding.cell, finding.metric), finding.judgement)).collect()
}

#[test]
fn targets_are_the_tightest_round_gaps_that_all_repeats_reach() {
    let mut records = sample();
    let cells = measure::cells(&records).unwrap();
    let runs = cells.values().next().unwrap();
    // Gaps go from 1 to 1/12.
    assert_eq!(measure::targets(runs, &[], 1.0), [0.3, 0.1]);
    assert_eq!(measure::targets(runs, &[2.0, 0.5, 0.2, 0.01], 1.0), [0.5, 0.2]);
    records[1].measured.points.truncate(8);
    let cells = measure::cells(&records).unwrap();
    assert_eq!(measure::targets(cells.values().next().unwrap(), &[], 1.0), [0.3]);
    // An inexact oracle: what lies below zero says nothing.
    records[0].measured.points[11].gap = -0.5;
    let cells = measure::cells(&records).unwrap();
    assert_eq!(measure::targets(cells.values().next().unwrap(), &[], 1.0), [0.3]);
}

#[test]
fn counters_are_compared_exactly() {
    let old = sample();
    let baseline = baseline(&old);
    assert_eq!(noted(&judge(&baseline, &old)), []);

    let mut worse = sample();
    worse[3].measured.points[3].oracle_calls += 1;
    let findings = judge(&baseline, &worse);
    assert_eq!(noted(&findings), [("set:n=5/mp-bcfw oracle_calls to gap 0.3".into(), Judgement::Worse)]);
    let message = findings.iter().find(|f| f.judgement.fails()).unwrap().message();
    assert_eq!(message, "set:n=5 mp-bcfw: oracle_calls to gap 0.3 44 → 45 (+2.3 %); repeat 1");

    let mut better = sample();
    better[0].measured.points[3].approx_steps -= 1;
    assert_eq!(noted(&judge(&baseline, &better)), [("set:n=5/bcfw approx_steps to gap 0.3".into(), Judgement::Better)]);

    // One repeat better, the other worse: worse.
    better[1].measured.points[3].approx_steps += 1;
    assert_eq!(noted(&judge(&baseline, &better))[0].1, Judgement::Worse);
}

/// All lines of a gap deleted by hand, or lost in a merge: the gate would no longer look there.
#[test]
fn a_gap_that_is_gone_from_the_baseline_fails() {
    let records = sample();
    let mut cut = baseline(&records);
    cut.cells.values_mut().for_each(|values| values.metrics.retain(|metric, _| metric.gap != Some(0.3)));
    let missing = ["bcfw", "mp-bcfw"].map(|solver| (format!("set:n=5/{solver} gap 0.3"), Judgement::Missing));
    assert_eq!(noted(&judge(&cut, &records)), missing);
    // A solver that gets further than before is better.
    let whole = baseline(&records);
    let mut further = sample();
    for record in further.iter_mut().take(2) {
        let last = record.measured.points.last_mut().unwrap();
        (last.primal, last.gap) = (last.dual + 0.02, 0.02);
    }
    assert!(noted(&judge(&whole, &further)).contains(&("set:n=5/bcfw gap 0.03".into(), Judgement::Better)));
}

/// Work after the tightest gap, and all work of a solver without a dual, costs as much as any other.
#[test]
fn costs_at_the_end_are_metrics_of_every_solver() {
    let old = sample();
    let mut longer = sample();
    longer[3].measured.points[11].oracle_calls += 1;
    let worse = |metric: &str| (format!("set:n=5/mp-bcfw {metric} at the end"), Judgement::Worse);
    assert_eq!(noted(&judge(&baseline(&old), &longer)), [worse("oracle_calls")]);

    // A solver without a dual reaches no gap.
    let no_dual = |records: Vec<RunRecord>| -> Vec<RunRecord> {
        let bare = |mut record: RunRecord| {
            for point in &mut record.measured.points {
                (point.dual, point.dual_solution, point.gap) = (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY);
            }
            record
        };
        records.into_iter().map(bare).collect()
    };
    let baseline = baseline(&no_dual(old));
    let mut slower = no_dual(sample());
    slower[2].measured.points[11].time_s *= 2.0;
    slower[3].measured.points[11].approx_steps += 5;
    let findings = noted(&judge(&baseline, &slower));
    assert_eq!(findings, [worse("approx_steps"), worse("time_s")]);
}

#[test]
fn objective_values_have_a_tolerance_and_no_good_direction() {
    let baseline = baseline(&sample());
    for (change, verdict) in [
        (0.9e-9, None),
        (1.2e-9, Some(Judgement::Changed)),
        (-1.2e-9, Some(Judgement::Changed)),
        (f64::NAN, Some(Judgement::Changed)),
    ] {
        let mut records = sample();
        records[0].measured.points[11].dual *= 1.0 + change;
        let expected: Vec<_> =
            verdict.map(|verdict| ("set:n=5/bcfw dual at the end".to_owned(), verdict)).into_iter().collect();
        assert_eq!(noted(&judge(&baseline, &records)), expected, "{change}");
    }
}

#[test]
fn what_is_missing_on_either_side_fails() {
    let full = baseline(&sample());
    // A cell that is gone, a cell that is new.
    let fewer = sample().split_off(2);
    assert_eq!(noted(&judge(&full, &fewer)), [("set:n=5/bcfw all metrics".into(), Judgement::Missing)]);
    let small = baseline(&fewer);
    assert_eq!(noted(&judge(&small, &sample())), [("set:n=5/bcfw all metrics".into(), Judgement::Missing)]);
    // A repeat that is gone.
    assert_eq!(noted(&judge(&full, &sample()[1..])), [("set:n=5/bcfw repeats".into(), Judgement::Missing)]);
    // A gap that is not reached any more.
    let mut short = sample();
    short[2].measured.points.truncate(9);
    let findings = noted(&judge(&full, &short));
    assert!(findings.contains(&("set:n=5/mp-bcfw time_s to gap 0.1".into(), Judgement::Missing)), "{findings:?}");
    // A metric that the baseline does not have.
    let mut thin = full.clone();
    let values = thin.cells.get_mut(&CellKey::new("set:n=5", "bcfw")).unwrap();
    let metric = *values.metrics.keys().next().unwrap();
    values.metrics.remove(&metric);
    assert_eq!(noted(&judge(&thin, &sample())).len(), 1);
    // A failed run, and data that is not the baseline's.
    let mut failed = sample();
    failed[0].status = Status::Failed("panicked: no".into());
    let findings = judge(&full, &failed);
    assert_eq!(noted(&findings), [("set:n=5/bcfw all metrics".into(), Judgement::Missing)]);
    assert!(findings[0].message().contains("panicked: no"));
    let mut other = sample();
    other[0].identity.problem.checksum = "other".into();
    assert_eq!(noted(&judge(&full, &other)), [("set:n=5/bcfw inputs".into(), Judgement::Changed)]);
}

#[test]
fn baselines_read_back_exactly_and_complain_with_a_line() {
    let mut records = sample();
    records[0].measured.points[11].primal = 0.1 + 0.2;
    records[1].measured.points[11].primal = 1e-300;
    let old = baseline(&records);
    let text = old.text();
    let path = Path::new("b.toml");
    assert_eq!(Baseline::parse(path, &text).unwrap(), old);
    let line = |metric: &str, values: &str| {
        format!("  {{ dataset = \"set:n=5\", solver = {{ name = \"bcfw\" }}, {metric}, values = [{values}] }},\n")
    };
    let calls = line("gap = 0.3, column = \"oracle_calls\"", "40, 44");
    assert!(text.contains(&calls) && text.contains(&line("column = \"time_s\"", "1.5, 1.5")), "{text}");
    let at = text[..text.find(&calls).unwrap()].lines().count() + 1;
    let unknown = |at: usize, key: &str| format!("b.toml:{at}: not a baseline: unknown field `{key}`");
    let inputs = text.lines().nth(17).unwrap().to_owned() + "\n";
    for (from, to, complaint) in [
        (
            "format = 2",
            "format = 1",
            "layout 1, but this program reads layout 2; correct the file, or make it again with".to_owned(),
        ),
        ("\"oracle_calls\"", "\"oracle_cals\"", format!("b.toml:{at}: not a baseline: unknown variant `oracle_cals`")),
        ("[40, 44]", "[40]", format!("b.toml:{at}: set:n=5/bcfw has 1 values for 2 repeats")),
        ("[40, 44]", "[40, \"x\"]", format!("b.toml:{at}: not a baseline")),
        (
            "solver = { name = \"bcfw\" }, inputs",
            "inputs",
            "b.toml:18: not a baseline: missing field `solver`".to_owned(),
        ),
        ("gap = 0.3, column = \"oracle_calls\"", "gapp = 0.3, column = \"oracle_calls\"", unknown(at, "gapp")),
        ("name = \"bcfw\" }, inputs", "name = \"bcfw\", T = 5 }, inputs", unknown(18, "T")),
        ("name = \"bcfw\" }, inputs", "name = \"bcfw\" }, oracle_cots = 2, inputs", unknown(18, "oracle_cots")),
        ("gap = 0.3", "gap = inf", format!("b.toml:{at}: set:n=5/bcfw has no number for oracle_calls to gap inf")),
        ("[40, 44]", "[inf, inf]", format!("b.toml:{at}: set:n=5/bcfw has no number for oracle_calls to gap 0.3")),
        ("[40, 44]", "[nan, 44]", format!("b.toml:{at}: set:n=5/bcfw has no number for oracle_calls to gap 0.3")),
        (&calls, &calls.repeat(2), format!("b.toml:{}: set:n=5/bcfw has two lines of oracle_calls to gap 0.3", at + 1)),
        (&inputs, &inputs.repeat(2), "b.toml:19: set:n=5/bcfw has two lines of inputs".to_owned()),
        ("\"bcfw\" }, inputs", "\"bcwf\" }, inputs", "set:n=5/bcfw has values but no line of inputs".to_owned()),
    ] {
        let read = Baseline::parse(path, &text.replacen(from, to, 1));
        let error = read.map(|_| format!("{from} → {to} is read")).unwrap_or_else(|error| error.to_string());
        assert!(error.contains(&complaint) && error.contains("check RESULTS --save FILE"), "{error}");
    }
    let counts =
        "\n[instructions]\ncounts = [\n{ dataset = \"a\", solver = { name = \"fw\" }, count = 5 },\n".to_owned();
    let own = &text[text.find("config = ").unwrap()..text.find("[counters]").unwrap()];
    let counted = format!("{text}\n[instructions.provenance]\n{own}{counts}");
    assert!(Baseline::parse(path, &format!("{counted}]\n")).is_ok());
    let again = counts.lines().last().unwrap();
    let error = Baseline::parse(path, &format!("{counted}{again}\n]\n")).map(drop).unwrap_err().to_string();
    assert!(error.contains("a/fw has two lines of instructions of solver work"), "{error}");
}

#[test]
fn files_for_other_tools_have_their_shapes() {
    let mut records = sample();
    records[3].measured.points[3].oracle_calls += 1;
    for record in &mut records[..2] {
        record.identity.problem.dataset = "a<&\"b\u{1}".into();
    }
    let findings = judge(&baseline(&sample()), &records);
    let failures = findings.iter().filter(|finding| finding.judgement.fails()).count();

    let junit = output::junit("gate", &findings, None);
    let document = roxmltree::Document::parse(&junit).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    assert_eq!(root.attribute("tests"), Some(findings.len().to_string().as_str()));
    assert_eq!(root.attribute("failures"), Some(failures.to_string().as_str()));
    let count = |tag: &str| root.descendants().filter(|node| node.has_tag_name(tag)).count();
    assert_eq!((count("testcase"), count("failure")), (findings.len(), failures));
    assert!(root.descendants().any(|node| {
        node.has_tag_name("failure")
            && node.attribute("message").is_some_and(|m| m.contains("set:n=5 mp-bcfw: oracle_calls"))
    }));

    let benchmark: Value = serde_json::from_str(&output::github_benchmark(&findings)).unwrap();
    let entries = benchmark.as_array().unwrap();
    assert!(entries.len() > 10);
    for entry in entries {
        assert!(entry["name"].is_string() && entry["unit"].is_string() && entry["value"].is_f64(), "{entry}");
        assert!(entry["extra"].is_string() && entry.get("range").is_none_or(Value::is_string), "{entry}");
        // One direction per file.
        assert!(!entry["name"].as_str().unwrap().contains("dual"));
    }

    let bencher: Value = serde_json::from_str(&output::bencher(&findings)).unwrap();
    let measure = &bencher["set:n=5/mp-bcfw"]["oracle_calls to gap 0.3"];
    assert_eq!(measure, &serde_json::json!({ "value": 45.0, "lower_value": 40.0, "upper_value": 45.0 }));
    for (_, measures) in bencher.as_object().unwrap() {
        for (_, measure) in measures.as_object().unwrap() {
            let [low, value, high] = ["lower_value", "value", "upper_value"].map(|key| measure[key].as_f64().unwrap());
            assert!(low <= value && value <= high);
        }
    }
    insta::assert_snapshot!(findings::markdown("Gate", &judge(&baseline(&sample()), &records[2..]), None));
}

/// A tiny experiment in a folder, run once.
fn results(config: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tiny.toml");
    std::fs::write(&file, config).unwrap();
    let out = dir.path().join("out");
    program().arg("run").arg(&file).arg("--out").arg(&out).assert().success();
    (dir, out)
}

fn program() -> Command {
    let mut command = Command::cargo_bin("ssvm-bench").unwrap();
    command.env("COLUMNS", "1000");
    command.env_remove("GITHUB_STEP_SUMMARY");
    command
}

const TINY: &str = "name = 'tiny'\nrepeats = 2\nclock = 'virtual'\n[budget]\niterations = 8\n\
    [[dataset]]\nname = 'usps-synth:n=30'\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n";

#[test]
fn the_command_saves_compares_and_updates() {
    let (dir, out) = results(TINY);
    let file = dir.path().join("new/base.toml");
    let check = |arguments: &[&str]| {
        let mut command = program();
        command.arg("check").arg(&out).args(arguments);
        command.assert()
    };
    let path = file.to_str().unwrap();
    check(&["--save", path]).success();
    let saved = std::fs::read_to_string(&file).unwrap();
    assert!(saved.contains("config = \"tiny\"") && saved.contains("rustc = \"rustc "), "{saved}");
    let metrics = saved.lines().filter(|line| line.contains(", values = [")).count();
    assert!(
        metrics > 10 && stdout(&check(&["--baseline", path]).success()).contains(&format!("metrics: {metrics} same\n"))
    );

    // The baseline says it went better: the gate fails and names what to do.
    let edit = |key: &str, change: &dyn Fn(f64) -> f64| {
        let lines = saved.lines().map(|line| match line.split_once(", values = [") {
            Some((name, list)) if name.ends_with(key) => {
                let values =
                    list.trim_end_matches("] },").split(", ").map(|v| format!("{:?}", change(v.parse().unwrap())));
                format!("{name}, values = [{}] }},\n", values.collect::<Vec<_>>().join(", "))
            }
            _ => format!("{line}\n"),
        });
        std::fs::write(&file, lines.collect::<String>()).unwrap();
    };
    edit("\"mp-bcfw\" }, gap = 0.3, column = \"oracle_calls\"", &|v| v - 30.0);
    let output = check(&["--baseline", path]).code(2).get_output().clone();
    let (table, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let row = table.lines().find(|line| line.starts_with("WORSE")).unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains("usps-synth:n=30/mp-bcfw") && row.contains("oracle_calls to gap 0.3"), "{row}");
    assert!(stderr.contains(&format!("--baseline {path} --update 'usps-synth:n=30/mp-bcfw'")), "{stderr}");
    check(&["--baseline", path, "--update", "usps-synth*/mp-bcfw"]).success();
    let values = |text: &str| text[text.find("values = [").unwrap()..].to_owned();
    assert_eq!(values(&std::fs::read_to_string(&file).unwrap()), values(&saved));

    // An improvement passes and comes with the command that accepts it.
    edit("\"bcfw\" }, gap = 0.3, column = \"time_s\"", &|v| 2.0 * v);
    let output = check(&["--baseline", path]).success().get_output().clone();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("Better") && stderr.contains("--update 'usps-synth:n=30/bcfw'"), "{stderr}");

    // Other iterates fail in both directions.
    for sign in [1.0, -1.0] {
        edit("\"bcfw\" }, column = \"dual\"", &|v| v * (1.0 + sign * 1e-6));
        assert!(stdout(&check(&["--baseline", path]).code(2)).contains("CHANGED"));
    }

    // Every format at once.
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut command = program();
    command.env("GITHUB_STEP_SUMMARY", at("summary.md")).arg("check").arg(&out).args(["--baseline", path]);
    command.args(["--junit", &at("j.xml"), "--github-benchmark", &at("g.json"), "--bencher", &at("b.json")]);
    command.assert().code(2);
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    assert!(read("summary.md").contains("| CHANGED | usps-synth:n=30/bcfw | dual at the end |"));
    roxmltree::Document::parse(&read("j.xml")).unwrap();
    let json = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
    assert!(json("g.json").is_array() && json("b.json")["usps-synth:n=30/bcfw"].is_object());
}

/// Numbers under one cost model say nothing about those under another.
#[test]
fn a_baseline_of_another_cost_model_is_refused() {
    let (dir, out) = results(TINY);
    let file = dir.path().join("base.toml");
    let check = |option: &str| program().arg("check").arg(&out).arg(option).arg(&file).assert();
    check("--save").success();
    let saved = std::fs::read_to_string(&file).unwrap();
    let model = saved.lines().find(|line| line.starts_with("cost_model = ")).expect("the version of the model");
    std::fs::write(&file, saved.replace(model, "cost_model = 987")).unwrap();
    let error = String::from_utf8(check("--baseline").code(1).get_output().stderr.clone()).unwrap();
    for words in ["version 987", "run tiny --out RESULTS", "check RESULTS --instructions --save", "base.toml"] {
        assert!(error.contains(words), "{error}");
    }
    // It can be replaced, and so can one of another layout.
    check("--save").success();
    check("--baseline").success();
    std::fs::write(&file, "format = 1\n").unwrap();
    check("--save").success();
    check("--baseline").success();
}

/// The model that a baseline names is that of its numbers.
#[test]
fn runs_of_another_cost_model_are_neither_compared_nor_saved() {
    let (dir, out) = results(TINY);
    let file = dir.path().join("base.toml");
    let check = |options: &[&str]| program().arg("check").arg(&out).args(options).current_dir(&dir).assert();
    check(&["--save", "base.toml"]).success();
    let saved = std::fs::read_to_string(&file).unwrap();
    sessions::under_cost_model(&out, 987);
    for options in [
        ["--save", "base.toml"].as_slice(),
        &["--baseline", "base.toml"],
        &["--baseline", "base.toml", "--update", "usps-synth*/bcfw"],
    ] {
        let error = String::from_utf8(check(options).code(1).get_output().stderr.clone()).unwrap();
        for words in ["made with version 987", "cost model", "run tiny --out RESULTS --prune"] {
            assert!(error.contains(words), "{options:?}: {error}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), saved);
    let (_new, made_here) = results(TINY);
    let compared = stdout(&program().arg("compare").arg(&out).arg(&made_here).assert().code(2));
    assert!(compared.contains("cost model of the virtual clock 987 → "), "{compared}");
}

/// A cell that is accepted later says which code made it, and the others keep theirs.
#[test]
fn an_update_leaves_the_provenance_of_other_cells() {
    let (dir, out) = results(TINY);
    let file = dir.path().join("base.toml");
    let check = |options: &[&str]| program().arg("check").arg(&out).args(options).current_dir(&dir).assert();
    check(&["--save", "base.toml"]).success();
    let saved = std::fs::read_to_string(&file).unwrap();
    assert!(!saved.contains("made_by"), "{saved}");
    check(&["--baseline", "base.toml", "--update", "usps-synth*/bcfw"]).success();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), saved);
    let line = |name: &str| saved.lines().find(|line| line.starts_with(name)).unwrap();
    let older = saved.replace(line("code = "), "code = \"0.0.1+0\"").replace(line("commit = "), "commit = \"aa\"");
    std::fs::write(&file, &older).unwrap();
    check(&["--baseline", "base.toml", "--update", "usps-synth*/bcfw"]).success();
    let updated = std::fs::read_to_string(&file).unwrap();
    assert!(updated.contains("code = \"0.0.1+0\"\ncommit = \"aa\"\n"), "{updated}");
    let made: Vec<&str> = updated.lines().filter(|line| line.contains("made_by = ")).collect();
    assert!(made.len() == 1 && made[0].contains("\"bcfw\"") && made[0].contains("inputs = ["), "{made:?}");
    check(&["--baseline", "base.toml"]).success();
}

/// Counts of another kind of CPU or another valgrind are reported, not compared; no valgrind is needed to see that.
#[cfg(unix)]
#[test]
fn instruction_counts_of_another_cpu_or_valgrind_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let (dir, out) = results(TINY);
    let tool = dir.path().join("bin/valgrind");
    std::fs::create_dir_all(tool.parent().unwrap()).unwrap();
    std::fs::write(&tool, "#!/bin/sh\n[ \"$1\" = --version ] && echo valgrind-9.9.9 && exit 0\nexit 7\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("base.toml");
    program().arg("check").arg(&out).arg("--save").arg(&file).assert().success();
    let saved = std::fs::read_to_string(&file).unwrap();
    let own: String =
        saved[saved.find("[provenance]").unwrap()..].lines().skip(1).take(6).map(|l| l.to_owned() + "\n").collect();
    for (cpu, valgrind, expected) in [
        ("none of these", "valgrind-9.9.9", "CPU: baseline 'none of these', here '"),
        ("none of these", "valgrind-3.0.0", "valgrind: baseline 'valgrind-3.0.0', here 'valgrind-9.9.9'"),
        ("", "valgrind-9.9.9", "save them again with --instructions --save FILE"),
    ] {
        let counts = format!(
            "\n[instructions.provenance]\n{own}cpu = \"{cpu}\"\nvalgrind = \"{valgrind}\"\n\n\
             [instructions]\ncounts = [{{ dataset = \"usps-synth:n=30\", solver = {{ name = \"bcfw\" }}, count = 5 }}]\n"
        );
        std::fs::write(&file, saved.clone() + &counts).unwrap();
        let mut command = program();
        command
            .env("PATH", tool.parent().unwrap())
            .env("COLUMNS", "1000")
            .arg("check")
            .arg(&out)
            .arg("--baseline")
            .arg(&file);
        let output = command.arg("--instructions").assert().success().get_output().clone();
        let (table, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(told.contains("instruction counts skipped: ") && told.contains(expected), "{told}");
        assert!(table.contains("not judged") && table.contains("instructions of solver work"), "{table}");
    }
}

#[test]
fn bad_input_is_an_error_with_advice() {
    let (dir, out) = results(TINY);
    let file = dir.path().join("none.toml");
    let fails = |command: &mut Command, words: &str| {
        let output = command.assert().code(1).get_output().clone();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(words), "{stderr}");
    };
    fails(program().arg("check").arg(&out).arg("--baseline").arg(&file), "--save FILE");
    fails(program().arg("check").arg(dir.path().join("nowhere")), "does not exist");
    program().arg("check").arg(&out).arg("--save").arg(&file).assert().success();
    let update = |name: &str| {
        let mut command = program();
        command.arg("check").arg(&out).arg("--baseline").arg(&file).args(["--update", name]);
        command
    };
    fails(&mut update("ocr-synth/bcfw"), "known: usps-synth:n=30/bcfw");
    std::fs::write(&file, "format = 'x'\n").unwrap();
    fails(program().arg("check").arg(&out).arg("--baseline").arg(&file), "none.toml:1: not a baseline");
    // Tried before anything is compared: a file is where the folder should be.
    let unwritable = file.join("junit.xml");
    fails(program().arg("check").arg(&out).arg("--junit").arg(unwritable), "cannot create the folder");
    let (_wall, timed) = results(&TINY.replace("virtual", "wall").replace("iterations = 8", "iterations = 1"));
    fails(program().arg("check").arg(timed), "clock = \"virtual\"");
}

fn stdout(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// A folder of `run --only` lacks cells that are still in the config: no advice and no pattern removes them from the baseline.
#[test]
fn cells_that_a_folder_lacks_stay_in_the_baseline() {
    let (dir, out) = results(TINY);
    let file = dir.path().join("base.toml");
    let check = |folder: &Path, options: &[&str]| {
        let output = program().arg("check").arg(folder).args(options).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap().replace('\n', " "))
    };
    let path = file.to_str().unwrap();
    assert_eq!(check(&out, &["--save", path]).0, Some(0));
    let saved = std::fs::read_to_string(&file).unwrap();
    let runs = out.join("runs");
    let mut lost = 0;
    for entry in std::fs::read_dir(&runs).unwrap().map(Result::unwrap) {
        if ssvm_bench::store::folder::read_file(&entry.path()).unwrap().solver() == "mp-bcfw" {
            std::fs::remove_file(entry.path()).unwrap();
            lost += 1;
        }
    }
    assert!(lost > 0);
    let (code, advice) = check(&out, &["--baseline", path]);
    assert!(code == Some(2) && advice.contains("The folder lacks 1 cell of the baseline"), "{advice}");
    assert!(!advice.contains("--update '"), "{advice}");
    let (code, _) = check(&out, &["--baseline", path, "--update", "usps*"]);
    assert!(code == Some(2) && std::fs::read_to_string(&file).unwrap() == saved, "a pattern removes nothing");
    let (code, removed) = check(&out, &["--baseline", path, "--update", "usps-synth:n=30/mp-bcfw"]);
    assert!(code == Some(0) && removed.contains("removed usps-synth:n=30/mp-bcfw"), "{removed}");
}
