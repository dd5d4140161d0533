//! What is measured where: the names of cells and metrics, as they stand in baselines and messages.

use std::cmp::Ordering;
use std::fmt;

/// A data set and one setting of a solver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Data set name as in the config, such as `usps-synth:n=300`.
    pub dataset: String,
    /// The solver with the parameters that are not at their defaults, such as `mp-bcfw (T=5)`.
    pub solver: String,
}

impl Cell {
    /// Understands `DATASET SOLVER` and `DATASET/SOLVER`, the solver perhaps with parameters in brackets.
    pub fn parse(text: &str) -> Option<Self> {
        // What stands behind the name of the solver: its parameters, the price of the oracle.
        let unpriced = text.rsplit_once(" k=").map_or(text, |(cell, _)| cell);
        let at = unpriced.rfind(" (").filter(|_| unpriced.ends_with(')')).unwrap_or(unpriced.len());
        let (head, params) = text.split_at(at);
        let (dataset, solver) = head.rsplit_once([' ', '/'])?;
        let named = !dataset.is_empty() && !solver.is_empty();
        named.then(|| Self { dataset: dataset.to_owned(), solver: format!("{solver}{params}") })
    }

    /// Whether `text` names this cell: `DATASET/SOLVER`, the data set perhaps without its parameters.
    pub fn is_named(&self, text: &str) -> bool {
        let head = self.dataset.split(':').next().unwrap_or_default();
        Self::parse(text).is_some_and(|other| {
            other.solver == self.solver && (other.dataset == self.dataset || other.dataset == head)
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.dataset, self.solver))
    }
}

/// When a quantity is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// At the first evaluation with a gap at or below this.
    Gap(f64),
    /// At the last evaluation.
    End,
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// In the order of a run: wide gaps first, the end last.
impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Gap(a), Self::Gap(b)) => b.total_cmp(a),
            (Self::Gap(_), Self::End) => Ordering::Less,
            (Self::End, Self::Gap(_)) => Ordering::Greater,
            (Self::End, Self::End) => Ordering::Equal,
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

impl Metric {
    /// Understands `0.03 oracle_calls` and `end primal`.
    pub fn parse(text: &str) -> Option<Self> {
        let (place, quantity) = text.split_once(' ')?;
        let place = match place {
            "end" => Place::End,
            gap => Place::Gap(gap.parse().ok().filter(|gap: &f64| gap.is_finite())?),
        };
        let quantity = Quantity::COSTS.into_iter().chain(Quantity::OBJECTIVES).find(|q| q.name() == quantity)?;
        Some(Self { place, quantity })
    }

    /// The inverse of [`Metric::parse`].
    pub fn key(self) -> String {
        match self.place {
            Place::Gap(gap) => format!("{gap} {}", self.quantity.name()),
            Place::End => format!("end {}", self.quantity.name()),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Gap(gap) => f.pad(&format!("{} to gap {gap}", self.quantity.name())),
            Place::End => f.pad(&format!("{} at the end", self.quantity.name())),
        }
    }
}
