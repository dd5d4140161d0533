//! The error type of the library.

/// Result of every fallible call of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong when a problem is built or solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An argument or a combination of settings is wrong.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// An [`Error::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}
