//! Programs as the oracle of a [`Problem`]: φ^i are dense vectors, and planes are the answers of the program. Its answers are
//! checked as far as that costs little: off the clock, or in one call of many.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::handshake::Handshake;
use super::plane::Plane;
use super::pool::{Launch, Pipe, Pool};
use super::protocol::{Answer, Question};
use crate::Result;
use ssvm::linalg::{add_scaled, dot, norm2};
use ssvm::problem::{Away, Certificate, Direction, Family, Fault, Problem, Sink, Sizes};

pub const PROGRAM: Family =
    Family { name: "program", oracle_seconds: |size| 1e-4 + 1e-8 * size.d as f64, ..Family::OTHER };

/// One exact call in this many is compared with the working set.
const COMPARE_EVERY: u64 = 16;
/// One group of terms in this many is followed by an echo and by one question a second time.
const RECHECK_EVERY: u64 = 8;
/// Most terms of one announcement.
pub(super) const ANNOUNCED: usize = 64;
/// Differences below this part of what was summed are rounding.
pub(super) const ROUNDING: f64 = 1e-9;

pub struct ProgramProblem {
    pool: Pool,
    lambda: f64,
    /// The truth's planes, where they are not 0.
    truths: Vec<Plane>,
    calls: AtomicU64,
    groups: AtomicU64,
    /// Whether a call returned another plane than the truth's.
    moved: AtomicBool,
    /// What was noticed, by its kind: each once.
    notes: Mutex<Vec<(&'static str, String)>>,
}

/// All φ^i, dense; a vector that is missing is 0.
pub struct ProgramBlocks {
    vectors: Vec<Vec<f64>>,
    offsets: Vec<f64>,
}

pub struct ProgramWork {
    delta: Vec<f64>,
    /// Always 0 between calls.
    zeros: Vec<f64>,
    answer: Answer,
    away: Away,
}

impl ProgramProblem {
    /// Starts the program; λ is its own, or 1/n, unless given.
    pub fn open(launch: Launch, lambda: Option<f64>) -> Result<Self> {
        let pool = Pool::open(launch)?;
        let Handshake { n, lambda: default, truth_is_zero, .. } = pool.handshake;
        let lambda = lambda.or(default).unwrap_or(1.0 / n as f64);
        let (calls, groups, moved) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let mut problem = Self { pool, lambda, truths: Vec::new(), calls, groups, moved, notes: Mutex::default() };
        if !truth_is_zero {
            problem.truths = problem.ask_truths()?;
        }
        Ok(problem)
    }

    fn ask_truths(&self) -> Result<Vec<Plane>> {
        let Handshake { n, d, .. } = self.pool.handshake;
        let (mut answer, mut truths) = (Answer::default(), Vec::with_capacity(n));
        let terms: Vec<usize> = (0..n).collect();
        for group in terms.chunks(ANNOUNCED) {
            self.pool.announce(Question::Truth, group, &[])?;
            for term in group {
                self.pool.ask(Question::Truth, *term, &[], &mut answer)?;
                truths.push(Plane::of(&answer, d, None));
            }
        }
        Ok(truths)
    }

    pub fn handshake(&self) -> &Handshake {
        &self.pool.handshake
    }

    pub fn pipe(&self) -> Pipe {
        self.pool.pipe()
    }

    fn ask(&self, question: Question, i: usize, w: &[f64], work: &mut ProgramWork) -> Result<Plane, Fault> {
        work.away = self.pool.ask(question, i, w, &mut work.answer)?;
        Ok(Plane::of(&work.answer, self.dim(), self.truths.get(i)))
    }

    /// The bound of H_i(w) in the last answer, if it had one.
    pub(super) fn bound(&self, i: usize, w: &[f64], work: &ProgramWork) -> Option<f64> {
        let truth = self.truths.get(i).map_or(0.0, |truth| truth.dot(w) + truth.offset());
        work.answer.bound.map(|bound| bound - truth)
    }

    fn operations(&self, answer: &Answer) -> u64 {
        answer.operations.or(self.handshake().operations).unwrap_or(self.handshake().d as u64)
    }

    fn note(&self, kind: &'static str, text: impl FnOnce() -> String) {
        let mut notes = self.notes.lock();
        if !notes.iter().any(|(other, _)| *other == kind) {
            notes.push((kind, text()));
        }
    }

    /// Remembers that some answer was not the truth.
    fn note_moved(&self, plane: &Plane) {
        if !self.moved.load(Ordering::Relaxed) {
            self.moved.store(!plane.is_zero(), Ordering::Relaxed);
        }
    }

    /// The answer of an exact oracle is at least as high as every plane that is known, and as 0.
    fn compare<'a>(&self, i: usize, w: &[f64], known: impl Iterator<Item = &'a Plane>, plane: &Plane) {
        let (value, size) = plane.value_and_size(w);
        let not_maximal = |better: String| {
            let what = "the oracle is not a maximiser: of term";
            self.note("maximiser", || format!("{what} {i} it returned a plane of value {value:e}, {better}"));
        };
        if value < -ROUNDING * size {
            not_maximal("the truth has 0".into());
        }
        for other in known {
            let (better, other_size) = other.value_and_size(w);
            if better - value > ROUNDING * (size + other_size) {
                not_maximal(format!("one that it returned before has {better:e}"));
            }
            if let Some(key) = plane.key().filter(|key| other.key() == Some(key) && !other.same_numbers(plane)) {
                self.note("deterministic", || format!("the oracle gave term {i} two planes with the key '{key}'"));
            }
        }
    }

    fn certificate(&self, i: usize, w: &[f64], plane: &Plane, work: &ProgramWork) -> Certificate {
        let (value, size) = plane.value_and_size(w);
        let operations = self.operations(&work.answer);
        if self.exact() {
            return Certificate::exact(value, operations);
        }
        let rounding = ROUNDING * size;
        let Some(bound) = self.bound(i, w, work) else {
            let text =
                "the oracle is not exact and gives no bounds: primal and gap are those of its planes, not certified";
            self.note("no bound", || text.into());
            return Certificate { proven: false, ..Certificate::exact(value, operations) };
        };
        // A bound below a plane is wrong and proves nothing.
        let sound = value - bound <= rounding;
        if !sound {
            self.note("low bound", || {
                format!("the bound {bound:e} of term {i} is below the value {value:e} of its own plane")
            });
        }
        let proven = sound && bound - value <= rounding;
        Certificate { upper: bound.max(value), proven, ..Certificate::exact(value, operations) }
    }

    /// Off the clock: measures the pipe, and asks the same once more.
    fn recheck(&self, i: usize, w: &[f64], plane: &Plane, work: &mut ProgramWork) -> Result<(), Fault> {
        self.pool.echo()?;
        let again = self.ask(Question::Certify, i, w, work)?;
        let ((before, size), (after, _)) = (plane.value_and_size(w), again.value_and_size(w));
        if (before - after).abs() > ROUNDING * size {
            let what = "the oracle is not deterministic: of term";
            self.note("deterministic", || format!("{what} {i} it returned {before:e}, and {after:e} at the same w"));
        }
        Ok(())
    }
}

impl Problem for ProgramProblem {
    type Plane = Plane;
    type Blocks = ProgramBlocks;
    type Work = ProgramWork;

    fn family(&self) -> &'static Family {
        &PROGRAM
    }

    // The same as the default, but here solvers are compiled for this problem once, not in every program.
    #[inline(never)]
    fn as_dyn(&self) -> &dyn ssvm::problem::DynProblem {
        self
    }

    fn terms(&self) -> usize {
        self.handshake().n
    }

    fn dim(&self) -> usize {
        self.handshake().d
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn exact(&self) -> bool {
        self.handshake().exact
    }

    fn blocks(&self) -> ProgramBlocks {
        ProgramBlocks { vectors: vec![Vec::new(); self.terms()], offsets: vec![0.0; self.terms()] }
    }

    fn work(&self) -> ProgramWork {
        // Started before the clock runs. A program that cannot be started fails again, and is reported, at its first call.
        let _ = self.pool.ready();
        let d = self.dim();
        ProgramWork { delta: vec![0.0; d], zeros: vec![0.0; d], answer: Answer::default(), away: Away::default() }
    }

    fn oracle(&self, i: usize, w: &[f64], work: &mut ProgramWork, plane: &mut Plane) -> Result<u64, Fault> {
        self.oracle_among(i, w, std::iter::empty(), work, plane)
    }

    fn oracle_among<'a>(
        &self,
        i: usize,
        w: &[f64],
        known: impl Iterator<Item = &'a Plane>,
        work: &mut ProgramWork,
        plane: &mut Plane,
    ) -> Result<u64, Fault> {
        *plane = self.ask(Question::Call, i, w, work)?;
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        self.note_moved(plane);
        if self.exact() && calls.is_multiple_of(COMPARE_EVERY) {
            let began = std::time::Instant::now();
            self.compare(i, w, known, plane);
            work.away.pipe_ns += began.elapsed().as_nanos() as u64;
        }
        Ok(self.operations(&work.answer))
    }

    fn certify(&self, i: usize, w: &[f64], work: &mut ProgramWork, plane: &mut Plane) -> Result<Certificate, Fault> {
        *plane = self.ask(Question::Certify, i, w, work)?;
        self.note_moved(plane);
        Ok(self.certificate(i, w, plane, work))
    }

    fn certify_all(
        &self,
        first: usize,
        w: &[f64],
        work: &mut ProgramWork,
        plane: &mut Plane,
        terms: &mut [Certificate],
    ) -> Result<(), Fault> {
        let _turn = self.pool.turn();
        let numbers: Vec<usize> = (first..first + terms.len()).collect();
        self.pool.announce(Question::Certify, &numbers, w)?;
        for (i, term) in numbers.into_iter().zip(terms) {
            *term = self.certify(i, w, work, plane)?;
        }
        if self.groups.fetch_add(1, Ordering::Relaxed).is_multiple_of(RECHECK_EVERY) {
            let last = plane.clone();
            self.recheck(work.answer.term, w, &last, work)?;
        }
        Ok(())
    }

    fn announce(&self, terms: &[u32], w: &[f64], _work: &mut ProgramWork) -> Result<(), Fault> {
        if terms.is_empty() {
            return Ok(());
        }
        let terms: Vec<usize> = terms.iter().map(|term| *term as usize).collect();
        Ok(self.pool.announce(Question::Call, &terms, w)?)
    }

    #[inline]
    fn away(&self, work: &ProgramWork) -> Away {
        work.away
    }

    fn notes(&self) -> Vec<String> {
        let asked = self.calls.load(Ordering::Relaxed) >= self.terms() as u64;
        if asked && !self.moved.load(Ordering::Relaxed) {
            let text = "every oracle call returned the truth, so that w stays 0: the loss is missing or has the wrong \
                        sign, or no labelling but the truth is tried";
            self.note("truth", || text.into());
        }
        self.notes.lock().iter().map(|(_, text)| text.clone()).collect()
    }

    fn value(&self, _i: usize, plane: &Plane, w: &[f64], _work: &ProgramWork) -> f64 {
        plane.dot(w) + plane.offset()
    }

    fn direction(
        &self,
        i: usize,
        blocks: &ProgramBlocks,
        plane: &Plane,
        w: &[f64],
        work: &mut ProgramWork,
    ) -> Direction {
        let block = &blocks.vectors[i];
        work.delta.fill(0.0);
        if !block.is_empty() {
            add_scaled(&mut work.delta, -1.0, block);
        }
        plane.add_to(1.0, &mut work.delta);
        let offset = plane.offset() - blocks.offsets[i];
        Direction { gain: dot(&work.delta, w) + offset, norm2: norm2(&work.delta), offset }
    }

    fn advance(
        &self,
        i: usize,
        blocks: &mut ProgramBlocks,
        plane: &Plane,
        gamma: f64,
        work: &mut ProgramWork,
        sink: &mut Sink<'_>,
    ) {
        let block = &mut blocks.vectors[i];
        block.resize(work.delta.len(), 0.0);
        if gamma >= 1.0 {
            // Exactly the plane, so that a step towards it again changes nothing.
            block.fill(0.0);
            plane.add_to(1.0, block);
            blocks.offsets[i] = plane.offset();
        } else {
            add_scaled(block, gamma, &work.delta);
            blocks.offsets[i] += gamma * (plane.offset() - blocks.offsets[i]);
        }
        sink.each(|target, scale| add_scaled(target, scale * gamma, &work.delta));
    }

    fn add_block(&self, i: usize, blocks: &ProgramBlocks, scale: f64, out: &mut [f64]) -> f64 {
        if !blocks.vectors[i].is_empty() {
            add_scaled(out, scale, &blocks.vectors[i]);
        }
        blocks.offsets[i]
    }

    fn add_plane(&self, _i: usize, plane: &Plane, scale: f64, out: &mut [f64]) -> f64 {
        plane.add_to(scale, out);
        plane.offset()
    }

    fn product_ops(&self, _i: usize) -> u64 {
        self.dim() as u64
    }

    fn offset(&self, _i: usize, plane: &Plane) -> f64 {
        plane.offset()
    }

    fn product(&self, _i: usize, p: &Plane, q: &Plane, work: &mut ProgramWork) -> f64 {
        p.product(q, &mut work.zeros)
    }

    /// The truth's plane is subtracted from those that the program gives, where it is not 0.
    fn sizes(&self, i: usize, plane: &Plane, work: &mut ProgramWork) -> Sizes {
        let mut length = |plane: &Plane| plane.product(plane, &mut work.zeros).max(0.0).sqrt();
        let truth = self.truths.get(i).map_or((0.0, 0.0), |truth| (length(truth), truth.offset().abs()));
        Sizes { length: length(plane) + 2.0 * truth.0, offset: 2.0 * truth.1, additions: self.dim() as f64 }
    }
}
