//! What is known of the content of official files: a checksum of the whole, or of the list of files in an archive.
//!
//! An archive can be packed in many ways and hold more files than one wants. Its list is judged by the files that count:
//! a line `SHA-256  PATH` for each, sorted by path, and the SHA-256 of these lines, as
//! `find DIR -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` prints it.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

use super::archive;
use super::image::source::files_below;
use crate::Result;
use crate::store::files;

/// The files of an archive that count, and their checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileList {
    /// Top folder in the archive.
    pub top: &'static str,
    /// Folder below it and ending of its files; other files of an archive do not matter.
    pub parts: &'static [(&'static str, &'static str)],
    /// How many files count.
    pub count: usize,
    /// SHA-256 of the list.
    pub sha256: &'static str,
}

/// What is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<'e> {
    /// Nothing: the first download is trusted.
    Nothing,
    /// SHA-256 of the content after gunzip.
    Content(&'e str),
    /// The files of an archive.
    Files(FileList),
}

impl<'e> From<Option<&'e str>> for Expected<'e> {
    fn from(sha256: Option<&'e str>) -> Self {
        sha256.map_or(Self::Nothing, Self::Content)
    }
}

impl Expected<'_> {
    /// Expected and found, in the same words when they agree; `None` when nothing is known.
    pub fn compare(self, path: &Path) -> Result<Option<(String, String)>> {
        Ok(match self {
            Self::Nothing => None,
            Self::Content(expected) => Some((expected.to_owned(), files::content_sha256(path)?)),
            Self::Files(list) => {
                let (sha256, count) = list.digest(path)?;
                let words = |sha256: &str, count: usize| format!("{sha256} over {count} files");
                Some((words(list.sha256, list.count), words(&sha256, count)))
            }
        })
    }
}

impl FileList {
    /// Checksum of the list and number of the files that count in an archive (tar, gzip or plain) or in the folder that it
    /// was unpacked to.
    pub fn digest(&self, source: &Path) -> Result<(String, usize)> {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        if source.is_dir() {
            for path in files_below(source)? {
                if let Some(name) = self.name(path.strip_prefix(source).unwrap_or(&path)) {
                    found.insert(name, files::sha256_file(&path)?);
                }
            }
        } else {
            archive::entries(source, |entry| {
                let Some(name) = self.name(&entry.path).filter(|_| entry.kind.is_file()) else { return Ok(()) };
                let mut hash = Sha256::new();
                entry.content(|block| {
                    hash.update(block);
                    Ok(())
                })?;
                found.insert(name, files::hex(&hash.finalize()));
                Ok(())
            })?;
        }
        let list: Vec<String> = found.iter().map(|(name, sha256)| format!("{sha256}  {name}\n")).collect();
        Ok((files::sha256_hex(list.concat().as_bytes()), found.len()))
    }

    /// The path of a file in the list, if it counts: the top folder may be missing, as in a folder, or lie deeper.
    fn name(&self, path: &Path) -> Option<String> {
        let mut parts = path.components().rev().filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        let (file, folder, above) = (parts.next()?, parts.next()?, parts.next());
        let counts = self.parts.iter().any(|(part, ending)| *part == folder && file.ends_with(ending));
        let inside = above.is_none_or(|above| above == self.top);
        (counts && inside && !file.starts_with('.')).then(|| format!("{}/{folder}/{file}", self.top))
    }
}
