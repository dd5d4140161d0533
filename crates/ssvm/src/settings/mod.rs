//! The checked settings of one run: plain values that solvers, the loop, the planner and result files share.

mod key;
mod params;

pub use key::total_order;
pub use params::{Domain, Param, Params, SolverSpec, Value};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{ClockKind, Limits, OracleCost};
use crate::error::{Error, Result};

/// Which of several limits ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The first that is reached.
    #[default]
    First,
    /// Iterations and time, both: solvers of one data set then share the axis of iterations and the axis of time.
    All,
}

impl Until {
    /// The names in configs.
    pub const NAMES: [&str; 2] = ["first", "all"];

    /// The name in configs.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    // Serde passes a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_first(&self) -> bool {
        *self == Self::First
    }
}

impl std::str::FromStr for Until {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "first" => Ok(Self::First),
            "all" => Ok(Self::All),
            _ => Err(Error::invalid(format!("until must be one of {}, not '{text}'", Self::NAMES.join(", ")))),
        }
    }
}

/// When to stop: the first limit that is reached, unless `until` says otherwise.
///
/// ```
/// use ssvm::Budget;
///
/// let budget = Budget { gap: Some(1e-3), ..Budget::iterations(100) };
/// assert_eq!(budget.iterations, Some(100));
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Most iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// Most solver time in seconds of the run's clock (checked inside passes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Most exact oracle calls (checked inside passes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle_calls: Option<u64>,
    /// Stop when an evaluation shows a gap at or below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Whether iterations and time must both be reached. Oracle calls and gap end a run in any case.
    #[serde(default, skip_serializing_if = "Until::is_first")]
    pub until: Until,
}

crate::ordered_by_key!(Budget);

impl Budget {
    fn key(&self) -> (Option<u64>, Option<i64>, Option<u64>, Option<i64>, Until) {
        let Self { iterations, time_s, oracle_calls, gap, until } = *self;
        (iterations, time_s.map(total_order), oracle_calls, gap.map(total_order), until)
    }

    /// `count` iterations and no other limit.
    pub fn iterations(count: u64) -> Self {
        Self { iterations: Some(count), ..Self::default() }
    }

    /// Whether iterations and time must both be reached, but one of them is not set.
    pub fn lacks_one_of_both(&self) -> bool {
        self.until == Until::All && (self.iterations.is_none() || self.time_s.is_none())
    }

    /// The limits that the meter checks. A time is no limit inside a pass when iterations must be reached too.
    pub fn limits(&self) -> Limits {
        let both = self.until == Until::All && self.iterations.is_some();
        Limits { time_s: self.time_s.filter(|_| !both), oracle_calls: self.oracle_calls }
    }
}

/// Converts seconds to a time limit; fails if a clock cannot count that long.
pub fn time_limit(seconds: f64) -> Result<Duration> {
    let beyond = |_| Error::invalid(format!("{seconds:e} s is more than a clock can count; leave it out for no limit"));
    Duration::try_from_secs_f64(seconds).map_err(beyond)
}

/// Mantissas of a ten-per-decade grid, rounded; below ten, only whole iterations exist.
const TENTHS: [u64; 10] = [10, 13, 16, 20, 25, 32, 40, 50, 63, 80];

/// After which iterations the primal is evaluated (off the clock). The last iteration always is.
///
/// ```
/// use ssvm::Cadence;
///
/// let due: Vec<u64> = (1..=20).filter(|iteration| Cadence::Log.due(*iteration)).collect();
/// assert_eq!(due, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 20]);
/// assert_eq!("at:1,5".parse(), Ok(Cadence::At(vec![1, 5])));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cadence {
    /// Every k iterations.
    Every(u64),
    /// At 1, 2, 3, 4, 5, 6, 8, 10, … : about ten per decade.
    Log,
    /// At exactly these iterations.
    At(Vec<u64>),
}

impl Cadence {
    /// Whether to evaluate after this iteration (counted from 1).
    pub fn due(&self, iteration: u64) -> bool {
        match self {
            Self::Every(k) => iteration.is_multiple_of(*k),
            Self::Log => {
                let mut decade: u64 = 1;
                while decade <= iteration / 10 {
                    decade *= 10;
                }
                decade == 1 || TENTHS.iter().any(|m| m.saturating_mul(decade / 10) == iteration)
            }
            Self::At(list) => list.contains(&iteration),
        }
    }

    /// Number of evaluations of a run of this many iterations; its end counts only when it is due.
    pub fn count(&self, iterations: u64) -> u64 {
        match self {
            Self::Every(k) => iterations / k,
            Self::Log => Self::log_marks(1, iterations).into_iter().filter(|mark| self.due(*mark)).count() as u64,
            Self::At(list) => list.iter().filter(|at| **at <= iterations).count() as u64,
        }
    }

    /// The marks of [`Cadence::Log`] from one iteration to another, both included. Curves are read at these, whatever
    /// their own cadence.
    pub fn log_marks(from: u64, to: u64) -> Vec<u64> {
        let mut marks: Vec<u64> = (1..10).collect();
        let mut decade: u64 = 10;
        while decade <= to {
            marks.extend(TENTHS.iter().map(|tenth| tenth.saturating_mul(decade / 10)));
            let Some(next) = decade.checked_mul(10) else { break };
            decade = next;
        }
        marks.retain(|mark| (from..to).contains(mark));
        marks.push(to);
        marks
    }
}

/// As in a config: `log`, `every:5`, `at:1,2,5`.
/// A whole number as people write it: `1000` or `1e3`.
pub fn whole(text: &str) -> Option<u64> {
    /// Above this, not every whole number is a double.
    const MOST: f64 = (1_u64 << 53) as f64;
    let from_exponent =
        |number: f64| (number.fract() == 0.0 && (0.0..=MOST).contains(&number)).then_some(number as u64);
    text.parse().ok().or_else(|| text.parse().ok().and_then(from_exponent))
}

impl std::fmt::Display for Cadence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Every(k) => write!(f, "every:{k}"),
            Self::Log => f.pad("log"),
            Self::At(list) => {
                write!(f, "at:{}", list.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl std::str::FromStr for Cadence {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(format!(
                "evaluate must be 'every:K' with K ≥ 1, 'log' or 'at:1,2,5' with increasing iterations, not '{text}'"
            ))
        };
        if text == "log" {
            return Ok(Self::Log);
        }
        if let Some(k) = text.strip_prefix("every:") {
            return whole(k).filter(|k| *k > 0).map(Self::Every).ok_or_else(bad);
        }
        let list = text.strip_prefix("at:").ok_or_else(bad)?;
        let list: Vec<u64> = list.split(',').map(|s| whole(s.trim()).ok_or_else(bad)).collect::<Result<_>>()?;
        if list.is_empty() || list[0] == 0 || list.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(bad());
        }
        Ok(Self::At(list))
    }
}

/// Everything that one run depends on besides its problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunSettings {
    /// The solver and its parameters.
    pub solver: SolverSpec,
    /// Seed of the order of the terms.
    pub seed: u64,
    /// The clock.
    pub clock: ClockKind,
    /// Factor on the time inside the exact oracle.
    #[serde(default, skip_serializing_if = "OracleCost::is_one")]
    pub oracle_cost: OracleCost,
    /// When to stop.
    pub budget: Budget,
    /// When to evaluate.
    pub evaluate: Cadence,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_an_exponent() {
        assert_eq!(["0", "7", "1e3", "2.5e1"].map(whole), [Some(0), Some(7), Some(1000), Some(25)]);
        assert_eq!(["", "x", "-1", "1.5", "1e99", "nan"].map(whole), [None; 6]);
        assert_eq!("every:1e1".parse::<Cadence>().unwrap(), Cadence::Every(10));
        assert_eq!("at:1,1e2".parse::<Cadence>().unwrap(), Cadence::At(vec![1, 100]));
    }

    #[test]
    fn the_marks_are_the_iterations_that_are_due() {
        for (from, to) in [(1, 1), (1, 40), (3, 999), (1, 20_000), (250, 251)] {
            let due: Vec<u64> = (from..=to).filter(|k| Cadence::Log.due(*k) || *k == to).collect();
            assert_eq!(Cadence::log_marks(from, to), due, "{from}..={to}");
        }
    }

    #[test]
    fn evaluations_are_counted_without_going_through_them() {
        for cadence in [Cadence::Log, Cadence::Every(1), Cadence::Every(7), Cadence::At(vec![1, 5, 90])] {
            for iterations in [1, 2, 6, 7, 8, 89, 100, 12_345] {
                let due = (1..=iterations).filter(|k| cadence.due(*k)).count() as u64;
                assert_eq!(cadence.count(iterations), due, "{cadence:?} {iterations}");
            }
        }
    }

    #[test]
    fn the_largest_iteration_has_marks_too() {
        assert!(Cadence::Log.due(10_000_000_000_000_000_000) && !Cadence::Log.due(10_000_000_000_000_000_001));
        assert_eq!(Cadence::log_marks(1, u64::MAX).last(), Some(&u64::MAX));
    }

    #[test]
    fn a_budget_of_both_is_told_and_the_usual_one_is_not() {
        let first = Budget { time_s: Some(0.5), ..Budget::iterations(3) };
        let all = Budget { until: Until::All, ..first.clone() };
        let text = |budget: &Budget| serde_json::to_string(budget).unwrap();
        assert_eq!(text(&first), r#"{"iterations":3,"time_s":0.5}"#);
        assert_eq!(text(&all), r#"{"iterations":3,"time_s":0.5,"until":"all"}"#);
        assert_eq!(serde_json::from_str::<Budget>(&text(&all)).unwrap(), all);
        assert_eq!((first.limits().time_s, all.limits().time_s), (Some(0.5), None));
    }
}
