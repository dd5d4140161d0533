//! Files that are written whole or not at all ([`output`]), shared files that one process at a time changes
//! ([`shared`]), texts that are read up to a maximum size, and their SHA-256. No other module creates outputs.

pub mod faults;
mod output;
mod shared;

use output::temporary;
pub use output::{
    Draft, append, is_same, is_stream, standard_output_is_taken, sweep, try_file, try_folder, write_atomically,
    write_bytes,
};
pub use shared::{SharedFile, open_part};

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sha2::{Digest, Sha256};

use crate::{Error, Result, store};

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Turns an error of a write into one with advice.
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

/// Renames a file within one file system. After a power cut it has one of the two names.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let moved = faults::call().and_then(|()| fs::rename(from, to));
    moved.and_then(|()| sync_folder(folder_of(to))).map_err(write_error(to))
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    faults::call()?;
    File::open(folder)?.sync_all()
}

/// Gives a finished plain file a second name, or copies it where that is not possible; an existing plain file is
/// replaced, anything else is refused. Of a link the content is copied, because its target belongs to others. The file
/// must never be changed in place. The caller syncs the folder at the end: [`sync`].
pub fn place(from: &Path, to: &Path) -> Result<()> {
    replaceable(to)?;
    // Renaming one name of a file to another of the same file does nothing and would leave the temporary name behind.
    if !from.is_symlink() && number(from).is_some_and(|from| Some(from) == number(to)) {
        return Ok(());
    }
    let linked = faults::call().and_then(|()| temporary().make_in(folder_of(to), |name| fs::hard_link(from, name)));
    match linked {
        // A second name of a link would be a link to the same target.
        Ok(linked) if linked.path().symlink_metadata().is_ok_and(|there| there.is_file()) => {
            let renamed = faults::call().and_then(|()| linked.into_temp_path().persist(to).map_err(|e| e.error));
            renamed.map_err(write_error(to))
        }
        // Another file system, or one without hard links.
        _ => copy_content(from, to),
    }
}

/// Fails when something exists that a plain file must not replace: a link, a FIFO, a folder.
pub fn replaceable(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            let reason = io::Error::other("it is a link or another file that is not plain; move it out of the folder");
            Err(Error::io("replace", path)(reason))
        }
        _ => Ok(()),
    }
}

/// A name for this content: the path, or the path with a number, where another file has it already.
pub fn unused(path: &Path, content: &Path) -> PathBuf {
    let (stem, ending) = (path.with_extension(""), path.extension().unwrap_or_default().to_string_lossy());
    let is_same = |there: &Path| matches!((sha256_file(there), sha256_file(content)), (Ok(a), Ok(b)) if a == b);
    let free = |there: &PathBuf| there.symlink_metadata().ok().is_none_or(|found| found.is_file() && is_same(there));
    let numbered = (2_u32..).map(|count| with_suffix(&stem, &format!(".{count}.{ending}")));
    std::iter::once(path.to_owned()).chain(numbered).find(free).unwrap_or_else(|| path.to_owned())
}

/// Folders that did not exist; those that are still empty are removed when this is dropped.
pub struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Creates a folder and those above it.
    pub fn make(folder: &Path) -> Result<Self> {
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing = missing.map(Path::to_owned).collect();
        make_folder(folder).map(|()| Self(missing))
    }

    /// Leaves them, because they belong to another process now.
    pub fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // Fails for a folder that has something in it.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Identity of a file or folder, whatever its names: device and inode. `None` when it does not exist.
pub fn number(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

/// Whether an open folder or file is what this path leads to.
pub fn is_open_as(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|there| number(path) == Some((there.dev(), there.ino())))
}

/// The path that an open folder has now; `None` where it was deleted or the system does not tell.
pub fn name_of(folder: &File) -> Option<PathBuf> {
    let name = fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).ok()?;
    is_open_as(folder, &name).then_some(name)
}

/// Whether this is the name of an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |there: fs::Metadata| (there.dev(), there.ino());
    let named = path.symlink_metadata().map(number).ok();
    named.is_some() && named == file.metadata().map(number).ok()
}

/// Fails when something exists that is not a plain file: reading a pipe would block, and a device has no end.
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
    if from.is_symlink() {
        let reason = io::Error::other("it is a link; move it out of the folder");
        return Err(Error::io("copy", from)(reason));
    }
    copy_content(from, to)
}

fn copy_content(from: &Path, to: &Path) -> Result<()> {
    plain(from)?;
    let mut source = faults::call().and_then(|()| File::open(from)).map_err(Error::io("read", from))?;
    write_atomically(to, |draft| io::copy(&mut source, draft).map(drop))
}

/// Writes the names in a folder to the disk.
pub fn sync(folder: &Path) -> Result<()> {
    sync_folder(folder).map_err(write_error(folder))
}

pub fn remove(path: &Path) -> Result<()> {
    faults::call().and_then(|()| fs::remove_file(path)).map_err(Error::io("remove", path))
}

/// The entries of a folder, sorted.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = faults::call().and_then(|()| fs::read_dir(folder));
    let paths = entries.and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    let mut paths = paths.map_err(Error::io("list", folder))?;
    paths.sort();
    Ok(paths)
}

/// Most bytes of a text that people or this program wrote: configs, baselines, stores, manifests.
const LONGEST_TEXT: u64 = 64 << 20;

/// How long to wait for a program that writes to a pipe, and for each part of what it writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Set once, by `--wait`: the wait for the writer of a pipe has no limit.
static WAITS: AtomicBool = AtomicBool::new(false);

/// From here on, waits for the writers of pipes however long they take.
pub fn wait_for_writers() {
    WAITS.store(true, Ordering::Relaxed);
}

/// An open input of the user. Reading fails when nothing comes from a pipe for [`PATIENCE`].
pub struct Input {
    file: File,
    limited: bool,
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.limited {
            let limit = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::MAX);
            if poll(&mut [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)], limit)? == 0 {
                return Err(silent());
            }
        }
        self.file.read(bytes)
    }
}

fn silent() -> io::Error {
    let waited = PATIENCE.as_secs();
    let message = format!(
        "it is a named pipe, and no program wrote to it for {waited} s; start the writer first, or wait with --wait"
    );
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// Opens an input of the user. Fails when no program opens the other end of a named pipe within [`PATIENCE`].
pub fn open_input(path: &Path) -> io::Result<Input> {
    let limited = is_pipe(path) && !WAITS.load(Ordering::Relaxed);
    if !limited {
        return Ok(Input { file: File::open(path)?, limited });
    }
    let (opened, result) = mpsc::channel();
    let owned = path.to_owned();
    // `open` blocks until a writer exists. A thread that still blocks there ends with the process.
    std::thread::spawn(move || opened.send(File::open(owned)));
    let file = result.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(silent()))?;
    Ok(Input { file, limited })
}

/// Whether it is a pipe, named or not, whose content can be read only once.
#[cfg(unix)]
pub fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(not(unix))]
pub fn is_pipe(_: &Path) -> bool {
    false
}

/// The bytes of a file; fails when it has more than `most`.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = faults::call().and_then(|()| open_input(path));
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

/// The text of a file; `None` when it does not exist.
pub fn read_text_if_there(path: &Path) -> Result<Option<String>> {
    match read_text(path) {
        Err(Error::Io { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// SHA-256 in lower-case hex, like all checksums here.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of everything that a reader returns, and the number of bytes.
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

/// A reader of the content of a file, which is plain, gzip or bzip2 as its first bytes tell.
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
