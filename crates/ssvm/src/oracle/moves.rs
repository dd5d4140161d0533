//! Expansion moves until none improves a labelling.
//!
//! For every node, the number of neighbours with each label is counted once and kept up to date, so that the energy of
//! a move takes a pass over nodes and not over arcs.

use super::expansion::Potts;
use super::maxflow::{BinaryCut, FixedPoint, Topology};

/// Reusable memory of [`expand`].
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// Neighbours of node l with label b, nodes × K.
    around: Vec<i32>,
    /// Labels by how strongly the unaries prefer them, the strongest first.
    order: Vec<(f64, u16)>,
    /// Nodes of the last move with the labels they had.
    moved: Vec<(u32, u16)>,
}

impl Moves {
    fn begin(&mut self, energy: Potts<'_>, labels: &[u16]) {
        let Potts { topology, unary, num_labels, .. } = energy;
        self.around.clear();
        self.around.resize(unary.len(), 0);
        for (row, l) in self.around.chunks_exact_mut(num_labels).zip(0..) {
            for arc in topology.neighbours(l) {
                row[usize::from(labels[arc.head as usize])] += 1;
            }
        }
        self.order.clear();
        self.order.extend((0..num_labels as u16).map(|alpha| (0.0, alpha)));
        for (row, &y) in unary.chunks_exact(num_labels).zip(labels) {
            let now = row[usize::from(y)];
            for ((wish, _), cost) in self.order.iter_mut().zip(row) {
                *wish += (now - cost).max(0.0);
            }
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }

    /// Gives α to the nodes that the cut chose; a second call restores their labels. Returns the number of arcs
    /// visited.
    fn relabel(&mut self, topology: &Topology, num_labels: usize, labels: &mut [u16]) -> u64 {
        let mut arcs = 0;
        for (l, other) in &mut self.moved {
            let label = &mut labels[*l as usize];
            std::mem::swap(label, other);
            arcs += u64::from(topology.degree(*l));
            for arc in topology.neighbours(*l) {
                let row = &mut self.around[arc.head as usize * num_labels..][..num_labels];
                row[usize::from(*other)] -= 1;
                row[usize::from(*label)] += 1;
            }
        }
        arcs
    }

    fn energy(&self, energy: Potts<'_>, labels: &[u16]) -> f64 {
        let rows = self.around.chunks_exact(energy.num_labels).zip(labels);
        let agree: i32 = rows.map(|(row, &y)| row[usize::from(y)]).sum();
        let disagreements = (energy.topology.arcs().len() as i64 - i64::from(agree)) / 2;
        energy.unary_sum(labels) + energy.pairwise * disagreements as f64
    }
}

/// Expansion moves over the labels in turn, until none of the K strictly lowers the energy. Returns the operations.
pub(super) fn expand(cut: &mut BinaryCut, moves: &mut Moves, energy: Potts<'_>, labels: &mut [u16]) -> u64 {
    let Potts { topology, unary, num_labels, pairwise } = energy;
    let scale = FixedPoint::new(topology, pairwise);
    moves.begin(energy, labels);
    let mut sum = moves.energy(energy, labels);
    let mut operations = (topology.arcs().len() + unary.len()) as u64;
    let (mut at, mut idle) = (0, 0);
    while idle < num_labels && !labels.is_empty() {
        let alpha = moves.order[at].1;
        at = (at + 1) % num_labels;
        let (y, around) = (|l: u32| labels[l as usize], &moves.around);
        // With x = 1 for "take α", an edge costs w[x_k ≠ x_l] if its labels agree, w(1 − x_k x_l) if they differ, which is
        // w − w/2 (x_k + x_l − [x_k ≠ x_l]), and w(1 − x_l) if k has α already.
        let term = |l: u32| {
            let row = l as usize * num_labels..(l as usize + 1) * num_labels;
            let (unary, around) = (&unary[row.clone()], &around[row]);
            let (agree, taken) = (around[usize::from(y(l))], around[usize::from(alpha)]);
            let differ = topology.degree(l) as i32 - agree - taken;
            scale.term(unary[usize::from(alpha)] - unary[usize::from(y(l))], -differ - 2 * taken, differ + 2 * agree)
        };
        let movers = (0..labels.len() as u32).filter(|&l| y(l) != alpha);
        cut.minimise(topology, scale, movers, term, |k, l| 1 + i32::from(y(k) == y(l)), || ());
        operations += labels.len() as u64 + cut.operations();
        idle += 1;
        moves.moved.clear();
        moves.moved.extend((0..labels.len() as u32).filter(|&l| cut.is_one(l)).map(|l| (l, alpha)));
        if !moves.moved.is_empty() {
            operations += moves.relabel(topology, num_labels, labels) + labels.len() as u64;
            let after = moves.energy(energy, labels);
            // The minimiser with the fewest ones strictly lowers the energy, except for rounding. Comparing the sums
            // guarantees an end.
            if after < sum {
                sum = after;
                // After its own move α cannot gain again before another label has.
                idle = 1;
            } else {
                operations += moves.relabel(topology, num_labels, labels);
            }
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with chords, costs from a fixed hash.
    fn instance(nodes: u32, num_labels: u32) -> (Topology, Vec<f64>) {
        let edges: Vec<_> = (0..nodes).flat_map(|l| [[l, (l + 1) % nodes], [l, (l + 5) % nodes]]).collect();
        let hash = |at: u32| f64::from(at.wrapping_mul(2_654_435_761) >> 20) / 1024.0;
        (Topology::new(nodes as usize, &edges).unwrap(), (0..nodes * num_labels).map(hash).collect())
    }

    #[test]
    fn neighbours_stay_counted() {
        for (nodes, num_labels) in [(11, 3), (40, 8), (64, 20)] {
            let (topology, unary) = instance(nodes, num_labels);
            for pairwise in [0.0, 0.3, 1.0, 4.0] {
                let energy = Potts { topology: &topology, unary: &unary, num_labels: num_labels as usize, pairwise };
                let (mut cut, mut moves) = (BinaryCut::new(), Moves::default());
                let mut labels: Vec<u16> = (0..nodes).map(|l| (l * 7 % num_labels) as u16).collect();
                let before = energy.energy(&labels);
                expand(&mut cut, &mut moves, energy, &mut labels);
                let mut fresh = Moves::default();
                fresh.begin(energy, &labels);
                assert_eq!(moves.around, fresh.around);
                let after = energy.energy(&labels);
                assert_eq!(moves.energy(energy, &labels).to_bits(), after.to_bits());
                assert!(after < before);
                // A move and its reversal.
                let (there, counted) = (labels.clone(), moves.around.clone());
                moves.moved = vec![(0, 1), (1, 1), (5, 2)];
                moves.relabel(&topology, num_labels as usize, &mut labels);
                fresh.begin(energy, &labels);
                assert_eq!(moves.around, fresh.around);
                moves.relabel(&topology, num_labels as usize, &mut labels);
                assert_eq!((labels, &moves.around), (there, &counted));
            }
        }
    }
}
