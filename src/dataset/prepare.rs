//! Cuts the images of a set into superpixel graphs and writes them as one graph file, in the cache folder or to a given
//! path. A file that is already prepared is used as it is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::image::{FEATURES, ImageGraph, LabelMap, Picture, SlicParams};
use super::images::{ImageSet, Pair};
use super::known::DataDir;
use super::notice::Notice;
use super::npz::{self, RawGraph};
use super::{Described, Request};
use crate::store::files;
use crate::{Error, Result};
use ssvm::data::NodeFeatures;
use ssvm::problem::Size;

/// Must be raised whenever the same images and parameters would give other bytes than before.
const VERSION: u32 = 1;

/// Images processed before their graphs are joined; bounds the memory beside the result.
const BATCH: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recipe {
    pub slic: SlicParams,
    pub half: bool,
}

/// Called with the number of images done and their total, from any thread.
pub type PrepareProgress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// The `meta` of a prepared file: enough to find each picture and to cut it into the same superpixels again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    pub set: String,
    /// Version of superpixels and features.
    pub version: u32,
    /// Identity of the images, see [`ImageSet::checksum`].
    pub source_sha256: String,
    pub slic: SlicParams,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub half: bool,
    pub labels: Vec<String>,
    pub names: Vec<String>,
    /// Pictures left out, with the reason.
    pub excluded: Vec<(String, String)>,
}

impl Meta {
    pub fn read(path: &Path) -> Result<Self> {
        let text = npz::read_meta(path)?
            .ok_or_else(|| Error::file(path, "has no meta: it was not written by `data prepare`"))?;
        serde_json::from_str(&text).map_err(|e| {
            Error::file(path, format!("has meta of another kind ({e}): it was not written by `data prepare`"))
        })
    }
}

/// `$XDG_CACHE_HOME/ssvm-bench`, else `~/.cache/ssvm-bench`.
pub fn cache_dir() -> Result<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|cache| cache.join("ssvm-bench"))
        .ok_or_else(|| super::Error::NoCacheFolder.into())
}

pub fn check_params(params: &SlicParams) -> Result<()> {
    let SlicParams { superpixels, compactness, rounds } = *params;
    let (what, expected, value) = if !(1..=100_000).contains(&superpixels) {
        ("superpixels", "1 to 100000", superpixels.to_string())
    } else if !(compactness.is_finite() && compactness > 0.0) {
        ("compactness", "positive", compactness.to_string())
    } else if !(1..=1000).contains(&rounds) {
        ("rounds", "1 to 1000", rounds.to_string())
    } else {
        return Ok(());
    };
    Err(super::Error::Setting { what, expected, value }.into())
}

/// Path of the prepared file of a set, whether it exists or not, from the checksum of its source and the recipe.
pub fn cache_path(set: ImageSet, source_sha256: &str, recipe: &Recipe) -> Result<PathBuf> {
    let mut key = serde_json::json!([VERSION, set.name(), source_sha256, recipe.slic]).to_string();
    if recipe.half {
        key += "half";
    }
    let hash = files::sha256_hex(key.as_bytes());
    Ok(cache_dir()?.join(format!("{}-{}.npz", set.name(), &hash[..16])))
}

/// Facts of a set before it is prepared; once it is, only those in its file count.
pub(super) fn describe(request: &Request<'_>) -> Result<Described> {
    let (set, recipe) = (ImageSet::from_name(request.head())?, Recipe::default());
    let source = request.data.require(set.known())?;
    let path = cache_path(set, &set.checksum(&source)?, &recipe)?;
    if path.exists() {
        return Ok(Described::Unread);
    }
    let n = set.count(&source)? as u64;
    // Features of a node, its label, and about three edges.
    let bytes = n * recipe.slic.superpixels as u64 * (4 * FEATURES as u64 + 24);
    let size = Size { n, d: (FEATURES * set.num_labels()) as u64, bytes };
    Ok(Described::Pending { work: format!("prepare {n} images into {}", path.display()), size: Some(size) })
}

/// [`prepare`] with its progress on stderr, unless the data folder is a quiet one.
pub fn prepared(set: ImageSet, data: &DataDir, recipe: &Recipe, out: Option<&Path>) -> Result<(PathBuf, bool)> {
    if data.quiet {
        return prepare(set, data, recipe, out, &|_, _| {});
    }
    let notice = Notice::new(set.name());
    prepare(set, data, recipe, out, &|done, total| notice.show(done, total))
}

/// Prepares a set into `out`, or into the cache folder. Returns the file, and whether it is new.
pub fn prepare(
    set: ImageSet,
    data_dir: &DataDir,
    recipe: &Recipe,
    out: Option<&Path>,
    progress: PrepareProgress<'_>,
) -> Result<(PathBuf, bool)> {
    check_params(&recipe.slic)?;
    let source = data_dir.require(set.known())?;
    let source_sha256 = set.checksum(&source)?;
    let path = match out {
        Some(path) => path.to_owned(),
        None => cache_path(set, &source_sha256, recipe)?,
    };
    if path.exists() {
        let meta = Meta::read(&path)?;
        let found = Recipe { slic: meta.slic, half: meta.half };
        let same = (meta.version, meta.set.as_str(), &meta.source_sha256, &found)
            == (VERSION, set.name(), &source_sha256, recipe);
        let other = "exists and was prepared from other images or parameters; delete it or choose another name";
        return if same { Ok((path, false)) } else { Err(Error::file(path, other)) };
    }
    // Tried before the work starts: a wrong path must not cost it.
    files::try_folder(&path)?;
    let graph = build(set, &source, source_sha256, recipe, progress)?;
    npz::write_graph(&path, &graph)?;
    Ok((path, true))
}

/// Name, picture and pixel labels of one example, counted in the order of a prepared file.
pub fn example(set: ImageSet, data: &DataDir, index: usize) -> Result<(String, Picture, LabelMap)> {
    let source = data.require(set.known())?;
    let pairs: Vec<Pair> = set.pairs(&source)?.into_iter().filter(|pair| set.excluded(&pair.name).is_none()).collect();
    let Some(pair) = pairs.get(index) else {
        let last = pairs.len().saturating_sub(1);
        return Err(super::Error::NoSuchExample { set: set.name(), last, index }.into());
    };
    let (picture, truth) = set.decode(pair).map_err(|message| Error::file(&source, message))?;
    Ok((pair.name.clone(), picture, truth))
}

fn build(
    set: ImageSet,
    source: &Path,
    source_sha256: String,
    recipe: &Recipe,
    progress: PrepareProgress<'_>,
) -> Result<RawGraph> {
    let (used, left_out): (Vec<Pair>, Vec<Pair>) =
        set.pairs(source)?.into_iter().partition(|pair| set.excluded(&pair.name).is_none());
    let reason = |pair: &Pair| (pair.name.clone(), set.excluded(&pair.name).unwrap_or_default().to_owned());
    let meta = Meta {
        set: set.name().into(),
        version: VERSION,
        source_sha256,
        slic: recipe.slic,
        half: recipe.half,
        labels: set.label_names().iter().map(|&name| name.into()).collect(),
        names: used.iter().map(|pair| pair.name.clone()).collect(),
        excluded: left_out.iter().map(reason).collect(),
    };
    let mut graph = RawGraph {
        num_labels: set.num_labels(),
        features_per_node: FEATURES,
        features: if recipe.half { NodeFeatures::Half(Vec::new()) } else { NodeFeatures::default() },
        node_offsets: vec![0],
        edge_offsets: vec![0],
        label_pixels: Some(Vec::new()),
        meta: Some(serde_json::to_string(&meta).map_err(|e| Error::file(source, e.to_string()))?),
        ..RawGraph::default()
    };
    let done = AtomicUsize::new(0);
    progress(0, used.len());
    for batch in used.chunks(BATCH) {
        let describe = |pair: &Pair| {
            let (picture, truth) = set.decode(pair)?;
            let example = ImageGraph::new(&picture, &truth, set.num_labels(), &recipe.slic);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, used.len());
            Ok(example)
        };
        let examples: Vec<Result<ImageGraph, String>> = batch.par_iter().map(describe).collect();
        for example in examples {
            let example = example.map_err(|message| Error::file(source, message))?;
            graph.features.extend(example.features);
            graph.labels.extend(example.labels);
            graph.edges.extend(example.edges);
            graph.label_pixels.get_or_insert_default().extend(example.label_pixels);
            graph.node_offsets.push(graph.labels.len());
            graph.edge_offsets.push(graph.edges.len());
        }
    }
    Ok(graph)
}
