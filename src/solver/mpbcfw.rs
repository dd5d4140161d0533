//! MP-BCFW, and with N = M = 0 BCFW: exact pass, then approximate passes over the working sets.

use super::average::{Average, Solution};
use super::order::{ORDER, Order, Orders};
use super::slope::{Moment, another_pass};
use super::working_set::WorkingSet;
use super::{Iterate, Iteration, Meter, Metered, Refusal, Solver, SolverInfo, SolverRow};
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params, Value};

/// φ is summed afresh from the φ^i after this many iterations, against drift.
const RESUM_EVERY: u64 = 10;

/// The parameters of MP-BCFW, named as in the paper.
const MULTI_PLANE: &[Param] = &[
    Param {
        key: "T",
        about: "planes inactive for more than T iterations leave the working set",
        default: "10",
        domain: Domain::Count(0, u64::MAX),
    },
    Param { key: "N", about: "most planes kept per term", default: "1000", domain: Domain::Count(0, u32::MAX as u64) },
    Param {
        key: "M",
        about: "most approximate passes per iteration when the slope rule decides",
        default: "1000",
        domain: Domain::Count(0, u32::MAX as u64),
    },
    ORDER,
    Param {
        key: "passes",
        about: "approximate passes per iteration: auto (slope rule) or exactly so many",
        default: "auto",
        domain: Domain::CountOr(0, u32::MAX as u64, &["auto"]),
    },
];

fn multi_plane_rule(params: &Params, given: &dyn Fn(&str) -> bool) -> Result<(), Refusal> {
    let parsed = MultiPlaneParams::of(params);
    if parsed.fixed_passes.is_some() && given("M") {
        let message = "M limits passes = \"auto\"; with a fixed number of passes leave it out";
        return Err(Refusal::new("M", message));
    }
    if parsed.n == 0 && parsed.fixed_passes.unwrap_or(parsed.m) > 0 {
        let message = "N = 0 leaves approximate passes nothing to choose from; set M = 0 as well";
        return Err(Refusal::new("N", message));
    }
    Ok(())
}

/// The row of `bcfw`.
pub struct Bcfw;

impl SolverRow for Bcfw {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "bcfw",
            label: "BCFW",
            about: "block-coordinate Frank–Wolfe: one exact step per term",
            color: [0x00, 0x72, 0xB2],
            dash: &[5.0, 2.0],
            params: &[ORDER],
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(MultiPlane::new(problem, &MultiPlaneParams::single(params, false), seed))
    }
}

/// The row of `bcfw-avg`.
pub struct BcfwAvg;

impl SolverRow for BcfwAvg {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "bcfw-avg",
            label: "BCFW-avg",
            about: "BCFW, read out at the weighted average of its iterates",
            color: [0x56, 0xB4, 0xE9],
            dash: &[2.0, 1.4],
            ..Bcfw.info()
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(MultiPlane::new(problem, &MultiPlaneParams::single(params, true), seed))
    }
}

/// The row of `mp-bcfw`.
pub struct MpBcfw;

impl SolverRow for MpBcfw {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "mp-bcfw",
            label: "MP-BCFW",
            about: "multi-plane BCFW: an exact pass, then approximate passes over the working sets",
            color: [0xD5, 0x5E, 0x00],
            dash: &[],
            params: MULTI_PLANE,
            rule: multi_plane_rule,
            keeps_planes: true,
            partner: Some("bcfw"),
            pass_factor: 5.0,
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(MultiPlane::new(problem, &MultiPlaneParams::of(params), seed))
    }
}

/// The row of `mp-bcfw-avg`.
pub struct MpBcfwAvg;

impl SolverRow for MpBcfwAvg {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "mp-bcfw-avg",
            label: "MP-BCFW-avg",
            about: "MP-BCFW, read out at the best interpolation of its two averages",
            color: [0xE6, 0x9F, 0x00],
            dash: &[6.0, 1.6, 1.2, 1.6],
            partner: Some("bcfw-avg"),
            ..MpBcfw.info()
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let params = MultiPlaneParams { averaged: true, ..MultiPlaneParams::of(params) };
        Box::new(MultiPlane::new(problem, &params, seed))
    }
}

/// What [`MultiPlane`] can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiPlaneParams {
    /// T.
    pub t: u64,
    /// N.
    pub n: usize,
    /// M.
    pub m: u32,
    /// Order of the terms.
    pub order: Order,
    /// Exactly so many approximate passes; the slope rule when absent.
    pub fixed_passes: Option<u32>,
    /// Whether the solution is read from the averages.
    pub averaged: bool,
}

impl MultiPlaneParams {
    /// Of the multi-plane solvers.
    pub fn of(params: &Params) -> Self {
        Self {
            t: params.count("T"),
            n: params.count("N") as usize,
            m: params.count("M") as u32,
            order: Order::of(params),
            fixed_passes: match params.get("passes") {
                Some(Value::Count(count)) => Some(*count as u32),
                _ => None,
            },
            averaged: false,
        }
    }

    /// Of the single-plane solvers: N = M = 0.
    pub fn single(params: &Params, averaged: bool) -> Self {
        Self { t: 0, n: 0, m: 0, order: Order::of(params), fixed_passes: None, averaged }
    }
}

/// Which average follows the steps of a pass.
#[derive(Clone, Copy)]
enum Pass {
    Exact = 0,
    Approximate = 1,
}

/// State of BCFW and MP-BCFW.
pub struct MultiPlane<'p, P: Problem> {
    now: Iterate<'p, P>,
    params: MultiPlaneParams,
    sets: Vec<WorkingSet<P::Plane>>,
    spare: Vec<P::Plane>,
    orders: Orders,
    iteration: u64,
    /// φ̄ over exact steps and φ̿ over approximate steps.
    averages: Option<[Average; 2]>,
    before: (Vec<f64>, f64),
    moments: Vec<Moment>,
}

impl<'p, P: Problem> MultiPlane<'p, P> {
    /// The solver at φ^i = 0 with empty working sets.
    pub fn new(problem: Metered<'p, P>, params: &MultiPlaneParams, seed: u64) -> Self {
        let dim = problem.dim();
        Self {
            now: Iterate::new(problem),
            sets: (0..problem.terms()).map(|_| WorkingSet::default()).collect(),
            spare: Vec::new(),
            orders: Orders::new(params.order, problem.terms(), seed),
            iteration: 0,
            averages: params.averaged.then(|| [Average::new(dim), Average::new(dim)]),
            before: (if params.averaged { vec![0.0; dim] } else { Vec::new() }, 0.0),
            moments: Vec::with_capacity(64),
            params: params.clone(),
        }
    }

    /// The working sets, for inspection.
    pub fn working_sets(&self) -> &[WorkingSet<P::Plane>] {
        &self.sets
    }

    /// The current iterate.
    pub fn iterate_now(&self) -> &Iterate<'p, P> {
        &self.now
    }

    fn moment(&self, meter: &Meter<'_>) -> Moment {
        Moment { time: meter.now_ns(), dual: self.dual() }
    }

    fn exact_pass(&mut self, meter: &mut Meter<'_>) -> bool {
        let n = self.orders.list().len();
        for at in 0..n {
            let i = self.orders.list()[at] as usize;
            if at + 1 < n {
                self.now.problem.prefetch(self.orders.list()[at + 1] as usize, &self.now.blocks);
            }
            let average = self.averages.as_mut().map(|averages| &mut averages[Pass::Exact as usize]);
            if !self.now.exact_step_among(i, self.sets[i].planes(), meter, average) {
                return false;
            }
            if self.params.n > 0 {
                self.sets[i].insert(&self.now.hat, self.iteration, self.params.n, &mut self.spare);
            }
        }
        true
    }

    fn approximate_pass(&mut self, meter: &mut Meter<'_>) -> bool {
        let n = self.orders.list().len();
        for at in 0..n {
            let i = self.orders.list()[at] as usize;
            if at + 1 < n {
                self.now.problem.prefetch(self.orders.list()[at + 1] as usize, &self.now.blocks);
            }
            if self.sets[i].is_empty() {
                continue;
            }
            let ops = self.now.problem.product_ops(i);
            if !meter.approximate_step(ops, || self.approximate_step(i)) {
                return false;
            }
        }
        true
    }

    /// One step towards the best plane of W_i; returns |W_i| as it was.
    #[inline]
    fn approximate_step(&mut self, i: usize) -> usize {
        let set = &self.sets[i];
        let count = set.len();
        let now = &mut self.now;
        now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
        let (mut best, mut best_value) = (0, f64::NEG_INFINITY);
        if count > 1 {
            for (at, plane) in set.planes().enumerate() {
                let value = now.problem.value(i, plane, &now.w, &now.work);
                // Not less: among equals the plane added last wins.
                if value >= best_value {
                    (best, best_value) = (at, value);
                }
            }
        }
        let average = self.averages.as_mut().map(|averages| &mut averages[Pass::Approximate as usize]);
        now.step(i, set.plane(best), average);
        self.sets[i].activate(best, self.iteration);
        self.sets[i].expire(self.iteration, self.params.t, &mut self.spare);
        count
    }

    /// Lets the average that did not count the steps since the last call take them in.
    fn share_steps(&mut self, counted: Pass) {
        if let Some(averages) = &mut self.averages {
            let now = &self.now;
            averages[1 - counted as usize].shift(&now.w, &self.before.0, now.offset - self.before.1);
            self.before.0.copy_from_slice(&now.w);
            self.before.1 = now.offset;
        }
    }

    fn approximate_passes(&mut self, meter: &mut Meter<'_>) -> bool {
        for _ in 0..self.params.fixed_passes.unwrap_or(self.params.m) {
            meter.begin_approx_pass();
            let complete = self.approximate_pass(meter);
            meter.end_approx_pass(complete);
            let now = self.moment(meter);
            self.moments.push(now);
            if !complete {
                return false;
            }
            let by_slope = self.params.fixed_passes.is_none();
            if by_slope && !another_pass(self.moments[0], self.moments[self.moments.len() - 2], now) {
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
        self.share_steps(Pass::Exact);
        self.moments.push(self.moment(meter));
        if !complete {
            return Iteration::Interrupted;
        }
        let complete = self.params.n == 0 || self.approximate_passes(meter);
        self.share_steps(Pass::Approximate);
        if self.iteration.is_multiple_of(RESUM_EVERY) {
            self.now.resum();
        }
        if complete { Iteration::Complete } else { Iteration::Shortened }
    }

    fn solution(&self) -> Solution {
        let Some([exact, approximate]) = &self.averages else { return self.now.solution() };
        let Iterate { w, offset, problem, .. } = &self.now;
        match (exact.read(w, *offset), approximate.read(w, *offset)) {
            (Some(exact), Some(approximate)) => exact.best_between(&approximate, problem.lambda()),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.now.solution(),
        }
    }

    fn dual(&self) -> f64 {
        self.now.dual()
    }

    fn planes(&self) -> (f64, u64) {
        let total: usize = self.sets.iter().map(WorkingSet::len).sum();
        let most = self.sets.iter().map(WorkingSet::len).max().unwrap_or(0);
        (total as f64 / self.sets.len().max(1) as f64, most as u64)
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        let (problem, blocks) = (self.now.problem, &self.now.blocks);
        let mut work = problem.work();
        let best = |(i, set): (usize, &WorkingSet<P::Plane>)| {
            problem.load(i, w, blocks, set.planes(), &mut work);
            set.planes().map(|plane| problem.value(i, plane, w, &work)).fold(f64::NEG_INFINITY, f64::max)
        };
        self.sets.iter().enumerate().map(best).collect()
    }

    fn moments(&self) -> &[Moment] {
        &self.moments
    }
}
