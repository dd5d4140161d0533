//! The solver library alone: nothing here needs the harness.

#[path = "../common/mod.rs"]
mod common;

mod averages;
mod batches;
mod cancellation;
mod certified;
mod charging;
mod expansion;
mod faults;
mod maxflow;
mod oracles;
mod planes;
mod skipping;
mod solvers;
