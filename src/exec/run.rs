//! One run: iterate under the meter, pause it to evaluate, stop for one typed reason.

use crate::clock::Meter;
use crate::config::{RunSettings, SolverKind};
use crate::error::{Error, Result};
use crate::problem::{AnyProblem, Problem, WithProblem, primal};
use crate::solver::{FrankWolfe, Iteration, Moment, MultiPlane, Solver};
use crate::trace::{Outcome, StopReason, TracePoint};

/// Who watches a run. Called between iterations only, while the clock stands still.
pub trait Observer {
    /// After an evaluation.
    fn point(&mut self, _point: &TracePoint) {}
    /// Whether evaluations may use the current rayon pool.
    fn parallel_evaluation(&self) -> bool {
        false
    }
    /// Asked about every millisecond, inside passes and evaluations too; true ends the run.
    fn cancelled(&self) -> Box<dyn Fn() -> bool + Sync + Send> {
        Box::new(|| false)
    }
}

/// Nobody watches.
pub struct Quiet;

impl Observer for Quiet {}

/// Runs a solver on a problem until its budget ends.
pub fn execute(problem: &AnyProblem, settings: &RunSettings, observer: &mut dyn Observer) -> Result<Outcome> {
    struct Execute<'a> {
        settings: &'a RunSettings,
        observer: &'a mut dyn Observer,
    }
    impl WithProblem for Execute<'_> {
        type Output = Result<Outcome>;
        fn with<P: Problem>(self, problem: &P) -> Self::Output {
            run(problem, self.settings, self.observer)
        }
    }
    problem.with(Execute { settings, observer })
}

/// How well an iteration shows the slope rule: best with six approximate passes; its start and the end of its exact pass
/// are moments too.
fn instructive(moments: &[Moment]) -> i64 {
    if moments.len() < 3 { i64::MIN } else { -(moments.len() as i64 - 8).abs() }
}

/// The loop for one problem type: also the entry for problems of one's own.
pub fn run<P: Problem>(problem: &P, settings: &RunSettings, observer: &mut dyn Observer) -> Result<Outcome> {
    let budget = &settings.budget;
    if budget.iterations.is_none() && budget.time_s.is_none() && budget.oracle_calls.is_none() && budget.gap.is_none() {
        return Err(Error::invalid("a run needs a budget: iterations, time, oracle calls or gap"));
    }
    if problem.terms() == 0 {
        return Err(Error::invalid("the data set has no example"));
    }
    let cancelled = observer.cancelled();
    let mut meter = Meter::new(settings.clock, budget, &*cancelled);
    let (spec, seed) = (&settings.solver, settings.seed);
    let mut solver: Box<dyn Solver + '_> = match spec.kind {
        SolverKind::Fw => Box::new(FrankWolfe::new(problem, spec, seed)),
        _ => Box::new(MultiPlane::new(problem, spec, seed)),
    };
    let mut work = problem.work();
    let mut points: Vec<TracePoint> = Vec::new();
    let mut passes: Vec<Moment> = Vec::new();
    let mut iterations = 0;
    let (stop, solution) = loop {
        meter.expect_calls(problem.terms());
        meter.resume();
        let ended = solver.iterate(&mut meter);
        meter.pause();
        iterations += u64::from(ended != Iteration::Interrupted);
        if ended == Iteration::Complete && instructive(solver.moments()) > instructive(&passes) {
            passes = solver.moments().to_vec();
        }
        let mut stop = meter.stop_reason();
        if stop.is_none() && budget.iterations.is_some_and(|most| iterations >= most) {
            stop = Some(StopReason::Iterations);
        }
        if stop == Some(StopReason::Cancelled) {
            break (StopReason::Cancelled, solver.solution());
        }
        if stop.is_none() && !settings.evaluate.due(iterations) {
            continue;
        }
        let solution = solver.solution();
        let Some(value) = primal(problem, &solution.w, &mut work, observer.parallel_evaluation(), &*cancelled) else {
            break (StopReason::Cancelled, solution);
        };
        let dual_solution = solution.dual(problem.lambda());
        let dual = dual_solution.max(solver.dual());
        if !(value.is_finite() && dual.is_finite()) {
            return Err(Error::invalid(format!(
                "the run diverged in iteration {iterations}: primal {value}, dual {dual}; look for extreme feature values"
            )));
        }
        let counters = meter.counters();
        let (planes_mean, planes_max) = solver.planes();
        let point = TracePoint {
            iteration: iterations,
            time_s: meter.now_ns() * 1e-9,
            cpu_s: meter.cpu_s(),
            oracle_calls: counters.oracle_calls,
            approx_steps: counters.approx_steps,
            approx_passes: counters.approx_passes,
            oracle_time_s: meter.oracle_s(),
            approx_time_s: meter.approx_s(),
            primal: value,
            dual,
            dual_solution,
            gap: value - dual,
            planes_mean,
            planes_max,
        };
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
        instrument_s: meter.instrument_s(),
        passes: passes.iter().map(|moment| (moment.time * 1e-9, moment.dual)).collect(),
        weights: problem.weights(&solution.w),
    })
}
