//! Properties that hold for every solver on every family, checked on small random problems.

mod common;

use common::{chain, graph, iterate, iterate_until, multiclass};
use ssvm_bench::config::{Budget, Cadence, ClockKind, Order, Passes, RunSettings, SolverKind, SolverSpec};
use ssvm_bench::dataset::{self, DataDir};
use ssvm_bench::exec::{Quiet, execute};
use ssvm_bench::problem::{AnyProblem, Problem, primal};
use ssvm_bench::solver::{FrankWolfe, MultiPlane, Solution, Solver};

/// Rounding of sums of about a hundred terms of size one.
const ROUNDING: f64 = 1e-13;

fn spec(kind: SolverKind) -> SolverSpec {
    SolverSpec::new(kind)
}

fn evaluate<P: Problem>(problem: &P, solution: &Solution) -> f64 {
    primal(problem, &solution.w, &mut problem.work(), false, &|| false).expect("not cancelled")
}

/// F never falls from pass to pass, F ≤ P, φ = Σ φ^i, working sets obey N.
fn check_invariants<P: Problem>(problem: &P, exact_oracle: bool) {
    for kind in SolverKind::ALL {
        for (order, passes) in [
            (Order::Permutation, Passes::Auto),
            (Order::Sequential, Passes::Fixed(3)),
            (Order::Uniform, Passes::Fixed(1)),
        ] {
            let spec = SolverSpec { order, passes, n: 3, t: 2, ..spec(kind) };
            let mut fw = FrankWolfe::new(problem, &spec, 5);
            let mut mp = MultiPlane::new(problem, &spec, 5);
            let (mut best_dual, mut best_primal) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut last = 0.0;
            for _ in 0..25 {
                let solver: &mut dyn Solver = if kind == SolverKind::Fw { &mut fw } else { &mut mp };
                iterate(solver);
                for pair in solver.moments().windows(2) {
                    assert!(pair[1].dual >= pair[0].dual - ROUNDING, "{kind}: a pass lowered F");
                }
                assert!(solver.dual() >= last - ROUNDING, "{kind}: F fell from {last} to {}", solver.dual());
                last = solver.dual();
                let solution = solver.solution();
                best_primal = best_primal.min(evaluate(problem, &solution));
                best_dual = best_dual.max(last).max(solution.dual(problem.lambda()));
                if exact_oracle {
                    assert!(best_dual <= best_primal + ROUNDING, "{kind}: F {best_dual} above P {best_primal}");
                }
                assert!(solver.planes().1 <= if kind.multi_plane() { 3 } else { 0 });
            }
            if kind != SolverKind::Fw {
                let (now, sum) = (mp.iterate_vector(), mp.resummed());
                assert!((now.offset - sum.offset).abs() < ROUNDING);
                for (a, b) in now.w.iter().zip(&sum.w) {
                    assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{kind}: φ is not the sum of the φ^i");
                }
            }
        }
    }
}

#[test]
fn invariants_hold_on_every_family() {
    for seed in 0..6 {
        check_invariants(&multiclass(seed, 9), true);
        check_invariants(&chain(seed, 6), true);
        check_invariants(&graph(seed, 6, 2), true);
        check_invariants(&graph(seed, 6, 4), false);
    }
}

/// With one term every exact pass is one step, so pass by pass is step by step.
#[test]
fn no_single_step_lowers_the_dual() {
    for seed in 0..20 {
        check_invariants(&multiclass(seed, 1), true);
        check_invariants(&chain(seed, 1), true);
        check_invariants(&graph(seed, 1, 2), true);
        check_invariants(&graph(seed, 1, 3), false);
    }
}

#[test]
fn multi_plane_without_planes_is_bcfw_bit_for_bit() {
    fn check<P: Problem>(problem: &P) {
        for (single, multi) in [(SolverKind::Bcfw, SolverKind::MpBcfw), (SolverKind::BcfwAvg, SolverKind::MpBcfwAvg)] {
            let mut a = MultiPlane::new(problem, &spec(single), 3);
            let mut b = MultiPlane::new(problem, &SolverSpec { n: 0, m: 0, ..spec(multi) }, 3);
            for _ in 0..12 {
                iterate(&mut a);
                iterate(&mut b);
                let (a, b) = (a.solution(), b.solution());
                assert_eq!(a.offset.to_bits(), b.offset.to_bits());
                assert!(a.w.iter().zip(&b.w).all(|(x, y)| x.to_bits() == y.to_bits()));
            }
        }
    }
    check(&multiclass(1, 12));
    check(&chain(1, 8));
    check(&graph(1, 8, 2));
    check(&graph(1, 8, 3));
}

/// The lazy averages against their definition, step by step on one term.
#[test]
fn averages_equal_their_definition() {
    fn check<P: Problem>(problem: &P) {
        let plain = SolverSpec { order: Order::Sequential, passes: Passes::Fixed(1), ..spec(SolverKind::MpBcfw) };
        let mut averaged = MultiPlane::new(problem, &SolverSpec { kind: SolverKind::MpBcfwAvg, ..plain.clone() }, 1);
        let mut single = MultiPlane::new(problem, &SolverSpec { kind: SolverKind::BcfwAvg, ..plain.clone() }, 1);
        let mut single_plain = MultiPlane::new(problem, &SolverSpec { kind: SolverKind::Bcfw, ..plain.clone() }, 1);
        let (mut exact, mut approximate, mut single_average) = (None, None, None);
        for k in 1..=9u64 {
            // φ after the k-th exact step: an equal run that is stopped there.
            let mut stopped = MultiPlane::new(problem, &plain, 1);
            for _ in 1..k {
                iterate(&mut stopped);
            }
            iterate_until(&mut stopped, Some(1));
            exact = Some(weighted(exact, &stopped.iterate_vector(), k));
            let mut whole = MultiPlane::new(problem, &plain, 1);
            for _ in 0..k {
                iterate(&mut whole);
            }
            approximate = Some(weighted(approximate, &whole.iterate_vector(), k));
            iterate(&mut averaged);
            let expected = best_on_segment(exact.as_ref().unwrap(), approximate.as_ref().unwrap(), problem.lambda());
            close(&averaged.solution(), &expected);
            iterate(&mut single);
            iterate(&mut single_plain);
            single_average = Some(weighted(single_average, &single_plain.iterate_vector(), k));
            close(&single.solution(), single_average.as_ref().unwrap());
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

#[test]
fn working_sets_forget_after_t_iterations() {
    let problem = multiclass(3, 30);
    let mut largest = Vec::new();
    for t in [0, 1, 5, 1000] {
        let spec = SolverSpec { t, passes: Passes::Fixed(2), ..spec(SolverKind::MpBcfw) };
        let mut solver = MultiPlane::new(&problem, &spec, 1);
        for _ in 0..40 {
            iterate(&mut solver);
            assert!(solver.working_sets().iter().all(|set| !set.is_empty()));
        }
        largest.push(solver.planes().0);
    }
    assert!(largest.windows(2).all(|pair| pair[0] <= pair[1]), "larger T keeps at least as many planes: {largest:?}");
    assert!(largest[0] < largest[3]);
}

#[test]
fn same_seed_and_virtual_clock_give_the_same_bits() {
    let dir = DataDir::resolve(None);
    for name in ["usps-synth:n=60,size=16", "ocr-synth:n=40", "horseseg-synth:n=6,size=5", "stanford-synth:n=4,size=5"]
    {
        let problem = AnyProblem::new(&dataset::load(name, &dir).unwrap(), None, None).unwrap();
        for kind in SolverKind::ALL {
            let settings = RunSettings {
                solver: spec(kind),
                seed: 11,
                clock: ClockKind::Virtual,
                budget: Budget { iterations: Some(8), ..Budget::default() },
                evaluate: Cadence::Every(1),
            };
            let points = |settings: &RunSettings| {
                let mut points = execute(&problem, settings, &mut Quiet).unwrap().points;
                for point in &mut points {
                    point.cpu_s = 0.0;
                }
                points
            };
            let first = points(&settings);
            assert_eq!(first, points(&settings), "{name} {kind}");
            if kind != SolverKind::Fw {
                assert_ne!(
                    first,
                    points(&RunSettings { seed: 12, ..settings.clone() }),
                    "{name} {kind}: the seed matters"
                );
            }
        }
    }
}

#[test]
fn budgets_stop_inside_passes() {
    let dir = DataDir::resolve(None);
    let problem = AnyProblem::new(&dataset::load("usps-synth:n=500,size=16", &dir).unwrap(), None, None).unwrap();
    let run = |budget| {
        let settings = RunSettings {
            solver: spec(SolverKind::MpBcfw),
            seed: 1,
            clock: ClockKind::Virtual,
            budget,
            evaluate: Cadence::Every(1),
        };
        execute(&problem, &settings, &mut Quiet).unwrap()
    };
    let by_calls = run(Budget { oracle_calls: Some(573), ..Budget::default() });
    assert_eq!(by_calls.points.last().unwrap().oracle_calls, 573);
    assert_eq!(by_calls.stop.name(), "oracle-calls");
    let whole = run(Budget { iterations: Some(3), ..Budget::default() });
    let limit = whole.points[2].time_s * 0.7;
    let by_time = run(Budget { time_s: Some(limit), ..Budget::default() });
    let last = by_time.points.last().unwrap();
    assert_eq!(by_time.stop.name(), "time");
    assert!(last.time_s >= limit && last.time_s < whole.points[2].time_s);
    let by_gap = run(Budget { gap: Some(0.5), iterations: Some(1000), ..Budget::default() });
    assert!(by_gap.points.last().unwrap().gap <= 0.5);
    assert!(by_gap.points.iter().rev().skip(1).all(|point| point.gap > 0.5));
}
