//! The fastest solver on a data set: what each solver spent until one gap, absolute and relative to the fastest.

use serde::{Deserialize, Serialize};

use super::standing::Field;
use super::{Measure, Speedup};
use crate::study::curve::Curve;
use crate::study::estimate::{Estimate, median_of};
use crate::study::paired::{Pace, Target};

/// What the solvers of a data set spent until the tightest relative gap that at least half of them, and at least two, reach
/// in the median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lead {
    pub target: f64,
    /// The fastest solver first, by time; those that do not reach the gap last.
    pub rows: Vec<LeadRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeadRow {
    pub display: String,
    /// Solver time, then oracle calls.
    pub costs: Vec<LeadCost>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeadCost {
    /// The median over runs of the most that they spent, with its interval; `None` when the gap is not reached in the median.
    pub spent: Option<Estimate>,
    /// Relative to the solver that spent least; `None` for that solver.
    pub over_least: Option<Speedup>,
    /// Whether it is the solver that spent least.
    pub least: bool,
}

impl LeadCost {
    /// Whether it is clearly slower than the fastest; undecided where an interval does not tell.
    pub fn pace(&self) -> Pace {
        self.over_least.map_or(Pace::Undecided, |ratio| ratio.pace_of_spent())
    }
}

impl Lead {
    pub(super) fn of(field: &Field<'_>) -> Option<Self> {
        let median = |at: usize, target: f64, measure| field.view.median_spent(at, Target::Relative(target), measure);
        let common = |target: &f64| {
            let reached = field.series.iter().filter(|at| median(**at, *target, Measure::Time).is_some()).count();
            reached >= 2 && 2 * reached >= field.series.len()
        };
        let target = field.fine.iter().copied().filter(common).reduce(f64::min)?;
        let least = Measure::ALL.map(|measure| {
            let spent = field.series.iter().filter_map(|at| Some((*at, median(*at, target, measure)?)));
            spent.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
        });
        let cost = |at: usize, measure: Measure| {
            let spent: Vec<f64> =
                field.spent(at, measure, target).into_iter().map(|spent| spent.unwrap_or(f64::INFINITY)).collect();
            // Where evaluations are far apart, a run may have been there earlier.
            let earliest = |curve: &Curve| curve.spent(Target::Relative(target), measure).least;
            let low = median_of(&field.view.curves(at).iter().map(earliest).collect::<Vec<_>>()).low;
            let best = least[measure as usize];
            let compare = |best| field.view.compare(best, at, Target::Relative(target), measure);
            LeadCost {
                spent: Some(Estimate { low, ..median_of(&spent) }).filter(|spent| spent.value.is_finite()),
                over_least: best.filter(|best| *best != at).and_then(compare),
                least: best == Some(at),
            }
        };
        let row = |at: &usize| LeadRow {
            display: field.view.series[*at].display.clone(),
            costs: Measure::ALL.map(|measure| cost(*at, measure)).into(),
        };
        let mut rows: Vec<LeadRow> = field.series.iter().map(row).collect();
        let time = |row: &LeadRow| row.costs[0].spent.map_or(f64::INFINITY, |spent| spent.value);
        rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        Some(Self { target, rows })
    }
}
