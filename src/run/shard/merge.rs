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
use crate::store::codec::Head;
use crate::store::files::{self, sha256_hex};
use crate::store::folder::{Folder, Store, read_head, stem};
use crate::store::manifest::Manifest;

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
    /// Names of its configs.
    pub plans: Vec<String>,
    /// Data sets and seeds that were timed on several machines, in words.
    pub across: Vec<String>,
    /// Runs of a repeatable clock of which two records differ.
    pub contradictions: Vec<String>,
}

/// What will be in the result.
#[derive(Default)]
struct Chosen {
    best: BTreeMap<String, Candidate>,
    /// Damaged files, and what a copy of them is called.
    unusable: Vec<(PathBuf, String)>,
    merged: Merged,
}

impl Chosen {
    fn cannot_use(&mut self, store: &Store, path: &Path, error: &Error) {
        self.merged.damaged.push(error.to_string());
        // What the system refuses to read stays where it is.
        if !matches!(error, Error::Io { .. }) {
            let names = [store.dir(), path].map(|path| path.file_name().unwrap_or_default().to_string_lossy());
            self.unusable.push((path.to_owned(), names.join(".")));
        }
    }
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
    /// Data set and seed of a timed run, and its machine.
    block: Option<(String, String)>,
}

/// The plans of a folder: configs with their names, hashes of plans where they are known.
#[derive(Clone, Default)]
struct Plans {
    configs: BTreeMap<String, String>,
    digests: BTreeSet<String>,
}

impl Plans {
    fn add(&mut self, manifest: &Manifest) {
        self.configs.extend(manifest.configs.iter().map(|config| (config.sha256.clone(), config.name.clone())));
        let digests = manifest.sessions.iter().map(|session| session.plan.clone());
        self.digests.extend(digests.filter(|digest| !digest.is_empty()));
    }

    fn same(&self, other: &Self) -> bool {
        self.configs == other.configs || !self.digests.is_empty() && self.digests == other.digests
    }

    fn names(&self) -> String {
        let name = |(sha, name): (&String, &String)| format!("{name} ({})", &sha[..sha.len().min(8)]);
        self.configs.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// Joins result folders into `out`, which may be one of them or be there already.
pub fn merge(inputs: &[PathBuf], out: &Path) -> Result<Merged> {
    // Most of the time is spent waiting for files.
    let threads = 4 * std::thread::available_parallelism().map_or(1, Into::into);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::invalid(format!("cannot start threads: {error}")))?;
    pool.install(|| join(inputs, out))
}

fn join(inputs: &[PathBuf], out: &Path) -> Result<Merged> {
    let mut tops: Vec<PathBuf> = inputs.to_vec();
    if Store::open(out).is_ok() || part::folders(out).is_ok_and(|folders| !folders.is_empty()) {
        tops.push(out.to_owned());
    }
    let mut seen = BTreeSet::new();
    let (mut stores, mut manifest, mut chosen) = (Vec::new(), Manifest::default(), Chosen::default());
    let mut first: Option<(&Path, Plans)> = None;
    for top in &tops {
        let mut plans = Plans::default();
        let (own, shards) = (part::store_of(top)?, part::folders(top)?);
        if own.is_none() && shards.is_empty() {
            Store::open(top).map_err(|error| Error::invalid(error.to_string()))?;
        }
        let shards = shards.iter().map(|shard| part::store_of(shard)).collect::<Result<Vec<_>>>()?;
        for store in own.into_iter().chain(shards.into_iter().flatten()) {
            let folder = std::fs::canonicalize(store.dir()).map_err(Error::io("open", store.dir()))?;
            if seen.insert(folder) {
                let other = match store.manifest() {
                    Err(error @ Error::Invalid(_)) => return Err(error),
                    Err(error) => {
                        chosen.cannot_use(&store, &store.manifest_path(), &error);
                        Manifest::default()
                    }
                    Ok(other) => other,
                };
                plans.add(&other);
                manifest.join(other).map_err(|message| Error::file(store.dir(), message))?;
                stores.push(store);
            }
        }
        if plans.configs.is_empty() {
            continue;
        }
        let (folder, expected) = first.get_or_insert_with(|| (top, plans.clone()));
        if !expected.same(&plans) {
            let (here, there) = (plans.names(), expected.names());
            let message = format!(
                "holds runs of another plan, {here}, than {}, {there}; merge only folders of the same configs",
                folder.display()
            );
            return Err(Error::file(top, message));
        }
    }
    choose(&stores, &mut chosen)?;
    chosen.merged.plans = first.iter().flat_map(|(_, plans)| plans.configs.values().cloned()).collect();
    write(&mut chosen, &manifest, out)?;
    Ok(chosen.merged)
}

/// The best file of every run.
fn choose(stores: &[Store], chosen: &mut Chosen) -> Result<()> {
    chosen.merged.folders = stores.len() as u64;
    let mut seen = BTreeSet::new();
    for store in stores {
        let mut paths = store.files(Folder::Runs)?;
        // A file that was merged before has a second name.
        paths.retain(|path| files::number(path).is_none_or(|number| seen.insert(number)));
        let read: Vec<Result<(String, Candidate)>> =
            paths.par_iter().map(|path| read_head(path).map(|head| candidate(path, &head))).collect();
        for (path, read) in paths.iter().zip(read) {
            let (run_id, new) = match read {
                Ok(read) => read,
                Err(error @ Error::Invalid(_)) => return Err(error),
                Err(error) => {
                    chosen.cannot_use(store, path, &error);
                    continue;
                }
            };
            let merged = &mut chosen.merged;
            match chosen.best.entry(run_id) {
                Entry::Vacant(entry) => drop(entry.insert(new)),
                Entry::Occupied(mut entry) => {
                    let old = entry.get_mut();
                    // A copy.
                    if new.rank == old.rank {
                        continue;
                    }
                    merged.doubles += 1;
                    if old.repeatable && new.repeatable {
                        match (rank::bits(&old.path), rank::bits(&new.path)) {
                            (Ok(a), Ok(b)) if a != b => merged.contradictions.push(format!(
                                "{}: {} and {} differ, though its clock is the same everywhere",
                                new.label,
                                old.path.display(),
                                new.path.display()
                            )),
                            (Ok(_), Ok(_)) => {}
                            // A head without readable rows: the other one is kept.
                            (old_bits, new_bits) => {
                                let unread = [&old_bits, &new_bits].into_iter().filter_map(|bits| bits.as_ref().err());
                                merged.damaged.extend(unread.map(ToString::to_string));
                                if new_bits.is_ok() {
                                    *old = new;
                                }
                                continue;
                            }
                        }
                    }
                    if new.rank > old.rank {
                        *old = new;
                    }
                }
            }
        }
    }
    let Chosen { best, merged, .. } = chosen;
    let mut experiments: BTreeMap<&str, &Candidate> = BTreeMap::new();
    let mut blocks: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for candidate in best.values() {
        if let Some((block, host)) = &candidate.block {
            blocks.entry(block).or_default().insert(host);
        }
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
    let several = blocks.iter().filter(|(_, hosts)| hosts.len() > 1);
    merged.across = several
        .map(|(block, hosts)| {
            let hosts: Vec<&str> = hosts.iter().copied().collect();
            format!("{block} was timed on {}: ratios of its solvers are not those of one machine", hosts.join(" and "))
        })
        .collect();
    Ok(())
}

fn candidate(path: &Path, head: &Head) -> (String, Candidate) {
    let record = &head.record;
    let identity = &record.identity;
    let candidate = Candidate {
        path: path.to_owned(),
        rank: Rank::of(head),
        repeatable: record.settings().clock.repeatable() && record.status.is_done(),
        experiment: sha256_hex(identity.experiment().as_bytes()),
        failed: !record.status.is_done(),
        label: record.label(),
        block: (!record.settings().clock.repeatable())
            .then(|| (format!("{} #{}", record.dataset(), record.repeat), record.environment.host.clone())),
        code: format!("{}, data {}", identity.code(), identity.problem.checksum.chars().take(8).collect::<String>()),
    };
    (record.run_id(), candidate)
}

fn write(chosen: &mut Chosen, manifest: &Manifest, out: &Path) -> Result<()> {
    let (store, _lock) = Store::create(out)?;
    for (path, name) in &chosen.unusable {
        match files::copy(path, &out.join("damaged").join(name)) {
            Ok(()) if *path == store.path(Folder::Runs, &stem(path)) => files::remove(path)?,
            Ok(()) => {}
            Err(error) => chosen.merged.damaged.push(format!("{error}: no copy in damaged/")),
        }
    }
    chosen.best.par_iter().try_for_each(|(run_id, candidate)| {
        let target = store.path(Folder::Runs, run_id);
        if candidate.path == target { Ok(()) } else { files::place(&candidate.path, &target) }
    })?;
    files::sync(store.path(Folder::Runs, "").parent().unwrap_or(out))?;
    store.write_manifest(manifest)
}
