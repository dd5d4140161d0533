//! Structural SVM training with FW, BCFW and MP-BCFW, and the harness that measures it.
//!
//! Data flows one way: `config → plan → dataset / problem → exec(solver) → trace → frame → figure | report | claims | check`.

pub mod check;
pub mod claims;
pub mod cli;
pub mod clock;
pub mod config;
pub mod dataset;
pub mod error;
pub mod exec;
pub mod figure;
pub mod frame;
pub mod linalg;
pub mod oracle;
pub mod plan;
pub mod problem;
pub mod report;
pub mod solver;
pub mod trace;

pub use error::{Error, Result};

/// The examples of the README, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
