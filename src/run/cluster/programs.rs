//! Calls of the cluster's own programs: arguments in, what they print out, and errors that say what to do.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use super::squeue::{self, Task};
use super::{jobs::Jobs, sbatch};
use crate::error::{Error, Result};

/// What a program prints; an error with its own words when it fails.
fn call(program: &str, arguments: &[String]) -> Result<String> {
    let mut command = Command::new(program);
    // The list of the indices of an array is cut after 64 characters otherwise.
    command.args(arguments).env("SLURM_BITSTR_LEN", "0").stdin(Stdio::null());
    let output = command.output().map_err(|reason| match reason.kind() {
        ErrorKind::NotFound => Error::invalid(format!(
            "{program} is not installed here: call this on a login node of the cluster; `plan --emit hq` and `--emit \
             parallel` make scripts for other engines"
        )),
        _ => Error::invalid(format!("cannot start {program}: {reason}")),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        let said = if said.is_empty() { "it gave no reason".to_owned() } else { said };
        return Err(Error::invalid(format!("{program} failed ({}): {said}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Submits a script: the job id.
pub fn submit(arguments: &[String]) -> Result<u64> {
    let parsable = std::iter::once("--parsable".to_owned());
    sbatch::job_id(&call("sbatch", &parsable.chain(arguments.iter().cloned()).collect::<Vec<_>>())?)
}

/// Indices of an array are below this; an error when the cluster cannot be asked.
pub fn max_array_size() -> Result<usize> {
    let config = call("scontrol", &["show".to_owned(), "config".to_owned()])?;
    // The default of SLURM.
    Ok(sbatch::max_array_size(&config).unwrap_or(1001))
}

/// The tasks of these jobs that the queue knows of.
pub fn queue(jobs: &Jobs) -> Result<Vec<Task>> {
    let printed = call("squeue", &["--json", "--me", "--states=all"].map(str::to_owned))?;
    let ours = jobs.ids();
    Ok(squeue::parse(&printed)?.into_iter().filter(|task| ours.contains(&task.job)).collect())
}
