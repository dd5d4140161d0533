//! What is measured where: the names of cells and metrics, as they stand in baselines and messages.

use std::fmt;

use ssvm::ordered_by_key;
use ssvm::settings::total_order;

/// A data set and one setting of a solver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Data set name as in the config, such as `usps-synth:n=300`.
    pub dataset: String,
    /// The solver with the parameters that are not at their defaults, such as `mp-bcfw (T=5)`.
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

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.dataset, self.solver))
    }
}

/// When a quantity is read. In the order of a run: wide gaps first, the end last.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// At the first evaluation with a gap at or below this.
    Gap(f64),
    /// At the last evaluation.
    End,
}

ordered_by_key!(Place);

impl Place {
    fn key(self) -> i64 {
        match self {
            Self::Gap(gap) => -total_order(gap),
            Self::End => i64::MAX,
        }
    }
}

/// What is read from an evaluation; the names are those of the trace columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Exact oracle calls so far.
    OracleCalls,
    /// Approximate steps so far.
    ApproxSteps,
    /// Approximate passes so far.
    ApproxPasses,
    /// Mean working-set size per term.
    PlanesMean,
    /// Solver time so far, on the run's clock.
    TimeS,
    /// CPU time of solver work so far.
    CpuS,
    /// P at the returned vector.
    Primal,
    /// Best F.
    Dual,
}

impl Quantity {
    /// What is read on the way to each gap.
    pub const COSTS: [Self; 5] =
        [Self::OracleCalls, Self::ApproxSteps, Self::ApproxPasses, Self::PlanesMean, Self::TimeS];
    /// What is read at the end.
    pub const OBJECTIVES: [Self; 2] = [Self::Primal, Self::Dual];

    /// The name of the trace column.
    pub fn name(self) -> &'static str {
        match self {
            Self::OracleCalls => "oracle_calls",
            Self::ApproxSteps => "approx_steps",
            Self::ApproxPasses => "approx_passes",
            Self::PlanesMean => "planes_mean",
            Self::TimeS => "time_s",
            Self::CpuS => "cpu_s",
            Self::Primal => "primal",
            Self::Dual => "dual",
        }
    }

    /// The unit, for tools that show one.
    pub fn unit(self) -> &'static str {
        match self {
            Self::OracleCalls => "calls",
            Self::ApproxSteps => "steps",
            Self::ApproxPasses => "passes",
            Self::PlanesMean => "planes",
            Self::TimeS | Self::CpuS => "s",
            Self::Primal | Self::Dual => "objective",
        }
    }

    /// Whether this is a value of the objective, where a change in either direction means changed iterates.
    pub fn is_objective(self) -> bool {
        Self::OBJECTIVES.contains(&self)
    }
}

/// A quantity at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    /// Where.
    pub place: Place,
    /// What.
    pub quantity: Quantity,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Gap(gap) => f.pad(&format!("{} to gap {gap}", self.quantity.name())),
            Place::End => f.pad(&format!("{} at the end", self.quantity.name())),
        }
    }
}
