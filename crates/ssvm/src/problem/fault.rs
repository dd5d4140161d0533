//! Why an oracle cannot answer.

/// An oracle cannot answer: its process died, its data is gone. The run that asked ends with
/// [`crate::Error::OracleFailed`]. Any error becomes one with `?`.
///
/// ```
/// use ssvm::Fault;
///
/// fn answer(text: &str) -> Result<u64, Fault> {
///     if text.is_empty() {
///         return Err(Fault::new("no answer"));
///     }
///     Ok(text.parse()?)
/// }
/// assert_eq!(answer("12"), Ok(12));
/// assert_eq!(answer("").unwrap_err().to_string(), "no answer");
/// assert!(answer("twelve").is_err());
/// ```
// One pointer and a length: the result of a call that works comes back in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<str>);

impl Fault {
    /// With this message.
    #[cold]
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self(message.into())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

// `Fault` is no `Error` itself, so that every error can be turned into one.
impl<E: std::error::Error> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
