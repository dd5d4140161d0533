//! Two settings of one solver in one folder: gates, comparisons, `--only` and the pages tell them apart by name.

use std::path::{Path, PathBuf};

const CONFIG: &str = "name = 'two'\nrepeats = 2\nclock = 'virtual'\n[budget]\niterations = 8\n\
    [[dataset]]\nname = 'usps-synth:n=30'\n[[solver]]\nname = 'bcfw'\n[[solver]]\nname = 'mp-bcfw'\n\
    [[solver]]\nname = 'mp-bcfw'\nT = 1\npasses = 2\n";

const OTHER: &str = "usps-synth:n=30/mp-bcfw (T=1, passes=2)";

fn bench(arguments: &[&str]) -> (i32, String, String) {
    let mut command = crate::common::program();
    let output = command
        .env_remove("GITHUB_STEP_SUMMARY")
        .env("COLUMNS", "1000")
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

fn fine(arguments: &[&str]) -> String {
    let (code, out, errors) = bench(arguments);
    assert_eq!(code, 0, "{arguments:?}: {errors}");
    out
}

struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    fn new(config: &str) -> Self {
        let folder = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::write(folder.path("two.toml"), config).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

fn runs(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("runs")).unwrap().count()
}

#[test]
fn gates_and_comparisons_work_by_setting() {
    let folder = Folder::new(CONFIG);
    let (config, out, base) = (folder.text("two.toml"), folder.text("out"), folder.text("base.toml"));
    fine(&["run", &config, "--out", &out, "--quiet"]);
    fine(&["check", &out, "--save", &base]);
    let saved = std::fs::read_to_string(&base).unwrap();
    const SETTING: &str = "solver = { name = \"mp-bcfw\", params = { T = 1, passes = 2 } }";
    assert!(saved.contains(SETTING) && saved.contains("solver = { name = \"mp-bcfw\" }"), "{saved}");
    fine(&["check", &out, "--baseline", &base]);
    // Equal values need no row.
    assert!(fine(&["compare", &out, &out]).contains(" same"));

    // One setting is worse than its baseline: it is named, and accepted alone.
    let line = saved.lines().find(|l| l.contains(SETTING) && l.contains("\"oracle_calls\"")).unwrap();
    let (name, _) = line.split_once("values = ").unwrap();
    std::fs::write(&base, saved.replace(line, &format!("{name}values = [1, 1] }},"))).unwrap();
    let (code, table, errors) = bench(&["check", &out, "--baseline", &base]);
    assert_eq!(code, 2, "{errors}");
    let worse: Vec<&str> = table.lines().filter(|line| line.starts_with("WORSE")).collect();
    assert!(!worse.is_empty() && worse.iter().all(|line| line.contains(OTHER)), "{table}");
    assert!(errors.contains(&format!("--update '{OTHER}'")), "{errors}");
    fine(&["check", &out, "--baseline", &base, "--update", OTHER]);

    // A setting that the second folder does not have is lost.
    let less = folder.text("less");
    fine(&["run", &config, "--out", &less, "--quiet", "--only", "*/bcfw", "--only", "*/mp-bcfw"]);
    let (code, table, _) = bench(&["compare", &out, &less]);
    assert_eq!(code, 2);
    let lost: Vec<&str> = table.lines().filter(|line| line.starts_with("MISSING")).collect();
    assert!(lost.len() == 1 && lost[0].contains(OTHER), "{table}");
}

#[test]
fn only_reaches_one_setting() {
    let folder = Folder::new(CONFIG);
    let (config, out) = (folder.text("two.toml"), folder.text("out"));
    let planned = |only: &str| {
        let told = fine(&["run", "--dry-run", &config, "--out", &out, "--only", only, "--format", "json"]);
        let runs = told.lines().filter(|line| line.contains("\"run_id\""));
        runs.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["solver"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(planned("*/mp-bcfw"), ["mp-bcfw"; 2]);
    assert_eq!(planned("*/mp-bcfw (T=1, passes=2)"), ["mp-bcfw (T=1, passes=2)"; 2]);
    assert_eq!(planned("*/*(T=1*").len(), 2);
    assert_eq!(planned("*/mp-bcfw*").len(), 4);
    let (code, _, errors) = bench(&["run", "--dry-run", &config, "--only", "*/mp-bcfw (T=2)"]);
    assert_eq!(code, 1);
    assert!(errors.contains("its solvers are bcfw, mp-bcfw, mp-bcfw (T=1, passes=2)"), "{errors}");
    fine(&["run", &config, "--out", &out, "--quiet", "--only", OTHER]);
    assert_eq!(runs(&folder.path("out")), 2);
    fine(&["run", &config, "--out", &out, "--quiet"]);
    let shown = fine(&["show", &out, "oracle", "--only", OTHER]);
    assert!(shown.lines().filter(|line| line.contains("bcfw")).count() == 1, "{shown}");
}

/// `--only` says what is run; what is written about a folder is about the whole folder.
#[test]
fn reproducing_a_part_keeps_the_summary_of_the_whole() {
    let folder = Folder::new(CONFIG);
    let (config, out) = (folder.text("two.toml"), folder.text("out"));
    fine(&["reproduce", &config, "--out", &out, "--quiet"]);
    let read = |name: &str| std::fs::read_to_string(folder.path("out").join(name)).unwrap();
    let rows = |text: &str| {
        let summary: serde_json::Value = serde_json::from_str(text).unwrap();
        summary["profile"].as_array().unwrap().iter().map(|row| row["label"].clone()).collect::<Vec<_>>()
    };
    let whole = rows(&read("summary.json"));
    assert_eq!(whole.len(), 3);
    fine(&["reproduce", &config, "--out", &out, "--quiet", "--only", "*/bcfw"]);
    assert_eq!(rows(&read("summary.json")), whole);
    assert!(read("report.html").contains("mp-bcfw (T=1, passes=2)") || read("report.html").contains("T=1"));
}
