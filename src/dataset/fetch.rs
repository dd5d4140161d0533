//! Fetches official files: resumable downloads, checksums before use, and archives that are unpacked safely.
//!
//! A download grows in `NAME.part` and becomes `NAME` only after its content was compared with the known content. Where
//! none is known, the first download is trusted, and its checksum is recorded in `NAME.sha256` for later ones. One process
//! at a time fetches a file.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use ureq::Body;
use ureq::http::{HeaderValue, Response, StatusCode, header};

use super::archive;
use super::known::{self, Checked, DataDir, Expected, KnownFile, KnownSet};
use crate::store::files::{self, SharedFile, with_suffix};
use crate::{Error, Result};

/// Called with the bytes so far and, if known, the total.
pub type DownloadProgress<'a> = &'a mut dyn FnMut(u64, Option<u64>);

/// Waits before another attempt; `std::thread::sleep` outside of tests.
pub type Pause<'a> = &'a dyn Fn(Duration);

/// Pause after an attempt that made progress; each further attempt in a row without progress doubles it.
const PAUSE: Duration = Duration::from_millis(500);

/// Consecutive attempts without progress after which a transfer fails.
const ATTEMPTS: u32 = 3;

/// Most bytes of a download, whatever the server announces.
pub const MAX_DOWNLOAD: u64 = 1 << 35;

/// Most bytes an archive may unpack to.
const MAX_UNPACKED: u64 = 1 << 36;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// It existed and is not known to be another file; how it was verified.
    AlreadyThere(Checked),
    /// The set exists in another form, such as an unpacked folder.
    Elsewhere(PathBuf),
    /// It was downloaded; how it was verified.
    Downloaded(Checked),
}

/// Fetches one file of a set into the data folder and unpacks it where that is needed.
pub fn fetch(
    dir: &DataDir,
    set: &KnownSet,
    file: &KnownFile,
    progress: DownloadProgress<'_>,
    pause: Pause<'_>,
) -> Result<Fetched> {
    let target = dir.path.join(file.path);
    let first = set.files.first().is_some_and(|first| first.path == file.path);
    if let Some(place) = dir.locate(set).filter(|place| first && !target.is_file() && *place != target) {
        return Ok(Fetched::Elsewhere(place));
    }
    let outcome = download(file.url, &target, file.expected, MAX_DOWNLOAD, progress, pause)?;
    if let Some((_, needed)) = set.below.filter(|_| dir.locate(set).is_none()) {
        let _lock = SharedFile::lock(&target)?;
        // Another process may have unpacked it in the meantime.
        if dir.locate(set).is_none() {
            // Other files of the archive do not get into the data folder.
            unpack(&target, target.parent().unwrap_or(Path::new(".")), |path| path.ends_with(needed))?;
        }
        dir.require(set).map_err(|_| {
            let KnownSet { name, page, .. } = set;
            Error::file(
                &target,
                format!("was fetched and unpacked, but does not contain the files of {name}; see {page}"),
            )
        })?;
    }
    Ok(outcome)
}

/// Downloads `url` to `target` unless it exists, and verifies it before it gets its name. A file of more than `most` bytes
/// is refused.
pub fn download(
    url: &str,
    target: &Path,
    expected: Expected<'_>,
    most: u64,
    progress: DownloadProgress<'_>,
    pause: Pause<'_>,
) -> Result<Fetched> {
    // Renaming a download over a pipe or a device would destroy it.
    files::plain(target)?;
    let there = || if target.is_file() { already_there(target, expected).map(Some) } else { Ok(None) };
    if let Some(fetched) = there()? {
        return Ok(fetched);
    }
    let lock = SharedFile::lock(target)?;
    // Another process may have fetched it in the meantime.
    if let Some(fetched) = there()? {
        return Ok(fetched);
    }
    let part = PartialFile::open(url, target, &lock, expected, most)?;
    let checked = part.transfer(progress, pause).and_then(|()| part.verify());
    let checked = checked.inspect_err(|_| {
        if part.len() == 0 {
            part.discard();
        }
    })?;
    if let Checked::Unrecorded(sha256) = &checked {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        files::write_atomically(&files::record_path(target), |file| writeln!(file, "{sha256}  {name}"))?;
    }
    part.data.sync_all().map_err(files::write_error(&part.path))?;
    lock.complete(&part.path)?;
    part.discard();
    Ok(Fetched::Downloaded(checked))
}

fn already_there(target: &Path, expected: Expected<'_>) -> Result<Fetched> {
    match known::check_file(target, target, expected)? {
        Checked::Different(expected, found) => Err(Error::file(
            target,
            format!("has the checksum {found}, but should have {expected}; move it away and fetch again"),
        )),
        checked => Ok(Fetched::AlreadyThere(checked)),
    }
}

struct PartialFile<'a> {
    url: &'a str,
    target: &'a Path,
    path: PathBuf,
    data: File,
    /// The server's identifier of this version of the file.
    validator: File,
    expected: Expected<'a>,
    most: u64,
}

/// Ending of the file beside a part that holds its validator.
const VALIDATOR: &str = ".etag";

/// Why an attempt ended early.
enum Stop {
    /// The connection broke: another attempt may succeed.
    Broken(String),
    /// The server's answer or this machine, such as a full disk: another attempt would end the same way.
    Final(Error),
}

impl<'a> PartialFile<'a> {
    fn open(url: &'a str, target: &'a Path, lock: &SharedFile, expected: Expected<'a>, most: u64) -> Result<Self> {
        let path = with_suffix(lock.path(), ".part");
        let (data, validator) = (files::open_part(&path)?, files::open_part(&with_suffix(&path, VALIDATOR))?);
        Ok(Self { url, target, path, data, validator, expected, most })
    }

    fn len(&self) -> u64 {
        self.data.metadata().map_or(0, |m| m.len())
    }

    /// Forgets what has arrived.
    fn empty(&self) -> io::Result<()> {
        self.data.set_len(0)?;
        self.validator.set_len(0)
    }

    fn discard(&self) {
        // Leftovers are harmless: the next download starts over or resumes.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(with_suffix(&self.path, VALIDATOR));
    }

    /// What the server is asked to compare; `None` when nothing useful is recorded.
    fn validator(&self) -> Option<HeaderValue> {
        let mut text = String::new();
        let mut file = &self.validator;
        file.rewind().and_then(|()| file.take(1 << 12).read_to_string(&mut text)).ok()?;
        HeaderValue::from_str(&text).ok().filter(|value| !value.is_empty())
    }

    /// Completes the part, continuing where it stopped.
    fn transfer(&self, progress: DownloadProgress<'_>, pause: Pause<'_>) -> Result<()> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_recv_response(Some(Duration::from_mins(1)))
            .timeout_per_read(Some(Duration::from_mins(1)))
            // No redirect may lead from a safe address to an unsafe one.
            .https_only(self.url.starts_with("https:"))
            .build()
            .into();
        let mut fruitless = 0u32;
        loop {
            let before = self.len();
            let reason = match self.attempt(&agent, &mut *progress) {
                Ok(()) => return Ok(()),
                Err(Stop::Final(error)) => return Err(error),
                Err(Stop::Broken(reason)) => reason,
            };
            fruitless = if self.len() > before { 0 } else { fruitless + 1 };
            if fruitless >= ATTEMPTS {
                return Err(self.unreachable(&reason));
            }
            pause(PAUSE * 2u32.pow(fruitless));
        }
    }

    fn unreachable(&self, reason: &str) -> Error {
        let kept = "The part that arrived is kept, and the next call continues from there. ";
        let message = format!(
            "cannot be fetched from {}: {reason}. {}\
             Without a network connection, copy the file to this place by other means and run `ssvm-bench data check`",
            self.url,
            if self.len() == 0 { "" } else { kept }
        );
        Error::file(self.target, message)
    }

    /// Makes one request. Without a known checksum, a transfer continues only if the server can guarantee, through
    /// `If-Range`, that the file is still the same.
    fn attempt(&self, agent: &ureq::Agent, progress: DownloadProgress<'_>) -> Result<(), Stop> {
        let validator = self.validator();
        let have = if self.expected != Expected::Nothing || validator.is_some() { self.len() } else { 0 };
        let mut request = agent.get(self.url).header(header::ACCEPT_ENCODING.as_str(), "identity");
        if have > 0 {
            request = request.header(header::RANGE.as_str(), format!("bytes={have}-"));
            if let Some(validator) = validator {
                request = request.header(header::IF_RANGE.as_str(), validator);
            }
        }
        let response = request.call().map_err(|e| match e {
            ureq::Error::BadUri(_) | ureq::Error::TooManyRedirects => Stop::Final(self.unreachable(&e.to_string())),
            _ => Stop::Broken(e.to_string()),
        })?;
        let length = text(&response, header::CONTENT_LENGTH).and_then(|v| v.parse::<u64>().ok());
        let (start, total) = match (response.status(), content_range(&response)) {
            (StatusCode::OK, _) => (0, length),
            (StatusCode::PARTIAL_CONTENT, Some((start, total))) if start == have => (start, total),
            // All bytes have arrived; the checksum decides.
            (StatusCode::RANGE_NOT_SATISFIABLE, Some((_, total))) if have > 0 && total == Some(have) => return Ok(()),
            (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE, _) => {
                self.empty().map_err(|e| self.local(e))?;
                return Err(Stop::Broken(
                    "the server cannot resume the download, because the file has changed there".into(),
                ));
            }
            (status, _) => {
                let reason = format!("the server answered {status}");
                let again = status.is_server_error();
                return Err(if again { Stop::Broken(reason) } else { Stop::Final(self.unreachable(&reason)) });
            }
        };
        self.receive(response, start, total, progress)
    }

    /// Appends the body of an answer that begins at byte `start` of `total`.
    fn receive(
        &self,
        response: Response<Body>,
        start: u64,
        total: Option<u64>,
        progress: DownloadProgress<'_>,
    ) -> Result<(), Stop> {
        let local = |e| self.local(e);
        let too_large = || {
            let _ = self.empty();
            Stop::Final(
                self.unreachable(&format!("the server sends more than {} bytes, so this is not the file", self.most)),
            )
        };
        if total.is_some_and(|total| total > self.most) {
            return Err(too_large());
        }
        if start == 0 {
            // Weak validators do not guarantee the same bytes.
            let tag = text(&response, header::ETAG).filter(|tag| !tag.starts_with("W/"));
            let validator = tag.or_else(|| text(&response, header::LAST_MODIFIED)).unwrap_or_default();
            // Emptied first: a new identifier must never stand beside old bytes.
            self.empty().map_err(local)?;
            let mut file = &self.validator;
            file.rewind().and_then(|()| file.write_all(validator.as_bytes())).map_err(local)?;
        }
        let mut file = &self.data;
        file.seek(SeekFrom::Start(start)).map_err(local)?;
        let mut body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let mut block = vec![0; 1 << 16];
        let mut at = start;
        progress(at, total);
        loop {
            let n = match body.read(&mut block) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Stop::Broken(format!("the transfer stopped after {at} bytes ({e})"))),
            };
            at += n as u64;
            if at > self.most {
                return Err(too_large());
            }
            file.write_all(&block[..n]).map_err(local)?;
            progress(at, total);
        }
        // Of the file, not of the transfer: nothing else may have written into it.
        let have = self.len();
        match total.filter(|total| have != *total) {
            Some(total) => Err(Stop::Broken(format!("the transfer stopped after {have} of {total} bytes"))),
            None => Ok(()),
        }
    }

    fn local(&self, reason: io::Error) -> Stop {
        Stop::Final(files::write_error(&self.path)(reason))
    }

    /// Compares a finished download with the known content, and forgets it when it is another file. A new archive must
    /// at least be readable to its end.
    fn verify(&self) -> Result<Checked> {
        self.compare().inspect_err(|_| {
            let _ = self.empty();
        })
    }

    fn compare(&self) -> Result<Checked> {
        let url = self.url;
        let damaged = |e: &dyn std::fmt::Display| {
            Error::file(self.target, format!("the file from {url} is damaged or not an archive ({e}); it was not kept"))
        };
        let checked = known::check_file(&self.path, self.target, self.expected).map_err(|e| damaged(&e))?;
        if let Checked::Different(expected, found) = checked {
            let message =
                format!("the file from {url} has the checksum {found}, but should have {expected}; it was not kept");
            return Err(Error::file(self.target, message));
        }
        if matches!(checked, Checked::Unrecorded(_)) {
            let entries = archive::each_entry(&self.path, |entry| entry.content(|_| Ok(())));
            if entries.map_err(|e| damaged(&e))? == 0 {
                return Err(damaged(&"it contains no file"));
            }
        }
        Ok(checked)
    }
}

fn text<T>(response: &Response<T>, name: header::HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// Start and total of a `Content-Range`: `bytes 5-9/10`, or `bytes */10` with start 0.
fn content_range<T>(response: &Response<T>) -> Option<(u64, Option<u64>)> {
    let value = text(response, header::CONTENT_RANGE)?;
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let start = if range == "*" { 0 } else { range.split_once('-')?.0.parse().ok()? };
    Some((start, total.parse().ok()))
}

/// Unpacks the files of a tar archive (gzip or plain) that are `needed` into a folder, each whole or not at all. An
/// archive with anything but plain files and folders whose path stays inside is refused before anything is written.
/// Existing files are never overwritten.
pub fn unpack(source: &Path, folder: &Path, needed: impl Fn(&Path) -> bool) -> Result<()> {
    files::make_folder(folder)?;
    let (mut places, mut left) = (BTreeSet::new(), MAX_UNPACKED);
    archive::each_entry(source, |entry| {
        let name = entry.path.display().to_string();
        let refuse = |why: &str| Error::file(source, format!("is refused: its entry {name:?} {why}"));
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !entry.path.components().all(inside) {
            return Err(refuse("leads out of the folder that the archive is unpacked into"));
        }
        if !entry.kind.is_dir() && !entry.kind.is_file() {
            return Err(refuse("is neither a file nor a folder"));
        }
        if entry.kind.is_dir() || !needed(&entry.path) {
            return Ok(());
        }
        left = left.checked_sub(entry.size).ok_or_else(|| refuse("makes the archive too large"))?;
        let place = folder.join(&entry.path);
        if place.symlink_metadata().is_ok() {
            return Err(Error::file(place, "already exists; move it away to unpack the archive again"));
        }
        if !places.insert(place) {
            return Err(refuse("occurs twice"));
        }
        entry.content(|_| Ok(()))
    })?;
    archive::each_entry(source, |entry| {
        let place = folder.join(&entry.path);
        if !entry.kind.is_file() || !places.contains(&place) {
            return Ok(());
        }
        // An archive that ends too early now is not a fault of the file that is written.
        let mut fault = None;
        let written = files::write_atomically(&place, |draft| {
            entry
                .content(|block| draft.write_all(block).map_err(files::write_error(&place)))
                .map_err(|error| io::Error::other(fault.insert(error).to_string()))
        });
        fault.map_or(written, Err)
    })
    .map(drop)
}
