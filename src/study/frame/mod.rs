//! Trace records → Polars tables: in come [`RunRecord`]s, out go bounds, suboptimalities and min–median–max bands.
//!
//! Polars holds the tables and does the grouping and joining; the alignment of repeats ([`align`]) is our own code on
//! the columns. Failed runs are rows of [`Frames::runs`] and counts of each [`Series`]; what they measured before they
//! failed is in the bands as far as it goes, and in no bound.

pub mod align;
mod bands;
pub mod curve;
pub mod export;
pub mod load;
pub mod names;
pub mod profile;
pub mod regime;
mod table;
pub mod target;

use polars::prelude::*;

use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::store::RunRecord;
use crate::store::identity::Identity;
use crate::text::Pattern;
pub use bands::{Axis, Band, Bands, Quantity, TIME_GRID};
use ssvm::drive::TracePoint;
use ssvm::problem::Paper;
use ssvm::solver::SolverInfo;

use align::Run;
use names::{Facts, Name};

/// Most lines of one panel that can be told apart.
const MOST_LINES: usize = 8;

/// Best lower and best upper bound of the optimum.
pub type Bounds = (f64, f64);

/// One solver with its settings on one data set: what a line of a figure stands for.
#[derive(Clone, Debug)]
pub struct Series {
    /// Data set name as in the config; where a folder holds it as several problems, with what differs.
    pub dataset: String,
    /// Heading of the data set.
    pub title: String,
    /// The data set of the paper that it is or stands for.
    pub paper: Option<Paper>,
    /// Whether the data set is a synthetic twin.
    pub twin: bool,
    /// Name of the solver.
    pub solver: String,
    /// Name of the solver; where a folder holds one solver with several settings, with those that differ.
    pub label: String,
    /// [`Series::label`] as figures print it.
    pub display: String,
    /// The solver's row in the table; `None` for one that this program does not have.
    pub info: Option<SolverInfo>,
    /// The clock of its times.
    pub clock: &'static str,
    /// Whether that clock gives the same times everywhere: then a cost model decides them, not a machine.
    pub repeatable: bool,
    /// What it is told by: parameters, budget, cadence, clock, circumstances where they change its times.
    pub facts: Facts,
    /// Whether gaps need an upper bound because the oracle is not exact.
    pub certified: bool,
    /// Whether it has a dual: not when an evaluation says it has none. Without one there is no gap, only the distance of
    /// its primal to a known optimum.
    pub has_dual: bool,
    /// Whether its steps depend on the clock, or may do so for all that is known: those of other solvers are the same at any
    /// price of the oracle.
    pub reads_clock: bool,
    /// Runs that ended well.
    pub completed: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that failed after their first evaluation: they count as far as they go.
    pub censored: usize,
}

impl Series {
    /// Whether the solver keeps working sets, or at least is not known not to.
    pub fn keeps_planes(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.planes.is_some())
    }
}

/// Everything computed from the records of one result folder.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Lines of the figures, ordered by data set and solver as the tables of the program are.
    pub series: Vec<Series>,
    /// The pairs of solvers that the paper compares: (single-plane, multi-plane).
    pub pairs: Vec<(String, String)>,
    /// One row per run, failed ones included, isolated probes not.
    pub runs: DataFrame,
    /// One row per evaluation, with suboptimalities; `series` is the position in the list.
    pub points: DataFrame,
    /// Per data set with points: `dataset`, `best_dual` (B_lo), `best_primal` (B_up).
    pub bounds: DataFrame,
    /// Series of each record given to [`Frames::new`].
    pub of_record: Vec<usize>,
    /// Every run with evaluations, in order.
    evaluated: Vec<Run>,
}

impl Frames {
    /// Builds the tables from these records alone.
    pub fn new(records: &[RunRecord], catalog: &dyn Catalog) -> Result<Self> {
        Self::with_bounds(records, catalog, &|_| None)
    }

    /// Builds the tables. `known` says what is certain about the optimum of a problem already.
    pub fn with_bounds(
        records: &[RunRecord],
        catalog: &dyn Catalog,
        known: &dyn Fn(&Identity) -> Option<Bounds>,
    ) -> Result<Self> {
        struct Planned<'a> {
            record: &'a RunRecord,
            name: Name,
            place: usize,
        }
        let names = names::series(&records.iter().collect::<Vec<_>>());
        let mut planned: Vec<Planned> = records
            .iter()
            .enumerate()
            .zip(names)
            .map(|((place, record), name)| Planned { record, name, place })
            .collect();
        planned.sort_by(|a, b| {
            let solver = |p: &Planned| (catalog.solver_rank(p.record.solver()), p.record.solver().to_owned());
            let run = |p: &Planned| (p.name.label.clone(), p.record.repeat, p.record.run_id());
            let dataset = catalog.dataset_rank(&a.name.dataset).cmp(&catalog.dataset_rank(&b.name.dataset));
            dataset.then_with(|| solver(a).cmp(&solver(b))).then_with(|| run(a).cmp(&run(b)))
        });

        let mut series: Vec<Series> = Vec::new();
        let mut of_record = vec![0; records.len()];
        let mut of_run = Vec::with_capacity(planned.len());
        for Planned { record, name: Name { dataset, label, facts }, place } in planned {
            if series.last().is_none_or(|s| s.dataset != dataset || s.label != label) {
                series.push(Series {
                    title: catalog.title(&dataset).0,
                    paper: catalog.paper(&dataset),
                    twin: catalog.is_twin(record.dataset()),
                    solver: record.solver().to_owned(),
                    display: catalog.label(&label),
                    info: catalog.solver(record.solver()).cloned(),
                    clock: record.settings().clock.name(),
                    repeatable: record.settings().clock.repeatable(),
                    certified: false,
                    has_dual: true,
                    reads_clock: reads_clock(record, catalog),
                    dataset,
                    label,
                    facts,
                    completed: 0,
                    failed: 0,
                    censored: 0,
                });
            }
            let at = series.len() - 1;
            *(if record.status.is_done() { &mut series[at].completed } else { &mut series[at].failed }) += 1;
            series[at].censored += usize::from(!record.status.is_done() && !record.points().is_empty());
            // A run that failed before its first evaluation says nothing.
            series[at].has_dual &= record.points().iter().all(TracePoint::has_dual);
            series[at].certified |= !record.is_exact();
            of_record[place] = at;
            of_run.push((record, at));
        }
        headings(&mut series, catalog);
        let planned = of_run;
        for name in series.iter().map(|s| s.dataset.clone()).collect::<std::collections::BTreeSet<_>>() {
            let mut of =
                planned.iter().filter(|(_, at)| series[*at].dataset == name).map(|(r, _)| r.settings().oracle_cost);
            if let Some(cost) = of.next().filter(|cost| !cost.is_one())
                && of.all(|other| other == cost)
            {
                let set = series.iter_mut().filter(|s| s.dataset == name);
                set.for_each(|series| series.title = format!("{}, oracle × {cost}", series.title));
            }
        }
        let (points, evaluated) = table::points(&planned)?;
        let known = |at| planned.iter().find(|(_, s)| *s == at).and_then(|(record, _)| known(&record.identity));
        let bounds = table::bounds(&points, &evaluated, &series, known)?;
        let points = table::with_suboptimality(points, &evaluated, |at| lookup(&bounds, &series[at].dataset))?;
        let runs = table::runs(&planned, &series)?;
        let pairs = catalog.pairs().iter().map(|(one, multi)| (one.name.to_owned(), multi.name.to_owned())).collect();
        Ok(Self { series, pairs, runs, points, bounds, of_record, evaluated })
    }

    /// Data sets in the order of the figures.
    pub fn datasets(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.series.iter().map(|s| s.dataset.as_str()).collect();
        names.dedup();
        names
    }

    /// Heading of a data set.
    pub fn title<'a>(&'a self, dataset: &'a str) -> &'a str {
        self.series.iter().find(|s| s.dataset == dataset).map_or(dataset, |s| &s.title)
    }

    /// The data set of the paper that this one is or stands for.
    pub fn paper(&self, dataset: &str) -> Option<Paper> {
        self.series.iter().find(|s| s.dataset == dataset)?.paper
    }

    /// Positions in [`Frames::series`] of a data set.
    pub fn series_of(&self, dataset: &str) -> impl Iterator<Item = usize> {
        self.series.iter().enumerate().filter(move |(_, s)| s.dataset == dataset).map(|(i, _)| i)
    }

    /// Whether each series is one of those that the figures of the paper show. With patterns, those of solvers that fit
    /// one; otherwise all while a data set has no more lines than can be told apart, else those of the paper, else the
    /// first ones.
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
            [] if some_of_paper(&series.dataset) => of_paper(series),
            [] => self.series_of(&series.dataset).take(MOST_LINES).any(|s| s == at),
            _ => patterns.iter().any(|pattern| pattern.matches(&series.solver)),
        };
        self.series.iter().enumerate().map(shows).collect()
    }

    /// How many facts two series have in common.
    pub fn alike(&self, a: usize, b: usize) -> usize {
        let facts = |s: usize| &self.series[s].facts;
        facts(a).iter().filter(|(key, value)| facts(b).get(*key) == Some(value)).count()
    }

    /// Those among some series whose times may be compared with those of this one, since they were run under the same
    /// circumstances, and that have most else in common with it.
    pub fn partners(&self, of: usize, among: &[usize]) -> Vec<usize> {
        let comparable: Vec<usize> = among.iter().copied().filter(|s| self.comparable(*s, of)).collect();
        let most = comparable.iter().map(|s| self.alike(*s, of)).max();
        comparable.into_iter().filter(|s| Some(self.alike(*s, of)) == most).collect()
    }

    /// Whether two series were run under the same circumstances.
    pub fn comparable(&self, a: usize, b: usize) -> bool {
        let facts = |s: usize| &self.series[s].facts;
        names::CIRCUMSTANCES.iter().all(|key| facts(a).get(*key) == facts(b).get(*key))
    }

    /// Best lower and upper bound of a data set, when any run has points.
    pub fn bounds_of(&self, dataset: &str) -> Option<Bounds> {
        lookup(&self.bounds, dataset)
    }

    /// What is not known of the optimum: no suboptimality below it is compared with another.
    pub fn floor(&self, dataset: &str) -> f64 {
        self.bounds_of(dataset).map_or(0.0, |(low, high)| high - low)
    }

    /// Whether the gaps of a data set are certified ones, because its oracle is not exact.
    pub fn certified(&self, dataset: &str) -> bool {
        self.series.iter().any(|s| s.dataset == dataset && s.certified)
    }

    /// Title of a panel.
    pub fn panel_title(&self, quantity: Quantity, dataset: &str) -> String {
        let certified = quantity == Quantity::Gap && self.certified(dataset);
        format!("{}{}", quantity.title(), if certified { " (certified)" } else { "" })
    }

    /// A column of [`Frames::points`] as numbers.
    pub fn f64s(&self, column: &str) -> Result<&[f64]> {
        self.points.column(column).and_then(|c| c.f64()).and_then(|c| c.cont_slice()).map_err(polars_error)
    }

    /// A counting column of [`Frames::points`].
    pub fn u64s(&self, column: &str) -> Result<&[u64]> {
        self.points.column(column).and_then(|c| c.u64()).and_then(|c| c.cont_slice()).map_err(polars_error)
    }

    /// The runs of a series that have evaluations.
    pub fn runs_of(&self, series: usize) -> &[Run] {
        let first = self.evaluated.partition_point(|run| run.series < series);
        let count = self.evaluated[first..].partition_point(|run| run.series == series);
        &self.evaluated[first..first + count]
    }
}

/// Whether the steps of a run depend on the clock; those of a solver that is not known may.
fn reads_clock(record: &RunRecord, catalog: &dyn Catalog) -> bool {
    let known = catalog.solver(record.solver()).and_then(|info| {
        let params = info.resolve(&record.settings().solver, catalog.solvers()).ok()?;
        Some((info.reads_clock)(&params))
    });
    known.unwrap_or(true)
}

/// Adds to the heading of a data set what tells it apart, when another one has the same.
fn headings(series: &mut [Series], catalog: &dyn Catalog) {
    let mut known: Vec<(String, String)> = series.iter().map(|s| (s.title.clone(), s.dataset.clone())).collect();
    known.sort_unstable();
    known.dedup();
    for series in series {
        let apart = catalog.title(&series.dataset).1;
        if !apart.is_empty() && known.iter().filter(|(title, _)| *title == series.title).count() > 1 {
            series.title += &format!(" ({apart})");
        }
    }
}

/// The bounds of a data set in the bounds table.
fn lookup(bounds: &DataFrame, dataset: &str) -> Option<Bounds> {
    let row = bounds.column("dataset").ok()?.str().ok()?.iter().position(|name| name == Some(dataset))?;
    let value = |column| bounds.column(column).ok()?.f64().ok()?.get(row);
    Some((value("best_dual")?, value("best_primal")?))
}

fn polars_error(error: PolarsError) -> Error {
    Error::invalid(format!("result tables do not fit together: {error}"))
}
