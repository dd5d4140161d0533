//! The solver library alone: these tests run without the harness too (`cargo test --no-default-features`).

#[path = "../common/mod.rs"]
mod common;

mod averages;
mod batches;
mod certified;
mod expansion;
mod maxflow;
mod oracles;
mod planes;
mod skipping;
mod solvers;
