//! Conjugate gradients over the weights that are not 0, all terms at once, for the last digits of an optimum.
//!
//! On the face where the other weights stay 0, F is a quadratic until some weight reaches 0. That weight then stays
//! there, and the search starts again on the smaller face. Values are computed at the new w each time, so that rounding
//! errors do not accumulate.

use super::weighted::Weighted;
use super::weights::Weights;
use crate::linalg::{add_scaled, norm2};
use crate::problem::Problem;

/// One term with at least two weights above 0.
struct Free {
    term: usize,
    /// Change of the weights along the search, by place.
    along: Vec<f64>,
    /// The projected gradient: values minus their mean over the weights above 0.
    slope: Vec<f64>,
}

pub(super) struct Face {
    free: Vec<Free>,
    /// Σ of the change of φ⋆ along the search.
    phi: Vec<f64>,
}

impl Face {
    pub fn new<P>(weights: &[Weights<P>], dim: usize) -> Self {
        let free =
            weights.iter().enumerate().filter(|(_, block)| block.alpha().iter().filter(|a| **a > 0.0).count() > 1);
        let free =
            free.map(|(term, block)| Free { term, along: vec![0.0; block.len()], slope: vec![0.0; block.len()] });
        Self { free: free.collect(), phi: vec![0.0; dim] }
    }

    /// Makes at most `most` steps, fewer when the slope falls below `share` of the first. Returns their number.
    pub fn search<Q: Problem>(
        &mut self,
        now: &mut Weighted<'_, Q>,
        (most, share): (u32, f64),
        stop: &dyn Fn() -> bool,
    ) -> u32 {
        let lambda = now.problem.lambda();
        let (mut last, mut first) = (0.0, 0.0);
        for step in 0..most {
            let slope = self.slopes(now);
            if step == 0 {
                first = slope;
            }
            if slope <= share * share * first || stop() {
                return step + 1;
            }
            let keep = if last > 0.0 { slope / last } else { 0.0 };
            last = slope;
            self.phi.fill(0.0);
            let (mut gain, mut tilt) = (0.0, 0.0);
            for free in &mut self.free {
                for (along, slope) in free.along.iter_mut().zip(&free.slope) {
                    *along = slope + keep * *along;
                    gain += *along * slope;
                }
                tilt += now.add(free.term, &free.along, 1.0, &mut self.phi);
            }
            let curve = norm2(&self.phi) / lambda;
            let (cap, wall) = self.wall(&now.sets);
            let gamma = if gain >= cap * curve { cap } else { gain / curve };
            if !(gain > 0.0 && gamma > 0.0 && gamma.is_finite()) {
                return step + 1;
            }
            for free in &self.free {
                now.sets[free.term].move_along(&free.along, gamma);
            }
            if let Some((at, place)) = wall.filter(|_| gamma == cap) {
                now.sets[self.free[at].term].empty(place);
                last = 0.0;
            }
            now.offset += gamma * tilt;
            add_scaled(&mut now.w, -gamma / lambda, &self.phi);
        }
        most
    }

    /// Projected gradients at w; returns Σ of their squares.
    fn slopes<Q: Problem>(&mut self, now: &mut Weighted<'_, Q>) -> f64 {
        let mut total = 0.0;
        for free in &mut self.free {
            let (block, values) = now.scored(free.term);
            let inside = || block.alpha().iter().zip(values).filter(|(alpha, _)| **alpha > 0.0);
            let mean = inside().map(|(_, value)| value).sum::<f64>() / inside().count().max(1) as f64;
            for ((slope, alpha), value) in free.slope.iter_mut().zip(block.alpha()).zip(values) {
                *slope = if *alpha > 0.0 { value - mean } else { 0.0 };
                total += *slope * *slope;
            }
        }
        total
    }

    /// The longest step that keeps all weights at 0 or above, and the weight that stops it.
    fn wall<P>(&self, weights: &[Weights<P>]) -> (f64, Option<(usize, usize)>) {
        let (mut cap, mut wall) = (f64::INFINITY, None);
        for (at, free) in self.free.iter().enumerate() {
            for (place, (along, alpha)) in free.along.iter().zip(weights[free.term].alpha()).enumerate() {
                if *along < 0.0 && *alpha < -*along * cap {
                    (cap, wall) = (alpha / -along, Some((at, place)));
                }
            }
        }
        (cap, wall)
    }
}
