//! Hostile files, odd folders, closed streams and signals: an error that names the place, exit code 0, 1 or 2, and nothing
//! foreign is touched.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::hand;
use crate::common::trials::{self, Skipped};
use nix::sys::signal::Signal;
use ssvm_bench::dataset::archive;
use ssvm_bench::dataset::archive::files_below;
use ssvm_bench::dataset::image::Picture;
use ssvm_bench::dataset::images::ImageSet;
use ssvm_bench::store::codec;
use ssvm_bench::store::files;
use ssvm_bench::store::folder::{Folder, Store, read_file};
use ssvm_bench::{Catalog, DataDir, Harness, Request};

const CONFIG: &str = "name = \"t\"\nclock = \"virtual\"\nrepeats = 2\n[budget]\niterations = 2\n\
    [[dataset]]\nname = \"usps-synth:n=8,size=4\"\n[[solver]]\nname = \"bcfw\"\n";

/// A folder with `tiny.toml` in it.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tiny.toml"), CONFIG).unwrap();
    dir
}

fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = crate::common::program();
    // The real data, where it exists, must not be written to.
    command.env_remove("SSVM_DATA");
    command.args(arguments).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn call(dir: &Path, arguments: &[&str]) -> Output {
    command(dir, arguments).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The message of a call that must fail with exit code 1 and no panic.
fn refused(dir: &Path, arguments: &[&str]) -> String {
    let output = call(dir, arguments);
    let message = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
    assert!(message.contains("error: ") && !message.contains("panicked"), "{arguments:?}: {message}");
    message
}

fn what_is_not_its_own_stays() {
    let dir = folder();
    let v = dir.path().join("v");
    fs::create_dir_all(v.join("folder.tmp")).unwrap();
    fs::create_dir_all(v.join(".part-abcdefghijkl")).unwrap();
    for name in ["notes.tmp", ".part-notes", ".part-mine-mine-1"] {
        fs::write(v.join(name), "mine").unwrap();
    }
    fs::write(dir.path().join("precious.txt"), "precious").unwrap();
    #[cfg(unix)]
    for link in [".lock", ".part-linklinklink"] {
        std::os::unix::fs::symlink("../precious.txt", v.join(link)).unwrap();
    }
    let output = call(dir.path(), &["run", "tiny.toml", "--out", "v"]);
    assert!(output.status.success(), "{}", errors(&output));
    for name in ["notes.tmp", ".part-notes", ".part-mine-mine-1"] {
        assert_eq!(fs::read_to_string(v.join(name)).unwrap(), "mine", "{name}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("precious.txt")).unwrap(), "precious");
    assert!(v.join("folder.tmp").is_dir() && v.join(".part-abcdefghijkl").is_dir());
}

/// Every command that prints, with a standard output that takes nothing.
fn a_full_standard_output_is_an_error() -> Result<(), Skipped> {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full");
    full().map_err(|error| Skipped(format!("needs /dev/full: {error}")))?;
    let dir = folder();
    let (store, lock) = Store::create(dir.path().join("results")).unwrap();
    for record in hand::demo(&["usps-synth:n=9"], 2) {
        store.write(Folder::Runs, &record).unwrap();
    }
    drop(lock);
    for arguments in [
        &["show", "results", "claims"][..],
        &["show", "results", "oracle"],
        &["report", "results"],
        &["show", "results", "league"],
        &["figures", "results", "--format", "svg"],
        &["run", "--dry-run", "tiny.toml"],
        &["run", "--dry-run", "tiny.toml", "--format", "json"],
        &["run", "tiny.toml", "--out", "v", "--format", "json"],
        &["data", "list"],
        &["solve", "--dataset", "usps-synth:n=9", "--solver", "bcfw", "--iterations", "3"],
        &["completions", "bash"],
        &["init", "new.toml"],
        &["man", "man"],
        &["--help"],
        &["--version"],
        &["run", "--help"],
    ] {
        let output = command(dir.path(), arguments).stdout(full().unwrap()).output().unwrap();
        let message = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("cannot write to standard output") && !message.contains("panicked"), "{message}");
    }
    Ok(())
}

/// `nohup` sets SIGHUP to be ignored; a handler must not wake it up.
fn a_signal_that_was_ignored_stays_ignored() -> Result<(), Skipped> {
    trials::heard(Signal::SIGHUP)?;
    trials::heard(Signal::SIGTERM)?;
    let dir = folder();
    let endless = CONFIG.replace("iterations = 2", "iterations = 1000000000").replace("repeats = 2", "repeats = 1");
    fs::write(dir.path().join("endless.toml"), endless).unwrap();
    let program = env!("CARGO_BIN_EXE_ssvm-bench");
    for (trap, signal, survives) in [("trap '' HUP;", "-HUP", true), ("", "-HUP", false), ("", "-TERM", false)] {
        let _ = fs::remove_dir_all(dir.path().join("v"));
        let script = format!("{trap} exec '{program}' run endless.toml --out v");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn().map_err(|error| Skipped(format!("needs sh: {error}")))?;
        let id = child.id().to_string();
        // The manifest is written after the handler is there, just before the runs start.
        while !dir.path().join("v/manifest.json").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
            std::thread::sleep(Duration::from_millis(5));
        }
        let send = |signal: &str| assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        send(signal);
        if survives {
            std::thread::sleep(Duration::from_millis(300));
            assert!(child.try_wait().unwrap().is_none(), "{signal} ended it");
            send("-TERM");
        }
        assert_eq!(child.wait().unwrap().code(), Some(1), "{trap} {signal}");
    }
    Ok(())
}

fn outputs_that_fail_leave_what_was_there() {
    let dir = folder();
    for (file, arguments) in [
        ("w.npy", &["solve", "--dataset", "usps-synth:n=9", "--solver", "no-such", "--save-weights", "w.npy"][..]),
        ("w.npy", &["solve", "--dataset", "libsvm:nowhere", "--solver", "fw", "--save-weights", "w.npy"]),
        ("junit.xml", &["check", "nowhere", "--junit", "junit.xml"]),
        ("page.html", &["report", "nowhere", "--out", "page.html"]),
        ("optima.toml", &["data", "optimum", "libsvm:nowhere", "--store", "optima.toml"]),
        ("new.toml", &["init", "new.toml"]),
    ] {
        let text = if file == "optima.toml" { "" } else { "years of work" };
        fs::write(dir.path().join(file), text).unwrap();
        refused(dir.path(), arguments);
        assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), text, "{arguments:?}");
    }
    let hidden = files::list(dir.path()).unwrap().into_iter().filter(|p| p.to_string_lossy().contains("/.part-"));
    assert_eq!(hidden.count(), 0);
}

/// Files of a few bytes that ask for gigabytes: refused with the numbers.
fn small_files_take_little_memory() {
    let dir = folder();
    let harness = Harness::standard();
    let data = DataDir::resolve(Some(dir.path()));
    let open = |name: &str| {
        let opened = harness.open(&Request::new(name, &data)).map(|opened| opened.description);
        opened.expect_err(name).to_string()
    };
    let file = |name: &str, bytes: &[u8]| {
        fs::write(dir.path().join(name), bytes).unwrap();
        dir.path().join(name).display().to_string()
    };
    // d = 2^28 × K weights, if features that no example has were among them.
    let labels: String = (0..200).map(|label| format!("{label} {}:1\n{label} 1:1\n", 1 << 28)).collect();
    let wide = file("wide", labels.as_bytes());
    let many: String = (0..120_000).map(|at| format!("{} 1:1\n", at % 60_000)).collect();
    let many = file("many", many.as_bytes());
    let size = harness.open(&Request::new(&format!("libsvm:{wide}"), &data)).unwrap().description.size;
    assert_eq!((size.n, size.d), (400, 400));
    for name in [
        format!("libsvm:{many}"),
        "usps-synth:n=10000000,size=100000".to_owned(),
        "stanford-synth:n=10000000,size=1000".to_owned(),
    ] {
        let message = open(&name);
        assert!(message.contains("of memory, but ") && message.contains("is free"), "{name}: {message}");
    }
    fs::write(dir.path().join("big.toml"), CONFIG.replace("n=8,size=4", "n=10000000,size=100000")).unwrap();
    let message = refused(dir.path(), &["run", "big.toml", "--out", "v"]);
    assert!(message.contains("big.toml:7: ") && message.contains("of memory, but "), "{message}");

    // Packed numbers that are all the same: 2 GB in 2 MB.
    type Entry<'a> = (&'a str, &'a str, &'a [usize], &'a [u8], usize);
    let packed = |entries: &[Entry]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, descr, shape, value, count) in entries {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("{name}.npy"), options).unwrap();
            ssvm_bench::dataset::npy::write_header(&mut zip, descr, shape).unwrap();
            for _ in 0..*count {
                zip.write_all(value).unwrap();
            }
        }
        zip.finish().unwrap().into_inner()
    };
    let megabyte = vec![0u8; 1 << 20];
    let bomb = packed(&[("features", "<f4", &[1 << 18, 200], &megabyte, 200)]);
    let message = open(&format!("graph:{}", file("bomb.npz", &bomb)));
    assert!(message.contains("array features is too large"), "{message}");
    // K = 65534 and p = 200000 of one node: d is their product.
    let row = vec![0u8; 4 * 200_000];
    let one = 1i64.to_le_bytes();
    let two = [0i64.to_le_bytes(), one].concat();
    let wide = packed(&[
        ("features", "<f4", &[1, 200_000], &row, 1),
        ("labels", "<i4", &[1], &[0; 4], 1),
        ("node_offsets", "<i8", &[2], &two, 1),
        ("edges", "<i4", &[0, 2], &[], 1),
        ("edge_offsets", "<i8", &[2], &[0; 16], 1),
        ("num_labels", "<i8", &[], &65534i64.to_le_bytes(), 1),
    ]);
    let message = open(&format!("graph:{}", file("wide.npz", &wide)));
    assert!(message.contains("of memory, but "), "{message}");

    // Text that unpacks to far more than it is.
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..40 {
        gz.write_all(&b"1 1:1\n".repeat(100_000)).unwrap();
    }
    let message = open(&format!("libsvm:{}", file("bomb.gz", &gz.finish().unwrap())));
    assert!(message.contains("unpacks to more than 16 MiB"), "{message}");
}

fn picture(width: usize, height: usize) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.png");
    Picture { width, height, rgb: vec![[200, 10, 10]; width * height] }.save_png(&path).unwrap();
    fs::read(path).unwrap()
}

fn tar_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append_data(&mut header, name, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

fn pictures_that_ask_for_gigabytes_are_refused() {
    let dir = folder();
    let path = dir.path().join("set.tar");
    let pairs = |entries: &[(&str, &[u8])]| {
        fs::write(&path, tar_of(entries)).unwrap();
        ImageSet::Horses.pairs(&path)
    };
    // Columns of one and rows of the other: 19 GB between them.
    let (tall, wide) = (picture(1, 40_000), picture(40_000, 1));
    let pair = pairs(&[("rgb/a.jpg", &tall), ("figure_ground/a.jpg", &wide)]).unwrap();
    let message = ImageSet::Horses.decode(&pair[0]).unwrap_err();
    assert!(message.contains("1 × 40000") && message.contains("40000 × 1"), "{message}");
    // A picture of 5000 × 5000 pixels is a kilobyte.
    let large = picture(5000, 1000);
    let pair = pairs(&[("rgb/a.jpg", &large), ("figure_ground/a.jpg", &large)]).unwrap();
    assert!(ImageSet::Horses.decode(&pair[0]).unwrap_err().contains("5000 × 1000 pixels"));
    let huge = vec![0; 17 << 20];
    let message = pairs(&[("rgb/a.jpg", &huge)]).unwrap_err().to_string();
    assert!(message.contains("too many for a file of the set"), "{message}");
    let file = vec![0; 15 << 20];
    let names: Vec<String> = (0..20).map(|at| format!("rgb/{at}.jpg")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &file[..])).collect();
    let message = pairs(&many).unwrap_err().to_string();
    assert!(message.contains("more than 256 MiB of pictures"), "{message}");
}

fn configs_that_no_machine_can_run_are_refused() {
    let dir = folder();
    for (from, to, expected) in [
        ("repeats = 2", "repeats = 1000000000", "tiny.toml:3: repeats must be at most"),
        ("clock", "timeout_s = 1e300\nclock", "tiny.toml:2: timeout_s"),
        ("\"t\"", "\"../../y\"", "tiny.toml:1: the name is also that of the result folder"),
        ("\"t\"", "\"/tmp/y\"", "tiny.toml:1: the name is also that of the result folder"),
        ("\"t\"", "\"..\"", "tiny.toml:1: the name is also that of the result folder"),
        ("\"t\"", "\"\\u001b[2Jgone\"", "tiny.toml:1: the name is also that of the result folder"),
        ("\"t\"", "\"\"", "tiny.toml:1: the name is empty"),
    ] {
        fs::write(dir.path().join("tiny.toml"), CONFIG.replacen(from, to, 1)).unwrap();
        for dry in [&["--dry-run"][..], &[]] {
            let message = refused(dir.path(), &[&["run", "tiny.toml"], dry].concat());
            assert!(message.contains(expected), "{message}");
        }
    }
    assert!(!dir.path().join("results").exists());
    let cells: String = (0..60).map(|at| format!("[[dataset]]\nname = \"usps-synth:n={}\"\n", at + 9)).collect();
    fs::write(dir.path().join("tiny.toml"), CONFIG.replace("repeats = 2", "repeats = 10000") + &cells).unwrap();
    assert!(refused(dir.path(), &["run", "--dry-run", "tiny.toml"]).contains("more than a plan may have"));
}

/// Escape sequences of names and paths do not reach a terminal.
fn nothing_moves_the_cursor() {
    let dir = folder();
    for arguments in [
        &["run", "--dry-run", "\u{1b}[2J.toml"][..],
        &["solve", "--dataset", "libsvm:\u{1b}]0;x\u{7}", "--solver", "fw"],
        &["show", "\u{1b}[31m", "claims"],
    ] {
        let message = refused(dir.path(), arguments);
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
}

/// Bytes of a run with another content and a digest that is right for it.
fn signed(mut bytes: Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mark = b"ssvm.sha256\x18\x40";
    let place = |bytes: &[u8]| bytes.windows(mark.len()).rposition(|window| window == mark).map(|at| at + mark.len());
    change(&mut bytes);
    if let Some(at) = place(&bytes).filter(|at| at + 64 <= bytes.len()) {
        bytes[at..at + 64].fill(b'0');
        let digest = files::sha256_hex(&bytes);
        bytes[at..at + 64].copy_from_slice(digest.as_bytes());
    }
    bytes
}

/// Whatever the decoder of a crafted file does, the file is damaged and the others are read.
fn a_crafted_record_is_set_aside() {
    let dir = folder();
    let (store, lock) = Store::create(dir.path().join("results")).unwrap();
    let records = hand::demo(&["usps-synth:n=9"], 2);
    for record in &records {
        store.write(Folder::Runs, record).unwrap();
    }
    let whole = codec::encode(&records[0]).unwrap();
    let path = store.path(Folder::Runs, &records[0].run_id());
    let (mut damaged, mut read) = (0, 0);
    let mut worst = whole.clone();
    // Values of the first pages, where lengths and encodings are; and of the footer.
    let places = (4..whole.len().min(1500)).chain(whole.len().saturating_sub(3000)..whole.len() - 8);
    for (place, value) in places.step_by(7).flat_map(|place| [(place, 0x7f), (place, 0xff)]) {
        let crafted = signed(whole.clone(), |bytes| bytes[place] = value);
        fs::write(&path, &crafted).unwrap();
        match read_file(&store.path(Folder::Runs, &records[0].run_id())) {
            Ok(_) => read += 1,
            Err(error) => {
                damaged += 1;
                let message = error.to_string();
                assert!(message.contains("damaged: ") || message.contains("layout"), "{message}");
                if message.contains("panicked") {
                    worst = crafted;
                }
            }
        }
    }
    assert!(damaged > 50 && read > 0, "{damaged} {read}");
    fs::write(&path, worst).unwrap();
    let contents = store.scan(Folder::Runs).unwrap();
    assert!(contents.records.len() + contents.damaged.len() == records.len() && contents.damaged.len() <= 1);
    drop(lock);
    let output = call(dir.path(), &["show", "results", "claims"]);
    assert!(output.status.success() && !errors(&output).contains("panicked at"), "{}", errors(&output));
}

#[cfg(unix)]
fn pipes_and_links_in_a_folder_do_not_hang() -> Result<(), Skipped> {
    let dir = folder();
    assert!(call(dir.path(), &["run", "tiny.toml", "--out", "v"]).status.success());
    let pipe = dir.path().join("v/runs/0123456789abcdef0123.parquet");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.map_err(|error| Skipped(format!("needs mkfifo: {error}")))?.success() {
        return Err(Skipped("needs mkfifo".into()));
    }
    let output = call(dir.path(), &["show", "v", "oracle"]);
    assert!(output.status.success() && errors(&output).contains("not a plain file"), "{}", errors(&output));
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("file"), "x").unwrap();
    for at in 0..60 {
        std::os::unix::fs::symlink(".", data.join(format!("link{at}"))).unwrap();
    }
    assert_eq!(files_below(&data).unwrap(), [data.join("file")]);
    Ok(())
}

#[cfg(not(unix))]
fn pipes_and_links_in_a_folder_do_not_hang() -> Result<(), Skipped> {
    Err(Skipped("needs pipes and links".into()))
}

/// Devices that have no end.
fn endless_inputs_are_refused() -> Result<(), Skipped> {
    if !Path::new("/dev/zero").exists() || !Path::new("/dev/full").exists() {
        return Err(Skipped("needs /dev/zero and /dev/full".into()));
    }
    let dir = folder();
    assert!(call(dir.path(), &["run", "tiny.toml", "--out", "v"]).status.success());
    for arguments in [
        &["run", "--dry-run", "/dev/zero"][..],
        &["check", "v", "--baseline", "/dev/zero"],
        &["check", "v", "--save", "/dev/full"],
        &["solve", "--dataset", "libsvm:/dev/zero", "--solver", "fw"],
    ] {
        refused(dir.path(), arguments);
    }
    assert!(!Path::new("/dev/full").is_file(), "a device was replaced");
    Ok(())
}

#[cfg(unix)]
fn a_folder_whose_name_is_no_text_is_used() {
    use std::os::unix::ffi::OsStrExt;
    let dir = folder();
    let out = std::ffi::OsStr::from_bytes(b"r\xffsults");
    let run = || {
        let mut command = command(dir.path(), &["run", "tiny.toml", "--format", "json", "--out"]);
        command.arg(out).output().unwrap()
    };
    let output = run();
    assert!(output.status.success(), "{}", errors(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["finished"], 2);
    let again: serde_json::Value = serde_json::from_slice(&run().stdout).unwrap();
    assert_eq!(again["already"], 2);
    let mut pages = command(dir.path(), &["reproduce", "--quiet", "tiny.toml", "--out"]);
    let output = pages.arg(out).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
}

#[cfg(not(unix))]
fn a_folder_whose_name_is_no_text_is_used() -> Result<(), Skipped> {
    Err(Skipped("needs names that are no text".into()))
}

fn what_cannot_be_compared_is_not_called_right() {
    let dir = folder();
    // An archive of horseseg has no known checksum.
    fs::create_dir_all(dir.path().join("data/horseseg/data")).unwrap();
    let archive = tar_of(&[("data/horse-features.bin", b"x")]);
    fs::write(dir.path().join("data/horseseg/data.tar"), archive).unwrap();
    fs::write(dir.path().join("data/horseseg/data/horse-features.bin"), "x").unwrap();
    let output = call(dir.path(), &["data", "fetch", "horseseg"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("not checked, because no checksum is known") && !text.contains("official checksum"),
        "{text}{}",
        errors(&output)
    );
}

fn weights_that_cannot_be_written_are_refused_before_the_work() {
    let dir = folder();
    for (path, words) in [("v/w.npy", "does not exist; create it"), (".", "is a folder")] {
        let arguments = ["solve", "--dataset", "usps-synth:n=30", "--solver", "bcfw", "--save-weights", path];
        let output = call(dir.path(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty() && errors(&output).contains(words), "{}", errors(&output));
    }
}

fn budgets_of_nothing_are_refused() {
    let dir = folder();
    for limit in ["--iterations", "--oracle-calls", "--time", "--gap"] {
        refused(dir.path(), &["solve", "--dataset", "usps-synth:n=9", "--solver", "fw", limit, "0"]);
    }
}

/// A full disk is no fault of an archive.
fn a_full_disk_while_unpacking_says_so() -> Result<(), Skipped> {
    let dir = folder();
    let out = dir.path().join("data");
    fs::create_dir_all(&out).unwrap();
    let archive = dir.path().join("data.tar");
    fs::write(&archive, tar_of(&[("data/horse-features.bin", &vec![1; 1 << 20])])).unwrap();
    let program = env!("CARGO_BIN_EXE_ssvm-bench");
    let script = format!(
        "mount -t tmpfs -o size=1200k none '{0}' || exit 77; mkdir '{0}/horseseg'; cp '{1}' '{0}/horseseg/data.tar'; \
         '{2}' --data-dir '{0}' data fetch horseseg",
        out.display(),
        archive.display(),
        program
    );
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output();
    let output = output.map_err(|error| Skipped(format!("needs unshare: {error}")))?;
    let message = errors(&output);
    if output.status.code() == Some(77) || message.contains("unshare") {
        return Err(Skipped(format!("needs user namespaces with tmpfs: {}", message.trim())));
    }
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("the disk is full") && !message.contains("fetch it again"), "{message}");
    Ok(())
}

/// Entries are counted without their names' entries, and content that is asked for comes whole.
fn entries_of_an_archive_come_whole() {
    let dir = folder();
    let path: PathBuf = dir.path().join("a.tar");
    fs::write(&path, tar_of(&[("a", b"one"), ("b/c", b"")])).unwrap();
    let mut seen = Vec::new();
    let count = archive::each_entry(&path, |entry| {
        let mut bytes = Vec::new();
        entry.content(|block| {
            bytes.extend_from_slice(block);
            Ok(())
        })?;
        seen.push((entry.path.clone(), bytes));
        Ok(())
    });
    assert_eq!(count.unwrap(), 2);
    assert_eq!(seen, [("a".into(), b"one".to_vec()), ("b/c".into(), Vec::new())]);
}

crate::trials![
    what_is_not_its_own_stays,
    a_full_standard_output_is_an_error,
    a_signal_that_was_ignored_stays_ignored,
    outputs_that_fail_leave_what_was_there,
    small_files_take_little_memory,
    pictures_that_ask_for_gigabytes_are_refused,
    configs_that_no_machine_can_run_are_refused,
    nothing_moves_the_cursor,
    a_crafted_record_is_set_aside,
    pipes_and_links_in_a_folder_do_not_hang,
    endless_inputs_are_refused,
    a_folder_whose_name_is_no_text_is_used,
    what_cannot_be_compared_is_not_called_right,
    budgets_of_nothing_are_refused,
    weights_that_cannot_be_written_are_refused_before_the_work,
    a_full_disk_while_unpacking_says_so,
    entries_of_an_archive_come_whole,
];
