//! One running program: bytes in and out, each call within a time limit. A thread passes its standard error on, and the end of
//! it is part of every error. Processes that it started are killed with it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use parking_lot::Mutex;

use super::protocol::Doing;
use super::{Error, Launch, Result};
use crate::dataset::text::shorten;
use crate::text::{printable, to_stderr};

/// Standard error of one call; more is a flood.
const FLOOD: usize = 1 << 20;
const REMEMBERED: usize = 2048;
/// Lines of standard error that are passed on, per program.
const PASSED_ON: usize = 200;
/// Pipes are asked to hold this much, so that w and planes of ordinary size go through in one piece.
const PIPE_BYTES: i32 = 1 << 20;
/// Most bytes it may write while it is still being written to.
const UNASKED: usize = 1 << 26;
/// How long a program may take to end when its input ends.
const FAREWELL: Duration = Duration::from_millis(200);
/// A silent program is checked this often for having ended, and its run for having to end.
const LOOK: Duration = Duration::from_millis(100);
/// Time to read the rest of the standard error of a program that has not died.
const REST_OF_ERRORS: Duration = Duration::from_millis(10);
/// A program that takes longer to start is reported as starting.
const SLOW_START: Duration = Duration::from_secs(2);

/// Process groups of the programs that run.
static ALIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Kills all programs of this process and everything that they started. Called when the process ends.
pub fn kill_all() {
    for group in ALIVE.lock().iter() {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
}

thread_local! {
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}
/// The same for threads without a flag of their own.
static STOP_OTHERS: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);

/// While this flag is set, no call of this thread waits for a program, and the program that it would wait for is killed.
/// `alone`: the flag also holds for threads that have none, because no other run is in progress.
pub fn stop_calls_by(flag: &Arc<AtomicBool>, alone: bool) {
    STOP.set(Some(flag.clone()));
    if alone {
        *STOP_OTHERS.lock() = Some(flag.clone());
    }
}

fn is_stopped() -> bool {
    let is_set = |flag: &Option<Arc<AtomicBool>>| flag.as_ref().map(|flag| flag.load(Ordering::Relaxed));
    STOP.with_borrow(is_set).or_else(|| is_set(&STOP_OTHERS.lock())).unwrap_or(false)
}

pub(super) struct Child {
    name: String,
    process: std::process::Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    heard: Arc<Mutex<Heard>>,
    listener: JoinHandle<()>,
    /// Its output; `inbox[read..]` has not been read yet.
    inbox: Vec<u8>,
    read: usize,
    /// The pending request, and the time by which it must be answered.
    doing: Doing,
    deadline: Instant,
    /// How long this process has waited for it.
    pub waited: Duration,
    /// When to report that it is still starting; `None` once that is done.
    slow: Option<Instant>,
}

/// Standard error as far as it was read.
#[derive(Default)]
struct Heard {
    /// Its end.
    words: Vec<u8>,
    /// Bytes since the last call began.
    flood: usize,
}

/// Reads standard error to its end, keeps the last part for error messages, and passes on complete lines, up to a maximum number.
fn listen(name: &str, mut errors: ChildStderr, heard: &Mutex<Heard>) {
    let (mut block, mut line, mut shown) = ([0; 4096], Vec::new(), 0);
    while let Ok(count @ 1..) = errors.read(&mut block) {
        let mut heard = heard.lock();
        heard.flood += count;
        heard.words.extend_from_slice(&block[..count]);
        let old = heard.words.len().saturating_sub(REMEMBERED);
        heard.words.drain(..old);
        drop(heard);
        for byte in &block[..count] {
            if *byte != b'\n' && line.len() < REMEMBERED {
                line.push(*byte);
            } else if shown <= PASSED_ON {
                shown += 1;
                let text = String::from_utf8_lossy(&line);
                let text = if shown > PASSED_ON { "(further lines are not shown)" } else { text.trim_end() };
                to_stderr(&format!("[{name}] {text}"));
                line.clear();
            }
        }
    }
}

impl Child {
    /// Starts it; it has this long until it is ready.
    pub fn start(launch: &Launch) -> Result<Self> {
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: whatever it starts can be ended with it, and Ctrl-C does not reach it before us.
        command.process_group(0);
        let name = launch.name().to_owned();
        let mut process = command.spawn().map_err(|reason| Error::Start { program: name.clone(), reason })?;
        ALIVE.lock().insert(process.id() as i32);
        let (input, output, errors) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            unreachable!("all three were asked for");
        };
        let heard = Arc::<Mutex<Heard>>::default();
        let listener = {
            let (name, heard) = (name.clone(), heard.clone());
            std::thread::spawn(move || listen(&name, errors, &heard))
        };
        let pipes = [input.as_fd(), output.as_fd()].iter().try_for_each(|pipe| {
            // A pipe that cannot grow only costs time.
            let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
            fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(drop)
        });
        let (inbox, read, doing, deadline) = (Vec::new(), 0, Doing::Handshake, Instant::now() + launch.start);
        // Made before the check, so that the process ends with it.
        let (input, slow) = (Some(input), Some(Instant::now() + SLOW_START));
        let waited = Duration::ZERO;
        let child = Self { name, process, input, output, heard, listener, inbox, read, doing, deadline, waited, slow };
        pipes.map_err(|reason| Error::Pipes { program: launch.name().to_owned(), reason })?;
        Ok(child)
    }

    /// An error with the end of its standard error.
    pub fn fault(&mut self, what: impl Into<String>) -> Error {
        self.hear_the_rest();
        let words = printable(&String::from_utf8_lossy(&self.heard.lock().words)).into_owned();
        let last: Vec<&str> = words.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        // Of a traceback, which is passed on, the last line names the exception.
        let count = if words.contains("Traceback (most recent call last)") { 1 } else { 4 };
        let last = last[last.len().saturating_sub(count)..].join(" | ");
        let stderr =
            if last.is_empty() { "nothing on standard error".into() } else { format!("standard error: {last}") };
        Error::Fault { program: self.name.clone(), what: what.into(), stderr }
    }

    /// Gives the listener time to pass on what was written to standard error.
    fn hear_the_rest(&self) {
        // That of a program that died ends soon; a busy machine needs more than 10 ms for it.
        let deadline = Instant::now() + if self.input.is_none() { FAREWELL } else { REST_OF_ERRORS };
        while !self.listener.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn fault_when(&mut self, what: &str) -> Error {
        self.fault(format!("{what} when {}", self.doing))
    }

    pub fn begin(&mut self, doing: Doing, limit: Duration) {
        (self.doing, self.deadline) = (doing, Instant::now() + limit);
        self.heard.lock().flood = 0;
    }

    /// Output that has arrived and was not read.
    pub fn unread(&self) -> &[u8] {
        &self.inbox[self.read..]
    }

    pub fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let Some(input) = &mut self.input else { return Err(self.died()) };
            match input.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // It may answer before it has read everything; its pipe must not fill up.
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if self.readable(true)? {
                        self.receive()?;
                    }
                    if self.unread().len() > UNASKED {
                        return Err(self.fault_when(&format!("wrote more than {UNASKED} bytes without a request")));
                    }
                }
                Err(_) => return Err(self.died()),
            }
        }
        Ok(())
    }

    /// The next line without its end; fails when it is an error of the program, or has more than `longest` bytes.
    pub fn line(&mut self, longest: usize) -> Result<String> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.unread()[searched..].iter().position(|byte| *byte == b'\n') {
                let length = searched + at + 1;
                let line = String::from_utf8_lossy(&self.unread()[..length]).trim_end().to_owned();
                self.read += length;
                let Some(reason) = line.strip_prefix("error ") else { return Ok(line) };
                // It explains itself; its standard error is passed on and not repeated.
                self.hear_the_rest();
                let (program, doing) = (self.name.clone(), self.doing.to_string());
                return Err(Error::GaveUp { program, reason: reason.trim().to_owned(), doing });
            }
            searched = self.unread().len();
            if searched > longest {
                let begin = shorten(&String::from_utf8_lossy(&self.unread()[..longest.min(200)]));
                let doing = self.doing;
                return Err(self.fault(format!("wrote a line of more than {longest} bytes when {doing}: {begin}")));
            }
            self.more()?;
        }
    }

    pub fn bytes(&mut self, count: usize) -> Result<&[u8]> {
        while self.unread().len() < count {
            self.more()?;
        }
        self.read += count;
        Ok(&self.inbox[self.read - count..self.read])
    }

    fn more(&mut self) -> Result<()> {
        while !(self.readable(false)? && self.receive()?) {}
        Ok(())
    }

    /// Reads what has arrived; returns whether there was any.
    fn receive(&mut self) -> Result<bool> {
        self.inbox.drain(..self.read);
        self.read = 0;
        let before = self.inbox.len();
        match self.output.by_ref().take(PIPE_BYTES as u64).read_to_end(&mut self.inbox) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(self.inbox.len() > before),
            Ok(count) if count > 0 => Ok(true),
            _ => Err(self.died()),
        }
    }

    /// Waits until something can be read, or written when `to_write`; returns whether it can be read.
    fn readable(&mut self, to_write: bool) -> Result<bool> {
        loop {
            let output = self.output.as_fd();
            let input = self.input.as_ref().filter(|_| to_write).map(AsFd::as_fd);
            // Without an input the output is watched twice: an array needs no memory.
            let mut list = [
                PollFd::new(output, PollFlags::POLLIN),
                PollFd::new(input.unwrap_or(output), input.map_or(PollFlags::POLLIN, |_| PollFlags::POLLOUT)),
            ];
            let began = Instant::now();
            let left = self.deadline.saturating_duration_since(began).min(LOOK);
            // Rounded up: a wait of 0 ms would be a busy loop.
            let polled = poll(&mut list, PollTimeout::from(left.as_millis() as u16 + 1));
            self.waited += began.elapsed();
            let [readable, ready] = list.map(|pipe| pipe.revents().is_some_and(|events| !events.is_empty()));
            if let Err(error) = polled.or_else(|error| if error == Errno::EINTR { Ok(0) } else { Err(error) }) {
                return Err(self.fault(format!("cannot be waited for when {}: {error}", self.doing)));
            }
            if readable || ready {
                return Ok(readable);
            }
            if is_stopped() {
                return Err(self.fault_when("was ended because its run had to end"));
            }
            if self.heard.lock().flood > FLOOD {
                return Err(self.fault_when(&format!("wrote more than {FLOOD} bytes to standard error")));
            }
            // A process that it started may keep its pipes open.
            if self.ended_within(Duration::ZERO).is_some() {
                return Err(self.died());
            }
            let starting = matches!(self.doing, Doing::Handshake);
            if self.slow.take_if(|slow| starting && Instant::now() >= *slow).is_some() {
                let left = self.deadline.saturating_duration_since(Instant::now()).as_secs();
                to_stderr(&format!("[{}] is starting; {left} s are left (,start= sets it)", self.name));
            }
            if Instant::now() >= self.deadline {
                let what = format!(
                    "did nothing within its time limit when {} (,limit= and ,start= set the limit)",
                    self.doing
                );
                return Err(self.fault(what));
            }
        }
    }

    /// Its pipes are closed.
    fn died(&mut self) -> Error {
        self.input = None;
        let how = match self.ended_within(FAREWELL) {
            Some(WaitStatus::Exited(_, 0)) if matches!(self.doing, Doing::Handshake) => {
                return self.fault("ended without an answer: in Python, call serve() at the end of the script");
            }
            Some(WaitStatus::Exited(_, code)) => format!("ended with exit code {code}"),
            Some(WaitStatus::Signaled(_, signal, _)) => format!("was ended by {signal}"),
            _ => "closed its pipes".into(),
        };
        self.fault_when(&how)
    }

    /// How it ended, if it does so by then. It stays a process that can be waited for, so that its number is not reused.
    fn ended_within(&self, patience: Duration) -> Option<WaitStatus> {
        let deadline = Instant::now() + patience;
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        loop {
            match waitid(Id::Pid(Pid::from_raw(self.process.id() as i32)), flags) {
                Ok(WaitStatus::StillAlive) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
                Ok(WaitStatus::StillAlive) | Err(_) => return None,
                Ok(status) => return Some(status),
            }
        }
    }

    /// Kills it at once.
    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let group = self.process.id() as i32;
        if ALIVE.lock().remove(&group) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            // Killed: this takes no time and leaves no zombie.
            let _ = self.process.wait();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if ALIVE.lock().contains(&(self.process.id() as i32)) {
            // A program ends when its input ends.
            self.input = None;
            self.ended_within(FAREWELL);
            self.end();
        }
    }
}
