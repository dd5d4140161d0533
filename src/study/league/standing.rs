//! One data set: its solvers against the reference and against each other.

use super::profile::{CostRow, Costs};
use super::{
    BETWEEN, Compared, Lead, Matrix, Measure, Member, REFERENCE, Score, Standing, TARGETS, TargetCell, Winner,
    distinct, profile,
};
use crate::study::align::{End, locate};
use crate::study::curve::Curve;
use crate::study::estimate::{Estimate, median_of};
use crate::study::paired::{LogBounds, Spent, Target, median_bounds};
use crate::study::points::Repeats;
use crate::study::{Series, View, targets};
use ssvm::clock::OracleCost;
use ssvm::stats::sorted;

/// The series of one data set.
pub(super) struct Field<'a> {
    pub(super) view: &'a View,
    dataset: &'a str,
    /// Positions in the view.
    pub(super) series: Vec<usize>,
    /// For calls per term.
    terms: f64,
    optimum: Option<(f64, f64)>,
    /// Compared targets of the tables, and those of the distribution.
    targets: Vec<f64>,
    pub(super) fine: Vec<f64>,
    too_small: Vec<f64>,
    /// The reason if nothing is decided.
    busy: Option<String>,
}

impl<'a> Field<'a> {
    pub fn new(view: &'a View, dataset: &'a str) -> Self {
        let known = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && *high > 0.0;
        let optimum = view.bounds_of(dataset).filter(known);
        let width = optimum.map_or(f64::INFINITY, |(low, high)| (high - low) / high);
        let numbers = |texts: &[&str]| texts.iter().filter_map(|text| text.parse().ok()).partition(|t| width <= *t);
        let (targets, too_small): (Vec<f64>, Vec<f64>) = numbers(&TARGETS);
        let (between, _) = numbers(&BETWEEN);
        let fine = [targets.clone(), between].concat();
        let series: Vec<usize> = view.series_of(dataset).collect();
        let record = series.iter().flat_map(|s| view.records_of(*s)).find(|record| !record.points().is_empty());
        let terms = record.map_or(1.0, |record| (record.environment.n as f64).max(1.0));
        Self { view, dataset, series, terms, optimum, targets, fine, too_small, busy: view.busy(dataset) }
    }

    pub fn standing(&self) -> Standing {
        let clock = self.series.first().map_or("", |series| self.view.series[*series].key.clock.name());
        let winners = |measure| self.targets.iter().map(|target| self.winner(measure, *target)).collect();
        Standing {
            dataset: self.dataset.to_owned(),
            title: self.view.title(self.dataset).to_owned(),
            clock: clock.to_owned(),
            own: self.series.iter().map(|at| &self.view.series[*at]).any(|one| one.paper.is_none() || one.is_own()),
            oracle_cost: self.oracle_cost(),
            busy: self.busy.clone(),
            optimum: self.optimum,
            targets: self.targets.clone(),
            too_small: self.too_small.clone(),
            members: self.series.iter().map(|series| self.member(*series)).collect(),
            winners: Measure::ALL.map(winners).into(),
            matrices: Measure::ALL.map(|measure| pooled(std::slice::from_ref(self), measure)).into(),
            profiles: Measure::ALL.map(|measure| profile::of(std::slice::from_ref(self), measure)).into(),
            lead: Lead::of(self),
        }
    }

    /// That of the runs; `None` when the problem was run at no other.
    fn oracle_cost(&self) -> Option<OracleCost> {
        let key = &self.view.series[*self.series.first()?].key;
        let is_other = |of: &&Repeats| of.key.problem == key.problem && of.key.oracle_cost != key.oracle_cost;
        self.view.points.repeats.iter().find(is_other).map(|_| key.oracle_cost)
    }

    fn member(&self, at: usize) -> Member {
        let series = &self.view.series[at];
        let points = self.view.records_of(at).iter().flat_map(|record| record.points());
        Member {
            label: series.label.clone(),
            display: series.display.clone(),
            runs: self.runs(at),
            reference: series.solver == REFERENCE,
            has_dual: series.has_dual,
            cached_bytes: points.map(|point| point.cached_bytes).max().unwrap_or(0),
            scores: Measure::ALL.map(|measure| self.score(at, measure)).into(),
        }
    }

    fn score(&self, at: usize, measure: Measure) -> Score {
        let is_reference = |at: usize| self.view.series[at].solver == REFERENCE;
        let references: Vec<usize> = self.series.iter().copied().filter(|at| is_reference(*at)).collect();
        let reference = self.view.partners(at, &references).first().copied().filter(|_| !is_reference(at));
        let mut cells = Vec::new();
        for target in &self.targets {
            let (mut reached, mut total) = (0, 0.0);
            for curve in self.curves(at) {
                let spent = curve.spent(Target::Relative(*target), measure);
                reached += usize::from(spent.most.is_finite());
                total += if spent.most.is_finite() { spent.most } else { spent.least };
            }
            let compare = |other| {
                let speedup = self.view.compare(at, other, Target::Relative(*target), measure)?;
                Some(speedup.withheld(self.busy.is_some()))
            };
            cells.push(TargetCell {
                reached,
                median: targets::median(self.spent(at, measure, *target)),
                ert: (reached > 0).then(|| total / reached as f64),
                speedup: reference.and_then(compare),
            });
        }
        let unit = if measure == Measure::Calls { self.terms } else { 1.0 };
        let hits = self.fine.iter().flat_map(|target| self.spent(at, measure, *target)).flatten();
        let hits = sorted(hits.map(|spent| spent / unit));
        let tries = self.fine.len() * self.runs(at);
        Score {
            cells,
            area: self.area(at, measure),
            share: (tries > 0).then(|| hits.len() as f64 / tries as f64),
            half: tries.div_ceil(2).checked_sub(1).and_then(|at| hits.get(at)).copied(),
            hits,
            tries,
        }
    }

    /// Runs, failed ones included.
    fn runs(&self, at: usize) -> usize {
        self.view.records_of(at).len()
    }

    /// The runs whose distance to the optimum is known anywhere.
    fn curves(&self, at: usize) -> impl Iterator<Item = &'a Curve> {
        self.view.curves(at).iter().filter(|curve| curve.is_measured())
    }

    /// What each run spent until a target. One that failed before its first evaluation did not reach it either.
    pub(super) fn spent(&self, at: usize, measure: Measure, target: f64) -> Vec<Option<f64>> {
        let reached = self.curves(at).map(|curve| curve.reached(Target::Relative(target), measure));
        let mut spent: Vec<Option<f64>> = reached.collect();
        spent.resize(self.runs(at), None);
        spent
    }

    /// Area over the convergence curve, on a stretch of the axis that all solvers share: from where the first of them begins
    /// to where the first of them ends.
    fn area(&self, at: usize, measure: Measure) -> Option<Estimate> {
        let (mut from, mut to, mut latest) = (f64::INFINITY, f64::INFINITY, 0.0);
        for curve in self.series.iter().flat_map(|series| self.curves(*series)) {
            let ([first, .., last] | [first @ last]) = curve.column(measure) else { continue };
            (from, latest) = (first.min(from), last.max(latest));
            to = if curve.end == End::Budget { last.min(to) } else { to };
        }
        to = if to.is_finite() { to } else { latest };
        let floor = self.targets.last().copied().filter(|floor| *floor < 1.0)?;
        let areas: Vec<f64> = self.curves(at).map(|curve| area(curve, measure, (from, to), floor)).collect();
        (!areas.is_empty() && from > 0.0 && to > from).then(|| median_of(&areas))
    }

    /// What every solver spent until every compared target, seed by seed.
    pub fn costs(&self, measure: Measure) -> Costs {
        let mut seeds: Vec<u64> = self.series.iter().flat_map(|s| self.curves(*s)).map(|curve| curve.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let mut rows = Vec::new();
        for at in self.series.iter().copied() {
            // A run that failed before its first evaluation did not reach anything either.
            let mut absent = self.runs(at) - self.curves(at).count();
            let mut spent = Vec::new();
            for seed in &seeds {
                let curve = self.curves(at).find(|curve| curve.seed == *seed);
                let failed = curve.is_none() && absent > 0;
                absent -= usize::from(failed);
                // One that failed before its first evaluation does not reach a target later.
                let never = Spent::exactly(f64::INFINITY);
                let cost = |target: &f64| curve.map_or(never, |curve| curve.spent(Target::Relative(*target), measure));
                let costs = self.targets.iter().map(cost).collect();
                spent.push((failed || curve.is_some()).then_some(costs));
            }
            let series = &self.view.series[at];
            let comparable = |other: &usize| series.key.same_times(&self.view.series[*other].key);
            rows.push(CostRow {
                label: series.label.clone(),
                display: series.display.clone(),
                group: self.series.iter().position(comparable).unwrap_or(0),
                spent,
            });
        }
        Costs { targets: self.targets.len(), seeds: seeds.len(), rows }
    }

    fn winner(&self, measure: Measure, target: f64) -> Winner {
        // A solver whose runs all failed is not compared.
        let rivals: Vec<usize> = self.series.iter().copied().filter(|at| self.curves(*at).next().is_some()).collect();
        let unbeaten = self.view.fastest(&rivals, Target::Relative(target), measure);
        let mut names: Vec<String> = unbeaten.into_iter().map(|at| self.view.series[at].display.clone()).collect();
        match names.len() {
            0 => Winner::NotReached,
            1 if rivals.len() > 1 => Winner::One(names.remove(0)),
            _ => Winner::Undecided(names),
        }
    }

    /// Two solvers over the targets that both reach in the median over their pairs, or at the loosest that one of them reaches
    /// when they have none in common. A target that only one of them reaches never moves the value.
    fn over_targets(&self, at: usize, other: usize, measure: Measure) -> Compared {
        let mut common: Vec<Vec<LogBounds>> = Vec::new();
        // With the median over pairs; only those tighter than all in common are left.
        let mut bounded: Vec<(Vec<LogBounds>, LogBounds)> = Vec::new();
        for target in &self.targets {
            let ratios = self.view.log_ratios(at, other, Target::Relative(*target), measure);
            let ratios: Vec<LogBounds> = ratios.into_iter().map(|(_, bounds)| bounds).collect();
            let median = median_bounds(&ratios);
            if median.0.is_finite() && median.1.is_finite() {
                common.push(ratios);
                bounded.clear();
            } else if median.0.is_finite() || median.1.is_finite() {
                bounded.push((ratios, median));
            }
        }
        if common.is_empty() && !bounded.is_empty() {
            common.push(bounded.remove(0).0);
        }
        let pairs = common.first().map_or(0, Vec::len);
        let over = |pair: usize| median_bounds(&common.iter().map(|ratios| ratios[pair]).collect::<Vec<_>>());
        let open = [
            bounded.iter().any(|(_, (least, _))| !least.is_finite()),
            bounded.iter().any(|(_, (_, most))| !most.is_finite()),
        ];
        Compared { groups: vec![(0..pairs).map(over).collect()], open, busy: self.busy.is_some() }
    }
}

/// Mean over log-cost between two ends of how far down a run is: 0 at a relative gap of 1 and before its first evaluation, 1 at
/// `floor` and below. A run that has ended stays where it was.
fn area(curve: &Curve, measure: Measure, (from, to): (f64, f64), floor: f64) -> f64 {
    const POSITIONS: usize = 256;
    let mut sum = 0.0;
    for k in 0..POSITIONS {
        let x = from * (to / from).powf((k as f64 + 0.5) / POSITIONS as f64);
        let located = locate(curve.column(measure), End::Gap, x);
        sum += located.map_or(0.0, |located| located.value(&curve.relative).clamp(floor, 1.0).ln() / floor.ln());
    }
    // Not −0.
    sum / POSITIONS as f64 + 0.0
}

/// Speed-ups over all data sets that two solvers have in common; every data set has the same weight for each of its pairs of
/// runs.
pub(super) fn pooled(fields: &[Field<'_>], measure: Measure) -> Matrix {
    let all = fields.iter().flat_map(|field| field.series.iter().map(|at| &field.view.series[*at]));
    let labels = distinct(all.map(|Series { label, display, .. }| (label.as_str(), display.as_str())));
    let names = labels.iter().map(|(_, display)| (*display).to_owned()).collect();
    let mut pairs = Vec::new();
    for row in 0..labels.len() {
        for column in row + 1..labels.len() {
            let mut compared = Compared::default();
            for field in fields {
                let find = |at: usize| field.series.iter().find(|s| field.view.series[**s].label == labels[at].0);
                let Some((row, column)) = find(row).zip(find(column)) else { continue };
                let Compared { groups, open, busy } = field.over_targets(*row, *column, measure);
                compared.groups.extend(groups.into_iter().filter(|pairs| !pairs.is_empty()));
                compared.busy |= busy;
                compared.open = [compared.open[0] || open[0], compared.open[1] || open[1]];
            }
            pairs.push(compared);
        }
    }
    Matrix::new(names, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_a_share() {
        let share = |first: f64, ends: (f64, f64)| {
            let (time_s, relative) = (vec![1.0, 100.0], vec![first, 1e-6]);
            let run = Curve {
                seed: 0,
                end: End::Budget,
                evaluated: Vec::new(),
                oracle_calls: Vec::new(),
                gap: Vec::new(),
                iteration: Vec::new(),
                seen: Vec::new(),
                primal_sub: Vec::new(),
                planes: Vec::new(),
                passes: Vec::new(),
                time_s,
                relative,
            };
            area(&run, Measure::Time, ends, 1e-6)
        };
        assert!((share(1e-6, (1.0, 100.0)) - 1.0).abs() < 1e-12);
        assert!((share(1.0, (1.0, 100.0)) - 0.5).abs() < 1e-9);
        assert!((share(1.0, (0.01, 1.0))).abs() < 1e-12, "nothing before the first evaluation");
        assert!((share(1.0, (1.0, 1e4)) - 0.75).abs() < 1e-9, "it stays where it was");
    }
}
