//! The map is true: the table of rooms in CONTRIBUTING.md in, the uses between the rooms of `src/` in, and not one
//! difference out.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table: the rooms it is about, and those they may touch.
struct Row {
    rooms: Vec<String>,
    touches: Touches,
}

enum Touches {
    /// Every row above.
    Everything,
    Rooms(Vec<String>),
}

/// The table of the section "The house": `room | what it does | may touch`.
fn table(text: &str) -> Result<Vec<Row>, String> {
    let section = text.split("\n## The house\n").nth(1).ok_or("CONTRIBUTING.md has no section \"The house\"")?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
    let rows: Vec<Row> = lines.iter().skip(2).map(|line| row(line)).collect::<Result<_, _>>()?;
    if rows.is_empty() { Err("the section \"The house\" has no table".to_owned()) } else { Ok(rows) }
}

fn row(line: &str) -> Result<Row, String> {
    let wrong = |what: &str| format!("CONTRIBUTING.md: {what}: {line}");
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [rooms, _, touches] = cells[..] else { return Err(wrong("a row has three cells")) };
    let names = |cell: &str| -> Option<Vec<String>> {
        let name = |part: &str| Some(part.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned());
        cell.split(',').map(name).collect()
    };
    let rooms = names(rooms).ok_or_else(|| wrong("rooms stand in backticks with commas between them"))?;
    let touches = match touches {
        "nothing" => Touches::Rooms(Vec::new()),
        "everything" => Touches::Everything,
        list => Touches::Rooms(names(list).ok_or_else(|| wrong("a room may touch nothing, everything, or `rooms`"))?),
    };
    Ok(Row { rooms, touches })
}

/// A source file: its path below `src/` with slashes, and its text.
type Source = (String, String);

/// The room of a file; `None` for the roots of the crates.
fn room(path: &str) -> Option<&str> {
    let first = path.split('/').next().unwrap_or(path);
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib.rs", "main.rs"].contains(&path)).then_some(name)
}

/// Everything that is wrong, a line each.
fn findings(rows: &[Row], sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let there: BTreeSet<&str> = sources.iter().filter_map(|(path, _)| room(path)).collect();
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Row { rooms, touches } in rows {
        let above: BTreeSet<&str> = allowed.keys().copied().collect();
        let touches: BTreeSet<&str> = match touches {
            Touches::Everything => above.clone(),
            Touches::Rooms(list) => list.iter().map(String::as_str).collect(),
        };
        for to in touches.iter().filter(|to| there.contains(*to) && !above.contains(*to)) {
            findings.push(format!("{}: data flows one way, but `{to}` is not in a row above", rooms.join(", ")));
        }
        for name in rooms.iter().map(String::as_str).chain(touches.iter().copied()).filter(|n| !there.contains(n)) {
            findings.push(format!("`{name}` is in the table but not in src/"));
        }
        for room in rooms {
            if allowed.insert(room, touches.clone()).is_some() {
                findings.push(format!("`{room}` is in the table twice"));
            }
        }
    }
    findings.extend(there.iter().filter(|room| !allowed.contains_key(*room)).map(|room| {
        format!("`{room}` is in src/ but not in the table: add a row that says what it does and what it may touch")
    }));
    let mut used = BTreeSet::new();
    for (path, text) in sources {
        if !text.starts_with("//! ") {
            findings.push(format!("src/{path} does not begin with a `//!` that says what comes in and what goes out"));
        }
        let Some(from) = room(path) else { continue };
        for to in source::uses(path, text) {
            let to = match to.as_str() {
                "Error" | "Result" => "error",
                name if there.contains(name) => name,
                name => {
                    findings.push(format!("src/{path}: `crate::{name}` is no room: name the room it is in"));
                    continue;
                }
            };
            let to = there.get(to).copied().unwrap_or("error");
            used.insert((from, to));
            if to != from && allowed.get(from).is_some_and(|touches| !touches.contains(to)) {
                findings.push(format!("src/{path}: `{from}` may not touch `{to}`"));
            }
        }
    }
    // Rooms of one row share their permissions: one of them has to use each.
    for Row { rooms, touches } in rows {
        let Touches::Rooms(list) = touches else { continue };
        let unused = |to: &&String| !rooms.iter().any(|room| used.contains(&(room.as_str(), to.as_str())));
        for to in list.iter().filter(|to| there.contains(to.as_str())).filter(unused) {
            findings.push(format!("{} may touch `{to}` and does not: take it out of the table", rooms.join(", ")));
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
fn the_code_follows_the_table_of_rooms() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let findings = findings(&table(&text).unwrap(), &sources());
    assert!(findings.is_empty(), "CONTRIBUTING.md, \"The house\", and src/ differ:\n{}\n", findings.join("\n"));
}

const TABLE: &str = "# C\n\n## The house\n\n| room | what it does | may touch |\n|---|---|---|\n\
    | `error`, `text` | leaves | nothing |\n| `low` | data | `error` |\n| `high` | uses it | `low` |\n\
    | `top` | all | everything |\n\n## Next\n\n| `no` | row | of it |\n";

/// A house that follows [`TABLE`], with one file changed or added.
fn house(path: &str, text: &str) -> Vec<Source> {
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
    assert_eq!(findings(&rows, &house("top.rs", "//! Top.")), [""; 0]);
    for (path, text, expected) in [
        ("low/mod.rs", "//! L.\nuse crate::{Error, high};", "src/low/mod.rs: `low` may not touch `high`"),
        ("low/mod.rs", "//! L.\nuse crate::{error::{self, Error}, text};", "`low` may not touch `text`"),
        ("low/part.rs", "//! P.\nfn f() -> crate::high::Y { y() }", "src/low/part.rs: `low` may not touch `high`"),
        ("low/part.rs", "//! P.\nuse super::super::high;", "src/low/part.rs: `low` may not touch `high`"),
        ("low/mod.rs", "//! L.\nuse crate::Error;\nuse super::{error, high::A};", "`low` may not touch `high`"),
        ("text.rs", "//! T.\nuse crate::Result;", "`text` may not touch `error`"),
        ("high.rs", "//! H.\nuse crate::low;\nuse crate::Catalog;", "`crate::Catalog` is no room"),
        ("high.rs", "//! H.\nuse crate::low;\nuse crate::*;", "`crate::*` is no room"),
        ("high.rs", "//! H.\nuse crate::top;\nuse crate::low;", "`high` may not touch `top`"),
        ("high.rs", "//! H.", "high may touch `low` and does not"),
        ("cellar.rs", "//! C.", "`cellar` is in src/ but not in the table"),
        ("attic/mod.rs", "//! A.", "`attic` is in src/ but not in the table"),
        ("high.rs", "use crate::low;", "src/high.rs does not begin with a `//!`"),
    ] {
        let found = findings(&rows, &house(path, text));
        assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
    }
    for (from, to, expected) in [
        ("`low` | data", "`low`, `gone` | data", "`gone` is in the table but not in src/"),
        ("| `low` |\n", "| `low`, `gone` |\n", "`gone` is in the table but not in src/"),
        ("| `error` |", "| `error`, `high` |", "low: data flows one way, but `high` is not in a row above"),
        ("`high` |", "`high`, `low` |", "`low` is in the table twice"),
    ] {
        let rows = table(&TABLE.replacen(from, to, 1)).unwrap();
        let found = findings(&rows, &house("top.rs", "//! Top."));
        assert!(found.iter().any(|finding| finding.contains(expected)), "{expected}: {found:?}");
    }
    for (from, to) in [("| `error` |", "| errors |"), ("## The house", "## A house"), ("| data ", "| da | ta ")] {
        assert!(table(&TABLE.replacen(from, to, 1)).is_err(), "{to}");
    }
}
