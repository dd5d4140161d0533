//! α-expansion for Potts energies E(y) = Σ_l U_l(y_l) + w Σ_{k∼l} [y_k ≠ y_l] (Boykov, Veksler, Zabih, PAMI 2001). In:
//! nodes × K unaries on a [`Topology`]. Out: a labelling that no expansion move improves; the optimum for K = 2.

use super::{
    maxflow::{BinaryCut, Pending, Topology},
    partial::PartialOptimum,
};

/// Result of one minimisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PottsReport {
    /// E of the labelling, summed from the arguments.
    pub energy: f64,
    /// Number of edges whose ends differ.
    pub disagreements: u32,
    /// Elementary operations, the same on every machine.
    pub operations: u64,
    /// Nodes whose label is proven to be that of every optimum; all of them if the labelling is proven optimal.
    pub fixed_nodes: usize,
}

/// E(y).
pub fn potts_energy(topology: &Topology, unary: &[f64], num_labels: usize, pairwise: f64, labels: &[u16]) -> f64 {
    unary_sum(unary, num_labels, labels) + pairwise * f64::from(topology.disagreements(labels))
}

/// Per node the label of the lowest unary, the lowest such label on ties.
pub fn argmin_labels(unary: &[f64], num_labels: usize, labels: &mut [u16]) {
    for (label, row) in labels.iter_mut().zip(unary.chunks_exact(num_labels)) {
        *label = (1..num_labels).fold(0, |best, b| if row[b] < row[best] { b } else { best }) as u16;
    }
}

fn unary_sum(unary: &[f64], num_labels: usize, labels: &[u16]) -> f64 {
    labels.iter().zip(unary.chunks_exact(num_labels)).map(|(&y, row)| row[usize::from(y)]).sum()
}

/// The max-oracle's solver: min-cut for two labels, else partial optimality and α-expansion on what is left.
#[derive(Clone, Debug, Default)]
pub struct PottsSolver {
    cut: BinaryCut,
    partial: PartialOptimum,
    gain: Vec<f64>,
}

impl PottsSolver {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Minimises E into `labels`; `unary` is nodes × `num_labels`, row-major, `pairwise` ≥ 0. Never worse than
    /// [`argmin_labels`].
    pub fn solve(
        &mut self,
        topology: &Topology,
        unary: &[f64],
        num_labels: usize,
        pairwise: f64,
        labels: &mut [u16],
    ) -> PottsReport {
        if num_labels == 2 {
            self.gain.clear();
            self.gain.extend(unary.chunks_exact(2).map(|row| row[1] - row[0]));
            let report = self.cut.solve(topology, &self.gain, pairwise, labels);
            let operations = report.operations + unary.len() as u64;
            return finish(topology, unary, 2, pairwise, labels, operations, labels.len());
        }
        self.partial.solve(&mut self.cut, topology, unary, num_labels, pairwise);
        let mut operations = self.partial.operations();
        argmin_labels(unary, num_labels, labels);
        for (l, label) in labels.iter_mut().enumerate() {
            *label = self.partial.fixed(l).unwrap_or(*label);
        }
        let partial = &self.partial;
        let open = |l: u32| partial.fixed(l as usize).is_none();
        if !partial.open().is_empty() {
            operations += expand(&mut self.cut, topology, partial.unary(), num_labels, pairwise, open, labels);
        }
        finish(topology, unary, num_labels, pairwise, labels, operations, labels.len() - partial.open().len())
    }

    /// α-expansion alone, from the labelling in `labels`. Never ends worse than it starts.
    pub fn expand(
        &mut self,
        topology: &Topology,
        unary: &[f64],
        num_labels: usize,
        pairwise: f64,
        labels: &mut [u16],
    ) -> PottsReport {
        let operations = expand(&mut self.cut, topology, unary, num_labels, pairwise, |_| true, labels);
        finish(topology, unary, num_labels, pairwise, labels, operations, 0)
    }
}

fn finish(
    topology: &Topology,
    unary: &[f64],
    num_labels: usize,
    pairwise: f64,
    labels: &[u16],
    operations: u64,
    fixed_nodes: usize,
) -> PottsReport {
    let disagreements = topology.disagreements(labels);
    let energy = unary_sum(unary, num_labels, labels) + pairwise * f64::from(disagreements);
    PottsReport { energy, disagreements, operations, fixed_nodes }
}

/// Expansion moves of the `open` nodes, labels 0, 1, … in turn, until none of the K brings a strict decrease. Nodes that
/// are not open have no say: what they would say is in `unary`.
fn expand<O: Fn(u32) -> bool + Copy>(
    cut: &mut BinaryCut,
    topology: &Topology,
    unary: &[f64],
    num_labels: usize,
    pairwise: f64,
    open: O,
    labels: &mut [u16],
) -> u64 {
    let members = (0..labels.len() as u32).filter(|&l| open(l));
    let neighbours = |l: u32| topology.neighbours(l).iter().map(|arc| arc.head).filter(move |&k| open(k));
    let energy = |label: &dyn Fn(u32) -> u16| {
        let (mut sum, mut twice) = (0.0, 0u32);
        for l in members.clone() {
            sum += unary[l as usize * num_labels + usize::from(label(l))];
            twice += neighbours(l).map(|k| u32::from(label(k) != label(l))).sum::<u32>();
        }
        sum + pairwise * f64::from(twice / 2)
    };
    let mut current = energy(&|l| labels[l as usize]);
    let mut operations = labels.len() as u64;
    let (mut alpha, mut idle) = (0u16, 0);
    while idle < num_labels {
        let y = |l: u32| labels[l as usize];
        // With x = 1 for "take α", an edge costs w[x_k ≠ x_l] if its labels agree, w(1 − x_k x_l) if they differ, which is
        // w − w/2 (x_k + x_l − [x_k ≠ x_l]), and w(1 − x_l) if k has α already.
        let node = |l: u32| {
            let row = &unary[l as usize * num_labels..][..num_labels];
            let (mut offset, mut weight) = (0, 0);
            for k in neighbours(l) {
                if y(k) == alpha {
                    offset -= 2;
                } else if y(k) == y(l) {
                    weight += 2;
                } else {
                    offset -= 1;
                    weight += 1;
                }
            }
            Pending::new(row[usize::from(alpha)] - row[usize::from(y(l))], offset, weight)
        };
        let movers = members.clone().filter(|&l| y(l) != alpha);
        cut.minimise(topology, pairwise / 2.0, movers, node, |k, l| if y(k) == y(l) { 2 } else { 1 });
        operations += cut.operations();
        idle += 1;
        if members.clone().any(|l| cut.is_one(l)) {
            let moved = energy(&|l| if cut.is_one(l) { alpha } else { labels[l as usize] });
            operations += labels.len() as u64;
            // In exact arithmetic the fewest ones are a strict decrease; comparing the sums makes sure that it ends.
            if moved < current {
                current = moved;
                // After its own move α cannot gain again before another label has.
                idle = 1;
                for l in members.clone().filter(|&l| cut.is_one(l)) {
                    labels[l as usize] = alpha;
                }
            }
        }
        alpha = (alpha + 1) % num_labels as u16;
    }
    operations
}
