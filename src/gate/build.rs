//! A revision → its build of this program. Both builds of a comparison are compiled in one folder, one after the other: the
//! folder of a crate is part of its symbols, and these decide where its code lies in memory, which can move a time by 10 %.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Error;
use crate::error::{Error as Failure, Result};
use crate::store::files::{self, SharedFile};

/// The repository that a program is built from, with a folder for builds in its `target`.
pub struct Builds {
    top: PathBuf,
    /// The package, below the top of the repository.
    package: PathBuf,
    /// The name of the program.
    program: OsString,
    folder: PathBuf,
    /// One call builds at a time, because all of them use one checkout.
    _lock: SharedFile,
}

impl Builds {
    /// Of the repository that `here` is in. Fails when it is in none, or when another call is building there.
    pub fn of(here: &Path, program: OsString) -> Result<Self> {
        let top = PathBuf::from(git(here, &["rev-parse", "--show-toplevel"])?);
        let package = PathBuf::from(git(here, &["rev-parse", "--show-prefix"])?);
        let folder = top.join("target/against");
        let lock = SharedFile::lock(&folder.join("builds"))?;
        Ok(Self { top, package, program, folder, _lock: lock })
    }

    /// The commit of a revision.
    pub fn commit(&self, revision: &str) -> Result<String> {
        git(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
            .map_err(|_| Error::NoRevision { revision: revision.to_owned() }.into())
    }

    /// A commit of the files as they are now, without those that git does not track. It is in no branch.
    pub fn now(&self) -> Result<String> {
        let changed = git(&self.top, &["-c", "user.name=none", "-c", "user.email=none", "stash", "create"])?;
        if changed.is_empty() { self.commit("HEAD") } else { Ok(changed) }
    }

    /// The program as a commit builds it; compiled once for each state of the files.
    pub fn build(&self, commit: &str) -> Result<PathBuf> {
        let tree = git(&self.top, &["rev-parse", &format!("{commit}^{{tree}}")])?;
        let built = self.folder.join(&tree).join(&self.program);
        // It becomes executable when it is whole.
        if built.metadata().is_ok_and(|file| file.permissions().mode() & 0o100 != 0) {
            return Ok(built);
        }
        let checkout = self.folder.join("checkout");
        let place = checkout.to_string_lossy();
        // What a killed call left is taken away first.
        let clear = || git(&self.top, &["worktree", "remove", "--force", "--force", &place]);
        if checkout.exists() {
            clear()?;
        }
        git(&self.top, &["worktree", "add", "--quiet", "--force", "--detach", &place, commit])?;
        let compiled = self.compile(&checkout, commit);
        clear()?;
        let made = compiled?;
        files::make_folder(&self.folder.join(&tree))?;
        files::copy(&made, &built)?;
        std::fs::set_permissions(&built, Permissions::from_mode(0o755)).map_err(Failure::io("write", &built))?;
        Ok(built)
    }

    fn compile(&self, checkout: &Path, commit: &str) -> Result<PathBuf> {
        let target = self.folder.join("build");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(&cargo);
        command.current_dir(checkout.join(&self.package)).args(["build", "--release", "--bin"]).arg(&self.program);
        command.arg("--target-dir").arg(&target).stdin(Stdio::null()).stdout(Stdio::null());
        let status = command.status().map_err(Failure::io("start", &cargo))?;
        if !status.success() {
            return Err(Error::NotBuilt { commit: commit.to_owned(), status }.into());
        }
        Ok(target.join("release").join(&self.program))
    }
}

/// What git prints, without the end of the line.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(Failure::io("start", "git"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(Error::Git { command: arguments.join(" "), message: text(&output.stderr) }.into())
}
