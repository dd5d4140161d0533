//! Short pieces of solver work for timing and for counting instructions: a workload in, the arguments of a `solve`
//! and what it did out.
//!
//! They run under the virtual clock: the slope rule then takes the same decisions whatever the machine does, so two
//! builds of one algorithm do the same work and their CPU times can be divided.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use super::CellKey;
use crate::error::{Error, Result};
use crate::gate;

/// One `solve`.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub cell: CellKey,
    pub iterations: u64,
    /// Approximate passes per iteration; the slope rule when absent.
    pub passes: Option<u32>,
}

/// What a `solve` did, from its summary.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct WorkDone {
    /// Of solver work.
    pub cpu_s: f64,
    pub oracle_calls: u64,
    pub approx_steps: u64,
}

/// Workloads that cover every oracle and every kind of plane product, with and without an average, and an expansion that starts from
/// kept planes. Each spends 5 to 30 ms in one hot loop.
pub fn standard() -> Vec<Workload> {
    let work = |dataset: &str, solver: &str, iterations, passes| Workload {
        cell: CellKey::new(dataset, solver),
        iterations,
        passes,
    };
    vec![
        work("usps-synth:n=300", "bcfw", 60, None),
        work("usps-synth:n=300", "mp-bcfw", 10, Some(15)),
        work("ocr-synth:n=100", "bcfw", 40, None),
        work("ocr-synth:n=100", "mp-bcfw", 10, Some(15)),
        work("ocr-synth:n=100", "bcfw-avg", 40, None),
        work("ocr-synth:n=100", "mp-bcfw-avg", 10, Some(15)),
        work("horseseg-synth:n=10", "bcfw", 15, None),
        work("horseseg-synth:n=10", "mp-bcfw", 10, Some(200)),
        work("stanford-synth:n=4", "bcfw", 6, None),
        work("stanford-synth:n=4", "mp-bcfw", 6, Some(5)),
    ]
}

impl Workload {
    /// The arguments of `ssvm-bench`; evaluation only at the end.
    pub fn arguments(&self) -> Vec<String> {
        let Self { cell: CellKey { dataset, solver, .. }, iterations, passes } = self;
        let mut arguments: Vec<String> = ["solve", "--clock", "virtual", "--format", "json"].map(str::to_owned).into();
        let mut add = |option: &str, value: &dyn ToString| arguments.extend([option.to_owned(), value.to_string()]);
        add("--dataset", dataset);
        add("--solver", &solver.name);
        add("--iterations", iterations);
        add("--evaluate", &format!("at:{iterations}"));
        if let Some(passes) = passes {
            add("--set", &format!("passes={passes}"));
        }
        arguments
    }

    /// Runs the workload with a build of this program, with these options before its own; its summary is the last line
    /// of `solve --format json`.
    pub fn run(&self, program: &Path, options: &[OsString]) -> Result<WorkDone> {
        let mut command = Command::new(program);
        // Its message becomes part of an error, which is wrapped once.
        command.env("COLUMNS", "10000");
        command.args(options).args(self.arguments());
        let text = output(command, program)?;
        let line = text.lines().last().unwrap_or_default();
        serde_json::from_str(line)
            .map_err(|reason| Error::file(program, gate::Error::NoSummary { reason, line: line.to_owned() }))
    }
}

/// Runs a command; its standard output, or an error with what it wrote.
pub fn output(mut command: Command, program: &Path) -> Result<String> {
    let output = command.output().map_err(Error::io("start", program))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        return Err(Error::file(program, gate::Error::Solve { status: output.status, message: last.to_owned() }));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
