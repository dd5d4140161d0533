//! Executes a command in a process of its own and starts it again when it dies: foreign code that crashes or takes all
//! memory costs the run that it is in, not the command.
//!
//! The workers are threads of that one process, so that data are in memory once. Which of several runs in flight has
//! ended it is found by executing them once more, one at a time.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::LazyLock;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use parking_lot::Mutex;

use super::Error;
use super::journal::{Entry, Journal, Noted};
use super::worker::StopSignal;
use crate::error::Result;
use crate::text::printable;

/// The first argument of the process that does the work; the second is the journal. Not for users.
pub const ARGUMENT: &str = "--journal";

/// Exit code of a process that ended in order and must be followed by another one.
pub const AGAIN: u8 = 75;
/// Exit code of a process that ended because the last memory went.
pub const NO_MEMORY: u8 = 76;

/// The process that does the work of this one.
static CHILD: Mutex<Option<Pid>> = Mutex::new(None);

/// The journal of this process, when it does the work of another one.
pub fn journal() -> Option<Journal> {
    static JOURNAL: LazyLock<Option<Journal>> = LazyLock::new(|| {
        let mut arguments = std::env::args_os().skip(1);
        arguments.next().filter(|first| first == ARGUMENT)?;
        Some(Journal::at(PathBuf::from(arguments.next()?)))
    });
    JOURNAL.clone()
}

/// Passes a signal on to the process that does the work; false where this process does its own.
pub fn pass_on(signal: Signal) -> bool {
    let child = CHILD.lock();
    // One that has ended needs no signal.
    let _ = child.map(|child| kill(child, signal));
    child.is_some()
}

/// Ends this process with its supervisor.
pub fn follow(journal: &Journal) {
    #[cfg(target_os = "linux")]
    {
        let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
        // It was started by the name of a link.
        let _ = nix::sys::prctl::set_name(c"ssvm-bench");
    }
    // The supervisor may have ended before that, and its open files with it.
    if journal.path().is_some_and(|path| !path.exists()) {
        std::process::exit(1);
    }
}

/// Executes this command in another process until it has ended by itself; returns its exit code.
pub fn supervise(stop: &StopSignal) -> Result<u8> {
    // Without a name, so that nothing is left of it however this ends.
    let file = tempfile::tempfile().map_err(crate::Error::io("create a file in", std::env::temp_dir()))?;
    let journal = Journal::at(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into());
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let mut steps = 0;
    loop {
        let status = work(&journal, stop)?;
        let noted = journal.read()?;
        let code = status.code().map(|code| code as u8);
        match code {
            Some(AGAIN) => {}
            None | Some(NO_MEMORY) => blame(&noted, &journal, &reason(status))?,
            Some(code) => return Ok(code),
        }
        end_orphans();
        if stop.is_set() {
            return Ok(1);
        }
        let now = journal.read()?.steps();
        if now == steps {
            return Err(Error::Died(reason(status)).into());
        }
        steps = now;
        journal.note(&Entry::Restarted)?;
    }
}

/// One process, from its start to its end.
fn work(journal: &Journal, stop: &StopSignal) -> Result<ExitStatus> {
    // The file that runs, even when a new build has taken its name meanwhile.
    let own = PathBuf::from("/proc/self/exe");
    let own = if own.exists() { own } else { std::env::current_exe().map_err(Error::Unsupervised)? };
    let mut arguments = std::env::args_os();
    let mut command = Command::new(own);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    let mut child = {
        // A signal must not come between its start and the note of it.
        let mut noted = CHILD.lock();
        command.arg(ARGUMENT).args(journal.path()).args(arguments);
        let child = command.spawn().map_err(Error::Unsupervised)?;
        *noted = Some(Pid::from_raw(child.id() as i32));
        child
    };
    Ok(wait(&mut child, stop).map_err(Error::Unsupervised)?)
}

/// Waits for its end. A request to start no further run, which is a flag and has no handler, is passed on meanwhile.
fn wait(child: &mut Child, stop: &StopSignal) -> std::io::Result<ExitStatus> {
    const LOOK: Duration = Duration::from_millis(50);
    let (ended, has_ended) = crossbeam::channel::bounded::<()>(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while has_ended.recv_timeout(LOOK).is_err_and(|error| error.is_timeout()) {
                if stop.is_draining() {
                    pass_on(Signal::SIGUSR1);
                    return;
                }
            }
        });
        // Its number is not reused while it is a zombie.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        let pid = Pid::from_raw(child.id() as i32);
        while waitid(Id::Pid(pid), flags).is_err_and(|error| error == Errno::EINTR) {}
        CHILD.lock().take();
        drop(ended);
    });
    child.wait()
}

/// Kills what the process has left behind, such as oracle programs inside a call.
fn end_orphans() {
    let own = std::process::id();
    let list = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    for orphan in list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw) {
        // Programs have a process group of their own; a process that does not is killed alone.
        let _ = killpg(orphan, Signal::SIGKILL).or_else(|_| kill(orphan, Signal::SIGKILL));
    }
    while matches!(
        waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)),
        Ok(WaitStatus::Signaled(..) | WaitStatus::Exited(..))
    ) {}
}

/// Why a process has died, for its records.
fn reason(status: ExitStatus) -> String {
    let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
    match (signal, status.code()) {
        (Some(Signal::SIGKILL), _) => "SIGKILL (which the system sends when memory runs out)".to_owned(),
        (Some(signal), _) => signal.as_str().to_owned(),
        (None, Some(code)) if code == i32::from(NO_MEMORY) => "the last memory went".to_owned(),
        _ => status.to_string(),
    }
}

/// Notes who may have ended the process: the run that was alone in it, or all that were.
fn blame(noted: &Noted, journal: &Journal, reason: &str) -> Result<()> {
    let labels: Vec<&str> = noted.in_flight.iter().map(|(_, label)| label.as_str()).collect();
    let what = match labels.len() {
        0 => return Ok(()),
        1 => "it is recorded as failed, and the others go on",
        _ => "they are executed again, one at a time",
    };
    // A closed stderr is no error.
    let line = format!("{reason} has ended the process of {}; {what}", labels.join(", "));
    let _ = writeln!(std::io::stderr(), "{}", printable(&line));
    if let [(run, _)] = &noted.in_flight[..] {
        let reason = format!("it ended its process: {reason}");
        return journal.note(&Entry::Died { run: run.clone(), reason });
    }
    noted.in_flight.iter().try_for_each(|(run, _)| journal.note(&Entry::Suspected { run: run.clone() }))
}
