//! Signals: Ctrl-C, SIGTERM and a closed terminal set a flag for commands that end in order, and end all others with exit
//! code 1. Signals that were ignored when the program started stay ignored: `nohup` and background jobs rely on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::note;
use crate::run::worker::StopSignal;

/// How long a program may finish its call after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(500);

static STOP: LazyLock<StopSignal> = LazyLock::new(StopSignal::default);
/// Whether the command reads the flag.
static HEEDED: AtomicBool = AtomicBool::new(false);

/// Set by the first signal: runs in progress are dropped, finished ones stay. The second signal ends the process.
pub fn flag() -> &'static AtomicBool {
    HEEDED.store(true, Ordering::Relaxed);
    &STOP.cancel
}

/// The same for sessions, which also handle SIGUSR1 (sent by clusters before a time limit) and SIGXCPU: runs in
/// progress finish, and no further run starts. Commands without runs ignore these two.
pub fn stop_signal() -> StopSignal {
    flag();
    STOP.clone()
}

/// Handles signals from here on. Where no command reads the flag the first one ends the process: files on disk are whole,
/// as outputs take their place only when they are.
pub fn listen() {
    keep_ignored();
    // Without a handler, signals still end the program, but without a message.
    #[cfg(unix)]
    {
        // A cluster may ask for the end while data are still loaded.
        for signal in [signal_hook::consts::SIGUSR1, signal_hook::consts::SIGXCPU] {
            let _ = signal_hook::flag::register(signal, STOP.drain.clone());
        }
        // A failed allocation or a full stack prints a message and aborts; its exit code is that of every other error.
        let always = Arc::new(AtomicBool::new(true));
        let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 1, always);
    }
    let _ = ctrlc::set_handler(|| {
        if STOP.cancel.swap(true, Ordering::Relaxed) {
            stop_at_once();
        }
        if !HEEDED.load(Ordering::Relaxed) {
            note("error: stopped by a signal; existing files are intact");
            stop_at_once();
        }
        note("stopping; repeat the signal to stop at once");
        // Runs read the flag between two calls; after this long they wait for a program that does not answer.
        std::thread::sleep(PATIENCE);
        crate::dataset::program::kill_all();
    });
}

/// Ends the process, and the programs that it started.
pub fn stop_at_once() -> ! {
    crate::dataset::program::kill_all();
    std::process::exit(1)
}

/// Blocks the signals that are ignored now, in this thread and those it makes: a handler would wake them up. Must be
/// called before another thread starts.
#[cfg(unix)]
fn keep_ignored() {
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
    // A signal that cannot be blocked is handled like the others.
    let _ = ignored.thread_block();
}

#[cfg(not(unix))]
fn keep_ignored() {}
