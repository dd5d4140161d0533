//! A tar archive, gzip or plain → its entries, one after the other. Names are read up to a length, so that no archive can
//! fill the memory with one; what is wrong with an archive is told apart from what goes wrong with its content elsewhere.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tar::{Archive, EntryType, PaxExtensions};

use crate::store::files;
use crate::{Error, Result};

/// Longest name of an entry: what systems accept for a path.
const LONGEST_NAME: u64 = 4096;
/// Longest list of extended attributes before an entry.
const LONGEST_ATTRIBUTES: u64 = 1 << 16;
/// Most entries; the largest known archive has three thousand.
const MOST_ENTRIES: usize = 1 << 20;

/// One entry.
pub struct Entry<'a> {
    /// Its path as written, which may lead anywhere.
    pub path: PathBuf,
    /// Folder, file, link, …
    pub kind: EntryType,
    /// Bytes of its content.
    pub size: u64,
    source: &'a Path,
    content: &'a mut dyn Read,
    read: u64,
}

impl Entry<'_> {
    /// An error of the archive.
    pub fn damaged(&self, reason: impl std::fmt::Display) -> Error {
        damaged(self.source, reason)
    }

    /// Gives the whole content to `each`, in blocks; an archive that ends too early is an error.
    pub fn content(&mut self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut block = vec![0; 1 << 16];
        loop {
            match self.content.read(&mut block) {
                Ok(0) if self.read == self.size => return Ok(()),
                Ok(0) => return Err(self.damaged(io::Error::from(io::ErrorKind::UnexpectedEof))),
                Ok(n) => {
                    self.read += n as u64;
                    each(&block[..n])?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.damaged(e)),
            }
        }
    }
}

fn damaged(source: &Path, reason: impl std::fmt::Display) -> Error {
    Error::file(source, format!("is not a whole tar archive ({reason}); fetch it again"))
}

/// Calls `each` for every entry that is not about the name of another; how many there were.
pub fn entries(source: &Path, mut each: impl FnMut(&mut Entry<'_>) -> Result<()>) -> Result<usize> {
    let wrong = |e: io::Error| damaged(source, e);
    let long = || Error::file(source, "is refused: one of its entries has a name that no file can have");
    let mut archive = Archive::new(files::open_content(source)?);
    let (mut name, mut count) = (None, 0);
    // Raw: the library itself would read names of any length.
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
                        // Two programs that disagree about a size see two different archives.
                        b"size" => return Err(Error::file(source, "is refused: an entry says its size twice")),
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
                each(&mut Entry { path: path(bytes), kind, size, source, content: &mut entry, read: 0 })?;
            }
        }
    }
    if name.is_some() {
        return Err(damaged(source, "it ends after the name of an entry"));
    }
    Ok(count)
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}
