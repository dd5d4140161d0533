//! All error texts of the sources in one file, so that they can be read through as a whole: `tests/fixtures/errors.txt`.
//!
//! `UPDATE_SNAPSHOT=1 cargo test --release --test suite errors` rewrites the file. Placeholders stay as they are in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::iter::Peekable;
use std::path::Path;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The fixture.
const STORED: &str = "tests/fixtures/errors.txt";
/// Functions, variants and macros whose arguments are errors or the reasons in them.
const MAKERS: &str = "Broken Err Failed Fault Final Refusal anyhow bail context damaged ensure error fail failed file invalid \
    io line map_err not offset ok_or ok_or_else other refuse refused value with_context wrong";
/// Variables that hold a text until an error takes it.
const VARIABLES: &str = "advice bad beyond expected hint known message odd other reason sizes usage why";

#[test]
fn every_error_text_is_in_the_fixture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in ["crates/ssvm/src", "src"] {
        for (name, source) in files_of(root, folder, "rs") {
            let mut found = BTreeSet::new();
            let tokens: TokenStream = source.parse().unwrap_or_else(|e| panic!("{name}: {e}"));
            collect(tokens, false, &mut found);
            texts.insert(name, found);
        }
    }
    for (name, source) in files_of(root, "python/ssvm_bench", "py") {
        texts.insert(name, raised(&source));
    }
    let mut list = String::new();
    for (name, texts) in texts.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        writeln!(list, "{name}").unwrap();
        for text in texts {
            writeln!(list, "  {text}").unwrap();
        }
    }
    if std::env::var_os("UPDATE_SNAPSHOT").is_some_and(|value| value == "1") {
        fs::write(root.join(STORED), list).unwrap();
        return;
    }
    let stored = fs::read_to_string(root.join(STORED)).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let (old, new) = (lines(&stored), lines(&list));
    assert!(
        list == stored,
        "{STORED} is not that of the sources. Gone: {:#?}\nnew: {:#?}\nread the new texts, then run \
         UPDATE_SNAPSHOT=1 cargo test --release --test suite errors",
        old.difference(&new).collect::<Vec<_>>(),
        new.difference(&old).collect::<Vec<_>>()
    );
}

/// Name and content of the files with this extension below a folder.
fn files_of(root: &Path, folder: &str, extension: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_dir() {
            files.extend(files_of(root, &name, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

/// Adds the texts of errors; `inside` an error every text counts. Items behind `#[cfg(test)]` are skipped.
fn collect(tokens: TokenStream, inside: bool, found: &mut BTreeSet<String>) {
    let mut tokens = tokens.into_iter().peekable();
    // Whether the next group, or the value up to the next semicolon, is an error.
    let (mut makes, mut holds) = (false, false);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => match tokens.next() {
                Some(TokenTree::Group(group)) if group.stream().to_string().replace(' ', "") == "cfg(test)" => {
                    skip_item(&mut tokens);
                }
                Some(TokenTree::Group(group)) if group.stream().to_string().starts_with("error") => {
                    collect(group.stream(), true, found);
                }
                _ => {}
            },
            TokenTree::Ident(name) => {
                let name = name.to_string();
                // `Fault::new` makes a fault; any other `new` is no error.
                makes = has(MAKERS, &name) || makes && name == "new";
                holds |= has(VARIABLES, &name) && is_assigned(&mut tokens);
            }
            TokenTree::Punct(mark) => {
                holds &= mark.as_char() != ';';
                // The marks of macros and paths stand between a name and its arguments.
                makes &= "!:".contains(mark.as_char());
            }
            TokenTree::Group(group) => {
                let called = makes && group.delimiter() != Delimiter::Brace;
                collect(group.stream(), inside || holds || called, found);
                makes = false;
            }
            TokenTree::Literal(literal) if inside || holds => {
                found.extend(text_of(&literal.to_string()).filter(|text| is_sentence(text)));
            }
            TokenTree::Literal(_) => {}
        }
    }
}

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn is_assigned(tokens: &mut Peekable<IntoIter>) -> bool {
    matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=')
}

fn skip_item(tokens: &mut Peekable<IntoIter>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            _ => {}
        }
    }
}

/// The text of a string literal in one line.
fn text_of(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return Some(raw.trim_matches('#').trim_matches('"').to_owned());
    }
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    let lines = text.split("\\\n").enumerate();
    let joined: String = lines.map(|(at, line)| if at == 0 { line } else { line.trim_start() }).collect();
    Some(joined.replace("\\\"", "\"").replace("\\\\", "\\").replace("\\n", " ⏎ "))
}

/// Whether a text has two words: keys and names are not read as sentences.
fn is_sentence(text: &str) -> bool {
    let word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    text.split_whitespace().filter(word).count() > 1
}

/// The texts of `raise` statements in Python; adjacent strings are one text.
fn raised(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in source.match_indices("raise ") {
        if !source[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty()) {
            continue;
        }
        let statement = &source[at..];
        let (mut depth, mut text, mut quote) = (0, String::new(), None);
        for c in statement.chars() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some(_), c) => text.push(c),
                (None, '"' | '\'') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') if depth == 1 => break,
                (None, ')') => depth -= 1,
                (None, '\n') if depth == 0 => break,
                _ => {}
            }
        }
        found.extend(Some(text).filter(|text| is_sentence(text)));
    }
    found
}

#[test]
fn texts_of_errors_are_found_and_others_are_not() {
    let source = r#"
        #[error("a typed error of {0}")]
        fn f() -> Result<(), String> {
            println!("no error at all");
            let message = format!("kept in a variable");
            bail!("a macro says {x} \
                   on two lines");
            file.map_err(|e| wrong(format!("nested {e} calls")))
        }
        #[cfg(test)]
        mod tests { fn g() { bail!("in a test"); } }
    "#;
    let mut found = BTreeSet::new();
    collect(source.parse().unwrap(), false, &mut found);
    let expected = ["a macro says {x} on two lines", "a typed error of {0}", "kept in a variable", "nested {e} calls"]
        .map(str::to_owned);
    assert_eq!(found, expected.into());
    let python = "# raise not (\"me\")\nraise ValueError(f\"one {x}\"\n  \" text\")\ny = \"no error at all\"\n";
    assert_eq!(raised(python), ["one {x} text".to_owned()].into());
}
