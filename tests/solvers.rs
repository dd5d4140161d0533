//! Properties that hold for every row of the table of solvers on every family, checked on small random problems. Rows come
//! in through the same door as everywhere, so a new row is checked as soon as it is there.

mod common;

use common::{chain, graph, iterate, iterate_until, multiclass};
use ssvm_bench::problem::evaluate;
use ssvm_bench::solver::order::Order;
use ssvm_bench::solver::{Batching, MultiPlane, MultiPlaneParams, Schedule, Standard};
use ssvm_bench::{
    Budget, Cadence, ClockKind, Course, Iteration, Metered, Outcome, Problem, Quiet, Solver, SolverInfo, SolverSpec,
    SolverTable, StopReason, TracePoint, Value, drive,
};

/// Rounding of sums of about a hundred terms of size one.
const ROUNDING: f64 = 1e-13;
/// Most planes per term in these tests.
const MOST_PLANES: u64 = 3;

fn word(word: &str) -> Value {
    Value::Word(word.to_owned())
}

fn has(info: &SolverInfo, key: &str) -> bool {
    info.params.iter().any(|row| row.key == key)
}

/// The solver of a row, with those of these parameters that it has.
fn spec(info: &SolverInfo, wanted: &[(&str, Value)]) -> SolverSpec {
    let known = wanted.iter().filter(|(key, _)| has(info, key));
    known.fold(SolverSpec::new(info.name), |spec, (key, value)| spec.with(key, value.clone()))
}

/// Every order, both ways to decide on passes, and calls in batches, with small working sets.
fn variants(info: &SolverInfo, terms: usize) -> Vec<SolverSpec> {
    let mut specs: Vec<SolverSpec> =
        [("permutation", word("auto"), 1), ("sequential", Value::Count(3), 1), ("uniform", Value::Count(1), 4)]
            .into_iter()
            .map(|(order, passes, tau)| {
                let tau = Value::Count(tau.min(terms as u64));
                let limits = [("N", Value::Count(MOST_PLANES)), ("T", Value::Count(2)), ("tau", tau)];
                spec(info, &[&limits[..], &[("order", word(order)), ("passes", passes)]].concat())
            })
            .collect();
    specs.dedup();
    specs
}

fn build<'p, P: Problem>(spec: &SolverSpec, problem: &'p P, seed: u64) -> Box<dyn Solver + 'p> {
    Standard.build(spec, problem, seed).unwrap()
}

fn run<P: Problem>(problem: &P, spec: &SolverSpec, seed: u64, budget: &Budget) -> Outcome {
    let course = Course { clock: ClockKind::VIRTUAL, budget, evaluate: &Cadence::Every(1) };
    drive(problem, &mut *build(spec, problem, seed), course, &mut Quiet).unwrap()
}

fn last(outcome: &Outcome) -> &TracePoint {
    outcome.points.last().expect("the end is always evaluated")
}

/// F never falls from pass to pass or from iteration to iteration, F ≤ P, working sets obey N.
fn check_invariants<P: Problem>(problem: &P) {
    for info in Standard.infos() {
        let most = match (has(&info, "N"), info.keeps_planes) {
            (true, _) => MOST_PLANES,
            (false, true) => u64::MAX,
            (false, false) => 0,
        };
        for spec in variants(&info, problem.terms()) {
            let mut solver = build(&spec, problem, 5);
            let (mut best_dual, mut best_primal) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut before = 0.0;
            for _ in 0..25 {
                assert_eq!(iterate(&mut *solver), Iteration::Complete);
                for pair in solver.moments().windows(2) {
                    assert!(pair[1].dual >= pair[0].dual - ROUNDING, "{spec:?}: a pass lowered F");
                }
                let now = solver.dual();
                assert!(now >= before - ROUNDING, "{spec:?}: F fell from {before} to {now}");
                before = now;
                let solution = solver.solution();
                let value = evaluate(problem, &solution.w, &[], &mut problem.work(), false, &|| false);
                best_primal = best_primal.min(value.expect("nobody cancels").primal);
                best_dual = best_dual.max(now).max(solution.dual(problem.lambda()));
                assert!(best_dual <= best_primal + ROUNDING, "{spec:?}: F {best_dual} above P {best_primal}");
                let (mean, largest) = solver.planes();
                assert!(largest <= most && mean <= largest as f64, "{spec:?}: {mean} planes, at most {largest}");
            }
        }
    }
}

#[test]
fn invariants_hold_on_every_family() {
    for seed in 0..6 {
        check_invariants(&multiclass(seed, 9));
        check_invariants(&chain(seed, 6));
        check_invariants(&graph(seed, 6, 2));
        check_invariants(&graph(seed, 6, 4));
    }
}

/// With one term every exact pass is one step, so pass by pass is step by step.
#[test]
fn no_single_step_lowers_the_dual() {
    for seed in 0..20 {
        check_invariants(&multiclass(seed, 1));
        check_invariants(&chain(seed, 1));
        check_invariants(&graph(seed, 1, 2));
        check_invariants(&graph(seed, 1, 3));
    }
}

fn params(order: Order, fixed_passes: Option<u32>, averaged: bool) -> MultiPlaneParams {
    MultiPlaneParams {
        t: 10,
        n: 1000,
        batching: Batching::NONE,
        schedule: Schedule { order, m: 1000, fixed_passes, averaged },
    }
}

fn single(order: Order, averaged: bool) -> MultiPlaneParams {
    MultiPlaneParams {
        t: 0,
        n: 0,
        batching: Batching::NONE,
        schedule: Schedule { order, m: 0, fixed_passes: None, averaged },
    }
}

#[test]
fn the_iterate_is_the_sum_of_its_blocks() {
    fn check<P: Problem>(problem: &P) {
        for params in [
            single(Order::Permutation, false),
            MultiPlaneParams { n: 3, t: 2, ..params(Order::Permutation, None, false) },
            MultiPlaneParams { n: 3, t: 2, ..params(Order::Sequential, Some(3), true) },
            MultiPlaneParams { n: 3, t: 2, ..params(Order::Uniform, Some(1), false) },
            MultiPlaneParams { batching: Batching { tau: 4, lanes: 2 }, ..params(Order::Permutation, None, true) },
        ] {
            let mut solver = MultiPlane::new(Metered::new(problem), &params, 5);
            // The sums are made afresh every ten iterations: look in between.
            for _ in 0..29 {
                iterate(&mut solver);
                let (now, sum) = (solver.iterate_now().solution(), solver.iterate_now().resummed());
                assert!((now.offset - sum.offset).abs() < ROUNDING);
                for (a, b) in now.w.iter().zip(&sum.w) {
                    assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{params:?}: φ is not the sum of the φ^i");
                }
            }
        }
    }
    for seed in 0..6 {
        check(&multiclass(seed, 9));
        check(&chain(seed, 6));
        check(&graph(seed, 6, 2));
        check(&graph(seed, 6, 4));
    }
}

#[test]
fn multi_plane_without_planes_is_its_single_plane_partner_bit_for_bit() {
    fn check<P: Problem>(problem: &P) -> usize {
        let infos = Standard.infos();
        let multi = infos.iter().filter(|info| has(info, "N") && has(info, "M"));
        let pairs: Vec<(&str, &SolverInfo)> = multi.filter_map(|info| Some((info.partner?, info))).collect();
        for (partner, info) in &pairs {
            for order in ["permutation", "sequential", "uniform"] {
                let none = [("N", Value::Count(0)), ("M", Value::Count(0)), ("order", word(order))];
                let partner = SolverInfo::find(&infos, partner).unwrap();
                let mut a = build(&spec(partner, &none), problem, 3);
                let mut b = build(&spec(info, &none), problem, 3);
                for _ in 0..12 {
                    iterate(&mut *a);
                    iterate(&mut *b);
                    let (a, b) = (a.solution(), b.solution());
                    assert_eq!(a.offset.to_bits(), b.offset.to_bits());
                    assert!(a.w.iter().zip(&b.w).all(|(x, y)| x.to_bits() == y.to_bits()));
                }
            }
        }
        pairs.len()
    }
    // BCFW and MP-BCFW, with and without averages.
    assert!(check(&multiclass(1, 12)) >= 2);
    check(&chain(1, 8));
    check(&graph(1, 8, 2));
    check(&graph(1, 8, 3));
}

#[test]
fn working_sets_forget_after_t_iterations() {
    let problem = multiclass(3, 30);
    let mut largest = Vec::new();
    for t in [0, 1, 5, 1000] {
        let params = MultiPlaneParams { t, ..params(Order::Permutation, Some(2), false) };
        let mut solver = MultiPlane::new(Metered::new(&problem), &params, 1);
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
    fn check<P: Problem>(name: &str, problem: &P) {
        for info in Standard.infos() {
            let points = |seed| {
                let mut points = run(problem, &spec(&info, &[]), seed, &Budget::iterations(8)).points;
                for point in &mut points {
                    // The only measured time on the virtual clock.
                    point.cpu_s = 0.0;
                }
                points
            };
            let first = points(11);
            assert_eq!(first, points(11), "{name} {}", info.name);
            if has(&info, "order") {
                assert_ne!(first, points(12), "{name} {}: the seed matters", info.name);
            }
        }
    }
    check("multiclass", &multiclass(1, 60));
    check("chain", &chain(1, 40));
    check("graph cut", &graph(1, 20, 2));
    check("Potts", &graph(1, 12, 4));
}

/// A budget of so many calls allows exactly so many: with n of them an iteration is complete.
#[test]
fn a_budget_of_n_calls_completes_an_iteration() {
    fn check<P: Problem>(problem: &P) {
        let n = problem.terms() as u64;
        for info in Standard.infos() {
            for spec in [spec(&info, &[]), spec(&info, &[("tau", Value::Count(4))])] {
                for (calls, complete) in [(1, 0), (n - 1, 0), (n, 1), (n + 1, 1), (3 * n, 3), (3 * n + 2, 3)] {
                    let outcome = run(problem, &spec, 1, &Budget { oracle_calls: Some(calls), ..Budget::default() });
                    let last = last(&outcome);
                    assert_eq!(outcome.stop, StopReason::OracleCalls, "{}", info.name);
                    assert_eq!((last.oracle_calls, last.iteration), (calls, complete), "{}: {calls} calls", info.name);
                    // A complete iteration has made its step: F has left 0.
                    assert!(complete == 0 || last.dual > 0.0, "{}: {calls} calls left F at {}", info.name, last.dual);
                }
                assert_eq!(
                    iterate_until(&mut *build(&spec, problem, 1), Some(n)),
                    Iteration::Complete,
                    "{}",
                    info.name
                );
                let short = iterate_until(&mut *build(&spec, problem, 1), Some(n - 1));
                assert_eq!(short, Iteration::Interrupted, "{}", info.name);
            }
        }
    }
    check(&multiclass(2, 9));
    check(&chain(2, 6));
    check(&graph(2, 7, 2));
    check(&graph(2, 7, 3));
}

#[test]
fn time_budgets_stop_inside_passes() {
    let problem = multiclass(4, 500);
    for info in Standard.infos() {
        let spec = spec(&info, &[]);
        let whole = run(&problem, &spec, 1, &Budget::iterations(3));
        let end = last(&whole).time_s;
        let began = whole.points[1].time_s;
        for share in [0.3, 0.9] {
            let limit = began + share * (end - began);
            let outcome = run(&problem, &spec, 1, &Budget { time_s: Some(limit), ..Budget::default() });
            let last = last(&outcome);
            assert_eq!(outcome.stop, StopReason::Time, "{}", info.name);
            assert!(last.time_s >= limit && last.time_s < end, "{}: {} of {limit}", info.name, last.time_s);
        }
    }
}

#[test]
fn gap_budgets_stop_at_the_first_evaluation_that_is_small_enough() {
    let problem = multiclass(4, 60);
    for info in Standard.infos() {
        let spec = spec(&info, &[]);
        let target = last(&run(&problem, &spec, 1, &Budget::iterations(9))).gap;
        let outcome = run(&problem, &spec, 1, &Budget { gap: Some(target), ..Budget::default() });
        let (end, before) = outcome.points.split_last().unwrap();
        assert_eq!(outcome.stop, StopReason::Gap, "{}", info.name);
        assert!(end.gap <= target && before.iter().all(|point| point.gap > target), "{}", info.name);
    }
}
