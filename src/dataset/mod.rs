//! Names and files → problems. One file and one row of [`table`] per data set; [`known`] says where official files are.

pub mod archive;
pub mod content;
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
mod npy_header;
pub mod npz;
pub mod prepare;
pub mod program;
pub mod synth;
pub mod table;
mod text;
pub mod twin;
mod usps;

pub use known::DataDir;
pub use table::{Argument, DatasetInfo, DatasetRow, DatasetTable, Description, Loaded, Opened, Request, Standard};

use ssvm::data::multiclass::{Features, MulticlassData};

/// Memory of multiclass data, bytes.
fn multiclass_bytes(data: &MulticlassData) -> u64 {
    match &data.features {
        Features::Dense(values) => 8 * values.len() as u64,
        Features::Sparse { values, .. } => 12 * values.len() as u64,
    }
}
