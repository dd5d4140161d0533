//! One-slack cutting plane. The planes of all terms at one w are summed, and F is maximised over the convex
//! combinations of all sums so far, by pair steps on their products.
//!
//! `one-slack-cache` also keeps the planes of the terms. After each exact round it makes cheap rounds, which sum the
//! best kept plane of every term, while these promise a quarter of the gap of the exact round.

use super::order::{Order, Orders};
use super::state::{State, sizes};
use super::weights::{PairLimit, Weights};
use super::working_set::{WorkingSet, best_values};
use super::{ANNOUNCED, Interrupt, Iteration, Meter, Metered, Solution, Solver, SolverInfo, SolverRow};
use crate::clock::{Charge, Operations};
use crate::linalg::{add_scaled, dot, norm2};
use crate::problem::Problem;
use crate::settings::{Param, Params};

/// Sums without weight are dropped after this many rounds.
const AGE: u64 = 20;

/// The small problem is solved to this gap, or to this part of the gap of the large one.
const SMALL: (f64, f64) = (1e-2, 0.1);

/// A cheap round must promise this part of the gap of the last exact round.
const QUARTER: f64 = 0.25;

/// Most cheap rounds of an iteration.
const MOST_ROUNDS: u32 = 100;

/// Most pair steps of an iteration, each of which moves the values of all sums. Where features are large against λ, the
/// small problem is so ill-conditioned that nearly all sums keep weight and none is dropped for its age: without this
/// limit and that of [`SUMS`], iterations of `one-slack-cache` take longer and longer. On `ocr-synth:n=100` and `n=300`
/// these limits do not change the oracle calls to relative gaps of 0.1, 0.03 and 0.01; 200 sums and 100,000 steps kept
/// the first from reaching 0.01.
const MOST_STEPS: u64 = 200_000;

/// Weights below this part of the largest are set to 0; otherwise sums would never be dropped.
const DUST: f64 = 1e-10;

/// A gap below this part of F is rounding.
const ROUNDING: f64 = 1e-13;

const CACHE: Param = Param::count("cache", "100", 1, "most planes cached per term");

const SUMS: Param =
    Param::count("sums", "1000", 2, "most sums kept; beyond that the two with the least weight are merged");

const PLAIN: SolverInfo = SolverInfo {
    name: "one-slack",
    about: "one-slack cutting plane: n oracle calls at one w, then the best combination of all sums so far",
    params: &[SUMS],
    reads_clock: |_| false,
    ..SolverInfo::PLAIN
};

const CACHED: SolverInfo = SolverInfo {
    name: "one-slack-cache",
    about: "one-slack cutting plane with cheap rounds over cached planes",
    params: &[CACHE, SUMS],
    planes: Some(|params| params.count(CACHE.key)),
    pass_factor: 4.0,
    ..PLAIN
};

/// The rows of `one-slack` and `one-slack-cache`.
pub struct OneSlack(SolverInfo);

pub const ROWS: [OneSlack; 2] = [OneSlack(PLAIN), OneSlack(CACHED)];

impl SolverRow for OneSlack {
    fn info(&self) -> SolverInfo {
        self.0.clone()
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        // No cache is a cache of 0 planes.
        Box::new(CuttingPlane::new(problem, [CACHE, SUMS].map(|param| params.count(param.key) as usize), seed))
    }
}

struct CuttingPlane<'p, P: Problem> {
    problem: Metered<'p, P>,
    w: Vec<f64>,
    offset: f64,
    /// The sums so far (φ⋆, dense), with weights.
    sums: Weights<Vec<f64>>,
    values: Vec<f64>,
    sets: Vec<WorkingSet<P::Plane>>,
    spare: Vec<P::Plane>,
    cache: usize,
    most_sums: usize,
    /// Planes of the round, put into the working sets when it is complete.
    sum: Vec<f64>,
    work: P::Work,
    plane: P::Plane,
    orders: Orders,
    iteration: u64,
    /// Number of sums made so far, in which ages are counted.
    round: u64,
    /// Pair steps left in this iteration.
    steps: u64,
}

impl<'p, P: Problem> CuttingPlane<'p, P> {
    fn new(problem: Metered<'p, P>, [cache, most_sums]: [usize; 2], seed: u64) -> Self {
        let (n, dim) = (problem.terms(), problem.dim());
        Self {
            problem,
            w: vec![0.0; dim],
            offset: 0.0,
            sums: Weights::default(),
            values: Vec::new(),
            sets: (0..if cache > 0 { n } else { 0 }).map(|_| WorkingSet::default()).collect(),
            spare: Vec::new(),
            cache,
            most_sums,
            sum: vec![0.0; dim],
            work: problem.work(),
            plane: P::Plane::default(),
            orders: Orders::new(Order::PERMUTATION, n, seed),
            iteration: 0,
            round: 0,
            steps: 0,
        }
    }

    /// Sums the oracles' planes at w into `sum`; returns their offset.
    fn exact_round(&mut self, meter: &mut Meter<'_>) -> Result<f64, Interrupt> {
        self.sum.fill(0.0);
        let mut offset = 0.0;
        for at in 0..self.orders.list().len() {
            if at % ANNOUNCED == 0 {
                let group = &self.orders.list()[at..];
                let allowed = meter.may_call_some(group.len().min(ANNOUNCED));
                self.problem.announce(&group[..allowed], &self.w, &mut self.work)?;
            }
            let i = self.orders.list()[at] as usize;
            if let Some(set) = self.sets.get_mut(i) {
                self.problem.oracle_among(meter, i, &self.w, set.planes(), &mut self.work, &mut self.plane)?;
                set.insert(&self.plane, self.iteration, self.cache, &mut self.spare);
            } else {
                self.problem.oracle(meter, i, &self.w, &mut self.work, &mut self.plane)?;
            }
            offset += self.problem.add_plane(i, &self.plane, 1.0, &mut self.sum);
            meter.charge(Charge::ExactProduct, self.problem.product_ops(i));
        }
        Ok(offset)
    }

    /// Sums the best kept planes at w into `sum`; returns their offset.
    fn cached_round(&mut self, meter: &mut Meter<'_>) -> Result<f64, Interrupt> {
        self.sum.fill(0.0);
        let mut offset = 0.0;
        for at in 0..self.orders.list().len() {
            let i = self.orders.list()[at] as usize;
            let set = &mut self.sets[i];
            meter.approximate_step(|| {
                self.values.clear();
                self.problem.values(i, &self.w, set.planes(), &mut self.work, &mut self.values);
                let ops = self.problem.product_ops(i);
                let mut done = Operations { scored: set.len() as u64 * ops, ..Operations::default() };
                let best = (0..set.len()).max_by(|a, b| self.values[*a].total_cmp(&self.values[*b]));
                // The truth's plane is 0.
                if let Some(best) = best.filter(|best| self.values[*best] > 0.0) {
                    offset += self.problem.add_plane(i, set.plane(best), 1.0, &mut self.sum);
                    set.activate(best, self.iteration);
                    done.products = ops;
                }
                done
            })?;
        }
        Ok(offset)
    }

    fn gap(&self, offset: f64) -> f64 {
        let lambda = self.problem.lambda();
        // ⟨φ, [w 1]⟩ = φ∘ − λ‖w‖².
        dot(&self.sum, &self.w) + offset - (self.offset - lambda * norm2(&self.w))
    }

    /// Adds the sum and solves the small problem over all sums. Returns false when nothing could be gained.
    fn cut(&mut self, offset: f64, meter: &mut Meter<'_>) -> bool {
        let lambda = self.problem.lambda();
        let gap = self.gap(offset);
        if gap <= ROUNDING * State::dual(self).abs() {
            return false;
        }
        self.round += 1;
        self.sums.push(&self.sum, offset, self.round);
        self.sums.products.push(0.0);
        for at in 0..self.sums.planes.len() {
            let product = dot(&self.sums.planes[at], &self.sum);
            self.sums.products.push(product);
        }
        self.values.clear();
        self.values.push(0.0);
        let values = self.sums.planes.iter().zip(&self.sums.offsets[1..]);
        self.values.extend(values.map(|(sum, offset)| dot(sum, &self.w) + offset));
        let (absolute, share) = SMALL;
        let stop = PairLimit { steps: self.steps.min(100 * self.sums.len() as u64), share: share.min(absolute / gap) };
        let before = (State::dual(self), self.sums.alpha.clone());
        let (_, steps) = self.sums.pair_steps(&mut self.values, lambda, stop, self.round);
        self.steps -= steps;
        let largest = self.sums.alpha[1..].iter().copied().fold(0.0, f64::max);
        for alpha in &mut self.sums.alpha[1..] {
            *alpha = if *alpha < DUST * largest { 0.0 } else { *alpha };
        }
        self.sums.normalise();
        self.resum();
        // Values are updated over many steps: near the optimum, or with large numbers, rounding may outweigh them.
        let risen = State::dual(self) > before.0;
        if !risen {
            self.sums.alpha = before.1;
            self.resum();
        }
        for (alpha, last) in self.sums.alpha.iter().zip(&mut self.sums.last_active) {
            if *alpha > 0.0 {
                *last = self.round;
            }
        }
        let count = self.sums.len() as u64;
        meter.charge(Charge::VectorOperation, 3 * count * self.w.len() as u64);
        meter.charge(Charge::WeightOperation, steps * count);
        self.sums.expire(self.round, AGE, self.most_sums);
        self.sums.fold(self.most_sums);
        risen
    }
}

impl<P: Problem> Solver for CuttingPlane<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
        self.iteration += 1;
        self.steps = MOST_STEPS;
        self.orders.draw();
        let offset = self.exact_round(meter)?;
        let gap = self.gap(offset);
        self.cut(offset, meter);
        if self.cache == 0 {
            return Ok(Iteration::Complete);
        }
        for _ in 0..MOST_ROUNDS {
            meter.begin_approx_pass();
            let round = self.cached_round(meter);
            let enough =
                round.as_ref().is_ok_and(|offset| self.gap(*offset) >= QUARTER * gap && self.cut(*offset, meter));
            meter.end_approx_pass(round.is_ok());
            if round.is_err() {
                return Ok(Iteration::Shortened);
            }
            if !enough || self.steps == 0 {
                break;
            }
        }
        Ok(Iteration::Complete)
    }

    fn solution(&self) -> Solution {
        State::solution(self)
    }

    fn dual(&self) -> f64 {
        State::dual(self)
    }

    fn state(&self) -> Option<&dyn State> {
        Some(self)
    }
}

impl<P: Problem> State for CuttingPlane<'_, P> {
    fn phi(&self) -> (&[f64], f64) {
        (&self.w, self.offset)
    }

    fn lambda(&self) -> f64 {
        self.problem.lambda()
    }

    fn resum(&mut self) -> u64 {
        let Solution { w, offset } = self.resummed();
        (self.w, self.offset) = (w, offset);
        self.sums.len() as u64 * self.w.len() as u64
    }

    fn resummed(&self) -> Solution {
        let scale = -1.0 / self.problem.lambda();
        let mut solution = Solution { w: vec![0.0; self.w.len()], offset: 0.0 };
        for ((sum, alpha), offset) in self.sums.planes.iter().zip(&self.sums.alpha[1..]).zip(&self.sums.offsets[1..]) {
            if *alpha > 0.0 {
                add_scaled(&mut solution.w, scale * alpha, sum);
                solution.offset += alpha * offset;
            }
        }
        solution
    }

    fn planes(&self) -> (f64, u64) {
        sizes(self.sets.iter().map(WorkingSet::len))
    }

    fn kept_values(&self, w: &[f64]) -> Vec<f64> {
        best_values(self.problem, self.sets.iter().map(WorkingSet::planes), w, f64::NEG_INFINITY)
    }

    fn cached_bytes(&self) -> u64 {
        (self.sums.products.len() * size_of::<f64>()) as u64
    }
}
