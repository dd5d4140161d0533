//! α-expansion for Potts energies E(y) = Σ_l U_l(y_l) + w Σ_{k∼l} [y_k ≠ y_l] (Boykov, Veksler, Zabih, PAMI 2001).
//! Finds a labelling that no expansion move improves; for K = 2 the optimum.

use super::{
    maxflow::{BinaryCut, Topology},
    moves::{Moves, expand},
    partial::PartialOptimum,
};

/// A Potts energy.
#[derive(Clone, Copy, Debug)]
pub struct Potts<'a> {
    /// Its graph.
    pub topology: &'a Topology,
    /// U, nodes × K, row-major.
    pub unary: &'a [f64],
    /// K ≥ 2.
    pub num_labels: usize,
    /// w ≥ 0.
    pub pairwise: f64,
}

/// The weight to minimise with. A weight above Σ (max U − min U) has no further effect, because no labelling that cuts
/// an edge is optimal then. A larger one would cost the unaries digits in fixed point and in sums. For two labels
/// `rows` may hold the difference of the two costs instead.
pub(crate) fn effective_weight<'a>(pairwise: f64, rows: impl Iterator<Item = &'a [f64]>) -> f64 {
    let range: f64 = rows.map(range).sum();
    pairwise.min(2.0 * range)
}

fn range(row: &[f64]) -> f64 {
    if let [difference] = row {
        return difference.abs();
    }
    let (low, high) = row.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &u| (low.min(u), high.max(u)));
    high - low
}

impl Potts<'_> {
    /// E(y).
    pub fn energy(self, labels: &[u16]) -> f64 {
        self.unary_sum(labels) + self.pairwise * f64::from(self.topology.disagreements(labels))
    }

    pub(super) fn unary_sum(self, labels: &[u16]) -> f64 {
        labels.iter().zip(self.unary.chunks_exact(self.num_labels)).map(|(&y, row)| row[usize::from(y)]).sum()
    }

    /// For two labels: the cost of label 1 minus that of label 0.
    pub(super) fn gains(self, gains: &mut Vec<f64>) {
        gains.clear();
        gains.extend(self.unary.chunks_exact(2).map(|row| row[1] - row[0]));
    }

    fn report(self, labels: &[u16], operations: u64, fixed_nodes: usize) -> PottsReport {
        let disagreements = self.topology.disagreements(labels);
        let energy = self.unary_sum(labels) + self.pairwise * f64::from(disagreements);
        PottsReport { energy, disagreements, operations, fixed_nodes }
    }
}

/// A labelling from which to expand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// A known labelling: the truth, a cached plane.
    Labels(&'a [u16]),
    /// The lowest unary per node, the costs of fixed neighbours included.
    Unaries,
}

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

/// Per node the label of the lowest unary, the lowest such label on ties.
pub fn argmin_labels(unary: &[f64], num_labels: usize, labels: &mut [u16]) {
    for (label, row) in labels.iter_mut().zip(unary.chunks_exact(num_labels)) {
        *label = (1..num_labels).fold(0, |best, b| if row[b] < row[best] { b } else { best }) as u16;
    }
}

/// The max-oracle's solver: min-cut for two labels, else partial optimality and α-expansion on what is left.
#[derive(Clone, Debug, Default)]
pub struct PottsSolver {
    cut: BinaryCut,
    partial: PartialOptimum,
    gain: Vec<f64>,
    /// Labels of the open nodes.
    left: Vec<u16>,
    moves: Moves,
    /// The lowest start and its expansion, on the open nodes.
    best: Vec<u16>,
}

impl PottsSolver {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Minimises the energy into `labels`, never worse than [`argmin_labels`].
    pub fn solve(&mut self, energy: Potts<'_>, labels: &mut [u16]) -> PottsReport {
        let mut start = vec![0; labels.len()];
        argmin_labels(energy.unary, energy.num_labels, &mut start);
        self.solve_from(energy, &[Start::Labels(&start)], labels)
    }

    /// Minimises the energy into `labels`: expansion from the lowest of `starts`, the first of them on ties. Never
    /// worse than any of the starts. For K = 2 the result is the optimum, whatever the starts.
    pub fn solve_from(&mut self, energy: Potts<'_>, starts: &[Start<'_>], labels: &mut [u16]) -> PottsReport {
        let Potts { topology, unary, num_labels, pairwise } = energy;
        // Labellings are compared with the original weight; where all unaries are equal, it alone decides.
        let effective = effective_weight(pairwise, unary.chunks_exact(num_labels));
        let pairwise = if effective > 0.0 { effective } else { pairwise };
        let fits = |start: &Start<'_>| !matches!(start, Start::Labels(start) if start.len() != labels.len());
        assert!(labels.len() == topology.num_nodes() && starts.iter().all(fits), "one label per node");
        let mut report = if num_labels == 2 {
            energy.gains(&mut self.gain);
            let operations = self.cut.solve(topology, &self.gain, pairwise, labels).operations + unary.len() as u64;
            energy.report(labels, operations, labels.len())
        } else {
            self.partial.solve(&mut self.cut, Potts { pairwise, ..energy });
            let operations = self.partial.operations() + self.expand_lowest(num_labels, pairwise, starts);
            let mut left = self.best.iter();
            for (l, label) in labels.iter_mut().enumerate() {
                *label = self.partial.fixed(l).or_else(|| left.next().copied()).unwrap_or(0);
            }
            energy.report(labels, operations, labels.len() - self.partial.open().len())
        };
        // Only rounding can put a start below the result. The sums decide, so that the promise holds to the last bit.
        for start in starts {
            if let Start::Labels(start) = start {
                let known =
                    energy.report(start, report.operations + (topology.arcs().len() / 2) as u64, report.fixed_nodes);
                if known.energy < report.energy {
                    report = known;
                    labels.copy_from_slice(start);
                }
                report.operations = known.operations;
            }
        }
        report
    }

    /// Expands the lowest start on the open nodes into `best`. Returns the operations.
    fn expand_lowest(&mut self, num_labels: usize, pairwise: f64, starts: &[Start<'_>]) -> u64 {
        let Self { cut, partial, left, moves, best, .. } = self;
        let (topology, unary) = partial.left();
        let rest = Potts { topology, unary, num_labels, pairwise };
        let open = partial.open();
        let (mut lowest, mut operations) = (None, 0);
        for start in if starts.is_empty() { &[Start::Unaries] } else { starts } {
            left.clear();
            match start {
                Start::Labels(labels) => left.extend(open.iter().map(|&l| labels[l as usize])),
                Start::Unaries => {
                    left.resize(open.len(), 0);
                    argmin_labels(unary, num_labels, left);
                    operations += unary.len() as u64;
                }
            }
            operations += (open.len() + topology.arcs().len() / 2) as u64;
            let sum = rest.energy(left);
            if lowest.is_none_or(|lowest| sum < lowest) {
                lowest = Some(sum);
                std::mem::swap(best, left);
            }
        }
        operations + expand(cut, moves, rest, best)
    }

    /// α-expansion alone, from the labelling in `labels`. Never ends worse than it starts.
    pub fn expand(&mut self, energy: Potts<'_>, labels: &mut [u16]) -> PottsReport {
        let operations = expand(&mut self.cut, &mut self.moves, energy, labels);
        energy.report(labels, operations, 0)
    }
}
