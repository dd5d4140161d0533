//! The error type of the harness: the errors of its modules, and the places (file, line) that they belong to.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Result of every fallible call of the harness.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The fault at a place: the error of a module, or a text. It is part of the message and therefore not a `source`,
/// which would be printed a second time.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Everything that can go wrong, with its place.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong as a whole: missing, damaged, or of another kind.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: Cause },
    /// One line of a text file is wrong; lines count from 1.
    #[error("{}:{line}: {reason}", path.display())]
    Line { path: PathBuf, line: usize, reason: Cause },
    /// The operating system refused something; `action` is a verb, such as "read".
    #[error("cannot {action} {}: {reason}{}", path.display(), advice(reason))]
    Io { action: &'static str, path: PathBuf, reason: std::io::Error },
    /// An argument or a combination of settings is wrong.
    #[error("{0}")]
    Invalid(String),

    // The modules, in alphabetical order. Their texts are in `src/<module>/error.rs`.
    #[error(transparent)]
    Dataset(#[from] crate::dataset::Error),
    #[error(transparent)]
    Gate(#[from] crate::gate::Error),
    #[error(transparent)]
    Render(#[from] crate::render::Error),
    #[error(transparent)]
    Run(#[from] crate::run::Error),
    #[error(transparent)]
    Solver(#[from] ssvm::Error),
    #[error(transparent)]
    Store(#[from] crate::store::Error),
    #[error(transparent)]
    Study(#[from] crate::study::Error),
}

/// What to do where the operating system gives a reason that has a remedy.
fn advice(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        ErrorKind::NotFound => "; check the path",
        ErrorKind::PermissionDenied => "; change its permissions or choose another path",
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "; a file is in the way: choose another path",
        ErrorKind::IsADirectory => "; it is a folder: name a file in it",
        _ => "",
    }
}

impl Error {
    /// `reason` is the error of a module, or a text.
    pub fn file(path: impl AsRef<Path>, reason: impl Into<Cause>) -> Self {
        Self::File { path: path.as_ref().to_owned(), reason: reason.into() }
    }

    /// `line` counts from 1; `reason` is the error of a module, or a text.
    pub fn line(path: impl AsRef<Path>, line: usize, reason: impl Into<Cause>) -> Self {
        Self::Line { path: path.as_ref().to_owned(), line, reason: reason.into() }
    }

    /// An error in the line of a byte offset of `text`.
    pub fn offset(path: impl AsRef<Path>, text: &str, offset: usize, reason: impl Into<Cause>) -> Self {
        Self::line(path, 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count(), reason)
    }

    /// The same error, moved to another file, for a copy that was read in its place.
    #[must_use]
    pub fn at(self, place: &Path) -> Self {
        match self {
            Self::File { reason, .. } => Self::file(place, reason),
            Self::Line { line, reason, .. } => Self::line(place, line, reason),
            Self::Io { action, reason, .. } => Self::io(action, place)(reason),
            other => other,
        }
    }

    /// Wraps an [`std::io::Error`] with the action and the file it belongs to.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |reason| Self::Io { action, path, reason }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}
