//! The clocks of a run: wall time, CPU time, or the virtual clock, which counts operations.

use serde::{Deserialize, Serialize};

use super::OracleCost;
use super::stopwatch::Stopwatch;
use super::weights::COST_MODEL;
use crate::error::{Error, Result};
use crate::nearest;

/// Length of one unit of the virtual clock, in nanoseconds. Weights are whole numbers of units.
pub const UNIT_NS: f64 = 1.0 / 256.0;

/// One of the clocks.
///
/// ```
/// use ssvm::ClockKind;
///
/// let clock: ClockKind = "virtual".parse()?;
/// assert!(clock == ClockKind::VIRTUAL && clock.repeatable());
/// assert!("virtul".parse::<ClockKind>().unwrap_err().to_string().contains("did you mean 'virtual'?"));
/// # Ok::<(), ssvm::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct ClockKind(ClockName);

// In the order of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ClockName {
    Cpu,
    Virtual,
    #[default]
    Wall,
}

impl ClockKind {
    /// Monotonic wall time, from the CPU's time-stamp counter.
    pub const WALL: Self = Self(ClockName::Wall);
    /// CPU time of the solver's thread and of its helpers.
    pub const CPU: Self = Self(ClockName::Cpu);
    /// A deterministic cost model in place of time: the same seed gives the same bits on any machine.
    ///
    /// Every kind of work ([`super::Charge`]) has an integer weight per family of problems, fitted to wall times of a
    /// quiet machine (`weights.rs`). A batch of calls costs what its longest lane costs, whatever the number of
    /// threads.
    pub const VIRTUAL: Self = Self(ClockName::Virtual);
    /// All clocks.
    pub const ALL: [Self; 3] = [Self::WALL, Self::CPU, Self::VIRTUAL];

    /// The name on the command line, in configs and in result files.
    pub fn name(self) -> &'static str {
        match self.0 {
            ClockName::Cpu => "cpu",
            ClockName::Virtual => "virtual",
            ClockName::Wall => "wall",
        }
    }

    /// What it measures, for help texts.
    pub fn about(self) -> &'static str {
        match self.0 {
            ClockName::Cpu => "CPU time of the solver's threads",
            ClockName::Virtual => "a cost model that counts operations: the same bits on every machine",
            ClockName::Wall => "monotonic wall time",
        }
    }

    /// Whether the same run gives the same times on every machine.
    pub fn repeatable(self) -> bool {
        self == Self::VIRTUAL
    }

    /// Version of the cost model behind its times; `None` where times are measured.
    pub fn cost_model(self) -> Option<u32> {
        self.repeatable().then_some(COST_MODEL)
    }

    /// `wall, cpu, virtual`.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Solver time so far, ns.
    pub(super) fn now_ns(self, watch: &Stopwatch) -> f64 {
        match self.0 {
            ClockName::Cpu => watch.cpu_ns(),
            ClockName::Virtual => watch.tally.units as f64 * UNIT_NS,
            ClockName::Wall => watch.wall_ns(),
        }
    }

    /// Time inside exact oracle calls up to the last stop of the meter, ns.
    pub(super) fn oracle_ns(self, watch: &Stopwatch) -> f64 {
        match self.0 {
            // CPU time of helpers, plus the wall time inside the calls times the CPU's share of it: reading the CPU clock
            // at each call would cost as much as a fast oracle. The share is taken per iteration, so that this never
            // decreases and never exceeds the total. It is still an estimate: on a busy machine the thread may wait inside
            // calls more or less often than outside of them.
            ClockName::Cpu => watch.oracle_scaled_ns + watch.helped_ns as f64,
            ClockName::Virtual => watch.tally.oracle_units as f64 * UNIT_NS,
            ClockName::Wall => watch.oracle_wall_ns(),
        }
    }

    /// Time inside exact oracle calls that an oracle cost other than 1 multiplies.
    pub(super) fn charged_ns(self, watch: &Stopwatch) -> f64 {
        match self.0 {
            // Wall time includes other processes, so the CPU clock is read at each call.
            ClockName::Cpu => (watch.oracle_cpu_ns + watch.helped_ns) as f64,
            _ => self.oracle_ns(watch),
        }
    }

    /// Whether the CPU clock must be read before and after each exact call when the oracle cost is not 1.
    pub(super) fn asks_each_call(self) -> bool {
        self == Self::CPU
    }

    /// Whether the time inside exact calls is measured at this oracle cost. On the CPU clock at cost 1 it is estimated from
    /// wall time, which a busy machine distorts.
    pub fn measures_oracle(self, cost: OracleCost) -> bool {
        !self.asks_each_call() || !cost.is_one()
    }

    /// The time stamp and the operation count at which `left_ns` from now will be over, so that every step can check
    /// cheaply; `u64::MAX` where this clock cannot know and is read every millisecond instead.
    pub(super) fn deadline(self, left_ns: f64, watch: &Stopwatch) -> (u64, u64) {
        // A float too large for the cast saturates: never.
        match self.0 {
            ClockName::Cpu => (u64::MAX, u64::MAX),
            ClockName::Virtual => {
                (u64::MAX, watch.tally.units.saturating_add((left_ns.max(0.0) / UNIT_NS).ceil() as u64))
            }
            ClockName::Wall => (watch.stamp().saturating_add(watch.to_stamps(left_ns)), u64::MAX),
        }
    }
}

impl std::str::FromStr for ClockKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|clock| clock.name() == text).ok_or_else(|| {
            let near = nearest(text, Self::ALL.map(Self::name));
            Error::invalid(format!("unknown clock '{text}'; known: {}{near}", Self::names()))
        })
    }
}

impl TryFrom<String> for ClockKind {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<ClockKind> for &str {
    fn from(clock: ClockKind) -> Self {
        clock.name()
    }
}
