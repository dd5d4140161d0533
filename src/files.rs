//! Files written whole or not at all, and their SHA-256.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// How temporary names begin. A leading dot hides them from readers that take every file of a folder.
const TEMPORARY: &str = ".part-";

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file under a temporary name in the same folder, syncs it and renames it; folders are made as needed.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temp = builder.tempfile_in(folder).map_err(Error::io("create a file in", folder))?;
    let failed = |reason: io::Error| {
        if reason.kind() == io::ErrorKind::StorageFull {
            let message = "the disk is full; what was finished before is intact: free some space and start again";
            return Error::file(path, message);
        }
        Error::io("write", path)(reason)
    };
    write(temp.as_file_mut()).and_then(|()| temp.as_file().sync_all()).map_err(failed)?;
    temp.persist(path).map_err(|e| failed(e.error))?;
    // The new name must survive a power cut as well.
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// [`write_atomically`] of bytes that are there already.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |file| file.write_all(bytes))
}

/// Whether a file can be written at this path later: its folder is made and tried now, nothing at the path is touched.
pub fn try_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    try_file(path)
}

/// The same in a folder that must be there: one that a user misspelt is not made.
pub fn try_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::file(path, "is a folder, expected the name of a file"));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        let message = format!("there is no folder {}; make it, or name a file in one that exists", folder.display());
        return Err(Error::file(path, message));
    }
    let probe = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder);
    probe.map(drop).map_err(Error::io("write", path))
}

/// Removes what killed writers left in a folder: only names that [`write_atomically`] makes.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        if path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY)) {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Lower-case hex SHA-256 of some bytes.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of everything a reader gives, in lower-case hex, and the number of bytes.
pub fn sha256(mut reader: impl Read) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        let n = match reader.read(&mut block) {
            Ok(0) => return Ok((hex(&hash.finalize()), total)),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        hash.update(&block[..n]);
        total += n as u64;
    }
}

/// SHA-256 of a file in lower-case hex.
pub fn sha256_file(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    sha256(file).map(|(hash, _)| hash).map_err(Error::io("read", path))
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, b| text + &format!("{b:02x}"))
}

/// A reader of the content of a file, gunzipped if it is a gzip file.
pub fn open_content(path: &Path) -> Result<Box<dyn Read>> {
    let mut magic = Vec::new();
    let file = File::open(path).map_err(Error::io("read", path))?;
    (&file).take(2).read_to_end(&mut magic).map_err(Error::io("read", path))?;
    let whole = BufReader::with_capacity(1 << 17, io::Cursor::new(magic.clone()).chain(file));
    Ok(if magic == [0x1f, 0x8b] { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// SHA-256 of the content of a file after gunzip.
pub fn content_sha256(path: &Path) -> Result<String> {
    let damaged = |e| Error::file(path, format!("cannot be read to its end ({e}); fetch it again"));
    sha256(open_content(path)?).map(|(hash, _)| hash).map_err(damaged)
}

/// The file beside a download that records its checksum, in the layout of `sha256sum`.
pub fn record_path(path: &Path) -> PathBuf {
    with_suffix(path, ".sha256")
}

/// A path with text added to its file name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The checksum recorded beside a file, if there is a record.
pub fn recorded_sha256(path: &Path) -> Result<Option<String>> {
    let record = record_path(path);
    match fs::read_to_string(&record) {
        Ok(text) => match text.split_whitespace().next() {
            Some(hash) if hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Ok(Some(hash.to_ascii_lowercase()))
            }
            _ => Err(Error::file(record, "does not hold a SHA-256 checksum; delete it to record a new one")),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", &record)(e)),
    }
}
