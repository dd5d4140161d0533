//! Names and files → immutable data.

pub mod catalog;
pub mod fetch;
pub mod files;
pub mod graph;
pub mod horseseg;
pub mod image;
pub mod npy;
pub mod npz;
pub mod prepare;
pub mod split;

pub use graph::GraphData;
