//! TRW-S for Potts energies (Kolmogorov, PAMI 2006): monotonic chains in node order, messages in O(K) per arc. Its
//! lower bounds do not decrease from pass to pass; labellings are read from the messages.
//!
//! With messages M, E(y) = Σ_l D_l(y_l) + Σ_{k∼l} (w[y_k ≠ y_l] − M_{kl}(y_l) − M_{lk}(y_k)) where D_l = U_l + Σ_k
//! M_{kl}. A pass subtracts min D_l at every node and moves γ times the rest to each edge onward, where γ times the
//! number of these edges is at most 1. The bound is the sum of the minima of nodes and of the resulting edges. It is
//! valid for all messages.

use std::ops::Range;

use super::{expansion::Potts, maxflow::Topology};

/// Labels processed together.
const LANES: usize = 8;
type LaneValues = [f64; LANES];

/// Messages, in rows of K values padded to whole lanes with labels that cost ∞.
#[derive(Clone, Debug, Default)]
pub(super) struct Trws {
    unary: Vec<LaneValues>,
    /// Per arc the message from its head to its tail, values from 0 to w.
    messages: Vec<LaneValues>,
    row: Vec<LaneValues>,
}

impl Trws {
    /// Takes in the unaries; all messages are zero.
    pub(super) fn load(&mut self, energy: Potts<'_>) {
        let width = energy.num_labels.div_ceil(LANES);
        self.unary.clear();
        self.unary.resize(energy.topology.num_nodes() * width, [f64::INFINITY; LANES]);
        for (padded, row) in self.unary.chunks_exact_mut(width).zip(energy.unary.chunks_exact(energy.num_labels)) {
            padded.as_flattened_mut()[..row.len()].copy_from_slice(row);
        }
        self.messages.clear();
        self.messages.resize(energy.topology.arcs().len() * width, [0.0; LANES]);
        self.row.clear();
        self.row.resize(width, [0.0; LANES]);
    }

    /// Operations of a pass: every message is read with its node, and every second one is written. One set of lanes
    /// takes about as long as one arc in a flow.
    pub(super) fn operations(&self) -> u64 {
        (self.unary.len() + self.messages.len() * 3 / 2) as u64
    }

    /// Messages to later nodes, or to earlier ones if `back`. Returns the bound.
    pub(super) fn pass(&mut self, topology: &Topology, pairwise: f64, back: bool) -> f64 {
        // The common widths are constants for the compiler, so that a row stays in registers.
        match self.row.len() {
            1 => self.pass_of_width(topology, pairwise, back, 1),
            width => self.pass_of_width(topology, pairwise, back, width),
        }
    }

    #[inline(always)]
    fn pass_of_width(&mut self, topology: &Topology, pairwise: f64, back: bool, width: usize) -> f64 {
        let Self { unary, messages, row } = self;
        let row = &mut row[..width];
        let nodes = topology.num_nodes() as u32;
        let mut bound = 0.0;
        for at in 0..nodes {
            let l = if back { nodes - 1 - at } else { at };
            gather(unary, messages, l, topology.range(l), row);
            let lowest = minimum(row);
            bound += lowest;
            let (earlier, later) = (topology.earlier(l), topology.later(l));
            let share = 1.0 / earlier.len().max(later.len()).max(1) as f64;
            for lanes in row.iter_mut() {
                *lanes = lanes.map(|value| (value - lowest) * share);
            }
            for a in if back { earlier } else { later } {
                let (from, to) = (a * width, topology.arcs()[a].sister as usize * width);
                let mut least = [f64::INFINITY; LANES];
                for (at, lanes) in row.iter().enumerate() {
                    let message = messages[from + at];
                    let left: LaneValues = std::array::from_fn(|lane| lanes[lane] - message[lane]);
                    messages[to + at] = left;
                    least = std::array::from_fn(|lane| lesser(least[lane], left[lane]));
                }
                let least = lowest_lane(least);
                bound += least;
                for message in &mut messages[to..to + width] {
                    *message = message.map(|value| lesser(value - least, pairwise));
                }
            }
        }
        bound
    }

    /// Reads labels in node order: each minimises its unary, plus what the labels of earlier nodes cost, plus the
    /// messages of later nodes.
    pub(super) fn decode(&mut self, topology: &Topology, pairwise: f64, labels: &mut Vec<u16>) {
        labels.clear();
        for l in 0..topology.num_nodes() as u32 {
            gather(&self.unary, &self.messages, l, topology.later(l), &mut self.row);
            let row = self.row.as_flattened_mut();
            for arc in &topology.arcs()[topology.earlier(l)] {
                row[usize::from(labels[arc.head as usize])] -= pairwise;
            }
            labels.push((1..row.len()).fold(0, |best, b| if row[b] < row[best] { b } else { best }) as u16);
        }
    }
}

/// U_l and the messages on the arcs `range` of l, summed into the row.
#[inline(always)]
fn gather(unary: &[LaneValues], messages: &[LaneValues], l: u32, range: Range<usize>, row: &mut [LaneValues]) {
    let width = row.len();
    for (at, lanes) in row.iter_mut().enumerate() {
        let mut sum = unary[l as usize * width + at];
        for a in range.clone() {
            let message = messages[a * width + at];
            sum = std::array::from_fn(|lane| sum[lane] + message[lane]);
        }
        *lanes = sum;
    }
}

/// One instruction, unlike `f64::min`, which must handle NaN.
#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn lowest_lane(lanes: LaneValues) -> f64 {
    let half: [f64; 4] = std::array::from_fn(|lane| lesser(lanes[lane], lanes[lane + 4]));
    let [a, b] = std::array::from_fn(|lane| lesser(half[lane], half[lane + 2]));
    lesser(a, b)
}

#[inline(always)]
fn minimum(row: &[LaneValues]) -> f64 {
    let least = |least: LaneValues, lanes: &LaneValues| std::array::from_fn(|lane| lesser(least[lane], lanes[lane]));
    lowest_lane(row.iter().fold([f64::INFINITY; LANES], least))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// The lowest energy of all labellings of three nodes.
    fn optimum(energy: Potts<'_>) -> f64 {
        let labels = 0..energy.num_labels as u16;
        let pairs = labels.clone().flat_map(|a| labels.clone().map(move |b| [a, b]));
        let all = pairs.flat_map(|[a, b]| labels.clone().map(move |c| [a, b, c]));
        all.map(|labels| energy.energy(&labels)).fold(f64::INFINITY, f64::min)
    }

    /// Triangles with 3 to 20 labels: rows of one, two and three sets of lanes.
    fn triangles(mut check: impl FnMut(&mut Pcg64, Potts<'_>, f64)) {
        let mut rng = Pcg64::seed_from_u64(1);
        let topology = Topology::new(3, &[[0, 1], [1, 2], [0, 2], [0, 1]]).unwrap();
        for round in 0..360 {
            let num_labels = 3 + round % 18;
            let unary: Vec<f64> = (0..3 * num_labels).map(|_| rng.random_range(-2.0..2.0)).collect();
            let energy = Potts { topology: &topology, unary: &unary, num_labels, pairwise: rng.random() };
            let optimum = optimum(energy);
            check(&mut rng, energy, optimum);
        }
    }

    #[test]
    fn any_messages_give_a_bound() {
        let mut trws = Trws::default();
        triangles(|rng, energy, optimum| {
            trws.load(energy);
            for message in trws.messages.as_flattened_mut() {
                *message = rng.random_range(-3.0..3.0);
            }
            assert!(trws.pass(energy.topology, energy.pairwise, rng.random()) <= optimum + 1e-12);
        });
    }

    #[test]
    fn bounds_do_not_fall() {
        let (mut trws, mut labels) = (Trws::default(), Vec::new());
        let mut met = 0;
        triangles(|_, energy, optimum| {
            trws.load(energy);
            let mut last = f64::NEG_INFINITY;
            for pass in 0..100 {
                let bound = trws.pass(energy.topology, energy.pairwise, pass % 2 == 1);
                assert!(bound >= last - 1e-12 && bound <= optimum + 1e-12, "{last}, {bound} of {optimum}");
                last = bound;
            }
            trws.decode(energy.topology, energy.pairwise, &mut labels);
            assert!(energy.energy(&labels) >= optimum);
            met += usize::from(energy.energy(&labels) <= last + 1e-9);
        });
        assert!(met > 320, "{met} of 360 labellings meet the bound");
    }
}
