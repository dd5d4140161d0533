//! Reads the files of a tar archive (gzip or plain) or of a folder, one by one.
//!
//! Names in an archive are read up to a maximum length, so that no name can fill the memory. A damaged archive and an
//! error of the caller, such as a full disk, are different errors.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use tar::{Archive, EntryType, PaxExtensions};

use crate::store::files;
use crate::{Error, Result};

/// Longest name of an entry: the longest path that systems accept.
const LONGEST_NAME: u64 = 4096;
/// Longest list of extended attributes before an entry.
const LONGEST_ATTRIBUTES: u64 = 1 << 16;
/// Most entries; the largest known archive has three thousand.
const MOST_ENTRIES: usize = 1 << 20;

pub struct Entry<'a> {
    /// Its path: in an archive as written, which may lead anywhere; in a folder, relative to the folder.
    pub path: PathBuf,
    pub kind: EntryType,
    pub size: u64,
    content: &'a mut dyn Read,
    error: &'a dyn Fn(io::Error) -> Error,
}

impl Entry<'_> {
    /// Passes the whole content to `each`, in blocks. Fails when the archive ends too early.
    pub fn content(&mut self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut block = vec![0; 1 << 16];
        let mut read = 0;
        loop {
            match self.content.read(&mut block) {
                Ok(0) if read == self.size => return Ok(()),
                Ok(0) => return Err((self.error)(io::ErrorKind::UnexpectedEof.into())),
                Ok(n) => {
                    read += n as u64;
                    each(&block[..n])?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err((self.error)(e)),
            }
        }
    }
}

fn damaged(source: &Path, reason: impl std::fmt::Display) -> Error {
    // The tar library quotes bytes of the archive, which may be anything.
    let reason: String = reason.to_string().chars().take_while(|c| matches!(c, ' '..='~')).collect();
    let reason = reason.trim_end_matches([' ', ':']);
    Error::file(source, format!("is not a complete tar archive ({reason}); fetch it again"))
}

pub fn each_file(source: &Path, mut each: impl FnMut(&mut Entry<'_>) -> Result<()>) -> Result<()> {
    if !source.is_dir() {
        return each_entry(source, |entry| if entry.kind.is_file() { each(entry) } else { Ok(()) }).map(drop);
    }
    for path in files_below(source)? {
        let error = |e| Error::io("read", &path)(e);
        let mut file = File::open(&path).map_err(error)?;
        let size = file.metadata().map_err(error)?.len();
        let relative = path.strip_prefix(source).unwrap_or(&path).to_owned();
        each(&mut Entry { path: relative, kind: EntryType::Regular, size, content: &mut file, error: &error })?;
    }
    Ok(())
}

/// Calls `each` for every entry of an archive that is not part of the name of another; returns their number.
pub fn each_entry(source: &Path, mut each: impl FnMut(&mut Entry<'_>) -> Result<()>) -> Result<usize> {
    let wrong = |e: io::Error| damaged(source, e);
    let refused = |why: &str| Error::file(source, format!("is refused: {why}"));
    let long = || refused("the name of one of its entries is too long for a file");
    let mut archive = Archive::new(files::open_content(source)?);
    let (mut name, mut count) = (None, 0);
    // Raw, because the library itself would read names of any length.
    for entry in archive.entries().map_err(wrong)?.raw(true) {
        let mut entry = entry.map_err(wrong)?;
        let kind = entry.header().entry_type();
        let size = entry.header().entry_size().map_err(wrong)?;
        let mut text = |most: u64| -> Result<Vec<u8>> {
            let mut bytes = Vec::new();
            if size > most {
                return Err(long());
            }
            entry.by_ref().take(most).read_to_end(&mut bytes).map_err(wrong)?;
            if bytes.len() as u64 == size { Ok(bytes) } else { Err(wrong(io::ErrorKind::UnexpectedEof.into())) }
        };
        match kind {
            EntryType::GNULongName => {
                let mut bytes = text(LONGEST_NAME)?;
                bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
                name = Some(bytes);
            }
            EntryType::GNULongLink => drop(text(LONGEST_NAME)?),
            EntryType::XHeader => {
                for attribute in PaxExtensions::new(&text(LONGEST_ATTRIBUTES)?) {
                    let attribute = attribute.map_err(wrong)?;
                    match attribute.key_bytes() {
                        b"path" => name = Some(attribute.value_bytes().to_vec()),
                        // Two programs that disagree about a size would see two different archives.
                        b"size" => return Err(refused("an entry states its size twice")),
                        _ => {}
                    }
                }
            }
            EntryType::XGlobalHeader => {}
            _ => {
                count += 1;
                let bytes = name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                if count > MOST_ENTRIES || bytes.len() as u64 > LONGEST_NAME {
                    return Err(long());
                }
                let path = PathBuf::from(OsString::from_vec(bytes));
                each(&mut Entry { path, kind, size, content: &mut entry, error: &wrong })?;
            }
        }
    }
    if name.is_some() {
        return Err(damaged(source, "it ends after the name of an entry"));
    }
    Ok(count)
}

/// The names in a path, last to first.
pub(super) fn names(path: &Path) -> impl Iterator<Item = &str> {
    path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })
}

/// Files below a folder, at most four levels deep, sorted; hidden files and folders are left out. Each folder is visited
/// once, however many links lead to it.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut folders = vec![(folder.to_owned(), 3)];
    while let Some((folder, depth)) = folders.pop() {
        if !seen.insert(folder.canonicalize().map_err(Error::io("read the folder", &folder))?) {
            continue;
        }
        for path in files::list(&folder)? {
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            if path.is_dir() && depth > 0 {
                folders.push((path, depth - 1));
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
