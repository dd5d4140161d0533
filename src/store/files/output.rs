//! Writes bytes to an output. Links are followed to their end, and a plain file is replaced as a whole: temporary name
//! in the same folder, sync, rename, sync of the folder. Any other target (device, FIFO, socket, an open file of
//! `/proc`, `-`) is written to as a stream and never replaced.
//!
//! A temporary file is locked while its writer lives. Files without a lock were left by killed writers; the next
//! process that writes into the folder removes them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Cursor, ErrorKind, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{AccessFlags, access};
use parking_lot::Mutex;
use tempfile::NamedTempFile;

use super::{faults, folder_of, is_at, list, make_folder, number, remove, sync_folder, write_error};
use crate::{Error, Result, store};

/// Prefix of the names of temporary files and locks, followed by letters and digits. The leading dot hides them from
/// readers that take every file of a folder.
pub(super) const TEMPORARY: &str = ".part-";
pub(super) const LOCK: &str = ".lock-";
pub(super) const RANDOM: usize = 12;

/// Links that are followed at most, as in the Linux kernel.
const MOST_LINKS: usize = 40;

/// How long to wait for a reader of a FIFO.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).rand_bytes(RANDOM);
    builder
}

/// The target of a path.
pub(super) enum Destination {
    /// A plain file, which need not exist: its path without links.
    Plain(PathBuf),
    Stream(PathBuf),
    /// A stream that this process has open already.
    Open(File),
}

/// Follows links one by one. The folder of the file must exist.
pub(super) fn destination(path: &Path) -> Result<Destination> {
    if path == Path::new("-") {
        return standard_output().map(Destination::Open).map_err(Error::io("write", path));
    }
    let failed = |reason: io::Error| Error::io("write", path)(reason);
    let mut file = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = folder_of(&file);
        let folder = fs::canonicalize(folder).map_err(|reason| match reason.kind() {
            ErrorKind::NotFound => Error::file(path, store::Error::NoFolder(folder.to_owned())),
            _ => failed(reason),
        })?;
        let name = file.file_name().filter(|_| !file.as_os_str().as_encoded_bytes().ends_with(b"/"));
        let name = name.ok_or_else(|| Error::file(path, store::Error::IsAFolder))?;
        file = folder.join(name);
        let there = match file.symlink_metadata() {
            Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(Destination::Plain(file)),
            there => there.map_err(failed)?,
        };
        // A file that is open in a process may be a plain file that others write to as well, and may have no name any
        // more.
        let is_open_file = there.is_symlink() && folder.starts_with("/proc");
        if there.is_symlink() && !is_open_file {
            file = folder.join(fs::read_link(&file).map_err(failed)?);
            continue;
        }
        if there.is_dir() {
            return Err(Error::file(path, store::Error::IsAFolder));
        }
        access(&file, AccessFlags::W_OK).map_err(|errno| failed(errno.into()))?;
        return match is_open_file.then(|| own_stream(&file)).flatten() {
            Some(own) => own.map(Destination::Open).map_err(failed),
            None if there.is_file() => Ok(Destination::Plain(file)),
            None => Ok(Destination::Stream(file)),
        };
    }
    Err(failed(Errno::ELOOP.into()))
}

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether an output goes to standard output, so that messages must not.
pub fn standard_output_is_taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

fn standard_output() -> io::Result<File> {
    TAKEN.store(true, Ordering::Relaxed);
    io::stdout().flush()?;
    let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // A closed descriptor is replaced before `main` by the null device, open in both directions. `>/dev/null` opens it
    // for writing only.
    let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
    let null = Path::new("/dev/null").metadata().map(|null| null.rdev());
    if flags & OFlag::O_ACCMODE == OFlag::O_RDWR
        && null.is_ok_and(|null| file.metadata().is_ok_and(|f| f.rdev() == null))
    {
        return Err(io::Error::other("standard output is closed"));
    }
    Ok(file)
}

/// The standard output or error that a path leads to. If it were opened again, a file would be written from its
/// beginning.
fn own_stream(path: &Path) -> Option<io::Result<File>> {
    let is = |own: io::Result<std::os::fd::OwnedFd>| {
        let there = own.map(File::from).and_then(|file| file.metadata());
        there.is_ok_and(|there| number(path) == Some((there.dev(), there.ino())))
    };
    if is(io::stdout().as_fd().try_clone_to_owned()) {
        return Some(standard_output());
    }
    let error = || io::stderr().as_fd().try_clone_to_owned();
    is(error()).then(|| error().map(File::from))
}

/// Whether a path leads to a target that is written to and not replaced.
pub fn is_stream(path: &Path) -> bool {
    !matches!(destination(path), Ok(Destination::Plain(_)) | Err(_))
}

/// Whether two paths lead to one plain file, or both are standard output (`-`).
pub fn is_same(a: &Path, b: &Path) -> bool {
    match (destination(a), destination(b)) {
        (Ok(Destination::Plain(a)), Ok(Destination::Plain(b))) => a == b,
        _ => a == b && a == Path::new("-"),
    }
}

/// Opens a stream for writing at its end.
fn open_stream(path: &Path) -> io::Result<Box<dyn Write>> {
    let kind = path.metadata()?.file_type();
    if kind.is_socket() {
        return Ok(Box::new(UnixStream::connect(path)?));
    }
    let mut options = File::options();
    // A FIFO without a reader cannot be opened, and a blocking wait would have no limit, so opening is tried
    // repeatedly.
    options.append(true).custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits());
    let asked = Instant::now();
    let file = loop {
        match options.open(path) {
            Err(reason) if kind.is_fifo() && reason.raw_os_error() == Some(Errno::ENXIO as i32) => {
                if asked.elapsed() > PATIENCE {
                    let waited = format!("no process has opened this FIFO for reading within {} s", PATIENCE.as_secs());
                    return Err(io::Error::other(waited));
                }
                sleep(Duration::from_millis(20));
            }
            opened => break opened?,
        }
    };
    let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
    fcntl(&file, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
    Ok(Box::new(file))
}

/// An output that is being written: under a temporary name, or in memory until it is sent to a stream.
pub enum Draft {
    File(NamedTempFile),
    Memory(Cursor<Vec<u8>>),
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => {
                let allowed = faults::write(bytes.len())?;
                file.write(&bytes[..allowed])
            }
            Self::Memory(memory) => memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Memory(_) => Ok(()),
        }
    }
}

impl Seek for Draft {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Memory(memory) => memory.seek(to),
        }
    }
}

/// Writes an output, whole or not at all if it is a file; creates folders as needed. `-` is standard output.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut Draft) -> io::Result<()>) -> Result<()> {
    make_folder(folder_of(path))?;
    let stream: Box<dyn FnOnce() -> io::Result<Box<dyn Write>>> = match destination(path)? {
        Destination::Plain(target) => return replace(path, &target, write),
        Destination::Stream(stream) => Box::new(move || open_stream(&stream)),
        Destination::Open(file) => Box::new(move || Ok(Box::new(file))),
    };
    let mut draft = Draft::Memory(Cursor::default());
    let failed = write_error(path);
    write(&mut draft).map_err(&failed)?;
    let Draft::Memory(memory) = draft else { return Ok(()) };
    stream().and_then(|mut stream| stream.write_all(&memory.into_inner())).map_err(failed)
}

/// Writes a file under a temporary name in the same folder, syncs it and renames it.
fn replace(path: &Path, target: &Path, write: impl FnOnce(&mut Draft) -> io::Result<()>) -> Result<()> {
    let folder = folder_of(target);
    sweep(folder);
    let file = faults::call().and_then(|()| locked_in(folder)).map_err(|reason| match reason.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => write_error(path)(reason),
        _ => Error::io("create a file in", folder)(reason),
    })?;
    let failed = write_error(path);
    // A file that only its owner may read stays so.
    if let Ok(there) = target.metadata() {
        let mode = Permissions::from_mode(there.mode() & 0o777);
        file.as_file().set_permissions(mode).map_err(&failed)?;
    }
    let mut draft = Draft::File(file);
    write(&mut draft).map_err(&failed)?;
    let Draft::File(file) = draft else { return Ok(()) };
    faults::call().and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    faults::call().map_err(&failed)?;
    file.persist(target).map_err(|e| failed(e.error))?;
    // The new name must survive a power cut as well.
    sync_folder(folder).map_err(failed)
}

/// A new temporary file, locked until it is closed.
fn locked_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = temporary();
    builder.permissions(Permissions::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder)?;
        // Another process may take the file for a leftover before it is locked. Where files cannot be locked, none is
        // removed.
        let lost = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if !lost && file.as_file().metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
}

/// [`write_atomically`] of bytes that exist already.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |draft| draft.write_all(bytes))
}

/// Appends bytes to a file that other programs append to as well, such as the summary of a CI system.
pub fn append(path: &Path, bytes: &[u8]) -> Result<()> {
    let opened: io::Result<Box<dyn Write>> = match destination(path)? {
        Destination::Plain(file) => {
            let opened = File::options().append(true).create(true).open(file);
            opened.map(|file| Box::new(file) as Box<dyn Write>)
        }
        Destination::Stream(stream) => open_stream(&stream),
        Destination::Open(file) => Ok(Box::new(file)),
    };
    opened.and_then(|mut file| file.write_all(bytes)).map_err(write_error(path))
}

/// Checks that an output can be written at this path later: creates its folder and tries it, without touching the path.
pub fn try_folder(path: &Path) -> Result<()> {
    make_folder(folder_of(path))?;
    try_file(path)
}

/// The same in a folder that must exist, so that no misspelt folder is created.
pub fn try_file(path: &Path) -> Result<()> {
    match destination(path)? {
        Destination::Plain(target) => {
            temporary().tempfile_in(folder_of(&target)).map(drop).map_err(Error::io("write", path))
        }
        Destination::Stream(_) | Destination::Open(_) => Ok(()),
    }
}

/// Removes files that killed writers left in a folder, once per process. Failing to remove one is not an error.
pub fn sweep(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if let Ok(folder) = fs::canonicalize(folder)
        && SWEPT.lock().insert(folder.clone())
    {
        let _ = remove_leftovers(&folder);
    }
}

/// Removes plain files with names made by this module, from before this process began to write, that no process has
/// locked.
fn remove_leftovers(folder: &Path) -> Result<()> {
    static BEGAN: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);
    let began = *BEGAN;
    for path in list(folder)?.into_iter().filter(|path| path.file_name().is_some_and(is_ours)) {
        let Ok(there) = path.symlink_metadata() else { continue };
        if there.is_file()
            && there.modified().is_ok_and(|changed| changed <= began)
            // Locked until it is removed, because its writer may be about to lock it.
            && let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
            && is_at(&file, &path)
        {
            remove(&path)?;
        }
    }
    Ok(())
}

fn is_ours(name: &OsStr) -> bool {
    let own = |prefix: &str| name.to_str()?.strip_prefix(prefix);
    let rest = own(TEMPORARY).or_else(|| own(LOCK)).unwrap_or_default();
    rest.len() == RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
