//! Some series of a study, with names that distinguish them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bands::Quantity;
use super::curve::Curve;
use super::points::{Bounds, Points, Repeats};
use super::{names, names::Name};
use crate::experiment::catalog::Catalog;
use crate::store::RunRecord;
use crate::store::keys::SeriesKey;
use crate::text::Pattern;
use ssvm::drive::TracePoint;
use ssvm::problem::Paper;
use ssvm::solver::{SolverInfo, SolverTable, Standard};

const MOST_LINES: usize = 8;

/// One solver with its settings on one data set: what a line of a figure shows.
#[derive(Clone, Debug)]
pub struct Series {
    pub key: SeriesKey,
    pub(super) at: usize,
    /// Data set as in the config; if a view has several problems of that name, with the facts in which they differ.
    pub dataset: String,
    pub title: String,
    /// Solver; if a view has it with several settings, with those that differ.
    pub label: String,
    pub display: String,
    pub solver: String,
    pub paper: Option<Paper>,
    pub twin: bool,
    /// The row of the solver; `None` for one that this program does not have.
    pub info: Option<SolverInfo>,
    /// Whether gaps need an upper bound because the oracle is not exact.
    pub certified: bool,
    /// Whether it has a dual. Without one it has no gap, only the distance of its primal to a known optimum.
    pub has_dual: bool,
    /// Whether its steps depend on the clock, or whether that is unknown. The steps of other solvers are the same at every oracle cost.
    pub reads_clock: bool,
    /// T of a solver that has it: planes that were not used for longer leave the working set.
    pub lifetime: Option<u64>,
    pub completed: usize,
    pub failed: usize,
    /// Runs that failed after their first evaluation; they count until they failed.
    pub censored: usize,
}

impl Series {
    fn new(at: usize, of: &Repeats, name: Name, records: &[RunRecord], catalog: &dyn Catalog) -> Self {
        let key = of.key.clone();
        let info = catalog.solver(&key.solver.name);
        let resolved = info.and_then(|info| Some((info, info.resolve(&key.solver, catalog.solvers()).ok()?)));
        let points = || records.iter().flat_map(RunRecord::points);
        let completed = records.iter().filter(|record| record.status.is_done()).count();
        let set = catalog.dataset(&key.problem.dataset);
        let inexact = set.is_some_and(|set| set.family.is_some_and(|family| !family.exact));
        Self {
            at,
            paper: catalog.paper(&key.problem.dataset),
            twin: set.is_some_and(|set| set.twin_of.is_some()),
            info: info.cloned(),
            certified: inexact || points().any(|point| point.oracle_slack > 0.0),
            // A run that failed before its first evaluation does not tell.
            has_dual: points().all(TracePoint::has_dual),
            lifetime: resolved.as_ref().and_then(|(_, params)| params.get("T").map(|_| params.count("T"))),
            reads_clock: resolved.is_none_or(|(info, params)| (info.reads_clock)(&params)),
            completed,
            failed: records.len() - completed,
            censored: records.iter().filter(|r| !r.status.is_done() && !r.points().is_empty()).count(),
            dataset: name.dataset,
            title: name.title,
            label: name.label,
            display: name.display,
            solver: key.solver.name.clone(),
            key,
        }
    }

    /// Whether its clock gives the same times everywhere, because a cost model and not a machine determines them.
    pub fn repeatable(&self) -> bool {
        self.key.clock.repeatable()
    }

    /// Whether its solver is not one of the library's.
    pub fn is_own(&self) -> bool {
        !Standard.infos().iter().any(|info| info.name == self.solver)
    }

    pub fn keeps_planes(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.planes.is_some())
    }
}

#[derive(Debug)]
pub struct View {
    pub points: Arc<Points>,
    /// The series, ordered by data set and solver as the tables of the program are.
    pub series: Vec<Series>,
    /// The pairs of solvers that the paper compares: (single-plane, multi-plane).
    pub pairs: Vec<(String, String)>,
}

impl View {
    /// The selected series. A series that `beside` has at another oracle cost gets the same name here.
    pub(super) fn new(
        points: &Arc<Points>,
        wanted: &dyn Fn(&Repeats) -> bool,
        beside: Option<&Self>,
        catalog: &dyn Catalog,
    ) -> Self {
        let chosen: Vec<usize> = (0..points.repeats.len()).filter(|at| wanted(&points.repeats[*at])).collect();
        let keys: Vec<&SeriesKey> = chosen.iter().map(|at| &points.repeats[*at].key).collect();
        let beside: Vec<&SeriesKey> = beside.iter().flat_map(|view| &view.series).map(|series| &series.key).collect();
        let names = names::names(&keys, &beside, catalog);
        let mut series = Vec::new();
        for (at, name) in chosen.into_iter().zip(names) {
            let of = &points.repeats[at];
            series.push(Series::new(at, of, name, &points.records[of.records.clone()], catalog));
        }
        let pairs = catalog.pairs().iter().map(|(one, multi)| (one.name.to_owned(), multi.name.to_owned())).collect();
        Self { points: Arc::clone(points), series, pairs }
    }

    pub fn datasets(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.series.iter().map(|s| s.dataset.as_str()).collect();
        names.dedup();
        names
    }

    pub fn title<'a>(&'a self, dataset: &'a str) -> &'a str {
        self.series.iter().find(|s| s.dataset == dataset).map_or(dataset, |s| &s.title)
    }

    pub fn paper(&self, dataset: &str) -> Option<Paper> {
        self.series.iter().find(|s| s.dataset == dataset)?.paper
    }

    pub fn series_of(&self, dataset: &str) -> impl Iterator<Item = usize> {
        (0..self.series.len()).filter(move |at| self.series[*at].dataset == dataset)
    }

    pub fn records_of(&self, series: usize) -> &[RunRecord] {
        &self.points.records[self.repeats(series).records.clone()]
    }

    pub fn records(&self) -> impl Iterator<Item = &RunRecord> {
        (0..self.series.len()).flat_map(|series| self.records_of(series))
    }

    /// The runs of a series; one that ended before its first evaluation has an empty curve.
    pub fn curves(&self, series: usize) -> &[Curve] {
        &self.repeats(series).curves
    }

    fn repeats(&self, series: usize) -> &Repeats {
        &self.points.repeats[self.series[series].at]
    }

    /// Whether each series is one of those that the figures of the paper show. With patterns, those of solvers that match one;
    /// otherwise all while a data set has no more lines than a reader can distinguish, else those of the paper or, without any, the
    /// first ones, and in addition those that are not the library's.
    pub fn shown(&self, solvers: &[String]) -> Vec<bool> {
        let lines = |dataset: &str| self.series_of(dataset).count();
        if solvers.is_empty() && self.datasets().into_iter().all(|dataset| lines(dataset) <= MOST_LINES) {
            return vec![true; self.series.len()];
        }
        let of_paper = |series: &Series| series.info.as_ref().is_some_and(|info| info.in_paper);
        let some_of_paper = |dataset: &str| self.series_of(dataset).any(|s| of_paper(&self.series[s]));
        // A malformed pattern selects no solver.
        let patterns: Vec<Pattern> = solvers.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        let shows = |(at, series): (usize, &Series)| match solvers {
            [] if series.is_own() => true,
            [] if some_of_paper(&series.dataset) => of_paper(series),
            [] => self.series_of(&series.dataset).take(MOST_LINES).any(|s| s == at),
            _ => patterns.iter().any(|pattern| pattern.matches(&series.solver)),
        };
        self.series.iter().enumerate().map(shows).collect()
    }

    /// The solvers that are not [`View::shown`].
    pub fn hidden(&self, solvers: &[String]) -> BTreeSet<&str> {
        let hidden = self.series.iter().zip(self.shown(solvers)).filter(|(_, shown)| !shown);
        hidden.map(|(series, _)| series.display.as_str()).collect()
    }

    pub fn alike(&self, a: usize, b: usize) -> usize {
        self.series[a].key.alike(&self.series[b].key)
    }

    /// Of some series, those whose times are comparable with those of this one and that have most else in common with it.
    pub fn partners(&self, of: usize, among: &[usize]) -> Vec<usize> {
        let comparable = |s: &usize| self.series[*s].key.same_times(&self.series[of].key);
        let comparable: Vec<usize> = among.iter().copied().filter(comparable).collect();
        let most = comparable.iter().map(|s| self.alike(*s, of)).max();
        comparable.into_iter().filter(|s| Some(self.alike(*s, of)) == most).collect()
    }

    pub fn bounds_of(&self, dataset: &str) -> Option<Bounds> {
        self.series_of(dataset).find_map(|series| self.repeats(series).bounds)
    }

    pub fn floor(&self, dataset: &str) -> f64 {
        self.bounds_of(dataset).map_or(0.0, |(low, high)| high - low)
    }

    pub fn certified(&self, dataset: &str) -> bool {
        self.series.iter().any(|s| s.dataset == dataset && s.certified)
    }

    pub fn panel_title(&self, quantity: Quantity, dataset: &str) -> String {
        let certified = quantity == Quantity::Gap && self.certified(dataset);
        format!("{}{}", quantity.title(), if certified { " (certified)" } else { "" })
    }
}
