//! Build facts: what results depend on (`SSVM_CODE`), and where the program came from (commit, compiler, flags).

use std::path::{Path, PathBuf};
use std::process::Command;

/// The sources that a run's numbers depend on. Scheduling, storage, figures and docs are not among them, so that
/// changing those does not make finished results look stale.
const SOURCES: [&str; 2] = ["crates/ssvm/src", "src/dataset"];

fn main() {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(Path::new(source), &mut files);
    }
    // Prepared pictures are data: their checksum is part of a run's identity already.
    files.retain(|path| !path.starts_with("src/dataset/image"));
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in &files {
        let text = std::fs::read(path).unwrap_or_default();
        let name = path.to_string_lossy().replace('\\', "/");
        for byte in name.bytes().chain([0]).chain(text.into_iter().filter(|byte| *byte != b'\r')).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    set("SSVM_CODE", &format!("{version}+{hash:016x}"));

    let commit = run("git", &["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    let changed =
        run("git", &["status", "--porcelain", "-uno", "--", "src", "crates", "Cargo.toml", "Cargo.lock", "build.rs"]);
    let dirty = changed.is_some_and(|text| !text.is_empty());
    set("SSVM_COMMIT", &if dirty { format!("{commit}-dirty") } else { commit });
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    set("SSVM_RUSTC", &run(&rustc, &["--version"]).unwrap_or_else(|| "unknown".into()));
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " ");
    let flags = format!("{} opt-level={} {flags}", variable("TARGET"), variable("OPT_LEVEL"));
    set("SSVM_FLAGS", flags.trim());

    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=crates/ssvm/src");
    println!("cargo:rerun-if-changed=build.rs");
    if let Some(log) = run("git", &["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
}

fn set(name: &str, value: &str) {
    println!("cargo:rustc-env={name}={value}");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        collect(&entry.path(), files);
    }
}

/// Trimmed output of a command that succeeds.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
