//! The first lines of a program: `key value` each, up to `ready`.

use super::protocol::{MOST_OPERATIONS, VERSION};
use crate::dataset::text::shorten;
use crate::text::nearest;

/// The facts of an oracle that a program sends before the first call.
#[derive(Clone, Debug, PartialEq)]
pub struct Handshake {
    pub n: usize,
    pub d: usize,
    /// λ unless the user gives one; 1/n when absent.
    pub lambda: Option<f64>,
    /// Whether the oracle always finds a maximiser.
    pub exact: bool,
    /// Whether the plane of the ground truth is 0. If not, the program is asked for it, and it is subtracted from every
    /// plane here.
    pub truth_is_zero: bool,
    /// Whether it sends numbers as bytes, the only way that is read.
    pub binary: bool,
    /// Operations of a call for the virtual clock, unless an answer has its own; d when absent.
    pub operations: Option<u64>,
    /// The program's name for its data and code, part of the identity of runs.
    pub version: String,
}

/// Most terms or coordinates of a program: their numbers have 32 bits on the wire.
const MOST: usize = u32::MAX as usize;

const KEYS: [&str; 8] = ["n", "d", "lambda", "exact", "truth", "numbers", "operations", "version"];

pub(super) fn greeting() -> String {
    format!("ssvm-oracle {VERSION}")
}

impl Handshake {
    /// Everything at its default; n and d are missing.
    pub(super) fn empty() -> Self {
        let (lambda, operations, version) = (None, None, String::new());
        Self { n: 0, d: 0, lambda, exact: true, truth_is_zero: true, binary: false, operations, version }
    }

    pub(super) fn check_greeting(line: &str) -> Result<(), String> {
        let Some(version) = line.strip_prefix("ssvm-oracle ") else {
            let line = shorten(line);
            return Err(format!(
                "begins with '{line}' instead of '{}': it is not an oracle program, or it prints to standard output, which \
                 belongs to the protocol",
                greeting()
            ));
        };
        match version.trim().parse::<u32>() {
            Ok(VERSION) => Ok(()),
            _ => Err(format!(
                "speaks version '{}' of the protocol, but this program speaks version {VERSION}",
                shorten(version)
            )),
        }
    }

    /// Takes in one line `key value`; returns whether it was `ready`, the end of a complete handshake.
    pub(super) fn take(&mut self, line: &str) -> Result<bool, String> {
        if line == "ready" {
            return match self {
                Self { n: 0, .. } => Err("has no line 'n' in its handshake".into()),
                Self { d: 0, .. } => Err("has no line 'd' in its handshake".into()),
                Self { binary: false, .. } => {
                    Err(format!("has no line 'numbers binary' in its handshake: {TEXT_IS_GONE}"))
                }
                _ => Ok(true),
            };
        }
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim();
        let wrong = |expected: &str| format!("has the handshake line '{}', expected {key} {expected}", shorten(line));
        let count = |expected: &str, most: u64| {
            let count = value.parse::<u64>().ok().filter(|count| (1..=most).contains(count));
            count.ok_or_else(|| wrong(expected))
        };
        match key {
            "n" => self.n = count("and a number of terms", MOST as u64)? as usize,
            "d" => self.d = count("and a number of weights", MOST as u64)? as usize,
            "operations" => self.operations = Some(count("and a number of operations", MOST_OPERATIONS)?),
            "lambda" => {
                let lambda = value.parse::<f64>().ok().filter(|lambda| lambda.is_finite() && *lambda > 0.0);
                self.lambda = Some(lambda.ok_or_else(|| wrong("and a positive number"))?);
            }
            "exact" => self.exact = choice(value, ["no", "yes"]).ok_or_else(|| wrong("yes or no"))?,
            "truth" => self.truth_is_zero = choice(value, ["given", "zero"]).ok_or_else(|| wrong("zero or given"))?,
            "numbers" if value == "binary" => self.binary = true,
            "numbers" => return Err(format!("{}: {TEXT_IS_GONE}", wrong("binary"))),
            "version" => value.clone_into(&mut self.version),
            _ => {
                let near = nearest(key, KEYS);
                let line = shorten(line);
                return Err(format!("has the handshake line '{line}'; known keys: {}{near}", KEYS.join(", ")));
            }
        }
        Ok(false)
    }

    /// The lines of a program's handshake. They are part of the identity of runs.
    pub fn lines(&self) -> String {
        let Self { n, d, lambda, exact, truth_is_zero, operations, version, .. } = self;
        let lines = [
            Some(format!("{}\nn {n}\nd {d}", greeting())),
            lambda.map(|lambda| format!("lambda {lambda:e}")),
            Some(format!("exact {}", if *exact { "yes" } else { "no" })),
            Some(format!("truth {}\nnumbers binary", if *truth_is_zero { "zero" } else { "given" })),
            operations.map(|operations| format!("operations {operations}")),
            (!version.is_empty()).then(|| format!("version {version}")),
            Some("ready".into()),
        ];
        lines.into_iter().flatten().map(|line| line + "\n").collect()
    }
}

/// Earlier versions of this program also read numbers in decimal, and took a program that did not say for one of these.
const TEXT_IS_GONE: &str = "numbers as text are no longer read; send little-endian numbers and 'numbers binary'";

/// Whether a value is the second of two words; `None` when it is neither.
fn choice(value: &str, words: [&str; 2]) -> Option<bool> {
    words.iter().position(|word| *word == value).map(|at| at == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Handshake, String> {
        let mut lines = text.lines();
        Handshake::check_greeting(lines.next().unwrap())?;
        let mut handshake = Handshake::empty();
        for line in lines {
            handshake.take(line)?;
        }
        Ok(handshake)
    }

    #[test]
    fn a_hello_reads_back() {
        let hello = Handshake {
            n: 3,
            d: 70_000,
            lambda: Some(1.0 / 3.0),
            exact: false,
            truth_is_zero: false,
            binary: true,
            operations: Some(12),
            version: "data of May, code 7".into(),
        };
        for hello in [hello.clone(), Handshake { lambda: None, operations: None, version: String::new(), ..hello }] {
            assert_eq!(read(&hello.lines()), Ok(hello));
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
            ("number text", "did you mean 'numbers'?"),
            ("numbers text", "numbers as text are no longer read"),
        ] {
            let error = Handshake::empty().take(line).unwrap_err();
            assert!(error.contains(expected) && error.contains(line), "{error}");
        }
        for (text, expected) in [
            ("ssvm-oracle 2", "version '2'"),
            ("Traceback", "is not an oracle program"),
            ("ssvm-oracle 1\nn 3\nready", "no line 'd'"),
            ("ssvm-oracle 1\nn 3\nd 2\nready", "no line 'numbers binary'"),
        ] {
            assert!(read(text).unwrap_err().contains(expected));
        }
    }
}
