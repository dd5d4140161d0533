//! What is measured where in a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::store::RunRecord;
use ssvm::drive::TracePoint;
use ssvm::ordered_by_key;
use ssvm::settings::total_order;

/// What is read from an evaluation; the names are those of the trace columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceColumn {
    OracleCalls,
    ApproxSteps,
    ApproxPasses,
    PlanesMean,
    TimeS,
    CpuS,
    Primal,
    Dual,
}

impl TraceColumn {
    /// What is read on the way to each gap and at the end: less is better.
    pub const COSTS: [Self; 5] =
        [Self::OracleCalls, Self::ApproxSteps, Self::ApproxPasses, Self::PlanesMean, Self::TimeS];
    /// What is read at the end only: a change in either direction means changed iterates.
    pub const OBJECTIVES: [Self; 2] = [Self::Primal, Self::Dual];

    /// The name of the trace column, the unit, and its value in an evaluation.
    fn facts(self) -> (&'static str, &'static str, fn(&TracePoint) -> f64) {
        match self {
            Self::OracleCalls => ("oracle_calls", "calls", |point| point.oracle_calls as f64),
            Self::ApproxSteps => ("approx_steps", "steps", |point| point.approx_steps as f64),
            Self::ApproxPasses => ("approx_passes", "passes", |point| point.approx_passes as f64),
            Self::PlanesMean => ("planes_mean", "planes", |point| point.planes_mean),
            Self::TimeS => ("time_s", "s", |point| point.time_s),
            Self::CpuS => ("cpu_s", "s", |point| point.cpu_s),
            Self::Primal => ("primal", "objective", |point| point.primal),
            Self::Dual => ("dual", "objective", |point| point.dual),
        }
    }

    pub fn name(self) -> &'static str {
        self.facts().0
    }

    pub fn unit(self) -> &'static str {
        self.facts().1
    }

    pub fn read(self, point: &TracePoint) -> f64 {
        self.facts().2(point)
    }
}

/// A column at the first evaluation with a gap at or below this one; at the last evaluation without one. In the order of a
/// run: wide gaps first, the end last.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub gap: Option<f64>,
    pub column: TraceColumn,
}

ordered_by_key!(Metric);

impl Metric {
    fn key(self) -> (i64, TraceColumn) {
        (self.gap.map_or(i64::MAX, |gap| -total_order(gap)), self.column)
    }

    /// `None` when the run does not reach the gap.
    pub fn read(self, record: &RunRecord) -> Option<f64> {
        let point = match self.gap {
            Some(gap) => record.points().iter().find(|point| point.gap <= gap),
            None => record.points().last(),
        };
        point.map(|point| self.column.read(point))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gap {
            Some(gap) => f.pad(&format!("{} to gap {gap}", self.column.name())),
            None => f.pad(&format!("{} at the end", self.column.name())),
        }
    }
}
