//! The data of the built-in families in memory: immutable, shared by all runs, whatever file or generator it came from.

pub mod features;
pub mod graph;
pub mod letters;
pub mod multiclass;

pub use features::{FeatureRows, NodeFeatures};
pub use graph::GraphData;
pub use letters::LetterData;
pub use multiclass::MulticlassData;
