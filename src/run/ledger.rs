//! Memory of the process, look by look, in; which run should end when it is nearly gone, out.
//!
//! Nobody knows what a thread has taken, so what is taken between two looks is divided among the runs that are at work.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::dataset::memory::{MemoryWatch, available_memory, resident_memory};
use crate::text::bytes;

/// Below this part of the reserve nobody can wait for a run that was told to end.
const OUT: f64 = 0.7;
/// A run with a smaller part of the reserve is not ended: memory that others gave back is used again.
const SMALL: u64 = 8;

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Enough.
    Enough,
    /// So little that a run should end.
    Little,
    /// So little that there is no time to wait for it.
    Nothing,
}

/// Who may have taken what.
#[derive(Debug)]
pub struct Ledger {
    lookout: MemoryWatch,
    /// When to look again: a look costs some microseconds of a core that a worker may share.
    next: Instant,
    held: u64,
    /// Bytes that may belong to a run.
    shares: BTreeMap<usize, u64>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { lookout: MemoryWatch::default(), next: Instant::now(), held: resident_memory(), shares: BTreeMap::new() }
    }
}

impl Ledger {
    /// Time until the next look.
    pub fn wait(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Looks, if it is time, and takes note of what the runs at work may have taken.
    pub fn look(&mut self, at_work: &[usize]) -> Left {
        if !self.wait().is_zero() {
            return Left::Enough;
        }
        self.note(resident_memory(), at_work);
        let left = self.lookout.left();
        self.next = Instant::now() + MemoryWatch::pause(left);
        match left {
            left if left < OUT => Left::Nothing,
            left if left < 1.0 => Left::Little,
            _ => Left::Enough,
        }
    }

    fn note(&mut self, held: u64, at_work: &[usize]) {
        let more = held.saturating_sub(std::mem::replace(&mut self.held, held));
        self.shares.retain(|run, _| at_work.contains(run));
        for run in at_work {
            *self.shares.entry(*run).or_default() += more / at_work.len() as u64;
        }
    }

    /// The run to end, of these from the oldest to the youngest: the youngest that may have at least half as much as the
    /// largest. There was enough before it came. From here on shares are counted anew.
    pub fn suspect(&mut self, at_work: &[usize]) -> Option<usize> {
        let share = |run: &usize| self.shares.get(run).copied().unwrap_or(0);
        let most = at_work.iter().map(share).max().filter(|most| *most >= self.lookout.reserve() / SMALL)?;
        let found = at_work.iter().rev().copied().find(|run| share(run) >= most / 2);
        self.shares.clear();
        found
    }
}

/// The numbers, for messages.
pub fn numbers() -> String {
    let left = available_memory().map_or_else(String::new, |left| format!(", {} was left", bytes(left)));
    format!("this process held {}{left}", bytes(resident_memory()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_that_grows_is_found() {
        let mut ledger = Ledger { held: 0, ..Ledger::default() };
        let step = ledger.lookout.reserve().max(1 << 20);
        // An old run that grows beside short ones: they come and go, its share stays.
        for at in 1..=10 {
            ledger.note(at * step, &[0, at as usize]);
        }
        assert_eq!(ledger.suspect(&[0, 10]), Some(0));
        // After somebody was ended nobody is suspected until memory grows again.
        assert_eq!(ledger.suspect(&[10]), None);
        // A young one beside an old one that did not grow before.
        let mut ledger = Ledger { held: 0, ..Ledger::default() };
        for _ in 0..5 {
            ledger.note(0, &[0]);
        }
        for at in 1..=5 {
            ledger.note(at * step, &[0, 1]);
        }
        assert_eq!(ledger.suspect(&[0, 1]), Some(1));
    }
}
