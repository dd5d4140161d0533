//! The error type of the library.

use crate::problem::Fault;
use crate::solver::Refusal;

/// Result of every fallible call of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong when a problem is built or solved.
///
/// ```
/// use ssvm::{Error, Hinge, Simple, Solve};
///
/// let ended = Solve::new(&Simple::new(Hinge)).solver("mp-bcwf").run();
/// assert!(matches!(ended, Err(Error::UnknownSolver { name, .. }) if name == "mp-bcwf"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The table has no solver of this name.
    #[error("unknown solver '{name}'; known: {known}")]
    UnknownSolver {
        /// The name.
        name: String,
        /// The known names, and the one that may be meant.
        known: String,
    },
    /// A parameter of a solver is unknown, outside its domain, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Refusal),
    /// The run has no limit.
    #[error("a run needs a budget: iterations, time, oracle calls or gap")]
    NoBudget,
    /// The problem has no terms.
    #[error("the data set has no examples")]
    NoTerms,
    /// No run on the problem can be trusted; see [`crate::Problem::refusal`].
    #[error("{0}")]
    RefusedProblem(String),
    /// The only limit is a gap, and the solver has none.
    #[error("this solver has no dual, so a gap cannot end its run; set a budget of iterations, time or oracle calls")]
    NoDual,
    /// A value is not finite.
    #[error("the run diverged in iteration {iteration}: primal {primal}, dual {dual}; look for extreme feature values")]
    Diverged {
        /// Completed iterations.
        iteration: u64,
        /// P, as computed.
        primal: f64,
        /// F.
        dual: f64,
    },
    /// The primal is below the dual, which neither an exact oracle nor a correct solver allows.
    #[error(
        "the gap is negative in iteration {iteration}: primal {primal}, dual {dual}; either the solver is wrong, or the oracle: it \
         does not maximise, is not deterministic, returns planes that disagree with its scores, or a plane other than 0 for the \
         truth"
    )]
    NegativeGap {
        /// Completed iterations.
        iteration: u64,
        /// P, as computed.
        primal: f64,
        /// F.
        dual: f64,
    },
    /// Reading the CPU clock around every oracle call, as an oracle cost other than 1 needs it, would cost too much.
    #[error(
        "with an oracle cost other than 1 the CPU clock is read twice per oracle call; the two readings take {readings} ns and a \
         median call {call} ns, so the run would measure its own readings; use the wall clock"
    )]
    SlowReadings {
        /// Cost of the readings of one call, ns.
        readings: u64,
        /// Median duration of a call, ns.
        call: u64,
    },
    /// The oracle cannot answer.
    #[error("{0}")]
    OracleFailed(Fault),
    /// An argument or a combination of settings is wrong.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// An [`Error::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::OracleFailed(fault)
    }
}
