//! What the test targets share: records, runs, sessions, trajectories of the authors' program, tests that may find nothing to
//! run on, and the small problems of the library's tests. Every target has `mod common` at its root, and its files name
//! `crate::common`.
#![allow(dead_code)] // each target uses its own part

pub mod hand;
pub mod records;
pub mod reference;
pub mod runs;
pub mod sessions;
#[path = "../../crates/ssvm/tests/common/mod.rs"]
mod small;
pub mod trials;

/// A call of the program whose lines are so long that no text is wrapped.
pub fn program() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ssvm-bench"));
    command.env("COLUMNS", "1000");
    command
}

#[allow(unused_imports)] // each target uses its own part
pub use small::*;
