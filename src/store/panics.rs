//! Protection against the end of the process: a panic in code that is not trusted becomes an error, and memory that is
//! not available is refused before it is requested.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Prefix of the names of this program's threads; their panics are recorded, not printed.
pub const THREADS: &str = "ssvm-";

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does the work. A panic in it, here or on a thread of the program that helps with it, becomes an error with its
/// message and place, and nothing is printed.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    note_panics();
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    let noted = LAST_PANIC.take();
    result.map_err(|payload| if noted.is_empty() { message(payload.as_ref()) } else { noted })
}

/// The message of a panic that came from another thread.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let ours = std::thread::current().name().is_some_and(|name| name.starts_with(THREADS));
            if DEPTH.get() == 0 && !ours {
                return default(info);
            }
            let payload = info.payload_as_str().unwrap_or("no message");
            let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
            LAST_PANIC.set(format!("{payload}{place}"));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_message_with_its_place() {
        assert_eq!(catch(|| 3), Ok(3));
        let inner = || catch(|| panic!("inner")).unwrap_err();
        let caught: Result<String, String> = catch(|| {
            assert!(inner().starts_with("inner at src/store/panics.rs:"));
            panic!("outer {}", 1)
        });
        assert!(caught.unwrap_err().starts_with("outer 1 at src/store/panics.rs:"));
    }
}
