//! The synthetic twins as data sets: names and parameters in, problems out. [`super::synth`] draws the numbers.

use std::sync::Arc;

use super::table::PER_TERM;
use super::{Argument, DatasetInfo, DatasetRow, Description, Loaded, Request, multiclass_bytes, npz, synth};
use crate::error::Result;
use crate::store::files;
use ssvm::data::letters;
use ssvm::problem::{
    BINARY_GRAPH, CHAIN, ChainProblem, Family, GraphProblem, MULTICLASS, MulticlassProblem, POTTS_GRAPH, Size,
};

/// A synthetic twin of one of the four sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Which one.
    pub kind: TwinKind,
    /// Examples.
    pub n: usize,
    /// Side of the superpixel grid (graphs), mean word length (chains), pixels (multiclass).
    pub size: usize,
    /// Data seed.
    pub seed: u64,
}

/// The four twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwinKind {
    /// Multiclass, 10 labels.
    Usps,
    /// Chains of letters.
    Ocr,
    /// Binary graphs.
    Horseseg,
    /// Potts graphs, 8 labels.
    Stanford,
}

/// Features per node of the graph twins.
pub const NODE_FEATURES: usize = 649;
/// Labels of the Stanford twin.
pub const STANFORD_LABELS: usize = 8;
/// Labels of the USPS twin.
pub const USPS_LABELS: usize = 10;
/// Changes whenever a generator makes other numbers.
const GENERATOR_VERSION: u32 = 2;

/// What may follow the name of a twin.
const PARAMETERS: Argument = Argument::Parameters(&["n", "size", "seed"]);

/// The row of `usps-synth`.
pub struct UspsTwin;

impl DatasetRow for UspsTwin {
    type Problem = MulticlassProblem;

    fn info(&self) -> DatasetInfo {
        info(TwinKind::Usps, "usps-synth", "usps", "synthetic twin of USPS: size = pixels")
    }

    fn describe(&self, request: &Request<'_>) -> Result<Option<Description>> {
        Ok(Some(Twin::of(TwinKind::Usps, request)?.describe()))
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<MulticlassProblem>> {
        let twin = Twin::of(TwinKind::Usps, request)?;
        let data = synth::usps(&twin);
        let (lambda, bytes) = (request.lambda_for(data.len())?, multiclass_bytes(&data));
        Ok(Loaded { problem: MulticlassProblem::new(Arc::new(data), lambda), bytes, checksum: twin.checksum() })
    }
}

/// The row of `ocr-synth`.
pub struct OcrTwin;

impl DatasetRow for OcrTwin {
    type Problem = ChainProblem;

    fn info(&self) -> DatasetInfo {
        info(TwinKind::Ocr, "ocr-synth", "ocr", "synthetic twin of OCR: size = mean word length")
    }

    fn describe(&self, request: &Request<'_>) -> Result<Option<Description>> {
        Ok(Some(Twin::of(TwinKind::Ocr, request)?.describe()))
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<ChainProblem>> {
        let twin = Twin::of(TwinKind::Ocr, request)?;
        let data = synth::ocr(&twin);
        let (lambda, bytes) = (request.lambda_for(data.len())?, 17 * data.labels.len() as u64);
        Ok(Loaded { problem: ChainProblem::new(Arc::new(data), lambda), bytes, checksum: twin.checksum() })
    }
}

/// The row of `horseseg-synth`.
pub struct HorseSegTwin;

impl DatasetRow for HorseSegTwin {
    type Problem = GraphProblem;

    fn info(&self) -> DatasetInfo {
        let about = "synthetic twin of HorseSeg and horses: size = side of the grid of superpixels";
        info(TwinKind::Horseseg, "horseseg-synth", "horseseg", about)
    }

    fn describe(&self, request: &Request<'_>) -> Result<Option<Description>> {
        Ok(Some(Twin::of(TwinKind::Horseseg, request)?.describe()))
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
        let twin = Twin::of(TwinKind::Horseseg, request)?;
        npz::loaded(synth::horses(&twin), twin.checksum(), request)
    }
}

/// The row of `stanford-synth`.
pub struct StanfordTwin;

impl DatasetRow for StanfordTwin {
    type Problem = GraphProblem;

    fn info(&self) -> DatasetInfo {
        let about = "synthetic twin of Stanford Background: size = side of the grid of superpixels";
        info(TwinKind::Stanford, "stanford-synth", "stanford", about)
    }

    fn describe(&self, request: &Request<'_>) -> Result<Option<Description>> {
        Ok(Some(Twin::of(TwinKind::Stanford, request)?.describe()))
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
        let twin = Twin::of(TwinKind::Stanford, request)?;
        npz::loaded(synth::scenes(&twin), twin.checksum(), request)
    }
}

fn info(kind: TwinKind, name: &'static str, real: &'static str, about: &'static str) -> DatasetInfo {
    let title = match kind {
        TwinKind::Usps => "USPS twin",
        TwinKind::Ocr => "OCR twin",
        TwinKind::Horseseg => "HorseSeg twin",
        TwinKind::Stanford => "Stanford twin",
    };
    DatasetInfo {
        name,
        title,
        about,
        argument: PARAMETERS,
        family: Some(kind.family()),
        in_paper: true,
        twin_of: Some(real),
        known: None,
    }
}

impl TwinKind {
    fn family(self) -> &'static Family {
        match self {
            Self::Usps => &MULTICLASS,
            Self::Ocr => &CHAIN,
            Self::Horseseg => &BINARY_GRAPH,
            Self::Stanford => &POTTS_GRAPH,
        }
    }
}

impl Twin {
    /// The twin at the size of the original.
    pub fn full_size(kind: TwinKind) -> Self {
        let (n, size) = match kind {
            TwinKind::Usps => (7291, 256),
            TwinKind::Ocr => (6877, 8),
            TwinKind::Horseseg => (2376, 12),
            TwinKind::Stanford => (715, 12),
        };
        Self { kind, n, size, seed: 1 }
    }

    /// The twin that a request asks for.
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

    /// Identity of what the generator makes.
    pub fn checksum(&self) -> String {
        files::sha256_hex(format!("synth {GENERATOR_VERSION} {self:?}").as_bytes())
    }

    /// Description without making the data; memory of graphs is an estimate (their grids vary in size).
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
        // Weights in six places, and of every example its φ^i: shares, marginals of letters, or a vector of weights.
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
