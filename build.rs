//! Build facts: what results depend on (`SSVM_CODE`), and where the program came from (commit, compiler).

#[path = "build/tokens.rs"]
mod tokens;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The sources that a run's numbers depend on. Scheduling, storage, figures and docs are not among them: changing those does
/// not make stored results stale.
const SOURCES: [&str; 2] = ["crates/ssvm/src", "src/dataset"];

/// Sources, by the digest of their tokens, that make the numbers of an older version: its records stay valid.
///
/// A line is right when the gate finds every counter of `configs/ci.toml` equal to the last digit and the stored trajectories
/// hold. The next change of the sources voids it, until the check is repeated and the digest replaced.
/// `cargo test --test suite code_version -- --nocapture` prints the digest of the sources as they are.
const SAME_NUMBERS: [(&str, &str); 1] = [("66ec6ff5566505d2", "0.1.0+7dc61b28c0dda8e3")];

fn main() {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(Path::new(source), &mut files);
    }
    // Prepared pictures are data: their checksum is part of a run's identity already.
    files.retain(|path| !path.starts_with("src/dataset/image"));
    files.sort();
    let mut digest = tokens::Digest::new();
    for path in &files {
        let content = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        digest.add(&path.to_string_lossy().replace('\\', "/"), &content);
    }
    let digest = format!("{:016x}", digest.0);
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let older = SAME_NUMBERS.iter().find(|(sources, _)| *sources == digest).map(|(_, version)| (*version).to_owned());
    set("SSVM_CODE", &older.unwrap_or_else(|| format!("{version}+{digest}")));
    set("SSVM_TOKENS", &digest);

    let commit = run("git", &["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    let changed = run(
        "git",
        &["status", "--porcelain", "-uno", "--", "src", "crates", "Cargo.toml", "Cargo.lock", "build.rs", "build"],
    );
    let dirty = changed.is_some_and(|text| !text.is_empty());
    set("SSVM_COMMIT", &if dirty { format!("{commit}-dirty") } else { commit });
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    set("SSVM_RUSTC", &run(&rustc, &["--version"]).unwrap_or_else(|| "unknown".into()));

    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=crates/ssvm/src");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
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
