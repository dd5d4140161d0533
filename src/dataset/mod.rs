//! From a name or a file to a problem: [`table`] has the types on the way and a row per data set, [`known`] finds official
//! files, [`fetch`] downloads them, [`prepare`] turns images into graph files, [`program`] runs oracles that are programs.

pub mod archive;
mod error;
pub mod fetch;
pub mod horseseg;
pub mod image;
pub mod images;
pub mod known;
mod letter_file;
pub mod libsvm;
pub mod memory;
mod notice;
pub mod npy;
pub mod npz;
pub mod prepare;
pub mod program;
pub mod synth;
pub mod table;
mod text;
pub mod twin;
mod usps;

pub use error::{ArgumentError, Error};
pub use known::DataDir;
pub use table::{
    Argument, Bind, DatasetInfo, DatasetName, DatasetRow, DatasetTable, Described, Description, Loaded, Request,
    Standard,
};

use std::sync::Arc;

use crate::error::Result;
use ssvm::data::GraphData;
use ssvm::data::letters::LetterData;
use ssvm::data::multiclass::{Features, MulticlassData};
use ssvm::problem::{ChainProblem, GraphProblem, MulticlassProblem};

fn multiclass(data: MulticlassData, checksum: String, request: &Request<'_>) -> Result<Loaded<MulticlassProblem>> {
    let lambda = request.lambda_for(data.len())?;
    let bytes = match &data.features {
        Features::Dense(values) => 8 * values.len(),
        Features::Sparse { values, .. } => 12 * values.len(),
    };
    Ok(Loaded::new(MulticlassProblem::new(Arc::new(data), lambda), bytes as u64, checksum))
}

fn chain(data: LetterData, checksum: String, request: &Request<'_>) -> Result<Loaded<ChainProblem>> {
    // A letter is 128 bits and a label.
    let (lambda, bytes) = (request.lambda_for(data.len())?, 17 * data.labels.len() as u64);
    Ok(Loaded::new(ChainProblem::new(Arc::new(data), lambda), bytes, checksum))
}

fn graph(data: GraphData, checksum: String, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
    let lambda = request.lambda_for(data.len())?;
    let bytes = (data.features.bytes() + 8 * data.edges.len()) as u64;
    let pairwise = request.pairwise_weight.unwrap_or(data.pairwise_weight);
    Ok(Loaded::new(GraphProblem::new(Arc::new(data), lambda, pairwise)?, bytes, checksum))
}
