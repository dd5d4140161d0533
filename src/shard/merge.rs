//! Result folders → one: the union of their runs, the better of two records of the same run, one manifest.
//!
//! The order and the grouping of folders make no difference, and merging again changes nothing. Folders that come from
//! different plans are refused before anything is written; inputs are only read.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::part;
use super::rank::{self, Rank};
use crate::error::{Error, Result};
use crate::files::{self, sha256_hex};
use crate::trace::codec::Head;
use crate::trace::manifest::Manifest;
use crate::trace::store::{Folder, Store, read_head, stem};

/// What a merge did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Merged {
    /// Result folders that were read, shards included.
    pub folders: u64,
    /// Runs in the result.
    pub runs: u64,
    /// Of these, failed ones.
    pub failed: u64,
    /// Records that a better one of the same run replaces.
    pub doubles: u64,
    /// Files that are no sound record; copies are in `damaged/` of the result.
    pub damaged: Vec<String>,
    /// Nodes that changed their speed during a shard, in words.
    pub drifted: Vec<String>,
    /// Runs of a repeatable clock of which two records differ.
    pub contradictions: Vec<String>,
}

/// What will be in the result.
#[derive(Default)]
struct Chosen {
    best: BTreeMap<String, Candidate>,
    unusable: Vec<PathBuf>,
    merged: Merged,
}

/// One file of a run.
struct Candidate {
    path: PathBuf,
    rank: Rank,
    repeatable: bool,
    experiment: String,
    failed: bool,
    label: String,
    code: String,
}

/// Joins result folders into `out`, which may be one of them or be there already.
pub fn merge(inputs: &[PathBuf], out: &Path) -> Result<Merged> {
    let mut tops: Vec<PathBuf> = inputs.to_vec();
    if Store::open(out).is_ok() || part::folders(out).is_ok_and(|folders| !folders.is_empty()) {
        tops.push(out.to_owned());
    }
    let mut seen = BTreeSet::new();
    let (mut stores, mut manifest, mut first) = (Vec::new(), Manifest::default(), None);
    for top in &tops {
        let mut configs = BTreeSet::new();
        let own = Store::open(top);
        let shards = part::folders(top)?;
        if let (Err(error), true) = (&own, shards.is_empty()) {
            return Err(Error::invalid(error.to_string()));
        }
        for store in own.into_iter().map(Ok).chain(shards.iter().map(Store::open)) {
            // A shard that was killed before it wrote anything is empty.
            let Ok(store) = store else { continue };
            let folder = std::fs::canonicalize(store.dir()).map_err(Error::io("open", store.dir()))?;
            if seen.insert(folder) {
                let other = store.manifest()?;
                configs.extend(other.configs.iter().map(|config| (config.sha256.clone(), config.name.clone())));
                manifest.join(other).map_err(|message| Error::file(store.dir(), message))?;
                stores.push(store);
            }
        }
        same_plan(top, configs, &mut first)?;
    }
    let drifted = manifest.sessions.iter().filter(|session| session.drift().is_some());
    let drifted: BTreeSet<&str> = drifted.map(|session| session.shard.as_str()).collect();
    let mut chosen = choose(&stores, &drifted)?;
    chosen.merged.drifted = manifest.drifts();
    write(&chosen, &manifest, out)?;
    Ok(chosen.merged)
}

/// An error when the configs of a folder are not those of the first.
fn same_plan(
    top: &Path,
    configs: BTreeSet<(String, String)>,
    first: &mut Option<(PathBuf, BTreeSet<(String, String)>)>,
) -> Result<()> {
    if configs.is_empty() {
        return Ok(());
    }
    let (folder, expected) = first.get_or_insert_with(|| (top.to_owned(), configs.clone()));
    if *expected == configs {
        return Ok(());
    }
    let names = |configs: &BTreeSet<(String, String)>| {
        let name = |(sha, name): &(String, String)| format!("{name} ({})", &sha[..sha.len().min(8)]);
        configs.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    Err(Error::file(
        top,
        format!(
            "holds runs of another plan, {}, than {}, {}; merge only folders of the same configs",
            names(&configs),
            folder.display(),
            names(expected)
        ),
    ))
}

/// The best file of every run.
fn choose(stores: &[Store], drifted: &BTreeSet<&str>) -> Result<Chosen> {
    let mut chosen = Chosen::default();
    let Chosen { best, unusable, merged } = &mut chosen;
    merged.folders = stores.len() as u64;
    let mut seen = BTreeSet::new();
    for store in stores {
        let mut paths = store.files(Folder::Runs)?;
        // A file that was merged before has a second name.
        paths.retain(|path| files::number(path).is_none_or(|number| seen.insert(number)));
        let read: Vec<Result<(String, Candidate)>> =
            paths.par_iter().map(|path| read_head(path).map(|head| candidate(path, &head, drifted))).collect();
        for (path, read) in paths.iter().zip(read) {
            let (run_id, new) = match read {
                Ok(read) => read,
                Err(error @ Error::Invalid(_)) => return Err(error),
                Err(error) => {
                    merged.damaged.push(error.to_string());
                    unusable.push(path.clone());
                    continue;
                }
            };
            match best.entry(run_id) {
                Entry::Vacant(entry) => drop(entry.insert(new)),
                Entry::Occupied(mut entry) => {
                    let old = entry.get_mut();
                    // A copy.
                    if new.rank == old.rank {
                        continue;
                    }
                    merged.doubles += 1;
                    if old.repeatable && new.repeatable && rank::bits(&old.path)? != rank::bits(&new.path)? {
                        merged.contradictions.push(format!(
                            "{}: {} and {} differ, though its clock is the same everywhere",
                            new.label,
                            old.path.display(),
                            new.path.display()
                        ));
                    }
                    if new.rank > old.rank {
                        *old = new;
                    }
                }
            }
        }
    }
    let mut experiments: BTreeMap<&str, &Candidate> = BTreeMap::new();
    for candidate in best.values() {
        if let Some(other) = experiments.insert(&candidate.experiment, candidate) {
            return Err(Error::file(
                &candidate.path,
                format!(
                    "{} was made by other code or from other data ({}) than {} ({}); run all shards with one program on \
                     the same data",
                    candidate.label,
                    candidate.code,
                    other.path.display(),
                    other.code
                ),
            ));
        }
    }
    merged.runs = best.len() as u64;
    merged.failed = best.values().filter(|candidate| candidate.failed).count() as u64;
    Ok(chosen)
}

fn candidate(path: &Path, head: &Head, drifted: &BTreeSet<&str>) -> (String, Candidate) {
    let record = &head.record;
    let identity = &record.identity;
    let candidate = Candidate {
        path: path.to_owned(),
        rank: Rank::of(head, drifted.contains(record.circumstances.shard.as_str())),
        repeatable: record.settings().clock.repeatable() && record.status.is_done(),
        experiment: sha256_hex(identity.experiment().as_bytes()),
        failed: !record.status.is_done(),
        label: record.label(),
        code: format!("{}, data {}", identity.code_version, identity.data_checksum.chars().take(8).collect::<String>()),
    };
    (record.run_id(), candidate)
}

fn write(chosen: &Chosen, manifest: &Manifest, out: &Path) -> Result<()> {
    let (store, _lock) = Store::create(out)?;
    for path in &chosen.unusable {
        let from = path.parent().and_then(Path::parent).and_then(Path::file_name).unwrap_or_default();
        let name = path.file_name().unwrap_or_default();
        let name = format!("{}.{}", from.to_string_lossy(), name.to_string_lossy());
        // A file that cannot be read stays where it is.
        let kept = files::copy(path, &out.join("damaged").join(name));
        if kept.is_ok() && *path == store.path(Folder::Runs, &stem(path)) {
            files::remove(path)?;
        }
    }
    let runs = store.path(Folder::Runs, "");
    chosen.best.par_iter().try_for_each(|(run_id, candidate)| {
        let target = store.path(Folder::Runs, run_id);
        if candidate.path == target { Ok(()) } else { files::place(&candidate.path, &target) }
    })?;
    files::sync(runs.parent().unwrap_or(out))?;
    store.write_manifest(manifest)
}
