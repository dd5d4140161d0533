//! What a problem says about its planes agrees with the planes themselves, written out as vectors: products, values,
//! offsets, and sums of several of them.

use std::sync::Arc;

use crate::common::{Dice, chain, graph, multiclass, words};
use ssvm::problem::ChainProblem;
use ssvm::{Problem, Sink};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs()))
}

fn check<P: Problem>(problem: &P, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut work = problem.work();
    let dim = problem.dim();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut several = 0;
    for i in 0..problem.terms() {
        let mut planes: Vec<P::Plane> = Vec::new();
        for size in [0.0, 0.3, 1.0, 3.0, 10.0, 30.0] {
            let w: Vec<f64> = (0..dim).map(|_| size * dice.signed()).collect();
            let mut plane = P::Plane::default();
            problem.oracle(i, &w, &mut work, &mut plane).unwrap();
            if !planes.contains(&plane) {
                planes.push(plane);
            }
        }
        several += usize::from(planes.len() > 2);
        let written = |plane: &P::Plane| {
            let mut vector = vec![0.0; dim];
            let offset = problem.add_plane(i, plane, 1.0, &mut vector);
            (vector, offset)
        };
        let vectors: Vec<(Vec<f64>, f64)> = planes.iter().map(written).collect();
        for (p, (vector, offset)) in planes.iter().zip(&vectors) {
            assert!(close(problem.offset(i, p), *offset));
            for (q, (other, _)) in planes.iter().zip(&vectors) {
                let product = problem.product(i, p, q, &mut work);
                assert!(close(product, dot(vector, other)), "term {i}: {product}");
            }
        }
        let w: Vec<f64> = (0..dim).map(|_| dice.signed()).collect();
        let mut values = Vec::new();
        problem.values(i, &w, planes.iter(), &mut work, &mut values);
        for (value, (vector, offset)) in values.iter().zip(&vectors) {
            assert!(close(*value, dot(vector, &w) + offset), "term {i}: {value}");
        }
        let changes: Vec<f64> = planes.iter().map(|_| dice.signed()).collect();
        let (mut target, mut average) = (w.clone(), vec![0.0; dim]);
        let mut sink = Sink { w: &mut target, scale: -2.0, average: Some((&mut average, 3.0)) };
        let moved = problem.add_planes(i, changes.iter().copied().zip(&planes), &mut work, &mut sink);
        let offset: f64 = changes.iter().zip(&vectors).map(|(c, (_, offset))| c * offset).sum();
        assert!(close(moved, offset));
        for j in 0..dim {
            let change: f64 = changes.iter().zip(&vectors).map(|(c, (vector, _))| c * vector[j]).sum();
            assert!(close(target[j], w[j] - 2.0 * change) && close(average[j], 3.0 * change), "term {i}, entry {j}");
        }
    }
    assert_eq!(problem.weights(&vec![0.0; dim]).len(), problem.exported());
    assert!(several > 0, "no term has several planes");
}

#[test]
fn planes_are_what_they_say() {
    for seed in 0..5 {
        check(&multiclass(seed, 8), seed);
        check(&chain(seed, 8), seed);
        // Longer than a machine word has bits.
        check(&ChainProblem::new(Arc::new(words(seed, 3, 150)), 0.3), seed);
        check(&graph(seed, 6, 2), seed);
        check(&graph(seed, 6, 5), seed);
    }
}
