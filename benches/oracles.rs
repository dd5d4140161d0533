//! Each max-oracle by itself, and max-flow against the number of nodes. Prints the distance from the floor.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use ssvm_bench::dataset::{self, DataDir};
use ssvm_bench::oracle::maxflow::{BinaryCut, Topology};
use ssvm_bench::problem::{AnyProblem, Problem, WithProblem};

#[path = "floor.rs"]
mod floor;

/// Seconds per oracle call over all terms at a w that is not trivial, and operations per call.
struct Calls;

impl WithProblem for &Calls {
    type Output = (f64, f64);
    fn with<P: Problem>(self, problem: &P) -> (f64, f64) {
        let (mut work, mut plane) = (problem.work(), P::Plane::default());
        let mut w = vec![0.0; problem.dim()];
        // One Frank–Wolfe step away from zero.
        for i in 0..problem.terms() {
            problem.oracle(i, &vec![0.0; problem.dim()], &mut work, &mut plane);
            problem.add_plane(i, &plane, -0.1 / problem.lambda(), &mut w);
        }
        let mut operations = 0;
        let began = Instant::now();
        for i in 0..problem.terms() {
            operations += problem.oracle(i, &w, &mut work, &mut plane);
            black_box(&plane);
        }
        let n = problem.terms() as f64;
        (began.elapsed().as_secs_f64() / n, operations as f64 / n)
    }
}

fn oracles(criterion: &mut Criterion) {
    let dir = DataDir::resolve(None);
    let stream = floor::stream_bytes_per_second();
    println!("{:<24} {:>10} {:>14} {:>9} {:>7}", "oracle", "µs", "Mops/s", "floor µs", "× floor");
    for (name, bytes) in [
        ("usps-synth", 256.0 * 8.0),
        ("ocr-synth", 7.6 * 16.0),
        ("horseseg-synth:n=400", 144.0 * 649.0 * 4.0),
        ("stanford-synth:n=60", 144.0 * 649.0 * 4.0),
    ] {
        let dataset = dataset::load(name, &dir).expect("a twin");
        let problem = AnyProblem::new(&dataset, None, None).expect("a problem");
        problem.with(&Calls);
        let (seconds, operations) = problem.with(&Calls);
        println!(
            "{name:<24} {:>10.3} {:>14.0} {:>9.3} {:>7.2}",
            seconds * 1e6,
            operations / seconds / 1e6,
            bytes / stream * 1e6,
            seconds * stream / bytes
        );
        criterion.bench_function(&format!("oracle {name}"), |bencher| {
            bencher.iter_custom(|rounds| {
                let per_call: f64 = (0..rounds.div_ceil(1000).min(3)).map(|_| problem.with(&Calls).0).sum::<f64>()
                    / rounds.div_ceil(1000).min(3) as f64;
                std::time::Duration::from_secs_f64(per_call * rounds as f64)
            });
        });
    }
}

fn flow(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("min-cut");
    for side in [6u32, 12, 24, 48] {
        let nodes = side * side;
        let mut edges = Vec::new();
        for l in 0..nodes {
            let (r, c) = (l / side, l % side);
            if c + 1 < side {
                edges.push([l, l + 1]);
            }
            if r + 1 < side {
                edges.push([l, l + side]);
                if c + 1 < side {
                    edges.push(if (r + c) % 2 == 0 { [l, l + side + 1] } else { [l + 1, l + side] });
                }
            }
        }
        let topology = Topology::new(nodes as usize, &edges).expect("a grid");
        // A fixed hash as noise, of the strength of the pairwise term.
        let unary: Vec<f64> = (0..nodes)
            .map(|l| f64::from(l.wrapping_mul(2_654_435_761) >> 16) / f64::from(1u32 << 15) * 2.0 - 2.0)
            .collect();
        let (mut cut, mut labels) = (BinaryCut::new(), vec![0; nodes as usize]);
        let operations = cut.solve(&topology, &unary, 1.0, &mut labels).operations;
        println!("min-cut of {nodes} nodes, {} edges: {operations} elementary operations", edges.len());
        group.bench_function(format!("{nodes} nodes"), |bencher| {
            bencher.iter(|| black_box(cut.solve(&topology, black_box(&unary), 1.0, &mut labels)));
        });
    }
    group.finish();
}

criterion_group!(benches, oracles, flow);
criterion_main!(benches);
