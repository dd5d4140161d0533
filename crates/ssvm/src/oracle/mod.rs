//! Max-oracles: combinatorial solvers that know nothing of planes or weights.

pub mod bound;
pub mod expansion;
pub mod maxflow;
mod moves;
pub mod partial;
pub mod predict;
mod trws;
