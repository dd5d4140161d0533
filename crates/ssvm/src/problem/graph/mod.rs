//! The Potts model with learned unaries on labelled graphs: min-cut for two labels, α-expansion for more.
//!
//! α-expansion is not an exact oracle. It starts from the lowest of the truth, the best labelling that the solver keeps
//! and the labels of the lowest unaries. The plane of the truth is 0, so H_i ≥ 0 always holds. What the expansion may
//! have missed is bounded by a relaxation, off the clock.
//!
//! A plane is the change of the feature sums, one p-vector per label whose sum can change. With two labels the blocks
//! of a plane are (−v, v), so φ⋆ lives in a p-dimensional subspace: coordinates are √2·v, an isometry that halves every
//! product. With K labels, zero blocks are not stored.

mod search;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{COPIES, Certificate, Direction, Family, Fault, Paper, Problem, Sink, Size, Sizes, vectors};
use crate::data::GraphData;
use crate::error::{Error, Result};
use crate::linalg::{add_scaled, dot, mix_advance, mix_products, norm2, prefetch};
use crate::oracle::bound::{BoundBudget, PottsBound};
use crate::oracle::expansion::{PottsSolver, effective_weight};
use crate::oracle::maxflow::{BinaryCut, Topology};

/// Operations of a product that take as long as one operation of a cut, and of an expansion. Regressed on the oracle
/// times of eight solvers: 6.5 of 0.072 ns, and 3.3 of 0.028 ns.
const CUT_OPS: u64 = 90;
const EXPANSION_OPS: u64 = 116;

/// The same for a sweep that bounds what an expansion missed. It sets budgets, and budgets set results, so it must not
/// change.
const SWEEP_OPS: u64 = 8;

/// Features of the next term that are prefetched at every node of a cut: twelve cache lines.
const AHEAD: usize = 192;

/// Features per node of the segmentation sets; only their ratio to d matters here.
const NODE_FEATURES: f64 = 649.0;

fn values(size: &Size) -> f64 {
    size.bytes as f64 / 4.0 / size.n.max(1) as f64
}

/// The family of graphs with two labels.
pub const BINARY_GRAPH: Family = Family {
    name: "binary graph",
    paper: Some(Paper::HorseSeg),
    pairwise: true,
    exact: true,
    oracle_seconds: |size| 0.3e-9 * values(size) + 0.1e-6 * values(size) / NODE_FEATURES,
    plane_bytes: |size| 4 * size.d + 64,
};

/// The family of graphs with more than two labels.
pub const POTTS_GRAPH: Family = Family {
    name: "Potts graph",
    paper: Some(Paper::Stanford),
    exact: false,
    oracle_seconds: |size| {
        let labels = (size.d as f64 / NODE_FEATURES).max(2.0);
        (0.1e-9 * values(size) + 0.15e-6 * values(size) / NODE_FEATURES) * labels
    },
    ..BINARY_GRAPH
};

/// Binary or Potts graph labelling with normalised Hamming loss and a fixed pairwise weight.
///
/// ```
/// use ssvm::{Solve, data::GraphData, problem::GraphProblem};
///
/// // Two nodes, one edge, one feature.
/// let data = GraphData {
///     num_labels: 2,
///     features_per_node: 1,
///     features: vec![-1.0f32, 1.0].into(),
///     labels: vec![0, 1],
///     node_offsets: vec![0, 2],
///     edges: vec![[0, 1]],
///     edge_offsets: vec![0, 1],
///     pairwise_weight: 0.1,
/// };
/// let outcome = Solve::new(&GraphProblem::new(data.into(), 0.5, 0.1)?).gap(1e-6).run()?;
/// assert_eq!(outcome.weights.len(), 2);
/// # Ok::<(), ssvm::Error>(())
/// ```
pub struct GraphProblem {
    data: Arc<GraphData>,
    topologies: Vec<Topology>,
    /// Θ(y_i).
    truth_disagreements: Vec<u32>,
    pairwise: f64,
    lambda: f64,
    /// Blocks of w: 1 for two labels, else K.
    blocks: usize,
    /// Σ ‖ψ‖ over the nodes of each term, computed when first needed.
    lengths: OnceLock<Vec<f64>>,
}

/// One labelling and its plane.
#[derive(Debug, Default)]
pub struct GraphPlane {
    labels: Vec<u16>,
    /// Bit k (modulo 64): block k may differ from zero.
    mask: u64,
    /// Stored blocks, ascending.
    sums: Vec<f64>,
    offset: f64,
}

impl Clone for GraphPlane {
    fn clone(&self) -> Self {
        Self { labels: self.labels.clone(), sums: self.sums.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        self.labels.clone_from(&other.labels);
        self.sums.clone_from(&other.sums);
        (self.mask, self.offset) = (other.mask, other.offset);
    }
}

impl PartialEq for GraphPlane {
    fn eq(&self, other: &Self) -> bool {
        self.offset == other.offset && self.labels == other.labels
    }
}

/// All φ^i, dense, with the blocks in use.
pub struct Blocks {
    sums: Vec<f64>,
    masks: Vec<u64>,
    offsets: Vec<f64>,
}

/// Score table, labels and search trees.
pub struct Work {
    scores: Vec<f64>,
    labels: Vec<u16>,
    cut: BinaryCut,
    potts: PottsSolver,
    bound: PottsBound,
    /// Scratch of products with features in half precision.
    wide: Vec<f64>,
    /// Range of the features of the next term.
    ahead: Range<usize>,
}

impl GraphProblem {
    /// The problem with regularisation λ and pairwise weight θ, which must not be negative because no cut would be
    /// minimal then.
    pub fn new(data: Arc<GraphData>, lambda: f64, pairwise: f64) -> Result<Self> {
        if !(pairwise.is_finite() && pairwise >= 0.0) {
            return Err(Error::invalid(format!("pairwise_weight must be finite and not negative, not {pairwise}")));
        }
        let topologies = (0..data.len())
            .map(|i| Topology::new(data.labels_of(i).len(), data.edges_of(i)))
            .collect::<Result<Vec<_>>>()?;
        let truth_disagreements =
            topologies.iter().enumerate().map(|(i, topology)| topology.disagreements(data.labels_of(i))).collect();
        let blocks = if data.num_labels == 2 { 1 } else { data.num_labels };
        Ok(Self { data, topologies, truth_disagreements, pairwise, lambda, blocks, lengths: OnceLock::new() })
    }

    fn p(&self) -> usize {
        self.data.features_per_node
    }

    /// Operations of a call, in units of those of a product.
    fn operations(&self, spent: &CallWork) -> u64 {
        let each = if self.blocks == 1 { CUT_OPS } else { EXPANSION_OPS };
        spent.products + spent.sums + each * spent.search
    }

    /// The max-oracle, see [`Problem::oracle_among`].
    fn search<'a>(
        &self,
        i: usize,
        w: &[f64],
        known: impl Iterator<Item = &'a GraphPlane>,
        work: &mut Work,
        plane: &mut GraphPlane,
    ) -> CallWork {
        let topology = &self.topologies[i];
        let nodes = topology.num_nodes();
        let scores = &mut work.scores[..nodes * self.blocks];
        let labels = &mut work.labels[..nodes];
        let products = self.energies(i, w, &mut work.wide, scores);
        let (search, sums) = if self.blocks == 1 {
            let meanwhile = || {
                let lines = work.ahead.start..work.ahead.end.min(work.ahead.start + AHEAD);
                self.data.features.rows(lines.clone()).prefetch_near();
                work.ahead.start = lines.end;
            };
            let pairwise = effective_weight(self.pairwise * nodes as f64, scores.chunks_exact(1));
            let report = work.cut.solve_while(topology, scores, pairwise, labels, meanwhile);
            (report.operations, self.label_plane(i, labels, report.disagreements, plane))
        } else {
            let (disagreements, operations) = self.expand_known(i, known, work);
            let sums = self.label_plane(i, &work.labels[..nodes], disagreements, plane);
            // The sums of planes round differently from energies: a plane that does not beat the truth in value is the
            // truth.
            if self.value(i, plane, w, work) <= 0.0 {
                self.label_plane(i, self.data.labels_of(i), self.truth_disagreements[i], plane);
            }
            (operations, sums)
        };
        CallWork { products, search, sums }
    }

    /// Indices of the blocks in a mask.
    fn in_mask(&self, mask: u64) -> impl Iterator<Item = usize> + use<> {
        (0..self.blocks).filter(move |k| is_in(mask, *k))
    }

    /// The positions in w of the blocks of a plane or of another mask, with the plane's values there.
    fn stored<'a>(
        &self,
        plane: &'a GraphPlane,
        other: u64,
    ) -> impl Iterator<Item = (Range<usize>, Option<&'a [f64]>)> + use<'a> {
        let p = self.p();
        let mut sums = plane.sums.chunks_exact(p);
        self.in_mask(plane.mask | other)
            .map(move |k| (k * p..(k + 1) * p, if is_in(plane.mask, k) { sums.next() } else { None }))
    }
}

/// Operations of an oracle call, by kind.
struct CallWork {
    /// Products with features.
    products: u64,
    /// Elementary operations of cuts and expansions.
    search: u64,
    /// Features summed to the plane.
    sums: u64,
}

fn is_in(mask: u64, k: usize) -> bool {
    mask >> (k % 64) & 1 == 1
}

impl Problem for GraphProblem {
    type Plane = GraphPlane;
    type Blocks = Blocks;
    type Work = Work;

    fn family(&self) -> &'static Family {
        if self.blocks == 1 { &BINARY_GRAPH } else { &POTTS_GRAPH }
    }

    super::compiled_here!();

    fn terms(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.blocks * self.p()
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn run_bytes(&self) -> u64 {
        vectors(self.terms().saturating_add(COPIES), self.dim())
    }

    fn blocks(&self) -> Blocks {
        Blocks {
            sums: vec![0.0; self.terms() * self.dim()],
            masks: vec![0; self.terms()],
            offsets: vec![0.0; self.terms()],
        }
    }

    fn work(&self) -> Work {
        let most = (0..self.terms()).map(|i| self.data.labels_of(i).len()).max().unwrap_or(0);
        Work {
            scores: vec![0.0; most * self.blocks],
            labels: vec![0; most],
            cut: BinaryCut::new(),
            potts: PottsSolver::new(),
            bound: PottsBound::new(),
            wide: Vec::new(),
            ahead: 0..0,
        }
    }

    fn exact(&self) -> bool {
        self.blocks == 1
    }

    fn oracle(&self, i: usize, w: &[f64], work: &mut Work, plane: &mut GraphPlane) -> Result<u64, Fault> {
        self.oracle_among(i, w, std::iter::empty(), work, plane)
    }

    fn oracle_among<'a>(
        &self,
        i: usize,
        w: &[f64],
        known: impl Iterator<Item = &'a GraphPlane>,
        work: &mut Work,
        plane: &mut GraphPlane,
    ) -> Result<u64, Fault> {
        Ok(self.operations(&self.search(i, w, known, work, plane)))
    }

    fn certify(&self, i: usize, w: &[f64], work: &mut Work, plane: &mut GraphPlane) -> Result<Certificate, Fault> {
        let spent = self.search(i, w, std::iter::empty(), work, plane);
        let operations = self.operations(&spent);
        if self.exact() {
            let exact = Certificate::exact(self.value(i, plane, w, work), operations);
            return Ok(Certificate { hidden: self.fixed_point(i, work), ..exact });
        }
        let energy = self.potts(i, &work.scores);
        // Sweeps take at most half as long again as the call; with what follows them a term takes less than three
        // calls.
        let budget =
            BoundBudget { operations: (spent.products / SWEEP_OPS + spent.search) * 3 / 2, ..BoundBudget::default() };
        let report = work.bound.lower(energy, Some(&plane.labels), budget);
        if report.improved {
            let labels = work.bound.labels();
            self.label_plane(i, labels, energy.topology.disagreements(labels), plane);
        }
        let truth = self.data.labels_of(i);
        let above_truth = energy.energy(truth) + report.rounding - report.lower;
        let lower = self.value(i, plane, w, work).max(0.0);
        let upper = (above_truth / truth.len() as f64 * self.inverse_n()).max(lower);
        let operations = operations + SWEEP_OPS * report.operations;
        // The bound includes the rounding of sums over nodes and edges.
        Ok(Certificate { lower, upper, proven: report.exact, operations, hidden: 0.0 })
    }

    fn value(&self, _i: usize, plane: &GraphPlane, w: &[f64], _work: &Work) -> f64 {
        let p = self.p();
        let blocks = self.in_mask(plane.mask).zip(plane.sums.chunks_exact(p));
        blocks.map(|(k, sums)| dot(sums, &w[k * p..(k + 1) * p])).sum::<f64>() + plane.offset
    }

    fn direction(&self, i: usize, blocks: &Blocks, plane: &GraphPlane, w: &[f64], _work: &mut Work) -> Direction {
        let mix = &blocks.sums[i * self.dim()..(i + 1) * self.dim()];
        let (mut gain, mut squared) = (0.0, 0.0);
        for (range, sums) in self.stored(plane, blocks.masks[i]) {
            let (mix, w) = (&mix[range.clone()], &w[range]);
            let (with_w, size) = match sums {
                Some(sums) => mix_products(mix, sums, w),
                None => (-dot(mix, w), norm2(mix)),
            };
            gain += with_w;
            squared += size;
        }
        let offset = plane.offset - blocks.offsets[i];
        Direction { gain: gain + offset, norm2: squared, offset }
    }

    fn advance(
        &self,
        i: usize,
        blocks: &mut Blocks,
        plane: &GraphPlane,
        gamma: f64,
        _work: &mut Work,
        sink: &mut Sink<'_>,
    ) {
        let mix = &mut blocks.sums[i * self.dim()..(i + 1) * self.dim()];
        for (range, sums) in self.stored(plane, blocks.masks[i]) {
            let mix = &mut mix[range.clone()];
            if let Some((average, factor)) = &mut sink.average {
                let target = &mut average[range.clone()];
                add_scaled(target, -*factor * gamma, mix);
                if let Some(sums) = sums {
                    add_scaled(target, *factor * gamma, sums);
                }
            }
            let target = &mut sink.w[range];
            if let Some(sums) = sums {
                mix_advance(mix, sums, gamma, target, sink.scale);
            } else {
                add_scaled(target, -sink.scale * gamma, mix);
                for value in mix.iter_mut() {
                    *value -= gamma * *value;
                }
            }
        }
        blocks.masks[i] |= plane.mask;
        blocks.offsets[i] += gamma * (plane.offset - blocks.offsets[i]);
    }

    fn add_block(&self, i: usize, blocks: &Blocks, scale: f64, out: &mut [f64]) -> f64 {
        let (p, d) = (self.p(), self.dim());
        for k in self.in_mask(blocks.masks[i]) {
            add_scaled(&mut out[k * p..(k + 1) * p], scale, &blocks.sums[i * d + k * p..i * d + (k + 1) * p]);
        }
        blocks.offsets[i]
    }

    fn add_plane(&self, _i: usize, plane: &GraphPlane, scale: f64, out: &mut [f64]) -> f64 {
        let p = self.p();
        for (k, sums) in self.in_mask(plane.mask).zip(plane.sums.chunks_exact(p)) {
            add_scaled(&mut out[k * p..(k + 1) * p], scale, sums);
        }
        plane.offset
    }

    fn product_ops(&self, _i: usize) -> u64 {
        self.dim() as u64
    }

    fn offset(&self, _i: usize, plane: &GraphPlane) -> f64 {
        plane.offset
    }

    fn product(&self, _i: usize, p: &GraphPlane, q: &GraphPlane, _work: &mut Work) -> f64 {
        let mut sum = 0.0;
        let (mut at_p, mut at_q) = (0, 0);
        for k in self.in_mask(p.mask | q.mask) {
            let (in_p, in_q) = (is_in(p.mask, k), is_in(q.mask, k));
            if in_p && in_q {
                sum += dot(&p.sums[at_p..at_p + self.p()], &q.sums[at_q..at_q + self.p()]);
            }
            at_p += usize::from(in_p) * self.p();
            at_q += usize::from(in_q) * self.p();
        }
        sum
    }

    /// A plane sums the features of its wrong nodes, twice, and those may cancel. Its offset is a loss of at most 1/n
    /// plus the pairwise term.
    fn sizes(&self, i: usize, _plane: &GraphPlane, _work: &mut Work) -> Sizes {
        let lengths = self.lengths.get_or_init(|| (0..self.terms()).map(|i| self.length_of(i)).collect());
        let length = std::f64::consts::SQRT_2 * lengths[i] * self.inverse_n();
        let additions = self.p() + self.data.num_labels + 2 * self.topologies[i].num_nodes();
        Sizes { length, offset: 2.0 * self.inverse_n(), additions: additions as f64 }
    }

    fn prefetch(&self, i: usize, blocks: &Blocks, work: &mut Work) {
        if self.blocks == 1 {
            work.ahead = self.data.places_of(i);
            prefetch(&blocks.sums[i * self.dim()..(i + 1) * self.dim()]);
        }
    }

    fn exported(&self) -> usize {
        if self.blocks > 1 { self.dim() } else { 2 * self.dim() }
    }

    fn weights(&self, w: &[f64]) -> Vec<f64> {
        if self.blocks > 1 {
            return w.to_vec();
        }
        let half = |sign: f64| w.iter().map(move |v| sign * v * std::f64::consts::FRAC_1_SQRT_2);
        half(-1.0).chain(half(1.0)).collect()
    }
}
