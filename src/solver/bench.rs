//! The products that weights need, taken from a problem: in go planes of a term and w, out come values, weights with a new
//! plane, and w moved by what the weights changed.

use super::weights::Weights;
use crate::problem::Problem;

/// Memory to put planes in and to step: one for all terms.
pub struct Bench<'p, Q: Problem> {
    problem: &'p Q,
    /// The φ^i that [`Problem::load`] asks for; never moved.
    blocks: Q::Blocks,
    work: Q::Work,
    dense: Vec<f64>,
    /// ⟨p_a, [w 1]⟩ of the term visited last.
    values: Vec<f64>,
    before: Vec<f64>,
}

impl<'p, Q: Problem> Bench<'p, Q> {
    /// Memory for the terms of a problem.
    pub fn new(problem: &'p Q) -> Self {
        Self {
            problem,
            blocks: problem.blocks(),
            work: problem.work(),
            dense: vec![0.0; problem.dim()],
            values: Vec::new(),
            before: Vec::new(),
        }
    }

    /// The max-oracle, see [`Problem::oracle`].
    pub fn oracle(&mut self, i: usize, w: &[f64], plane: &mut Q::Plane) -> u64 {
        self.problem.oracle(i, w, &mut self.work, plane)
    }

    /// Values of all planes of term i at w, by place.
    pub fn score(&mut self, i: usize, weights: &Weights<Q::Plane>, w: &[f64]) -> &[f64] {
        self.problem.load(i, w, &self.blocks, weights.planes.iter(), &mut self.work);
        self.values.clear();
        self.values.push(0.0);
        self.values.extend(weights.planes.iter().map(|plane| self.problem.value(i, plane, w, &self.work)));
        &self.values
    }

    /// Puts a plane of term i in, with weight 0; a plane that is there is only marked active. Returns its place, and
    /// whether it is new.
    pub fn insert(&mut self, i: usize, weights: &mut Weights<Q::Plane>, plane: &Q::Plane, now: u64) -> (usize, bool) {
        if let Some(at) = weights.planes.iter().position(|known| known == plane) {
            weights.last_active[at + 1] = now;
            return (at + 1, false);
        }
        // Times 1/λ, of the size of w: the values below are then not lost beside the offsets.
        let lambda = self.problem.lambda();
        self.dense.fill(0.0);
        let offset = self.problem.add_plane(i, plane, 1.0 / lambda, &mut self.dense);
        if offset == 0.0 && self.dense.iter().all(|entry| *entry == 0.0) {
            weights.last_active[0] = now;
            return (0, false);
        }
        weights.planes.push(plane.clone());
        weights.alpha.push(0.0);
        weights.offsets.push(offset);
        weights.last_active.push(now);
        self.problem.load(i, &self.dense, &self.blocks, weights.planes.iter(), &mut self.work);
        weights.products.push(0.0);
        for (other, offset) in weights.planes.iter().zip(&weights.offsets[1..]) {
            let value = self.problem.value(i, other, &self.dense, &self.work);
            weights.products.push(lambda * (value - offset));
        }
        (weights.planes.len(), true)
    }

    /// One visit: scores the planes of term i at w, takes pair steps on their weights until at most `share` of the gap
    /// over them is left, then moves w once. Returns the gap over the planes as it was, and the change of φ∘.
    pub fn visit(
        &mut self,
        i: usize,
        weights: &mut Weights<Q::Plane>,
        w: &mut [f64],
        share: f64,
        now: u64,
    ) -> (f64, f64) {
        if weights.planes.is_empty() {
            return (0.0, 0.0);
        }
        self.score(i, weights, w);
        self.before.clone_from(&weights.alpha);
        let gap = weights.pair_steps(&mut self.values, self.problem.lambda(), share, now);
        if gap <= 0.0 {
            return (gap, 0.0);
        }
        (gap, self.move_w(i, weights, w))
    }

    /// Moves w by what the weights changed since `before`; returns the change of φ∘.
    fn move_w(&self, i: usize, weights: &Weights<Q::Plane>, w: &mut [f64]) -> f64 {
        let scale = -1.0 / self.problem.lambda();
        let mut offset = 0.0;
        for (at, plane) in weights.planes.iter().enumerate() {
            let change = weights.alpha[at + 1] - self.before[at + 1];
            if change != 0.0 {
                offset += change * self.problem.add_plane(i, plane, scale * change, w);
            }
        }
        offset
    }

    /// target ← target + scale·φ⋆^i for given weights; returns φ∘^i and Σ |weight|·‖p⋆‖.
    pub fn add(
        &self,
        i: usize,
        weights: &Weights<Q::Plane>,
        alpha: &[f64],
        scale: f64,
        target: &mut [f64],
    ) -> (f64, f64) {
        let (mut offset, mut length) = (0.0, 0.0);
        for (at, plane) in weights.planes.iter().enumerate() {
            let share = alpha[at + 1];
            if share != 0.0 {
                offset += share * self.problem.add_plane(i, plane, scale * share, target);
                length += share.abs() * weights.product(at + 1, at + 1).max(0.0).sqrt();
            }
        }
        (offset, length)
    }
}
