//! A short fixed work, the same in every version of the program: how long it takes says how fast the machine is now.

use std::hint::black_box;
use std::time::Instant;

/// Rounds, of which the fastest counts: a moment taken by somebody else is not the machine's speed.
const ROUNDS: usize = 21;

/// Numbers of the part that waits for the memory: more than caches hold.
const WORDS: usize = 8 << 20;

/// Seconds of arithmetic that waits for nothing but itself, and of reading memory in order.
pub fn measure() -> Vec<f64> {
    let memory: Vec<u64> = (0..WORDS as u64).collect();
    vec![fastest(arithmetic), fastest(|| memory.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)))]
}

fn fastest(work: impl Fn() -> u64) -> f64 {
    let time = |_| {
        let began = Instant::now();
        black_box(work());
        began.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(time).fold(f64::INFINITY, f64::min)
}

/// SplitMix64 in a chain: each number needs the one before.
fn arithmetic() -> u64 {
    (0..black_box(2_000_000_u64)).fold(1, |state: u64, k| {
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(k);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_parts_take_time() {
        let parts = super::measure();
        assert!(parts.len() == 2 && parts.iter().all(|seconds| *seconds > 0.0 && seconds.is_finite()), "{parts:?}");
    }
}
