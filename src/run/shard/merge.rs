//! Result folders → one: the union of their runs, the better of two records of the same run, one manifest.
//!
//! The order and the grouping of folders make no difference, and merging again changes nothing. Folders that come from
//! different plans are refused before anything is written; inputs are only read.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::part;
use crate::error::{Error, Result};
use crate::run::cluster::status::FoundRuns;
use crate::store::codec::Head;
use crate::store::files::{self, NewFolders, sha256_hex};
use crate::store::folder::{Folder, Store, read_file, read_head, stem};
use crate::store::manifest::Manifest;
use crate::store::{self, RunRecord, Status};
use ssvm::drive::TracePoint;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Merged {
    /// Result folders that were read, shards included.
    pub folders: u64,
    /// Runs in the result.
    pub runs: u64,
    /// Failed ones among them.
    pub failed: u64,
    /// Records that were replaced by a better record of the same run.
    pub doubles: u64,
    /// Files that are not sound records; copies are in `damaged/` of the result.
    pub damaged: Vec<String>,
    /// Names of its configs.
    pub plans: Vec<String>,
    /// A line for every data set and seed that was timed on several machines.
    pub across: Vec<String>,
    /// Runs of a repeatable clock of which two records differ.
    pub contradictions: Vec<String>,
    /// The runs themselves.
    #[serde(skip)]
    pub found: FoundRuns,
}

/// Joins result folders into `out`, which may be one of them or exist already.
pub fn merge(inputs: &[PathBuf], out: &Path) -> Result<Merged> {
    // Most of the time is spent waiting for files.
    let threads = 4 * std::thread::available_parallelism().map_or(1, Into::into);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(crate::run::Error::NoThreads)?;
    pool.install(|| {
        let mut tops: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        // Before the result exists, because it may be one of them.
        tops.iter().try_for_each(|top| stores_of(top).map(drop))?;
        // A merge that is refused leaves no empty folders.
        let new = NewFolders::make(&out.join("runs"))?;
        // Locked before it is read: another merge may add to it until then.
        let (store, _lock) = match Store::create(out) {
            Ok(locked) => locked,
            Err(refused) => {
                new.keep();
                return Err(refused);
            }
        };
        tops.push(out);
        let mut merge = Merge::default();
        merge.open(&tops)?.iter().try_for_each(|store| merge.add_store(store))?;
        merge.check()?;
        merge.write(&store)?;
        Ok(merge.merged)
    })
}

/// The result folders below this one, shards included; fails when it contains nothing of that kind.
fn stores_of(top: &Path) -> Result<Vec<Store>> {
    let below = part::stores(top)?;
    if below.is_empty() && part::folders(top)?.is_empty() {
        Store::open(top)?;
    }
    Ok(below)
}

/// The plans of a folder: names of configs by their hash, hashes of plans where they are known.
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

/// The best file of a run so far.
struct MergeCandidate {
    path: PathBuf,
    record: RunRecord,
    rank: Rank,
}

#[derive(Default)]
struct Merge {
    manifest: Manifest,
    best: BTreeMap<String, MergeCandidate>,
    /// Numbers of the files seen: a file that was merged before has a second name.
    seen: BTreeSet<(u64, u64)>,
    /// Damaged files, and the names of their copies.
    unusable: Vec<(PathBuf, String)>,
    merged: Merged,
}

impl Merge {
    /// The result folders below these, shards included; their manifests are joined. Fails when their plans differ.
    fn open(&mut self, tops: &[&Path]) -> Result<Vec<Store>> {
        let (mut stores, mut seen) = (Vec::new(), BTreeSet::new());
        let mut first: Option<(&Path, Plans)> = None;
        for top in tops {
            let mut plans = Plans::default();
            for store in stores_of(top)? {
                // The result itself, when it is new.
                if !store.manifest_path().exists() && store.files(Folder::Runs)?.is_empty() {
                    continue;
                }
                if !seen.insert(std::fs::canonicalize(store.dir()).map_err(Error::io("open", store.dir()))?) {
                    continue;
                }
                if let Some(other) = self.usable(&store, &store.manifest_path(), store.manifest())? {
                    plans.add(&other);
                    self.manifest.join(other).map_err(|reason| Error::file(store.dir(), reason))?;
                }
                stores.push(store);
            }
            if plans.configs.is_empty() {
                continue;
            }
            let (folder, expected) = first.get_or_insert_with(|| (top, plans.clone()));
            if !expected.same(&plans) {
                let (other, names, first) = (plans.names(), expected.names(), folder.display());
                let message = format!(
                    "has runs of {other}, but {first} has runs of {names}; merge only folders of the \
                     same configs"
                );
                return Err(Error::file(top, message));
            }
        }
        self.merged.folders = stores.len() as u64;
        self.merged.plans = first.iter().flat_map(|(_, plans)| plans.configs.values().cloned()).collect();
        Ok(stores)
    }

    /// The content of a file; `None` when it is damaged. A file of another layout is an error.
    fn usable<T>(&mut self, store: &Store, path: &Path, read: Result<T>) -> Result<Option<T>> {
        let error = match read {
            Ok(content) => return Ok(Some(content)),
            Err(error @ Error::Store(store::Error::OtherLayout { .. })) => return Err(error),
            Err(error) => error,
        };
        self.merged.damaged.push(error.to_string());
        // A file that the system refuses to read stays in place.
        if !matches!(error, Error::Io { .. }) {
            let names = [store.dir(), path].map(|path| path.file_name().unwrap_or_default().to_string_lossy());
            self.unusable.push((path.to_owned(), names.join(".")));
        }
        Ok(None)
    }

    /// Keeps the best file of every run of a folder and those before it.
    fn add_store(&mut self, store: &Store) -> Result<()> {
        let mut paths = store.files(Folder::Runs)?;
        paths.retain(|path| files::number(path).is_none_or(|number| self.seen.insert(number)));
        let heads: Vec<Result<Head>> = paths.par_iter().map(|path| read_head(path)).collect();
        for (path, head) in paths.into_iter().zip(heads) {
            if let Some(Head { record, digest }) = self.usable(store, &path, head)? {
                let rank = rank(&record, digest);
                self.add(MergeCandidate { path, record, rank });
            }
        }
        Ok(())
    }

    fn add(&mut self, new: MergeCandidate) {
        let Some(old) = self.best.get(&new.record.run_id()) else {
            self.best.insert(new.record.run_id(), new);
            return;
        };
        // A copy.
        if new.rank == old.rank {
            return;
        }
        self.merged.doubles += 1;
        let mut replace = new.rank > old.rank;
        if [old, &new].iter().all(|one| one.record.settings().clock.repeatable() && one.record.status.is_done()) {
            match [repeatable_bits(&old.path), repeatable_bits(&new.path)] {
                [Ok(a), Ok(b)] if a == b => {}
                [Ok(_), Ok(_)] => {
                    let (run, one, other) = (new.record.label(), old.path.display(), new.path.display());
                    let line =
                        format!("{run}: {one} and {other} differ, although its clock gives the same values everywhere");
                    self.merged.contradictions.push(line);
                }
                bits => {
                    // A head without readable rows: the other one is kept.
                    replace = bits[1].is_ok();
                    self.merged.damaged.extend(bits.into_iter().filter_map(Result::err).map(|error| error.to_string()));
                }
            }
        }
        if replace {
            self.best.insert(new.record.run_id(), new);
        }
    }

    /// Fails when one run was made by different code or from different data; notes what was timed on several machines.
    fn check(&mut self) -> Result<()> {
        let mut experiments: BTreeMap<String, &MergeCandidate> = BTreeMap::new();
        let mut blocks: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for candidate in self.best.values() {
            let record = &candidate.record;
            if !record.settings().clock.repeatable() {
                let block = format!("{} #{}", record.dataset(), record.repeat);
                blocks.entry(block).or_default().insert(&record.environment.host);
            }
            let Some(other) = experiments.insert(record.identity.experiment(), candidate) else { continue };
            let [this, that] = [candidate, other].map(|candidate| {
                let identity = &candidate.record.identity;
                let data: String = identity.problem.checksum.chars().take(8).collect();
                let model = identity.cost_model.map_or(String::new(), |model| format!(", cost model {model}"));
                format!("{}{model}, data {data}", identity.code())
            });
            let (run, other) = (record.label(), other.path.display());
            let message = format!(
                "{run} differs in code or data ({this}) from {other} ({that}); run all shards with one \
                 program on the same data"
            );
            return Err(Error::file(&candidate.path, message));
        }
        for (block, hosts) in blocks.into_iter().filter(|(_, hosts)| hosts.len() > 1) {
            let hosts = hosts.into_iter().collect::<Vec<_>>().join(" and ");
            let line = format!("{block} was timed on {hosts}: ratios of its solvers are not those of one machine");
            self.merged.across.push(line);
        }
        self.merged.found = FoundRuns::of(self.best.values().map(|candidate| &candidate.record));
        self.merged.runs = self.best.len() as u64;
        self.merged.failed = self.merged.found.failed.len() as u64;
        Ok(())
    }

    fn write(&mut self, store: &Store) -> Result<()> {
        let out = store.dir();
        let mut missing = Vec::new();
        for (run_id, candidate) in &self.best {
            let target = store.path(Folder::Runs, run_id);
            // Before anything is written. A record that is in its place already stays there.
            if candidate.path != target {
                files::replaceable(&target)?;
                missing.push((&candidate.path, target));
            }
        }
        for (path, name) in &self.unusable {
            match files::copy(path, &files::unused(&out.join("damaged").join(name), path)) {
                Ok(()) if *path == store.path(Folder::Runs, &stem(path)) => files::remove(path)?,
                Ok(()) => {}
                Err(error) => self.merged.damaged.push(format!("{error}: no copy in damaged/")),
            }
        }
        missing.par_iter().try_for_each(|(path, target)| files::place(path, target))?;
        files::sync(store.path(Folder::Runs, "").parent().unwrap_or(out))?;
        store.write_manifest(&self.manifest)?;
        match store.count_gone(self.best.keys())? {
            0 => Ok(()),
            gone => Err(Error::file(out, store::Error::FilesGone(gone))),
        }
    }
}

/// Which of two records of one run is kept: an order without ties, so that the order of merging does not matter. Larger is
/// better.
type Rank = (u8, u64, Reverse<u64>, Reverse<u64>, Reverse<u64>, String);

fn rank(record: &RunRecord, digest: String) -> Rank {
    let environment = &record.environment;
    // A record that ended, then one that was stopped and keeps what it measured, then one that failed.
    let ended = match &record.status {
        Status::Done(_) => 2,
        Status::TimedOut { .. } => 1,
        Status::OutOfMemory { .. } | Status::Failed(_) => 0,
    };
    // Then one of the last attempt at its shard, which made whole blocks of one data set and seed where an earlier attempt stopped in the
    // middle of one. The folder of a shard ends with the time of the attempt, see `ShardRuns::folder`.
    let attempt = environment.shard.rsplit_once('-').and_then(|(_, nanos)| u64::from_str_radix(nanos, 16).ok());
    let attempt = attempt.filter(|_| !record.settings().clock.repeatable()).unwrap_or(0);
    // Then one with fewer concurrent runs and less stolen time; non-negative numbers are ordered as their bits are.
    let (alone, steal) = (Reverse(environment.jobs), Reverse(environment.steal.max(0.0).to_bits()));
    // Then the earlier one; then by any criterion that is always the same.
    (ended, attempt, alone, steal, Reverse(environment.started_unix_s), digest)
}

/// Hash of the values that are the same on every machine under a repeatable clock: all but CPU seconds.
fn repeatable_bits(path: &Path) -> Result<String> {
    let record = read_file(path)?;
    let mut text = record.status.text();
    for point in record.points() {
        text += &format!("{:?}", TracePoint { cpu_s: 0.0, ..point.clone() });
    }
    Ok(sha256_hex(text.as_bytes()))
}
