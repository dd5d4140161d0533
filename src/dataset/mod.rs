//! Names and files → immutable data.

pub mod graph;
pub mod image;

pub use graph::GraphData;
