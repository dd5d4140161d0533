//! Numbers ↔ little-endian bytes, and tests of whole vectors. They are in this crate because it is optimised in every
//! profile: in the harness, at opt-level 1, these loops took four fifths of a call of an oracle program.

/// Appends the values, little-endian.
#[inline(never)]
pub fn write_le(values: &[f64], out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + 8 * values.len(), 0);
    for (bytes, value) in out[begin..].as_chunks_mut().0.iter_mut().zip(values) {
        *bytes = value.to_le_bytes();
    }
}

/// Reads as many values as fit.
#[inline(never)]
pub fn read_le(bytes: &[u8], values: &mut [f64]) {
    for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
        *value = f64::from_le_bytes(*bytes);
    }
}

/// Whether no value is NaN or infinite.
#[inline(never)]
pub fn all_finite(values: &[f64]) -> bool {
    // Without an early exit this is vectorised.
    values.iter().fold(true, |all, value| all & value.is_finite())
}

/// Whether two vectors have the same bits; −0 differs from 0.
#[inline(never)]
pub fn same_bits(a: &[f64], b: &[f64]) -> bool {
    // Blocks without an early exit are vectorised.
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0, |all, (a, b)| all | (a.to_bits() ^ b.to_bits())) == 0;
    a.len() == b.len() && a.chunks(256).zip(b.chunks(256)).all(|(a, b)| same(a, b))
}

/// Number of values that are not 0.
#[inline(never)]
pub fn count_nonzero(values: &[f64]) -> usize {
    values.iter().filter(|value| **value != 0.0).count()
}

/// Σ |a_k b_k|: the rounding error of a product is a small part of it.
#[inline(never)]
pub fn product_size(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (blocks, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    for (a, b) in blocks.iter().zip(others) {
        for lane in 0..8 {
            sums[lane] += (a[lane] * b[lane]).abs();
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(a, b)| (a * b).abs()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_to_the_bit_and_sizes_are_sums() {
        let values: Vec<f64> = (0..1003).map(|k| f64::from(k - 500).sin() * f64::from(k % 7)).collect();
        let (mut bytes, mut back) = (b"head".to_vec(), vec![1.0; 1003]);
        write_le(&values, &mut bytes);
        read_le(&bytes[4..], &mut back);
        assert!(same_bits(&values, &back) && !same_bits(&values, &back[1..]));
        back[1002] = -back[1002];
        assert!(!same_bits(&values, &back) && all_finite(&back));
        let plain: f64 = values.iter().map(|value| value * value).sum();
        assert!((product_size(&values, &back) - plain).abs() < 1e-9 * plain);
        assert_eq!(count_nonzero(&values), 1003 - values.iter().filter(|value| **value == 0.0).count());
        back[600] = f64::INFINITY;
        assert!(!all_finite(&back));
    }
}
