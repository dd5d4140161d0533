//! Parameters of a solver and their values. One parser serves configs and the command line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::total_order;

/// The allowed values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// A whole number in this range.
    Count(u64, u64),
    /// A finite number in this range.
    Real(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number in this range or one of these words.
    CountOr(u64, u64, &'static [&'static str]),
}

/// One parameter of a solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Key in configs and on the command line.
    pub key: &'static str,
    /// Its meaning, in a line.
    pub about: &'static str,
    /// Its default, as a user would write it.
    pub default: &'static str,
    /// The allowed values.
    pub domain: Domain,
}

/// The value of a parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// Any other number.
    Real(f64),
    /// A word.
    Word(String),
}

crate::ordered_by_key!(Value);

impl Value {
    /// Whole numbers, then other numbers, then words.
    fn key(&self) -> (u8, u64, i64, &str) {
        match self {
            Self::Count(count) => (0, *count, 0, ""),
            Self::Real(number) => (1, 0, total_order(*number), ""),
            Self::Word(word) => (2, 0, 0, word),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Word(word) => f.pad(word),
        }
    }
}

impl Domain {
    /// Describes the domain: `a whole number from 1`, `auto or a whole number`.
    pub fn words(self) -> String {
        let range = |low: &dyn std::fmt::Display, high: &dyn std::fmt::Display, unbounded: bool| {
            if unbounded { format!(" from {low}") } else { format!(" from {low} to {high}") }
        };
        match self {
            Self::Count(low, high) => format!("a whole number{}", range(&low, &high, high == u64::MAX)),
            Self::Real(low, high) => format!("a number{}", range(&low, &high, high == f64::INFINITY)),
            Self::Words(words) => words.join(", "),
            Self::CountOr(low, high, words) => format!("{} or {}", words.join(", "), Self::Count(low, high).words()),
        }
    }

    /// Parses a value; `None` if it is outside the domain.
    pub fn parse(self, text: &str) -> Option<Value> {
        let value = match (self, super::whole(text)) {
            (Self::Real(..), _) => Value::Real(text.parse().ok()?),
            (Self::Count(..) | Self::CountOr(..), Some(count)) => Value::Count(count),
            _ => Value::Word(text.to_owned()),
        };
        self.contains(&value).then_some(value)
    }

    fn contains(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Count(low, high) | Self::CountOr(low, high, _), Value::Count(count)) => (low..=high).contains(count),
            (Self::Real(low, high), Value::Real(number)) => number.is_finite() && (low..=high).contains(number),
            (Self::Words(words) | Self::CountOr(_, _, words), Value::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

impl Param {
    /// A whole number from `least` on, up to 2³² − 1.
    pub const fn count(key: &'static str, default: &'static str, least: u64, about: &'static str) -> Self {
        Self { key, about, default, domain: Domain::Count(least, u32::MAX as u64) }
    }

    /// Parses a value given for this parameter; the error says what is allowed.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        self.domain.parse(text).ok_or_else(|| self.refused(&text))
    }

    /// The value in the form of this parameter; a whole number is accepted as a number. The error says what is allowed.
    pub fn check(&self, value: &Value) -> Result<Value, String> {
        let value = match (self.domain, value) {
            (Domain::Real(..), Value::Count(count)) => Value::Real(*count as f64),
            _ => value.clone(),
        };
        if self.domain.contains(&value) { Ok(value) } else { Err(self.refused(&value)) }
    }

    fn refused(&self, value: &dyn std::fmt::Display) -> String {
        format!("{} must be {}, not '{value}'", self.key, self.domain.words())
    }

    /// Its default. A test checks that every row of the tables has one that parses.
    pub fn default(&self) -> Value {
        self.domain.parse(self.default).unwrap_or_else(|| Value::Word(self.default.to_owned()))
    }
}

/// A solver by name, with the parameters that differ from its defaults.
///
/// ```
/// use ssvm::{SolverSpec, Value};
///
/// let spec = SolverSpec::new("mp-bcfw").with("T", Value::Count(5)).with("passes", Value::Count(2));
/// assert_eq!(spec.to_string(), "mp-bcfw (T=5, passes=2)");
/// ```
///
/// Defaults are not part of it, so that a new parameter does not change the identity of runs that do not use it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SolverSpec {
    /// Its name in the table of solvers.
    pub name: String,
    /// Parameters that are not at their defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
}

impl SolverSpec {
    /// The solver with its defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), params: BTreeMap::new() }
    }

    /// The same with one parameter set; checked when the solver is built.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.params.insert(key.to_owned(), value);
        self
    }
}

/// `mp-bcfw`, or `mp-bcfw (T=5, passes=2)`: one setting of a solver, as plans, gates and `--only` name it.
impl std::fmt::Display for SolverSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let params: Vec<String> = self.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        f.pad(&if params.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, params.join(", ")) })
    }
}

impl From<&str> for SolverSpec {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// Every parameter of one solver with its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(BTreeMap<&'static str, Value>);

impl Params {
    /// The defaults of these rows.
    pub fn defaults(rows: &[Param]) -> Self {
        Self(rows.iter().map(|row| (row.key, row.default())).collect())
    }

    /// Sets a parameter.
    pub fn set(&mut self, key: &'static str, value: Value) {
        self.0.insert(key, value);
    }

    /// The value of a parameter.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The value of a parameter that is a whole number; 0 when it is not one.
    pub fn count(&self, key: &str) -> u64 {
        match self.get(key) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        }
    }

    /// The value of a parameter that is a number; NaN when it is not one.
    pub fn real(&self, key: &str) -> f64 {
        match self.get(key) {
            Some(Value::Real(number)) => *number,
            Some(Value::Count(count)) => *count as f64,
            _ => f64::NAN,
        }
    }

    /// The value of a parameter that is a word; empty when it is not one.
    pub fn word(&self, key: &str) -> &str {
        match self.get(key) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_say_what_they_take() {
        let passes = Param { key: "passes", about: "", default: "auto", domain: Domain::CountOr(0, 9, &["auto"]) };
        assert_eq!(passes.default(), Value::Word("auto".into()));
        assert_eq!(passes.parse("3"), Ok(Value::Count(3)));
        let refused = passes.parse("2.5").unwrap_err();
        assert_eq!(refused, "passes must be auto or a whole number from 0 to 9, not '2.5'");
        assert!(passes.parse("10").is_err());
        assert_eq!(Domain::Real(0.0, f64::INFINITY).words(), "a number from 0");
        assert_eq!(Domain::Real(0.0, 1.0).parse("nan"), None);
        assert_eq!(Domain::Count(1, u64::MAX).words(), "a whole number from 1");
    }

    #[test]
    fn values_come_back_from_json() {
        for value in [Value::Count(5), Value::Real(5.0), Value::Real(0.1), Value::Word("5".into())] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
        }
    }
}
