//! Gap sampling × pairwise steps × cache: eight solvers (BCFW itself is the one without all three) by three switches.
//!
//! A pass is n draws. A draw is answered by the cache when its best plane promises enough, else by the oracle.

use super::gaps::{Gaps, KEEP, REFRESH};
use super::gram::{MEMORY, most_products};
use super::order::{ORDER, Order, Orders};
use super::passes::sizes;
use super::weights::{Stop, Weights};
use super::working_set::WorkingSet;
use super::{Iterate, Iteration, Meter, Metered, Solution, Solver, SolverInfo, SolverRow, Weighted};
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params};

/// φ is summed afresh after this many iterations, against drift.
const RESUM_EVERY: u64 = 10;

const CACHE: Param = Param {
    key: "cache",
    about: "most planes cached per term; planes with weight stay beyond that",
    default: "100",
    domain: Domain::Count(1, u32::MAX as u64),
};

const F: Param = Param {
    key: "F",
    about: "a cached plane is used when it promises this part of the term's gap estimate…",
    default: "0.25",
    domain: Domain::Real(0.0, f64::MAX),
};

const NU: Param = Param {
    key: "nu",
    about: "…and this part of the mean estimate at the last refresh",
    default: "0.01",
    domain: Domain::Real(0.0, f64::MAX),
};

/// One of the solvers, as a row.
pub struct GapPairCache {
    name: &'static str,
    label: &'static str,
    about: &'static str,
    color: [u8; 3],
    dash: &'static [f64],
    params: &'static [Param],
    gap: bool,
    pair: bool,
    cache: bool,
}

/// `bcfw-gap`.
pub const GAP: GapPairCache = GapPairCache {
    name: "bcfw-gap",
    label: "BCFW-gap",
    about: "BCFW that draws terms by their gaps",
    color: [0xCC, 0x79, 0xA7],
    dash: &[5.0, 2.0],
    params: &[REFRESH],
    gap: true,
    pair: false,
    cache: false,
};

/// `bcfw-pair`.
pub const PAIR: GapPairCache = GapPairCache {
    name: "bcfw-pair",
    label: "BCFW-pair",
    about: "BCFW with pairwise steps",
    color: [0x8C, 0x6B, 0xB1],
    dash: &[2.0, 1.4],
    params: &[ORDER, MEMORY],
    gap: false,
    pair: true,
    cache: false,
};

/// `bcfw-cache`.
pub const CACHED: GapPairCache = GapPairCache {
    name: "bcfw-cache",
    label: "BCFW-cache",
    about: "BCFW that asks a cache of planes before the oracle",
    color: [0xA6, 0x76, 0x1D],
    dash: &[8.0, 2.0],
    params: &[ORDER, CACHE, F, NU, REFRESH, KEEP],
    gap: false,
    pair: false,
    cache: true,
};

/// `bcfw-gap-pair`.
pub const GAP_PAIR: GapPairCache = GapPairCache {
    name: "bcfw-gap-pair",
    label: "BCFW-gap-pair",
    about: "BCFW with gap sampling and pairwise steps",
    color: [0x5E, 0x3C, 0x99],
    dash: &[5.0, 2.0],
    params: &[REFRESH, MEMORY],
    gap: true,
    pair: true,
    cache: false,
};

/// `bcfw-gap-cache`.
pub const GAP_CACHE: GapPairCache = GapPairCache {
    name: "bcfw-gap-cache",
    label: "BCFW-gap-cache",
    about: "BCFW with gap sampling and a cache",
    color: [0xE7, 0x29, 0x8A],
    dash: &[8.0, 2.0],
    params: &[CACHE, F, NU, REFRESH, KEEP],
    gap: true,
    pair: false,
    cache: true,
};

/// `bcfw-pair-cache`.
pub const PAIR_CACHE: GapPairCache = GapPairCache {
    name: "bcfw-pair-cache",
    label: "BCFW-pair-cache",
    about: "BCFW with pairwise steps and a cache",
    color: [0x1F, 0x78, 0xB4],
    dash: &[8.0, 2.0, 1.2, 2.0],
    params: &[ORDER, CACHE, F, NU, REFRESH, KEEP, MEMORY],
    gap: false,
    pair: true,
    cache: true,
};

/// `bcfw-gap-pair-cache`.
pub const GAP_PAIR_CACHE: GapPairCache = GapPairCache {
    name: "bcfw-gap-pair-cache",
    label: "BCFW-gap-pair-cache",
    about: "BCFW with gap sampling, pairwise steps and a cache",
    color: [0x33, 0x33, 0x99],
    dash: &[],
    params: &[CACHE, F, NU, REFRESH, KEEP, MEMORY],
    gap: true,
    pair: true,
    cache: true,
};

impl SolverRow for GapPairCache {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: self.name,
            label: self.label,
            about: self.about,
            color: self.color,
            dash: self.dash,
            params: self.params,
            keeps_planes: self.cache || self.pair,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let n = problem.terms();
        let cache = self.cache.then(|| Cache {
            most: params.count(CACHE.key) as usize,
            share: params.real(F.key),
            nu: params.real(NU.key),
            total: f64::INFINITY,
            keep: params.word(KEEP.key) == "yes",
        });
        let most = cache.as_ref().map_or(0, |cache| cache.most);
        let plan = Plan {
            by_gap: self.gap,
            refresh: (self.gap || self.cache).then(|| params.count(REFRESH.key)),
            cache,
            gaps: Gaps::new(n, seed),
            orders: Orders::new(if self.gap { Order::Permutation } else { Order::of(params) }, n, seed),
            iteration: 0,
        };
        if self.pair {
            let blocks = Pairs { now: Weighted::new(problem, most_products(params)), cache: most };
            Box::new(Sampled { plan, blocks })
        } else {
            let sets = (0..n).map(|_| WorkingSet::default()).collect();
            let blocks = Mixes { now: Iterate::new(problem), sets, spare: Vec::new(), cache: most };
            Box::new(Sampled { plan, blocks })
        }
    }
}

/// When a cached plane is good enough.
struct Cache {
    most: usize,
    share: f64,
    nu: f64,
    /// Σ g_i at the last refresh.
    total: f64,
    keep: bool,
}

/// Which term comes next, and what is known of its gap.
struct Plan {
    by_gap: bool,
    refresh: Option<u64>,
    cache: Option<Cache>,
    gaps: Gaps,
    orders: Orders,
    iteration: u64,
}

/// The blocks of one of the solvers: how a step is taken.
trait Blocks {
    /// One oracle call and one step; the gap before it. None when the run must stop.
    fn exact(&mut self, i: usize, iteration: u64, meter: &mut Meter<'_>) -> Option<f64>;
    /// One oracle call without a step; the gap. None when the run must stop.
    fn look(&mut self, i: usize, iteration: u64, keep: bool, meter: &mut Meter<'_>) -> Option<f64>;
    /// A step towards the best cached plane if its gap is at least this; None when it is not, else whether to go on.
    fn cached(&mut self, i: usize, least: f64, iteration: u64, meter: &mut Meter<'_>) -> Option<bool>;
    fn solution(&self) -> Solution;
    fn dual(&self) -> f64;
    fn resum(&mut self);
    fn resummed(&self) -> Solution;
    fn weights(&self) -> Vec<&[f64]>;
    fn planes(&self) -> (f64, u64);
    fn kept_values(&self, w: &[f64]) -> Vec<f64>;
    fn cached_bytes(&self) -> u64;
}

/// A solver of this file.
struct Sampled<B> {
    plan: Plan,
    blocks: B,
}

impl<B: Blocks> Sampled<B> {
    /// One oracle call per term: all gaps are exact.
    fn refresh(&mut self, meter: &mut Meter<'_>) -> bool {
        let Plan { gaps, orders, cache, iteration, .. } = &mut self.plan;
        let keep = cache.as_ref().is_some_and(|cache| cache.keep);
        for i in orders.list() {
            let i = *i as usize;
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
            self.blocks.resum();
        }
        Iteration::Complete
    }

    fn solution(&self) -> Solution {
        self.blocks.solution()
    }

    fn dual(&self) -> f64 {
        self.blocks.dual()
    }

    fn resummed(&self) -> Option<Solution> {
        Some(self.blocks.resummed())
    }

    fn weights(&self) -> Vec<&[f64]> {
        self.blocks.weights()
    }

    fn planes(&self) -> (f64, u64) {
        self.blocks.planes()
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        self.blocks.kept_values(w)
    }

    fn cached_bytes(&self) -> u64 {
        self.blocks.cached_bytes()
    }
}

/// Frank–Wolfe steps on φ^i as one vector.
struct Mixes<'p, P: Problem> {
    now: Iterate<'p, P>,
    sets: Vec<WorkingSet<P::Plane>>,
    spare: Vec<P::Plane>,
    cache: usize,
}

impl<P: Problem> Mixes<'_, P> {
    fn keep_hat(&mut self, i: usize, iteration: u64) {
        if self.cache > 0 {
            self.sets[i].insert(&self.now.hat, iteration, self.cache, &mut self.spare);
        }
    }
}

impl<P: Problem> Blocks for Mixes<'_, P> {
    fn exact(&mut self, i: usize, iteration: u64, meter: &mut Meter<'_>) -> Option<f64> {
        let gap = self.now.exact_gap_step(i, self.sets[i].planes(), meter, None)?;
        self.keep_hat(i, iteration);
        Some(gap)
    }

    fn look(&mut self, i: usize, iteration: u64, keep: bool, meter: &mut Meter<'_>) -> Option<f64> {
        let gap = self.now.exact_gap(i, self.sets[i].planes(), meter)?;
        if keep {
            self.keep_hat(i, iteration);
        }
        Some(gap)
    }

    fn cached(&mut self, i: usize, least: f64, iteration: u64, meter: &mut Meter<'_>) -> Option<bool> {
        let (set, now) = (&mut self.sets[i], &mut self.now);
        if set.is_empty() {
            return None;
        }
        now.problem.load(i, &now.w, &now.blocks, set.planes(), &mut now.work);
        let value = |plane: &P::Plane| now.problem.value(i, plane, &now.w, &now.work);
        let best = (0..set.len()).max_by(|a, b| value(set.plane(*a)).total_cmp(&value(set.plane(*b))))?;
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

    fn solution(&self) -> Solution {
        self.now.solution()
    }

    fn dual(&self) -> f64 {
        self.now.dual()
    }

    fn resum(&mut self) {
        self.now.resum();
    }

    fn resummed(&self) -> Solution {
        self.now.resummed()
    }

    fn weights(&self) -> Vec<&[f64]> {
        Vec::new()
    }

    fn planes(&self) -> (f64, u64) {
        sizes(self.sets.iter().map(WorkingSet::len))
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        let mut work = self.now.problem.work();
        let mut values = Vec::new();
        let best = |(i, set): (usize, &WorkingSet<P::Plane>)| {
            values.clear();
            self.now.problem.values(i, w, set.planes(), &mut work, &mut values);
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        };
        self.sets.iter().enumerate().map(best).collect()
    }

    fn cached_bytes(&self) -> u64 {
        0
    }
}

/// Pair steps on φ^i as weights over planes.
struct Pairs<'p, P: Problem> {
    now: Weighted<'p, P>,
    cache: usize,
}

/// One pair step a visit.
const ONE: Stop = Stop { steps: 1, share: 0.0 };

impl<P: Problem> Blocks for Pairs<'_, P> {
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

    fn solution(&self) -> Solution {
        self.now.solution()
    }

    fn dual(&self) -> f64 {
        self.now.dual()
    }

    fn resum(&mut self) {
        self.now.resum();
    }

    fn resummed(&self) -> Solution {
        self.now.resummed()
    }

    fn weights(&self) -> Vec<&[f64]> {
        self.now.sets.iter().map(Weights::alpha).collect()
    }

    fn planes(&self) -> (f64, u64) {
        sizes(self.now.sets.iter().map(Weights::known))
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        self.now.kept_values(w)
    }

    fn cached_bytes(&self) -> u64 {
        self.now.cached_bytes()
    }
}
