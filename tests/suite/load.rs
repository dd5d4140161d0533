//! Large folders, long traces, many terms, many workers: everything still comes out. With `SSVM_LOAD=1` at full size, with
//! time and memory of each size (`scripts/load.sh`); otherwise at a size for every day.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::common::hand;
use ssvm_bench::Harness;
use ssvm_bench::store::codec;
use ssvm_bench::store::folder::{Contents, Folder, Store};
use ssvm_bench::store::manifest::Manifest;
use ssvm_bench::study::Axis;
use ssvm_bench::study::Study;

fn full() -> bool {
    std::env::var_os("SSVM_LOAD").is_some()
}

fn status(key: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

/// CPU time of this process and of those that it has waited for, in seconds.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may hold blanks; behind it the times are the 12th to the 15th, in hundredths.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Runs the work and, at full size, prints time and memory.
fn measured<T>(what: &str, size: usize, work: impl FnOnce() -> T) -> T {
    let _ = fs::write("/proc/self/clear_refs", "5");
    let (before, began, cpu_before) = (status("VmRSS:"), Instant::now(), cpu());
    let result = work();
    if full() {
        let (seconds, peak) = (began.elapsed().as_secs_f64(), status("VmHWM:").saturating_sub(before));
        let cpu = cpu() - cpu_before;
        println!(
            "{what:<32} {size:>9}  {seconds:>8.2} s  CPU {cpu:>7.2} s  {:>8.2} µs each  {peak:>5} MiB more",
            cpu * 1e6 / size as f64
        );
    }
    result
}

#[test]
fn many_records_in_a_folder() {
    for count in if full() { [1_000, 10_000, 100_000] } else { [10, 50, 200] } {
        // On a disk, not in memory; without syncing every file, which is what takes long.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (store, lock) = Store::create(dir.path()).unwrap();
        for repeat in 0..count {
            let points = vec![hand::point(1, 1.0, 1.0, 0.5), hand::point(2, 2.0, 0.9, 0.6)];
            let record = hand::run("usps-synth:n=9", "bcfw", repeat as u64, points);
            fs::write(store.path(Folder::Runs, &record.run_id()), codec::encode(&record).unwrap()).unwrap();
        }
        drop(lock);
        let contents = measured("records read", count, || store.scan(Folder::Runs).unwrap());
        assert_eq!((contents.records.len(), contents.damaged.len()), (count, 0));
    }
}

#[test]
fn many_rows_into_bands() {
    // Rows of a record are 152 bytes, and the tables are as large again: ten million take some 4 GB.
    for rows in if full() { [100_000, 1_000_000, 10_000_000] } else { [300, 1_000, 3_000] } {
        let runs = 30;
        let records: Vec<_> = (0..runs)
            .map(|at| {
                let solver = ["bcfw", "mp-bcfw", "fw"][at % 3];
                let point = |k: u64| hand::point(k, k as f64, 1.0 + 1.0 / k as f64, 1.0 - 1.0 / k as f64);
                hand::run("usps-synth:n=9", solver, (at / 3) as u64, (1..=(rows / runs) as u64).map(point).collect())
            })
            .collect();
        let bands = measured("rows into bands", rows, || {
            let frames = Study::from_records(records, &Harness::standard(), &|_| None).unwrap().own;
            Axis::ALL.map(|axis| frames.bands(axis).unwrap().len())
        });
        assert_eq!(bands, [3; Axis::ALL.len()]);
    }
}

#[test]
fn many_records_on_a_page() {
    for count in if full() { [1_000, 10_000, 100_000] } else { [10, 50, 200] } {
        let record = |at: usize| {
            let (dataset, solver) = (["usps-synth:n=9", "ocr-synth:n=9"][at % 2], hand::SOLVERS[at / 2 % 5]);
            let point = |k: u64| hand::point(k, k as f64, 1.0 + 1.0 / (k + at as u64 % 7) as f64, 1.0 - 1.0 / k as f64);
            hand::run(dataset, solver, (at / 10) as u64, (1..=3).map(point).collect())
        };
        let contents = Contents { records: (0..count).map(record).collect(), damaged: Vec::new() };
        let catalog = Harness::standard();
        let page = measured("records to the page", count, || {
            let results = Study::of(Path::new("here"), Manifest::default(), contents, &catalog, &[]).unwrap();
            hand::page("load", &results).unwrap()
        });
        assert!(page.contains("</html>"));
    }
}

fn solve(dir: &Path, arguments: &[&str]) -> String {
    let output = crate::common::program().args(arguments).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn many_terms() {
    let dir = tempfile::tempdir().unwrap();
    for n in if full() { [10_000, 100_000, 1_000_000] } else { [100, 1_000, 10_000] } {
        let set = format!("usps-synth:n={n},size=16");
        let text = measured("terms, 3 iterations of mp-bcfw", n, || {
            solve(dir.path(), &["solve", "--dataset", &set, "--solver", "mp-bcfw", "--iterations", "3"])
        });
        let memory = text.split("peak memory ").nth(1).and_then(|rest| rest.split(" MiB").next());
        assert!(memory.is_some(), "{text}");
        if full() {
            println!("    of its own process: {} MiB", memory.unwrap_or_default());
        }
    }
}

/// Runs of a plan, once more when all of them are there, and what `plan` says of them.
#[test]
fn many_runs_of_a_plan() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for repeats in if full() { [100, 1_000, 5_000] } else { [2, 5, 10] } {
        let config = format!(
            "name = \"t\"\nclock = \"virtual\"\nrepeats = {repeats}\n[budget]\niterations = 2\n\
             [[dataset]]\nname = \"usps-synth:n=8,size=4\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"fw\"\n"
        );
        fs::write(dir.path().join("t.toml"), config).unwrap();
        let out = format!("v{repeats}");
        let run = ["run", "t.toml", "--out", &out, "--quiet"];
        for what in ["runs of a plan", "the same plan, all done"] {
            measured(what, 2 * repeats, || solve(dir.path(), &run));
        }
        let plan = ["run", "--dry-run", "t.toml", "--out", &out];
        let text = measured("plan of runs that are done", 2 * repeats, || solve(dir.path(), &plan));
        assert!(text.contains(&format!("{0} runs, {0} done", 2 * repeats)), "{text}");
    }
}

#[test]
fn many_workers_on_few_cores() {
    let dir = tempfile::tempdir().unwrap();
    let config = "name = \"t\"\nclock = \"virtual\"\nrepeats = 64\n[budget]\niterations = 3\n\
        [[dataset]]\nname = \"usps-synth:n=50\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"mp-bcfw\"\n";
    fs::write(dir.path().join("t.toml"), config).unwrap();
    for jobs in [2, 64] {
        let out = format!("v{jobs}");
        let text = measured("runs with 2, then 64 workers", 128, || {
            solve(dir.path(), &["run", "t.toml", "--out", &out, "--jobs", &jobs.to_string(), "--format", "json"])
        });
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&report["finished"], &report["planned"]), (&128.into(), &128.into()));
    }
}
