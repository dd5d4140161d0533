//! `RunSettings` + problem → `Outcome`: the one loop with budget, stop reason and evaluation.

mod run;

pub use run::{Observer, Quiet, execute};
