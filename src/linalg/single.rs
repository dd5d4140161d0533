//! Products in single precision, and how far they can be from the exact ones: for ruling out, never for results.

use super::dense::norm2;
use super::simd::{Lanes, kernel};

/// Sums that run beside each other.
const WIDE: usize = 32;

/// Half a unit in the last place of an f32 near 1.
const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// More than what is lost where an f32 becomes too small for all its digits.
const TINY: f64 = 1e-44;

/// A vector rounded to single precision, and its length.
#[derive(Debug, Default)]
pub struct Single {
    values: Vec<f32>,
    size: f64,
}

impl Clone for Single {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), size: self.size }
    }

    /// Into the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        self.size = other.size;
    }
}

impl Single {
    /// Becomes the rounded copy of this vector.
    pub fn round(&mut self, vector: &[f64]) {
        self.values.resize(vector.len(), 0.0);
        round_all(vector, &mut self.values);
        self.size = norm2(vector).sqrt();
    }

    /// Its values.
    #[inline(always)]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How far Σ [`dot_single`] over blocks of at most `length` elements of these vectors may be from their product, and
    /// from that product as double precision rounds it. Every element is rounded, every product, and every sum of at most
    /// length/32 + 12 of them in a row; a quarter is added for second order and for double precision.
    #[inline(always)]
    pub fn error(&self, other: &Self, length: usize) -> f64 {
        let roundings = length as f64 / WIDE as f64 + 16.0;
        1.25 * ROUNDING * roundings * self.size * other.size
            + TINY * self.values.len() as f64 * (1.0 + self.size + other.size)
    }
}

kernel! {
    /// Rounds all elements.
    pub fn round_all(from: &[f64], to: &mut [f32]) = round_all_body
}

#[inline(always)]
fn round_all_body<L: Lanes>(from: &[f64], to: &mut [f32]) {
    assert_eq!(from.len(), to.len());
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from as f32;
    }
}

kernel! {
    /// ⟨a, b⟩ in single precision, see [`Single::error`].
    pub fn dot_single(a: &[f32], b: &[f32]) -> f32 = dot_single_body
}

/// Plain loops over arrays: the compiler makes registers of them, and no sum changes its order.
#[inline(always)]
fn dot_single_body<L: Lanes>(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let mut sums = [0.0f32; WIDE];
    let (a_wide, a) = a.as_chunks::<WIDE>();
    let (b_wide, b) = b.as_chunks::<WIDE>();
    for (a, b) in a_wide.iter().zip(b_wide) {
        for k in 0..WIDE {
            sums[k] += a[k] * b[k];
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum += a * b;
    }
    let mut width = WIDE / 2;
    while width > 0 {
        for k in 0..width {
            sums[k] += sums[k + width];
        }
        width /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dense::{dot, tests::numbers};

    #[test]
    fn products_are_within_their_error() {
        for (len, at) in
            [0, 1, 7, 31, 32, 33, 64, 649, 5000].into_iter().flat_map(|len| (0..20).map(move |at| (len, at)))
        {
            let scale = 10f64.powi(4 * at as i32 - 40);
            let a: Vec<f64> = numbers(len, at).iter().map(|v| v * scale).collect();
            let b = numbers(len, at + 50);
            let (mut near_a, mut near_b) = (Single::default(), Single::default());
            near_a.round(&a);
            near_b.round(&b);
            let off = (f64::from(dot_single(near_a.values(), near_b.values())) - dot(&a, &b)).abs();
            let error = near_a.error(&near_b, len);
            // Too large for an f32: infinite or no number, which rules nothing out.
            assert!(off <= error || !off.is_finite(), "{len} at scale {scale:e}: {off:e} above {error:e}");
            assert!(scale > 1e30 || off.is_finite());
            // Not so wide that it would rule nothing out.
            assert!(len == 0 || scale < 1e-30 || error <= 1e-4 * scale * len as f64);
        }
    }

    #[test]
    fn both_compilations_give_the_same_bits() {
        for len in [0, 1, 31, 32, 40, 100, 649] {
            let (mut a, mut b) = (Single::default(), Single::default());
            a.round(&numbers(len, 1));
            b.round(&numbers(len, 2));
            let plain = dot_single_body::<[f64; 4]>(a.values(), b.values());
            assert_eq!(dot_single(a.values(), b.values()).to_bits(), plain.to_bits());
        }
    }
}
