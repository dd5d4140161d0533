//! Train structural SVMs with Frank-Wolfe methods.
//!
//! The problem is min_w λ/2 ‖w‖² + Σ_i H_i(w), where each H_i is the maximum of planes that a max-oracle finds.
//! You bring a [`MaxOracle`] (or a whole [`Problem`]), pick a solver by name, and get certified gaps back:
//!
//! ```
//! use ssvm::{Fault, MaxOracle, Simple, Solve, SparsePlane};
//!
//! /// H(w) = max(0, 1 − w): one term, one weight.
//! struct Hinge;
//!
//! impl MaxOracle for Hinge {
//!     fn terms(&self) -> usize {
//!         1
//!     }
//!     fn dim(&self) -> usize {
//!         1
//!     }
//!     fn max_plane(&self, _i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
//!         let violated = w[0] < 1.0;
//!         plane.entries.clear();
//!         plane.entries.extend(violated.then_some((0, -1.0)));
//!         plane.offset = f64::from(u8::from(violated));
//!         Ok(1)
//!     }
//! }
//!
//! let outcome = Solve::new(&Simple::new(Hinge)).solver("mp-bcfw").gap(1e-9).run()?;
//! assert!((outcome.weights[0] - 1.0).abs() < 1e-6);
//! # Ok::<(), ssvm::Error>(())
//! ```
//!
//! | module | what it has |
//! |---|---|
//! | [`linalg`] | vectors, rows in half and single precision, fixed summation order |
//! | [`data`] | examples in memory, in the precision of their file |
//! | [`oracle`] | max-flow, partial optimality, α-expansion, TRW-S bounds |
//! | [`problem`] | data + oracle + λ: planes, φ^i, products, the primal |
//! | [`clock`] | wall, CPU and virtual clocks, and the meter that counts and times every oracle call |
//! | [`settings`] | the checked values of one run: solver, seed, clock, budget, cadence |
//! | [`solver`] | steps: working sets, orders, averages, and the table of solvers |
//! | [`drive`] | the one loop with budget, stop reason and evaluation |
//! | [`stats`] | medians and bootstrap intervals |

// Outside bytes must lead to errors, never to panics.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

pub mod clock;
pub mod data;
pub mod drive;
mod error;
pub mod linalg;
pub mod oracle;
pub mod problem;
pub mod settings;
pub mod solver;
pub mod stats;
mod suggest;

pub use clock::{ClockKind, Interrupt, Meter, OracleCost};
pub use drive::{Execution, Observer, Outcome, Quiet, RunLimits, Solve, StopReason, TracePoint, drive};
pub use error::{Error, Result};
pub use problem::{Direction, Family, Fault, MaxOracle, Problem, Simple, Sink, SparsePlane};
pub use settings::{Budget, Cadence, Domain, Param, Params, RunSettings, SolverSpec, Until, Value};
pub use solver::{Iterate, Iteration, Metered, Moment, Solution, Solver, SolverInfo, SolverRow, SolverTable};
pub use suggest::nearest;
