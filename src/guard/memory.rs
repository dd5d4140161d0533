//! Bytes that somebody is about to ask for in, a refusal with the numbers out when they are not there.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::text::bytes;

/// Memory that a new process can use without swapping, bytes; `None` when unknown.
pub fn available_memory() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = info.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse().ok());
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|limit| limit.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    [kib.map(|kib: u64| kib * 1024), group].into_iter().flatten().min()
}

/// An error that begins with `what` when so many bytes are not there.
pub fn require_memory(needed: u64, what: &str) -> Result<()> {
    match available_memory().filter(|there| needed > *there) {
        Some(there) => Err(Error::invalid(format!(
            "{what} about {} of memory, and {} is free; use a smaller data set, or a machine with more",
            bytes(needed),
            bytes(there)
        ))),
        None => Ok(()),
    }
}

/// Content of a file may be this many times larger than the file: packed numbers are not as even as bombs are.
const LARGEST_RATIO: u64 = 100;
/// Content below this is never refused for being packed too well.
const SMALL: u64 = 64 << 20;

/// How much the content of one file may still take. What a file says of its own size is not to be trusted.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    left: u64,
    packed: u64,
}

impl Room {
    /// For the content of a file.
    pub fn of(path: &Path) -> Result<Self> {
        let packed = fs::metadata(path).map_err(Error::io("read", path))?.len();
        Ok(Self::packed(packed))
    }

    /// For the content of so many bytes.
    pub fn packed(packed: u64) -> Self {
        let most = packed.saturating_mul(LARGEST_RATIO).max(SMALL);
        Self { left: available_memory().map_or(most, |there| there.min(most)), packed }
    }

    /// Takes so many bytes; the message says what is wrong when they are not there.
    pub fn take(&mut self, needed: u64) -> Result<(), String> {
        match self.left.checked_sub(needed) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(format!(
                "is too large: {} more of memory for a file of {}, and at most {} may be used for it",
                bytes(needed),
                bytes(self.packed),
                bytes(self.left)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_refused_with_the_numbers() {
        require_memory(1, "this needs").unwrap();
        if available_memory().is_some() {
            let message = require_memory(u64::MAX, "usps-synth needs").unwrap_err().to_string();
            assert!(message.starts_with("usps-synth needs about 17179869184.0 GiB of memory, and "), "{message}");
        }
    }

    #[test]
    fn a_small_file_has_little_room() {
        let mut room = Room::packed(1000);
        room.take(60 << 20).unwrap();
        assert!(room.take(5 << 20).unwrap_err().contains("a file of 1 KiB"));
        assert!(Room::packed(u64::MAX).take(u64::MAX).is_err() || available_memory().is_none());
    }
}
