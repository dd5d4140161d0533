//! Certified lower bounds of Potts energies, and so upper bounds of the score that a max-oracle seeks, rounding
//! included.
//!
//! Two labels need one cut. For more, partial optimality comes first, and TRW-S on the nodes that it leaves open. A
//! labelling read from the messages is kept if it beats the known one; without a proof, the last of them is expanded.

use super::{
    expansion::{Potts, effective_weight},
    maxflow::{BinaryCut, fixed_point_error},
    moves::{Moves, expand},
    partial::PartialOptimum,
    trws::Trws,
};

/// Sweeps between labellings read from the messages.
const DECODE_EVERY: u32 = 4;

/// Limits of the search for a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundBudget {
    /// Most sweeps of TRW-S; a sweep goes forward and back over all open nodes.
    pub sweeps: u32,
    /// The last sweep is the first that closes less than this part of the gap.
    pub progress: f64,
    /// No sweep begins after this many operations.
    pub operations: u64,
}

impl Default for BoundBudget {
    fn default() -> Self {
        Self { sweeps: 200, progress: 0.001, operations: u64::MAX }
    }
}

/// The bound of one energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundReport {
    /// No labelling has a lower energy.
    pub lower: f64,
    /// Energy of [`PottsBound::labels`].
    pub energy: f64,
    /// Allowance for rounding in the energy of a labelling; already subtracted from `lower`.
    pub rounding: f64,
    /// Whether these labels are proven optimal: `lower` meets `energy` up to rounding.
    pub exact: bool,
    /// Whether these labels beat the ones passed in.
    pub improved: bool,
    /// Elementary operations, in the unit of the expansions.
    pub operations: u64,
}

/// Workspace of the bounds.
#[derive(Clone, Debug, Default)]
pub struct PottsBound {
    cut: BinaryCut,
    partial: PartialOptimum,
    trws: Trws,
    gain: Vec<f64>,
    labels: Vec<u16>,
    /// The fixed labels, and the decoded labels of the open nodes.
    trial: Vec<u16>,
    left: Vec<u16>,
    moves: Moves,
}

impl PottsBound {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The best labelling known after [`PottsBound::lower`].
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    /// Bounds the energy from below. `best` is the best labelling known; without one, only a decoded labelling can meet
    /// the bound.
    pub fn lower(&mut self, energy: Potts<'_>, best: Option<&[u16]>, budget: BoundBudget) -> BoundReport {
        let Potts { topology, unary, num_labels, pairwise } = energy;
        self.labels.clear();
        self.labels.extend_from_slice(best.unwrap_or(&[]));
        let mut report = BoundReport {
            lower: f64::NEG_INFINITY,
            energy: best.map_or(f64::INFINITY, |labels| energy.energy(labels)),
            rounding: 0.0,
            exact: false,
            improved: false,
            operations: 2 * unary.len() as u64,
        };
        // A lower weight never gives a higher energy.
        let energy = Potts { pairwise: effective_weight(pairwise, unary.chunks_exact(num_labels)), ..energy };
        let error = rounding(energy);
        report.rounding = error;
        if num_labels == 2 {
            energy.gains(&mut self.gain);
            self.trial.resize(topology.num_nodes(), 0);
            report.operations += self.cut.solve(topology, &self.gain, energy.pairwise, &mut self.trial).operations;
            report.lower = energy.energy(&self.trial) - error;
            self.offer(Potts { pairwise, ..energy }, &mut report);
        } else {
            self.partial.solve(&mut self.cut, energy);
            report.operations += self.partial.operations();
            self.sweep(energy, pairwise, budget, error, &mut report);
        }
        report.exact = report.energy - report.lower <= 2.0 * error;
        report
    }

    /// TRW-S on the nodes that partial optimality left open. `energy` has the effective weight; labellings are compared
    /// with `pairwise`.
    fn sweep(&mut self, energy: Potts<'_>, pairwise: f64, budget: BoundBudget, error: f64, report: &mut BoundReport) {
        let fixed = self.load_fixed(energy);
        if self.partial.open().is_empty() {
            report.lower = fixed - error;
            self.offer(Potts { pairwise, ..energy }, report);
            return;
        }
        let (topology, unary) = self.partial.left();
        self.trws.load(Potts { topology, unary, ..energy });
        let (mut bound, mut sweeps) = (f64::NEG_INFINITY, 0);
        loop {
            let topology = self.partial.left().0;
            self.trws.pass(topology, energy.pairwise, false);
            let next = fixed + self.trws.pass(topology, energy.pairwise, true);
            sweeps += 1;
            report.operations += 2 * self.trws.operations();
            let gained = next - bound;
            bound = bound.max(next);
            report.lower = bound - error;
            // Without a labelling to compare with, the first one is read at once.
            if report.energy == f64::INFINITY {
                self.decode(Potts { pairwise, ..energy }, report);
            }
            let over = |energy: f64| energy - bound <= error || gained < budget.progress * (energy - bound);
            let spent = sweeps >= budget.sweeps || report.operations >= budget.operations;
            let last = spent || over(report.energy);
            if last || sweeps.is_multiple_of(DECODE_EVERY) {
                self.decode(Potts { pairwise, ..energy }, report);
            }
            if last || over(report.energy) {
                break;
            }
        }
        if report.energy - bound > error {
            self.polish(energy, pairwise, report);
        }
    }

    /// Expansion moves from the last decoded labelling.
    fn polish(&mut self, energy: Potts<'_>, pairwise: f64, report: &mut BoundReport) {
        let Self { cut, partial, trial, left, moves, .. } = self;
        let (topology, unary) = partial.left();
        report.operations += expand(cut, moves, Potts { topology, unary, ..energy }, left);
        for (&l, &label) in partial.open().iter().zip(left.iter()) {
            trial[l as usize] = label;
        }
        self.offer(Potts { pairwise, ..energy }, report);
    }

    /// Reads a labelling of the open nodes from the messages.
    fn decode(&mut self, energy: Potts<'_>, report: &mut BoundReport) {
        self.trws.decode(self.partial.left().0, energy.pairwise, &mut self.left);
        report.operations += self.trws.operations() / 2;
        for (&l, &label) in self.partial.open().iter().zip(&self.left) {
            self.trial[l as usize] = label;
        }
        self.offer(energy, report);
    }

    /// Writes the fixed labels into `trial`; returns their energy, with edges to open nodes counted as cut.
    fn load_fixed(&mut self, energy: Potts<'_>) -> f64 {
        let Potts { topology, unary, num_labels, pairwise } = energy;
        let nodes = topology.num_nodes();
        self.trial.clear();
        self.trial.extend((0..nodes).map(|l| self.partial.fixed(l).unwrap_or(u16::MAX)));
        let fixed = unary.chunks_exact(num_labels).zip(&self.trial).filter(|(_, label)| **label != u16::MAX);
        let sum: f64 = fixed.map(|(row, &label)| row[usize::from(label)]).sum();
        sum + pairwise * f64::from(topology.disagreements(&self.trial))
    }

    /// Keeps `trial` if it beats the best labelling known.
    fn offer(&mut self, energy: Potts<'_>, report: &mut BoundReport) {
        report.operations += (energy.topology.arcs().len() / 2) as u64;
        let value = energy.energy(&self.trial);
        if value < report.energy {
            (report.energy, report.improved) = (value, true);
            self.labels.clone_from(&self.trial);
        }
    }
}

/// Allowance for rounding in a bound of this energy, or in the energy of a labelling.
///
/// No number at a node exceeds |U| + 2w·degree. Each goes through a few additions per arc, then through one sum over
/// nodes and arcs. The error of the fixed point of the cuts is added.
fn rounding(energy: Potts<'_>) -> f64 {
    let Potts { topology, unary, num_labels, pairwise } = energy;
    let parts = (topology.num_nodes() + topology.arcs().len()) as f64;
    let largest = |row: &[f64]| row.iter().fold(0.0f64, |most, u| most.max(u.abs()));
    let size = unary.chunks_exact(num_labels).map(largest).sum::<f64>() + 2.0 * pairwise * topology.arcs().len() as f64;
    let steps = 2.0 * parts + 3.0 * f64::from(topology.max_degree()) + 16.0;
    f64::EPSILON * size * steps + fixed_point_error(topology, pairwise)
}
