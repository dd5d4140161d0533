//! The report page: self-contained, safe against hostile names, and working in a real browser where one is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::hand;
use crate::common::trials::{self, Skipped};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use ssvm_bench::Error;
use ssvm_bench::gate::rounds::Design;
use ssvm_bench::gate::{folders, measure};
use ssvm_bench::render::figure;
use ssvm_bench::render::report::{self, Beside, Page};
use ssvm_bench::store::RunRecord;
use ssvm_bench::store::folder::Damage;
use ssvm_bench::store::manifest::{Code, ConfigText, Host, Inflation, Manifest, Session};
use ssvm_bench::study::Study;
use ssvm_bench::study::Summary;

const HOSTILE: &str = "libsvm:</script><img src=x onerror=alert(1)>\u{2028}{{data}}";

fn manifest() -> Manifest {
    Manifest {
        configs: vec![ConfigText { name: "quick".into(), sha256: "ab12".into(), text: "name = \"<quick>\"\n".into() }],
        sessions: vec![Session {
            config: "ab12".into(),
            started_unix_s: 1_794_794_940,
            ended_unix_s: None,
            jobs: 2,
            isolated: false,
            code: Code { version: "0.1.0".into(), commit: "abc".into(), rustc: "1.95".into(), flags: "release".into() },
            host: Host { name: "<host>".into(), cpu: "cpu".into(), cores: 2, memory: 8 << 30, ..Host::default() },
            finished: 199,
            failed: 1,
            peak_memory: 1 << 30,
            shard: String::new(),
            plan: String::new(),
        }],
        interference: vec![Inflation {
            dataset: "usps".into(),
            problem: None,
            solver: "bcfw".into(),
            jobs: 2,
            ratio: 1.04,
            low: 1.01,
            high: 1.08,
            probes: 3,
            ratios: vec![1.01, 1.04, 1.08],
        }],
        ..Manifest::default()
    }
}

fn page(records: &[RunRecord]) -> String {
    let path = PathBuf::from("runs/x.parquet");
    let damaged = vec![Damage { error: Error::file(&path, "damaged: cut short"), path }];
    let results = Study { manifest: manifest(), damaged, ..hand::results(records) };
    hand::page("results <quick>", &results).unwrap()
}

fn one_page_with_everything_and_nothing_from_outside() {
    // Five repeats, the fewest that have intervals; the averaged multi-plane solver has four on the last data set.
    let html = page(&hand::demo(&["usps", "stanford-synth", HOSTILE, "ocr"], 5));
    for part in ["results &lt;quick&gt;", "1 failed", "1 damaged file<", "Time to gap", "&lt;host&gt;"] {
        assert!(html.contains(part), "{part} is missing");
    }
    for verdict in ["✓&nbsp;holds<", "✗&nbsp;does not hold<", "?&nbsp;undecided<", "–&nbsp;not measured<"] {
        assert!(html.contains(verdict), "{verdict} is missing");
    }
    for interval in
        ["93.75 % interval (smallest to largest of 5)", "nominal 95 % interval by bootstrap over 5 paired repeats"]
    {
        assert!(html.contains(interval), "{interval} is missing");
    }
    assert!(html.contains("4 paired repeats give no interval (5 are needed): undecided"), "a reason is missing");
    for outside in ["src=\"http", "href=\"http", "@import", "url(http", "<link rel=\"stylesheet\""] {
        assert!(!html.contains(outside), "{outside} reaches outside the page");
    }
    assert!(html.len() < 4_000_000, "{} bytes", html.len());
    its_own_script_may_run(&html);
    let policy =
        html.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-") && !policy.contains("script-src 'unsafe"),
        "{policy}"
    );
}

/// The policy of a page lets its own script and style run: their hashes are in it.
fn its_own_script_may_run(html: &str) {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    let between = |from: &str, to: &str| html.split(from).nth(1).unwrap().split(to).next().unwrap();
    let script = hash(between("<script>", "</script>"));
    assert!(html.contains(&format!("script-src 'sha256-{script}'")), "the browser would not run the script");
    let style = hash(between("<style>", "</style>"));
    assert!(html.contains(&format!("style-src-elem 'sha256-{style}'")), "the browser would not use the style");
}

fn names_never_become_markup() {
    let html = page(&hand::demo(&["usps", HOSTILE], 2));
    assert!(!html.contains("<img src=x"), "a data set name was not escaped");
    assert_eq!(html.matches("</script>").count(), 2, "the data and the script, each closed once");
    assert!(html.contains("panicked: &lt;planted&gt; &amp; &quot;quoted&quot;"));
    let json = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(data["datasets"][1]["name"], HOSTILE, "the name comes back as it was");
}

fn two_folders_stand_side_by_side() {
    let folder = |records: &[RunRecord]| Study { manifest: manifest(), ..hand::results(records) };
    // The second folder has the real set where the first has its twin, and runs that are a fifth faster.
    let mut faster = hand::demo(&["usps", "ocr", HOSTILE], 12);
    for point in faster.iter_mut().flat_map(|record| &mut record.measured.points) {
        (point.time_s, point.cpu_s) = (0.8 * point.time_s, 0.8 * point.cpu_s);
    }
    let [old, new] = [folder(&hand::demo(&["usps-synth", "ocr", HOSTILE], 12)), folder(&faster)];
    let made = [&old, &new].map(|results| {
        let summary = Summary::of(results, Path::new("results"));
        let figures = figure::draw(results, &summary, &[], false).unwrap().0;
        (summary, figures)
    });
    let side = |at: usize, name: &'static str, results| {
        let (summary, figures) = &made[at];
        Page { name, results, summary, figures }
    };
    let page = |compared| {
        let sides = [side(0, "results/<before>", &old), side(1, "results/after", &new)];
        report::side_by_side(&Beside { sides, compared }).unwrap()
    };
    let [a, b] = [&old, &new].map(|results| measure::by_cell(results.own.records()).unwrap());
    let findings = folders::compare(&a, &b, &Design::default());
    let html = page(findings.map_err(|error| error.to_string()));
    assert!(html.contains("results/&lt;before&gt;") && !html.contains("<img src=x"), "names are text");
    assert!(html.contains("USPS twin | USPS"), "the twin stands beside the set that it is a twin of");
    assert!(html.contains("-20.0 %") && html.contains(">better</span>"), "a ratio with its verdict is missing");
    assert_eq!(html.matches("<title>oracle convergence: ").count(), 2, "one drawing for each folder");
    assert_eq!(html.matches("<title>Frank–Wolfe step").count(), 1, "what is the same stands once");
    assert!(html.contains("-20.0 % (-20.0 % to -20.0 %)") && html.contains("CVPR 2015, figure 5"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!html.contains(outside), "{outside} reaches outside the page");
    }
    its_own_script_may_run(&html);
    let html = page(Err("the two folders have no data set and solver in common".to_owned()));
    assert!(html.contains("No ratio is shown: the two folders have no data set"), "a reason is missing");
}

fn a_folder_of_failures_makes_a_page() {
    let html = page(&[hand::failed("usps", "bcfw", 0, "out of memory")]);
    assert!(html.contains("out of memory") && html.contains("no run succeeded"));
}

fn the_page_works_in_a_browser() -> Result<(), Skipped> {
    trials::program(&["node"])?;
    let browser = match std::env::var("CHROMIUM") {
        Ok(browser) => trials::program(&[&browser])?,
        Err(_) => trials::program(&["chromium", "chromium-browser", "google-chrome", "chrome"])?,
    };
    let dir = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("SSVM_KEEP_REPORT").map(PathBuf::from);
    let folder = kept.as_deref().unwrap_or(dir.path());
    let file = folder.join("report.html");
    std::fs::write(&file, page(&hand::demo(&["usps", "ocr", HOSTILE, "stanford-synth"], 10))).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/report_test.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(&file).env("CHROMIUM", browser);
    if kept.is_some() {
        command.arg(folder);
    }
    let out = command.output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    print!("{text}");
    assert!(out.status.success(), "{text}\n{errors}");
    Ok(())
}

crate::trials![
    one_page_with_everything_and_nothing_from_outside,
    names_never_become_markup,
    two_folders_stand_side_by_side,
    a_folder_of_failures_makes_a_page,
    the_page_works_in_a_browser,
];
