//! Programs of one command line, one for each thread that asks: questions in, answers and what they took out. A program
//! is started when a thread needs it, told w when it changed, and replaced after a fault.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::child::Child;
use super::handshake::{Handshake, greeting, shorten};
use super::protocol::{Answer, LONGEST_LINE, Question, write_echo, write_w};
use ssvm::problem::Away;
use ssvm::stats::median;

/// How a program is started, and how patient one is with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The program: a path, or a name that is looked up as a shell does.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Longest time of a call.
    pub limit: Duration,
    /// Longest time until it is ready.
    pub start: Duration,
    /// Most programs at the same time; threads beyond share them.
    pub programs: usize,
}

impl Launch {
    /// A minute a call, ten until it is ready, a program per core.
    pub fn new(program: impl Into<String>, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            limit: Duration::from_mins(1),
            start: Duration::from_mins(10),
            programs: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Echoes that are remembered of each size.
const ECHOES: usize = 15;
/// Bytes of the small echo.
const SMALL: usize = 16;
/// Most bytes of the large echo.
const LARGE: usize = 1 << 18;

/// What the pipe costs, from echoes of two sizes: so much a round trip, so much a byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipe {
    /// Round trips of the small echo, ns, and of the large one.
    echoes: [VecDeque<f64>; 2],
    large: usize,
    /// Nanoseconds of a round trip that carries nothing.
    pub fixed_ns: f64,
    /// Nanoseconds of a byte, there or back.
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
        // An echo goes there and back.
        self.byte_ns = ((large - small) / (2 * self.large.saturating_sub(SMALL)).max(1) as f64).max(0.0);
        self.fixed_ns = if small.is_finite() { small } else { 0.0 };
        if !self.byte_ns.is_finite() {
            self.byte_ns = 0.0;
        }
    }

    /// A round trip with so many bytes.
    pub fn ns(&self, bytes: usize) -> f64 {
        self.fixed_ns + self.byte_ns * bytes as f64
    }
}

/// One place for a program.
#[derive(Default)]
struct Slot {
    child: Option<Child>,
    /// w as the program has it.
    w: Vec<f64>,
    /// Questions on their way.
    asked: VecDeque<(Question, usize)>,
    out: Vec<u8>,
    pipe: Pipe,
}

/// The programs.
pub(super) struct Pool {
    launch: Launch,
    handshake: Handshake,
    slots: Vec<Mutex<Slot>>,
    number: usize,
    threads: AtomicUsize,
}

thread_local! {
    /// Number of a pool and the slot that this thread has in it.
    static PLACES: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
}

impl Pool {
    /// Starts the first program and listens to what it says of itself.
    pub fn open(launch: Launch) -> Result<Self, String> {
        static POOLS: AtomicUsize = AtomicUsize::new(0);
        let mut slot = Slot::default();
        let handshake = slot.start(&launch)?;
        let mut slots: Vec<Mutex<Slot>> = (1..launch.programs.max(1)).map(|_| Mutex::default()).collect();
        slots.insert(0, Mutex::new(slot));
        let pool = Self {
            launch,
            handshake,
            slots,
            number: POOLS.fetch_add(1, Ordering::Relaxed),
            threads: AtomicUsize::new(0),
        };
        // This thread asks first.
        pool.with_slot(|slot| slot.measure(&pool.handshake, pool.launch.limit, 8))?;
        Ok(pool)
    }

    pub fn handshake(&self) -> &Handshake {
        &self.handshake
    }

    /// What the pipe of this thread's program costs.
    pub fn pipe(&self) -> Pipe {
        self.lock().pipe.clone()
    }

    /// Makes sure that this thread has a program that runs: before the clock does.
    pub fn ready(&self) -> Result<(), String> {
        self.with_slot(|slot| slot.ensure(&self.launch, &self.handshake))
    }

    /// Measures the pipe once more. Not while answers are on their way.
    pub fn echo(&self) -> Result<(), String> {
        self.with_slot(|slot| {
            slot.ensure(&self.launch, &self.handshake)?;
            slot.drain(&self.handshake, self.launch.limit)?;
            slot.measure(&self.handshake, self.launch.limit, 1)
        })
    }

    /// Asks all of this at once; the answers are read by [`Pool::ask`].
    pub fn announce(&self, question: Question, terms: &[usize], w: &[f64]) -> Result<(), String> {
        self.with_slot(|slot| {
            slot.ensure(&self.launch, &self.handshake)?;
            slot.send(question, terms, w, &self.handshake, self.launch.limit).map(|_| ())
        })
    }

    /// One question, perhaps announced before: its answer, and what it took.
    pub fn ask(&self, question: Question, term: usize, w: &[f64], answer: &mut Answer) -> Result<Away, String> {
        self.with_slot(|slot| {
            let began = Instant::now();
            slot.ensure(&self.launch, &self.handshake)?;
            let asked = Instant::now();
            let announced = slot.asked.front() == Some(&(question, term)) && slot.has(question, w);
            let sent = if announced { 0 } else { slot.send(question, &[term], w, &self.handshake, self.launch.limit)? };
            let received = slot.answer(answer, &self.handshake, self.launch.limit)?;
            let total = asked.elapsed().as_nanos() as u64;
            let fixed = if announced { 0.0 } else { slot.pipe.fixed_ns };
            let spent_ns = match answer.ns {
                // Nobody spends more than it took.
                Some(ns) => ns.min(total),
                None => total.saturating_sub((fixed + slot.pipe.byte_ns * (sent + received) as f64) as u64),
            };
            // A start that was not foreseen is no work of the oracle.
            let started = asked.duration_since(began).as_nanos() as u64;
            Ok(Away { spent_ns, pipe_ns: started + total - spent_ns })
        })
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        let place = PLACES.with_borrow_mut(|places| {
            let known = places.iter().find(|(pool, _)| *pool == self.number).map(|(_, place)| *place);
            known.unwrap_or_else(|| {
                let place = self.threads.fetch_add(1, Ordering::Relaxed) % self.slots.len();
                places.push((self.number, place));
                place
            })
        });
        self.slots[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the program of this thread. One that is at fault is ended at once; the next call gets a new one.
    fn with_slot<T>(&self, work: impl FnOnce(&mut Slot) -> Result<T, String>) -> Result<T, String> {
        let mut slot = self.lock();
        let result = work(&mut slot);
        if result.is_err() {
            slot.forget();
        }
        result
    }
}

impl Slot {
    fn forget(&mut self) {
        if let Some(child) = self.child.take() {
            child.kill();
        }
        self.w.clear();
        self.asked.clear();
    }

    fn child(&mut self) -> Result<&mut Child, String> {
        self.child.as_mut().ok_or_else(|| "the oracle program does not run".to_owned())
    }

    fn ensure(&mut self, launch: &Launch, handshake: &Handshake) -> Result<(), String> {
        if self.child.is_some() {
            return Ok(());
        }
        let now = self.start(launch)?;
        if now != *handshake {
            let what = "has another handshake than when it was first started; it must be the same problem every time";
            return Err(self.fault(what));
        }
        self.measure(handshake, launch.limit, 8)
    }

    fn start(&mut self, launch: &Launch) -> Result<Handshake, String> {
        let deadline = Instant::now() + launch.start;
        self.child = Some(Child::start(&launch.program, &launch.arguments)?);
        let child = self.child()?;
        let doing = "asked for its handshake";
        child.send(format!("{}\n", greeting()).as_bytes(), deadline, doing)?;
        let mut handshake = Handshake::empty();
        let first = child.line(LONGEST_LINE, deadline, doing)?;
        let mut ready = Handshake::check_greeting(&first).map(|()| false);
        while ready == Ok(false) {
            ready = handshake.take(&child.line(LONGEST_LINE, deadline, doing)?);
        }
        ready.map_err(|what| child.fault(&what)).map(|_| handshake)
    }

    fn fault(&mut self, what: &str) -> String {
        self.child.as_mut().map_or_else(|| what.to_owned(), |child| child.fault(what))
    }

    /// So many echoes of both sizes.
    fn measure(&mut self, handshake: &Handshake, limit: Duration, rounds: usize) -> Result<(), String> {
        self.pipe.large = (8 * handshake.d).clamp(2 * SMALL, LARGE);
        for _ in 0..rounds {
            for (large, length) in [(false, SMALL), (true, self.pipe.large)] {
                let ns = self.echo(length, limit)?;
                self.pipe.learn(large, ns);
            }
        }
        Ok(())
    }

    fn echo(&mut self, length: usize, limit: Duration) -> Result<f64, String> {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        write_echo(length, &mut out);
        let doing = "asked for an echo";
        let child = self.child()?;
        child.begin_call();
        let (began, deadline) = (Instant::now(), Instant::now() + limit);
        child.send(&out, deadline, doing)?;
        let line = child.line(LONGEST_LINE, deadline, doing)?;
        if line != format!("echo {length}") {
            return Err(child.fault(&format!("answered '{}' when {doing}", shorten(&line))));
        }
        let same = child.bytes(length, deadline, doing)? == &out[out.len() - length..];
        let ns = began.elapsed().as_nanos() as f64;
        if !same {
            return Err(self.fault("sent other bytes back when asked for an echo"));
        }
        self.out = out;
        Ok(ns)
    }

    /// Whether the program has this w. Bits are compared: −0 is another number than 0.
    fn has(&self, question: Question, w: &[f64]) -> bool {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0, |all, (a, b)| all | (a.to_bits() ^ b.to_bits())) == 0;
        question == Question::Truth
            || (self.w.len() == w.len() && self.w.chunks(256).zip(w.chunks(256)).all(|(a, b)| same(a, b)))
    }

    /// Sends a question, with w if it changed; bytes.
    fn send(
        &mut self,
        question: Question,
        terms: &[usize],
        w: &[f64],
        handshake: &Handshake,
        limit: Duration,
    ) -> Result<usize, String> {
        self.drain(handshake, limit)?;
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        if !self.has(question, w) {
            write_w(w, &mut out);
            self.w.clear();
            self.w.extend_from_slice(w);
        }
        question.write(terms, &mut out);
        self.asked.extend(terms.iter().map(|term| (question, *term)));
        let child = self.child()?;
        if !child.unread().is_empty() {
            let said = shorten(&String::from_utf8_lossy(child.unread()));
            return Err(child.fault(&format!("answered out of turn, before it was asked: '{said}'")));
        }
        child.begin_call();
        let what = terms.first().map_or(String::new(), |term| doing(question, *term));
        child.send(&out, Instant::now() + limit, &what)?;
        self.out = out;
        Ok(self.out.len())
    }

    /// Reads the answer to the oldest question; bytes.
    fn answer(&mut self, answer: &mut Answer, handshake: &Handshake, limit: Duration) -> Result<usize, String> {
        let Some((question, term)) = self.asked.pop_front() else { return Err(self.fault("was asked nothing")) };
        let (deadline, doing) = (Instant::now() + limit, doing(question, term));
        let child = self.child()?;
        let line = child.line(LONGEST_LINE, deadline, &doing)?;
        let bytes =
            answer.read_line(&line, handshake.d).map_err(|what| child.fault(&format!("{what} (when {doing})")))?;
        if answer.term != term {
            return Err(child.fault(&format!("answered out of turn: term {} when {doing}", answer.term)));
        }
        let payload = child.bytes(bytes, deadline, &doing)?;
        answer.read_numbers(payload, handshake.d).map_err(|what| child.fault(&what))?;
        Ok(line.len() + bytes)
    }

    /// Reads the answers that nobody waits for any more.
    fn drain(&mut self, handshake: &Handshake, limit: Duration) -> Result<(), String> {
        let mut unwanted = Answer::default();
        while !self.asked.is_empty() {
            self.answer(&mut unwanted, handshake, limit)?;
        }
        Ok(())
    }
}

fn doing(question: Question, term: usize) -> String {
    match question {
        Question::Call | Question::Certify => format!("asked for term {term}"),
        Question::Truth => format!("asked for the truth of term {term}"),
    }
}
