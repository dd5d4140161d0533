//! Break-even: for each data set the time of every solver to a few gaps over that of BCFW, at several oracle costs, and the
//! costs at which the two are equally fast.
//!
//! A ratio is the median over pairs with one seed, see [`super::paired`]. A run that ended before the gap makes it a bound, and
//! no crossing is read from bounds. Between oracle costs logarithms are straight.

mod advice;
mod crossing;

pub use advice::{Advice, Place, advise};
pub use crossing::{Bound, Crossing, Ratio, Sense};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::paired::{LogBounds, Measure, Target};
use super::{Study, View};
use crate::store::keys::EnvironmentKey;
use crate::text::solver_name;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::problem::Paper;
use ssvm::settings::SolverSpec;
use ssvm::stats::median;

/// The solver that all others are divided by.
pub const REFERENCE: &str = Paper::SOLVER;
/// Relative gaps that may be shown, as text, so that each is the nearest number.
const TARGETS: [&str; 13] =
    ["3", "1", "3e-1", "1e-1", "3e-2", "1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "1e-5", "1e-6", "1e-7"];
/// Most of them that are shown: the smallest that BCFW reaches.
const MOST_TARGETS: usize = 3;

/// What a result folder says about oracle costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakEven {
    /// Per data set with runs of BCFW at two oracle costs or more.
    pub sets: Vec<BreakEvenSet>,
}

/// One data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakEvenSet {
    /// Its name.
    pub dataset: String,
    /// Its heading.
    pub title: String,
    /// Clock of the times.
    pub clock: String,
    /// Oracle costs, rising.
    pub prices: Vec<f64>,
    /// Mean time of an exact call at oracle cost 1, seconds of that clock.
    pub call_s: f64,
    /// The oracle's share of BCFW's time at oracle cost 1.
    pub share: f64,
    /// The share in the paper.
    pub paper_share: Option<f64>,
    /// The smallest relative gap that BCFW reached, median.
    pub reached: f64,
    /// The relative gaps, falling.
    pub targets: Vec<f64>,
    /// Per solver and gap.
    pub rows: Vec<BreakEvenRow>,
}

/// One solver at one gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakEvenRow {
    /// The solver with its parameters.
    pub solver: String,
    /// The same as figures print it.
    pub display: String,
    /// Relative gap.
    pub target: f64,
    /// Pairs of runs with one seed.
    pub pairs: usize,
    /// Per oracle cost: its time over BCFW's; `None` where nothing is known of it.
    pub ratios: Vec<Option<Ratio>>,
    /// Where it becomes faster or slower than BCFW as the oracle cost rises.
    pub crossings: Vec<Crossing>,
}

impl BreakEvenSet {
    /// The oracle cost at which BCFW spends this share of its time in the oracle.
    pub fn price_of_share(&self, share: f64) -> f64 {
        share / (1.0 - share) * (1.0 - self.share) / self.share
    }

    /// The oracle cost at which it has the paper's share.
    pub fn paper_price(&self) -> Option<f64> {
        self.paper_share.map(|share| self.price_of_share(share))
    }
}

impl BreakEven {
    /// Of a study.
    pub fn of(study: &Study) -> Self {
        let Some(view) = &study.all_costs else { return Self::default() };
        let mut sets = Vec::new();
        for dataset in view.datasets() {
            // Times that were taken in different environments are not comparable.
            let mut groups: BTreeMap<(ClockKind, Option<&EnvironmentKey>), Vec<usize>> = BTreeMap::new();
            for at in view.series_of(dataset) {
                let key = &view.series[at].key;
                groups.entry((key.clock, key.environment.as_ref())).or_default().push(at);
            }
            let known = view.bounds_of(dataset).filter(|(low, high)| low.is_finite() && *high > 0.0);
            let floor = known.map(|(low, high)| (high - low) / high);
            let tables = groups.into_values().filter_map(|series| Group { view, series, floor: floor? }.priced());
            sets.extend(tables);
        }
        Self { sets }
    }
}

/// The series of one data set on one clock in one environment.
struct Group<'a> {
    view: &'a View,
    series: Vec<usize>,
    /// Relative width of the bounds of the optimum: gaps below it mean nothing.
    floor: f64,
}

impl Group<'_> {
    fn priced(&self) -> Option<BreakEvenSet> {
        let reference = SolverSpec::new(REFERENCE);
        let costs: BTreeSet<OracleCost> =
            self.of_solver(&reference).map(|at| self.view.series[at].key.oracle_cost).collect();
        let (costs, first) = (Vec::from_iter(costs), &self.view.series[*self.series.first()?]);
        let cheapest = self.at(&reference, *costs.first().filter(|_| costs.len() > 1)?)?;
        let targets = self.targets(cheapest);
        let mut solvers: Vec<&SolverSpec> = Vec::new();
        for solver in self.series.iter().map(|at| &self.view.series[*at].key.solver) {
            if *solver != reference && !solvers.contains(&solver) {
                solvers.push(solver);
            }
        }
        let prices: Vec<f64> = costs.iter().map(|cost| cost.factor()).collect();
        let mut rows = Vec::new();
        for solver in solvers {
            for target in &targets {
                let pairs = self.pairs(solver, &costs, *target);
                let (ratios, crossings) = crossing::ratios(&prices, &pairs);
                if ratios.iter().any(Option::is_some) {
                    let named = SolverSpec { name: solver_name(&solver.name), ..solver.clone() };
                    let (display, pairs) = (named.to_string(), pairs.len());
                    rows.push(BreakEvenRow {
                        solver: solver.to_string(),
                        display,
                        target: *target,
                        pairs,
                        ratios,
                        crossings,
                    });
                }
            }
        }
        let least = |c: &super::curve::Curve| c.relative.last().copied().unwrap_or(f64::INFINITY);
        Some(BreakEvenSet {
            dataset: first.dataset.clone(),
            title: first.title.clone(),
            clock: first.key.clock.name().to_owned(),
            prices,
            call_s: self.at_cost_one(|_, oracle, calls| oracle / calls),
            share: self.at_cost_one(|time, oracle, _| oracle / time),
            paper_share: first.paper.map(Paper::oracle_share),
            reached: median(&self.view.curves(cheapest).iter().map(least).collect::<Vec<_>>()),
            targets,
            rows,
        })
    }

    fn of_solver(&self, solver: &SolverSpec) -> impl Iterator<Item = usize> {
        self.series.iter().copied().filter(move |at| self.view.series[*at].key.solver == *solver)
    }

    /// The series of a solver at an oracle cost.
    fn at(&self, solver: &SolverSpec, cost: OracleCost) -> Option<usize> {
        self.of_solver(solver).find(|at| self.view.series[*at].key.oracle_cost == cost)
    }

    /// The smallest gaps that more than half of the runs of BCFW reach.
    fn targets(&self, bcfw: usize) -> Vec<f64> {
        let curves = self.view.curves(bcfw);
        let reached = |target: &f64| {
            let hits = curves.iter().filter(|c| c.reached(Target::Relative(*target), Measure::Time).is_some()).count();
            *target > self.floor && 2 * hits > curves.len()
        };
        let all: Vec<f64> = TARGETS.iter().filter_map(|text| text.parse().ok()).filter(reached).collect();
        all[all.len().saturating_sub(MOST_TARGETS)..].to_vec()
    }

    /// Per seed and oracle cost, bounds of the logarithm of the solver's time over BCFW's; nothing is known where one of them
    /// was not run.
    fn pairs(&self, solver: &SolverSpec, costs: &[OracleCost], target: f64) -> Vec<Vec<LogBounds>> {
        let mut pairs: BTreeMap<u64, Vec<LogBounds>> = BTreeMap::new();
        for (place, cost) in costs.iter().enumerate() {
            let both = self.at(&SolverSpec::new(REFERENCE), *cost).zip(self.at(solver, *cost));
            let Some((bcfw, at)) = both else { continue };
            for (seed, bounds) in self.view.log_ratios(bcfw, at, Target::Relative(target), Measure::Time) {
                pairs.entry(seed).or_insert_with(|| vec![crossing::NOT_RUN; costs.len()])[place] = bounds;
            }
        }
        pairs.into_values().collect()
    }

    /// Median over the runs of BCFW of something made of its time, its time in the oracle, both as if an oracle call cost what
    /// it does, and its oracle calls.
    fn at_cost_one(&self, value: fn(f64, f64, f64) -> f64) -> f64 {
        let bcfw = SolverSpec::new(REFERENCE);
        let runs = self.of_solver(&bcfw).flat_map(|at| self.view.records_of(at));
        let values = runs.filter_map(|record| {
            let (last, k) = (record.points().last()?, record.settings().oracle_cost.factor());
            let oracle = last.oracle_time_s / k;
            Some(value(last.time_s - last.oracle_time_s + oracle, oracle, last.oracle_calls as f64))
        });
        median(&values.filter(|value| value.is_finite()).collect::<Vec<_>>())
    }
}
