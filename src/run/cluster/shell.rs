//! Words → text that a shell, or the option lines of `sbatch`, read as the same words.

use std::path::Path;

use crate::error::{Error, Result};

/// Signs that mean nothing to a shell, nor to `sbatch`.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-+=/.,:@%^".contains(c)
}

/// A word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Words for a POSIX shell, with blanks between them.
pub fn words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word for an option line (`#SBATCH …`). Its reader knows quotes, and a backslash before any sign but a blank.
pub fn option(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', r"\\").replace('"', r#"\""#))
}

/// The part of an output path of `sbatch` that is not a pattern.
pub fn in_pattern(path: &str) -> String {
    path.replace('%', "%%")
}

/// A word that can stand in a script: text without line breaks or other control characters.
pub fn checked(word: &str, what: &str) -> Result<String> {
    if word.chars().any(char::is_control) {
        let message = format!("{what} {word:?} has a line break or another control character: no script can hold it");
        return Err(Error::invalid(message));
    }
    Ok(word.to_owned())
}

/// An absolute path as such a word.
pub fn path(path: &Path) -> Result<String> {
    let whole = std::path::absolute(path).map_err(Error::io("find", path))?;
    let Some(text) = whole.to_str() else {
        return Err(Error::file(path, "the name is not UTF-8: no script can hold it; choose another"));
    };
    if text.contains("%{") {
        return Err(Error::file(path, "engines replace '%{…}' in names; choose another"));
    }
    checked(text, "the path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        for (word, shell, line) in [
            ("a/b-1.toml", "a/b-1.toml", "a/b-1.toml"),
            ("", "''", r#""""#),
            ("a b", "'a b'", r#""a b""#),
            ("it's", r"'it'\''s'", r#""it's""#),
            ("$(x);`y`#\"", "'$(x);`y`#\"'", r#""$(x);`y`#\"""#),
            (r"a\b", r"'a\b'", r#""a\\b""#),
            ("größe", "'größe'", r#""größe""#),
        ] {
            assert_eq!(quoted(word), shell);
            assert_eq!(option(word), line);
        }
        assert_eq!(words(&["a".into(), "b c".into()]), "a 'b c'");
        assert_eq!(in_pattern("100%/%j"), "100%%/%%j");
    }

    #[test]
    fn what_no_script_can_hold_is_refused() {
        assert!(checked("a\nb", "the name").unwrap_err().to_string().contains("line break"));
        assert!(path(Path::new("a\rb")).is_err());
        assert!(path(Path::new("a%{b}")).is_err());
        assert!(path(Path::new("a b")).unwrap().ends_with("/a b"));
    }
}
