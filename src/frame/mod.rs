//! Trace records → Polars tables: in come [`RunRecord`]s, out go bounds, suboptimalities and min–median–max bands.
//!
//! Polars holds the tables and does the grouping and joining; the alignment of repeats ([`align`]) is our own code on
//! the columns. Failed runs are rows of [`Frames::runs`] and counts of each [`Series`]; they never enter a band.

pub mod align;
pub mod export;
pub mod load;
pub mod names;
pub mod profile;
mod table;
pub mod target;

use std::collections::BTreeMap;
use std::ops::Range;

use polars::prelude::*;

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::problem::Paper;
use crate::solver::SolverInfo;
use crate::stats::median_of_sorted;
use crate::trace::RunRecord;
use align::Aligned;

/// Points of the common time grid of one data set, besides the ends of its runs.
pub const TIME_GRID: usize = 240;

/// What the x axis of a band counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// Completed iterations.
    Iteration,
    /// Solver time, seconds of the run's clock.
    Time,
    /// Exact oracle calls.
    OracleCalls,
}

impl Axis {
    /// All axes.
    pub const ALL: [Self; 3] = [Self::Iteration, Self::Time, Self::OracleCalls];

    /// Name in exported tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Time => "time_s",
            Self::OracleCalls => "oracle_calls",
        }
    }
}

/// A quantity that bands are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// P − best lower bound.
    PrimalSub,
    /// Best upper bound − D.
    DualSub,
    /// P − D.
    Gap,
    /// Mean working-set size per term.
    Planes,
    /// Approximate passes per iteration since the previous evaluation.
    Passes,
}

impl Quantity {
    /// All quantities, in the order of [`Bands::of`].
    pub const ALL: [Self; 5] = [Self::PrimalSub, Self::DualSub, Self::Gap, Self::Planes, Self::Passes];
    /// The three panels of the convergence figures.
    pub const CONVERGENCE: [Self; 3] = [Self::PrimalSub, Self::DualSub, Self::Gap];

    /// Column of [`Frames::points`].
    pub fn name(self) -> &'static str {
        match self {
            Self::PrimalSub => "primal_suboptimality",
            Self::DualSub => "dual_suboptimality",
            Self::Gap => "gap",
            Self::Planes => "planes_mean",
            Self::Passes => "passes_per_iteration",
        }
    }

    /// Panel title.
    pub fn title(self) -> &'static str {
        match self {
            Self::PrimalSub => "primal suboptimality",
            Self::DualSub => "dual suboptimality",
            Self::Gap => "duality gap",
            Self::Planes => "planes per term (mean)",
            Self::Passes => "approximate passes per iteration",
        }
    }
}

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
    /// Runs that ended well.
    pub completed: usize,
    /// Runs that failed.
    pub failed: usize,
}

impl Series {
    /// Whether the solver keeps working sets, or at least is not known not to.
    pub fn keeps_planes(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.keeps_planes)
    }
}

/// Min, median and max over the repeats still running; NaN where no repeat has a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Smallest.
    pub min: Vec<f64>,
    /// Median (mean of the middle two for an even count).
    pub median: Vec<f64>,
    /// Largest.
    pub max: Vec<f64>,
}

/// The bands of one series on one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bands {
    /// Positions.
    pub x: Vec<f64>,
    /// Repeats still running at each position.
    pub count: Vec<u32>,
    values: [Band; 5],
}

impl Bands {
    /// The band of one quantity.
    pub fn of(&self, quantity: Quantity) -> &Band {
        &self.values[quantity as usize]
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
    /// One row per evaluation of a run that ended well, with suboptimalities; `series` is the position in the list.
    pub points: DataFrame,
    /// Per data set with points: `dataset`, `best_dual` (B_lo), `best_primal` (B_up).
    pub bounds: DataFrame,
    /// Series of each record given to [`Frames::new`]; `None` for isolated repetitions, which are left out.
    pub of_record: Vec<Option<usize>>,
    /// Series and rows of `points` of every run that ended well, in order.
    spans: Vec<(usize, Range<usize>)>,
}

impl Frames {
    /// Builds the tables.
    pub fn new(records: &[RunRecord], catalog: &dyn Catalog) -> Result<Self> {
        struct Planned<'a> {
            record: &'a RunRecord,
            dataset: String,
            label: String,
            place: usize,
        }
        let kept = || records.iter().enumerate().filter(|(_, r)| r.circumstances.probe_of.is_none());
        let names = names::series(&kept().map(|(_, record)| record).collect::<Vec<_>>());
        let mut planned: Vec<Planned> = kept()
            .zip(names)
            .map(|((place, record), (dataset, label))| Planned { record, dataset, label, place })
            .collect();
        planned.sort_by(|a, b| {
            let solver = |p: &Planned| (catalog.solver_rank(p.record.solver()), p.record.solver().to_owned());
            let run = |p: &Planned| (p.label.clone(), p.record.repeat, p.record.run_id());
            let dataset = catalog.dataset_rank(&a.dataset).cmp(&catalog.dataset_rank(&b.dataset));
            dataset.then_with(|| solver(a).cmp(&solver(b))).then_with(|| run(a).cmp(&run(b)))
        });

        let mut series: Vec<Series> = Vec::new();
        let mut of_record = vec![None; records.len()];
        let mut of_run = Vec::with_capacity(planned.len());
        for Planned { record, dataset, label, place } in planned {
            if series.last().is_none_or(|s| s.dataset != dataset || s.label != label) {
                series.push(Series {
                    title: catalog.title(&dataset).to_owned(),
                    paper: catalog.paper(&dataset),
                    twin: catalog.is_twin(record.dataset()),
                    solver: record.solver().to_owned(),
                    display: catalog.label(&label),
                    info: catalog.solver(record.solver()).cloned(),
                    clock: record.settings().clock.name(),
                    dataset,
                    label,
                    completed: 0,
                    failed: 0,
                });
            }
            let at = series.len() - 1;
            *(if record.status.is_done() { &mut series[at].completed } else { &mut series[at].failed }) += 1;
            of_record[place] = Some(at);
            of_run.push((record, at));
        }
        let planned = of_run;
        let (points, spans) = table::points(&planned)?;
        let bounds = table::bounds(&points, &series)?;
        let points = table::with_suboptimality(points, &spans, |at| lookup(&bounds, &series[at].dataset))?;
        let runs = table::runs(&planned, &series)?;
        let pairs = catalog.pairs().iter().map(|(one, multi)| (one.name.to_owned(), multi.name.to_owned())).collect();
        Ok(Self { pairs, series, runs, points, bounds, of_record, spans })
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

    /// Best lower and upper bound of a data set, when any run has points.
    pub fn bounds_of(&self, dataset: &str) -> Option<(f64, f64)> {
        lookup(&self.bounds, dataset)
    }

    /// A column of [`Frames::points`] as numbers.
    pub fn f64s(&self, column: &str) -> Result<&[f64]> {
        self.points.column(column).and_then(|c| c.f64()).and_then(|c| c.cont_slice()).map_err(polars_error)
    }

    /// A counting column of [`Frames::points`].
    pub fn u64s(&self, column: &str) -> Result<&[u64]> {
        self.points.column(column).and_then(|c| c.u64()).and_then(|c| c.cont_slice()).map_err(polars_error)
    }

    /// Rows of [`Frames::points`] per run of a series that ended well.
    pub fn rows(&self, series: usize) -> Vec<Range<usize>> {
        let first = self.spans.partition_point(|(s, _)| *s < series);
        self.spans[first..].iter().take_while(|(s, _)| *s == series).map(|(_, rows)| rows.clone()).collect()
    }

    /// The bands of every series, in the order of [`Frames::series`].
    ///
    /// On iterations and oracle calls a position counts when every repeat still running was evaluated there; on time,
    /// repeats are step functions on a log-spaced grid shared by the data set (last value carried forward, nothing
    /// before a run's first evaluation or after its last).
    pub fn bands(&self, axis: Axis) -> Result<Vec<Bands>> {
        let columns = Quantity::ALL.map(|q| self.f64s(q.name()));
        let columns: Vec<&[f64]> = columns.into_iter().collect::<Result<_>>()?;
        let mut grids: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        if axis == Axis::Time {
            let time = self.f64s("time_s")?;
            for dataset in self.datasets() {
                let runs = self.series_of(dataset).flat_map(|s| self.rows(s)).map(|rows| &time[rows]);
                grids.insert(dataset, align::time_grid(runs, TIME_GRID));
            }
        }
        let mut all = Vec::with_capacity(self.series.len());
        for (at, series) in self.series.iter().enumerate() {
            let rows = self.rows(at);
            let aligned = match axis {
                Axis::Time => align::on_grid(self.f64s("time_s")?, &rows, &grids[series.dataset.as_str()]),
                _ => align::on_counts(self.u64s(axis.name())?, &rows),
            };
            all.push(bands_of(&aligned, &columns));
        }
        Ok(all)
    }

    /// All bands as one long table: `dataset solver label axis quantity x min median max repeats`.
    pub fn bands_table(&self) -> Result<DataFrame> {
        let mut text: [Vec<&str>; 5] = Default::default();
        let mut numbers: [Vec<f64>; 4] = Default::default();
        let mut repeats = Vec::new();
        for axis in Axis::ALL {
            for (series, bands) in self.series.iter().zip(self.bands(axis)?) {
                for quantity in Quantity::ALL {
                    let band = bands.of(quantity);
                    let key = [&series.dataset, &series.solver, &series.label, axis.name(), quantity.name()];
                    for (column, value) in text.iter_mut().zip(key) {
                        column.extend(std::iter::repeat_n(value, bands.x.len()));
                    }
                    for (column, values) in numbers.iter_mut().zip([&bands.x, &band.min, &band.median, &band.max]) {
                        column.extend_from_slice(values);
                    }
                    repeats.extend_from_slice(&bands.count);
                }
            }
        }
        let text = ["dataset", "solver", "label", "axis", "quantity"].into_iter().zip(text);
        let numbers = ["x", "min", "median", "max"].into_iter().zip(numbers);
        let mut columns: Vec<Column> = text.map(|(name, values)| Column::new(name.into(), values)).collect();
        columns.extend(numbers.map(|(name, values)| Column::new(name.into(), values)));
        columns.push(Column::new("repeats".into(), repeats));
        DataFrame::new_infer_height(columns).map_err(polars_error)
    }
}

/// The bounds of a data set in the bounds table.
fn lookup(bounds: &DataFrame, dataset: &str) -> Option<(f64, f64)> {
    let row = bounds.column("dataset").ok()?.str().ok()?.iter().position(|name| name == Some(dataset))?;
    let value = |column| bounds.column(column).ok()?.f64().ok()?.get(row);
    Some((value("best_dual")?, value("best_primal")?))
}

fn polars_error(error: PolarsError) -> Error {
    Error::invalid(format!("result tables do not fit together: {error}"))
}

fn bands_of(aligned: &Aligned, columns: &[&[f64]]) -> Bands {
    let mut bands = Bands { x: aligned.x.clone(), count: Vec::with_capacity(aligned.x.len()), ..Bands::default() };
    let mut sorted = Vec::new();
    for at in 0..aligned.x.len() {
        let rows = aligned.rows(at);
        bands.count.push(rows.len() as u32);
        for (band, column) in bands.values.iter_mut().zip(columns) {
            sorted.clear();
            sorted.extend(rows.iter().map(|row| column[*row]).filter(|value| value.is_finite()));
            sorted.sort_unstable_by(f64::total_cmp);
            band.min.push(sorted.first().copied().unwrap_or(f64::NAN));
            band.median.push(median_of_sorted(&sorted));
            band.max.push(sorted.last().copied().unwrap_or(f64::NAN));
        }
    }
    bands
}
