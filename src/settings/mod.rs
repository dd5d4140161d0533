//! The checked settings of one run: plain values that solvers, the loop, the planner and result files share.

#[cfg(feature = "harness")]
mod identity;
mod params;

#[cfg(feature = "harness")]
pub use identity::{CODE_VERSION, Identity, order_seed};
pub use params::{Domain, Param, Params, SolverSpec, Value};

use serde::{Deserialize, Serialize};

use crate::clock::{ClockKind, Limits};
use crate::error::{Error, Result};

/// When to stop: the first limit that is reached. Independent knobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
}

impl Budget {
    /// So many iterations and nothing else.
    pub fn iterations(count: u64) -> Self {
        Self { iterations: Some(count), ..Self::default() }
    }

    /// What the meter watches over.
    pub fn limits(&self) -> Limits {
        Limits { time_s: self.time_s, oracle_calls: self.oracle_calls }
    }
}

/// After which iterations the primal is evaluated (off the clock). The last iteration always is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
                let mut decade = 1;
                while decade * 10 <= iteration {
                    decade *= 10;
                }
                // Mantissas of a ten-per-decade grid, rounded; below ten only whole ones exist.
                const TENTHS: [u64; 10] = [10, 13, 16, 20, 25, 32, 40, 50, 63, 80];
                if decade == 1 { true } else { TENTHS.iter().any(|m| m * decade / 10 == iteration) }
            }
            Self::At(list) => list.contains(&iteration),
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
            return k.parse().ok().filter(|k| *k > 0).map(Self::Every).ok_or_else(bad);
        }
        let list = text.strip_prefix("at:").ok_or_else(bad)?;
        let list: Vec<u64> = list.split(',').map(|s| s.trim().parse().map_err(|_| bad())).collect::<Result<_>>()?;
        if list.is_empty() || list[0] == 0 || list.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(bad());
        }
        Ok(Self::At(list))
    }
}

/// Everything one run depends on besides its problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// The solver and its parameters.
    pub solver: SolverSpec,
    /// Seed of the order of the terms.
    pub seed: u64,
    /// The clock.
    pub clock: ClockKind,
    /// When to stop.
    pub budget: Budget,
    /// When to evaluate.
    pub evaluate: Cadence,
}
