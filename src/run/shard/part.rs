//! The result folder of a shard: one per call, below the folder of all shards.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::experiment::Plan;
use crate::store::files;
use crate::store::folder::{Contents, Folder, SHARDS, Store, stem};

/// The runs of a plan that one call of `run` executes.
#[derive(Clone, Debug)]
pub struct ShardRuns {
    /// `3-of-16`, or another name for a list of runs.
    pub name: String,
    pub ids: BTreeSet<String>,
    /// [`super::digest`] of the plan that it is a part of.
    pub plan: String,
}

impl ShardRuns {
    /// A folder for this call alone: another call for the same shard, here or elsewhere, gets another one.
    pub fn folder(&self, out: &Path, host: &str) -> PathBuf {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let host: String = host.chars().map(safe).take(40).collect();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let (pid, nanos) = (std::process::id(), since.as_nanos() as u64);
        out.join(SHARDS).join(format!("{}.{host}-{pid}-{nanos:x}", self.name))
    }

    /// Removes all other runs from a plan; a run that one of these follows from stays with it.
    pub fn narrow(&mut self, plan: &mut Plan) {
        let own = plan.runs.iter().filter(|run| self.ids.contains(&run.run_id));
        let sources: Vec<String> = own.filter_map(|run| run.projected_from.clone()).collect();
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

/// The result folder and those of its shards that contain results. A shard that was killed at once has none.
pub fn stores(out: &Path) -> Result<Vec<Store>> {
    let mut stores = Vec::new();
    for folder in std::iter::once(out.to_owned()).chain(folders(out)?) {
        match Store::open(&folder) {
            Ok(store) => stores.push(store),
            // A folder without read permission does not count as empty.
            Err(_) if folder.is_dir() => drop(files::list(&folder)?),
            Err(_) => {}
        }
    }
    Ok(stores)
}

/// The wanted runs in a result folder and its shards. Writers may continue in the meantime, because a file appears only when it is
/// complete.
pub fn scan(out: &Path, wanted: impl Fn(&str) -> bool) -> Result<Contents> {
    let mut found = Contents::default();
    for store in stores(out)? {
        let Contents { records, damaged } = store.scan_some(Folder::Runs, &wanted)?;
        found.records.extend(records);
        found.damaged.extend(damaged);
    }
    Ok(found)
}

/// Number of runs in the shards of a result folder that it does not have itself.
pub fn not_merged(out: &Path) -> Result<usize> {
    let (mut own, mut shards) = (BTreeSet::new(), BTreeSet::new());
    for store in stores(out)? {
        let ids = store.files(Folder::Runs)?.into_iter().map(|path| stem(&path));
        if store.dir() == out { own.extend(ids) } else { shards.extend(ids) }
    }
    Ok(shards.difference(&own).count())
}
