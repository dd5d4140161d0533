//! A file that several processes change: one at a time reads it, merges its change and writes it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;

use super::output::{Destination, LOCK, RANDOM, destination};
use super::{faults, folder_of, is_at, make_folder, read, read_text_if_there, rename, sha256_hex, write_bytes};
use crate::text::shortened;
use crate::{Error, Result, store};

/// How long another process may hold a file. No change takes longer unless its process hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The right to change a file that others change too: optima, baselines, lists of jobs. Released when dropped or when
/// the process ends, in whatever way. Readers need no lock, because a file is always whole.
#[derive(Debug)]
pub struct SharedFile {
    /// The path of the file, without links.
    path: PathBuf,
    /// `None` for a stream, which is never read back.
    lock: Option<Lock>,
}

/// A lock beside the file, because the file itself is replaced with every change.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    /// The system releases the lock when this is closed.
    file: File,
}

impl SharedFile {
    /// Waits for the process that holds the file; fails with its name when that takes too long.
    pub fn lock(path: &Path) -> Result<Self> {
        Self::lock_within(path, PATIENCE)
    }

    /// The same with another limit.
    pub fn lock_within(path: &Path, patience: Duration) -> Result<Self> {
        make_folder(folder_of(path))?;
        let Destination::Plain(target) = destination(path)? else {
            return Ok(Self { path: path.to_owned(), lock: None });
        };
        let name = sha256_hex(target.file_name().unwrap_or_default().as_encoded_bytes());
        let beside = folder_of(&target).join(format!("{LOCK}{}", &name[..RANDOM]));
        let asked = Instant::now();
        loop {
            let file = open(&beside).map_err(|reason| match beside.symlink_metadata() {
                Ok(there) if !there.is_file() => Error::file(&beside, store::Error::NotALock),
                _ => Error::io("create", &beside)(reason),
            })?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &beside) => {
                    if !is_lock(&file) {
                        return Err(Error::file(&beside, store::Error::NotALock));
                    }
                    sign(&file);
                    return Ok(Self { path: target, lock: Some(Lock { path: beside, file }) });
                }
                // The previous holder has removed it.
                Ok(()) => {}
                Err(TryLockError::Error(reason)) => return Err(Error::file(path, store::Error::NoFileLock(reason))),
                Err(TryLockError::WouldBlock) if asked.elapsed() >= patience => {
                    let (seconds, holder) = (patience.as_secs(), holder(&beside));
                    return Err(Error::file(path, store::Error::Held { seconds, holder }));
                }
                Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(10)),
            }
        }
    }

    /// The current content of the file; `None` when it does not exist.
    pub fn text(&self) -> Result<Option<String>> {
        if self.lock.is_none() { Ok(None) } else { read_text_if_there(&self.path) }
    }

    /// The path of the file, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file. Fails when its lock was removed, because another process may hold the file then.
    pub fn write(&self, text: &str) -> Result<()> {
        self.check_lock()?;
        write_bytes(&self.path, text.as_bytes())
    }

    /// Replaces the file by a part of it ([`open_part`]) that is complete now.
    pub fn complete(&self, part: &Path) -> Result<()> {
        self.check_lock()?;
        rename(part, &self.path)
    }

    fn check_lock(&self) -> Result<()> {
        if self.lock.as_ref().is_some_and(|lock| !is_at(&lock.file, &lock.path)) {
            return Err(Error::file(&self.path, store::Error::LockGone));
        }
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is held, so that a waiting process sees that it has to make another.
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    faults::call()?;
    let open = |write: bool| {
        let mut options = File::options();
        options.read(true).write(write).create(write);
        // Does not follow a link and does not block on whatever is in its place.
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits()).open(path)
    };
    // A lock that a killed process of another user left can be locked, but not signed.
    open(true).or_else(|reason| match reason.kind() {
        ErrorKind::PermissionDenied => open(false).map_err(|_| reason),
        _ => Err(reason),
    })
}

/// Opens a file that grows beside a shared one, or makes it. The caller holds the shared file. What is in its place and
/// not a plain file with one name is neither followed nor changed.
pub fn open_part(path: &Path) -> Result<File> {
    let strange = || Error::file(path, store::Error::NotAPart);
    let file = open(path).map_err(|reason| match path.symlink_metadata() {
        Ok(there) if !there.is_file() => strange(),
        _ => Error::io("create", path)(reason),
    })?;
    if one_plain_file(&file) { Ok(file) } else { Err(strange()) }
}

fn one_plain_file(file: &File) -> bool {
    file.metadata().is_ok_and(|there| there.is_file() && there.nlink() == 1)
}

/// How the text of a lock begins.
const SIGNATURE: &str = "process ";

/// Whether an open file is a lock of this program: a plain file with one name that is empty or signed. What is not is
/// neither written to nor removed.
fn is_lock(file: &File) -> bool {
    let mut begin = Vec::new();
    let read = file.take(SIGNATURE.len() as u64).read_to_end(&mut begin);
    one_plain_file(file) && read.is_ok() && (begin.is_empty() || begin == SIGNATURE.as_bytes())
}

/// Records who holds a lock, for processes that wait too long.
fn sign(mut file: &File) {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let (pid, host, command) = (std::process::id(), host.trim(), words.join(" "));
    let text = format!("{SIGNATURE}{pid} on {host}: {}", shortened(&command, 300));
    let empty = file.set_len(0).and_then(|()| file.rewind());
    let _ = empty.and_then(|()| file.write_all(text.as_bytes()));
}

/// The holder of a lock, if known.
fn holder(lock: &Path) -> String {
    let bytes = read(lock, 1 << 16).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace(char::is_control, " ");
    if text.is_empty() { "another process".to_owned() } else { shortened(&text, 400).into_owned() }
}
