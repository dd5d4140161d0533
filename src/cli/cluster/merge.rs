//! `cluster merge`: result folders of shards or machines → one.

use std::path::PathBuf;

use anyhow::bail;

use super::super::args::FormatArgs;
use super::super::terminal::print_width;
use super::super::{note, print, say};
use crate::run::shard::list::IdFile;
use crate::run::shard::merge::merge;
use crate::table::Kind::{Count, Text};
use crate::table::{Format, Table, cells};
use crate::text::counted;

/// Join result folders, such as those of shards, into one
///
/// The shards in DIR/shards are merged too. Of two records of a run the better one is kept: a finished one, then one of
/// the latest attempt, then one of the quieter machine. Inputs are never changed, and merging again, in any order,
/// gives the same folder. Where possible, the result shares files with the inputs (hard links).
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench cluster merge results/shards --out results/shards\n  \
    ssvm-bench cluster merge results/before results/after --out results/both")]
pub struct MergeArgs {
    /// Result folders
    #[arg(required = true, value_name = "DIR")]
    inputs: Vec<PathBuf>,
    /// Folder for the merged results; the runs that it already has are merged too
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Fail when a run of this id file (`cluster plan --write`) is not in the result, or failed
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

/// Runs the command; an error when two records contradict each other.
pub fn run(args: &MergeArgs) -> anyhow::Result<()> {
    // Before anything is written.
    let list = args.ids.as_deref().map(IdFile::read).transpose()?;
    let merged = merge(&args.inputs, &args.out)?;
    let (folders, runs, out) = (merged.folders, merged.runs, args.out.display());
    let mut table = Table::new("", [("folder", Text), ("folders", Count), ("runs", Count), ("failed", Count)]);
    table.widen(Count, ["duplicates"]);
    table.push(cells![out.to_string(), folders, runs, merged.failed, merged.doubles]);
    match args.format.format {
        Format::Table => say(&format!(
            "{} from {}, {} failed, {}: {out}",
            counted(runs as usize, "run"),
            counted(folders as usize, "folder"),
            merged.failed,
            counted(merged.doubles as usize, "duplicate")
        ))?,
        Format::Json => print(&(serde_json::to_string(&merged)? + "\n"))?,
        format => print(&table.render(format, print_width(), &())?)?,
    }
    merged.damaged.iter().for_each(|line| note(&format!("warning: left out: {line}")));
    merged.across.iter().for_each(|line| note(&format!("warning: {line}")));
    if merged.plans.len() > 1 {
        note(&format!("warning: {out} holds runs of several configs: {}", merged.plans.join(", ")));
    }
    if let Some(first) = merged.contradictions.first() {
        bail!("{} runs have records that contradict each other, such as {first}", merged.contradictions.len());
    }
    list.map_or(Ok(()), |list| Ok(merged.found.complete(&list.shards)?))
}
