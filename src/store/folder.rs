//! A result folder: `manifest.json`, and one Parquet file per run under `runs/`.
//!
//! A file appears under its name only when it is complete and on the disk (temporary name, sync, rename, sync of the
//! folder). A killed process therefore leaves finished runs and at most a temporary file, which the next process
//! removes. One process writes (it holds [`WriteLock`]), and any number may read at the same time. Shards have result
//! folders of their own under `shards/`, each with one writer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rayon::prelude::*;

use super::codec::{self, Head};
use super::manifest::Manifest;
use super::record::{RunRecord, SCHEMA_VERSION};
use crate::error::{Error, Result};
use crate::store::{self, files, panics};

/// Most bytes of the file of one run; a million evaluations take less.
const LARGEST_RECORD: u64 = 1 << 30;

/// The folder of the result folders of shards.
pub const SHARDS: &str = "shards";

#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
    /// Set for a folder that is open for writing.
    target: Option<Arc<WriteTarget>>,
}

/// The folder that this process writes into, whatever has its name later, and what was written.
#[derive(Debug)]
struct WriteTarget {
    folder: File,
    /// Device and inode of the folder of the runs.
    runs: Option<(u64, u64)>,
    /// The files of runs as this process has written or found them.
    files: Mutex<BTreeMap<String, Option<Stamp>>>,
    /// Number of runs that were written.
    written: AtomicU64,
}

/// Size and time of the last change of a file.
type Stamp = (u64, i64, i64);

fn stamp(path: &Path) -> Option<Stamp> {
    path.metadata().ok().map(|there| (there.len(), there.mtime(), there.mtime_nsec()))
}

/// The right to write into a folder; released when dropped or when the process ends, in whatever way. The folder itself
/// is locked, so that a second writer is refused whatever is deleted inside.
#[derive(Debug)]
pub struct WriteLock {
    _folder: File,
}

/// The folder that a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// The runs of the plan.
    Runs,
    /// Runs of older code or data that newer ones replace.
    Stale,
}

impl Folder {
    /// The name of the folder, and the extension of its files. Only runs of the plan end in `.parquet`, so that even a
    /// recursive glob reads nothing twice.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Runs => ("runs", "parquet"),
            Self::Stale => ("stale", "stale"),
        }
    }
}

/// The contents of a folder.
#[derive(Debug, Default)]
pub struct Contents {
    /// Sound records, by data set, solver, repeat.
    pub records: Vec<RunRecord>,
    /// Files that are not as they were written or cannot be read, each with the fault and advice.
    pub damaged: Vec<Damage>,
}

/// A file that could not be used, with the fault and advice.
#[derive(Debug)]
pub struct Damage {
    pub path: PathBuf,
    pub error: Error,
}

impl Contents {
    /// Sorts records by data set, solver and repeat.
    pub fn new(mut records: Vec<RunRecord>, damaged: Vec<Damage>) -> Self {
        records.sort_by_cached_key(|r| (r.dataset().to_owned(), r.solver().to_owned(), r.repeat, r.run_id()));
        Self { records, damaged }
    }
}

impl Damage {
    /// Whether the system refused to read the file (permissions, a failing disk). Its content may be sound, so it must
    /// not be moved or replaced.
    pub fn is_unread(&self) -> bool {
        matches!(self.error, Error::Io { .. })
    }
}

impl Store {
    /// Opens the folder for writing: creates it if needed, locks it against other writers, removes leftovers of killed
    /// writers.
    pub fn create(dir: impl AsRef<Path>) -> Result<(Self, WriteLock)> {
        let mut store = Self { dir: dir.as_ref().to_owned(), target: None };
        let runs = store.folder(Folder::Runs);
        files::make_folder(&runs)?;
        let folder = File::open(&store.dir).map_err(Error::io("open", &store.dir))?;
        folder.try_lock().map_err(|refused| {
            let reason = match refused {
                TryLockError::WouldBlock => store::Error::Locked,
                TryLockError::Error(reason) => store::Error::NoLock(reason),
            };
            Error::file(&store.dir, reason)
        })?;
        // Opened a second time: a copy of the first handle would hold the lock as long as a thread that has not ended yet.
        let held = File::open(&store.dir).map_err(Error::io("open", &store.dir))?;
        store.claim(held)?;
        // The locked folder must be the one that has the name, because it may have been replaced in the meantime.
        if !files::is_open_as(&folder, &store.dir) {
            return Err(Error::file(&store.dir, store::Error::FolderGone(0)));
        }
        files::sweep(&store.dir);
        files::sweep(&runs);
        Ok((store, WriteLock { _folder: folder }))
    }

    /// Opens a folder that has one writer by construction, because its name is unique. It needs no lock, which a
    /// network file system may lack.
    pub fn create_private(dir: impl AsRef<Path>) -> Result<Self> {
        let mut store = Self { dir: dir.as_ref().to_owned(), target: None };
        files::make_folder(&store.folder(Folder::Runs))?;
        let folder = File::open(&store.dir).map_err(Error::io("open", &store.dir))?;
        store.claim(folder)?;
        Ok(store)
    }

    fn claim(&mut self, folder: File) -> Result<()> {
        let runs = files::number(&self.folder(Folder::Runs));
        self.target = Some(Arc::new(WriteTarget { folder, runs, files: Mutex::default(), written: AtomicU64::new(0) }));
        self.is_still_ours()
    }

    /// Fails when the folder was deleted or replaced since it was opened for writing, because the folder that has its
    /// name now may have another writer.
    fn is_still_ours(&self) -> Result<()> {
        let Some(target) = &self.target else { return Ok(()) };
        let runs = self.folder(Folder::Runs);
        let written = target.written.load(Ordering::Relaxed);
        if !files::is_open_as(&target.folder, &self.dir) {
            let reason = match files::name_of(&target.folder) {
                Some(now) => store::Error::FolderMoved { written, now },
                None => store::Error::FolderGone(written),
            };
            return Err(Error::file(&self.dir, reason));
        }
        if target.runs.is_none() || target.runs != files::number(&runs) {
            return Err(Error::file(runs, store::Error::FolderGone(written)));
        }
        Ok(())
    }

    /// How many of these runs, which were written or found, are not in the folder any more, or were changed and are not
    /// sound; fails when the folder itself is gone.
    pub fn count_gone<'a>(&self, run_ids: impl IntoIterator<Item = &'a String>) -> Result<u64> {
        self.is_still_ours()?;
        let there = self.files(Folder::Runs)?;
        let there: BTreeMap<String, Option<Stamp>> = there.iter().map(|path| (stem(path), stamp(path))).collect();
        let known = self.target.as_ref().map(|target| target.files.lock());
        let is_gone = |run_id: &str| match there.get(run_id) {
            None | Some(None | Some((0, ..))) => true,
            Some(now) => {
                let changed = known.as_ref().and_then(|known| known.get(run_id)).is_some_and(|before| before != now);
                changed && read_head(&self.path(Folder::Runs, run_id)).is_err()
            }
        };
        Ok(run_ids.into_iter().filter(|run_id| is_gone(run_id)).count() as u64)
    }

    /// Opens the folder for reading; it must contain results.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        let store = Self { dir: dir.as_ref().to_owned(), target: None };
        if store.manifest_path().is_file() || store.folder(Folder::Runs).is_dir() {
            return Ok(store);
        }
        let dir = store.dir.clone();
        let reason = if dir.join(SHARDS).is_dir() {
            store::Error::OnlyShards(dir)
        } else {
            let why = match (dir.is_dir(), dir.exists()) {
                (true, _) => "contains no results",
                (_, true) => "is not a folder",
                _ => "does not exist",
            };
            store::Error::NoResults { why, dir }
        };
        Err(Error::file(&store.dir, reason))
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes one record. When this returns, the run survives a kill and a power cut.
    pub fn write(&self, kind: Folder, record: &RunRecord) -> Result<()> {
        let path = self.path(kind, &record.run_id());
        let bytes = codec::encode(record).map_err(|reason| Error::file(&path, reason))?;
        self.is_still_ours()?;
        files::write_bytes(&path, &bytes)?;
        if let Some(target) = &self.target {
            target.written.fetch_add(1, Ordering::Relaxed);
            target.files.lock().insert(record.run_id(), stamp(&path));
        }
        Ok(())
    }

    /// The files of runs, sorted.
    pub fn files(&self, kind: Folder) -> Result<Vec<PathBuf>> {
        let folder = self.folder(kind);
        let mut paths = if folder.is_dir() { files::list(&folder)? } else { Vec::new() };
        let (_, extension) = kind.names();
        paths.retain(|path| path.extension().is_some_and(|e| e == extension));
        Ok(paths)
    }

    /// Reads every record, sorted by data set, solver and repeat. Damaged files are listed, not skipped silently. A
    /// file of another version is an error.
    pub fn scan(&self, kind: Folder) -> Result<Contents> {
        self.scan_some(kind, |_| true)
    }

    /// The same for the runs whose identity is wanted.
    pub fn scan_some(&self, kind: Folder, wanted: impl Fn(&str) -> bool) -> Result<Contents> {
        let mut paths = self.files(kind)?;
        paths.retain(|path| wanted(&stem(path)));
        let read: Vec<Result<RunRecord>> = paths.par_iter().map(|path| read_file(path)).collect();
        let mut contents = Contents::default();
        for (path, result) in paths.into_iter().zip(read) {
            match result {
                Ok(record) => contents.records.push(record),
                Err(error @ Error::Store(store::Error::OtherLayout { .. })) => return Err(error),
                Err(error) => contents.damaged.push(Damage { path, error }),
            }
        }
        Ok(Contents::new(contents.records, contents.damaged))
    }

    /// Updates contents that were read before: reads the files that they lack, and drops records whose file is gone.
    pub fn refresh(&self, kind: Folder, before: Contents) -> Result<Contents> {
        let paths = self.files(kind)?;
        if let Some(target) = &self.target {
            target.files.lock().extend(paths.iter().map(|path| (stem(path), stamp(path))));
        }
        let files: BTreeSet<String> = paths.iter().map(|path| stem(path)).collect();
        let mut known: BTreeMap<String, RunRecord> =
            before.records.into_iter().map(|record| (record.run_id(), record)).collect();
        known.retain(|id, _| files.contains(id));
        let new = self.scan_some(kind, |id| !known.contains_key(id))?;
        Ok(Contents::new(known.into_values().chain(new.records).collect(), new.damaged))
    }

    /// Moves a run from `runs/` to `stale/`.
    pub fn set_aside(&self, run_id: &str) -> Result<()> {
        let folder = self.folder(Folder::Stale);
        self.is_still_ours()?;
        files::make_folder(&folder)?;
        let run = self.path(Folder::Runs, run_id);
        files::rename(&run, &files::unused(&self.path(Folder::Stale, run_id), &run))
    }

    /// The manifest; an empty one when the folder has none yet.
    pub fn manifest(&self) -> Result<Manifest> {
        let path = self.manifest_path();
        files::plain(&path)?;
        let Some(text) = files::read_text_if_there(&path)? else { return Ok(Manifest::default()) };
        #[derive(serde::Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let broken = |e: serde_json::Error| Error::line(&path, e.line(), store::Error::Manifest(e));
        let Version { schema_version } = serde_json::from_str(&text).map_err(broken)?;
        if schema_version != SCHEMA_VERSION {
            return Err(store::Error::OtherLayout { path, version: schema_version.to_string() }.into());
        }
        serde_json::from_str(&text).map_err(broken)
    }

    pub fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        let path = self.manifest_path();
        let mut text = serde_json::to_string_pretty(manifest).map_err(|e| Error::file(&path, e))?;
        text.push('\n');
        self.is_still_ours()?;
        files::write_bytes(&path, text.as_bytes())
    }

    pub fn path(&self, kind: Folder, run_id: &str) -> PathBuf {
        self.folder(kind).join(format!("{run_id}.{}", kind.names().1))
    }

    fn folder(&self, kind: Folder) -> PathBuf {
        self.dir.join(kind.names().0)
    }

    pub fn manifest_path(&self) -> PathBuf {
        self.dir.join("manifest.json")
    }
}

/// The run id in the name of a file.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

static RECORDS_READ: AtomicU64 = AtomicU64::new(0);

/// Number of records decoded by this process; one command decodes none twice.
pub fn records_read() -> u64 {
    RECORDS_READ.load(Ordering::Relaxed)
}

/// Reads one file of a run.
pub fn read_file(path: &Path) -> Result<RunRecord> {
    let record = decoded(path, |bytes| codec::decode(path, bytes))?;
    RECORDS_READ.fetch_add(1, Ordering::Relaxed);
    named(path, &record).map(|()| record)
}

/// Reads the metadata of a file about its run without the evaluations, at a fraction of the cost.
pub fn read_head(path: &Path) -> Result<Head> {
    let head = decoded(path, |mut bytes| codec::decode_head(path, &mut bytes))?;
    named(path, &head.record).map(|()| head)
}

fn decoded<T>(path: &Path, decode: impl Fn(Vec<u8>) -> Result<T>) -> Result<T> {
    // A file that is not ours must not be moved.
    files::plain(path)?;
    let bytes = files::read(path, LARGEST_RECORD)?;
    // Whatever a decoder makes of crafted bytes, only this file may fail.
    let decoded = panics::catch(|| decode(bytes));
    decoded.unwrap_or_else(|panic| Err(codec::damaged(path, format!("its decoder panicked: {panic}"))))
}

/// Fails when a file contains another run than its name states.
fn named(path: &Path, record: &RunRecord) -> Result<()> {
    let run_id = record.run_id();
    if stem(path) == run_id { Ok(()) } else { Err(Error::file(path, store::Error::Misnamed(run_id))) }
}
