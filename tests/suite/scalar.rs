//! Without AVX2: the program with its kernels forced to plain arrays gives the same bits, solver by solver.

use std::path::Path;
use std::process::Stdio;

use ssvm_bench::store::folder::{Folder, Store};
use ssvm_bench::{Catalog, Harness, TracePoint};

const CONFIG: &str = r#"name = "scalar"
clock = "virtual"
evaluate = "every:1"
[budget]
iterations = 3
[[dataset]]
name = "usps-synth:n=20,size=37"
[[dataset]]
name = "ocr-synth:n=8"
[[dataset]]
name = "horseseg-synth:n=2,size=4"
[[dataset]]
name = "stanford-synth:n=2,size=4"
[[solver]]
name = "*"
"#;

/// Cell and evaluations of every run, without what a machine measures.
fn evaluations(dir: &Path, scalar: bool) -> Vec<(String, Vec<TracePoint>)> {
    let out = dir.join(format!("scalar-{scalar}"));
    let mut command = crate::common::program();
    command.args(["run", "--quiet"]).arg(dir.join("config.toml")).arg("--out").arg(&out);
    command.stdout(Stdio::null()).env_remove("SSVM_SCALAR");
    if scalar {
        command.env("SSVM_SCALAR", "1");
    }
    assert!(command.status().unwrap().success());
    let records = Store::open(&out).unwrap().scan(Folder::Runs).unwrap().records;
    let points = |point: &TracePoint| TracePoint { cpu_s: 0.0, ..point.clone() };
    records.iter().map(|record| (record.cell().to_string(), record.points().iter().map(points).collect())).collect()
}

#[test]
fn the_same_bits_without_avx2() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), CONFIG).unwrap();
    let (fast, plain) = (evaluations(dir.path(), false), evaluations(dir.path(), true));
    assert_eq!(fast.len(), 4 * Harness::standard().solvers().len());
    for (fast, plain) in fast.iter().zip(&plain) {
        assert!(!fast.1.is_empty() && fast == plain, "{fast:?}\n{plain:?}");
    }
}
