//! Bounds of Potts energies and expansions from several starts, against enumeration on small graphs.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ssvm::oracle::{
    bound::{BoundBudget, BoundReport, PottsBound},
    expansion::{Potts, PottsSolver, Start, argmin_labels},
    maxflow::{BinaryCut, Topology},
};

#[derive(Clone, Debug)]
struct Instance {
    topology: Topology,
    num_labels: usize,
    unary: Vec<f64>,
    pairwise: f64,
}

impl Instance {
    fn potts(&self) -> Potts<'_> {
        Potts { topology: &self.topology, unary: &self.unary, num_labels: self.num_labels, pairwise: self.pairwise }
    }

    fn nodes(&self) -> usize {
        self.topology.num_nodes()
    }

    /// The lowest energy of all labellings.
    fn optimum(&self) -> f64 {
        let mut labels = vec![0u16; self.nodes()];
        let mut best = f64::INFINITY;
        for code in 0..self.num_labels.pow(labels.len() as u32) {
            let mut rest = code;
            for label in &mut labels {
                *label = (rest % self.num_labels) as u16;
                rest /= self.num_labels;
            }
            best = best.min(self.potts().energy(&labels));
        }
        best
    }

    /// Far above rounding, far below any difference that means something.
    fn tolerance(&self) -> f64 {
        let largest = self.unary.iter().fold(0.0f64, |most, u| most.max(u.abs()));
        let range = 2.0 * largest * self.nodes() as f64;
        1e-11 * (range + self.pairwise.min(range) * self.topology.arcs().len() as f64) + 1e-300
    }

    fn random_labels(&self, rng: &mut Pcg64) -> Vec<u16> {
        (0..self.nodes()).map(|_| rng.random_range(0..self.num_labels as u16)).collect()
    }

    /// Edges at random, parallel ones and lonely nodes among them, or a tree.
    fn tiny(rng: &mut Pcg64, num_labels: usize, tree: bool) -> Self {
        let nodes = rng.random_range(1..[0, 0, 10, 8, 7, 6][num_labels]);
        let mut edges = Vec::new();
        if tree {
            edges.extend((1..nodes as u32).map(|l| [rng.random_range(0..l), l]));
        } else {
            for _ in 0..rng.random_range(0..3 * nodes) {
                let (k, l) = (rng.random_range(0..nodes as u32), rng.random_range(0..nodes as u32));
                if k != l {
                    edges.push([k, l]);
                }
            }
        }
        let integer = rng.random::<bool>();
        let draw = |rng: &mut Pcg64, top: i32| {
            if integer { f64::from(rng.random_range(0..=top)) } else { f64::from(top) * rng.random::<f64>() }
        };
        let top = rng.random_range(1..8);
        let unary = (0..nodes * num_labels).map(|_| draw(rng, top) - f64::from(top / 2)).collect();
        Self { topology: Topology::new(nodes, &edges).unwrap(), num_labels, unary, pairwise: draw(rng, 3) }
    }
}

/// Tries hard: no sweep is too small.
const PATIENT: BoundBudget = BoundBudget { sweeps: 500, progress: 0.0, operations: u64::MAX };

/// Bounds with and without a known labelling; checks what always holds.
fn certify(instance: &Instance, bound: &mut PottsBound, best: &[u16], budget: BoundBudget) -> BoundReport {
    let (optimum, tolerance) = (instance.optimum(), instance.tolerance());
    let known = instance.potts().energy(best);
    let mut last = None;
    for best in [None, Some(best)] {
        let report = bound.lower(instance.potts(), best, budget);
        assert!(report.lower <= optimum, "bound {} above the optimum {optimum}: {instance:?}", report.lower);
        assert_eq!(report.energy, instance.potts().energy(bound.labels()));
        if best.is_some() {
            assert!(report.energy <= known);
            assert_eq!(report.improved, report.energy < known);
        }
        if report.exact {
            assert!(report.energy <= optimum + tolerance, "{} is not {optimum}: {instance:?}", report.energy);
            assert!(report.lower >= optimum - tolerance, "{} is far from {optimum}: {instance:?}", report.lower);
        }
        let again = PottsBound::new().lower(instance.potts(), best, budget);
        assert_eq!(again, report, "a used workspace must not change the result");
        last = Some(report);
    }
    last.unwrap()
}

#[test]
fn bounds_stay_below_the_optimum() {
    let mut rng = Pcg64::seed_from_u64(1);
    let (mut bound, mut solver) = (PottsBound::new(), PottsSolver::new());
    let (mut exact, mut alone) = (0, 0);
    const ROUNDS: usize = 2000;
    for round in 0..ROUNDS {
        let instance = Instance::tiny(&mut rng, 2 + round % 4, false);
        let mut labels = vec![0; instance.nodes()];
        solver.solve_from(instance.potts(), &[Start::Unaries], &mut labels);
        exact += usize::from(certify(&instance, &mut bound, &labels, PATIENT).exact);
        // Whatever the messages: stopped at once, and with a poor labelling.
        let labels = instance.random_labels(&mut rng);
        certify(&instance, &mut bound, &labels, BoundBudget { sweeps: 1, ..PATIENT });
        // Without a labelling to meet, it has to find one.
        alone += usize::from(bound.lower(instance.potts(), None, BoundBudget::default()).exact);
    }
    assert!(20 * exact > 19 * ROUNDS, "proven exact: {exact} of {ROUNDS}");
    assert!(10 * alone > 9 * ROUNDS, "proven exact without help: {alone} of {ROUNDS}");
}

#[test]
fn trees_are_tight() {
    let mut rng = Pcg64::seed_from_u64(2);
    let mut bound = PottsBound::new();
    for round in 0..1000 {
        let instance = Instance::tiny(&mut rng, 2 + round % 4, true);
        let report = bound.lower(instance.potts(), None, PATIENT);
        let optimum = instance.optimum();
        assert!(report.lower <= optimum, "round {round}");
        assert!(optimum - report.lower <= instance.tolerance(), "round {round}: {} of {optimum}", report.lower);
    }
}

#[test]
fn two_labels_are_the_min_cut() {
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut bound, mut solver, mut cut) = (PottsBound::new(), PottsSolver::new(), BinaryCut::new());
    for _ in 0..1000 {
        let instance = Instance::tiny(&mut rng, 2, false);
        let gain: Vec<f64> = instance.unary.chunks(2).map(|row| row[1] - row[0]).collect();
        let mut expected = vec![0; instance.nodes()];
        cut.solve(&instance.topology, &gain, instance.pairwise, &mut expected);
        let mut labels = instance.random_labels(&mut rng);
        let start = labels.clone();
        solver.solve_from(instance.potts(), &[Start::Labels(&start)], &mut labels);
        let lowest = instance.potts().energy(&expected);
        assert!((instance.potts().energy(&labels) - lowest).abs() <= instance.tolerance());
        let report = bound.lower(instance.potts(), Some(&start), BoundBudget::default());
        assert!(report.exact && (report.energy - lowest).abs() <= instance.tolerance());
    }
}

#[test]
fn no_start_is_beaten_downwards() {
    let mut rng = Pcg64::seed_from_u64(4);
    let (mut solver, mut bound) = (PottsSolver::new(), PottsBound::new());
    for round in 0..2000 {
        let instance = Instance::tiny(&mut rng, 2 + round % 4, false);
        let energy = instance.potts();
        let (truth, cached) = (instance.random_labels(&mut rng), instance.random_labels(&mut rng));
        let mut unaries = truth.clone();
        argmin_labels(&instance.unary, instance.num_labels, &mut unaries);
        let sets: [&[Start<'_>]; 5] = [
            &[],
            &[Start::Unaries],
            &[Start::Labels(&truth)],
            &[Start::Labels(&truth), Start::Labels(&cached), Start::Labels(&truth)],
            &[Start::Labels(&truth), Start::Labels(&cached), Start::Unaries],
        ];
        let lower = bound.lower(energy, None, BoundBudget::default()).lower;
        for starts in sets {
            let mut labels = vec![0; instance.nodes()];
            let report = solver.solve_from(energy, starts, &mut labels);
            assert_eq!(report.energy, energy.energy(&labels));
            assert_eq!(report.disagreements, instance.topology.disagreements(&labels));
            assert!(report.energy >= lower);
            for start in starts {
                let begin = match start {
                    Start::Labels(labels) => labels,
                    Start::Unaries => unaries.as_slice(),
                };
                let slack = if matches!(start, Start::Unaries) { instance.tolerance() } else { 0.0 };
                assert!(report.energy <= energy.energy(begin) + slack, "round {round}");
            }
            let mut again = vec![0; instance.nodes()];
            assert_eq!(PottsSolver::new().solve_from(energy, starts, &mut again), report);
            assert_eq!(again, labels, "a used workspace must not change the result");
        }
        // A further start costs two looks at it, not a second expansion.
        let mut labels = vec![0; instance.nodes()];
        let once = solver.solve_from(energy, &[Start::Labels(&truth)], &mut labels);
        let twice = solver.solve_from(energy, &[Start::Labels(&truth); 2], &mut labels);
        let look = instance.nodes() + instance.topology.arcs().len();
        assert!(twice.operations <= once.operations + look as u64);
        // What no move improves stays as it is.
        let result = labels.clone();
        let more = solver.solve_from(energy, &[Start::Labels(&result)], &mut labels);
        assert!(more.energy <= once.energy && more.energy >= once.energy - instance.tolerance());
    }
}

/// With loss-augmented energies E(y) = −n·score(y), H_i = E(truth) − E(ŷ).
#[test]
fn the_truth_is_never_beaten_downwards() {
    let mut rng = Pcg64::seed_from_u64(5);
    let mut solver = PottsSolver::new();
    let side = 12u32;
    let across = (0..side * side).filter(|l| l % side + 1 < side).map(|l| [l, l + 1]);
    let edges: Vec<_> = across.chain((0..side * (side - 1)).map(|l| [l, l + side])).collect();
    let topology = Topology::new((side * side) as usize, &edges).unwrap();
    let mut lost = 0;
    for _ in 0..100 {
        let patches: Vec<u16> = (0..16).map(|_| rng.random_range(0..8)).collect();
        let truth: Vec<u16> = (0..side * side).map(|l| patches[(l / 36 * 4 + l % 12 / 3) as usize]).collect();
        let strength = 300.0 * rng.random::<f64>();
        let mut unary = Vec::new();
        for &y in &truth {
            let score = |b: u16| strength * (f64::from(u8::from(b == y)) + rng.random::<f64>());
            unary.extend((0..8).map(score).enumerate().map(|(b, s)| -s - f64::from(u8::from(b != usize::from(y)))));
        }
        let instance = Instance { topology: topology.clone(), num_labels: 8, unary, pairwise: 144.0 };
        let (energy, mut labels) = (instance.potts(), vec![0; 144]);
        let of_truth = energy.energy(&truth);
        lost += usize::from(solver.solve_from(energy, &[Start::Unaries], &mut labels).energy > of_truth);
        for starts in [&[Start::Labels(&truth)][..], &[Start::Unaries, Start::Labels(&truth)]] {
            assert!(solver.solve_from(energy, starts, &mut labels).energy <= of_truth);
        }
    }
    assert!(lost > 0, "the unaries alone never lose: the test is too easy");
}

/// Energies of any size and sign: a factor for all, one for the weight, ties in abundance.
fn wild() -> impl Strategy<Value = Instance> {
    let size = prop_oneof![Just(0.0), Just(1.0), Just(1e-200), Just(1e-9), Just(1e9), Just(1e200)];
    let shape = (1usize..6, 2usize..6).prop_flat_map(|(nodes, num_labels)| {
        let edges = prop::collection::vec([0..nodes as u32, 0..nodes as u32], 0..12);
        let value = prop_oneof![-1.0..1.0f64, Just(0.0), Just(1.0), Just(-1.0), Just(1e-12), Just(1e6)];
        (Just(nodes), Just(num_labels), edges, prop::collection::vec(value, nodes * num_labels))
    });
    (shape, size.clone(), size, 0.0..2.0f64).prop_map(|((nodes, num_labels, mut edges, mut unary), all, weight, w)| {
        edges.retain(|[k, l]| k != l);
        for value in &mut unary {
            *value *= all;
        }
        Instance { topology: Topology::new(nodes, &edges).unwrap(), num_labels, unary, pairwise: w * weight }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_energy_is_bounded(instance in wild(), sweeps in 1u32..40) {
        let labels = vec![0; instance.nodes()];
        certify(&instance, &mut PottsBound::new(), &labels, BoundBudget { sweeps, ..PATIENT });
    }

    #[test]
    fn any_start_is_kept_or_improved(instance in wild(), seed in 0u64..1000) {
        let start = instance.random_labels(&mut Pcg64::seed_from_u64(seed));
        let mut labels = vec![0; instance.nodes()];
        let report = PottsSolver::new().solve_from(instance.potts(), &[Start::Labels(&start)], &mut labels);
        prop_assert!(report.energy <= instance.potts().energy(&start));
        prop_assert_eq!(report.energy, instance.potts().energy(&labels));
    }
}
