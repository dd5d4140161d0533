//! MP-BCFW on weighted planes: an approximate visit scores W_i once and then makes many pair steps in O(|W_i|) each.
//!
//! Differences from MP-BCFW: φ^i is kept as weights over planes, the truth's among them; a visit, also the one after an
//! oracle call, takes up to `steps` pair steps; planes with weight never leave; terms where nothing was to be gained sit
//! out some approximate passes. `mp-bcfw-gap` also draws the terms of its exact passes by their gaps.

use super::average::Average;
use super::gaps::{Gaps, REFRESH};
use super::order::ORDER;
use super::passes::{Body, M, PASSES, Pass, Passes, Schedule, T, by_slope, passes_rule};
use super::weights::Stop;
use super::{Meter, Metered, Solver, SolverInfo, SolverRow, Weighted};
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params};

/// A visit ends when this part of the block's gap over its planes is left.
const LEFT: f64 = 0.1;

/// A term whose gap over its planes is below this part of the mean sits out passes…
const SMALL: f64 = 0.3;

/// …once, then twice, four times, at most so many in a row; an oracle call brings it back.
const LONGEST_REST: u8 = 8;

const N: Param = Param {
    key: "N",
    about: "most planes kept per term; planes with weight stay beyond that",
    default: "100",
    domain: Domain::Count(1, u32::MAX as u64),
};

const STEPS: Param = Param {
    key: "steps",
    about: "most pair steps of one visit",
    default: "10",
    domain: Domain::Count(1, u32::MAX as u64),
};

/// Bound on the memory of the products between planes.
pub const MEMORY: Param = Param {
    key: "memory",
    about: "most MB of products between planes that are kept; beyond that they are computed at each visit",
    default: "256",
    domain: Domain::Count(0, 1 << 30),
};

const GRAM: &[Param] = &[T, N, M, ORDER, PASSES, STEPS, MEMORY];
const GAP: &[Param] = &[T, N, M, PASSES, STEPS, MEMORY, REFRESH];

/// Products that fit into [`MEMORY`].
pub fn most_products(params: &Params) -> usize {
    params.count(MEMORY.key) as usize * (1 << 20) / size_of::<f64>()
}

/// The row of `mp-bcfw-gram`.
pub struct MpBcfwGram;

impl SolverRow for MpBcfwGram {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "mp-bcfw-gram",
            label: "MP-BCFW-gram",
            about: "MP-BCFW with weights over planes: many pair steps after one scoring of a working set",
            color: [0x00, 0x9E, 0x73],
            params: GRAM,
            rule: passes_rule,
            keeps_planes: true,
            pass_factor: 4.0,
            reads_clock: by_slope,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(GramSets::solver(problem, params, Schedule::of(params), None, seed))
    }
}

/// The row of `mp-bcfw-gram-avg`.
pub struct MpBcfwGramAvg;

impl SolverRow for MpBcfwGramAvg {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "mp-bcfw-gram-avg",
            label: "MP-BCFW-gram-avg",
            about: "MP-BCFW-gram, read out at the best interpolation of its two averages",
            color: [0x66, 0xC2, 0xA5],
            dash: &[6.0, 1.6, 1.2, 1.6],
            ..MpBcfwGram.info()
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let schedule = Schedule { averaged: true, ..Schedule::of(params) };
        Box::new(GramSets::solver(problem, params, schedule, None, seed))
    }
}

/// The row of `mp-bcfw-gap`.
pub struct MpBcfwGap;

impl SolverRow for MpBcfwGap {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "mp-bcfw-gap",
            label: "MP-BCFW-gap",
            about: "MP-BCFW-gram whose exact passes draw terms by their gaps",
            color: [0xCC, 0x33, 0x66],
            params: GAP,
            ..MpBcfwGram.info()
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let sampling = Sampling { gaps: Gaps::new(problem.terms(), seed), refresh: params.count(REFRESH.key) };
        Box::new(GramSets::solver(problem, params, Schedule::of(params), Some(sampling), seed))
    }
}

/// Terms by their gaps.
struct Sampling {
    gaps: Gaps,
    refresh: u64,
}

/// State of these solvers inside their passes.
pub struct GramSets<'p, P: Problem> {
    now: Weighted<'p, P>,
    t: u64,
    n: usize,
    stop: Stop,
    sampling: Option<Sampling>,
    /// Passes that a term sits out, and how many it sat out last.
    rest: Vec<(u8, u8)>,
    /// The mean gap that the last approximate pass met.
    mean: f64,
}

impl<'p, P: Problem> GramSets<'p, P> {
    fn solver(
        problem: Metered<'p, P>,
        params: &Params,
        schedule: Schedule,
        sampling: Option<Sampling>,
        seed: u64,
    ) -> Passes<Self> {
        let body = Self {
            now: Weighted::new(problem, most_products(params)),
            t: params.count("T"),
            n: params.count("N") as usize,
            stop: Stop { steps: params.count("steps"), share: LEFT },
            sampling,
            rest: vec![(0, 0); problem.terms()],
            mean: 0.0,
        };
        Passes::over(body, problem.terms(), schedule, seed)
    }

    fn exact_visit(&mut self, i: usize, iteration: u64, meter: &mut Meter<'_>, average: Option<&mut Average>) -> bool {
        let Some(visit) = self.now.exact_visit(i, self.stop, iteration, meter, average) else { return false };
        self.now.expire(i, iteration, self.t, self.n);
        self.rest[i] = (0, 0);
        if let Some(sampling) = &mut self.sampling {
            sampling.gaps.set(i, visit.gap);
        }
        true
    }

    /// One oracle call per term and no step: all gaps are exact, and the planes are kept.
    fn refresh(&mut self, pass: &Pass<'_>, meter: &mut Meter<'_>) -> bool {
        for i in pass.order {
            let i = *i as usize;
            if !self.now.call(i, meter) {
                return false;
            }
            let gap = self.now.hat_gap(i);
            let (_, _, operations) = self.now.insert_hat(i, pass.iteration);
            meter.work(operations + self.now.sets[i].len() as u64 * self.now.problem.product_ops(i));
            if let Some(sampling) = &mut self.sampling {
                sampling.gaps.set(i, gap);
            }
        }
        true
    }
}

impl<'p, P: Problem> Body for GramSets<'p, P> {
    type State = Weighted<'p, P>;

    fn state(&self) -> &Self::State {
        &self.now
    }

    fn state_mut(&mut self) -> &mut Self::State {
        &mut self.now
    }

    fn exact_pass(&mut self, mut pass: Pass<'_>, meter: &mut Meter<'_>) -> bool {
        let by_gap = match &mut self.sampling {
            // The first pass visits everybody: nothing is known of the gaps.
            Some(sampling) if pass.iteration > 1 => {
                let due = pass.iteration.is_multiple_of(sampling.refresh);
                if due && !self.refresh(&pass, meter) {
                    return false;
                }
                true
            }
            _ => false,
        };
        if let Some(sampling) = &mut self.sampling {
            sampling.gaps.rebuild();
        }
        for at in 0..pass.order.len() {
            let i = match &mut self.sampling {
                Some(sampling) if by_gap => sampling.gaps.draw(),
                _ => pass.order[at] as usize,
            };
            if !self.exact_visit(i, pass.iteration, meter, pass.average.as_deref_mut()) {
                return false;
            }
        }
        true
    }

    fn approximate_pass(&mut self, mut pass: Pass<'_>, meter: &mut Meter<'_>) -> bool {
        let (mut sum, mut visited) = (0.0, 0u32);
        for i in pass.order {
            let i = *i as usize;
            if self.now.sets[i].is_empty() {
                continue;
            }
            let (left, last) = self.rest[i];
            if left > 0 {
                self.rest[i].0 -= 1;
                continue;
            }
            let average = pass.average.as_deref_mut();
            let mut gap = 0.0;
            let go_on = meter.approximate_step(|| {
                let visit = self.now.visit(i, self.stop, pass.iteration, average);
                gap = visit.gap;
                visit.operations
            });
            if let Some(sampling) = &mut self.sampling {
                // Never more than the true gap, which knows more planes.
                sampling.gaps.raise(i, gap);
            }
            let long = if gap <= SMALL * self.mean { (2 * last).clamp(1, LONGEST_REST) } else { 0 };
            self.rest[i] = (long, long);
            sum += gap;
            visited += 1;
            if !go_on {
                return false;
            }
        }
        self.mean = sum / f64::from(visited.max(1));
        true
    }
}
