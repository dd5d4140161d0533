//! The command line as people and programs meet it: exit codes, help, JSON lines, saved weights.

use std::process::Command;

use serde_json::Value;

fn bench(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ssvm-bench")).args(arguments).output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_command_has_help_with_an_example() {
    let (code, help, _) = bench(&["--help"]);
    assert_eq!(code, 0);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    for expected in
        ["reproduce", "plan", "run", "solve", "figures", "report", "claims", "profile", "check", "compare", "data"]
    {
        assert!(commands.contains(&expected), "{expected} is missing from {commands:?}");
    }
    for command in commands {
        let (code, help, _) = bench(&[command, "--help"]);
        assert_eq!(code, 0, "{command} --help");
        assert!(help.contains("ssvm-bench "), "{command} --help has no example");
        assert!(help.contains("Example"), "{command} --help has no example");
    }
}

#[test]
fn bad_arguments_end_with_one_and_say_why() {
    for (arguments, expected) in [
        (vec!["solve", "--dataset", "uspz", "--solver", "bcfw"], "did you mean 'usps'"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfv"], "unknown solver 'bcfv'"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfw", "--gap=-1"], "must be a positive number"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfw", "--evaluate", "at:5,2"], "increasing"),
        (vec!["solve", "--dataset", "usps-synth", "--solver", "bcfw", "--passes", "some"], "'auto' or a whole number"),
        (vec!["solve", "--dataset", "libsvm:/nowhere/x", "--solver", "bcfw"], "/nowhere/x"),
        (vec!["solve", "--dataset", "usps", "--solver", "bcfw", "--data-dir", "/nowhere"], "/nowhere"),
        (vec!["nonsense"], "nonsense"),
        (vec!["figures", "/nowhere"], "/nowhere"),
        (vec!["run", "--config", "/nowhere.toml"], "/nowhere.toml"),
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
    let (code, out, errors) =
        bench(&["solve", "--dataset", "usps-synth:n=20", "--solver", "fw", "--save-weights", "/nowhere/w.npy"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(errors.contains("/nowhere/w.npy"));
}
