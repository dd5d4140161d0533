//! What kind of problem a data set is: its name, its place in the paper, and a rough idea of what a call costs.

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

    /// The solver that the paper gives oracle shares of, and that others are compared with.
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

    /// The part of its time that BCFW spends in the oracle there.
    pub fn oracle_share(self) -> f64 {
        match self {
            Self::Usps => 0.15,
            Self::Ocr => 0.70,
            Self::HorseSeg | Self::Stanford => 0.99,
        }
    }
}

/// The size of a problem, as far as plans need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Terms.
    pub n: u64,
    /// Weights, in the block order of the joint features.
    pub d: u64,
    /// Memory of the loaded data, bytes.
    pub bytes: u64,
}

/// A family of problems. No result depends on its estimates; they order the queue and fill the "time left".
#[derive(Debug)]
pub struct Family {
    /// What people call it.
    pub name: &'static str,
    /// The data set that stands for it in the paper.
    pub paper: Option<Paper>,
    /// Whether it has a weight of the pairwise term to set.
    pub pairwise: bool,
    /// Whether its oracle finds the maximum, so that gaps need no certificate.
    pub exact: bool,
    /// Seconds of one exact oracle call.
    pub oracle_seconds: fn(&Size) -> f64,
    /// Bytes of one kept plane.
    pub plane_bytes: fn(&Size) -> u64,
}

impl Family {
    /// Nothing is known: planes are dense, a call costs as much as a few products.
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
