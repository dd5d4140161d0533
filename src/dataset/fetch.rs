//! Fetches official files: resumable downloads, checksums before use, and archives that are unpacked safely.
//!
//! A download grows in `NAME.part` and becomes `NAME` only after its content was compared with the known content. Where
//! none is known, the first download is trusted, and its checksum is recorded in `NAME.sha256` for later ones.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use ureq::Body;
use ureq::http::{Response, StatusCode, header};

use super::archive;
use super::known::{self, Checked, DataDir, Expected, KnownFile, KnownSet};
use crate::store::files::{self, with_suffix};
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
    if set.below.is_some() && dir.locate(set).is_none() {
        // Other files of the archive do not get into the data folder.
        let needed = |path: &Path| set.below.is_some_and(|(_, file)| path.ends_with(file));
        unpack(&target, target.parent().unwrap_or(Path::new(".")), needed)?;
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
    if target.is_file() {
        return match known::check_file(target, target, expected)? {
            Checked::Different(expected, found) => Err(Error::file(
                target,
                format!("has the checksum {found}, but should have {expected}; move it away and fetch again"),
            )),
            checked => Ok(Fetched::AlreadyThere(checked)),
        };
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files::make_folder(folder)?;
    let (data, validator) = (with_suffix(target, ".part"), with_suffix(target, ".part.etag"));
    let part = PartialFile { url, target, data, validator, expected, most };
    part.transfer(progress, pause)?;
    let checked = part.verify().inspect_err(|_| part.discard())?;
    if let Checked::Unrecorded(sha256) = &checked {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        files::write_atomically(&files::record_path(target), |file| writeln!(file, "{sha256}  {name}"))?;
    }
    File::open(&part.data).and_then(|file| file.sync_all()).map_err(files::write_error(&part.data))?;
    files::rename(&part.data, target)?;
    part.discard();
    Ok(Fetched::Downloaded(checked))
}

struct PartialFile<'a> {
    url: &'a str,
    target: &'a Path,
    data: PathBuf,
    /// The server's identifier of this version of the file.
    validator: PathBuf,
    expected: Expected<'a>,
    most: u64,
}

/// Why an attempt ended early.
enum Stop {
    /// The connection broke: another attempt may succeed.
    Broken(String),
    /// The server's answer or this machine, such as a full disk: another attempt would end the same way.
    Final(Error),
}

impl PartialFile<'_> {
    fn len(&self) -> u64 {
        fs::metadata(&self.data).map_or(0, |m| m.len())
    }

    fn discard(&self) {
        // Leftovers are harmless: the next download starts over or resumes.
        let _ = fs::remove_file(&self.data);
        let _ = fs::remove_file(&self.validator);
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
        let validator = files::read_text(&self.validator).ok().filter(|v| !v.is_empty());
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
                self.discard();
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
        let local = |e| Stop::Final(files::write_error(&self.data)(e));
        let too_large = || {
            self.discard();
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
            fs::write(&self.validator, validator).map_err(local)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(start == 0).append(start > 0);
        let mut file = options.open(&self.data).map_err(local)?;
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
        match total.filter(|total| at != *total) {
            Some(total) => Err(Stop::Broken(format!("the transfer stopped after {at} of {total} bytes"))),
            None => Ok(()),
        }
    }

    /// Compares a finished download with the known content. A new archive must at least be readable to its end.
    fn verify(&self) -> Result<Checked> {
        let url = self.url;
        let damaged = |e: &dyn std::fmt::Display| {
            Error::file(self.target, format!("the file from {url} is damaged or not an archive ({e}); it was not kept"))
        };
        let checked = known::check_file(&self.data, self.target, self.expected).map_err(|e| damaged(&e))?;
        if let Checked::Different(expected, found) = checked {
            let message =
                format!("the file from {url} has the checksum {found}, but should have {expected}; it was not kept");
            return Err(Error::file(self.target, message));
        }
        if matches!(checked, Checked::Unrecorded(_)) {
            let entries = archive::each_entry(&self.data, |entry| entry.content(|_| Ok(())));
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

/// Unpacks the files of a tar archive (gzip or plain) that are `needed` into a folder. An archive with anything but
/// plain files and folders whose path stays inside is refused, and then nothing is left behind. Existing files are
/// never overwritten.
pub fn unpack(source: &Path, folder: &Path, needed: impl Fn(&Path) -> bool) -> Result<()> {
    files::make_folder(folder)?;
    let staging = tempfile::Builder::new().prefix(".unpack-").tempdir_in(folder);
    let staging = staging.map_err(Error::io("create a folder in", folder))?;
    let mut left = MAX_UNPACKED;
    archive::each_entry(source, |entry| {
        let name = entry.path.display().to_string();
        let refuse = |why: &str| Error::file(source, format!("is refused: its entry {name:?} {why}"));
        let mut path = staging.path().to_owned();
        for component in entry.path.components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => return Err(refuse("leads out of the folder that the archive is unpacked into")),
            }
        }
        if !entry.kind.is_dir() && !entry.kind.is_file() {
            return Err(refuse("is neither a file nor a folder"));
        }
        if entry.kind.is_dir() || !needed(&entry.path) {
            return Ok(());
        }
        left = left.checked_sub(entry.size).ok_or_else(|| refuse("makes the archive too large"))?;
        files::make_folder(path.parent().unwrap_or(staging.path()))?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = file.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => refuse("occurs twice"),
            _ => files::write_error(&path)(e),
        })?;
        // A full disk is not a fault of the archive.
        entry.content(|block| file.write_all(block).map_err(files::write_error(&path)))
    })?;
    let places = |top: &PathBuf| folder.join(top.file_name().unwrap_or_default());
    let tops = files::list(staging.path())?;
    if let Some(top) = tops.iter().map(places).find(|place| place.symlink_metadata().is_ok()) {
        let message = "already exists; move it away to unpack the archive again";
        return Err(Error::file(top, message));
    }
    tops.iter().try_for_each(|top| files::rename(top, &places(top)))
}
