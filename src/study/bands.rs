//! Bands: the repeats of each series on a common grid → min, median and max of every quantity against iterations, time or
//! oracle calls.
//!
//! On iterations and calls the positions are those where a repeat was evaluated or another run of the data set ends, on time a
//! log-spaced grid shared by the data set. Nothing is said before the first evaluation of a repeat or after its last, except
//! that a repeat that reached its gap stays where it was to the end of the axis. A part of an iteration is on the axes of time
//! and calls only.

use std::ops::Range;
use std::sync::atomic::Ordering;

use polars::prelude::*;

use super::View;
use super::align::{End, count_grid, locate, time_grid};
use super::export;
use super::points::{Run, polars_error};
use crate::error::Result;

/// Points of the common time grid of one data set, besides the ends of its runs.
pub const TIME_GRID: usize = 240;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    Iteration,
    /// Solver time, seconds of the run's clock.
    Time,
    OracleCalls,
}

impl Axis {
    pub const ALL: [Self; 3] = [Self::Iteration, Self::Time, Self::OracleCalls];

    /// Column of the table of points.
    pub fn name(self) -> &'static str {
        ["iteration", "time_s", "oracle_calls"][self as usize]
    }
}

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
    pub const CONVERGENCE: [Self; 3] = [Self::PrimalSub, Self::DualSub, Self::Gap];

    /// Column of the table of points.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    pub fn title(self) -> &'static str {
        self.words().1
    }

    /// What its axis counts; B_lo and B_up are the best bounds of the optimum.
    pub fn unit(self) -> &'static str {
        self.words().2
    }

    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::PrimalSub => ("primal_suboptimality", "primal suboptimality", "P − B_lo"),
            Self::DualSub => ("dual_suboptimality", "dual suboptimality", "B_up − D"),
            Self::Gap => ("gap", "duality gap", "P − D"),
            Self::Planes => ("planes_mean", "working-set size per term", "planes (mean)"),
            Self::Passes => ("passes_per_iteration", "approximate passes per iteration", "passes"),
        }
    }

    /// Whether it is a distance to a bound of the optimum.
    pub fn is_suboptimality(self) -> bool {
        matches!(self, Self::PrimalSub | Self::DualSub)
    }
}

/// Min, median and max over the repeats; NaN where no repeat has a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    pub min: Vec<f64>,
    /// Median (mean of the middle two for an even count).
    pub median: Vec<f64>,
    pub max: Vec<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bands {
    pub x: Vec<f64>,
    /// Repeats in the band of a convergence quantity at each position: those still running, and those that reached
    /// their gap and stay where they were.
    pub count: Vec<u32>,
    /// Repeats still running at each position: those in the bands of planes and passes.
    pub running: Vec<u32>,
    values: [Band; 5],
}

impl Bands {
    pub fn of(&self, quantity: Quantity) -> &Band {
        &self.values[quantity as usize]
    }

    /// Whether a repeat that reached its gap is carried on among the first positions.
    pub fn carried(&self, length: usize) -> bool {
        self.count.iter().zip(&self.running).take(length).any(|(count, running)| running < count)
    }
}

/// The bands of all series of a view on one axis, and the table that they are columns of.
#[derive(Debug)]
pub(super) struct Made {
    pub bands: Vec<Bands>,
    table: DataFrame,
}

/// All repeats at the positions of their grid, one below the other.
#[derive(Default)]
struct Aligned {
    series: Vec<u32>,
    x: Vec<f64>,
    running: Vec<u32>,
    values: [Vec<Option<f64>>; 5],
}

impl Aligned {
    fn add(
        &mut self,
        series: usize,
        grid: &[f64],
        positions: &[f64],
        runs: &[(Range<usize>, End)],
        columns: &[&[f64]],
    ) {
        for x in grid {
            for at in runs.iter().filter_map(|(rows, end)| locate(positions, rows, *end, *x)) {
                self.series.push(series as u32);
                self.x.push(*x);
                self.running.push(u32::from(!at.carried));
                for ((values, column), quantity) in self.values.iter_mut().zip(columns).zip(Quantity::ALL) {
                    // A run that has stopped makes no passes.
                    let counts = !at.carried || Quantity::CONVERGENCE.contains(&quantity);
                    values.push(Some(at.value(column)).filter(|value| counts && value.is_finite()));
                }
            }
        }
    }

    fn table(self) -> PolarsResult<DataFrame> {
        let mut columns = vec![
            Column::new("series".into(), self.series),
            Column::new("x".into(), self.x),
            Column::new("running".into(), self.running),
        ];
        let mut statistics = vec![len().alias("repeats"), col("running").sum()];
        for (quantity, values) in Quantity::ALL.into_iter().zip(self.values) {
            let name = quantity.name();
            columns.push(Column::new(name.into(), values));
            // The mean of the middle two, to the bit; Polars interpolates its median.
            let middle = |method| col(name).quantile(lit(0.5), method);
            let median = (middle(QuantileMethod::Lower) + middle(QuantileMethod::Higher)) / lit(2.0);
            for (statistic, of) in [("min", col(name).min()), ("median", median), ("max", col(name).max())] {
                statistics.push(of.fill_null(lit(f64::NAN)).alias(format!("{name} {statistic}")));
            }
        }
        let mut table = DataFrame::new_infer_height(columns)?
            .lazy()
            .group_by_stable([col("series"), col("x")])
            .agg(statistics)
            .collect()?;
        table.rechunk_mut();
        Ok(table)
    }
}

impl View {
    pub(super) fn make_bands(&self, axis: Axis) -> Result<Made> {
        self.points.bands_made.fetch_add(1, Ordering::Relaxed);
        let columns = Quantity::ALL.map(|quantity| self.points.f64s(quantity.name()));
        let columns: Vec<&[f64]> = columns.into_iter().collect::<Result<_>>()?;
        let positions: Vec<f64> = match axis {
            Axis::Time => self.points.f64s(axis.name())?.to_vec(),
            _ => self.points.u64s(axis.name())?.iter().map(|count| *count as f64).collect(),
        };
        let runs = |series: usize| -> Vec<(Range<usize>, End)> {
            let rows = |run: &Run| if axis == Axis::Iteration { run.whole.clone() } else { run.rows.clone() };
            self.runs_of(series).iter().map(|run| (rows(run), run.end)).collect()
        };
        let mut aligned = Aligned::default();
        for dataset in self.datasets() {
            let of_all: Vec<_> = self.series_of(dataset).flat_map(runs).collect();
            let rows = || of_all.iter().map(|(rows, _)| &positions[rows.clone()]);
            let ends: Vec<f64> = rows().filter_map(|rows| rows.last().copied()).collect();
            let times = if axis == Axis::Time { time_grid(rows(), TIME_GRID) } else { Vec::new() };
            for series in self.series_of(dataset) {
                let runs = runs(series);
                let counts = if axis == Axis::Time { Vec::new() } else { count_grid(&positions, &runs, &ends) };
                let grid = if axis == Axis::Time { &times } else { &counts };
                aligned.add(series, grid, &positions, &runs, &columns);
            }
        }
        let table = aligned.table().map_err(polars_error)?;
        let bands = (0..self.series.len()).map(|series| bands_of(&table, series as u32)).collect::<PolarsResult<_>>();
        Ok(Made { bands: bands.map_err(polars_error)?, table })
    }

    /// All bands as one long table: `dataset solver label axis quantity x min median max repeats`.
    pub fn bands_table(&self) -> Result<DataFrame> {
        let names = export::names(&self.series.iter().map(Some).collect::<Vec<_>>());
        let mut tables = Vec::new();
        for axis in Axis::ALL {
            let named = self.made_bands(axis)?.table.clone().lazy().with_columns(names.clone());
            for quantity in Quantity::ALL {
                let mut columns = ["dataset", "solver", "label"].map(col).to_vec();
                columns.extend([lit(axis.name()).alias("axis"), lit(quantity.name()).alias("quantity"), col("x")]);
                let statistic = |name: &str| col(format!("{} {name}", quantity.name())).alias(name);
                columns.extend(["min", "median", "max"].map(statistic));
                columns.push(col("repeats"));
                tables.push(named.clone().select(columns));
            }
        }
        concat(tables, UnionArgs::default()).and_then(LazyFrame::collect).map_err(polars_error)
    }
}

fn bands_of(table: &DataFrame, series: u32) -> PolarsResult<Bands> {
    let ids = table.column("series")?.u32()?.cont_slice()?;
    let rows = ids.partition_point(|id| *id < series)..ids.partition_point(|id| *id <= series);
    let numbers = |name: &str| PolarsResult::Ok(table.column(name)?.f64()?.cont_slice()?[rows.clone()].to_vec());
    let counts = |name: &str| PolarsResult::Ok(table.column(name)?.u32()?.cont_slice()?[rows.clone()].to_vec());
    let mut values: [Band; 5] = Default::default();
    for (band, quantity) in values.iter_mut().zip(Quantity::ALL) {
        let statistic = |name: &str| numbers(&format!("{} {name}", quantity.name()));
        *band = Band { min: statistic("min")?, median: statistic("median")?, max: statistic("max")? };
    }
    Ok(Bands { x: numbers("x")?, count: counts("repeats")?, running: counts("running")?, values })
}
