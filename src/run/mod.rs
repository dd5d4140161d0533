//! A plan and a result folder in, every missing run on disk out.
//!
//! A [`session`] compares the plan with the folder ([`existing`]) and gives what is missing to the [`scheduler`], whose
//! [`worker`] threads execute one run each at a time. Large plans are cut into [`shard`]s that other machines run with
//! the engines of [`cluster`].

pub mod session;

pub mod existing;
pub mod scheduler;
pub mod worker;

pub mod host;
pub mod interference;
mod memory;
pub mod oracle_cost;
pub mod pause;
pub mod progress;

pub mod cluster;
pub mod shard;

mod error;
pub use error::Error;
