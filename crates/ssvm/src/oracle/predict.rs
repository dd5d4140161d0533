//! (x, w) → argmax_y ⟨w, φ(x, y)⟩ − Θ(x, y): the labelling a trained model gives a graph.

use super::expansion::{Potts, PottsSolver};
use super::maxflow::Topology;
use crate::error::{Error, Result};

/// Labels of one graph. `features` is nodes × p, `w` has one block of p weights per label.
pub fn predict(features: &[f32], edges: &[[u32; 2]], num_labels: usize, pairwise: f64, w: &[f64]) -> Result<Vec<u16>> {
    let p = w.len() / num_labels.max(1);
    if p == 0 || w.len() != p * num_labels || !features.len().is_multiple_of(p) {
        return Err(Error::invalid(format!(
            "{} weights do not fit {num_labels} labels and {} feature values",
            w.len(),
            features.len()
        )));
    }
    let score = |psi: &[f32], block: &[f64]| psi.iter().zip(block).map(|(x, w)| f64::from(*x) * w).sum::<f64>();
    let costs: Vec<f64> =
        features.chunks_exact(p).flat_map(|psi| w.chunks_exact(p).map(move |block| -score(psi, block))).collect();
    let mut labels = vec![0; features.len() / p];
    let topology = Topology::new(labels.len(), edges)?;
    let energy = Potts { topology: &topology, unary: &costs, num_labels, pairwise };
    PottsSolver::new().solve(energy, &mut labels);
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Best score over all labellings of a small graph.
    fn brute_force(features: &[f32], edges: &[[u32; 2]], k: usize, pairwise: f64, w: &[f64]) -> f64 {
        let p = w.len() / k;
        let nodes = features.len() / p;
        let mut best = f64::NEG_INFINITY;
        for code in 0..k.pow(nodes as u32) {
            let labels: Vec<u16> = (0..nodes).map(|l| (code / k.pow(l as u32) % k) as u16).collect();
            best = best.max(value(features, edges, pairwise, w, p, &labels));
        }
        best
    }

    fn value(features: &[f32], edges: &[[u32; 2]], pairwise: f64, w: &[f64], p: usize, labels: &[u16]) -> f64 {
        let unary: f64 = labels
            .iter()
            .enumerate()
            .map(|(l, &y)| (0..p).map(|j| f64::from(features[l * p + j]) * w[usize::from(y) * p + j]).sum::<f64>())
            .sum();
        let broken = edges.iter().filter(|e| labels[e[0] as usize] != labels[e[1] as usize]).count();
        unary - pairwise * broken as f64
    }

    #[test]
    fn two_labels_reach_the_best_score_of_all_labellings() {
        let features = [1.0, 0.5, -2.0, 0.25, 0.75, -1.0, 0.1, 0.9, -0.3, 0.6];
        let edges = [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]];
        for (w, pairwise) in [([0.5, -1.0, 1.5, 2.0], 1.0), ([-2.0, 3.0, 1.0, -1.0], 0.3), ([4.0, 1.0, -3.0, 0.5], 2.0)]
        {
            let labels = predict(&features, &edges, 2, pairwise, &w).unwrap();
            let found = value(&features, &edges, pairwise, &w, 2, &labels);
            assert!((found - brute_force(&features, &edges, 2, pairwise, &w)).abs() < 1e-6);
        }
    }

    #[test]
    fn weights_of_another_length_are_refused() {
        assert!(predict(&[0.0; 6], &[], 2, 1.0, &[0.0; 5]).is_err());
        assert!(predict(&[0.0; 5], &[], 2, 1.0, &[0.0; 4]).is_err());
        assert!(predict(&[0.0; 5], &[], 2, 1.0, &[]).is_err());
    }
}
