//! Min–median–max bands: the evaluations of [`Frames`] in; for every series its bands against iterations, time or calls
//! out.

use std::collections::BTreeMap;
use std::ops::Range;

use polars::prelude::*;

use super::align::{self, Aligned, End, Run};
use super::{Frames, Series, polars_error};
use crate::error::Result;
use ssvm::stats::median_of_sorted;

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

    /// Whether it is a distance to a bound of the optimum.
    pub fn is_suboptimality(self) -> bool {
        matches!(self, Self::PrimalSub | Self::DualSub)
    }

    /// Panel title.
    pub fn title(self) -> &'static str {
        match self {
            Self::PrimalSub => "primal suboptimality",
            Self::DualSub => "dual suboptimality",
            Self::Gap => "duality gap",
            Self::Planes => "working-set size per term",
            Self::Passes => "approximate passes per iteration",
        }
    }

    /// What its axis counts; B_lo and B_up are the best bounds of the optimum.
    pub fn unit(self) -> &'static str {
        match self {
            Self::PrimalSub => "P − B_lo",
            Self::DualSub => "B_up − D",
            Self::Gap => "P − D",
            Self::Planes => "planes (mean)",
            Self::Passes => "passes",
        }
    }
}

/// Min, median and max over the repeats; NaN where no repeat has a number.
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
    /// Repeats in the band of a convergence quantity at each position: those still running, and those that reached
    /// their gap and stay where they were.
    pub count: Vec<u32>,
    /// Repeats still running at each position: those in the bands of planes and passes.
    pub running: Vec<u32>,
    values: [Band; 5],
}

impl Bands {
    /// The band of one quantity.
    pub fn of(&self, quantity: Quantity) -> &Band {
        &self.values[quantity as usize]
    }

    /// Whether a repeat that reached its gap is carried on among the first positions.
    pub fn carried(&self, length: usize) -> bool {
        self.count.iter().zip(&self.running).take(length).any(|(count, running)| running < count)
    }
}

impl Frames {
    /// The bands of every series, in the order of [`Frames::series`].
    ///
    /// On iterations and oracle calls the positions are those where a repeat was evaluated or another run of the data set ends, on time a log-spaced grid
    /// shared by the data set. Between evaluations a repeat is a straight line in log-log; nothing is said before its
    /// first evaluation or after its last, except that a repeat that reached its gap stays where it was to the end of
    /// the data set's axis. A part of an iteration is on the axes of time and calls only.
    pub fn bands(&self, axis: Axis) -> Result<Vec<Bands>> {
        let columns = Quantity::ALL.map(|q| self.f64s(q.name()));
        let columns: Vec<&[f64]> = columns.into_iter().collect::<Result<_>>()?;
        let positions: Vec<f64> = match axis {
            Axis::Time => self.f64s("time_s")?.to_vec(),
            _ => self.u64s(axis.name())?.iter().map(|count| *count as f64).collect(),
        };
        let rows = |run: &Run| if axis == Axis::Iteration { run.whole.clone() } else { run.rows.clone() };
        let of = |series: usize| -> Vec<_> { self.runs_of(series).iter().map(|run| (rows(run), run.end)).collect() };
        let mut grids: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let mut ends: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for dataset in self.datasets() {
            let last = |(rows, _): &(Range<usize>, End)| positions[rows.clone()].last().copied();
            let of_all = || self.series_of(dataset).flat_map(of);
            ends.insert(dataset, of_all().filter_map(|run| last(&run)).collect());
            if axis == Axis::Time {
                let runs: Vec<_> = of_all().collect();
                let times = runs.iter().map(|(rows, _)| &positions[rows.clone()]);
                grids.insert(dataset, align::time_grid(times, TIME_GRID));
            }
        }
        let bands = |(at, series): (usize, &Series)| {
            let (runs, dataset) = (of(at), series.dataset.as_str());
            let aligned = match grids.get(dataset) {
                Some(grid) => align::align(&positions, &runs, grid),
                None => align::align(&positions, &runs, &align::count_grid(&positions, &runs, &ends[dataset])),
            };
            bands_of(&aligned, &columns)
        };
        Ok(self.series.iter().enumerate().map(bands).collect())
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

fn bands_of(aligned: &Aligned, columns: &[&[f64]]) -> Bands {
    let mut bands = Bands { x: aligned.x.clone(), count: Vec::with_capacity(aligned.x.len()), ..Bands::default() };
    let mut sorted = Vec::new();
    for at in 0..aligned.x.len() {
        let places = aligned.places(at);
        bands.count.push(places.len() as u32);
        bands.running.push(places.iter().filter(|place| !place.carried).count() as u32);
        for ((band, column), quantity) in bands.values.iter_mut().zip(columns).zip(Quantity::ALL) {
            // A run that has stopped makes no passes.
            let counts = |carried: bool| !carried || Quantity::CONVERGENCE.contains(&quantity);
            let values = places.iter().filter(|place| counts(place.carried)).map(|place| place.value(column));
            sorted.clear();
            sorted.extend(values.filter(|value| value.is_finite()));
            sorted.sort_unstable_by(f64::total_cmp);
            band.min.push(sorted.first().copied().unwrap_or(f64::NAN));
            band.median.push(median_of_sorted(&sorted));
            band.max.push(sorted.last().copied().unwrap_or(f64::NAN));
        }
    }
    bands
}
