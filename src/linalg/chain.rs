//! Kernels over rows of 28 letters, for chains.

use super::simd::{Lanes, kernel};

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

/// ONE[28 − k..] is the one-hot row of letter k.
const ONE: [f64; 2 * CHAIN] = {
    let mut row = [0.0; 2 * CHAIN];
    row[CHAIN] = 1.0;
    row
};

kernel! {
    /// The direction φ̂ − φ^i of a chain, per position: `delta` = one-hot(hat) − one-hot(truth) − marginals, written where
    /// `contested` says so; it is 0 elsewhere.
    /// Returns (⟨delta, scores⟩, ‖Σ_l ψ_l ⊗ delta_l‖²); pictures ψ_l are bit masks, so their products are bit counts.
    pub fn chain_direction(
        unary: &[[f64; 28]], contested: &[bool], hat: &[u8], truth: &[u8], scores: &[[f64; 28]], masks: &[u128],
        delta: &mut [[f64; 28]],
    ) -> (f64, f64) = chain_direction_body
}

#[inline(always)]
fn chain_direction_body<L: Lanes>(
    unary: &[[f64; 28]],
    contested: &[bool],
    hat: &[u8],
    truth: &[u8],
    scores: &[[f64; 28]],
    masks: &[u128],
    delta: &mut [[f64; 28]],
) -> (f64, f64) {
    let length = hat.len();
    assert!(unary.len() == length && truth.len() == length && masks.len() == length && contested.len() >= length);
    assert!(scores.len() >= length && delta.len() >= length);
    let (mut gain, mut norm2) = (L::zero(), L::zero());
    for l in (0..length).filter(|l| contested[*l]) {
        let (earlier, rest) = delta.split_at_mut(l);
        let now = &mut rest[0];
        let lanes: [L; CHAIN / 4] = std::array::from_fn(|g| {
            let [hat, truth] = [hat[l], truth[l]].map(|k| L::load(&ONE[CHAIN - usize::from(k) + 4 * g..]));
            hat.sub(truth).sub(L::load(&unary[l][4 * g..]))
        });
        let mut size = L::zero();
        for g in 0..CHAIN / 4 {
            lanes[g].store(&mut now[4 * g..]);
            gain = gain.add(lanes[g].mul(L::load(&scores[l][4 * g..])));
            size = size.add(lanes[g].mul(lanes[g]));
        }
        norm2 = norm2.add(size.mul(L::splat(f64::from(masks[l].count_ones()))));
        for (k, other) in earlier.iter().enumerate().filter(|(k, _)| contested[*k]) {
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
    for g in (0..CHAIN).step_by(4) {
        if changes[g..g + 4] != [0.0; 4] {
            at[count] = g;
            lanes[count] = L::load(&changes[g..]).mul(L::splat(scale));
            count += 1;
        }
    }
    match count {
        0 => {}
        1 => scatter_groups::<L, 1>(target, mask, &at, &lanes),
        2 => scatter_groups::<L, 2>(target, mask, &at, &lanes),
        3 => scatter_groups::<L, 3>(target, mask, &at, &lanes),
        4 => scatter_groups::<L, 4>(target, mask, &at, &lanes),
        5 => scatter_groups::<L, 5>(target, mask, &at, &lanes),
        6 => scatter_groups::<L, 6>(target, mask, &at, &lanes),
        _ => scatter_groups::<L, 7>(target, mask, &at, &lanes),
    }
}

#[inline(always)]
fn scatter_groups<L: Lanes, const N: usize>(target: &mut [f64], mask: u128, at: &[usize; 7], lanes: &[L; 7]) {
    for (half, mask) in [mask as u64, (mask >> 64) as u64].into_iter().enumerate() {
        let mut mask = mask;
        while mask != 0 {
            let row = (64 * half + mask.trailing_zeros() as usize) * CHAIN;
            mask &= mask - 1;
            let row = &mut target[row..row + CHAIN];
            for g in 0..N {
                let to = &mut row[at[g]..];
                L::load(to).add(lanes[g]).store(to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_compilations_give_the_same_bits() {
        let numbers = crate::linalg::dense::tests::numbers;
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
