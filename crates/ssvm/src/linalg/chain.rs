//! Kernels over rows of 28 letters, for chains.

use super::simd::{Lanes, kernel};

/// Width of a padded row of chain labels: 26 letters in seven groups of four.
const CHAIN: usize = 28;

/// Rows of a table, one for each pixel.
const ROWS: usize = 128;

/// A row for each pixel.
type Rows = [[f64; CHAIN]; ROWS];

/// The rows at the beginning of a table.
#[inline(always)]
fn rows_of(table: &[f64]) -> &Rows {
    table.as_chunks().0.first_chunk().unwrap_or_else(|| unreachable!("a table has a row for each pixel"))
}

#[inline(always)]
fn rows_of_mut(table: &mut [f64]) -> &mut Rows {
    table.as_chunks_mut().0.first_chunk_mut().unwrap_or_else(|| unreachable!("a table has a row for each pixel"))
}

/// The groups of four that contain these letters (a bit each): bit 4g for group g.
#[inline(always)]
pub fn groups_of(letters: u32) -> u32 {
    let pairs = letters | letters >> 1;
    (pairs | pairs >> 2) & 0x0111_1111
}

/// Calls a function over the first letters of N groups with the number of groups as a constant: sums stay in registers.
macro_rules! with_groups {
    ($groups:expr, $function:ident::<$lanes:ident>($($arg:expr),* $(,)?)) => {{
        let (at, count) = first_letters($groups);
        match count {
            0 => {}
            1 => $function::<$lanes, 1>($($arg,)* &at),
            2 => $function::<$lanes, 2>($($arg,)* &at),
            3 => $function::<$lanes, 3>($($arg,)* &at),
            4 => $function::<$lanes, 4>($($arg,)* &at),
            5 => $function::<$lanes, 5>($($arg,)* &at),
            6 => $function::<$lanes, 6>($($arg,)* &at),
            _ => $function::<$lanes, 7>($($arg,)* &at),
        }
    }};
}

/// The first letter of each group, and how many groups there are.
#[inline(always)]
fn first_letters(groups: u32) -> ([usize; CHAIN / 4], usize) {
    let (mut at, mut count, mut left) = ([0; CHAIN / 4], 0, groups & 0x0111_1111);
    while left != 0 {
        at[count] = left.trailing_zeros() as usize;
        left &= left - 1;
        count += 1;
    }
    (at, count)
}

/// The first N, none beyond the last group, so that loads at them need no further check.
#[inline(always)]
fn within<const N: usize>(at: &[usize; CHAIN / 4]) -> [usize; N] {
    std::array::from_fn(|g| at[g].min(CHAIN - 4))
}

kernel! {
    /// Loss-augmented scores of a position: out = Σ of the rows of `table` (rows of 28) whose bit is set in `mask`,
    /// plus `loss` except at `truth`. Written for the groups of these letters; the others keep their values.
    pub fn accumulate_rows<L>(table: &[f64], mask: u128, letters: u32, truth: u8, loss: f64, out: &mut [f64; 28]) {
        with_groups!(groups_of(letters), accumulate_groups::<L>(rows_of(table), mask, truth, loss, out));
    }
}

#[inline(always)]
fn accumulate_groups<L: Lanes, const N: usize>(
    table: &Rows,
    mask: u128,
    truth: u8,
    loss: f64,
    out: &mut [f64; 28],
    at: &[usize; CHAIN / 4],
) {
    let at: [usize; N] = if N == CHAIN / 4 { std::array::from_fn(|g| 4 * g) } else { within(at) };
    let mut acc = [L::zero(); N];
    each_row(mask, |row| {
        for g in 0..N {
            acc[g] = acc[g].add(L::load(&table[row][at[g]..at[g] + 4]));
        }
    });
    for g in 0..N {
        let loss = L::splat(loss);
        let right = loss.mul(one_hot(truth, at[g]));
        acc[g].add(loss.sub(right)).store(&mut out[at[g]..at[g] + 4]);
    }
}

kernel! {
    /// `out[b] = max_a previous[a] + transitions[a][b]` (rows of 28, one for each a).
    pub fn chain_maxima<L>(previous: &[f64; 28], transitions: &[f64], out: &mut [f64; 28]) {
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
}

/// ONE[28 − k..] is the one-hot row of letter k.
const ONE: [f64; 2 * CHAIN] = {
    let mut row = [0.0; 2 * CHAIN];
    row[CHAIN] = 1.0;
    row
};

/// Calls `act` with every bit of the mask that is set.
#[inline(always)]
fn each_row(mask: u128, mut act: impl FnMut(usize)) {
    for (half, mask) in [(0, mask as u64), (64, (mask >> 64) as u64)] {
        let mut left = mask;
        while left != 0 {
            // The remainder changes nothing, but tells the compiler that the index is in a table of 128 rows.
            act((half + left.trailing_zeros() as usize) % ROWS);
            left &= left - 1;
        }
    }
}

/// Four elements of the one-hot row of `letter`, from `at` on.
#[inline(always)]
fn one_hot<L: Lanes>(letter: u8, at: usize) -> L {
    L::load(&ONE[CHAIN - usize::from(letter) + at..])
}

kernel! {
    /// The direction φ̂ − φ^i of a chain, per position: `delta` = one-hot(hat) − one-hot(truth) − marginals, written for the
    /// groups of the letters that are `contested` there; it is 0 elsewhere.
    /// Returns (⟨delta, scores⟩, ‖Σ_l ψ_l ⊗ delta_l‖²); pictures ψ_l are bit masks, so their products are bit counts.
    pub fn chain_direction<L>(
        unary: &[[f64; 28]], contested: &[u32], hat: &[u8], truth: &[u8], scores: &[[f64; 28]], masks: &[u128],
        delta: &mut [[f64; 28]],
    ) -> (f64, f64) {
        let length = hat.len();
        assert!(unary.len() == length && truth.len() == length && masks.len() == length && contested.len() >= length);
        assert!(scores.len() >= length && delta.len() >= length);
        let (mut gain, mut norm2) = (L::zero(), L::zero());
        for l in (0..length).filter(|l| contested[*l] != 0) {
            let (earlier, rest) = delta.split_at_mut(l);
            let now = &mut rest[0];
            let mut size = L::zero();
            each_group(contested[l], |at| {
                // Not by `map`: where the compiler does not inline it, it is compiled without AVX2.
                let hats = one_hot::<L>(hat[l], at).sub(one_hot(truth[l], at));
                let lanes = hats.sub(L::load(&unary[l][at..at + 4]));
                lanes.store(&mut now[at..at + 4]);
                gain = gain.add(lanes.mul(L::load(&scores[l][at..at + 4])));
                size = size.add(lanes.mul(lanes));
            });
            norm2 = norm2.add(size.mul(L::splat(f64::from(masks[l].count_ones()))));
            for (k, other) in earlier.iter().enumerate() {
                let both = contested[l] & contested[k];
                if both != 0 {
                    let mut inner = L::zero();
                    each_group(both, |at| {
                        inner = inner.add(L::load(&now[at..at + 4]).mul(L::load(&other[at..at + 4])));
                    });
                    let shared = (masks[l] & masks[k]).count_ones();
                    norm2 = norm2.add(inner.mul(L::splat(2.0 * f64::from(shared))));
                }
            }
        }
        (gain.join(std::iter::empty()), norm2.join(std::iter::empty()))
    }
}

/// Calls `act` with the first letter of every group of these letters.
#[inline(always)]
fn each_group(letters: u32, mut act: impl FnMut(usize)) {
    let mut left = groups_of(letters);
    while left != 0 {
        act((left.trailing_zeros() as usize).min(CHAIN - 4));
        left &= left - 1;
    }
}

kernel! {
    /// marginals ← marginals + γ·delta in the groups of these letters, `delta` ← the change; results smaller than
    /// `dust` become 0.
    pub fn chain_advance<L>(unary: &mut [f64; 28], delta: &mut [f64; 28], letters: u32, gamma: f64, dust: f64) {
        each_group(letters, |at| {
            let (unary, delta) = (&mut unary[at..at + 4], &mut delta[at..at + 4]);
            let old: [f64; 4] = std::array::from_fn(|k| unary[k]);
            let change: [f64; 4] = std::array::from_fn(|k| gamma * delta[k]);
            let change: [f64; 4] =
                std::array::from_fn(|k| if (old[k] + change[k]).abs() < dust { -old[k] } else { change[k] });
            L::load(&old).add(L::load(&change)).store(unary);
            L::load(&change).store(delta);
        });
    }
}

kernel! {
    /// `target[row] += scale·changes` for the rows whose bit is set in `mask`, in the groups of these letters.
    pub fn scatter_rows<L>(target: &mut [f64], mask: u128, letters: u32, changes: &[f64; 28], scale: f64) {
        with_groups!(groups_of(letters), scatter_groups::<L>(rows_of_mut(target), mask, changes, scale));
    }
}

#[inline(always)]
fn scatter_groups<L: Lanes, const N: usize>(
    target: &mut Rows,
    mask: u128,
    changes: &[f64; 28],
    scale: f64,
    at: &[usize; CHAIN / 4],
) {
    let at: [usize; N] = within(at);
    let lanes: [L; N] = std::array::from_fn(|g| L::load(&changes[at[g]..at[g] + 4]).mul(L::splat(scale)));
    each_row(mask, |row| {
        for g in 0..N {
            let to = &mut target[row][at[g]..at[g] + 4];
            L::load(to).add(lanes[g]).store(to);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = (1 << 26) - 1;

    #[test]
    fn both_compilations_give_the_same_bits() {
        let numbers = crate::linalg::dense::tests::numbers;
        let (table, transitions) = (numbers(128 * 28, 8), numbers(26 * 28, 9));
        let (mut fast, mut plain) = ([0.0; 28], [0.0; 28]);
        accumulate_rows(&table, 0x8000_1234_5678_9abc_def0_0000_1111_0001, ALL, 3, 0.25, &mut fast);
        accumulate_rows::body::<[f64; 4]>(&table, 0x8000_1234_5678_9abc_def0_0000_1111_0001, ALL, 3, 0.25, &mut plain);
        assert_eq!(fast, plain);
        let previous = fast;
        chain_maxima(&previous, &transitions, &mut fast);
        chain_maxima::body::<[f64; 4]>(&previous, &transitions, &mut plain);
        assert_eq!(fast, plain);
    }
}
