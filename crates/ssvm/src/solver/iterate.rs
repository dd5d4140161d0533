//! The iterate of a block-coordinate solver: φ as w and φ∘, all φ^i, and the one step that moves them.

use super::average::{Average, Solution};
use super::{Interrupt, Meter, Metered, step};
use crate::clock::Operations;
use crate::linalg::norm2;
use crate::problem::{Direction, Problem};

/// φ = Σ φ^i at one moment, with the memory to step.
pub struct Iterate<'p, P: Problem> {
    /// The problem, its oracle metered.
    pub problem: Metered<'p, P>,
    /// w = −φ⋆/λ.
    pub w: Vec<f64>,
    /// φ∘.
    pub offset: f64,
    /// All φ^i.
    pub blocks: P::Blocks,
    /// Scratch memory.
    pub work: P::Work,
    /// The plane that the oracle returned last.
    pub hat: P::Plane,
}

impl<'p, P: Problem> Iterate<'p, P> {
    /// φ^i = 0, the ground-truth planes.
    pub fn new(problem: Metered<'p, P>) -> Self {
        Self {
            problem,
            w: vec![0.0; problem.dim()],
            offset: 0.0,
            blocks: problem.blocks(),
            work: problem.work(),
            hat: P::Plane::default(),
        }
    }

    /// The exact step on term i: one oracle call, then [`Iterate::step`] towards [`Iterate::hat`]. Returns the gap of
    /// the block before the step. Fails without any change when the run must stop.
    #[inline(always)]
    pub fn exact_step(
        &mut self,
        i: usize,
        meter: &mut Meter<'_>,
        average: Option<&mut Average>,
    ) -> Result<f64, Interrupt> {
        self.exact_step_among(i, std::iter::empty(), meter, average)
    }

    /// [`Iterate::exact_step`] of a solver that keeps planes: an oracle that is not exact also starts from them.
    #[inline(always)]
    pub fn exact_step_among<'a>(
        &mut self,
        i: usize,
        known: impl Iterator<Item = &'a P::Plane>,
        meter: &mut Meter<'_>,
        average: Option<&mut Average>,
    ) -> Result<f64, Interrupt>
    where
        P::Plane: 'a,
    {
        self.problem.oracle_among(meter, i, &self.w, known, &mut self.work, &mut self.hat)?;
        let direction = self.aim(i, None);
        let mut done = Operations { products: self.problem.product_ops(i), ..Operations::default() };
        done += self.advance(i, None, &direction, average);
        meter.exact_step(done);
        Ok(direction.gain)
    }

    /// φ^i ← (1−γ)φ^i + γφ̂ with the γ that raises F the most; the change also goes into the average. Needs the
    /// products of term i with w in [`Iterate::work`], as an oracle call or [`Problem::load`] leaves them. Also returns
    /// whether φ^i is that plane already, so that no step towards it, at any w, will change anything.
    #[inline(always)]
    pub fn step(&mut self, i: usize, plane: &P::Plane, average: Option<&mut Average>) -> (Operations, bool) {
        let direction = self.aim(i, Some(plane));
        let mut done = Operations { products: self.problem.product_ops(i), ..Operations::default() };
        done += self.advance(i, Some(plane), &direction, average);
        (done, direction.gain == 0.0 && direction.norm2 == 0.0)
    }

    /// The direction φ̂ − φ^i; without a plane, towards the oracle's. Needs what [`Iterate::step`] needs.
    #[inline(always)]
    pub(super) fn aim(&mut self, i: usize, plane: Option<&P::Plane>) -> Direction {
        let plane = plane.unwrap_or(&self.hat);
        self.problem.direction(i, &self.blocks, plane, &self.w, &mut self.work)
    }

    /// Makes the step along the last direction aimed in.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        i: usize,
        plane: Option<&P::Plane>,
        direction: &Direction,
        mut average: Option<&mut Average>,
    ) -> Operations {
        let mut done = Operations::default();
        let plane = plane.unwrap_or(&self.hat);
        let lambda = self.problem.lambda();
        let gamma = step::gamma(direction, lambda);
        if gamma > 0.0 {
            let mut sink = Average::sink(average.as_deref_mut(), &mut self.w, -1.0 / lambda);
            self.problem.advance(i, &mut self.blocks, plane, gamma, &mut self.work, &mut sink);
            self.offset += gamma * direction.offset;
            done.products = self.problem.product_ops(i);
            done.averaged = if average.is_some() { done.products } else { 0 };
        }
        if let Some(average) = average {
            average.count(gamma * direction.offset);
        }
        done
    }

    /// F.
    pub fn dual(&self) -> f64 {
        self.offset - 0.5 * self.problem.lambda() * norm2(&self.w)
    }

    /// w and φ∘.
    pub fn solution(&self) -> Solution {
        Solution { w: self.w.clone(), offset: self.offset }
    }

    /// w and φ∘ summed from the φ^i: the current ones up to rounding.
    pub fn resummed(&self) -> Solution {
        let mut solution = Solution { w: vec![0.0; self.w.len()], offset: 0.0 };
        solution.offset = self.sum_blocks(&mut solution.w);
        solution
    }

    /// Sums φ afresh from the φ^i, against drift; returns the operations of its products.
    pub fn resum(&mut self) -> u64 {
        let mut w = std::mem::take(&mut self.w);
        self.offset = self.sum_blocks(&mut w);
        self.w = w;
        (0..self.problem.terms()).map(|i| self.problem.product_ops(i)).sum()
    }

    fn sum_blocks(&self, w: &mut [f64]) -> f64 {
        w.fill(0.0);
        let scale = -1.0 / self.problem.lambda();
        (0..self.problem.terms()).map(|i| self.problem.add_block(i, &self.blocks, scale, w)).sum()
    }
}
