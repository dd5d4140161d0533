//! The map is true: the table of rooms in CONTRIBUTING.md in, the uses between the rooms of `src/` in, and not one
//! difference out.

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
    let mut named = BTreeSet::new();
    for Row { rooms, touches } in rows {
        let above: BTreeSet<&str> = allowed.keys().copied().collect();
        let touches: BTreeSet<&str> = match touches {
            Touches::Everything => above.clone(),
            Touches::Rooms(list) => {
                named.extend(rooms.iter().flat_map(|room| list.iter().map(move |to| (room.as_str(), to.as_str()))));
                list.iter().map(String::as_str).collect()
            }
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
        for to in uses(path, text) {
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
    for Row { rooms, .. } in rows {
        let unused = |to: &&str| !rooms.iter().any(|room| used.contains(&(room.as_str(), *to)));
        let of_row: BTreeSet<&str> = named.iter().filter(|(from, _)| *from == rooms[0]).map(|(_, to)| *to).collect();
        for to in of_row.into_iter().filter(|to| there.contains(to)).filter(unused) {
            findings.push(format!("{} may touch `{to}` and does not: take it out of the table", rooms.join(", ")));
        }
    }
    findings
}

/// The first names behind the crate root that a file uses outside its tests: of `crate::a::B`, `crate::{a, b::C}` and as
/// many `super::` as lead to the root.
fn uses(path: &str, text: &str) -> BTreeSet<String> {
    let code = without_tests(&without_words(text));
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            names.extend(first_names(&code[at + "crate::".len()..]));
        }
    }
    let parts = path.trim_end_matches(".rs").trim_end_matches("/mod").split('/').count();
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
        let rest = code[at..].trim_start_matches("super::");
        let steps = (code.len() - at - rest.len()) / "super::".len();
        if steps >= parts + inside(&code[..at]) {
            names.extend(first_names(rest));
        }
    }
    names
}

/// What follows a path: one name, or those of a group.
fn first_names(rest: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        let text = text.trim_start();
        text.chars().take_while(|c| c.is_alphanumeric() || "_*".contains(*c)).collect()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// How many inline modules are open at the end of this code.
fn inside(code: &str) -> usize {
    let mut open = Vec::new();
    for (at, c) in code.char_indices() {
        match c {
            '{' => {
                let head = code[..at].rsplit([';', '{', '}']).next().unwrap_or_default();
                open.push(head.split_whitespace().rev().nth(1) == Some("mod"));
            }
            '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().filter(|module| *module).count()
}

/// The code without comments and without the content of strings and characters.
fn without_words(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = raw_string(rest, &code) {
            length
        } else if c == '"' {
            quoted(rest, '"')
        } else if c == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'')) {
            quoted(rest, '\'')
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[length..];
    }
    code
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let (step, change) = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        (depth, at) = (depth + change, at + step);
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of a raw string, when one begins here.
fn raw_string(text: &str, before: &str) -> Option<usize> {
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let body = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let body = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let content = body.find(&end).unwrap_or(body.len());
    Some((text.len() - body.len() + content + end.len()).min(text.len()))
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The code without the items behind `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut depth = 0;
        let end = rest.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0 && (*c == ';' || *c == '}')
        });
        rest = end.map_or("", |(at, c)| &rest[at + c.len_utf8()..]);
    }
    kept + rest
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

#[test]
fn words_and_tests_are_no_uses() {
    for text in [
        "// crate::a",
        "/* crate::a /* crate::b */ crate::c */",
        "const X: &str = \"crate::a \\\" crate::b\";",
        "const X: &str = r#\"crate::a \" crate::b\"#; const Y: char = '\"'; // \" crate::c",
        "#[cfg(test)]\nmod tests { use crate::a; fn f() { { crate::b } } }",
        "#[cfg(test)]\nuse crate::a;",
        "use super::sibling;",
        "mod inner { use super::super::sibling; }",
    ] {
        assert_eq!(uses("low/part.rs", text), BTreeSet::new(), "{text}");
    }
    let text = "const X: char = '\\''; use crate::a; fn f<'x>(x: &'x str) { crate::b::c(\"}\") }\n\
        #[cfg(test)]\nmod tests { use crate::t; }\npub(in crate::c) fn g() {} use super::super::{d, e::{F, g}};";
    assert_eq!(uses("low/part.rs", text), ["a", "b", "c", "d", "e"].map(str::to_owned).into());
}
