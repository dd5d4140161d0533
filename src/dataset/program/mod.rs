//! Max-oracles that are programs of their own: a command line in, a [`Problem`](ssvm::problem::Problem) for every solver
//! out. docs/oracle-programs.md describes the protocol.
//!
//! [`handshake`] and [`protocol`] are the frames, [`child`] is one running program, [`pool`] one program per thread that asks,
//! [`problem`] the problem made of them, [`trial`] the checks before a long run, [`serve`] the other end for programs in Rust.

mod child;
mod dataset;
mod handshake;
mod plane;
mod pool;
mod problem;
mod protocol;
mod serve;
mod trial;

pub use child::kill_all;
pub use dataset::*;
pub use handshake::Handshake;
pub use plane::Plane;
pub use pool::{Launch, Pipe};
pub use problem::{PROGRAM, ProgramBlocks, ProgramProblem, ProgramWork};
pub use protocol::{Answer, VERSION};
pub use serve::{serve, serve_on};
pub use trial::{Finding, Trial, trial};
