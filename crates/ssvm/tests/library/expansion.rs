//! Partial optimality and α-expansion against enumeration, on seeded random Potts energies.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ssvm::oracle::{
    expansion::{Potts, PottsSolver, argmin_labels},
    maxflow::{BinaryCut, Topology},
    partial::PartialOptimum,
};

struct Instance {
    topology: Topology,
    num_labels: usize,
    unary: Vec<f64>,
    pairwise: f64,
}

impl Instance {
    /// Integers in most rounds, so that ties abound and sums are exact.
    fn tiny(rng: &mut Pcg64, num_labels: usize, integer: bool) -> Self {
        let nodes = rng.random_range(1..if num_labels > 3 { 6 } else { 8 });
        let mut edges = Vec::new();
        for _ in 0..if nodes > 1 { rng.random_range(0..2 * nodes) } else { 0 } {
            let (k, l) = (rng.random_range(0..nodes as u32), rng.random_range(0..nodes as u32));
            if k != l {
                edges.push([k, l]);
            }
        }
        let top = rng.random_range(1..8);
        let mut value = |top: i32| {
            if integer { f64::from(rng.random_range(0..=top)) } else { f64::from(top) * rng.random::<f64>() }
        };
        let unary = (0..nodes * num_labels).map(|_| value(top)).collect();
        Self { topology: Topology::new(nodes, &edges).unwrap(), num_labels, unary, pairwise: value(3) }
    }

    /// 12 × 12 grid with diagonals; every node prefers the label of its patch by `signal`, with noise of size 1, all times `sigma`.
    fn planar(rng: &mut Pcg64, num_labels: usize, sigma: f64, signal: f64) -> Self {
        let mut edges = Vec::new();
        for l in 0..144u32 {
            let (down, right) = (l < 132, l % 12 < 11);
            edges.extend(
                [(right, l + 1), (down, l + 12), (down && right, l + 13)].iter().filter(|e| e.0).map(|e| [l, e.1]),
            );
        }
        let patches: Vec<usize> = (0..16).map(|_| rng.random_range(0..num_labels)).collect();
        let mut unary = Vec::new();
        for l in 0..144 {
            let truth = patches[l / 36 * 4 + l % 12 / 3];
            for b in 0..num_labels {
                let noise: f64 = (0..4).map(|_| 1.7 * rng.random::<f64>() - 0.85).sum();
                unary.push(sigma * (noise - if b == truth { signal } else { 0.0 }));
            }
        }
        Self { topology: Topology::new(144, &edges).unwrap(), num_labels, unary, pairwise: 1.0 }
    }

    fn energy(&self, labels: &[u16]) -> f64 {
        let mut sum = 0.0;
        for (l, &y) in labels.iter().enumerate() {
            sum += self.unary[l * self.num_labels + usize::from(y)];
            let arcs = self.topology.neighbours(l as u32).iter();
            sum += self.pairwise / 2.0 * arcs.filter(|arc| labels[arc.head as usize] != y).count() as f64;
        }
        sum
    }

    /// Every labelling with its energy.
    fn enumerate(&self) -> Vec<(f64, Vec<u16>)> {
        let nodes = self.topology.num_nodes();
        (0..self.num_labels.pow(nodes as u32))
            .map(|code| {
                let labels: Vec<u16> =
                    (0..nodes as u32).map(|l| (code / self.num_labels.pow(l) % self.num_labels) as u16).collect();
                (self.energy(&labels), labels)
            })
            .collect()
    }

    fn potts(&self) -> Potts<'_> {
        let Self { topology, unary, num_labels, pairwise } = self;
        Potts { topology, unary, num_labels: *num_labels, pairwise: *pairwise }
    }

    fn start(&self) -> Vec<u16> {
        let mut labels = vec![0; self.topology.num_nodes()];
        argmin_labels(&self.unary, self.num_labels, &mut labels);
        labels
    }
}

const ROUNDING: f64 = 1e-10;

#[test]
fn fixed_labels_are_those_of_every_optimum() {
    let mut rng = Pcg64::seed_from_u64(1);
    let (mut partial, mut cut) = (PartialOptimum::new(), BinaryCut::new());
    let (mut fixed, mut open) = (0, 0);
    for round in 0..3000 {
        let instance = Instance::tiny(&mut rng, 2 + round % 3, round % 4 != 0);
        let all = instance.enumerate();
        let best = all.iter().map(|(energy, _)| *energy).fold(f64::INFINITY, f64::min);
        let Instance { topology, num_labels, pairwise, .. } = &instance;
        partial.solve(&mut cut, instance.potts());
        for (_, optimum) in all.iter().filter(|(energy, _)| *energy == best) {
            for (l, &y) in optimum.iter().enumerate() {
                assert!(partial.fixed(l).is_none_or(|label| label == y), "round {round}, node {l}");
            }
        }
        // On the open nodes the folded unaries tell the same differences of energy.
        let kept: Vec<_> = all
            .iter()
            .filter(|(_, y)| (0..y.len()).all(|l| partial.fixed(l).is_none_or(|label| label == y[l])))
            .collect();
        let (rest, folded) = partial.left();
        assert_eq!(rest.num_nodes(), partial.open().len());
        let folded = |y: &[u16]| {
            let y: Vec<u16> = partial.open().iter().map(|&l| y[l as usize]).collect();
            Potts { topology: rest, unary: folded, num_labels: *num_labels, pairwise: *pairwise }.energy(&y)
        };
        let shift = kept[0].0 - folded(&kept[0].1);
        for (energy, labels) in kept {
            assert!((energy - folded(labels) - shift).abs() < ROUNDING, "round {round}");
        }
        open += partial.open().len();
        fixed += topology.num_nodes() - partial.open().len();
    }
    assert!(fixed > open, "the preprocessing fixes little: {fixed} of {}", fixed + open);
}

#[test]
fn expansion_is_between_optimum_and_start() {
    let mut rng = Pcg64::seed_from_u64(2);
    let mut solver = PottsSolver::new();
    for round in 0..3000 {
        let instance = Instance::tiny(&mut rng, 2 + round % 3, round % 4 != 0);
        let all = instance.enumerate();
        let best = all.iter().map(|(energy, _)| *energy).fold(f64::INFINITY, f64::min);
        let Instance { num_labels, .. } = &instance;
        let start = instance.start();
        let random: Vec<u16> = start.iter().map(|_| rng.random_range(0..*num_labels as u16)).collect();
        let check = |labels: &[u16], energy: f64, from: &[u16]| {
            assert!((energy - instance.energy(labels)).abs() < ROUNDING, "round {round}: reported {energy}");
            assert!(energy <= instance.energy(from) + ROUNDING, "round {round}: worse than the start");
            assert!(
                energy >= best - ROUNDING && energy <= 2.0 * best + ROUNDING,
                "round {round}: {energy}, optimum {best}"
            );
        };
        let mut labels = start.clone();
        let report = solver.solve(instance.potts(), &mut labels);
        check(&labels, report.energy, &start);
        assert_eq!(report.energy, instance.potts().energy(&labels));
        if report.fixed_nodes == labels.len() {
            assert!(report.energy <= best + ROUNDING, "round {round}: all fixed, not optimal");
        }
        for from in [start, random] {
            labels.clone_from(&from);
            let report = solver.expand(instance.potts(), &mut labels);
            check(&labels, report.energy, &from);
            // No expansion move improves the result: enumerate all of them.
            for alpha in 0..*num_labels as u16 {
                for code in 0..1usize << labels.len() {
                    let moved: Vec<u16> =
                        labels.iter().enumerate().map(|(l, &y)| if code >> l & 1 == 1 { alpha } else { y }).collect();
                    assert!(instance.energy(&moved) >= report.energy - ROUNDING, "round {round}, α = {alpha}");
                }
            }
        }
    }
}

#[test]
fn two_labels_are_the_min_cut() {
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut solver, mut cut) = (PottsSolver::new(), BinaryCut::new());
    for round in 0..2000 {
        let instance = if round % 10 == 0 {
            let sigma = 3.0 * rng.random::<f64>();
            Instance::planar(&mut rng, 2, sigma, 1.0)
        } else {
            Instance::tiny(&mut rng, 2, true)
        };
        let Instance { topology, unary, pairwise, .. } = &instance;
        let gain: Vec<f64> = unary.chunks(2).map(|row| row[1] - row[0]).collect();
        let (mut expected, mut found) = (instance.start(), instance.start());
        let value = cut.solve(topology, &gain, *pairwise, &mut expected).value;
        let report = solver.solve(instance.potts(), &mut found);
        assert_eq!(found, expected, "round {round}");
        let constant: f64 = unary.chunks(2).map(|row| row[0]).sum();
        assert!((report.energy - value - constant).abs() < ROUNDING);
        // The moves alone reach it too, up to ties: two labels are one cut.
        let moved = solver.expand(instance.potts(), &mut found).energy;
        assert!((moved - report.energy).abs() < ROUNDING, "round {round}");
        found.fill(1);
        let moved = solver.expand(instance.potts(), &mut found).energy;
        assert!((moved - report.energy).abs() < ROUNDING, "round {round}");
    }
}

#[test]
fn planar_instances_keep_the_promises() {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut solver = PottsSolver::new();
    for round in 0..60 {
        let instance = Instance::planar(&mut rng, 3 + round % 18, [0.3, 1.0, 3.0][round % 3], 1.0 + (round % 2) as f64);
        let start = instance.start();
        let mut labels = start.clone();
        let report = solver.solve(instance.potts(), &mut labels);
        assert!(report.energy <= instance.energy(&start) + ROUNDING);
        let first = labels.clone();
        let again = PottsSolver::new().solve(instance.potts(), &mut labels);
        assert_eq!((again, &labels), (report, &first), "a used workspace must not change the result");
        // No further move on all nodes, fixed ones included.
        let more = solver.expand(instance.potts(), &mut labels);
        assert!(more.energy >= report.energy - ROUNDING, "round {round}: {} after {}", more.energy, report.energy);
    }
}
