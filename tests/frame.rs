//! placeholder
use ssvm_bench::frame::*;
use ssvm_bench::trace::*;
use ssvm_bench::config::*;

fn rec(dataset: &str, solver: SolverKind, repeat: u64, n: usize) -> RunRecord {
    let points = (1..=n).map(|i| TracePoint { iteration: i as u64, time_s: i as f64 * 0.01 * (1.0 + repeat as f64 * 0.03), cpu_s: 0.0, oracle_calls: 100 * i as u64, approx_steps: 0, approx_passes: 3 * i as u64, oracle_time_s: 0.0, approx_time_s: 0.0, primal: 1.0 + 1.0 / i as f64, dual: 1.0 - 1.0 / i as f64, dual_solution: 0.0, gap: 2.0 / i as f64, planes_mean: 3.0, planes_max: 5 }).collect();
    RunRecord { run_id: format!("{dataset}-{solver}-{repeat}"), dataset: dataset.into(), solver, seed: 1, repeat, clock: ClockKind::Wall, jobs: 1, core: 0, status: Status::Done(StopReason::Iterations), points, oracle_ns: hdrhistogram::Histogram::new(3).unwrap(), approx_ns: hdrhistogram::Histogram::new(3).unwrap(), facts: RunFacts::default() }
}

#[test]
fn million() {
    let mut v = vec![];
    for d in ["usps", "ocr", "horseseg", "stanford"] { for s in SolverKind::ALL { for r in 0..10 { v.push(rec(d, s, r, 5000)); } } }
    for _ in 0..2 {
    let t = std::time::Instant::now();
    let f = Frames::new(&v).unwrap();
    println!("frames {:?} rows {}", t.elapsed(), f.points.height());
    for a in Axis::ALL { let t = std::time::Instant::now(); let b = f.bands(a).unwrap(); println!("{a:?} {:?} {}", t.elapsed(), b[0].x.len()); }
    }
}
