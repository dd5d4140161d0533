//! Max-oracles that are programs of their own: a command line in, a [`Problem`](ssvm::problem::Problem) for every solver
//! out. docs/oracle-programs.md describes the protocol.
//!
//! [`handshake`] and [`protocol`] define the frames, [`child`] is one running program, [`pool`] has one program per calling thread,
//! [`problem`] turns them into a problem, [`trial`] checks a program before a long run, and [`serve`] is the other end for programs in
//! Rust.

mod child;
mod dataset;
mod handshake;
mod plane;
mod pool;
mod problem;
mod protocol;
mod serve;
mod trial;

pub use child::{kill_all, stop_calls_by};
pub use dataset::{open, program_file};
pub use handshake::Handshake;
pub use plane::Plane;
pub use pool::{Launch, Pipe};
pub use problem::{PROGRAM, ProgramBlocks, ProgramProblem, ProgramWork};
pub use protocol::{Answer, VERSION};
pub use serve::{serve, serve_on};
pub use trial::{Finding, Trial, trial};

pub(super) use dataset::{KEYS, describe};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("oracle program '{program}': {reason}; write oracle:PATH/TO/PROGRAM ARGUMENTS")]
    NotFound { program: String, reason: &'static str },
    #[error("oracle program '{0}' is not started: --no-programs refuses it")]
    Refused(String),
    #[error("oracle program '{program}' cannot be started: {reason}")]
    Start { program: String, reason: std::io::Error },
    #[error("oracle program '{program}': its pipes cannot be set up: {reason}")]
    Pipes { program: String, reason: nix::errno::Errno },
    /// It sent an error, which is the reason.
    #[error("oracle program '{program}' reported an error when {doing}: {reason}")]
    GaveUp { program: String, reason: String, doing: String },
    /// It broke the protocol or ended; `stderr` is the end of its standard error.
    #[error("oracle program '{program}' {what}; {stderr}")]
    Fault { program: String, what: String, stderr: String },
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        super::Error::from(error).into()
    }
}

type Result<T, E = Error> = std::result::Result<T, E>;
