//! Each max-oracle by itself, and max-flow against the number of nodes. Criterion times the calls: one iteration is a call
//! for every term of a set. Beside it the bytes that a call must read and the operations that it reports.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssvm::oracle::maxflow::{BinaryCut, Topology};
use ssvm_bench::dataset::{Bind, DatasetTable, Standard};
use ssvm_bench::{DataDir, Problem, Request};

#[path = "floor.rs"]
mod floor;

/// One call for every term at `w`; the operations of all.
fn sweep<P: Problem>(problem: &P, w: &[f64], work: &mut P::Work, plane: &mut P::Plane) -> u64 {
    (0..problem.terms()).map(|i| problem.oracle(i, w, work, plane).unwrap()).sum()
}

/// A tenth of a Frank–Wolfe step away from zero, where no oracle is trivial.
fn point<P: Problem>(problem: &P, work: &mut P::Work, plane: &mut P::Plane) -> Vec<f64> {
    let zero = vec![0.0; problem.dim()];
    let mut w = zero.clone();
    for i in 0..problem.terms() {
        problem.oracle(i, &zero, work, plane).unwrap();
        problem.add_plane(i, plane, -0.1 / problem.lambda(), &mut w);
    }
    w
}

/// Times the oracle of a twin, whose terms have this number of bytes each.
struct Timed<'c> {
    criterion: RefCell<&'c mut Criterion>,
    stream: f64,
    name: &'c str,
    bytes: f64,
}

impl Bind for Timed<'_> {
    type Bound = ();

    fn bind<P: Problem + Send + Sync + 'static>(&self, problem: P) {
        let Self { criterion, stream, name, bytes } = self;
        let (mut work, mut plane) = (problem.work(), P::Plane::default());
        let w = point(&problem, &mut work, &mut plane);
        let n = problem.terms() as u64;
        println!(
            "oracle {name}: {:.0} operations a call, floor {:.3} µs ({bytes:.0} bytes at {:.1} GB/s)",
            sweep(&problem, &w, &mut work, &mut plane) as f64 / n as f64,
            bytes / stream * 1e6,
            stream / 1e9
        );
        let mut criterion = criterion.borrow_mut();
        let mut group = criterion.benchmark_group("oracle");
        group.sample_size(20).measurement_time(Duration::from_secs(3)).throughput(Throughput::Elements(n));
        group.bench_function(*name, |bencher| {
            bencher.iter(|| black_box(sweep(&problem, black_box(&w), &mut work, &mut plane)));
        });
        group.finish();
    }
}

fn oracles(criterion: &mut Criterion) {
    let (stream, data) = (floor::stream_bytes_per_second(), DataDir::resolve(None));
    for (name, bytes) in [
        ("usps-synth", 256.0 * 8.0),
        ("ocr-synth", 7.6 * 16.0),
        ("horseseg-synth:n=400", 144.0 * 649.0 * 4.0),
        ("stanford-synth:n=60", 144.0 * 649.0 * 4.0),
    ] {
        let timed = Timed { criterion: RefCell::new(criterion), stream, name, bytes };
        let opened = Standard.open(&Request::new(name, &data), &timed);
        opened.expect("a row").unwrap_or_else(|error| panic!("{name}: {error}"));
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
