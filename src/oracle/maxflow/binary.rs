//! Binary energies Σ_l u_l [y_l = 1] + w Σ_{k∼l} [y_k ≠ y_l]. In: unaries and a weight on a [`Topology`]. Out: the minimiser
//! with the fewest ones, which is the one where every tie goes to label 0.
//!
//! Nodes that no choice of their neighbours can sway are decided first and passed on to the neighbours as counts of
//! half-weights, so that comparisons round once. What is left goes to the flow on a common binary grid that holds every
//! residual exactly: the labelling is a property of the energy and not of the order of augmentations.

use super::{boykov_kolmogorov::MaxFlow, topology::Topology};

const OPEN: u8 = 2;

/// Result of one cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutReport {
    /// Energy of the labelling, summed from the arguments.
    pub value: f64,
    /// Number of edges whose ends differ.
    pub disagreements: u32,
    /// Elementary operations, the same on every machine.
    pub operations: u64,
}

/// One node of a binary energy: u, and how far its neighbours can move it, in units of w/2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    unary: f64,
    /// Most the neighbours can speak for label 1: label 0 is safe from u ≥ `for_one`·w/2 on.
    for_one: i32,
    /// Most they can speak for label 0: label 1 is certain from u < −`for_zero`·w/2 on.
    for_zero: i32,
}

impl Pending {
    /// A node with unary `unary + offset·w/2` and edges of total weight `weight`·w/2.
    #[inline]
    pub(crate) fn new(unary: f64, offset: i32, weight: i32) -> Self {
        Self { unary, for_one: weight - offset, for_zero: weight + offset }
    }

    #[inline]
    fn verdict(&self, half: f64) -> u8 {
        if self.unary >= half * f64::from(self.for_one) {
            0
        } else if self.unary < -half * f64::from(self.for_zero) {
            1
        } else {
            OPEN
        }
    }
}

/// Min-cut solver and its reusable memory.
#[derive(Clone, Debug, Default)]
pub struct BinaryCut {
    pending: Vec<Pending>,
    side: Vec<u8>,
    decided: Vec<u32>,
    flow: MaxFlow,
    operations: u64,
}

impl BinaryCut {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Minimises the energy with `pairwise` ≥ 0 into `labels`; of all minimisers the one with the fewest ones.
    pub fn solve(&mut self, topology: &Topology, unary: &[f64], pairwise: f64, labels: &mut [u16]) -> CutReport {
        assert!(unary.len() == topology.num_nodes() && labels.len() == unary.len(), "one unary and one label per node");
        self.minimise(
            topology,
            pairwise / 2.0,
            0..unary.len() as u32,
            |l| Pending::new(unary[l as usize], 0, 2 * topology.degree(l) as i32),
            |_, _| 2,
        );
        let mut value = 0.0;
        for ((label, &side), &u) in labels.iter_mut().zip(&self.side).zip(unary) {
            *label = u16::from(side);
            value += if side == 1 { u } else { 0.0 };
        }
        let disagreements = topology.disagreements(&self.side[..unary.len()]);
        CutReport { value: value + pairwise * f64::from(disagreements), disagreements, operations: self.operations }
    }

    /// Whether the last call gave label 1 to `node`; nodes that took no part have label 0.
    #[inline]
    pub(crate) fn is_one(&self, node: u32) -> bool {
        self.side[node as usize] == 1
    }

    /// Operations of the last call.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// The energy on `members` only: `node` gives their terms, `weight` ∈ {1, 2} the weight of an edge between two of them,
    /// both in units of `half` = w/2.
    pub(crate) fn minimise(
        &mut self,
        topology: &Topology,
        half: f64,
        members: impl Iterator<Item = u32>,
        node: impl Fn(u32) -> Pending,
        weight: impl Fn(u32, u32) -> i32,
    ) {
        let nodes = topology.num_nodes();
        self.side.clear();
        self.side.resize(nodes, 0);
        if self.pending.len() < nodes {
            self.pending.resize(nodes, Pending::default());
        }
        self.operations = 0;
        let mut open = 0usize;
        for l in members {
            let pending = node(l);
            let verdict = pending.verdict(half);
            self.pending[l as usize] = pending;
            self.side[l as usize] = verdict;
            if verdict == OPEN {
                open += 1;
            } else {
                self.decided.push(l);
            }
        }
        self.operations += (open + self.decided.len()) as u64;
        if open == 0 {
            self.decided.clear();
        }
        while let Some(k) = self.decided.pop() {
            let verdict = self.side[k as usize];
            let arcs = topology.neighbours(k);
            self.operations += arcs.len() as u64;
            for arc in arcs {
                let l = arc.head as usize;
                if self.side[l] != OPEN {
                    continue;
                }
                let pending = &mut self.pending[l];
                *(if verdict == 0 { &mut pending.for_one } else { &mut pending.for_zero }) -= 2 * weight(k, arc.head);
                self.side[l] = pending.verdict(half);
                if self.side[l] != OPEN {
                    self.decided.push(arc.head);
                    open -= 1;
                }
            }
        }
        if open > 0 {
            self.cut_open(topology, half, weight);
        }
    }

    fn cut_open(&mut self, topology: &Topology, half: f64, weight: impl Fn(u32, u32) -> i32) {
        let Self { flow, side, pending, .. } = self;
        flow.fit(topology);
        let grid = Grid::new(2.0 * half * f64::from(topology.max_degree()));
        let unit = grid.round(half);
        for (k, (&side_k, pending)) in (0..).zip(side.iter().zip(pending.iter())) {
            if side_k != OPEN {
                flow.retire(k);
                continue;
            }
            let range = topology.range(k);
            self.operations += range.len() as u64;
            for (a, arc) in range.clone().zip(&topology.arcs()[range]) {
                if side[arc.head as usize] == OPEN {
                    flow.residual_mut()[a] = unit * f64::from(weight(k, arc.head));
                } else {
                    flow.residual_mut()[a] = 0.0;
                    flow.residual_mut()[arc.sister as usize] = 0.0;
                }
            }
            let Pending { unary, for_one, for_zero } = *pending;
            flow.set_terminal(k, grid.round(unary + half * f64::from((for_zero - for_one) / 2)));
        }
        flow.run(topology);
        self.operations += flow.operations();
        for (k, side) in (0..).zip(side) {
            if *side == OPEN {
                *side = u8::from(flow.reaches_sink(k));
            }
        }
    }
}

/// Multiples of a power of two, fine enough for 50 bits below a bound: sums and differences up to the bound are exact.
struct Grid(f64);

impl Grid {
    fn new(bound: f64) -> Self {
        let exponent = bound.to_bits() & 0x7ff0_0000_0000_0000;
        // 2^52 · 1.5 times the grain 2^(e−49); adding it shifts all finer bits out.
        Self(f64::from_bits(exponent) * 12.0)
    }

    #[inline]
    fn round(&self, value: f64) -> f64 {
        (value + self.0) - self.0
    }
}
