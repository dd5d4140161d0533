//! Graph files: `.npz` ↔ [`RawGraph`] (as stored, unknown labels included) → [`GraphData`] (known nodes only).
//! docs/format.md lists the arrays under "Graph files". Arrays with other integer and float widths, in big-endian or in
//! Fortran order are read as well.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::memory::Quota;
use super::npy::{self, Element};
use crate::store::files;
use crate::store::panics;
use crate::{Error, Result};
use ssvm::data::{GraphData, NodeFeatures};

/// The contents of a graph file, before nodes without a known label are dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawGraph {
    pub num_labels: usize,
    pub features_per_node: usize,
    pub features: NodeFeatures,
    pub labels: Vec<i32>,
    pub node_offsets: Vec<usize>,
    pub edges: Vec<[u32; 2]>,
    pub edge_offsets: Vec<usize>,
    pub pairwise_weight: Option<f64>,
    pub label_pixels: Option<Vec<u32>>,
    pub meta: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Nodes labelled −1.
    pub nodes: usize,
    /// Edges that touched one of them.
    pub edges: usize,
    /// Indices in the file of the examples that had no node left.
    pub examples: Vec<usize>,
}

pub fn read_graph(path: &Path) -> Result<GraphData> {
    Ok(RawGraph::read(path)?.into_known(path)?.0)
}

/// Writes a graph file, whole or not at all. The bytes depend on the contents only.
pub fn write_graph(path: &Path, graph: &RawGraph) -> Result<()> {
    files::write_atomically(path, |draft| {
        let mut silent = Silent { draft, at: 0, error: None };
        graph.archive(&mut silent)?;
        silent.error.map_or(Ok(()), Err)
    })
}

/// Keeps the first error of a draft and ignores later writes: a zip writer that meets an error prints a line of its own
/// when it is dropped.
struct Silent<'d> {
    draft: &'d mut files::Draft,
    at: u64,
    error: Option<io::Error>,
}

impl Write for Silent<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_none() {
            self.error = self.draft.write_all(bytes).err();
        }
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Silent<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) | SeekFrom::End(by) => self.at.saturating_add_signed(by),
        };
        if self.error.is_none() {
            self.error = self.draft.seek(SeekFrom::Start(self.at)).err();
        }
        Ok(self.at)
    }
}

/// Reads only the `meta` text of a graph file.
pub fn read_meta(path: &Path) -> Result<Option<String>> {
    Archive::open(path)?.optional("meta", npy::read_text)
}

impl RawGraph {
    /// Reads a graph file as it is stored; shapes, types and ranges are checked.
    pub fn read(path: &Path) -> Result<Self> {
        let mut file = Archive::open(path)?;
        let ([nodes, features_per_node], features) = file.array("features", npy::read_features)?;
        let ([_, columns], ids) = file.array("edges", npy::read::<i64>)?;
        if columns != 2 {
            return Err(file.wrong("edges", format!("has {columns} columns, but must have 2")));
        }
        let mut edges = Vec::with_capacity(ids.len() / 2);
        for pair in ids.as_chunks::<2>().0 {
            let [k, l] = pair.map(u32::try_from);
            let wrong = |_| file.wrong("edges", format!("contains the node id {}", pair[usize::from(k.is_ok())]));
            edges.push([k.map_err(wrong)?, l.map_err(wrong)?]);
        }
        let ([count], raw_labels) = file.array("labels", npy::read::<i64>)?;
        if count != nodes {
            return Err(file.wrong("labels", format!("has {count} entries, but features has {nodes} rows")));
        }
        let num_labels = file
            .scalar::<i64>("num_labels")?
            .ok_or_else(|| file.wrong("num_labels", "is missing: store the number of labels K as an integer scalar"))?;
        let num_labels = usize::try_from(num_labels)
            .map_err(|_| file.wrong("num_labels", format!("must be 2 or more, not {num_labels}")))?;
        let mut labels = Vec::with_capacity(nodes);
        for label in raw_labels {
            let known = i32::try_from(label).ok().filter(|_| label >= -1 && label < num_labels as i64);
            labels.push(known.ok_or_else(|| {
                file.wrong(
                    "labels",
                    format!("contains {label}, but labels must be −1 (unknown) or a whole number below {num_labels}"),
                )
            })?);
        }
        let graph = Self {
            num_labels,
            features_per_node,
            features,
            labels,
            node_offsets: file.offsets("node_offsets", nodes)?,
            edge_offsets: file.offsets("edge_offsets", edges.len())?,
            edges,
            pairwise_weight: file.scalar("pairwise_weight")?,
            label_pixels: file.label_pixels(nodes, num_labels)?,
            meta: file.optional("meta", npy::read_text)?,
        };
        graph.check_edges().map_err(|message| Error::file(path, message))?;
        Ok(graph)
    }

    pub fn len(&self) -> usize {
        self.node_offsets.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops unknown nodes with their edges, and examples without a known node; `path` is for error messages.
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
            return Err(Error::file(path, "has no examples with a known label"));
        }
        data.validate().map_err(|message| Error::file(path, message))?;
        Ok((data, dropped))
    }

    /// Fails when a feature of a known node is not finite; the message counts examples and nodes as the file does.
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

    /// Checks everything that renumbering nodes relies on.
    fn check_edges(&self) -> Result<(), String> {
        if self.node_offsets.len() != self.edge_offsets.len() {
            let (n, e) = (self.node_offsets.len(), self.edge_offsets.len());
            return Err(format!("node_offsets has {n} entries and edge_offsets {e}, but both must have n + 1"));
        }
        for i in 0..self.len() {
            let count = self.node_offsets[i + 1] - self.node_offsets[i];
            let edges = &self.edges[self.edge_offsets[i]..self.edge_offsets[i + 1]];
            if let Some([k, l]) = edges.iter().find(|e| e[0] == e[1] || e[0].max(e[1]) as usize >= count) {
                return Err(format!(
                    "array edges: example {i} with {count} nodes has the edge {k} – {l}: ends must be two different nodes below {count}"
                ));
            }
        }
        Ok(())
    }

    /// Writes the file. Arrays are stored uncompressed, because the bytes of a compressor may change with its version.
    fn archive(&self, to: impl Write + Seek) -> io::Result<()> {
        let mut zip = ZipWriter::new(to);
        let nodes = self.labels.len();
        let shape = [nodes, self.features_per_node];
        match &self.features {
            NodeFeatures::Single(values) => put(&mut zip, "features", "<f4", &shape, values, |v| v.to_le_bytes()),
            NodeFeatures::Half(values) => {
                put(&mut zip, "features", "<f2", &shape, values, |v| v.to_bits().to_le_bytes())
            }
        }?;
        put(&mut zip, "labels", "<i4", &[nodes], &self.labels, |l| l.to_le_bytes())?;
        let offset = |o: &usize| (*o as i64).to_le_bytes();
        put(&mut zip, "node_offsets", "<i8", &[self.node_offsets.len()], &self.node_offsets, offset)?;
        put(&mut zip, "edges", "<i4", &[self.edges.len(), 2], self.edges.as_flattened(), |id| id.to_le_bytes())?;
        put(&mut zip, "edge_offsets", "<i8", &[self.edge_offsets.len()], &self.edge_offsets, offset)?;
        put(&mut zip, "num_labels", "<i8", &[], &[self.num_labels], offset)?;
        if let Some(weight) = self.pairwise_weight {
            put(&mut zip, "pairwise_weight", "<f8", &[], &[weight], |w| w.to_le_bytes())?;
        }
        if let Some(pixels) = &self.label_pixels {
            put(&mut zip, "label_pixels", "<i4", &[nodes, self.num_labels], pixels, |count| count.to_le_bytes())?;
        }
        if let Some(meta) = &self.meta {
            let letters: Vec<char> = meta.chars().collect();
            put(&mut zip, "meta", &format!("<U{}", letters.len()), &[], &letters, |c| u32::from(*c).to_le_bytes())?;
        }
        zip.finish().map(drop).map_err(io::Error::other)
    }
}

fn put<T, const N: usize>(
    zip: &mut ZipWriter<impl Write + Seek>,
    name: &str,
    descr: &str,
    shape: &[usize],
    values: &[T],
    encode: impl Fn(&T) -> [u8; N],
) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(0o644)
        .large_file(values.len() * N > 0xf000_0000);
    zip.start_file(format!("{name}.npy"), options).map_err(io::Error::other)?;
    npy::write_header(zip, descr, shape)?;
    for block in values.chunks(1 << 14) {
        zip.write_all(block.iter().map(&encode).collect::<Vec<_>>().as_flattened())?;
    }
    Ok(())
}

/// An open graph file, and the memory that its contents may still take.
struct Archive<'p> {
    path: &'p Path,
    zip: ZipArchive<BufReader<File>>,
    quota: Quota,
}

/// Reads one array.
type Reader<T> = fn(&mut dyn Read, &mut Quota) -> Result<T, String>;

impl<'p> Archive<'p> {
    fn open(path: &'p Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let zip = panics::catch(|| ZipArchive::new(BufReader::with_capacity(1 << 18, file)));
        let zip = zip.and_then(|zip| zip.map_err(|e| e.to_string()));
        let zip =
            zip.map_err(|e| Error::file(path, format!("is not a graph file: it must be a NumPy .npz archive ({e})")))?;
        Ok(Self { path, zip, quota: Quota::of(path)? })
    }

    fn wrong(&self, name: &str, message: impl std::fmt::Display) -> Error {
        Error::file(self.path, format!("array {name} {message}"))
    }

    /// Reads an array, if the file has it.
    fn optional<T>(&mut self, name: &str, read: Reader<T>) -> Result<Option<T>> {
        let read = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(mut entry) => read(&mut entry, &mut self.quota).map(Some),
            Err(ZipError::FileNotFound) => Ok(None),
            Err(e) => Err(format!("cannot be read ({e})")),
        };
        read.map_err(|message| self.wrong(name, message))
    }

    /// Reads an array that the file must have, with this number of axes.
    fn array<V, const AXES: usize>(&mut self, name: &str, read: Reader<(Vec<usize>, V)>) -> Result<([usize; AXES], V)> {
        let (shape, values) = self.optional(name, read)?.ok_or_else(|| {
            let arrays = "features, labels, node_offsets, edges, edge_offsets and num_labels";
            self.wrong(name, format!("is missing; a graph file has the arrays {arrays}"))
        })?;
        let wrong = |shape| self.wrong(name, format!("has shape {shape:?}, but must have {AXES} axes"));
        Ok((shape.try_into().map_err(wrong)?, values))
    }

    fn scalar<T: Element>(&mut self, name: &str) -> Result<Option<T>> {
        let Some((shape, values)) = self.optional(name, npy::read::<T>)? else { return Ok(None) };
        let [value] = values[..] else {
            return Err(self.wrong(name, format!("has shape {shape:?}, but must be a scalar")));
        };
        Ok(Some(value))
    }

    fn offsets(&mut self, name: &str, end: usize) -> Result<Vec<usize>> {
        let ([_], raw) = self.array(name, npy::read::<i64>)?;
        if raw.first() != Some(&0) || raw.last() != Some(&(end as i64)) || !raw.is_sorted() {
            return Err(self.wrong(name, format!("must start at 0, never decrease and end at {end}")));
        }
        Ok(raw.into_iter().map(|o| o as usize).collect())
    }

    fn label_pixels(&mut self, nodes: usize, num_labels: usize) -> Result<Option<Vec<u32>>> {
        let name = "label_pixels";
        let Some((shape, counts)) = self.optional(name, npy::read::<i64>)? else { return Ok(None) };
        if shape != [nodes, num_labels] {
            return Err(self.wrong(name, format!("has shape {shape:?}, but must be [{nodes}, {num_labels}]")));
        }
        let count = |count: i64| {
            u32::try_from(count).map_err(|_| self.wrong(name, format!("contains {count}, which is not a count")))
        };
        counts.into_iter().map(count).collect::<Result<_>>().map(Some)
    }
}
