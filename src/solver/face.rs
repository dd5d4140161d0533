//! The last digits: conjugate gradients over the weights that are not 0, all terms at once. In: weights, w, φ∘. Out: the
//! same with a higher F.
//!
//! On the face where the other weights stay 0, F is a quadratic. Its top is sought as if there were no walls; then the
//! whole way there is projected onto the weights that are allowed, and the best of its halves, quarters, … is taken, so
//! that many weights can become 0 at once. Values are taken at the new w each time, never carried along, so rounding does
//! not pile up.

use super::weights::{Bench, Weights};
use crate::linalg::{add_scaled, norm2};
use crate::problem::Problem;

/// Most halvings of the way.
const HALVINGS: u32 = 30;

/// One term with at least two weights above 0.
struct Free {
    term: usize,
    /// The weights at the start.
    alpha: Vec<f64>,
    /// Values at the start.
    values: Vec<f64>,
    /// Values minus their mean over the weights above 0, at the moment.
    slope: Vec<f64>,
    /// Direction of the search at the moment.
    along: Vec<f64>,
    /// The way from the start.
    way: Vec<f64>,
    /// Change of the weights that is tried.
    trial: Vec<f64>,
}

/// The face at one moment.
pub(super) struct Face {
    free: Vec<Free>,
    /// Change of φ⋆ along a direction.
    phi: Vec<f64>,
    /// The best trial.
    best: Vec<Vec<f64>>,
}

impl Face {
    /// The terms that can move.
    pub fn new<P>(weights: &[Weights<P>], dim: usize) -> Self {
        let free = weights.iter().enumerate().filter(|(_, block)| block.alpha().iter().filter(|a| **a > 0.0).count() > 1);
        let free = free.map(|(term, block)| {
            let zeros = vec![0.0; block.len()];
            Free {
                term,
                alpha: block.alpha().to_vec(),
                values: zeros.clone(),
                slope: zeros.clone(),
                along: zeros.clone(),
                way: zeros.clone(),
                trial: zeros,
            }
        });
        Self { free: free.collect(), phi: vec![0.0; dim], best: Vec::new() }
    }

    /// At most `most` steps, fewer when the slope falls below `share` of the first. Returns the change of φ∘.
    pub fn search<Q: Problem>(
        &mut self,
        bench: &mut Bench<'_, Q>,
        lambda: f64,
        weights: &mut [Weights<Q::Plane>],
        w: &mut [f64],
        (most, share): (u32, f64),
        stop: &dyn Fn() -> bool,
    ) -> f64 {
        self.seek_top(bench, lambda, weights, w, (most, share), stop);
        let (mut best, mut factor) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            if stop() {
                break;
            }
            let gain = self.gain(bench, lambda, weights, factor);
            if gain > best {
                best = gain;
                self.best = self.free.iter().map(|free| free.trial.clone()).collect();
            } else if best > 0.0 {
                break;
            }
            factor *= 0.5;
        }
        if best <= 0.0 {
            return 0.0;
        }
        let mut offset = 0.0;
        self.phi.fill(0.0);
        for (free, trial) in self.free.iter().zip(&self.best) {
            offset += bench.add(free.term, &weights[free.term], trial, 1.0, &mut self.phi).0;
            weights[free.term].move_by(trial);
        }
        add_scaled(w, -1.0 / lambda, &self.phi);
        offset
    }

    /// Conjugate gradients without walls, into the ways.
    fn seek_top<Q: Problem>(
        &mut self,
        bench: &mut Bench<'_, Q>,
        lambda: f64,
        weights: &[Weights<Q::Plane>],
        w: &[f64],
        (most, share): (u32, f64),
        stop: &dyn Fn() -> bool,
    ) {
        let mut w = w.to_vec();
        let (mut last, mut first) = (0.0, 0.0);
        for step in 0..most {
            let slope = self.slopes(bench, weights, &w, step == 0);
            if step == 0 {
                first = slope;
            }
            if slope <= share * share * first || stop() {
                return;
            }
            let keep = if last > 0.0 { slope / last } else { 0.0 };
            last = slope;
            self.phi.fill(0.0);
            let mut gain = 0.0;
            for free in &mut self.free {
                for (along, slope) in free.along.iter_mut().zip(&free.slope) {
                    *along = slope + keep * *along;
                    gain += *along * slope;
                }
                bench.add(free.term, &weights[free.term], &free.along, 1.0, &mut self.phi);
            }
            let gamma = gain * lambda / norm2(&self.phi);
            if !(gain > 0.0 && gamma.is_finite()) {
                return;
            }
            for free in &mut self.free {
                add_scaled(&mut free.way, gamma, &free.along);
            }
            add_scaled(&mut w, -gamma / lambda, &self.phi);
        }
    }

    /// Projected gradients at w; returns Σ of their squares.
    fn slopes<Q: Problem>(
        &mut self,
        bench: &mut Bench<'_, Q>,
        weights: &[Weights<Q::Plane>],
        w: &[f64],
        at_start: bool,
    ) -> f64 {
        let mut total = 0.0;
        for free in &mut self.free {
            let values = bench.score(free.term, &weights[free.term], w);
            if at_start {
                free.values.copy_from_slice(values);
            }
            let inside = || free.alpha.iter().zip(values).filter(|(alpha, _)| **alpha > 0.0);
            let mean = inside().map(|(_, value)| value).sum::<f64>() / inside().count().max(1) as f64;
            for ((slope, alpha), value) in free.slope.iter_mut().zip(&free.alpha).zip(values) {
                *slope = if *alpha > 0.0 { value - mean } else { 0.0 };
                total += *slope * *slope;
            }
        }
        total
    }

    /// What F gains when the weights go this part of the way and are projected; leaves the change in the trials.
    fn gain<Q: Problem>(
        &mut self,
        bench: &mut Bench<'_, Q>,
        lambda: f64,
        weights: &[Weights<Q::Plane>],
        factor: f64,
    ) -> f64 {
        self.phi.fill(0.0);
        let mut gain = 0.0;
        for free in &mut self.free {
            for ((trial, alpha), way) in free.trial.iter_mut().zip(&free.alpha).zip(&free.way) {
                *trial = if *alpha > 0.0 { alpha + factor * way } else { f64::NEG_INFINITY };
            }
            project(&mut free.trial);
            for ((trial, alpha), value) in free.trial.iter_mut().zip(&free.alpha).zip(&free.values) {
                *trial -= alpha;
                gain += *trial * value;
            }
            bench.add(free.term, &weights[free.term], &free.trial, 1.0, &mut self.phi);
        }
        gain - norm2(&self.phi) / (2.0 * lambda)
    }
}

/// The nearest convex weights: all above some level, less that level.
fn project(point: &mut [f64]) {
    let mut falling: Vec<f64> = point.iter().copied().filter(|value| value.is_finite()).collect();
    falling.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, 0.0);
    for (count, value) in falling.iter().enumerate() {
        sum += value;
        let next = (sum - 1.0) / (count + 1) as f64;
        if *value <= next {
            break;
        }
        level = next;
    }
    for value in point {
        *value = (*value - level).max(0.0);
    }
}
