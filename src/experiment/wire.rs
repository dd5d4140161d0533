//! Parses TOML into wire types whose values are checked one by one; errors name file, line and the nearest valid key.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error as _};
use toml::Spanned;

use super::CostSetting;
use crate::error::{Error, Result};
use crate::text::nearest;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::settings::{Cadence, Until, time_limit};

/// The word for the oracle cost of the paper.
const PAPER: &str = "paper";
/// Stands for the key in the message of a value that is out of its range.
const KEY: &str = "§";

/// A config file as written; combinations of values are not checked.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    pub name: Name,
    #[serde(default)]
    pub seed: u64,
    pub repeats: Option<Repeats>,
    #[serde(default)]
    pub clock: ClockKind,
    pub evaluate: Option<Evaluate>,
    pub jobs: Option<Threads>,
    pub oracle_cost: Option<Costs>,
    pub threads: Option<Threads>,
    pub timeout_s: Option<Seconds>,
    pub probes: Option<u32>,
    pub gap_targets: Option<Falling>,
    #[serde(default)]
    pub budget: WireBudget,
    #[serde(default)]
    pub dataset: Vec<DatasetKeys>,
    #[serde(default)]
    pub solver: Vec<Spanned<SolverKeys>>,
}

/// `[budget]`, and `[dataset.budget]`, whose keys replace those of `[budget]`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireBudget {
    pub iterations: Option<Count>,
    pub time_s: Option<Seconds>,
    pub oracle_calls: Option<Count>,
    pub gap: Option<Positive>,
    pub until: Option<Spanned<Ends>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatasetKeys {
    pub name: Spanned<String>,
    #[serde(rename = "else")]
    pub otherwise: Option<String>,
    pub lambda: Option<Positive>,
    pub pairwise_weight: Option<NotNegative>,
    pub oracle_cost: Option<Costs>,
    pub budget: Option<WireBudget>,
}

/// One `[[solver]]`: its name, and parameters that the solver's row knows.
pub(super) type SolverKeys = BTreeMap<String, Spanned<toml::Value>>;

/// Types whose values are checked when they are read: the type read, and the check.
macro_rules! checked {
    ($($(#[$doc:meta])* $name:ident($value:ty) = |$raw:ident: $from:ty| $check:expr;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Debug)]
        pub(super) struct $name(pub $value);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let $raw = <$from>::deserialize(from)?;
                let checked: Result<$value, String> = $check;
                checked.map(Self).map_err(D::Error::custom)
            }
        })*
    };
}

checked! {
    /// Also the name of a folder in `results`.
    Name(String) = |text: String| folder_name(text);
    Count(u64) = |number: u64| count(number, u64::MAX);
    /// The runs of a plan are all held in memory.
    Repeats(u64) = |number: u64| count(number, 10_000);
    /// Workers, or threads of each.
    Threads(usize) = |number: u64| count(number, 1024).map(|count| count as usize);
    Positive(f64) = |number: f64| real(number, "above 0", number > 0.0);
    NotNegative(f64) = |number: f64| real(number, "not negative", number >= 0.0);
    /// A time limit as written: converted to nanoseconds, it would be another number and another identity.
    Seconds(f64) = |number: f64| real(number, "above 0", number > 0.0)
        .and_then(|_| time_limit(number).map(|_| number).map_err(|error| format!("{KEY}: {error}")));
    Falling(Vec<f64>) = |list: Vec<f64>| {
        let fine = list.iter().all(|gap| gap.is_finite() && *gap > 0.0) && list.is_sorted_by(|a, b| a > b);
        if fine { Ok(list) } else { Err(format!("{KEY} must be above 0 and descending, such as [0.1, 0.01]")) }
    };
    /// One oracle cost or a list of them.
    Costs(Vec<CostSetting>) = |value: toml::Value| costs(&value);
    Evaluate(Cadence) = |word: String| word.parse().map_err(|error: ssvm::Error| error.to_string());
    Ends(Until) = |word: String| word.parse().map_err(|error: ssvm::Error| error.to_string());
}

fn folder_name(text: String) -> Result<String, String> {
    let strange = |c: char| c.is_control() || c == '/' || c == '\\';
    if text.trim().is_empty() {
        return Err("the name is empty".to_owned());
    }
    if text.chars().count() > 100 || text.starts_with('.') || text.contains(strange) {
        return Err(
            "the name is also that of the result folder: use at most 100 characters, no /, \\ or control character, and no \
            dot at the beginning"
                .to_owned(),
        );
    }
    Ok(text)
}

/// A number from 1 to `most`.
fn count(number: u64, most: u64) -> Result<u64, String> {
    match number {
        0 => Err(format!("{KEY} must be at least 1")),
        large if large > most => Err(format!("{KEY} must be at most {most}")),
        fine => Ok(fine),
    }
}

fn real(number: f64, range: &str, in_range: bool) -> Result<f64, String> {
    if number.is_finite() && in_range {
        Ok(number)
    } else {
        Err(format!("{KEY} must be finite and {range}, not {number}"))
    }
}

fn costs(given: &toml::Value) -> Result<Vec<CostSetting>, String> {
    let list = given.as_array().map_or(std::slice::from_ref(given), Vec::as_slice);
    let mut costs = Vec::new();
    for value in list {
        let text = as_text(value);
        let cost = match text.parse::<OracleCost>() {
            _ if text == PAPER => CostSetting::Paper,
            Ok(cost) => CostSetting::Factor(cost),
            Err(_) => {
                return Err(format!(
                    "{KEY} must be between 1e-6 and 1e6, such as 16 or \"1/16\", or \"{PAPER}\", not {value}"
                ));
            }
        };
        if costs.contains(&cost) {
            return Err(format!("{KEY} has {text} twice"));
        }
        costs.push(cost);
    }
    if costs.is_empty() {
        return Err(format!("{KEY} has no value; leave it out to count time as measured"));
    }
    Ok(costs)
}

/// A value as a user would write it on the command line.
pub(super) fn as_text(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Most parts of a key or table header; `[dataset.budget]` has two. The TOML parser walks all of them for every header.
const DEEPEST: usize = 16;

/// A file and its text: turns places into lines.
pub(super) struct Source<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    /// Where lines end, because every entry looks up its line.
    ends: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        1 + self.ends.partition_point(|end| *end < offset)
    }

    /// An error at a value.
    pub fn error<T>(&self, value: &Spanned<T>, message: impl ToString) -> Error {
        Error::line(self.path, self.line(value.span().start), message.to_string())
    }

    pub fn parse(&self) -> Result<ConfigFile> {
        self.check_depth()?;
        toml::from_str(self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Error::line(self.path, self.line(offset), self.explain(error.message(), offset))
        })
    }

    /// Refuses keys and table headers with more parts than any config has.
    fn check_depth(&self) -> Result<()> {
        for (at, line) in self.text.lines().enumerate() {
            let line = line.trim_start();
            let key = if line.starts_with('[') { Some(line) } else { line.split_once('=').map(|(key, _)| key) };
            let parts = 1 + key.unwrap_or_default().bytes().filter(|byte| *byte == b'.').count();
            if parts > DEEPEST {
                let message = format!("a key has {parts} parts; no key of a config has more than two");
                return Err(Error::line(self.path, at + 1, message));
            }
        }
        Ok(())
    }

    /// Rewrites serde's message: it names the nearest valid key, or the key whose value has the wrong type.
    fn explain(&self, message: &str, offset: usize) -> String {
        let mut quoted = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown field") {
            let key = quoted.next().unwrap_or_default();
            let valid: Vec<&str> = quoted.collect();
            let near = nearest(key, valid.iter().copied());
            let list = if near.is_empty() { "; valid here:" } else { " Valid here:" };
            return format!("unknown key '{key}'{near}{list} {}", valid.join(", "));
        }
        if message.starts_with("missing field") {
            return format!("the key `{}` is missing", quoted.next().unwrap_or_default());
        }
        // The key is before the value, on the same line.
        let before = self.text[..offset.min(self.text.len())].rsplit('\n').next().unwrap_or_default();
        let before = before.rsplit_once('=').map_or("", |(before, _)| before.trim_end());
        let key = before.rsplit([' ', '\t', '{', ',', '.']).next().unwrap_or_default();
        if message.starts_with("invalid") && !key.is_empty() {
            return format!("wrong value of `{key}`: {message}");
        }
        message.trim().replace('\n', ", ").replace(KEY, key)
    }
}
