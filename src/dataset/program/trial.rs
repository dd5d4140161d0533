//! Checks of a program before a long run: findings with their terms and numbers, and the time of a call.
//!
//! Some terms are asked at 0, during a few passes of BCFW over them, where these end, further out, and between such points.
//! H_i is a maximum of planes: it is not negative, convex, and at no point below a plane that was returned at another. Near
//! the solution the best labellings are nearly equal, so that small mistakes show. Terms that have not returned the truth's
//! plane are asked where all their planes are below it. Where a check fails, `advice` names the mistake that explains the
//! answers.

use std::collections::BTreeSet;
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::plane::Plane;
use super::pool::Pipe;
use super::problem::{ANNOUNCED, ProgramProblem, ROUNDING};
use crate::error::Result;
use ssvm::linalg::{add_scaled, dot, norm2};
use ssvm::problem::{Fault, Problem};
use ssvm::stats::median;

/// Passes of BCFW over the terms that are asked.
const PASSES: usize = 10;
/// Terms whose truth is sought, and most calls for each.
const SOUGHT: usize = 20;
const SEEK_CALLS: usize = 20;

const SAME: &str = "the same answer to the same question";
const NOT_NEGATIVE: &str = "H_i is not negative";
const BOUNDS: &str = "bounds are not below H_i";
const MAXIMAL: &str = "no plane is above H_i";
const CONVEX: &str = "H_i is convex";
const KEYS: &str = "planes with the same key are the same";
const TOGETHER: &str = "the same answers when asked together";
const SCALE: &str = "the loss is divided by n";
const LOSS: &str = "some loss at w = 0";
const INDEX: &str = "terms have planes of their own";
const TRUTH: &str = "the truth's plane is 0";

/// The points, in this order; those in the middle of two others last. More points of a term come after them.
const POINTS: [&str; 9] = [
    "w = 0",
    "a point far out",
    "a point on the way",
    "a point close to 0",
    "the solution",
    "a point near the solution",
    "the middle of two points",
    "half the solution",
    "the middle of a point and the solution",
];
const FAR: usize = 1;
const SOLUTION: usize = 4;
/// The ends of each middle.
const SEGMENTS: [[usize; 2]; 3] = [[1, 2], [0, SOLUTION], [2, SOLUTION]];

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    pub check: &'static str,
    /// `None` when it is about all terms.
    pub term: Option<usize>,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Trial {
    pub checks: Vec<(&'static str, u64)>,
    pub findings: Vec<Finding>,
    /// The mistake that explains a failed check.
    pub advice: Vec<(&'static str, String)>,
    /// What is unusual, but may be right.
    pub remarks: Vec<String>,
    /// Σ H_i(0), estimated: the mean over terms of the largest loss.
    pub loss_at_zero: f64,
    /// n ‖φ⋆‖, median of the planes that are not 0: the length of φ(x, y) − φ(x, y_i).
    pub feature_length: f64,
    /// Inside the program, per call, ns: median and most.
    pub call_ns: (f64, f64),
    /// Around it, per call with a new w, ns: median.
    pub pipe_ns: f64,
    /// A whole call with a new w, ns: median.
    pub total_ns: f64,
    pub pipe: Pipe,
}

struct Seen {
    plane: Plane,
    value: f64,
    size: f64,
    bound: Option<f64>,
}

/// A mistake that answers may have in common: with features and offsets times these factors every answer is a maximum.
struct Mistake {
    features: f64,
    offsets: f64,
    text: &'static str,
    /// Terms whose answers it explains.
    terms: usize,
}

impl Mistake {
    /// The value of a plane without the mistake.
    fn value(&self, plane: &Plane, value: f64) -> f64 {
        self.features * (value - plane.offset()) + self.offsets * plane.offset()
    }

    fn rounding(&self, size: f64) -> f64 {
        ROUNDING * self.features.abs().max(1.0) * self.offsets.abs().max(1.0) * size
    }
}

/// Terms by their planes without loss, which should be that of the truth.
#[derive(Default)]
struct Lossless {
    /// Terms that returned the plane 0 and no other without loss.
    zero: usize,
    /// Terms with one such plane, which is not 0.
    one: usize,
    /// Terms that have a plane with a loss and φ⋆ = 0: a labelling with no features but the truth's.
    bare: usize,
    /// Terms that count in both `one` and `bare`.
    both: usize,
    /// Terms with several: labellings without loss are not only the truth, such as with pixels that do not count.
    several: usize,
}

/// Checks the oracle on this number of terms, the first and the last among them. Fails when the program breaks the protocol.
pub fn trial(problem: &ProgramProblem, terms: usize, seed: u64) -> Result<Trial> {
    let mut random = Pcg64::seed_from_u64(seed);
    let n = problem.terms();
    // The first and the last, where an index that is off by one is beyond the end.
    let mut chosen: BTreeSet<usize> = [0, n - 1].into_iter().take(terms.max(1)).collect();
    while chosen.len() < terms.min(n) {
        chosen.insert((random.next_u64() % n as u64) as usize);
    }
    let (scale, work, times) = (n as f64, problem.work(), Vec::new());
    let mistake = |features, offsets, text| Mistake { features, offsets, text, terms: 0 };
    let mut mistakes = vec![
        mistake(-1.0, 1.0, "the features have the wrong sign: with −φ⋆ every answer is a maximum"),
        mistake(1.0, -1.0, "the loss has the wrong sign: with −φ∘ every answer is a maximum"),
    ];
    if n > 1 {
        mistakes.push(mistake(scale, 1.0, "1/n is missing in the loss: divide φ∘ by n, as the features are"));
        mistakes.push(mistake(1.0, scale, "1/n is missing in the features: divide φ⋆ by n, as the loss is"));
    }
    // Last: next to a loss that is n times too large, features that are too small explain nothing.
    let text = "the oracle maximises without the loss: find the y that maximises the score plus Δ(y_i, y)";
    mistakes.push(mistake(1.0, 0.0, text));
    let (lossless, trial) = (Lossless::default(), Trial::default());
    let (whole_at_zero, sought, constant) = (false, 0, 0);
    let bench = Bench {
        problem,
        work,
        terms: chosen.into_iter().collect(),
        mistakes,
        lossless,
        whole_at_zero,
        sought,
        constant,
        random,
        times,
        trial,
    };
    Ok(bench.run().map_err(ssvm::Error::from)?)
}

struct Bench<'p> {
    problem: &'p ProgramProblem,
    work: <ProgramProblem as Problem>::Work,
    terms: Vec<usize>,
    mistakes: Vec<Mistake>,
    lossless: Lossless,
    /// Whether H_i(0) is a whole number for most terms.
    whole_at_zero: bool,
    /// Terms whose truth was sought.
    sought: usize,
    /// Terms with one answer at all points.
    constant: usize,
    random: Pcg64,
    /// Of each call, ns: inside the program, around it, and all of it.
    times: Vec<[f64; 3]>,
    trial: Trial,
}

impl Bench<'_> {
    fn check(&mut self, check: &'static str, term: Option<usize>, fine: bool, text: impl FnOnce() -> String) {
        match self.trial.checks.iter_mut().find(|(name, _)| *name == check) {
            Some((_, count)) => *count += 1,
            None => self.trial.checks.push((check, 1)),
        }
        if !fine {
            self.trial.findings.push(Finding { check, term, text: text() });
        }
    }

    fn ask(&mut self, i: usize, w: &[f64]) -> Result<Seen, Fault> {
        let mut plane = Plane::default();
        let began = Instant::now();
        self.problem.certify(i, w, &mut self.work, &mut plane)?;
        let total = began.elapsed().as_nanos() as f64;
        let away = self.problem.away(&self.work);
        self.times.push([away.spent_ns as f64, away.pipe_ns as f64, total]);
        let (value, size) = plane.value_and_size(w);
        Ok(Seen { plane, value, size, bound: self.problem.bound(i, w, &self.work) })
    }

    /// The answers of all chosen terms at one point.
    fn ask_all(&mut self, w: &[f64]) -> Result<Vec<Seen>, Fault> {
        self.terms.clone().into_iter().map(|i| self.ask(i, w)).collect()
    }

    fn run(mut self) -> Result<Trial, Fault> {
        let first = self.ask_all(&vec![0.0; self.problem.dim()])?;
        self.at_zero(&first);
        self.times.clear();
        let (solution, known) = self.passes()?;
        let mut points = self.points(&first, solution);
        for ((i, at_zero), known) in self.terms.clone().into_iter().zip(first).zip(known) {
            let mut seen = vec![at_zero];
            // Another w each time: the cost of the pipe is that of a step.
            for w in &points[1..] {
                seen.push(self.ask(i, w)?);
            }
            // Scores with noise differ in some calls only.
            for k in [FAR, SOLUTION, FAR, SOLUTION] {
                let again = self.ask(i, &points[k])?;
                let (before, after) = (&seen[k], &again);
                let fine = (before.value - after.value).abs() <= ROUNDING * (before.size + after.size);
                let text = || format!("{:e}, then {:e} at the same w ({})", before.value, after.value, POINTS[k]);
                self.check(SAME, Some(i), fine, text);
            }
            self.seek(i, &mut points, &mut seen, &known)?;
            self.judge(i, &points, &seen, &known);
            points.truncate(POINTS.len());
        }
        self.together(&points[FAR])?;
        self.truth();
        self.explain();
        let Self { times, mut trial, .. } = self;
        let [spent, piped, total] = [0, 1, 2].map(|at| times.iter().map(|times| times[at]).collect::<Vec<_>>());
        trial.call_ns = (median(&spent), spent.iter().copied().fold(0.0, f64::max));
        (trial.pipe_ns, trial.total_ns) = (median(&piped), median(&total));
        trial.pipe = self.problem.pipe();
        Ok(trial)
    }

    /// At w = 0 only the loss is left.
    fn at_zero(&mut self, first: &[Seen]) {
        let (n, asked) = (self.problem.terms(), first.len());
        let sum = first.iter().map(|seen| seen.value).sum::<f64>() * n as f64 / asked as f64;
        self.trial.loss_at_zero = sum;
        let mut scratch = vec![0.0; self.problem.dim()];
        let lengths = first.iter().map(|seen| seen.plane.product(&seen.plane, &mut scratch).sqrt());
        let lengths: Vec<f64> = lengths.filter(|length| *length > 0.0).map(|length| length * n as f64).collect();
        self.trial.feature_length = if lengths.is_empty() { 0.0 } else { median(&lengths) };
        self.check(LOSS, None, first.iter().any(|seen| seen.value > 0.0), || {
            format!("none of {asked} terms returned a plane above 0, the truth's value")
        });
        let is_whole = |seen: &&Seen| seen.value >= 0.5 && (seen.value - seen.value.round()).abs() <= ROUNDING;
        let whole = first.iter().filter(is_whole).count();
        self.whole_at_zero = n > 1 && 2 * whole > asked;
        // Losses may be multiples of n. Features that are whole numbers although all are divided by n are no coincidence.
        let features = !lengths.is_empty() && first.iter().all(|seen| seen.plane.is_whole());
        self.check(SCALE, None, !(self.whole_at_zero && features), || {
            format!("H_i(0) is a whole number for {whole} of {asked} terms, all φ⋆ at 0 are, and Σ H_i(0) = {sum:.6}")
        });
        let same =
            asked > 2 && !lengths.is_empty() && first.iter().all(|seen| seen.plane.same_numbers(&first[0].plane));
        self.check(INDEX, None, !same, || format!("all {asked} terms returned the same plane at w = 0"));
    }

    /// Where a few passes of BCFW over the chosen terms end, as if there were no others, and the planes of each term.
    fn passes(&mut self) -> Result<(Vec<f64>, Vec<Vec<Plane>>), Fault> {
        let (d, chosen) = (self.problem.dim(), self.terms.clone());
        let lambda = self.problem.lambda() * chosen.len() as f64 / self.problem.terms() as f64;
        let mut blocks = vec![(vec![0.0; d], 0.0); chosen.len()];
        let mut planes: Vec<Vec<Plane>> = vec![Vec::new(); chosen.len()];
        let (mut w, mut delta) = (vec![0.0; d], vec![0.0; d]);
        for _ in 0..PASSES {
            for (at, (block, block_offset)) in blocks.iter_mut().enumerate() {
                let Seen { plane, .. } = self.ask(chosen[at], &w)?;
                delta.iter_mut().zip(&*block).for_each(|(delta, value)| *delta = -value);
                plane.add_to(1.0, &mut delta);
                let offset = plane.offset() - *block_offset;
                let gamma = lambda * (dot(&delta, &w) + offset) / norm2(&delta);
                // 0/0 when the block is the plane.
                let gamma = if gamma.is_nan() { 0.0 } else { gamma.clamp(0.0, 1.0) };
                add_scaled(block, gamma, &delta);
                *block_offset += gamma * offset;
                add_scaled(&mut w, -gamma / lambda, &delta);
                if !planes[at].iter().any(|known| known.same_numbers(&plane)) {
                    planes[at].push(plane);
                }
            }
        }
        Ok((w, planes))
    }

    /// 0, points on the way from 0 against the planes of the first answers, the solution, and what lies between.
    fn points(&mut self, first: &[Seen], solution: Vec<f64>) -> Vec<Vec<f64>> {
        let d = self.problem.dim();
        let mut way = vec![0.0; d];
        let scale = -(self.problem.terms() as f64) / first.len() as f64 / self.problem.lambda();
        for seen in first {
            seen.plane.add_to(scale, &mut way);
        }
        let mut noisy = |part: f64, towards: &[f64], noise: f64| {
            let length = norm2(towards).sqrt();
            let noise = noise * if length > 0.0 { length } else { 1.0 } / (d as f64).sqrt();
            let mut signed = || (self.random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            let mut point: Vec<f64> = (0..d).map(|_| noise * signed()).collect();
            add_scaled(&mut point, part, towards);
            point
        };
        let mut points = vec![vec![0.0; d]];
        points.extend([1, 4, 7].map(|power| noisy(0.7f64.powi(power), &way, 0.3)));
        let around = noisy(1.0, &solution, 0.05);
        points.extend([solution, around]);
        for [a, b] in SEGMENTS {
            points.push(points[a].iter().zip(&points[b]).map(|(a, b)| 0.5 * (a + b)).collect());
        }
        points
    }

    /// Asks where all planes of a term are below 0, and so on with its answer: the truth's plane 0 is above them, while an
    /// oracle without it returns something negative, or a loss without features.
    fn seek(
        &mut self,
        i: usize,
        points: &mut Vec<Vec<f64>>,
        seen: &mut Vec<Seen>,
        known: &[Plane],
    ) -> Result<(), Fault> {
        let planes = || seen.iter().map(|seen| &seen.plane).chain(known);
        if self.sought >= SOUGHT || planes().any(Plane::is_zero) {
            return Ok(());
        }
        self.sought += 1;
        let below = planes().map(|plane| plane.offset().abs()).fold(0.0, f64::max);
        let mut scratch = vec![0.0; self.problem.dim()];
        let mut norm2 = |plane: &Plane| plane.product(plane, &mut scratch);
        let longest = planes().map(&mut norm2).fold(0.0, f64::max);
        let mut w = points[SOLUTION].clone();
        let mut plane = seen[SOLUTION].plane.clone();
        for _ in 0..SEEK_CALLS {
            let (length, value) = (norm2(&plane), plane.value_and_size(&w).0);
            // The truth's plane may be 0 up to rounding.
            if length <= ROUNDING * ROUNDING * longest || value < 0.0 {
                break;
            }
            plane.add_to(-(value + below) / length, &mut w);
            let answer = self.ask(i, &w)?;
            plane = answer.plane.clone();
            points.push(w.clone());
            seen.push(answer);
        }
        Ok(())
    }

    /// The answers of a term at all points, and the planes that it returned during the passes.
    fn judge(&mut self, i: usize, points: &[Vec<f64>], seen: &[Seen], known: &[Plane]) {
        let name = |k: usize| POINTS.get(k).unwrap_or(&"a point against its planes");
        let exact = self.problem.exact();
        for (k, one) in seen.iter().enumerate() {
            // An oracle that searches some labellings only need not find the truth.
            self.check(NOT_NEGATIVE, Some(i), !exact || one.value >= -ROUNDING * one.size, || {
                format!("H = {:e} at {}, the truth has 0", one.value, name(k))
            });
            if let Some(bound) = one.bound {
                self.check(BOUNDS, Some(i), bound >= one.value - ROUNDING * one.size, || {
                    format!("bound {bound:e}, plane {:e} at {}", one.value, name(k))
                });
            }
        }
        let planes: Vec<&Plane> = seen.iter().map(|seen| &seen.plane).chain(known).collect();
        for (at, plane) in planes.iter().enumerate() {
            let named = planes[..at].iter().find(|other| plane.key().is_some() && plane.key() == other.key());
            let Some(other) = named else { continue };
            let differ = |w: &Vec<f64>| {
                let ((a, size), (b, _)) = (plane.value_and_size(w), other.value_and_size(w));
                (a - b).abs() > ROUNDING * size
            };
            let fine = !points.iter().any(differ);
            self.check(KEYS, Some(i), fine, || {
                format!("two planes with the key '{}'", plane.key().unwrap_or_default())
            });
        }
        self.constant += usize::from(planes.iter().all(|plane| plane.same_numbers(planes[0])));
        self.note_lossless(&planes);
        if !exact {
            return;
        }
        for (segment, middle) in SEGMENTS.iter().zip(&seen[POINTS.len() - SEGMENTS.len()..]) {
            let [a, b] = segment.map(|end| &seen[end]);
            let fine = middle.value - 0.5 * (a.value + b.value) <= ROUNDING * (a.size + b.size + middle.size);
            let [from, to] = segment.map(|end| POINTS[end]);
            self.check(CONVEX, Some(i), fine, || {
                format!("{:e} at {from} and {:e} at {to}, but {:e} halfway", a.value, b.value, middle.value)
            });
        }
        let mut explained = vec![true; self.mistakes.len()];
        for (k, (one, w)) in seen.iter().zip(points).enumerate() {
            // Where the mistake is mended, H_i is not negative either.
            for (mistake, explained) in self.mistakes.iter().zip(&mut explained) {
                *explained &= mistake.value(&one.plane, one.value) >= -mistake.rounding(one.size);
            }
            for other in &planes {
                let (value, size) = other.value_and_size(w);
                self.check(MAXIMAL, Some(i), value - one.value <= ROUNDING * (size + one.size), || {
                    format!("H = {:e} at {}, another of its planes has {value:e} there", one.value, name(k))
                });
                for (mistake, explained) in self.mistakes.iter().zip(&mut explained) {
                    let more = mistake.value(other, value) - mistake.value(&one.plane, one.value);
                    *explained &= more <= mistake.rounding(size + one.size);
                }
            }
        }
        self.mistakes.iter_mut().zip(explained).for_each(|(mistake, holds)| mistake.terms += usize::from(holds));
    }

    /// Counts the planes of a term without loss, which should be that of the truth.
    fn note_lossless(&mut self, planes: &[&Plane]) {
        let mut scratch = vec![0.0; self.problem.dim()];
        let largest = planes.iter().map(|plane| plane.offset().abs()).fold(0.0, f64::max);
        let mut length = |plane: &Plane| plane.product(plane, &mut scratch).sqrt();
        let longest = planes.iter().map(|plane| length(plane)).fold(0.0, f64::max);
        let (mut zero, mut bare, mut other): (_, _, Vec<&Plane>) = (false, false, Vec::new());
        for plane in planes {
            let lossless = plane.offset().abs() <= ROUNDING * largest;
            let short = length(plane) <= ROUNDING * longest;
            zero |= lossless && short;
            bare |= !lossless && short;
            if lossless && !short && !other.iter().any(|known| known.same_numbers(plane)) {
                other.push(plane);
            }
        }
        let count = &mut self.lossless;
        count.bare += usize::from(bare);
        match (other.len(), zero) {
            (0, zero) => count.zero += usize::from(zero),
            (1, false) => {
                count.one += 1;
                count.both += usize::from(bare);
            }
            _ => count.several += 1,
        }
    }

    /// A labelling without loss is the truth, so that its features less the truth's are 0. A loss that does not count every
    /// part of a labelling leaves other planes without loss, and the truth may be below these everywhere; but then no
    /// labelling with a loss has the truth's features. Other checks explain more where they fail.
    fn truth(&mut self) {
        let explained =
            self.trial.findings.iter().any(|found| [MAXIMAL, CONVEX, SAME, LOSS, INDEX].contains(&found.check));
        let Lossless { zero, one, bare, both, several } = self.lossless;
        let text = if both > 0 {
            format!("{both} terms have a plane with φ∘ = 0 whose φ⋆ is not 0, and one with φ∘ > 0 whose φ⋆ is 0")
        } else if 2 * bare > self.terms.len() {
            format!("{bare} terms have a plane with φ∘ > 0 whose φ⋆ is 0")
        } else if one > 0 && zero + several == 0 {
            format!("{one} terms returned a plane with φ∘ = 0 whose φ⋆ is not 0, and none returned the plane 0")
        } else {
            String::new()
        };
        self.check(TRUTH, None, explained || text.is_empty(), || text);
    }

    /// The same answers when all terms are asked at once.
    fn together(&mut self, w: &[f64]) -> Result<(), Fault> {
        let alone = self.ask_all(w)?;
        let terms: Vec<u32> = self.terms.iter().map(|term| *term as u32).collect();
        for (group, alone) in terms.chunks(ANNOUNCED).zip(alone.chunks(ANNOUNCED)) {
            self.problem.announce(group, w, &mut self.work)?;
            for (term, alone) in group.iter().zip(alone) {
                let (i, mut plane) = (*term as usize, Plane::default());
                self.problem.oracle(i, w, &mut self.work, &mut plane)?;
                let value = plane.value_and_size(w).0;
                let fine = (value - alone.value).abs() <= 2.0 * ROUNDING * alone.size;
                self.check(TOGETHER, Some(i), fine, || {
                    format!("{:e} alone, {value:e} among {} terms", alone.value, group.len())
                });
            }
        }
        Ok(())
    }

    /// Names the mistake behind each failed check.
    fn explain(&mut self) {
        let failed = |check: &str| self.trial.findings.iter().any(|finding| finding.check == check);
        let random = "the oracle is not deterministic: it uses random numbers (noise on scores, random ties) or what it \
                      remembers of earlier calls";
        let truth = "the truth's plane is not 0: subtract the truth's features, φ(x_i, y) − φ(x_i, y_i), and let the truth be \
                     among the labellings";
        let mistake = self.mistakes.iter().find(|mistake| mistake.terms == self.terms.len());
        // Where every answer is a maximum, only a sign is left to explain what is negative.
        let sign = |mistake: &&Mistake| failed(MAXIMAL) || mistake.features < 0.0 || mistake.offsets < 0.0;
        let negative = mistake.filter(sign).map(|mistake| mistake.text);
        let part = if mistake.is_some_and(|mistake| mistake.features > 1.0) { " in the loss" } else { "" };
        let maximal = mistake.map(|mistake| mistake.text).unwrap_or(if failed(SAME) {
            random
        } else {
            "the oracle does not maximise what it returns: scores and plane must use the same term i, the same features and \
             signs, and 1/n in both parts of the plane; an oracle that searches only some labellings is not exact and must \
             say so (`exact no`)"
        });
        let negative = if self.constant == self.terms.len() {
            "the answers do not depend on w: the oracle must compute the best labelling for each w, not return a stored one"
        } else {
            negative.unwrap_or(if failed(MAXIMAL) || failed(SAME) {
                maximal
            } else if self.trial.loss_at_zero < 0.0 {
                "φ∘ is negative at w = 0: the loss has the wrong sign, or the truth is not among the labellings"
            } else {
                truth
            })
        };
        let n = self.problem.terms();
        let scale = format!("1/n is missing: divide the loss and the features by n = {n}");
        let whole = if self.whole_at_zero { "; H_i(0) is a whole number for most terms" } else { "" };
        let large = self.trial.loss_at_zero > 1.0 + ROUNDING;
        let remarks = large.then(|| {
            format!(
                "Σ H_i(0) is at most 1 for losses up to 1; unless losses are this large, 1/n is missing{part}{whole}"
            )
        });
        let advice = [
            (SAME, random),
            (MAXIMAL, maximal),
            (CONVEX, maximal),
            (NOT_NEGATIVE, negative),
            (KEYS, "the key must name the labelling: solvers keep only one plane of each key"),
            (LOSS, "the loss is missing or has the wrong sign: w = 0 would be the solution"),
            (SCALE, &scale),
            (TRUTH, truth),
            (INDEX, "the oracle does not use its argument i, or all examples are the same"),
            (TOGETHER, if failed(SAME) { random } else { "an answer depends on the terms that are asked with it" }),
            (BOUNDS, "a bound must be at least H_i(w), in the units of the planes"),
        ];
        let named = advice.into_iter().filter(|(check, _)| failed(check));
        let named = named.map(|(check, text)| (check, text.to_owned())).collect();
        self.trial.advice = named;
        self.trial.remarks = remarks.into_iter().collect();
    }
}
