//! Names and files → immutable data.

pub mod files;
pub mod graph;
pub mod image;
pub mod npy;
pub mod npz;

pub use graph::GraphData;
