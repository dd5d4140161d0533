//! MP-BCFW, and with N = M = 0 BCFW: exact pass, then approximate passes over the working sets.

use super::average::Average;
use super::batch::{Batch, Batching, LANES, TAU, lanes_rule, tau_fits};
use super::order::ORDER;
use super::passes::{Body, M, PASSES, Pass, Passes, Schedule, T, by_slope, passes_rule};
use super::state::Kept;
use super::working_set::WorkingSet;
use super::{Iterate, Meter, Metered, Refusal, Solver, SolverInfo, SolverRow};
use crate::linalg::prefetch;
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params};

/// So many terms ahead of an approximate step it is known which of them are settled.
const FAR: usize = 32;

/// The parameters of MP-BCFW, named as in the paper.
const MULTI_PLANE: &[Param] = &[
    T,
    Param { key: "N", about: "most planes kept per term", default: "1000", domain: Domain::Count(0, u32::MAX as u64) },
    M,
    ORDER,
    PASSES,
    TAU,
    LANES,
];

fn multi_plane_rule(params: &Params, given: &dyn Fn(&str) -> bool) -> Result<(), Refusal> {
    passes_rule(params, given)?;
    lanes_rule(params)?;
    if params.count("N") == 0 && Schedule::of(params).most() > 0 {
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
            params: &[ORDER, TAU, LANES],
            rule: |params, _| lanes_rule(params),
            fits: tau_fits,
            reads_clock: |_| false,
            in_paper: true,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(MultiPlane::new(problem, &MultiPlaneParams::single(params), seed))
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
        Box::new(MultiPlane::new(problem, &MultiPlaneParams::single(params).averaged(), seed))
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
            fits: tau_fits,
            keeps_planes: true,
            partner: Some("bcfw"),
            reads_clock: by_slope,
            in_paper: true,
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
        Box::new(MultiPlane::new(problem, &MultiPlaneParams::of(params).averaged(), seed))
    }
}

/// What [`MultiPlane`] can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiPlaneParams {
    /// T.
    pub t: u64,
    /// N.
    pub n: usize,
    /// τ.
    pub batching: Batching,
    /// Its passes.
    pub schedule: Schedule,
}

impl MultiPlaneParams {
    /// Of the multi-plane solvers.
    pub fn of(params: &Params) -> Self {
        let (t, n) = (params.count("T"), params.count("N") as usize);
        Self { t, n, batching: Batching::of(params), schedule: Schedule::of(params) }
    }

    /// Of the single-plane solvers: N = M = 0.
    pub fn single(params: &Params) -> Self {
        Self { t: 0, n: 0, batching: Batching::of(params), schedule: Schedule::exact(params) }
    }

    /// Read out at the averages.
    pub fn averaged(mut self) -> Self {
        self.schedule.averaged = true;
        self
    }
}

/// BCFW and MP-BCFW.
pub type MultiPlane<'p, P> = Passes<PlaneSets<'p, P>>;

impl<'p, P: Problem> MultiPlane<'p, P> {
    /// The solver at φ^i = 0 with empty working sets.
    pub fn new(problem: Metered<'p, P>, params: &MultiPlaneParams, seed: u64) -> Self {
        Self::over(PlaneSets::new(problem, params), problem.terms(), params.schedule.clone(), seed)
    }

    /// The working sets, for inspection.
    pub fn working_sets(&self) -> &[WorkingSet<P::Plane>] {
        &self.body.kept.sets
    }

    /// The current iterate.
    pub fn iterate_now(&self) -> &Iterate<'p, P> {
        &self.body.kept.now
    }
}

/// State of BCFW and MP-BCFW inside their passes: the iterate, and the W_i.
pub struct PlaneSets<'p, P: Problem> {
    kept: Kept<'p, P>,
    t: u64,
    n: usize,
    /// Where W_i has one plane and φ^i is that plane, the iteration of the last visit, else 0: approximate steps change
    /// nothing there until the oracle returns another plane.
    settled: Vec<u64>,
    batch: Batch<P>,
}

impl<'p, P: Problem> PlaneSets<'p, P> {
    fn new(problem: Metered<'p, P>, params: &MultiPlaneParams) -> Self {
        Self {
            kept: Kept::new(problem),
            t: params.t,
            n: params.n,
            settled: vec![0; problem.terms()],
            batch: Batch::new(problem, params.batching),
        }
    }

    /// An exact pass of batches: τ calls at one w, then τ steps, each at the w that the one before it left.
    fn exact_batches(&mut self, mut pass: Pass<'_>, meter: &mut Meter<'_>) -> bool {
        for terms in pass.order.chunks(self.batch.most()) {
            let allowed = meter.may_call_some(terms.len());
            let (now, sets) = (&mut self.kept.now, &mut self.kept.sets);
            self.batch.call(now.problem, meter, &now.w, &terms[..allowed], |i| sets[i].planes());
            for (at, i) in terms[..allowed].iter().map(|i| *i as usize).enumerate() {
                let hat = self.batch.hat(at);
                now.late_step(i, hat, pass.average.as_deref_mut());
                if self.n > 0 {
                    keep(&mut sets[i], &mut self.settled[i], hat, pass.iteration, self.n, &mut self.kept.spare);
                }
            }
            if allowed < terms.len() {
                return false;
            }
        }
        true
    }

    /// Asks for the memory of the term that is worked on next and of the one after it.
    #[inline(always)]
    fn look_ahead(&mut self, next: Option<&u32>, far: Option<&u32>) {
        let (now, kept) = (&mut self.kept.now, self.n > 0);
        if let Some(far) = far.map(|far| *far as usize) {
            now.problem.approach(far, &now.blocks);
            if kept {
                prefetch(&self.kept.sets[far..=far]);
                prefetch(&self.settled[far..=far]);
            }
        }
        if let Some(next) = next.map(|next| *next as usize) {
            now.problem.prefetch(next, &now.blocks, &mut now.work);
            if kept {
                self.kept.sets[next].prefetch();
            }
        }
    }

    /// Where the first term from there on is that is not settled, or where the look ends.
    #[inline(always)]
    fn unsettled(&self, order: &[u32], from: usize) -> usize {
        let end = order.len().min(from + FAR);
        (from..end).find(|at| self.settled[order[*at] as usize] == 0).unwrap_or(end)
    }

    /// One step towards the best plane of W_i; returns |W_i| as it was.
    #[inline]
    fn approximate_step(&mut self, i: usize, iteration: u64, average: Option<&mut Average>) -> usize {
        let set = &self.kept.sets[i];
        let count = set.len();
        let now = &mut self.kept.now;
        now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
        let best = if count > 1 { now.problem.highest(i, set.planes(), &now.w, &now.work) } else { 0 };
        if now.step(i, set.plane(best), average) && count == 1 {
            self.settled[i] = iteration;
        }
        self.kept.sets[i].activate(best, iteration);
        self.kept.sets[i].expire(iteration, self.t, &mut self.kept.spare);
        count
    }
}

/// Puts the oracle's plane into W_i, which wakes a settled term when it is another.
#[inline(always)]
fn keep<P: Clone + PartialEq + Default>(
    set: &mut WorkingSet<P>,
    settled: &mut u64,
    hat: &P,
    iteration: u64,
    most: usize,
    spare: &mut Vec<P>,
) {
    if *settled > 0 {
        // The visits that were skipped made its plane active.
        set.activate(0, *settled);
    }
    let new = set.insert(hat, iteration, most, spare);
    if *settled > 0 {
        *settled = if new { 0 } else { iteration };
    }
}

impl<'p, P: Problem> Body for PlaneSets<'p, P> {
    type State = Kept<'p, P>;

    fn state(&self) -> &Self::State {
        &self.kept
    }

    fn state_mut(&mut self) -> &mut Self::State {
        &mut self.kept
    }

    fn exact_pass(&mut self, mut pass: Pass<'_>, meter: &mut Meter<'_>) -> bool {
        if self.batch.most() > 0 {
            return self.exact_batches(pass, meter);
        }
        let n = pass.order.len();
        for at in 0..n {
            let i = pass.order[at] as usize;
            self.look_ahead(pass.order.get(at + 1), pass.order.get(at + 2));
            if !self.kept.now.exact_step_among(i, self.kept.sets[i].planes(), meter, pass.average.as_deref_mut()) {
                return false;
            }
            if self.n > 0 {
                let (set, settled) = (&mut self.kept.sets[i], &mut self.settled[i]);
                keep(set, settled, &self.kept.now.hat, pass.iteration, self.n, &mut self.kept.spare);
            }
        }
        true
    }

    fn approximate_pass(&mut self, mut pass: Pass<'_>, meter: &mut Meter<'_>) -> bool {
        let order = pass.order;
        let mut next = 0;
        for at in 0..order.len() {
            let i = order[at] as usize;
            if let Some(far) = order.get(at + FAR).map(|far| *far as usize) {
                prefetch(&self.settled[far..=far]);
            }
            let ops = self.kept.now.problem.product_ops(i);
            let average = pass.average.as_deref_mut();
            if self.settled[i] > 0 {
                self.settled[i] = pass.iteration;
                if let Some(average) = average {
                    average.count(0.0);
                }
                if !meter.skipped_step(3 * ops) {
                    return false;
                }
                continue;
            }
            next = next.max(at + 1);
            let far = self.unsettled(order, next + 1);
            self.look_ahead(order.get(next), order.get(far));
            next = far;
            if self.kept.sets[i].is_empty() {
                continue;
            }
            let step = || {
                let planes = self.approximate_step(i, pass.iteration, average);
                (planes as u64 + 2) * ops
            };
            if !meter.approximate_step(step) {
                return false;
            }
        }
        true
    }
}
