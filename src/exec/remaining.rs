//! How much of a batch is done and how long the rest will take: runs with their estimates, and how far the running ones
//! are, in; a share of the work and seconds out. Nothing here reads a clock.

use crate::plan::{Estimator, RunSpec};
use crate::settings::{Budget, Until};

/// Below this share of its budget a run says too little about how long it will take.
const TELLING: f64 = 0.05;
/// An estimate is approached with this time constant, seconds.
const SMOOTH_S: f64 = 20.0;
/// Above this factor of what was shown an estimate is followed upwards too.
const WRONG: f64 = 1.2;

/// The share of a budget that is used; 0 when only a gap ends the run.
pub fn used(budget: &Budget, iterations: u64, time_s: f64, oracle_calls: u64) -> f64 {
    let of = |used: f64, limit: f64| if limit > 0.0 { (used / limit).min(1.0) } else { 1.0 };
    let by_iterations = budget.iterations.map(|limit| of(iterations as f64, limit as f64));
    let by_time = budget.time_s.map(|limit| of(time_s, limit));
    let by_calls = budget.oracle_calls.map(|limit| of(oracle_calls as f64, limit as f64));
    let both = by_iterations.zip(by_time).filter(|_| budget.until == Until::All);
    let parts = match both {
        Some((iterations, time)) => [Some(iterations.min(time)), None, by_calls],
        None => [by_iterations, by_time, by_calls],
    };
    parts.into_iter().flatten().fold(0.0, f64::max)
}

/// How far a running run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Running {
    /// Seconds since it began.
    pub elapsed_s: f64,
    /// The share of its budget that was used when it was last heard of.
    pub used: f64,
    /// Seconds from its beginning to that moment.
    pub heard_s: f64,
}

impl Running {
    /// The share now, if it goes on at its pace; never whole, since it is still running.
    pub fn share(&self) -> f64 {
        let pace = if self.heard_s > 0.0 { (self.elapsed_s / self.heard_s).max(1.0) } else { 1.0 };
        (self.used * pace).min(0.99).max(self.used.min(0.999))
    }
}

/// One run of a batch.
pub struct Item<'a> {
    /// The run.
    pub run: &'a RunSpec,
    /// Its seconds as the rough model has them, see [`Estimator::model`].
    pub model_s: f64,
    /// How far it is, when it is running.
    pub running: Option<Running>,
}

/// What is left of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Left {
    /// Seconds of runs, one after the other.
    pub work_s: f64,
    /// Seconds until the last one ends.
    pub wall_s: f64,
}

/// What is left when these runs have not ended and so many workers share them. Running ones teach the estimator about
/// those to come.
pub fn left(items: &[Item<'_>], estimator: &Estimator, jobs: usize) -> Left {
    let mut estimator = estimator.clone();
    for item in items {
        if let Some(running) = item.running.filter(|running| running.share() >= TELLING) {
            estimator.note(item.run, running.elapsed_s, running.share() * item.model_s);
        }
    }
    let mut left = Left::default();
    for item in items {
        let whole = item.model_s * estimator.factor(item.run);
        let rest = match item.running {
            Some(running) if running.share() >= TELLING => whole * (1.0 - running.share()),
            Some(running) => (whole - running.elapsed_s).max(0.0),
            None => whole,
        };
        left.work_s += rest;
        // Nobody helps a run that is on.
        left.wall_s = if item.running.is_some() { left.wall_s.max(rest) } else { left.wall_s };
    }
    left.wall_s = left.wall_s.max(left.work_s / jobs.clamp(1, items.len().max(1)) as f64);
    left
}

/// A time left that falls steadily: it follows its estimate slowly, and upwards only when that was clearly wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Countdown {
    shown: Option<f64>,
}

impl Countdown {
    /// What to show `dt` seconds after the last time, with this estimate.
    pub fn next(&mut self, dt: f64, estimate: f64) -> f64 {
        let shown = match self.shown {
            None => estimate,
            Some(before) => {
                let expected = (before - dt).max(0.0);
                let moved = expected + (1.0 - (-dt / SMOOTH_S).exp()) * (estimate - expected);
                if estimate > WRONG * before { moved.max(before) } else { moved.min(before) }
            }
        };
        self.shown = Some(shown);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{ClockKind, OracleCost};
    use crate::settings::{Cadence, Identity, RunSettings, SolverSpec};

    fn budget(iterations: Option<u64>, time_s: Option<f64>, until: Until) -> Budget {
        Budget { iterations, time_s, until, ..Budget::default() }
    }

    #[test]
    fn a_budget_is_used_by_what_ends_it() {
        let both = |until| budget(Some(50), Some(10.0), until);
        assert_eq!(used(&both(Until::First), 10, 5.0, 0), 0.5);
        assert_eq!(used(&both(Until::All), 10, 5.0, 0), 0.2);
        assert_eq!(used(&both(Until::All), 500, 5.0, 0), 0.5);
        assert_eq!(used(&budget(Some(50), None, Until::First), 60, 5.0, 0), 1.0);
        let calls = Budget { oracle_calls: Some(100), ..both(Until::All) };
        assert_eq!(used(&calls, 10, 5.0, 90), 0.9);
        let gap = Budget { gap: Some(1e-3), ..Budget::default() };
        assert_eq!(used(&gap, 10, 5.0, 90), 0.0);
    }

    #[test]
    fn between_news_a_run_goes_on_at_its_pace() {
        let running = |elapsed_s, used, heard_s| Running { elapsed_s, used, heard_s }.share();
        assert_eq!(running(10.0, 0.2, 5.0), 0.4);
        assert_eq!(running(5.0, 0.2, 5.0), 0.2);
        assert_eq!(running(500.0, 0.2, 5.0), 0.99, "it has not ended");
        assert_eq!(running(3.0, 0.0, 0.0), 0.0);
    }

    fn run(solver: &str) -> RunSpec {
        let identity = Identity {
            dataset: "usps".to_owned(),
            data_checksum: String::new(),
            lambda: 1.0,
            pairwise_weight: None,
            settings: RunSettings {
                solver: SolverSpec::new(solver),
                seed: 1,
                clock: ClockKind::WALL,
                oracle_cost: OracleCost::ONE,
                budget: Budget::iterations(10),
                evaluate: Cadence::Log,
            },
            code_version: String::new(),
        };
        RunSpec {
            run_id: identity.run_id(),
            identity,
            set: 0,
            repeat: 0,
            pass_factor: 1.0,
            kept_planes: 0,
            projected_from: None,
        }
    }

    #[test]
    fn running_runs_tell_of_those_to_come() {
        let (fw, bcfw) = (run("fw"), run("bcfw"));
        let item = |run, running| Item { run, model_s: 10.0, running };
        let estimator = Estimator::default();
        let idle = [item(&fw, None), item(&bcfw, None)];
        assert_eq!(left(&idle, &estimator, 1), Left { work_s: 20.0, wall_s: 20.0 });
        assert_eq!(left(&idle, &estimator, 8), Left { work_s: 20.0, wall_s: 10.0 });
        // Half of it took 30 s where the model has 5: all of this data set takes six times as long.
        let half = Running { elapsed_s: 30.0, used: 0.5, heard_s: 30.0 };
        let on = [item(&fw, Some(half)), item(&bcfw, None)];
        assert_eq!(left(&on, &estimator, 1), Left { work_s: 90.0, wall_s: 90.0 });
        assert_eq!(left(&on, &estimator, 2), Left { work_s: 90.0, wall_s: 45.0 });
        assert_eq!(left(&on[..1], &estimator, 2), Left { work_s: 30.0, wall_s: 30.0 });
        // A run that has hardly begun teaches nothing yet.
        let begun = Running { elapsed_s: 4.0, used: 0.01, heard_s: 4.0 };
        assert_eq!(left(&[item(&fw, Some(begun))], &estimator, 1), Left { work_s: 6.0, wall_s: 6.0 });
        assert_eq!(left(&[], &estimator, 2), Left::default());
    }

    #[test]
    fn a_countdown_falls_steadily_and_admits_a_mistake() {
        let mut countdown = Countdown::default();
        assert_eq!(countdown.next(0.0, 100.0), 100.0);
        // A noisy estimate around the truth: what is shown never rises.
        let mut before = 100.0;
        for second in 1..=90 {
            let noise = if second % 2 == 0 { 1.1 } else { 0.9 };
            let shown = countdown.next(1.0, (100.0 - f64::from(second)) * noise);
            assert!(shown <= before && (shown - (100.0 - f64::from(second))).abs() < 6.0, "{second}: {shown}");
            before = shown;
        }
        // Three times as much as was thought: it rises, not at once.
        let first = countdown.next(1.0, 60.0);
        assert!(first >= before && first < 30.0, "{before} {first}");
        let later = (0..60).fold(first, |_, _| countdown.next(1.0, 60.0));
        assert!(later > 35.0, "{later}");
    }
}
