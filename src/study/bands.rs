//! Bands: the repeats of each series on a common grid → min, median and max of every quantity against iterations, time or
//! oracle calls.
//!
//! On the axes of iterations and calls, the positions are those at which a repeat was evaluated or another run of the problem ends; on
//! the time axis they are log-spaced. Runs of one problem, oracle cost and clock share the grid, so that the bands of a series are the
//! same in every view. A repeat counts from its first to its last evaluation; one that reached its gap keeps its last value. An
//! evaluation inside an iteration is on the axes of time and calls only.

use std::sync::atomic::Ordering;

use polars::prelude::*;

use super::View;
use super::align::{count_grid, locate, time_grid};
use super::export::{column, table};
use super::points::{Points, Repeats, Run, numbers};
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

    pub fn name(self) -> &'static str {
        self.words().0
    }

    pub fn title(self) -> &'static str {
        self.words().1
    }

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
    /// their gap and keep their last value.
    pub count: Vec<u32>,
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

impl View {
    pub fn bands(&self, axis: Axis) -> Result<Vec<&Bands>> {
        self.series.iter().map(|series| self.points.bands(series.at, axis)).collect()
    }
}

impl Points {
    fn bands(&self, series: usize, axis: Axis) -> Result<&Bands> {
        let Repeats { grid, place, .. } = self.repeats[series];
        let made = &self.grids[grid].bands[axis as usize];
        if let Some(bands) = made.get() {
            return Ok(&bands[place]);
        }
        let bands = self.make_bands(&self.grids[grid].series, axis)?;
        Ok(&made.get_or_init(|| bands)[place])
    }

    /// The bands of series that share a grid.
    fn make_bands(&self, series: &[usize], axis: Axis) -> Result<Vec<Bands>> {
        self.bands_made.fetch_add(series.len(), Ordering::Relaxed);
        let positions = numbers(&self.table, axis.name())?;
        let mut columns = Vec::new();
        for quantity in Quantity::ALL {
            columns.push(numbers(&self.table, quantity.name())?);
        }
        let rows = |run: &Run| if axis == Axis::Iteration { run.whole.clone() } else { run.rows.clone() };
        let runs = |series: usize| self.repeats[series].runs.iter().map(|run| (&positions[rows(run)], run));
        let all: Vec<&[f64]> = series.iter().flat_map(|series| runs(*series)).map(|(positions, _)| positions).collect();
        let times = if axis == Axis::Time { time_grid(&all, TIME_GRID) } else { Vec::new() };
        let (mut places, mut x, mut running) = (Vec::new(), Vec::new(), Vec::new());
        let mut values: [Vec<Option<f64>>; 5] = Default::default();
        for (place, series) in series.iter().enumerate() {
            let counts = if axis == Axis::Time { Vec::new() } else { count_grid(runs(*series).map(|run| run.0), &all) };
            for position in times.iter().chain(&counts) {
                for (positions, run) in runs(*series) {
                    let Some(at) = locate(positions, run.end, *position) else { continue };
                    places.push(place as u32);
                    x.push(*position);
                    running.push(u32::from(!at.carried));
                    for ((values, column), quantity) in values.iter_mut().zip(&columns).zip(Quantity::ALL) {
                        // A run that has stopped makes no passes.
                        let counts = !at.carried || Quantity::CONVERGENCE.contains(&quantity);
                        values.push(Some(at.value(&column[rows(run)])).filter(|value| counts && value.is_finite()));
                    }
                }
            }
        }
        let mut aligned = vec![column("series", places), column("x", x), column("running", running)];
        aligned.extend(Quantity::ALL.iter().zip(values).map(|(quantity, values)| column(quantity.name(), values)));
        let table = over_repeats(table(aligned)?)?;
        (0..series.len()).map(|place| bands_of(&table, place as u32)).collect()
    }
}

/// Min, median and max over the repeats at each position.
fn over_repeats(aligned: DataFrame) -> PolarsResult<DataFrame> {
    let mut statistics = vec![len().alias("repeats"), col("running").sum()];
    for name in Quantity::ALL.map(Quantity::name) {
        // The mean of the middle two, to the bit; Polars interpolates its median.
        let middle = |method| col(name).quantile(lit(0.5), method);
        let median = (middle(QuantileMethod::Lower) + middle(QuantileMethod::Higher)) / lit(2.0);
        for (statistic, of) in [("min", col(name).min()), ("median", median), ("max", col(name).max())] {
            statistics.push(of.fill_null(lit(f64::NAN)).alias(format!("{name} {statistic}")));
        }
    }
    let mut table = aligned.lazy().group_by_stable([col("series"), col("x")]).agg(statistics).collect()?;
    table.rechunk_mut();
    Ok(table)
}

fn bands_of(table: &DataFrame, series: u32) -> Result<Bands> {
    let counts = |name: &str| -> Result<&[u32]> { Ok(table.column(name)?.u32()?.cont_slice()?) };
    let places = counts("series")?;
    let rows = places.partition_point(|place| *place < series)..places.partition_point(|place| *place <= series);
    let mut values: [Band; 5] = Default::default();
    for (band, quantity) in values.iter_mut().zip(Quantity::ALL) {
        let of =
            |name: &str| numbers(table, &format!("{} {name}", quantity.name())).map(|all| all[rows.clone()].to_vec());
        *band = Band { min: of("min")?, median: of("median")?, max: of("max")? };
    }
    Ok(Bands {
        x: numbers(table, "x")?[rows.clone()].to_vec(),
        count: counts("repeats")?[rows.clone()].to_vec(),
        running: counts("running")?[rows].to_vec(),
        values,
    })
}
