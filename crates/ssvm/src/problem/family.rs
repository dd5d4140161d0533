//! Families of problems: their names, their places in the paper, and rough costs of a call.

/// The data sets of the paper, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Paper {
    /// Multiclass.
    Usps,
    /// Chains.
    Ocr,
    /// Binary graphs.
    HorseSeg,
    /// Potts graphs.
    Stanford,
}

impl Paper {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Usps, Self::Ocr, Self::HorseSeg, Self::Stanford];

    /// The solver whose oracle shares the paper states, and with which others are compared.
    pub const SOLVER: &'static str = "bcfw";

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usps => "USPS",
            Self::Ocr => "OCR",
            Self::HorseSeg => "HorseSeg",
            Self::Stanford => "Stanford",
        }
    }

    /// The part of its time that BCFW spends in the oracle, as the paper states it.
    pub fn oracle_share(self) -> f64 {
        match self {
            Self::Usps => 0.15,
            Self::Ocr => 0.70,
            Self::HorseSeg | Self::Stanford => 0.99,
        }
    }
}

/// Size of a problem, as far as plans need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Terms.
    pub n: u64,
    /// Weights, in the block order of the joint features.
    pub d: u64,
    /// Memory of the loaded data, bytes.
    pub bytes: u64,
}

/// A family of problems. Its estimates order the queue and feed the remaining time; no result depends on them.
#[derive(Debug)]
pub struct Family {
    /// Its common name.
    pub name: &'static str,
    /// The data set that stands for it in the paper.
    pub paper: Option<Paper>,
    /// Whether it has a pairwise weight to set.
    pub pairwise: bool,
    /// Whether its oracle finds the maximum, so that gaps need no certificate.
    pub exact: bool,
    /// Seconds of one exact oracle call.
    pub oracle_seconds: fn(&Size) -> f64,
    /// Bytes of one kept plane.
    pub plane_bytes: fn(&Size) -> u64,
}

impl Family {
    /// A family about which nothing is known: planes are dense, and a call costs as much as a few products.
    pub const OTHER: Self = Self {
        name: "other",
        paper: None,
        pairwise: false,
        exact: true,
        oracle_seconds: |size| 1e-6 + 2e-9 * size.d as f64,
        plane_bytes: |size| 8 * size.d,
    };
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
