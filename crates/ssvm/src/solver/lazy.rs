//! Lazy blended pairwise steps on blocks: a pair step inside W_i while it promises half of what the oracle last
//! promised (Φ_i), otherwise an oracle call.

use super::gram::{MEMORY, most_products};
use super::order::{ORDER, Order, Orders};
use super::passes::RESUM_EVERY;
use super::weights::{PairLimit, Vertex, WITH_WEIGHT};
use super::{Interrupt, Iteration, Meter, Metered, Solution, Solver, SolverInfo, SolverRow, State, Weighted};
use crate::clock::{Charge, Operations};
use crate::problem::Problem;
use crate::settings::Params;

/// A pair step also has to promise this part of the mean of all Φ_i. Otherwise a term that once had nothing to gain
/// would never be visited again.
const LEAST: f64 = 0.01;

pub struct BcfwLazy;

impl SolverRow for BcfwLazy {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "bcfw-lazy",
            about: "BCFW with lazy blended pairwise steps: the oracle is called when the known planes promise too little",
            params: &[ORDER, MEMORY],
            planes: Some(|_| WITH_WEIGHT),
            reads_clock: |_| false,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let n = problem.terms();
        Box::new(Lazy {
            now: Weighted::new(problem, most_products(params)),
            promise: vec![f64::INFINITY; n],
            orders: Orders::new(Order::of(params), n, seed),
            iteration: 0,
        })
    }
}

struct Lazy<'p, P: Problem> {
    now: Weighted<'p, P>,
    /// Φ_i; ∞ before the first call.
    promise: Vec<f64>,
    orders: Orders,
    iteration: u64,
}

impl<P: Problem> Lazy<'_, P> {
    fn visit(&mut self, i: usize, least: f64, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        let known = self.promise[i].is_finite();
        if known {
            let (set, values) = self.now.scored(i);
            let active = || set.alpha().iter().zip(values).filter(|(alpha, _)| **alpha > 0.0).map(|(_, value)| *value);
            let spread = active().fold(f64::MIN, f64::max) - active().fold(f64::MAX, f64::min);
            meter.charge(Charge::Score, set.known() as u64 * self.now.problem.product_ops(i));
            if spread > 0.0 && spread >= (0.5 * self.promise[i]).max(least) {
                let one = PairLimit { steps: 1, share: 0.0 };
                let stepped = meter.approximate_step(|| self.now.step(i, one, self.iteration, None).operations);
                self.now.evict(i, 0);
                return stepped;
            }
        }
        self.now.call(i, meter)?;
        let (place, _, inserted) = self.now.insert_hat(i, self.iteration);
        let scored = self.now.sets[i].known() as u64 * self.now.problem.gram_ops(i);
        let mut done = Operations { gram: inserted + scored, ..Operations::default() };
        let gap = self.now.gap_towards(i, place);
        if !known || gap >= 0.5 * self.promise[i] {
            done += self.now.step_between(i, Vertex::Plane(place), Vertex::Mix);
        }
        if !known || gap < 0.5 * self.promise[i] {
            self.promise[i] = gap.max(0.0);
        }
        self.now.evict(i, 0);
        meter.exact_step(done);
        Ok(())
    }
}

impl<P: Problem> Solver for Lazy<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.iteration += 1;
        self.orders.draw();
        let n = self.promise.len();
        let sum: f64 = self.promise.iter().filter(|promise| promise.is_finite()).sum();
        let least = LEAST * sum / n as f64;
        for at in 0..n {
            self.visit(self.orders.list()[at] as usize, least, meter)?;
        }
        if self.iteration.is_multiple_of(RESUM_EVERY) {
            meter.charge(Charge::ExactProduct, self.now.resum());
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        self.now.solution()
    }

    fn dual(&self) -> f64 {
        self.now.dual()
    }

    fn state(&self) -> Option<&dyn State> {
        Some(&self.now)
    }
}
