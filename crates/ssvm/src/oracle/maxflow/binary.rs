//! Minimises binary energies Σ_l u_l [y_l = 1] + w Σ_{k∼l} [y_k ≠ y_l]. Of all minimisers it finds the one with the
//! fewest ones: every tie goes to label 0.
//!
//! The energy is converted to fixed point. From there on all arithmetic is exact, and the labelling is a property of
//! the energy, not of the order of augmentations. Nodes that no choice of their neighbours can sway are decided first,
//! and the flow decides the rest.

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

/// One node of a binary energy, in fixed point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Term {
    /// u plus the contributions of decided neighbours.
    unary: i64,
    /// The largest contribution of the open neighbours, either way.
    sway: i64,
}

impl Term {
    /// The label that no neighbour can change in the smallest set of ones: label 0 wins ties, label 1 must win
    /// strictly.
    #[inline]
    fn verdict(self) -> u8 {
        if self.unary >= self.sway {
            0
        } else if self.unary < -self.sway {
            1
        } else {
            OPEN
        }
    }
}

/// Fixed point for energies of one weight on one graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedPoint {
    /// A power of two, so that sums and ties survive.
    factor: f64,
    /// w/2 in fixed point.
    half: i64,
}

impl FixedPoint {
    /// As fine as 60 bits allow for the weight of a whole neighbourhood.
    pub(crate) fn new(topology: &Topology, pairwise: f64) -> Self {
        let bits = i64::from(u32::BITS - topology.max_degree().leading_zeros());
        let exponent = (pairwise.to_bits() >> 52 & 0x7ff) as i64 - 1023;
        let factor = f64::from_bits(((1023 + 58 - bits - exponent).clamp(1, 2046) as u64) << 52);
        Self { factor, half: (pairwise / 2.0 * factor) as i64 }
    }

    /// A node with unary `unary + offset·w/2` and edges of total weight `weight`·w/2.
    #[inline]
    pub(crate) fn term(self, unary: f64, offset: i32, weight: i32) -> Term {
        const FAR: i64 = 1 << 61;
        let fixed = ((unary * self.factor) as i64).clamp(-FAR, FAR);
        Term { unary: fixed + i64::from(offset) * self.half, sway: i64::from(weight) * self.half }
    }
}

/// Bound on the error of the least energy in fixed point: each node and each of its arcs is off by at most two units,
/// twice, because the cut found is compared with another.
pub(crate) fn fixed_point_error(topology: &Topology, pairwise: f64) -> f64 {
    let parts = (topology.num_nodes() + topology.arcs().len()) as f64;
    4.0 * parts / FixedPoint::new(topology, pairwise).factor
}

/// Min-cut solver and its reusable memory.
#[derive(Clone, Debug, Default)]
pub struct BinaryCut {
    terms: Vec<Term>,
    side: Vec<u8>,
    open: Vec<u32>,
    excess: Vec<i64>,
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
        self.solve_while(topology, unary, pairwise, labels, || ())
    }

    /// [`BinaryCut::solve`] that calls `meanwhile` at every node it turns to, so that the caller can prefetch.
    pub fn solve_while(
        &mut self,
        topology: &Topology,
        unary: &[f64],
        pairwise: f64,
        labels: &mut [u16],
        meanwhile: impl FnMut(),
    ) -> CutReport {
        assert!(unary.len() == topology.num_nodes() && labels.len() == unary.len(), "one unary and one label per node");
        // A weight above Σ|u| has the same effect as one just above it, but would leave fewer bits for the unaries.
        let enough = 2.0 * unary.iter().map(|u| u.abs()).sum::<f64>();
        let scale = FixedPoint::new(topology, pairwise.min(enough));
        let term = |l| scale.term(unary[l as usize], 0, 2 * topology.degree(l) as i32);
        self.minimise(topology, scale, 0..unary.len() as u32, term, |_, _| 2, meanwhile);
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

    /// Minimises the energy on `members` only: `term` gives their unaries, and `weight` ∈ {1, 2} is the weight of an
    /// edge between two of them in units of w/2.
    pub(crate) fn minimise(
        &mut self,
        topology: &Topology,
        scale: FixedPoint,
        members: impl Iterator<Item = u32>,
        term: impl Fn(u32) -> Term,
        weight: impl Fn(u32, u32) -> i32,
        mut meanwhile: impl FnMut(),
    ) {
        let nodes = topology.num_nodes();
        self.side.clear();
        self.side.resize(nodes, 0);
        if self.terms.len() < nodes {
            self.terms.resize(nodes, Term::default());
            self.excess.resize(nodes, 0);
            // One entry more than can be decided, for writes that do not count.
            self.decided.resize(nodes + 1, 0);
        }
        let weight = |k, l| i64::from(weight(k, l)) * scale.half;
        // Whether a node is decided is unpredictable, so the stack is written without branches. Decided neighbours may
        // receive contributions that no longer matter.
        let (terms, side, decided) = (&mut self.terms[..nodes], &mut self.side[..nodes], &mut self.decided[..=nodes]);
        let (mut count, mut top) = (0, 0);
        for l in members {
            meanwhile();
            let term = term(l);
            (terms[l as usize], side[l as usize]) = (term, term.verdict());
            decided[top] = l;
            top += usize::from(term.verdict() != OPEN);
            count += 1;
        }
        self.operations = count as u64;
        let mut open = count - top;
        while top > 0 && open > 0 {
            meanwhile();
            top -= 1;
            let k = decided[top];
            let says_one = -i64::from(side[k as usize]);
            let arcs = topology.neighbours(k);
            self.operations += arcs.len() as u64;
            for arc in arcs {
                let (term, side) = (&mut terms[arc.head as usize], &mut side[arc.head as usize]);
                let said = weight(k, arc.head);
                term.unary = term.unary.wrapping_add((said ^ says_one) - says_one);
                term.sway = term.sway.wrapping_sub(said);
                let verdict = if *side == OPEN { term.verdict() } else { *side };
                let falls = usize::from(verdict != *side);
                *side = verdict;
                decided[top] = arc.head;
                top += falls;
                open -= falls;
            }
        }
        if open > 0 {
            self.cut_open(topology, weight, meanwhile);
        }
    }

    fn cut_open(&mut self, topology: &Topology, weight: impl Fn(u32, u32) -> i64, mut meanwhile: impl FnMut()) {
        let Self { flow, side, excess, open, .. } = self;
        open.clear();
        open.extend((0..).zip(side.iter()).filter(|(_, side)| **side == OPEN).map(|(k, _)| k));
        let residual = flow.clear(topology);
        for &k in open.iter() {
            let range = topology.range(k);
            self.operations += range.len() as u64;
            for (residual, arc) in residual[range.clone()].iter_mut().zip(&topology.arcs()[range]) {
                *residual = if side[arc.head as usize] == OPEN { weight(k, arc.head) } else { 0 };
            }
            excess[k as usize] = self.terms[k as usize].unary;
        }
        flow.settle(topology, open, excess, &mut meanwhile);
        // Without a deficit nothing reaches the sink.
        let deficit = open.iter().any(|&k| excess[k as usize] < 0);
        if deficit {
            flow.run(topology, open.iter().map(|&k| (k, excess[k as usize])), meanwhile);
        }
        self.operations += flow.operations();
        for &k in open.iter() {
            side[k as usize] = u8::from(deficit && flow.reaches_sink(k));
        }
    }
}
