//! One running program: bytes in and out, each within a time limit. Its standard error is passed on, and the end of it is
//! part of every error. Processes that it started are killed with it.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::dataset::text::shorten;
use crate::text::printable;

/// Standard error of one call; more is a flood.
const FLOOD: usize = 1 << 20;
/// Bytes of standard error that are remembered.
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

/// A running program.
pub(super) struct Child {
    name: String,
    process: std::process::Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    /// Its output that has not been read yet: `inbox[read..filled]`.
    inbox: Vec<u8>,
    read: usize,
    filled: usize,
    /// The end of its standard error.
    words: Vec<u8>,
    /// The beginning of a line that is to be passed on.
    line: Vec<u8>,
    passed_on: usize,
    /// Bytes of standard error since the last call began.
    flood: usize,
}

impl Child {
    /// Starts it.
    pub fn start(program: &str, arguments: &[String]) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: whatever it starts can be ended with it, and Ctrl-C does not reach it before us.
        command.process_group(0);
        let mut process = command.spawn().map_err(|e| format!("oracle program '{program}' cannot be started: {e}"))?;
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
        let child = Self {
            name: program.to_owned(),
            process,
            input: Some(input),
            output,
            errors: Some(errors),
            inbox: vec![0; 1 << 16],
            read: 0,
            filled: 0,
            words: Vec::new(),
            line: Vec::new(),
            passed_on: 0,
            flood: 0,
        };
        nonblocking.map_err(|e| format!("oracle program '{program}': its pipes cannot be set up: {e}"))?;
        Ok(child)
    }

    /// An error message with the program's name and the end of its standard error.
    pub fn fault(&mut self, what: &str) -> String {
        let deadline = Instant::now() + REST_OF_ERRORS;
        while self.errors.is_some()
            && self.wait_for(false, false, deadline) == Ok(Ready { errors: true, ..Ready::default() })
        {
            if self.listen().is_err() {
                break;
            }
        }
        let words = String::from_utf8_lossy(&self.words);
        let words = printable(&words);
        let last: Vec<&str> = words.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let last = last[last.len().saturating_sub(4)..].join(" | ");
        let words =
            if last.is_empty() { "; nothing on standard error".into() } else { format!("; standard error: {last}") };
        format!("oracle program '{}' {what}{words}", self.name)
    }

    /// Forgets how much it wrote to standard error so far.
    pub fn begin_call(&mut self) {
        self.flood = 0;
    }

    /// Output that has arrived and was not read.
    pub fn unread(&self) -> &[u8] {
        &self.inbox[self.read..self.filled]
    }

    /// Writes all bytes.
    pub fn send(&mut self, mut bytes: &[u8], deadline: Instant, doing: &str) -> Result<(), String> {
        while !bytes.is_empty() {
            let Some(input) = &mut self.input else { return Err(self.died(doing)) };
            match input.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let ready = self.ready(true, deadline, doing)?;
                    if ready.output {
                        // It may answer before it has read everything; its pipe must not fill up.
                        self.receive(doing)?;
                        if self.unread().len() > UNASKED {
                            return Err(self.fault(&format!("wrote more than {UNASKED} bytes unasked when {doing}")));
                        }
                    }
                }
                Err(_) => return Err(self.died(doing)),
            }
        }
        Ok(())
    }

    /// The next line without its end; fails when it has more than `longest` bytes.
    pub fn line(&mut self, longest: usize, deadline: Instant, doing: &str) -> Result<String, String> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.unread()[searched..].iter().position(|byte| *byte == b'\n') {
                let line = &self.inbox[self.read..self.read + searched + at];
                let line = String::from_utf8_lossy(line).trim_end().to_owned();
                self.read += searched + at + 1;
                return Ok(line);
            }
            searched = self.filled - self.read;
            if searched > longest {
                let begin = shorten(&String::from_utf8_lossy(&self.unread()[..longest.min(200)]));
                return Err(self.fault(&format!("wrote a line of more than {longest} bytes when {doing}: {begin}")));
            }
            self.more(deadline, doing)?;
        }
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize, deadline: Instant, doing: &str) -> Result<&[u8], String> {
        if self.inbox.len() - self.read < count {
            self.inbox.copy_within(self.read..self.filled, 0);
            (self.read, self.filled) = (0, self.filled - self.read);
            if self.inbox.len() < count {
                self.inbox.resize(count, 0);
            }
        }
        while self.filled - self.read < count {
            self.more(deadline, doing)?;
        }
        self.read += count;
        Ok(&self.inbox[self.read - count..self.read])
    }

    fn more(&mut self, deadline: Instant, doing: &str) -> Result<(), String> {
        loop {
            if self.ready(false, deadline, doing)?.output && self.receive(doing)? {
                return Ok(());
            }
        }
    }

    /// Reads what has arrived; returns whether there was any.
    fn receive(&mut self, doing: &str) -> Result<bool, String> {
        if self.read == self.filled {
            (self.read, self.filled) = (0, 0);
        } else if self.filled == self.inbox.len() {
            if self.read > 0 {
                self.inbox.copy_within(self.read..self.filled, 0);
                (self.read, self.filled) = (0, self.filled - self.read);
            } else {
                self.inbox.resize(2 * self.inbox.len(), 0);
            }
        }
        match self.output.read(&mut self.inbox[self.filled..]) {
            Ok(0) => Err(self.died(doing)),
            Ok(count) => {
                self.filled += count;
                Ok(true)
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(_) => Err(self.died(doing)),
        }
    }

    /// Waits until something can be read, or written when `to_write`; takes in standard error on the way.
    fn ready(&mut self, to_write: bool, deadline: Instant, doing: &str) -> Result<Ready, String> {
        loop {
            let ready = match self.wait_for(true, to_write, deadline) {
                Ok(ready) => ready,
                Err(error) => return Err(self.fault(&format!("cannot be waited for when {doing}: {error}"))),
            };
            if ready.errors && self.listen().is_err() {
                return Err(self.fault(&format!("flooded standard error with more than {FLOOD} bytes when {doing}")));
            }
            if ready.input || ready.output {
                return Ok(ready);
            }
            // A process that it started may keep its pipes open.
            if self.ended_within(Duration::ZERO).is_some() {
                return Err(self.died(doing));
            }
            if Instant::now() >= deadline {
                return Err(
                    self.fault(&format!("did nothing within its limit when {doing} (,limit= and ,start= set it)"))
                );
            }
        }
    }

    fn wait_for<'a>(&'a self, to_read: bool, to_write: bool, deadline: Instant) -> nix::Result<Ready> {
        let errors = self.errors.as_ref().map(AsFd::as_fd);
        let output = Some(self.output.as_fd()).filter(|_| to_read);
        let input = self.input.as_ref().map(AsFd::as_fd).filter(|_| to_write);
        // What is not watched is watched as something else: an array needs no memory.
        let Some(any) = output.or(errors) else { return Ok(Ready::default()) };
        let watch =
            |fd: Option<BorrowedFd<'a>>, flags| PollFd::new(fd.unwrap_or(any), fd.map_or(PollFlags::POLLIN, |_| flags));
        let mut list =
            [watch(errors, PollFlags::POLLIN), watch(output, PollFlags::POLLIN), watch(input, PollFlags::POLLOUT)];
        let left = deadline.saturating_duration_since(Instant::now()).min(LOOK);
        // Rounded up: a wait of 0 ms would be a busy loop.
        let left = u16::try_from(left.as_millis() + 1).unwrap_or(u16::MAX);
        match poll(&mut list, PollTimeout::from(left)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
        let [e, o, i] = list.map(|fd| fd.revents().is_some_and(|events| !events.is_empty()));
        Ok(Ready { errors: e && errors.is_some(), output: o && output.is_some(), input: i && input.is_some() })
    }

    /// Takes in standard error; fails when it is a flood.
    fn listen(&mut self) -> Result<(), ()> {
        let mut block = [0; 4096];
        let Some(errors) = &mut self.errors else { return Ok(()) };
        match errors.read(&mut block) {
            Ok(0) => self.errors = None,
            Ok(count) => {
                self.flood += count;
                self.words.extend_from_slice(&block[..count]);
                if self.words.len() > 2 * REMEMBERED {
                    self.words.drain(..self.words.len() - REMEMBERED);
                }
                self.pass_on(&block[..count]);
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.errors = None,
        }
        if self.flood > FLOOD { Err(()) } else { Ok(()) }
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
            let text = if self.passed_on > PASSED_ON {
                "(further lines are not shown)".into()
            } else {
                printable(String::from_utf8_lossy(&self.line).trim_end()).into_owned()
            };
            // A closed stderr is no error.
            let _ = writeln!(std::io::stderr(), "[{}] {text}", self.name);
            self.line.clear();
        }
    }

    /// Its pipes are closed.
    fn died(&mut self, doing: &str) -> String {
        self.input = None;
        let how = match self.ended_within(FAREWELL) {
            Some(WaitStatus::Exited(_, code)) => format!("ended with exit code {code}"),
            Some(WaitStatus::Signaled(_, signal, _)) => format!("was ended by {signal}"),
            _ => "closed its pipes".into(),
        };
        self.fault(&format!("{how} when {doing}"))
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
        if !alive().remove(&group) {
            return;
        }
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        // Killed: this takes no time and leaves no zombie.
        let _ = self.process.wait();
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

/// The pipes that can be read or written now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ready {
    errors: bool,
    output: bool,
    input: bool,
}
