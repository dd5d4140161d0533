//! The names behind the crate root that a Rust file uses.

use std::collections::BTreeSet;

/// The first names behind the crate root that a file uses outside its tests: of `crate::a::B`, `crate::{a, b::C}` and as
/// many `super::` as lead to the root.
pub fn uses(path: &str, text: &str) -> BTreeSet<String> {
    let code = code(text);
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

/// A file without its texts, comments and tests.
pub fn code(text: &str) -> String {
    without_tests(&without_words(text))
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
