//! Figures from hand-made traces: complete, well-formed, in every format; negative values interrupt.

use crate::common::hand;
use ssvm_bench::Harness;
use ssvm_bench::render::figure::explain::slope_rule;
use ssvm_bench::render::figure::{self, FileFormat};
use ssvm_bench::render::write_pages;
use ssvm_bench::store::RunRecord;
use ssvm_bench::study::Study;
use ssvm_bench::study::Summary;

fn figures(records: &[RunRecord]) -> Vec<figure::Figure> {
    hand::figures(&hand::results(records), &[]).unwrap().0
}

#[test]
fn every_figure_in_every_format() {
    let records = hand::demo(&["usps", "ocr", "horseseg-synth:n=300", "stanford-synth"], 10);
    let figures = figures(&records);
    let kept = std::env::var_os("SSVM_KEEP_FIGURES").map(std::path::PathBuf::from);
    let scratch = tempfile::tempdir().unwrap();
    let dir = kept.as_deref().unwrap_or(scratch.path());
    let files = figure::write(&figures, dir, &[FileFormat::Svg, FileFormat::Png, FileFormat::Pdf]).unwrap();
    // The primal of the last set is not certified and excluded by its dual, so that the three figures of the league have none.
    assert_eq!((figures.len(), files.len()), (7 * 5 - 3 + 2, 3 * 34));
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let magic: &[u8] = match file.extension().and_then(|e| e.to_str()) {
            Some("png") => b"\x89PNG",
            Some("pdf") => b"%PDF",
            _ => b"<svg",
        };
        assert!(bytes.starts_with(magic) && bytes.len() > 1000, "{}", file.display());
    }
    let oracle = &figures[0];
    assert_eq!(oracle.name, "oracle_convergence");
    for text in
        ["USPS", "HorseSeg twin", "primal suboptimality", "P − B_lo", "MP-BCFW-avg", "min–max of 9 to 10 repeats"]
    {
        assert!(oracle.svg.contains(text), "{text} is missing");
    }
    assert!(oracle.svg.contains("1 of 200 runs failed"));
    assert!(oracle.svg.contains("stroke-dasharray"), "line styles differ");
    assert!(figures.iter().any(|f| f.name == "runtime_convergence_horseseg-synth_n=300"));
}

#[test]
fn one_repeat_one_point_and_no_point_still_draw() {
    let one = hand::run("usps", "mp-bcfw", 0, vec![hand::point(1, 0.5, 2.0, 1.0)]);
    let negative = hand::run("ocr", "bcfw", 0, vec![hand::point(1, 0.0, 1.0, 2.0)]);
    let broken = hand::failed("stanford", "bcfw", 0, "timeout");
    let (figures, left_out) = hand::figures(&hand::results(&[one, negative, broken]), &[]).unwrap();
    let left_out: Vec<&str> = left_out.iter().map(|row| row.name).collect();
    let league = ["league", "performance_profile", "league_targets"];
    let prices = ["breakeven", "regime_runtime_convergence", "regime_parameter_dynamics"];
    let expected = [&league[..], &prices[..], &["slope_rule"]].concat();
    assert_eq!(left_out, expected, "one solver a set, one price, and no passes that were kept");
    let dir = tempfile::tempdir().unwrap();
    figure::write(&figures, dir.path(), &[FileFormat::Png]).unwrap();
    let of = |name: &str| &figures.iter().find(|f| f.name == name).unwrap().svg;
    assert!(of("oracle_convergence_usps").contains("<circle"), "a single evaluation is a dot");
    assert!(of("oracle_convergence_ocr").contains("no positive value to show"), "nothing positive");
    assert!(of("oracle_time_stanford").contains("no run succeeded (1 failed)"));
}

#[test]
fn a_data_set_name_cannot_break_the_file() {
    let name = "libsvm:/data/<a&\"b\">.txt";
    let record = hand::run(name, "bcfw", 0, vec![hand::point(1, 0.5, 2.0, 1.0)]);
    let figures = figures(&[record]);
    let dir = tempfile::tempdir().unwrap();
    let files = figure::write(&figures, dir.path(), &[FileFormat::Svg, FileFormat::Png]).unwrap();
    assert!(files.iter().all(|f| f.parent() == Some(dir.path())));
    assert!(!figures[0].svg.contains("<a&"));
}

#[test]
fn the_slope_rule_says_when_it_stops() {
    let points = vec![(0.0, 0.0), (1.0, 1.0), (1.1, 1.5), (1.2, 1.9), (1.3, 1.95)];
    let svg = slope_rule(&points).unwrap().unwrap();
    assert!(svg.contains("after pass 1: another approximate pass") && svg.contains("after pass 3: a new iteration"));
}

/// The four commands on a folder with a damaged file, and on folders that hold nothing.
#[test]
fn commands_on_a_folder() {
    use ssvm_bench::store::folder::{Folder, Store};

    let dir = tempfile::tempdir().unwrap();
    let results = dir.path();
    let command = |name: &str, extra: &[&str]| {
        let mut command = crate::common::program();
        let out = command.arg(name).arg(results).args(extra).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, _, errors) = command("figures", &[]);
    assert!(code == Some(1) && errors.contains("ssvm-bench run"), "an empty folder says what to do: {errors}");
    std::fs::write(results.join("manifest.json"), r#"{"schema_version": 0}"#).unwrap();
    let (code, _, errors) = command("show", &["oracle"]);
    assert!(code == Some(1) && errors.contains("layout 0"), "another layout is refused by name: {errors}");
    std::fs::remove_file(results.join("manifest.json")).unwrap();

    let (store, lock) = Store::create(results).unwrap();
    drop(lock);
    let (code, _, errors) = command("show", &["claims"]);
    assert!(code == Some(1) && errors.contains("no run to show"), "{errors}");
    // Five repeats: fewer have no interval, and then nothing is decided on the wall clock.
    for record in hand::demo(&["usps-synth:n=9", "ocr"], 5) {
        store.write(Folder::Runs, &record).unwrap();
    }
    let whole = std::fs::read(store.path(Folder::Runs, &hand::demo(&["ocr"], 5)[0].run_id())).unwrap();
    std::fs::write(store.path(Folder::Runs, "half-written"), &whole[..whole.len() / 2]).unwrap();

    let (code, files, errors) = command("figures", &["--format", "svg", "--tables"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("half-written") && errors.contains("1 of 5 runs failed: mp-bcfw-avg on ocr"), "{errors}");
    for file in ["figures/slope_rule.svg", "figures/oracle_time_ocr.svg", "tables/bands.csv", "tables/ecdf.parquet"] {
        assert!(files.contains(file) && results.join(file).is_file(), "{file}: {files}");
    }
    let (code, files, errors) = command("show", &["league", "--out", results.join("league").to_str().unwrap()]);
    assert_eq!(code, Some(0), "{errors}");
    for name in ["targets.csv", "anytime.parquet", "performance_profile.md", "speedups.tex", "anytime.tex"] {
        assert!(files.contains(name) && results.join("league").join(name).is_file(), "{name}: {files}");
    }
    assert_eq!(command("show", &["league", "--format", "csv"]).0, Some(1), "several tables are no text");
    let (code, one, errors) = command("show", &["--format", "csv", "claims"]);
    assert!(code == Some(0) && one.starts_with("#,data set,"), "{one}{errors}");
    let (code, _, errors) = command("show", &["oracle", "--part", "winners"]);
    assert!(code == Some(1) && errors.contains("no part 'winners'; it has: oracle"), "{errors}");
    let (code, text, _) = command("show", &["league", "--format", "latex", "--part", "anytime"]);
    assert!(code == Some(0) && text.contains("\\begin{table}") && text.contains("oracle calls"), "{text}");
    assert_eq!(command("report", &[]).0, Some(0));
    let page = std::fs::read_to_string(results.join("report.html")).unwrap();
    assert!(page.contains("1 damaged file<") && page.contains("half-written"));
    // The oracle takes 15 % of the time on the one; passes grow like √k on the other, to a median below 10; and of the
    // averaged solvers there one repeat failed, which leaves four pairs.
    let (_, json, _) = command("show", &["claims", "--format", "json"]);
    let claims: Vec<ssvm_bench::study::claims::Claim> = serde_json::from_str(&json).unwrap();
    let verdict = |number: u8, dataset: &str, solver: &str| {
        let row =
            claims.iter().find(|c| (c.number, c.dataset.as_str(), c.solver.as_str()) == (number, dataset, solver));
        row.unwrap_or_else(|| panic!("no row {number} for {solver} on {dataset}: {json}")).verdict.name()
    };
    assert_eq!(verdict(3, "usps-synth:n=9", "bcfw"), "holds");
    assert_eq!(verdict(5, "ocr", "mp-bcfw"), "does not hold");
    assert_eq!(verdict(1, "ocr", "mp-bcfw-avg"), "undecided");
    for (format, claims, profile) in [
        ("table", "not measured", "15.0–15.0 %"),
        ("json", "\"verdict\": \"holds\"", "\"p99\""),
        ("markdown", "| 1a | OCR |", "| OCR | mp-bcfw |"),
        ("latex", "\\bottomrule", "\\textmu"),
    ] {
        for (name, expected) in [("claims", claims), ("oracle", profile)] {
            let (code, text, errors) = command("show", &[name, "--format", format]);
            assert_eq!(code, Some(0), "a claim that does not hold is a result: {errors}");
            assert!(text.contains(expected), "{name} as {format} has no {expected}: {text}");
        }
    }
}

#[test]
fn a_folder_of_figures_has_an_index() {
    let dir = tempfile::tempdir().unwrap();
    let error = figure::index::page(dir.path()).unwrap_err().to_string();
    assert!(error.contains("ssvm-bench figures RESULTS"), "{error}");
    std::fs::write(dir.path().join("slope_rule.svg"), "<svg/>").unwrap();
    std::fs::write(dir.path().join("league.pdf"), "%PDF").unwrap();
    let page = figure::index::page(dir.path()).unwrap();
    assert!(page.contains("![The slope rule](slope_rule.svg)") && page.contains("\n[League](league.pdf)"), "{page}");
    assert!(page.contains("> (Shah, Kolmogorov, Lampert, CVPR 2015, figure 3)") && !page.contains("oracle_time"));
    let rows = page.lines().filter(|line| line.starts_with("| [")).count();
    assert_eq!(rows, 2, "{page}");
}

/// Figures, PNG, PDF and the report come from one drawing of each figure.
#[test]
fn one_reproduce_draws_every_figure_once() {
    let dir = tempfile::tempdir().unwrap();
    let run = ["run", "smoke", "--quiet", "--out"];
    let program = env!("CARGO_BIN_EXE_ssvm-bench");
    let out = std::process::Command::new(program).args(run).arg(dir.path()).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let results = Study::open(dir.path(), &Harness::standard(), &[]).unwrap();
    let before = figure::canvas::drawn();
    let summary = Summary::of(&results, dir.path());
    let pages = write_pages(&results, &summary, dir.path(), &str::to_owned, &|_| Ok(())).unwrap();
    let svgs = pages.files.iter().filter(|file| file.extension().is_some_and(|e| e == "svg")).count();
    // A figure that the folder has nothing for ends before it draws.
    assert_eq!(figure::canvas::drawn() - before, svgs);
    assert!(svgs > 30, "{:?}", pages.files);
    let page = std::fs::read_to_string(pages.report).unwrap();
    let drawn = std::fs::read_to_string(dir.path().join("figures/oracle_convergence.svg")).unwrap();
    assert!(page.contains(&drawn), "the page shows the drawing of the file");
}
