//! Solver time: the clocks, and the meter that a solver runs under. Starts and stops in, seconds, counters and
//! histograms out.
//!
//! The meter runs during solver work only; whoever drives the solver pauses it to evaluate. What a second is, a
//! [`Clock`] says: one file each, one row of [`ClockKind::ALL`].

mod batch;
mod cost;
mod cpu;
mod meter;
mod stopwatch;
mod virtual_time;
mod wall;

pub use batch::{Call, Helpers};
pub use cost::OracleCost;
pub use meter::{Counters, Halt, Interrupt, Limits, Meter, SAMPLE_EVERY, latency_histogram, reading_ns};
pub use stopwatch::Stopwatch;
pub use virtual_time::{STEP_UNITS, UNIT_NS};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::nearest;

/// A way to tell solver time from what a [`Stopwatch`] measured.
pub trait Clock: Sync {
    /// The name on the command line, in configs and in result files.
    fn name(&self) -> &'static str;
    /// What it measures, for help texts.
    fn about(&self) -> &'static str;
    /// Whether the same run gives the same times on every machine.
    fn repeatable(&self) -> bool {
        false
    }
    /// Solver time so far, ns.
    fn now_ns(&self, watch: &Stopwatch) -> f64;
    /// Time inside exact oracle calls so far, ns.
    fn oracle_ns(&self, watch: &Stopwatch) -> f64;
    /// The same, but never less than it was: what an oracle cost other than 1 multiplies.
    fn charged_ns(&self, watch: &Stopwatch) -> f64 {
        self.oracle_ns(watch)
    }
    /// Whether the CPU clock must be read before and after each exact call when the oracle cost is not 1.
    fn asks_each_call(&self) -> bool {
        false
    }
    /// The time stamp and the operation count at which `left_ns` from now will be over, so that every step can ask
    /// cheaply; `u64::MAX` where this clock cannot tell, and is asked every millisecond instead.
    fn deadline(&self, _left_ns: f64, _watch: &Stopwatch) -> (u64, u64) {
        (u64::MAX, u64::MAX)
    }
}

/// One of the clocks.
///
/// ```
/// use ssvm::ClockKind;
///
/// let clock: ClockKind = "virtual".parse()?;
/// assert!(clock == ClockKind::VIRTUAL && clock.repeatable());
/// assert!("virtul".parse::<ClockKind>().unwrap_err().to_string().contains("did you mean `virtual`?"));
/// # Ok::<(), ssvm::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ClockKind(&'static dyn Clock);

impl ClockKind {
    fn key(self) -> &'static str {
        self.0.name()
    }

    /// Monotonic wall time.
    pub const WALL: Self = Self(&wall::Wall);
    /// CPU time of the solver's threads.
    pub const CPU: Self = Self(&cpu::Cpu);
    /// The deterministic cost model.
    pub const VIRTUAL: Self = Self(&virtual_time::Virtual);
    /// The table of clocks.
    pub const ALL: [Self; 3] = [Self::WALL, Self::CPU, Self::VIRTUAL];

    /// `wall, cpu, virtual`.
    pub fn names() -> String {
        Self::ALL.map(|clock| clock.name()).join(", ")
    }
}

impl std::ops::Deref for ClockKind {
    type Target = dyn Clock;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Default for ClockKind {
    fn default() -> Self {
        Self::WALL
    }
}

crate::ordered_by_key!(ClockKind);

impl std::fmt::Debug for ClockKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ClockKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|clock| clock.name() == text).ok_or_else(|| {
            let near = nearest(text, Self::ALL.map(|clock| clock.name()));
            Error::invalid(format!("unknown clock '{text}'; known: {}{near}", Self::names()))
        })
    }
}

impl Serialize for ClockKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ClockKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
