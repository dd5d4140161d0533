//! Ctrl-C, SIGTERM and a closed terminal in, a flag out for commands that end in order, and exit code 1 for the others.
//! What was ignored when the program started stays ignored: `nohup` and background jobs rely on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::note;

/// How long a program may finish its call after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(500);

static FLAG: AtomicBool = AtomicBool::new(false);
/// Whether somebody looks at the flag.
static HEEDED: AtomicBool = AtomicBool::new(false);

/// Set by the first signal: runs in flight are dropped, finished ones stay. The second ends the process.
pub fn flag() -> &'static AtomicBool {
    HEEDED.store(true, Ordering::Relaxed);
    &FLAG
}

/// Listens to signals from here on. Where nobody looks at the flag the first one ends the process: files that were there
/// are whole, as outputs take their place only when they are.
pub fn listen() {
    // A failed allocation or a full stack says so and aborts; its exit code is that of every other error.
    let always = Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 1, always);
    // Without a handler signals still end the program, only less politely.
    let _ = ctrlc::set_handler(|| {
        if FLAG.swap(true, Ordering::Relaxed) {
            stop_at_once();
        }
        if !HEEDED.load(Ordering::Relaxed) {
            note("error: stopped by a signal; files that were there before are intact");
            stop_at_once();
        }
        note("stopping; once more to stop at once");
        // Runs look up between two calls; after this long they wait for a program that does not answer.
        std::thread::sleep(PATIENCE);
        crate::dataset::program::kill_all();
    });
}

/// Ends the process, and the programs that it started.
pub fn stop_at_once() -> ! {
    crate::dataset::program::kill_all();
    std::process::exit(1)
}

/// Set by SIGUSR1, which clusters send before a time limit strikes, and by SIGXCPU: runs in flight are finished, no further one
/// is started. Commands that make no runs take no notice.
#[cfg(unix)]
pub fn drain() -> Option<&'static AtomicBool> {
    static DRAIN: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let flag = DRAIN.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        // One that cannot be heard ends the process, as before.
        let heard = [signal_hook::consts::SIGUSR1, signal_hook::consts::SIGXCPU]
            .map(|signal| signal_hook::flag::register(signal, flag.clone()).is_ok());
        heard[0].then_some(flag)
    });
    flag.as_deref()
}

#[cfg(not(unix))]
pub fn drain() -> Option<&'static AtomicBool> {
    None
}

/// Blocks the signals that are ignored now, in this thread and those it makes: a handler would wake them up. To be called
/// before there is another thread.
#[cfg(unix)]
pub fn keep_ignored() {
    use nix::sys::signal::{SigSet, Signal};

    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let mask = mask.unwrap_or(0);
    let mut ignored = SigSet::empty();
    // A file that may grow no further is an error of the write, with a message, and not the end of the program.
    ignored.add(Signal::SIGXFSZ);
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        if mask >> (signal as i32 - 1) & 1 == 1 {
            ignored.add(signal);
        }
    }
    // A signal that cannot be blocked is heard, as before.
    let _ = ignored.thread_block();
}

#[cfg(not(unix))]
pub fn keep_ignored() {}
