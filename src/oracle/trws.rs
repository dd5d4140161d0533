//! TRW-S for Potts energies (Kolmogorov, PAMI 2006): monotonic chains in node order, messages in O(K) per arc. In: a Potts
//! energy. Out: lower bounds of it that do not fall from pass to pass, and labellings read from the messages.
//!
//! With messages M, E(y) = Σ_l D_l(y_l) + Σ_{k∼l} (w[y_k ≠ y_l] − M_{kl}(y_l) − M_{lk}(y_k)) where D_l = U_l + Σ_k M_{kl}. A
//! pass takes min D_l out of every node and hands γ of what is left to each edge onward, γ times their number ≤ 1. The
//! bound is the sum of the minima of nodes and of edges thus enriched: valid whatever the messages were.

use super::{expansion::Potts, maxflow::Topology};

/// Labels that are handled together.
const LANES: usize = 8;
type Lanes = [f64; LANES];

/// Messages and scratch. Rows of K values are filled up to whole lanes, with labels that cost ∞.
#[derive(Clone, Debug, Default)]
pub(super) struct Trws {
    /// Per arc the message from its head to its tail, values from 0 to w.
    messages: Vec<Lanes>,
    row: Vec<Lanes>,
    hand: Vec<Lanes>,
}

impl Trws {
    /// All messages zero.
    pub(super) fn clear(&mut self, topology: &Topology, num_labels: usize) {
        let width = num_labels.div_ceil(LANES);
        self.messages.clear();
        self.messages.resize(topology.arcs().len() * width, [0.0; LANES]);
        for row in [&mut self.row, &mut self.hand] {
            row.clear();
            row.resize(width, [f64::INFINITY; LANES]);
        }
    }

    /// Operations of a pass: every message is read with its node, every second one written anew. Four labels are about
    /// the work of one arc in a flow.
    pub(super) fn operations(energy: Potts<'_>) -> u64 {
        let rows = energy.topology.num_nodes() + energy.topology.arcs().len() * 3 / 2;
        (rows * energy.num_labels.div_ceil(4)) as u64
    }

    /// Messages to later nodes, or to earlier ones if `back`. Returns the bound.
    pub(super) fn pass(&mut self, energy: Potts<'_>, back: bool) -> f64 {
        let Potts { topology, pairwise, .. } = energy;
        let nodes = topology.num_nodes() as u32;
        let width = self.row.len();
        let mut bound = 0.0;
        for at in 0..nodes {
            let l = if back { nodes - 1 - at } else { at };
            self.gather(energy, l, topology.range(l));
            let lowest = lowest(&self.row);
            bound += lowest;
            let (earlier, later) = (topology.earlier(l), topology.later(l));
            let share = 1.0 / earlier.len().max(later.len()).max(1) as f64;
            for value in self.row.as_flattened_mut() {
                *value = (*value - lowest) * share;
            }
            for a in if back { earlier } else { later } {
                let from = &self.messages[a * width..][..width];
                let mut least = [f64::INFINITY; LANES];
                for ((hand, row), from) in self.hand.iter_mut().zip(&self.row).zip(from) {
                    for lane in 0..LANES {
                        hand[lane] = row[lane] - from[lane];
                        least[lane] = lesser(least[lane], hand[lane]);
                    }
                }
                let least = lowest_lane(least);
                bound += least;
                let to = &mut self.messages[topology.arcs()[a].sister as usize * width..][..width];
                for (to, hand) in to.as_flattened_mut().iter_mut().zip(self.hand.as_flattened()) {
                    *to = lesser(*hand - least, pairwise);
                }
            }
        }
        bound
    }

    /// U_l and the messages on the arcs `range` of l, summed into the row.
    fn gather(&mut self, energy: Potts<'_>, l: u32, range: std::ops::Range<usize>) {
        let (num_labels, width) = (energy.num_labels, self.row.len());
        self.row.as_flattened_mut()[..num_labels]
            .copy_from_slice(&energy.unary[l as usize * num_labels..][..num_labels]);
        self.row.as_flattened_mut()[num_labels..].fill(f64::INFINITY);
        for message in self.messages[range.start * width..range.end * width].chunks_exact(width) {
            for (sum, value) in self.row.iter_mut().zip(message) {
                for lane in 0..LANES {
                    sum[lane] += value[lane];
                }
            }
        }
    }

    /// Labels in node order: the lowest of unary, what the labels of earlier nodes cost and what later nodes said.
    pub(super) fn decode(&mut self, energy: Potts<'_>, labels: &mut Vec<u16>) {
        let Potts { topology, num_labels, pairwise, .. } = energy;
        labels.clear();
        for l in 0..topology.num_nodes() as u32 {
            self.gather(energy, l, topology.later(l));
            let row = self.row.as_flattened_mut();
            for arc in &topology.arcs()[topology.earlier(l)] {
                row[usize::from(labels[arc.head as usize])] -= pairwise;
            }
            labels.push((1..num_labels).fold(0, |best, b| if row[b] < row[best] { b } else { best }) as u16);
        }
    }
}

/// One instruction, unlike `f64::min`, which must care for NaN.
#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

fn lowest_lane(lanes: Lanes) -> f64 {
    let halves: [f64; LANES / 2] = std::array::from_fn(|lane| lesser(lanes[lane], lanes[lane + LANES / 2]));
    halves.into_iter().fold(f64::INFINITY, lesser)
}

fn lowest(row: &[Lanes]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    for lanes in row {
        for lane in 0..LANES {
            least[lane] = lesser(least[lane], lanes[lane]);
        }
    }
    lowest_lane(least)
}
