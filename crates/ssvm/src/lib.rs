#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! | module | contents |
//! |---|---|
//! | [`linalg`] | vectors, rows in half and single precision, fixed summation order |
//! | [`data`] | examples in memory, in the precision of their file |
//! | [`oracle`] | max-flow, partial optimality, α-expansion, TRW-S bounds |
//! | [`problem`] | data + oracle + λ: planes, φ^i, products, the primal |
//! | [`clock`] | wall, CPU and virtual clocks, and the meter that counts and times every oracle call |
//! | [`settings`] | the checked values of one run: solver, seed, clock, budget, cadence |
//! | [`solver`] | steps: working sets, orders, averages, and the table of solvers |
//! | [`mod@drive`] | the one loop with budget, stop reason and evaluation |
//! | [`stats`] | medians and their intervals |

// Bytes from outside must lead to errors, never to panics.
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

/// Target, optimisation level and flags that the solvers were compiled with. Timings of different builds are kept
/// apart.
pub const BUILD_FLAGS: &str = env!("SSVM_FLAGS");

pub use clock::{ClockKind, Interrupt, Meter, OracleCost};
pub use drive::{Execution, Observer, Outcome, Quiet, RunLimits, Solve, StopReason, TracePoint, drive};
pub use error::{Error, Result};
pub use problem::{Direction, Family, Fault, Hinge, MaxOracle, Problem, Simple, Sink, SparsePlane};
pub use settings::{Budget, Cadence, Domain, Param, Params, RunSettings, SolverSpec, Until, Value};
pub use solver::{Iterate, Iteration, Metered, Moment, Solution, Solver, SolverInfo, SolverRow, SolverTable};
pub use suggest::nearest;
