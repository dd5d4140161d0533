//! φ in the form that a solver keeps, as it is read between iterations.

use super::average::Solution;
use super::working_set::{WorkingSet, best_values};
use super::{Iterate, Metered};
use crate::linalg::norm2;
use crate::problem::Problem;

/// φ = Σ φ^i, and the planes kept beside it.
pub trait State {
    /// w and φ∘.
    fn phi(&self) -> (&[f64], f64);
    /// λ.
    fn lambda(&self) -> f64;
    /// Sums φ afresh from the φ^i, against drift; returns the operations of its products.
    fn resum(&mut self) -> u64;
    /// φ summed afresh from the φ^i: [`State::solution`] up to rounding.
    fn resummed(&self) -> Solution;
    /// Mean and largest working-set size.
    fn planes(&self) -> (f64, u64);
    /// Per term the largest ⟨φ^{iy}, [w 1]⟩ of the planes it keeps, which is a lower bound of H_i(w); −∞ where it has
    /// none. Read at evaluations when the oracle is not exact. Empty when no planes are kept.
    fn kept_values(&self, w: &[f64]) -> Vec<f64>;
    /// The weights over planes of every term, the truth's first; empty when φ^i is kept in another form.
    fn weights(&self) -> Vec<&[f64]> {
        Vec::new()
    }
    /// Memory of the products between planes that it keeps, in bytes.
    fn cached_bytes(&self) -> u64 {
        0
    }
    /// A copy of w and φ∘.
    fn solution(&self) -> Solution {
        let (w, offset) = self.phi();
        Solution { w: w.to_vec(), offset }
    }
    /// F.
    fn dual(&self) -> f64 {
        let (w, offset) = self.phi();
        offset - 0.5 * self.lambda() * norm2(w)
    }
}

/// φ^i as one vector each, and the W_i: the state of a solver that keeps planes. `examples/solver.rs` is built on it.
pub struct PlaneCache<'p, P: Problem> {
    /// φ.
    pub now: Iterate<'p, P>,
    /// The planes of the terms.
    pub sets: Vec<WorkingSet<P::Plane>>,
    /// Memory of dropped planes, for reuse.
    pub spare: Vec<P::Plane>,
}

impl<'p, P: Problem> PlaneCache<'p, P> {
    /// φ^i = 0, and no planes.
    pub fn new(problem: Metered<'p, P>) -> Self {
        let sets = (0..problem.terms()).map(|_| WorkingSet::default()).collect();
        Self { now: Iterate::new(problem), sets, spare: Vec::new() }
    }
}

impl<P: Problem> State for PlaneCache<'_, P> {
    fn phi(&self) -> (&[f64], f64) {
        (&self.now.w, self.now.offset)
    }

    fn lambda(&self) -> f64 {
        self.now.problem.lambda()
    }

    fn resum(&mut self) -> u64 {
        self.now.resum()
    }

    fn resummed(&self) -> Solution {
        self.now.resummed()
    }

    fn planes(&self) -> (f64, u64) {
        sizes(self.sets.iter().map(WorkingSet::len))
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        best_values(self.now.problem, self.sets.iter().map(WorkingSet::planes), w, f64::NEG_INFINITY)
    }
}

/// Mean and largest of the sizes of working sets.
pub fn sizes(sets: impl ExactSizeIterator<Item = usize>) -> (f64, u64) {
    let count = sets.len().max(1) as f64;
    let (total, most) = sets.fold((0, 0), |(total, most), size| (total + size, most.max(size)));
    (total as f64 / count, most as u64)
}
