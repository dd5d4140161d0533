//! Structural SVM training with FW, BCFW and MP-BCFW, and the harness that measures it.
//!
//! min_w λ/2 ‖w‖² + Σ_i H_i(w), where each H_i is the maximum of planes that a max-oracle finds.
//!
//! Two crates in one. The *solver library* (always there): a [`Problem`] or a [`MaxOracle`] of one's own, the solvers
//! behind [`Solve`], clocks that can be trusted. The *harness* (feature `harness`, on by default): data sets, configs,
//! parallel runs, figures, report, claims and gates, all behind [`Harness`], whose `main` is the whole program.
//!
//! Data flows one way:
//! `config → plan → dataset / problem → drive(solver) → trace → frame → figure | report | claims | check`.

// What outside bytes reach must return errors.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

pub mod clock;
pub mod data;
pub mod drive;
pub mod error;
pub mod linalg;
pub mod oracle;
pub mod problem;
pub mod program;
pub mod settings;
pub mod solver;
pub mod stats;
pub mod text;

#[cfg(feature = "harness")]
pub mod catalog;
#[cfg(feature = "harness")]
pub mod check;
#[cfg(feature = "harness")]
pub mod claims;
#[cfg(feature = "harness")]
pub mod cli;
#[cfg(feature = "harness")]
pub mod cluster;
#[cfg(feature = "harness")]
pub mod config;
#[cfg(feature = "harness")]
pub mod dataset;
#[cfg(feature = "harness")]
pub mod exec;
#[cfg(feature = "harness")]
pub mod figure;
#[cfg(feature = "harness")]
pub mod files;
#[cfg(feature = "harness")]
pub mod frame;
#[cfg(feature = "harness")]
pub mod guard;
#[cfg(feature = "harness")]
pub mod harness;
#[cfg(feature = "harness")]
pub mod league;
#[cfg(feature = "harness")]
pub mod optimum;
#[cfg(feature = "harness")]
pub mod plan;
#[cfg(feature = "harness")]
pub mod price;
#[cfg(feature = "harness")]
pub mod report;
#[cfg(feature = "harness")]
pub mod shard;
#[cfg(feature = "harness")]
pub mod trace;

pub use clock::{ClockKind, Meter, OracleCost};
pub use drive::{Course, Observer, Outcome, Quiet, Solve, StopReason, TracePoint, drive};
pub use error::{Error, Result};
pub use problem::{Direction, Family, MaxOracle, Problem, Simple, Sink, SparsePlane};
pub use settings::{Budget, Cadence, Domain, Param, Params, RunSettings, SolverSpec, Until, Value};
pub use solver::{Iterate, Iteration, Metered, Moment, Solution, Solver, SolverInfo, SolverRow, SolverTable};

#[cfg(feature = "harness")]
pub use catalog::Catalog;
#[cfg(feature = "harness")]
pub use dataset::{DataDir, DatasetInfo, DatasetRow, Loaded, Request};
#[cfg(feature = "harness")]
pub use harness::Harness;

/// The examples of the README, compiled and run by the tests.
#[cfg(all(doctest, feature = "harness"))]
#[doc = include_str!("../README.md")]
struct Readme;
