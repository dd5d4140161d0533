//! Public data sets: files, official addresses, checksums, terms; and where they are on this machine.

use std::path::{Path, PathBuf};

use super::content::{Expected, FileList};
use super::image::source;
use crate::store::files;
use crate::{Error, Result};

/// A file of a set as its authors distribute it.
#[derive(Clone, Copy, Debug)]
pub struct KnownFile {
    /// Where it belongs, relative to the data folder.
    pub path: &'static str,
    /// Official address.
    pub url: &'static str,
    /// SHA-256 of the content after gunzip, where it is known.
    pub content_sha256: Option<&'static str>,
    /// The files of an archive, where they are known. With neither of the two the first download is recorded and later
    /// ones are compared with it.
    pub list: Option<FileList>,
    /// Must its archive be unpacked beside it before use?
    pub unpack: bool,
}

impl KnownFile {
    /// What is known of its content.
    pub fn expected(&self) -> Expected<'static> {
        match (self.content_sha256, self.list) {
            (Some(sha256), _) => Expected::Content(sha256),
            (None, Some(list)) => Expected::Files(list),
            (None, None) => Expected::Nothing,
        }
    }
}

/// A data set people can name.
#[derive(Clone, Copy, Debug)]
pub struct KnownSet {
    /// Name on the command line.
    pub name: &'static str,
    /// Examples used for training.
    pub examples: usize,
    /// Size of the download, roughly.
    pub size: &'static str,
    /// Licence or terms.
    pub terms: &'static str,
    /// Page of the authors.
    pub page: &'static str,
    /// Files, the one that training needs first.
    pub files: &'static [KnownFile],
    /// Other places the data may be at, relative to the data folder; folders count when they hold `inside`.
    pub alternatives: &'static [&'static str],
    /// What a folder must hold to be the unpacked set.
    pub inside: &'static [&'static str],
    /// A folder, and the file below it that training reads, when an archive has to be unpacked first.
    pub below: Option<(&'static str, &'static str)>,
}

/// The folder data sets are looked for in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    /// The folder.
    pub path: PathBuf,
    /// What decided on it, for messages.
    pub chosen_by: &'static str,
    /// Whether preparing on demand keeps its progress to itself.
    pub quiet: bool,
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
        Self { path, chosen_by, quiet: false }
    }

    /// Where a set is: the file or unpacked folder that training reads, if it is there.
    pub fn locate(&self, set: &KnownSet) -> Option<PathBuf> {
        if let Some((folder, file)) = set.below {
            let below = source::files_below(&self.path.join(folder)).ok()?;
            return below.into_iter().find(|path| path.ends_with(file));
        }
        let places = set.files.iter().take(1).map(|file| file.path).chain(set.alternatives.iter().copied());
        places.map(|place| self.path.join(place)).find(|path| {
            path.is_file() || !set.inside.is_empty() && set.inside.iter().all(|folder| path.join(folder).is_dir())
        })
    }

    /// Where a set is, or an error that says which file is missing, its address and the command that gets it.
    pub fn require(&self, set: &KnownSet) -> Result<PathBuf> {
        self.locate(set).ok_or_else(|| {
            let file = &set.files[0];
            let place = match set.below {
                Some((folder, file)) => self.path.join(folder).join("data").join(file),
                None => self.path.join(file.path),
            };
            Error::file(
                place,
                format!(
                    "data set {} is not there (the data folder is {}). Official address: {}. Get it with `ssvm-bench data fetch {}`",
                    set.name, self.chosen_by, file.url, set.name
                ),
            )
        })
    }

    /// Compares what is there with what is known; the text says what was compared.
    pub fn check(&self, set: &KnownSet) -> Result<Vec<(PathBuf, Checked)>> {
        let mut found = Vec::new();
        for (index, file) in set.files.iter().enumerate() {
            let path = self.path.join(file.path);
            if path.is_file() {
                found.push((path.clone(), check_file(&path, file.expected())?));
            } else if index > 0 {
                found.push((path, Checked::Missing));
            }
        }
        let main = self.require(set)?;
        if !found.iter().any(|(path, _)| *path == main) {
            // What was unpacked from an archive is not the archive.
            let expected = if set.below.is_some() { Expected::Nothing } else { set.files[0].expected() };
            found.insert(0, (main.clone(), check_file(&main, expected)?));
        }
        Ok(found)
    }
}

/// What a comparison of checksums found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The content is the known one.
    Known,
    /// The file is the one recorded at its first download.
    Recorded,
    /// Nothing to compare with; the checksum.
    Unrecorded(String),
    /// It is another file: expected, found.
    Different(String, String),
    /// A file that training does not need is not there.
    Missing,
}

/// Compares a file (or, for a list of files, the folder they were unpacked to) with its known content, else with the
/// record beside it.
pub fn check_file<'e>(path: &Path, expected: impl Into<Expected<'e>>) -> Result<Checked> {
    if let Some((expected, found)) = expected.into().compare(path)? {
        let same = found == expected;
        return Ok(if same { Checked::Known } else { Checked::Different(expected, found) });
    }
    let found = files::sha256_file(path)?;
    Ok(match files::recorded_sha256(path)? {
        Some(expected) if expected == found => Checked::Recorded,
        Some(expected) => Checked::Different(expected, found),
        None => Checked::Unrecorded(found),
    })
}
