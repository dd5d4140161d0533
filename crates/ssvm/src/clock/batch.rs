//! Oracle calls made side by side at one w. Nothing that is computed depends on which thread makes a call.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

use super::stopwatch::{Stopwatch, thread_cpu_ns};
use crate::error::{Error, Result};
use crate::problem::Fault;

/// A helper stays awake for this long after a batch: waking it up would take as long as a cut.
const AWAKE: Duration = Duration::from_micros(200);
/// A waiting thread yields after this many looks.
const LOOKS: u32 = 100;

/// Threads that help the solver's own with the calls of a batch.
pub struct Helpers {
    pool: ThreadPool,
}

impl Helpers {
    /// This many threads beside the solver's own; `started` gets the number of each, from 0, when it starts.
    pub fn new(count: usize, started: impl Fn(usize) + Send + Sync + 'static) -> Result<Self> {
        let threads = ThreadPoolBuilder::new().num_threads(count.max(1)).start_handler(started);
        let pool = threads.thread_name(|k| format!("ssvm-helper-{k}")).build().map_err(|error| {
            Error::invalid(format!("cannot start {count} threads for oracle calls: {error}; use fewer threads"))
        })?;
        Ok(Self { pool })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// One call of a batch: what it needs and fills, and what the meter reads of it.
pub(crate) struct Call<T> {
    /// Its term, memory and plane.
    pub item: T,
    pub(super) operations: u64,
    pub(super) stamps: u64,
    pub(super) fault: Option<Fault>,
}

impl<T> Call<T> {
    /// A call that has not been made.
    pub fn new(item: T) -> Self {
        Self { item, operations: 0, stamps: 0, fault: None }
    }
}

/// Makes all calls; `oracle` says how many operations one took, or why it cannot answer, which ends the calls of its
/// thread. Returns the CPU time of the helpers, ns.
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
        // The end of a scope sleeps, and to be woken takes its time.
        wait(|| left.load(Ordering::Acquire) == 0);
    });
    cpu_ns.into_inner()
}

/// Makes these calls on this thread. One stamp is the end of a call and the beginning of the next.
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
        // The counter may be a little behind on another core: a negative reading is zero.
        call.stamps = ended.saturating_sub(began);
        began = ended;
    }
}

/// Says that a helper is done, also when its oracle panicked.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Looks for work without falling asleep, until there is some or it takes too long.
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

/// How long these lanes need for tasks of these lengths, each given in order to the lane that is free first.
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
