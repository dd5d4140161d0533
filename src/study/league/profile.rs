//! Performance profiles: how often each solver was within a factor of the best one, and its score.
//!
//! A problem is a target of a data set that a solver reaches in the median; a solver costs the median over its seeds. A profile
//! ranks against the best solver only: with more than two solvers, removing one may reverse the order of two others. It is therefore
//! shown together with the matrix of speed-ups.

use serde::{Deserialize, Serialize};

use super::standing::Field;
use super::{Measure, distinct};
use crate::study::estimate::{Estimate, estimates_of, interval_text};
use crate::study::paired::Spent;
use ssvm::stats::{median, sorted};

/// Beyond this factor of the best, a solver's score is 0.
pub const WORST: f64 = 100.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Problems: pairs of data set and target that a solver reached.
    pub problems: usize,
    pub lines: Vec<ProfileLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileLine {
    pub label: String,
    pub display: String,
    /// Problems of the data sets that it was run on.
    pub problems: usize,
    /// Of those that it solved: what it spent over what the best one did, ascending.
    pub ratios: Vec<f64>,
    /// Mean over the logarithm of the factor, from 1 to [`WORST`], of the share of its problems that it solved within
    /// the factor: 1 when it is always the best. The least that it may be: a problem that it did not solve scores nothing, and its
    /// interval reaches to the upper end of that of [`Self::most`].
    pub score: Estimate,
    /// The largest possible score if runs ended before a target: that of runs that reached it when they ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

impl ProfileLine {
    /// `0.412–0.800 (0.351 to 0.833)`.
    pub fn score_text(&self) -> String {
        let show = |score: f64| format!("{score:.3}");
        let Estimate { value, low, high } = self.score;
        let most = self.most.map_or(String::new(), |most| format!("–{}", show(most)));
        let interval = if low.or(high).is_some() { interval_text(low, high, show) } else { String::new() };
        show(value) + &most + &interval
    }

    pub fn within(&self, factor: f64) -> f64 {
        // A ratio of two equal numbers may be one bit off.
        let solved = self.ratios.partition_point(|ratio| *ratio <= factor * (1.0 + 1e-12));
        solved as f64 / self.problems.max(1) as f64
    }
}

pub(super) struct Costs {
    pub targets: usize,
    pub seeds: usize,
    pub rows: Vec<CostRow>,
}

pub(super) struct CostRow {
    pub label: String,
    pub display: String,
    /// Solvers of one group were timed in the same environment: only these are compared.
    pub group: usize,
    /// Per seed, until each target: at most infinite when it did not reach it, `None` when it was not run with the seed.
    pub spent: Vec<Option<Vec<Spent>>>,
}

impl Costs {
    /// Per target each solver's cost in the median of these seeds over the least of its group, infinite where it does not reach
    /// it, and what that is at least; NaN where no solver of the group reaches it.
    fn ratios(&self, seeds: &[usize]) -> Vec<Vec<Ratio>> {
        let mut all = Vec::new();
        for target in 0..self.targets {
            let mut costs = Vec::new();
            for row in &self.rows {
                let spent: Vec<Spent> =
                    seeds.iter().filter_map(|seed| Some(row.spent[*seed].as_ref()?[target])).collect();
                let typical = |end: fn(&Spent) -> f64| match spent[..] {
                    [] => f64::INFINITY,
                    _ => median(&spent.iter().map(end).collect::<Vec<_>>()),
                };
                costs.push((typical(|spent| spent.most), typical(|spent| spent.least)));
            }
            let best = |group: usize| {
                let of_group = self.rows.iter().zip(&costs).filter(|(row, _)| row.group == group);
                of_group.map(|(_, (cost, _))| *cost).fold(f64::INFINITY, f64::min)
            };
            // Infinity over infinity is NaN.
            let over = self.rows.iter().zip(&costs).map(|(row, (cost, least))| {
                let best = best(row.group).max(f64::MIN_POSITIVE);
                Ratio { cost: cost / best, least: least / best }
            });
            all.push(over.collect());
        }
        all
    }
}

/// What a solver spent over what the best one did.
#[derive(Clone, Copy)]
struct Ratio {
    cost: f64,
    least: f64,
}

/// The position between [`WORST`] times the best (0) and the best (1), in logarithms.
fn credit(ratio: f64) -> f64 {
    if ratio.is_finite() { (1.0 - ratio.max(1.0).ln() / WORST.ln()).max(0.0) } else { 0.0 }
}

/// The profile over the targets of some data sets.
pub(super) fn of(fields: &[Field<'_>], measure: Measure) -> Profile {
    let sets: Vec<Costs> = fields.iter().map(|field| field.costs(measure)).filter(|costs| costs.seeds > 0).collect();
    profile(&sets)
}

fn profile(sets: &[Costs]) -> Profile {
    let rows = sets.iter().flat_map(|set| &set.rows);
    let names = distinct(rows.map(|row| (row.label.as_str(), row.display.as_str())));
    // Of every solver its ratios on all problems of the data sets that it was run on.
    let ratios = |draw: &[Vec<usize>]| -> Vec<Vec<Ratio>> {
        let mut of_solver = vec![Vec::new(); names.len()];
        for (set, draw) in sets.iter().zip(draw) {
            for problem in set.ratios(draw) {
                for (row, ratio) in set.rows.iter().zip(problem).filter(|(_, ratio)| !ratio.cost.is_nan()) {
                    if let Some(solver) = names.iter().position(|(label, _)| *label == row.label) {
                        of_solver[solver].push(ratio);
                    }
                }
            }
        }
        of_solver
    };
    let mean = |ratios: &[Ratio], ratio: fn(&Ratio) -> f64| {
        ratios.iter().map(|one| credit(ratio(one))).sum::<f64>() / ratios.len() as f64
    };
    let sizes: Vec<usize> = sets.iter().map(|set| set.seeds).collect();
    let scores = estimates_of(&sizes, |draw| {
        let of = |ratios: &Vec<Ratio>| [mean(ratios, |ratio| ratio.cost), mean(ratios, |ratio| ratio.least)];
        ratios(draw).iter().flat_map(of).collect()
    });
    let all: Vec<Vec<usize>> = sizes.iter().map(|size| (0..*size).collect()).collect();
    let mut lines = Vec::new();
    for (((label, display), ratios), score) in names.iter().zip(ratios(&all)).zip(scores.chunks_exact(2)) {
        if !ratios.is_empty() {
            let (least, most) = (score[0], score[1]);
            lines.push(ProfileLine {
                label: (*label).to_owned(),
                display: (*display).to_owned(),
                problems: ratios.len(),
                ratios: sorted(ratios.iter().map(|ratio| ratio.cost).filter(|ratio| ratio.is_finite())),
                score: Estimate { high: most.high, ..least },
                most: Some(most.value).filter(|most| *most > least.value),
            });
        }
    }
    let is_problem = |ratios: &Vec<Ratio>| ratios.iter().any(|ratio| !ratio.cost.is_nan());
    let problems = sets.iter().zip(&all).map(|(set, seeds)| set.ratios(seeds).iter().filter(|r| is_problem(r)).count());
    Profile { problems: problems.sum(), lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solvers whose every seed costs the same.
    fn costs(rows: &[(&str, &[f64])], seeds: usize) -> Costs {
        let row = |(name, spent): &(&str, &[f64])| CostRow {
            label: (*name).to_owned(),
            display: name.to_uppercase(),
            group: 0,
            spent: vec![Some(spent.iter().copied().map(Spent::exactly).collect()); seeds],
        };
        Costs { targets: rows[0].1.len(), seeds, rows: rows.iter().map(row).collect() }
    }

    const NEVER: f64 = f64::INFINITY;

    #[test]
    fn shares_and_scores_of_known_costs() {
        let set = costs(&[("a", &[1.0, 20.0, NEVER, NEVER]), ("b", &[10.0, 2.0, 5.0, NEVER])], 5);
        let Profile { problems, lines } = profile(&[set]);
        assert_eq!(problems, 3, "what no solver reaches is no problem");
        let [a, b] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((&a.ratios[..], &b.ratios[..]), (&[1.0, 10.0][..], &[1.0, 1.0, 10.0][..]));
        assert_eq!([a.within(1.0), a.within(10.0), a.within(1e9)], [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
        // Ten times the best is half of the way to a hundred.
        assert!((a.score.value - 0.5).abs() < 1e-12 && (b.score.value - 2.5 / 3.0).abs() < 1e-12);
        assert!(a.score.low.is_some_and(|low| (low - 0.5).abs() < 1e-12), "all seeds are alike: {:?}", a.score);
        let few = profile(&[costs(&[("a", &[1.0])], 4)]);
        assert_eq!((few.lines[0].score.value, few.lines[0].score.low), (1.0, None), "four seeds have no interval");
    }

    #[test]
    fn a_solver_that_ended_too_early_has_a_range() {
        let mut set = costs(&[("a", &[1.0, 1.0]), ("b", &[10.0, NEVER])], 5);
        // To the second target, of which the other one took 1, it spent 10 and was stopped.
        for spent in set.rows[1].spent.iter_mut().flatten() {
            spent[1] = Spent { least: 10.0, most: NEVER };
        }
        let Profile { lines, .. } = profile(&[set]);
        let [a, b] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((a.most, a.score_text().as_str()), (None, "1.000 (1.000 to 1.000)"));
        assert_eq!((b.ratios.len(), b.score_text().as_str()), (1, "0.250–0.500 (0.250 to 0.500)"));
    }

    #[test]
    fn a_solver_is_measured_where_it_was_run() {
        let both = profile(&[costs(&[("a", &[1.0]), ("b", &[2.0])], 2), costs(&[("b", &[3.0, 4.0])], 2)]);
        let of = |label: &str| both.lines.iter().find(|line| line.label == label).unwrap();
        assert_eq!((both.problems, of("a").problems, of("b").problems), (3, 1, 3));
        assert_eq!(of("b").ratios, [1.0, 1.0, 2.0]);
    }

    #[test]
    fn seeds_that_were_not_run_do_not_count_and_failed_ones_do() {
        let mut set = costs(&[("a", &[1.0]), ("b", &[2.0])], 3);
        set.rows[0].spent = [NEVER, NEVER, 1.0].map(|spent| Some(vec![Spent::exactly(spent)])).to_vec();
        set.rows[1].spent[0] = None;
        let Profile { lines, .. } = profile(&[set]);
        assert_eq!((lines[0].ratios.len(), lines[1].ratios.as_slice()), (0, &[1.0][..]));
    }

    #[test]
    fn another_machine_is_no_rival() {
        let mut set = costs(&[("a", &[1.0, 1.0]), ("b", &[7.0, NEVER])], 5);
        set.rows[1].group = 1;
        let Profile { problems, lines } = profile(&[set]);
        assert_eq!((problems, lines[0].problems, lines[1].problems), (2, 2, 1));
        assert_eq!(lines.iter().map(|line| line.score.value).collect::<Vec<_>>(), [1.0, 1.0]);
    }
}
