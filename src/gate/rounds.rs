//! The soft gate: two builds run in turns on one core, many short rounds in, one finding per workload out.
//!
//! A round is A B B A, the next one B A A B: a drift of the machine hits both sides alike. Its ratio is the geometric
//! mean of new over old; the median over rounds and its bootstrap interval decide.

use super::workload::{Summary, Workload};
use super::{Error, Finding, Judgement, judge_ratio};
use crate::Result;
use ssvm::stats::{FEWEST_PAIRS, bootstrap, median};

/// Which program a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is compared with.
    Old,
    /// What is judged.
    New,
}

/// How to measure and when to fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Rounds of four runs per workload.
    pub rounds: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Relative change that the whole interval must be beyond.
    pub threshold: f64,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for Design {
    fn default() -> Self {
        Self { rounds: 15, confidence: 0.95, threshold: 0.05, seed: 1 }
    }
}

/// Runs every workload in turns and judges it. `run` does one run, `progress` hears of finished rounds.
pub fn compare(
    workloads: &[Workload],
    design: &Design,
    mut run: impl FnMut(&Workload, Side) -> Result<Summary>,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Finding>> {
    if design.rounds < FEWEST_PAIRS {
        return Err(Error::FewRounds(design.rounds).into());
    }
    // The first run of a program reads it from disk: not counted.
    let mut series = Vec::new();
    for workload in workloads {
        let (old, new) = (run(workload, Side::Old)?, run(workload, Side::New)?);
        series.push(Series { old: Vec::new(), new: Vec::new(), ratios: Vec::new(), first: (old, new) });
    }
    for round in 0..design.rounds {
        use Side::{New, Old};
        let order = if round % 2 == 0 { [Old, New, New, Old] } else { [New, Old, Old, New] };
        for (workload, series) in workloads.iter().zip(&mut series) {
            let mut log_ratio = 0.0;
            for side in order {
                let seconds = run(workload, side)?.cpu_s;
                if !(seconds.is_finite() && seconds > 0.0) {
                    return Err(Error::NoTime(workload.cell.clone()).into());
                }
                let (times, sign) = if side == Old { (&mut series.old, -1.0) } else { (&mut series.new, 1.0) };
                times.push(seconds);
                log_ratio += 0.5 * sign * seconds.ln();
            }
            series.ratios.push(log_ratio.exp());
        }
        progress(round + 1);
    }
    Ok(workloads.iter().zip(&series).map(|(workload, series)| series.judge(workload, design)).collect())
}

/// What was measured of one workload.
struct Series {
    old: Vec<f64>,
    new: Vec<f64>,
    ratios: Vec<f64>,
    first: (Summary, Summary),
}

impl Series {
    fn judge(&self, workload: &Workload, design: &Design) -> Finding {
        let interval = bootstrap(&self.ratios, design.confidence, design.seed);
        let judgement = interval.map_or(Judgement::NotJudged, |interval| judge_ratio(&interval, design.threshold));
        let (old, new) = self.first;
        let note = if old.same_work(&new) {
            String::new()
        } else {
            format!(
                "not the same work: {} and {} oracle calls, {} and {} approximate steps",
                old.oracle_calls, new.oracle_calls, old.approx_steps, new.approx_steps
            )
        };
        let (low, high) = self.new.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), &v| (l.min(v), h.max(v)));
        Finding {
            unit: "s",
            old: Some(median(&self.old)),
            new: Some(median(&self.new)),
            range: Some((low, high)),
            ratio: interval,
            ..Finding::bare(&workload.cell, "solver time (CPU s)", judgement, note)
        }
    }
}
