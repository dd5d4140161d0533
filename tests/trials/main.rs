//! Tests that may find nothing to run on: official data, a browser, other readers, namespaces, signals, limits of memory.
//! What cannot run here is ignored and says what it needs.

#[path = "../common/mod.rs"]
mod common;

mod cluster;
mod hardening;
mod kill;
mod limits;
mod official;
mod optima;
mod outputs;
mod report;
mod scripts;
mod store;

use std::process::ExitCode;

use common::trials;

fn main() -> ExitCode {
    if let Some(code) = limits::program() {
        return code;
    }
    // The longest first.
    let files = [
        limits::trials(),
        kill::trials(),
        official::trials(),
        hardening::trials(),
        report::trials(),
        cluster::trials(),
        outputs::trials(),
        optima::trials(),
        store::trials(),
        scripts::trials(),
    ];
    trials::run(files.into_iter().flatten().collect())
}
