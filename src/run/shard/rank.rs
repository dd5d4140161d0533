//! ShardIndex of two records of one run is kept: an order without ties, so that it does not matter who is merged with whom first.

use std::cmp::Reverse;
use std::path::Path;

use crate::error::Result;
use crate::store::Status;
use crate::store::codec::Head;
use crate::store::files::sha256_hex;
use crate::store::folder::read_file;
use ssvm::drive::TracePoint;

/// Larger is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// One that ended, then one that was stopped and keeps what it measured, then one that failed.
    ended: u8,
    /// The last attempt at its shard: it did whole blocks, where an earlier one was stopped inside of one.
    attempt: u64,
    /// Not beside others, on a core that nobody took away.
    alone: Reverse<u64>,
    steal: Reverse<u64>,
    /// The first; then anything, as long as it is always the same.
    started: Reverse<u64>,
    content: String,
}

impl Rank {
    pub(super) fn of(Head { record, digest }: &Head) -> Self {
        let environment = &record.environment;
        Self {
            ended: match &record.status {
                Status::Done(_) => 2,
                Status::TimedOut { .. } => 1,
                Status::OutOfMemory { .. } | Status::Failed(_) => 0,
            },
            attempt: if record.settings().clock.repeatable() { 0 } else { attempt(&environment.shard) },
            alone: Reverse(environment.jobs),
            // Non-negative numbers are ordered as their bits are.
            steal: Reverse(environment.steal.max(0.0).to_bits()),
            started: Reverse(environment.started_unix_s),
            content: digest.clone(),
        }
    }
}

/// When the call began that a folder of a shard is named after; see [`super::part::ShardRuns::folder`].
fn attempt(shard: &str) -> u64 {
    shard.rsplit_once('-').and_then(|(_, nanos)| u64::from_str_radix(nanos, 16).ok()).unwrap_or(0)
}

/// Hash of what a repeatable clock makes the same on every machine.
pub(super) fn bits(path: &Path) -> Result<String> {
    let record = read_file(path)?;
    let mut text = record.status.text();
    for point in record.points() {
        // Seconds of the CPU are measured beside the clock.
        let point = TracePoint { cpu_s: 0.0, ..point.clone() };
        text += &format!("{point:?}");
    }
    Ok(sha256_hex(text.as_bytes()))
}
