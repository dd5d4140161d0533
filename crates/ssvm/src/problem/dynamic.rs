//! A problem behind dynamic calls, whatever the types of its planes and blocks.

use super::{Evaluation, Family, Fault, Problem, evaluate};
use crate::clock::Cancelled;
use crate::error::Result;
use crate::settings::Params;
use crate::solver::{self, Bracket, BracketProgress, Metered, Solver};

/// A problem whose type is not known. Every [`Problem`] is one.
///
/// ```
/// use ssvm::{Hinge, Problem, Simple};
///
/// let optimum = Simple::new(Hinge).as_dyn().bracket(1e-9, &|| false, &mut |_| {})?;
/// assert!(optimum.lower <= 0.5 && 0.5 <= optimum.upper && optimum.width() <= 1e-9);
/// # Ok::<(), ssvm::Error>(())
/// ```
///
/// Solvers, evaluation and bracket are generic over the problem, and large. They are compiled where the dynamic calls are:
/// problems of this crate override [`Problem::as_dyn`], so that all their code is compiled in this crate, at its level of
/// optimisation, and only linked elsewhere.
pub trait DynProblem: Sync {
    /// [`Problem::family`].
    fn family(&self) -> &'static Family;
    /// [`Problem::terms`].
    fn terms(&self) -> usize;
    /// [`Problem::exported`].
    fn exported(&self) -> usize;
    /// [`Problem::lambda`].
    fn lambda(&self) -> f64;
    /// [`Problem::exact`].
    fn exact(&self) -> bool;
    /// [`Problem::refusal`].
    fn refusal(&self) -> Option<String>;
    /// [`Problem::notes`].
    fn notes(&self) -> Vec<String>;
    /// [`Problem::weights`].
    fn weights(&self, w: &[f64]) -> Vec<f64>;
    /// The solver of [`solver::Standard`] with this name and these parameters; `None` when there is no such row.
    fn standard_solver(&self, name: &str, params: &Params, seed: u64) -> Option<Box<dyn Solver + '_>>;
    /// Evaluates P at w. `known` has the value of the best plane that a solver keeps per term, and may be empty. Runs
    /// on the current rayon pool when `parallel`. Returns `None` when `cancelled` returns true.
    fn evaluate(
        &self,
        w: &[f64],
        known: &[f64],
        parallel: bool,
        cancelled: &Cancelled<'_>,
    ) -> Result<Option<Evaluation>, Fault>;
    /// Narrows the bracket of the optimum until it is at most `gap` wide, nothing more can be gained, or `stop` returns
    /// true.
    fn bracket(&self, gap: f64, stop: &dyn Fn() -> bool, watch: &mut dyn FnMut(&BracketProgress)) -> Result<Bracket>;
}

impl<P: Problem> DynProblem for P {
    fn family(&self) -> &'static Family {
        Problem::family(self)
    }

    fn terms(&self) -> usize {
        Problem::terms(self)
    }

    fn exported(&self) -> usize {
        Problem::exported(self)
    }

    fn lambda(&self) -> f64 {
        Problem::lambda(self)
    }

    fn exact(&self) -> bool {
        Problem::exact(self)
    }

    fn refusal(&self) -> Option<String> {
        Problem::refusal(self)
    }

    fn notes(&self) -> Vec<String> {
        Problem::notes(self)
    }

    fn weights(&self, w: &[f64]) -> Vec<f64> {
        Problem::weights(self, w)
    }

    fn standard_solver(&self, name: &str, params: &Params, seed: u64) -> Option<Box<dyn Solver + '_>> {
        solver::standard_solver(name, Metered::new(self), params, seed)
    }

    fn evaluate(
        &self,
        w: &[f64],
        known: &[f64],
        parallel: bool,
        cancelled: &Cancelled<'_>,
    ) -> Result<Option<Evaluation>, Fault> {
        evaluate::evaluate(self, w, known, parallel, cancelled)
    }

    fn bracket(&self, gap: f64, stop: &dyn Fn() -> bool, watch: &mut dyn FnMut(&BracketProgress)) -> Result<Bracket> {
        Ok(solver::bracket::bracket(self, gap, stop, watch)?)
    }
}
