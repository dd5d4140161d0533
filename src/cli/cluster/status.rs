//! `cluster status`: a result folder in, the state of every shard on a SLURM cluster out.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::super::args::FormatArgs;
use super::super::terminal::{print_width, verbosity};
use super::super::{note, print, say};
use crate::run::cluster::jobs::Jobs;
use crate::run::cluster::scripts::{merge_command, quoted};
use crate::run::cluster::slurm;
use crate::run::cluster::status::{self, FoundRuns, ShardState};
use crate::run::cluster::{SLURM_FOLDER, id_file};
use crate::run::host;
use crate::run::progress::Verbosity;
use crate::run::shard::list::IdFile;
use crate::run::shard::part;
use crate::store::files;
use crate::table::Format;

/// Show which shards on a SLURM cluster are done, running, waiting or failed, and why
///
/// Reads the result folder and, if SLURM is installed, the queue. With -v, shows a row for every shard.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench cluster status results/slurm")]
pub struct StatusArgs {
    /// Result folder
    results: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

pub fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let out = &args.results;
    let Some(mut jobs) = Jobs::read(out)? else {
        bail!(
            "{}: nothing was submitted from this folder; submit it with `ssvm-bench cluster submit CONFIG --out {} \
             --shards N`",
            out.display(),
            out.display()
        );
    };
    let list = IdFile::read(&id_file(out))?;
    let wanted = list.ids(None)?;
    let contents = part::scan(out, |id| wanted.contains(id))?;
    let found = FoundRuns::of(&contents.records);
    let queue = slurm::queue(&mut jobs)
        .map_err(|error| note(&format!("note: {error}; the status is that of the result folder alone")))
        .ok();
    if let Some((asked, _)) = jobs.unanswered(host::unix_time()).filter(|_| queue.is_some()) {
        note(&format!("warning: {}", asked.text()));
    }
    let log = |job, index| last_line(&out.join(SLURM_FOLDER).join(format!("{job}_{index}.log")));
    let shards = status::shards(&list.shards, &found, &jobs, queue.as_deref(), log, host::unix_time());
    if args.format.format == Format::Json {
        let whole = serde_json::json!({"name": jobs.name, "queue": queue.is_some(), "shards": shards});
        print(&format!("{whole}\n"))?;
    } else {
        let table = status::table(&shards, verbosity() == Verbosity::Verbose);
        print(&table.render(args.format.format, print_width(), &())?)?;
    }
    if args.format.format == Format::Table {
        say(&format!("\n{}: {}\n", jobs.name, status::summary(&shards)))?;
        if !status::due(&shards).is_empty() && queue.is_some() {
            let (config, out) = (quoted(&jobs.config), quoted(&out.to_string_lossy()));
            say(&format!("submit what is missing: `ssvm-bench cluster submit {config} --out {out}`"))?;
        }
        if shards.iter().all(|shard| shard.state == ShardState::Done) && part::not_merged(out)? > 0 {
            say(&format!("join the shards, unless the last job is about to: `{}`", merge_command(out)))?;
        }
    }
    contents.damaged.iter().for_each(|damage| note(&format!("warning: {}", damage.error)));
    Ok(())
}

/// The line of a log with the reason why a task ended.
fn last_line(path: &Path) -> Option<String> {
    const MOST: u64 = 1 << 24;
    let bytes = files::plain(path).and_then(|()| files::read(path, MOST)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // SLURM's message about the end precedes the program's own; an older one is about an earlier attempt.
    let mut near = lines.iter().rev().take(6);
    let line = near.find(|line| line.contains("CANCELLED AT")).or(lines.last())?;
    Some(line.chars().take(200).collect())
}
