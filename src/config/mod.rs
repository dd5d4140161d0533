//! Configs: TOML text in, a checked [`Experiment`] out.

mod experiment;
mod wire;

pub use experiment::{BUILTIN, DatasetSpec, Experiment, Price};
