//! `data`: list, check, fetch, prepare and show the public data sets.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::format::table_or_json;
use super::{note, print, print_path, print_width};
use crate::dataset::DatasetInfo;
use crate::dataset::fetch::{self, Outcome};
use crate::dataset::image::{FEATURES, SlicParams, draw, features, slic};
use crate::dataset::images::ImageSet;
use crate::dataset::known::{Checked, DataDir, KnownSet};
use crate::dataset::memory::Quota;
use crate::dataset::npy;
use crate::dataset::prepare::{self, Recipe};
use crate::experiment::catalog::Catalog;
use crate::store::files;
use crate::table::Kind::{Text, Values};
use crate::table::{Format, Table, cells};
use crate::text::{nearest, wrapped};
use ssvm::oracle::predict::predict;

#[derive(Args)]
#[command(
    after_help = "Example:\n  ssvm-bench data list\n  ssvm-bench data fetch usps\n  ssvm-bench data show horses 3 --out horse.png"
)]
pub struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    /// Every known set: size, terms, where it was found, whether it is prepared.
    #[command(after_help = "Example: ssvm-bench data list")]
    List {
        /// Table for people or one JSON object per set.
        #[arg(long, value_parser = table_or_json(), default_value = "table")]
        format: Format,
    },
    /// Compare the files of data sets with their known or recorded checksums.
    #[command(after_help = "Example: ssvm-bench data check usps ocr")]
    Check {
        /// Sets; all that are found if none is named.
        sets: Vec<String>,
    },
    /// Download sets from their official addresses; goes on where a broken transfer stopped.
    #[command(after_help = "Example: ssvm-bench data fetch horses stanford")]
    Fetch {
        /// Sets.
        #[arg(required = true)]
        sets: Vec<String>,
    },
    /// Images to superpixel graphs, as one .npz file; prints its path.
    #[command(after_help = "Example: ssvm-bench data prepare stanford --out stanford.npz")]
    Prepare {
        /// Image sets: horses, stanford.
        #[arg(required = true)]
        sets: Vec<String>,
        /// Where to write, - for standard output (one set only); else the cache folder that `run` and `solve` use.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Store features in half precision: half the bytes, and shorter steps with two labels. The cache folder keeps such a file beside
        /// the other; train on it as graph:PATH.
        #[arg(long)]
        half: bool,
        #[command(flatten)]
        slic: SlicArgs,
    },
    /// Draw an image, its superpixels, the truth and, given weights, the prediction side by side.
    #[command(after_help = "Example: ssvm-bench data show horses 12 --out picture.png --weights W.npy")]
    Show(ShowArgs),
}

#[derive(Args)]
struct ShowArgs {
    /// Image set: horses, stanford.
    set: String,
    /// Example, from 0, in the order of the prepared file.
    index: usize,
    /// The picture to write, PNG; - for standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Weights saved by `solve --save-weights`.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Weight of each border between different labels.
    #[arg(long, default_value_t = 1.0)]
    pairwise_weight: f64,
    #[command(flatten)]
    slic: SlicArgs,
}

#[derive(Args)]
struct SlicArgs {
    /// Superpixels aimed at per image.
    #[arg(long, default_value_t = SlicParams::default().superpixels)]
    superpixels: usize,
    /// Weight of distance in the plane against distance in colour.
    #[arg(long, default_value_t = SlicParams::default().compactness)]
    compactness: f32,
    /// Rounds of assignment and update.
    #[arg(long, default_value_t = SlicParams::default().rounds)]
    rounds: usize,
}

impl SlicArgs {
    fn params(&self) -> SlicParams {
        SlicParams { superpixels: self.superpixels, compactness: self.compactness, rounds: self.rounds }
    }
}

pub fn run(args: &DataArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    match &args.command {
        DataCommand::List { format } => list(catalog, data, *format),
        DataCommand::Check { sets } => check(catalog, data, sets),
        DataCommand::Fetch { sets } => fetch_sets(catalog, data, sets),
        DataCommand::Prepare { sets, out, half, slic } => {
            let recipe = Recipe { slic: slic.params(), half: *half };
            if out.is_some() && sets.len() > 1 {
                bail!("--out takes one set, not {}", sets.len());
            }
            for set in sets {
                // A stream cannot be read back: it gets a copy of the file in the cache.
                let stream = out.as_deref().filter(|path| files::is_stream(path));
                let file = out.as_deref().filter(|_| stream.is_none());
                let (path, new) = prepare::prepared(ImageSet::from_name(set)?, data, &recipe, file)?;
                stream.map_or(Ok(()), |stream| files::copy(&path, stream))?;
                let meta = prepare::Meta::read(&path)?;
                let left_out: String =
                    meta.excluded.iter().map(|(name, why)| format!("; {name} left out: {why}")).collect();
                let done = if new { "prepared" } else { "already prepared" };
                note(&format!("{set}: {} images {done}{left_out}", meta.names.len()));
                print_path(&path)?;
            }
            Ok(())
        }
        DataCommand::Show(args) => show(args, data),
    }
}

/// Whether the default preparation of a set is in the cache; nothing for sets that need none.
fn prepared(set: &DatasetInfo, source: Option<&PathBuf>) -> Option<bool> {
    let images = ImageSet::from_name(set.name).ok()?;
    let sha256 = images.checksum(source?).ok()?;
    Some(prepare::cache_path(images, &sha256, &Recipe::default()).ok()?.is_file())
}

/// The public sets: rows of the table that have files.
fn public(catalog: &dyn Catalog) -> impl Iterator<Item = (&DatasetInfo, &'static KnownSet)> {
    catalog.datasets().iter().filter_map(|info| Some((info, info.known?)))
}

/// The public set of this name; fails with the names of those that exist.
fn find(catalog: &dyn Catalog, name: &str) -> anyhow::Result<&'static KnownSet> {
    if let Some((_, set)) = public(catalog).find(|(info, _)| info.name == name) {
        return Ok(set);
    }
    let names: Vec<&str> = public(catalog).map(|(info, _)| info.name).collect();
    let near = nearest(name, names.iter().copied());
    bail!("there is no data set {name:?} with files of its own{near}; known: {}", names.join(", "))
}

fn list(catalog: &dyn Catalog, data: &DataDir, format: Format) -> anyhow::Result<()> {
    let mut table = Table::new("", [("name", Text), ("examples", Values), ("size", Values)]);
    table.widen(Text, ["what", "prepared", "found"]);
    table.spare(["size", "examples", "what"]);
    let mut terms = String::new();
    for (info, set) in public(catalog) {
        let found = data.locate(set);
        let prepared = prepared(info, found.as_ref());
        let KnownSet { name, examples, size, page, terms: license, .. } = *set;
        if format == Format::Json {
            let line = json!({"name": name, "title": info.about, "examples": examples, "size": size,
                "terms": license, "page": page, "found": found, "prepared": prepared});
            print(&format!("{line}\n"))?;
            continue;
        }
        table.push(cells![
            name,
            if examples == 0 { "?".to_owned() } else { examples.to_string() },
            size,
            info.about,
            prepared.map_or("-", |yes| if yes { "yes" } else { "no" }),
            found.as_ref().map_or_else(|| "no".to_owned(), |path| path.display().to_string()),
        ]);
        terms += &format!("{name:<9} {license}; {page}\n");
    }
    if format == Format::Json {
        return Ok(());
    }
    let others = catalog.datasets().iter().filter(|info| info.known.is_none());
    let others: Vec<String> = others.map(DatasetInfo::usage).collect();
    let width = print_width();
    let terms: String = terms.lines().map(|line| wrapped(line, width, 0)).collect();
    let others = wrapped(&format!("without official files: {}", others.join(" ")), width, 0);
    print(&format!("{}\n{terms}\n{others}", table.text(width)))
}

fn check(catalog: &dyn Catalog, data: &DataDir, names: &[String]) -> anyhow::Result<()> {
    let sets: Vec<&KnownSet> = if names.is_empty() {
        public(catalog).map(|(_, set)| set).filter(|set| data.locate(set).is_some()).collect()
    } else {
        names.iter().map(|name| find(catalog, name)).collect::<Result<_, _>>()?
    };
    if sets.is_empty() {
        bail!("no data set is in {} ({}); see `ssvm-bench data list`", data.path.display(), data.chosen_by);
    }
    let mut wrong = 0;
    for set in sets {
        for (path, checked) in data.check(set)? {
            let text = match checked {
                Checked::Known => "right: the content is the known one".into(),
                Checked::Recorded => "as at the first download, which was trusted: no checksum is known".into(),
                Checked::Unrecorded(found) => format!("found; nothing to compare with, sha256 {found}"),
                Checked::Missing => "missing; training does not need it".into(),
                Checked::Different(expected, found) => {
                    wrong += 1;
                    format!("WRONG: sha256 {found}, expected {expected}; move it away and fetch {} again", set.name)
                }
            };
            print(&format!("{}\t{}\t{text}\n", set.name, path.display()))?;
        }
    }
    if wrong > 0 {
        bail!("{wrong} of the files differ from what they should be");
    }
    Ok(())
}

/// Downloads these sets.
pub(super) fn fetch_sets(catalog: &dyn Catalog, data: &DataDir, names: &[String]) -> anyhow::Result<()> {
    let sets = names.iter().map(|name| find(catalog, name)).collect::<Result<Vec<_>, _>>()?;
    for set in sets {
        note(&format!("{}: {}", set.name, set.terms));
        for file in set.files {
            // Invisible when standard error is no terminal.
            let template = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(0).with_style(style).with_message(file.path);
            let mut progress = |have: u64, total: Option<u64>| {
                bar.set_length(total.unwrap_or_default());
                bar.set_position(have);
            };
            let outcome = fetch::fetch(data, set, file, &mut progress, &std::thread::sleep)?;
            bar.finish_and_clear();
            let text = match outcome {
                Outcome::AlreadyThere(Checked::Known) => "already there and right".into(),
                Outcome::AlreadyThere(Checked::Recorded) => "already there, the same as at the first download".into(),
                Outcome::AlreadyThere(_) => {
                    "already there; no checksum of it is known or recorded: nothing to compare it with".into()
                }
                Outcome::Elsewhere(place) => format!("not needed: the set is at {}", place.display()),
                Outcome::Downloaded(Checked::Unrecorded(sha256)) => format!(
                    "downloaded and TRUSTED ON FIRST USE: no checksum of this file is known; sha256 {sha256} was \
                     recorded, later downloads are compared with it"
                ),
                Outcome::Downloaded(Checked::Recorded) => "downloaded, the same as at the first download".into(),
                Outcome::Downloaded(_) => "downloaded, content is the known one".into(),
            };
            print(&format!("{}\t{}\t{text}\n", set.name, data.path.join(file.path).display()))?;
        }
    }
    Ok(())
}

fn show(args: &ShowArgs, data: &DataDir) -> anyhow::Result<()> {
    let (set, params) = (&args.set, args.slic.params());
    prepare::check_params(&params)?;
    let images = ImageSet::from_name(set)?;
    let (name, picture, truth) = prepare::example(images, data, args.index)?;
    let superpixels = slic(&picture, &params);
    let mut predicted = None;
    if let Some(path) = &args.weights {
        let file = std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
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
    draw::panels(&picture, &superpixels, &truth, predicted.as_deref()).save_png(&args.out)?;
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
        note(&format!("  {:.1} % of {all} known pixels right", 100.0 * right as f64 / all.max(1) as f64));
    }
    print_path(&args.out)
}
