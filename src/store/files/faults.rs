//! Calls to the operating system that fail on purpose, for tests: the n-th call of this module, or every write once a disk
//! of a given size is full. Outside of tests this is one load of a flag per call.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

static ARMED: AtomicBool = AtomicBool::new(false);
static PLAN: Mutex<Plan> = Mutex::new(Plan { calls: 0, written: 0, fails_at: None, capacity: None });
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Plan {
    calls: u64,
    written: u64,
    fails_at: Option<u64>,
    capacity: Option<u64>,
}

/// What goes wrong while this value lives; calls are counted. One at a time in a process.
pub struct Faults {
    _turn: MutexGuard<'static, ()>,
}

impl Faults {
    /// Nothing goes wrong; calls and bytes are counted.
    pub fn none() -> Self {
        Self::plan(None, None)
    }

    /// The n-th call fails, counted from 1, those after it work.
    pub fn at_call(n: u64) -> Self {
        Self::plan(Some(n), None)
    }

    /// The disk is full after this many bytes, and stays full.
    pub fn full_after(bytes: u64) -> Self {
        Self::plan(None, Some(bytes))
    }

    fn plan(fails_at: Option<u64>, capacity: Option<u64>) -> Self {
        let turn = ONE_AT_A_TIME.lock();
        *PLAN.lock() = Plan { calls: 0, written: 0, fails_at, capacity };
        ARMED.store(true, Ordering::SeqCst);
        Self { _turn: turn }
    }

    pub fn calls(&self) -> u64 {
        PLAN.lock().calls
    }

    /// Bytes.
    pub fn written(&self) -> u64 {
        PLAN.lock().written
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        ARMED.store(false, Ordering::SeqCst);
    }
}

/// Before a call.
pub(super) fn call() -> io::Result<()> {
    write(0).map(drop)
}

/// Before a write: how many of its bytes may be written.
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
