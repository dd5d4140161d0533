//! Break-even: for each data set, the time of every solver to a few gaps over that of BCFW at several oracle costs, and the costs at
//! which the two are equally fast.
//!
//! A ratio is the median over pairs with one seed, see [`super::paired`]; solvers are compared with each other in the same way.
//! A run that ended before the gap makes a ratio a bound, and crossings are not computed from bounds. Between oracle costs, ratios are
//! interpolated linearly in logarithms.

mod advice;
mod crossing;

pub use advice::{Advice, Choice, CostGiven, advise};
pub use crossing::{Crossing, Sense};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::paired::{LogBounds, Measure, Paired, Target};
use super::{Study, View};
use crate::store::keys::EnvironmentKey;
use crate::text::solver_name;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::problem::Paper;
use ssvm::settings::SolverSpec;
use ssvm::stats::{FEWEST_PAIRS, median};

pub const REFERENCE: &str = Paper::SOLVER;
/// Relative gaps that may be shown, as text, so that each is the nearest number.
const TARGETS: [&str; 13] =
    ["3", "1", "3e-1", "1e-1", "3e-2", "1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "1e-5", "1e-6", "1e-7"];
/// Most of them that are shown: the smallest that BCFW reaches.
const MOST_TARGETS: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakEven {
    /// Per data set with runs of BCFW at two oracle costs or more.
    pub sets: Vec<BreakEvenSet>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakEvenSet {
    pub dataset: String,
    pub title: String,
    pub clock: String,
    /// The reason if nothing is decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<String>,
    /// Oracle costs, rising.
    #[serde(rename = "prices")]
    pub costs: Vec<f64>,
    /// Mean time of an exact call at oracle cost 1, seconds of that clock.
    pub call_s: f64,
    /// The oracle's share of BCFW's time at oracle cost 1.
    pub share: f64,
    pub paper_share: Option<f64>,
    /// The smallest relative gap that BCFW reached, median.
    pub reached: f64,
    /// Relative gaps, falling.
    pub targets: Vec<f64>,
    /// Per solver and gap.
    pub rows: Vec<BreakEvenRow>,
    /// Per gap and oracle cost the fastest solver and those that it does not beat; none when no solver reached the gap.
    #[serde(default)]
    pub fastest: Vec<Vec<Vec<String>>>,
    /// Those of them that did not reach the gap.
    #[serde(default)]
    pub ended: Vec<Vec<Vec<String>>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakEvenRow {
    /// With its parameters.
    pub solver: String,
    pub display: String,
    pub target: f64,
    /// The fewest pairs at an oracle cost that has enough for an interval; the most at any if none has.
    pub pairs: usize,
    /// Per oracle cost: its time over BCFW's; `None` where nothing is known of it.
    pub ratios: Vec<Option<Paired>>,
    pub crossings: Vec<Crossing>,
}

impl BreakEvenSet {
    /// Of solvers with BCFW, over gaps and oracle costs.
    pub fn comparisons(&self) -> usize {
        self.rows.iter().flat_map(|row| &row.ratios).flatten().count()
    }

    /// The oracle cost at which BCFW spends this share of its time in the oracle.
    pub fn cost_of_share(&self, share: f64) -> f64 {
        share / (1.0 - share) * (1.0 - self.share) / self.share
    }

    /// The oracle cost at which BCFW has the paper's share.
    pub fn paper_cost(&self) -> Option<f64> {
        self.paper_share.map(|share| self.cost_of_share(share))
    }
}

impl BreakEven {
    pub fn of(study: &Study) -> Self {
        let Some(view) = &study.all_costs else { return Self::default() };
        let mut sets = Vec::new();
        for dataset in view.datasets() {
            let known = view.bounds_of(dataset).filter(|(low, high)| low.is_finite() && *high > 0.0);
            let Some(floor) = known.map(|(low, high)| (high - low) / high) else { continue };
            // Times that were taken in different environments are not comparable.
            let mut groups: BTreeMap<(ClockKind, &EnvironmentKey), Vec<usize>> = BTreeMap::new();
            for at in view.series_of(dataset) {
                let key = &view.series[at].key;
                groups.entry((key.clock, &key.environment)).or_default().push(at);
            }
            sets.extend(groups.into_values().filter_map(|series| Group { view, series, floor }.set()));
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
    fn set(&self) -> Option<BreakEvenSet> {
        let bcfw = SolverSpec::new(REFERENCE);
        let costs: BTreeSet<OracleCost> =
            self.of_solver(&bcfw).map(|at| self.view.series[at].key.oracle_cost).collect();
        let costs = Vec::from_iter(costs);
        let [least_cost, _, ..] = costs[..] else { return None };
        let cheapest = self.at(&bcfw, least_cost)?;
        let busy = self.view.busy(&self.view.series[self.series[0]].dataset);
        let factors: Vec<f64> = costs.iter().map(|cost| cost.factor()).collect();
        let targets = self.targets(cheapest);
        let mut solvers: Vec<&SolverSpec> = Vec::new();
        for solver in self.series.iter().map(|at| &self.view.series[*at].key.solver) {
            if *solver != bcfw && !solvers.contains(&solver) {
                solvers.push(solver);
            }
        }
        let mut rows = Vec::new();
        for (solver, target) in
            solvers.into_iter().flat_map(|solver| targets.iter().map(move |target| (solver, *target)))
        {
            let pairs = self.pairs(solver, &costs, target);
            let (mut ratios, mut crossings) = crossing::ratios(&factors, &pairs);
            if busy.is_some() {
                ratios.iter_mut().flatten().for_each(|ratio| *ratio = ratio.withheld(true));
                crossings.clear();
            }
            if ratios.iter().any(Option::is_some) {
                let display = SolverSpec { name: solver_name(&solver.name), ..solver.clone() }.to_string();
                let counts = || ratios.iter().flatten().map(|ratio| ratio.pairs);
                let enough = counts().filter(|pairs| *pairs >= FEWEST_PAIRS).min();
                let (solver, pairs) = (solver.to_string(), enough.or_else(|| counts().max()).unwrap_or(0));
                rows.push(BreakEvenRow { solver, display, target, pairs, ratios, crossings });
            }
        }
        let (mut fastest, mut ended) = (Vec::new(), Vec::new());
        for target in &targets {
            let of_target = costs.iter().map(|cost| self.fastest(*cost, *target));
            let (of_target, of_ended): (Vec<_>, Vec<_>) = of_target.unzip();
            fastest.push(of_target);
            ended.push(of_ended);
        }
        let first = &self.view.series[self.series[0]];
        let (call_s, share) = self.at_cost_one(&bcfw);
        let least = self.view.curves(cheapest).iter().map(|c| c.relative.last().copied().unwrap_or(f64::INFINITY));
        Some(BreakEvenSet {
            dataset: first.dataset.clone(),
            title: first.title.clone(),
            clock: first.key.clock.name().to_owned(),
            busy,
            costs: factors,
            call_s,
            share,
            paper_share: first.paper.map(Paper::oracle_share),
            reached: median(&least.collect::<Vec<_>>()),
            fastest,
            ended,
            targets,
            rows,
        })
    }

    fn of_solver(&self, solver: &SolverSpec) -> impl Iterator<Item = usize> {
        self.series.iter().copied().filter(move |at| self.view.series[*at].key.solver == *solver)
    }

    fn at(&self, solver: &SolverSpec, cost: OracleCost) -> Option<usize> {
        self.of_solver(solver).find(|at| self.view.series[*at].key.oracle_cost == cost)
    }

    /// The smallest gaps that more than half of the runs of BCFW reach.
    fn targets(&self, bcfw: usize) -> Vec<f64> {
        let curves = self.view.curves(bcfw);
        let mut targets: Vec<f64> = TARGETS.iter().filter_map(|text| text.parse().ok()).collect();
        targets.retain(|target| {
            let hits = curves.iter().filter(|c| c.reached(Target::Relative(*target), Measure::Time).is_some()).count();
            *target > self.floor && 2 * hits > curves.len()
        });
        targets.split_off(targets.len().saturating_sub(MOST_TARGETS))
    }

    /// The solvers that none beats at an oracle cost, and those of them that did not reach the gap.
    fn fastest(&self, cost: OracleCost, target: f64) -> (Vec<String>, Vec<String>) {
        let at_cost = |at: &usize| self.view.series[*at].key.oracle_cost == cost;
        let rivals: Vec<usize> = self.series.iter().copied().filter(at_cost).collect();
        let fastest = self.view.fastest(&rivals, Target::Relative(target), Measure::Time);
        let is_reached = |at: &usize| self.view.median_spent(*at, Target::Relative(target), Measure::Time).is_some();
        let ended = fastest.iter().copied().filter(|at| !is_reached(at)).collect();
        let names = |series: Vec<usize>| {
            series.into_iter().map(|at| self.view.series[at].key.solver.to_string()).collect::<Vec<String>>()
        };
        (names(fastest), names(ended))
    }

    /// Per seed and oracle cost, bounds of the logarithm of the solver's time over BCFW's; nothing is known where one of them
    /// was not run.
    fn pairs(&self, solver: &SolverSpec, costs: &[OracleCost], target: f64) -> Vec<Vec<LogBounds>> {
        // In the order of the runs, as in every other comparison: the same pairs have the same draws.
        let mut pairs: Vec<(u64, Vec<LogBounds>)> = Vec::new();
        for (place, cost) in costs.iter().enumerate() {
            let both = self.at(&SolverSpec::new(REFERENCE), *cost).zip(self.at(solver, *cost));
            let Some((bcfw, at)) = both else { continue };
            for (seed, bounds) in self.view.log_ratios(bcfw, at, Target::Relative(target), Measure::Time) {
                let known = pairs.iter().position(|(other, _)| *other == seed);
                let at = known.unwrap_or_else(|| {
                    pairs.push((seed, vec![crossing::NOT_RUN; costs.len()]));
                    pairs.len() - 1
                });
                pairs[at].1[place] = bounds;
            }
        }
        pairs.into_iter().map(|(_, pair)| pair).collect()
    }

    /// Seconds of an oracle call and the oracle's share of the time at oracle cost 1, medians over the runs of a solver at all
    /// oracle costs.
    fn at_cost_one(&self, solver: &SolverSpec) -> (f64, f64) {
        let (mut calls, mut shares) = (Vec::new(), Vec::new());
        let records = self.of_solver(solver).flat_map(|at| self.view.records_of(at));
        for record in records.filter(|record| record.measures_oracle()) {
            let Some(last) = record.points().last() else { continue };
            let oracle = last.oracle_time_s / record.settings().oracle_cost.factor();
            calls.push(oracle / last.oracle_calls as f64);
            shares.push(oracle / (last.time_s - last.oracle_time_s + oracle));
        }
        let finite =
            |values: Vec<f64>| median(&values.into_iter().filter(|value| value.is_finite()).collect::<Vec<_>>());
        (finite(calls), finite(shares))
    }
}
