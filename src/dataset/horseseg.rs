//! Reads the HDSeg features file (HDF5, as distributed by Kolesnikov et al.) into a [`RawGraph`].
//!
//! Datasets at the root, N a six-digit index from any start: `superpixel_count_N`, `edge_count_N` (scalars, optional),
//! `edge_structure_N` (E × 2, ids from 0), `features_N` (nodes × p, p = 1969 in the distribution; the paper used 649),
//! `labels_N` (one per node: 0 background, 1 horse, negative = unknown).

use std::path::Path;

use hdf5_reader::{Dataset, Hdf5File};

use super::known::{Expected, KnownFile, KnownSet};
use super::memory::Quota;
use super::npz::RawGraph;
use crate::store::panics;
use crate::{Error, Result};
use ssvm::data::GraphData;

pub const HORSESEG: KnownSet = KnownSet {
    name: "horseseg",
    examples: 0,
    size: "large",
    terms: "authors' terms; cite Kolesnikov et al. 2014",
    page: "https://pub.ist.ac.at/~akolesnikov/HDSeg/",
    files: &[KnownFile {
        path: "horseseg/data.tar",
        url: "https://pub.ist.ac.at/~akolesnikov/HDSeg/data.tar",
        expected: Expected::Nothing,
    }],
    alternatives: &[],
    below: Some(("horseseg", "horse-features.bin")),
};

pub fn read_graph(path: &Path) -> Result<GraphData> {
    Ok(read(path)?.into_known(path)?.0)
}

/// Reads all examples, in the order of their index. Unknown nodes are dropped by [`RawGraph::into_known`].
pub fn read(path: &Path) -> Result<RawGraph> {
    let quota = Quota::of(path)?;
    let decoded = panics::catch(|| decode(path, quota));
    decoded.unwrap_or_else(|panic| {
        Err(Error::file(path, format!("cannot be read as HDF5: its decoder panicked: {panic}")))
    })
}

fn decode(path: &Path, mut quota: Quota) -> Result<RawGraph> {
    let damaged = |e: hdf5_reader::error::Error| Error::file(path, format!("cannot be read as HDF5: {e}"));
    let file = Hdf5File::open(path).map_err(damaged)?;
    let (_, names) = file.root_group().and_then(|root| root.member_names()).map_err(damaged)?;
    let mut indices: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("features_")).collect();
    indices.sort_unstable();
    if indices.is_empty() {
        return Err(Error::file(path, "has no dataset features_NNNNNN, so it is not a features file of HDSeg"));
    }
    let mut graph = RawGraph { num_labels: 2, node_offsets: vec![0], edge_offsets: vec![0], ..RawGraph::default() };
    for index in indices {
        Example { path, file: &file, index, quota: &mut quota }.read(&mut graph)?;
    }
    Ok(graph)
}

struct Example<'f> {
    path: &'f Path,
    file: &'f Hdf5File,
    index: &'f str,
    quota: &'f mut Quota,
}

impl Example<'_> {
    fn wrong(&self, name: &str, message: impl std::fmt::Display) -> Error {
        Error::file(self.path, format!("dataset {name}_{} {message}", self.index))
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        let dataset = self.file.dataset(&format!("/{name}_{}", self.index));
        dataset.map_err(|e| self.wrong(name, format!("cannot be read: {e}")))
    }

    /// The values of a dataset of any plain number type, row-major.
    fn numbers(&mut self, name: &str, dataset: &Dataset) -> Result<Vec<f64>> {
        macro_rules! first_that_fits {
            ($($number:ty),+) => {
                $(if let Ok(values) = dataset.read_array::<$number>() {
                    return Ok(values.iter().map(|&value| value as f64).collect());
                })+
            };
        }
        // Twice, because they are held as they are in the file and as f64.
        let bytes = dataset.shape().iter().fold(16u64, |bytes, n| bytes.saturating_mul(*n));
        self.quota.take(bytes).map_err(|message| self.wrong(name, message))?;
        first_that_fits!(f32, f64, i32, i64, u32, u64, i16, u16, i8, u8);
        Err(self.wrong(name, "cannot be read as numbers"))
    }

    /// Appends this example to the graphs read before.
    fn read(&mut self, graph: &mut RawGraph) -> Result<()> {
        let name = "features";
        let features = self.open(name)?;
        let &[nodes, p] = features.shape() else {
            return Err(self.wrong(name, format!("has shape {:?}, expected nodes × p", features.shape())));
        };
        let (nodes, p) = (nodes as usize, p as usize);
        if graph.features_per_node == 0 {
            graph.features_per_node = p;
        }
        if p != graph.features_per_node || nodes == 0 || p == 0 {
            let expected = graph.features_per_node;
            return Err(self.wrong(name, format!("is {nodes} × {p}; expected 1 or more rows of {expected}")));
        }
        graph.features.extend(self.numbers(name, &features)?.into_iter().map(|v| v as f32));
        let name = "labels";
        let labels = self.numbers(name, &self.open(name)?)?;
        if labels.len() != nodes {
            return Err(self.wrong(name, format!("has {} entries for {nodes} superpixels", labels.len())));
        }
        for label in labels {
            graph.labels.push(match label {
                0.0 => 0,
                1.0 => 1,
                l if l < 0.0 => -1,
                l => return Err(self.wrong(name, format!("contains {l}; expected 0, 1 or a negative number"))),
            });
        }
        let edges = self.edges(nodes, graph)?;
        for (name, found) in [("superpixel_count", nodes), ("edge_count", edges)] {
            let Ok(stated) = self.open(name) else { continue };
            let stated = self.numbers(name, &stated)?;
            if stated.first() != Some(&(found as f64)) {
                return Err(self.wrong(name, format!("states {stated:?}, but the file has {found}")));
            }
        }
        graph.node_offsets.push(graph.labels.len());
        graph.edge_offsets.push(graph.edges.len());
        Ok(())
    }

    /// Appends the edges, each once; returns how many the file lists.
    fn edges(&mut self, nodes: usize, graph: &mut RawGraph) -> Result<usize> {
        let name = "edge_structure";
        let listed = self.open(name)?;
        let count = match *listed.shape() {
            ref shape if shape.contains(&0) => return Ok(0),
            [count, 2] => count as usize,
            ref shape => return Err(self.wrong(name, format!("has shape {shape:?}, expected E × 2"))),
        };
        let id = |v: f64| (v >= 0.0 && v < nodes as f64 && v.fract() == 0.0).then_some(v as u32);
        let ends = self.numbers(name, &listed)?;
        // Not `count`, which the file may claim to be anything.
        let mut edges = Vec::with_capacity(ends.len() / 2);
        for pair in ends.as_chunks::<2>().0 {
            let (Some(k), Some(l)) = (id(pair[0]), id(pair[1])) else {
                return Err(self.wrong(name, format!("has the edge {pair:?} among {nodes} superpixels")));
            };
            // A superpixel has no border with itself.
            if k != l {
                edges.push([k.min(l), k.max(l)]);
            }
        }
        // Some lists hold every border in both directions; Θ counts a pair once.
        edges.sort_unstable();
        edges.dedup();
        graph.edges.extend(edges);
        Ok(count)
    }
}
