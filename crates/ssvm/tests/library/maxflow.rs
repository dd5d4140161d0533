//! Max-flow and min-cut against enumeration and against an independent Dinic, on seeded random graphs.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ssvm::oracle::maxflow::{BinaryCut, MaxFlow, Topology};

/// Dinic on an adjacency list, sharing no code with the library. Terminals are ordinary nodes n and n + 1.
struct Dinic {
    to: Vec<usize>,
    cap: Vec<f64>,
    out: Vec<Vec<usize>>,
}

impl Dinic {
    fn new(topology: &Topology, terminal: &[f64], capacity: &[f64]) -> Self {
        let n = terminal.len();
        let mut dinic = Self { to: vec![], cap: vec![], out: vec![vec![]; n + 2] };
        for (l, &u) in terminal.iter().enumerate() {
            dinic.edge(n, l, u.max(0.0));
            dinic.edge(l, n + 1, (-u).max(0.0));
            for a in topology.range(l as u32) {
                dinic.edge(l, topology.arcs()[a].head as usize, capacity[a]);
            }
        }
        dinic
    }

    fn edge(&mut self, k: usize, l: usize, cap: f64) {
        for (from, to, cap) in [(k, l, cap), (l, k, 0.0)] {
            self.out[from].push(self.to.len());
            self.to.push(to);
            self.cap.push(cap);
        }
    }

    fn levels(&self, from: usize, backwards: bool) -> Vec<Option<usize>> {
        let mut level = vec![None; self.out.len()];
        level[from] = Some(0);
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(k) = queue.pop_front() {
            for &e in &self.out[k] {
                let residual = self.cap[if backwards { e ^ 1 } else { e }];
                if residual > 0.0 && level[self.to[e]].is_none() {
                    level[self.to[e]] = level[k].map(|d| d + 1);
                    queue.push_back(self.to[e]);
                }
            }
        }
        level
    }

    fn push(&mut self, k: usize, limit: f64, level: &[Option<usize>], next: &mut [usize]) -> f64 {
        if k + 1 == self.out.len() {
            return limit;
        }
        while let Some(&e) = self.out[k].get(next[k]) {
            let l = self.to[e];
            if self.cap[e] > 0.0 && level[l] == level[k].map(|d| d + 1) {
                let pushed = self.push(l, limit.min(self.cap[e]), level, next);
                if pushed > 0.0 {
                    self.cap[e] -= pushed;
                    self.cap[e ^ 1] += pushed;
                    return pushed;
                }
            }
            next[k] += 1;
        }
        0.0
    }

    fn solve(&mut self) -> f64 {
        let n = self.out.len() - 2;
        let mut flow = 0.0;
        loop {
            let level = self.levels(n, false);
            if level[n + 1].is_none() {
                return flow;
            }
            let mut next = vec![0; n + 2];
            loop {
                let pushed = self.push(n, f64::INFINITY, &level, &mut next);
                if pushed == 0.0 {
                    break;
                }
                flow += pushed;
            }
        }
    }

    fn reaches_sink(&self) -> Vec<bool> {
        let n = self.out.len() - 2;
        self.levels(n + 1, true)[..n].iter().map(Option::is_some).collect()
    }
}

/// Random edges without loops, parallel edges included; many of the graphs fall into pieces.
fn random_topology(rng: &mut Pcg64, nodes: usize, edges: usize) -> Topology {
    let mut list = Vec::new();
    while nodes > 1 && list.len() < edges {
        let (k, l) = (rng.random_range(0..nodes as u32), rng.random_range(0..nodes as u32));
        if k != l {
            list.push([k, l]);
        }
    }
    Topology::new(nodes, &list).unwrap()
}

fn value(unary: &[f64], pairwise: f64, topology: &Topology, ones: &[bool]) -> f64 {
    let mut sum: f64 = unary.iter().zip(ones).filter(|(_, one)| **one).map(|(u, _)| u).sum();
    for k in 0..ones.len() {
        let arcs = topology.neighbours(k as u32).iter();
        sum += pairwise / 2.0 * arcs.filter(|arc| ones[arc.head as usize] != ones[k]).count() as f64;
    }
    sum
}

#[test]
fn directed_capacities_agree_with_dinic() {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut flow = MaxFlow::new();
    for round in 0..4000 {
        let nodes = rng.random_range(1..40);
        let edges = rng.random_range(0..3 * nodes);
        let topology = random_topology(&mut rng, nodes, edges);
        // Small integers: ties and zeros abound and every sum is exact.
        let top = if round % 2 == 0 { 4 } else { 1000 };
        let terminal: Vec<i64> = (0..nodes).map(|_| rng.random_range(-top..=top)).collect();
        let capacity: Vec<i64> = topology.arcs().iter().map(|_| rng.random_range(0..=top)).collect();
        let real = |values: &[i64]| values.iter().map(|&v| v as f64).collect::<Vec<_>>();
        let mut dinic = Dinic::new(&topology, &real(&terminal), &real(&capacity));
        assert_eq!(flow.solve(&topology, &terminal, &capacity) as f64, dinic.solve(), "round {round}");
        let sink: Vec<bool> = (0..nodes as u32).map(|l| flow.reaches_sink(l)).collect();
        assert_eq!(sink, dinic.reaches_sink(), "round {round}");
    }
}

#[test]
fn binary_cut_is_the_smallest_minimiser() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut cut = BinaryCut::new();
    for round in 0..6000 {
        let nodes = rng.random_range(1..9);
        let edges = rng.random_range(0..14);
        let topology = random_topology(&mut rng, nodes, edges);
        let pairwise = f64::from(rng.random_range(0..4));
        let unary: Vec<f64> = (0..nodes).map(|_| f64::from(rng.random_range(-5..=5))).collect();
        let side = |code: usize| (0..nodes).map(|l| code >> l & 1 == 1).collect::<Vec<_>>();
        let values: Vec<f64> = (0..1 << nodes).map(|c| value(&unary, pairwise, &topology, &side(c))).collect();
        let best = values.iter().copied().fold(f64::INFINITY, f64::min);
        // Minimisers form a lattice: their intersection is the smallest one.
        let smallest = (0..1usize << nodes).filter(|&c| values[c] == best).fold(usize::MAX, |all, c| all & c);
        let mut labels = vec![7; nodes];
        let report = cut.solve(&topology, &unary, pairwise, &mut labels);
        let expected: Vec<u16> = side(smallest).into_iter().map(u16::from).collect();
        assert_eq!((report.value, labels), (best, expected), "round {round}");
    }
}

#[test]
fn binary_cut_agrees_with_dinic() {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut cut = BinaryCut::new();
    for round in 0..3000 {
        let nodes = rng.random_range(2..120);
        let edges = rng.random_range(0..3 * nodes);
        let topology = random_topology(&mut rng, nodes, edges);
        let (unary, pairwise): (Vec<f64>, f64) = if round % 2 == 0 {
            ((0..nodes).map(|_| f64::from(rng.random_range(-6..=6))).collect(), f64::from(rng.random_range(0..5)))
        } else {
            let sigma = 4.0 * rng.random::<f64>();
            ((0..nodes).map(|_| sigma * (2.0 * rng.random::<f64>() - 1.0)).collect(), rng.random())
        };
        let mut dinic = Dinic::new(&topology, &unary, &vec![pairwise; topology.arcs().len()]);
        let flow = dinic.solve();
        let expected = flow + unary.iter().map(|u| u.min(0.0)).sum::<f64>();
        let mut labels = vec![7; nodes];
        let report = cut.solve(&topology, &unary, pairwise, &mut labels);
        let ones: Vec<bool> = labels.iter().map(|&y| y == 1).collect();
        assert!((report.value - value(&unary, pairwise, &topology, &ones)).abs() < 1e-10);
        assert!((report.value - expected).abs() < 1e-10, "round {round}: {} against {expected}", report.value);
        if round % 2 == 0 {
            assert_eq!(ones, dinic.reaches_sink(), "round {round}");
        }
        let again = cut.solve(&topology, &unary, pairwise, &mut labels);
        assert_eq!(again, report, "a used workspace must not change the result");
    }
}

#[test]
fn ties_and_edge_cases() {
    let mut cut = BinaryCut::new();
    let mut solve = |nodes, edges: &[[u32; 2]], unary: &[f64], pairwise| {
        let mut labels = vec![7; nodes];
        cut.solve(&Topology::new(nodes, edges).unwrap(), unary, pairwise, &mut labels);
        labels
    };
    assert_eq!(solve(1, &[], &[0.0], 1.0), [0]);
    assert_eq!(solve(1, &[], &[-1e-300], 1.0), [1]);
    assert_eq!(solve(2, &[[0, 1]], &[-1.0, 1.0], 1.0), [0, 0]);
    assert_eq!(solve(2, &[[0, 1]], &[-1.5, 1.0], 1.0), [1, 0]);
    assert_eq!(solve(2, &[[0, 1]], &[-1.5, 0.75], 1.0), [1, 1]);
    assert_eq!(solve(2, &[[0, 1], [1, 0]], &[-1.5, 1.5], 1.0), [0, 0]);
    assert_eq!(solve(2, &[[0, 1], [1, 0]], &[-2.5, 1.5], 1.0), [1, 1]);
    assert_eq!(solve(2, &[[0, 1]], &[f64::NEG_INFINITY, 0.5], 1.0), [1, 1]);
    assert_eq!(solve(0, &[], &[], 1.0), [0u16; 0]);
    // As many 1/L as −1/L: a tie although 1/L is no binary fraction.
    let ring: Vec<[u32; 2]> = (0..146).map(|l| [l, (l + 1) % 146]).collect();
    let unary: Vec<f64> = (0..146).map(|l| if l < 73 { 1.0 / 146.0 } else { -1.0 / 146.0 }).collect();
    assert_eq!(solve(146, &ring, &unary, 1.0), [0; 146]);
}

/// The callback during a solve is called often and does not change the result.
#[test]
fn a_cut_turns_to_every_node() {
    let mut rng = Pcg64::seed_from_u64(6);
    let mut cut = BinaryCut::new();
    for _ in 0..200 {
        let topology = random_topology(&mut rng, 50, 120);
        let unary: Vec<f64> = (0..50).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect();
        let (mut labels, mut again, mut turns) = (vec![7; 50], vec![7; 50], 0);
        let report = cut.solve(&topology, &unary, 1.0, &mut labels);
        assert_eq!(cut.solve_while(&topology, &unary, 1.0, &mut again, || turns += 1), report);
        assert_eq!(again, labels);
        assert!(turns >= 50);
    }
}

#[test]
fn bad_edges_are_errors() {
    for edge in [[0, 2], [5, 0], [1, 1]] {
        let message = Topology::new(2, &[edge]).unwrap_err().to_string();
        assert!(message.contains(&format!("edge {} – {}", edge[0], edge[1])), "{message}");
    }
}
