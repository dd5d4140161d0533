//! The oracle cost: the run's clock counts k seconds for each second inside the exact oracle.

use serde::{Deserialize, Deserializer, Serialize};

use super::kind::UNIT_NS;
use crate::error::{Error, Result};
use crate::settings::total_order;

/// Factor on the time inside the exact oracle; 1 leaves the time as measured.
///
/// ```
/// use ssvm::OracleCost;
///
/// let cost: OracleCost = "1/4".parse()?;
/// assert_eq!(cost.factor(), 0.25);
/// assert!("0".parse::<OracleCost>().is_err());
/// # Ok::<(), ssvm::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OracleCost(f64);

crate::ordered_by_key!(OracleCost);

impl OracleCost {
    fn key(self) -> i64 {
        total_order(self.0)
    }

    /// Time as measured.
    pub const ONE: Self = Self(1.0);

    /// A factor between a millionth and a million.
    pub fn new(factor: f64) -> Result<Self> {
        if (1e-6..=1e6).contains(&factor) {
            return Ok(Self(factor));
        }
        Err(Error::invalid(format!("the oracle cost must be between 1e-6 and 1e6, not {factor:e}")))
    }

    /// k.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// Whether the time is left as measured.
    // Serde passes a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn is_one(&self) -> bool {
        self.0 == 1.0
    }

    /// Converts a time at cost 1, of which the oracle took `oracle_ns`, to this cost.
    pub(super) fn charge(self, ns: f64, oracle_ns: f64) -> f64 {
        if self.is_one() { ns } else { ns + (self.0 - 1.0) * oracle_ns }
    }

    /// A lower bound on the time at cost 1 that has passed when `ns` have passed at this cost.
    pub(super) fn at_least(self, ns: f64) -> f64 {
        ns / self.0.max(1.0)
    }

    /// The cost at which the oracle takes this share of the time, from times at cost 1.
    pub fn for_share(share: f64, time: f64, oracle: f64) -> Result<Self> {
        let factor = share / (1.0 - share) * (time - oracle) / oracle;
        Self::new(factor.clamp(1e-6, 1e6)).map_err(|_| {
            Error::invalid(format!("no oracle cost gives the oracle a share of {share}: it took {oracle} of {time}"))
        })
    }

    /// Rounds to two significant digits.
    pub fn rounded(self) -> Result<Self> {
        format!("{:.1e}", self.0).parse()
    }

    /// Converts the times of a run at this cost (all of it, and inside the oracle; seconds) to another cost. Exact on
    /// the virtual clock, which counts whole units, for up to an hour of it.
    pub fn project(self, time_s: f64, oracle_s: f64, to: Self) -> (f64, f64) {
        let whole = |seconds: f64| (seconds * (1e9 / UNIT_NS)).round() * UNIT_NS;
        let oracle = whole(oracle_s / self.0);
        let rest = whole(time_s - oracle_s);
        (to.charge(rest + oracle, oracle) * 1e-9, to.charge(oracle, oracle) * 1e-9)
    }
}

impl Default for OracleCost {
    fn default() -> Self {
        Self::ONE
    }
}

impl std::fmt::Display for OracleCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = 1.0 / self.0;
        // 1/16 reads better than 0.0625.
        if self.0 < 1.0 && whole.fract() == 0.0 && whole.is_finite() {
            return f.pad(&format!("1/{whole}"));
        }
        f.pad(&self.0.to_string())
    }
}

impl std::str::FromStr for OracleCost {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let bad =
            || Error::invalid(format!("the oracle cost must be a number or 1/N between 1e-6 and 1e6, not '{text}'"));
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| bad());
        let factor = match text.split_once('/') {
            Some((above, below)) => number(above)? / number(below)?,
            None => number(text)?,
        };
        Self::new(factor).map_err(|_| bad())
    }
}

impl<'de> Deserialize<'de> for OracleCost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_told_as_people_write_them() {
        for (text, factor) in [("1/16", 0.0625), ("1", 1.0), ("3.7", 3.7), ("1024", 1024.0), ("0.07", 0.07)] {
            let cost: OracleCost = text.parse().unwrap();
            assert_eq!((cost.factor(), cost.to_string().as_str()), (factor, text));
        }
        for bad in ["", "0", "-1", "1/0", "inf", "NaN", "1/", "x"] {
            assert!(bad.parse::<OracleCost>().is_err(), "{bad}");
        }
    }

    #[test]
    fn projections_are_exact_from_any_price_to_any_other() {
        let costs = ["1/16", "0.07", "1", "3.7", "8.3", "1024"].map(|text| text.parse::<OracleCost>().unwrap());
        for (units, oracle_units) in [(7u64, 3u64), (123_456_789_013, 98_765_432_101), (400_000_000_000_001, 7)] {
            let (all, oracle) = (units as f64 * UNIT_NS, oracle_units as f64 * UNIT_NS);
            let at = |cost: OracleCost| (cost.charge(all, oracle) * 1e-9, cost.charge(oracle, oracle) * 1e-9);
            for from in costs {
                for to in costs {
                    let (time, inside) = at(from);
                    assert_eq!(from.project(time, inside, to), at(to), "{units} {oracle_units}: {from} to {to}");
                }
            }
        }
    }
}
