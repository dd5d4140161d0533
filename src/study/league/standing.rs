//! One data set: its solvers against the reference and against each other.

use super::profile::{CostRow, Costs};
use super::{BETWEEN, Cell, Matrix, Measure, Member, REFERENCE, Score, Speedup, Standing, TARGETS, Winner, profile};
use crate::study::View;
use crate::study::align::{End, locate};
use crate::study::curve::Curve;
use crate::study::estimate::{Estimate, median_of};
use crate::study::paired::{LogBounds, Target, over_targets};
use crate::study::targets;
use ssvm::stats::sorted;

pub(super) struct Field<'a> {
    view: &'a View,
    dataset: &'a str,
    series: Vec<usize>,
    terms: f64,
    optimum: Option<(f64, f64)>,
    /// Compared targets of the tables, and those of the distribution.
    targets: Vec<f64>,
    fine: Vec<f64>,
    too_small: Vec<f64>,
}

impl<'a> Field<'a> {
    pub fn new(view: &'a View, dataset: &'a str) -> Self {
        let known = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && *high > 0.0;
        let optimum = view.bounds_of(dataset).filter(known);
        let width = optimum.map_or(f64::INFINITY, |(low, high)| (high - low) / high);
        let (targets, too_small) = TARGETS.iter().filter_map(|t| t.parse().ok()).partition(|target| width <= *target);
        let fine = TARGETS.iter().chain(&BETWEEN).filter_map(|t| t.parse().ok()).filter(|t| width <= *t).collect();
        let series: Vec<usize> = view.series_of(dataset).collect();
        let record = series.iter().flat_map(|s| view.records_of(*s)).find(|record| !record.points().is_empty());
        let terms = record.map_or(1.0, |record| (record.environment.n as f64).max(1.0));
        Self { view, dataset, series, terms, optimum, targets, fine, too_small }
    }

    pub fn standing(&self) -> Standing {
        let clock = self.series.first().map_or("", |series| self.view.series[*series].key.clock.name());
        let winners = |measure| self.targets.iter().map(|target| self.winner(measure, *target)).collect();
        Standing {
            dataset: self.dataset.to_owned(),
            title: self.view.title(self.dataset).to_owned(),
            clock: clock.to_owned(),
            optimum: self.optimum,
            targets: self.targets.clone(),
            too_small: self.too_small.clone(),
            members: self.series.iter().map(|series| self.member(*series)).collect(),
            winners: Measure::ALL.map(winners).into(),
            matrices: Measure::ALL.map(|measure| pooled(std::slice::from_ref(self), measure)).into(),
            profiles: Measure::ALL.map(|measure| profile::of(&[self], measure)).into(),
        }
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

    /// Runs, failed ones included.
    fn runs(&self, at: usize) -> usize {
        self.view.records_of(at).len()
    }

    fn curves(&self, at: usize) -> impl Iterator<Item = &'a Curve> {
        self.view.curves(at).iter().filter(|curve| curve.is_measured())
    }

    fn reference(&self, at: usize) -> Option<usize> {
        let is = |at: usize| self.view.series[at].solver == REFERENCE;
        let settings: Vec<usize> = self.series.iter().copied().filter(|series| is(*series)).collect();
        self.view.partners(at, &settings).first().copied().filter(|_| !is(at))
    }

    /// Median of what the runs of a solver spent until a target.
    fn typical(&self, at: usize, measure: Measure, target: f64) -> Option<f64> {
        let spent = self.curves(at).map(|curve| curve.reached(Target::Relative(target), measure));
        // A run that failed before its first evaluation did not reach it either.
        let absent = std::iter::repeat_n(None, self.runs(at) - self.curves(at).count());
        targets::median(spent.chain(absent))
    }

    fn score(&self, at: usize, measure: Measure) -> Score {
        let reached = |curve: &Curve, target: f64| curve.reached(Target::Relative(target), measure);
        let mut cells = Vec::new();
        for target in &self.targets {
            let hits = self.curves(at).filter(|curve| reached(curve, *target).is_some()).count();
            let end = |curve: &Curve| curve.column(measure).last().copied().unwrap_or(0.0);
            let total: f64 = self.curves(at).map(|curve| reached(curve, *target).unwrap_or(end(curve))).sum();
            cells.push(Cell {
                reached: hits,
                median: self.typical(at, measure, *target),
                ert: (hits > 0).then(|| total / hits as f64),
                speedup: self
                    .reference(at)
                    .and_then(|other| self.view.compare(at, other, Target::Relative(*target), measure)),
            });
        }
        let unit = if measure == Measure::Calls { self.terms } else { 1.0 };
        let hits = self.fine.iter().flat_map(|target| self.curves(at).filter_map(|curve| reached(curve, *target)));
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

    /// Area over the convergence curve, on a stretch of the axis that all solvers share: from where the first of them begins
    /// to where the first of them ends.
    fn area(&self, at: usize, measure: Measure) -> Option<Estimate> {
        let all = || self.series.iter().flat_map(|series| self.curves(*series));
        let ends = |wanted: fn(End) -> bool| {
            all().filter(move |curve| wanted(curve.end)).filter_map(move |curve| curve.column(measure).last().copied())
        };
        let from = all().filter_map(|c| c.column(measure).first().copied()).fold(f64::INFINITY, f64::min);
        let to = ends(|end| end == End::Budget).fold(f64::INFINITY, f64::min);
        let to = if to.is_finite() { to } else { ends(|_| true).fold(0.0, f64::max) };
        let floor = self.targets.last().copied().filter(|floor| *floor < 1.0)?;
        let areas: Vec<f64> = self.curves(at).map(|curve| area(curve, measure, (from, to), floor)).collect();
        if areas.is_empty() || from <= 0.0 || to <= from {
            return None;
        }
        Some(median_of(&areas))
    }

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
                let cost = |target: &f64| curve.and_then(|c| c.reached(Target::Relative(*target), measure));
                let costs = self.targets.iter().map(|target| cost(target).unwrap_or(f64::INFINITY)).collect();
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
        // A solver of which every run failed is no rival.
        let rivals: Vec<usize> = self.series.iter().copied().filter(|at| self.curves(*at).next().is_some()).collect();
        let medians = rivals.iter().filter_map(|at| Some((*at, self.typical(*at, measure, target)?)));
        let Some((best, _)) = medians.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Winner::Nobody };
        let name = |at: usize| self.view.series[at].display.clone();
        let mut open = vec![name(best)];
        for other in rivals.iter().copied().filter(|other| *other != best) {
            let lead = self.view.compare(best, other, Target::Relative(target), measure);
            if !lead.is_some_and(|lead| lead.is_faster()) {
                open.push(name(other));
            }
        }
        if open.len() == 1 && rivals.len() > 1 { Winner::One(open.remove(0)) } else { Winner::Undecided(open) }
    }

    /// Per pair of runs the median over targets of the logarithm of their ratio. A target at which no pair tells anything is
    /// left out.
    fn over_targets(&self, at: usize, other: usize, measure: Measure) -> Vec<LogBounds> {
        let compared = |target: &f64| self.view.log_ratios(at, other, Target::Relative(*target), measure);
        let tells = |pairs: &Vec<(u64, LogBounds)>| pairs.iter().any(|(_, b)| b.0.is_finite() || b.1.is_finite());
        let told: Vec<_> = self.targets.iter().map(compared).filter(tells).collect();
        let pairs = told.first().map_or(0, Vec::len);
        (0..pairs).map(|pair| over_targets(&told.iter().map(|of| of[pair].1).collect::<Vec<_>>())).collect()
    }
}

/// Mean over log-cost between two ends of how far down a run is: 0 at a relative gap of 1 and before its first evaluation, 1 at
/// `floor` and below. A run that has ended stays where it was.
fn area(curve: &Curve, measure: Measure, (from, to): (f64, f64), floor: f64) -> f64 {
    const POSITIONS: usize = 256;
    let spent = curve.column(measure);
    let depth = |k: usize| {
        let x = from * (to / from).powf((k as f64 + 0.5) / POSITIONS as f64);
        let located = locate(spent, End::Gap, x);
        located.map_or(0.0, |located| located.value(&curve.relative).clamp(floor, 1.0).ln() / floor.ln())
    };
    // Not −0.
    (0..POSITIONS).map(depth).sum::<f64>() / POSITIONS as f64 + 0.0
}

/// Speed-ups over all data sets that two solvers have in common; every data set has the same weight for each of its pairs of
/// runs.
pub(super) fn pooled(fields: &[Field<'_>], measure: Measure) -> Matrix {
    let all = fields.iter().flat_map(|field| field.series.iter().map(|at| &field.view.series[*at]));
    let mut labels: Vec<(&str, &str)> = Vec::new();
    for series in all {
        if !labels.iter().any(|(label, _)| *label == series.label) {
            labels.push((&series.label, &series.display));
        }
    }
    let names = labels.iter().map(|(_, display)| (*display).to_owned()).collect();
    Matrix::new(names, |row, column| {
        let group = |field: &Field<'_>| {
            let find = |at: usize| field.series.iter().find(|s| field.view.series[**s].label == labels[at].0).copied();
            Some(field.over_targets(find(row)?, find(column)?, measure)).filter(|pairs| !pairs.is_empty())
        };
        Speedup::of(&fields.iter().filter_map(group).collect::<Vec<_>>())
    })
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
                iteration: Vec::new(),
                oracle_calls: Vec::new(),
                primal_sub: Vec::new(),
                gap: Vec::new(),
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
