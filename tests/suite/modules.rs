//! The table of modules in CONTRIBUTING.md and the uses between the modules of `src/` do not differ.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table: the modules it is about, and those they may use.
struct Row {
    modules: Vec<String>,
    uses_list: MayUse,
}

enum MayUse {
    /// Every row above.
    Everything,
    Modules(Vec<String>),
}

/// The table of the section "Modules": `module | what it does | may use`.
fn table(text: &str) -> Result<Vec<Row>, String> {
    let section = text.split("\n## Modules\n").nth(1).ok_or("CONTRIBUTING.md has no section \"Modules\"")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
    let rows: Vec<Row> = lines.iter().skip(2).map(|line| row(line)).collect::<Result<_, _>>()?;
    if rows.is_empty() { Err("the section \"Modules\" has no table".to_owned()) } else { Ok(rows) }
}

fn row(line: &str) -> Result<Row, String> {
    let wrong = |what: &str| format!("CONTRIBUTING.md: {what}: {line}");
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [modules, _, uses_list] = cells[..] else { return Err(wrong("a row has three cells")) };
    let names = |cell: &str| -> Option<Vec<String>> {
        let name = |part: &str| Some(part.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned());
        cell.split(',').map(name).collect()
    };
    let modules = names(modules).ok_or_else(|| wrong("modules stand in backticks with commas between them"))?;
    let uses_list = match uses_list {
        "nothing" => MayUse::Modules(Vec::new()),
        "everything" => MayUse::Everything,
        list => {
            MayUse::Modules(names(list).ok_or_else(|| wrong("a module may use nothing, everything, or `modules`"))?)
        }
    };
    Ok(Row { modules, uses_list })
}

/// A source file: its path below `src/` with slashes, and its text.
type Source = (String, String);

/// The module of a file; `None` for the roots of the crates.
fn module(path: &str) -> Option<&str> {
    let first = path.split('/').next().unwrap_or(path);
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib.rs", "main.rs"].contains(&path)).then_some(name)
}

/// Everything that is wrong, a line each.
fn findings(rows: &[Row], sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let there: BTreeSet<&str> = sources.iter().filter_map(|(path, _)| module(path)).collect();
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Row { modules, uses_list } in rows {
        let above: BTreeSet<&str> = allowed.keys().copied().collect();
        let uses_list: BTreeSet<&str> = match uses_list {
            MayUse::Everything => above.clone(),
            MayUse::Modules(list) => list.iter().map(String::as_str).collect(),
        };
        for to in uses_list.iter().filter(|to| there.contains(*to) && !above.contains(*to)) {
            findings.push(format!("{}: data flows one way, but `{to}` is not in a row above", modules.join(", ")));
        }
        for name in modules.iter().map(String::as_str).chain(uses_list.iter().copied()).filter(|n| !there.contains(n)) {
            findings.push(format!("`{name}` is in the table but not in src/"));
        }
        for module in modules {
            if allowed.insert(module, uses_list.clone()).is_some() {
                findings.push(format!("`{module}` is in the table twice"));
            }
        }
    }
    findings.extend(there.iter().filter(|module| !allowed.contains_key(*module)).map(|module| {
        format!("`{module}` is in src/ but not in the table: add a row that says what it does and what it may use")
    }));
    let mut used = BTreeSet::new();
    for (path, text) in sources {
        if !text.starts_with("//! ") {
            findings.push(format!("src/{path} does not begin with a `//!` that says what comes in and what goes out"));
        }
        // The error type joins the errors of all modules and does nothing with them.
        let Some(from) = module(path).filter(|from| *from != "error") else { continue };
        for to in source::uses(path, text) {
            let to = match to.as_str() {
                "Error" | "Result" => "error",
                name if there.contains(name) => name,
                name => {
                    findings.push(format!("src/{path}: `crate::{name}` is no module: name the module it is in"));
                    continue;
                }
            };
            let to = there.get(to).copied().unwrap_or("error");
            used.insert((from, to));
            if to != from && allowed.get(from).is_some_and(|uses_list| !uses_list.contains(to)) {
                findings.push(format!("src/{path}: `{from}` may not use `{to}`"));
            }
        }
    }
    // Modules of one row share their permissions: one of them has to use each.
    for Row { modules, uses_list } in rows {
        let MayUse::Modules(list) = uses_list else { continue };
        let unused = |to: &&String| !modules.iter().any(|module| used.contains(&(module.as_str(), to.as_str())));
        for to in list.iter().filter(|to| there.contains(to.as_str())).filter(unused) {
            findings.push(format!("{} may use `{to}` and does not: take it out of the table", modules.join(", ")));
        }
    }
    findings
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let (src, mut sources) = (root().join("src"), Vec::new());
    let mut folders: Vec<PathBuf> = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
                sources.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    sources.sort();
    sources
}

#[test]
fn the_code_follows_the_table_of_modules() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let findings = findings(&table(&text).unwrap(), &sources());
    assert!(findings.is_empty(), "CONTRIBUTING.md, \"Modules\", and src/ differ:\n{}\n", findings.join("\n"));
}

/// Outputs have one writer, so that links, streams, kills and full disks are thought of in one place.
#[test]
fn only_one_module_creates_files() {
    let creates =
        ["fs::write(", "File::create", "File::options", "OpenOptions", "fs::rename(", "fs::copy(", "hard_link("];
    for (path, text) in sources() {
        if path.starts_with("store/files/") || path == "dataset/fetch.rs" {
            continue;
        }
        let code = source::code(&text);
        for call in creates {
            assert!(!code.contains(call), "src/{path} has {call}: outputs are written by store::files");
        }
    }
}

const TABLE: &str = "# C\n\n## Modules\n\n| module | what it does | may use |\n|---|---|---|\n\
    | `error`, `text` | leaves | nothing |\n| `low` | data | `error` |\n| `high` | uses it | `low` |\n\
    | `top` | all | everything |\n\n## Next\n\n| `no` | row | of it |\n";

/// A tree that follows [`TABLE`], with one file changed or added.
fn tree(path: &str, text: &str) -> Vec<Source> {
    let mut files = BTreeMap::from([
        ("lib.rs", "//! Root.\npub mod low;"),
        ("error.rs", "//! E."),
        ("text.rs", "//! T."),
        ("low/mod.rs", "//! L.\nuse crate::{Error, Result};"),
        ("low/part.rs", "//! P.\nuse super::x;"),
        ("high.rs", "//! H.\nuse crate::low::X;"),
        ("top.rs", "//! Top.\nuse crate::{high::{A, B}, text};"),
    ]);
    files.insert(path, text);
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

#[test]
fn every_way_to_leave_the_table_is_found() {
    let rows = table(TABLE).unwrap();
    assert_eq!(findings(&rows, &tree("top.rs", "//! Top.")), [""; 0]);
    for (path, text, expected) in [
        ("low/mod.rs", "//! L.\nuse crate::{Error, high};", "src/low/mod.rs: `low` may not use `high`"),
        ("low/mod.rs", "//! L.\nuse crate::{error::{self, Error}, text};", "`low` may not use `text`"),
        ("low/part.rs", "//! P.\nfn f() -> crate::high::Y { y() }", "src/low/part.rs: `low` may not use `high`"),
        ("low/part.rs", "//! P.\nuse super::super::high;", "src/low/part.rs: `low` may not use `high`"),
        ("low/mod.rs", "//! L.\nuse crate::Error;\nuse super::{error, high::A};", "`low` may not use `high`"),
        ("text.rs", "//! T.\nuse crate::Result;", "`text` may not use `error`"),
        ("high.rs", "//! H.\nuse crate::low;\nuse crate::Catalog;", "`crate::Catalog` is no module"),
        ("high.rs", "//! H.\nuse crate::low;\nuse crate::*;", "`crate::*` is no module"),
        ("high.rs", "//! H.\nuse crate::top;\nuse crate::low;", "`high` may not use `top`"),
        ("high.rs", "//! H.", "high may use `low` and does not"),
        ("cellar.rs", "//! C.", "`cellar` is in src/ but not in the table"),
        ("attic/mod.rs", "//! A.", "`attic` is in src/ but not in the table"),
        ("high.rs", "use crate::low;", "src/high.rs does not begin with a `//!`"),
    ] {
        let found = findings(&rows, &tree(path, text));
        assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
    }
    for (from, to, expected) in [
        ("`low` | data", "`low`, `gone` | data", "`gone` is in the table but not in src/"),
        ("| `low` |\n", "| `low`, `gone` |\n", "`gone` is in the table but not in src/"),
        ("| `error` |", "| `error`, `high` |", "low: data flows one way, but `high` is not in a row above"),
        ("`high` |", "`high`, `low` |", "`low` is in the table twice"),
    ] {
        let rows = table(&TABLE.replacen(from, to, 1)).unwrap();
        let found = findings(&rows, &tree("top.rs", "//! Top."));
        assert!(found.iter().any(|finding| finding.contains(expected)), "{expected}: {found:?}");
    }
    for (from, to) in [("| `error` |", "| errors |"), ("## Modules", "## A tree"), ("| data ", "| da | ta ")] {
        assert!(table(&TABLE.replacen(from, to, 1)).is_err(), "{to}");
    }
}
