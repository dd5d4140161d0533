//! Graph files: `.npz` ↔ [`RawGraph`] (as stored, unknown labels included) → [`GraphData`] (known nodes only).
//!
//! | array | type | shape | meaning |
//! |---|---|---|---|
//! | `features` | f32 or f16 | nodes, p | ψ(x^l), all examples one after the other; f16 stays f16 in memory |
//! | `labels` | i32 | nodes | 0..K, −1 = unknown |
//! | `node_offsets` | i64 | n + 1 | where the nodes of each example start |
//! | `edges` | i32 | edges, 2 | node ids local to the example, each undirected edge once |
//! | `edge_offsets` | i64 | n + 1 | where the edges of each example start |
//! | `num_labels` | i64 | scalar | K |
//! | `pairwise_weight` | f64 | scalar, optional | weight of [y^k ≠ y^l], default 1 |
//! | `label_pixels` | i32 | nodes, K, optional | pixels of each label in each node, where nodes are superpixels |
//! | `meta` | text | scalar, optional | JSON: where the file comes from |
//!
//! Other integer and float widths, big-endian and Fortran-order arrays are read as well.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::npy::{self, Array, Element};
use super::{Argument, DatasetInfo, DatasetRow, Loaded, Request, graph};
use crate::dataset::memory::Room;
use crate::store::files;
use crate::store::panics::{self};
use crate::{Error, Result};
use ssvm::data::{GraphData, NodeFeatures};
use ssvm::problem::GraphProblem;

/// The row of `graph:PATH`.
pub struct GraphFile;

impl DatasetRow for GraphFile {
    type Problem = GraphProblem;

    fn info(&self) -> DatasetInfo {
        DatasetInfo {
            name: "graph",
            title: "graph file",
            about: "labelled graphs of one's own (NumPy .npz): min-cut for two labels, α-expansion for more",
            argument: Argument::Path(&[]),
            ..DatasetInfo::PLAIN
        }
    }

    fn load(&self, request: &Request<'_>) -> Result<Loaded<GraphProblem>> {
        let path = request.path()?;
        graph(read_graph(&path)?, files::sha256_file(&path)?, request)
    }
}

/// The contents of a graph file, before nodes without a known label are dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawGraph {
    /// K.
    pub num_labels: usize,
    /// p: features per node.
    pub features_per_node: usize,
    /// nodes × p, row-major.
    pub features: NodeFeatures,
    /// One label per node in 0..K, or −1 where it is not known.
    pub labels: Vec<i32>,
    /// n + 1 offsets into nodes.
    pub node_offsets: Vec<usize>,
    /// Undirected edges as node ids local to their example.
    pub edges: Vec<[u32; 2]>,
    /// n + 1 offsets into edges.
    pub edge_offsets: Vec<usize>,
    /// Weight of [y^k ≠ y^l]; the default of 1 is not written.
    pub pairwise_weight: Option<f64>,
    /// nodes × K: pixels of each label in each node, where nodes are superpixels.
    pub label_pixels: Option<Vec<u32>>,
    /// JSON text about the origin.
    pub meta: Option<String>,
}

/// What loading left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Nodes labelled −1.
    pub nodes: usize,
    /// Edges that touched one of them.
    pub edges: usize,
    /// Indices in the file of the examples that had no node left.
    pub examples: Vec<usize>,
}

/// Reads a graph file and drops its unknown nodes.
pub fn read_graph(path: &Path) -> Result<GraphData> {
    Ok(RawGraph::read(path)?.into_known(path)?.0)
}

/// Writes a graph file atomically. The bytes depend on the contents only.
pub fn write_graph(path: &Path, graph: &RawGraph) -> Result<()> {
    files::write_atomically(path, |draft| {
        let mut target = Target { draft, error: None, at: 0, end: 0 };
        let mut zip = ZipWriter::new(BufWriter::with_capacity(1 << 20, &mut target));
        let written = graph.write_arrays(&mut zip);
        let ended = zip.finish().map_err(io::Error::other).and_then(|mut buffer| buffer.flush());
        target.error.map_or(written.and(ended), Err)
    })
}

/// Keeps the first error to itself and only counts from there on: a zip writer that meets one prints a line of its own.
struct Target<'a> {
    draft: &'a mut files::Draft,
    error: Option<io::Error>,
    at: u64,
    end: u64,
}

impl Target<'_> {
    fn unless_failed(&mut self, act: impl FnOnce(&mut files::Draft) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = act(self.draft).err();
        }
    }
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(|draft| draft.write_all(bytes));
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed(Write::flush);
        Ok(())
    }
}

impl Seek for Target<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let from = |start: u64, by: i64| start.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput);
        let at = match to {
            io::SeekFrom::Start(at) => at,
            io::SeekFrom::Current(by) => from(self.at, by)?,
            io::SeekFrom::End(by) => from(self.end, by)?,
        };
        self.unless_failed(|draft| draft.seek(io::SeekFrom::Start(at)).map(drop));
        self.at = at;
        Ok(at)
    }
}

/// Reads the `meta` text of a graph file alone, without its arrays.
pub fn read_meta(path: &Path) -> Result<Option<String>> {
    let mut zip = open(path)?;
    optional(path, &mut zip, "meta", |entry, room| npy::read_text(entry, room))
}

impl RawGraph {
    /// Reads a graph file as it is stored; shapes, types and ranges are checked.
    pub fn read(path: &Path) -> Result<Self> {
        let mut zip = open(path)?;
        let (shape, features) = features(path, &mut zip)?;
        let [nodes, features_per_node] = shape;
        let edges: Array<i64> = array(path, &mut zip, "edges", 2)?;
        if edges.shape[1] != 2 {
            return Err(bad(path, "edges", format!("has {} columns, but must have 2", edges.shape[1])));
        }
        let labels: Array<i64> = array(path, &mut zip, "labels", 1)?;
        if labels.values.len() != nodes {
            let l = labels.values.len();
            return Err(bad(path, "labels", format!("has {l} entries, but features has {nodes} rows")));
        }
        let num_labels = scalar::<i64>(path, &mut zip, "num_labels")?
            .ok_or_else(|| bad(path, "num_labels", "is missing: store the number of labels K as an integer scalar"))?;
        let num_labels = usize::try_from(num_labels)
            .map_err(|_| bad(path, "num_labels", format!("must be 2 or more, not {num_labels}")))?;
        let label = |&l: &i64| i32::try_from(l).ok().filter(|_| l >= -1 && l < num_labels as i64).ok_or(l);
        let labels = labels.values.iter().map(label).collect::<Result<_, _>>();
        let labels = labels
            .map_err(|l| bad(path, "labels", format!("holds {l}, but must be −1 or 0..{num_labels} (excluded)")))?;
        let graph = Self {
            num_labels,
            features_per_node,
            labels,
            node_offsets: offsets(path, &mut zip, "node_offsets", nodes)?,
            edge_offsets: offsets(path, &mut zip, "edge_offsets", edges.shape[0])?,
            features,
            edges: edges
                .values
                .chunks_exact(2)
                .map(|e| Ok([u32::try_from(e[0]).map_err(|_| e[0])?, u32::try_from(e[1]).map_err(|_| e[1])?]))
                .collect::<Result<_, i64>>()
                .map_err(|id| bad(path, "edges", format!("holds the node id {id}")))?,
            pairwise_weight: scalar(path, &mut zip, "pairwise_weight")?,
            label_pixels: label_pixels(path, &mut zip, nodes, num_labels)?,
            meta: optional(path, &mut zip, "meta", |entry, room| npy::read_text(entry, room))?,
        };
        graph.check_edges().map_err(|message| Error::file(path, message))?;
        Ok(graph)
    }

    /// Number of examples as stored.
    pub fn len(&self) -> usize {
        self.node_offsets.len().saturating_sub(1)
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops unknown nodes with their edges, and examples left with no node; `path` is for error messages.
    pub fn into_known(mut self, path: &Path) -> Result<(GraphData, Dropped)> {
        self.check_edges().map_err(|message| Error::file(path, message))?;
        self.check_features().map_err(|message| Error::file(path, message))?;
        let p = self.features_per_node;
        let mut dropped = Dropped::default();
        let mut labels = Vec::with_capacity(self.labels.len());
        let mut edges = Vec::with_capacity(self.edges.len());
        let (mut node_offsets, mut edge_offsets) = (vec![0], vec![0]);
        for i in 0..self.len() {
            let nodes = self.node_offsets[i]..self.node_offsets[i + 1];
            let before = labels.len();
            let mut new_id = Vec::with_capacity(nodes.len());
            for node in nodes {
                let known = u16::try_from(self.labels[node]).ok();
                new_id.push(known.map(|label| {
                    labels.push(label);
                    (labels.len() - 1 - before) as u32
                }));
                dropped.nodes += usize::from(known.is_none());
            }
            let old = &self.edges[self.edge_offsets[i]..self.edge_offsets[i + 1]];
            let kept = edges.len();
            edges.extend(old.iter().filter_map(|e| Some([new_id[e[0] as usize]?, new_id[e[1] as usize]?])));
            dropped.edges += old.len() - (edges.len() - kept);
            if labels.len() == before {
                dropped.examples.push(i);
            } else {
                node_offsets.push(labels.len());
                edge_offsets.push(edges.len());
            }
        }
        let known = (0..).zip(&self.labels).filter(|(_, label)| u16::try_from(**label).is_ok());
        self.features.keep(known.map(|(node, _)| node * p..(node + 1) * p));
        let data = GraphData {
            num_labels: self.num_labels,
            features_per_node: p,
            features: self.features,
            labels,
            node_offsets,
            edges,
            edge_offsets,
            pairwise_weight: self.pairwise_weight.unwrap_or(1.0),
        };
        if data.is_empty() {
            return Err(Error::file(path, "has no example with a known label"));
        }
        data.validate().map_err(|message| Error::file(path, message))?;
        Ok((data, dropped))
    }

    /// Features of known nodes are finite; examples and nodes are told as the file counts them.
    fn check_features(&self) -> Result<(), String> {
        let p = self.features_per_node;
        for i in 0..self.len() {
            let nodes = self.node_offsets[i]..self.node_offsets[i + 1];
            for (node, row) in nodes.enumerate().filter(|(_, row)| self.labels[*row] >= 0) {
                let features = self.features.rows(row * p..(row + 1) * p);
                if let Some(column) = features.not_finite() {
                    let advice = features.advice(column);
                    return Err(format!(
                        "array features: example {i} has a value that is not finite in column {column} of node {node}{advice}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// What must hold before nodes can be renumbered.
    fn check_edges(&self) -> Result<(), String> {
        if self.node_offsets.len() != self.edge_offsets.len() {
            let (n, e) = (self.node_offsets.len(), self.edge_offsets.len());
            return Err(format!("node_offsets has {n} entries and edge_offsets {e}, but both must have n + 1"));
        }
        for i in 0..self.len() {
            let count = self.node_offsets[i + 1] - self.node_offsets[i];
            let edges = &self.edges[self.edge_offsets[i]..self.edge_offsets[i + 1]];
            if let Some([k, l]) = edges.iter().find(|e| e[0] == e[1] || e[0].max(e[1]) as usize >= count) {
                return Err(format!("array edges: example {i} with {count} nodes has the edge {k} – {l}"));
            }
        }
        Ok(())
    }

    fn write_arrays<W: Write + Seek>(&self, zip: &mut ZipWriter<W>) -> io::Result<()> {
        let nodes = self.labels.len();
        let (shape, bytes) = ([nodes, self.features_per_node], self.features.bytes());
        match &self.features {
            NodeFeatures::Single(values) => {
                start(zip, "features", "<f4", &shape, bytes)?;
                npy::write_values(zip, values.iter().copied(), f32::to_le_bytes)?;
            }
            NodeFeatures::Half(values) => {
                start(zip, "features", "<f2", &shape, bytes)?;
                npy::write_values(zip, values.iter().map(|value| value.to_bits()), u16::to_le_bytes)?;
            }
        }
        start(zip, "labels", "<i4", &[nodes], nodes * 4)?;
        npy::write_values(zip, self.labels.iter().copied(), i32::to_le_bytes)?;
        start(zip, "node_offsets", "<i8", &[self.node_offsets.len()], self.node_offsets.len() * 8)?;
        npy::write_values(zip, self.node_offsets.iter().map(|&o| o as i64), i64::to_le_bytes)?;
        start(zip, "edges", "<i4", &[self.edges.len(), 2], self.edges.len() * 8)?;
        npy::write_values(zip, self.edges.iter().flatten().copied(), u32::to_le_bytes)?;
        start(zip, "edge_offsets", "<i8", &[self.edge_offsets.len()], self.edge_offsets.len() * 8)?;
        npy::write_values(zip, self.edge_offsets.iter().map(|&o| o as i64), i64::to_le_bytes)?;
        start(zip, "num_labels", "<i8", &[], 8)?;
        npy::write_values(zip, [self.num_labels as i64], i64::to_le_bytes)?;
        if let Some(weight) = self.pairwise_weight {
            start(zip, "pairwise_weight", "<f8", &[], 8)?;
            npy::write_values(zip, [weight], f64::to_le_bytes)?;
        }
        if let Some(pixels) = &self.label_pixels {
            start(zip, "label_pixels", "<i4", &[nodes, self.num_labels], pixels.len() * 4)?;
            npy::write_values(zip, pixels.iter().copied(), u32::to_le_bytes)?;
        }
        if let Some(meta) = &self.meta {
            let length = meta.chars().count();
            start(zip, "meta", &format!("<U{length}"), &[], length * 4)?;
            npy::write_values(zip, meta.chars(), |c| u32::from(c).to_le_bytes())?;
        }
        Ok(())
    }
}

/// Starts the entry of an array: stored, because the bytes of a compressor may change with its version.
fn start<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    descr: &str,
    shape: &[usize],
    size: usize,
) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(0o644)
        .large_file(size > 0xf000_0000);
    zip.start_file(format!("{name}.npy"), options).map_err(io::Error::other)?;
    npy::write_header(zip, descr, shape)
}

/// An open file, and the room for what it holds.
struct Archive {
    zip: ZipArchive<BufReader<File>>,
    room: Room,
}

fn open(path: &Path) -> Result<Archive> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let wrong = |e: &dyn std::fmt::Display| {
        Error::file(path, format!("is not a graph file: it must be a NumPy .npz archive ({e})"))
    };
    let zip = panics::catch(|| ZipArchive::new(BufReader::with_capacity(1 << 18, file)));
    let zip = zip.map_err(|panic| wrong(&panic))?.map_err(|e| wrong(&e))?;
    Ok(Archive { zip, room: Room::of(path)? })
}

fn bad(path: &Path, name: &str, message: impl std::fmt::Display) -> Error {
    Error::file(path, format!("array {name} {message}"))
}

/// Reads an array with `read` if the archive has it.
fn optional<T>(
    path: &Path,
    zip: &mut Archive,
    name: &str,
    read: impl FnOnce(zip::read::ZipFile<'_, BufReader<File>>, &mut Room) -> Result<T, String>,
) -> Result<Option<T>> {
    match zip.zip.by_name(&format!("{name}.npy")) {
        Ok(entry) => read(entry, &mut zip.room).map(Some).map_err(|message| bad(path, name, message)),
        Err(zip::result::ZipError::FileNotFound) => Ok(None),
        Err(e) => Err(bad(path, name, format!("cannot be read ({e})"))),
    }
}

fn missing(path: &Path, name: &str) -> Error {
    bad(path, name, "is missing; a graph file holds features, labels, node_offsets, edges, edge_offsets and num_labels")
}

fn wrong_axes(path: &Path, name: &str, shape: &[usize], axes: usize) -> Error {
    bad(path, name, format!("has shape {shape:?}, but must have {axes} axes"))
}

fn array<T: Element>(path: &Path, zip: &mut Archive, name: &str, axes: usize) -> Result<Array<T>> {
    let array = optional(path, zip, name, |entry, room| npy::read::<T>(entry, room))?;
    let array = array.ok_or_else(|| missing(path, name))?;
    if array.shape.len() == axes { Ok(array) } else { Err(wrong_axes(path, name, &array.shape, axes)) }
}

/// Nodes, p, and the values in the precision of the file.
fn features(path: &Path, zip: &mut Archive) -> Result<([usize; 2], NodeFeatures)> {
    let name = "features";
    let found = optional(path, zip, name, |entry, room| npy::read_features(entry, room))?;
    let (shape, values) = found.ok_or_else(|| missing(path, name))?;
    let shape = <[usize; 2]>::try_from(shape).map_err(|shape| wrong_axes(path, name, &shape, 2))?;
    Ok((shape, values))
}

fn scalar<T: Element>(path: &Path, zip: &mut Archive, name: &str) -> Result<Option<T>> {
    match optional(path, zip, name, |entry, room| npy::read::<T>(entry, room))? {
        None => Ok(None),
        Some(Array { values, .. }) if values.len() == 1 => Ok(Some(values[0])),
        Some(Array { shape, .. }) => Err(bad(path, name, format!("has shape {shape:?}, but must be a scalar"))),
    }
}

fn offsets(path: &Path, zip: &mut Archive, name: &str, end: usize) -> Result<Vec<usize>> {
    let raw = array::<i64>(path, zip, name, 1)?.values;
    let rising = raw.first() == Some(&0) && raw.last() == Some(&(end as i64)) && raw.windows(2).all(|o| o[0] <= o[1]);
    if !rising {
        return Err(bad(path, name, format!("must rise from 0 to {end}")));
    }
    Ok(raw.into_iter().map(|o| o as usize).collect())
}

fn label_pixels(path: &Path, zip: &mut Archive, nodes: usize, num_labels: usize) -> Result<Option<Vec<u32>>> {
    let Some(counts) = optional(path, zip, "label_pixels", |entry, room| npy::read::<i64>(entry, room))? else {
        return Ok(None);
    };
    if counts.shape != [nodes, num_labels] {
        let shape = counts.shape;
        return Err(bad(path, "label_pixels", format!("has shape {shape:?}, but must be [{nodes}, {num_labels}]")));
    }
    let counts = counts.values.into_iter().map(|c| u32::try_from(c).map_err(|_| c)).collect::<Result<_, _>>();
    counts.map(Some).map_err(|c| bad(path, "label_pixels", format!("holds {c}")))
}
