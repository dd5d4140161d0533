//! The synthetic twins (stand-ins for data sets): their parameters and sizes. [`super::synth`] draws the numbers.

use super::Request;
use super::table::{Description, PER_TERM};
use crate::error::Result;
use crate::store::files;
use ssvm::data::letters;
use ssvm::problem::{BINARY_GRAPH, CHAIN, Family, MULTICLASS, POTTS_GRAPH, Size};

/// A synthetic twin of one of the four sets. Its `Debug` text is part of the checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    pub kind: TwinKind,
    pub n: usize,
    /// Side of the superpixel grid (graphs), mean word length (chains), pixels (multiclass).
    pub size: usize,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwinKind {
    Usps,
    Ocr,
    Horseseg,
    Stanford,
}

pub const NODE_FEATURES: usize = 649;
pub const STANFORD_LABELS: usize = 8;
pub const USPS_LABELS: usize = 10;
/// Must change whenever a generator makes other numbers.
const GENERATOR_VERSION: u32 = 2;

impl TwinKind {
    pub(super) const fn family(self) -> &'static Family {
        match self {
            Self::Usps => &MULTICLASS,
            Self::Ocr => &CHAIN,
            Self::Horseseg => &BINARY_GRAPH,
            Self::Stanford => &POTTS_GRAPH,
        }
    }
}

impl Twin {
    pub fn full_size(kind: TwinKind) -> Self {
        let (n, size) = match kind {
            TwinKind::Usps => (7291, 256),
            TwinKind::Ocr => (6877, 8),
            TwinKind::Horseseg => (2376, 12),
            TwinKind::Stanford => (715, 12),
        };
        Self { kind, n, size, seed: 1 }
    }

    pub fn of(kind: TwinKind, request: &Request<'_>) -> Result<Self> {
        let full = Self::full_size(kind);
        let largest = if kind == TwinKind::Usps { 100_000 } else { 1000 };
        let count = |key: &str, range, default: usize| -> Result<usize> {
            Ok(request.count(key, range)?.map_or(default, |count| count as usize))
        };
        Ok(Self {
            kind,
            n: count("n", 1..=10_000_000, full.n)?,
            size: count("size", 2..=largest, full.size)?,
            seed: request.count("seed", 0..=u64::MAX)?.unwrap_or(full.seed),
        })
    }

    pub fn checksum(&self) -> String {
        files::sha256_hex(format!("synth {GENERATOR_VERSION} {self:?}").as_bytes())
    }

    /// Describes the twin without making its data; memory of graphs is an estimate, because their grids vary in size.
    pub fn describe(&self) -> Description {
        let n = self.n as u64;
        // At most 10^7 examples of 10^6 nodes: no product of these overflows.
        let nodes = n * (self.size * self.size) as u64;
        let node_bytes = 4 * NODE_FEATURES as u64 + 24;
        let (d, bytes) = match self.kind {
            TwinKind::Usps => (self.size * USPS_LABELS, n * self.size as u64 * 8),
            TwinKind::Ocr => (letters::WEIGHTS, n * self.size as u64 * 17),
            TwinKind::Horseseg => (NODE_FEATURES * 2, nodes * node_bytes),
            TwinKind::Stanford => (NODE_FEATURES * STANFORD_LABELS, nodes * node_bytes),
        };
        // Six vectors of weights, and φ^i of every example: shares, marginals of letters, or a vector of weights.
        let numbers = match self.kind {
            TwinKind::Usps => 6 * d + self.n * USPS_LABELS,
            TwinKind::Ocr => 6 * d + self.n * (4 + 28 * self.size),
            TwinKind::Horseseg => (6 + self.n) * NODE_FEATURES,
            TwinKind::Stanford => (6 + self.n) * d,
        };
        let run_bytes = 8 * numbers as u64 + n * PER_TERM;
        let size = Size { n, d: d as u64, bytes };
        Description { size, run_bytes, family: self.kind.family(), checksum: self.checksum() }
    }
}
