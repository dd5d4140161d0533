//! A problem bound to a table of solvers, without a type parameter: what workers, plans and commands hold. Every solver is
//! compiled for the problem's own type.

use std::sync::Arc;

use super::{Execution, Observer, Outcome, RunLimits, drive};
use crate::error::Result;
use crate::problem::{Family, Problem};
use crate::settings::RunSettings;
use crate::solver::{Bracket, Progress, SolverTable};

/// A problem that can be run with any solver of a table.
pub trait AnyProblem: Send + Sync {
    /// What kind of problem this is.
    fn family(&self) -> &'static Family;
    /// n.
    fn terms(&self) -> usize;
    /// d: length of the exported weights.
    fn weights(&self) -> usize;
    /// λ.
    fn lambda(&self) -> f64;
    /// [`Problem::exact`]: whether P is computed and not bounded.
    fn exact(&self) -> bool;
    /// Builds the solver and runs it until its budget ends.
    fn run(&self, settings: &RunSettings, execution: &Execution<'_>, observer: &mut dyn Observer) -> Result<Outcome>;
    /// Narrows the bracket of the optimum, see [`crate::problem::DynProblem::bracket`].
    fn bracket(&self, gap: f64, stop: &dyn Fn() -> bool, watch: &mut dyn FnMut(&Progress)) -> Result<Bracket>;
}

/// Binds a problem to a table of solvers.
pub fn bind<P, S>(problem: P, solvers: Arc<S>) -> Arc<dyn AnyProblem>
where
    P: Problem + Send + Sync + 'static,
    S: SolverTable,
{
    Arc::new(Bound { problem, solvers })
}

struct Bound<P, S> {
    problem: P,
    solvers: Arc<S>,
}

impl<P: Problem + Send + Sync, S: SolverTable> AnyProblem for Bound<P, S> {
    fn family(&self) -> &'static Family {
        self.problem.family()
    }

    fn terms(&self) -> usize {
        self.problem.terms()
    }

    fn weights(&self) -> usize {
        self.problem.exported()
    }

    fn lambda(&self) -> f64 {
        self.problem.lambda()
    }

    fn exact(&self) -> bool {
        self.problem.exact()
    }

    fn run(&self, settings: &RunSettings, execution: &Execution<'_>, observer: &mut dyn Observer) -> Result<Outcome> {
        let RunSettings { solver, seed, clock, oracle_cost, budget, evaluate } = settings.clone();
        let limits = RunLimits { clock, oracle_cost, budget, evaluate, execution: execution.clone() };
        let mut solver = self.solvers.build(&solver, &self.problem, seed)?;
        drive(&self.problem, &mut *solver, &limits, observer)
    }

    fn bracket(&self, gap: f64, stop: &dyn Fn() -> bool, watch: &mut dyn FnMut(&Progress)) -> Result<Bracket> {
        Ok(self.problem.as_dyn().bracket(gap, stop, watch)?)
    }
}
