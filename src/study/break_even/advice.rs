//! Recommends a solver for an oracle latency: a data set of the table and an oracle cost → every solver's time over that of BCFW, and
//! the fastest solver.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{BreakEvenRow, BreakEvenSet, REFERENCE};
use crate::study::claims::thresholds::Bar;
use crate::study::paired::Paired;
use ssvm::settings::total_order;
use ssvm::stats::portable::{exp, ln};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostGiven {
    /// Seconds of one call.
    Call(f64),
    /// BCFW's share of time in it.
    Share(f64),
    Factor(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    pub dataset: String,
    pub clock: String,
    pub title: String,
    /// The reason if no solver is called the fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<String>,
    #[serde(rename = "price")]
    pub cost: f64,
    /// The oracle cost at which the table was read: that of the nearest end if the requested cost is outside the table.
    pub read_at: f64,
    pub call_s: f64,
    pub share: f64,
    pub targets: Vec<Choice>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    pub target: f64,
    /// The solvers that reached the gap, the fastest first; then those that ended before.
    pub solvers: Vec<Candidate>,
    /// The solvers that reached the gap and that no other clearly beats, in that order: at this oracle cost where it was run,
    /// otherwise at the next one below or above.
    pub fastest: Vec<String>,
    /// The number of other solvers that ended before the gap and cannot be shown to be slower.
    #[serde(default)]
    pub ended: usize,
    /// The oracle costs of the runs behind this verdict.
    pub judged_at: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub solver: String,
    pub display: String,
    /// Its time over that of BCFW.
    pub ratio: Paired,
}

impl Candidate {
    /// Whether its runs ended before the gap: nothing bounds its time from above.
    pub fn ended_before(&self) -> bool {
        self.ratio.most.is_none()
    }
}

pub fn advise(set: &BreakEvenSet, given: CostGiven) -> Advice {
    let cost = match given {
        CostGiven::Call(seconds) => seconds / set.call_s,
        CostGiven::Share(share) => set.cost_of_share(share),
        CostGiven::Factor(cost) => cost,
    };
    let ends = (set.costs.first().copied().unwrap_or(cost), set.costs.last().copied().unwrap_or(cost));
    let read_at = cost.clamp(ends.0, ends.1);
    let odds = cost * set.share / (1.0 - set.share);
    let beyond = is_beyond(cost, read_at);
    Advice {
        dataset: set.dataset.clone(),
        clock: set.clock.clone(),
        title: set.title.clone(),
        busy: set.busy.clone(),
        cost,
        read_at,
        call_s: cost * set.call_s,
        share: odds / (1.0 + odds),
        targets: set.targets.iter().map(|target| choice(set, *target, read_at, beyond)).collect(),
    }
}

/// Whether an oracle cost lies beyond the table, where nothing was run and ratios keep changing.
fn is_beyond(cost: f64, read_at: f64) -> bool {
    cost.max(read_at) > Bar::TableEnd.value() * cost.min(read_at)
}

impl Advice {
    pub fn is_beyond(&self) -> bool {
        is_beyond(self.cost, self.read_at)
    }
}

fn choice(set: &BreakEvenSet, target: f64, cost: f64, beyond: bool) -> Choice {
    let one = Some(1.0);
    let pairs = set.rows.iter().map(|row| row.pairs).max().unwrap_or(0);
    let own = Paired { least: one, most: one, low: one, high: one, pairs, busy: false };
    let mut solvers = vec![Candidate { solver: REFERENCE.to_owned(), display: "BCFW".to_owned(), ratio: own }];
    let near = neighbours(&set.costs, cost);
    for row in set.rows.iter().filter(|row| row.target == target) {
        if let Some(ratio) = near.and_then(|near| between(set, row, near, cost)) {
            solvers.push(Candidate { solver: row.solver.clone(), display: row.display.clone(), ratio });
        }
    }
    let value = |one: &Candidate| one.ratio.estimate().map_or(f64::INFINITY, |estimate| estimate.value);
    solvers.sort_by_key(|one| (one.ended_before(), total_order(value(one))));
    let mut places = near.map_or(Vec::new(), |(before, after)| vec![before, after]);
    places.dedup();
    let at = set.targets.iter().position(|known| *known == target);
    let near_cost = |all: &[Vec<Vec<String>>]| {
        let costs = at.and_then(|at| all.get(at)).into_iter();
        let names = costs.flat_map(|costs| places.iter().filter_map(|place| costs.get(*place))).flatten().cloned();
        names.collect::<BTreeSet<String>>()
    };
    let (unbeaten, ended) = (near_cost(&set.fastest), near_cost(&set.ended));
    let reached = |one: &&Candidate| unbeaten.contains(&one.solver) && !ended.contains(&one.solver);
    let fastest = solvers.iter().filter(|one| !beyond && reached(one)).map(|one| one.solver.clone()).collect();
    let judged_at = places.iter().map(|place| set.costs[*place]).collect();
    Choice { target, fastest, ended: ended.len(), judged_at, solvers }
}

/// The places of the oracle costs of the table below and above one; the same twice where it is one of them.
fn neighbours(costs: &[f64], cost: f64) -> Option<(usize, usize)> {
    let after = costs.partition_point(|known| *known < cost).min(costs.len().checked_sub(1)?);
    Some((if costs[after] == cost { after } else { after.saturating_sub(1) }, after))
}

/// The ratio at an oracle cost between two costs of the table: linear in logarithms, unknown if one of the two is.
fn between(set: &BreakEvenSet, row: &BreakEvenRow, (before, after): (usize, usize), cost: f64) -> Option<Paired> {
    let (a, b) = (row.ratios[before]?, row.ratios[after]?);
    let (from, to) = (set.costs[before], set.costs[after]);
    let part = if before == after { 0.0 } else { ln(cost / from) / ln(to / from) };
    let mix = |a: Option<f64>, b: Option<f64>| Some(exp(ln(a?) + part * (ln(b?) - ln(a?))));
    let mixed = Paired {
        least: mix(a.least, b.least),
        most: mix(a.most, b.most),
        low: mix(a.low, b.low),
        high: mix(a.high, b.high),
        pairs: a.pairs.min(b.pairs),
        busy: a.busy || b.busy,
    };
    mixed.least.or(mixed.most).map(|_| mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> BreakEvenSet {
        let estimate = |value: f64| {
            let (median, low, high) = (Some(value), Some(0.9 * value), Some(1.1 * value));
            Some(Paired { least: median, most: median, low, high, pairs: 5, busy: false })
        };
        let row = |solver: &str, values: [f64; 3]| BreakEvenRow {
            solver: solver.to_owned(),
            display: solver.to_owned(),
            target: 0.01,
            pairs: 5,
            ratios: values.map(estimate).to_vec(),
            crossings: Vec::new(),
        };
        BreakEvenSet {
            dataset: "d".to_owned(),
            title: "D".to_owned(),
            clock: "virtual".to_owned(),
            busy: None,
            costs: vec![1.0, 4.0, 16.0],
            call_s: 1e-3,
            share: 0.5,
            paper_share: Some(0.75),
            reached: 0.005,
            targets: vec![0.01],
            fastest: vec![
                [&["b", "bcfw"][..], &["a"], &["a"]].map(|n| n.iter().map(|n| (*n).to_owned()).collect()).to_vec(),
            ],
            ended: Vec::new(),
            rows: vec![row("a", [2.0, 1.0, 0.5]), row("b", [0.98, 0.96, 0.94])],
        }
    }

    #[test]
    fn a_slow_oracle_and_a_large_share_are_the_same_cost() {
        let by = |known| advise(&set(), known);
        assert_eq!(by(CostGiven::Call(3e-3)).cost, 3.0);
        assert!(
            (by(CostGiven::Share(0.75)).cost - 3.0).abs() < 1e-12
                && (by(CostGiven::Call(3e-3)).share - 0.75).abs() < 1e-12
        );
        assert_eq!(set().paper_cost(), Some(3.0));
    }

    #[test]
    fn the_fastest_at_a_cost_is_first_and_ties_are_named() {
        let at = |cost| advise(&set(), CostGiven::Factor(cost)).targets.remove(0);
        let names = |choice: &Choice| choice.solvers.iter().map(|c| c.solver.clone()).collect::<Vec<_>>();
        let slow = at(16.0);
        assert_eq!(
            (names(&slow), &slow.fastest[..]),
            (vec!["a".into(), "b".into(), "bcfw".into()], &["a".to_owned()][..])
        );
        let cheap = at(1.0);
        assert_eq!((names(&cheap), cheap.fastest.len()), (vec!["b".into(), "bcfw".into(), "a".into()], 2));
        assert!((at(8.0).solvers[0].ratio.exact().unwrap() - 0.5f64.sqrt()).abs() < 1e-12, "straight in logarithms");
        // Between two costs those that are unbeaten at either of them.
        let two = at(2.0);
        assert_eq!((two.fastest.len(), &two.judged_at[..]), (3, &[1.0, 4.0][..]));
        let beyond = advise(&set(), CostGiven::Factor(1000.0));
        assert_eq!((beyond.cost, beyond.read_at), (1000.0, 16.0));
    }

    #[test]
    fn bounds_rank_after_exact_ratios_whatever_their_size() {
        let mut set = set();
        let bound = Paired { least: Some(0.211), low: Some(0.2), pairs: 5, ..Paired::default() };
        set.rows[0].ratios = vec![Some(bound); 3];
        set.rows[1].ratios[0] = Some(Paired { least: Some(0.244), most: Some(0.244), pairs: 5, ..Paired::default() });
        let choice = advise(&set, CostGiven::Factor(1.0)).targets.remove(0);
        let names: Vec<&str> = choice.solvers.iter().map(|one| one.solver.as_str()).collect();
        assert_eq!(names, ["b", "bcfw", "a"]);
        assert_eq!(choice.solvers[2].ratio.text(), "≥0.211× (from 0.200)");
    }

    #[test]
    fn a_bracket_that_is_closed_on_both_sides_ranks_by_its_middle() {
        let mut set = set();
        let bracket =
            Paired { least: Some(0.199), most: Some(0.207), high: Some(0.248), pairs: 6, ..Paired::default() };
        set.rows[0].ratios[2] = Some(bracket);
        let choice = advise(&set, CostGiven::Factor(16.0)).targets.remove(0);
        let names: Vec<&str> = choice.solvers.iter().map(|one| one.solver.as_str()).collect();
        assert_eq!((names, &choice.fastest[..]), (vec!["a", "b", "bcfw"], &["a".to_owned()][..]));
    }
}
