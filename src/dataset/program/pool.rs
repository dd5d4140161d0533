//! Programs of one command line, one per thread that asks. A program is started when a thread needs it, gets w when it
//! changed, and is replaced after a fault.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::Result;
use super::child::Child;
use super::handshake::{Handshake, greeting};
use super::protocol::{Answer, Doing, LONGEST_LINE, Question, write_echo, write_w};
use crate::dataset::text::shorten;
use ssvm::linalg::same_bits;
use ssvm::problem::Away;
use ssvm::stats::median;

/// How a program is started, and how long it may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// A path, or a name that is looked up as a shell does.
    pub program: String,
    pub arguments: Vec<String>,
    /// Longest time of a call; the first answer of a group may take that for each term, as some answer all at once.
    pub limit: Duration,
    /// Longest time until it is ready.
    pub start: Duration,
    /// Most programs at the same time; threads beyond share them.
    pub programs: usize,
}

impl Launch {
    /// A minute per call, ten until it is ready, a program per core.
    pub fn new(program: impl Into<String>, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            limit: Duration::from_mins(1),
            start: Duration::from_mins(10),
            programs: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// What messages call it: the script or module of Python, also behind a program such as `nice`; else the first argument
    /// that is a file, as for other interpreters.
    pub fn name(&self) -> &str {
        let mut words = std::iter::once(&self.program).chain(&self.arguments);
        if words.any(|word| is_python(word)) {
            return python_script(words).unwrap_or(&self.program);
        }
        let mut words = self.arguments.iter().filter(|argument| !argument.starts_with('-'));
        words.find(|word| Path::new(word).is_file()).unwrap_or(&self.program)
    }

    /// The script of Python that is missing. Behind another program the folder may be another one.
    pub(super) fn missing_script(&self) -> Option<&str> {
        let module = self.arguments.iter().any(|argument| ["-m", "-c"].contains(&argument.as_str()));
        let script = python_script(self.arguments.iter()).filter(|_| is_python(&self.program) && !module);
        script.filter(|script| !Path::new(script).exists())
    }
}

fn is_python(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    ["python", "pypy"].contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The script or module among the arguments of Python.
fn python_script<'a>(mut arguments: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "-m" => return arguments.next().map(String::as_str),
            "-c" => return None,
            "-X" | "-W" => drop(arguments.next()),
            option if option.starts_with('-') => {}
            script => return Some(script),
        }
    }
    None
}

/// Echoes that are remembered of each size.
const ECHOES: usize = 15;
/// Echoes of each size when a program starts.
const FIRST_ECHOES: usize = 8;
const SMALL: usize = 16;
const LARGE: usize = 1 << 18;

/// Cost of the pipe, from echoes of two sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipe {
    /// Round trips of the small echo, ns, and of the large one.
    echoes: [VecDeque<f64>; 2],
    large: usize,
    /// Nanoseconds of a round trip that carries nothing.
    pub fixed_ns: f64,
    /// Nanoseconds per byte, there or back.
    pub byte_ns: f64,
}

impl Pipe {
    fn learn(&mut self, large: bool, ns: f64) {
        let echoes = &mut self.echoes[usize::from(large)];
        echoes.push_back(ns);
        if echoes.len() > ECHOES {
            echoes.pop_front();
        }
        let [small, large] = [0, 1].map(|size| median(self.echoes[size].make_contiguous()));
        // Without echoes the median is NaN. The bytes of an echo are sent in both directions.
        self.fixed_ns = if small.is_finite() { small } else { 0.0 };
        let byte_ns = (large - small) / (2 * self.large.saturating_sub(SMALL)).max(1) as f64;
        self.byte_ns = if byte_ns.is_finite() { byte_ns.max(0.0) } else { 0.0 };
    }
}

pub(super) struct Pool {
    launch: Launch,
    pub handshake: Handshake,
    slots: Vec<Mutex<Option<Program>>>,
    /// Held while a group of questions is asked, one for each slot.
    turns: Vec<Mutex<()>>,
    number: usize,
    threads: AtomicUsize,
}

thread_local! {
    /// Number of a pool and the slot that this thread has in it.
    static SLOTS: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
}

impl Pool {
    /// Starts the first program and reads its handshake.
    pub fn open(launch: Launch) -> Result<Self> {
        static POOLS: AtomicUsize = AtomicUsize::new(0);
        let program = Program::start(&launch)?;
        let handshake = program.handshake.clone();
        let slots = (0..launch.programs.max(1)).map(|_| Mutex::default()).collect();
        let turns = (0..launch.programs.max(1)).map(|_| Mutex::default()).collect();
        let number = POOLS.fetch_add(1, Ordering::Relaxed);
        let pool = Self { launch, handshake, slots, turns, number, threads: AtomicUsize::new(0) };
        // The thread that opens a pool is the first to ask.
        *pool.lock() = Some(program);
        Ok(pool)
    }

    /// Cost of the pipe to this thread's program.
    pub fn pipe(&self) -> Pipe {
        self.lock().as_ref().map_or_else(Pipe::default, |program| program.pipe.clone())
    }

    /// Starts the program of this thread if it does not run: before the clock does.
    pub fn ready(&self) -> Result<()> {
        self.with_program(|_, _| Ok(()))
    }

    /// Measures the pipe once more. Answers that are still expected are dropped.
    pub fn echo(&self) -> Result<()> {
        self.with_program(|program, _| {
            program.drain()?;
            program.measure(1)
        })
    }

    /// Asks all of this at once; the answers are read by [`Pool::ask`].
    pub fn announce(&self, question: Question, terms: &[usize], w: &[f64]) -> Result<()> {
        self.with_program(|program, _| program.send(question, terms, w).map(drop))
    }

    /// The answer to one question, perhaps announced before, and the time it took.
    pub fn ask(&self, question: Question, term: usize, w: &[f64], answer: &mut Answer) -> Result<Away> {
        self.with_program(|program, began| {
            let (asked, waited) = (Instant::now(), program.child.waited);
            let announced = program.asked.front() == Some(&(question, term)) && program.has(question, w);
            let sent = if announced { 0 } else { program.send(question, &[term], w)? };
            let received = program.answer(answer)?;
            let total = asked.elapsed().as_nanos() as u64;
            let fixed = if announced { 0.0 } else { program.pipe.fixed_ns };
            let spent_ns = match answer.ns {
                // No oracle spends more than its call took.
                Some(ns) => ns.min(total),
                None => total.saturating_sub((fixed + program.pipe.byte_ns * (sent + received) as f64) as u64),
            };
            // The time to start a program is not oracle time.
            let started = asked.duration_since(began).as_nanos() as u64;
            let waited = program.child.waited.saturating_sub(waited).as_nanos() as u64;
            let idle_ns = started + waited.saturating_sub(spent_ns);
            Ok(Away { spent_ns, pipe_ns: started + total - spent_ns, idle_ns })
        })
    }

    /// Prevents other threads that share this thread's program from announcing a group of questions in the meantime, because only answers to
    /// the last announcement are read.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turns[self.slot()].lock()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Program>> {
        self.slots[self.slot()].lock()
    }

    fn slot(&self) -> usize {
        SLOTS.with_borrow_mut(|slots| {
            let known = slots.iter().find(|(pool, _)| *pool == self.number).map(|(_, slot)| *slot);
            known.unwrap_or_else(|| {
                let slot = self.threads.fetch_add(1, Ordering::Relaxed) % self.slots.len();
                slots.push((self.number, slot));
                slot
            })
        })
    }

    /// Calls `work` with the program of this thread, which is started first if necessary, and with the time before the start. A program
    /// that fails is killed, and the next call starts a new one.
    fn with_program<T>(&self, work: impl FnOnce(&mut Program, Instant) -> Result<T>) -> Result<T> {
        let mut slot = self.lock();
        let began = Instant::now();
        let mut program = match slot.take() {
            Some(program) => program,
            None => Program::start(&self.launch)?,
        };
        let result = if program.handshake == self.handshake {
            work(&mut program, began)
        } else {
            let what = "has another handshake than when it was first started; it must be the same problem every time";
            Err(program.child.fault(what))
        };
        match result {
            Ok(_) => *slot = Some(program),
            Err(_) => program.child.kill(),
        }
        result
    }
}

/// One program after its handshake.
struct Program {
    child: Child,
    handshake: Handshake,
    limit: Duration,
    /// w as the program has it.
    w: Vec<f64>,
    /// Questions whose answers have not been read.
    asked: VecDeque<(Question, usize)>,
    /// Terms of the last request until its first answer; then 1.
    group: u32,
    out: Vec<u8>,
    pipe: Pipe,
}

impl Program {
    fn start(launch: &Launch) -> Result<Self> {
        let mut child = Child::start(launch)?;
        child.send(format!("{}\n", greeting()).as_bytes())?;
        let mut handshake = Handshake::empty();
        let mut ready = Handshake::check_greeting(&child.line(LONGEST_LINE)?).map(|()| false);
        while ready == Ok(false) {
            ready = handshake.take(&child.line(LONGEST_LINE)?);
        }
        ready.map_err(|what| child.fault(what))?;
        let pipe = Pipe { large: (8 * handshake.d).clamp(2 * SMALL, LARGE), ..Pipe::default() };
        let (w, asked, out) = (Vec::new(), VecDeque::new(), Vec::new());
        let mut program = Self { child, handshake, limit: launch.limit, w, asked, group: 1, out, pipe };
        program.measure(FIRST_ECHOES)?;
        Ok(program)
    }

    /// Measures the pipe with echoes of both sizes.
    fn measure(&mut self, rounds: usize) -> Result<()> {
        for _ in 0..rounds {
            for (large, length) in [(false, SMALL), (true, self.pipe.large)] {
                let ns = self.echo(length)?;
                self.pipe.learn(large, ns);
            }
        }
        Ok(())
    }

    fn echo(&mut self, length: usize) -> Result<f64> {
        self.out.clear();
        write_echo(length, &mut self.out);
        let (child, out) = (&mut self.child, &self.out);
        child.begin(Doing::Echo, self.limit);
        let began = Instant::now();
        child.send(out)?;
        let line = child.line(LONGEST_LINE)?;
        if line != format!("echo {length}") {
            return Err(child.fault(format!("sent an unexpected line '{}' when {}", shorten(&line), Doing::Echo)));
        }
        let same = child.bytes(length)? == &out[out.len() - length..];
        let ns = began.elapsed().as_nanos() as f64;
        if same { Ok(ns) } else { Err(child.fault("did not return the bytes that it was sent for an echo")) }
    }

    /// Whether the program has this w. Bits are compared: −0 is another number than 0.
    fn has(&self, question: Question, w: &[f64]) -> bool {
        question == Question::Truth || same_bits(&self.w, w)
    }

    /// Sends a question, with w if it changed; the number of bytes.
    fn send(&mut self, question: Question, terms: &[usize], w: &[f64]) -> Result<usize> {
        self.drain()?;
        self.out.clear();
        if !self.has(question, w) {
            write_w(w, &mut self.out);
            self.w.clear();
            self.w.extend_from_slice(w);
        }
        question.write(terms, &mut self.out);
        self.asked.extend(terms.iter().map(|term| (question, *term)));
        self.group = terms.len() as u32;
        let child = &mut self.child;
        if !child.unread().is_empty() {
            let text = shorten(&String::from_utf8_lossy(child.unread()));
            return Err(child.fault(format!("sent output before any request: '{text}'")));
        }
        child.begin(
            Doing::Term(question, terms.first().copied().unwrap_or_default()),
            self.limit.saturating_mul(self.group.max(1)),
        );
        child.send(&self.out)?;
        Ok(self.out.len())
    }

    /// Reads the answer to the oldest question; the number of bytes.
    fn answer(&mut self, answer: &mut Answer) -> Result<usize> {
        let (child, d) = (&mut self.child, self.handshake.d);
        let Some((question, term)) = self.asked.pop_front() else { return Err(child.fault("was asked nothing")) };
        let doing = Doing::Term(question, term);
        child.begin(doing, self.limit.saturating_mul(std::mem::replace(&mut self.group, 1).max(1)));
        let line = child.line(LONGEST_LINE)?;
        let bytes = answer.read_line(&line, d).map_err(|what| child.fault(format!("{what} (when {doing})")))?;
        if answer.term != term {
            return Err(child.fault(format!("answered for term {} when {doing}", answer.term)));
        }
        let read = answer.read_numbers(child.bytes(bytes)?, d);
        read.map_err(|what| child.fault(what))?;
        Ok(line.len() + bytes)
    }

    /// Reads and drops the answers that were announced and not asked for.
    fn drain(&mut self) -> Result<()> {
        let mut unwanted = Answer::default();
        while !self.asked.is_empty() {
            self.answer(&mut unwanted)?;
        }
        Ok(())
    }
}
