//! Gap sampling × pairwise steps × cache: eight solvers (BCFW itself is the one without all three) by three switches.
//!
//! A pass is n draws. A draw is answered by the cache when its best plane promises enough, else by the oracle.

use super::gaps::{Gaps, KEEP, REFRESH};
use super::gram::{MEMORY, most_products};
use super::order::{ORDER, Order, Orders};
use super::sampled::{Cache, Mixes, Pairs, Plan, Sampled};
use super::{Metered, Solver, SolverInfo, SolverRow};
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
            Box::new(Sampled { plan, blocks: Pairs::new(problem, most_products(params), most) })
        } else {
            Box::new(Sampled { plan, blocks: Mixes::new(problem, most) })
        }
    }
}
