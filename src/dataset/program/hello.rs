//! The first words of a program: lines `key value` in, what is known of its oracle out, and back.

use super::protocol::{MOST_OPERATIONS, VERSION};
use crate::text::nearest;

/// How numbers are written after hello.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Decimal, separated by spaces, a line per frame.
    #[default]
    Text,
    /// Little-endian: doubles, and 32-bit whole numbers for coordinates.
    Binary,
}

/// What the plane of the ground truth is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truth {
    /// 0: planes are differences to the truth already.
    #[default]
    Zero,
    /// Whatever the program answers to `truth`; it is subtracted from every plane here.
    Given,
}

/// What a program says of its oracle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hello {
    /// n.
    pub n: usize,
    /// d.
    pub d: usize,
    /// λ unless the user says otherwise; 1/n when absent.
    pub lambda: Option<f64>,
    /// Whether the oracle always finds a maximiser.
    pub exact: bool,
    /// What the truth's plane is.
    pub truth: Truth,
    /// How numbers are written.
    pub numbers: Numbers,
    /// Operations of a call for the virtual clock, unless an answer says its own; d when absent.
    pub operations: Option<u64>,
    /// The program's name for its data and code, part of the identity of runs.
    pub version: String,
}

/// Most terms or coordinates of a program: their numbers have 32 bits on the wire.
const MOST: usize = u32::MAX as usize;

const KEYS: [&str; 8] = ["n", "d", "lambda", "exact", "truth", "numbers", "operations", "version"];

/// The first line of both sides.
pub(super) fn greeting() -> String {
    format!("ssvm-oracle {VERSION}")
}

impl Hello {
    /// Checks the first line of a program.
    pub(super) fn check_greeting(line: &str) -> Result<(), String> {
        let Some(version) = line.strip_prefix("ssvm-oracle ") else {
            return Err(format!(
                "begins with '{}' instead of '{}': it is no oracle program",
                shorten(line),
                greeting()
            ));
        };
        match version.trim().parse::<u32>() {
            Ok(VERSION) => Ok(()),
            _ => Err(format!("speaks version '{}' of the protocol, this is version {VERSION}", shorten(version))),
        }
    }

    /// Takes in one line `key value`.
    pub(super) fn take(&mut self, line: &str) -> Result<(), String> {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim();
        let wrong = |expected: &str| format!("says '{}' in its hello, expected {key} {expected}", shorten(line));
        let count = |expected: &str| {
            value.parse::<usize>().ok().filter(|count| (1..=MOST).contains(count)).ok_or_else(|| wrong(expected))
        };
        match key {
            "n" => self.n = count("and a number of terms")?,
            "d" => self.d = count("and a number of weights")?,
            "operations" => {
                let operations =
                    value.parse::<u64>().ok().filter(|operations| (1..=MOST_OPERATIONS).contains(operations));
                self.operations = Some(operations.ok_or_else(|| wrong("and a number of operations"))?);
            }
            "lambda" => {
                let lambda = value.parse::<f64>().ok().filter(|lambda| lambda.is_finite() && *lambda > 0.0);
                self.lambda = Some(lambda.ok_or_else(|| wrong("and a positive number"))?);
            }
            "exact" => self.exact = choice(value, [("yes", true), ("no", false)]).ok_or_else(|| wrong("yes or no"))?,
            "truth" => {
                let choices = [("zero", Truth::Zero), ("given", Truth::Given)];
                self.truth = choice(value, choices).ok_or_else(|| wrong("zero or given"))?;
            }
            "numbers" => {
                let choices = [("text", Numbers::Text), ("binary", Numbers::Binary)];
                self.numbers = choice(value, choices).ok_or_else(|| wrong("text or binary"))?;
            }
            "version" => value.clone_into(&mut self.version),
            _ => {
                let near = nearest(key, KEYS);
                return Err(format!("says '{}' in its hello; known: {}{near}", shorten(line), KEYS.join(", ")));
            }
        }
        Ok(())
    }

    /// Before the first line: everything at its default.
    pub(super) fn empty() -> Self {
        Self { exact: true, ..Self::default() }
    }

    /// Whether n and d were there.
    pub(super) fn complete(&self) -> Result<(), String> {
        match (self.n, self.d) {
            (0, _) => Err("says no n in its hello".into()),
            (_, 0) => Err("says no d in its hello".into()),
            _ => Ok(()),
        }
    }

    /// The lines of a program's hello.
    pub fn lines(&self) -> String {
        let mut text = format!("{}\nn {}\nd {}\n", greeting(), self.n, self.d);
        if let Some(lambda) = self.lambda {
            text += &format!("lambda {lambda:e}\n");
        }
        text += &format!("exact {}\n", if self.exact { "yes" } else { "no" });
        text += &format!("truth {}\n", if self.truth == Truth::Zero { "zero" } else { "given" });
        text += &format!("numbers {}\n", if self.numbers == Numbers::Text { "text" } else { "binary" });
        if let Some(operations) = self.operations {
            text += &format!("operations {operations}\n");
        }
        if !self.version.is_empty() {
            text += &format!("version {}\n", self.version);
        }
        text + "ready\n"
    }
}

fn choice<T: Copy>(value: &str, choices: [(&str, T); 2]) -> Option<T> {
    choices.into_iter().find(|(name, _)| *name == value).map(|(_, choice)| choice)
}

/// A line that may be long, for messages.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    let text = text.trim_end();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_reads_back() {
        let hello = Hello {
            n: 3,
            d: 70_000,
            lambda: Some(1.0 / 3.0),
            exact: false,
            truth: Truth::Given,
            numbers: Numbers::Binary,
            operations: Some(12),
            version: "data of May, code 7".into(),
        };
        for hello in [hello.clone(), Hello { lambda: None, operations: None, version: String::new(), ..hello }] {
            let lines = hello.lines();
            let mut lines = lines.lines();
            Hello::check_greeting(lines.next().unwrap()).unwrap();
            let mut back = Hello::empty();
            lines.filter(|line| *line != "ready").for_each(|line| back.take(line).unwrap());
            assert_eq!(back, hello);
        }
    }

    #[test]
    fn wrong_words_are_named() {
        for (line, expected) in [
            ("n 0", "number of terms"),
            ("n 5000000000", "number of terms"),
            ("d x", "number of weights"),
            ("lambda -1", "positive"),
            ("lambda nan", "positive"),
            ("exact perhaps", "yes or no"),
            ("truth 1", "zero or given"),
            ("number text", "did you mean `numbers`?"),
        ] {
            let error = Hello::empty().take(line).unwrap_err();
            assert!(error.contains(expected) && error.contains(line), "{error}");
        }
        for (line, expected) in [("ssvm-oracle 2", "version '2'"), ("Traceback", "no oracle program")] {
            assert!(Hello::check_greeting(line).unwrap_err().contains(expected));
        }
        assert!(Hello { n: 3, ..Hello::empty() }.complete().unwrap_err().contains("no d"));
    }
}
