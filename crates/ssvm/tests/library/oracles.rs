//! Oracles against enumeration of all labellings, through the planes they return.

use std::sync::Arc;

use crate::common::{Dice, graphs, vectors, words};
use ssvm::data::GraphData;
use ssvm::problem::{ChainProblem, GraphProblem, MulticlassProblem, Problem};

fn random_weights(dice: &mut Dice, dim: usize, scale: f64) -> Vec<f64> {
    (0..dim).map(|_| scale * dice.signed()).collect()
}

/// All labellings of `length` positions with `k` labels, in lexicographic order.
fn labellings(length: usize, k: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..k.pow(length as u32)).map(move |mut code| {
        let mut labels = vec![0; length];
        for label in labels.iter_mut().rev() {
            *label = code % k;
            code /= k;
        }
        labels
    })
}

#[test]
fn multiclass_argmax_and_its_planes() {
    for seed in 0..20 {
        let data = Arc::new(vectors(seed, 8, 6, 5, seed % 2 == 1));
        let problem = MulticlassProblem::new(data.clone(), 0.1);
        let mut dice = Dice::new(100 + seed);
        let (mut work, mut plane) = (problem.work(), 0);
        for i in 0..8 {
            let w = random_weights(&mut dice, problem.dim(), 1.0);
            problem.oracle(i, &w, &mut work, &mut plane).unwrap();
            let value = problem.value(i, &plane, &w, &work);
            for y in 0..5u32 {
                let mut phi = vec![0.0; problem.dim()];
                let offset = problem.add_plane(i, &y, 1.0, &mut phi);
                let other: f64 = phi.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() + offset;
                assert!(value >= other - 1e-14);
                assert!(y != plane || (value - other).abs() < 1e-14);
            }
        }
        // At w = 0 all wrong labels tie: the lowest wins.
        let zero = vec![0.0; problem.dim()];
        for i in 0..8 {
            problem.oracle(i, &zero, &mut work, &mut plane).unwrap();
            assert_eq!(plane, u32::from(data.labels[i] == 0));
        }
    }
}

#[test]
fn viterbi_finds_the_best_labelling() {
    // Words of up to three letters: 26³ labellings each.
    for seed in 0..4 {
        let data = Arc::new(words(seed, 6, 3));
        let problem = ChainProblem::new(data.clone(), 0.2);
        let mut dice = Dice::new(50 + seed);
        let (mut work, mut plane) = (problem.work(), smallvec::SmallVec::new());
        for i in 0..6 {
            let length = data.offsets[i + 1] - data.offsets[i];
            // Few distinct weights make ties; the padding of each row stays zero.
            let mut w: Vec<f64> = (0..problem.dim())
                .map(|_| if seed % 2 == 0 { dice.signed() } else { dice.below(3) as f64 / 8.0 })
                .collect();
            for row in w.chunks_exact_mut(28) {
                row[26] = 0.0;
                row[27] = 0.0;
            }
            problem.oracle(i, &w, &mut work, &mut plane).unwrap();
            let value = problem.value(i, &plane, &w, &work);
            let full = problem.weights(&w);
            let truth: Vec<usize> = data.labels[data.range(i)].iter().map(|k| usize::from(*k)).collect();
            let score = |labels: &[usize]| {
                let mut sum = 0.0;
                for (l, k) in labels.iter().enumerate() {
                    let mask = data.pixels[data.offsets[i] + l];
                    sum += (0..128).filter(|p| mask >> p & 1 == 1).map(|p| full[k * 128 + p]).sum::<f64>();
                    sum += f64::from(u8::from(*k != truth[l])) / length as f64;
                }
                sum + labels.windows(2).map(|two| full[26 * 128 + two[0] * 26 + two[1]]).sum::<f64>()
            };
            let mut best: Option<(f64, Vec<usize>)> = None;
            for labels in labellings(length, 26) {
                let value = score(&labels);
                let tie = best.as_ref().is_some_and(|(b, _)| (value - b).abs() < 1e-12);
                let reversed = |labels: &[usize]| labels.iter().rev().copied().collect::<Vec<_>>();
                let better = match &best {
                    None => true,
                    // Lowest last letter first, then the one before it.
                    Some((_, labels_so_far)) if tie => reversed(&labels) < reversed(labels_so_far),
                    Some((b, _)) => value > *b,
                };
                if better {
                    best = Some((value, labels));
                }
            }
            let (best_score, best_labels) = best.unwrap();
            let found: Vec<usize> = plane.iter().map(|k| usize::from(*k)).collect();
            assert_eq!(found, best_labels, "seed {seed} word {i}");
            assert!((value * data.len() as f64 - (best_score - score(&truth))).abs() < 1e-11);
        }
    }
}

/// n·(value of a labelling) straight from the definition in SPEC's terms.
fn graph_score(data: &GraphData, i: usize, labels: &[usize], w: &[f64]) -> f64 {
    let p = data.features_per_node;
    let truth = data.labels_of(i);
    let theta = |label: &dyn Fn(usize) -> usize| {
        data.edges_of(i).iter().filter(|e| label(e[0] as usize) != label(e[1] as usize)).count() as f64
    };
    let mut sum = 0.0;
    for (l, y) in labels.iter().enumerate() {
        let t = usize::from(truth[l]);
        for f in 0..p {
            let x = f64::from(data.features_of(i).singles()[l * p + f]);
            sum += x * (w[y * p + f] - w[t * p + f]);
        }
        sum += f64::from(u8::from(*y != t)) / labels.len() as f64;
    }
    sum + data.pairwise_weight * (theta(&|l| usize::from(truth[l])) - theta(&|l| labels[l]))
}

#[test]
fn graph_oracles_against_enumeration() {
    for (k, exact) in [(2, true), (3, false)] {
        let (mut calls, mut optimal) = (0, 0);
        for seed in 0..30 {
            let mut data = graphs(seed, 5, 7, 4, k);
            data.pairwise_weight = [0.0, 0.05, 0.3, 1.0][seed as usize % 4];
            let data = Arc::new(data);
            let problem = GraphProblem::new(data.clone(), 0.2, data.pairwise_weight).unwrap();
            let mut dice = Dice::new(seed + 900);
            let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
            for i in 0..5 {
                let w = random_weights(&mut dice, problem.dim(), 0.5);
                problem.oracle(i, &w, &mut work, &mut plane).unwrap();
                let value = problem.value(i, &plane, &w, &work) * data.len() as f64;
                let full = problem.weights(&w);
                let best = labellings(data.labels_of(i).len(), k)
                    .map(|labels| graph_score(&data, i, &labels, &full))
                    .fold(f64::NEG_INFINITY, f64::max);
                assert!(value <= best + 1e-11);
                calls += 1;
                optimal += usize::from(value >= best - 1e-11);
                assert!(!exact || value >= best - 1e-11, "min-cut missed the optimum: {value} < {best}");
            }
        }
        // α-expansion is approximate, but on seven nodes it rarely misses.
        assert!(optimal * 10 >= calls * 9, "{optimal} of {calls} optimal");
    }
}

/// Half precision only saves bytes: what the same values in single precision give, to the bit.
#[test]
fn features_in_half_precision_give_the_planes_of_their_values() {
    for (k, p) in [(2, 37), (2, 8), (5, 21)] {
        let mut half = graphs(7, 6, 30, p, k);
        half.features = half.features.halved();
        let mut single = half.clone();
        single.features = half.features.all().singles().iter().copied().collect();
        assert_eq!(single.features.bytes(), 2 * half.features.bytes());
        let [half, single] = [half, single].map(|data| GraphProblem::new(Arc::new(data), 0.2, 0.05).unwrap());
        let mut dice = Dice::new(5);
        for i in 0..half.terms() {
            let w = random_weights(&mut dice, half.dim(), 0.5);
            let [a, b] = [&half, &single].map(|problem| {
                let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
                let operations = problem.oracle(i, &w, &mut work, &mut plane).unwrap();
                let mut vector = vec![0.0; problem.dim()];
                let offset = problem.add_plane(i, &plane, 1.0, &mut vector);
                vector.push(offset);
                (operations, vector.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
            });
            assert_eq!(a, b, "K = {k}, term {i}");
        }
    }
}

/// At w = 0 with half of the nodes in each label, all-0 and all-1 tie exactly: the lowest label wins.
#[test]
fn graph_ties_take_the_lowest_label() {
    let nodes = 6;
    let data = GraphData {
        num_labels: 2,
        features_per_node: 1,
        features: vec![1.0; nodes].into(),
        labels: vec![0, 0, 0, 1, 1, 1],
        node_offsets: vec![0, nodes],
        edges: (1..nodes as u32).map(|l| [l - 1, l]).collect(),
        edge_offsets: vec![0, nodes - 1],
        pairwise_weight: 1.0,
    };
    let problem = GraphProblem::new(Arc::new(data), 1.0, 1.0).unwrap();
    let (mut work, mut plane) = (problem.work(), <GraphProblem as Problem>::Plane::default());
    problem.oracle(0, &[0.0], &mut work, &mut plane).unwrap();
    let mut phi = [0.0];
    let offset = problem.add_plane(0, &plane, 1.0, &mut phi);
    // All nodes 0: three nodes wrong, one cut edge less than the truth.
    assert!((offset - 1.5).abs() < 1e-15);
    assert!((problem.weights(&phi)[1] + 3.0).abs() < 1e-12);
}
