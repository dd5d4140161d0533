//! The price of the oracle: runs at several prices in; for each data set the time of every solver to a few gaps over that of
//! BCFW, the prices at which they cross, and the price of the paper, out. Pure: printing is elsewhere.
//!
//! A ratio is the median over pairs with one seed; its interval is drawn over pairs. Between prices logarithms are straight.

mod advice;
mod curve;

pub use advice::{Advice, Place, advise};
pub use curve::{Bound, Crossing, Ratio, Sense};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::store::RunRecord;
use crate::study::frame::curve::{Curve, crossing, curves};
use crate::study::frame::load::{Results, View};
use crate::study::frame::{Frames, names};
use ssvm::problem::Paper;
use ssvm::stats::median;

/// The solver that all others are divided by.
pub const REFERENCE: &str = Paper::SOLVER;
/// Relative gaps that may be shown, as text, so that each is the nearest number.
const TARGETS: [&str; 13] =
    ["3", "1", "3e-1", "1e-1", "3e-2", "1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "1e-5", "1e-6", "1e-7"];
/// At most so many of them: the smallest that BCFW reaches.
const MOST_TARGETS: usize = 3;

/// What a result folder says about prices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakEven {
    /// Per data set with runs of BCFW at two prices or more.
    pub sets: Vec<PricedSet>,
}

/// One data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PricedSet {
    /// Its name.
    pub dataset: String,
    /// Its heading.
    pub title: String,
    /// Clock of the times.
    pub clock: String,
    /// Prices, rising.
    pub prices: Vec<f64>,
    /// Mean time of an exact call at price 1, seconds of that clock.
    pub call_s: f64,
    /// The oracle's share of BCFW's time at price 1.
    pub share: f64,
    /// The share in the paper.
    pub paper_share: Option<f64>,
    /// The smallest relative gap that BCFW came to, median.
    pub reached: f64,
    /// The relative gaps, falling.
    pub targets: Vec<f64>,
    /// Per solver and gap.
    pub rows: Vec<PricedRow>,
}

/// One solver at one gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PricedRow {
    /// The solver with its parameters.
    pub solver: String,
    /// The same as figures print it.
    pub display: String,
    /// Relative gap.
    pub target: f64,
    /// Pairs of runs with one seed.
    pub pairs: usize,
    /// Per price: its time over BCFW's; `None` where half of the pairs or more got there on neither side.
    pub ratios: Vec<Option<Ratio>>,
    /// Where it becomes faster or slower than BCFW as the price rises.
    pub crossings: Vec<Crossing>,
}

impl PricedSet {
    /// The price at which BCFW spends this share of its time in the oracle.
    pub fn price_of_share(&self, share: f64) -> f64 {
        share / (1.0 - share) * (1.0 - self.share) / self.share
    }

    /// The price at which it has the paper's share.
    pub fn paper_price(&self) -> Option<f64> {
        self.paper_share.map(|share| self.price_of_share(share))
    }
}

/// What the runs of one solver at one price need until each target, by seed.
type Seeds = BTreeMap<u64, Timed>;

/// What one run needs.
struct Timed {
    /// Until each target.
    reached: Vec<Option<f64>>,
    /// All of its time.
    whole: f64,
}

impl BreakEven {
    /// Of a result folder.
    pub fn of(results: &Results) -> Result<Self> {
        let Some(View { records, frames, .. }) = &results.at_all_prices else { return Ok(Self::default()) };
        let curves = curves(frames)?;
        // Series → a record of it: price, solver and clock are those of all of them.
        let mut of_series: Vec<Option<&RunRecord>> = vec![None; frames.series.len()];
        for (record, series) in records.iter().zip(&frames.of_record) {
            of_series[*series].get_or_insert(record);
        }
        let mut sets = Vec::new();
        for dataset in frames.datasets() {
            // Times that were taken under other circumstances are other times.
            let circumstances = |at: usize| -> Vec<Option<&String>> {
                let keys = names::CIRCUMSTANCES.iter().filter(|key| **key != names::PRICE);
                keys.map(|key| frames.series[at].facts.get(*key)).collect()
            };
            let mut groups: BTreeMap<Vec<Option<&String>>, Vec<(usize, &RunRecord)>> = BTreeMap::new();
            for at in frames.series_of(dataset) {
                if let Some(record) = of_series[at] {
                    groups.entry(circumstances(at)).or_default().push((at, record));
                }
            }
            for series in groups.into_values() {
                let Some(clock) = series.first().map(|(_, record)| record.settings().clock.name()) else { continue };
                let Some((low, high)) = frames.bounds_of(dataset).filter(|(low, high)| low.is_finite() && *high > 0.0)
                else {
                    continue;
                };
                let (scale, floor) = (1.0 / high, (high - low) / high);
                let group = Group { frames, series: &series, curves: &curves, scale, floor };
                let of_bcfw: Vec<&RunRecord> = records
                    .iter()
                    .zip(&frames.of_record)
                    .filter(|(record, at)| is_reference(record) && series.iter().any(|(member, _)| member == *at))
                    .map(|(record, _)| record)
                    .collect();
                let (title, paper) = (frames.title(dataset), frames.paper(dataset));
                sets.extend(group.priced(dataset, title, clock, paper, &of_bcfw));
            }
        }
        Ok(Self { sets })
    }
}

fn is_reference(record: &RunRecord) -> bool {
    record.solver() == REFERENCE && record.settings().solver.params.is_empty()
}

/// The series of one data set on one clock.
struct Group<'a> {
    frames: &'a Frames,
    series: &'a [(usize, &'a RunRecord)],
    curves: &'a [Vec<Curve>],
    /// Turns the distance of the primal to the optimum into a relative gap.
    scale: f64,
    /// Relative gaps below this cannot be told from nothing.
    floor: f64,
}

impl Group<'_> {
    fn priced(
        &self,
        dataset: &str,
        title: &str,
        clock: &str,
        paper: Option<Paper>,
        of_bcfw: &[&RunRecord],
    ) -> Option<PricedSet> {
        let mut prices: Vec<f64> = of_bcfw.iter().map(|record| record.settings().oracle_cost.factor()).collect();
        prices.sort_by(f64::total_cmp);
        prices.dedup();
        if prices.len() < 2 {
            return None;
        }
        let at_one = |value: fn(f64, f64, f64) -> f64| {
            let of = of_bcfw.iter().filter_map(|record| {
                let (last, k) = (record.points().last()?, record.settings().oracle_cost.factor());
                let oracle = last.oracle_time_s / k;
                Some(value(last.time_s - last.oracle_time_s + oracle, oracle, last.oracle_calls as f64))
            });
            median(&of.filter(|value| value.is_finite()).collect::<Vec<_>>())
        };
        let all: Vec<f64> = TARGETS.iter().filter_map(|text| text.parse().ok()).collect();
        let reference = |cost: f64| self.seeds(REFERENCE, cost, &all);
        let (first, prices_first) = (reference(prices[0]), prices[0]);
        let reached = |at: &usize| {
            let hits = first.values().filter(|run| run.reached[*at].is_some()).count();
            all[*at] > self.floor && 2 * hits > first.len()
        };
        let compared: Vec<usize> = (0..all.len()).filter(reached).collect();
        let targets: Vec<f64> =
            compared[compared.len().saturating_sub(MOST_TARGETS)..].iter().map(|at| all[*at]).collect();
        let mut solvers: Vec<String> = Vec::new();
        for (_, record) in self.series {
            let name = record.settings().solver.to_string();
            if name != REFERENCE && !solvers.contains(&name) {
                solvers.push(name);
            }
        }
        let references: Vec<Seeds> = prices.iter().map(|k| self.seeds(REFERENCE, *k, &targets)).collect();
        let mut rows = Vec::new();
        for solver in solvers {
            let runs: Vec<Seeds> = prices.iter().map(|k| self.seeds(&solver, *k, &targets)).collect();
            for (at, target) in targets.iter().enumerate() {
                let pairs = curve::pairs(&runs, &references, at);
                let (ratios, crossings) = curve::ratios(&prices, &pairs);
                if ratios.iter().any(Option::is_some) {
                    let (display, solver) = (self.display(&solver), solver.clone());
                    rows.push(PricedRow { solver, display, target: *target, pairs: pairs.len(), ratios, crossings });
                }
            }
        }
        Some(PricedSet {
            dataset: dataset.to_owned(),
            title: title.to_owned(),
            clock: clock.to_owned(),
            prices,
            call_s: at_one(|_, oracle, calls| oracle / calls),
            share: at_one(|time, oracle, _| oracle / time),
            paper_share: paper.map(Paper::oracle_share),
            reached: self.least(prices_first),
            targets,
            rows,
        })
    }

    /// The smallest relative gap of the runs of BCFW at a price, median.
    fn least(&self, cost: f64) -> f64 {
        let curves = self.curves_of(REFERENCE, cost);
        let least = |curve: &Curve| {
            let tail = curve.tail.map(|tail| tail.primal_sub);
            self.scale * curve.primal_sub.iter().copied().chain(tail).fold(f64::INFINITY, f64::min)
        };
        median(&curves.map(least).collect::<Vec<_>>())
    }

    /// A solver as figures print it, without the price.
    fn display(&self, solver: &str) -> String {
        let is =
            |at: usize| self.frames.series[at].info.as_ref().filter(|info| solver.split(' ').next() == Some(info.name));
        let info = self.series.iter().find_map(|(at, _)| is(*at));
        info.map_or_else(|| solver.to_owned(), |info| solver.replacen(info.name, info.label, 1))
    }

    fn curves_of(&self, solver: &str, cost: f64) -> impl Iterator<Item = &Curve> {
        let of = self.series.iter().filter(move |(_, record)| {
            let settings = record.settings();
            settings.solver.to_string() == solver && settings.oracle_cost.factor() == cost
        });
        of.flat_map(|(at, _)| &self.curves[*at])
    }

    /// The runs of a solver at a price.
    fn seeds(&self, solver: &str, cost: f64, targets: &[f64]) -> Seeds {
        self.curves_of(solver, cost).map(|curve| (curve.seed, self.timed(curve, targets))).collect()
    }

    /// When a run is first at each target.
    fn timed(&self, curve: &Curve, targets: &[f64]) -> Timed {
        let tail = curve.tail.map(|tail| (tail.time_s, tail.primal_sub));
        let points = || curve.time_s.iter().copied().zip(curve.primal_sub.iter().copied()).chain(tail);
        let scaled = || points().map(|(time, value)| (time, self.scale * value));
        let reached = targets.iter().map(|target| crossing(scaled(), *target)).collect();
        Timed { reached, whole: curve.last_time().unwrap_or(f64::NAN) }
    }
}
