//! The league: per data set, what every solver spent until relative gaps of the certified optimum, how it compares with the
//! reference and with every other solver, the winner at each gap, and the statistics over all gaps (distribution, area over the
//! curve, performance profile).
//!
//! The relative gap of a run is (best P so far − B_lo) / B_up, with the bounds of the optimum from the store and from the
//! duals of all runs, never the best run of the folder: where the bounds are further apart than a target, no solver is
//! compared at it. A verdict requires an interval over pairs that does not contain 1. In a matrix all intervals are
//! simultaneous, and a verdict over several data sets requires the same verdict on each of them.

mod lead;
pub mod profile;
mod standing;

pub use super::paired::{Measure, Paired as Speedup};
pub use lead::{Lead, LeadCost, LeadRow};
pub use profile::{Profile, ProfileLine};

use serde::{Deserialize, Serialize};

use super::View;
use super::estimate::{Estimate, Sampling};
use super::paired::{LogBounds, Pace, simultaneous};
use ssvm::clock::OracleCost;
use standing::Field;

pub const REFERENCE: &str = "mp-bcfw";
/// The relative gaps of the tables, as text, so that each is the nearest number.
const TARGETS: [&str; 7] = ["1", "1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6"];
/// The gaps in between that the distribution over targets uses in addition.
const BETWEEN: [&str; 6] = ["3e-1", "3e-2", "3e-3", "3e-4", "3e-5", "3e-6"];

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct League {
    pub standings: Vec<Standing>,
    pub matrices: Vec<Matrix>,
    #[serde(default)]
    pub profiles: Vec<Profile>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    pub dataset: String,
    pub title: String,
    pub clock: String,
    /// Whether it is no data set of the paper, or one of its solvers is not the library's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// The oracle cost of its runs; `None` when the data set was run at no other.
    #[serde(default)]
    pub oracle_cost: Option<OracleCost>,
    /// Why nothing is decided about it, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<String>,
    /// Bounds of its optimum; `None` when one of them is not known.
    pub optimum: Option<(f64, f64)>,
    /// Relative gaps that are compared, falling.
    pub targets: Vec<f64>,
    /// Relative gaps that are not compared, because the bounds of the optimum are further apart.
    pub too_small: Vec<f64>,
    pub members: Vec<Member>,
    pub winners: Vec<Vec<Winner>>,
    pub matrices: Vec<Matrix>,
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// `None` when no gap is reached by enough solvers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub label: String,
    pub display: String,
    /// Runs, failed ones included.
    pub runs: usize,
    pub reference: bool,
    pub has_dual: bool,
    /// Most memory of products between planes that a run of it kept, bytes.
    #[serde(default)]
    pub cached_bytes: u64,
    pub scores: Vec<Score>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub cells: Vec<TargetCell>,
    /// Area over the convergence curve: mean over log-cost of how far down the run is, 0 at a relative gap of 1, 1 at
    /// the smallest gap that is compared. The same stretch of the axis for all solvers of the data set.
    pub area: Option<Estimate>,
    /// The share of all pairs of target and run that was reached.
    #[serde(default)]
    pub share: Option<f64>,
    /// What was spent when half of all pairs were reached; `None` when they never were.
    #[serde(default)]
    pub half: Option<f64>,
    #[serde(skip)]
    pub hits: Vec<f64>,
    #[serde(skip)]
    pub tries: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetCell {
    pub reached: usize,
    /// Median of what the runs spent, infinite for one that did not reach it; `None` when that is infinite.
    pub median: Option<f64>,
    /// Expected running time: what all runs spent, including those that did not reach it, over the number of runs that did.
    pub ert: Option<f64>,
    /// How many times as fast as the reference.
    pub speedup: Option<Speedup>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Winner {
    /// Its intervals against all other solvers exclude 1.
    One(String),
    /// The least median, and those that it does not beat clearly.
    Undecided(Vec<String>),
    /// No solver reaches it in the median.
    #[serde(rename = "nobody")]
    NotReached,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    pub names: Vec<String>,
    /// Row by row right of the diagonal: how many times as fast the solver of the row is as that of the column.
    upper: Vec<Option<Speedup>>,
}

/// The comparison of two solvers over the gaps of some data sets.
#[derive(Default)]
struct Compared {
    /// Per data set and pair of runs the median over gaps of the logarithm of their ratio.
    groups: Vec<Vec<LogBounds>>,
    /// Whether only one of them reaches a tighter gap: nothing bounds the ratio there from below, or from above.
    open: [bool; 2],
    /// Whether the machine was busy: it decides nothing.
    busy: bool,
}

/// The decision of each data set about two solvers, by heading. A data set on which they are not compared is undecided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions<'a> {
    pub faster: Vec<&'a str>,
    pub slower: Vec<&'a str>,
    pub undecided: Vec<&'a str>,
    /// On how many of them they are compared.
    pub compared: usize,
}

impl Decisions<'_> {
    /// A verdict over data sets: the one that all of them reach.
    pub fn pace(&self) -> Pace {
        match (self.faster.len(), self.slower.len(), self.undecided.len()) {
            (1.., 0, 0) => Pace::Faster,
            (0, 1.., 0) => Pace::Slower,
            _ => Pace::Undecided,
        }
    }
}

impl Matrix {
    /// The matrix of comparisons, row by row right of the diagonal. Its intervals are simultaneous, because readers look for the marks
    /// that stand out.
    fn new(names: Vec<String>, compared: &[Compared]) -> Self {
        let groups: Vec<_> = compared.iter().map(|one| one.groups.clone()).collect();
        let mut upper = simultaneous(&groups, &Sampling::default());
        for (speedup, Compared { open: [below, above], busy, .. }) in upper.iter_mut().zip(compared) {
            if let Some(speedup) = speedup {
                *speedup = speedup.withheld(*busy);
                speedup.low = speedup.low.filter(|_| !below);
                speedup.high = speedup.high.filter(|_| !above);
            }
        }
        Self { names, upper }
    }

    /// The number of comparisons with simultaneous intervals.
    pub fn comparisons(&self) -> usize {
        self.upper.iter().flatten().filter(|speedup| speedup.least.or(speedup.most).is_some()).count()
    }

    /// The pairs of the comparison that has most.
    pub fn most_pairs(&self) -> Option<usize> {
        self.upper.iter().flatten().map(|speedup| speedup.pairs).max()
    }

    /// How many times as fast the solver of the row is as that of the column; `None` where they have no pair or no
    /// target in common, and on the diagonal.
    pub fn at(&self, row: usize, column: usize) -> Option<Speedup> {
        let n = self.names.len();
        let place = |row: usize, column: usize| row * n - row * (row + 1) / 2 + column - row - 1;
        match row.cmp(&column) {
            std::cmp::Ordering::Less => *self.upper.get(place(row, column))?,
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => (*self.upper.get(place(column, row))?).map(Speedup::inverse),
        }
    }
}

/// Labels and what figures print for them, each once, in the order in which they come.
pub fn distinct<'a>(names: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for (label, display) in names {
        if !found.iter().any(|(known, _)| *known == label) {
            found.push((label, display));
        }
    }
    found
}

impl League {
    pub fn of(view: &View) -> Self {
        let fields: Vec<Field> = view.datasets().iter().map(|dataset| Field::new(view, dataset)).collect();
        Self {
            standings: fields.iter().map(Field::standing).collect(),
            matrices: Measure::ALL.map(|measure| standing::pooled(&fields, measure)).into(),
            profiles: Measure::ALL.map(|measure| profile::of(&fields, measure)).into(),
        }
    }

    /// What each data set decides about two solvers of the matrix over all of them.
    pub fn decisions(&self, measure: Measure, row: &str, column: &str) -> Decisions<'_> {
        let mut decisions = Decisions::default();
        for standing in &self.standings {
            let Some(matrix) = standing.matrices.get(measure as usize) else { continue };
            let place = |name: &str| matrix.names.iter().position(|known| known == name);
            let speedup = place(row).zip(place(column)).and_then(|(row, column)| matrix.at(row, column));
            decisions.compared += usize::from(speedup.is_some_and(|speedup| speedup.least.or(speedup.most).is_some()));
            match speedup.map_or(Pace::Undecided, |speedup| speedup.pace()) {
                Pace::Faster => decisions.faster.push(&standing.title),
                Pace::Slower => decisions.slower.push(&standing.title),
                Pace::Undecided => decisions.undecided.push(&standing.title),
            }
        }
        decisions
    }

    pub fn is_empty(&self) -> bool {
        self.standings.iter().all(|standing| standing.targets.is_empty() || standing.members.len() < 2)
    }

    /// Only the data sets whose name or heading is among these; all of them when there is none.
    #[must_use]
    pub fn only(mut self, datasets: &[String]) -> Self {
        if !datasets.is_empty() {
            self.standings.retain(|s| datasets.contains(&s.dataset) || datasets.contains(&s.title));
            self.matrices.clear();
            self.profiles.clear();
        }
        self
    }
}
