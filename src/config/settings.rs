//! The checked settings of one run: plain values that solvers, the executor and the planner share.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The five solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// Frank–Wolfe on the whole plane.
    Fw,
    /// Block-coordinate Frank–Wolfe.
    Bcfw,
    /// BCFW read out at the weighted average.
    BcfwAvg,
    /// Multi-plane BCFW.
    MpBcfw,
    /// MP-BCFW read out at the best interpolation of its two averages.
    MpBcfwAvg,
}

impl SolverKind {
    /// All solvers in the order of tables and legends.
    pub const ALL: [Self; 5] = [Self::Fw, Self::Bcfw, Self::BcfwAvg, Self::MpBcfw, Self::MpBcfwAvg];

    /// The name on the command line, in configs and in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fw => "fw",
            Self::Bcfw => "bcfw",
            Self::BcfwAvg => "bcfw-avg",
            Self::MpBcfw => "mp-bcfw",
            Self::MpBcfwAvg => "mp-bcfw-avg",
        }
    }

    /// Whether the solver keeps working sets.
    pub fn multi_plane(self) -> bool {
        matches!(self, Self::MpBcfw | Self::MpBcfwAvg)
    }

    /// Whether the solution is read from averaged vectors.
    pub fn averaged(self) -> bool {
        matches!(self, Self::BcfwAvg | Self::MpBcfwAvg)
    }
}

impl std::str::FromStr for SolverKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            Error::invalid(format!("unknown solver '{text}'; known: {}", Self::ALL.map(Self::name).join(", ")))
        })
    }
}

impl std::fmt::Display for SolverKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Order in which a pass visits the terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A fresh random permutation each iteration, shared by its exact and approximate passes.
    #[default]
    Permutation,
    /// 0..n−1 in every pass.
    Sequential,
    /// n draws with replacement each iteration, shared by its passes.
    Uniform,
}

impl std::str::FromStr for Order {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "permutation" => Ok(Self::Permutation),
            "sequential" => Ok(Self::Sequential),
            "uniform" => Ok(Self::Uniform),
            _ => Err(Error::invalid(format!("unknown order '{text}'; known: permutation, sequential, uniform"))),
        }
    }
}

/// How many approximate passes follow an exact pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// The slope rule, at most M.
    #[default]
    Auto,
    /// Exactly this many, no rule.
    Fixed(u32),
}

impl std::str::FromStr for Passes {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse()
            .map(Self::Fixed)
            .map_err(|_| Error::invalid(format!("passes must be 'auto' or a whole number, not '{text}'")))
    }
}

/// A solver with its parameters (names as in the paper).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolverSpec {
    /// Which solver.
    pub kind: SolverKind,
    /// T: planes inactive for more than T iterations leave the working set.
    pub t: u64,
    /// N: most planes per working set.
    pub n: usize,
    /// M: most approximate passes per iteration.
    pub m: u32,
    /// Order of the terms.
    pub order: Order,
    /// Approximate passes.
    pub passes: Passes,
}

impl SolverSpec {
    /// The solver with the paper's defaults T = 10, N = 1000, M = 1000.
    pub fn new(kind: SolverKind) -> Self {
        Self { kind, t: 10, n: 1000, m: 1000, order: Order::Permutation, passes: Passes::Auto }
    }
}

/// Which clock times solver work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// Monotonic wall time.
    #[default]
    Wall,
    /// CPU time of the solver's thread.
    Cpu,
    /// The deterministic cost model.
    Virtual,
}

impl ClockKind {
    /// The name in configs and result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
            Self::Virtual => "virtual",
        }
    }
}

impl std::str::FromStr for ClockKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "wall" => Ok(Self::Wall),
            "cpu" => Ok(Self::Cpu),
            "virtual" => Ok(Self::Virtual),
            _ => Err(Error::invalid(format!("unknown clock '{text}'; known: wall, cpu, virtual"))),
        }
    }
}

/// When to stop: the first limit that is reached. Independent knobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Most iterations.
    pub iterations: Option<u64>,
    /// Most solver time in seconds of the run's clock (checked inside passes).
    pub time_s: Option<f64>,
    /// Most exact oracle calls (checked inside passes).
    pub oracle_calls: Option<u64>,
    /// Stop when an evaluation shows a gap at or below this.
    pub gap: Option<f64>,
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
