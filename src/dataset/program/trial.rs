//! Checks of a program before a long run: findings with their terms and numbers, and the time of a call.
//!
//! Asked are some terms at 0, at points where w may come to be, and between them. H_i is a maximum of planes: it is not
//! negative, convex, and at no point below a plane that it returned at another.

use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::plane::Plane;
use super::pool::Pipe;
use super::problem::{ANNOUNCED, ProgramProblem, ROUNDING};
use crate::error::Result;
use ssvm::linalg::{add_scaled, norm2};
use ssvm::problem::{Fault, Problem};
use ssvm::stats::median;

const POINTS: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub term: usize,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Trial {
    pub checks: Vec<(&'static str, u64)>,
    pub findings: Vec<Finding>,
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

/// Checks the oracle on this number of terms. Fails when the program breaks the protocol.
pub fn trial(problem: &ProgramProblem, terms: usize, seed: u64) -> Result<Trial> {
    let mut random = Pcg64::seed_from_u64(seed);
    let n = problem.terms();
    let mut chosen: Vec<usize> = if terms >= n {
        (0..n).collect()
    } else {
        (0..terms.max(1)).map(|_| (random.next_u64() % n as u64) as usize).collect()
    };
    chosen.sort_unstable();
    chosen.dedup();
    let (work, times) = (problem.work(), Vec::new());
    let bench = Bench { problem, work, terms: chosen, random, times, trial: Trial::default() };
    Ok(bench.run().map_err(ssvm::Error::from)?)
}

struct Bench<'p> {
    problem: &'p ProgramProblem,
    work: <ProgramProblem as Problem>::Work,
    terms: Vec<usize>,
    random: Pcg64,
    /// Of each call, ns: inside the program, around it, and all of it.
    times: Vec<[f64; 3]>,
    trial: Trial,
}

impl Bench<'_> {
    fn check(&mut self, check: &'static str, term: usize, fine: bool, text: impl FnOnce() -> String) {
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

    /// Points on the way from 0 against the planes of the first answers, with noise.
    fn points(&mut self, first: &[Seen]) -> Vec<Vec<f64>> {
        let d = self.problem.dim();
        let mut way = vec![0.0; d];
        let scale = -(self.problem.terms() as f64) / first.len() as f64 / self.problem.lambda();
        for seen in first {
            seen.plane.add_to(scale, &mut way);
        }
        let length = norm2(&way).sqrt();
        let noise = 0.3 * if length > 0.0 { length } else { 1.0 } / (d as f64).sqrt();
        let mut signed = || (self.random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let mut points = Vec::new();
        for k in 1..=POINTS {
            let mut point: Vec<f64> = (0..d).map(|_| noise * signed()).collect();
            add_scaled(&mut point, 0.7f64.powi(3 * k as i32 - 2), &way);
            points.push(point);
        }
        points
    }

    fn run(mut self) -> Result<Trial, Fault> {
        let d = self.problem.dim();
        let origin = vec![0.0; d];
        let first = self.ask_all(&origin)?;
        let points = self.points(&first);
        let halfway: Vec<f64> = points[0].iter().zip(&points[1]).map(|(a, b)| 0.5 * (a + b)).collect();
        self.times.clear();
        for (i, at_origin) in self.terms.clone().into_iter().zip(first) {
            let mut seen = vec![at_origin];
            // Another w each time: the cost of the pipe is that of a step.
            for w in &points {
                seen.push(self.ask(i, w)?);
            }
            let middle = self.ask(i, &halfway)?;
            let again = self.ask(i, &points[0])?;
            self.judge(i, [&origin, &points[0], &points[1], &points[2]], &seen, &middle, &again);
        }
        self.together(&points[0])?;
        let Self { times, mut trial, .. } = self;
        let [spent, piped, total] = [0, 1, 2].map(|at| times.iter().map(|times| times[at]).collect::<Vec<_>>());
        trial.call_ns = (median(&spent), spent.iter().copied().fold(0.0, f64::max));
        (trial.pipe_ns, trial.total_ns) = (median(&piped), median(&total));
        trial.pipe = self.problem.pipe();
        Ok(trial)
    }

    fn judge(&mut self, i: usize, at: [&Vec<f64>; POINTS + 1], seen: &[Seen], middle: &Seen, again: &Seen) {
        let (before, after) = (&seen[1], again);
        let fine = (before.value - after.value).abs() <= ROUNDING * (before.size + after.size);
        self.check("the same answer to the same question", i, fine, || {
            format!("{:e}, then {:e} at the same w", before.value, after.value)
        });
        for (k, one) in seen.iter().enumerate() {
            self.check("H_i is not negative", i, one.value >= -ROUNDING * one.size, || {
                format!("H = {:e} at point {k}, the truth has 0", one.value)
            });
            if let Some(bound) = one.bound {
                self.check("bounds are not below H_i", i, bound >= one.value - ROUNDING * one.size, || {
                    format!("bound {bound:e}, plane {:e} at point {k}", one.value)
                });
            }
        }
        if !self.problem.exact() {
            return;
        }
        for (k, one) in seen.iter().enumerate() {
            for (l, other) in seen.iter().enumerate().filter(|(l, _)| *l != k) {
                let (value, size) = other.plane.value_and_size(at[k]);
                self.check("no plane is above H_i", i, value - one.value <= ROUNDING * (size + one.size), || {
                    format!("H = {:e} at point {k}, the plane of point {l} has {value:e} there", one.value)
                });
            }
        }
        let mean = 0.5 * (seen[1].value + seen[2].value);
        let size = seen[1].size + seen[2].size + middle.size;
        self.check("H_i is convex", i, middle.value - mean <= ROUNDING * size, || {
            format!("{:e} and {:e}, but {:e} halfway", seen[1].value, seen[2].value, middle.value)
        });
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
                self.check("the same answers when asked together", i, fine, || {
                    format!("{:e} alone, {value:e} among {} terms", alone.value, group.len())
                });
            }
        }
        Ok(())
    }
}
