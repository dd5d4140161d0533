//! The examples are complete programs: a solver and a problem of another crate go through plan, run, figures, report,
//! claims and check like the built-in ones.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An example as Cargo built it beside this test.
pub fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a test has a file");
    here.ancestors().nth(2).expect("deps/ lies in the profile's folder").join("examples").join(name)
}

fn run(name: &str, arguments: &[&str]) -> Output {
    let output = Command::new(example(name))
        .env("COLUMNS", "1000")
        .args(arguments)
        .output()
        .expect("cargo test builds the examples");
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
    let again = run(name, &["run", &config, "--out", &out_text, "--quiet", "--format", "json"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("\"finished\":0"), "nothing is done twice");
}

#[test]
fn a_solver_of_another_crate_is_one_among_the_rows() {
    reproduces("solver", "bcfw-zigzag", "BCFW-zigzag");
    let list = run("solver", &["list", "solvers"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(list.contains("keep=") && list.contains("symmetric Gauss–Seidel"), "{list}");
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
    assert!(errors.contains("'keep' belongs to") && errors.contains("bcfw-zigzag"), "{errors}");
}

#[test]
fn a_problem_of_another_crate_is_one_among_the_rows() {
    reproduces("problem", "half-planes:n=150,labels=4", "half-planes");
    let solved = run("problem", &["solve", "--dataset", "half-planes", "--solver", "mp-bcfw", "--gap", "1e-3"]);
    assert!(String::from_utf8_lossy(&solved.stdout).contains("stopped by"));
}

/// The examples in the help of a command and of the commands below it.
fn help_examples(path: &[&str]) -> Vec<String> {
    let output = program(&[path, &["--help"]].concat()).output().expect("it starts");
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    let of_examples = help.lines().skip_while(|line| *line != "Example:").skip(1);
    let mut found: Vec<String> = of_examples.map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect();
    assert!(!found.is_empty(), "{path:?} has no example: {help}");
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = below.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty());
    for name in names.filter(|name| *name != "help") {
        found.extend(help_examples(&[path, &[name]].concat()));
    }
    found
}

fn program(words: &[&str]) -> Command {
    let mut command = crate::common::program();
    command.args(words).env_remove("GITHUB_STEP_SUMMARY").env_remove("SSVM_DATA");
    command
}

/// What an example needs that a test has not: then that it parses is all that is checked, in `cli::help`.
const NEEDS: [&str; 19] = [
    " usps ",
    " usps-synth:n=1000 -s mp-bcfw-avg",
    "reproduce --fetch",
    "ssvm-bench reproduce$",
    "reproduce quick",
    "data fetch",
    "data check",
    "data prepare",
    "data show",
    "oracle:./segment",
    "oracle:python3",
    "cluster submit league",
    "--against",
    "run paper",
    "readme",
    "completions",
    " man ",
    "init ",
    "cluster status",
];

/// Every other example does what it shows, in this order: the first makes the results that the next ones read.
#[test]
fn examples_of_the_help_do_what_they_show() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = |line: &str| {
        // The shell of an example knows the program by its name.
        let bin = Path::new(env!("CARGO_BIN_EXE_ssvm-bench")).parent().expect("a folder");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh").args(["-c", line]).current_dir(&folder).env("PATH", path).output().expect("sh");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // A comparison of times may find that one is longer.
        let fine = output.status.success() || (line.contains(" compare ") && output.status.code() == Some(2));
        assert!(fine, "{line}: {:?} {errors}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned() + &errors
    };
    // What other examples made before, at other times and on other machines.
    done("ssvm-bench reproduce smoke --out results/quick --quiet --jobs 1");
    done(
        "for name in before after; do ssvm-bench run smoke --only 'usps*/*bcfw' --out results/$name --quiet --jobs 1; done",
    );
    done("ssvm-bench run smoke --only 'usps*/*bcfw' --out target/ci --quiet --jobs 1");
    let commands = [
        "reproduce",
        "run",
        "solve",
        "show",
        "report",
        "figures",
        "compare",
        "check",
        "advise",
        "data",
        "list",
        "cluster",
    ];
    let mut executed = 0;
    for command in commands {
        for line in help_examples(&[command]) {
            if NEEDS.iter().any(|need| format!("{line}$").contains(need)) {
                continue;
            }
            let text = done(&line);
            assert!(!text.is_empty() || line.contains("quiet") || line.contains('>'), "{line} prints nothing");
            executed += 1;
        }
    }
    assert!(executed >= 30, "{executed} examples");
}
