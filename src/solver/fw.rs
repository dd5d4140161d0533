//! Frank–Wolfe: n oracle calls at one w, then one step of the whole plane.

use super::order::Orders;
use super::{Iteration, Solution, Solver, step};
use crate::clock::Meter;
use crate::config::SolverSpec;
use crate::linalg::{add_scaled, dot, norm2};
use crate::problem::{Direction, Problem};

/// State of FW: the plane φ = Σ φ^i alone.
pub struct FrankWolfe<'p, P: Problem> {
    problem: &'p P,
    w: Vec<f64>,
    offset: f64,
    /// −φ̂⋆/λ, then the direction in coordinates of w.
    hat: Vec<f64>,
    work: P::Work,
    plane: P::Plane,
    orders: Orders,
}

impl<'p, P: Problem> FrankWolfe<'p, P> {
    /// The solver at φ = 0.
    pub fn new(problem: &'p P, spec: &SolverSpec, seed: u64) -> Self {
        Self {
            problem,
            w: vec![0.0; problem.dim()],
            offset: 0.0,
            hat: vec![0.0; problem.dim()],
            work: problem.work(),
            plane: P::Plane::default(),
            // The sum needs every term once, so drawing with replacement is a permutation here.
            orders: Orders::new(
                if spec.order == crate::config::Order::Sequential {
                    spec.order
                } else {
                    crate::config::Order::Permutation
                },
                problem.terms(),
                seed,
            ),
        }
    }
}

impl<P: Problem> Solver for FrankWolfe<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Iteration {
        self.orders.draw();
        let lambda = self.problem.lambda();
        self.hat.fill(0.0);
        let mut offset = 0.0;
        for i in self.orders.list() {
            let i = *i as usize;
            let began = meter.tick();
            let ops = self.problem.oracle(i, &self.w, &mut self.work, &mut self.plane);
            let ended = meter.tick();
            offset += self.problem.add_plane(i, &self.plane, -1.0 / lambda, &mut self.hat);
            if meter.exact_step(began, ended, ops, self.problem.product_ops(i)) {
                return Iteration::Interrupted;
            }
        }
        add_scaled(&mut self.hat, -1.0, &self.w);
        let direction = Direction {
            gain: (offset - self.offset) - lambda * dot(&self.hat, &self.w),
            norm2: lambda * lambda * norm2(&self.hat),
            offset: offset - self.offset,
        };
        let gamma = step::gamma(&direction, lambda);
        add_scaled(&mut self.w, gamma, &self.hat);
        self.offset += gamma * direction.offset;
        Iteration::Complete
    }

    fn solution(&self) -> Solution {
        Solution { w: self.w.clone(), offset: self.offset }
    }

    fn dual(&self) -> f64 {
        self.offset - 0.5 * self.problem.lambda() * norm2(&self.w)
    }
}
