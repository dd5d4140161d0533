//! Fuzz tests of the readers of external bytes, in process and on stable Rust: for every target, inputs that a generator makes
//! from its grammar, the same with a few bytes changed, and changed copies of good files.
//!
//! A short run is part of every test run. `SSVM_FUZZ_SECONDS` makes it a long one (`scripts/fuzz.sh MINUTES`). An input
//! that panics, takes longer than a second or more than 256 MiB is kept in `target/fuzz/` and fails the run. A target of its
//! own: the peak of memory belongs to the process.

#[path = "../common/mod.rs"]
mod common;
mod dice;
mod formats;
mod results;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dice::{Dice, mutate};
use libtest_mimic::{Arguments, Failed, Trial};
use ssvm_bench::store::panics;

/// Longest time to read a small file.
pub const SLOW: Duration = Duration::from_secs(1);
/// Most memory of the process above what it had before a target, bytes.
const LARGE: u64 = 256 << 20;
/// Executions between two looks at the memory.
const LOOK: u64 = 64;
/// Executions of a short run.
const SHORT: u64 = 300;

/// A reader of outside bytes.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Good inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// An input made from the grammar.
    pub make: fn(&mut Dice) -> Vec<u8>,
    /// What is put right after bytes were changed, such as checksums.
    pub mend: fn(Vec<u8>) -> Vec<u8>,
    /// Reads it; whether it was accepted. May use the folder.
    pub read: fn(&Path, &[u8]) -> bool,
    /// How many of the usual executions a short run makes of it, per cent.
    pub share: u64,
    /// Longest time of one execution.
    pub patience: Duration,
}

impl Target {
    /// Reads nothing; targets say what is different.
    pub const PLAIN: Self = Self {
        name: "",
        seeds: Vec::new,
        make: |_| Vec::new(),
        mend: |bytes| bytes,
        read: |_, _| false,
        share: 100,
        patience: SLOW,
    };
}

/// The input as a file.
pub fn written(dir: &Path, bytes: &[u8]) -> PathBuf {
    let path = dir.join("input");
    fs::write(&path, bytes).unwrap();
    path
}

/// A file of the repository.
pub fn root(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// What was run.
#[derive(Default)]
struct Count {
    executions: u64,
    accepted: u64,
    slowest: Duration,
    peak: u64,
    found: Vec<String>,
}

fn status(key: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Resets the peak, where the system can do that.
fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn keep(target: &Target, why: &str, input: &[u8]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    let name = format!("{}-{}", target.name, &ssvm_bench::store::files::sha256_hex(input)[..12]);
    let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(&name), input));
    format!("{}: {why}: target/fuzz/{name} ({} bytes)", target.name, input.len())
}

fn fuzz(target: &Target, seconds: Option<f64>, seed: u64) -> Count {
    let shared = Path::new("/dev/shm");
    let dir = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap();
    let seeds = (target.seeds)();
    let mut dice = Dice::new(seed);
    let mut count = Count::default();
    let began = Instant::now();
    let mut last: Vec<Vec<u8>> = Vec::new();
    forget_peak();
    let before = status("VmRSS:");
    loop {
        let over = match seconds {
            Some(seconds) => began.elapsed().as_secs_f64() >= seconds,
            None => count.executions >= SHORT * target.share / 100,
        };
        if over || count.found.len() > 20 {
            break;
        }
        let which = dice.below(seeds.len());
        let input = match dice.below(4) {
            0 => (target.make)(&mut dice),
            1 => (target.mend)(mutate(&mut dice, (target.make)(&mut Dice::new(seed ^ count.executions)))),
            2 if !seeds.is_empty() => (target.mend)(mutate(&mut dice, seeds[which].clone())),
            _ => (target.mend)(mutate(&mut dice, (target.make)(&mut Dice::new(count.executions)))),
        };
        let started = Instant::now();
        let result = panics::catch(|| (target.read)(dir.path(), &input));
        let took = started.elapsed();
        count.executions += 1;
        count.slowest = count.slowest.max(took);
        match result {
            Ok(accepted) => count.accepted += u64::from(accepted),
            Err(panic) => count.found.push(keep(target, &format!("panic: {panic}"), &input)),
        }
        if took > target.patience && seconds.is_some() {
            // Another process may have had the core: it must be slow every time.
            let slow = |_| {
                let again = Instant::now();
                let _ = panics::catch(|| (target.read)(dir.path(), &input));
                again.elapsed() > target.patience
            };
            if (0..4).all(slow) {
                count.found.push(keep(target, &format!("{took:?}"), &input));
            }
        }
        last.push(input);
        if count.executions.is_multiple_of(LOOK) {
            let peak = status("VmHWM:").saturating_sub(before);
            count.peak = count.peak.max(peak);
            if peak > LARGE {
                for input in &last {
                    forget_peak();
                    let before = status("VmRSS:");
                    let _ = panics::catch(|| (target.read)(dir.path(), input));
                    let taken = status("VmHWM:").saturating_sub(before);
                    if taken > LARGE {
                        count.found.push(keep(target, &format!("{} MiB", taken >> 20), input));
                    }
                }
                forget_peak();
            }
            last.clear();
        }
    }
    count
}

/// A kept input again: `SSVM_FUZZ_INPUT=target/fuzz/NAME-… cargo test --test fuzz NAME`.
fn replay(target: &Target) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("SSVM_FUZZ_INPUT")?);
    let input = fs::read(&path).ok()?;
    let dir = tempfile::tempdir().ok()?;
    let accepted = (target.read)(dir.path(), &input);
    eprintln!("{}: accepted {accepted}", path.display());
    Some(path)
}

fn main() -> ExitCode {
    let seconds: Option<f64> = std::env::var("SSVM_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let targets: Vec<Target> =
        [texts::targets(), formats::targets(), results::targets()].into_iter().flatten().collect();
    let each = seconds.map(|seconds| seconds / targets.len() as f64);
    // Another seed for every long run, the same for every short one.
    let seed = match each {
        Some(_) => std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_nanos() as u64),
        None => 1,
    };
    let trial = |target: Target| {
        Trial::test(target.name, move || {
            if replay(&target).is_some() {
                return Ok(());
            }
            let Count { executions, accepted, slowest, peak, found } = fuzz(&target, each, seed);
            if each.is_some() {
                println!(
                    "{:<12} {executions:>9} executions, {accepted:>9} accepted, slowest {:>6.1} ms, at most {:>3} MiB more, \
                     {} found",
                    target.name,
                    slowest.as_secs_f64() * 1e3,
                    peak >> 20,
                    found.len()
                );
            }
            if found.is_empty() { Ok(()) } else { Err(Failed::from(found.join("\n"))) }
        })
    };
    let mut arguments = Arguments::from_args();
    // Peaks of memory belong to the process: one target at a time.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, targets.into_iter().map(trial).collect()).exit_code()
}
