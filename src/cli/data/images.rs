//! `data prepare` and `data show`: images to superpixel graphs, and what they look like.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use super::super::terminal::print_path;
use super::note;
use crate::dataset::image::{FEATURES, SlicParams, draw, features, slic};
use crate::dataset::images::ImageSet;
use crate::dataset::known::DataDir;
use crate::dataset::memory::Quota;
use crate::dataset::npy;
use crate::dataset::prepare::{self as preparation, Recipe};
use crate::store::files;
use ssvm::oracle::predict::predict;

/// Turn images into superpixel graphs, one .npz file per data set
///
/// Prints the path of each file. Without --output it is in the cache folder that `run` and `solve` read.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench data prepare stanford --output stanford.npz")]
pub struct PrepareArgs {
    /// Image sets: horses, stanford
    #[arg(required = true)]
    sets: Vec<String>,
    /// File to write, - for standard output; one data set only
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Store features in half precision: half the bytes, and shorter steps with two labels. In the cache folder such a
    /// file is separate from the full one; train on it as graph:PATH
    #[arg(long)]
    half: bool,
    #[command(flatten)]
    slic: SlicArgs,
}

/// Draw an image, its superpixels, the truth and, given weights, the prediction side by side
///
/// Needs the official files of the image set. Standard error names the colour of each label and, with --weights, says how
/// many pixels are predicted correctly.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench data show horses 12 --output picture.png --weights W.npy")]
pub struct ShowArgs {
    /// Image set: horses, stanford
    set: String,
    /// Index of the example in the prepared file, from 0
    index: usize,
    /// PNG file to write; - is standard output
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Weights saved by `solve --save-weights`
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Weight of each border between different labels
    #[arg(long, default_value_t = 1.0)]
    pairwise_weight: f64,
    #[command(flatten)]
    slic: SlicArgs,
}

#[derive(Args)]
struct SlicArgs {
    /// Target number of superpixels per image
    #[arg(long, default_value_t = SlicParams::default().superpixels)]
    superpixels: usize,
    /// Weight of distance in the image relative to distance in colour
    #[arg(long, default_value_t = SlicParams::default().compactness)]
    compactness: f32,
    /// Rounds of assigning pixels and updating centres
    #[arg(long, default_value_t = SlicParams::default().rounds)]
    rounds: usize,
}

impl SlicArgs {
    fn params(&self) -> SlicParams {
        SlicParams { superpixels: self.superpixels, compactness: self.compactness, rounds: self.rounds }
    }
}

/// The image set of this name; fails when its files are not the official ones, unless any are accepted.
fn image_set(name: &str, data: &DataDir) -> crate::Result<ImageSet> {
    let set = ImageSet::from_name(name)?;
    if !data.accept {
        data.check_content(set.known())?;
    }
    Ok(set)
}

pub fn prepare(args: &PrepareArgs, data: &DataDir) -> anyhow::Result<()> {
    let PrepareArgs { sets, output, half, slic } = args;
    let recipe = Recipe { slic: slic.params(), half: *half };
    if output.is_some() && sets.len() > 1 {
        bail!("--output takes one data set, not {}", sets.len());
    }
    for set in sets {
        // A stream cannot be read back: it gets a copy of the file in the cache.
        let stream = output.as_deref().filter(|path| files::is_stream(path));
        let file = output.as_deref().filter(|_| stream.is_none());
        let (path, new) = preparation::prepared(image_set(set, data)?, data, &recipe, file)?;
        stream.map_or(Ok(()), |stream| files::copy(&path, stream))?;
        let meta = preparation::Meta::read(&path)?;
        let left_out: String = meta.excluded.iter().map(|(name, why)| format!("; {name} left out: {why}")).collect();
        let done = if new { "prepared" } else { "already prepared" };
        note(&format!("{set}: {} images {done}{left_out}", meta.names.len()));
        print_path(&path)?;
    }
    Ok(())
}

pub fn show(args: &ShowArgs, data: &DataDir) -> anyhow::Result<()> {
    let (set, params) = (&args.set, args.slic.params());
    preparation::check_params(&params)?;
    files::try_folder(&args.output)?;
    let images = image_set(set, data)?;
    let (name, picture, truth) = preparation::example(images, data, args.index)?;
    let superpixels = slic(&picture, &params);
    let mut predicted = None;
    if let Some(path) = &args.weights {
        let file = files::open_input(path).with_context(|| format!("cannot read {}", path.display()))?;
        let w = npy::read::<f64>(&mut std::io::BufReader::new(file), &mut Quota::of(path)?);
        let (_, w) = w.map_err(|message| crate::Error::file(path, format!("this array {message}")))?;
        let (path, found, expected) = (path.display(), w.len(), FEATURES * images.num_labels());
        if found != expected {
            bail!("{path}: has {found} weights, but {set} needs {expected}; train on {set} to get them");
        }
        let edges = superpixels.edges();
        let features = features::describe(&picture, &superpixels, &edges);
        predicted = Some(predict(&features, &edges, images.num_labels(), args.pairwise_weight, &w)?);
    }
    draw::panels(&picture, &superpixels, &truth, predicted.as_deref()).save_png(&args.output)?;
    let prediction = if predicted.is_some() { ", prediction" } else { "" };
    note(&format!("{name}: picture, {} superpixels, truth{prediction}", superpixels.count));
    for (label, name) in images.label_names().iter().enumerate() {
        note(&format!("  {:<10} {name}", draw::colour_name(label)));
    }
    if let Some(labels) = predicted {
        let (mut right, mut all) = (0, 0);
        for (node, truth) in superpixels.of_pixel.iter().zip(&truth.labels).filter(|(_, truth)| **truth >= 0) {
            right += u64::from(labels[*node as usize] == *truth as u16);
            all += 1;
        }
        note(&format!("  {:.1} % of {all} known pixels are correct", 100.0 * right as f64 / all.max(1) as f64));
    }
    print_path(&args.output)
}
