//! The solvers: one file and one row of the table each. Solvers only step; [`mod@crate::drive`] does the rest.

mod average;
mod batch;
pub(crate) mod bracket;
mod face;
mod fw;
mod gap;
mod gaps;
mod gram;
mod iterate;
mod lazy;
mod metered;
mod mpbcfw;
mod one_slack;
pub mod order;
mod passes;
mod sampled;
mod slope;
mod ssg;
mod state;
pub mod step;
mod table;
mod weighted;
pub mod weights;
mod working_set;

pub use average::{Average, Solution};
pub use batch::Batching;
pub use bracket::{Bracket, BracketProgress};
pub use fw::FrankWolfe;
pub use iterate::Iterate;
pub use metered::Metered;
pub use mpbcfw::{MultiPlane, MultiPlaneParams, PlaneSets};
pub use passes::Schedule;
pub use slope::Moment;
pub use state::{PlaneCache, State};
pub(crate) use table::standard_solver;
pub use table::{Added, Refusal, SolverInfo, SolverRow, SolverTable, Standard};
pub use weighted::{Visit, Weighted};
pub use working_set::WorkingSet;

pub use crate::clock::{Interrupt, Meter};

/// Terms whose calls at one w are announced together.
const ANNOUNCED: usize = 64;

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iteration {
    /// All its passes were made.
    Complete,
    /// The run had to stop during an approximate pass; the exact pass is complete.
    Shortened,
}

/// A solver makes one iteration when asked, and can be read between iterations.
///
/// ```
/// use ssvm::{Interrupt, Iterate, Iteration, Meter, Problem, Solution, Solver};
///
/// /// BCFW in file order.
/// struct Cyclic<'p, P: Problem>(Iterate<'p, P>);
///
/// impl<P: Problem> Solver for Cyclic<'_, P> {
///     fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
///         for i in 0..self.0.problem.terms() {
///             self.0.exact_step(i, meter, None)?;
///         }
///         Ok(Iteration::Complete)
///     }
///     fn solution(&self) -> Solution {
///         self.0.solution()
///     }
///     fn dual(&self) -> f64 {
///         self.0.dual()
///     }
/// }
/// ```
pub trait Solver {
    /// Makes one iteration under a running meter. Fails when its exact pass cannot be completed, because the run must
    /// stop or the oracle cannot answer.
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt>;
    /// The returned vector: the averaged one for averaged solvers.
    fn solution(&self) -> Solution;
    /// F of the current iterate.
    fn dual(&self) -> f64;
    /// φ and the planes in the form that the solver keeps; `None` for a solver that keeps no φ^i.
    fn state(&self) -> Option<&dyn State> {
        None
    }
    /// (time, F) at the start of the last iteration and after each of its passes.
    fn moments(&self) -> &[Moment] {
        &[]
    }
}
