//! The paper's regime: runs at several prices of the oracle in; for each data set of the paper the price at which BCFW spends
//! the paper's share of its time in the oracle, and the price in the folder that is near enough to it, out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::experiment::catalog::Catalog;
use crate::store::RunRecord;
use crate::text::{number, percent};
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::problem::Paper;
use ssvm::stats::median;

/// The solver whose share the paper gives.
const SINGLE: &str = Paper::SOLVER;
/// Runs are in the paper's regime when the odds of BCFW's share are those of the paper's up to this factor.
const NEAR: f64 = 1.6;

/// One data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regime {
    /// Its name.
    pub dataset: String,
    /// Its heading.
    pub title: String,
    /// Clock of the runs that it is about.
    pub clock: ClockKind,
    /// BCFW's share in the paper.
    pub paper_share: f64,
    /// Its share at the oracle's own price, where there are runs at that.
    pub own_share: Option<f64>,
    /// The price at which it has the paper's, from the runs nearest to that.
    pub solved: f64,
    /// The price of the runs that stand for the paper's regime, and BCFW's share at it.
    pub runs: Option<(OracleCost, f64)>,
}

impl Regime {
    /// In words.
    pub fn text(&self) -> String {
        let own = self.own_share.map_or(String::new(), |share| format!(", {} here", percent(share)));
        let runs = match self.runs {
            Some((cost, share)) => format!("runs at k = {cost}, where it spends {}", percent(share)),
            None => format!("no runs near it; oracle_cost = {} makes them", number(self.solved)),
        };
        let (title, paper) = (&self.title, percent(self.paper_share));
        format!(
            "paper's regime of {title}: BCFW spends {paper} of its time in the oracle{own}: k = {}; {runs}",
            number(self.solved)
        )
    }
}

/// The regimes of the data sets that the paper has and BCFW was run on.
pub fn regimes<'r>(records: impl Iterator<Item = &'r RunRecord>, catalog: &dyn Catalog) -> Vec<Regime> {
    let mut shares: BTreeMap<String, BTreeMap<usize, Vec<(OracleCost, f64)>>> = BTreeMap::new();
    for record in records.filter(|r| r.solver() == SINGLE && r.settings().solver.params.is_empty()) {
        if let Some(share) = record.points().last().map(|last| last.oracle_time_s / last.time_s)
            && share > 0.0
            && share < 1.0
        {
            let clock = ClockKind::ALL.iter().position(|clock| *clock == record.settings().clock).unwrap_or(0);
            let of = shares.entry(record.dataset().to_owned()).or_default().entry(clock).or_default();
            of.push((record.settings().oracle_cost, share));
        }
    }
    let odds = |share: f64| share / (1.0 - share);
    let mut regimes = Vec::new();
    for (dataset, clocks) in shares {
        // Shares of different clocks are different things: the first clock with runs at the oracle's own price counts.
        let own = |runs: &Vec<(OracleCost, f64)>| runs.iter().any(|(cost, _)| cost.is_one());
        let of = clocks.iter().find(|(_, runs)| own(runs)).or_else(|| clocks.first_key_value());
        let Some((clock, runs)) = of else { continue };
        let clock = ClockKind::ALL[*clock];
        let Some(paper) = catalog.paper(&dataset) else { continue };
        let mut prices: Vec<OracleCost> = runs.iter().map(|(cost, _)| *cost).collect();
        prices.sort_by(|a, b| a.factor().total_cmp(&b.factor()));
        prices.dedup();
        let share = |price: OracleCost| {
            median(&runs.iter().filter(|(cost, _)| *cost == price).map(|(_, share)| *share).collect::<Vec<_>>())
        };
        let off = |price: OracleCost| odds(paper.oracle_share()) / odds(share(price));
        let far = |price: &OracleCost| off(*price).ln().abs();
        let Some(nearest) = prices.iter().copied().min_by(|a, b| far(a).total_cmp(&far(b))) else { continue };
        regimes.push(Regime {
            title: catalog.title(&dataset).0,
            clock,
            paper_share: paper.oracle_share(),
            own_share: prices.contains(&OracleCost::ONE).then(|| share(OracleCost::ONE)),
            solved: nearest.factor() * off(nearest),
            runs: (far(&nearest) <= NEAR.ln()).then(|| (nearest, share(nearest))),
            dataset,
        });
    }
    regimes.sort_by(|a, b| catalog.dataset_rank(&a.dataset).cmp(&catalog.dataset_rank(&b.dataset)));
    regimes
}
