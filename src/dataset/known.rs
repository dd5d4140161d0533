//! Public data sets: files, official addresses, known content, terms, and their location on this machine.
//!
//! An archive is judged by the files that training needs, because the same files can be packed in many ways. Its
//! checksum is that of a list: a line `SHA-256  PATH` per file, sorted by path, as
//! `find DIR -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` prints it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::archive::{self, Entry};
use crate::store::files;
use crate::{Error, Result};

/// The files of an archive that count, and their checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileList {
    pub top: &'static str,
    /// Folder below it and ending of its files, first of pictures, then of their truth; other files of an archive do not matter.
    pub parts: &'static [(&'static str, &'static str)],
    pub count: usize,
    pub sha256: &'static str,
}

/// The known content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<'e> {
    /// None is known: the first download is trusted and recorded, and later ones are compared with it.
    Nothing,
    /// SHA-256 of the content after gunzip.
    Content(&'e str),
    Files(FileList),
}

impl Expected<'_> {
    /// Expected and found content, as equal texts when they agree; `None` when nothing is known.
    fn compare(self, path: &Path) -> Result<Option<(String, String)>> {
        Ok(match self {
            Self::Nothing => None,
            Self::Content(expected) => Some((expected.to_owned(), files::content_sha256(path)?)),
            Self::Files(list) => {
                let (sha256, count) = list.digest(path)?;
                Some((format!("{} over {} files", list.sha256, list.count), format!("{sha256} over {count} files")))
            }
        })
    }
}

impl FileList {
    /// Folder and ending of pictures, then of their truth.
    pub(super) fn pairs(&self) -> &'static [(&'static str, &'static str)] {
        &self.parts[..2]
    }

    /// Checksum of the list, and number of the files that count, in an archive (tar, gzip or plain) or in the folder that
    /// it was unpacked to.
    fn digest(&self, source: &Path) -> Result<(String, usize)> {
        let mut list: Vec<(String, String)> = Vec::new();
        self.each(source, |part, file, entry| {
            list.push((format!("{}/{}/{file}", self.top, self.parts[part].0), sha256_of(entry)?));
            Ok(())
        })?;
        list.sort();
        let lines: Vec<String> = list.iter().map(|(name, sha256)| format!("{sha256}  {name}\n")).collect();
        Ok((files::sha256_hex(lines.concat().as_bytes()), list.len()))
    }

    /// Calls `each` with the part, the name and the content of every file of an archive or a folder that counts. Whatever
    /// reads the files of a set reads them here, so that no file is used that the checksum does not cover. Fails when a
    /// name occurs twice.
    pub(super) fn each(
        &self,
        source: &Path,
        mut each: impl FnMut(usize, &str, &mut Entry<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        archive::each_file(source, |entry| {
            let path = entry.path.clone();
            let Some((part, file)) = self.place(&path) else { return Ok(()) };
            if !seen.insert((part, file.to_owned())) {
                let name = format!("{}/{file}", self.parts[part].0);
                return Err(Error::file(
                    source,
                    format!("has two files {name}, so it is not the official set; remove one"),
                ));
            }
            each(part, file, entry)
        })
    }

    /// The part and the name of a file, if it counts. The top folder may be missing, as in a folder, or lie deeper.
    fn place<'p>(&self, path: &'p Path) -> Option<(usize, &'p str)> {
        let mut names = archive::names(path);
        let (file, folder, above) = (names.next()?, names.next()?, names.next());
        let part = self.parts.iter().position(|(part, ending)| *part == folder && file.ends_with(ending))?;
        let inside = above.is_none_or(|above| above == self.top);
        (inside && !file.starts_with('.')).then_some((part, file))
    }
}

/// SHA-256 of the content of a file.
pub(super) fn sha256_of(entry: &mut Entry<'_>) -> Result<String> {
    let mut hash = Sha256::new();
    entry.content(|block| {
        hash.update(block);
        Ok(())
    })?;
    Ok(files::hex(&hash.finalize()))
}

#[derive(Clone, Copy, Debug)]
pub struct KnownFile {
    /// Its path, relative to the data folder.
    pub path: &'static str,
    pub url: &'static str,
    pub expected: Expected<'static>,
}

#[derive(Clone, Copy, Debug)]
pub struct KnownSet {
    pub name: &'static str,
    /// Examples used for training; 0 when unknown.
    pub examples: usize,
    /// Size of the download, roughly.
    pub size: &'static str,
    pub terms: &'static str,
    pub page: &'static str,
    /// Files, beginning with the one that training needs.
    pub files: &'static [KnownFile],
    /// Other paths that the data may have, relative to the data folder; a folder counts when it has pictures and truth.
    pub alternatives: &'static [&'static str],
    /// A folder, and the file below it that training reads, for an archive that must be unpacked there first.
    pub below: Option<(&'static str, &'static str)>,
}

impl KnownSet {
    /// The files of a set of images.
    fn list(&self) -> Option<FileList> {
        if let Expected::Files(list) = self.files[0].expected { Some(list) } else { None }
    }
}

/// The folder that is searched for data sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    pub path: PathBuf,
    /// What determined it, for messages.
    pub chosen_by: &'static str,
    /// Whether preparing on demand shows no progress.
    pub quiet: bool,
    /// Whether programs that data sets name may be started.
    pub programs: bool,
    /// Whether an official data set whose file is another one may be used, under another name.
    pub accept: bool,
}

impl DataDir {
    /// `--data-dir`, else `$SSVM_DATA`, else `data/`.
    pub fn resolve(flag: Option<&Path>) -> Self {
        let variable = std::env::var_os("SSVM_DATA").filter(|v| !v.is_empty());
        let (path, chosen_by) = match (flag, variable) {
            (Some(path), _) => (path.to_owned(), "--data-dir"),
            (None, Some(path)) => (path.into(), "$SSVM_DATA"),
            (None, None) => ("data".into(), "the default, as neither --data-dir nor $SSVM_DATA is set"),
        };
        Self { path, chosen_by, quiet: false, programs: true, accept: false }
    }

    /// The options with which another call of this program treats data sets in the same way.
    pub fn flags(&self) -> Vec<String> {
        let flags = [("--no-programs", !self.programs), ("--accept-data", self.accept)];
        flags.iter().filter(|(_, given)| *given).map(|(flag, _)| (*flag).to_owned()).collect()
    }

    /// [`DataDir::flags`] and the folder.
    pub fn arguments(&self) -> Vec<OsString> {
        let folder = ["--data-dir".into(), self.path.clone().into()];
        folder.into_iter().chain(self.flags().into_iter().map(OsString::from)).collect()
    }

    /// The file or unpacked folder of a set that training reads, if it exists.
    pub fn locate(&self, set: &KnownSet) -> Option<PathBuf> {
        if let Some((folder, file)) = set.below {
            let below = archive::files_below(&self.path.join(folder)).ok()?;
            return below.into_iter().find(|path| path.ends_with(file));
        }
        let places = set.files.iter().take(1).map(|file| file.path).chain(set.alternatives.iter().copied());
        let unpacked =
            |path: &Path| set.list().is_some_and(|list| list.pairs().iter().all(|(part, _)| path.join(part).is_dir()));
        places.map(|place| self.path.join(place)).find(|path| path.is_file() || unpacked(path))
    }

    /// [`DataDir::locate`]; fails with the file that is missing, its address and the command that fetches it.
    pub fn require(&self, set: &KnownSet) -> Result<PathBuf> {
        self.locate(set).ok_or_else(|| {
            let place = match set.below {
                Some((folder, file)) => self.path.join(folder).join("data").join(file),
                None => self.path.join(set.files[0].path),
            };
            let (name, chosen_by, url) = (set.name, self.chosen_by, set.files[0].url);
            let message = format!(
                "data set {name} is missing (the data folder is {chosen_by}). Official address: {url}. \
                 Get it with `ssvm-bench data fetch {name}`"
            );
            Error::file(place, message)
        })
    }

    /// If the file that training reads has known content but different content is found: the file, the known checksum
    /// and the one found.
    pub fn other_content(&self, set: &KnownSet) -> Result<Option<(PathBuf, String, String)>> {
        // For an archive that is unpacked first, no checksum is known of the file that training reads.
        let Some(path) = self.locate(set).filter(|_| set.below.is_none()) else { return Ok(None) };
        Ok(match check_file(&path, &path, set.files[0].expected)? {
            Checked::Different(expected, found) => Some((path, expected, found)),
            _ => None,
        })
    }

    /// Fails when the file that training reads has known content, but is another file.
    pub fn check_content(&self, set: &KnownSet) -> Result<()> {
        let Some((path, expected, found)) = self.other_content(set)? else { return Ok(()) };
        Err(Error::file(path, super::Error::OtherContent { name: set.name, expected, found }))
    }

    /// Compares the files of a set with what is known of them; fails when the set is missing.
    pub fn check(&self, set: &KnownSet) -> Result<Vec<(PathBuf, Checked)>> {
        let mut found = Vec::new();
        for (index, file) in set.files.iter().enumerate() {
            let path = self.path.join(file.path);
            if path.is_file() {
                found.push((path.clone(), check_file(&path, &path, file.expected)?));
            } else if index > 0 {
                found.push((path, Checked::Missing));
            }
        }
        let main = self.require(set)?;
        if !found.iter().any(|(path, _)| *path == main) {
            // The known content is that of the archive, not of a file that was unpacked from it.
            let expected = if set.below.is_some() { Expected::Nothing } else { set.files[0].expected };
            found.insert(0, (main.clone(), check_file(&main, &main, expected)?));
        }
        Ok(found)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    Known,
    /// The file equals the one recorded at its first download.
    Recorded,
    /// Nothing is known to compare with; the checksum.
    Unrecorded(String),
    /// It is another file: expected, found.
    Different(String, String),
    /// A file that training does not need is missing.
    Missing,
}

/// Compares a file (or, for a list of files, the folder they were unpacked to) with its known content, or else with the
/// record beside `target`, the name that a verified file gets.
pub fn check_file(path: &Path, target: &Path, expected: Expected<'_>) -> Result<Checked> {
    let (expected, found, same) = match expected.compare(path)? {
        Some((expected, found)) => (Some(expected), found, Checked::Known),
        None => (files::recorded_sha256(target)?, files::sha256_file(path)?, Checked::Recorded),
    };
    Ok(match expected {
        Some(expected) if expected == found => same,
        Some(expected) => Checked::Different(expected, found),
        None => Checked::Unrecorded(found),
    })
}
