//! The examples are whole programs: a solver and a problem of somebody else go through plan, run, figures, report,
//! claims and check like the built-in ones.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An example as Cargo built it beside this test.
pub fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a test has a file");
    here.ancestors().nth(2).expect("deps/ lies in the profile's folder").join("examples").join(name)
}

fn run(name: &str, arguments: &[&str]) -> Output {
    let output = Command::new(example(name)).args(arguments).output().expect("cargo test builds the examples");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} {arguments:?}:\n{errors}");
    output
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reproduces the example's config; the pages name the newcomer, and the gate accepts what it saved.
fn reproduces(name: &str, newcomer: &str, label: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let (out_text, config) = (out.display().to_string(), format!("examples/{name}.toml"));
    let planned = run(name, &["run", "--dry-run", &config, "--out", &out_text]);
    assert!(String::from_utf8_lossy(&planned.stdout).contains(newcomer));
    let made = run(name, &["reproduce", &config, "--out", &out_text, "--quiet"]);
    assert!(String::from_utf8_lossy(&made.stdout).contains("report"));
    assert!(read(&out.join("report.html")).contains(label), "the report shows {label}");
    for figure in ["oracle_convergence.svg", "runtime_convergence.svg", "oracle_time.svg"] {
        assert!(read(&out.join("figures").join(figure)).contains(label), "{figure} shows {label}");
    }
    assert!(out.join("figures/oracle_convergence.png").is_file());
    let baseline = folder.path().join("baseline.toml").display().to_string();
    run(name, &["check", &out_text, "--save", &baseline]);
    let checked = run(name, &["check", &out_text, "--baseline", &baseline]);
    assert!(String::from_utf8_lossy(&checked.stdout).contains("same"));
    let again = run(name, &["run", &config, "--out", &out_text, "--quiet"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("\"finished\":0"), "nothing is done twice");
}

#[test]
fn a_solver_of_somebody_else_is_one_among_the_rows() {
    reproduces("solver", "bcfw-zigzag", "BCFW-zigzag");
    let help = run("solver", &["solve", "--help"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("--keep") && help.contains("symmetric Gauss–Seidel"), "{help}");
    for command in ["reproduce", "solve", "check"] {
        let help = run("solver", &[command, "--help"]);
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        assert!(help.contains(&format!("  solver {command}")) && !help.contains("ssvm-bench"), "{help}");
    }
    let refused = Command::new(example("solver"))
        .args(["solve", "--dataset", "usps-synth:n=20", "--solver", "bcfw", "--set", "keep=3"])
        .output()
        .expect("it starts");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors.contains("`keep` belongs to") && errors.contains("bcfw-zigzag"), "{errors}");
}

#[test]
fn a_problem_of_somebody_else_is_one_among_the_rows() {
    reproduces("problem", "half-planes:n=150,labels=4", "half-planes");
    let solved = run("problem", &["solve", "--dataset", "half-planes", "--solver", "mp-bcfw", "--gap", "1e-3"]);
    assert!(String::from_utf8_lossy(&solved.stdout).contains("stopped by"));
}
