//! The command line as people and programs meet it: exit codes, help, JSON lines, saved weights.

use serde_json::Value;
use ssvm_bench::experiment::Experiment;
use ssvm_bench::{Catalog, Harness};

fn bench(arguments: &[&str]) -> (i32, String, String) {
    let output = crate::common::program().args(arguments).output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

#[test]
fn former_names_say_what_replaced_them() {
    for (arguments, expected) in [
        (&["plan", "--config", "smoke"][..], "'plan' is now `run CONFIG --dry-run`"),
        (&["claims", "results"], "'claims' is now `show RESULTS claims`"),
        (&["profile", "results"], "`show RESULTS oracle`"),
        (&["league", "results"], "`show RESULTS league`"),
        (&["breakeven", "results"], "`show RESULTS cost`"),
        (&["merge", "a", "--out", "b"], "`cluster merge DIR… --out DIR`"),
        (&["slurm", "status", "results"], "`cluster submit` and `cluster status`"),
        (&["oracle", "test", "oracle:x"], "`data test ORACLE`"),
        (&["--quiet", "optimum", "usps"], "`data optimum DATASET`"),
        (&["run", "--config", "smoke"], "'run --config' is now an argument: `run CONFIG…`"),
        (&["run", "smoke", "--split", "2"], "`cluster plan CONFIG --shards N --write`"),
        (&["report", "results", "--out", "page.html"], "'report --out' is now `--output FILE`"),
        (&["compare", "--cell", "a/b"], "`--only DATASET/SOLVER`"),
        (
            &["solve", "-d", "usps-synth", "-s", "mp-bcfw", "--passes", "3"],
            "'solve --passes VALUE' is now `--set passes=VALUE`",
        ),
    ] {
        let (code, out, errors) = bench(arguments);
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(expected), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    // What no version had is left to clap.
    for unknown in [&["plans"][..], &["solve", "--passess", "3"], &["data", "plan"]] {
        let (code, _, errors) = bench(unknown);
        assert!(code == 1 && !errors.contains("is now"), "{unknown:?}: {errors}");
    }
}

#[test]
fn bad_arguments_end_with_one_and_say_why() {
    for (arguments, expected) in [
        (vec!["solve", "--dataset", "uspz", "--solver", "bcfw"], "did you mean 'usps'?"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfv"], "unknown solver 'bcfv'"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfw", "--gap=-1"], "must be a positive number"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfw", "--evaluate", "at:5,2"], "increasing"),
        (
            vec!["solve", "--dataset", "usps-synth", "--solver", "mp-bcfw", "--set", "passes=some"],
            "passes must be auto or a whole number",
        ),
        (vec!["solve", "--dataset", "libsvm:/nowhere/x", "--solver", "bcfw"], "/nowhere/x"),
        (vec!["solve", "--dataset", "usps", "--solver", "bcfw", "--data-dir", "/nowhere"], "/nowhere"),
        (
            vec!["solve", "--dataset", "usps-synth", "--solver", "fw", "--set", "order=uniform"],
            "'fw' has no parameters: 'order' belongs to bcfw, bcfw-avg, mp-bcfw, mp-bcfw-avg",
        ),
        (
            vec!["solve", "--dataset", "usps-synth", "--solver", "bcfw", "--set", "N=5"],
            "'bcfw' has only order, tau, lanes: 'N' belongs to mp-bcfw, mp-bcfw-avg",
        ),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "mp-bcfw", "--set", "N=0"], "set M = 0 as well"),
        (
            vec!["solve", "--dataset", "usps-synth:n=9", "--solver", "bcfw", "--set", "tau=10"],
            "tau = 10 is more than the 9",
        ),
        (vec!["solve", "--dataset", "usps-synth:n=9", "--solver", "bcfw", "--set", "lanes=2"], "must be below tau = 1"),
        (vec!["solve", "--dataset", "usps-synth:n=9", "--solver", "bcfw", "--threads", "0"], "--threads"),
        (
            vec!["run", "--dry-run", "smoke", "--only", "usps/*"],
            "--only 'usps/*' matches no DATASET/SOLVER of this config",
        ),
        (
            vec!["solve", "--dataset", "usps-synth", "--solver", "fw", "--until", "all", "--iterations", "3"],
            "--until all needs --iterations and --time",
        ),
        (
            vec!["solve", "--dataset", "usps-synth", "--solver", "fw", "--until", "any"],
            "until must be one of first, all",
        ),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "fw", "--time", "1e300"], "more than a clock can count"),
        (vec!["completions", "nonsense"], "nonsense"),
        (vec!["nonsense"], "nonsense"),
        (vec!["figures", "/nowhere"], "/nowhere"),
        (vec!["run", "/nowhere.toml"], "/nowhere.toml"),
    ] {
        let (code, _, errors) = bench(&arguments);
        assert_eq!(code, 1, "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: '{errors}' does not contain '{expected}'");
        assert!(!errors.contains("panicked"), "{arguments:?} panicked: {errors}");
    }
}

/// The trace columns of the contract.
const COLUMNS: &str = "run_id dataset solver seed repeat iteration clock time_s cpu_s oracle_calls approx_steps \
    approx_passes oracle_time_s approx_time_s primal dual dual_solution gap planes_mean planes_max jobs core status";

#[test]
fn json_lines_and_saved_weights() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("w.npy");
    let (code, out, errors) = bench(&[
        "solve",
        "--dataset",
        "ocr-synth:n=30",
        "--solver",
        "mp-bcfw-avg",
        "--iterations",
        "6",
        "--evaluate",
        "at:1,2,5",
        "--clock",
        "virtual",
        "--format",
        "json",
        "--save-weights",
        weights.to_str().unwrap(),
    ]);
    assert_eq!(code, 0, "{errors}");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect();
    let (points, summary) = (&lines[..lines.len() - 1], &lines[lines.len() - 1]);
    let at: Vec<u64> = points.iter().map(|point| point["iteration"].as_u64().unwrap()).collect();
    assert_eq!(at, [1, 2, 5, 6], "the last iteration is always evaluated");
    for point in points {
        assert_eq!(point["kind"], "point");
        for column in COLUMNS.split_whitespace() {
            assert!(!point[column].is_null(), "{column} is missing");
        }
        let number = |key: &str| point[key].as_f64().unwrap();
        assert!((number("gap") - (number("primal") - number("dual"))).abs() < 1e-15);
        assert!(number("dual") >= number("dual_solution"));
    }
    assert_eq!(summary["kind"], "summary");
    assert_eq!(summary["stop_reason"], "iterations");
    assert_eq!(summary["oracle_calls"], 180);
    assert_eq!(summary["oracle_ns"]["count"], 180);
    let bytes = std::fs::read(&weights).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY"));
    let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
    assert!(header.contains("'<f8'") && header.contains("(4004,)"), "{header}");
    assert_eq!((bytes.len() - 4004 * 8) % 64, 0);
}

#[test]
fn weights_that_cannot_be_written_cost_no_run() {
    let folder = tempfile::tempdir().unwrap();
    // A file where a folder would have to be: refused for the superuser too.
    std::fs::write(folder.path().join("file"), "").unwrap();
    let weights = folder.path().join("file/w.npy");
    let weights = weights.to_str().unwrap();
    let (code, out, errors) =
        bench(&["solve", "--dataset", "usps-synth:n=20", "--solver", "fw", "--save-weights", weights]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(errors.contains(folder.path().to_str().unwrap()), "{errors}");
}

#[test]
fn weights_make_no_folder_and_replace_a_file_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let save = |path: &str| {
        let run = ["solve", "--dataset", "usps-synth:n=20", "--solver", "fw", "--iterations", "2", "--save-weights"];
        bench(&[&run[..], &[path]].concat())
    };
    let (code, out, errors) = save(&path("misspelt/w.npy"));
    assert_eq!((code, out.as_str()), (1, ""), "refused before the run: {errors}");
    assert!(errors.contains("misspelt does not exist; create it or choose another path"), "{errors}");
    assert!(!folder.path().join("misspelt").exists());
    std::fs::write(path("w.npy"), "old").unwrap();
    assert_eq!(save(&path("w.npy")).0, 0);
    assert!(std::fs::read(path("w.npy")).unwrap().starts_with(b"\x93NUMPY"));
    assert_eq!(walk(folder.path()).len(), 1, "nothing temporary stays");
}

#[test]
fn a_run_can_end_when_iterations_and_time_are_both_reached() {
    let last = |until: &str| {
        let limits = ["--iterations", "3", "--time", "0.002", "--clock", "virtual", "--format", "json"];
        let run = ["solve", "--dataset", "usps-synth:n=50", "--solver", "bcfw", "--until", until];
        let (code, out, errors) = bench(&[&run[..], &limits].concat());
        assert_eq!(code, 0, "{errors}");
        let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        (last["iterations"].as_u64().unwrap(), last["time_s"].as_f64().unwrap())
    };
    assert_eq!(last("first").0, 3);
    let (iterations, time) = last("all");
    assert!(iterations > 3 && time >= 0.002, "{iterations} iterations, {time} s");
}

/// The cells that a plan has runs of.
fn planned(config: &str, only: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let mut arguments = vec!["run", "--dry-run", config, "--format", "json", "--out", out.to_str().unwrap()];
    for pattern in only {
        arguments.extend(["--only", pattern]);
    }
    let (code, out, errors) = bench(&arguments);
    assert_eq!(code, 0, "{errors}");
    let rows = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON object"));
    let runs = rows.filter(|row| row["run_id"].is_string());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut cells: Vec<String> = runs.map(|run| text(&run["dataset"]) + "/" + &text(&run["solver"])).collect();
    cells.dedup();
    cells
}

#[test]
fn only_the_cells_that_fit_are_planned_and_run() {
    let all = planned("smoke", &[]);
    let smoke = Experiment::load("smoke", Harness::standard().solvers()).unwrap();
    assert_eq!(all.len(), smoke.datasets.len() * smoke.solvers.len());
    let some = planned("smoke", &["usps*", "*/fw"]);
    let expected: Vec<_> = all.iter().filter(|c| c.starts_with("usps") || c.ends_with("/fw")).cloned().collect();
    assert_eq!(some, expected);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, _, errors) = bench(&["run", "smoke", "--only", "usps*/bcfw", "--out", out, "--jobs", "1"]);
    assert_eq!(code, 0, "{errors}");
    let records = walk(folder.path()).into_iter().filter(|name| name.ends_with(".parquet")).count();
    assert_eq!(records, 2, "one cell of two repeats");
}

/// Names of all files below a folder.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path.to_string_lossy().into_owned()] })
        .collect()
}

#[test]
fn shells_complete_commands_and_parameters() {
    let (code, out, errors) = bench(&["completions", "bash"]);
    assert_eq!(code, 0, "{errors}");
    assert!(out.lines().any(|line| line.trim().starts_with("complete -F ") && line.ends_with(" ssvm-bench")), "{out}");
    for word in ["reproduce", "--dataset", "--set", "--only"] {
        assert!(out.contains(word), "{word} is not completed");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, errors) = bench(&["man", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{errors}");
    let mut written: Vec<&str> = out.lines().collect();
    let mut there = walk(folder.path());
    written.sort_unstable();
    there.sort_unstable();
    assert_eq!(written, there);
    for name in ["ssvm-bench.1", "ssvm-bench-solve.1", "ssvm-bench-init.1"] {
        let page = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}");
    }
    let solve = std::fs::read_to_string(folder.path().join("ssvm-bench-solve.1")).unwrap();
    assert!(solve.contains("KEY=VALUE"), "{solve}");
}

/// The program of another crate, its pages and the baseline that it saves have its name; the version is that of the library.
#[test]
fn a_program_of_another_name_has_it_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("my-bcfw");
    std::fs::copy(env!("CARGO_BIN_EXE_ssvm-bench"), &program).unwrap();
    let mine = |arguments: &[&str]| {
        let output = std::process::Command::new(&program).args(arguments).current_dir(dir.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let version = format!("my-bcfw (ssvm-bench {})\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(mine(&["--version"]).0, version);
    mine(&["man", "pages"]);
    let page = std::fs::read_to_string(dir.path().join("pages/my-bcfw-solve.1")).unwrap();
    assert!(page.contains("my\\-bcfw solve") && !page.contains("ssvm\\-bench solve"), "{page}");
    let config = |name: &str, solvers: &str| {
        let text = format!(
            "name = '{name}'\nrepeats = 1\nclock = 'virtual'\nsolver = [{solvers}]\n[budget]\niterations = 4\n[[dataset]]\n\
             name = 'usps-synth:n=20'\n"
        );
        std::fs::write(dir.path().join("c.toml"), text).unwrap();
        mine(&["run", "c.toml", "--out", "out", "--quiet"]);
    };
    config("two", "{ name = 'bcfw' }, { name = 'fw' }");
    let (_, remarks) = mine(&["check", "out", "--save", "base.toml"]);
    assert!(!remarks.contains("warning"), "{remarks}");
    let saved = std::fs::read_to_string(dir.path().join("base.toml")).unwrap();
    assert!(saved.contains("`my-bcfw check`") && !saved.contains("ssvm-bench check"), "{saved}");
    mine(&["report", "out"]);
    let report = std::fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    assert!(report.contains("<code>my-bcfw figures</code>") && !report.contains("ssvm-bench figures"));
    // A solver that is no longer in the config is compared with its old runs.
    config("one", "{ name = 'bcfw' }");
    let (_, remarks) = mine(&["check", "out", "--baseline", "base.toml"]);
    assert!(remarks.contains("are not of the config that was run last, one") && remarks.contains("/fw"), "{remarks}");
}

/// A folder of results may have the name of the config that it was made from.
#[test]
fn a_built_in_config_is_found_beside_a_folder_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("smoke")).unwrap();
    let plan = |config: &str| {
        let mut command = assert_cmd::Command::cargo_bin("ssvm-bench").unwrap();
        command.current_dir(dir.path()).args(["run", "--dry-run", config, "--out", "smoke"]).assert()
    };
    plan("smoke").success();
    std::fs::create_dir_all(dir.path().join("mine")).unwrap();
    plan("mine").failure();
}

/// Readings of a few nanoseconds are a small share and never none.
#[test]
fn the_share_of_the_instrument_has_digits_and_names_its_reading() {
    let slow = ["solve", "--dataset", "horseseg-synth:n=6", "--solver", "bcfw", "--iterations", "2"];
    let (code, wall, errors) = bench(&slow);
    assert_eq!(code, 0, "{errors}");
    assert!(wall.contains("instrument ") && !wall.contains("instrument 0.00 %"), "{wall}");
    let (code, cpu, errors) = bench(&[&slow[..], &["--clock", "cpu", "--oracle-cost", "2"]].concat());
    assert_eq!(code, 0, "{errors}");
    let reading = |text: &str| -> f64 {
        let before = text.split(" ns per reading").next().unwrap();
        before.rsplit('(').next().unwrap().parse().unwrap()
    };
    // A call of the operating system against two time stamps.
    assert!(reading(&cpu) > 3.0 * reading(&wall), "{cpu}\n{wall}");
}

/// The pilot runs that solve the paper's oracle cost end as other runs do.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_split_of_a_plan() {
    use nix::sys::signal::{Signal, kill};
    let dir = tempfile::tempdir().unwrap();
    let config = "name = \"long\"\nclock = \"wall\"\noracle_cost = \"paper\"\n[budget]\ntime_s = 15\n\
        [[dataset]]\nname = \"usps-synth:n=150\"\n[[solver]]\nname = \"bcfw\"\n";
    std::fs::write(dir.path().join("long.toml"), config).unwrap();
    let mut command = crate::common::program();
    command.args(["cluster", "plan", "long.toml", "--out", "out", "--shards", "2", "--write"]).current_dir(dir.path());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("stopped before the paper's oracle cost was solved"), "{error}");
    assert!(!dir.path().join("out/shards.txt").exists());
}

/// A run that readings outweigh is refused each time: the same command is no way out.
#[test]
fn a_run_that_its_readings_outweigh_is_not_to_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let config = "name = \"fast\"\nclock = \"cpu\"\noracle_cost = 2\n[budget]\niterations = 2\n\
        [[dataset]]\nname = \"usps-synth:n=20\"\n[[solver]]\nname = \"bcfw\"\n";
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("fast.toml"), config).unwrap();
    let (code, _, error) = bench(&["run", &path("fast.toml"), "--out", &path("out"), "--jobs", "1"]);
    assert!(code == 1 && error.contains("use the wall clock; after fixing this, continue with: "), "{error}");
}
