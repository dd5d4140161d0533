//! All runs of one data set in; its standing, and speed-ups over several of them, out.

use super::course::{Course, Measure, Spent};
use super::profile;
use super::speedup::{Bounds, over_targets};
use super::{BETWEEN, Cell, Matrix, Member, REFERENCE, Score, Speedup, Standing, TARGETS, Winner};
use crate::study::estimate::estimates;
use crate::study::frame::align::End;
use crate::study::frame::curve::Curve;
use crate::study::frame::{Frames, target};
use ssvm::stats::{median, sorted};

/// The runs of one series.
struct Entrant {
    series: usize,
    /// Per measure.
    courses: [Vec<Course>; Measure::ALL.len()],
}

/// The runs of one data set.
pub(super) struct Field<'a> {
    frames: &'a Frames,
    dataset: &'a str,
    /// Terms, for calls per term.
    terms: f64,
    optimum: Option<(f64, f64)>,
    /// Compared targets of the tables, and those of the distribution.
    targets: Vec<f64>,
    fine: Vec<f64>,
    too_small: Vec<f64>,
    entrants: Vec<Entrant>,
}

fn numbers<'t>(texts: impl IntoIterator<Item = &'t &'t str>) -> Vec<f64> {
    texts.into_iter().filter_map(|text| text.parse().ok()).collect()
}

impl<'a> Field<'a> {
    pub fn new(frames: &'a Frames, curves: &[Vec<Curve>], dataset: &'a str) -> Self {
        let known = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && *high > 0.0;
        let optimum = frames.bounds_of(dataset).filter(known);
        let width = optimum.map_or(f64::INFINITY, |(low, high)| (high - low) / high);
        let (targets, too_small) = numbers(&TARGETS).into_iter().partition(|target| width <= *target);
        let fine = numbers(TARGETS.iter().chain(&BETWEEN)).into_iter().filter(|target| width <= *target).collect();
        let scale = optimum.map_or(f64::NAN, |(_, high)| 1.0 / high);
        let entrant = |series: usize| {
            let courses =
                |measure| curves[series].iter().filter_map(|curve| Course::new(curve, measure, scale)).collect();
            Entrant { series, courses: Measure::ALL.map(courses) }
        };
        let entrants: Vec<Entrant> = frames.series_of(dataset).map(entrant).collect();
        let first = entrants.iter().find_map(|entrant| frames.runs_of(entrant.series).first());
        let terms = first.and_then(|run| Some(frames.u64s("terms").ok()?[run.rows.start]));
        let terms = terms.map_or(1.0, |terms| (terms as f64).max(1.0));
        Self { frames, dataset, terms, optimum, targets, fine, too_small, entrants }
    }

    pub fn standing(&self) -> Standing {
        let series = |at: usize| &self.frames.series[self.entrants[at].series];
        Standing {
            dataset: self.dataset.to_owned(),
            title: self.frames.title(self.dataset).to_owned(),
            clock: self.entrants.first().map_or("", |_| series(0).clock).to_owned(),
            optimum: self.optimum,
            targets: self.targets.clone(),
            too_small: self.too_small.clone(),
            members: (0..self.entrants.len()).map(|at| self.member(at)).collect(),
            winners: Measure::MEASURED
                .map(|measure| self.targets.iter().map(|t| self.winner(measure, *t)).collect())
                .into(),
            matrices: Measure::MEASURED.map(|measure| self.matrix(measure)).into(),
            profiles: Measure::MEASURED.map(|measure| profile::of(&[self], measure)).into(),
        }
    }

    fn names(&self) -> Vec<String> {
        self.entrants.iter().map(|entrant| self.frames.series[entrant.series].display.clone()).collect()
    }

    fn member(&self, at: usize) -> Member {
        let series = &self.frames.series[self.entrants[at].series];
        Member {
            label: series.label.clone(),
            display: series.display.clone(),
            runs: series.completed + series.failed,
            reference: series.solver == REFERENCE,
            has_dual: series.has_dual,
            reads_clock: series.reads_clock,
            cached_bytes: self.cached_bytes(self.entrants[at].series),
            scores: Measure::ALL.map(|measure| self.score(at, measure)).into(),
        }
    }

    fn cached_bytes(&self, series: usize) -> u64 {
        let bytes = self.frames.u64s("cached_bytes").unwrap_or_default();
        let rows = self.frames.runs_of(series).iter().flat_map(|run| run.rows.clone());
        rows.filter_map(|row| bytes.get(row)).copied().max().unwrap_or(0)
    }

    /// The setting of the reference that a solver is compared with.
    fn reference(&self, at: usize) -> Option<usize> {
        let is = |at: usize| self.frames.series[self.entrants[at].series].solver == REFERENCE;
        let settings: Vec<usize> = (0..self.entrants.len()).filter(|at| is(*at)).collect();
        let series: Vec<usize> = settings.iter().map(|at| self.entrants[*at].series).collect();
        let partner = *self.frames.partners(self.entrants[at].series, &series).first()?;
        settings.into_iter().find(|at| self.entrants[*at].series == partner).filter(|_| !is(at))
    }

    /// Median of what the runs of a solver spent until a target.
    fn typical(&self, at: usize, measure: Measure, target: f64) -> Option<f64> {
        let Entrant { series, courses } = &self.entrants[at];
        let (series, courses) = (&self.frames.series[*series], &courses[measure as usize]);
        // A run that failed before its first evaluation did not get there either.
        let absent = std::iter::repeat_n(None, series.completed + series.failed - courses.len());
        target::median(courses.iter().map(|course| course.reached(target)).chain(absent))
    }

    fn score(&self, at: usize, measure: Measure) -> Score {
        let measured = Measure::MEASURED.contains(&measure);
        let (entrant, reference) = (&self.entrants[at], self.reference(at).filter(|_| measured));
        let courses = &entrant.courses[measure as usize];
        let series = &self.frames.series[entrant.series];
        let cell = |target: f64| {
            let hits = courses.iter().filter(|course| course.reached(target).is_some()).count();
            let total: f64 = courses.iter().map(|course| course.reached(target).unwrap_or(course.last())).sum();
            Cell {
                reached: hits,
                median: self.typical(at, measure, target),
                ert: (hits > 0).then(|| total / hits as f64),
                speedup: reference.and_then(|other| self.speedup(at, other, measure, target)),
            }
        };
        let unit = if measure == Measure::Calls { self.terms } else { 1.0 };
        let hits = self.fine.iter().flat_map(|target| courses.iter().filter_map(|course| course.reached(*target)));
        let hits = sorted(hits.map(|spent| spent / unit));
        let tries = self.fine.len() * (series.completed + series.failed);
        Score {
            cells: self.targets.iter().map(|target| cell(*target)).collect(),
            area: self.area(courses, measure),
            share: (tries > 0).then(|| hits.len() as f64 / tries as f64),
            half: tries.div_ceil(2).checked_sub(1).and_then(|at| hits.get(at)).copied(),
            hits,
            tries,
        }
    }

    /// Where the axis begins for somebody, and where it ends for the first one; the smallest gap that is compared.
    fn area(&self, courses: &[Course], measure: Measure) -> Option<crate::study::estimate::Estimate> {
        let all = || self.entrants.iter().flat_map(|entrant| &entrant.courses[measure as usize]);
        let from = all().map(Course::first).fold(f64::INFINITY, f64::min);
        let to = all().filter(|course| course.end == End::Budget).map(Course::last).fold(f64::INFINITY, f64::min);
        let to = if to.is_finite() { to } else { all().map(Course::last).fold(0.0, f64::max) };
        let floor = self.targets.last().copied().filter(|floor| *floor < 1.0)?;
        if courses.is_empty() || from <= 0.0 || to <= from {
            return None;
        }
        let areas: Vec<f64> = courses.iter().map(|course| course.area((from, to), floor)).collect();
        let [area] = estimates(&[areas.len()], |draw| [median(&draw[0].iter().map(|k| areas[*k]).collect::<Vec<_>>())]);
        Some(area)
    }

    /// What every solver spent until every compared target, seed by seed.
    pub fn costs(&self, measure: Measure) -> profile::Costs {
        let all = self.entrants.iter().flat_map(|entrant| &entrant.courses[measure as usize]);
        let mut seeds: Vec<u64> = all.map(|course| course.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let row = |entrant: &Entrant| {
            let series = &self.frames.series[entrant.series];
            let courses = &entrant.courses[measure as usize];
            // A run that failed before its first evaluation did not get there either.
            let mut absent = series.completed + series.failed - courses.len();
            let spent = seeds.iter().map(|seed| {
                let course = courses.iter().find(|course| course.seed == *seed);
                if course.is_none() && absent > 0 {
                    absent -= 1;
                    return Some(vec![f64::INFINITY; self.targets.len()]);
                }
                let cost = |target: &f64| course.and_then(|c| c.reached(*target)).unwrap_or(f64::INFINITY);
                course.map(|_| self.targets.iter().map(cost).collect())
            });
            let comparable = |other: &Entrant| self.frames.comparable(entrant.series, other.series);
            profile::CostRow {
                label: series.label.clone(),
                display: series.display.clone(),
                group: self.entrants.iter().position(comparable).unwrap_or(0),
                spent: spent.collect(),
            }
        };
        profile::Costs {
            targets: self.targets.len(),
            seeds: seeds.len(),
            rows: self.entrants.iter().map(row).collect(),
        }
    }

    /// Runs of two solvers with one seed.
    fn pairs(&self, at: usize, other: usize, measure: Measure) -> Vec<(&Course, &Course)> {
        let [own, others] = [at, other].map(|at| &self.entrants[at]);
        if !self.frames.comparable(own.series, others.series) {
            return Vec::new();
        }
        let partner = |a: &Course| others.courses[measure as usize].iter().find(|b| b.seed == a.seed);
        own.courses[measure as usize].iter().filter_map(|a| Some((a, partner(a)?))).collect()
    }

    /// How many times as fast a solver is as another at a target.
    fn speedup(&self, at: usize, other: usize, measure: Measure, target: f64) -> Option<Speedup> {
        let pairs = self.pairs(at, other, measure);
        Speedup::at_target(pairs.into_iter().map(|(own, other)| (other.spent(target), own.spent(target))))
    }

    fn winner(&self, measure: Measure, target: f64) -> Winner {
        // A solver of which every run failed competes with nobody.
        let runs = |at: &usize| !self.entrants[*at].courses[measure as usize].is_empty();
        let rivals: Vec<usize> = (0..self.entrants.len()).filter(runs).collect();
        let medians = rivals.iter().filter_map(|at| Some((*at, self.typical(*at, measure, target)?)));
        let Some((best, _)) = medians.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Winner::Nobody };
        let beaten = |other: usize| self.speedup(best, other, measure, target).is_some_and(|s| s.is_faster());
        let others = rivals.iter().filter(|other| **other != best && !beaten(**other));
        let names = self.names();
        let mut open: Vec<String> = others.map(|other| names[*other].clone()).collect();
        if open.is_empty() && rivals.len() > 1 {
            return Winner::One(names[best].clone());
        }
        open.insert(0, names[best].clone());
        Winner::Undecided(open)
    }

    fn matrix(&self, measure: Measure) -> Matrix {
        Matrix::new(self.names(), |row, column| Speedup::of(&[self.over_targets(row, column, measure)]))
    }

    /// Per pair of runs the median over targets of ln of their ratio. A target at which no pair tells anything is left
    /// out.
    fn over_targets(&self, at: usize, other: usize, measure: Measure) -> Vec<Bounds> {
        let pairs = self.pairs(at, other, measure);
        let ratio = |(own, other): &(&Course, &Course), target: f64| {
            let [own, other]: [Spent; 2] = [own.spent(target), other.spent(target)];
            other.log_over(own)
        };
        let tells = |target: &f64| {
            pairs.iter().map(|pair| ratio(pair, *target)).any(|(low, high)| low.is_finite() || high.is_finite())
        };
        let targets: Vec<f64> = self.targets.iter().copied().filter(tells).collect();
        if targets.is_empty() {
            return Vec::new();
        }
        let over = |pair: &(&Course, &Course)| {
            over_targets(&targets.iter().map(|target| ratio(pair, *target)).collect::<Vec<_>>())
        };
        pairs.iter().map(over).collect()
    }
}

/// Speed-ups over all data sets that two solvers have in common; every data set has the same weight for each of its
/// pairs of runs.
pub(super) fn pooled(fields: &[Field<'_>], measure: Measure) -> Matrix {
    let mut labels: Vec<(&str, &str)> = Vec::new();
    for entrant in fields.iter().flat_map(|field| field.entrants.iter().map(move |e| &field.frames.series[e.series])) {
        if !labels.iter().any(|(label, _)| *label == entrant.label) {
            labels.push((&entrant.label, &entrant.display));
        }
    }
    let names = labels.iter().map(|(_, display)| (*display).to_owned()).collect();
    Matrix::new(names, |row, column| {
        let group = |field: &Field<'_>| {
            let find = |at: usize| {
                field.entrants.iter().position(|entrant| field.frames.series[entrant.series].label == labels[at].0)
            };
            Some(field.over_targets(find(row)?, find(column)?, measure)).filter(|pairs| !pairs.is_empty())
        };
        Speedup::of(&fields.iter().filter_map(group).collect::<Vec<_>>())
    })
}
