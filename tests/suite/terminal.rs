//! What a terminal shows: no line is wider than it, every format of a command, what a narrow table leaves out first, and how
//! arguments are read.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

/// Exit code, standard output and standard error of a call in this folder, for a terminal of this many columns.
fn call(folder: &Path, columns: Option<usize>, line: &str) -> (i32, String, String) {
    let words = shlex::split(line).expect("closed quotes");
    let mut command = crate::common::program();
    command.args(words).current_dir(folder).env_remove("GITHUB_STEP_SUMMARY").env_remove("SSVM_DATA");
    match columns {
        Some(columns) => command.env("COLUMNS", columns.to_string()),
        None => command.env_remove("COLUMNS"),
    };
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// A call whose lines are not wrapped; it ends with this code.
fn ends(folder: &Path, code: i32, line: &str) -> (String, String) {
    let (found, out, errors) = call(folder, Some(1000), line);
    assert_eq!(found, code, "{line}:\n{out}{errors}");
    (out, errors)
}

/// A folder with results of a wall clock in `r` and of the virtual clock in `v`.
fn results() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = "name = 'v'\nrepeats = 2\nclock = 'virtual'\n[budget]\niterations = 5\n\
        [[dataset]]\nname = 'usps-synth:n=30'\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n";
    std::fs::write(folder.path().join("v.toml"), config).unwrap();
    std::fs::write(folder.path().join("three.txt"), "1 1:1\n2 2:1\n").unwrap();
    ends(folder.path(), 0, "run smoke --out r -q --jobs 1");
    ends(folder.path(), 0, "run v.toml --out v -q --jobs 1");
    ends(folder.path(), 0, "check v --save v.baseline");
    folder
}

/// Commands with their exit code. A dry run of `cluster submit` prints scripts at its end, which are not wrapped.
const CALLS: &str = "0 run smoke --out r -v
0 run smoke --out new -v --dry-run
0 run v.toml --out w -v --force
0 reproduce smoke --out r
0 show r
0 show r claims
0 show r oracle
0 show r league
0 show r targets
1 show r cost
0 figures r --format svg
0 compare r r
1 compare r v
1 check r
0 check v --baseline v.baseline
1 check v
0 advise -d horseseg-synth --oracle-ms 3
1 advise -d nothing --oracle-ms 3
1 advise -d horseseg-synth
0 solve -d usps-synth:n=20 -s mp-bcfw --iterations 3
1 solve -d usps-synth:n=20 -s nope
1 solve -d ./three.txt -s bcfw
1 solve -d libsvm:a/folder/that/does/not/exist/with/a/path/that/is/longer/than/most/terminals/are/wide/three.txt -s bcfw
1 solve -d libsvm:three.txt -s bcfw --evaluate now
1 run nope.toml
1 run quick --only 'nothing/*' --dry-run
1 plan
0 data list
1 data check
0 data optimum usps-synth:n=20,size=8 --gap 1e-3 --store optima.toml
2 data optimum usps-synth:n=20,size=8 --gap 1e-18 --time 2s --store optima.toml
1 data optimum nothing
1 data test usps
0 cluster plan smoke --shards 2
0 cluster submit smoke --out s --shards 2 --time 1h --dry-run
1 cluster status r
1 cluster merge r v --out m
0 list solvers
0 list solvers mp-bcfw
0 list datasets
0 list configs
0 list claims
0 list figures
0 init new.toml --force -d usps-synth:n=30 -s bcfw
1 init new.toml
0 advise --help
0 solve --help
0 cluster submit --help";

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = results();
    for columns in [None, Some(60), Some(80), Some(120)] {
        let most = columns.unwrap_or(100);
        for line in CALLS.lines() {
            let (code, line) = line.split_once(' ').expect("a code");
            let (found, out, errors) = call(folder.path(), columns, line);
            assert_eq!(found.to_string(), code, "{line}:\n{out}{errors}");
            let out = out.split("/array.sbatch would be:").next().unwrap_or_default();
            // The last line before it is the path of the script.
            for text in out.lines().chain(errors.lines()) {
                assert!(text.chars().count() <= most || text.contains(".sbatch"), "{line} at {most} columns:\n{text}");
            }
        }
    }
}

#[test]
fn a_command_in_an_error_is_not_broken() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, errors) = call(folder.path(), Some(80), "cluster status .");
    assert!(errors.lines().any(|line| line == "`ssvm-bench cluster submit CONFIG --out . --shards N`"), "{errors}");
    assert!(errors.starts_with("error: .: nothing was submitted"), "{errors}");
}

/// The commands that print one table print it in every format.
#[test]
fn every_table_has_every_format() {
    let folder = results();
    for (code, line, heading) in [
        (0, "run smoke --out r", "folder,planned,done before"),
        (0, "run smoke --out new --dry-run", "data set,n,d,data,solver"),
        (0, "solve -d usps-synth:n=20 -s bcfw --iterations 2", "iteration,time s,oracle"),
        (0, "advise -d horseseg-synth --oracle-ms 3", "gap,solver,time over BCFW's,fastest"),
        (0, "data list", "name,examples,size"),
        (0, "data optimum usps-synth:n=20,size=8 --gap 1e-3 --store o.toml", "data set,lower,upper,width"),
        (0, "cluster merge r --out m", "folder,folders,runs"),
        (0, "check v --baseline v.baseline", "verdict,data set / solver,metric,old → new,change"),
        (0, "compare v v", "verdict,data set / solver,metric,old → new,change"),
        (0, "list solvers", "name,what it is,parameters"),
        (0, "show v oracle", "data set,solver"),
    ] {
        let (csv, _) = ends(folder.path(), code, &format!("{line} --format csv"));
        assert!(csv.starts_with(heading), "{line}: {csv}");
        let (markdown, _) = ends(folder.path(), code, &format!("{line} --format markdown"));
        assert!(markdown.contains(&format!("| {} ", heading.split(',').next().unwrap())), "{line}: {markdown}");
        let (latex, _) = ends(folder.path(), code, &format!("{line} --format latex"));
        assert!(latex.contains("\\begin{tabular}"), "{line}: {latex}");
        let (json, _) = ends(folder.path(), code, &format!("{line} --format json"));
        let mut values = serde_json::Deserializer::from_str(&json).into_iter::<Value>();
        assert!(values.all(|value| value.is_ok()), "{line}: {json}");
    }
}

#[test]
fn advise_keeps_the_costs_that_it_rests_on() {
    let folder = tempfile::tempdir().unwrap();
    let advise = "advise -d horseseg-synth --oracle-cost 16";
    let (_, wide, _) = call(folder.path(), Some(400), advise);
    assert!(wide.contains("k = 1/16 ") && !wide.contains("not shown"), "{wide}");
    let (_, narrow, _) = call(folder.path(), Some(80), advise);
    let left_out = narrow.lines().find(|line| line.starts_with("not shown")).expect("columns are left out");
    let heads = narrow.lines().find(|line| line.starts_with("data set ")).expect("a head");
    assert!(heads.contains("k = 16") && left_out.contains("k = 1/16"), "{heads}\n{left_out}");
}

/// The measured value is never cut.
#[test]
fn claims_show_every_measured_value_whole() {
    let folder = tempfile::tempdir().unwrap();
    let summary = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/summary/paper.json");
    let show = format!("show {} claims", summary.display());
    let (json, _) = ends(folder.path(), 0, &format!("{show} --format json"));
    let claims: Value = serde_json::from_str(&json).unwrap();
    for columns in [60, 80, 100] {
        let (_, text, _) = call(folder.path(), Some(columns), &show);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for claim in claims.as_array().unwrap() {
            let both = [&claim["measured"], &claim["regime"]["measured"]];
            for measured in both.into_iter().filter_map(Value::as_str) {
                assert!(text.contains(measured), "at {columns} columns '{measured}' is not in\n{text}");
            }
        }
    }
}

#[test]
fn numbers_may_have_an_exponent() {
    let folder = tempfile::tempdir().unwrap();
    let solve = "solve -d usps-synth:n=20 -s mp-bcfw --iterations 1e1";
    ends(
        folder.path(),
        0,
        &format!("{solve} --seed 1e1 --threads 1e0 --set T=1e1 --set passes=1e0 --evaluate every:1e1"),
    );
    ends(folder.path(), 0, "cluster plan smoke --shards 1e1 --jobs 1e0");
    for (option, expected) in [
        ("--time -5s", "invalid value '-5s' for '--time <TIME>'"),
        ("--threads 1.5", "must be a whole number from 1 to 1024"),
        ("--seed x", "must be a whole number from 0"),
    ] {
        let (_, errors) = ends(folder.path(), 1, &format!("{solve} {option}"));
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn one_pattern_selects_cells_and_data_sets() {
    let folder = results();
    let check = "check v --baseline v.baseline --format json";
    let cells = |line: &str| -> Vec<String> {
        let (out, _) = ends(folder.path(), 0, line);
        let value: Value = serde_json::from_str(&out).unwrap();
        let findings = value["findings"].as_array().unwrap();
        let mut cells: Vec<String> = findings.iter().map(|one| one["cell"].as_str().unwrap().to_owned()).collect();
        cells.dedup();
        cells
    };
    assert!(cells(check).len() > 1);
    assert_eq!(cells(&format!("{check} --only '*/mp-bcfw'")), ["usps-synth:n=30/mp-bcfw"]);
    let (_, errors) = ends(folder.path(), 1, &format!("{check} --only 'x/*'"));
    assert!(errors.contains("--only 'x/*' matches no") && errors.contains("usps-synth:n=30/bcfw"), "{errors}");
    let (_, errors) = ends(folder.path(), 1, "data check --only 'x*'");
    assert!(errors.contains("matches --only x*; the public data sets are usps, ocr"), "{errors}");
}

#[test]
fn messages_name_what_exists_and_what_to_do() {
    let folder = results();
    for (line, expected) in [
        ("run smoke --only 'nothing/*' --dry-run", "its data sets are usps-synth:n=50"),
        ("solve -d usps-synth:n -s bcfw", "parameter 'n' has no value; write n=VALUE"),
        (
            "solve -d libsvm:no.txt -s bcfw",
            "cannot read no.txt: No such file or directory (os error 2); check the path",
        ),
        ("run smoke --out three.txt/x", "a file is in the way: choose another path"),
        ("show r claims --format matrix", "write `--part matrix`"),
        ("list configs quick", "only a solver is listed by name"),
        ("solve -d usps-synth:n=20 -s bcwf", "did you mean 'bcfw'?"),
    ] {
        let (_, errors) = ends(folder.path(), 1, line);
        assert!(errors.contains(expected), "{line}: {errors}");
    }
    let (_, notes) = ends(folder.path(), 0, "init one.toml -d usps-synth:n=30 -s bcfw");
    assert!(notes.contains("trying 1 solver, ") && notes.contains("repeats of 1 solver ("), "{notes}");
}

#[test]
fn lists_for_programs_have_plain_keys_and_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let list = |what: &str| -> Value {
        serde_json::from_str(&ends(folder.path(), 0, &format!("list {what} --format json")).0).unwrap()
    };
    let solvers = list("solvers");
    let lazy = solvers.as_array().unwrap().iter().find(|one| one["name"] == "bcfw-lazy").expect("a solver");
    assert_eq!(lazy["parameters"][0]["key"], "order");
    assert!(lazy["parameters"][0]["about"].is_string() && lazy["parameters"][0]["default"].is_string());
    assert!(list("configs").as_array().unwrap().iter().all(|one| one["datasets"].is_u64() && one["repeats"].is_u64()));
    let (_, text, _) = call(folder.path(), Some(80), "list solvers");
    assert_eq!(text.lines().filter(|line| line.starts_with("bcfw-lazy")).count(), 1);
    assert_eq!(text.lines().count(), solvers.as_array().unwrap().len() + 3, "a line each: {text}");
}
