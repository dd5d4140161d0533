//! Names and files → immutable data, shared by all runs.
//!
//! A name is a known set (`usps`, `ocr`, `horses`, `stanford`, `horseseg`), a file of one's own (`libsvm:PATH`,
//! `letters:PATH`, `graph:PATH`) or a synthetic twin with parameters (`horseseg-synth:n=300,seed=2`).

pub mod catalog;
pub mod fetch;
pub mod files;
pub mod graph;
pub mod horseseg;
pub mod image;
mod letter_file;
pub mod letters;
mod libsvm;
pub mod multiclass;
mod name;
pub mod npy;
pub mod npz;
pub mod prepare;
pub mod split;
mod synth;
mod text;
mod usps;

use std::sync::Arc;

pub use catalog::DataDir;
pub use graph::GraphData;
pub use name::{Source, Twin};

use crate::error::{Error, Result};
use letters::LetterData;
use multiclass::{Features, MulticlassData};

/// A loaded data set.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name it was asked for by.
    pub name: String,
    /// Identity of the content: sha256 of the files, or of the generator's parameters.
    pub checksum: String,
    /// The data.
    pub data: Data,
}

/// Data of one of the families.
#[derive(Clone, Debug)]
pub enum Data {
    /// Vectors with a label.
    Multiclass(Arc<MulticlassData>),
    /// Words.
    Letters(Arc<LetterData>),
    /// Labelled graphs.
    Graph(Arc<GraphData>),
}

/// What a plan needs to know of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Terms.
    pub n: u64,
    /// Weights.
    pub d: u64,
    /// Memory of the loaded data, bytes.
    pub bytes: u64,
    /// multiclass, chain, binary graph or Potts graph.
    pub family: &'static str,
    /// As in [`Dataset::checksum`].
    pub checksum: String,
}

impl Data {
    /// n.
    pub fn len(&self) -> usize {
        match self {
            Self::Multiclass(data) => data.len(),
            Self::Letters(data) => data.len(),
            Self::Graph(data) => data.len(),
        }
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn describe(&self, checksum: String) -> Description {
        let (d, bytes, family) = match self {
            Self::Multiclass(data) => {
                let bytes = match &data.features {
                    Features::Dense(values) => 8 * values.len(),
                    Features::Sparse { values, .. } => 12 * values.len(),
                };
                (data.dim * data.num_labels, bytes, "multiclass")
            }
            Self::Letters(data) => (letters::WEIGHTS, 17 * data.labels.len(), "chain"),
            Self::Graph(data) => (
                data.features_per_node * data.num_labels,
                4 * data.features.len() + 8 * data.edges.len(),
                if data.num_labels == 2 { "binary graph" } else { "Potts graph" },
            ),
        };
        Description { n: self.len() as u64, d: d as u64, bytes: bytes as u64, family, checksum }
    }
}

/// Loads a data set by name; prepares pictures on demand.
pub fn load(name: &str, dir: &DataDir) -> Result<Dataset> {
    let source = Source::parse(name)?;
    let (data, checksum) = match &source {
        Source::Usps => {
            let path = dir.require("usps")?;
            (Data::Multiclass(Arc::new(usps::read(&path)?)), text::sha256_file(&path)?)
        }
        Source::Ocr => {
            let path = dir.require("ocr")?;
            (Data::Letters(Arc::new(letter_file::read(&path)?)), text::sha256_file(&path)?)
        }
        Source::Libsvm(path) => (Data::Multiclass(Arc::new(libsvm::read(path)?)), text::sha256_file(path)?),
        Source::Letters(path) => (Data::Letters(Arc::new(letter_file::read(path)?)), text::sha256_file(path)?),
        Source::Graph(path) => (Data::Graph(Arc::new(npz::read_graph(path)?)), text::sha256_file(path)?),
        Source::Prepared(set) if set == "horseseg" => {
            let path = dir.require(set)?;
            let (data, _) = horseseg::read(&path)?.into_known(&path)?;
            (Data::Graph(Arc::new(data)), text::sha256_file(&path)?)
        }
        Source::Prepared(set) => {
            let path = prepare::prepared_path(set, dir, &image::SlicParams::default())?;
            (Data::Graph(Arc::new(npz::read_graph(&path)?)), text::sha256_file(&path)?)
        }
        Source::Synth(twin) => (synth::generate(twin), twin.checksum()),
    };
    if data.is_empty() {
        return Err(Error::invalid(format!("data set '{name}' has no example")));
    }
    Ok(Dataset { name: name.to_owned(), checksum, data })
}

/// What a plan needs to know. Twins are described without being made; files are read.
pub fn describe(name: &str, dir: &DataDir) -> Result<Description> {
    if let Source::Synth(twin) = Source::parse(name)? {
        return Ok(twin.describe());
    }
    let dataset = load(name, dir)?;
    Ok(dataset.data.describe(dataset.checksum))
}
