//! Oracles that cannot go on: a message in, the end of the run that asked out, as an error and not as a crash.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::{Error, Result};

/// Why an oracle cannot answer any more.
struct Fault(String);

/// Ends the run whose oracle cannot answer any more: for oracles outside this process, which may die. Unwinds to
/// [`guarded`] from any thread, without the message of a panic.
pub fn give_up(message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Fault(message.into())))
}

/// Makes an error of an oracle that gave up; every other panic goes on.
///
/// ```
/// use ssvm::problem::{give_up, guarded};
///
/// assert_eq!(guarded(|| 3).unwrap(), 3);
/// assert_eq!(guarded(|| give_up("no answer")).unwrap_err().to_string(), "no answer");
/// ```
pub fn guarded<T>(run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Fault>() {
        Ok(fault) => Error::invalid(fault.0),
        Err(other) => resume_unwind(other),
    })
}
