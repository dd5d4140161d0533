//! Kernels over whole vectors.

use super::Half;
use super::simd::{Lanes, Stored, kernel, padded, prefetch_line};

kernel! {
    /// ⟨a, b⟩.
    pub fn dot<L>(a: &[f64], b: &[f64]) -> f64 {
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
}

/// ‖a‖².
pub fn norm2(a: &[f64]) -> f64 {
    dot(a, a)
}

kernel! {
    /// y ← y + c·x.
    pub fn add_scaled<L>(y: &mut [f64], c: f64, x: &[f64]) {
        add_scaled_body::<L, f64>(y, c, x);
    }
}

kernel! {
    /// y ← y + c·x with x in single precision (exact conversion, double arithmetic).
    pub fn add_scaled_f32<L>(y: &mut [f64], c: f64, x: &[f32]) {
        add_scaled_body::<L, f32>(y, c, x);
    }
}

kernel! {
    /// y ← y + c·x with x in half precision (exact conversion, double arithmetic).
    pub fn add_scaled_f16<L>(y: &mut [f64], c: f64, x: &[Half]) {
        add_scaled_body::<L, Half>(y, c, x);
    }
}

/// Sixteen elements per turn: otherwise the compiler unrolls the loop in one build and not in the next.
#[inline(always)]
fn add_scaled_body<L: Lanes, T: Stored>(y: &mut [f64], c: f64, x: &[T]) {
    assert_eq!(x.len(), y.len());
    let factor = L::splat(c);
    let add = |y: &mut [f64], x: &[T]| L::load(y).add(factor.mul(T::lanes(x))).store(y);
    let (ys, y) = y.as_chunks_mut::<16>();
    let (xs, x) = x.as_chunks::<16>();
    for (y, x) in ys.iter_mut().zip(xs) {
        for g in (0..16).step_by(4) {
            add(&mut y[g..g + 4], &x[g..g + 4]);
        }
    }
    let (ys, y) = y.as_chunks_mut::<4>();
    let (xs, x) = x.as_chunks::<4>();
    for (y, x) in ys.iter_mut().zip(xs) {
        add(y, x);
    }
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * (*x).into();
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
    /// `out[r] = ⟨rows[r], x⟩` for consecutive rows of length |x|.
    pub fn dot_rows<L>(rows: &[f64], x: &[f64], out: &mut [f64]) {
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
}

/// R rows of features against B weight vectors of length p; prefetches A rows of `ahead` meanwhile.
#[inline(always)]
fn dot_stored_group<L: Lanes, T: Stored, U, const R: usize, const B: usize, const A: usize>(
    rows: &[T],
    w: &[f64],
    p: usize,
    ahead: &[U],
    out: &mut [f64],
    stride: usize,
) {
    let row: [&[T]; R] = std::array::from_fn(|r| &rows[r * p..(r + 1) * p]);
    let vector: [&[f64]; B] = std::array::from_fn(|b| &w[b * p..(b + 1) * p]);
    let mut acc = [[L::zero(); R]; B];
    let mut add = |x: [L; R], w: [L; B]| {
        for b in 0..B {
            for r in 0..R {
                acc[b][r] = acc[b][r].add(x[r].mul(w[b]));
            }
        }
    };
    let ask = |c: usize| (0..A).for_each(|a| prefetch_line(ahead, a * p + c));
    // One cache line per turn, so that the ends of lines and slices are not checked at every four columns.
    let line = 64 / size_of::<U>();
    let mut c = 0;
    while c + line <= p {
        ask(c);
        let row: [&[T]; R] = std::array::from_fn(|r| &row[r][c..c + line]);
        let vector: [&[f64]; B] = std::array::from_fn(|b| &vector[b][c..c + line]);
        for g in (0..line).step_by(4) {
            let x = std::array::from_fn(|r| T::lanes(&row[r][g..g + 4]));
            add(x, std::array::from_fn(|b| L::load(&vector[b][g..g + 4])));
        }
        c += line;
    }
    ask(c);
    while c + 4 <= p {
        let x = std::array::from_fn(|r| T::lanes(&row[r][c..c + 4]));
        add(x, std::array::from_fn(|b| L::load(&vector[b][c..c + 4])));
        c += 4;
    }
    if c < p {
        let x = std::array::from_fn(|r| T::lanes(&padded(&row[r][c..])));
        add(x, std::array::from_fn(|b| L::load(&padded(&vector[b][c..]))));
    }
    for r in 0..R {
        for b in 0..B {
            out[r * stride + b] = acc[b][r].sum();
        }
    }
}

kernel! {
    /// `out[r·K + k] = ⟨rows[r], w[k]⟩` for all rows of length p in `rows` and all K vectors of length p in `w`, in one
    /// sweep over the rows.
    pub fn dot_f32_rows<L>(rows: &[f32], w: &[f64], p: usize, out: &mut [f64]) {
        dot_stored_rows::<L, f32>(rows, w, p, out);
    }
}

kernel! {
    /// [`dot_f32_rows`] for rows in half precision: the same bits as for the same values in single precision. `wide` is
    /// scratch.
    pub fn dot_f16_rows<L>(rows: &[Half], w: &[f64], p: usize, wide: &mut Vec<f64>, out: &mut [f64]) {
        dot_half_rows::<L>(rows, w, p, wide, out);
    }
}

/// With several vectors every row is converted once, not once for every two of them: halves cost twice as much as
/// singles.
#[inline(always)]
fn dot_half_rows<L: Lanes>(rows: &[Half], w: &[f64], p: usize, wide: &mut Vec<f64>, out: &mut [f64]) {
    const ROWS: usize = 4;
    let labels = w.len() / p;
    if labels == 1 {
        return dot_stored_rows::<L, Half>(rows, w, p, out);
    }
    assert_eq!(out.len(), rows.len() / p * labels);
    for (g, (group, out)) in rows.chunks(ROWS * p).zip(out.chunks_mut(ROWS * labels)).enumerate() {
        wide.resize(group.len(), 0.0);
        let (to, rest) = wide.as_chunks_mut::<4>();
        let (from, last) = group.as_chunks::<4>();
        for (to, from) in to.iter_mut().zip(from) {
            L::load_f16(from).store(to);
        }
        for (to, from) in rest.iter_mut().zip(last) {
            *to = (*from).into();
        }
        if group.len() == ROWS * p {
            dot_stored_labels::<L, f64, Half, ROWS>(wide, w, p, &rows[(g + 1) * ROWS * p..], out);
        } else {
            dot_stored_rows::<L, f64>(wide, w, p, out);
        }
    }
}

/// Eight sums at a time hide the latency of the additions and fit the registers.
#[inline(always)]
fn dot_stored_rows<L: Lanes, T: Stored>(rows: &[T], w: &[f64], p: usize, out: &mut [f64]) {
    let (count, labels) = (rows.len() / p, w.len() / p);
    assert_eq!(out.len(), count * labels);
    let mut r = 0;
    while labels == 1 && r + 8 <= count {
        dot_stored_group::<L, T, T, 8, 1, 8>(&rows[r * p..], w, p, &rows[(r + 8) * p..], &mut out[r..], 1);
        r += 8;
    }
    while r + 4 <= count {
        dot_stored_labels::<L, T, T, 4>(&rows[r * p..], w, p, &rows[(r + 4) * p..], &mut out[r * labels..]);
        r += 4;
    }
    while r < count {
        dot_stored_labels::<L, T, T, 1>(&rows[r * p..], w, p, &rows[(r + 1) * p..], &mut out[r * labels..]);
        r += 1;
    }
}

/// R rows against all vectors while the rows are in the cache; each pair of vectors prefetches another of the rows
/// `ahead`.
#[inline(always)]
fn dot_stored_labels<L: Lanes, T: Stored, U, const R: usize>(
    rows: &[T],
    w: &[f64],
    p: usize,
    ahead: &[U],
    out: &mut [f64],
) {
    let labels = w.len() / p;
    let mut k = 0;
    while k + 2 <= labels {
        let ahead = ahead.get(k / 2 * p..).unwrap_or_default();
        dot_stored_group::<L, T, U, R, 2, 1>(rows, &w[k * p..], p, ahead, &mut out[k..], labels);
        k += 2;
    }
    if k < labels {
        dot_stored_group::<L, T, U, R, 1, 1>(rows, &w[k * p..], p, ahead, &mut out[k..], labels);
    }
}

kernel! {
    /// (⟨plane − mix, w⟩, ‖plane − mix‖²) in one sweep.
    pub fn mix_products<L>(mix: &[f64], plane: &[f64], w: &[f64]) -> (f64, f64) {
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
}

kernel! {
    /// mix ← mix + γ(plane − mix), and target ← target + scale·γ(plane − mix) with the old mix.
    pub fn mix_advance<L>(mix: &mut [f64], plane: &[f64], gamma: f64, target: &mut [f64], scale: f64) {
        assert!(mix.len() == plane.len() && plane.len() == target.len());
        let (gammas, scales) = (L::splat(gamma), L::splat(scale));
        let (ms, mix) = mix.as_chunks_mut::<4>();
        let (ps, plane) = plane.as_chunks::<4>();
        let (ts, target) = target.as_chunks_mut::<4>();
        for ((m, p), t) in ms.iter_mut().zip(ps).zip(ts) {
            let old = L::load(m);
            let delta = gammas.mul(L::load(p).sub(old));
            old.add(delta).store(m);
            L::load(t).add(scales.mul(delta)).store(t);
        }
        for ((m, p), t) in mix.iter_mut().zip(plane).zip(target) {
            let delta = gamma * (*p - *m);
            *m += delta;
            *t += scale * delta;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn numbers(len: usize, seed: u64) -> Vec<f64> {
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
                for labels in [1, 2, 3, 8] {
                    let w = numbers(len * labels, 8);
                    let mut table = vec![0.0; 13 * labels];
                    dot_f32_rows(&single, &w, len, &mut table);
                    for (at, found) in table.iter().enumerate() {
                        let (row, w) = (&single[at / labels * len..], &w[at % labels * len..]);
                        let plain: f64 = (0..len).map(|j| f64::from(row[j]) * w[j]).sum();
                        assert!((found - plain).abs() < 1e-12);
                    }
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
            assert_eq!(dot(&a, &b).to_bits(), dot::body::<[f64; 4]>(&a, &b).to_bits());
            let (fast, plain) = (mix_products(&a, &b, &w), mix_products::body::<[f64; 4]>(&a, &b, &w));
            assert_eq!((fast.0.to_bits(), fast.1.to_bits()), (plain.0.to_bits(), plain.1.to_bits()));
            let rows = numbers(15 * len, 7);
            let (mut fast, mut plain) = (vec![0.0; 15], vec![0.0; 15]);
            dot_rows(&rows, &a, &mut fast);
            dot_rows::body::<[f64; 4]>(&rows, &a, &mut plain);
            assert_eq!(fast, plain);
            let single: Vec<f32> = rows.iter().map(|v| *v as f32).collect();
            dot_f32_rows(&single, &a, len, &mut fast);
            dot_stored_rows::<[f64; 4], _>(&single, &a, len, &mut plain);
            assert_eq!(fast, plain);
            // Half precision: the bits of the same values in single precision, in both compilations.
            let half: Vec<Half> = single.iter().map(|v| Half::from_f32(*v)).collect();
            let widened: Vec<f32> = half.iter().map(|v| v.to_f32()).collect();
            let mut wide = Vec::new();
            for vectors in [a.clone(), [a.as_slice(), &b, &w].concat()] {
                let count = 15 * vectors.len() / len;
                let (mut of_half, mut of_widened) = (vec![0.0; count], vec![0.0; count]);
                dot_f32_rows(&widened, &vectors, len, &mut of_widened);
                dot_f16_rows(&half, &vectors, len, &mut wide, &mut of_half);
                assert_eq!(of_half, of_widened);
                dot_half_rows::<[f64; 4]>(&half, &vectors, len, &mut wide, &mut of_half);
                assert_eq!(of_half, of_widened);
            }
            // Every product has the same bits, whatever rows and vectors are taken with it.
            let w = [b.as_slice(), &a, &w].concat();
            let mut table = vec![0.0; 45];
            dot_f32_rows(&single, &w, len, &mut table);
            assert!(table.chunks_exact(3).zip(&plain).all(|(row, alone)| row[1].to_bits() == alone.to_bits()));
        }
    }

    /// Every length from nothing to several registers, at every offset from an aligned address.
    #[test]
    fn short_and_unaligned_slices_give_the_same_bits() {
        let same = |fast: &[f64], plain: &[f64]| fast.iter().zip(plain).all(|(a, b)| a.to_bits() == b.to_bits());
        for (len, at) in (0..=41).flat_map(|len| (0..4).map(move |at| (len, at))) {
            let (a, b, w) = (numbers(48, 4), numbers(48, 5), numbers(48, 6));
            let (a, b, w) = (&a[at..at + len], &b[3 - at..3 - at + len], &w[at..at + len]);
            let single: Vec<f32> = numbers(48, 7).iter().map(|v| *v as f32).collect();
            let single = &single[at..at + len];
            assert_eq!(dot(a, b).to_bits(), dot::body::<[f64; 4]>(a, b).to_bits());
            let (fast, plain) = (mix_products(a, b, w), mix_products::body::<[f64; 4]>(a, b, w));
            assert!(same(&[fast.0, fast.1], &[plain.0, plain.1]), "{len} at {at}");
            let both = |act: &dyn Fn(&mut [f64], bool)| {
                let (mut fast, mut plain) = (numbers(48, 8), numbers(48, 8));
                act(&mut fast[at..at + len], true);
                act(&mut plain[at..at + len], false);
                assert!(same(&fast, &plain), "{len} at {at}");
            };
            both(&|y, fast| if fast { add_scaled(y, 0.3, a) } else { add_scaled_body::<[f64; 4], _>(y, 0.3, a) });
            both(&|y, fast| {
                if fast { add_scaled_f32(y, 0.3, single) } else { add_scaled_body::<[f64; 4], _>(y, 0.3, single) }
            });
            let half: Vec<Half> = single.iter().map(|v| Half::from_f32(*v)).collect();
            both(&|y, fast| {
                if fast { add_scaled_f16(y, 0.3, &half) } else { add_scaled_body::<[f64; 4], _>(y, 0.3, &half) }
            });
            both(&|y, fast| {
                let mut mix = w.to_vec();
                if fast {
                    mix_advance(&mut mix, a, 0.25, y, -2.0);
                } else {
                    mix_advance::body::<[f64; 4]>(&mut mix, a, 0.25, y, -2.0);
                }
            });
        }
    }
}
