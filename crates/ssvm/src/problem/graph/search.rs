//! Label costs of a term at w, the labelling that α-expansion finds for them, and the plane of that labelling.

use super::{GraphPlane, GraphProblem, Work};
use crate::linalg::norm2;
use crate::oracle::expansion::{Potts, Start, effective_weight};
use crate::oracle::maxflow::fixed_point_error;
use crate::problem::Problem;

impl GraphProblem {
    /// Label costs for the minimisers, times the number of nodes, so that losses and pairwise terms are whole numbers
    /// at w = 0 and ties are found exactly. Returns the operations.
    pub(super) fn energies(&self, i: usize, w: &[f64], wide: &mut Vec<f64>, scores: &mut [f64]) -> u64 {
        let features = self.data.features_of(i);
        let truth = self.data.labels_of(i);
        let nodes = truth.len();
        let k = self.data.num_labels;
        features.products(w, self.p(), wide, scores);
        if self.blocks == 1 {
            // Cost of label 1 over label 0: −(s_1 − s_0) with s_1 − s_0 = √2⟨ψ, w⟩, and the losses.
            for (score, truth) in scores.iter_mut().zip(truth) {
                *score = if *truth == 0 { -1.0 } else { 1.0 } - nodes as f64 * std::f64::consts::SQRT_2 * *score;
            }
        } else {
            for (row, truth) in scores.chunks_exact_mut(k).zip(truth) {
                for (y, score) in row.iter_mut().enumerate() {
                    *score = -(nodes as f64) * *score - f64::from(u8::from(y != usize::from(*truth)));
                }
            }
        }
        (features.len() * self.blocks) as u64
    }

    /// The part of H_i that the fixed point of the last cut, of term i, can hide.
    pub(super) fn fixed_point(&self, i: usize, work: &Work) -> f64 {
        let topology = &self.topologies[i];
        let nodes = topology.num_nodes() as f64;
        let scores = work.scores[..topology.num_nodes()].chunks_exact(1);
        fixed_point_error(topology, effective_weight(self.pairwise * nodes, scores)) / nodes * self.inverse_n()
    }

    /// Σ ‖ψ‖ over the nodes of term i.
    pub(super) fn length_of(&self, i: usize) -> f64 {
        let (features, p) = (self.data.features_of(i), self.p());
        let mut row = vec![0.0; p];
        let length = |l: usize| {
            row.fill(0.0);
            features.part(l * p..(l + 1) * p).add_to(&mut row, 1.0);
            norm2(&row).sqrt()
        };
        (0..self.data.labels_of(i).len()).map(length).sum()
    }

    /// The energy of term i at these costs.
    pub(super) fn potts<'a>(&'a self, i: usize, scores: &'a [f64]) -> Potts<'a> {
        let topology = &self.topologies[i];
        let (nodes, num_labels) = (topology.num_nodes(), self.data.num_labels);
        Potts { topology, unary: &scores[..nodes * num_labels], num_labels, pairwise: self.pairwise * nodes as f64 }
    }

    /// α-expansion from the lowest of the truth, the known planes and the unaries, into `work.labels`. Returns disagreements
    /// and operations.
    pub(super) fn expand_known<'a>(
        &self,
        i: usize,
        known: impl Iterator<Item = &'a GraphPlane>,
        work: &mut Work,
    ) -> (u32, u64) {
        let energy = self.potts(i, &work.scores);
        let sum = (energy.topology.num_nodes() + energy.topology.arcs().len() / 2) as u64;
        let mut operations = 0;
        let mut best: Option<(f64, &[u16])> = None;
        for plane in known {
            let value = energy.energy(&plane.labels);
            operations += sum;
            if best.is_none_or(|(least, _)| value < least) {
                best = Some((value, &plane.labels));
            }
        }
        let truth = Start::Labels(self.data.labels_of(i));
        let labels = &mut work.labels[..energy.topology.num_nodes()];
        let report = match best {
            Some((_, best)) => work.potts.solve_from(energy, &[truth, Start::Labels(best), Start::Unaries], labels),
            None => work.potts.solve_from(energy, &[truth, Start::Unaries], labels),
        };
        (report.disagreements, operations + report.operations)
    }

    /// Makes `plane` the plane of these labels; returns how many features are summed to it.
    pub(super) fn label_plane(&self, i: usize, labels: &[u16], disagreements: u32, plane: &mut GraphPlane) -> u64 {
        plane.labels.clear();
        plane.labels.extend_from_slice(labels);
        self.build_plane(i, disagreements, plane)
    }

    /// Fills `plane` with the plane of its labels; returns how many features are summed to it.
    fn build_plane(&self, i: usize, disagreements: u32, plane: &mut GraphPlane) -> u64 {
        let (p, truth) = (self.p(), self.data.labels_of(i));
        let features = self.data.features_of(i);
        plane.mask = 0;
        let mut wrong = 0u32;
        for (hat, truth) in plane.labels.iter().zip(truth) {
            if hat != truth {
                wrong += 1;
                plane.mask |= if self.blocks == 1 { 1 } else { 1 << (hat % 64) | 1 << (truth % 64) };
            }
        }
        let stored = self.in_mask(plane.mask).count();
        plane.sums.clear();
        plane.sums.resize(stored * p, 0.0);
        let slot = |y: u16| self.in_mask(plane.mask).take_while(|k| *k < usize::from(y)).count() * p;
        let scale = self.inverse_n();
        for (l, (hat, truth)) in plane.labels.iter().zip(truth).enumerate() {
            if hat == truth {
                continue;
            }
            let row = features.part(l * p..(l + 1) * p);
            if self.blocks == 1 {
                let sign = if *hat == 1 { scale } else { -scale };
                row.add_to(&mut plane.sums, sign * std::f64::consts::SQRT_2);
            } else {
                let (to, from) = (slot(*hat), slot(*truth));
                row.add_to(&mut plane.sums[to..to + p], scale);
                row.add_to(&mut plane.sums[from..from + p], -scale);
            }
        }
        let theta = f64::from(self.truth_disagreements[i]) - f64::from(disagreements);
        plane.offset = (f64::from(wrong) / truth.len() as f64 + self.pairwise * theta) * scale;
        u64::from(wrong) * (p * self.blocks.min(2)) as u64
    }
}
