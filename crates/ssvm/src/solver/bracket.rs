//! A bracket of the optimum, as narrow as requested: F of a feasible φ and P at some w, both with an allowance for
//! rounding.
//!
//! A round has three parts. All oracles are called at one w (the certificate: P, and new planes). Terms with a new
//! plane take exact steps. Approximate passes with pair steps over the working sets then alternate with conjugate
//! gradients over the weights above 0, until the gap over the known planes is a small part of the certified one.

use rayon::prelude::*;

use super::Metered;
use super::face::Face;
use super::order::{Order, Orders};
use super::state::State as _;
use super::weighted::Weighted;
use super::weights::{PairLimit, Weights};
use crate::linalg::{add_scaled, norm2};
use crate::problem::{Certificate, Fault, Problem, Sizes};

/// Planes of weight 0 leave W_i after this many rounds without being the best one.
const AGE: u64 = 10;

/// Most planes of one term, unless more have weight.
const MOST: usize = 200;

/// Part of the certified gap that may be left over the known planes at the end of a round.
const LEFT: f64 = 0.1;

/// Without new planes, the search ends when the bracket does not narrow by this part…
const GAIN: f64 = 0.01;

/// …in this many rounds.
const PATIENCE: u64 = 30;

/// Approximate passes of a sweep.
const PASSES: u32 = 4;

/// Most sweeps of a round (passes, then perhaps a search over the face), by the number of terms with a new plane. While
/// many terms get new planes, exactness over the known ones is wasted.
fn sweeps(news: usize, terms: usize) -> u32 {
    match news {
        news if 4 * news > terms => 1,
        news if 20 * news > terms => 5,
        _ => 50,
    }
}

/// When to search over faces and how far: more while searches gain more than passes, rarely while weights at 0 stop
/// them early.
struct Search {
    /// Sweeps to make before the next search.
    wait: u32,
    /// Sweeps that were made before the last one.
    waited: u32,
    steps: u32,
}

impl Search {
    fn learn(&mut self, paid: bool) {
        *self = if paid {
            Self { wait: 0, waited: 0, steps: (2 * self.steps).min(120) }
        } else {
            let wait = (2 * self.waited).clamp(1, 16);
            Self { wait, waited: wait, steps: (self.steps / 2).max(8) }
        };
    }
}

/// Bounds of an optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The optimum is not below this.
    pub lower: f64,
    /// The optimum is not above this.
    pub upper: f64,
}

impl Bracket {
    /// No bounds.
    pub const OPEN: Self = Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// upper − lower.
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// The bounds that follow from both.
    pub fn and(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }
}

/// State of the search after a certificate.
#[derive(Clone, Copy, Debug)]
pub struct BracketProgress {
    /// The best so far.
    pub bracket: Bracket,
    /// Rounds done.
    pub round: u64,
    /// Mean number of planes per term, the ground truth's among them.
    pub planes: f64,
    /// Terms whose certificate brought a new plane.
    pub news: usize,
}

pub(crate) fn bracket<P: Problem>(
    problem: &P,
    gap: f64,
    stop: &dyn Fn() -> bool,
    watch: &mut dyn FnMut(&BracketProgress),
) -> Result<Bracket, Fault> {
    let mut state = Bracketing::new(problem);
    let mut best = Bracket::OPEN;
    let mut mark = (0, f64::INFINITY);
    loop {
        state.round += 1;
        let (now, news) = state.certificate()?;
        let before = best;
        best = best.and(now);
        let planes = state.now.sets.iter().map(Weights::len).sum::<usize>() as f64 / problem.terms() as f64;
        watch(&BracketProgress { bracket: best, round: state.round, planes, news: news.len() });
        if best.width() < (1.0 - GAIN) * mark.1 {
            mark = (state.round, best.width());
        }
        let nothing = before == best || state.round - mark.0 >= PATIENCE;
        let stuck = news.is_empty() && nothing;
        if best.width() <= gap || stuck || stop() {
            return Ok(best);
        }
        state.exact_steps(&news, stop)?;
        state.approximate(LEFT * now.width().max(gap), sweeps(news.len(), problem.terms()), stop);
    }
}

/// A sum of n numbers in about √n groups: no number goes through more than 2√n additions.
struct Sum {
    together: usize,
    count: usize,
    group: f64,
    groups: f64,
}

impl Sum {
    fn new(n: usize) -> Self {
        Self { together: n.isqrt().max(1), count: 0, group: 0.0, groups: 0.0 }
    }

    fn add(&mut self, value: f64) {
        self.group += value;
        self.count += 1;
        if self.count.is_multiple_of(self.together) {
            self.groups += std::mem::take(&mut self.group);
        }
    }

    fn total(&self) -> f64 {
        self.groups + self.group
    }
}

/// Rounding error of a sum of planes: the sizes of its numbers, times the additions that they go through.
#[derive(Default)]
struct Lost {
    length: f64,
    offset: f64,
}

impl Lost {
    /// Bound on the rounding error of F at a w of this ‖w‖². F moves by ‖w‖ times the error of φ⋆ and by its square, by
    /// the error of φ∘, and by the rounding of ‖w‖².
    fn of_dual(&self, norm2: f64, lambda: f64, dim: usize) -> f64 {
        let length = f64::EPSILON * self.length;
        length * norm2.sqrt()
            + 0.5 * length * length / lambda
            + f64::EPSILON * (self.offset + (dim + 16) as f64 * 0.5 * lambda * norm2)
    }
}

struct Bracketing<'p, P: Problem> {
    problem: &'p P,
    now: Weighted<'p, P>,
    /// Sizes of the largest planes that a term has shown; its oracle chooses among these.
    sizes: Vec<Sizes>,
    round: u64,
    /// Passes that a term sits out because nothing could be gained there, and how many it sat out last.
    rest: Vec<(u32, u32)>,
    /// A fresh permutation for each pass, because files may list equal words one after another.
    orders: Orders,
    search: Search,
}

impl<'p, P: Problem> Bracketing<'p, P> {
    fn new(problem: &'p P) -> Self {
        let n = problem.terms();
        Self {
            problem,
            now: Weighted::new(Metered::new(problem), usize::MAX),
            sizes: vec![Sizes::default(); n],
            round: 0,
            rest: vec![(0, 0); n],
            orders: Orders::new(Order::PERMUTATION, n, 1),
            search: Search { wait: 0, waited: 0, steps: 8 },
        }
    }

    fn insert(&mut self, i: usize, plane: &P::Plane) -> bool {
        let (_, new, _) = self.now.insert(i, plane, self.round);
        let (known, found) = (&mut self.sizes[i], self.problem.sizes(i, plane, &mut self.now.work));
        known.length = known.length.max(found.length);
        known.offset = known.offset.max(found.offset);
        known.additions = known.additions.max(found.additions);
        new
    }

    fn visit(&mut self, i: usize) -> f64 {
        let steps = 4 * self.now.sets[i].len() as u64;
        self.now.visit(i, PairLimit { steps, share: 0.1 }, self.round, None).gap
    }

    /// Sums φ afresh from convex weights: each φ^i by itself, then groups of them, so that no sum is long. Returns the
    /// rounding allowance of F.
    fn resum(&mut self) -> f64 {
        let lambda = self.problem.lambda();
        let dim = self.now.w.len();
        let mut w = vec![0.0; dim];
        let (mut block, mut group) = (vec![0.0; dim], vec![0.0; dim]);
        let n = self.now.sets.len();
        let (mut offset, mut lost) = (Sum::new(n), Lost::default());
        let together = offset.together;
        for first in (0..n).step_by(together) {
            group.fill(0.0);
            for i in first..n.min(first + together) {
                self.now.sets[i].normalise();
                let set = &self.now.sets[i];
                if set.is_empty() {
                    continue;
                }
                block.fill(0.0);
                offset.add(self.now.add(i, set.alpha(), -1.0 / lambda, &mut block));
                add_scaled(&mut group, 1.0, &block);
                // Each number goes through its own sums, those over the planes of its term, and two groups.
                let sums = (set.len() + 2 * together + 16) as f64;
                for (at, plane) in set.planes.iter().enumerate().filter(|(at, _)| set.alpha()[at + 1] > 0.0) {
                    let sizes = self.problem.sizes(i, plane, &mut self.now.work);
                    let share = set.alpha()[at + 1] * (sizes.additions + sums);
                    lost.length += share * sizes.length;
                    lost.offset += share * (set.offsets()[at + 1].abs() + sizes.offset);
                }
            }
            add_scaled(&mut w, 1.0, &group);
        }
        let norm = norm2(&w);
        (self.now.w, self.now.offset) = (w, offset.total());
        lost.of_dual(norm, lambda, dim)
    }

    /// Calls all oracles at one w; returns the bracket there and the terms with a new plane.
    fn certificate(&mut self) -> Result<(Bracket, Vec<usize>), Fault> {
        let loss = self.resum();
        let half = 0.5 * self.problem.lambda() * norm2(&self.now.w);
        let lower = self.now.offset - half - loss;
        let (problem, w) = (self.problem, &self.now.w);
        let found: Vec<(Certificate, P::Plane)> = (0..problem.terms())
            .into_par_iter()
            .with_min_len(16)
            .map_init(
                || problem.work(),
                |work, i| {
                    let mut plane = P::Plane::default();
                    problem.certify(i, w, work, &mut plane).map(|certificate| (certificate, plane))
                },
            )
            .collect::<Result<_, _>>()?;
        let mut news = Vec::new();
        let length = norm2(&self.now.w).sqrt();
        let (mut upper, mut lost) = (Sum::new(found.len()), f64::EPSILON * self.now.w.len() as f64 * half);
        for (i, (Certificate { upper: value, hidden, .. }, plane)) in found.iter().enumerate() {
            if self.insert(i, plane) {
                news.push(i);
            }
            upper.add(*value);
            let sizes = self.sizes[i];
            let summed = Sizes { additions: sizes.additions + 2.0 * upper.together as f64, ..sizes };
            lost += hidden + summed.rounding(*value, length);
        }
        Ok((Bracket { lower, upper: half + upper.total() + lost }, news))
    }

    /// Makes one oracle call and one visit for each of these terms.
    fn exact_steps(&mut self, terms: &[usize], stop: &dyn Fn() -> bool) -> Result<(), Fault> {
        let mut plane = P::Plane::default();
        self.orders.draw();
        for at in 0..self.now.sets.len() {
            let i = self.orders.list()[at] as usize;
            if terms.binary_search(&i).is_err() {
                continue;
            }
            self.visit(i);
            self.problem.oracle(i, &self.now.w, &mut self.now.work, &mut plane)?;
            if self.insert(i, &plane) {
                self.visit(i);
            }
            if stop() {
                break;
            }
        }
        Ok(())
    }

    /// Makes approximate passes and searches over faces until the gap over the known planes is at most `target`.
    fn approximate(&mut self, target: f64, sweeps: u32, stop: &dyn Fn() -> bool) {
        let small = 0.01 * target / self.now.sets.len() as f64;
        for _ in 0..sweeps {
            self.rest.fill((0, 0));
            let before = self.now.dual();
            let gap = self.pass(small, stop);
            for _ in 1..PASSES {
                self.pass(small, stop);
            }
            if gap <= target || stop() {
                break;
            }
            if self.search.wait > 0 {
                self.search.wait -= 1;
                continue;
            }
            let after = self.now.dual();
            let mut face = Face::new(&self.now.sets, self.now.w.len());
            let steps = face.search(&mut self.now, (self.search.steps, 1e-3), stop);
            // A step of the search costs about as much as a pass.
            let paid = (self.now.dual() - after) * f64::from(PASSES) >= (after - before) * f64::from(steps);
            self.search.learn(paid);
        }
        for i in 0..self.now.sets.len() {
            self.now.expire(i, self.round, AGE, MOST);
        }
    }

    /// Makes one approximate pass; returns the gap over the known planes that it found. Terms whose gap is `small` sit
    /// out twice as many passes as the last time.
    fn pass(&mut self, small: f64, stop: &dyn Fn() -> bool) -> f64 {
        let mut sum = 0.0;
        self.orders.draw();
        for at in 0..self.now.sets.len() {
            let i = self.orders.list()[at] as usize;
            let (left, last) = self.rest[i];
            if left > 0 {
                self.rest[i].0 -= 1;
                continue;
            }
            let gap = self.visit(i);
            sum += gap;
            let long = if gap <= small { (2 * last).clamp(1, 16) } else { 0 };
            self.rest[i] = (long, long);
            if at % 64 == 0 && stop() {
                break;
            }
        }
        sum
    }
}
