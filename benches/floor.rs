//! The floors of this machine: bytes per second of a sequential sweep over memory, products per second in the cache.

use std::hint::black_box;
use std::time::Instant;

/// Best of a few sweeps over an array far larger than any cache.
pub fn stream_bytes_per_second() -> f64 {
    let array = vec![1.0f64; 32 << 20];
    best(5, (array.len() * 8) as f64, || ssvm::linalg::norm2(black_box(&array)))
}

/// A multiplication and an addition count as one operation, as on the virtual clock.
#[allow(dead_code)] // each bench uses its own part
pub fn operations_per_second() -> f64 {
    const SWEEPS: usize = 2000;
    let (rows, x, mut out) = (vec![1.0f64; 10 * 256], vec![1.0f64; 256], [0.0; 10]);
    best(20, (SWEEPS * rows.len()) as f64, || {
        for _ in 0..SWEEPS {
            ssvm::linalg::dot_rows(black_box(&rows), &x, &mut out);
        }
        out[0]
    })
}

fn best(rounds: u32, work: f64, mut run: impl FnMut() -> f64) -> f64 {
    (0..rounds)
        .map(|_| {
            let began = Instant::now();
            black_box(run());
            work / began.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}
