//! The error of an oracle.

/// Why an oracle cannot answer: for example, its process died or its data is gone. The run that called it ends with
/// [`crate::Error::OracleFailed`]. `?` turns any error into a fault.
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
// One pointer and a length, so that the result of a successful call is returned in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<str>);

impl Fault {
    /// A fault with this message.
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

// `Fault` does not implement `Error` itself, so that every error can be turned into one.
impl<E: std::error::Error> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
