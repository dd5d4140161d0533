//! MP-BCFW on weighted planes: an approximate visit scores W_i once and then makes many pair steps in O(|W_i|) each.
//!
//! Differences from MP-BCFW: φ^i is kept as weights over planes, the truth's among them. A visit, also the one after an
//! oracle call, takes up to `steps` pair steps. Planes with weight never leave. Terms where nothing could be gained sit
//! out some approximate passes. `mp-bcfw-gap` also draws the terms of its exact passes by their gaps.

use super::gaps::{Gaps, REFRESH};
use super::order::{ORDER, Order};
use super::passes::{Body, M, PASSES, Pass, Passes, Schedule, T, by_slope, kept_planes, passes_rule};
use super::weights::PairLimit;
use super::{Interrupt, Meter, Metered, Solver, SolverInfo, SolverRow, Weighted};
use crate::clock::Charge;
use crate::problem::Problem;
use crate::settings::{Domain, Param, Params};

/// A visit ends when at most this part of the block's gap over its planes is left.
const LEFT: f64 = 0.1;

/// A term whose gap over its planes is below this part of the mean sits out passes…
const SMALL: f64 = 0.3;

/// …once, then twice, four times, at most this many in a row; an oracle call brings it back.
const LONGEST_REST: u8 = 8;

const N: Param = Param::count("N", "100", 1, "most planes kept per term; planes with weight stay beyond that");
const STEPS: Param = Param::count("steps", "10", 1, "most pair steps of one visit");

pub const MEMORY: Param = Param {
    domain: Domain::Count(0, 1 << 30),
    ..Param::count(
        "memory",
        "256",
        0,
        "most MB of products between planes that are kept; beyond that they are computed at each visit",
    )
};

/// Products that fit into [`MEMORY`].
pub fn most_products(params: &Params) -> usize {
    params.count(MEMORY.key) as usize * (1 << 20) / size_of::<f64>()
}

/// One of the solvers of this file, as a row.
pub struct GramRow {
    info: SolverInfo,
    averaged: bool,
    /// Whether exact passes draw terms by their gaps.
    by_gap: bool,
}

const GRAM: SolverInfo = SolverInfo {
    name: "mp-bcfw-gram",
    about: "MP-BCFW with weights over planes: many pair steps after one scoring of a working set",
    params: &[T, N, M, ORDER, PASSES, STEPS, MEMORY],
    rule: passes_rule,
    planes: Some(|params| kept_planes(params.count(N.key), params)),
    pass_factor: 4.0,
    reads_clock: by_slope,
    ..SolverInfo::PLAIN
};

pub const ROWS: [GramRow; 3] = [
    GramRow { info: GRAM, averaged: false, by_gap: false },
    GramRow {
        info: SolverInfo {
            name: "mp-bcfw-gram-avg",
            about: "MP-BCFW-gram, read out at the best interpolation of its two averages",
            ..GRAM
        },
        averaged: true,
        by_gap: false,
    },
    GramRow {
        info: SolverInfo {
            name: "mp-bcfw-gap",
            about: "MP-BCFW-gram whose exact passes draw terms by their gaps",
            params: &[T, N, M, PASSES, STEPS, MEMORY, REFRESH],
            ..GRAM
        },
        averaged: false,
        by_gap: true,
    },
];

impl SolverRow for GramRow {
    fn info(&self) -> SolverInfo {
        self.info.clone()
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let n = problem.terms();
        let sampling =
            self.by_gap.then(|| GapSampling { gaps: Gaps::new(n, seed), refresh: params.count(REFRESH.key) });
        let body = GramSets {
            t: params.count(T.key),
            n: params.count(N.key) as usize,
            stop: PairLimit { steps: params.count(STEPS.key), share: LEFT },
            sweep: self.by_gap || Order::of(params) == Order::UNIFORM,
            sampling,
            rest: vec![(0, 0); n],
            mean: 0.0,
        };
        let schedule = Schedule { averaged: self.averaged, ..Schedule::of(params) };
        Box::new(Passes::over(Weighted::new(problem, most_products(params)), body, n, schedule, seed))
    }
}

/// Draws terms by their gaps.
struct GapSampling {
    gaps: Gaps,
    refresh: u64,
}

/// What these solvers do inside their passes.
pub struct GramSets {
    t: u64,
    n: usize,
    stop: PairLimit,
    sampling: Option<GapSampling>,
    /// Whether an exact pass may leave terms out. Planes are then dropped in all terms at its end, and wherever an
    /// approximate visit may have taken their weight, because an exact visit may be far off.
    sweep: bool,
    /// Passes that a term sits out, and how many it sat out last.
    rest: Vec<(u8, u8)>,
    /// The mean gap of the last approximate pass.
    mean: f64,
}

impl GramSets {
    /// Makes one oracle call per term without a step: all gaps become exact, and the planes are kept.
    fn refresh<P: Problem>(
        now: &mut Weighted<'_, P>,
        gaps: &mut Gaps,
        pass: &Pass<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Interrupt> {
        for i in pass.order {
            let i = *i as usize;
            now.call(i, meter)?;
            let gap = now.hat_gap(i);
            let scored = now.sets[i].len() as u64 * now.problem.gram_ops(i);
            let (_, _, inserted) = now.insert_hat(i, pass.iteration);
            meter.charge(Charge::GramOperation, inserted + scored);
            gaps.set(i, gap);
        }
        Ok(())
    }
}

impl<'p, P: Problem> Body<Weighted<'p, P>> for GramSets {
    fn exact_pass(
        &mut self,
        now: &mut Weighted<'p, P>,
        mut pass: Pass<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Interrupt> {
        // The first pass visits all terms, because no gap is known.
        let by_gap = pass.iteration > 1;
        if let Some(sampling) = &mut self.sampling {
            if by_gap && pass.iteration.is_multiple_of(sampling.refresh) {
                Self::refresh(now, &mut sampling.gaps, &pass, meter)?;
            }
            sampling.gaps.rebuild();
        }
        for at in 0..pass.order.len() {
            let i = match &mut self.sampling {
                Some(sampling) if by_gap => sampling.gaps.draw(),
                _ => pass.order[at] as usize,
            };
            let visit = now.exact_visit(i, self.stop, pass.iteration, meter, pass.average.as_deref_mut())?;
            now.expire(i, pass.iteration, self.t, self.n);
            self.rest[i] = (0, 0);
            if let Some(sampling) = &mut self.sampling {
                sampling.gaps.set(i, visit.gap);
            }
        }
        if self.sweep {
            for i in 0..now.sets.len() {
                now.expire(i, pass.iteration, self.t, self.n);
            }
        }
        Ok(())
    }

    fn approximate_pass(
        &mut self,
        now: &mut Weighted<'p, P>,
        mut pass: Pass<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Interrupt> {
        let (mut sum, mut visited) = (0.0, 0u32);
        for i in pass.order {
            let i = *i as usize;
            if now.sets[i].is_empty() {
                continue;
            }
            let (left, last) = self.rest[i];
            if left > 0 {
                self.rest[i].0 -= 1;
                meter.charge(Charge::SkippedStep, 1);
                continue;
            }
            let average = pass.average.as_deref_mut();
            let mut gap = 0.0;
            let stepped = meter.approximate_step(|| {
                let visit = now.visit(i, self.stop, pass.iteration, average);
                gap = visit.gap;
                if let Some(sampling) = &mut self.sampling {
                    // The gap that the visit left is never more than the true gap, which covers more planes.
                    sampling.gaps.raise(i, now.gap_left(i));
                }
                visit.operations
            });
            if self.sweep {
                now.expire(i, pass.iteration, self.t, self.n);
            }
            let long = if gap <= SMALL * self.mean { (2 * last).clamp(1, LONGEST_REST) } else { 0 };
            self.rest[i] = (long, long);
            sum += gap;
            visited += 1;
            stepped?;
        }
        self.mean = sum / f64::from(visited.max(1));
        Ok(())
    }
}
