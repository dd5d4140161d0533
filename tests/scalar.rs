//! Without AVX2: the program with its kernels forced to plain arrays gives the same bits, solver by solver.

use std::process::Command;

use serde_json::Value;
use ssvm_bench::{Catalog, Harness};

/// The evaluations of a run on the virtual clock, without what a machine measures.
fn evaluations(dataset: &str, solver: &str, scalar: bool) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssvm-bench"));
    command.args(["solve", "--dataset", dataset, "--solver", solver, "--clock", "virtual", "--iterations", "4"]);
    command.args(["--evaluate", "every:1", "--format", "json"]).env_remove("SSVM_SCALAR");
    if scalar {
        command.env("SSVM_SCALAR", "1");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let point = |line: &str| {
        let mut point: Value = serde_json::from_str(line).unwrap();
        if let Some(fields) = point.as_object_mut() {
            fields.remove("cpu_s");
        }
        point
    };
    lines.lines().map(point).filter(|point| point["kind"] == "point").collect()
}

#[test]
fn the_same_bits_without_avx2() {
    for dataset in ["usps-synth:n=30,size=37", "ocr-synth:n=12", "horseseg-synth:n=2,size=4", "stanford-synth:n=2,size=4"] {
        for info in Harness::standard().solvers() {
            let (fast, plain) = (evaluations(dataset, info.name, false), evaluations(dataset, info.name, true));
            assert!(!fast.is_empty() && fast == plain, "{dataset} {}: {fast:?} {plain:?}", info.name);
        }
    }
}
