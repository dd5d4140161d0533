//! Snapshots of the program's output about result folders on the virtual clock: summary, tables, claims, league,
//! break-even, advice, profile, comparison. Made by the program alone, so that the library may change its shape.
//!
//! `UPDATE_SNAPSHOT=1 cargo test --release --test suite snapshot` rewrites the files in `tests/fixtures/snapshot/`.
//! What is not compared is in the constants below; all other numbers are compared to the last digit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use ssvm_bench::render::tables::league::{self, Part, sections};
use ssvm_bench::render::tables::{self, breakeven, claims, profile};
use ssvm_bench::study::Summary;
use ssvm_bench::study::break_even::{CostGiven, advise};
use tempfile::TempDir;

/// Keys of JSON objects that say who measured and how long it took there.
const MACHINE_KEYS: [&str; 4] = ["code", "commits", "host", "pipe"];
/// Measured latencies, of which only the count is compared.
const LATENCIES: [&str; 2] = ["oracle_ns", "approx_ns"];
/// Columns of tables and records that do the same.
const MACHINE_COLUMNS: [&str; 16] = [
    "run_id",
    "jobs",
    "core",
    "threads",
    "wall_s",
    "cpu_s",
    "instrument_s",
    "steal",
    "load",
    "host",
    "host_class",
    "drift",
    "build",
    "run_wall_s",
    "run_cpu_s",
    "run_total_s",
];
/// Passages of texts: the measured latency of a call, in the evidence of claims.
const MACHINE_PASSAGES: [(&str, char); 1] = [("median call ", ';')];
/// Values of which a digest is enough: evidence is in the text of the claims, ratios of pairs of solvers are in the league's.
const DIGESTED_KEYS: [&str; 2] = ["evidence", "upper"];
/// Units of the latencies in the columns of `profile`.
const UNITS: [&str; 4] = ["ns", "µs", "ms", "s"];
/// Figures that draw latencies.
const MACHINE_FIGURES: &str = "oracle_time";

/// One snapshot: a folder of text files, some of which may differ.
struct Snapshot {
    name: &'static str,
    files: BTreeMap<String, String>,
}

impl Snapshot {
    fn new(name: &'static str) -> Self {
        Self { name, files: BTreeMap::new() }
    }

    fn add(&mut self, file: &str, text: String) {
        assert!(self.files.insert(file.to_owned(), text).is_none(), "{file} is pinned twice");
    }

    /// Compares with the stored files, or stores these.
    fn check(self) {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/snapshot").join(self.name);
        if std::env::var_os("UPDATE_SNAPSHOT").is_some_and(|value| value == "1") {
            write_all(&stored, &self.files);
            return;
        }
        let received = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snapshot").join(self.name);
        write_all(&received, &self.files);
        let mut names: Vec<String> = self.files.keys().cloned().chain(file_names(&stored)).collect();
        names.sort();
        names.dedup();
        let mut differences = String::new();
        for name in names {
            let old = fs::read_to_string(stored.join(&name)).unwrap_or_default();
            let new = self.files.get(&name).map_or("", String::as_str);
            if old != new {
                let _ = write!(differences, "\n{name}\n{}", difference(&old, new));
            }
        }
        assert!(
            differences.is_empty(),
            "not as stored in {}; all of it is in {}; UPDATE_SNAPSHOT=1 accepts it\n{differences}",
            stored.display(),
            received.display()
        );
    }
}

fn write_all(folder: &Path, files: &BTreeMap<String, String>) {
    if folder.exists() {
        fs::remove_dir_all(folder).unwrap();
    }
    fs::create_dir_all(folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn file_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().expect("a name in UTF-8")).collect();
    names.sort();
    names
}

/// Lines that only one text has, in their order, the first of them.
fn difference(old: &str, new: &str) -> String {
    const MOST_LINES: usize = 12;
    const MOST_CHARACTERS: usize = 300;
    let only = |mark: char, here: &str, there: &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        there.lines().for_each(|line| *counts.entry(line).or_default() += 1);
        let mut lines = Vec::new();
        for (at, line) in here.lines().enumerate() {
            match counts.get_mut(line).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => lines.push(format!("  {mark} {}: {:.MOST_CHARACTERS$}\n", at + 1, line)),
            }
        }
        let more = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        if more > 0 {
            lines.push(format!("  {mark} … {more} more lines\n"));
        }
        lines.concat()
    };
    let found = only('-', old, new) + &only('+', new, old);
    if found.is_empty() { "  the same lines in another order\n".to_owned() } else { found }
}

/// What a call of the program gave.
struct Output {
    code: i32,
    text: String,
    errors: String,
}

/// A folder in which the program is called.
struct Bench {
    folder: TempDir,
    environment: Vec<(&'static str, &'static str)>,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self, arguments: &[&str]) -> Output {
        let output = Command::new(env!("CARGO_BIN_EXE_ssvm-bench"))
            .args(arguments)
            .current_dir(&self.folder)
            .envs(self.environment.iter().copied())
            .env_remove("GITHUB_STEP_SUMMARY")
            .output()
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Output {
            code: output.status.code().expect("an exit code"),
            text: text(output.stdout),
            errors: text(output.stderr),
        }
    }

    /// What a call that succeeds prints.
    fn says(&self, arguments: &[&str]) -> String {
        let Output { code, text, errors } = self.call(arguments);
        assert_eq!(code, 0, "{arguments:?}: {errors}");
        text
    }

    /// The same with its exit code and what it says on standard error.
    fn says_all(&self, arguments: &[&str]) -> String {
        let Output { code, text, errors } = self.call(arguments);
        format!("{text}standard error:\n{errors}exit code: {code}\n")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.says(arguments)).expect("JSON")
    }
}

fn fixture(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// Without what a machine decides, and without keys whose value is null.
fn portable(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| !value.is_null() && !MACHINE_KEYS.contains(&key.as_str()));
            for (key, value) in map.iter_mut() {
                if let (true, Some(latency)) = (LATENCIES.contains(&key.as_str()), value.as_object_mut()) {
                    latency.retain(|key, _| key == "count");
                }
                portable(value);
                if DIGESTED_KEYS.contains(&key.as_str()) {
                    *value = Value::from(digest([value.to_string().as_str()]));
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(portable),
        Value::String(text) => *text = portable_text(text),
        _ => {}
    }
}

/// Passages of [`MACHINE_PASSAGES`] as `…`.
fn portable_text(text: &str) -> String {
    let mut text = text.to_owned();
    for (start, end) in MACHINE_PASSAGES {
        let mut parts = text.split(start);
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.find(end).map_or("", |at| &part[at..]);
            kept += &format!("{start}…{rest}");
        }
        text = kept;
    }
    text
}

/// The table of `profile` with `…` for latencies, and without padding, which follows from their widths.
fn portable_profile(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut kept = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let is_number = |word: &str| word.parse::<f64>().is_ok();
            if is_number(word) && words.get(at + 1).is_some_and(|next| UNITS.contains(next)) {
                kept.push("…");
            } else if !(UNITS.contains(word) && at > 0 && is_number(words[at - 1])) {
                kept.push(*word);
            }
        }
        lines += &format!("{}\n", kept.join(" "));
    }
    lines
}

/// A text with wide tables: two spaces for more of them, and a digest of it as it was.
fn narrow(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        out += &format!("{}\n", cells.join("  "));
    }
    format!("{out}digest with the spaces: {}\n", digest([text]))
}

/// The first lines of a page whose numbers are pinned elsewhere, and a digest of all of it.
fn head(text: &str) -> String {
    const LINES: usize = 8;
    let first: String = text.lines().take(LINES).map(|line| format!("{line}\n")).collect();
    format!("{first}digest of all {} lines: {}\n", text.lines().count(), digest([text]))
}

/// JSON with every value that is short on one line.
fn pretty(value: &Value) -> String {
    const WIDTH: usize = 240;
    fn write(value: &Value, indent: usize, out: &mut String) {
        let short = value.to_string();
        let inner = |out: &mut String| out.push_str(&format!("\n{}", " ".repeat(indent + 1)));
        match value {
            _ if short.chars().count() <= WIDTH => out.push_str(&short),
            Value::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    inner(out);
                    write(value, indent + 1, out);
                    out.push_str(if at + 1 < values.len() { "," } else { "]" });
                }
            }
            Value::Object(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    inner(out);
                    out.push_str(&format!("{}:", Value::from(key.as_str())));
                    write(value, indent + 1, out);
                    out.push_str(if at + 1 < map.len() { "," } else { "}" });
                }
            }
            _ => out.push_str(&short),
        }
    }
    let mut value = value.clone();
    portable(&mut value);
    let mut out = String::new();
    write(&value, 0, &mut out);
    out + "\n"
}

/// FNV-1a over texts, a short one.
fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{:06x}", (hash >> 32 ^ hash) & 0xff_ffff)
}

/// A number as Rust prints it, however the table wrote it; nothing for one that is not finite.
fn canonical(field: &str) -> String {
    match field.parse::<f64>() {
        _ if field.parse::<u64>().is_ok() => field.to_owned(),
        Ok(number) if number.is_finite() => number.to_string(),
        Ok(_) => String::new(),
        Err(_) => field.to_owned(),
    }
}

/// A table in plain text, without [`MACHINE_COLUMNS`].
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(columns: Vec<String>, mut rows: Vec<Vec<String>>) -> Self {
        let kept = |row: Vec<String>| -> Vec<String> {
            let pairs = columns.iter().zip(row);
            pairs.filter(|(name, _)| !MACHINE_COLUMNS.contains(&name.as_str())).map(|(_, field)| field).collect()
        };
        rows = rows.into_iter().map(kept).collect();
        Self { rows, columns: kept(columns.clone()) }
    }

    fn csv(text: &str) -> Self {
        let mut lines = text.lines().map(csv_fields);
        let columns = lines.next().expect("a header");
        Self::new(columns, lines.map(|line| line.iter().map(|field| canonical(field)).collect()).collect())
    }

    /// The evaluations of one run.
    fn record(path: &Path) -> Self {
        let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            columns = row.get_column_iter().map(|(name, _)| name.clone()).collect();
            rows.push(row.get_column_iter().map(|(_, field)| canonical(field.to_string().trim_matches('"'))).collect());
        }
        Self::new(columns, rows)
    }

    fn at(&self, column: &str) -> usize {
        self.columns.iter().position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"))
    }

    fn text(&self) -> String {
        let lines = std::iter::once(&self.columns).chain(&self.rows).map(|fields| fields.join(",") + "\n");
        lines.collect()
    }

    /// For every group of rows with the same key, the number of rows and a digest of each other column.
    fn digests(&self, key: &[&str]) -> String {
        let key: Vec<usize> = key.iter().map(|name| self.at(name)).collect();
        let others: Vec<usize> = (0..self.columns.len()).filter(|at| !key.contains(at)).collect();
        let names = |at: &[usize]| at.iter().map(|at| self.columns[*at].as_str()).collect::<Vec<_>>().join(" ");
        let mut groups: Vec<(Vec<&str>, Vec<&Vec<String>>)> = Vec::new();
        let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for row in &self.rows {
            let value: Vec<&str> = key.iter().map(|at| row[*at].as_str()).collect();
            let place = *places.entry(value.clone()).or_insert_with(|| {
                groups.push((value, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(row);
        }
        let mut out = format!("{} | rows | {}\n", names(&key), names(&others));
        for (value, rows) in groups {
            let digests: Vec<String> =
                others.iter().map(|at| digest(rows.iter().map(|row| row[*at].as_str()))).collect();
            out += &format!("{} | {} | {}\n", value.join(" "), rows.len(), digests.join(" "));
        }
        out
    }
}

fn csv_fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("a field").push(character),
        }
    }
    fields
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Every exported table: `runs` of the first repeat and `bounds` as they are, of the others digests.
fn pin_tables(snapshot: &mut Snapshot, folder: &Path) {
    for name in file_names(&folder.join("tables")).iter().filter(|name| has_extension(name, "csv")) {
        let mut table = Table::csv(&fs::read_to_string(folder.join("tables").join(name)).unwrap());
        let key: &[&str] = match name.as_str() {
            "bounds.csv" => {
                snapshot.add(name, table.text());
                continue;
            }
            "runs.csv" | "points.csv" | "bands.csv" => &["dataset", "label"],
            _ => &["dataset", "solver"],
        };
        snapshot.add(&name.replace(".csv", ".digests.txt"), table.digests(key));
        if name == "runs.csv" {
            let repeat = table.at("repeat");
            table.rows.retain(|row| row[repeat] == "0");
            snapshot.add(name, table.text());
        }
    }
}

/// Digests of the stored evaluations of the first repeat at the oracle's own cost; `points` has the others.
fn pin_records(snapshot: &mut Snapshot, folder: &Path) {
    let mut lines = Vec::new();
    let mut header = String::new();
    for name in file_names(&folder.join("runs")) {
        let record = Table::record(&folder.join("runs").join(name));
        let (repeat, cost) = (record.at("repeat"), record.at("oracle_cost"));
        if record.rows.first().is_some_and(|row| row[repeat] == "0" && row[cost] == "1") {
            let digests = record.digests(&["dataset", "solver", "status"]);
            let (first, rest) = digests.split_once('\n').expect("a header");
            header = first.to_owned() + "\n";
            lines.push(rest.to_owned());
        }
    }
    lines.sort();
    snapshot.add("records.digests.txt", header + &lines.concat());
}

/// The names of all pages and digests of the figures that can be compared.
fn pin_files(snapshot: &mut Snapshot, folder: &Path) {
    let mut lines = String::new();
    for part in ["figures", "tables"] {
        for name in file_names(&folder.join(part)) {
            let compared = has_extension(&name, "svg") && !name.starts_with(MACHINE_FIGURES);
            let text =
                if compared { fs::read_to_string(folder.join(part).join(&name)).unwrap() } else { String::new() };
            let digest = if compared { digest([text.as_str()]) } else { "–".to_owned() };
            lines += &format!("{part}/{name} {digest}\n");
        }
    }
    snapshot.add("files.txt", lines);
}

/// Every table of a summary for terminals of several widths: no line is longer than the terminal, and two widths are pinned,
/// of the league those of one data set.
fn pin_widths(snapshot: &mut Snapshot, summary: &Summary) {
    let advice = summary.breakeven.sets.first().map(|set| advise(set, CostGiven::Factor(2.0)));
    let own = Summary { claims: Vec::new(), ..clone(summary) };
    for width in [60, 80, 100, 120] {
        let narrow = |title: &str| sections(&summary.league.clone().only(&[title.to_owned()]), &[]);
        let (targets, league): (Vec<_>, Vec<_>) =
            narrow("HorseSeg twin").into_iter().partition(|section| matches!(section.part, Part::Targets | Part::Ert));
        let texts = [
            ("claims", tables::opening(summary, "results/quick", width, false)),
            ("league", league::text(&league, width)),
            ("targets", league::text(&targets, width)),
            ("cost", breakeven::text(&summary.breakeven, width)),
            ("oracle", profile::table(&summary.profile).text(width)),
            ("fastest", tables::opening(&own, "results/quick", width, false)),
        ];
        let unpinned = [
            claims::text(&summary.claims, width, true, false),
            claims::thresholds_text(&summary.sensitivities, width),
            league::text(&sections(&summary.league, &[]), width),
            advice.as_ref().map_or(String::new(), |advice| breakeven::advice(advice, width)),
        ];
        for text in texts.iter().map(|(_, text)| text).chain(&unpinned) {
            let long = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(long, None, "longer than {width}");
        }
        for (name, text) in texts.into_iter().filter(|_| [80, 120].contains(&width)) {
            let text = if name == "oracle" { portable_profile(&text) } else { portable_text(&text) };
            snapshot.add(&format!("{name}.{width}.txt"), text);
        }
        let painted = tables::opening(summary, "results/quick", width, true);
        assert!(painted.contains("\u{1b}[32m✓\u{1b}[0m ") && painted.replace("\u{1b}[0m", "").len() < painted.len());
    }
}

fn clone(summary: &Summary) -> Summary {
    serde_json::from_str(&serde_json::to_string(summary).unwrap()).unwrap()
}

/// `compare OLD NEW`: what it prints, and the values as JSON.
fn pin_comparison(snapshot: &mut Snapshot, bench: &Bench, name: &str, [old, new]: [&str; 2]) {
    let text = bench.says_all(&["compare", old, new, "--bencher", "values.json"]);
    snapshot.add(&format!("{name}.txt"), narrow(&text));
    let values: Value = serde_json::from_str(&fs::read_to_string(bench.path("values.json")).unwrap()).expect("JSON");
    snapshot.add(&format!("{name}.json"), pretty(&values));
}

/// Commands with tables, notes or errors in terminals of two widths.
fn pin_terminal(snapshot: &mut Snapshot, bench: &mut Bench) {
    const COMMANDS: [(&str, &str); 14] = [
        ("advise", "advise --results a/summary.json -d ocr-synth --oracle-cost 5"),
        ("compare", "compare b c"),
        ("dry_run", "run c.toml --out new --dry-run --jobs 2"),
        ("plan", "cluster plan c.toml --out new --shards 2 --jobs 2 --only 'usps*'"),
        ("list_solvers", "list solvers"),
        ("list_solver", "list solvers mp-bcfw"),
        ("list_datasets", "list datasets"),
        ("list_configs", "list configs"),
        ("list_claims", "list claims"),
        ("list_figures", "list figures"),
        ("data_list", "data list --data-dir none"),
        ("unknown_solver", "solve -d usps-synth:n=50 -s nope"),
        ("unknown_config", "run nope.toml"),
        ("no_value", "advise -d usps-synth"),
    ];
    for columns in ["80", "120"] {
        bench.environment = vec![("COLUMNS", columns)];
        for (name, line) in COMMANDS {
            let words = shlex::split(line).expect("closed quotes");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            snapshot.add(&format!("terminal.{name}.{columns}.txt"), bench.says_all(&words));
        }
    }
    bench.environment = Vec::new();
}

#[test]
fn every_solver_on_every_family_at_several_oracle_costs() {
    let mut bench = Bench::new();
    let config = fixture("snapshot.toml");
    fs::write(bench.path("a.toml"), &config).unwrap();
    bench.says(&["reproduce", "a.toml", "--out", "a", "--quiet", "--jobs", "2"]);
    let mut snapshot = Snapshot::new("families");

    // The summary, a file for each part of it; commands that read the folder say the same.
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("a/summary.json")).unwrap()).expect("JSON");
    for (key, value) in summary.as_object().expect("an object") {
        if value.is_string() {
            continue;
        }
        snapshot.add(&format!("summary.{key}.json"), pretty(value));
    }
    assert_eq!(summary["name"], "snapshot");
    assert_eq!(bench.json(&["show", "a", "league", "--format", "json"]), summary["league"]);

    let show = |arguments: &[&str]| portable_text(&bench.says(&[&["show", "a/summary.json"], arguments].concat()));
    snapshot.add("overview.txt", narrow(&show(&[])));
    snapshot.add("claims.txt", narrow(&show(&["claims"])));
    snapshot.add("claims.matrix.md", show(&["claims", "--part", "matrix", "--format", "markdown"]));
    snapshot.add("claims.md", head(&show(&["claims", "--format", "markdown"])));
    snapshot.add("claims.tex", head(&show(&["claims", "--format", "latex"])));
    snapshot.add("claims.only_ocr.txt", head(&portable_text(&bench.says(&["show", "a", "claims", "--only", "ocr*"]))));
    snapshot.add("league.txt", narrow(&show(&["league"])));
    snapshot.add("league.md", head(&show(&["league", "--format", "markdown"])));
    snapshot.add("league.tex", head(&show(&["league", "--format", "latex"])));
    let winners = ["league", "--only", "horseseg-synth:n=6", "--part", "winners", "--format", "markdown"];
    snapshot.add("league.winners.md", show(&winners));
    snapshot.add("targets.txt", narrow(&show(&["targets"])));
    snapshot.add("breakeven.txt", narrow(&show(&["cost"])));
    snapshot.add("breakeven.md", head(&show(&["cost", "--format", "markdown"])));
    snapshot.add("breakeven.tex", head(&show(&["cost", "--format", "latex"])));
    snapshot.add("profile.txt", portable_profile(&show(&["oracle"])));
    snapshot.add("profile.md", head(&portable_profile(&show(&["oracle", "--format", "markdown"]))));

    let advice = |options: &[&str]| bench.says_all(&[&["advise", "--results", "a/summary.json"], options].concat());
    snapshot.add("advise.cost.txt", head(&advice(&["--dataset", "usps-synth", "--oracle-cost", "5"])));
    snapshot.add("advise.share.txt", head(&advice(&["--dataset", "ocr-synth", "--share", "0.7"])));
    snapshot.add("advise.none.txt", advice(&["--dataset", "stanford-synth", "--oracle-cost", "1"]));
    let by_time =
        ["advise", "--results", "a/summary.json", "--dataset", "ocr-synth", "--oracle-ms", "0.01", "--format", "json"];
    snapshot.add("advise.ms.json", pretty(&bench.json(&by_time)));
    let built_in = bench.says(&["advise", "--dataset", "horseseg-synth", "--oracle-ms", "3"]);
    snapshot.add("advise.built_in.txt", head(&built_in));

    pin_widths(&mut snapshot, &Summary::read(&bench.path("a/summary.json")).unwrap());
    pin_tables(&mut snapshot, &bench.path("a"));
    pin_records(&mut snapshot, &bench.path("a"));
    pin_files(&mut snapshot, &bench.path("a"));

    // Two folders of fewer solvers. The second has one data set as before, one with another budget, one not at all,
    // another setting of a solver and a repeat less.
    let changes = [
        ("repeats = 5", "repeats = 4"),
        ("tau = 2", "tau = 3"),
        ("oracle_cost = [\"paper\", 1, 20]\nbudget = { iterations = 25 }", "budget = { iterations = 5 }"),
    ];
    let other = changes.iter().fold(config, |text, (from, to)| {
        assert!(text.contains(from), "the config has no {from}");
        text.replace(from, to)
    });
    fs::write(bench.path("c.toml"), other).unwrap();
    let run = |config: &str, out: &str, only: &[&str]| {
        let only: Vec<&str> = only.iter().flat_map(|glob| ["--only", glob]).collect();
        bench.says(&[&["run", config, "--out", out, "--quiet", "--jobs", "1"], &only[..]].concat());
    };
    run("a.toml", "b", &["usps*/*bcfw", "usps*/bcfw (*", "ocr*/*bcfw", "horseseg*/*bcfw"]);
    run("c.toml", "c", &["usps*/*bcfw", "usps*/bcfw (*", "ocr*/*bcfw"]);
    pin_comparison(&mut snapshot, &bench, "compare", ["b", "c"]);
    pin_terminal(&mut snapshot, &mut bench);
    snapshot.check();
}

#[test]
fn oracle_that_is_a_program_with_failed_runs() {
    let mut bench = Bench::new();
    for name in ["snapshot_oracle.toml", "snapshot_oracle.sh"] {
        fs::write(bench.path(name), fixture(name)).unwrap();
    }
    let run = |out: &'static str| ["run", "snapshot_oracle.toml", "--out", out, "--quiet", "--jobs", "1"];
    bench.environment = vec![("OPERATIONS", "1000")];
    bench.says(&run("old"));
    bench.environment = vec![("OPERATIONS", "1300"), ("FAULT", "1")];
    let failed = bench.call(&run("new"));
    assert_eq!(failed.code, 1, "half of the runs fail: {}", failed.errors);

    let mut snapshot = Snapshot::new("program");
    pin_comparison(&mut snapshot, &bench, "slower", ["old", "new"]);
    pin_comparison(&mut snapshot, &bench, "faster", ["new", "old"]);
    bench.says(&["figures", "new", "--tables", "--format", "svg"]);
    for (name, view) in [("claims", "claims"), ("league", "league"), ("profile", "oracle")] {
        snapshot.add(&format!("{name}.json"), pretty(&bench.json(&["show", "new", view, "--format", "json"])));
    }
    snapshot.add("claims.txt", narrow(&bench.says_all(&["show", "new", "claims"])));
    snapshot.add("league.txt", narrow(&bench.says_all(&["show", "new", "league"])));
    snapshot.add("breakeven.txt", bench.says_all(&["show", "new", "cost"]));
    pin_tables(&mut snapshot, &bench.path("new"));
    pin_records(&mut snapshot, &bench.path("new"));
    pin_files(&mut snapshot, &bench.path("new"));
    snapshot.check();
}
