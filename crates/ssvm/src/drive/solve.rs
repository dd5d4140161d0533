//! A builder for one run.

use super::{Execution, Observer, Outcome, Quiet, RunLimits, drive};
use crate::clock::{ClockKind, OracleCost};
use crate::error::Result;
use crate::problem::Problem;
use crate::settings::{Budget, Cadence, RunSettings, SolverSpec};
use crate::solver::{SolverTable, Standard};

/// One run: MP-BCFW with seed 1 on the wall clock unless you set something else.
///
/// ```
/// use ssvm::{ClockKind, Hinge, Simple, Solve};
///
/// let problem = Simple::new(Hinge);
/// let outcome = Solve::new(&problem).solver("bcfw").gap(1e-4).clock(ClockKind::VIRTUAL).run()?;
/// assert!(outcome.points.last().is_some_and(|point| point.gap <= 1e-4));
/// # Ok::<(), ssvm::Error>(())
/// ```
#[must_use]
pub struct Solve<'p, P> {
    problem: &'p P,
    settings: RunSettings,
}

/// A run with no limit other than a gap ends after this many iterations at the latest.
const MOST_ITERATIONS: u64 = 100_000;

impl<'p, P: Problem> Solve<'p, P> {
    /// A run on this problem.
    pub fn new(problem: &'p P) -> Self {
        let settings = RunSettings {
            solver: SolverSpec::new("mp-bcfw"),
            seed: 1,
            clock: ClockKind::WALL,
            oracle_cost: OracleCost::ONE,
            budget: Budget::default(),
            evaluate: Cadence::Log,
        };
        Self { problem, settings }
    }

    /// The solver: a name of the table, or a [`SolverSpec`] with parameters.
    pub fn solver(mut self, solver: impl Into<SolverSpec>) -> Self {
        self.settings.solver = solver.into();
        self
    }

    /// Seed of the order of the terms.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The clock.
    pub fn clock(mut self, clock: ClockKind) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Factor on the time inside the exact oracle, on the run's clock.
    pub fn oracle_cost(mut self, cost: OracleCost) -> Self {
        self.settings.oracle_cost = cost;
        self
    }

    /// Stop when an evaluation shows a gap at or below this.
    pub fn gap(mut self, gap: f64) -> Self {
        self.settings.budget.gap = Some(gap);
        self
    }

    /// Stop after this many iterations.
    pub fn iterations(mut self, iterations: u64) -> Self {
        self.settings.budget.iterations = Some(iterations);
        self
    }

    /// Stop after this much solver time in seconds.
    pub fn time(mut self, seconds: f64) -> Self {
        self.settings.budget.time_s = Some(seconds);
        self
    }

    /// Stop after this many exact oracle calls.
    pub fn oracle_calls(mut self, calls: u64) -> Self {
        self.settings.budget.oracle_calls = Some(calls);
        self
    }

    /// When to evaluate: about ten times per decade of iterations by default.
    pub fn evaluate(mut self, evaluate: Cadence) -> Self {
        self.settings.evaluate = evaluate;
        self
    }

    /// Runs the solver.
    pub fn run(self) -> Result<Outcome> {
        self.run_watched(&mut Quiet)
    }

    /// Runs the solver and reports every evaluation to an observer.
    pub fn run_watched(mut self, observer: &mut dyn Observer) -> Result<Outcome> {
        let Self { problem, settings } = &mut self;
        let Budget { iterations, time_s, oracle_calls, .. } = &mut settings.budget;
        if time_s.is_none() && oracle_calls.is_none() {
            iterations.get_or_insert(MOST_ITERATIONS);
        }
        let mut solver = Standard.build(&settings.solver, *problem, settings.seed)?;
        drive(*problem, &mut *solver, &RunLimits::of(settings, &Execution::default()), observer)
    }
}
