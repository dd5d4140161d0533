//! Partial optimality for Potts energies (Kovtun; Gridchyn–Kolmogorov, ICCV 2013). Finds nodes with the same label in
//! every optimum, and the energy that is left on the others.
//!
//! For label a let f(S) = Σ_{l∈S} (U_l(a) − min_{b≠a} U_l(b)) + w·cut(S). Giving a to S changes the energy of a labelling
//! whose a-nodes are A by at most f(S∪A) − f(A) ≤ f(S) − f(S∩A). If S is the smallest minimiser of f this is negative
//! unless S ⊆ A: every optimum has a on all of S. Larger minimisers would only be safe one label at a time.

use super::expansion::Potts;
use super::maxflow::{BinaryCut, FixedPoint, Topology};

/// The label of a node that is not fixed.
const NO_LABEL: u16 = u16::MAX;

/// The two lowest unaries of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Lead {
    label: u16,
    lowest: f64,
    second: f64,
}

/// A Potts energy without its certain nodes, and the memory to compute it.
#[derive(Clone, Debug, Default)]
pub struct PartialOptimum {
    unary: Vec<f64>,
    fixed: Vec<u16>,
    open: Vec<u32>,
    lead: Vec<Lead>,
    /// Edges to open nodes.
    weight: Vec<u32>,
    news: Vec<u32>,
    left: Topology,
    ranking: Vec<(f64, u16)>,
    scratch: [Vec<u32>; 2],
    operations: u64,
}

impl PartialOptimum {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Label that `node` has in every optimum, if the preprocessing found one.
    pub fn fixed(&self, node: usize) -> Option<u16> {
        Some(self.fixed[node]).filter(|&label| label != NO_LABEL)
    }

    /// Nodes without a fixed label, in order.
    pub fn open(&self) -> &[u32] {
        &self.open
    }

    /// The energy that is left, up to a constant: the graph between the open nodes, by their position in
    /// [`PartialOptimum::open`], and their unaries, with fixed neighbours folded in.
    pub fn left(&self) -> (&Topology, &[f64]) {
        (&self.left, &self.unary)
    }

    /// Operations of the last call.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Finds the nodes whose label is certain.
    pub fn solve(&mut self, cut: &mut BinaryCut, energy: Potts<'_>) {
        let Potts { topology, unary, num_labels, pairwise } = energy;
        let nodes = topology.num_nodes() as u32;
        assert!(num_labels >= 2 && unary.len() == topology.num_nodes() * num_labels, "unaries are nodes × labels");
        self.unary.clear();
        self.unary.extend_from_slice(unary);
        self.fixed.clear();
        self.fixed.resize(nodes as usize, NO_LABEL);
        self.open.clear();
        self.open.extend(0..nodes);
        self.weight.clear();
        self.weight.extend((0..nodes).map(|l| topology.degree(l)));
        self.lead.clear();
        self.lead.extend(unary.chunks_exact(num_labels).map(lead));
        self.operations = unary.len() as u64;

        for l in 0..nodes {
            self.fix_if_certain(l, pairwise);
        }
        self.spread(topology, num_labels, pairwise);
        self.rank_labels(num_labels);
        for rank in 0..num_labels {
            let before = self.open.len();
            self.fix_label(cut, topology, self.ranking[rank].1, num_labels, pairwise);
            // Where unaries are weak against the weight, little is certain and K cuts would cost more than they save.
            if self.open.len() == before && 4 * self.open.len() > 3 * nodes as usize {
                break;
            }
        }
        let [ids, places] = &mut self.scratch;
        self.left.restrict(topology, &self.open, ids, places);
        for (id, &l) in self.open.iter().enumerate() {
            self.unary.copy_within(l as usize * num_labels..(l as usize + 1) * num_labels, id * num_labels);
        }
        self.unary.truncate(self.open.len() * num_labels);
        self.operations += topology.arcs().len() as u64;
    }

    /// Orders labels by the sum of their leads, the most promising first.
    fn rank_labels(&mut self, num_labels: usize) {
        self.ranking.clear();
        self.ranking.extend((0..num_labels as u16).map(|label| (0.0, label)));
        for &l in &self.open {
            let Lead { label, lowest, second } = self.lead[l as usize];
            self.ranking[usize::from(label)].0 += second - lowest;
        }
        self.ranking.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }

    /// Fixes the smallest minimiser of f for label a, then everything that follows from it.
    fn fix_label(&mut self, cut: &mut BinaryCut, topology: &Topology, a: u16, num_labels: usize, pairwise: f64) {
        self.operations += self.open.len() as u64;
        if !self.open.iter().any(|&l| self.lead[l as usize].label == a) {
            return;
        }
        let scale = FixedPoint::new(topology, pairwise);
        let (unary, lead, weight) = (&self.unary, &self.lead, &self.weight);
        let node = |l: u32| {
            let lead = lead[l as usize];
            let rest = if lead.label == a { lead.second } else { lead.lowest };
            scale.term(unary[l as usize * num_labels + usize::from(a)] - rest, 0, 2 * weight[l as usize] as i32)
        };
        cut.minimise(topology, scale, self.open.iter().copied(), node, |_, _| 2, || ());
        self.operations += cut.operations();
        for &l in &self.open {
            if cut.is_one(l) {
                self.fixed[l as usize] = a;
                self.news.push(l);
            }
        }
        self.spread(topology, num_labels, pairwise);
    }

    /// The cheap test: the best label leads by more than all neighbours together can contribute.
    fn fix_if_certain(&mut self, l: u32, pairwise: f64) {
        let Lead { label, lowest, second } = self.lead[l as usize];
        if second - lowest > pairwise * f64::from(self.weight[l as usize]) {
            self.fixed[l as usize] = label;
            self.news.push(l);
        }
    }

    /// Folds newly fixed nodes into their neighbours until nothing follows, and takes them off the open list.
    fn spread(&mut self, topology: &Topology, num_labels: usize, pairwise: f64) {
        if self.news.is_empty() {
            return;
        }
        while let Some(k) = self.news.pop() {
            let label = self.fixed[k as usize];
            self.operations += u64::from(topology.degree(k));
            for arc in topology.neighbours(k) {
                let l = arc.head as usize;
                if self.fixed[l] != NO_LABEL {
                    continue;
                }
                // The weight is added to all labels but one; only the difference matters, so it is subtracted from that
                // one.
                self.unary[l * num_labels + usize::from(label)] -= pairwise;
                self.weight[l] -= 1;
                self.lead[l] = lead(&self.unary[l * num_labels..][..num_labels]);
                self.operations += num_labels as u64;
                self.fix_if_certain(arc.head, pairwise);
            }
        }
        let fixed = &self.fixed;
        self.open.retain(|&l| fixed[l as usize] == NO_LABEL);
    }
}

fn lead(row: &[f64]) -> Lead {
    let mut lead = Lead { label: 0, lowest: row[0], second: f64::INFINITY };
    for (label, &value) in (1..).zip(&row[1..]) {
        if value < lead.lowest {
            lead = Lead { label, lowest: value, second: lead.lowest };
        } else if value < lead.second {
            lead.second = value;
        }
    }
    lead
}
