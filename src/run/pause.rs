//! A gate that runs pass between iterations, while their clocks are stopped. The holder of the gate runs alone; all others wait until it
//! is released.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// Shared by the workers of a batch.
#[derive(Debug, Default)]
pub struct PauseGate {
    /// A copy of [`GateState::held`] that costs one relaxed load to read.
    held: AtomicBool,
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// Workers inside a run and not waiting.
    running: usize,
    held: bool,
}

/// A worker inside a run; leaves when dropped.
#[derive(Debug)]
pub struct Inside<'a>(&'a PauseGate);

/// All other workers wait until this is dropped.
#[derive(Debug)]
pub struct Alone<'a>(&'a PauseGate);

impl PauseGate {
    /// A run begins; waits while the gate is held.
    pub fn enter(&self) -> Inside<'_> {
        self.go_on(self.state.lock());
        Inside(self)
    }

    /// Called by a run while its clock is stopped; waits while the gate is held.
    pub fn pass(&self) {
        if self.held.load(Ordering::Relaxed) {
            let mut state = self.state.lock();
            state.running -= 1;
            self.changed.notify_all();
            self.go_on(state);
        }
    }

    fn go_on(&self, mut state: MutexGuard<'_, GateState>) {
        self.changed.wait_while(&mut state, |state| state.held);
        state.running += 1;
        self.changed.notify_all();
    }

    /// Workers inside a run now.
    pub fn running(&self) -> usize {
        self.state.lock().running
    }

    /// Waits until this number of workers is inside a run, no longer than `patience`; whether they are.
    pub fn await_running(&self, workers: usize, patience: Duration) -> bool {
        let mut state = self.state.lock();
        self.changed.wait_while_for(&mut state, |state| state.running != workers, patience);
        state.running == workers
    }

    /// Waits until every run is paused, at most for `patience`. Must not be called from inside a run.
    pub fn hold(&self, patience: Duration) -> Option<Alone<'_>> {
        let deadline = Instant::now() + patience;
        let mut state = self.state.lock();
        if state.held {
            return None;
        }
        state.held = true;
        self.held.store(true, Ordering::Relaxed);
        while state.running > 0 && !self.changed.wait_until(&mut state, deadline).timed_out() {}
        let still = state.running == 0;
        // Letting the others go, which dropping it does, takes the lock again.
        drop(state);
        Some(Alone(self)).filter(|_| still)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.state.lock().running -= 1;
        self.0.changed.notify_all();
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Relaxed);
        self.0.state.lock().held = false;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn whoever_holds_the_gate_is_alone() {
        let gate = PauseGate::default();
        let (steps, end) = (Mutex::new(0u64), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let run = || {
                let _inside = gate.enter();
                while !end.load(Ordering::Relaxed) {
                    *steps.lock() += 1;
                    gate.pass();
                }
            };
            let (first, second) = (scope.spawn(run), scope.spawn(run));
            for _ in 0..50 {
                let alone = gate.hold(LONG).expect("both runs come by");
                assert_eq!(gate.running(), 0);
                let before = *steps.lock();
                std::thread::yield_now();
                assert_eq!(*steps.lock(), before, "a run went on");
                assert!(gate.hold(LONG).is_none(), "one at a time");
                drop(alone);
                let seen = *steps.lock();
                while *steps.lock() == seen {
                    std::thread::yield_now();
                }
            }
            end.store(true, Ordering::Relaxed);
            first.join().unwrap();
            second.join().unwrap();
        });
        assert_eq!(gate.running(), 0);
    }

    #[test]
    fn a_run_that_does_not_come_by_is_not_waited_for() {
        let gate = PauseGate::default();
        let inside = gate.enter();
        assert!(gate.hold(Duration::ZERO).is_none());
        // The gate is open again.
        gate.pass();
        assert_eq!(gate.running(), 1);
        drop(inside);
        assert!(gate.hold(Duration::ZERO).is_some());
    }
}
