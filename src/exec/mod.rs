//! `RunSettings` + problem → `Outcome`: the one loop with budget, stop reason and evaluation; around it the workers,
//! the queue, the watch on interference, and progress.

pub mod host;
pub mod interference;
pub mod progress;
mod run;
pub mod scheduler;
pub mod session;
pub mod worker;

pub use run::{Observer, Quiet, execute, run};
