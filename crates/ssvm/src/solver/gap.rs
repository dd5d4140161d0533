//! Gap sampling × pairwise steps × cache: eight solvers (BCFW itself is the one without all three) by three switches.
//!
//! A pass is n draws. A draw is answered by the cache when its best plane promises enough, else by the oracle.

use super::gaps::{Gaps, KEEP, REFRESH};
use super::gram::{MEMORY, most_products};
use super::order::{ORDER, Order, Orders};
use super::sampled::{Blocks, Cache, Sampled};
use super::state::PlaneCache;
use super::weights::WITH_WEIGHT;
use super::{Metered, Solver, SolverInfo, SolverRow, Weighted};
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params};

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
    domain: Domain::Real(0.0, f64::INFINITY),
};

const NU: Param = Param {
    key: "nu",
    about: "…and this part of the mean estimate at the last refresh",
    default: "0.01",
    domain: Domain::Real(0.0, f64::INFINITY),
};

/// One of the solvers, as a row.
pub struct GapPairCache {
    name: &'static str,
    about: &'static str,
    params: &'static [Param],
    gap: bool,
    pair: bool,
    cache: bool,
}

/// `bcfw-gap`.
pub const GAP: GapPairCache = GapPairCache {
    name: "bcfw-gap",
    about: "BCFW that draws terms by their gaps",
    params: &[REFRESH],
    gap: true,
    pair: false,
    cache: false,
};

/// `bcfw-pair`.
pub const PAIR: GapPairCache = GapPairCache {
    name: "bcfw-pair",
    about: "BCFW with pairwise steps",
    params: &[ORDER, MEMORY],
    gap: false,
    pair: true,
    cache: false,
};

/// `bcfw-cache`.
pub const CACHED: GapPairCache = GapPairCache {
    name: "bcfw-cache",
    about: "BCFW that asks a cache of planes before the oracle",
    params: &[ORDER, CACHE, F, NU, REFRESH, KEEP],
    gap: false,
    pair: false,
    cache: true,
};

/// `bcfw-gap-pair`.
pub const GAP_PAIR: GapPairCache = GapPairCache {
    name: "bcfw-gap-pair",
    about: "BCFW with gap sampling and pairwise steps",
    params: &[REFRESH, MEMORY],
    gap: true,
    pair: true,
    cache: false,
};

/// `bcfw-gap-cache`.
pub const GAP_CACHE: GapPairCache = GapPairCache {
    name: "bcfw-gap-cache",
    about: "BCFW with gap sampling and a cache",
    params: &[CACHE, F, NU, REFRESH, KEEP],
    gap: true,
    pair: false,
    cache: true,
};

/// `bcfw-pair-cache`.
pub const PAIR_CACHE: GapPairCache = GapPairCache {
    name: "bcfw-pair-cache",
    about: "BCFW with pairwise steps and a cache",
    params: &[ORDER, CACHE, F, NU, REFRESH, KEEP, MEMORY],
    gap: false,
    pair: true,
    cache: true,
};

/// `bcfw-gap-pair-cache`.
pub const GAP_PAIR_CACHE: GapPairCache = GapPairCache {
    name: "bcfw-gap-pair-cache",
    about: "BCFW with gap sampling, pairwise steps and a cache",
    params: &[CACHE, F, NU, REFRESH, KEEP, MEMORY],
    gap: true,
    pair: true,
    cache: true,
};

impl SolverRow for GapPairCache {
    fn info(&self) -> SolverInfo {
        let Self { name, about, params, .. } = *self;
        SolverInfo {
            name,
            about,
            params,
            planes: match (self.pair, self.cache) {
                (_, true) => Some(|params| params.count(CACHE.key)),
                (true, false) => Some(|_| WITH_WEIGHT),
                (false, false) => None,
            },
            reads_clock: |_| false,
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
        let blocks = if self.pair {
            Blocks::Pairs(Weighted::new(problem, most_products(params)))
        } else {
            Blocks::Mixes(PlaneCache::new(problem))
        };
        Box::new(Sampled {
            by_gap: self.gap,
            refresh: (self.gap || self.cache).then(|| params.count(REFRESH.key)),
            cache,
            gaps: Gaps::new(n, seed),
            orders: Orders::new(if self.gap { Order::PERMUTATION } else { Order::of(params) }, n, seed),
            iteration: 0,
            blocks,
        })
    }
}
