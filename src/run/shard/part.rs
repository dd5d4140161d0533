//! The folder that a shard is run into: one result folder per call, below the one that all shards belong to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::experiment::Plan;
use crate::store::files;
use crate::store::folder::{self, Contents, Folder, SHARDS, Store};

/// What a call of `run` does of a plan.
#[derive(Clone, Debug)]
pub struct ShardRuns {
    /// `3-of-16`, or another name for a list of runs.
    pub name: String,
    /// Its runs.
    pub ids: BTreeSet<String>,
    /// [`super::digest`] of the plan that it is a part of.
    pub plan: String,
}

impl ShardRuns {
    /// A folder for this call alone: whoever runs the same shard again, here or elsewhere, gets another.
    pub fn folder(&self, out: &Path, host: &str) -> PathBuf {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let host: String = host.chars().map(safe).take(40).collect();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let (pid, nanos) = (std::process::id(), since.as_nanos() as u64);
        out.join(SHARDS).join(format!("{}.{host}-{pid}-{nanos:x}", self.name))
    }

    /// Takes out of a plan what is not part of this; what a run follows from comes with it.
    pub fn narrow(&mut self, plan: &mut Plan) {
        let of = |run: &&crate::experiment::RunSpec| self.ids.contains(&run.run_id);
        let sources: Vec<String> = plan.runs.iter().filter(of).filter_map(|run| run.projected_from.clone()).collect();
        self.ids.extend(sources);
        plan.runs.retain(|run| self.ids.contains(&run.run_id));
    }
}

/// The folders of shards below a result folder, in order.
pub fn folders(out: &Path) -> Result<Vec<PathBuf>> {
    let shards = out.join(SHARDS);
    let mut folders = if shards.is_dir() { files::list(&shards)? } else { Vec::new() };
    folders.retain(|folder| folder.is_dir());
    Ok(folders)
}

/// These runs as far as they are in a result folder or in its shards. Nobody is asked to stop writing: a file is there when it is whole.
pub fn scan(out: &Path, wanted: impl Fn(&str) -> bool + Sync) -> Result<Contents> {
    let mut found = Contents::default();
    for folder in std::iter::once(out.to_owned()).chain(folders(out)?) {
        let Some(store) = store_of(&folder)? else { continue };
        let Contents { records, damaged } = store.scan_some(Folder::Runs, &wanted)?;
        found.records.extend(records);
        found.damaged.extend(damaged);
    }
    Ok(found)
}

/// A result folder; `None` where there is none yet, such as that of a shard that was killed at once.
pub fn store_of(folder: &Path) -> Result<Option<Store>> {
    let store = Store::open(folder).ok();
    if store.is_none() && folder.is_dir() {
        // One that may not be looked into is not an empty one.
        files::list(folder)?;
    }
    Ok(store)
}

/// Runs in the shards of a result folder that it does not have itself.
pub fn not_merged(out: &Path) -> Result<usize> {
    let mut missing = BTreeSet::new();
    let there = |folder: &Path| Store::open(folder).map_or_else(|_| Ok(Vec::new()), |store| store.files(Folder::Runs));
    for folder in folders(out)? {
        missing.extend(there(&folder)?.iter().map(|path| folder::stem(path)));
    }
    let own: BTreeSet<String> = there(out)?.iter().map(|path| folder::stem(path)).collect();
    Ok(missing.difference(&own).count())
}
