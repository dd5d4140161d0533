//! What a submission will do and what it will cost, in words: shown before it is done.

use super::{Job, sbatch};
use crate::text::{bytes, duration};

/// What is known before anything is submitted.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// Runs of all shards.
    pub runs: usize,
    /// Of these, done.
    pub done: usize,
    /// Runs of the shards that are to be submitted, and not done.
    pub due_runs: usize,
    /// Estimated seconds of these by shard, one run after the other; only shards that are to be submitted.
    pub seconds: Vec<f64>,
    /// Shards that are in the queue already.
    pub queued: usize,
    /// Calls of `sbatch`.
    pub arrays: usize,
    /// Runs of a task at the same time.
    pub workers: usize,
    /// Bytes of a task.
    pub memory: u64,
    /// Whether seconds are measured, on a clock that differs from machine to machine.
    pub timed: bool,
}

/// Lines for people, before the submission.
pub fn text(job: &Job, cost: &Cost) -> String {
    let tasks = cost.seconds.len();
    let wall: Vec<f64> = cost.seconds.iter().map(|seconds| seconds / cost.workers.max(1) as f64).collect();
    let (sum, longest) = (wall.iter().sum::<f64>(), wall.iter().copied().fold(0.0, f64::max));
    let queued = if cost.queued > 0 { format!(", {} in the queue", cost.queued) } else { String::new() };
    let mut text = format!(
        "{}: {} runs in {} shards, {} runs done; {tasks} shards to submit with {} runs{queued}\n",
        job.name, cost.runs, job.shards, cost.done, cost.due_runs
    );
    let arrays = if cost.arrays > 1 { format!(" in {} arrays", cost.arrays) } else { String::new() };
    let at_once = job.at_once.map_or(String::new(), |count| format!(", {count} at once"));
    let place = match (job.exclusive, job.cores()) {
        (true, _) => "whole nodes".to_owned(),
        (false, 1) => "1 core each".to_owned(),
        (false, cores) => format!("{cores} cores each"),
    };
    let partition = job.partition.as_ref().map_or(String::new(), |name| format!(" of partition {name}"));
    text += &format!("tasks     {tasks}{arrays}{at_once}; {place}{partition}\n");
    let workers = match (job.jobs, cost.workers) {
        (None, _) if !job.isolated => "1 worker (less time where a node has more cores)".to_owned(),
        (_, 1) => "1 worker".to_owned(),
        (_, count) => format!("{count} workers"),
    };
    // What a cluster counts: whole nodes, or cores.
    let (unit, of_task) = if job.exclusive { ("node", 1) } else { ("core", job.cores()) };
    let hours = |seconds: f64| format!("{:.1} {unit} hours", seconds * of_task as f64 / 3600.0);
    text += &format!(
        "estimate  {}: {} of all tasks, with {} each; the longest task {}, the longest run {}\n",
        hours(sum),
        duration(sum),
        workers,
        duration(longest),
        duration(job.longest)
    );
    text += &match &job.time {
        Some(limit) => {
            let most = hours(limit.seconds * tasks as f64);
            let lead = sbatch::lead(job);
            format!("at most   {most}: {tasks} × --time {}; no new run in the last {lead} s of a task\n", limit.text)
        }
        None => "at most   what the partition allows: no --time is given\n".to_owned(),
    };
    text += &format!("memory    about {} per task\n", bytes(cost.memory));
    text += "then      one job that merges and makes figures and report, however the tasks end\n";
    text
}

/// What is likely to go wrong.
pub fn warnings(job: &Job, cost: &Cost) -> Vec<String> {
    let mut lines = Vec::new();
    if cost.timed && !job.exclusive {
        lines.push(
            "warning: runs are timed, and without --exclusive other jobs of the node disturb them; for numbers to publish \
             add --exclusive --isolated"
                .to_owned(),
        );
    }
    let Some(limit) = &job.time else { return lines };
    let longest = cost.seconds.iter().copied().fold(0.0, f64::max) / cost.workers.max(1) as f64;
    if job.longest > limit.seconds {
        lines.push(format!(
            "warning: the longest run takes about {}, more than --time {}: it would never end; give more time",
            duration(job.longest),
            limit.text
        ));
    } else if longest > limit.seconds {
        lines.push(format!(
            "note: the longest task needs about {}, more than --time {}: it stops between two runs, and the same command \
             submits the rest; more --shards make shorter tasks",
            duration(longest),
            limit.text
        ));
    }
    lines
}
