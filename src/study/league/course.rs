//! One run as the league sees it: a curve in; the best relative gap so far over what was spent, and what a target cost,
//! out.

use serde::{Deserialize, Serialize};

use crate::study::frame::align::{End, place};
use crate::study::frame::curve::{Curve, crossing};

/// What a solver spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Solver time, seconds of the run's clock.
    Time,
    /// Exact oracle calls.
    Calls,
    /// Solver time if every second inside the exact oracle were 10.
    Dear10,
    /// If it were 100.
    Dear100,
    /// If it were 1000.
    Dear1000,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Time, Self::Calls, Self::Dear10, Self::Dear100, Self::Dear1000];
    /// Those that were measured: winners and speed-ups are said of these.
    pub const MEASURED: [Self; 2] = [Self::Time, Self::Calls];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "solver time",
            Self::Calls => "oracle calls",
            Self::Dear10 => "solver time, oracle 10 times as dear",
            Self::Dear100 => "solver time, oracle 100 times as dear",
            Self::Dear1000 => "solver time, oracle 1000 times as dear",
        }
    }

    /// In tables for programs.
    pub fn key(self) -> &'static str {
        match self {
            Self::Time => "time_s",
            Self::Calls => "oracle_calls",
            Self::Dear10 => "time_s_oracle_x10",
            Self::Dear100 => "time_s_oracle_x100",
            Self::Dear1000 => "time_s_oracle_x1000",
        }
    }

    /// What a second inside the exact oracle counts; `None` when seconds do not count.
    pub fn price(self) -> Option<f64> {
        match self {
            Self::Time => Some(1.0),
            Self::Calls => None,
            Self::Dear10 => Some(10.0),
            Self::Dear100 => Some(100.0),
            Self::Dear1000 => Some(1000.0),
        }
    }

    /// What was spent: seconds in all, seconds inside the exact oracle, calls of it.
    fn spent(self, time_s: f64, oracle_time_s: f64, oracle_calls: f64) -> f64 {
        // At its own price the time is what the clock said, to the bit.
        self.price().map_or(oracle_calls, |price| time_s + (price - 1.0) * oracle_time_s)
    }
}

/// What a run spent until it reached a target: somewhere between these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spent {
    pub least: f64,
    pub most: f64,
}

impl Spent {
    /// ln of what this one spent over what the other did: between these.
    pub fn log_over(self, other: Self) -> (f64, f64) {
        let ln = |a: f64, b: f64| (a / b.max(f64::MIN_POSITIVE)).ln();
        (ln(self.least, other.most), if other.least > 0.0 { ln(self.most, other.least) } else { f64::INFINITY })
    }
}

/// The best relative gap so far of one run.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub seed: u64,
    pub end: End,
    spent: Vec<f64>,
    best: Vec<f64>,
}

impl Course {
    /// Of a curve; `scale` turns the distance of the primal to the optimum into a relative gap. `None` without a number.
    pub fn new(curve: &Curve, measure: Measure, scale: f64) -> Option<Self> {
        let whole = (0..curve.time_s.len()).map(|at| {
            let spent = measure.spent(curve.time_s[at], curve.oracle_time_s[at], curve.oracle_calls[at]);
            (spent, curve.primal_sub[at])
        });
        let tail =
            curve.tail.map(|tail| (measure.spent(tail.time_s, tail.oracle_time_s, tail.oracle_calls), tail.primal_sub));
        let points = whole.chain(tail);
        let mut course = Self { seed: curve.seed, end: curve.end, spent: Vec::new(), best: Vec::new() };
        let mut best = f64::INFINITY;
        for (spent, value) in points.filter(|(_, value)| value.is_finite()) {
            best = best.min(scale * value);
            course.spent.push(spent);
            course.best.push(best);
        }
        (!course.spent.is_empty()).then_some(course)
    }

    /// What was spent at the first evaluation.
    pub fn first(&self) -> f64 {
        self.spent[0]
    }

    /// What was spent at the last one.
    pub fn last(&self) -> f64 {
        self.spent[self.spent.len() - 1]
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.spent.iter().copied().zip(self.best.iter().copied())
    }

    /// What it spent until the target, when it got there; at the first evaluation when it was there by then.
    pub fn reached(&self, target: f64) -> Option<f64> {
        crossing(self.points(), target)
    }

    /// What is certain of that: a run that was there at its first evaluation spent no more, one that never got there
    /// at least all of its own.
    pub fn spent(&self, target: f64) -> Spent {
        match self.reached(target) {
            Some(most) if self.best[0] <= target => Spent { least: 0.0, most },
            Some(spent) => Spent { least: spent, most: spent },
            None => Spent { least: self.last(), most: f64::INFINITY },
        }
    }

    /// Mean over log-cost between two ends of how far down the run is: 0 at a relative gap of 1 and before its first
    /// evaluation, 1 at `floor` and below. A run that has ended stays where it was.
    pub fn area(&self, (from, to): (f64, f64), floor: f64) -> f64 {
        const POSITIONS: usize = 256;
        let depth = |k: usize| {
            let x = from * (to / from).powf((k as f64 + 0.5) / POSITIONS as f64);
            let place = place(&self.spent, &(0..self.spent.len()), End::Gap, x);
            place.map_or(0.0, |place| place.value(&self.best).clamp(floor, 1.0).ln() / floor.ln())
        };
        // Not −0.
        (0..POSITIONS).map(depth).sum::<f64>() / POSITIONS as f64 + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(points: &[(f64, f64)]) -> Course {
        let (spent, best) = points.iter().copied().unzip();
        Course { seed: 0, end: End::Budget, spent, best }
    }

    #[test]
    fn what_is_not_seen_is_bounded() {
        let run = course(&[(1.0, 0.5), (100.0, 5e-3)]);
        assert_eq!(run.spent(0.6), Spent { least: 0.0, most: 1.0 }, "there before the first evaluation");
        assert_eq!(run.spent(1e-3), Spent { least: 100.0, most: f64::INFINITY }, "never there");
        let seen = run.spent(5e-2);
        assert!(seen.least == seen.most && (seen.least - 10.0).abs() < 1e-9, "{seen:?}");
        let never = run.spent(1e-3);
        assert_eq!(never.log_over(seen), ((100.0 / seen.most).ln(), f64::INFINITY));
        assert_eq!(seen.log_over(never), (f64::NEG_INFINITY, (seen.most / 100.0).ln()));
        assert_eq!(never.log_over(never), (f64::NEG_INFINITY, f64::INFINITY));
        let early = run.spent(0.6);
        assert_eq!(early.log_over(early), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_dear_oracle_costs_its_share_of_the_time() {
        // 2 s, a quarter of them inside the oracle.
        let spent = |measure: Measure| measure.spent(2.0, 0.5, 7.0);
        assert_eq!(Measure::ALL.map(spent), [2.0, 7.0, 6.5, 51.5, 501.5]);
        assert!(Measure::ALL.iter().enumerate().all(|(at, measure)| *measure as usize == at));
    }

    #[test]
    fn the_area_is_a_share() {
        let fast = course(&[(1.0, 1e-6), (100.0, 1e-6)]);
        assert!((fast.area((1.0, 100.0), 1e-6) - 1.0).abs() < 1e-12);
        let steady = course(&[(1.0, 1.0), (100.0, 1e-6)]);
        assert!((steady.area((1.0, 100.0), 1e-6) - 0.5).abs() < 1e-9);
        assert!((steady.area((0.01, 1.0), 1e-6)).abs() < 1e-12, "nothing before the first evaluation");
        assert!((steady.area((1.0, 1e4), 1e-6) - 0.75).abs() < 1e-9, "it stays where it was");
    }
}
