//! Facts of the machine and of this build, cores to pin to, and steal and load during a run. Reads `/proc` and `/sys`; a fact that cannot
//! be read is empty or zero, never an error.

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use super::cluster::jobs::numbers;
use crate::dataset::memory::kib_in;
use crate::store::identity::CODE_VERSION;
use crate::store::manifest::{Code, Host};

/// The source and the compiler of this program.
pub fn code() -> Code {
    Code {
        version: CODE_VERSION.to_owned(),
        commit: env!("SSVM_COMMIT").to_owned(),
        rustc: env!("SSVM_RUSTC").to_owned(),
        flags: ssvm::BUILD_FLAGS.to_owned(),
    }
}

/// The facts of this machine, read once.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(ask)
}

fn ask() -> Host {
    let cpuinfo = read("/proc/cpuinfo");
    let cpu = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    let kernel = read("/proc/sys/kernel/osrelease");
    Host {
        name: read("/proc/sys/kernel/hostname"),
        cpu: cpu.unwrap_or_default().to_owned(),
        cores: core_count() as u64,
        threads_per_core: siblings(0).len().max(1) as u64,
        memory: kib_in("/proc/meminfo", "MemTotal:"),
        os: format!("{} {kernel}", std::env::consts::OS).trim().to_owned(),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        features: cpu_features(),
        caches: caches(),
    }
}

/// The caches of the first core.
fn caches() -> String {
    let cache = |index: usize| {
        let read = |what: &str| read(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}"));
        let kind = match read("type").as_str() {
            "Data" => "d",
            "Instruction" => "i",
            "" => return None,
            _ => "",
        };
        Some(format!("L{}{kind} {}", read("level"), read("size")))
    };
    (0..8).map_while(cache).collect::<Vec<_>>().join(", ")
}

/// Features of the CPU that programs choose their code by, in the words of the system; empty when unknown.
pub fn cpu_features() -> String {
    const CHOSEN_BY: [&str; 14] = [
        "adx", "asimd", "avx", "avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "bmi1", "bmi2", "erms", "fma",
        "popcnt", "sve",
    ];
    let cpuinfo = read("/proc/cpuinfo");
    let line = |line: &str| {
        let (key, words) = line.split_once(':')?;
        matches!(key.trim(), "flags" | "Features").then(|| words.to_owned())
    };
    let words = cpuinfo.lines().find_map(line).unwrap_or_default();
    let there: BTreeSet<&str> = words.split_whitespace().filter(|word| CHOSEN_BY.contains(word)).collect();
    there.into_iter().collect::<Vec<_>>().join(" ")
}

/// Cores this process may use.
pub fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// Cores to pin workers to, best first: one thread of every physical core before any second thread of one.
pub fn cores() -> Vec<usize> {
    let allowed: Vec<usize> =
        core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|core| core.id).collect();
    let mut seen = BTreeSet::new();
    let (first, second): (Vec<usize>, Vec<usize>) = allowed.into_iter().partition(|&core| {
        let fresh = !seen.contains(&core);
        seen.extend(siblings(core));
        fresh
    });
    [first, second].concat()
}

/// Pins the calling thread; returns whether that succeeded.
pub fn pin(core: usize) -> bool {
    core_affinity::set_for_current(core_affinity::CoreId { id: core })
}

/// Largest memory this process has had, bytes; 0 when unknown.
pub fn peak_memory() -> u64 {
    kib_in("/proc/self/status", "VmHWM:")
}

/// One-minute load average; 0 when unknown.
pub fn load() -> f64 {
    read("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Unix time in seconds.
pub fn unix_time() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Time that the hypervisor took from a core (or, unpinned, from an average core) since the meter started.
#[derive(Debug)]
pub struct StealMeter {
    core: Option<usize>,
    ticks: u64,
    started: Instant,
}

impl StealMeter {
    /// Starts the meter.
    pub fn start(core: Option<usize>) -> Self {
        Self { core, ticks: steal_ticks(core), started: Instant::now() }
    }

    /// Stolen fraction of the wall time so far.
    pub fn fraction(&self) -> f64 {
        // USER_HZ, in which /proc/stat counts, is 100 on every Linux this runs on.
        let stolen = steal_ticks(self.core).saturating_sub(self.ticks) as f64 / 100.0;
        let cores = if self.core.is_some() { 1 } else { core_count() };
        (stolen / cores as f64 / self.started.elapsed().as_secs_f64().max(0.01)).min(1.0)
    }
}

fn steal_ticks(core: Option<usize>) -> u64 {
    let label = core.map_or("cpu".to_owned(), |core| format!("cpu{core}"));
    let stat = read("/proc/stat");
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(&label));
    line.and_then(|line| line.split_whitespace().nth(8)?.parse().ok()).unwrap_or(0)
}

/// The hardware threads of a core's physical core, itself included; lists look like `0,4` or `0-1`.
fn siblings(core: usize) -> Vec<usize> {
    let list = read(&format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list"));
    numbers(&list).unwrap_or_default()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_distinct_and_pinnable() {
        let cores = cores();
        assert_eq!(cores.iter().collect::<BTreeSet<_>>().len(), cores.len());
        if let Some(&core) = cores.last() {
            let pinned = std::thread::spawn(move || (pin(core), self::cores())).join().unwrap();
            assert_eq!(pinned, (true, vec![core]));
        }
        assert_eq!(numbers("0-2,8"), Some(vec![0, 1, 2, 8]));
        assert_eq!(numbers(""), Some(vec![]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_facts_are_found() {
        let host = host();
        assert!(host.cores >= 1 && host.memory > 1 << 20 && host.os.starts_with("linux "), "{host:?}");
        assert!(crate::dataset::memory::available_memory().is_some_and(|bytes| bytes <= host.memory));
        assert!((0.0..=1.0).contains(&StealMeter::start(None).fraction()));
    }
}
