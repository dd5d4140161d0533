//! The averaged vectors that solvers return, against the definition in the paper, on small random problems.

use crate::common::{chain, graph, iterate, multiclass};
use ssvm::solver::order::Order;
use ssvm::solver::{Batching, MultiPlane, MultiPlaneParams, Schedule};
use ssvm::{Metered, Problem, Solution, Solver};

/// One exact and one approximate pass.
const MULTI: MultiPlaneParams = MultiPlaneParams {
    t: 10,
    n: 1000,
    batching: Batching::NONE,
    schedule: Schedule { order: Order::SEQUENTIAL, m: 1000, fixed_passes: Some(1), averaged: false },
};
/// The exact pass alone.
const SINGLE: MultiPlaneParams = MultiPlaneParams {
    t: 0,
    n: 0,
    batching: Batching::NONE,
    schedule: Schedule { order: Order::SEQUENTIAL, m: 0, fixed_passes: None, averaged: false },
};

fn averaged(mut params: MultiPlaneParams) -> MultiPlaneParams {
    params.schedule.averaged = true;
    params
}

/// The lazy averages against their definition, step by step on one term.
#[test]
fn averages_equal_their_definition() {
    fn check<P: Problem>(problem: &P) {
        let new = |params: &MultiPlaneParams| MultiPlane::new(Metered::new(problem), params, 1);
        let mut plain = new(&MULTI);
        let mut multi_averaged = new(&averaged(MULTI));
        let mut single_plain = new(&SINGLE);
        let mut single_averaged = new(&averaged(SINGLE));
        let (mut exact, mut approximate, mut single_average) = (None, None, None);
        for k in 1..=9u64 {
            exact = Some(weighted(exact, &exact_step(problem, &plain.iterate_now().solution()), k));
            iterate(&mut plain);
            approximate = Some(weighted(approximate, &plain.iterate_now().solution(), k));
            iterate(&mut multi_averaged);
            let expected = best_on_segment(exact.as_ref().unwrap(), approximate.as_ref().unwrap(), problem.lambda());
            close(&multi_averaged.solution(), &expected);
            iterate(&mut single_plain);
            iterate(&mut single_averaged);
            single_average = Some(weighted(single_average, &single_plain.iterate_now().solution(), k));
            close(&single_averaged.solution(), single_average.as_ref().unwrap());
        }
    }
    /// φ after an exact step on the only term, by the formula: φ^0 is φ.
    fn exact_step<P: Problem>(problem: &P, now: &Solution) -> Solution {
        let mut plane = P::Plane::default();
        problem.oracle(0, &now.w, &mut problem.work(), &mut plane).unwrap();
        let lambda = problem.lambda();
        let mut hat = vec![0.0; problem.dim()];
        let offset = problem.add_plane(0, &plane, -1.0 / lambda, &mut hat);
        let (mut along, mut norm2) = (0.0, 0.0);
        for (hat, w) in hat.iter().zip(&now.w) {
            along += (hat - w) * w;
            norm2 += (hat - w).powi(2);
        }
        let gain = offset - now.offset - lambda * along;
        let gamma = if norm2 > 0.0 { (gain / (lambda * norm2)).clamp(0.0, 1.0) } else { f64::from(gain > 0.0) };
        Solution {
            w: hat.iter().zip(&now.w).map(|(hat, w)| w + gamma * (hat - w)).collect(),
            offset: now.offset + gamma * (offset - now.offset),
        }
    }
    /// φ̄^{(k)} from φ̄^{(k−1)} as in the paper.
    fn weighted(before: Option<Solution>, now: &Solution, k: u64) -> Solution {
        let Some(before) = before else { return now.clone() };
        let k = k as f64 - 1.0;
        let (old, new) = (k / (k + 2.0), 2.0 / (k + 2.0));
        Solution {
            w: before.w.iter().zip(&now.w).map(|(a, b)| old * a + new * b).collect(),
            offset: old * before.offset + new * now.offset,
        }
    }
    /// By search instead of the closed form.
    fn best_on_segment(a: &Solution, b: &Solution, lambda: f64) -> Solution {
        let at = |g: f64| Solution {
            w: a.w.iter().zip(&b.w).map(|(a, b)| (1.0 - g) * a + g * b).collect(),
            offset: (1.0 - g) * a.offset + g * b.offset,
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let (l, h) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if at(l).dual(lambda) < at(h).dual(lambda) { low = l } else { high = h }
        }
        at(low)
    }
    fn close(a: &Solution, b: &Solution) {
        // The search for the best point is only good to the root of the rounding error.
        let scale = 1.0 + b.w.iter().map(|v| v.abs()).fold(0.0, f64::max);
        assert!((a.offset - b.offset).abs() < 1e-6);
        assert!(a.w.iter().zip(&b.w).all(|(x, y)| (x - y).abs() < 1e-6 * scale));
    }
    for seed in 0..5 {
        check(&multiclass(seed, 1));
        check(&chain(seed, 1));
        check(&graph(seed, 1, 2));
        check(&graph(seed, 1, 4));
    }
}
