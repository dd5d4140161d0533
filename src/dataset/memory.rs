//! Free memory, and refusals before it runs out. The free memory is the least that the machine, the control groups and
//! the limits of this process (`ulimit -v`, `-d`) leave.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::text::bytes;

/// Memory that this process can still use without swapping, bytes; `None` when unknown.
pub fn available_memory() -> Option<u64> {
    left(Path::new("/"))
}

/// Memory that this process uses now, bytes; 0 when unknown.
pub fn resident_memory() -> u64 {
    kib_in("/proc/self/status", "VmRSS:")
}

/// Bytes behind a key of a file of `/proc` that counts in KiB; 0 when unknown.
pub fn kib_in(path: &str, key: &str) -> u64 {
    kib(&read(Path::new(path)), key).unwrap_or(0)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The first number behind a key at the beginning of a line; `None` for a word such as `unlimited`.
fn number(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse().ok())
}

fn kib(text: &str, key: &str) -> Option<u64> {
    number(text, key).map(|kib| kib.saturating_mul(1024))
}

fn left(root: &Path) -> Option<u64> {
    let machine = kib(&read(&root.join("proc/meminfo")), "MemAvailable:");
    let limits = read(&root.join("proc/self/limits"));
    let own = |limit: &str, used: &str| {
        let limit = number(&limits, limit)?;
        Some(limit.saturating_sub(kib(&read(&root.join("proc/self/status")), used).unwrap_or(0)))
    };
    let (space, data) = (own("Max address space", "VmSize:"), own("Max data size", "VmData:"));
    [machine, groups(root), space, data].into_iter().flatten().min()
}

/// Where a version of control groups keeps its limit, its usage, and the part of the usage that is file cache.
struct Names {
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    cache: [&'static str; 2],
}

const ONE: Names = Names {
    folder: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file ", "total_active_file "],
};
const TWO: Names = Names {
    folder: "sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    cache: ["inactive_file ", "active_file "],
};

/// The least memory that the control groups of this process leave.
fn groups(root: &Path) -> Option<u64> {
    let list = read(&root.join("proc/self/cgroup"));
    let group = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let names = match controllers {
            "" => TWO,
            list if list.split(',').any(|name| name == "memory") => ONE,
            _ => return None,
        };
        let top = root.join(names.folder);
        // In a container the path may lead outside of it; then only the top exists.
        let here = top.join(path.trim_start_matches('/'));
        here.ancestors()
            .take_while(|folder| folder.starts_with(&top))
            .filter_map(|folder| in_group(folder, &names))
            .min()
    };
    list.lines().filter_map(group).min()
}

/// The memory that one group leaves. File cache counts as free.
fn in_group(folder: &Path, names: &Names) -> Option<u64> {
    let limit = number(&read(&folder.join(names.limit)), "")?;
    let used = number(&read(&folder.join(names.used)), "").unwrap_or(0);
    let facts = read(&folder.join("memory.stat"));
    let cache: u64 = names.cache.iter().filter_map(|key| number(&facts, key)).sum();
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// Below this multiple of the reserve, memory is checked often.
const NEAR: f64 = 4.0;

/// Notices that the memory of this process runs out before the system does.
#[derive(Clone, Copy, Debug)]
pub struct FreeMemory {
    reserve: u64,
    first: u64,
}

impl Default for FreeMemory {
    fn default() -> Self {
        // Enough for the allocations of a run between two checks, and little on a small machine.
        let reserve = (available_memory().unwrap_or(0) / 8).min(512 << 20);
        Self { reserve, first: resident_memory() }
    }
}

impl FreeMemory {
    pub fn reserve(&self) -> u64 {
        self.reserve
    }

    /// Free memory over the reserve: below 1, something should end. Infinite when unknown, and while other processes
    /// use the rest.
    pub fn left(&self) -> f64 {
        let left = available_memory().map_or(f64::INFINITY, |left| left as f64 / self.reserve.max(1) as f64);
        let ours = || resident_memory().saturating_sub(self.first) >= self.reserve / 2;
        if left < NEAR && !ours() { f64::INFINITY } else { left }
    }

    /// Time until the next check, after a check that returned `left`.
    pub fn pause(left: f64) -> Duration {
        Duration::from_millis(if left < NEAR { 10 } else { 100 })
    }
}

/// Fails when fewer than `needed` bytes are free; the message begins with `what`.
pub fn require_memory(needed: u64, what: &str) -> Result<()> {
    match available_memory().filter(|free| needed > *free) {
        Some(free) => Err(super::Error::Memory { what: what.to_owned(), needed, free }.into()),
        None => Ok(()),
    }
}

/// Content of a file may be this many times larger than the file. Files of numbers compress less than archive bombs.
const LARGEST_RATIO: u64 = 100;
/// Content smaller than this is never refused for its ratio.
const SMALL: u64 = 64 << 20;
/// For less than this the system is not queried.
const LOOK: u64 = 1 << 20;

/// Memory that the content of one file may still take. The sizes stated in a file are not trusted.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    left: u64,
    packed: u64,
}

impl Quota {
    pub fn of(path: &Path) -> Result<Self> {
        let packed = fs::metadata(path).map_err(Error::io("read", path))?.len();
        Ok(Self::packed(packed))
    }

    pub fn packed(packed: u64) -> Self {
        Self { left: packed.saturating_mul(LARGEST_RATIO).max(SMALL), packed }
    }

    /// Takes bytes; fails with a message about the file when they are not free.
    pub fn take(&mut self, needed: u64) -> Result<(), String> {
        let there = if needed < LOOK { None } else { available_memory() };
        let most = there.map_or(self.left, |there| there.min(self.left));
        if needed > most {
            return Err(format!(
                "is too large: it needs {} more memory for a file of {}, and at most {} may be used for it",
                bytes(needed),
                bytes(self.packed),
                bytes(most)
            ));
        }
        self.left -= needed;
        Ok(())
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
            assert!(message.starts_with("usps-synth needs about 17179869184.0 GiB of memory, but "), "{message}");
        }
    }

    /// A system in a folder.
    fn system(files: &[(&str, &str)]) -> Option<u64> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        left(dir.path())
    }

    #[test]
    fn the_least_of_machine_groups_and_limits_counts() {
        const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:   5000 kB\n");
        const STATUS: (&str, &str) = ("proc/self/status", "VmSize:\t 1000 kB\nVmData:\t 600 kB\n");
        assert_eq!(system(&[]), None);
        assert_eq!(system(&[MACHINE]), Some(5000 << 10));
        // `ulimit -v`, `ulimit -d`: what is in use counts against the limit.
        let limits = |space: &str, data: &str| {
            let text = format!(
                "Limit   Soft Limit  Hard Limit  Units\nMax data size   {data}   unlimited   bytes\n\
                 Max address space   {space}   unlimited   bytes\n"
            );
            system(&[MACHINE, STATUS, ("proc/self/limits", &text)])
        };
        assert_eq!(limits("unlimited", "unlimited"), Some(5000 << 10));
        assert_eq!(limits("4096000", "unlimited"), Some(3000 << 10));
        assert_eq!(limits("4096000", "1024000"), Some(400 << 10));
        assert_eq!(limits("1000", "unlimited"), Some(0));
        // Control groups: the outer group may be the tighter one, and file cache counts as free.
        let two = |own: &str, around: &str| {
            system(&[
                MACHINE,
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/b/memory.max", own),
                ("sys/fs/cgroup/a/b/memory.current", "1000"),
                ("sys/fs/cgroup/a/b/memory.stat", "anon 1\ninactive_file 300\nactive_file 200\n"),
                ("sys/fs/cgroup/a/memory.max", around),
                ("sys/fs/cgroup/a/memory.current", "1500"),
            ])
        };
        assert_eq!(two("max\n", "max\n"), Some(5000 << 10));
        assert_eq!(two("9000\n", "max\n"), Some(8500));
        assert_eq!(two("9000\n", "7000\n"), Some(5500));
        let one = [
            ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/1\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "3000"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 2000\n"),
        ];
        assert_eq!(system(&one), Some(3000));
    }

    #[test]
    fn what_others_take_is_not_this_process() {
        let all = FreeMemory { reserve: u64::MAX, first: 0 };
        assert_eq!(all.left(), f64::INFINITY);
        assert!(FreeMemory { reserve: 1, first: 0 }.left() > 1.0);
    }

    #[test]
    fn a_small_file_has_little_room() {
        let mut quota = Quota::packed(1000);
        quota.take(60 << 20).unwrap();
        assert!(quota.take(5 << 20).unwrap_err().contains("a file of 1 KiB"));
        assert!(Quota::packed(u64::MAX).take(u64::MAX).is_err() || available_memory().is_none());
    }
}
