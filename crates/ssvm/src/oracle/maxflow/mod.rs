//! Min-cut of binary pairwise energies, with a deterministic operation count.
//!
//! [`Topology`] is built once per example and shared; [`MaxFlow`] is Boykov–Kolmogorov on it; [`BinaryCut`] decides what
//! can be decided without a flow first. Workspaces are reused: no call allocates once the largest graph has been seen.

mod binary;
mod boykov_kolmogorov;
mod topology;

pub use binary::{BinaryCut, CutReport};
pub(crate) use binary::{FixedPoint, fixed_point_error};
pub use boykov_kolmogorov::MaxFlow;
pub use topology::{Arc, Topology};
