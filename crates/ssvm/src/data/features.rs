//! Node features in memory, in the precision of their file.

use std::borrow::Cow;
use std::ops::Range;

use crate::linalg::{Half, add_scaled_f16, add_scaled_f32, dot_f16_rows, dot_f32_rows, prefetch_near};

/// ψ of all nodes, nodes × p, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeFeatures {
    /// Single precision.
    Single(Vec<f32>),
    /// Half precision: half the bytes.
    Half(Vec<Half>),
}

/// Consecutive rows of node features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FeatureRows<'a> {
    /// Single precision.
    Single(&'a [f32]),
    /// Half precision.
    Half(&'a [Half]),
}

/// The same expression for both precisions.
macro_rules! either {
    ($features:expr, $values:ident => $value:expr) => {
        match $features {
            Self::Single($values) => $value,
            Self::Half($values) => $value,
        }
    };
}

impl Default for NodeFeatures {
    fn default() -> Self {
        Self::Single(Vec::new())
    }
}

impl From<Vec<f32>> for NodeFeatures {
    fn from(values: Vec<f32>) -> Self {
        Self::Single(values)
    }
}

impl FromIterator<f32> for NodeFeatures {
    fn from_iter<I: IntoIterator<Item = f32>>(values: I) -> Self {
        Self::Single(values.into_iter().collect())
    }
}

/// Values are rounded to the precision in use.
impl Extend<f32> for NodeFeatures {
    fn extend<I: IntoIterator<Item = f32>>(&mut self, values: I) {
        match self {
            Self::Single(all) => all.extend(values),
            Self::Half(all) => all.extend(values.into_iter().map(Half::from_f32)),
        }
    }
}

impl NodeFeatures {
    /// The same features in half precision, each value rounded to the nearest.
    pub fn halved(&self) -> Self {
        let mut half = Self::Half(Vec::with_capacity(self.len()));
        half.extend(self.all().singles().iter().copied());
        half
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        either!(self, all => all.len())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the values.
    pub fn bytes(&self) -> usize {
        either!(self, all => size_of_val(all.as_slice()))
    }

    /// The values in this range.
    pub fn rows(&self, range: Range<usize>) -> FeatureRows<'_> {
        match self {
            Self::Single(all) => FeatureRows::Single(&all[range]),
            Self::Half(all) => FeatureRows::Half(&all[range]),
        }
    }

    /// All values.
    pub fn all(&self) -> FeatureRows<'_> {
        self.rows(0..self.len())
    }

    /// A copy of the values in these ranges, in the same precision.
    pub fn gather(&self, ranges: impl Iterator<Item = Range<usize>>) -> Self {
        match self {
            Self::Single(all) => Self::Single(ranges.flat_map(|range| all[range].iter().copied()).collect()),
            Self::Half(all) => Self::Half(ranges.flat_map(|range| all[range].iter().copied()).collect()),
        }
    }

    /// Keeps only the values in these ranges, which must ascend, and frees the memory of the others.
    pub fn keep(&mut self, ranges: impl Iterator<Item = Range<usize>>) {
        fn keep<T: Copy>(all: &mut Vec<T>, ranges: impl Iterator<Item = Range<usize>>) {
            let mut end = 0;
            for range in ranges {
                // Values only move towards the front, so this works in place.
                let length = range.len();
                all.copy_within(range, end);
                end += length;
            }
            all.truncate(end);
            all.shrink_to_fit();
        }
        either!(self, all => keep(all, ranges));
    }
}

impl<'a> FeatureRows<'a> {
    /// Number of values.
    pub fn len(self) -> usize {
        either!(self, rows => rows.len())
    }

    /// Whether there are no values.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The values in this range of these rows.
    #[inline]
    pub fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Single(rows) => Self::Single(&rows[range]),
            Self::Half(rows) => Self::Half(&rows[range]),
        }
    }

    /// The same values in single precision.
    pub fn singles(self) -> Cow<'a, [f32]> {
        match self {
            Self::Single(rows) => rows.into(),
            Self::Half(rows) => rows.iter().map(|value| value.to_f32()).collect(),
        }
    }

    /// Position of the first value that is not finite.
    pub fn not_finite(self) -> Option<usize> {
        either!(self, rows => rows.iter().position(|value| !value.is_finite()))
    }

    /// What to do about the value at this position, which is not finite.
    pub fn advice(self, at: usize) -> &'static str {
        let infinite = self.part(at..at + 1).singles().iter().any(|value| value.is_infinite());
        match self {
            _ if !infinite => "; replace NaN values",
            Self::Single(_) => "; single precision ends at 3.4e38: scale such features",
            Self::Half(_) => "; half precision ends at 65504: store such features as float32",
        }
    }

    /// `out[l·K + k] = ⟨row l, w[k]⟩` for all rows of length p and all K vectors of length p in `w`; `wide` is scratch.
    pub fn products(self, w: &[f64], p: usize, wide: &mut Vec<f64>, out: &mut [f64]) {
        match self {
            Self::Single(rows) => dot_f32_rows(rows, w, p, out),
            Self::Half(rows) => dot_f16_rows(rows, w, p, wide, out),
        }
    }

    /// sums ← sums + c·row for one row.
    #[inline]
    pub fn add_to(self, sums: &mut [f64], c: f64) {
        match self {
            Self::Single(row) => add_scaled_f32(sums, c, row),
            Self::Half(row) => add_scaled_f16(sums, c, row),
        }
    }

    /// Prefetches rows that are needed later.
    #[inline(always)]
    pub fn prefetch_near(self) {
        either!(self, rows => prefetch_near(rows));
    }
}
