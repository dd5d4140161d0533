//! MP-BCFW, and BCFW as its case N = M = 0: an exact pass, then approximate passes over the working sets.

use super::average::Average;
use super::batch::{Batch, Batching, LANES, TAU, lanes_rule, tau_fits};
use super::order::ORDER;
use super::passes::{Body, M, PASSES, Pass, Passes, Schedule, T, by_slope, kept_planes, passes_rule};
use super::state::PlaneCache;
use super::working_set::WorkingSet;
use super::{Interrupt, Iterate, Meter, Metered, Refusal, Solver, SolverInfo, SolverRow};
use crate::clock::Operations;
use crate::linalg::prefetch;
use crate::problem::Problem;
use crate::settings::{Param, Params};

/// How many terms ahead of an approximate step to look up whether terms are settled.
const FAR: usize = 32;

// The parameters of MP-BCFW are named as in the paper.
const N: Param = Param::count("N", "1000", 0, "most planes kept per term");

fn multi_plane_rule(params: &Params, given: &dyn Fn(&str) -> bool) -> Result<(), Refusal> {
    passes_rule(params, given)?;
    lanes_rule(params)?;
    if params.count(N.key) == 0 && Schedule::of(params).most() > 0 {
        let message = "N = 0 leaves approximate passes nothing to choose from; set M = 0 as well";
        return Err(Refusal::new(N.key, message));
    }
    Ok(())
}

/// One of the solvers of the paper, as a row.
pub struct PaperRow {
    info: SolverInfo,
    /// Whether it keeps planes.
    multi: bool,
    averaged: bool,
}

const BCFW: SolverInfo = SolverInfo {
    name: "bcfw",
    about: "block-coordinate Frank–Wolfe: one exact step per term",
    params: &[ORDER, TAU, LANES],
    rule: |params, _| lanes_rule(params),
    fits: tau_fits,
    reads_clock: |_| false,
    in_paper: true,
    ..SolverInfo::PLAIN
};

const BCFW_AVG: SolverInfo =
    SolverInfo { name: "bcfw-avg", about: "BCFW, read out at the weighted average of its iterates", ..BCFW };

const MP_BCFW: SolverInfo = SolverInfo {
    name: "mp-bcfw",
    about: "multi-plane BCFW: an exact pass, then approximate passes over the working sets",
    params: &[T, N, M, ORDER, PASSES, TAU, LANES],
    rule: multi_plane_rule,
    planes: Some(|params| kept_planes(params.count(N.key), params)),
    partner: Some(BCFW.name),
    reads_clock: by_slope,
    pass_factor: 5.0,
    ..BCFW
};

const MP_BCFW_AVG: SolverInfo = SolverInfo {
    name: "mp-bcfw-avg",
    about: "MP-BCFW, read out at the best interpolation of its two averages",
    partner: Some(BCFW_AVG.name),
    ..MP_BCFW
};

pub const ROWS: [PaperRow; 4] = [
    PaperRow { info: BCFW, multi: false, averaged: false },
    PaperRow { info: BCFW_AVG, multi: false, averaged: true },
    PaperRow { info: MP_BCFW, multi: true, averaged: false },
    PaperRow { info: MP_BCFW_AVG, multi: true, averaged: true },
];

impl SolverRow for PaperRow {
    fn info(&self) -> SolverInfo {
        self.info.clone()
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let mut settings = if self.multi { MultiPlaneParams::of(params) } else { MultiPlaneParams::single(params) };
        settings.schedule.averaged = self.averaged;
        Box::new(MultiPlane::new(problem, &settings, seed))
    }
}

/// The settings of [`MultiPlane`].
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
    fn of(params: &Params) -> Self {
        let (t, n) = (params.count(T.key), params.count(N.key) as usize);
        Self { t, n, batching: Batching::of(params), schedule: Schedule::of(params) }
    }

    /// The settings of the single-plane solvers: N = M = 0.
    fn single(params: &Params) -> Self {
        Self { t: 0, n: 0, batching: Batching::of(params), schedule: Schedule::exact(params) }
    }
}

/// BCFW and MP-BCFW.
pub type MultiPlane<'p, P> = Passes<PlaneCache<'p, P>, PlaneSets<P>>;

impl<'p, P: Problem> MultiPlane<'p, P> {
    /// The solver at φ^i = 0 with empty working sets.
    pub fn new(problem: Metered<'p, P>, params: &MultiPlaneParams, seed: u64) -> Self {
        let n = problem.terms();
        let sets =
            PlaneSets { t: params.t, n: params.n, settled: vec![0; n], batch: Batch::new(problem, params.batching) };
        Self::over(PlaneCache::new(problem), sets, n, params.schedule.clone(), seed)
    }

    /// The working sets, for inspection.
    pub fn working_sets(&self) -> &[WorkingSet<P::Plane>] {
        &self.state.sets
    }

    /// The current iterate.
    pub fn iterate_now(&self) -> &Iterate<'p, P> {
        &self.state.now
    }
}

/// What BCFW and MP-BCFW do inside their passes.
pub struct PlaneSets<P: Problem> {
    t: u64,
    n: usize,
    /// Per term, the iteration of the last visit if W_i has one plane and φ^i is that plane, else 0. Approximate steps
    /// change nothing there until the oracle returns another plane.
    settled: Vec<u64>,
    batch: Batch<P>,
}

impl<P: Problem> PlaneSets<P> {
    /// An exact pass of batches: τ calls at one w, then τ steps, each at the w that the one before it left.
    fn exact_batches(
        &mut self,
        cache: &mut PlaneCache<'_, P>,
        mut pass: Pass<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Interrupt> {
        let PlaneCache { now, sets, spare } = cache;
        for terms in pass.order.chunks(self.batch.most()) {
            let allowed = meter.may_call_some(terms.len());
            self.batch.call(now.problem, meter, &now.w, &terms[..allowed], |i| sets[i].planes())?;
            for (at, i) in terms[..allowed].iter().map(|i| *i as usize).enumerate() {
                let hat = self.batch.hat(at);
                now.problem.load(i, &now.w, &now.blocks, std::iter::once(hat), &mut now.work);
                let (mut done, _) = now.step(i, hat, pass.average.as_deref_mut());
                // The products that the call left belong to another w.
                done.products += now.problem.product_ops(i);
                meter.exact_step(done);
                if self.n > 0 {
                    keep(&mut sets[i], &mut self.settled[i], hat, pass.iteration, self.n, spare);
                }
            }
            if allowed < terms.len() {
                return Err(Interrupt::Limit);
            }
        }
        Ok(())
    }

    /// Prefetches the memory of the next term and of the one after it.
    #[inline(always)]
    fn look_ahead(&self, cache: &mut PlaneCache<'_, P>, next: Option<&u32>, far: Option<&u32>) {
        let PlaneCache { now, sets, .. } = cache;
        if let Some(far) = far.map(|far| *far as usize) {
            now.problem.approach(far, &now.blocks);
            if self.n > 0 {
                prefetch(&sets[far..=far]);
                prefetch(&self.settled[far..=far]);
            }
        }
        if let Some(next) = next.map(|next| *next as usize) {
            now.problem.prefetch(next, &now.blocks, &mut now.work);
            if self.n > 0 {
                sets[next].prefetch();
            }
        }
    }

    /// Position of the first term from there on that is not settled, or the end of the range searched.
    #[inline(always)]
    fn unsettled(&self, order: &[u32], from: usize) -> usize {
        let end = order.len().min(from + FAR);
        (from..end).find(|at| self.settled[order[*at] as usize] == 0).unwrap_or(end)
    }

    /// One step towards the best plane of W_i.
    #[inline]
    fn approximate_step(
        &mut self,
        cache: &mut PlaneCache<'_, P>,
        i: usize,
        iteration: u64,
        average: Option<&mut Average>,
    ) -> Operations {
        let PlaneCache { now, sets, spare } = cache;
        let set = &mut sets[i];
        let count = set.len();
        now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
        let best = if count > 1 { now.problem.highest(i, set.planes(), &now.w, &now.work) } else { 0 };
        let (mut done, same) = now.step(i, set.plane(best), average);
        if same && count == 1 {
            self.settled[i] = iteration;
        }
        set.activate(best, iteration);
        set.expire(iteration, self.t, spare);
        done.scored = count as u64 * now.problem.product_ops(i);
        done
    }
}

/// Puts the oracle's plane into W_i. Another plane than its only one wakes a settled term.
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
        // The skipped visits made its plane active.
        set.activate(0, *settled);
    }
    let new = set.insert(hat, iteration, most, spare);
    if *settled > 0 {
        *settled = if new { 0 } else { iteration };
    }
}

impl<'p, P: Problem> Body<PlaneCache<'p, P>> for PlaneSets<P> {
    fn exact_pass(
        &mut self,
        cache: &mut PlaneCache<'p, P>,
        mut pass: Pass<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Interrupt> {
        if self.batch.most() > 0 {
            return self.exact_batches(cache, pass, meter);
        }
        for at in 0..pass.order.len() {
            let i = pass.order[at] as usize;
            self.look_ahead(cache, pass.order.get(at + 1), pass.order.get(at + 2));
            let PlaneCache { now, sets, spare } = cache;
            now.exact_step_among(i, sets[i].planes(), meter, pass.average.as_deref_mut())?;
            if self.n > 0 {
                keep(&mut sets[i], &mut self.settled[i], &now.hat, pass.iteration, self.n, spare);
            }
        }
        Ok(())
    }

    fn approximate_pass(
        &mut self,
        cache: &mut PlaneCache<'p, P>,
        mut pass: Pass<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Interrupt> {
        let order = pass.order;
        let mut next = 0;
        for at in 0..order.len() {
            let i = order[at] as usize;
            if let Some(far) = order.get(at + FAR).map(|far| *far as usize) {
                prefetch(&self.settled[far..=far]);
            }
            let average = pass.average.as_deref_mut();
            if self.settled[i] > 0 {
                self.settled[i] = pass.iteration;
                if let Some(average) = average {
                    average.count(0.0);
                }
                meter.skipped_step()?;
                continue;
            }
            next = next.max(at + 1);
            let far = self.unsettled(order, next + 1);
            self.look_ahead(cache, order.get(next), order.get(far));
            next = far;
            if cache.sets[i].is_empty() {
                continue;
            }
            meter.approximate_step(|| self.approximate_step(cache, i, pass.iteration, average))?;
        }
        Ok(())
    }
}
