//! A problem bound to a table of solvers, without a type parameter. Every solver is compiled for the problem's own
//! type.

use std::sync::Arc;

use super::{Execution, Observer, Outcome, RunLimits, drive};
use crate::error::Result;
use crate::problem::{DynProblem, Family, Problem};
use crate::settings::RunSettings;
use crate::solver::SolverTable;

/// A problem that can be run with any solver of a table.
pub trait AnyProblem: Send + Sync {
    /// The problem itself.
    fn problem(&self) -> &dyn DynProblem;
    /// Builds the solver and runs it until its budget ends.
    fn run(&self, settings: &RunSettings, execution: &Execution<'_>, observer: &mut dyn Observer) -> Result<Outcome>;
}

impl dyn AnyProblem + '_ {
    /// The family of the problem.
    pub fn family(&self) -> &'static Family {
        self.problem().family()
    }

    /// n.
    pub fn terms(&self) -> usize {
        self.problem().terms()
    }

    /// d: length of the exported weights.
    pub fn weights(&self) -> usize {
        self.problem().exported()
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.problem().lambda()
    }

    /// [`Problem::exact`]: whether P is computed, not bounded.
    pub fn exact(&self) -> bool {
        self.problem().exact()
    }
}

/// Binds a problem to a table of solvers.
///
/// ```
/// use ssvm::{Hinge, Simple, drive::bind, solver::Standard};
///
/// let problem = bind(Simple::new(Hinge), Standard.into());
/// assert_eq!((problem.terms(), problem.lambda()), (1, 1.0));
/// ```
pub fn bind<P, S>(problem: P, solvers: Arc<S>) -> Arc<dyn AnyProblem>
where
    P: Problem + Send + Sync + 'static,
    S: SolverTable,
{
    Arc::new(BoundProblem { problem, solvers })
}

struct BoundProblem<P, S> {
    problem: P,
    solvers: Arc<S>,
}

impl<P: Problem + Send + Sync, S: SolverTable> AnyProblem for BoundProblem<P, S> {
    fn problem(&self) -> &dyn DynProblem {
        self.problem.as_dyn()
    }

    fn run(&self, settings: &RunSettings, execution: &Execution<'_>, observer: &mut dyn Observer) -> Result<Outcome> {
        let mut solver = self.solvers.build(&settings.solver, &self.problem, settings.seed)?;
        drive(&self.problem, &mut *solver, &RunLimits::of(settings, execution), observer)
    }
}
