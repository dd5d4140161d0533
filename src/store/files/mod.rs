//! Files written whole or not at all, texts read up to a size, and their SHA-256. No other module creates outputs.

pub mod faults;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::{Error, Result, store};

/// How temporary names begin, before random letters and digits. A leading dot hides them from readers that take every file of a
/// folder.
const TEMPORARY: &str = ".part-";
const RANDOM: usize = 12;

fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).rand_bytes(RANDOM);
    builder
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is being written under a temporary name.
pub struct Draft {
    file: NamedTempFile,
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let allowed = faults::write(bytes.len())?;
        self.file.write(&bytes[..allowed])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Draft {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// An error of a write, in words that help.
pub fn write_error(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |reason| match reason.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::file(&path, store::Error::DiskFull),
        _ => Error::io("write", &path)(reason),
    }
}

pub fn make_folder(folder: &Path) -> Result<()> {
    let made = faults::call().and_then(|()| fs::create_dir_all(folder));
    made.map_err(Error::io("create the folder", folder))
}

/// Gives a file another name in the same file system, for good: also after a power cut it has one of the two.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let moved = faults::call().and_then(|()| fs::rename(from, to));
    moved.and_then(|()| sync_folder(folder_of(to))).map_err(write_error(to))
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    faults::call()?;
    File::open(folder)?.sync_all()
}

/// Writes a file under a temporary name in the same folder, syncs it and renames it; folders are made as needed.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut Draft) -> io::Result<()>) -> Result<()> {
    let folder = folder_of(path);
    make_folder(folder)?;
    // A rename would put the file in the place of a device or a pipe.
    if path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_symlink() && !there.is_dir()) {
        return Err(Error::file(path, store::Error::NotAFile));
    }
    let mut builder = temporary();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = faults::call().and_then(|()| builder.tempfile_in(folder));
    let mut draft = Draft { file: file.map_err(Error::io("create a file in", folder))? };
    let failed = write_error(path);
    write(&mut draft).map_err(&failed)?;
    faults::call().and_then(|()| draft.file.as_file().sync_all()).map_err(&failed)?;
    faults::call().map_err(&failed)?;
    draft.file.persist(path).map_err(|e| failed(e.error))?;
    // The new name must survive a power cut as well.
    sync_folder(folder).map_err(failed)
}

/// [`write_atomically`] of bytes that are there already.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |draft| draft.write_all(bytes))
}

/// Gives a finished file a second name, or copies it where that is not possible; what was there is replaced. The file must
/// never be changed in place. The caller syncs the folder when all are there: [`sync`].
pub fn place(from: &Path, to: &Path) -> Result<()> {
    // To rename one name of a file to another of the same file does nothing, and would leave the temporary one behind.
    if number(from).is_some_and(|from| Some(from) == number(to)) {
        return Ok(());
    }
    let linked = faults::call().and_then(|()| temporary().make_in(folder_of(to), |name| fs::hard_link(from, name)));
    match linked {
        Ok(linked) => {
            let renamed = faults::call().and_then(|()| linked.into_temp_path().persist(to).map_err(|e| e.error));
            renamed.map_err(write_error(to))
        }
        // Another file system, or one without links.
        Err(_) => copy(from, to),
    }
}

/// What a file is, whatever its names: device and number. `None` where the system has no such number.
#[cfg(unix)]
pub fn number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

#[cfg(not(unix))]
pub fn number(_: &Path) -> Option<(u64, u64)> {
    None
}

/// An error when something is there that is no plain file: to read a pipe would wait for ever, a device has no end.
pub fn plain(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(there) if !there.is_file() => {
            let reason = io::Error::other("it is not a plain file; move it out of the folder");
            Err(Error::io("read", path)(reason))
        }
        _ => Ok(()),
    }
}

/// Copies a plain file, whole or not at all; a link is refused.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    plain(from)?;
    if from.is_symlink() {
        let reason = io::Error::other("it is a link; move it out of the folder");
        return Err(Error::io("copy", from)(reason));
    }
    let mut source = faults::call().and_then(|()| File::open(from)).map_err(Error::io("read", from))?;
    write_atomically(to, |draft| io::copy(&mut source, draft).map(drop))
}

/// Puts the names in a folder on the disk.
pub fn sync(folder: &Path) -> Result<()> {
    sync_folder(folder).map_err(write_error(folder))
}

pub fn remove(path: &Path) -> Result<()> {
    faults::call().and_then(|()| fs::remove_file(path)).map_err(Error::io("remove", path))
}

/// Whether a file can be written at this path later: its folder is made and tried now, nothing at the path is touched.
pub fn try_folder(path: &Path) -> Result<()> {
    make_folder(folder_of(path))?;
    try_file(path)
}

/// The same in a folder that must be there: one that a user misspelt is not made.
pub fn try_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::file(path, store::Error::IsAFolder));
    }
    if path.exists() && !path.is_file() {
        return Err(Error::file(path, store::Error::NotAFile));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(Error::file(path, store::Error::NoFolder(folder.to_owned())));
    }
    temporary().tempfile_in(folder).map(drop).map_err(Error::io("write", path))
}

/// Removes what killed writers left in a folder: only plain files with names that [`write_atomically`] makes.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    let ours = |name: &str| {
        let random = name.strip_prefix(TEMPORARY).unwrap_or_default();
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    for path in list(folder)? {
        let named = path.file_name().and_then(|name| name.to_str()).is_some_and(ours);
        if named && path.symlink_metadata().is_ok_and(|there| there.is_file()) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// What is in a folder, sorted.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = faults::call().and_then(|()| fs::read_dir(folder));
    let paths = entries.and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    let mut paths = paths.map_err(Error::io("list", folder))?;
    paths.sort();
    Ok(paths)
}

/// Most bytes of a text that people or this program wrote: configs, baselines, stores, manifests.
const LONGEST_TEXT: u64 = 64 << 20;

/// The bytes of a file; an error when it has more than `most`.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = faults::call().and_then(|()| File::open(path));
    let content = file.and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    content.map_err(Error::io("read", path))?;
    if bytes.len() as u64 > most {
        return Err(Error::file(path, store::Error::TooLarge(most >> 20)));
    }
    Ok(bytes)
}

pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read(path, LONGEST_TEXT)?;
    String::from_utf8(bytes).map_err(|_| Error::file(path, store::Error::NotText))
}

/// The text of a file; `None` when it is not there.
pub fn read_text_if_there(path: &Path) -> Result<Option<String>> {
    match read_text(path) {
        Err(Error::Io { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// In lower-case hex, as all checksums here.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of everything a reader gives, and the number of bytes.
pub fn sha256(mut reader: impl Read) -> io::Result<(String, u64)> {
    let (mut hash, mut total, mut block) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        match reader.read(&mut block) {
            Ok(0) => return Ok((hex(&hash.finalize()), total)),
            Ok(n) => {
                hash.update(&block[..n]);
                total += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

pub fn sha256_file(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    sha256(file).map(|(hash, _)| hash).map_err(Error::io("read", path))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, b| text + &format!("{b:02x}"))
}

/// A reader of the content of a file: plain, gzip or bzip2 by its first bytes.
pub fn open_content(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(1 << 17, File::open(path).map_err(Error::io("read", path))?);
    Ok(match file.fill_buf().map_err(Error::io("read", path))? {
        [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file))),
        [b'B', b'Z', b'h', ..] => Box::new(BufReader::with_capacity(1 << 16, MultiBzDecoder::new(file))),
        _ => Box::new(file),
    })
}

/// SHA-256 of the content of a file, unpacked.
pub fn content_sha256(path: &Path) -> Result<String> {
    let (hash, _) = sha256(open_content(path)?).map_err(|e| Error::file(path, store::Error::Cut(e)))?;
    Ok(hash)
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
    let Some(text) = read_text_if_there(&record)? else { return Ok(None) };
    match text.split_whitespace().next() {
        Some(hash) if hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            Ok(Some(hash.to_ascii_lowercase()))
        }
        _ => Err(Error::file(record, store::Error::NoChecksum)),
    }
}
