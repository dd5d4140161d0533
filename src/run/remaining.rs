//! How much of a batch is done and how long the rest will take: runs with their estimates, and how far the running ones
//! are, in; a share of the work and seconds out. Nothing here reads a clock.

use crate::experiment::{Estimator, RunSpec};
use ssvm::settings::{Budget, Cadence, Until};

/// What the estimate before a run counts beside what it has done: as much as this share of it.
const PRIOR: f64 = 0.02;
/// An estimate is approached with this time constant at most, seconds.
const SMOOTH_S: f64 = 20.0;
/// Above this factor of what was shown an estimate was wrong, and is shown at once.
const WRONG: f64 = 1.5;

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

/// Evaluations of the first so many iterations.
fn evaluations(evaluate: &Cadence, iterations: u64) -> u64 {
    match evaluate {
        _ if iterations == 0 => 0,
        Cadence::Every(k) => iterations / k,
        // The last of the marks is the end, due or not.
        Cadence::Log => (Cadence::log_marks(1, iterations).len() - usize::from(!evaluate.due(iterations))) as u64,
        Cadence::At(list) => list.partition_point(|at| *at <= iterations) as u64,
    }
}

/// How far a running run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Running {
    /// Seconds since it began.
    pub elapsed_s: f64,
    /// The share of its work that was done when it was last heard of.
    pub done: f64,
    /// The share when it is heard of next.
    pub next: f64,
    /// Seconds from its beginning to the last news.
    pub heard_s: f64,
}

impl Running {
    /// From the share of its budget that is used after so many iterations. Work is passes and evaluations: with few
    /// evaluations at the end a run is further than its iterations say.
    pub fn new(run: &RunSpec, (used, iterations): (f64, u64), (elapsed_s, heard_s): (f64, f64)) -> Self {
        if used <= 0.0 || iterations == 0 {
            return Self { elapsed_s, heard_s, ..Self::default() };
        }
        let all = (iterations as f64 / used).round() as u64;
        let evaluate = &run.settings().evaluate;
        let work = |k: u64| k as f64 * run.pass_factor + evaluations(evaluate, k) as f64;
        let share = |k: u64| (work(k) / work(all)).min(1.0);
        Self { elapsed_s, done: share(iterations), next: share(iterations + 1), heard_s }
    }

    /// The share now, if it goes on at its pace, and no further than to its next news; never whole, since it is still
    /// running.
    pub fn share(&self) -> f64 {
        let pace = if self.heard_s > 0.0 { (self.elapsed_s / self.heard_s).max(1.0) } else { 1.0 };
        (self.done * pace).min(self.next).min(0.999)
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
    /// Seconds of all these runs from their beginnings, one after the other.
    pub whole_s: f64,
    /// Of these, done for certain.
    pub done_s: f64,
    /// Seconds that are left of them.
    pub work_s: f64,
    /// Seconds until the last one ends.
    pub wall_s: f64,
}

/// What is left when these runs have not ended and so many workers share them. Running ones teach the estimator about
/// those to come.
pub fn left(items: &[Item<'_>], estimator: &Estimator, jobs: usize) -> Left {
    let mut estimator = estimator.clone();
    for item in items {
        if let Some(share) = item.running.map(|running| running.share()).filter(|share| *share > 0.0) {
            if !estimator.knows(item.run) {
                let before = estimator.factor(item.run);
                estimator.note(item.run, PRIOR * item.model_s * before, PRIOR * item.model_s);
            }
            let elapsed_s = item.running.map_or(0.0, |running| running.elapsed_s);
            estimator.note(item.run, elapsed_s, share * item.model_s);
        }
    }
    let mut left = Left::default();
    for item in items {
        let whole = item.model_s * estimator.factor(item.run);
        let rest = match item.running {
            Some(running) if running.share() > 0.0 => whole * (1.0 - running.share()),
            // Nothing was heard of it: one that takes longer than was thought may take longer still.
            Some(running) => (whole - running.elapsed_s).max(0.5 * running.elapsed_s),
            None => whole,
        };
        left.whole_s += whole;
        left.done_s += item.running.map_or(0.0, |running| whole * running.share());
        left.work_s += rest;
        // Nobody helps a run that is on.
        left.wall_s = if item.running.is_some() { left.wall_s.max(rest) } else { left.wall_s };
    }
    left.wall_s = left.wall_s.max(left.work_s / jobs.clamp(1, items.len().max(1)) as f64);
    left
}

/// A time left that falls steadily: it follows its estimate slowly, and upwards only when what was shown was wrong.
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
                // Near the end there is little time to follow.
                let slow = (0.3 * estimate).clamp(2.0, SMOOTH_S);
                let moved = expected + (1.0 - (-dt / slow).exp()) * (estimate - expected);
                if estimate > WRONG * before { estimate } else { moved.min(before) }
            }
        };
        self.shown = Some(shown);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::identity::Identity;
    use crate::store::keys::ProblemKey;
    use ssvm::clock::{ClockKind, OracleCost};
    use ssvm::settings::{Cadence, RunSettings, SolverSpec};

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
        let running = |elapsed_s, done, heard_s| Running { elapsed_s, done, next: done + 0.1, heard_s }.share();
        assert_eq!(running(6.0, 0.2, 5.0), 0.2 * 1.2);
        assert_eq!(running(5.0, 0.2, 5.0), 0.2);
        assert!((running(500.0, 0.2, 5.0) - 0.3).abs() < 1e-12, "no further than to its next news");
        assert_eq!(running(500.0, 0.95, 5.0), 0.999, "it has not ended");
        assert_eq!(Running { elapsed_s: 3.0, ..Running::default() }.share(), 0.0);
    }

    #[test]
    fn work_is_passes_and_evaluations() {
        let mut run = run("fw");
        for (evaluate, iterations, expected) in [
            (Cadence::Every(3), 10, 3),
            (Cadence::Log, 9, 9),
            (Cadence::Log, 10, 10),
            (Cadence::Log, 11, 10),
            (Cadence::At(vec![2, 5]), 4, 1),
            (Cadence::Log, 0, 0),
        ] {
            let due = (1..=iterations).filter(|k| evaluate.due(*k)).count() as u64;
            assert_eq!((evaluations(&evaluate, iterations), due), (expected, expected), "{evaluate:?} {iterations}");
        }
        // Two of four iterations, one evaluation of one: three of five parts.
        run.identity.settings.evaluate = Cadence::At(vec![1]);
        let half = Running::new(&run, (0.5, 2), (7.0, 6.0));
        assert_eq!(half, Running { elapsed_s: 7.0, done: 0.6, next: 0.8, heard_s: 6.0 });
        assert_eq!(Running::new(&run, (0.0, 0), (7.0, 0.0)).share(), 0.0);
    }

    fn run(solver: &str) -> RunSpec {
        let identity = Identity {
            problem: ProblemKey {
                dataset: "usps".to_owned(),
                checksum: String::new(),
                lambda: 1.0,
                pairwise_weight: None,
            },
            settings: RunSettings {
                solver: SolverSpec::new(solver),
                seed: 1,
                clock: ClockKind::WALL,
                oracle_cost: OracleCost::ONE,
                budget: Budget::iterations(10),
                evaluate: Cadence::Log,
            },
            code_version: String::new(),
            solver_version: None,
            problem_version: None,
        };
        RunSpec {
            run_id: identity.run_id(),
            identity,
            set: 0,
            repeat: 0,
            pass_factor: 1.0,
            kept_planes: 0,
            reads_clock: false,
            projected_from: None,
        }
    }

    #[test]
    fn running_runs_tell_of_those_to_come() {
        let (fw, bcfw) = (run("fw"), run("bcfw"));
        let item = |run, running| Item { run, model_s: 10.0, running };
        let mut estimator = Estimator::default();
        let idle = [item(&fw, None), item(&bcfw, None)];
        assert_eq!(left(&idle, &estimator, 1), Left { whole_s: 20.0, done_s: 0.0, work_s: 20.0, wall_s: 20.0 });
        assert_eq!(left(&idle, &estimator, 8).wall_s, 10.0);
        // Half of it took 30 s where the model has 5: all of this data set takes about six times as long.
        let half = Running { elapsed_s: 30.0, done: 0.5, next: 0.5, heard_s: 30.0 };
        let on = [item(&fw, Some(half)), item(&bcfw, None)];
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.05;
        let one = left(&on, &estimator, 1);
        assert!(close(one.whole_s, 120.0) && close(one.done_s, 30.0) && close(one.work_s, 90.0), "{one:?}");
        assert_eq!(one.wall_s, one.work_s);
        assert!(close(left(&on, &estimator, 2).wall_s, 45.0) && close(left(&on[..1], &estimator, 2).wall_s, 30.0));
        // What was measured of whole runs counts as much as what it is of.
        estimator.note(&fw, 40.0, 10.0);
        let taught = left(&on[..1], &estimator, 1);
        assert!(close(taught.whole_s, 10.0 * 70.0 / 15.0), "{taught:?}");
        // Nothing was heard of it yet, and it takes longer than was thought.
        let silent = |elapsed_s| Running { elapsed_s, ..Running::default() };
        assert_eq!(left(&[item(&bcfw, Some(silent(4.0)))], &Estimator::default(), 1).wall_s, 6.0);
        assert_eq!(left(&[item(&bcfw, Some(silent(20.0)))], &Estimator::default(), 1).wall_s, 10.0);
        assert_eq!(left(&[item(&bcfw, Some(silent(9.0)))], &Estimator::default(), 1).done_s, 0.0);
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
        // Far more than was thought: it is admitted at once.
        assert_eq!(countdown.next(1.0, 60.0), 60.0);
        assert!(countdown.next(1.0, 70.0) <= 60.0, "but a little more is not");
    }
}
