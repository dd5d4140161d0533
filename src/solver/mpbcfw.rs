//! MP-BCFW, and with N = M = 0 BCFW: exact pass, then approximate passes over the working sets.

use super::average::{Average, Solution};
use super::order::Orders;
use super::slope::{Moment, another_pass};
use super::working_set::WorkingSet;
use super::{Iteration, Solver, step};
use crate::clock::Meter;
use crate::config::{Passes, SolverSpec};
use crate::linalg::norm2;
use crate::problem::{Problem, Sink};

/// φ is summed afresh from the φ^i after this many iterations, against drift.
const RESUM_EVERY: u64 = 10;

/// Which average follows the steps of a pass.
#[derive(Clone, Copy)]
enum Kind {
    Exact = 0,
    Approximate = 1,
}

/// State of BCFW and MP-BCFW.
pub struct MultiPlane<'p, P: Problem> {
    problem: &'p P,
    spec: SolverSpec,
    /// N, M: zero for the single-plane solvers.
    most_planes: usize,
    most_passes: u32,
    w: Vec<f64>,
    offset: f64,
    blocks: P::Blocks,
    work: P::Work,
    sets: Vec<WorkingSet<P::Plane>>,
    spare: Vec<P::Plane>,
    hat: P::Plane,
    orders: Orders,
    iteration: u64,
    /// φ̄ over exact steps and φ̿ over approximate steps.
    averages: Option<[Average; 2]>,
    before: (Vec<f64>, f64),
    moments: Vec<Moment>,
}

impl<'p, P: Problem> MultiPlane<'p, P> {
    /// The solver at φ^i = 0 with empty working sets.
    pub fn new(problem: &'p P, spec: &SolverSpec, seed: u64) -> Self {
        let multi = spec.kind.multi_plane();
        let dim = problem.dim();
        Self {
            problem,
            most_planes: if multi { spec.n } else { 0 },
            most_passes: if multi { spec.m } else { 0 },
            w: vec![0.0; dim],
            offset: 0.0,
            blocks: problem.blocks(),
            work: problem.work(),
            sets: (0..problem.terms()).map(|_| WorkingSet::default()).collect(),
            spare: Vec::new(),
            hat: P::Plane::default(),
            orders: Orders::new(spec.order, problem.terms(), seed),
            iteration: 0,
            averages: spec.kind.averaged().then(|| [Average::new(dim), Average::new(dim)]),
            before: (if spec.kind.averaged() { vec![0.0; dim] } else { Vec::new() }, 0.0),
            moments: Vec::with_capacity(64),
            spec: spec.clone(),
        }
    }

    /// The working sets, for inspection.
    pub fn working_sets(&self) -> &[WorkingSet<P::Plane>] {
        &self.sets
    }

    /// φ∘ and w summed from the φ^i: what the iterate should be.
    pub fn resummed(&self) -> Solution {
        let mut solution = Solution { w: vec![0.0; self.w.len()], offset: 0.0 };
        solution.offset = self.sum_blocks(&mut solution.w);
        solution
    }

    /// The current iterate.
    pub fn iterate_vector(&self) -> Solution {
        Solution { w: self.w.clone(), offset: self.offset }
    }

    fn sum_blocks(&self, w: &mut [f64]) -> f64 {
        w.fill(0.0);
        let scale = -1.0 / self.problem.lambda();
        (0..self.problem.terms()).map(|i| self.problem.add_block(i, &self.blocks, scale, w)).sum()
    }

    fn moment(&self, meter: &Meter<'_>) -> Moment {
        Moment { time: meter.now_ns(), dual: self.dual() }
    }

    fn exact_pass(&mut self, meter: &mut Meter<'_>) -> bool {
        let n = self.orders.list().len();
        for at in 0..n {
            let i = self.orders.list()[at] as usize;
            if at + 1 < n {
                self.problem.prefetch(self.orders.list()[at + 1] as usize, &self.blocks);
            }
            let began = meter.tick();
            let ops = self.problem.oracle(i, &self.w, &mut self.work, &mut self.hat);
            let ended = meter.tick();
            self.step(i, None, Kind::Exact);
            if self.most_planes > 0 {
                self.sets[i].insert(&self.hat, self.iteration, self.most_planes, &mut self.spare);
            }
            if meter.exact_step(began, ended, ops, self.problem.product_ops(i)) {
                return false;
            }
        }
        true
    }

    fn approximate_pass(&mut self, meter: &mut Meter<'_>) -> bool {
        let n = self.orders.list().len();
        for at in 0..n {
            let i = self.orders.list()[at] as usize;
            if at + 1 < n {
                self.problem.prefetch(self.orders.list()[at + 1] as usize, &self.blocks);
            }
            if self.sets[i].is_empty() {
                continue;
            }
            let sampled = meter.samples_next();
            let began = if sampled { meter.tick() } else { 0 };
            let planes = self.approximate_step(i);
            meter.approx_step(planes, self.problem.product_ops(i));
            if sampled {
                let ended = meter.tick();
                if meter.approx_sample(began, ended) {
                    return false;
                }
            }
        }
        true
    }

    /// One step towards the best plane of W_i; returns |W_i| as it was.
    #[inline]
    fn approximate_step(&mut self, i: usize) -> usize {
        let set = &self.sets[i];
        let count = set.len();
        self.problem.load(i, &self.w, &self.blocks, set.planes(), &mut self.work);
        let (mut best, mut best_value) = (0, f64::NEG_INFINITY);
        if count > 1 {
            for (at, plane) in set.planes().enumerate() {
                let value = self.problem.value(i, plane, &self.w, &self.work);
                // Not less: among equals the plane added last wins.
                if value >= best_value {
                    (best, best_value) = (at, value);
                }
            }
        }
        self.step(i, Some(best), Kind::Approximate);
        self.sets[i].activate(best, self.iteration);
        self.sets[i].expire(self.iteration, self.spec.t, &mut self.spare);
        count
    }

    /// The step on term i towards the oracle's plane, or towards plane `kept` of W_i.
    #[inline]
    fn step(&mut self, i: usize, kept: Option<usize>, kind: Kind) {
        let plane = kept.map_or(&self.hat, |at| self.sets[i].plane(at));
        let direction = self.problem.direction(i, &self.blocks, plane, &self.w, &mut self.work);
        let lambda = self.problem.lambda();
        let gamma = step::gamma(&direction, lambda);
        let mut average = self.averages.as_mut().map(|averages| &mut averages[kind as usize]);
        if gamma > 0.0 {
            let scale = -1.0 / lambda;
            let mut sink = Sink {
                w: &mut self.w,
                scale,
                average: average.as_mut().map(|average| {
                    let weight = average.weight();
                    (average.sum_mut(), scale * weight)
                }),
            };
            self.problem.advance(i, &mut self.blocks, plane, gamma, &mut self.work, &mut sink);
            self.offset += gamma * direction.offset;
        }
        if let Some(average) = average {
            average.count(gamma * direction.offset);
        }
    }

    /// Lets the average that did not count the steps since the last call take them in.
    fn settle(&mut self, counted: Kind) {
        if let Some(averages) = &mut self.averages {
            averages[1 - counted as usize].shift(&self.w, &self.before.0, self.offset - self.before.1);
            self.before.0.copy_from_slice(&self.w);
            self.before.1 = self.offset;
        }
    }

    fn approximate_passes(&mut self, meter: &mut Meter<'_>) -> bool {
        let (fixed, most) = match self.spec.passes {
            Passes::Auto => (false, self.most_passes),
            Passes::Fixed(k) => (true, if self.most_passes == 0 { 0 } else { k }),
        };
        for _ in 0..most {
            meter.begin_approx_pass();
            let complete = self.approximate_pass(meter);
            meter.end_approx_pass(complete);
            let now = self.moment(meter);
            self.moments.push(now);
            if !complete {
                return false;
            }
            if !fixed && !another_pass(self.moments[0], self.moments[self.moments.len() - 2], now) {
                break;
            }
        }
        true
    }
}

impl<P: Problem> Solver for MultiPlane<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Iteration {
        self.iteration += 1;
        self.orders.draw();
        self.moments.clear();
        self.moments.push(self.moment(meter));
        let complete = self.exact_pass(meter);
        self.settle(Kind::Exact);
        self.moments.push(self.moment(meter));
        if !complete {
            return Iteration::Interrupted;
        }
        let complete = self.most_planes == 0 || self.approximate_passes(meter);
        self.settle(Kind::Approximate);
        if self.iteration.is_multiple_of(RESUM_EVERY) {
            let mut w = std::mem::take(&mut self.w);
            self.offset = self.sum_blocks(&mut w);
            self.w = w;
        }
        if complete { Iteration::Complete } else { Iteration::Shortened }
    }

    fn solution(&self) -> Solution {
        let current = || Solution { w: self.w.clone(), offset: self.offset };
        let Some([exact, approximate]) = &self.averages else { return current() };
        match (exact.read(&self.w, self.offset), approximate.read(&self.w, self.offset)) {
            (Some(exact), Some(approximate)) => exact.best_between(&approximate, self.problem.lambda()),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => current(),
        }
    }

    fn dual(&self) -> f64 {
        self.offset - 0.5 * self.problem.lambda() * norm2(&self.w)
    }

    fn planes(&self) -> (f64, u64) {
        let total: usize = self.sets.iter().map(WorkingSet::len).sum();
        let most = self.sets.iter().map(WorkingSet::len).max().unwrap_or(0);
        (total as f64 / self.sets.len().max(1) as f64, most as u64)
    }

    fn moments(&self) -> &[Moment] {
        &self.moments
    }
}
