//! Why a run ended.

use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The iteration budget.
    Iterations,
    /// The solver-time budget.
    Time,
    /// The oracle-call budget.
    OracleCalls,
    /// The gap was reached.
    Gap,
    /// Cancelled from outside (Ctrl-C).
    Cancelled,
}

impl StopReason {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Iterations, Self::Time, Self::OracleCalls, Self::Gap, Self::Cancelled];

    /// The name in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Time => "time",
            Self::OracleCalls => "oracle-calls",
            Self::Gap => "gap",
            Self::Cancelled => "cancelled",
        }
    }
}
