//! Calls of SLURM's programs `sbatch`, `squeue` and `scontrol`, and parsers of their output.
//!
//! Versions of `squeue --json` differ in how they write numbers (`5`, or `{"set": true, "number": 5}`) and states
//! (`"RUNNING"`, or `["RUNNING", "COMPLETING"]`); all of them are read.

use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::jobs::{Jobs, numbers};
use crate::run::Error;

type Result<T> = std::result::Result<T, Error>;

/// MaxArraySize of SLURM where a site does not change it.
pub const DEFAULT_ARRAY_SIZE: usize = 1001;
/// Longest list of indices of one array: the system passes no longer word to a program than 128 KiB.
const LONGEST_LIST: usize = 60_000;

/// How long a program may take. A controller under load answers after a minute or two.
const PATIENCE: Duration = Duration::from_mins(5);
/// Most bytes that a program may print: `squeue --json` has about 4 kB for a task.
const MOST: u64 = 1 << 29;

/// Calls a program and returns what it prints; fails with its own message.
fn call(program: &'static str, arguments: &[&str]) -> Result<String> {
    call_within(program, arguments, PATIENCE)
}

fn call_within(program: &'static str, arguments: &[&str], patience: Duration) -> Result<String> {
    let mut command = Command::new(program);
    // The list of the indices of an array is cut after 64 characters otherwise.
    command.args(arguments).env("SLURM_BITSTR_LEN", "0").stdin(Stdio::null());
    let failed = |reason: std::io::Error| match reason.kind() {
        ErrorKind::NotFound => Error::NotInstalled { program },
        _ => Error::NotStarted { program, reason },
    };
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let (printed, complaints) = (child.stdout.take().map(reader), child.stderr.take().map(reader));
    let asked = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if asked.elapsed() >= patience => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Error::NoAnswer { program, seconds: patience.as_secs() });
            }
            None => sleep(Duration::from_millis(5)),
        }
    };
    let text = |reader: Option<JoinHandle<Vec<u8>>>| reader.and_then(|r| r.join().ok()).unwrap_or_default();
    let (printed, complaints) = (text(printed), text(complaints));
    if printed.len() as u64 > MOST {
        return Err(Error::TooMuch { program, mebibytes: MOST >> 20 });
    }
    if !status.success() {
        let reason = String::from_utf8_lossy(&complaints).trim().replace('\n', "; ");
        let reason = if reason.is_empty() { "it gave no reason".to_owned() } else { reason };
        return Err(Error::ProgramFailed { program, status, reason });
    }
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

/// Reads a pipe, up to one byte more than [`MOST`]. The pipe is then closed, so that further writes fail.
fn reader(pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(MOST + 1).read_to_end(&mut bytes);
        bytes
    })
}

/// Submits a script with these options and arguments; returns the job id.
pub fn submit(arguments: &[&str]) -> Result<u64> {
    job_id(&call("sbatch", &[&["--parsable"], arguments].concat())?)
}

/// The limit of array indices; fails when the cluster cannot be asked.
pub fn max_array_size() -> Result<usize> {
    Ok(array_size_in(&call("scontrol", &["show", "config"])?).unwrap_or(DEFAULT_ARRAY_SIZE))
}

/// The tasks of these jobs that the queue knows of. Arrays of an interrupted submission are added to the jobs.
pub fn queue(jobs: &mut Jobs) -> Result<Vec<QueueTask>> {
    let mut tasks = parse_queue(&call("squeue", &["--json", "--me", "--states=all"])?)?;
    jobs.adopt(&tasks);
    let ours = jobs.ids();
    tasks.retain(|task| ours.contains(&task.job));
    Ok(tasks)
}

/// The job id that `sbatch --parsable` prints: `123`, or `123;cluster`. Lines of a site's own filters may precede it.
fn job_id(printed: &str) -> Result<u64> {
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    last.split(';').next().and_then(|id| id.parse().ok()).ok_or_else(|| Error::NoJobId(last.to_owned()))
}

/// MaxArraySize in what `scontrol show config` prints.
fn array_size_in(config: &str) -> Option<usize> {
    let line = config.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize"))?;
    line.trim_start().strip_prefix('=')?.trim().parse().ok()
}

/// Shards (rising, from 1) as arrays: the offset of each, and its indices, rising from 1 and below `max_array_size`. Shard =
/// offset + index; an index is its shard where it can be.
pub fn arrays(shards: &[usize], max_array_size: usize) -> Result<Vec<(usize, Vec<usize>)>> {
    // Index 0 is not used.
    let most = max_array_size.saturating_sub(1);
    if most == 0 {
        return Err(Error::NoArrays(max_array_size));
    }
    let mut arrays: Vec<(usize, Vec<usize>)> = Vec::new();
    // As if no two indices made a range.
    let mut length = 0;
    for &shard in shards {
        let offset = (shard - 1) / most * most;
        let index = shard - offset;
        let digits = index.to_string().len() + 1;
        match arrays.last_mut() {
            Some((last, indices)) if *last == offset && length + digits <= LONGEST_LIST => indices.push(index),
            _ => {
                length = 0;
                arrays.push((offset, vec![index]));
            }
        }
        length += digits;
    }
    Ok(arrays)
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Ended,
    Pending,
    /// It has a node.
    Running,
}

/// A job, a task of an array, or those of its tasks that wait.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueTask {
    /// The same for all tasks of an array.
    pub job: u64,
    /// Indices in the array; `None` where the queue does not list them.
    pub indices: Option<Vec<usize>>,
    pub phase: Phase,
    /// The state as SLURM names it.
    pub state: String,
    /// The reason as SLURM names it; empty without one.
    pub reason: String,
    pub nodes: String,
    /// The comment that the submission gave it.
    pub comment: String,
    /// When its time limit ends it.
    pub ends_unix_s: Option<u64>,
}

/// Reads what `squeue --json` prints. Messages of plugins may precede it.
pub fn parse_queue(text: &str) -> Result<Vec<QueueTask>> {
    let json = text.find('{').map_or(text, |at| &text[at..]);
    let document: Value = serde_json::from_str(json).map_err(|error| Error::NoQueue(error.to_string()))?;
    let jobs = document.get("jobs").and_then(Value::as_array);
    let jobs = jobs.ok_or_else(|| Error::NoQueue("no list of jobs".to_owned()))?;
    Ok(jobs.iter().filter_map(queue_task).collect())
}

fn queue_task(job: &Value) -> Option<QueueTask> {
    let number = |key: &str| number(job.get(key)?);
    let word = |key: &str| match job.get(key).and_then(|value| words(value).into_iter().next()).unwrap_or_default() {
        "None" | "(null)" => String::new(),
        // One line of a table.
        text => text.replace(char::is_control, " "),
    };
    // No array has the number 0.
    let array = number("array_job_id").filter(|id| *id > 0);
    let indices = match number("array_task_id").filter(|_| array.is_some()) {
        Some(index) => Some(vec![index as usize]),
        None => Some(word("array_task_string")).filter(|list| !list.is_empty()).and_then(|list| numbers(&list)),
    };
    let states = words(job.get("job_state")?);
    let state = *states.iter().find(|word| phase(word).is_some()).or(states.first())?;
    Some(QueueTask {
        job: array.or(number("job_id"))?,
        indices,
        // An unknown state does not count as ended.
        phase: phase(state).unwrap_or(Phase::Running),
        state: state.to_owned(),
        reason: word("state_reason"),
        nodes: word("nodes"),
        comment: word("comment"),
        ends_unix_s: number("end_time").filter(|time| *time > 0),
    })
}

/// A number in any of its forms; `None` where it is not set.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Object(fields) => {
            let is = |key: &str, wanted: bool| fields.get(key).and_then(Value::as_bool) == Some(wanted);
            fields.get("number").filter(|_| !is("set", false) && !is("infinite", true)).and_then(number)
        }
        Value::String(text) => text.trim().parse().ok(),
        // SLURM's own marks for "none" and "infinite".
        other => other.as_u64().filter(|n| ![0xffff_fffe, 0xffff_ffff].contains(n)),
    }
}

fn words(value: &Value) -> Vec<&str> {
    match value {
        Value::String(word) => vec![word],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
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

#[cfg(test)]
mod tests {
    use super::super::jobs::ranges;
    use super::*;

    #[test]
    fn indices_stay_below_the_largest() {
        let all: Vec<usize> = (1..=25).collect();
        let lists = |shards: &[usize], size| -> Vec<(usize, String)> {
            arrays(shards, size).unwrap().iter().map(|(offset, indices)| (*offset, ranges(indices))).collect()
        };
        assert_eq!(lists(&all, 1001), [(0, "1-25".to_owned())]);
        assert_eq!(lists(&all, 26), [(0, "1-25".to_owned())]);
        assert_eq!(lists(&all, 25), [(0, "1-24".to_owned()), (24, "1".to_owned())]);
        assert_eq!(lists(&all, 11), [(0, "1-10".into()), (10, "1-10".into()), (20, "1-5".into())]);
        // What is missing, and nothing else.
        assert_eq!(lists(&[3, 4, 11, 23], 11), [(0, "3-4".into()), (10, "1".into()), (20, "3".into())]);
        assert!(arrays(&all, 0).is_err() && arrays(&all, 1).is_err());
        assert_eq!(arrays(&[], 11).unwrap(), []);
    }

    #[test]
    fn no_list_is_longer_than_a_word_may_be() {
        let odd: Vec<usize> = (1..=100_000).step_by(2).collect();
        let arrays = arrays(&odd, 4_000_001).unwrap();
        assert!(arrays.len() > 1);
        assert!(arrays.iter().all(|(_, indices)| ranges(indices).len() <= LONGEST_LIST));
        let back: Vec<usize> = arrays.iter().flat_map(|(o, indices)| indices.iter().map(move |i| o + i)).collect();
        assert_eq!(back, odd);
    }

    #[test]
    fn programs_that_hang_or_print_without_end_are_ended() {
        let short = Duration::from_millis(200);
        assert!(matches!(call_within("sleep", &["60"], short), Err(Error::NoAnswer { program: "sleep", .. })));
        assert!(matches!(call_within("yes", &[], PATIENCE), Err(Error::TooMuch { program: "yes", .. })));
        assert!(call_within("echo", &["5"], PATIENCE).is_ok_and(|printed| printed == "5\n"));
    }

    #[test]
    fn answers_of_the_cluster() {
        assert_eq!(job_id("123\n").ok(), Some(123));
        assert_eq!(job_id("note: welcome\n123;main\n").ok(), Some(123));
        assert!(job_id("").is_err() && job_id("Submitted batch job 5").is_err());
        assert_eq!(array_size_in("A = 1\nMaxArraySize            = 1001\nMaxB = 2\n"), Some(1001));
        assert_eq!(array_size_in("MaxArraySize = (null)"), None);
        assert_eq!(array_size_in(""), None);
    }
}
