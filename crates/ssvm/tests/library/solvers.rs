//! Properties that hold for every row of the table of solvers on every family, checked on small random problems. Rows come
//! from the table of solvers, so a new row is checked without further changes.

use std::sync::Arc;

use crate::common::{chain, graph, iterate, iterate_until, multiclass, vectors};
use ssvm::data::multiclass::Features;
use ssvm::problem::MulticlassProblem;
use ssvm::solver::order::Order;
use ssvm::solver::{Batching, MultiPlane, MultiPlaneParams, Schedule, Standard, State};
use ssvm::{
    Budget, Cadence, ClockKind, Interrupt, Iteration, Metered, Outcome, Problem, Quiet, RunLimits, Solver, SolverInfo,
    SolverSpec, SolverTable, StopReason, TracePoint, Value, drive,
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
    let limits = RunLimits { clock: ClockKind::VIRTUAL, ..RunLimits::new(budget.clone(), Cadence::Every(1)) };
    drive(problem, &mut *build(spec, problem, seed), &limits, &mut Quiet).unwrap()
}

fn last(outcome: &Outcome) -> &TracePoint {
    outcome.points.last().expect("the end is always evaluated")
}

/// A subgradient method has no φ, hence no F.
fn has_dual(solver: &dyn Solver) -> bool {
    solver.dual() > f64::NEG_INFINITY
}

/// F never falls from pass to pass or from iteration to iteration, F ≤ P, working sets obey N.
fn check_invariants<P: Problem>(problem: &P) {
    for info in Standard.infos() {
        let most = match (has(info, "N"), info.planes.is_some()) {
            // Planes with weight stay.
            (true, _) if has(info, "memory") => u64::MAX,
            (true, _) => MOST_PLANES,
            (false, true) => u64::MAX,
            (false, false) => 0,
        };
        for spec in variants(info, problem.terms()) {
            let mut solver = build(&spec, problem, 5);
            let (mut best_dual, mut best_primal) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut before = if has_dual(&*solver) { 0.0 } else { f64::NEG_INFINITY };
            for _ in 0..25 {
                assert_eq!(iterate(&mut *solver), Iteration::Complete);
                for pair in solver.moments().windows(2) {
                    assert!(pair[1].dual >= pair[0].dual - ROUNDING, "{spec:?}: a pass lowered F");
                }
                let now = solver.dual();
                assert!(now >= before - ROUNDING, "{spec:?}: F fell from {before} to {now}");
                before = now;
                let solution = solver.solution();
                let value = problem.as_dyn().evaluate(&solution.w, &[], false, &|| false);
                best_primal = best_primal.min(value.expect("an oracle").expect("not cancelled").primal);
                best_dual = best_dual.max(now).max(solution.dual(problem.lambda()));
                assert!(best_dual <= best_primal + ROUNDING, "{spec:?}: F {best_dual} above P {best_primal}");
                let (mean, largest) = solver.state().map_or((0.0, 0), State::planes);
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

/// φ is the sum of the φ^i, and every φ^i a convex combination of planes.
#[test]
fn the_iterate_is_the_sum_of_its_blocks() {
    fn check<P: Problem>(problem: &P) -> (usize, usize) {
        let (mut summed, mut weighted) = (0, 0);
        for info in Standard.infos() {
            for spec in variants(info, problem.terms()) {
                let mut solver = build(&spec, problem, 5);
                // The sums are made afresh every ten iterations: look in between.
                for _ in 0..29 {
                    iterate(&mut *solver);
                    let Some(state) = solver.state() else { continue };
                    for weights in state.weights() {
                        assert!(weights.iter().all(|alpha| *alpha >= 0.0), "{spec:?}: a weight below 0");
                        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{spec:?}: not a distribution");
                        weighted += 1;
                    }
                    let (now, sum) = (state.solution(), state.resummed());
                    assert!((now.offset - sum.offset).abs() < ROUNDING);
                    for (a, b) in now.w.iter().zip(&sum.w) {
                        assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{spec:?}: φ is not the sum of the φ^i");
                    }
                    summed += 1;
                }
            }
        }
        (summed, weighted)
    }
    for seed in 0..3 {
        let counts =
            [check(&multiclass(seed, 9)), check(&chain(seed, 6)), check(&graph(seed, 6, 2)), check(&graph(seed, 6, 4))];
        assert!(counts.iter().all(|(summed, weighted)| *summed > 500 && *weighted > 500), "{counts:?}");
    }
}

#[test]
fn multi_plane_without_planes_is_its_single_plane_partner_bit_for_bit() {
    fn check<P: Problem>(problem: &P) -> usize {
        let infos = Standard.infos();
        let multi = infos.iter().filter(|info| has(info, "N") && has(info, "M") && !has(info, "memory"));
        let pairs: Vec<(&str, &SolverInfo)> = multi.filter_map(|info| Some((info.partner?, info))).collect();
        for (partner, info) in &pairs {
            for order in ["permutation", "sequential", "uniform"] {
                let none = [("N", Value::Count(0)), ("M", Value::Count(0)), ("order", word(order))];
                let partner = SolverInfo::find(infos, partner).unwrap();
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
        let params = MultiPlaneParams { t, ..params(Order::PERMUTATION, Some(2), false) };
        let mut solver = MultiPlane::new(Metered::new(&problem), &params, 1);
        for _ in 0..40 {
            iterate(&mut solver);
            assert!(solver.working_sets().iter().all(|set| !set.is_empty()));
        }
        largest.push(solver.state().map_or(0.0, |state| state.planes().0));
    }
    assert!(largest.windows(2).all(|pair| pair[0] <= pair[1]), "larger T keeps at least as many planes: {largest:?}");
    assert!(largest[0] < largest[3]);
}

/// A plane without weight leaves after T iterations whether its term is drawn or not, and a term keeps no more than N besides
/// those with weight.
#[test]
fn terms_that_are_not_drawn_drop_their_planes_too() {
    const T: u64 = 3;
    const N: u64 = 2;
    for (name, order) in [("mp-bcfw-gap", "permutation"), ("mp-bcfw-gram", "uniform")] {
        let problem = chain(3, 12);
        let info = SolverInfo::find(Standard.infos(), name).unwrap();
        let wanted =
            [("T", Value::Count(T)), ("N", Value::Count(N)), ("refresh", Value::Count(2)), ("order", word(order))];
        let mut solver = build(&spec(info, &wanted), &problem, 1);
        let mut checked = 0;
        for iteration in 1..=60 {
            iterate(&mut *solver);
            for weights in solver.state().unwrap().weights() {
                let idle = weights[1..].iter().filter(|alpha| **alpha == 0.0).count();
                let kept = weights.len() - 1;
                assert!(idle == 0 || kept <= N as usize, "{name}, iteration {iteration}: {kept} planes, {idle} idle");
                checked += idle;
            }
        }
        assert!(checked > 0, "{name}: no plane was idle");
    }
}

/// Features that are large against λ make the small problem ill-conditioned: all sums keep weight.
#[test]
fn one_slack_keeps_a_bounded_number_of_sums() {
    const MOST_SUMS: u64 = 200;
    for size in [1e3, 1e6] {
        let mut data = vectors(3, 200, 7, 4, false);
        if let Features::Dense(all) = &mut data.features {
            for value in all {
                *value *= size;
            }
        }
        let problem = MulticlassProblem::new(Arc::new(data), 1.0 / 200.0);
        let mut solver = build(&SolverSpec::new("one-slack-cache").with("sums", Value::Count(MOST_SUMS)), &problem, 1);
        let mut before = 0.0;
        for iteration in 1..=12 {
            iterate(&mut *solver);
            let sums = solver.state().map_or(0, State::cached_bytes) / 8;
            assert!(sums <= (MOST_SUMS + 1) * (MOST_SUMS + 2) / 2, "iteration {iteration}: products {sums}");
            let dual = solver.dual();
            assert!(dual >= before, "iteration {iteration}: F fell from {before:e} to {dual:e}");
            before = dual;
        }
        let primal = problem.as_dyn().evaluate(&solver.solution().w, &[], false, &|| false).unwrap().unwrap().primal;
        assert!(before <= primal, "F {before} above P {primal}");
    }
}

#[test]
fn same_seed_and_virtual_clock_give_the_same_bits() {
    fn check<P: Problem>(name: &str, problem: &P) {
        for info in Standard.infos() {
            let points = |seed| {
                let mut points = run(problem, &spec(info, &[]), seed, &Budget::iterations(8)).points;
                for point in &mut points {
                    // The only measured time on the virtual clock.
                    point.cpu_s = 0.0;
                }
                points
            };
            let first = points(11);
            assert_eq!(first, points(11), "{name} {}", info.name);
            // FW and one-slack sum over all terms: their order changes the last digits only.
            if !matches!(info.name, "fw" | "one-slack" | "one-slack-cache") {
                assert_ne!(first, points(12), "{name} {}: the seed matters", info.name);
            }
        }
    }
    check("multiclass", &multiclass(1, 60));
    check("chain", &chain(1, 40));
    check("graph cut", &graph(1, 20, 2));
    check("Potts", &graph(1, 12, 4));
}

/// A budget of calls allows exactly that number: with n of them an iteration is complete.
#[test]
fn a_budget_of_n_calls_completes_an_iteration() {
    fn check<P: Problem>(problem: &P) {
        let n = problem.terms() as u64;
        // A cache saves calls, so an iteration may have fewer.
        let calls_everybody = |info: &&SolverInfo| !has(info, "F") && info.name != "bcfw-lazy";
        for info in Standard.infos().iter().filter(calls_everybody) {
            let spec = spec(info, &[]);
            for (calls, complete) in [(1, 0), (n - 1, 0), (n, 1), (n + 1, 1), (3 * n, 3), (3 * n + 2, 3)] {
                let outcome = run(problem, &spec, 1, &Budget { oracle_calls: Some(calls), ..Budget::default() });
                let last = last(&outcome);
                assert_eq!(outcome.stop, StopReason::OracleCalls, "{}", info.name);
                assert_eq!((last.oracle_calls, last.iteration), (calls, complete), "{}: {calls} calls", info.name);
                // A complete iteration has made its step: F has left 0.
                let moved = last.dual > 0.0 || last.dual == f64::NEG_INFINITY;
                assert!(complete == 0 || moved, "{}: {calls} calls left F at {}", info.name, last.dual);
            }
            assert_eq!(
                iterate_until(&mut *build(&spec, problem, 1), Some(n)),
                Ok(Iteration::Complete),
                "{}",
                info.name
            );
            let short = iterate_until(&mut *build(&spec, problem, 1), Some(n - 1));
            assert_eq!(short, Err(Interrupt::Limit), "{}", info.name);
        }
    }
    check(&multiclass(2, 9));
    check(&chain(2, 6));
    check(&graph(2, 7, 2));
    check(&graph(2, 7, 3));
}

#[test]
fn time_budgets_stop_inside_passes() {
    let problem = multiclass(4, 2000);
    for info in Standard.infos() {
        let spec = spec(info, &[]);
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
        let spec = spec(info, &[]);
        if !has_dual(&*build(&spec, &problem, 1)) {
            continue;
        }
        let target = last(&run(&problem, &spec, 1, &Budget::iterations(9))).gap;
        let outcome = run(&problem, &spec, 1, &Budget { gap: Some(target), ..Budget::default() });
        let (end, before) = outcome.points.split_last().unwrap();
        assert_eq!(outcome.stop, StopReason::Gap, "{}", info.name);
        assert!(end.gap <= target && before.iter().all(|point| point.gap > target), "{}", info.name);
    }
}

/// Between the F and the P of every row lies the optimum that the certificates bracket.
#[test]
fn every_row_brackets_the_certified_optimum() {
    fn check<P: Problem>(problem: &P) {
        let optimum = problem.as_dyn().bracket(1e-8, &|| false, &mut |_| {}).unwrap();
        for info in Standard.infos() {
            let spec = spec(info, &[("passes", Value::Count(3))]);
            let outcome = run(problem, &spec, 3, &Budget::iterations(60));
            for point in &outcome.points {
                assert!(point.primal >= optimum.lower - ROUNDING, "{}: P below the optimum", info.name);
                // −∞ where there is none.
                assert!(point.dual <= optimum.upper + ROUNDING, "{}: F above the optimum", info.name);
            }
            let first = outcome.points[0].primal - optimum.lower;
            let best = outcome.points.iter().map(|point| point.primal).fold(f64::INFINITY, f64::min);
            assert!(best - optimum.upper < 0.5 * first, "{}: P comes no nearer", info.name);
        }
    }
    check(&multiclass(7, 30));
    check(&chain(7, 12));
    check(&graph(7, 10, 2));
}

/// The solvers that take pair steps over kept planes reach the optimum to many digits.
#[test]
fn pair_steps_reach_the_optimum() {
    let problem = multiclass(7, 30);
    let optimum = problem.as_dyn().bracket(1e-12, &|| false, &mut |_| {}).unwrap();
    for name in ["mp-bcfw-gram", "mp-bcfw-gap", "bcfw-pair", "bcfw-gap-pair-cache", "bcfw-lazy", "one-slack"] {
        let outcome = run(&problem, &SolverSpec::new(name), 1, &Budget::iterations(3000));
        let short = (optimum.lower - last(&outcome).dual) / optimum.lower;
        assert!(short < 1e-6, "{name}: F is {short:e} short");
    }
}

/// Products that are kept and products that are computed at each visit are the same, and the bound on memory holds.
#[test]
fn memory_is_bounded_and_changes_no_digit() {
    fn cached(solver: &dyn Solver) -> u64 {
        solver.state().map_or(0, State::cached_bytes)
    }
    fn check<P: Problem>(problem: &P) {
        for name in ["mp-bcfw-gram", "bcfw-gap-pair-cache", "bcfw-lazy"] {
            let none = SolverSpec::new(name).with("memory", Value::Count(0));
            let (kept, computed) = (SolverSpec::new(name), none);
            let (mut kept, mut computed) = (build(&kept, problem, 4), build(&computed, problem, 4));
            for _ in 0..12 {
                iterate(&mut *kept);
                iterate(&mut *computed);
                assert_eq!(cached(&*computed), 0);
                // The passes differ on the clock, where one of them computes more; not with a fixed number of them.
                if name != "mp-bcfw-gram" {
                    assert_eq!(kept.dual().to_bits(), computed.dual().to_bits(), "{name}");
                }
            }
            assert!(cached(&*kept) > 0, "{name}");
        }
    }
    check(&multiclass(1, 40));
    check(&chain(1, 20));
    check(&graph(1, 12, 2));
    check(&graph(1, 8, 4));
}

#[test]
fn mistakes_in_parameters_name_the_key() {
    let infos = Standard.infos();
    for (solver, key, value, expected) in [
        ("bcfw-cache", "cache", "0", "cache must be a whole number from 1"),
        ("one-slack-cache", "cache", "0", "cache must be a whole number from 1"),
        ("bcfw-gap", "refresh", "0", "refresh must be a whole number from 1"),
        ("bcfw-gap", "order", "uniform", "'bcfw-gap' has only refresh: 'order' belongs to"),
        ("mp-bcfw-gram", "steps", "0", "steps must be a whole number from 1"),
        ("bcfw", "cache", "10", "'cache' belongs to"),
        ("bcfw-cache", "F", "nan", "F must be a number"),
    ] {
        let info = SolverInfo::find(infos, solver).unwrap();
        let refusal = info.spec(&[(key, value.to_owned())], infos).unwrap_err();
        assert!(refusal.key == key && refusal.message.contains(expected), "{solver} {key}: {}", refusal.message);
    }
}

#[test]
fn a_gap_alone_ends_no_run_without_a_dual() {
    let problem = multiclass(1, 10);
    let spec = SolverSpec::new("ssg-avg");
    let budget = Budget { gap: Some(1e-3), ..Budget::default() };
    let limits = RunLimits { clock: ClockKind::VIRTUAL, ..RunLimits::new(budget, Cadence::Every(1)) };
    let error = drive(&problem, &mut *build(&spec, &problem, 1), &limits, &mut Quiet).unwrap_err().to_string();
    assert!(error.contains("no dual"), "{error}");
}

/// Features in the millions make weights as small as their squares are large: no step may lose one.
#[test]
fn large_features_lower_no_dual() {
    let mut data = vectors(3, 80, 6, 3, false);
    let Features::Dense(table) = &mut data.features else { unreachable!("asked for dense ones") };
    for value in table {
        *value *= 1e7;
    }
    let problem = MulticlassProblem::new(Arc::new(data), 1.0 / 80.0);
    for info in Standard.infos() {
        let mut solver = build(&spec(info, &[]), &problem, 1);
        if !has_dual(&*solver) {
            continue;
        }
        let mut before = 0.0;
        for iteration in 1..=40 {
            iterate(&mut *solver);
            let now = solver.dual();
            assert!(now >= before - 1e-12, "{}: F fell from {before} to {now} in iteration {iteration}", info.name);
            before = now;
        }
        assert!(before > 0.0, "{}: F is {before}", info.name);
    }
}

/// The calls of a refresh are one per term, whatever the order of the passes is.
#[test]
fn a_refresh_visits_every_term() {
    let problem = multiclass(2, 40);
    let spec = SolverSpec::new("bcfw-cache").with("order", word("uniform")).with("refresh", Value::Count(2));
    let outcome = run(&problem, &spec, 1, &Budget { oracle_calls: Some(10_000), ..Budget::iterations(2) });
    assert!(last(&outcome).oracle_calls >= 40 + 40, "{} calls", last(&outcome).oracle_calls);
}
