//! Small random problems of every family, and iterations of any solver on them.
#![allow(dead_code)] // each target uses its own part

use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use ssvm::clock::Limits;
use ssvm::data::multiclass::Features;
use ssvm::data::{GraphData, LetterData, MulticlassData, NodeFeatures};
use ssvm::problem::{ChainProblem, GraphProblem, MulticlassProblem};
use ssvm::{ClockKind, Interrupt, Iteration, Meter, Solver};

/// Seeded numbers.
pub struct Dice(Pcg64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}

/// n vectors of p values with k labels that mostly follow a planted rule.
pub fn vectors(seed: u64, n: usize, p: usize, k: usize, sparse: bool) -> MulticlassData {
    let mut dice = Dice::new(seed);
    let centres: Vec<f64> = (0..k * p).map(|_| dice.signed()).collect();
    let mut labels = Vec::new();
    let (mut offsets, mut indices, mut values, mut table) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let y = dice.below(k);
        labels.push(y as u32);
        for f in 0..p {
            let value = centres[y * p + f] + dice.signed();
            let value = if sparse && dice.unit() < 0.6 { 0.0 } else { value };
            table.push(value);
            if value != 0.0 {
                indices.push(f as u32);
                values.push(value);
            }
        }
        offsets.push(indices.len());
    }
    let features = if sparse { Features::Sparse { offsets, indices, values } } else { Features::Dense(table) };
    let label_names = (0..k).map(|y| y.to_string()).collect();
    MulticlassData { num_labels: k, dim: p, labels, label_names, features }
}

pub fn multiclass(seed: u64, n: usize) -> MulticlassProblem {
    let data = vectors(seed, n, 7, 4, seed.is_multiple_of(2));
    MulticlassProblem::new(Arc::new(data), 1.0 / n as f64)
}

pub fn words(seed: u64, n: usize, longest: usize) -> LetterData {
    let mut dice = Dice::new(seed);
    let letters: Vec<u128> =
        (0..26).map(|_| u128::from(dice.0.next_u64()) << 40 & u128::from(dice.0.next_u64()) << 30).collect();
    let mut data = LetterData { pixels: Vec::new(), labels: Vec::new(), offsets: vec![0] };
    for _ in 0..n {
        for _ in 0..=dice.below(longest) {
            let letter = dice.below(26);
            data.pixels.push(letters[letter] ^ (1 << dice.below(128)) ^ (1 << dice.below(128)));
            data.labels.push(letter as u8);
        }
        data.offsets.push(data.labels.len());
    }
    data
}

pub fn chain(seed: u64, n: usize) -> ChainProblem {
    ChainProblem::new(Arc::new(words(seed, n, 5)), 1.0 / n as f64)
}

pub fn graphs(seed: u64, n: usize, nodes: usize, p: usize, k: usize) -> GraphData {
    let mut dice = Dice::new(seed);
    let mut data = GraphData {
        num_labels: k,
        features_per_node: p,
        features: NodeFeatures::default(),
        labels: Vec::new(),
        node_offsets: vec![0],
        edges: Vec::new(),
        edge_offsets: vec![0],
        pairwise_weight: 0.05,
    };
    for _ in 0..n {
        let count = 1 + dice.below(nodes);
        for node in 0..count {
            let label = dice.below(k);
            data.labels.push(label as u16);
            data.features.extend((0..p).map(|f| (dice.signed() + f64::from(u8::from(f % k == label))) as f32));
            if node > 0 {
                for _ in 0..2 {
                    data.edges.push([dice.below(node) as u32, node as u32]);
                }
            }
        }
        data.node_offsets.push(data.labels.len());
        data.edge_offsets.push(data.edges.len());
    }
    data.validate().expect("a valid graph");
    data
}

pub fn graph(seed: u64, n: usize, k: usize) -> GraphProblem {
    let data = graphs(seed, n, 6, 5, k);
    let weight = data.pairwise_weight;
    GraphProblem::new(Arc::new(data), 1.0 / n as f64, weight).expect("a problem")
}

/// One iteration under a virtual clock that never stops it.
pub fn iterate(solver: &mut dyn Solver) -> Iteration {
    iterate_until(solver, None).expect("nothing stops it")
}

/// One iteration, interrupted after this many oracle calls.
pub fn iterate_until(solver: &mut dyn Solver, oracle_calls: Option<u64>) -> Result<Iteration, Interrupt> {
    let never = || false;
    let limits = Limits { oracle_calls, ..Limits::default() };
    let mut meter = Meter::new(ClockKind::VIRTUAL, limits, &never);
    meter.resume();
    let ended = solver.iterate(&mut meter);
    meter.pause();
    ended
}
