//! Min-cut and α-expansion on 12 × 12 grids with diagonals, from easy to hard: microseconds each, best of some rounds
//! (one short round when it only runs as a test).

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ssvm::oracle::expansion::{Potts, PottsSolver, argmin_labels};
use ssvm::oracle::maxflow::{BinaryCut, MaxFlow, Topology};
use ssvm::oracle::partial::PartialOptimum;

const SIDE: u32 = 12;
const NODES: usize = (SIDE * SIDE) as usize;

/// Right, down and diagonal neighbours.
fn grid() -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for l in 0..SIDE * SIDE {
        let (right, down) = (l % SIDE + 1 < SIDE, l / SIDE + 1 < SIDE);
        let neighbours = [(right, l + 1), (down, l + SIDE), (right && down, l + SIDE + 1)];
        edges.extend(neighbours.iter().filter(|(there, _)| *there).map(|(_, other)| [l, *other]));
    }
    edges
}

/// The sum of four uniform numbers, of unit variance.
fn noise(rng: &mut Pcg64) -> f64 {
    (0..4).map(|_| 0.866 * (2.0 * rng.random::<f64>() - 1.0)).sum()
}

/// Unaries of root mean square `sigma`, independent or smoothed twice over neighbours.
fn binary(rng: &mut Pcg64, topology: &Topology, smooth: bool, sigma: f64) -> Vec<f64> {
    let mut unary: Vec<f64> = (0..NODES).map(|_| noise(rng)).collect();
    for _ in 0..if smooth { 2 } else { 0 } {
        let old = unary.clone();
        for (l, value) in unary.iter_mut().enumerate() {
            let arcs = topology.neighbours(l as u32);
            let around: f64 = arcs.iter().map(|arc| old[arc.head as usize]).sum();
            *value = (old[l] + around) / (arcs.len() as f64 + 1.0);
        }
    }
    let scale = sigma / (unary.iter().map(|u| u * u).sum::<f64>() / NODES as f64).sqrt();
    unary.iter().map(|u| u * scale).collect()
}

/// Every node prefers the label of its 3 × 3 patch by `signal`, with noise of size 1, all times `sigma`.
fn potts(rng: &mut Pcg64, num_labels: usize, sigma: f64, signal: f64) -> Vec<f64> {
    let patches: Vec<usize> = (0..16).map(|_| rng.random_range(0..num_labels)).collect();
    let mut unary = Vec::with_capacity(NODES * num_labels);
    for l in 0..NODES {
        let truth = patches[l / 36 * 4 + l % 12 / 3];
        unary.extend((0..num_labels).map(|b| sigma * (noise(rng) - if b == truth { signal } else { 0.0 })));
    }
    unary
}

/// Best of some rounds over all instances, µs for one. One variant at a time, or the branch predictor knows the
/// instances by heart.
fn microseconds<T>(rounds: u32, instances: &[T], mut run: impl FnMut(&T)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let began = Instant::now();
        instances.iter().for_each(&mut run);
        best = best.min(began.elapsed().as_secs_f64());
    }
    best * 1e6 / instances.len() as f64
}

fn min_cuts(topology: &Topology, count: usize, rounds: u32) {
    /// Fixed point of the flow alone.
    const ONE: i64 = 1 << 50;
    println!("{:<8} {:>5} {:>8} {:>14} {:>11}", "unaries", "σ", "cut µs", "flow alone µs", "operations");
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut cut, mut flow, mut labels) = (BinaryCut::new(), MaxFlow::new(), vec![0; NODES]);
    let capacity = vec![ONE; topology.arcs().len()];
    for smooth in [false, true] {
        for sigma in [0.01, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0] {
            let instances: Vec<Vec<f64>> = (0..count).map(|_| binary(&mut rng, topology, smooth, sigma)).collect();
            let fixed: Vec<Vec<i64>> =
                instances.iter().map(|unary| unary.iter().map(|u| (u * ONE as f64) as i64).collect()).collect();
            let mut operations = 0;
            let whole = microseconds(rounds, &instances, |unary| {
                operations += cut.solve(topology, unary, 1.0, &mut labels).operations;
            });
            let alone = microseconds(rounds.div_ceil(5), &fixed, |unary| {
                flow.solve(topology, unary, &capacity);
            });
            println!(
                "{:<8} {sigma:>5} {whole:>8.2} {alone:>14.2} {:>11}",
                if smooth { "smooth" } else { "rough" },
                operations / (u64::from(rounds) * count as u64)
            );
        }
    }
}

fn energy<'a>(topology: &'a Topology, unary: &'a [f64], num_labels: usize) -> Potts<'a> {
    Potts { topology, unary, num_labels, pairwise: 1.0 }
}

fn expansions(topology: &Topology, count: usize, rounds: u32) {
    println!(
        "\n{:>2} {:>6} {:>4} {:>8} {:>10} {:>16} {:>11} {:>22}",
        "K", "signal", "σ", "fixed %", "with µs", "preprocessing µs", "without µs", "mean energies"
    );
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut solver, mut partial, mut cut) = (PottsSolver::new(), PartialOptimum::new(), BinaryCut::new());
    let mut labels = vec![0; NODES];
    for (k, signal) in [(8, 1.0), (8, 3.0), (20, 1.0), (20, 3.0)] {
        for sigma in [0.1, 0.3, 1.0, 2.0, 3.0, 5.0] {
            let instances: Vec<Vec<f64>> = (0..count).map(|_| potts(&mut rng, k, sigma, signal)).collect();
            let (mut fixed, mut energies) = (0, [0.0; 2]);
            let with = microseconds(rounds, &instances, |unary| {
                let report = solver.solve(energy(topology, unary, k), &mut labels);
                fixed += report.fixed_nodes;
                energies[0] += report.energy;
            });
            let without = microseconds(rounds, &instances, |unary| {
                argmin_labels(unary, k, &mut labels);
                energies[1] += solver.expand(energy(topology, unary, k), &mut labels).energy;
            });
            let before = microseconds(rounds, &instances, |unary| partial.solve(&mut cut, energy(topology, unary, k)));
            let solved = f64::from(rounds) * count as f64;
            println!(
                "{k:>2} {signal:>6} {sigma:>4} {:>8.1} {with:>10.1} {before:>16.1} {without:>11.1} {:>10.4} {:>11.4}",
                100.0 * fixed as f64 / (solved * NODES as f64),
                energies[0] / solved,
                energies[1] / solved
            );
        }
    }
}

fn main() {
    // `cargo bench` says so; `cargo test --benches` does not.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let topology = Topology::new(NODES, &grid()).expect("a grid");
    println!("{NODES} nodes, {} edges", topology.arcs().len() / 2);
    let (cuts, potts, rounds) = if measured { (500, 100, 20) } else { (3, 2, 1) };
    min_cuts(&topology, cuts, rounds);
    expansions(&topology, potts, rounds.div_ceil(2));
}
