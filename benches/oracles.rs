//! Each max-oracle by itself, and max-flow against the number of nodes. Prints the distance from the floor.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ssvm_bench::ClockKind;
use ssvm_bench::clock::UNIT_NS;
use ssvm_bench::drive::AnyProblem;
use ssvm_bench::oracle::maxflow::{BinaryCut, Topology};

#[path = "floor.rs"]
mod floor;
#[path = "rows.rs"]
mod rows;

/// Seconds per oracle call over so many sweeps.
fn seconds(problem: &dyn AnyProblem, sweeps: u64) -> f64 {
    rows::run(problem, "sweep", ClockKind::WALL, sweeps).oracle_wall_s / (sweeps * problem.terms() as u64) as f64
}

/// Operations per call, as the oracle reports them to the virtual clock.
fn operations(problem: &dyn AnyProblem) -> f64 {
    let outcome = rows::run(problem, "sweep", ClockKind::VIRTUAL, 1);
    let oracle_s = outcome.points.last().map_or(0.0, |point| point.oracle_time_s);
    oracle_s * 1e9 / UNIT_NS / problem.terms() as f64
}

fn oracles(criterion: &mut Criterion) {
    let stream = floor::stream_bytes_per_second();
    println!("{:<24} {:>10} {:>14} {:>9} {:>7}", "oracle", "µs", "Mops/s", "floor µs", "× floor");
    for (name, bytes) in [
        ("usps-synth", 256.0 * 8.0),
        ("ocr-synth", 7.6 * 16.0),
        ("horseseg-synth:n=400", 144.0 * 649.0 * 4.0),
        ("stanford-synth:n=60", 144.0 * 649.0 * 4.0),
    ] {
        let problem = rows::open(name);
        // The first sweep warms up.
        seconds(&*problem, 1);
        let each = seconds(&*problem, 1);
        println!(
            "{name:<24} {:>10.3} {:>14.0} {:>9.3} {:>7.2}",
            each * 1e6,
            operations(&*problem) / each / 1e6,
            bytes / stream * 1e6,
            each * stream / bytes
        );
        criterion.bench_function(&format!("oracle {name}"), |bencher| {
            bencher.iter_custom(|rounds| {
                let sweeps = rounds.div_ceil(1000).min(3);
                Duration::from_secs_f64(seconds(&*problem, sweeps) * rounds as f64)
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
