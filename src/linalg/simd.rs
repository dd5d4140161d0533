//! Slices in, sums and updated slices out. The only file with `unsafe`: it calls the same Rust code compiled twice,
//! for baseline x86-64 and for AVX2, chosen at run time.
//!
//! Lanes are explicit arrays and LLVM neither reassociates nor contracts floating point, so both compilations give
//! the same bits; AVX2 only makes them come faster.
#![allow(unsafe_code)]

/// Lanes of one accumulator group in reductions over a single pair of vectors.
const LANES: usize = 16;

macro_rules! kernel {
    ($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the CPU has AVX2, checked on the line above.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

/// Sums lanes pairwise: the one order in which partial sums are joined.
#[inline(always)]
fn join<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut width = N;
    while width > 1 {
        width /= 2;
        for l in 0..width {
            lanes[l] += lanes[l + width];
        }
    }
    lanes[0]
}

kernel! {
    /// ⟨a, b⟩.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        let mut acc = [0.0; LANES];
        let (ca, cb) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        let (ra, rb) = (ca.remainder(), cb.remainder());
        for (x, y) in ca.zip(cb) {
            for l in 0..LANES {
                acc[l] += x[l] * y[l];
            }
        }
        for l in 0..ra.len() {
            acc[l] += ra[l] * rb[l];
        }
        join(acc)
    }
}

/// ‖a‖².
pub fn norm2(a: &[f64]) -> f64 {
    dot(a, a)
}

kernel! {
    /// y ← y + c·x.
    pub fn add_scaled(y: &mut [f64], c: f64, x: &[f64]) {
        assert_eq!(x.len(), y.len());
        for (y, x) in y.iter_mut().zip(x) {
            *y += c * x;
        }
    }
}

kernel! {
    /// y ← y + c·x with x in single precision (exact conversion, double arithmetic).
    pub fn add_scaled_f32(y: &mut [f64], c: f64, x: &[f32]) {
        assert_eq!(x.len(), y.len());
        for (y, x) in y.iter_mut().zip(x) {
            *y += c * f64::from(*x);
        }
    }
}

/// R products that share one vector: four lanes each, R independent chains to hide the latency of the adds.
#[inline(always)]
fn dot_group<const R: usize>(rows: &[f64], x: &[f64], out: &mut [f64]) {
    let p = x.len();
    let row: [&[f64]; R] = std::array::from_fn(|r| &rows[r * p..(r + 1) * p]);
    let mut acc = [[0.0; 4]; R];
    let whole = p / 4 * 4;
    let mut c = 0;
    while c < whole {
        let x4: [f64; 4] = std::array::from_fn(|l| x[c + l]);
        for r in 0..R {
            let w4 = &row[r][c..c + 4];
            for l in 0..4 {
                acc[r][l] += w4[l] * x4[l];
            }
        }
        c += 4;
    }
    for r in 0..R {
        for l in 0..p - whole {
            acc[r][l] += row[r][whole + l] * x[whole + l];
        }
        out[r] = join(acc[r]);
    }
}

kernel! {
    /// out[r] = ⟨rows[r], x⟩ for consecutive rows of length |x|.
    pub fn dot_rows(rows: &[f64], x: &[f64], out: &mut [f64]) {
        let p = x.len();
        assert_eq!(rows.len(), p * out.len());
        let mut r = 0;
        while r + 10 <= out.len() {
            dot_group::<10>(&rows[r * p..], x, &mut out[r..]);
            r += 10;
        }
        while r + 4 <= out.len() {
            dot_group::<4>(&rows[r * p..], x, &mut out[r..]);
            r += 4;
        }
        while r < out.len() {
            dot_group::<1>(&rows[r * p..], x, &mut out[r..]);
            r += 1;
        }
    }
}

/// R rows of single-precision features against one weight vector.
#[inline(always)]
fn dot_f32_group<const R: usize>(rows: &[f32], w: &[f64], out: &mut [f64], stride: usize) {
    let p = w.len();
    let row: [&[f32]; R] = std::array::from_fn(|r| &rows[r * p..(r + 1) * p]);
    let mut acc = [[0.0; 4]; R];
    let whole = p / 4 * 4;
    let mut c = 0;
    while c < whole {
        let w4: [f64; 4] = std::array::from_fn(|l| w[c + l]);
        for r in 0..R {
            let x4 = &row[r][c..c + 4];
            for l in 0..4 {
                acc[r][l] += f64::from(x4[l]) * w4[l];
            }
        }
        c += 4;
    }
    for r in 0..R {
        for l in 0..p - whole {
            acc[r][l] += f64::from(row[r][whole + l]) * w[whole + l];
        }
        out[r * stride] = join(acc[r]);
    }
}

kernel! {
    /// out[r·stride] = ⟨rows[r], w⟩ for all rows of length |w| in `rows`.
    pub fn dot_f32_rows(rows: &[f32], w: &[f64], out: &mut [f64], stride: usize) {
        let p = w.len();
        let count = rows.len() / p;
        assert!(count == 0 || out.len() > (count - 1) * stride);
        let mut r = 0;
        while r + 4 <= count {
            dot_f32_group::<4>(&rows[r * p..], w, &mut out[r * stride..], stride);
            r += 4;
        }
        while r < count {
            dot_f32_group::<1>(&rows[r * p..], w, &mut out[r * stride..], stride);
            r += 1;
        }
    }
}

/// Width of a padded row of chain labels: 26 letters in seven vectors of four.
pub(crate) const CHAIN_STRIDE: usize = 28;

kernel! {
    /// out = Σ of the rows of `table` whose bit is set in `mask` (rows of 28).
    pub fn accumulate_rows(table: &[f64], mask: u128, out: &mut [f64; 28]) {
        let mut acc = [0.0; CHAIN_STRIDE];
        let mut mask = mask;
        while mask != 0 {
            let row = mask.trailing_zeros() as usize * CHAIN_STRIDE;
            mask &= mask - 1;
            let row = &table[row..row + CHAIN_STRIDE];
            for k in 0..CHAIN_STRIDE {
                acc[k] += row[k];
            }
        }
        *out = acc;
    }
}

kernel! {
    /// out[b] = max_a previous[a] + transitions[a][b] (rows of 28, the first 26 of `previous` count).
    pub fn chain_maxima(previous: &[f64; 28], transitions: &[f64], out: &mut [f64; 28]) {
        let mut best = [f64::NEG_INFINITY; CHAIN_STRIDE];
        for (a, row) in transitions.chunks_exact(CHAIN_STRIDE).enumerate() {
            let from = previous[a];
            for b in 0..CHAIN_STRIDE {
                let candidate = from + row[b];
                best[b] = if candidate > best[b] { candidate } else { best[b] };
            }
        }
        *out = best;
    }
}

kernel! {
    /// (⟨plane − mix, w⟩, ‖plane − mix‖²) in one sweep.
    pub fn mix_products(mix: &[f64], plane: &[f64], w: &[f64]) -> (f64, f64) {
        assert!(mix.len() == plane.len() && plane.len() == w.len());
        const L: usize = 8;
        let (mut with_w, mut squared) = ([0.0; L], [0.0; L]);
        let whole = w.len() / L * L;
        let mut c = 0;
        while c < whole {
            let (m, p, v) = (&mix[c..c + L], &plane[c..c + L], &w[c..c + L]);
            for l in 0..L {
                let difference = p[l] - m[l];
                with_w[l] += difference * v[l];
                squared[l] += difference * difference;
            }
            c += L;
        }
        for l in 0..w.len() - whole {
            let difference = plane[whole + l] - mix[whole + l];
            with_w[l] += difference * w[whole + l];
            squared[l] += difference * difference;
        }
        (join(with_w), join(squared))
    }
}

kernel! {
    /// mix ← mix + γ(plane − mix), and target ← target + scale·γ(plane − mix) with the old mix.
    pub fn mix_advance(mix: &mut [f64], plane: &[f64], gamma: f64, target: &mut [f64], scale: f64) {
        assert!(mix.len() == plane.len() && plane.len() == target.len());
        for ((m, p), t) in mix.iter_mut().zip(plane).zip(target) {
            let delta = gamma * (*p - *m);
            *m += delta;
            *t += scale * delta;
        }
    }
}

/// Asks the memory system for a slice that is needed soon.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let bytes = std::mem::size_of_val(slice);
        let start = slice.as_ptr().cast::<i8>();
        let mut offset = 0;
        while offset < bytes {
            // SAFETY: prefetch has no effect on memory, and `start + offset` stays inside the slice.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
            offset += 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
            })
            .collect()
    }

    #[test]
    fn kernels_agree_with_plain_sums() {
        for len in [0, 1, 3, 4, 15, 16, 17, 40, 256, 649] {
            let (a, b) = (numbers(len, 1), numbers(len, 2));
            let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-12);
            let rows = numbers(len * 13, 3);
            let mut out = vec![0.0; 13];
            if len > 0 {
                dot_rows(&rows, &a, &mut out);
                for r in 0..13 {
                    assert!((out[r] - dot(&rows[r * len..(r + 1) * len], &a)).abs() < 1e-12);
                }
                let single: Vec<f32> = rows.iter().map(|v| *v as f32).collect();
                let mut strided = vec![0.0; 26];
                dot_f32_rows(&single, &a, &mut strided, 2);
                for r in 0..13 {
                    let plain: f64 = (0..len).map(|j| f64::from(single[r * len + j]) * a[j]).sum();
                    assert!((strided[2 * r] - plain).abs() < 1e-12);
                }
            }
            let (with_w, squared) = mix_products(&a, &b, &a);
            let difference: Vec<f64> = b.iter().zip(&a).map(|(p, m)| p - m).collect();
            assert!((with_w - dot(&difference, &a)).abs() < 1e-12);
            assert!((squared - norm2(&difference)).abs() < 1e-12);
            let (mut mix, mut target) = (a.clone(), b.clone());
            mix_advance(&mut mix, &b, 0.25, &mut target, -2.0);
            for j in 0..len {
                assert!((mix[j] - (0.75 * a[j] + 0.25 * b[j])).abs() < 1e-14);
                assert!((target[j] - (b[j] - 0.5 * (b[j] - a[j]))).abs() < 1e-14);
            }
        }
    }
}
