//! The gate of timings: two builds that run in turns on one core, many short rounds → one finding per workload.
//!
//! A round is A B B A, the next one B A A B: a drift of the machine hits both sides alike. Its ratio is the geometric
//! mean of new over old; the median over rounds and its interval decide. The confidence holds for all workloads together; with
//! too few rounds for it, nothing is decided.

use super::workload::{WorkDone, Workload};
use super::{Error, Finding, Judgement, judge_ratio};
use crate::Result;
use crate::study::estimate::Sampling;
use crate::study::paired::{pairs_needed, simultaneous};
use crate::text::seconds;
use ssvm::stats::{FEWEST_PAIRS, median};

/// Runs of 1 to 8 ms had intervals of ±17 % on a quiet machine, those of 10 ms and more a few per cent.
const SHORTEST: f64 = 0.01;

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
    /// Confidence of the intervals, all of them together.
    pub confidence: f64,
    /// Relative change that the whole interval must be beyond.
    pub threshold: f64,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for Design {
    fn default() -> Self {
        // The interval of 17 leaves out four at each end and covers the median in 95.1 % of all cases; that of 15 or 16 leaves out three.
        Self { rounds: 17, confidence: 0.95, threshold: 0.05, seed: 1 }
    }
}

/// What was measured of one workload.
struct Turns<'a> {
    workload: &'a Workload,
    old: Vec<f64>,
    new: Vec<f64>,
    /// Logarithms, one per round.
    ratios: Vec<(f64, f64)>,
    note: String,
}

/// Runs every workload in turns and judges it. `run` makes one run, and `progress` is called after each round.
pub fn compare(
    workloads: &[Workload],
    design: &Design,
    mut run: impl FnMut(&Workload, Side) -> Result<WorkDone>,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Finding>> {
    use Side::{New, Old};
    if design.rounds < FEWEST_PAIRS {
        return Err(Error::FewRounds(design.rounds).into());
    }
    // The first run of a program reads it from disk: not timed.
    let mut series = Vec::new();
    for workload in workloads {
        let (old, new) = (run(workload, Old)?, run(workload, New)?);
        let mut note = String::new();
        if (old.oracle_calls, old.approx_steps) != (new.oracle_calls, new.approx_steps) {
            note = format!(
                "not the same work: {} and {} oracle calls, {} and {} approximate steps",
                old.oracle_calls, new.oracle_calls, old.approx_steps, new.approx_steps
            );
        }
        series.push(Turns { workload, old: Vec::new(), new: Vec::new(), ratios: Vec::new(), note });
    }
    for round in 0..design.rounds {
        let order = if round % 2 == 0 { [Old, New, New, Old] } else { [New, Old, Old, New] };
        for Turns { workload, old, new, ratios, .. } in &mut series {
            let mut log_ratio = 0.0;
            for side in order {
                let time = run(workload, side)?.cpu_s;
                if !(time.is_finite() && time > 0.0) {
                    return Err(Error::NoTime(workload.cell.clone()).into());
                }
                let (times, sign) = if side == Old { (&mut *old, -1.0) } else { (&mut *new, 1.0) };
                times.push(time);
                log_ratio += 0.5 * sign * time.ln();
            }
            ratios.push((log_ratio, log_ratio));
        }
        progress(round + 1);
    }
    let needed = pairs_needed(series.len(), design.confidence);
    // Bonferroni, as between folders.
    let confidence = 1.0 - (1.0 - design.confidence) / series.len().max(1) as f64;
    let sampling = Sampling { draws: 4000, seed: design.seed, confidence, fewest: FEWEST_PAIRS };
    Ok(series.into_iter().map(|series| series.judge(design, &sampling, needed)).collect())
}

impl Turns<'_> {
    fn judge(self, design: &Design, sampling: &Sampling, needed: usize) -> Finding {
        let (rounds, mut notes) = (self.ratios.len(), Vec::from_iter(Some(self.note).filter(|note| !note.is_empty())));
        let ratio = simultaneous(&[vec![self.ratios]], sampling).remove(0);
        let mut judgement = ratio.map_or(Judgement::NotJudged, |ratio| judge_ratio(&ratio, design.threshold));
        if rounds < needed && judgement != Judgement::NotJudged {
            judgement = Judgement::Undecided;
            notes.push(format!("{rounds} rounds are too few for this confidence; {needed} are needed"));
        }
        let (old, new) = (median(&self.old), median(&self.new));
        // The remark matters only for undecided workloads.
        if old.min(new) < SHORTEST && judgement == Judgement::Undecided {
            notes.push(format!("runs of {} are too short for a clock; use more iterations", seconds(old.min(new))));
        }
        let bare = Finding::bare(&self.workload.cell, "solver time (CPU s)", judgement, notes.join("; "));
        Finding { ratio, ..bare }.with_values("s", Some(old), Some(new), self.new.into_iter())
    }
}
