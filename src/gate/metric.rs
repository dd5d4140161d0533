//! What is measured where: the names of cells and metrics, as they stand in baselines and messages.

use std::fmt;

use serde::Deserialize;

use super::Error;
use crate::store::RunRecord;
use ssvm::drive::TracePoint;
use ssvm::ordered_by_key;
use ssvm::settings::total_order;

/// A data set and one setting of a solver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Cell {
    /// As in the config, such as `usps-synth:n=300`.
    pub dataset: String,
    /// With the parameters that are not at their defaults, such as `mp-bcfw (T=5)`, and the oracle cost unless it is 1.
    pub solver: String,
}

impl Cell {
    /// Parses `DATASET SOLVER` or `DATASET/SOLVER`. What follows the name of the solver is its parameters, in brackets, and
    /// the oracle cost. `None` when a name is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let at_cost = text.rsplit_once(" k=").map_or(text, |(cell, _)| cell);
        let params = at_cost.rfind(" (").filter(|_| at_cost.ends_with(')')).unwrap_or(at_cost.len());
        let at = text[..params].rfind([' ', '/']).filter(|at| *at > 0 && at + 1 < params)?;
        Some(Self { dataset: text[..at].to_owned(), solver: text[at + 1..].to_owned() })
    }

    /// Whether an argument names this cell: `DATASET/SOLVER`, the data set perhaps without its parameters.
    pub fn is_named(&self, text: &str) -> bool {
        let head = self.dataset.split(':').next().unwrap_or_default();
        let names = |dataset: &str| {
            let solver = text.strip_prefix(dataset).and_then(|rest| rest.strip_prefix(['/', ' ']));
            solver == Some(self.solver.as_str())
        };
        names(&self.dataset) || names(head)
    }
}

impl TryFrom<String> for Cell {
    type Error = Error;
    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text).ok_or(Error::NotACell(text))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.dataset, self.solver))
    }
}

/// What is read from an evaluation; the names are those of the trace columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    OracleCalls,
    ApproxSteps,
    ApproxPasses,
    PlanesMean,
    TimeS,
    CpuS,
    Primal,
    Dual,
}

impl Quantity {
    /// What is read on the way to each gap.
    pub const COSTS: [Self; 5] =
        [Self::OracleCalls, Self::ApproxSteps, Self::ApproxPasses, Self::PlanesMean, Self::TimeS];
    /// What is read at the end: a change in either direction means changed iterates.
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

/// A quantity at the first evaluation with a gap at or below this one; at the last evaluation without one. In the order of a
/// run: wide gaps first, the end last.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub gap: Option<f64>,
    pub quantity: Quantity,
}

ordered_by_key!(Metric);

impl Metric {
    fn key(self) -> (i64, Quantity) {
        (self.gap.map_or(i64::MAX, |gap| -total_order(gap)), self.quantity)
    }

    /// `None` when the run does not reach the gap.
    pub fn read(self, record: &RunRecord) -> Option<f64> {
        let point = match self.gap {
            Some(gap) => record.points().iter().find(|point| point.gap <= gap),
            None => record.points().last(),
        };
        point.map(|point| self.quantity.read(point))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gap {
            Some(gap) => f.pad(&format!("{} to gap {gap}", self.quantity.name())),
            None => f.pad(&format!("{} at the end", self.quantity.name())),
        }
    }
}
