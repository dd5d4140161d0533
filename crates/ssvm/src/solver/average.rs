//! Weighted averages of iterates, kept lazily.
//!
//! φ̄^(k) = 2/(k(k+1)) Σ_t t φ^(t). With φ^(t) = Σ_{s≤t} δ_s and T_k = k(k+1)/2 this is φ^(k) − (1/T_k) Σ_s T_{s−1} δ_s,
//! so it is enough to add T_{s−1}·δ_s on the support of each step's change δ_s.

use crate::linalg::add_scaled;
use crate::problem::Sink;

/// Accumulator of one average (over the exact or over the approximate steps).
///
/// ```
/// use ssvm::solver::Average;
///
/// // Iterates 1, then 3, in one dimension: φ̄ = 1/3 · 1 + 2/3 · 3.
/// let (mut average, mut w) = (Average::new(1), vec![0.0]);
/// for change in [1.0, 2.0] {
///     average.sum_mut()[0] += average.weight() * change;
///     average.count(0.0);
///     w[0] += change;
/// }
/// assert!((average.read(&w, 0.0).unwrap().w[0] - 7.0 / 3.0).abs() < 1e-15);
/// ```
pub struct Average {
    /// Σ T_{s−1} δ_s in the coordinates of w.
    sum: Vec<f64>,
    /// The same for φ∘.
    offset_sum: f64,
    /// k: steps so far.
    steps: u64,
}

/// A dual vector read out of a solver: w and φ∘.
#[derive(Clone, Debug)]
pub struct Solution {
    /// −φ⋆/λ.
    pub w: Vec<f64>,
    /// φ∘.
    pub offset: f64,
}

impl Solution {
    /// F = φ∘ − λ/2 ‖w‖².
    pub fn dual(&self, lambda: f64) -> f64 {
        self.offset - 0.5 * lambda * crate::linalg::norm2(&self.w)
    }

    /// The point between `self` and `other` with the largest F (closed form, clipped to the segment).
    pub fn best_between(mut self, other: &Self, lambda: f64) -> Self {
        let difference: Vec<f64> = other.w.iter().zip(&self.w).map(|(b, a)| b - a).collect();
        let direction = crate::problem::Direction {
            gain: (other.offset - self.offset) - lambda * crate::linalg::dot(&self.w, &difference),
            norm2: lambda * lambda * crate::linalg::norm2(&difference),
            offset: other.offset - self.offset,
        };
        let gamma = super::step::gamma(&direction, lambda);
        add_scaled(&mut self.w, gamma, &difference);
        self.offset += gamma * direction.offset;
        self
    }
}

impl Average {
    /// An average of no steps.
    pub fn new(dim: usize) -> Self {
        Self { sum: vec![0.0; dim], offset_sum: 0.0, steps: 0 }
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// T_k for the steps so far: the weight of the next change.
    pub fn weight(&self) -> f64 {
        self.steps as f64 * (self.steps as f64 + 1.0) / 2.0
    }

    /// The vector that takes the next step's change of w times [`Average::weight`].
    pub fn sum_mut(&mut self) -> &mut [f64] {
        &mut self.sum
    }

    /// Where the change of the next step goes: into w, and into this average, if any.
    #[inline(always)]
    pub fn sink<'a>(average: Option<&'a mut Self>, w: &'a mut [f64], scale: f64) -> Sink<'a> {
        let average = average.map(|average| {
            let factor = scale * average.weight();
            (average.sum_mut(), factor)
        });
        Sink { w, scale, average }
    }

    /// Counts a step whose change of w was already added to [`Average::sum_mut`].
    pub fn count(&mut self, offset_change: f64) {
        self.offset_sum += self.weight() * offset_change;
        self.steps += 1;
    }

    /// Adds a change of φ by steps that this average does not count.
    pub fn shift(&mut self, w: &[f64], w_before: &[f64], offset_change: f64) {
        let weight = self.weight();
        for ((sum, now), before) in self.sum.iter_mut().zip(w).zip(w_before) {
            *sum += weight * (now - before);
        }
        self.offset_sum += weight * offset_change;
    }

    /// The average, given the current iterate; `None` before the first step.
    pub fn read(&self, w: &[f64], offset: f64) -> Option<Solution> {
        if self.steps == 0 {
            return None;
        }
        let mut solution = Solution { w: w.to_vec(), offset: offset - self.offset_sum / self.weight() };
        add_scaled(&mut solution.w, -1.0 / self.weight(), &self.sum);
        Some(solution)
    }
}
