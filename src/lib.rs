//! A parallel benchmarking harness for training structural SVMs.
//!
//! The solvers are the crate [`ssvm`]; this crate runs them on data sets, stores what they did, and draws conclusions.
//! [`Harness`] is the whole program as a value, and the place where your own solvers and problems enter.
//!
//! Data flows one way: `dataset → experiment → run → store → study → gate | render → cli`. CONTRIBUTING.md has the table of
//! modules and what each may use.

// The harness is a program: public entry points are documented; inner items are documented where names and types are not enough.
#![allow(missing_docs)]
// Outside bytes must lead to errors, never to panics.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

pub mod cli;
pub mod dataset;
pub mod error;
pub mod experiment;
pub mod gate;
pub mod render;
pub mod run;
pub mod store;
pub mod study;
pub mod table;
pub mod text;

pub use ssvm;
pub use ssvm::{
    Budget, Cadence, ClockKind, Direction, Domain, Execution, Family, Fault, Interrupt, Iterate, Iteration, MaxOracle,
    Meter, Metered, Moment, Observer, OracleCost, Outcome, Param, Params, Problem, Quiet, RunLimits, RunSettings,
    Simple, Sink, Solution, Solve, Solver, SolverInfo, SolverRow, SolverSpec, SolverTable, SparsePlane, StopReason,
    TracePoint, Until, Value, drive, solver,
};

pub use cli::harness::Harness;
pub use dataset::{DataDir, DatasetInfo, DatasetRow, Loaded, Request};
pub use error::{Error, Result};
pub use experiment::catalog::Catalog;

/// The examples of the README, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
