//! Tests that may find nothing to run on: functions in, tests out that are shown as `ignored` with the reason, never as
//! passed. A target of such tests has `harness = false` in Cargo.toml, each file of it ends with `crate::trials![one, other];`.

use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use nix::sys::signal::Signal;
use ssvm_bench::{Catalog, DataDir, Harness};

/// Why a test did not run.
#[derive(Debug)]
pub struct Skipped(pub String);

/// How a test may end when it does not panic: it ran, or it found nothing to run on.
pub trait Ending {
    /// What the summary shows.
    fn completion(self) -> Completion;
}

impl Ending for () {
    fn completion(self) -> Completion {
        Completion::Completed
    }
}

impl Ending for Result<(), Skipped> {
    fn completion(self) -> Completion {
        match self {
            Ok(()) => Completion::Completed,
            Err(Skipped(reason)) => Completion::ignored_with(reason),
        }
    }
}

/// One test, named as the usual ones are: by its path below the root of the target.
pub fn trial<E: Ending + 'static>(path: &str, test: fn() -> E) -> Trial {
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    Trial::ignorable_test(name, move || Ok::<_, Failed>(test().completion()))
}

/// The main function of a target.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The function that lists the tests of a file.
#[macro_export]
macro_rules! trials {
    ($($test:ident),+ $(,)?) => {
        /// Every test of this file.
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$($crate::common::trials::trial(concat!(module_path!(), "::", stringify!($test)), $test)),+]
        }
    };
}

/// The folder of `$SSVM_DATA`, when this official set is in it.
pub fn official(set: &str) -> Result<DataDir, Skipped> {
    let Some(folder) = std::env::var_os("SSVM_DATA").filter(|folder| !folder.is_empty()) else {
        return Err(Skipped(format!("needs the official data set {set}: set SSVM_DATA")));
    };
    let data = DataDir::resolve(Some(folder.as_ref()));
    let known = Harness::standard().datasets().iter().find(|info| info.name == set).and_then(|info| info.known);
    match data.locate(known.unwrap_or_else(|| panic!("{set} is not an official data set"))) {
        Some(_) => Ok(data),
        None => Err(Skipped(format!("needs the official data set {set}, which is not in {}", data.path.display()))),
    }
}

/// Whether a program that is started here hears this signal. What a shell starts with `&` ignores Ctrl-C, what `nohup`
/// starts a closed terminal, and this program keeps that.
pub fn heard(signal: Signal) -> Result<(), Skipped> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    match ignored {
        None => Err(Skipped("needs signals and /proc/self/status".into())),
        Some(mask) if mask >> (signal as i32 - 1) & 1 == 1 => {
            Err(Skipped(format!("{signal} is ignored where the tests run, as under nohup or behind &")))
        }
        Some(_) => Ok(()),
    }
}

/// The first of these programs that answers `--version`.
pub fn program(names: &[&str]) -> Result<String, Skipped> {
    let answers = |name: &&&str| {
        let mut command = Command::new(name);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = names.iter().find(answers).map(|name| (*name).to_owned());
    found.ok_or_else(|| Skipped(format!("needs one of these programs: {}", names.join(", "))))
}

/// Makes a named pipe.
pub fn named_pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo {}", path.display());
}
