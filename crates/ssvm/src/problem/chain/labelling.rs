//! Labellings of a word, and how they differ from the truth and from each other.

use smallvec::SmallVec;

use super::ROW;

/// One labelling of a word.
pub type Labelling = SmallVec<[u8; 16]>;

/// The index of a transition among all of them.
pub(super) fn pair(two: &[u8]) -> usize {
    usize::from(two[0]) * ROW + usize::from(two[1])
}

/// Adds the letters of a labelling to those of each position.
#[inline(always)]
pub(super) fn join_letters(letters: &mut [u32], labels: &[u8]) {
    for (letters, k) in letters.iter_mut().zip(labels) {
        *letters |= 1 << k;
    }
}

/// Pairs of neighbours that differ from those of the truth, each with that of the truth.
pub(super) fn wrong_pairs<'a>(plane: &'a [u8], truth: &'a [u8]) -> impl Iterator<Item = [&'a [u8]; 2]> {
    plane.windows(2).zip(truth.windows(2)).filter(|(hat, truth)| hat != truth).map(|(hat, truth)| [hat, truth])
}

/// ⟨e_a − e_x, e_b − e_y⟩.
pub(super) fn agreement<T: PartialEq>(a: &T, x: &T, b: &T, y: &T) -> i64 {
    let same = |one: &T, other: &T| i64::from(one == other);
    same(a, b) + same(x, y) - same(a, y) - same(x, b)
}

/// The positions labelled otherwise than the truth, a bit each; positions from 63 on share the last bit.
pub(super) fn differing(plane: &[u8], truth: &[u8]) -> u64 {
    let bits = plane.iter().zip(truth).enumerate().map(|(l, (hat, truth))| u64::from(hat != truth) << l.min(63));
    bits.fold(0, |all, bit| all | bit)
}

/// The positions of these bits in a word of this length.
pub(super) fn ones(bits: u64, length: usize) -> impl Iterator<Item = usize> {
    let long = if bits >> 63 == 1 { 64..length } else { 0..0 };
    let mut left = bits;
    std::iter::from_fn(move || {
        let l = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (l < 64).then_some(l as usize)
    })
    .take_while(move |l| *l < length)
    .chain(long)
}
