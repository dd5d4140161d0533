//! Slices in, sums and updated slices out. The only file with `unsafe`: the kernels are written once over four lanes
//! and compiled twice, with plain arrays for any machine and with AVX2 registers, chosen at run time.
//!
//! Every lane operation is one correctly rounded IEEE operation (no fused multiply–add) and sums are joined in one
//! order, so both compilations give the same bits; AVX2 only makes them come faster.
#![allow(unsafe_code)]

/// Four lanes of f64.
trait Lanes: Copy {
    fn zero() -> Self;
    fn splat(value: f64) -> Self;
    fn load(from: &[f64]) -> Self;
    fn load_f32(from: &[f32]) -> Self;
    fn store(self, to: &mut [f64]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Lane-wise `if self > other { self } else { other }`.
    fn greater(self, other: Self) -> Self;

    /// (l0 + l2) + (l1 + l3), after adding the products of a tail of fewer than four elements lane by lane.
    #[inline(always)]
    fn join(self, tail: impl Iterator<Item = f64>) -> f64 {
        let mut lanes = [0.0; 4];
        self.store(&mut lanes);
        for (lane, value) in lanes.iter_mut().zip(tail) {
            *lane += value;
        }
        (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
    }
}

impl Lanes for [f64; 4] {
    #[inline(always)]
    fn zero() -> Self {
        [0.0; 4]
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        [value; 4]
    }
    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        [from[0], from[1], from[2], from[3]]
    }
    #[inline(always)]
    fn load_f32(from: &[f32]) -> Self {
        [from[0].into(), from[1].into(), from[2].into(), from[3].into()]
    }
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[..4].copy_from_slice(&self);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        std::array::from_fn(|l| if self[l] > other[l] { self[l] } else { other[l] })
    }
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::{
        __m256d, _mm_loadu_ps, _mm256_add_pd, _mm256_cvtps_pd, _mm256_loadu_pd, _mm256_max_pd, _mm256_mul_pd,
        _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
    };

    /// One AVX register. Made only inside functions that run after AVX2 was detected.
    #[derive(Clone, Copy)]
    pub struct Avx(__m256d);

    // SAFETY of all blocks below: values of this type exist only where AVX2 was detected (the `kernel!` macro), and
    // every load and store checks its length first.
    impl super::Lanes for Avx {
        #[inline(always)]
        fn zero() -> Self {
            Self(unsafe { _mm256_setzero_pd() })
        }
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn load(from: &[f64]) -> Self {
            let from = &from[..4];
            Self(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }
        #[inline(always)]
        fn load_f32(from: &[f32]) -> Self {
            let from = &from[..4];
            Self(unsafe { _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr())) })
        }
        #[inline(always)]
        fn store(self, to: &mut [f64]) {
            let to = &mut to[..4];
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm256_add_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm256_sub_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(unsafe { _mm256_mul_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn greater(self, other: Self) -> Self {
            // The instruction returns its second operand unless the first is greater.
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }
    }
}

macro_rules! kernel {
    ($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:ident) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    $body::<avx::Avx>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the CPU has AVX2, checked on the line above.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body::<[f64; 4]>($($arg),*)
        }
    };
}

kernel! {
    /// ⟨a, b⟩.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 = dot_body
}

#[inline(always)]
fn dot_body<L: Lanes>(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut acc = [L::zero(); 4];
    let mut c = 0;
    while c + 16 <= a.len() {
        let (x, y) = (&a[c..c + 16], &b[c..c + 16]);
        for g in 0..4 {
            acc[g] = acc[g].add(L::load(&x[4 * g..]).mul(L::load(&y[4 * g..])));
        }
        c += 16;
    }
    let mut acc = acc[0].add(acc[1]).add(acc[2].add(acc[3]));
    while c + 4 <= a.len() {
        acc = acc.add(L::load(&a[c..]).mul(L::load(&b[c..])));
        c += 4;
    }
    acc.join(a[c..].iter().zip(&b[c..]).map(|(x, y)| x * y))
}

/// ‖a‖².
pub fn norm2(a: &[f64]) -> f64 {
    dot(a, a)
}

kernel! {
    /// y ← y + c·x.
    pub fn add_scaled(y: &mut [f64], c: f64, x: &[f64]) = add_scaled_body
}

#[inline(always)]
fn add_scaled_body<L: Lanes>(y: &mut [f64], c: f64, x: &[f64]) {
    assert_eq!(x.len(), y.len());
    let factor = L::splat(c);
    let (mut ys, mut xs) = (y.chunks_exact_mut(4), x.chunks_exact(4));
    for (y, x) in (&mut ys).zip(&mut xs) {
        L::load(y).add(factor.mul(L::load(x))).store(y);
    }
    for (y, x) in ys.into_remainder().iter_mut().zip(xs.remainder()) {
        *y += c * x;
    }
}

kernel! {
    /// y ← y + c·x with x in single precision (exact conversion, double arithmetic).
    pub fn add_scaled_f32(y: &mut [f64], c: f64, x: &[f32]) = add_scaled_f32_body
}

#[inline(always)]
fn add_scaled_f32_body<L: Lanes>(y: &mut [f64], c: f64, x: &[f32]) {
    assert_eq!(x.len(), y.len());
    let factor = L::splat(c);
    let (mut ys, mut xs) = (y.chunks_exact_mut(4), x.chunks_exact(4));
    for (y, x) in (&mut ys).zip(&mut xs) {
        L::load(y).add(factor.mul(L::load_f32(x))).store(y);
    }
    for (y, x) in ys.into_remainder().iter_mut().zip(xs.remainder()) {
        *y += c * f64::from(*x);
    }
}

/// R products that share one vector: R independent chains hide the latency of the additions.
#[inline(always)]
fn dot_group<L: Lanes, const R: usize>(rows: &[f64], x: &[f64], out: &mut [f64]) {
    let p = x.len();
    let row: [&[f64]; R] = std::array::from_fn(|r| &rows[r * p..(r + 1) * p]);
    let mut acc = [L::zero(); R];
    let mut c = 0;
    while c + 4 <= p {
        let x4 = L::load(&x[c..c + 4]);
        for r in 0..R {
            acc[r] = acc[r].add(L::load(&row[r][c..c + 4]).mul(x4));
        }
        c += 4;
    }
    for r in 0..R {
        out[r] = acc[r].join(row[r][c..].iter().zip(&x[c..]).map(|(w, x)| w * x));
    }
}

kernel! {
    /// out[r] = ⟨rows[r], x⟩ for consecutive rows of length |x|.
    pub fn dot_rows(rows: &[f64], x: &[f64], out: &mut [f64]) = dot_rows_body
}

#[inline(always)]
fn dot_rows_body<L: Lanes>(rows: &[f64], x: &[f64], out: &mut [f64]) {
    let p = x.len();
    assert_eq!(rows.len(), p * out.len());
    let mut r = 0;
    while r + 10 <= out.len() {
        dot_group::<L, 10>(&rows[r * p..], x, &mut out[r..]);
        r += 10;
    }
    while r + 4 <= out.len() {
        dot_group::<L, 4>(&rows[r * p..], x, &mut out[r..]);
        r += 4;
    }
    while r < out.len() {
        dot_group::<L, 1>(&rows[r * p..], x, &mut out[r..]);
        r += 1;
    }
}

/// R rows of single-precision features against one weight vector.
#[inline(always)]
fn dot_f32_group<L: Lanes, const R: usize>(rows: &[f32], w: &[f64], out: &mut [f64], stride: usize) {
    let p = w.len();
    let row: [&[f32]; R] = std::array::from_fn(|r| &rows[r * p..(r + 1) * p]);
    let mut acc = [L::zero(); R];
    let mut c = 0;
    while c + 4 <= p {
        let w4 = L::load(&w[c..c + 4]);
        for r in 0..R {
            acc[r] = acc[r].add(L::load_f32(&row[r][c..c + 4]).mul(w4));
        }
        c += 4;
    }
    for r in 0..R {
        out[r * stride] = acc[r].join(row[r][c..].iter().zip(&w[c..]).map(|(x, w)| f64::from(*x) * w));
    }
}

kernel! {
    /// out[r·stride] = ⟨rows[r], w⟩ for all rows of length |w| in `rows`.
    pub fn dot_f32_rows(rows: &[f32], w: &[f64], out: &mut [f64], stride: usize) = dot_f32_rows_body
}

#[inline(always)]
fn dot_f32_rows_body<L: Lanes>(rows: &[f32], w: &[f64], out: &mut [f64], stride: usize) {
    let p = w.len();
    let count = rows.len() / p;
    assert!(count == 0 || out.len() > (count - 1) * stride);
    let mut r = 0;
    while r + 4 <= count {
        dot_f32_group::<L, 4>(&rows[r * p..], w, &mut out[r * stride..], stride);
        r += 4;
    }
    while r < count {
        dot_f32_group::<L, 1>(&rows[r * p..], w, &mut out[r * stride..], stride);
        r += 1;
    }
}

/// Width of a padded row of chain labels: 26 letters in seven groups of four.
const CHAIN: usize = 28;

kernel! {
    /// out = Σ of the rows of `table` whose bit is set in `mask` (rows of 28).
    pub fn accumulate_rows(table: &[f64], mask: u128, out: &mut [f64; 28]) = accumulate_rows_body
}

#[inline(always)]
fn accumulate_rows_body<L: Lanes>(table: &[f64], mask: u128, out: &mut [f64; 28]) {
    let mut acc = [L::zero(); CHAIN / 4];
    for (half, mask) in [mask as u64, (mask >> 64) as u64].into_iter().enumerate() {
        let mut mask = mask;
        while mask != 0 {
            let row = (64 * half + mask.trailing_zeros() as usize) * CHAIN;
            mask &= mask - 1;
            let row = &table[row..row + CHAIN];
            for g in 0..CHAIN / 4 {
                acc[g] = acc[g].add(L::load(&row[4 * g..]));
            }
        }
    }
    for g in 0..CHAIN / 4 {
        acc[g].store(&mut out[4 * g..]);
    }
}

kernel! {
    /// out[b] = max_a previous[a] + transitions[a][b] (rows of 28, one for each a).
    pub fn chain_maxima(previous: &[f64; 28], transitions: &[f64], out: &mut [f64; 28]) = chain_maxima_body
}

#[inline(always)]
fn chain_maxima_body<L: Lanes>(previous: &[f64; 28], transitions: &[f64], out: &mut [f64; 28]) {
    let mut best = [L::splat(f64::NEG_INFINITY); CHAIN / 4];
    for (from, row) in previous.iter().zip(transitions.chunks_exact(CHAIN)) {
        let from = L::splat(*from);
        for g in 0..CHAIN / 4 {
            best[g] = from.add(L::load(&row[4 * g..])).greater(best[g]);
        }
    }
    for g in 0..CHAIN / 4 {
        best[g].store(&mut out[4 * g..]);
    }
}

kernel! {
    /// The direction φ̂ − φ^i of a chain, per position: `delta` = one-hot(hat) − one-hot(truth) − marginals.
    /// Returns (⟨delta, scores⟩, ‖Σ_l ψ_l ⊗ delta_l‖²); pictures ψ_l are bit masks, so their products are bit counts.
    pub fn chain_direction(
        unary: &[[f64; 28]], hat: &[u8], truth: &[u8], scores: &[[f64; 28]], masks: &[u128], delta: &mut [[f64; 28]],
    ) -> (f64, f64) = chain_direction_body
}

#[inline(always)]
fn chain_direction_body<L: Lanes>(
    unary: &[[f64; 28]],
    hat: &[u8],
    truth: &[u8],
    scores: &[[f64; 28]],
    masks: &[u128],
    delta: &mut [[f64; 28]],
) -> (f64, f64) {
    let length = hat.len();
    assert!(unary.len() == length && truth.len() == length && scores.len() >= length && masks.len() == length);
    let (mut gain, mut norm2) = (L::zero(), L::zero());
    for l in 0..length {
        let (earlier, rest) = delta.split_at_mut(l);
        let now = &mut rest[0];
        for g in 0..CHAIN / 4 {
            L::zero().sub(L::load(&unary[l][4 * g..])).store(&mut now[4 * g..]);
        }
        now[usize::from(hat[l])] += 1.0;
        now[usize::from(truth[l])] -= 1.0;
        let lanes: [L; CHAIN / 4] = std::array::from_fn(|g| L::load(&now[4 * g..]));
        let mut size = L::zero();
        for g in 0..CHAIN / 4 {
            gain = gain.add(lanes[g].mul(L::load(&scores[l][4 * g..])));
            size = size.add(lanes[g].mul(lanes[g]));
        }
        norm2 = norm2.add(size.mul(L::splat(f64::from(masks[l].count_ones()))));
        for (k, other) in earlier.iter().enumerate() {
            let shared = (masks[l] & masks[k]).count_ones();
            let mut inner = L::zero();
            for g in 0..CHAIN / 4 {
                inner = inner.add(lanes[g].mul(L::load(&other[4 * g..])));
            }
            norm2 = norm2.add(inner.mul(L::splat(2.0 * f64::from(shared))));
        }
    }
    (gain.join(std::iter::empty()), norm2.join(std::iter::empty()))
}

kernel! {
    /// target[row] += scale·changes for the rows whose bit is set in `mask`; groups of four zeros are left alone.
    pub fn scatter_rows(target: &mut [f64], mask: u128, changes: &[f64; 28], scale: f64) = scatter_rows_body
}

#[inline(always)]
fn scatter_rows_body<L: Lanes>(target: &mut [f64], mask: u128, changes: &[f64; 28], scale: f64) {
    let (mut at, mut lanes, mut count) = ([0; CHAIN / 4], [L::zero(); CHAIN / 4], 0);
    for g in 0..CHAIN / 4 {
        if changes[4 * g..4 * g + 4] != [0.0; 4] {
            at[count] = 4 * g;
            lanes[count] = L::load(&changes[4 * g..]).mul(L::splat(scale));
            count += 1;
        }
    }
    if count == 0 {
        return;
    }
    for (half, mask) in [mask as u64, (mask >> 64) as u64].into_iter().enumerate() {
        let mut mask = mask;
        while mask != 0 {
            let row = (64 * half + mask.trailing_zeros() as usize) * CHAIN;
            mask &= mask - 1;
            let row = &mut target[row..row + CHAIN];
            for c in 0..count {
                let to = &mut row[at[c]..];
                L::load(to).add(lanes[c]).store(to);
            }
        }
    }
}

kernel! {
    /// (⟨plane − mix, w⟩, ‖plane − mix‖²) in one sweep.
    pub fn mix_products(mix: &[f64], plane: &[f64], w: &[f64]) -> (f64, f64) = mix_products_body
}

#[inline(always)]
fn mix_products_body<L: Lanes>(mix: &[f64], plane: &[f64], w: &[f64]) -> (f64, f64) {
    assert!(mix.len() == plane.len() && plane.len() == w.len());
    let (mut with_w, mut squared) = ([L::zero(); 2], [L::zero(); 2]);
    let mut c = 0;
    while c + 8 <= w.len() {
        let (m, p, v) = (&mix[c..c + 8], &plane[c..c + 8], &w[c..c + 8]);
        for g in 0..2 {
            let difference = L::load(&p[4 * g..]).sub(L::load(&m[4 * g..]));
            with_w[g] = with_w[g].add(difference.mul(L::load(&v[4 * g..])));
            squared[g] = squared[g].add(difference.mul(difference));
        }
        c += 8;
    }
    let (mut with_w, mut squared) = (with_w[0].add(with_w[1]), squared[0].add(squared[1]));
    if c + 4 <= w.len() {
        let difference = L::load(&plane[c..]).sub(L::load(&mix[c..]));
        with_w = with_w.add(difference.mul(L::load(&w[c..])));
        squared = squared.add(difference.mul(difference));
        c += 4;
    }
    let tail = || plane[c..].iter().zip(&mix[c..]).map(|(p, m)| p - m);
    (with_w.join(tail().zip(&w[c..]).map(|(d, w)| d * w)), squared.join(tail().map(|d| d * d)))
}

kernel! {
    /// mix ← mix + γ(plane − mix), and target ← target + scale·γ(plane − mix) with the old mix.
    pub fn mix_advance(mix: &mut [f64], plane: &[f64], gamma: f64, target: &mut [f64], scale: f64) = mix_advance_body
}

#[inline(always)]
fn mix_advance_body<L: Lanes>(mix: &mut [f64], plane: &[f64], gamma: f64, target: &mut [f64], scale: f64) {
    assert!(mix.len() == plane.len() && plane.len() == target.len());
    let (gammas, scales) = (L::splat(gamma), L::splat(scale));
    let (mut ms, mut ps, mut ts) = (mix.chunks_exact_mut(4), plane.chunks_exact(4), target.chunks_exact_mut(4));
    for ((m, p), t) in (&mut ms).zip(&mut ps).zip(&mut ts) {
        let old = L::load(m);
        let delta = gammas.mul(L::load(p).sub(old));
        old.add(delta).store(m);
        L::load(t).add(scales.mul(delta)).store(t);
    }
    for ((m, p), t) in ms.into_remainder().iter_mut().zip(ps.remainder()).zip(ts.into_remainder()) {
        let delta = gamma * (*p - *m);
        *m += delta;
        *t += scale * delta;
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

    #[test]
    fn both_compilations_give_the_same_bits() {
        for len in [1, 5, 28, 256, 649] {
            let (a, b, w) = (numbers(len, 4), numbers(len, 5), numbers(len, 6));
            assert_eq!(dot(&a, &b).to_bits(), dot_body::<[f64; 4]>(&a, &b).to_bits());
            let (fast, plain) = (mix_products(&a, &b, &w), mix_products_body::<[f64; 4]>(&a, &b, &w));
            assert_eq!((fast.0.to_bits(), fast.1.to_bits()), (plain.0.to_bits(), plain.1.to_bits()));
            let rows = numbers(15 * len, 7);
            let (mut fast, mut plain) = (vec![0.0; 15], vec![0.0; 15]);
            dot_rows(&rows, &a, &mut fast);
            dot_rows_body::<[f64; 4]>(&rows, &a, &mut plain);
            assert_eq!(fast, plain);
            let single: Vec<f32> = rows.iter().map(|v| *v as f32).collect();
            dot_f32_rows(&single, &a, &mut fast, 1);
            dot_f32_rows_body::<[f64; 4]>(&single, &a, &mut plain, 1);
            assert_eq!(fast, plain);
        }
        let (table, transitions) = (numbers(128 * 28, 8), numbers(26 * 28, 9));
        let (mut fast, mut plain) = ([0.0; 28], [0.0; 28]);
        accumulate_rows(&table, 0x8000_1234_5678_9abc_def0_0000_1111_0001, &mut fast);
        accumulate_rows_body::<[f64; 4]>(&table, 0x8000_1234_5678_9abc_def0_0000_1111_0001, &mut plain);
        assert_eq!(fast, plain);
        let previous = fast;
        chain_maxima(&previous, &transitions, &mut fast);
        chain_maxima_body::<[f64; 4]>(&previous, &transitions, &mut plain);
        assert_eq!(fast, plain);
    }
}
