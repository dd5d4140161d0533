//! What `squeue --json` prints → tasks. Versions differ in how they write numbers (`5`, or `{"set": true, "number": 5}`)
//! and states (`"RUNNING"`, or `["RUNNING", "COMPLETING"]`); all of them are read.

use serde_json::Value;

use super::ranges;
use crate::error::{Error, Result};

/// Whether something will still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It is over.
    Ended,
    /// Waits.
    Pending,
    /// Has a node.
    Running,
}

/// A job, a task of an array, or those of its tasks that wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Id of the job, the same for all tasks of an array.
    pub job: u64,
    /// Indices in the array. None where it is no array, or where the list was cut: then it is about all that no other
    /// entry is about.
    pub indices: Option<Vec<usize>>,
    /// What will happen to it.
    pub phase: Phase,
    /// The state in SLURM's word.
    pub state: String,
    /// Why it is so, in SLURM's word; empty for no reason.
    pub reason: String,
    /// Its nodes.
    pub nodes: String,
    /// Unix time at which it will have ended, by its time limit.
    pub ends_unix_s: Option<u64>,
}

/// Reads it.
pub fn parse(text: &str) -> Result<Vec<Task>> {
    // Words of plugins may stand before it.
    let json = text.find('{').map_or(text, |at| &text[at..]);
    let odd = |why: &str| Error::invalid(format!("squeue --json printed something else than JSON with jobs ({why})"));
    let document: Value = serde_json::from_str(json).map_err(|error| odd(&error.to_string()))?;
    let jobs = document.get("jobs").and_then(Value::as_array).ok_or_else(|| odd("no list of jobs"))?;
    Ok(jobs.iter().filter_map(task).collect())
}

fn task(job: &Value) -> Option<Task> {
    let number = |key: &str| number(job.get(key)?);
    // No array has the number 0.
    let array = number("array_job_id").filter(|id| *id > 0);
    let indices = match number("array_task_id") {
        Some(index) if array.is_some() => Some(vec![index as usize]),
        _ => job
            .get("array_task_string")
            .and_then(Value::as_str)
            .filter(|list| !list.is_empty())
            .and_then(ranges::numbers),
    };
    let states = words(job.get("job_state")?);
    let state = states.iter().find(|word| phase(word).is_some()).or(states.first())?.clone();
    let word = |key: &str| job.get(key).map(words).and_then(|words| words.into_iter().next()).unwrap_or_default();
    let said = |text: String| match text.as_str() {
        "None" | "(null)" => String::new(),
        // One line of a table.
        text => text.split(char::is_control).collect::<Vec<_>>().join(" "),
    };
    Some(Task {
        job: array.or(number("job_id"))?,
        indices,
        // A word that is not known here is not taken for the end.
        phase: phase(&state).unwrap_or(Phase::Running),
        state,
        reason: said(word("state_reason")),
        nodes: said(word("nodes")),
        ends_unix_s: number("end_time").filter(|time| *time > 0),
    })
}

/// A number in any of its forms; none where it is not set.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Object(fields) => {
            let is = |key: &str| fields.get(key).and_then(Value::as_bool);
            let there = is("set") != Some(false) && is("infinite") != Some(true);
            fields.get("number").filter(|_| there).and_then(number)
        }
        Value::String(text) => text.trim().parse().ok(),
        // SLURM's own marks for "none" and "infinite".
        other => other.as_u64().filter(|n| ![0xffff_fffe, 0xffff_ffff].contains(n)),
    }
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(word) => vec![word.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn phase(state: &str) -> Option<Phase> {
    Some(match state {
        "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => Phase::Pending,
        "RUNNING" | "SUSPENDED" | "CONFIGURING" | "COMPLETING" | "SIGNALING" | "STAGE_OUT" | "STOPPED" | "RESIZING" => {
            Phase::Running
        }
        "COMPLETED" | "FAILED" | "TIMEOUT" | "CANCELLED" | "NODE_FAIL" | "OUT_OF_MEMORY" | "PREEMPTED"
        | "BOOT_FAIL" | "DEADLINE" | "REVOKED" | "LAUNCH_FAILED" | "RECONFIG_FAIL" => Phase::Ended,
        _ => return None,
    })
}
