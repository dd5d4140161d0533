//! Solver + problem → what happened: the one loop with budget, stop reason and evaluation.
//!
//! [`drive`] takes any [`Solver`]; [`Solve`] is the short way for one run; [`AnyProblem`] is a problem together with a
//! table of solvers, behind one face for everybody who does not care which.

mod any;
mod outcome;
mod solve;

pub use any::{AnyProblem, bind};
pub use outcome::{Outcome, StopReason, TracePoint};
pub use solve::Solve;

use std::sync::Arc;

use crate::clock::{ClockKind, Helpers, Meter, OracleCost};
use crate::error::{Error, Result};
use crate::problem::{DynProblem, Problem};
use crate::settings::{Budget, Cadence, Until};
use crate::solver::{Iteration, Moment, Solver};

/// Who watches a run. Called between iterations only, while the clock stands still.
pub trait Observer {
    /// After every iteration: its number and (time, F) at its start and after each of its passes.
    fn iteration(&mut self, _iteration: u64, _passes: &[Moment]) {}
    /// After an evaluation.
    fn point(&mut self, _point: &TracePoint) {}
    /// Whether evaluations may use the current rayon pool.
    fn parallel_evaluation(&self) -> bool {
        false
    }
    /// Threads that share the oracle calls which a solver makes at one w. No result depends on them.
    fn helpers(&self) -> Option<Arc<Helpers>> {
        None
    }
    /// Asked about every millisecond, inside passes and evaluations too; true ends the run.
    fn cancelled(&self) -> Box<dyn Fn() -> bool + Sync + Send> {
        Box::new(|| false)
    }
}

/// Nobody watches.
pub struct Quiet;

impl Observer for Quiet {}

/// When a run stops, on which clock, and when it is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The clock.
    pub clock: ClockKind,
    /// How many seconds of it a second inside the exact oracle counts.
    pub oracle_cost: OracleCost,
    /// When to stop.
    pub budget: &'a Budget,
    /// When to evaluate.
    pub evaluate: &'a Cadence,
}

/// Iterates under the meter, pauses it to evaluate, stops for one typed reason.
///
/// ```
/// use ssvm::{Budget, Cadence, ClockKind, Course, MaxOracle, Metered, OracleCost, Quiet, Simple, SparsePlane, drive};
/// use ssvm::solver::FrankWolfe;
///
/// /// H(w) = max(0, 1 − w): one term, one weight.
/// struct Hinge;
/// impl MaxOracle for Hinge {
///     fn terms(&self) -> usize {
///         1
///     }
///     fn dim(&self) -> usize {
///         1
///     }
///     fn max_plane(&self, _i: usize, w: &[f64], plane: &mut SparsePlane) -> u64 {
///         let violated = w[0] < 1.0;
///         plane.entries.clear();
///         plane.entries.extend(violated.then_some((0, -1.0)));
///         plane.offset = f64::from(u8::from(violated));
///         1
///     }
/// }
///
/// let problem = Simple::new(Hinge);
/// let mut solver = FrankWolfe::new(Metered::new(&problem), 1);
/// let course = Course {
///     clock: ClockKind::VIRTUAL,
///     oracle_cost: OracleCost::ONE,
///     budget: &Budget::iterations(5),
///     evaluate: &Cadence::Every(1),
/// };
/// let outcome = drive(&problem, &mut solver, course, &mut Quiet)?;
/// assert_eq!(outcome.points.last().map(|point| point.primal), Some(0.5));
/// # Ok::<(), ssvm::Error>(())
/// ```
pub fn drive<P: Problem>(
    problem: &P,
    solver: &mut dyn Solver,
    course: Course<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    drive_dyn(problem.as_dyn(), solver, course, observer)
}

fn drive_dyn(
    problem: &dyn DynProblem,
    solver: &mut dyn Solver,
    course: Course<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let Course { clock, oracle_cost, budget, evaluate } = course;
    if *budget == Budget::default() {
        return Err(Error::invalid("a run needs a budget: iterations, time, oracle calls or gap"));
    }
    if problem.terms() == 0 {
        return Err(Error::invalid("the data set has no example"));
    }
    if let Some(reason) = problem.refusal() {
        return Err(Error::invalid(reason));
    }
    // A subgradient method has none: −∞ at all times.
    let has_dual = solver.dual() > f64::NEG_INFINITY;
    if !has_dual && (Budget { gap: None, ..budget.clone() }) == Budget::default() {
        return Err(Error::invalid(
            "this solver has no dual, so no gap ends its run; set a budget of iterations, time or oracle calls",
        ));
    }
    let cancelled = observer.cancelled();
    let mut meter = Meter::new(clock, budget.limits(), &*cancelled).with_oracle_cost(oracle_cost);
    meter = meter.with_helpers(observer.helpers());
    let mut points: Vec<TracePoint> = Vec::new();
    let mut iterations = 0;
    let (stop, solution) = loop {
        meter.expect_calls(problem.terms());
        meter.resume();
        let ended = solver.iterate(&mut meter);
        meter.pause();
        iterations += u64::from(ended == Iteration::Complete);
        if ended == Iteration::Complete {
            observer.iteration(iterations, solver.moments());
        }
        let mut stop = meter.halt().map(StopReason::from);
        if stop.is_none() {
            stop = used_up(budget, iterations, meter.now_ns() * 1e-9);
        }
        if stop == Some(StopReason::Cancelled) {
            break (StopReason::Cancelled, solver.solution());
        }
        if stop.is_none() && !evaluate.due(iterations) {
            continue;
        }
        let solution = solver.solution();
        let known = if problem.exact() { Vec::new() } else { solver.kept_values(&solution.w) };
        let parallel = observer.parallel_evaluation();
        let Some(value) = problem.evaluate(&solution.w, &known, parallel, &*cancelled) else {
            break (StopReason::Cancelled, solution);
        };
        let dual_solution = solution.dual(problem.lambda());
        let dual = dual_solution.max(solver.dual());
        let counters = meter.counters();
        let (planes_mean, planes_max) = solver.planes();
        let point = TracePoint {
            iteration: iterations,
            partial: ended != Iteration::Complete,
            time_s: meter.now_ns() * 1e-9,
            cpu_s: meter.cpu_s(),
            oracle_calls: counters.oracle_calls,
            approx_steps: counters.approx_steps,
            skipped_steps: counters.skipped_steps,
            approx_passes: counters.approx_passes,
            oracle_time_s: meter.oracle_s(),
            approx_time_s: meter.approx_s(),
            primal: value.primal,
            dual,
            dual_solution,
            gap: value.primal - dual,
            oracle_slack: value.slack,
            proven: value.proven,
            planes_mean,
            planes_max,
            cached_bytes: solver.cached_bytes(),
        };
        if !point.is_sound() || (has_dual && !point.has_dual()) {
            return Err(Error::invalid(format!(
                "the run diverged in iteration {iterations}: primal {}, dual {dual}; look for extreme feature values",
                value.primal
            )));
        }
        observer.point(&point);
        if budget.gap.is_some_and(|gap| point.gap <= gap) {
            stop = Some(StopReason::Gap);
        }
        points.push(point);
        if let Some(stop) = stop {
            break (stop, solution);
        }
    };
    let (oracle_ns, approx_ns) = meter.histograms();
    Ok(Outcome {
        points,
        stop,
        oracle_ns: oracle_ns.clone(),
        approx_ns: approx_ns.clone(),
        wall_s: meter.wall_s(),
        cpu_s: meter.cpu_s(),
        oracle_wall_s: meter.oracle_wall_s(),
        pipe_s: meter.pipe_s(),
        instrument_s: meter.instrument_s(),
        notes: problem.notes(),
        weights: problem.weights(&solution.w),
    })
}

/// Whether whole iterations have used up the budget. Where iterations and time must both be reached, a run ends after
/// the iteration that reaches the last of them, and says which that was.
fn used_up(budget: &Budget, iterations: u64, time_s: f64) -> Option<StopReason> {
    let least = budget.iterations.filter(|least| iterations >= *least)?;
    match budget.time_s.filter(|_| budget.until == Until::All) {
        Some(time) if time_s < time => None,
        Some(_) if iterations > least => Some(StopReason::Time),
        _ => Some(StopReason::Iterations),
    }
}
