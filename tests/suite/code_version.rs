//! The code version of a run: it changes with the tokens of the sources and with nothing else.

use std::path::Path;

use ssvm_bench::experiment::{Experiment, Plan};
use ssvm_bench::{Catalog, DataDir, Harness};

#[path = "../../build/tokens.rs"]
mod tokens;

fn digest(text: &str) -> u64 {
    let mut digest = tokens::Digest::new();
    digest.add("solver.rs", text);
    digest.0
}

const SOURCE: &str = "//! Steps.\n\n/// A step.\nfn step(x: f64) -> f64 {\n    f(&[x, 2.0], 0.5) // why\n}\n";

#[test]
fn comments_documentation_formatting_and_tests_leave_the_digest() {
    let expected = digest(SOURCE);
    assert_eq!(digest(&SOURCE.replace("// why", "/* another\nreason */")), expected);
    assert_eq!(digest(&SOURCE.replace("/// A step.", "/// A step,\n/// explained.\n#[doc = \"more\"]")), expected);
    assert_eq!(digest(&SOURCE.replace("//! Steps.\n", "")), expected);
    assert_eq!(digest(&SOURCE.replace("f(&[x, 2.0], 0.5)", "f(\n        &[x, 2.0,],\n        0.5,\n    )")), expected);
    let test = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert!(true);\n    }\n}\n";
    assert_eq!(digest(&format!("{SOURCE}{test}")), expected);
    assert_eq!(digest(&format!("#[cfg(test)]\nuse std::fmt;\n{SOURCE}")), expected);
    println!("tokens of the sources: {}", env!("SSVM_TOKENS"));
}

#[test]
fn a_constant_a_name_and_what_is_compiled_change_the_digest() {
    let before = digest(SOURCE);
    for (from, to) in [("2.0", "3.0"), ("2.0", "2"), ("step", "leap"), ("[x, 2.0]", "[2.0, x]"), ("fn", "pub fn")] {
        assert_ne!(digest(&SOURCE.replace(from, to)), before, "{from} → {to}");
    }
    assert_ne!(digest(&format!("{SOURCE}fn g() {{}}\n")), before);
    assert_ne!(digest(&format!("#[cfg(unix)]\n{SOURCE}")), before);
    let mut other = tokens::Digest::new();
    other.add("other.rs", SOURCE);
    assert_ne!(other.0, before);
}

/// The files that commit 793f25d wrote for this config. A program that makes the same numbers takes its code version
/// (`SAME_NUMBERS` in build.rs), and so finds these files by their names.
#[test]
fn a_folder_of_the_first_layout_is_found_by_its_run_ids() {
    let text = "name = \"tiny\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 3\n[[dataset]]\n\
        name = \"usps-synth:n=20\"\n[[solver]]\nname = \"bcfw\"\n";
    let harness = Harness::standard();
    let experiment = Experiment::parse(Path::new("tiny.toml"), text, harness.solvers()).unwrap();
    let plan = Plan::new(&experiment, &harness, &DataDir::resolve(None)).unwrap();
    let mut ids = Vec::new();
    for run in plan.runs {
        let mut identity = run.identity;
        identity.code_version = "0.1.0+7dc61b28c0dda8e3".to_owned();
        // The cost model had no version then.
        identity.cost_model = None;
        ids.push(identity.run_id());
    }
    ids.sort();
    assert_eq!(ids, ["6674f5e5cc9efd1b1f1c", "8cc3c51742bb43e95086"]);
}
