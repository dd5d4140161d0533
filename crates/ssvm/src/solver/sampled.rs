//! Terms drawn by their gaps or in order, steps by a cache or by the oracle: what the solvers of [`super::gap`] have in
//! common, and the two ways in which their blocks step.

use super::gaps::Gaps;
use super::order::Orders;
use super::passes::RESUM_EVERY;
use super::state::Kept;
use super::weights::Stop;
use super::{Iteration, Meter, Metered, Solution, Solver, State, Weighted};
use crate::problem::Problem;

/// When a cached plane is good enough.
pub struct Cache {
    /// Most planes per term.
    pub most: usize,
    /// F.
    pub share: f64,
    /// ν.
    pub nu: f64,
    /// Σ g_i at the last refresh.
    pub total: f64,
    /// Whether the planes of a refresh are cached.
    pub keep: bool,
}

/// Which term comes next, and what is known of its gap.
pub struct Plan {
    /// Whether terms are drawn by their gaps.
    pub by_gap: bool,
    /// Passes between refreshes.
    pub refresh: Option<u64>,
    /// The cache rule.
    pub cache: Option<Cache>,
    /// Estimates.
    pub gaps: Gaps,
    /// Orders of the passes that do not draw.
    pub orders: Orders,
    /// Passes so far.
    pub iteration: u64,
}

/// The blocks of one of the solvers: how a step is taken.
pub trait Blocks {
    /// How they keep φ.
    type State: State;
    /// φ.
    fn state(&self) -> &Self::State;
    /// φ, to sum it afresh.
    fn state_mut(&mut self) -> &mut Self::State;
    /// One oracle call and one step; the gap before it. None when the run must stop.
    fn exact(&mut self, i: usize, iteration: u64, meter: &mut Meter<'_>) -> Option<f64>;
    /// One oracle call without a step; the gap. None when the run must stop.
    fn look(&mut self, i: usize, iteration: u64, keep: bool, meter: &mut Meter<'_>) -> Option<f64>;
    /// A step towards the best cached plane if its gap is at least this; None when it is not, else whether to go on.
    fn cached(&mut self, i: usize, least: f64, iteration: u64, meter: &mut Meter<'_>) -> Option<bool>;
}

/// A solver that draws terms and takes steps on their blocks.
pub struct Sampled<B> {
    /// The terms.
    pub plan: Plan,
    /// The steps.
    pub blocks: B,
}

impl<B: Blocks> Sampled<B> {
    /// One oracle call per term: all gaps are exact.
    fn refresh(&mut self, meter: &mut Meter<'_>) -> bool {
        let Plan { gaps, orders, cache, iteration, .. } = &mut self.plan;
        let keep = cache.as_ref().is_some_and(|cache| cache.keep);
        // Not in the order of the pass, which may have some terms twice and others not.
        for i in 0..orders.list().len() {
            let Some(gap) = self.blocks.look(i, *iteration, keep, meter) else { return false };
            gaps.set(i, gap);
        }
        true
    }

    /// A step on term i, from the cache or from the oracle; false when the run must stop.
    fn visit(&mut self, i: usize, meter: &mut Meter<'_>) -> bool {
        let plan = &mut self.plan;
        if let Some(cache) = &plan.cache {
            let n = plan.orders.list().len() as f64;
            let least = (cache.share * plan.gaps.get(i)).max(cache.nu * cache.total / n);
            if least.is_finite()
                && let Some(go_on) = self.blocks.cached(i, least, plan.iteration, meter)
            {
                return go_on;
            }
        }
        let Some(gap) = self.blocks.exact(i, plan.iteration, meter) else { return false };
        plan.gaps.set(i, gap);
        true
    }
}

impl<B: Blocks> Solver for Sampled<B> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Iteration {
        self.plan.iteration += 1;
        self.plan.orders.draw();
        let first = self.plan.iteration == 1;
        let due = self.plan.refresh.is_some_and(|refresh| self.plan.iteration.is_multiple_of(refresh));
        if due && !first && !self.refresh(meter) {
            return Iteration::Interrupted;
        }
        self.plan.gaps.rebuild();
        // The first pass made all estimates: it is as good as a refresh.
        if (due || self.plan.iteration == 2)
            && let Some(cache) = &mut self.plan.cache
        {
            cache.total = self.plan.gaps.total();
        }
        for at in 0..self.plan.orders.list().len() {
            let by_gap = self.plan.by_gap && !first;
            let i = if by_gap { self.plan.gaps.draw() } else { self.plan.orders.list()[at] as usize };
            if !self.visit(i, meter) {
                return Iteration::Interrupted;
            }
        }
        if self.plan.iteration.is_multiple_of(RESUM_EVERY) {
            self.blocks.state_mut().resum();
        }
        Iteration::Complete
    }

    fn solution(&self) -> Solution {
        self.blocks.state().solution()
    }

    fn dual(&self) -> f64 {
        self.blocks.state().dual()
    }

    fn state(&self) -> Option<&dyn State> {
        Some(self.blocks.state())
    }
}

/// Frank–Wolfe steps on φ^i as one vector.
pub struct Mixes<'p, P: Problem> {
    kept: Kept<'p, P>,
    cache: usize,
}

impl<'p, P: Problem> Mixes<'p, P> {
    /// φ^i = 0 and empty caches of at most so many planes.
    pub fn new(problem: Metered<'p, P>, cache: usize) -> Self {
        Self { kept: Kept::new(problem), cache }
    }

    fn keep_hat(&mut self, i: usize, iteration: u64) {
        if self.cache > 0 {
            let Kept { now, sets, spare } = &mut self.kept;
            sets[i].insert(&now.hat, iteration, self.cache, spare);
        }
    }
}

impl<'p, P: Problem> Blocks for Mixes<'p, P> {
    type State = Kept<'p, P>;

    fn state(&self) -> &Self::State {
        &self.kept
    }

    fn state_mut(&mut self) -> &mut Self::State {
        &mut self.kept
    }

    fn exact(&mut self, i: usize, iteration: u64, meter: &mut Meter<'_>) -> Option<f64> {
        let Kept { now, sets, .. } = &mut self.kept;
        let gap = now.exact_gap_step(i, sets[i].planes(), meter, None)?;
        self.keep_hat(i, iteration);
        Some(gap)
    }

    fn look(&mut self, i: usize, iteration: u64, keep: bool, meter: &mut Meter<'_>) -> Option<f64> {
        let Kept { now, sets, .. } = &mut self.kept;
        let gap = now.exact_gap(i, sets[i].planes(), meter)?;
        if keep {
            self.keep_hat(i, iteration);
        }
        Some(gap)
    }

    fn cached(&mut self, i: usize, least: f64, iteration: u64, meter: &mut Meter<'_>) -> Option<bool> {
        let (set, now) = (&mut self.kept.sets[i], &mut self.kept.now);
        if set.is_empty() {
            return None;
        }
        now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
        let best = now.problem.highest(i, set.planes(), &now.w, &now.work);
        let direction = now.aim(i, set.plane(best));
        meter.work((set.len() as u64 + 1) * now.problem.product_ops(i));
        if direction.gain < least || direction.gain <= 0.0 {
            return None;
        }
        let go_on = meter.approximate_step(|| {
            now.go(i, set.plane(best), &direction, None);
            now.problem.product_ops(i)
        });
        set.activate(best, iteration);
        Some(go_on)
    }
}

/// Pair steps on φ^i as weights over planes.
pub struct Pairs<'p, P: Problem> {
    now: Weighted<'p, P>,
    cache: usize,
}

impl<'p, P: Problem> Pairs<'p, P> {
    /// φ^i = 0; at most so many products and planes without weight are kept.
    pub fn new(problem: Metered<'p, P>, products: usize, cache: usize) -> Self {
        Self { now: Weighted::new(problem, products), cache }
    }
}

/// One pair step a visit.
const ONE: Stop = Stop { steps: 1, share: 0.0 };

impl<'p, P: Problem> Blocks for Pairs<'p, P> {
    type State = Weighted<'p, P>;

    fn state(&self) -> &Self::State {
        &self.now
    }

    fn state_mut(&mut self) -> &mut Self::State {
        &mut self.now
    }

    fn exact(&mut self, i: usize, iteration: u64, meter: &mut Meter<'_>) -> Option<f64> {
        let visit = self.now.exact_visit(i, ONE, iteration, meter, None)?;
        self.now.evict(i, self.cache);
        Some(visit.gap)
    }

    fn look(&mut self, i: usize, iteration: u64, keep: bool, meter: &mut Meter<'_>) -> Option<f64> {
        if !self.now.call(i, meter) {
            return None;
        }
        let gap = self.now.hat_gap(i);
        let mut operations = self.now.sets[i].known() as u64 * self.now.problem.product_ops(i);
        if keep {
            operations += self.now.insert_hat(i, iteration).2;
            // The new plane has no value yet; among equals the oldest go.
            self.now.expire(i, iteration, u64::MAX, self.cache);
        }
        meter.work(operations);
        Some(gap)
    }

    fn cached(&mut self, i: usize, least: f64, iteration: u64, meter: &mut Meter<'_>) -> Option<bool> {
        let (set, values) = self.now.scored(i);
        let best = values.iter().copied().fold(0.0, f64::max);
        let gap = best - set.mix(values);
        meter.work(set.known() as u64 * self.now.problem.product_ops(i));
        if gap < least || gap <= 0.0 {
            return None;
        }
        Some(meter.approximate_step(|| self.now.step(i, ONE, iteration, None).operations))
    }
}
