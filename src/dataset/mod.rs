//! From a name or a file to a problem. [`request`] parses names, [`table`] has a row per data set, [`known`] locates
//! official files, [`fetch`] downloads them, [`prepare`] turns images into graph files, and [`program`] runs oracle
//! programs.

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
mod request;
pub mod synth;
pub mod table;
mod text;
pub mod twin;
mod usps;

pub use error::{ArgumentError, Error};
pub use known::DataDir;
pub use request::{Argument, DatasetName, Request};
pub use table::{Bind, DatasetInfo, DatasetRow, DatasetTable, Described, Description, Loaded, Standard};
