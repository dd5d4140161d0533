//! Runs each solver on the data for a quarter of a second, to choose the limits of a new config and to estimate its time.
//!
//! A run ends at its gap or at its time limit. A solver that never reaches the gap takes the time limit, whatever the pilot shows. One
//! that reaches it in the pilot takes as long as it did there. Only in between is the curve extrapolated, at its slope on a log-log
//! scale, and the time limit is at most twenty times the pilot. The total is therefore right within a factor of 2.

use std::fmt;
use std::time::Instant;

use crate::error::Result;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::drive::{AnyProblem, Execution, Quiet, TracePoint};
use ssvm::settings::{Budget, Cadence, RunSettings, SolverSpec};
use ssvm::solver::SolverInfo;

/// Solver time of each pilot run.
pub const SECONDS: f64 = 0.25;
/// The gap when every gap that the pilot reached is 0.
const LEAST_GAP: Round = Round { digit: 1, power: -2 };
/// A solver may take this many times as long as the best one before its time is up.
const SLOWER: f64 = 20.0;
/// The time limit of every run allows this many exact passes.
const PASSES: f64 = 20.0;

/// 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    digit: u8,
    power: i32,
}

impl Round {
    /// The smallest one that is not below a positive number, except for rounding.
    fn up(value: f64) -> Self {
        let power = value.log10().floor() as i32;
        let above = |digit: &u8| Self { digit: *digit, power }.value() >= value * (1.0 - 1e-9);
        [1, 2, 5]
            .iter()
            .find(|digit| above(digit))
            .map_or(Self { digit: 1, power: power + 1 }, |digit| Self { digit: *digit, power })
    }

    pub fn value(self) -> f64 {
        f64::from(self.digit) * 10f64.powi(self.power)
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (-1..=4).contains(&self.power) {
            write!(f, "{}", self.value())
        } else {
            write!(f, "{}e{}", self.digit, self.power)
        }
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub gap: Round,
    pub time_s: Round,
}

/// The measurements of one solver.
struct Curve {
    /// Solver time and the best gap so far, at each evaluation.
    gaps: Vec<(f64, f64)>,
    primal: f64,
    /// Seconds per iteration and per evaluation.
    iteration_s: f64,
    evaluation_s: f64,
    /// Seconds that n exact oracle calls take with what the solver does beside them.
    pass_s: f64,
    /// Wall time over CPU time of the solver: above 1 on a busy machine, where the runs will wait as well.
    stretch: f64,
}

/// The pilot runs on one data set.
pub struct Pilot(Vec<Curve>);

impl Pilot {
    pub fn run(problem: &dyn AnyProblem, solvers: &[&SolverInfo], stopped: &(dyn Fn() -> bool + Sync)) -> Result<Self> {
        let curve = |info: &&SolverInfo| Curve::of(problem, info, stopped);
        solvers.iter().map(curve).collect::<Result<_>>().map(Self)
    }

    /// The smallest gap that a solver reached, but not less than a thousandth of the objective, and a time limit that leaves room
    /// for slower solvers.
    pub fn limits(&self) -> Limits {
        let least = |values: &mut dyn Iterator<Item = f64>| values.filter(|v| v.is_finite()).reduce(f64::min);
        let reached = least(&mut self.0.iter().filter_map(|curve| curve.gaps.last()).map(|(_, gap)| *gap));
        let objective = least(&mut self.0.iter().map(|curve| curve.primal)).unwrap_or(0.0);
        let gap = reached.map(|gap| gap.max(1e-3 * objective)).filter(|gap| *gap > 0.0);
        let gap = gap.map_or(LEAST_GAP, Round::up);
        let fastest = least(&mut self.0.iter().map(|curve| curve.seconds_to(gap.value()))).unwrap_or(SECONDS);
        let passes = PASSES * least(&mut self.0.iter().map(|curve| curve.pass_s)).unwrap_or(0.0);
        Limits { gap, time_s: Round::up((SLOWER * fastest).clamp(1.0, SLOWER * SECONDS).max(passes)) }
    }

    /// Seconds of one run of every solver, with its evaluations.
    pub fn seconds(&self, limits: &Limits) -> f64 {
        let run = |curve: &Curve| {
            let seconds = curve.seconds_to(limits.gap.value()).min(limits.time_s.value());
            seconds * curve.stretch
                + curve.evaluation_s * (1 + Cadence::Log.count((seconds / curve.iteration_s) as u64)) as f64
        };
        self.0.iter().map(run).sum()
    }
}

impl Curve {
    fn of(problem: &dyn AnyProblem, info: &SolverInfo, stopped: &(dyn Fn() -> bool + Sync)) -> Result<Self> {
        let settings = RunSettings {
            solver: SolverSpec::new(info.name),
            seed: 1,
            // Wall time of a quarter of a second depends too much on what else the machine does.
            clock: ClockKind::CPU,
            oracle_cost: OracleCost::default(),
            budget: Budget { time_s: Some(SECONDS), ..Budget::default() },
            evaluate: Cadence::Log,
        };
        let execution = Execution { cancelled: stopped, ..Execution::default() };
        let began = Instant::now();
        let outcome = problem.run(&settings, &execution, &mut Quiet)?;
        let beside = (began.elapsed().as_secs_f64() - outcome.wall_s).max(0.0);
        let last = outcome.points.last();
        let per = |seconds: f64, count: f64| seconds.max(1e-9) / count.max(1.0);
        let time = last.map_or(SECONDS, |point| point.time_s);
        let passes = last.map_or(0.0, |point| point.oracle_calls as f64) / problem.problem().terms().max(1) as f64;
        Ok(Self {
            gaps: falling(&outcome.points),
            primal: outcome.points.iter().map(|point| point.primal).fold(f64::INFINITY, f64::min),
            iteration_s: per(time, last.map_or(1.0, |point| point.iteration as f64)),
            evaluation_s: beside / outcome.points.len().max(1) as f64,
            pass_s: time.max(1e-9) / passes.max(1e-9),
            stretch: (outcome.wall_s / outcome.cpu_s.max(1e-9)).clamp(1.0, 100.0),
        })
    }

    /// Solver time to a gap: as it was, else continued.
    fn seconds_to(&self, gap: f64) -> f64 {
        if let Some((time, _)) = self.gaps.iter().find(|(_, reached)| *reached <= gap) {
            return *time;
        }
        let Some((time, last)) = self.gaps.last() else { return f64::INFINITY };
        // The slope over the last three quarters of the time, without the initial phase.
        let before = self.gaps.iter().rfind(|(early, _)| *early > 0.0 && *early <= time / 4.0);
        let slope = before.map_or(1.0, |(early, before)| (before / last).ln() / (time / early).ln());
        time * (last / gap).powf(1.0 / slope.clamp(0.5, 2.0))
    }
}

/// Time and the best gap so far, of the evaluations that know a gap.
fn falling(points: &[TracePoint]) -> Vec<(f64, f64)> {
    let mut best = f64::INFINITY;
    let known = points.iter().filter(|point| point.gap.is_finite());
    known
        .map(|point| {
            best = best.min(point.gap);
            (point.time_s, best)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_to_one_two_or_five() {
        for (value, text) in [
            (1.0, "1"),
            (1.1, "2"),
            (3.0, "5"),
            (0.0021, "5e-3"),
            (6e-4, "1e-3"),
            (0.1, "0.1"),
            (7.0, "10"),
            (1e-3, "1e-3"),
        ] {
            assert_eq!(Round::up(value).to_string(), text, "{value}");
        }
    }

    fn curve(gaps: &[(f64, f64)]) -> Curve {
        Curve { gaps: gaps.to_vec(), primal: 0.1, iteration_s: 0.01, evaluation_s: 0.0, pass_s: 0.01, stretch: 1.0 }
    }

    #[test]
    fn a_curve_is_continued_at_its_slope_and_a_run_ends_at_its_limits() {
        // A gap of 0.01/t.
        let slow = curve(&[(0.0, 1.0), (0.05, 0.2), (0.1, 0.1), (0.2, 0.05)]);
        assert_eq!(slow.seconds_to(0.1), 0.1);
        assert!((slow.seconds_to(0.005) - 2.0).abs() < 1e-12);
        let fast = curve(&[(0.0, 1.0), (0.2, 1e-3)]);
        let no_dual = curve(&[]);
        let pilot = Pilot(vec![slow, fast, no_dual]);
        let limits = pilot.limits();
        assert_eq!((limits.gap.to_string(), limits.time_s.to_string()), ("1e-3".into(), "5".into()));
        // 10 s and infinity are cut at 5 s.
        assert!((pilot.seconds(&limits) - 10.2).abs() < 1e-9);
        let mut beside_others = pilot;
        beside_others.0[1].stretch = 3.0;
        assert!((beside_others.seconds(&limits) - 10.6).abs() < 1e-9, "the solver got a third of a core");
    }
}
