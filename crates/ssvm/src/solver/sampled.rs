//! Solvers that draw terms by their gaps or in order, and step by a cache or by the oracle: the common part of the
//! solvers of [`super::gap`], and the two ways in which their blocks step.

use super::gaps::Gaps;
use super::order::Orders;
use super::passes::RESUM_EVERY;
use super::state::PlaneCache;
use super::weights::PairLimit;
use super::{Interrupt, Iteration, Meter, Solution, Solver, State, Weighted};
use crate::clock::Charge;
use crate::problem::Problem;

/// One pair step per visit.
const ONE: PairLimit = PairLimit { steps: 1, share: 0.0 };

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

/// A solver that draws terms and takes steps on their blocks.
pub struct Sampled<'p, P: Problem> {
    pub by_gap: bool,
    pub refresh: Option<u64>,
    pub cache: Option<Cache>,
    pub gaps: Gaps,
    /// Orders of the passes that do not draw.
    pub orders: Orders,
    pub iteration: u64,
    pub blocks: BlockSteps<'p, P>,
}

impl<P: Problem> Sampled<'_, P> {
    fn most(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.most)
    }

    /// One oracle call per term: all gaps are exact.
    fn refresh(&mut self, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        let keep = self.cache.as_ref().filter(|cache| cache.keep).map(|cache| cache.most);
        // Not in the order of the pass, which may contain some terms twice and others not at all.
        for i in 0..self.orders.list().len() {
            let gap = self.blocks.look(i, self.iteration, keep, meter)?;
            self.gaps.set(i, gap);
        }
        Ok(())
    }

    /// A step on term i, from the cache or from the oracle.
    fn visit(&mut self, i: usize, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        if let Some(cache) = &self.cache {
            let n = self.orders.list().len() as f64;
            let least = (cache.share * self.gaps.get(i)).max(cache.nu * cache.total / n);
            if least.is_finite()
                && let Some(stepped) = self.blocks.cached(i, least, self.iteration, meter)
            {
                return stepped;
            }
        }
        let gap = self.blocks.exact(i, self.iteration, self.most(), meter)?;
        self.gaps.set(i, gap);
        Ok(())
    }
}

impl<P: Problem> Solver for Sampled<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.iteration += 1;
        self.orders.draw();
        let first = self.iteration == 1;
        let due = self.refresh.is_some_and(|refresh| self.iteration.is_multiple_of(refresh));
        if due && !first {
            self.refresh(meter)?;
        }
        self.gaps.rebuild();
        // The first pass made all estimates, so it serves as a refresh.
        if (due || self.iteration == 2)
            && let Some(cache) = &mut self.cache
        {
            cache.total = self.gaps.total();
        }
        for at in 0..self.orders.list().len() {
            let by_gap = self.by_gap && !first;
            let i = if by_gap { self.gaps.draw() } else { self.orders.list()[at] as usize };
            self.visit(i, meter)?;
        }
        if self.iteration.is_multiple_of(RESUM_EVERY) {
            let operations = match &mut self.blocks {
                BlockSteps::Mixes(kept) => kept.resum(),
                BlockSteps::Pairs(now) => now.resum(),
            };
            meter.charge(Charge::ExactProduct, operations);
        }
        Ok(Iteration::Complete)
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

/// The two ways to take a step.
pub enum BlockSteps<'p, P: Problem> {
    /// Frank–Wolfe steps on φ^i as one vector.
    Mixes(PlaneCache<'p, P>),
    /// Pair steps on φ^i as weights over planes.
    Pairs(Weighted<'p, P>),
}

impl<P: Problem> BlockSteps<'_, P> {
    fn state(&self) -> &dyn State {
        match self {
            Self::Mixes(kept) => kept,
            Self::Pairs(now) => now,
        }
    }

    /// Makes one oracle call and one step; at most this many planes are cached. Returns the gap before the step.
    fn exact(&mut self, i: usize, iteration: u64, most: usize, meter: &mut Meter<'_>) -> Result<f64, Interrupt> {
        match self {
            Self::Mixes(PlaneCache { now, sets, spare }) => {
                let gap = now.exact_step_among(i, sets[i].planes(), meter, None)?;
                if most > 0 {
                    sets[i].insert(&now.hat, iteration, most, spare);
                }
                Ok(gap)
            }
            Self::Pairs(now) => {
                let visit = now.exact_visit(i, ONE, iteration, meter, None)?;
                now.evict(i, most);
                Ok(visit.gap)
            }
        }
    }

    /// Makes one oracle call without a step; its plane is cached among at most `keep`, or not at all. Returns the gap.
    fn look(&mut self, i: usize, iteration: u64, keep: Option<usize>, meter: &mut Meter<'_>) -> Result<f64, Interrupt> {
        match self {
            Self::Mixes(PlaneCache { now, sets, spare }) => {
                now.problem.oracle_among(meter, i, &now.w, sets[i].planes(), &mut now.work, &mut now.hat)?;
                let gap = now.aim(i, None).gain;
                meter.charge(Charge::ExactProduct, now.problem.product_ops(i));
                if let Some(most) = keep {
                    sets[i].insert(&now.hat, iteration, most, spare);
                }
                Ok(gap)
            }
            Self::Pairs(now) => {
                now.call(i, meter)?;
                let gap = now.hat_gap(i);
                let mut operations = now.sets[i].known() as u64 * now.problem.gram_ops(i);
                if let Some(most) = keep {
                    operations += now.insert_hat(i, iteration).2;
                    // The new plane has no value yet; among equals the oldest are dropped.
                    now.expire(i, iteration, u64::MAX, most);
                }
                meter.charge(Charge::GramOperation, operations);
                Ok(gap)
            }
        }
    }

    /// Makes a step towards the best cached plane if its gap is at least this; returns `None` otherwise.
    fn cached(&mut self, i: usize, least: f64, iteration: u64, meter: &mut Meter<'_>) -> Option<Result<(), Interrupt>> {
        match self {
            Self::Mixes(PlaneCache { now, sets, .. }) => {
                let set = &mut sets[i];
                if set.is_empty() {
                    return None;
                }
                now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
                let best = now.problem.highest(i, set.planes(), &now.w, &now.work);
                let direction = now.aim(i, Some(set.plane(best)));
                let ops = now.problem.product_ops(i);
                meter.charge(Charge::Score, set.len() as u64 * ops);
                meter.charge(Charge::ApproximateProduct, ops);
                if direction.gain < least || direction.gain <= 0.0 {
                    return None;
                }
                let stepped = meter.approximate_step(|| now.advance(i, Some(set.plane(best)), &direction, None));
                set.activate(best, iteration);
                Some(stepped)
            }
            Self::Pairs(now) => {
                let (set, values) = now.scored(i);
                let best = values.iter().copied().fold(0.0, f64::max);
                let gap = best - set.mix(values);
                meter.charge(Charge::Score, set.known() as u64 * now.problem.product_ops(i));
                if gap < least || gap <= 0.0 {
                    return None;
                }
                Some(meter.approximate_step(|| now.step(i, ONE, iteration, None).operations))
            }
        }
    }
}
