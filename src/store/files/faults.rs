//! Calls to the operating system that fail on purpose, for tests: the n-th call of this module, or every write once a
//! disk of a given size is full. Outside of tests, each call costs one load of a flag.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

static ARMED: AtomicBool = AtomicBool::new(false);
static PLAN: Mutex<FaultPlan> = Mutex::new(FaultPlan { calls: 0, written: 0, fails_at: None, capacity: None });
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct FaultPlan {
    calls: u64,
    written: u64,
    fails_at: Option<u64>,
    capacity: Option<u64>,
}

/// The faults while this value lives; calls are counted. At most one at a time per process.
pub struct Faults {
    _turn: MutexGuard<'static, ()>,
}

impl Faults {
    /// No faults; calls and bytes are counted.
    pub fn none() -> Self {
        Self::plan(None, None)
    }

    /// Fails the n-th call, counted from 1; the calls after it work.
    pub fn at_call(n: u64) -> Self {
        Self::plan(Some(n), None)
    }

    /// A disk that is full after this many bytes, and stays full.
    pub fn full_after(bytes: u64) -> Self {
        Self::plan(None, Some(bytes))
    }

    fn plan(fails_at: Option<u64>, capacity: Option<u64>) -> Self {
        let turn = ONE_AT_A_TIME.lock();
        *PLAN.lock() = FaultPlan { calls: 0, written: 0, fails_at, capacity };
        ARMED.store(true, Ordering::SeqCst);
        Self { _turn: turn }
    }

    pub fn calls(&self) -> u64 {
        PLAN.lock().calls
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        PLAN.lock().written
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        ARMED.store(false, Ordering::SeqCst);
    }
}

/// Must run before every call.
pub(super) fn call() -> io::Result<()> {
    write(0).map(drop)
}

/// Must run before every write; returns how many of its bytes may be written.
pub(super) fn write(bytes: usize) -> io::Result<usize> {
    if !ARMED.load(Ordering::Relaxed) {
        return Ok(bytes);
    }
    let mut plan = PLAN.lock();
    plan.calls += 1;
    if plan.fails_at == Some(plan.calls) {
        return Err(io::Error::other("a fault on purpose"));
    }
    let left = plan.capacity.map_or(bytes as u64, |capacity| capacity - plan.written).min(bytes as u64);
    plan.written += left;
    if left == 0 && bytes > 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(left as usize) }
}
