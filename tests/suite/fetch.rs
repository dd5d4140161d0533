//! Fetching from a local server that breaks off, resumes, or sends wrong data; unpacking of hostile archives.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use ssvm_bench::DataDir;
use ssvm_bench::Error;
use ssvm_bench::dataset::fetch::{Fetched, download, fetch, unpack};
use ssvm_bench::dataset::horseseg::HORSESEG;
use ssvm_bench::dataset::images::ImageSet;
use ssvm_bench::dataset::known::{Checked, Expected, KnownFile};
use ssvm_bench::store::files;

/// Answers each connection with what `answer(request number, request headers)` gives, as raw bytes, then closes it.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

fn serve(answer: impl Fn(usize, &str) -> Vec<u8> + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/set.tar.gz", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = String::new();
            let mut reader = BufReader::new(&stream);
            while reader.read_line(&mut head).is_ok_and(|n| n > 2) {}
            let number = {
                let mut log = log.lock().unwrap();
                log.push(head.to_ascii_lowercase());
                log.len() - 1
            };
            let _ = stream.write_all(&answer(number, &head.to_ascii_lowercase()));
        }
    });
    Server { url, requests }
}

/// A whole answer; `sent` bytes of the body are really sent.
fn ok(body: &[u8], etag: &str, sent: usize) -> Vec<u8> {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nETag: {etag}\r\nConnection: close\r\n\r\n", body.len())
            .into_bytes();
    answer.extend(&body[..sent]);
    answer
}

/// The rest of the body from `start`; `sent` bytes of it are really sent.
fn partial(body: &[u8], start: usize, sent: usize) -> Vec<u8> {
    let (left, last, total) = (body.len() - start, body.len() - 1, body.len());
    let mut answer = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Length: {left}\r\nContent-Range: bytes {start}-{last}/{total}\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    answer.extend(&body[start..start + sent]);
    answer
}

fn range_start(head: &str) -> Option<usize> {
    head.split("range: bytes=").nth(1)?.split('-').next()?.parse().ok()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An entry with any name and kind, as hostile archives have them.
fn entry(tar: &mut tar::Builder<Vec<u8>>, name: &str, kind: tar::EntryType, link: &str, body: &[u8]) {
    let mut header = tar::Header::new_gnu();
    let raw = header.as_gnu_mut().unwrap();
    raw.name[..name.len()].copy_from_slice(name.as_bytes());
    raw.linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(body.len() as u64);
    header.set_cksum();
    tar.append(&header, body).unwrap();
}

fn archive(text: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    // Incompressible, so that a half-sent archive is really cut in the middle.
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 24) as u8
    })
    .take(300_000)
    .collect();
    entry(&mut tar, "set/text.txt", tar::EntryType::Regular, "", text.as_bytes());
    entry(&mut tar, "set/noise.bin", tar::EntryType::Regular, "", &noise);
    gzip(&tar.into_inner().unwrap())
}

/// Far more than any file of these tests has.
const MOST: u64 = 1 << 20;

fn get(url: &str, target: &Path, sha256: Option<&str>) -> Result<Fetched, Error> {
    download(url, target, sha256.map_or(Expected::Nothing, Expected::Content), MOST, &mut |_, _| {}, &|_| {})
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_transfer_that_breaks_off_goes_on_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("sub/set.tar.gz");
    let body = archive("whole");
    let served = body.clone();
    let server = serve(move |number, head| match (number, range_start(head)) {
        (0, None) => ok(&served, "\"v1\"", 100_000),
        (_, Some(start)) => partial(&served, start, (served.len() - start).min(100_000)),
        _ => panic!("unexpected request {number}: {head}"),
    });
    let outcome = get(&server.url, &target, None).unwrap();
    assert_eq!(fs::read(&target).unwrap(), body);
    let sha256 = files::sha256_file(&target).unwrap();
    assert_eq!(outcome, Fetched::Downloaded(Checked::Unrecorded(sha256.clone())));
    assert_eq!(names(target.parent().unwrap()), ["set.tar.gz", "set.tar.gz.sha256"]);
    assert_eq!(fs::read_to_string(files::record_path(&target)).unwrap(), format!("{sha256}  set.tar.gz\n"));
    let requests = server.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 4, "300 kB in pieces of 100 kB");
    assert!(
        requests[1].contains("range: bytes=100000-") && requests[1].contains("if-range: \"v1\""),
        "{}",
        requests[1]
    );
    // The next call makes no request.
    assert_eq!(get(&server.url, &target, None).unwrap(), Fetched::AlreadyThere(Checked::Recorded));
    assert_eq!(server.requests.lock().unwrap().len(), 4);
}

#[test]
fn what_arrived_is_kept_for_the_next_call() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let body = archive("later");
    let served = body.clone();
    let broken = serve(move |number, _| if number == 0 { ok(&served, "\"v1\"", 50_000) } else { Vec::new() });
    let pauses = RefCell::new(Vec::new());
    let pause = |pause| pauses.borrow_mut().push(pause);
    let broken_off = download(&broken.url, &target, Expected::Nothing, MOST, &mut |_, _| {}, &pause);
    let message = broken_off.unwrap_err().to_string();
    assert_eq!(pauses.into_inner(), [500, 1000, 2000].map(Duration::from_millis), "no pause before giving up");
    assert!(message.contains("is kept") && message.contains(&broken.url), "{message}");
    assert!(!target.exists());
    let served = body.clone();
    let whole = serve(move |_, head| {
        let start = range_start(head).expect("asks for the rest only");
        partial(&served, start, served.len() - start)
    });
    get(&whole.url, &target, None).unwrap();
    assert!(whole.requests.lock().unwrap()[0].contains("range: bytes=50000-"));
    assert_eq!(fs::read(&target).unwrap(), body);
}

#[test]
fn a_file_that_changed_or_a_server_without_ranges_starts_over() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let (old, new) = (archive("old"), archive("new"));
    let served = new.clone();
    let server = serve(move |number, _| match number {
        0 => ok(&old, "\"v1\"", 60_000),
        _ => ok(&served, "\"v2\"", served.len()),
    });
    get(&server.url, &target, None).unwrap();
    assert_eq!(fs::read(&target).unwrap(), new);
}

#[test]
fn without_a_checksum_or_a_validator_nothing_is_glued_together() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let body = archive("plain");
    let served = body.clone();
    let server = serve(move |number, head| {
        assert!(range_start(head).is_none(), "a weak validator promises nothing");
        ok(&served, "W/\"weak\"", if number == 0 { 70_000 } else { served.len() })
    });
    get(&server.url, &target, None).unwrap();
    assert_eq!(fs::read(&target).unwrap(), body);
}

#[test]
fn the_known_content_is_demanded_whatever_its_compression() {
    let dir = tempfile::tempdir().unwrap();
    let content = b"1 2 3\n".repeat(1000);
    let (sha256, _) = files::sha256(&content[..]).unwrap();
    let target = dir.path().join("good.gz");
    let body = gzip(&content);
    let server = serve(move |_, _| ok(&body, "\"a\"", body.len()));
    assert_eq!(get(&server.url, &target, Some(&sha256)).unwrap(), Fetched::Downloaded(Checked::Known));

    let target = dir.path().join("bad.gz");
    let body = gzip(b"something else");
    let server = serve(move |_, _| ok(&body, "\"a\"", body.len()));
    let message = get(&server.url, &target, Some(&sha256)).unwrap_err().to_string();
    assert!(message.contains("checksum") && message.contains(&sha256) && message.contains("not kept"), "{message}");
    assert_eq!(names(dir.path()), ["good.gz"], "nothing of the wrong file stays");

    // A file that was changed later is found out without asking the server.
    let target = dir.path().join("good.gz");
    fs::write(&target, gzip(b"changed")).unwrap();
    assert!(get("http://127.0.0.1:1/", &target, Some(&sha256)).unwrap_err().to_string().contains("move it away"));
}

#[test]
fn later_downloads_are_compared_with_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let (first, second) = (archive("first"), archive("second"));
    let body = first.clone();
    let server = serve(move |number, _| match number {
        0 | 1 => ok(&body, "\"a\"", body.len()),
        _ => ok(&second, "\"b\"", second.len()),
    });
    assert!(matches!(get(&server.url, &target, None).unwrap(), Fetched::Downloaded(Checked::Unrecorded(_))));
    fs::remove_file(&target).unwrap();
    assert_eq!(get(&server.url, &target, None).unwrap(), Fetched::Downloaded(Checked::Recorded));
    fs::remove_file(&target).unwrap();
    let message = get(&server.url, &target, None).unwrap_err().to_string();
    assert!(message.contains("should have") && !target.exists(), "{message}");
}

#[test]
fn a_set_that_is_there_in_another_form_is_not_fetched() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["images", "labels"] {
        fs::create_dir_all(dir.path().join("stanford_background/iccv09Data").join(folder)).unwrap();
    }
    let set = ImageSet::Stanford.known();
    let outcome =
        fetch(&DataDir::resolve(Some(dir.path())), set, &set.files[0], &mut |_, _| panic!("no transfer"), &|_| {});
    assert_eq!(outcome.unwrap(), Fetched::Elsewhere(dir.path().join("stanford_background/iccv09Data")));
}

#[test]
fn archives_that_need_it_are_unpacked_after_the_download() {
    let dir = tempfile::tempdir().unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    entry(&mut tar, "data/horse-features.bin", tar::EntryType::Regular, "", b"features");
    let body = tar.into_inner().unwrap();
    let server = serve(move |_, _| ok(&body, "\"a\"", body.len()));
    let url: &'static str = server.url.clone().leak();
    let set = &HORSESEG;
    let data = DataDir::resolve(Some(dir.path()));
    assert!(data.require(set).unwrap_err().to_string().contains("data fetch horseseg"));
    let file = KnownFile { url, ..set.files[0] };
    assert!(matches!(fetch(&data, set, &file, &mut |_, _| {}, &|_| {}), Ok(Fetched::Downloaded(_))));
    assert_eq!(data.require(set).unwrap(), dir.path().join("horseseg/data/horse-features.bin"));
}

#[test]
fn answers_that_are_no_archive_are_errors_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let page = b"<html>moved</html>".to_vec();
    let server = serve(move |_, _| ok(&page, "\"a\"", page.len()));
    let message = get(&server.url, &target, None).unwrap_err().to_string();
    assert!(message.contains("not an archive"), "{message}");
    let server = serve(|_, _| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec());
    let message = get(&server.url, &target, None).unwrap_err().to_string();
    assert!(message.contains("404") && server.requests.lock().unwrap().len() == 1, "{message}");
    // A port without a listener stands for a machine without a network.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message = get(&format!("http://{closed}/x"), &target, None).unwrap_err().to_string();
    assert!(message.contains("Without a network connection") && message.contains("set.tar.gz"), "{message}");
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_good_archive_is_unpacked_and_never_over_other_files() {
    let dir = tempfile::tempdir().unwrap();
    let (path, folder) = (dir.path().join("set.tar.gz"), dir.path().join("out"));
    fs::write(&path, archive("hello")).unwrap();
    unpack(&path, &folder, |_| true).unwrap();
    assert_eq!(fs::read_to_string(folder.join("set/text.txt")).unwrap(), "hello");
    fs::write(folder.join("set/text.txt"), "mine").unwrap();
    assert!(unpack(&path, &folder, |_| true).unwrap_err().to_string().contains("already exists"));
    assert_eq!(fs::read_to_string(folder.join("set/text.txt")).unwrap(), "mine");
    assert_eq!(names(&folder), ["set"]);
}

/// What a data set does not need stays in the archive, whatever it would do in a folder.
#[test]
fn only_needed_files_are_unpacked() {
    use tar::EntryType as T;
    let dir = tempfile::tempdir().unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    for name in [".bashrc", "data/horse-features.bin", "data/.profile", "bin/sh"] {
        entry(&mut tar, name, T::Regular, "", b"content");
    }
    entry(&mut tar, "empty/", T::Directory, "", b"");
    let (path, folder) = (dir.path().join("set.tar"), dir.path().join("out"));
    fs::write(&path, tar.into_inner().unwrap()).unwrap();
    unpack(&path, &folder, |path| path.ends_with("horse-features.bin")).unwrap();
    assert_eq!((names(&folder), names(&folder.join("data"))), (vec!["data".into()], vec!["horse-features.bin".into()]));
}

#[test]
fn hostile_archives_are_refused_and_leave_nothing() {
    use tar::EntryType as T;
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let away = outside.to_str().unwrap();
    let absolute = format!("{away}/evil");
    type Case<'a> = (&'a str, Vec<(&'a str, T, &'a str)>, &'a str);
    let cases: Vec<Case> = vec![
        ("climbs", vec![("../outside/evil", T::Regular, "")], "leads out of the folder"),
        ("climbs inside", vec![("a/../../outside/evil", T::Regular, "")], "leads out of the folder"),
        ("folder climbs", vec![("../outside/evil/", T::Directory, "")], "leads out of the folder"),
        ("absolute", vec![(&absolute, T::Regular, "")], "leads out of the folder"),
        (
            "link and through it",
            vec![("l", T::Symlink, away), ("l/evil", T::Regular, "")],
            "neither a file nor a folder",
        ),
        ("link", vec![("evil", T::Symlink, "/etc/passwd")], "neither a file nor a folder"),
        ("hard link", vec![("evil", T::Link, "/etc/passwd")], "neither a file nor a folder"),
        ("device", vec![("evil", T::Char, "")], "neither a file nor a folder"),
        ("pipe", vec![("evil", T::Fifo, "")], "neither a file nor a folder"),
        ("twice", vec![("evil", T::Regular, ""), ("evil", T::Regular, "")], "occurs twice"),
    ];
    for (what, entries, expected) in cases {
        let mut tar = tar::Builder::new(Vec::new());
        entry(&mut tar, "good.txt", T::Regular, "", b"good");
        for (name, kind, link) in entries {
            entry(&mut tar, name, kind, link, b"");
        }
        let (path, folder) = (dir.path().join("hostile.tar"), dir.path().join("target"));
        fs::write(&path, tar.into_inner().unwrap()).unwrap();
        let message = unpack(&path, &folder, |_| true).expect_err(what).to_string();
        assert!(message.contains(expected), "{what}: {message}");
        assert!(names(&folder).is_empty(), "{what} left something");
        assert!(names(&outside).is_empty(), "{what} got out");
    }
}

#[test]
fn an_archive_cut_short_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, folder) = (dir.path().join("cut.tar.gz"), dir.path().join("out"));
    let whole = archive("cut");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(unpack(&path, &folder, |_| true).unwrap_err().to_string().contains("not a complete tar archive"));
    assert!(names(&folder).is_empty());
}

#[test]
fn fetches_at_the_same_time_make_one_download() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let body = archive("one");
    let served = body.clone();
    let server = serve(move |_, _| {
        std::thread::sleep(Duration::from_millis(300));
        ok(&served, "\"v1\"", served.len())
    });
    let outcomes: Vec<Fetched> = std::thread::scope(|scope| {
        let fetches: Vec<_> = (0..4).map(|_| scope.spawn(|| get(&server.url, &target, None).unwrap())).collect();
        fetches.into_iter().map(|fetch| fetch.join().unwrap()).collect()
    });
    assert_eq!(server.requests.lock().unwrap().len(), 1);
    let made = outcomes.iter().filter(|outcome| matches!(outcome, Fetched::Downloaded(_))).count();
    assert_eq!((made, fs::read(&target).unwrap() == body), (1, true), "{outcomes:?}");
    assert_eq!(names(dir.path()), ["set.tar.gz", "set.tar.gz.sha256"]);
}

#[test]
fn what_is_not_a_part_is_neither_followed_nor_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (target, victim) = (dir.path().join("set.tar.gz"), dir.path().join("victim"));
    let body = archive("safe");
    let served = body.clone();
    let server = serve(move |_, _| ok(&served, "\"v1\"", served.len()));
    fs::write(&victim, "mine").unwrap();
    for name in ["set.tar.gz.part", "set.tar.gz.part.etag"] {
        let place = dir.path().join(name);
        let in_its_place: [&dyn Fn(); 3] =
            [&|| symlink(&victim, &place).unwrap(), &|| fs::hard_link(&victim, &place).unwrap(), &|| {
                mkfifo(&place, Mode::S_IRWXU).unwrap();
            }];
        for put in in_its_place {
            put();
            let message = get(&server.url, &target, None).unwrap_err().to_string();
            assert!(message.contains("move it away") && message.contains(name), "{message}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{name}");
            assert!(place.symlink_metadata().is_ok() && !target.exists(), "{name}");
            fs::remove_file(&place).unwrap();
        }
    }
    mkfifo(&target, Mode::S_IRWXU).unwrap();
    let message = get(&server.url, &target, None).unwrap_err().to_string();
    assert!(message.contains("not a plain file") && !target.is_file(), "{message}");
    fs::remove_file(&target).unwrap();
    // A link to another disk, where the file does not exist yet.
    fs::create_dir(dir.path().join("disk")).unwrap();
    symlink("disk/set", &target).unwrap();
    get(&server.url, &target, None).unwrap();
    assert!(target.is_symlink() && fs::read(dir.path().join("disk/set")).unwrap() == body);
    assert_eq!(names(&dir.path().join("disk")), ["set"]);
}

#[test]
fn an_identifier_that_cannot_be_sent_starts_over() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let body = archive("again");
    for identifier in [&b"\"v1\"\n"[..], b"\xff\xfe", b"two\nlines"] {
        fs::write(files::with_suffix(&target, ".part"), &body[..50_000]).unwrap();
        fs::write(files::with_suffix(&target, ".part.etag"), identifier).unwrap();
        let served = body.clone();
        let server = serve(move |_, head| {
            assert!(range_start(head).is_none(), "{head}");
            ok(&served, "\"v1\"", served.len())
        });
        get(&server.url, &target, None).unwrap();
        assert_eq!(fs::read(&target).unwrap(), body);
        fs::remove_file(&target).unwrap();
    }
}

/// A fetch that is killed while it unpacks leaves a truncated file, under a hidden name.
#[test]
fn what_a_killed_fetch_left_is_not_the_data_set() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::resolve(Some(dir.path()));
    let hidden = dir.path().join("horseseg/.unpack-Ab12Cd/data/horse-features.bin");
    let left = dir.path().join("horseseg/data/.part-0123456789ab");
    for file in [&hidden, &left] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "feat").unwrap();
        fs::File::open(file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    assert_eq!(data.locate(&HORSESEG), None);
    let mut tar = tar::Builder::new(Vec::new());
    entry(&mut tar, "data/horse-features.bin", tar::EntryType::Regular, "", b"features");
    let body = tar.into_inner().unwrap();
    let server = serve(move |_, _| ok(&body, "\"a\"", body.len()));
    let url: &'static str = server.url.clone().leak();
    let file = KnownFile { url, ..HORSESEG.files[0] };
    fetch(&data, &HORSESEG, &file, &mut |_, _| {}, &|_| {}).unwrap();
    let place = data.require(&HORSESEG).unwrap();
    assert_eq!(place, dir.path().join("horseseg/data/horse-features.bin"));
    assert_eq!(fs::read_to_string(place).unwrap(), "features");
    assert!(!left.exists(), "the file of the killed fetch stays");
}

#[test]
fn bytes_of_a_page_are_not_printed() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let noise: Vec<u8> = (0..4096).map(|at| (at * 7 % 251) as u8 | 0x80).collect();
    let server = serve(move |_, _| ok(&noise, "\"a\"", noise.len()));
    let message = get(&server.url, &target, None).unwrap_err().to_string();
    assert!(message.contains("not an archive") && message.is_ascii(), "{message}");
}

/// A server that sends `head` and then its body in pieces, as long as it is listened to.
fn drip(head: &'static str, piece: Vec<u8>, pieces: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/set.tar.gz", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {}
            let _ = stream.write_all(head.as_bytes());
            for _ in 0..pieces {
                if stream.write_all(&piece).is_err() {
                    break;
                }
            }
        }
    });
    url
}

#[test]
fn a_body_without_end_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    let endless = drip("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", vec![7; 1 << 16], usize::MAX);
    let message = get(&endless, &target, None).unwrap_err().to_string();
    assert!(message.contains("more than 1048576 bytes"), "{message}");
    let announced = drip("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", Vec::new(), 0);
    let message = get(&announced, &target, None).unwrap_err().to_string();
    assert!(message.contains("more than 1048576 bytes"), "{message}");
    assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
}

#[test]
fn a_slow_drip_arrives() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.gz");
    let content = b"drop by drop".repeat(100);
    let (sha256, _) = files::sha256(&content[..]).unwrap();
    let url =
        drip("HTTP/1.1 200 OK\r\nContent-Length: 1200\r\nConnection: close\r\n\r\n", b"drop by drop".to_vec(), 100);
    assert_eq!(get(&url, &target, Some(&sha256)).unwrap(), Fetched::Downloaded(Checked::Known));
}

#[test]
fn redirects_stay_on_the_web_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("set.tar.gz");
    for place in
        ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "data:text/plain,x", "//", "\u{7f}"]
    {
        let server = serve(move |_, _| {
            format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .into_bytes()
        });
        let message = get(&server.url, &target, None).unwrap_err().to_string();
        assert!(message.contains("cannot be fetched from"), "{place}: {message}");
    }
    let circle = serve(|_, _| {
        b"HTTP/1.1 301 Moved\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
    });
    let message = get(&circle.url, &target, None).unwrap_err().to_string();
    assert!(message.contains("cannot be fetched from"), "{message}");
    assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
}

#[test]
fn lengths_and_ranges_that_lie_bring_no_wrong_file() {
    let body = archive("true");
    let (sha256, _) = files::sha256(flate2::read::GzDecoder::new(&body[..])).unwrap();
    type Answer = fn(&[u8], usize) -> Vec<u8>;
    let lies: [(&str, Answer); 5] = [
        ("a length that is too long", |body, _| {
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len() + 9);
            [answer.as_bytes(), body].concat()
        }),
        ("a length that is too short", |body, _| {
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len() / 2);
            [answer.as_bytes(), body].concat()
        }),
        ("another range than asked for", |body, start| {
            let from = start / 2;
            let (last, total) = (body.len() - 1, body.len());
            let head = format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {from}-{last}/{total}\r\n\
                 Connection: close\r\n\r\n",
                total - from
            );
            [head.as_bytes(), &body[from..]].concat()
        }),
        ("the range asked for with other bytes", |body, start| {
            let (last, total) = (body.len() - 1, body.len());
            let head = format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{last}/{total}\r\n\
                 Connection: close\r\n\r\n",
                total - start
            );
            [head.as_bytes(), &vec![0; total - start][..]].concat()
        }),
        ("a range without sense", |_, _| {
            b"HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\nContent-Range: bytes x-y/z\r\nConnection: close\r\n\r\nabc"
                .to_vec()
        }),
    ];
    for (what, lie) in lies {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("set.gz");
        let served = body.clone();
        let server = serve(move |number, head| match number {
            0 => ok(&served, "\"v\"", 60_000),
            _ => lie(&served, range_start(head).unwrap_or(0)),
        });
        match get(&server.url, &target, Some(&sha256)) {
            Ok(_) => assert_eq!(fs::read(&target).unwrap(), body, "{what}"),
            Err(_) => assert!(!target.exists(), "{what}"),
        }
    }
}

#[test]
fn names_without_end_and_sizes_said_twice_are_refused() {
    use tar::EntryType as T;
    let dir = tempfile::tempdir().unwrap();
    let (path, folder) = (dir.path().join("set.tar.gz"), dir.path().join("out"));
    for (kind, body, expected) in [
        (T::GNULongName, vec![b'x'; 64 << 20], "is too long for a file"),
        (T::GNULongLink, vec![b'x'; 1 << 20], "is too long for a file"),
        (T::XHeader, vec![b'x'; 64 << 20], "is too long for a file"),
        (T::XHeader, b"12 size=999\n".to_vec(), "states its size twice"),
        (T::XHeader, b"nonsense".to_vec(), "not a complete tar archive"),
        (T::GNULongName, b"last".to_vec(), "ends after the name"),
    ] {
        let mut tar = tar::Builder::new(Vec::new());
        entry(&mut tar, "././@LongLink", kind, "", &body);
        if expected != "ends after the name" {
            entry(&mut tar, "file", T::Regular, "", b"content");
        }
        fs::write(&path, gzip(&tar.into_inner().unwrap())).unwrap();
        let message = unpack(&path, &folder, |_| true).unwrap_err().to_string();
        assert!(message.contains(expected), "{kind:?}: {message}");
        assert!(names(&folder).is_empty());
    }
    // Long names that a file can have are read, in both ways of writing them.
    let long = format!("set/{}", "n".repeat(150));
    for (kind, body) in [(T::GNULongName, format!("{long}\0")), (T::XHeader, format!("164 path={long}\n"))] {
        let mut tar = tar::Builder::new(Vec::new());
        entry(&mut tar, "././@LongLink", kind, "", body.as_bytes());
        entry(&mut tar, "short", T::Regular, "", b"content");
        fs::write(&path, tar.into_inner().unwrap()).unwrap();
        let folder = dir.path().join(format!("{kind:?}"));
        unpack(&path, &folder, |_| true).unwrap();
        assert_eq!(fs::read_to_string(folder.join(&long)).unwrap(), "content");
    }
}
