//! Which run to abort when memory is nearly exhausted.
//!
//! The system does not report what a thread has allocated, so the growth between two checks is divided among the current runs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::dataset::memory::{FreeMemory, available_memory, resident_memory};
use crate::text::bytes;

/// Below this part of the reserve there is no time to wait for a run that was asked to end.
pub const EXHAUSTED: f64 = 0.7;
/// A run whose share is a smaller part of the reserve is not aborted, because it may only reuse memory that others have freed.
const SMALL: u64 = 8;

/// Watches the memory of the process and which runs may have taken it.
#[derive(Debug)]
pub struct MemoryWatch {
    free: FreeMemory,
    /// The time of the next check. A check takes some microseconds of a core that a worker may share.
    next: Instant,
    resident: u64,
    /// Bytes that may belong to a run.
    shares: BTreeMap<usize, u64>,
}

impl Default for MemoryWatch {
    fn default() -> Self {
        let (next, resident) = (Instant::now(), resident_memory());
        Self { free: FreeMemory::default(), next, resident, shares: BTreeMap::new() }
    }
}

impl MemoryWatch {
    /// Time until the next check.
    pub fn pause(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Checks the memory if it is time, and attributes growth to the current runs. Returns the free memory relative to the reserve: below
    /// 1 a run should end, below [`EXHAUSTED`] there is no time to wait for it.
    pub fn look(&mut self, running: &[usize]) -> f64 {
        if !self.pause().is_zero() {
            return f64::INFINITY;
        }
        self.note(resident_memory(), running);
        let left = self.free.left();
        self.next = Instant::now() + FreeMemory::pause(left);
        left
    }

    fn note(&mut self, resident: u64, running: &[usize]) {
        let more = resident.saturating_sub(std::mem::replace(&mut self.resident, resident));
        self.shares.retain(|run, _| running.contains(run));
        for run in running {
            *self.shares.entry(*run).or_default() += more / running.len() as u64;
        }
    }

    /// The run to abort among these, which are ordered from the oldest to the youngest: the youngest run with at least half of the
    /// largest share, because there was enough memory before it started. The shares are reset.
    pub fn suspect(&mut self, running: &[usize]) -> Option<usize> {
        let share = |run: &usize| self.shares.get(run).copied().unwrap_or(0);
        let most = running.iter().map(share).max().filter(|most| *most >= self.free.reserve() / SMALL)?;
        let found = running.iter().rev().copied().find(|run| share(run) >= most / 2);
        self.shares.clear();
        found
    }
}

/// How much the process holds and how much is left, for messages.
pub fn memory_usage() -> String {
    let left = available_memory().map_or_else(String::new, |left| format!(", {} was left", bytes(left)));
    format!("this process held {}{left}", bytes(resident_memory()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_that_grows_is_found() {
        let mut watch = MemoryWatch { resident: 0, ..MemoryWatch::default() };
        let step = watch.free.reserve().max(1 << 20);
        // An old run that grows beside short ones: they come and go, its share stays.
        for at in 1..=10 {
            watch.note(at * step, &[0, at as usize]);
        }
        assert_eq!(watch.suspect(&[0, 10]), Some(0));
        // After an abort no run is suspected until memory grows again.
        assert_eq!(watch.suspect(&[10]), None);
        // A young one beside an old one that did not grow before.
        let mut watch = MemoryWatch { resident: 0, ..MemoryWatch::default() };
        for _ in 0..5 {
            watch.note(0, &[0]);
        }
        for at in 1..=5 {
            watch.note(at * step, &[0, 1]);
        }
        assert_eq!(watch.suspect(&[0, 1]), Some(1));
    }
}
