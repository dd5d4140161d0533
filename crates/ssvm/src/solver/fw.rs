//! Frank–Wolfe: n oracle calls at one w, then one step of the whole plane.

use super::order::{Order, Orders};
use super::{ANNOUNCED, Interrupt, Iteration, Meter, Metered, Solution, Solver, SolverInfo, SolverRow, step};
use crate::clock::Charge;
use crate::linalg::{add_scaled, dot, norm2};
use crate::problem::{Direction, Problem};
use crate::settings::Params;

pub struct Fw;

impl SolverRow for Fw {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "fw",
            about: "Frank–Wolfe on the whole plane: n oracle calls at one w, then one step",
            in_paper: true,
            reads_clock: |_| false,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        Box::new(FrankWolfe::new(problem, seed))
    }
}

/// State of FW: the plane φ = Σ φ^i alone.
pub struct FrankWolfe<'p, P: Problem> {
    problem: Metered<'p, P>,
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
    pub fn new(problem: Metered<'p, P>, seed: u64) -> Self {
        Self {
            problem,
            w: vec![0.0; problem.dim()],
            offset: 0.0,
            hat: vec![0.0; problem.dim()],
            work: problem.work(),
            plane: P::Plane::default(),
            orders: Orders::new(Order::PERMUTATION, problem.terms(), seed),
        }
    }
}

impl<P: Problem> Solver for FrankWolfe<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.orders.draw();
        let lambda = self.problem.lambda();
        self.hat.fill(0.0);
        let mut offset = 0.0;
        for group in self.orders.list().chunks(ANNOUNCED) {
            let allowed = meter.may_call_some(group.len());
            self.problem.announce(&group[..allowed], &self.w, &mut self.work)?;
            for i in group {
                let i = *i as usize;
                self.problem.oracle(meter, i, &self.w, &mut self.work, &mut self.plane)?;
                offset += self.problem.add_plane(i, &self.plane, -1.0 / lambda, &mut self.hat);
                meter.charge(Charge::ExactProduct, self.problem.product_ops(i));
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
        // The sum cleared, the direction made, two products, the move.
        meter.charge(Charge::VectorOperation, 5 * self.w.len() as u64);
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        Solution { w: self.w.clone(), offset: self.offset }
    }

    fn dual(&self) -> f64 {
        self.offset - 0.5 * self.problem.lambda() * norm2(&self.w)
    }
}
