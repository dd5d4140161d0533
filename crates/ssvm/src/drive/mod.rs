//! The one loop that runs a solver on a problem, with budget, stop reason and evaluation.
//!
//! [`drive`] takes any [`Solver`]; [`Solve`] is a builder for one run; [`AnyProblem`] is a problem of any type together
//! with a table of solvers.

mod any;
mod outcome;
mod solve;

pub use crate::clock::StopReason;
pub use any::{AnyProblem, bind};
pub use outcome::{Outcome, TracePoint};
pub use solve::Solve;

use std::sync::Arc;

use crate::clock::{Cancelled, ClockKind, Helpers, Interrupt, Meter, OracleCost};
use crate::error::{Error, Result};
use crate::problem::{DynProblem, Evaluation, Problem};
use crate::settings::{Budget, Cadence, RunSettings, Until};
use crate::solver::{Iteration, Moment, Solution, Solver, State};

/// Tolerance for a negative gap, as a part of its bounds: sums round, and large features cancel.
const ROUNDING: f64 = 1e-6;

/// Allowance for rounding in a bound, relative to the sizes that are summed, as for the bounds of `data optimum`: this many units of the
/// last place, and one more for each term.
const UNITS: f64 = 1024.0;

/// A certified gap includes an allowance for rounding if that is more than this part of it; a smaller allowance would not change any
/// digit that is shown.
const VISIBLE: f64 = 1e-3;

/// Receives the events of a run. Its methods are called only between iterations, while the clock stands still.
///
/// ```
/// use ssvm::{Hinge, Observer, Simple, Solve, TracePoint};
///
/// #[derive(Default)]
/// struct Gaps(Vec<f64>);
///
/// impl Observer for Gaps {
///     fn point(&mut self, point: &TracePoint) {
///         self.0.push(point.gap);
///     }
/// }
///
/// let mut gaps = Gaps::default();
/// Solve::new(&Simple::new(Hinge)).gap(1e-6).run_watched(&mut gaps)?;
/// assert!(gaps.0.last().is_some_and(|gap| *gap <= 1e-6));
/// # Ok::<(), ssvm::Error>(())
/// ```
pub trait Observer {
    /// Called after every iteration, with its number and (time, F) at its start and after each of its passes.
    fn iteration(&mut self, _iteration: u64, _passes: &[Moment]) {}
    /// Called after every evaluation.
    fn point(&mut self, _point: &TracePoint) {}
}

/// An observer that ignores all events.
pub struct Quiet;

impl Observer for Quiet {}

/// When a run stops, on which clock, and when it is evaluated.
///
/// ```
/// use ssvm::{Budget, Cadence, ClockKind, RunLimits};
///
/// let limits = RunLimits { clock: ClockKind::VIRTUAL, ..RunLimits::new(Budget::iterations(5), Cadence::Log) };
/// assert!(limits.oracle_cost.is_one() && !limits.execution.parallel_evaluation);
/// ```
#[derive(Clone)]
pub struct RunLimits<'a> {
    /// The clock.
    pub clock: ClockKind,
    /// Factor on the time inside the exact oracle.
    pub oracle_cost: OracleCost,
    /// When to stop.
    pub budget: Budget,
    /// When to evaluate.
    pub evaluate: Cadence,
    /// Threads, and when to stop early.
    pub execution: Execution<'a>,
}

impl<'a> RunLimits<'a> {
    /// The limits of a run with these settings.
    fn of(settings: &RunSettings, execution: &Execution<'a>) -> Self {
        let RunSettings { clock, oracle_cost, budget, evaluate, .. } = settings.clone();
        Self { clock, oracle_cost, budget, evaluate, execution: execution.clone() }
    }

    /// The limits of a run on the wall clock, on one thread, that is never cancelled.
    pub fn new(budget: Budget, evaluate: Cadence) -> Self {
        Self { clock: ClockKind::WALL, oracle_cost: OracleCost::ONE, budget, evaluate, execution: Execution::default() }
    }
}

/// How a run is executed. No result depends on it, unless the run is cancelled.
#[derive(Clone)]
pub struct Execution<'a> {
    /// Whether evaluations may use the current rayon pool.
    pub parallel_evaluation: bool,
    /// Threads that share the oracle calls which a solver makes at one w.
    pub helpers: Option<Arc<Helpers>>,
    /// Returns true to end the run.
    pub cancelled: &'a Cancelled<'a>,
}

impl Default for Execution<'_> {
    fn default() -> Self {
        Self { parallel_evaluation: false, helpers: None, cancelled: &|| false }
    }
}

/// Runs a solver on a problem: iterates under the meter, pauses it to evaluate, and stops for one typed reason.
///
/// ```
/// use ssvm::solver::FrankWolfe;
/// use ssvm::{Budget, Cadence, Hinge, Metered, Quiet, RunLimits, Simple, drive};
///
/// let problem = Simple::new(Hinge);
/// let mut solver = FrankWolfe::new(Metered::new(&problem), 1);
/// let limits = RunLimits::new(Budget::iterations(5), Cadence::Every(1));
/// let outcome = drive(&problem, &mut solver, &limits, &mut Quiet)?;
/// assert_eq!(outcome.points.last().map(|point| point.primal), Some(0.5));
/// # Ok::<(), ssvm::Error>(())
/// ```
pub fn drive<P: Problem>(
    problem: &P,
    solver: &mut dyn Solver,
    limits: &RunLimits<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    drive_dyn(problem.as_dyn(), solver, limits, observer)
}

fn drive_dyn(
    problem: &dyn DynProblem,
    solver: &mut dyn Solver,
    limits: &RunLimits<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    check(problem, solver, &limits.budget)?;
    let RunLimits { clock, oracle_cost, budget, evaluate, execution } = limits;
    let mut meter = Meter::new(*clock, budget.limits(), execution.cancelled).for_family(problem.family());
    meter = meter.with_oracle_cost(*oracle_cost).with_helpers(execution.helpers.clone());
    let mut points: Vec<TracePoint> = Vec::new();
    let mut iterations = 0;
    let (stop, solution) = loop {
        // 1. One iteration, on the clock.
        meter.expect_calls(problem.terms());
        meter.resume();
        let ended = solver.iterate(&mut meter);
        meter.pause();
        if iterations == 0 {
            meter.check_readings()?;
        }
        let complete = match ended {
            Ok(ended) => ended == Iteration::Complete,
            Err(Interrupt::Limit) => false,
            Err(Interrupt::Oracle(fault)) => return Err(fault.into()),
        };
        if complete {
            iterations += 1;
            observer.iteration(iterations, solver.moments());
        }
        // 2. Limits: whether this iteration ends the run.
        let stop = meter.halt().or_else(|| used_up(budget, iterations, meter.now_ns() * 1e-9));
        if stop == Some(StopReason::Cancelled) {
            break (StopReason::Cancelled, solver.solution());
        }
        if stop.is_none() && !evaluate.due(iterations) {
            continue;
        }
        // 3. An evaluation, off the clock. Planes that the solver keeps tighten the bounds of an oracle that is not exact.
        let solution = solver.solution();
        let kept = solver.state().filter(|_| !problem.exact());
        let known = kept.map_or_else(Vec::new, |state| state.kept_values(&solution.w));
        let value = problem.evaluate(&solution.w, &known, execution.parallel_evaluation, execution.cancelled)?;
        let Some(value) = value else { break (StopReason::Cancelled, solution) };
        let point = TracePoint {
            iteration: iterations,
            partial: !complete,
            ..trace_point(&meter, solver, &solution, &value, problem)
        };
        if !point.is_sound() || (has_dual(solver) && !point.has_dual()) {
            return Err(Error::Diverged { iteration: iterations, primal: value.primal, dual: point.dual });
        }
        // With an exact oracle both bounds are proven. If they cross beyond rounding, one of them is wrong.
        let rounding = ROUNDING * (point.primal.abs() + point.dual.abs()) + f64::EPSILON;
        if problem.exact() && point.gap < -rounding {
            return Err(Error::NegativeGap { iteration: iterations, primal: point.primal, dual: point.dual });
        }
        observer.point(&point);
        // 4. The gap: only an evaluation knows it.
        let reached = budget.gap.is_some_and(|gap| point.gap <= gap);
        points.push(point);
        if let Some(stop) = if reached { Some(StopReason::Gap) } else { stop } {
            break (stop, solution);
        }
    };
    let (wall_s, cpu_s, oracle_wall_s) = (meter.wall_s(), meter.cpu_s(), meter.oracle_wall_s());
    let (pipe_s, idle_s, instrument_s) = (meter.pipe_s(), meter.idle_s(), meter.instrument_s());
    let work = meter.work();
    let (oracle_ns, approx_ns) = meter.into_histograms();
    Ok(Outcome {
        points,
        stop,
        oracle_ns,
        approx_ns,
        wall_s,
        cpu_s,
        oracle_wall_s,
        pipe_s,
        idle_s,
        instrument_s,
        work,
        notes: problem.notes(),
        weights: problem.weights(&solution.w),
    })
}

/// A subgradient method has no dual: its value is −∞ at all times.
fn has_dual(solver: &dyn Solver) -> bool {
    solver.dual() > f64::NEG_INFINITY
}

/// Checks that a run of this solver would end and that its results can be trusted.
fn check(problem: &dyn DynProblem, solver: &dyn Solver, budget: &Budget) -> Result<()> {
    if *budget == Budget::default() {
        return Err(Error::NoBudget);
    }
    if problem.terms() == 0 {
        return Err(Error::NoTerms);
    }
    if let Some(reason) = problem.refusal() {
        return Err(Error::RefusedProblem(reason));
    }
    if !has_dual(solver) && (Budget { gap: None, ..budget.clone() }) == Budget::default() {
        return Err(Error::NoDual);
    }
    Ok(())
}

/// The values of an evaluation, except for its iteration.
fn trace_point(
    meter: &Meter<'_>,
    solver: &dyn Solver,
    solution: &Solution,
    value: &Evaluation,
    problem: &dyn DynProblem,
) -> TracePoint {
    let counters = meter.counters();
    let state = solver.state();
    let (planes_mean, planes_max) = state.map_or((0.0, 0), State::planes);
    let dual_solution = solution.dual(problem.lambda());
    let dual = dual_solution.max(solver.dual());
    let (mut primal, mut oracle_slack) = (value.primal, value.slack);
    if !problem.exact() {
        // F is a difference of two numbers that may be much larger.
        let sizes = primal.abs() + dual.abs() + solution.offset.abs() + (solution.offset - dual_solution).abs();
        let rounding = (UNITS + problem.terms() as f64) * f64::EPSILON * sizes;
        if rounding > VISIBLE * (primal - dual) {
            primal += rounding;
            oracle_slack = oracle_slack.min(primal - dual);
        }
    }
    TracePoint {
        iteration: 0,
        partial: false,
        time_s: meter.now_ns() * 1e-9,
        cpu_s: meter.cpu_s(),
        oracle_calls: counters.oracle_calls,
        approx_steps: counters.approx_steps,
        skipped_steps: counters.skipped_steps,
        approx_passes: counters.approx_passes,
        oracle_time_s: meter.oracle_s(),
        approx_time_s: meter.approx_s(),
        primal,
        dual,
        dual_solution,
        gap: primal - dual,
        oracle_slack,
        proven: value.proven,
        planes_mean,
        planes_max,
        cached_bytes: state.map_or(0, State::cached_bytes),
    }
}

/// Returns the limit that whole iterations have used up, if any. Where iterations and time must both be reached, a run
/// ends after the iteration that reaches the second of them, and the reason names that one.
fn used_up(budget: &Budget, iterations: u64, time_s: f64) -> Option<StopReason> {
    let least = budget.iterations.filter(|least| iterations >= *least)?;
    match budget.time_s.filter(|_| budget.until == Until::All) {
        Some(time) if time_s < time => None,
        Some(_) if iterations > least => Some(StopReason::Time),
        _ => Some(StopReason::Iterations),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Fault, MaxOracle, Simple, SparsePlane};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// H(w) = max(0, 2 − w), but every second answer is the truth's plane.
    #[derive(Default)]
    struct Forgetful(AtomicBool);

    impl MaxOracle for Forgetful {
        fn terms(&self) -> usize {
            1
        }

        fn dim(&self) -> usize {
            1
        }

        fn max_plane(&self, _: usize, _: &[f64], plane: &mut SparsePlane) -> std::result::Result<u64, Fault> {
            let truth = self.0.fetch_xor(true, Ordering::Relaxed);
            *plane = SparsePlane::default();
            if !truth {
                (plane.offset, plane.entries) = (2.0, vec![(0, -1.0)]);
            }
            Ok(1)
        }
    }

    #[test]
    fn a_primal_below_the_dual_is_an_error() {
        let ended = Solve::new(&Simple::new(Forgetful::default())).solver("bcfw").iterations(1).run();
        assert!(matches!(ended, Err(Error::NegativeGap { iteration: 1, .. })), "{ended:?}");
    }
}
