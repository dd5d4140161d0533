//! HDSeg features file (HDF5, as distributed by Kolesnikov et al.) → [`RawGraph`].
//!
//! Datasets at the root, N a six-digit index from any start: `superpixel_count_N`, `edge_count_N` (scalars, optional),
//! `edge_structure_N` (E × 2, ids from 0), `features_N` (nodes × p, p = 1969 in the distribution; the paper used 649),
//! `labels_N` (one per node: 0 background, 1 horse, negative = unknown).

use std::path::Path;

use hdf5_reader::{Dataset, Hdf5File};

use super::known::{Expected, KnownFile, KnownSet};
use super::npz::RawGraph;
use super::{DatasetInfo, DatasetRow, Loaded, Request, graph};
use crate::dataset::memory::Room;
use crate::store::files;
use crate::store::panics::{self};
use crate::{Error, Result};
use ssvm::problem::{BINARY_GRAPH, GraphProblem};

/// The official files.
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
        unpack: true,
    }],
    alternatives: &[],
    inside: &[],
    below: Some(("horseseg", "horse-features.bin")),
};

/// The row of `horseseg`.
pub struct HorseSeg;

impl DatasetRow for HorseSeg {
    type Problem = GraphProblem;

    fn info(&self) -> DatasetInfo {
        DatasetInfo {
            name: "horseseg",
            title: "HorseSeg",
            about: "HorseSeg (HDSeg): superpixel features, binary segmentation",
            family: Some(&BINARY_GRAPH),
            in_paper: true,
            known: Some(&HORSESEG),
            ..DatasetInfo::PLAIN
        }
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
        let path = request.data.require(&HORSESEG)?;
        let (data, _) = read(&path)?.into_known(&path)?;
        graph(data, files::sha256_file(&path)?, request)
    }
}

/// Reads all examples, in the order of their index. Unknown nodes are dropped by [`RawGraph::into_known`].
pub fn read(path: &Path) -> Result<RawGraph> {
    let room = Room::of(path)?;
    let decoded = panics::catch(|| decode(path, room));
    decoded.unwrap_or_else(|panic| {
        Err(Error::file(path, format!("cannot be read as HDF5: its decoder panicked: {panic}")))
    })
}

fn decode(path: &Path, mut room: Room) -> Result<RawGraph> {
    let damaged = |e: hdf5_reader::error::Error| Error::file(path, format!("cannot be read as HDF5: {e}"));
    let file = Hdf5File::open(path).map_err(damaged)?;
    let root = file.root_group().map_err(damaged)?;
    let (_, names) = root.member_names().map_err(damaged)?;
    let mut indices: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("features_")).collect();
    indices.sort_unstable();
    if indices.is_empty() {
        return Err(Error::file(path, "has no dataset features_NNNNNN: this is not a features file of HDSeg"));
    }
    let mut graph = RawGraph { num_labels: 2, node_offsets: vec![0], edge_offsets: vec![0], ..RawGraph::default() };
    for index in indices {
        let wrong = |name: &str, message: String| Error::file(path, format!("dataset {name}_{index} {message}"));
        let open = |name: &str| -> Result<Dataset> {
            root.dataset(&format!("{name}_{index}")).map_err(|e| wrong(name, format!("cannot be read: {e}")))
        };
        let features = open("features")?;
        let [nodes, p] = shape(&features)
            .ok_or_else(|| wrong("features", format!("has shape {:?}, expected nodes × p", features.shape())))?;
        if graph.features_per_node == 0 {
            graph.features_per_node = p;
        }
        if p != graph.features_per_node || nodes == 0 || p == 0 {
            return Err(wrong(
                "features",
                format!("is {nodes} × {p}; expected 1 or more rows of {}", graph.features_per_node),
            ));
        }
        graph
            .features
            .extend(numbers(&features, &mut room).map_err(|e| wrong("features", e))?.into_iter().map(|v| v as f32));

        let labels = numbers(&open("labels")?, &mut room).map_err(|e| wrong("labels", e))?;
        if labels.len() != nodes {
            return Err(wrong("labels", format!("has {} entries for {nodes} superpixels", labels.len())));
        }
        for label in labels {
            graph.labels.push(match label {
                0.0 => 0,
                1.0 => 1,
                l if l < 0.0 => -1,
                l => return Err(wrong("labels", format!("holds {l}; expected 0, 1 or a negative number"))),
            });
        }

        let edges = open("edge_structure")?;
        let count = match shape(&edges) {
            Some([count, 2]) => count,
            _ if edges.shape().contains(&0) => 0,
            _ => return Err(wrong("edge_structure", format!("has shape {:?}, expected E × 2", edges.shape()))),
        };
        if count > 0 {
            let ids = numbers(&edges, &mut room).map_err(|e| wrong("edge_structure", e))?;
            let id = |v: f64| (v >= 0.0 && v < nodes as f64 && v.fract() == 0.0).then_some(v as u32);
            for pair in ids.chunks_exact(2) {
                match (id(pair[0]), id(pair[1])) {
                    (Some(k), Some(l)) if k != l => graph.edges.push([k.min(l), k.max(l)]),
                    // A superpixel has no border with itself.
                    (Some(_), Some(_)) => {}
                    _ => {
                        return Err(wrong(
                            "edge_structure",
                            format!("has the edge {pair:?} among {nodes} superpixels"),
                        ));
                    }
                }
            }
        }
        // Some lists hold every border in both directions; Θ counts a pair once.
        let from = graph.edge_offsets.last().copied().unwrap_or(0);
        graph.edges[from..].sort_unstable();
        let mut unique = graph.edges.split_off(from);
        unique.dedup();
        graph.edges.append(&mut unique);

        for (name, found) in [("superpixel_count", nodes), ("edge_count", count)] {
            if let Ok(stated) = root.dataset(&format!("{name}_{index}")) {
                let stated = numbers(&stated, &mut room).map_err(|e| wrong(name, e))?;
                if stated.first() != Some(&(found as f64)) {
                    return Err(wrong(name, format!("says {stated:?}, but there are {found}")));
                }
            }
        }
        graph.node_offsets.push(graph.labels.len());
        graph.edge_offsets.push(graph.edges.len());
    }
    Ok(graph)
}

fn shape(dataset: &Dataset) -> Option<[usize; 2]> {
    let lengths: Vec<usize> = dataset.shape().iter().filter_map(|&n| usize::try_from(n).ok()).collect();
    lengths.try_into().ok()
}

/// The values of a dataset of any plain number type, row-major.
fn numbers(dataset: &Dataset, room: &mut Room) -> Result<Vec<f64>, String> {
    // Twice: as they are in the file, and as f64.
    let count = dataset.shape().iter().try_fold(16u64, |bytes, n| bytes.checked_mul(*n));
    room.take(count.ok_or("is too large for this machine")?)?;
    fn values<T: hdf5_reader::H5Type + Copy>(dataset: &Dataset, to: impl Fn(T) -> f64) -> Option<Vec<f64>> {
        Some(dataset.read_array::<T>().ok()?.iter().map(|&v| to(v)).collect())
    }
    values::<f32>(dataset, f64::from)
        .or_else(|| values::<f64>(dataset, |v| v))
        .or_else(|| values::<i32>(dataset, f64::from))
        .or_else(|| values::<i64>(dataset, |v| v as f64))
        .or_else(|| values::<u32>(dataset, f64::from))
        .or_else(|| values::<u64>(dataset, |v| v as f64))
        .or_else(|| values::<i16>(dataset, f64::from))
        .or_else(|| values::<u16>(dataset, f64::from))
        .or_else(|| values::<i8>(dataset, f64::from))
        .or_else(|| values::<u8>(dataset, f64::from))
        .ok_or_else(|| match dataset.read_array::<f32>() {
            Err(e) => format!("cannot be read as numbers: {e}"),
            Ok(_) => "cannot be read".into(),
        })
}
