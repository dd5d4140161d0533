//! Oracle calls made in parallel at one w. No result depends on which thread makes a call.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

use super::stopwatch::{Stopwatch, thread_cpu_ns};
use crate::error::{Error, Result};
use crate::problem::Fault;

/// A helper spins for this long after a batch, because waking it takes about as long as a cut.
const AWAKE: Duration = Duration::from_micros(200);
/// A waiting thread yields after this many polls.
const LOOKS: u32 = 100;

/// Threads that share the calls of a batch with the solver's own thread.
pub struct Helpers {
    pool: ThreadPool,
}

impl Helpers {
    /// Starts this many threads beside the solver's own; `started` runs on each with its number, counted from 0.
    pub fn new(count: usize, started: impl Fn(usize) + Send + Sync + 'static) -> Result<Self> {
        let threads = ThreadPoolBuilder::new().num_threads(count.max(1)).start_handler(started);
        let pool = threads.thread_name(|k| format!("ssvm-helper-{k}")).build().map_err(|error| {
            Error::invalid(format!("cannot start {count} threads for oracle calls: {error}; use fewer threads"))
        })?;
        Ok(Self { pool })
    }

    /// Number of helpers.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// One call of a batch: its input and output, and what the meter measures of it.
pub(crate) struct Call<T> {
    /// Its term, memory and plane.
    pub item: T,
    pub(super) operations: u64,
    pub(super) stamps: u64,
    pub(super) fault: Option<Fault>,
}

impl<T> Call<T> {
    /// A call that has not been made yet.
    pub fn new(item: T) -> Self {
        Self { item, operations: 0, stamps: 0, fault: None }
    }
}

/// Makes all calls. `oracle` returns the operations that a call took, or a fault, which ends the calls of its thread.
/// Returns the CPU time of the helpers in ns.
pub(super) fn make<T: Send>(
    calls: &mut [Call<T>],
    helpers: Option<&Helpers>,
    watch: &Stopwatch,
    oracle: impl Fn(&mut T) -> Result<u64, Fault> + Sync,
) -> u64 {
    let Some(helpers) = helpers.filter(|_| calls.len() > 1) else {
        make_each(calls.iter_mut(), watch, &oracle);
        return 0;
    };
    let helping = helpers.count().min(calls.len() - 1);
    let queue = Mutex::new(calls.iter_mut());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || make_each(std::iter::from_fn(next), watch, &oracle);
    let (cpu_ns, left) = (AtomicU64::new(0), AtomicUsize::new(helping));
    helpers.pool.in_place_scope(|scope| {
        for _ in 0..helping {
            scope.spawn(|_| {
                let _leaving = Leaving(&left);
                let began = thread_cpu_ns();
                work();
                cpu_ns.fetch_add(thread_cpu_ns() - began, Ordering::Relaxed);
                rayon::spawn(stay_awake);
            });
        }
        work();
        // The end of a scope sleeps, and waking up takes time.
        wait(|| left.load(Ordering::Acquire) == 0);
    });
    cpu_ns.into_inner()
}

/// Makes these calls on this thread. One stamp is both the end of a call and the beginning of the next.
fn make_each<'c, T: 'c>(
    calls: impl Iterator<Item = &'c mut Call<T>>,
    watch: &Stopwatch,
    oracle: &impl Fn(&mut T) -> Result<u64, Fault>,
) {
    let mut began = watch.stamp();
    for call in calls {
        match oracle(&mut call.item) {
            Ok(operations) => call.operations = operations,
            Err(fault) => {
                call.fault = Some(fault);
                return;
            }
        }
        let ended = watch.stamp();
        // The counter may be a little behind on another core: a negative reading counts as zero.
        call.stamps = ended.saturating_sub(began);
        began = ended;
    }
}

/// Marks a helper as done when it is dropped, also when its oracle panicked.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Polls for work without sleeping, until there is some or [`AWAKE`] has passed.
fn stay_awake() {
    let began = Instant::now();
    wait(|| began.elapsed() > AWAKE || rayon::yield_now() == Some(Yield::Executed));
}

fn wait(over: impl Fn() -> bool) {
    let mut looks = 0;
    while !over() {
        looks += 1;
        if looks % LOOKS == 0 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Time that these lanes need for tasks of these lengths, when each task in turn goes to the lane that is free first.
pub(super) fn makespan(lengths: impl Iterator<Item = u64>, lanes: &mut [u64]) -> u64 {
    lanes.fill(0);
    for length in lengths {
        if let Some(first) = lanes.iter_mut().min() {
            *first += length;
        }
    }
    lanes.iter().copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_filled_in_order() {
        let on = |lanes: usize| makespan([5, 3, 4, 4, 1].into_iter(), &mut vec![9; lanes]);
        // Two lanes: 5 | 3, then 4 on the second, 4 on the first, 1 on the second.
        assert_eq!([on(1), on(2), on(3), on(5), on(8)], [17, 9, 7, 5, 5]);
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_solver() {
        let helpers = Helpers::new(2, |_| {}).unwrap();
        for bad in 0..8 {
            let mut calls: Vec<Call<u64>> = (0..8).map(Call::new).collect();
            let broken = |item: &mut u64| if *item == bad { panic!("call {bad}") } else { Ok(1) };
            let made = || make(&mut calls, Some(&helpers), &Stopwatch::new(Default::default()), broken);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(made)).is_err());
        }
    }

    #[test]
    fn every_call_is_made_once_whoever_helps() {
        for helpers in 0..5 {
            let helpers = (helpers > 0).then(|| Helpers::new(helpers, |_| {}).unwrap());
            for count in [1, 2, 7, 40] {
                let mut calls: Vec<Call<u64>> = (0..count).map(Call::new).collect();
                make(&mut calls, helpers.as_ref(), &Stopwatch::new(Default::default()), |item| {
                    *item += 100;
                    Ok(*item)
                });
                let made: Vec<u64> = calls.iter().map(|call| call.item).collect();
                assert_eq!(made, (100..100 + count).collect::<Vec<_>>());
                assert!(calls.iter().all(|call| call.operations == call.item));
            }
        }
    }
}
