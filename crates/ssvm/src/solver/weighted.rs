//! The iterate of a solver that keeps φ^i as weights over planes: φ as w and φ∘, the W_i with their weights, and
//! visits. A visit scores the planes of one term once; its steps then touch no d-vector, and w moves once.

use super::average::{Average, Solution};
use super::state::{State, sizes};
use super::step::gamma_within;
use super::weights::{PairLimit, Vertex, Weights};
use super::working_set::best_values;
use super::{Interrupt, Meter, Metered};
use crate::clock::Operations;
use crate::problem::Problem;

/// The result of a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visit {
    /// The gap of the block over its planes before the visit.
    pub gap: f64,
    /// Operations of the visit, the oracle's not included.
    pub operations: Operations,
}

/// φ = Σ φ^i at one moment, every φ^i = Σ α_a p_a, with the memory to step.
pub struct Weighted<'p, P: Problem> {
    /// The problem, its oracle metered.
    pub problem: Metered<'p, P>,
    /// w = −φ⋆/λ.
    pub w: Vec<f64>,
    /// φ∘.
    pub offset: f64,
    /// The planes of the terms, and their weights.
    pub sets: Vec<Weights<P::Plane>>,
    /// Scratch memory.
    pub work: P::Work,
    /// The plane that the oracle returned last.
    pub hat: P::Plane,
    /// ⟨p_a, [w 1]⟩ of the term visited last.
    values: Vec<f64>,
    before: Vec<f64>,
    /// Number of products that all terms keep, and the most that they may keep.
    kept: usize,
    most: usize,
    /// Products of a term that keeps none, and whether they are lent to it.
    scratch: Vec<f64>,
    lent: bool,
}

impl<'p, P: Problem> Weighted<'p, P> {
    /// φ^i = 0, the ground-truth planes; at most `most` products are kept.
    pub fn new(problem: Metered<'p, P>, most: usize) -> Self {
        Self {
            problem,
            w: vec![0.0; problem.dim()],
            offset: 0.0,
            sets: (0..problem.terms()).map(|_| Weights::default()).collect(),
            work: problem.work(),
            hat: P::Plane::default(),
            values: Vec::new(),
            before: Vec::new(),
            kept: 0,
            most,
            scratch: Vec::new(),
            lent: false,
        }
    }

    /// W_i with the values of all its planes at w, by place.
    pub fn scored(&mut self, i: usize) -> (&Weights<P::Plane>, &[f64]) {
        self.values.clear();
        self.values.push(0.0);
        self.problem.values(i, &self.w, self.sets[i].planes.iter(), &mut self.work, &mut self.values);
        (&self.sets[i], &self.values)
    }

    /// The same right after an oracle call on term i.
    fn score_after_call(&mut self, i: usize) {
        self.values.clear();
        self.values.push(0.0);
        let values = self.sets[i].planes.iter().map(|plane| self.problem.value(i, plane, &self.w, &self.work));
        self.values.extend(values);
    }

    /// Adds a plane to term i with weight 0; a known plane is only marked active. Returns its place, whether it is new,
    /// and the operations.
    pub fn insert(&mut self, i: usize, plane: &P::Plane, now: u64) -> (usize, bool, u64) {
        let set = &mut self.sets[i];
        if let Some(at) = set.planes.iter().position(|known| known == plane) {
            set.last_active[at + 1] = now;
            return (at + 1, false, 0);
        }
        let offset = self.problem.offset(i, plane);
        let square = self.problem.product(i, plane, plane, &mut self.work);
        if offset == 0.0 && square == 0.0 {
            set.last_active[0] = now;
            return (0, false, 0);
        }
        set.push(plane, offset, now);
        let mut operations = self.problem.gram_ops(i);
        if set.keeps_products() && self.kept + set.len() <= self.most {
            set.products.push(0.0);
            for at in 0..set.planes.len() {
                let product = self.problem.product(i, &set.planes[at], plane, &mut self.work);
                set.products.push(product);
            }
            self.kept += set.len();
            operations *= set.len() as u64;
        } else {
            self.kept -= set.forget_products();
        }
        (set.planes.len(), true, operations)
    }

    /// [`Weighted::insert`] of the oracle's plane.
    pub fn insert_hat(&mut self, i: usize, now: u64) -> (usize, bool, u64) {
        let hat = std::mem::take(&mut self.hat);
        let inserted = self.insert(i, &hat, now);
        self.hat = hat;
        inserted
    }

    /// Makes one oracle call on term i, adds its plane to W_i, then makes steps. Fails without any change when the run
    /// must stop.
    #[inline]
    pub fn exact_visit(
        &mut self,
        i: usize,
        stop: PairLimit,
        now: u64,
        meter: &mut Meter<'_>,
        average: Option<&mut Average>,
    ) -> Result<Visit, Interrupt> {
        self.call(i, meter)?;
        let (_, _, inserted) = self.insert_hat(i, now);
        self.score_after_call(i);
        let mut visit = self.step(i, stop, now, average);
        // The oracle left its products, so a value costs only its sum.
        visit.operations.gram += inserted + self.sets[i].known() as u64 * self.problem.gram_ops(i);
        meter.exact_step(visit.operations);
        Ok(visit)
    }

    /// Makes one oracle call on term i at w into [`Weighted::hat`]. Fails without any change when the run must stop.
    #[inline]
    pub fn call(&mut self, i: usize, meter: &mut Meter<'_>) -> Result<(), Interrupt> {
        let known = self.sets[i].planes.iter();
        self.problem.oracle_among(meter, i, &self.w, known, &mut self.work, &mut self.hat)
    }

    /// The value of the oracle's plane less that of φ^i, right after [`Weighted::call`].
    pub fn hat_gap(&mut self, i: usize) -> f64 {
        self.score_after_call(i);
        let hat = self.problem.value(i, &self.hat, &self.w, &self.work);
        hat - self.sets[i].mix(&self.values)
    }

    /// The gap of term i over its planes, right after a visit.
    pub fn gap_left(&self, i: usize) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max) - self.sets[i].mix(&self.values)
    }

    /// The value of a plane less that of φ^i, right after an oracle call on term i.
    pub fn gap_towards(&mut self, i: usize, place: usize) -> f64 {
        self.score_after_call(i);
        self.values[place] - self.sets[i].mix(&self.values)
    }

    /// Makes one step between these ends on the weights of term i, whose values are known, and moves w.
    pub fn step_between(&mut self, i: usize, t: Vertex, o: Vertex) -> Operations {
        self.before.clone_from(&self.sets[i].alpha);
        let mut done = Operations { gram: self.lend_products(i), ..Operations::default() };
        let (set, lambda) = (&mut self.sets[i], self.problem.lambda());
        let (gain, norm2) = set.direction(t, o, &self.values);
        let gamma = gamma_within(gain, norm2, lambda, set.cap(t, o));
        if gamma > 0.0 {
            set.step(t, o, gamma, &mut self.values, lambda);
        }
        done.weighed += (set.len() * set.len()) as u64;
        self.return_products(i);
        if gamma > 0.0 {
            done += self.move_w(i, None);
        }
        done
    }

    /// Computes the products of term i where they are not kept; returns the operations.
    fn lend_products(&mut self, i: usize) -> u64 {
        let set = &mut self.sets[i];
        self.lent = !set.keeps_products();
        if !self.lent {
            return 0;
        }
        self.scratch.clear();
        self.scratch.push(0.0);
        for a in 0..set.planes.len() {
            self.scratch.push(0.0);
            for b in 0..=a {
                let product = self.problem.product(i, &set.planes[a], &set.planes[b], &mut self.work);
                self.scratch.push(product);
            }
        }
        std::mem::swap(&mut set.products, &mut self.scratch);
        set.products.len() as u64 * self.problem.gram_ops(i)
    }

    fn return_products(&mut self, i: usize) {
        if self.lent {
            std::mem::swap(&mut self.sets[i].products, &mut self.scratch);
        }
    }

    /// Makes one visit without an oracle call: scores the planes of term i, then steps.
    #[inline]
    pub fn visit(&mut self, i: usize, stop: PairLimit, now: u64, average: Option<&mut Average>) -> Visit {
        if self.sets[i].is_empty() {
            return Visit::default();
        }
        self.scored(i);
        let mut visit = self.step(i, stop, now, average);
        visit.operations.scored += self.sets[i].known() as u64 * self.problem.product_ops(i);
        visit
    }

    /// Makes pair steps on the weights of term i, whose values are known, then moves w once.
    #[inline]
    pub fn step(&mut self, i: usize, stop: PairLimit, now: u64, average: Option<&mut Average>) -> Visit {
        self.before.clone_from(&self.sets[i].alpha);
        let mut operations = Operations { gram: self.lend_products(i), ..Operations::default() };
        let set = &mut self.sets[i];
        let (gap, steps) = set.pair_steps(&mut self.values, self.problem.lambda(), stop, now);
        operations.weighed += (steps + 1) * set.len() as u64;
        self.return_products(i);
        if steps > 0 {
            operations += self.move_w(i, average);
        } else if let Some(average) = average {
            average.count(0.0);
        }
        Visit { gap, operations }
    }

    /// Moves w by what the weights of term i changed since `before`.
    fn move_w(&mut self, i: usize, mut average: Option<&mut Average>) -> Operations {
        let scale = -1.0 / self.problem.lambda();
        let set = &self.sets[i];
        let changes = set.alpha[1..].iter().zip(&self.before[1..]).map(|(now, before)| now - before);
        let changes = changes.zip(&set.planes).filter(|(change, _)| *change != 0.0);
        let moved = changes.clone().count() as u64;
        let mut sink = Average::sink(average.as_deref_mut(), &mut self.w, scale);
        let offset = self.problem.add_planes(i, changes, &mut self.work, &mut sink);
        self.offset += offset;
        let mut done = Operations { products: moved * self.problem.product_ops(i), ..Operations::default() };
        if let Some(average) = average {
            average.count(offset);
            done.averaged = done.products;
        }
        done
    }

    /// target ← target + scale·φ⋆^i for given weights; returns φ∘^i.
    pub fn add(&self, i: usize, alpha: &[f64], scale: f64, target: &mut [f64]) -> f64 {
        let mut offset = 0.0;
        for (plane, share) in self.sets[i].planes.iter().zip(&alpha[1..]).filter(|(_, share)| **share != 0.0) {
            offset += share * self.problem.add_plane(i, plane, scale * share, target);
        }
        offset
    }

    /// Drops planes of weight 0 of term i, see [`Weights::expire`].
    pub fn expire(&mut self, i: usize, now: u64, age: u64, most: usize) {
        self.kept -= self.sets[i].expire(now, age, most);
    }

    /// While there are more than `most` planes besides the truth's, drops the plane of weight 0 with the lowest value;
    /// the values are those of the last scoring of term i.
    pub fn evict(&mut self, i: usize, most: usize) {
        self.kept -= self.sets[i].evict(most, &mut self.values);
    }
}

impl<P: Problem> State for Weighted<'_, P> {
    fn phi(&self) -> (&[f64], f64) {
        (&self.w, self.offset)
    }

    fn lambda(&self) -> f64 {
        self.problem.lambda()
    }

    fn resummed(&self) -> Solution {
        let mut solution = Solution { w: vec![0.0; self.w.len()], offset: 0.0 };
        let scale = -1.0 / self.problem.lambda();
        for (i, set) in self.sets.iter().enumerate() {
            for (plane, alpha) in set.planes.iter().zip(&set.alpha[1..]) {
                if *alpha != 0.0 {
                    solution.offset += alpha * self.problem.add_plane(i, plane, scale * alpha, &mut solution.w);
                }
            }
        }
        solution
    }

    /// Also makes all weights convex combinations again.
    fn resum(&mut self) -> u64 {
        self.sets.iter_mut().for_each(Weights::normalise);
        let Solution { w, offset } = self.resummed();
        (self.w, self.offset) = (w, offset);
        let added = |set: &Weights<P::Plane>| set.alpha[1..].iter().filter(|alpha| **alpha != 0.0).count() as u64;
        self.sets.iter().enumerate().map(|(i, set)| added(set) * self.problem.product_ops(i)).sum()
    }

    fn planes(&self) -> (f64, u64) {
        sizes(self.sets.iter().map(Weights::known))
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        // The truth's plane, which is 0, is always known.
        best_values(self.problem, self.sets.iter().map(|set| set.planes.iter()), w, 0.0)
    }

    fn weights(&self) -> Vec<&[f64]> {
        self.sets.iter().map(Weights::alpha).collect()
    }

    fn cached_bytes(&self) -> u64 {
        (self.kept * size_of::<f64>()) as u64
    }
}
