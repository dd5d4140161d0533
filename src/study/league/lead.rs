//! The fastest solver on a data set: what each solver spent until one gap, absolute and relative to the fastest.

use serde::{Deserialize, Serialize};

use super::standing::Field;
use super::{Measure, Speedup};
use crate::study::curve::Curve;
use crate::study::estimate::{Estimate, median_of};
use crate::study::paired::{Pace, Target, median_bounds};

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
        // By the ratios that the table shows, which medians over pairs need not order as the medians of each solver do: the one whose
        // worst ratio is best. No other has a ratio below 1 to it, unless they beat each other in a circle.
        let least = Measure::ALL.map(|measure| {
            let reached = |at: &&usize| median(**at, target, measure).is_some();
            let lead = |at: usize, other: usize| {
                let ratios = field.view.log_ratios(at, other, Target::Relative(target), measure);
                let (least, most) = median_bounds(&ratios.into_iter().map(|(_, ratio)| ratio).collect::<Vec<_>>());
                if most.is_finite() { f64::midpoint(least, most) } else { least }
            };
            let worst = |at: usize| {
                let others = field.series.iter().filter(|other| **other != at).filter(reached);
                let leads = others.map(|other| lead(at, *other)).filter(|lead| !lead.is_nan());
                (at, leads.fold(f64::INFINITY, f64::min))
            };
            let leads: Vec<(usize, f64)> = field.series.iter().filter(reached).map(|at| worst(*at)).collect();
            let best = leads.iter().map(|(_, lead)| *lead).fold(f64::NEG_INFINITY, f64::max);
            leads.into_iter().find(|(_, lead)| *lead >= best).map(|(at, _)| at)
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
        let ratio = |row: &LeadRow| {
            let LeadCost { spent, over_least, least } = &row.costs[0];
            match over_least.and_then(|ratio| ratio.middle()).filter(|_| spent.is_some()) {
                _ if *least => 0.0,
                ratio => ratio.unwrap_or(f64::INFINITY),
            }
        };
        rows.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        Some(Self { target, rows })
    }
}
