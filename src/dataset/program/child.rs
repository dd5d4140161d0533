//! One running program: bytes in and out, each call within a time limit. Its standard error is passed on, and the end of it
//! is part of every error. Processes that it started are killed with it.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::protocol::Doing;
use super::{Error, Result};
use crate::dataset::text::shorten;
use crate::text::printable;

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
/// A silent program is checked this often for having ended.
const LOOK: Duration = Duration::from_millis(500);
/// Time to read the rest of the standard error of a program that died.
const REST_OF_ERRORS: Duration = Duration::from_millis(10);

/// Process groups of the programs that run.
static ALIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn alive() -> MutexGuard<'static, BTreeSet<i32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills all programs of this process with everything they started: for the end of the process.
pub fn kill_all() {
    for group in alive().iter() {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
}

pub(super) struct Child {
    name: String,
    process: std::process::Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    /// Its output; `inbox[read..]` has not been read yet.
    inbox: Vec<u8>,
    read: usize,
    /// What it is asked for, and by when it has to answer.
    doing: Doing,
    deadline: Instant,
    /// The end of its standard error.
    words: Vec<u8>,
    /// The beginning of a line that is to be passed on.
    line: Vec<u8>,
    passed_on: usize,
    /// Bytes of standard error since the last call began.
    flood: usize,
}

impl Child {
    /// Starts it; it has this long until it is ready.
    pub fn start(program: &str, arguments: &[String], limit: Duration) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: whatever it starts can be ended with it, and Ctrl-C does not reach it before us.
        command.process_group(0);
        let name = program.to_owned();
        let mut process = command.spawn().map_err(|reason| Error::Start { program: program.to_owned(), reason })?;
        alive().insert(process.id() as i32);
        let (input, output, errors) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            unreachable!("all three were asked for");
        };
        for pipe in [input.as_fd(), output.as_fd()] {
            // A pipe that cannot grow only costs time.
            let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
        }
        let nonblocking = [input.as_fd(), output.as_fd(), errors.as_fd()]
            .iter()
            .try_for_each(|pipe| fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(drop));
        // Made before the check, so that the process ends with it.
        let child = Self {
            name,
            process,
            input: Some(input),
            output,
            errors: Some(errors),
            inbox: Vec::new(),
            read: 0,
            doing: Doing::Handshake,
            deadline: Instant::now() + limit,
            words: Vec::new(),
            line: Vec::new(),
            passed_on: 0,
            flood: 0,
        };
        nonblocking.map_err(|reason| Error::Pipes { program: program.to_owned(), reason })?;
        Ok(child)
    }

    /// An error with the end of its standard error.
    pub fn fault(&mut self, what: impl Into<String>) -> Error {
        let deadline = Instant::now() + REST_OF_ERRORS;
        while let Some(errors) = &self.errors {
            let mut list = [PollFd::new(errors.as_fd(), PollFlags::POLLIN)];
            if wait(&mut list, deadline).is_err() || !is_ready(&list[0]) || self.listen() {
                break;
            }
        }
        let words = String::from_utf8_lossy(&self.words);
        let words = printable(&words);
        let last: Vec<&str> = words.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let last = last[last.len().saturating_sub(4)..].join(" | ");
        let stderr =
            if last.is_empty() { "nothing on standard error".into() } else { format!("standard error: {last}") };
        Error::Fault { program: self.name.clone(), what: what.into(), stderr }
    }

    fn fault_when(&mut self, what: &str) -> Error {
        self.fault(format!("{what} when {}", self.doing))
    }

    pub fn begin(&mut self, doing: Doing, limit: Duration) {
        (self.doing, self.deadline, self.flood) = (doing, Instant::now() + limit, 0);
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
                        return Err(self.fault_when(&format!("wrote more than {UNASKED} bytes unasked")));
                    }
                }
                Err(_) => return Err(self.died()),
            }
        }
        Ok(())
    }

    /// The next line without its end; fails when it has more than `longest` bytes.
    pub fn line(&mut self, longest: usize) -> Result<String> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.unread()[searched..].iter().position(|byte| *byte == b'\n') {
                let length = searched + at + 1;
                let line = String::from_utf8_lossy(&self.unread()[..length]).trim_end().to_owned();
                self.read += length;
                return Ok(line);
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

    /// Waits until something can be read, or written when `to_write`, and takes in standard error on the way; returns
    /// whether it can be read.
    fn readable(&mut self, to_write: bool) -> Result<bool> {
        loop {
            let output = self.output.as_fd();
            let input = self.input.as_ref().map(AsFd::as_fd).filter(|_| to_write);
            let errors = self.errors.as_ref().map(AsFd::as_fd);
            // What is not watched is the output once more: an array needs no memory.
            let mut list = [
                PollFd::new(output, PollFlags::POLLIN),
                PollFd::new(input.unwrap_or(output), input.map_or(PollFlags::POLLIN, |_| PollFlags::POLLOUT)),
                PollFd::new(errors.unwrap_or(output), PollFlags::POLLIN),
            ];
            let waited = wait(&mut list, self.deadline.min(Instant::now() + LOOK));
            let [readable, input_ready, errors_ready] = [0, 1, 2].map(|at| is_ready(&list[at]));
            let writable = input.is_some() && input_ready;
            if let Err(error) = waited {
                return Err(self.fault(format!("cannot be waited for when {}: {error}", self.doing)));
            }
            if errors_ready && self.listen() {
                return Err(self.fault_when(&format!("flooded standard error with more than {FLOOD} bytes")));
            }
            if readable || writable {
                return Ok(readable);
            }
            // A process that it started may keep its pipes open.
            if self.ended_within(Duration::ZERO).is_some() {
                return Err(self.died());
            }
            if Instant::now() >= self.deadline {
                let doing = self.doing;
                return Err(
                    self.fault(format!("did nothing within its limit when {doing} (,limit= and ,start= set it)"))
                );
            }
        }
    }

    /// Takes in standard error; returns whether it is a flood.
    fn listen(&mut self) -> bool {
        let mut block = [0; 4096];
        let Some(errors) = &mut self.errors else { return false };
        match errors.read(&mut block) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Ok(0) | Err(_) => self.errors = None,
            Ok(count) => {
                self.flood += count;
                self.words.extend_from_slice(&block[..count]);
                if self.words.len() > 2 * REMEMBERED {
                    self.words.drain(..self.words.len() - REMEMBERED);
                }
                self.pass_on(&block[..count]);
            }
        }
        self.flood > FLOOD
    }

    /// Writes whole lines to our own standard error, up to a number of lines.
    fn pass_on(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.passed_on > PASSED_ON {
                return;
            }
            if *byte != b'\n' && self.line.len() < REMEMBERED {
                self.line.push(*byte);
                continue;
            }
            self.passed_on += 1;
            let text = String::from_utf8_lossy(&self.line);
            let text = if self.passed_on > PASSED_ON { "(further lines are not shown)" } else { text.trim_end() };
            // A closed stderr is no error.
            let _ = writeln!(std::io::stderr(), "[{}] {}", self.name, printable(text));
            self.line.clear();
        }
    }

    /// Its pipes are closed.
    fn died(&mut self) -> Error {
        self.input = None;
        let how = match self.ended_within(FAREWELL) {
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
        if alive().remove(&group) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            // Killed: this takes no time and leaves no zombie.
            let _ = self.process.wait();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if alive().contains(&(self.process.id() as i32)) {
            // A program ends when its input ends.
            self.input = None;
            self.ended_within(FAREWELL);
            self.end();
        }
    }
}

fn wait(list: &mut [PollFd<'_>], deadline: Instant) -> nix::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    // Rounded up: a wait of 0 ms would be a busy loop.
    let left = u16::try_from(left.as_millis() + 1).unwrap_or(u16::MAX);
    match poll(list, PollTimeout::from(left)) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_ready(pipe: &PollFd<'_>) -> bool {
    pipe.revents().is_some_and(|events| !events.is_empty())
}
