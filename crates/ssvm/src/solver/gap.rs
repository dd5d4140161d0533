//! Gap sampling, pairwise steps and a cache: three switches that make eight solvers, of which BCFW has none of the
//! three.
//!
//! A pass is n draws. The cache answers a draw when its best plane promises enough; otherwise the oracle does.

use super::gaps::{Gaps, KEEP, REFRESH};
use super::gram::{MEMORY, most_products};
use super::order::{ORDER, Order, Orders};
use super::sampled::{BlockSteps, Cache, Sampled};
use super::state::PlaneCache;
use super::weights::WITH_WEIGHT;
use super::{Metered, Solver, SolverInfo, SolverRow, Weighted};
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params};

const CACHE: Param =
    Param::count("cache", "100", 1, "most planes cached per term; planes with weight stay beyond that");

const F: Param = Param {
    key: "F",
    about: "a cached plane is used if its gap is at least this part of the term's gap estimate (see also nu)",
    default: "0.25",
    domain: Domain::Real(0.0, f64::INFINITY),
};

const NU: Param = Param {
    key: "nu",
    about: "a cached plane is used only if its gap is also at least this part of the mean estimate at the last refresh",
    default: "0.01",
    domain: Domain::Real(0.0, f64::INFINITY),
};

/// One of the solvers, as a row.
pub struct GapPairCache {
    info: SolverInfo,
    gap: bool,
    pair: bool,
    cache: bool,
}

/// The seven, by the switches gap, pair and cache.
pub const ROWS: [GapPairCache; 7] = [
    row("bcfw-gap", "BCFW that draws terms by their gaps", &[REFRESH], [true, false, false]),
    row("bcfw-pair", "BCFW with pairwise steps", &[ORDER, MEMORY], [false, true, false]),
    row(
        "bcfw-cache",
        "BCFW that tries a cache of planes before the oracle",
        &[ORDER, CACHE, F, NU, REFRESH, KEEP],
        [false, false, true],
    ),
    row("bcfw-gap-pair", "BCFW with gap sampling and pairwise steps", &[REFRESH, MEMORY], [true, true, false]),
    row("bcfw-gap-cache", "BCFW with gap sampling and a cache", &[CACHE, F, NU, REFRESH, KEEP], [true, false, true]),
    row(
        "bcfw-pair-cache",
        "BCFW with pairwise steps and a cache",
        &[ORDER, CACHE, F, NU, REFRESH, KEEP, MEMORY],
        [false, true, true],
    ),
    row(
        "bcfw-gap-pair-cache",
        "BCFW with gap sampling, pairwise steps and a cache",
        &[CACHE, F, NU, REFRESH, KEEP, MEMORY],
        [true, true, true],
    ),
];

const fn row(
    name: &'static str,
    about: &'static str,
    params: &'static [Param],
    [gap, pair, cache]: [bool; 3],
) -> GapPairCache {
    let planes: Option<fn(&Params) -> u64> = match (pair, cache) {
        (_, true) => Some(|params| params.count(CACHE.key)),
        (true, false) => Some(|_| WITH_WEIGHT),
        (false, false) => None,
    };
    let info = SolverInfo { name, about, params, planes, reads_clock: |_| false, ..SolverInfo::PLAIN };
    GapPairCache { info, gap, pair, cache }
}

impl SolverRow for GapPairCache {
    fn info(&self) -> SolverInfo {
        self.info.clone()
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
            BlockSteps::Pairs(Weighted::new(problem, most_products(params)))
        } else {
            BlockSteps::Mixes(PlaneCache::new(problem))
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
