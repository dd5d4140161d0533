//! `data`: data sets, oracle programs and certified optima. This file lists, checks and fetches the public data sets.

mod images;
mod optimum;
mod test;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::args::{FormatArgs, json as pretty};
use super::terminal::print_width;
use super::{Exit, note, print, say};
use crate::dataset::DatasetInfo;
use crate::dataset::fetch::{self, Fetched};
use crate::dataset::images::ImageSet;
use crate::dataset::known::{Checked, DataDir, KnownSet};
use crate::dataset::prepare::{self, Recipe};
use crate::experiment::catalog::Catalog;
use crate::table::Kind::{Text, Values};
use crate::table::{Format, Table, cells};
use crate::text::{Pattern, nearest, wrapped};

/// Manage data sets, oracle programs and certified optima
///
/// Official files are looked for in --data-dir, else in $SSVM_DATA, else in data/. Images become superpixel graphs in a
/// cache folder when they are first needed; `prepare` does this beforehand.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench data list\n  ssvm-bench data optimum usps-synth:n=50")]
pub struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    /// List the public data sets with their size, terms of use and place on this machine
    ///
    /// Names the other data sets too, which are generated or are files and programs of your own. `data fetch` downloads a
    /// public data set.
    #[command(after_help = "Example:\n  ssvm-bench data list")]
    List(FormatArgs),
    /// Compare the files of data sets with their official or recorded checksums
    ///
    /// Fails if a file differs. A file without an official checksum is compared with the one that its first download
    /// recorded.
    #[command(after_help = "Example:\n  ssvm-bench data check usps ocr\n  ssvm-bench data check --only 'horse*'")]
    Check(CheckArgs),
    /// Download data sets from their official addresses
    ///
    /// Continues a download that was interrupted. A file without an official checksum is trusted at its first download.
    #[command(after_help = "Example:\n  ssvm-bench data fetch horses stanford")]
    Fetch {
        /// Data sets
        #[arg(required = true)]
        sets: Vec<String>,
    },
    Prepare(images::PrepareArgs),
    Show(images::ShowArgs),
    Test(test::TestArgs),
    Optimum(optimum::OptimumArgs),
}

#[derive(Args)]
struct CheckArgs {
    /// Data sets [default: all that are on this machine]
    sets: Vec<String>,
    /// Only data sets that match, such as 'horse*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    #[command(flatten)]
    format: FormatArgs,
}

pub fn run(args: &DataArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Exit> {
    match &args.command {
        DataCommand::Test(args) => return test::run(args, data),
        DataCommand::Optimum(args) => return optimum::run(args, catalog, data),
        DataCommand::List(FormatArgs { format }) => list(catalog, data, *format),
        DataCommand::Check(args) => check(catalog, data, args),
        DataCommand::Fetch { sets } => fetch_sets(catalog, data, sets),
        DataCommand::Prepare(args) => images::prepare(args, data),
        DataCommand::Show(args) => images::show(args, data),
    }?;
    Ok(Exit::Fine)
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
    bail!("'{name}' is not a public data set{near}; known: {}", names.join(", "))
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
        terms += &format!("{name}: {license}; {page}\n");
    }
    match format {
        Format::Table => {}
        Format::Json => return Ok(()),
        _ => return print(&table.render(format, print_width(), &())?),
    }
    let others = catalog.datasets().iter().filter(|info| info.known.is_none());
    let others: Vec<String> = others.map(DatasetInfo::usage).collect();
    let width = print_width();
    let terms: String = terms.lines().map(|line| wrapped(line, width, 0)).collect();
    let others = wrapped(&format!("other data sets: {}", others.join(" ")), width, 0);
    print(&format!("{}\n{terms}\n{others}", table.text(width)))
}

fn check(catalog: &dyn Catalog, data: &DataDir, args: &CheckArgs) -> anyhow::Result<()> {
    let CheckArgs { sets: names, only, format: FormatArgs { format } } = args;
    let mut sets: Vec<&KnownSet> = if names.is_empty() {
        public(catalog).map(|(_, set)| set).filter(|set| data.locate(set).is_some()).collect()
    } else {
        names.iter().map(|name| find(catalog, name)).collect::<Result<_, _>>()?
    };
    let patterns =
        only.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::msg)?;
    let matches = |name: &str| patterns.iter().any(|pattern| pattern.matches(&format!("{name}/")));
    if !patterns.is_empty() {
        sets.retain(|set| matches(set.name));
    }
    if sets.is_empty() && !only.is_empty() {
        let known: Vec<&str> = public(catalog).map(|(info, _)| info.name).collect();
        bail!("no data set to check matches --only {}; the public data sets are {}", only.join(", "), known.join(", "));
    }
    if sets.is_empty() {
        bail!("no data set found in {} ({}); see `ssvm-bench data list`", data.path.display(), data.chosen_by);
    }
    let mut wrong = 0;
    let mut table = Table::new("", [("data set", Text), ("file", Text), ("result", Text)]);
    let mut values = Vec::new();
    for set in sets {
        for (path, checked) in data.check(set)? {
            let result = match checked {
                Checked::Known => "official",
                Checked::Recorded => "recorded",
                Checked::Unrecorded(_) => "unrecorded",
                Checked::Missing => "missing",
                Checked::Different(..) => "different",
            };
            let text = match checked {
                Checked::Known => "correct, with the official checksum".into(),
                Checked::Recorded => {
                    "unchanged since the first download, which was trusted because no checksum is known".into()
                }
                Checked::Unrecorded(found) => {
                    format!("found; not checked, because no checksum is known or recorded; sha256 {found}")
                }
                Checked::Missing => "missing; training does not need it".into(),
                Checked::Different(expected, found) => {
                    wrong += 1;
                    format!("WRONG: sha256 {found}, expected {expected}; move it away and fetch {} again", set.name)
                }
            };
            values.push(json!({"dataset": set.name, "file": path, "result": result, "text": text}));
            table.push(cells![set.name, path.display().to_string(), text]);
        }
    }
    match format {
        Format::Json => print(&pretty(&values)?)?,
        format => print(&table.render(*format, print_width(), &())?)?,
    }
    if wrong > 0 {
        bail!("the checksum does not match for {wrong} of the files");
    }
    Ok(())
}

/// Downloads these sets.
pub(super) fn fetch_sets(catalog: &dyn Catalog, data: &DataDir, names: &[String]) -> anyhow::Result<()> {
    let sets = names.iter().map(|name| find(catalog, name)).collect::<Result<Vec<_>, _>>()?;
    for set in sets {
        note(&format!("{}: {}", set.name, set.terms));
        for file in set.files {
            // Invisible when standard error is not a terminal.
            let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(0).with_style(style).with_message(file.path);
            let mut progress = |have: u64, total: Option<u64>| {
                bar.set_length(total.unwrap_or_default());
                bar.set_position(have);
            };
            let outcome = fetch::fetch(data, set, file, &mut progress, &std::thread::sleep)?;
            bar.finish_and_clear();
            let text = match outcome {
                Fetched::AlreadyThere(Checked::Known) => "already there, with the official checksum".into(),
                Fetched::AlreadyThere(Checked::Recorded) => "already there, unchanged since the first download".into(),
                Fetched::AlreadyThere(_) => {
                    "already there; not checked, because no checksum is known or recorded".into()
                }
                Fetched::Elsewhere(place) => format!("not needed: the set is at {}", place.display()),
                Fetched::Downloaded(Checked::Unrecorded(sha256)) => format!(
                    "downloaded and TRUSTED ON FIRST USE: no checksum of this file is known; sha256 {sha256} was \
                     recorded, later downloads are compared with it"
                ),
                Fetched::Downloaded(Checked::Recorded) => "downloaded, the same as at the first download".into(),
                Fetched::Downloaded(_) => "downloaded, with the official checksum".into(),
            };
            say(&format!("{}: {}: {text}", set.name, data.path.join(file.path).display()))?;
        }
    }
    Ok(())
}
