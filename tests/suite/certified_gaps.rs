//! Gaps of problems whose oracle is not exact: no plane below the truth's, bounds that hold, runs that stop on them only.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;
use ssvm::data::{GraphData, NodeFeatures};
use ssvm::problem::{GraphProblem, Problem};
use ssvm_bench::{Budget, RunSettings, SolverSpec, TracePoint};
use ssvm_bench::{Cadence, Catalog, ClockKind, DataDir, Execution, Harness, Quiet, Request, Solve, StopReason};

/// Pictures: grids of `side`² nodes with four neighbours, patches of labels, features that tell them roughly.
fn pictures(seed: u64, n: usize, side: usize, p: usize, k: usize, weight: f64) -> GraphData {
    let mut rng = Pcg64::seed_from_u64(seed);
    let means: Vec<f32> = (0..k * p).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut data = GraphData {
        num_labels: k,
        features_per_node: p,
        features: NodeFeatures::default(),
        labels: Vec::new(),
        node_offsets: vec![0],
        edges: Vec::new(),
        edge_offsets: vec![0],
        pairwise_weight: weight,
    };
    for _ in 0..n {
        let seeds: Vec<[usize; 3]> =
            (0..4).map(|_| [rng.random_range(0..side), rng.random_range(0..side), rng.random_range(0..k)]).collect();
        for at in 0..side * side {
            let (row, column) = (at / side, at % side);
            let distance = |seed: &&[usize; 3]| seed[0].abs_diff(row) + seed[1].abs_diff(column);
            let label = seeds.iter().min_by_key(distance).unwrap()[2];
            data.labels.push(label as u16);
            data.features.extend((0..p).map(|f| means[label * p + f] + rng.random_range(-2.0..2.0f32)));
            if column > 0 {
                data.edges.push([at as u32 - 1, at as u32]);
            }
            if row > 0 {
                data.edges.push([(at - side) as u32, at as u32]);
            }
        }
        data.node_offsets.push(data.labels.len());
        data.edge_offsets.push(data.edges.len());
    }
    data.validate().expect("a valid graph");
    data
}

fn problem(seed: u64, n: usize, side: usize, k: usize, weight: f64) -> (GraphProblem, GraphData) {
    let data = pictures(seed, n, side, 12, k, weight);
    (GraphProblem::new(Arc::new(data.clone()), 1.0 / n as f64, weight).unwrap(), data)
}

/// Weights late in a run, where the truth is hard to beat.
fn late_weights(problem: &GraphProblem) -> Vec<f64> {
    let at_end = Cadence::At(vec![30]);
    Solve::new(problem).iterations(30).clock(ClockKind::VIRTUAL).evaluate(at_end).run().unwrap().weights
}

/// n·H_i(w) of one labelling by its definition.
fn score(data: &GraphData, i: usize, weight: f64, w: &[f64], labels: &[u16]) -> f64 {
    let p = data.features_per_node;
    let (truth, features) = (data.labels_of(i), data.features_of(i).singles());
    let mut total = 0.0;
    for (l, (hat, truth)) in labels.iter().zip(truth).enumerate() {
        for (f, x) in features[l * p..(l + 1) * p].iter().enumerate() {
            total += f64::from(*x) * (w[usize::from(*hat) * p + f] - w[usize::from(*truth) * p + f]);
        }
        total += f64::from(u8::from(hat != truth)) / labels.len() as f64;
    }
    let cut = |labels: &[u16]| {
        data.edges_of(i).iter().filter(|[a, b]| labels[*a as usize] != labels[*b as usize]).count() as f64
    };
    total + weight * (cut(truth) - cut(labels))
}

#[test]
fn the_oracle_never_loses_to_the_truth() {
    let mut truths = 0;
    for seed in 0..4 {
        let (problem, _) = problem(seed, 12, 6, 6, 1.0);
        let w = late_weights(&problem);
        let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
        for i in 0..problem.terms() {
            problem.oracle(i, &w, &mut work, &mut plane).unwrap();
            let value = problem.value(i, &plane, &w, &work);
            assert!(value >= 0.0, "seed {seed}, term {i}: {value}");
            let mut vector = vec![0.0; problem.dim()];
            let offset = problem.add_plane(i, &plane, 1.0, &mut vector);
            if value == 0.0 {
                assert!(offset == 0.0 && vector.iter().all(|v| *v == 0.0), "the plane of the truth is exactly 0");
                truths += 1;
            }
        }
    }
    assert!(truths > 0, "the truth is never the answer: the weights test nothing");
}

#[test]
fn bounds_enclose_the_maximum_over_all_labellings() {
    let mut rng = Pcg64::seed_from_u64(7);
    let (mut proven, mut terms) = (0, 0);
    for round in 0..30 {
        let (k, weight) = (3 + round as usize % 2, rng.random_range(0.02..0.5));
        let (problem, data) = problem(round, 6, 3, k, weight);
        assert!(!problem.exact());
        let size = rng.random_range(0.01..0.3);
        let w: Vec<f64> = (0..problem.dim()).map(|_| rng.random_range(-size..size)).collect();
        let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
        for i in 0..if k == 3 { 6 } else { 1 } {
            let best = (0..k.pow(9))
                .map(|code| {
                    let labels: Vec<u16> = (0..9).map(|l| (code / k.pow(l) % k) as u16).collect();
                    score(&data, i, weight, &w, &labels)
                })
                .fold(f64::NEG_INFINITY, f64::max)
                / problem.terms() as f64;
            problem.oracle(i, &w, &mut work, &mut plane).unwrap();
            let value = problem.value(i, &plane, &w, &work);
            let bounds = problem.certify(i, &w, &mut work, &mut plane).unwrap();
            let rounding = 1e-12;
            assert!(value <= best + rounding && bounds.lower <= best + rounding, "{value}, {bounds:?}, {best}");
            assert!(bounds.upper >= best - rounding, "{bounds:?} below {best}");
            assert!(bounds.lower >= value - rounding, "{bounds:?} forgets the oracle's plane {value}");
            if bounds.proven {
                assert!(bounds.upper - bounds.lower < 1e-9 && (bounds.lower - best).abs() < 1e-9, "{bounds:?}, {best}");
            }
            proven += usize::from(bounds.proven);
            terms += 1;
        }
    }
    assert!(proven * 2 > terms && proven < terms, "{proven} of {terms} proven: both cases are wanted");
}

#[test]
fn known_planes_are_never_forgotten() {
    let (problem, _) = problem(3, 8, 6, 6, 1.0);
    let w = late_weights(&problem);
    let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
    for i in 0..problem.terms() {
        let mut known = Vec::new();
        for scale in [0.0, 0.2, 0.5, 0.9, 1.1, 2.0] {
            let elsewhere: Vec<f64> = w.iter().map(|v| v * scale).collect();
            problem.oracle(i, &elsewhere, &mut work, &mut plane).unwrap();
            known.push(plane.clone());
        }
        problem.oracle_among(i, &w, known.iter(), &mut work, &mut plane).unwrap();
        let value = problem.value(i, &plane, &w, &work);
        for other in &known {
            assert!(value >= problem.value(i, other, &w, &work) - 1e-14);
        }
    }
}

#[test]
fn an_evaluation_costs_at_most_three_exact_passes() {
    for (seed, k, weight) in [(1, 8, 1.0), (2, 4, 0.3), (3, 6, 0.05)] {
        let (problem, _) = problem(seed, 12, 9, k, weight);
        let w = late_weights(&problem);
        let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
        for scale in [0.0, 0.3, 1.0] {
            let w: Vec<f64> = w.iter().map(|v| v * scale).collect();
            let pass: u64 = (0..problem.terms()).map(|i| problem.oracle(i, &w, &mut work, &mut plane).unwrap()).sum();
            let evaluation = problem.as_dyn().evaluate(&w, &[], false, &|| false).unwrap().unwrap();
            assert!(evaluation.operations <= 3 * pass, "{} against {pass}", evaluation.operations);
            let parallel = problem.as_dyn().evaluate(&w, &[], true, &|| false).unwrap().unwrap();
            assert_eq!(parallel, evaluation, "threads must not change it");
        }
    }
}

#[test]
fn planes_that_a_solver_keeps_lower_the_slack() {
    let (problem, _) = problem(5, 8, 6, 6, 1.0);
    let w = late_weights(&problem);
    let plain = problem.as_dyn().evaluate(&w, &[], false, &|| false).unwrap().unwrap();
    let nothing = vec![f64::NEG_INFINITY; problem.terms()];
    assert_eq!(problem.as_dyn().evaluate(&w, &nothing, false, &|| false).unwrap(), Some(plain));
    assert!(plain.slack > 0.0, "nothing is left to lower");
    // A plane above a bound raises the bound; above a proven maximum it is a fault.
    let (mut above, mut faults) = (nothing.clone(), 0);
    for i in 0..problem.terms() {
        let known = [&nothing[..i], &[plain.primal], &nothing[i + 1..]].concat();
        match problem.as_dyn().evaluate(&w, &known, false, &|| false) {
            Ok(_) => above[i] = plain.primal,
            Err(_) => faults += 1,
        }
    }
    assert_eq!(faults, plain.proven);
    let with = problem.as_dyn().evaluate(&w, &above, false, &|| false).unwrap().unwrap();
    assert!(with.slack < 1e-9 && with.primal > plain.primal, "{with:?} after {plain:?}");
}

fn run(dataset: &str, solver: &str, budget: Budget, evaluate: Cadence) -> (Vec<TracePoint>, StopReason, u64) {
    let harness = Harness::standard();
    let data = DataDir::resolve(None);
    let problem = harness.open(&Request::new(dataset, &data)).unwrap().problem;
    let settings = RunSettings {
        solver: SolverSpec::new(solver),
        seed: 1,
        clock: ClockKind::VIRTUAL,
        oracle_cost: ssvm_bench::OracleCost::ONE,
        budget,
        evaluate,
    };
    let outcome = problem.run(&settings, &Execution::default(), &mut Quiet).unwrap();
    (outcome.points, outcome.stop, problem.terms() as u64)
}

/// Every primal is above every dual, whenever they were seen.
fn assert_weak_duality(points: &[TracePoint]) {
    let dual = points.iter().map(|point| point.dual).fold(f64::NEG_INFINITY, f64::max);
    for point in points {
        assert!(point.primal >= dual - 1e-9, "iteration {}: {} below {dual}", point.iteration, point.primal);
        assert_eq!(point.gap, point.primal - point.dual);
        assert!(point.oracle_slack >= 0.0 && point.oracle_slack <= point.gap + 1e-9);
    }
}

#[test]
fn a_run_does_not_stop_by_a_gap_that_it_has_not_reached() {
    let budget = Budget { gap: Some(1e-3), ..Budget::iterations(150) };
    let (points, stop, n) = run("stanford-synth:n=10,size=6", "mp-bcfw", budget, Cadence::Log);
    assert_eq!(n, 10, "both parameters of the name count");
    assert_weak_duality(&points);
    let last = points.last().unwrap();
    assert_eq!(stop == StopReason::Gap, last.gap <= 1e-3);
    assert!(points.iter().all(|point| point.gap > 0.0));
}

/// Energies near 1e19, of which the last place is worth thousands: a gap of zero between them is none.
#[test]
fn no_gap_is_certified_below_what_rounding_hides() {
    let harness = Harness::standard();
    let data = DataDir::resolve(None);
    let mut request = Request::new("stanford-synth:n=4", &data);
    request.pairwise_weight = Some(1e18);
    let problem = harness.open(&request).unwrap().problem;
    let settings = RunSettings {
        solver: SolverSpec::new("bcfw"),
        seed: 1,
        clock: ClockKind::VIRTUAL,
        oracle_cost: ssvm_bench::OracleCost::ONE,
        budget: Budget { gap: Some(1e-3), ..Budget::iterations(60) },
        evaluate: Cadence::Log,
    };
    let outcome = problem.run(&settings, &Execution::default(), &mut Quiet).unwrap();
    assert_eq!(outcome.stop, StopReason::Iterations);
    for point in &outcome.points {
        assert!(point.gap > 1e6 && point.oracle_slack <= point.gap, "{point:?}");
    }
}

#[test]
fn weak_duality_holds_on_potts_graphs_for_every_solver() {
    for solver in ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"] {
        let (points, _, _) = run("stanford-synth:n=12,size=7", solver, Budget::iterations(40), Cadence::Every(4));
        assert_weak_duality(&points);
        assert!(points.iter().any(|point| point.proven > 0), "{solver}: nothing is ever proven");
    }
}

#[test]
fn exact_problems_have_no_slack() {
    for dataset in ["usps-synth:n=30", "ocr-synth:n=10", "horseseg-synth:n=6,size=5"] {
        let (points, _, n) = run(dataset, "mp-bcfw", Budget::iterations(5), Cadence::Every(1));
        assert_eq!(points.len(), 5);
        assert!(
            points.iter().all(|point| point.oracle_slack == 0.0 && point.proven == n && !point.partial),
            "{dataset}"
        );
    }
}

#[test]
fn solve_says_which_gap_it_shows() {
    let solve = |dataset: &str, format: &str| {
        let output = crate::common::program()
            .args(["solve", "--dataset", dataset, "--solver", "mp-bcfw", "--iterations", "3", "--clock", "virtual"])
            .args(["--format", format])
            .output()
            .expect("the program starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let table = solve("stanford-synth:n=5,size=5", "table");
    for text in ["primal at most", "certified gap", "oracle slack", "proven", "may be the oracle's slack"] {
        assert!(table.contains(text), "'{text}' is missing:\n{table}");
    }
    assert!(!solve("usps-synth:n=20", "table").contains("slack"));
    let json = solve("stanford-synth:n=5,size=5", "json");
    for line in json.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(value["oracle_slack"].is_f64() && value["proven"].is_u64() && value["partial"] == false, "{line}");
    }
}
