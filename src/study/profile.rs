//! The oracle share of each series, and its latencies with all repeats merged.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::{Error, View};
use crate::error::Result;
use crate::store::RunRecord;
use ssvm::clock::latency_histogram;
use ssvm::drive::TracePoint;
use ssvm::stats::Spread;

/// Quantiles of one histogram, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub count: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
}

impl Latency {
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            max: histogram.max(),
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileRow {
    pub dataset: String,
    pub title: String,
    pub label: String,
    pub display: String,
    pub clock: String,
    /// Runs that succeeded; the numbers are over these.
    pub completed: usize,
    pub failed: usize,
    /// Exact oracle time over solver time on the run's clock, over repeats.
    pub share: Option<Spread>,
    /// The same over the last half of the iterations, for solvers that keep planes: their share falls while working sets fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_share: Option<Spread>,
    /// Wall time on the way to an oracle that is a program and back, over wall time, over repeats.
    #[serde(default)]
    pub pipe: Option<Spread>,
    pub oracle_calls: u64,
    pub approx_steps: u64,
    /// Exact calls, wall ns, all repeats merged.
    pub oracle_ns: Option<Latency>,
    /// Sampled approximate steps, wall ns, all repeats merged.
    pub approx_ns: Option<Latency>,
    /// What [`Self::share`] and [`Self::late_share`] are the spread of: a number per run.
    #[serde(skip)]
    pub shares: Vec<f64>,
    #[serde(skip)]
    pub late_shares: Vec<f64>,
    #[serde(skip, default = "latency_histogram")]
    pub oracle_histogram: Histogram<u64>,
    #[serde(skip, default = "latency_histogram")]
    pub approx_histogram: Histogram<u64>,
}

pub fn profile(view: &View) -> Result<Vec<ProfileRow>> {
    let mut rows = Vec::with_capacity(view.series.len());
    for (at, series) in view.series.iter().enumerate() {
        let (mut oracle, mut approx) = (latency_histogram(), latency_histogram());
        let (mut pipes, mut oracle_calls, mut approx_steps) = (Vec::new(), 0, 0);
        for record in view.records_of(at) {
            // A run that timed out counts, because its time was spent like that of the others.
            let Some(last) = record.points().last() else { continue };
            let totals = &record.measured.totals;
            pipes.extend((totals.pipe_s > 0.0).then(|| totals.pipe_s / totals.wall_s));
            oracle_calls += last.oracle_calls;
            approx_steps += last.approx_steps;
            oracle.add(record.measured.oracle_ns.histogram()?).map_err(Error::Histograms)?;
            approx.add(record.measured.approx_ns.histogram()?).map_err(Error::Histograms)?;
        }
        let runs = view.records_of(at).iter();
        let shares: Vec<f64> = runs.clone().filter_map(oracle_share).collect();
        let late_shares: Vec<f64> = runs.filter(|_| series.keeps_planes()).filter_map(late_oracle_share).collect();
        rows.push(ProfileRow {
            dataset: series.dataset.clone(),
            title: series.title.clone(),
            label: series.label.clone(),
            display: series.display.clone(),
            clock: series.key.clock.name().to_owned(),
            completed: series.completed,
            failed: series.failed,
            share: Spread::of(shares.iter().copied()),
            late_share: Spread::of(late_shares.iter().copied()),
            pipe: Spread::of(pipes),
            oracle_calls,
            approx_steps,
            oracle_ns: Latency::of(&oracle),
            approx_ns: Latency::of(&approx),
            shares,
            late_shares,
            oracle_histogram: oracle,
            approx_histogram: approx,
        });
    }
    Ok(rows)
}

fn oracle_share(record: &RunRecord) -> Option<f64> {
    let last = record.points().last()?;
    Some(last.oracle_time_s / last.time_s).filter(|share| share.is_finite())
}

/// The share in the last half of the iterations, which has as many exact calls as the first half, whatever the clock and the oracle
/// cost.
fn late_oracle_share(record: &RunRecord) -> Option<f64> {
    let (points, last) = (record.points(), record.points().last()?);
    let middle = last.iteration as f64 / 2.0;
    let after = points.iter().position(|point| point.iteration as f64 >= middle)?;
    let place = |point: &TracePoint| (point.iteration as f64, point.time_s, point.oracle_time_s);
    let (x0, time0, oracle0) = after.checked_sub(1).map_or((0.0, 0.0, 0.0), |before| place(&points[before]));
    let (x1, time1, oracle1) = place(&points[after]);
    let way = if x1 > x0 { (middle - x0) / (x1 - x0) } else { 1.0 };
    let (time, oracle) = (time0 + way * (time1 - time0), oracle0 + way * (oracle1 - oracle0));
    Some((last.oracle_time_s - oracle) / (last.time_s - time)).filter(|share| share.is_finite())
}
