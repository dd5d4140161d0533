//! Reads lines of text files (plain, gzip or bzip2, recognised by their first bytes) and numbers in them. Errors name file and
//! line.

use std::io::{BufRead, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::store::files;

/// Longest line that is read; longer ones are refused instead of filling the memory.
const LONGEST_LINE: u64 = 64 << 20;

/// Largest ratio of the content of a packed file to its size; texts of numbers do not reach half of it.
const LARGEST_RATIO: u64 = 32;
/// Content smaller than this is never refused for its ratio.
const SMALL: u64 = 16 << 20;

/// Calls `each(line number from 1, line without its end)` for every line; an error that it returns gets file and line.
pub fn lines(path: &Path, mut each: impl FnMut(usize, &str) -> Result<(), String>) -> Result<()> {
    if path.is_dir() {
        return Err(Error::file(path, "is a folder; expected a file"));
    }
    let mut reader = files::open_content(path)?;
    // A pipe has no size of its own and is not packed.
    let most = path.metadata().ok().filter(|file| file.is_file());
    let most = most.map_or(u64::MAX, |file| file.len().saturating_mul(LARGEST_RATIO).max(SMALL));
    let mut total = 0u64;
    let mut buffer = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        buffer.clear();
        let read = reader.by_ref().take(LONGEST_LINE.min(most - total) + 1).read_until(b'\n', &mut buffer);
        let wrong = |message: String| Error::line(path, number, message);
        let length = read.map_err(|error| {
            wrong(format!("cannot be read ({error}); the file is damaged or cut short: fetch it again"))
        })?;
        if length == 0 {
            return Ok(());
        }
        total += length as u64;
        if total > most {
            let most = most >> 20;
            return Err(wrong(format!(
                "unpacks to more than {most} MiB, far more than its size suggests, so it is not a data file"
            )));
        }
        if length as u64 > LONGEST_LINE {
            return Err(wrong(format!("has a line longer than {} MiB, so it is not a data file", LONGEST_LINE >> 20)));
        }
        let line = std::str::from_utf8(&buffer);
        let line = line.map_err(|_| wrong("is not text (invalid UTF-8), so it is not a data file".into()))?;
        each(number, line.trim_end_matches(['\n', '\r'])).map_err(wrong)?;
    }
}

pub fn number(text: &str, what: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("{what} '{}' is not a number", shorten(text)))?;
    if value.is_finite() { Ok(value) } else { Err(format!("{what} is {value}; all values must be finite")) }
}

pub fn whole<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{what} '{}' is not a whole number", shorten(text)))
}

/// At most forty characters, for messages.
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(37).chain("...".chars()).collect() }
}
