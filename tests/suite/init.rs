//! `init`: configs that parse and plan, and the crate with a solver to edit.

use std::path::Path;
use std::process::{Command, Output};

use crate::examples::example;
use ssvm_bench::experiment::{Experiment, Plan};
use ssvm_bench::{Catalog, DataDir, Harness, SolverInfo, SolverTable};

fn init(arguments: &[&str]) -> Output {
    crate::common::program().arg("init").args(arguments).output().expect("the program starts")
}

fn written(arguments: &[&str]) -> String {
    let output = init(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    errors
}

fn refused(arguments: &[&str]) -> String {
    let output = init(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn solvers(experiment: &Experiment) -> Vec<&str> {
    experiment.solvers.iter().map(|solver| solver.name.as_str()).collect()
}

const SMALL: &str = "usps-synth:n=20,size=4";

#[test]
fn a_config_has_the_paper_and_two_of_the_league_and_one_mark_before_each_other_solver() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let harness = Harness::standard();
    let estimate = written(&[path.to_str().unwrap(), "-d", SMALL]);
    assert!(estimate.contains("estimate: "), "{estimate}");
    let text = read(&path);
    let experiment = Experiment::parse(&path, &text, harness.solvers()).unwrap();
    let paper = harness.solvers().iter().filter(|info| info.in_paper).map(|info| info.name);
    let expected: Vec<&str> = paper.chain(["mp-bcfw-gram", "bcfw-gap-pair-cache"]).collect();
    assert_eq!((experiment.name.as_str(), solvers(&experiment)), ("mine", expected));
    assert!(experiment.repeats >= 5, "fewer have no verdict");
    let plan = Plan::new(&experiment, &harness, &DataDir::resolve(None)).unwrap();
    assert_eq!(plan.runs.len() as u64, experiment.repeats * experiment.solvers.len() as u64);
    for run in &plan.runs {
        let budget = &run.settings().budget;
        assert!(budget.gap.is_some() && budget.time_s.is_some(), "{budget:?}");
    }
    assert!(text.lines().count() < 50, "{text}");

    let opened = text.replace("    # { name", "    { name");
    let all = Experiment::parse(&path, &opened, harness.solvers()).unwrap();
    assert_eq!(all.solvers.len(), harness.solvers().len());
}

/// Nothing is known about an oracle that was not started: an absolute gap could be larger than its optimum.
#[test]
fn a_config_for_an_oracle_program_has_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let file = path.to_str().unwrap();
    written(&[file, "-d", "oracle:python3 mine.py", "-s", "bcfw"]);
    let experiment = Experiment::load(file, Harness::standard().solvers()).unwrap();
    let budget = &experiment.datasets[0].budget;
    assert!(budget.gap.is_none() && budget.iterations.is_some() && budget.time_s.is_some(), "{budget:?}");
}

#[test]
fn a_config_has_the_data_and_solvers_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let file = path.to_str().unwrap();
    written(&[file, "-d", "ocr-synth:n=5", "-d", SMALL, "-s", "mp-bcfw"]);
    let experiment = Experiment::load(file, Harness::standard().solvers()).unwrap();
    let names: Vec<&str> = experiment.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    assert_eq!((names, solvers(&experiment)), (vec!["ocr-synth:n=5", SMALL], vec!["mp-bcfw"]));
    assert!(refused(&[file]).contains("replace it with --force"));
    for (arguments, expected) in [
        (["-d", "uspz"], "did you mean 'usps'?"),
        (["-s", "bcwf"], "did you mean 'bcfw'?"),
        (["-d", "libsvm:no"], "no"),
    ] {
        let errors = refused(&[&[file, "--force"], &arguments[..]].concat());
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn an_oracle_program_is_not_started_and_its_time_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let (path, trace) = (folder.path().join("mine.toml"), folder.path().join("trace"));
    let data = format!("oracle:touch {}", trace.display());
    let estimate = written(&[path.to_str().unwrap(), "-d", &data]);
    assert!(estimate.contains("not known") && estimate.contains("does not start oracle programs"), "{estimate}");
    assert!(!trace.exists());
    assert!(Experiment::load(path.to_str().unwrap(), Harness::standard().solvers()).is_ok());
}

/// The program of the crate is `examples/solver.rs`, which Cargo compiles for these tests: what the crate adds is its name.
#[test]
fn a_crate_is_the_example_under_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("mine");
    let files = written(&["--crate", at.to_str().unwrap(), "--solver", "my-bcfw"]);
    assert!(files.contains("cargo run --release"), "{files}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = |text: &str| text[text.find("\nuse ").expect("it has code")..].to_owned();
    let example_code = code(&read(&root.join("examples/solver.rs")));
    assert_eq!(code(&read(&at.join("src/main.rs"))), example_code.replace("bcfw-zigzag", "my-bcfw"));
    assert!(read(&at.join("src/main.rs")).lines().count() <= 125);

    let manifest: toml::Table = read(&at.join("Cargo.toml")).parse().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("my-bcfw"));
    assert_eq!(manifest["dependencies"]["ssvm-bench"]["path"].as_str(), root.to_str());
    let ours: toml::Table = read(&root.join("Cargo.toml")).parse().unwrap();
    let mut packages = manifest["profile"]["release"]["package"].as_table().unwrap().clone();
    assert_eq!(packages.remove("ssvm-bench").unwrap()["opt-level"], ours["profile"]["release"]["opt-level"]);
    assert_eq!(
        Some(&packages),
        ours["profile"]["release"]["package"].as_table(),
        "dependencies are built as they are here"
    );
    assert_eq!(read(&at.join("Cargo.lock")), read(&root.join("Cargo.lock")));

    let own = SolverInfo { name: "my-bcfw", about: "mine", ..SolverInfo::PLAIN };
    let all = [ssvm_bench::solver::Standard.infos(), &[own]].concat();
    let config = Experiment::load(at.join("my-bcfw.toml").to_str().unwrap(), &all).unwrap();
    assert!(config.repeats >= 5 && solvers(&config).contains(&"my-bcfw"));
    for file in ["README.md", ".gitignore", ".github/workflows/gate.yml"] {
        let text = read(&at.join(file));
        assert!(!text.contains("NAME") && !text.contains("zigzag"), "{file}: {text}");
    }
}

#[test]
fn a_crate_needs_a_name_and_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("mine");
    let at = at.to_str().unwrap();
    for (name, expected) in [
        ("My_Solver", "use lower-case letters, digits and '-'"),
        ("-x", "value"),
        ("", "use lower-case letters"),
        ("../x", "use lower-case letters"),
        ("bcfw", "is a solver of this program"),
        ("match", "Rust reserves it"),
        ("ssvm-bench", "Rust reserves it"),
    ] {
        let errors = refused(&["--crate", at, "--solver", name]);
        assert!(errors.contains(expected), "{name}: {errors}");
    }
    assert!(!Path::new(at).exists(), "nothing is written");
    assert!(refused(&["--crate", at]).contains("--solver"));
    assert!(refused(&["--crate", at, "-s", "one", "-s", "two"]).contains("one --solver"));
    std::fs::create_dir(at).unwrap();
    std::fs::write(Path::new(at).join("notes.txt"), "mine").unwrap();
    assert!(refused(&["--crate", at, "-s", "one"]).contains("is not empty"));
}

/// Messages of a program that is built on the harness name that program.
#[test]
fn advice_of_a_program_has_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = folder.path().join("nothing");
    let output = Command::new(example("solver")).arg("check").arg(&nothing).arg("--baseline").arg("none.toml").output();
    let errors = String::from_utf8_lossy(&output.unwrap().stderr).into_owned();
    assert!(errors.contains("`solver ") && !errors.contains("ssvm-bench"), "{errors}");
    let path = folder.path().join("mine.toml");
    let output = Command::new(example("solver")).arg("init").arg(&path).args(["-d", SMALL]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("solver run ") && !errors.contains("ssvm-bench"), "{errors}");
    assert!(read(&path).contains("    { name = \"bcfw-zigzag\" },"), "a solver of the program's own is active");
}
