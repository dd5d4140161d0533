//! Stochastic subgradient with weighted averaging: w_k is minus n/λ times the mean of the k planes so far.
//!
//! With γ_k = 1/(k+1) the step w ← (1−γ)w − γ(n/λ)φ⋆ is that mean, and weights 2/(k+2) make the average
//! w̄_K = −(n/λ)·2/(K(K+1)) Σ_k m_k with m_k the sum of the first k planes. Σ_k m_k = (K+1)m_K − Σ_j j φ_j, so two sums
//! that take one plane a step are enough. There is no feasible φ behind it, hence no dual.

use super::order::{Order, Orders};
use super::{Interrupt, Iteration, Meter, Metered, Solution, Solver, SolverInfo, SolverRow};
use crate::clock::Charge;
use crate::problem::Problem;
use crate::settings::Params;

pub struct SsgAvg;

impl SolverRow for SsgAvg {
    fn info(&self) -> SolverInfo {
        SolverInfo {
            name: "ssg-avg",
            about: "stochastic subgradient, read out at its weighted average; no dual",
            reads_clock: |_| false,
            ..SolverInfo::PLAIN
        }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let dim = problem.dim();
        Box::new(Ssg {
            problem,
            w: vec![0.0; dim],
            sum: vec![0.0; dim],
            ranked: vec![0.0; dim],
            steps: 0,
            work: problem.work(),
            plane: P::Plane::default(),
            orders: Orders::new(Order::UNIFORM, problem.terms(), seed),
        })
    }
}

struct Ssg<'p, P: Problem> {
    problem: Metered<'p, P>,
    w: Vec<f64>,
    /// −(n/λ)·m_k.
    sum: Vec<f64>,
    /// −(n/λ)·Σ_j j φ_j.
    ranked: Vec<f64>,
    steps: u64,
    work: P::Work,
    plane: P::Plane,
    orders: Orders,
}

impl<P: Problem> Solver for Ssg<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.orders.draw();
        let factor = -(self.orders.list().len() as f64) / self.problem.lambda();
        for i in self.orders.list() {
            let i = *i as usize;
            self.problem.oracle(meter, i, &self.w, &mut self.work, &mut self.plane)?;
            self.steps += 1;
            self.problem.add_plane(i, &self.plane, factor, &mut self.sum);
            self.problem.add_plane(i, &self.plane, factor * self.steps as f64, &mut self.ranked);
            let mean = 1.0 / self.steps as f64;
            for (w, sum) in self.w.iter_mut().zip(&self.sum) {
                *w = mean * sum;
            }
            meter.charge(Charge::ExactProduct, 2 * self.problem.product_ops(i));
            meter.charge(Charge::VectorOperation, self.w.len() as u64);
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        let k = self.steps as f64;
        let mut w = self.sum.clone();
        if self.steps > 0 {
            for (w, ranked) in w.iter_mut().zip(&self.ranked) {
                *w = 2.0 / (k * (k + 1.0)) * ((k + 1.0) * *w - ranked);
            }
        }
        Solution { w, offset: f64::NEG_INFINITY }
    }

    fn dual(&self) -> f64 {
        f64::NEG_INFINITY
    }
}
