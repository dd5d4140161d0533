//! The last guard of the memory: ends the program with a message before the system ends it without one. Runs of a batch
//! are aborted one by one before that (`run::memory`).

use super::{interrupt, note};
use crate::dataset::memory::{FreeMemory, available_memory, resident_memory};
use crate::text::bytes;

/// The part of the reserve that is left when the program ends.
const LAST: f64 = 0.25;

/// Watches from here on.
pub fn watch() {
    let free = FreeMemory::default();
    let body = move || {
        loop {
            let left = free.left();
            if left < LAST {
                note(&format!(
                    "error: out of memory: this program uses {}, and {} is left; use a smaller data set, fewer \
                     --jobs or a machine with more memory. Existing files are intact",
                    bytes(resident_memory()),
                    bytes(available_memory().unwrap_or(0))
                ));
                interrupt::stop_at_once();
            }
            std::thread::sleep(FreeMemory::pause(left));
        }
    };
    // Without it the system is the last guard.
    let _ = std::thread::Builder::new().name("ssvm-memory".to_owned()).spawn(body);
}
