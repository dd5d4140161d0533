//! The floor of this machine: bytes per second of a sequential sweep over memory.

use std::hint::black_box;
use std::time::Instant;

/// Best of a few sweeps over an array far larger than any cache.
pub fn stream_bytes_per_second() -> f64 {
    let array = vec![1.0f64; 32 << 20];
    (0..5)
        .map(|_| {
            let began = Instant::now();
            black_box(ssvm_bench::linalg::norm2(black_box(&array)));
            (array.len() * 8) as f64 / began.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}
