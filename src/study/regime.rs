//! The paper's regime: for each data set of the paper the oracle cost at which BCFW spends the paper's share of its time in the
//! oracle, and the cost among the runs that is near enough to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::claims::thresholds::{Bar, odds};
use super::names;
use crate::experiment::catalog::Catalog;
use crate::store::RunRecord;
use crate::store::keys::ProblemKey;
use crate::text::{number, percent};
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::problem::Paper;
use ssvm::stats::median;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regime {
    pub dataset: String,
    /// `None` in a summary that was read back.
    #[serde(skip)]
    pub problem: Option<ProblemKey>,
    pub title: String,
    pub clock: ClockKind,
    pub paper_share: f64,
    pub own_share: Option<f64>,
    pub solved: f64,
    /// The oracle cost of the runs that stand for the paper's regime, and BCFW's share at it.
    pub runs: Option<(OracleCost, f64)>,
}

impl Regime {
    pub fn text(&self) -> String {
        let own = self.own_share.map_or(String::new(), |share| format!(", {} here", percent(share)));
        let runs = match self.runs {
            Some((cost, _)) if cost.is_one() => "the runs on this machine are in it".to_owned(),
            Some((cost, share)) => format!("runs at k = {cost}, where it spends {}", percent(share)),
            None => format!("no runs near this share; set oracle_cost = {} to make some", number(self.solved)),
        };
        let (title, paper) = (&self.title, percent(self.paper_share));
        format!(
            "paper's regime of {title}: oracle share of BCFW {paper}{own}; solved k = {}; {runs}",
            number(self.solved)
        )
    }
}

type Shares = BTreeMap<OracleCost, Vec<f64>>;

pub fn regimes<'r>(records: impl Iterator<Item = &'r RunRecord>, catalog: &dyn Catalog) -> Vec<Regime> {
    let mut sets: BTreeMap<_, BTreeMap<usize, Shares>> = BTreeMap::new();
    let is_reference = |r: &&RunRecord| r.solver() == Paper::SOLVER && r.settings().solver.params.is_empty();
    for record in records.filter(is_reference).filter(|record| record.measures_oracle()) {
        let Some(last) = record.points().last() else { continue };
        let share = last.oracle_time_s / last.time_s;
        if share > 0.0 && share < 1.0 {
            let problem = (catalog.dataset_rank(record.dataset()), record.problem());
            let clock = ClockKind::ALL.iter().position(|clock| *clock == record.settings().clock).unwrap_or(0);
            let clocks = sets.entry(problem).or_default();
            let shares = clocks.entry(clock).or_default();
            shares.entry(record.settings().oracle_cost).or_default().push(share);
        }
    }
    let mut regimes = Vec::new();
    for ((_, problem), clocks) in &sets {
        // Shares on different clocks are not comparable, so the first clock with runs at oracle cost 1 is used.
        let own = |(_, shares): &(&usize, &Shares)| shares.contains_key(&OracleCost::ONE);
        let Some((clock, shares)) = clocks.iter().find(own).or_else(|| clocks.first_key_value()) else { continue };
        let Some(paper) = catalog.paper(&problem.dataset) else { continue };
        let off = |cost: &OracleCost| odds(paper.oracle_share()) / odds(median(&shares[cost]));
        let far = |cost: &OracleCost| off(cost).ln().abs();
        let Some(nearest) = shares.keys().min_by(|a, b| far(a).total_cmp(&far(b))) else { continue };
        let (mut title, _) = names::heading(problem, "", catalog);
        if sets.keys().any(|(_, other)| other.dataset == problem.dataset && other != problem) {
            title += &format!(" (lambda={})", problem.lambda);
        }
        regimes.push(Regime {
            dataset: problem.dataset.clone(),
            problem: Some((*problem).clone()),
            title,
            clock: ClockKind::ALL[*clock],
            paper_share: paper.oracle_share(),
            own_share: shares.get(&OracleCost::ONE).map(|shares| median(shares)),
            solved: nearest.factor() * off(nearest),
            // Runs are in the paper's regime when the odds of BCFW's share are about those of the paper's.
            runs: (far(nearest) <= Bar::About.value().ln()).then(|| (*nearest, median(&shares[nearest]))),
        });
    }
    regimes
}
