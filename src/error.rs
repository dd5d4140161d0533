//! The one error type of the library: every variant says where, what is wrong and what to do.

use std::path::{Path, PathBuf};

/// Result of every fallible library call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, with the place it went wrong at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong as a whole (missing, damaged, of another kind).
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// One line of a text file is wrong.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what to do.
        message: String,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// Verb, such as "read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason; part of the message, so not a `source` that would be printed a second time.
        reason: std::io::Error,
    },
    /// The solver library refused something.
    #[error(transparent)]
    Solver(#[from] ssvm::Error),
    /// A figure cannot be drawn or written.
    #[error(transparent)]
    Render(#[from] crate::render::Error),
    /// An argument or a combination of settings is wrong.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// A [`Error::File`].
    pub fn file(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().to_owned(), message: message.into() }
    }

    /// A [`Error::Line`]; `line` counts from 1.
    pub fn line(path: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Self {
        Self::Line { path: path.as_ref().to_owned(), line, message: message.into() }
    }

    /// Wraps an [`std::io::Error`] with the action and the file it belongs to.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |reason| Self::Io { action, path, reason }
    }

    /// A [`Error::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}
