//! Data set names → what to load: known sets, files, synthetic twins with their parameters.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::{Description, files, letters};
use crate::error::{Error, Result};

/// Where data comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The official USPS file.
    Usps,
    /// The official OCR file.
    Ocr,
    /// A LIBSVM file.
    Libsvm(PathBuf),
    /// A file in the letter.data layout.
    Letters(PathBuf),
    /// A graph file.
    Graph(PathBuf),
    /// A set that is prepared into a graph file: horses, stanford, horseseg.
    Prepared(String),
    /// A synthetic twin.
    Synth(Twin),
}

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

const NAMES: [&str; 12] = [
    "usps",
    "ocr",
    "horses",
    "stanford",
    "horseseg",
    "libsvm:PATH",
    "letters:PATH",
    "graph:PATH",
    "usps-synth",
    "ocr-synth",
    "horseseg-synth",
    "stanford-synth",
];

impl Source {
    /// Understands a name; says which names exist otherwise.
    pub fn parse(name: &str) -> Result<Self> {
        let (head, rest) = name.split_once(':').map_or((name, None), |(head, rest)| (head, Some(rest)));
        let path = || {
            rest.filter(|path| !path.is_empty())
                .map(PathBuf::from)
                .ok_or_else(|| Error::invalid(format!("data set '{name}' needs a path: {head}:PATH")))
        };
        let kind = match head {
            "libsvm" => return path().map(Self::Libsvm),
            "letters" => return path().map(Self::Letters),
            "graph" => return path().map(Self::Graph),
            "horses" | "stanford" | "horseseg" => return Ok(Self::Prepared(name.to_owned())),
            "usps" | "ocr" if rest.is_none() => return Ok(if head == "usps" { Self::Usps } else { Self::Ocr }),
            "usps-synth" => TwinKind::Usps,
            "ocr-synth" => TwinKind::Ocr,
            "horseseg-synth" => TwinKind::Horseseg,
            "stanford-synth" => TwinKind::Stanford,
            _ => {
                let near = NAMES.iter().max_by(|a, b| {
                    let near = |known: &str| strsim::jaro_winkler(known, head);
                    near(a).total_cmp(&near(b))
                });
                let near = near.filter(|known| strsim::jaro_winkler(known, head) > 0.75);
                let hint = near.map_or(String::new(), |known| format!("did you mean '{known}'? "));
                return Err(Error::invalid(format!("unknown data set '{name}'; {hint}known: {}", NAMES.join(", "))));
            }
        };
        Twin::parse(kind, name, rest.unwrap_or("")).map(Self::Synth)
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

    fn parse(kind: TwinKind, name: &str, parameters: &str) -> Result<Self> {
        let mut twin = Self::full_size(kind);
        for parameter in parameters.split(',').filter(|text| !text.is_empty()) {
            let bad = |why: &str| Error::invalid(format!("data set '{name}': parameter '{parameter}' {why}"));
            let (key, value) = parameter.split_once('=').ok_or_else(|| bad("is not key=value"))?;
            let number: u64 = value.parse().map_err(|_| bad("needs a whole number"))?;
            match key {
                "n" if (1..=10_000_000).contains(&number) => twin.n = number as usize,
                "n" => return Err(bad("must be 1 to 10000000")),
                "size" => {
                    let range = match kind {
                        TwinKind::Usps => 2..=100_000,
                        TwinKind::Ocr => 2..=1000,
                        TwinKind::Horseseg | TwinKind::Stanford => 2..=1000,
                    };
                    if !range.contains(&number) {
                        return Err(bad(&format!("must be {} to {}", range.start(), range.end())));
                    }
                    twin.size = number as usize;
                }
                "seed" => twin.seed = number,
                _ => return Err(bad("is unknown; known: n, size, seed")),
            }
        }
        Ok(twin)
    }

    /// Identity of what the generator makes.
    pub fn checksum(&self) -> String {
        files::hex(&Sha256::digest(format!("synth {GENERATOR_VERSION} {self:?}")))
    }

    /// Description without making the data; memory of graphs is an estimate (their grids vary in size).
    pub fn describe(&self) -> Description {
        let n = self.n as u64;
        let nodes = n * (self.size * self.size) as u64;
        let (d, bytes, family) = match self.kind {
            TwinKind::Usps => (self.size * USPS_LABELS, n * self.size as u64 * 8, "multiclass"),
            TwinKind::Ocr => (letters::WEIGHTS, n * self.size as u64 * 17, "chain"),
            TwinKind::Horseseg => (NODE_FEATURES * 2, nodes * (4 * NODE_FEATURES as u64 + 24), "binary graph"),
            TwinKind::Stanford => {
                (NODE_FEATURES * STANFORD_LABELS, nodes * (4 * NODE_FEATURES as u64 + 24), "Potts graph")
            }
        };
        Description { n, d: d as u64, bytes, family, checksum: self.checksum() }
    }
}
