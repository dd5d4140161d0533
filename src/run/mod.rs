//! A plan and a folder in, every missing run on disk out: pinned workers, one queue, the watch on interference, progress.

pub mod cluster;
pub mod existing;
pub mod gate;
pub mod host;
pub mod interference;
mod ledger;
pub mod oracle_cost;
pub mod progress;
pub mod remaining;
pub mod scheduler;
pub mod session;
pub mod shard;
pub mod worker;
