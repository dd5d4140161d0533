//! What a submission will do and what it will cost: printed before it is done.

use super::ClusterJob;
use crate::text::{bytes, duration};

/// What is known before anything is submitted.
#[derive(Clone, Debug, Default)]
pub struct SubmissionCost {
    /// Runs of all shards.
    pub runs: usize,
    /// Runs among them that are done.
    pub done: usize,
    /// Runs of the shards to submit that are not done.
    pub due_runs: usize,
    /// Their estimated seconds by shard, one run after the other.
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

impl SubmissionCost {
    /// Estimated wall seconds of all tasks, and of the longest one.
    fn wall(&self) -> (f64, f64) {
        let wall = self.seconds.iter().map(|seconds| seconds / self.workers.max(1) as f64);
        wall.fold((0.0, 0.0), |(sum, longest), seconds| (sum + seconds, f64::max(longest, seconds)))
    }

    /// Lines to print before the submission.
    pub fn text(&self, job: &ClusterJob) -> String {
        let tasks = self.seconds.len();
        let (sum, longest) = self.wall();
        let queued = if self.queued > 0 { format!(", {} in the queue", self.queued) } else { String::new() };
        let arrays = if self.arrays > 1 { format!(" in {} arrays", self.arrays) } else { String::new() };
        let at_once = job.at_once.map_or(String::new(), |count| format!(", {count} at once"));
        let place = match (job.exclusive, job.cores()) {
            (true, _) => "whole nodes".to_owned(),
            (false, 1) => "1 core each".to_owned(),
            (false, cores) => format!("{cores} cores each"),
        };
        let partition = job.partition.as_ref().map_or(String::new(), |name| format!(" of partition {name}"));
        let workers = match (job.jobs, self.workers) {
            (None, _) if !job.isolated => "1 worker (less time where a node has more cores)".to_owned(),
            (_, 1) => "1 worker".to_owned(),
            (_, count) => format!("{count} workers"),
        };
        // What a cluster counts: whole nodes, or cores.
        let (unit, of_task) = if job.exclusive { ("node", 1) } else { ("core", job.cores()) };
        let hours = |seconds: f64| format!("{:.1} {unit} hours", seconds * of_task as f64 / 3600.0);
        let most = match &job.time {
            Some(limit) => format!(
                "{}: {tasks} × --time {}; no new run in the last {} s of a task",
                hours(limit.seconds * tasks as f64),
                limit.text,
                job.lead_s()
            ),
            None => "what the partition allows: no --time is given".to_owned(),
        };
        format!(
            "{}: {} runs in {} shards, {} runs done; {tasks} shards to submit with {} runs{queued}\n\
             tasks     {tasks}{arrays}{at_once}; {place}{partition}\n\
             estimate  {}: {} of all tasks, with {workers} each; the longest task {}, the longest run {}\n\
             at most   {most}\n\
             memory    about {} per task\n\
             then      one job that merges and makes figures and report, however the tasks end\n",
            job.name,
            self.runs,
            job.shards,
            self.done,
            self.due_runs,
            hours(sum),
            duration(sum),
            duration(longest),
            duration(job.longest_s),
            bytes(self.memory)
        )
    }

    /// What is likely to go wrong.
    pub fn warnings(&self, job: &ClusterJob) -> Vec<String> {
        let mut lines = Vec::new();
        if self.timed && !job.exclusive {
            lines.push(
                "warning: runs are timed, and without --exclusive other jobs of the node disturb them; for numbers to \
                 publish add --exclusive --isolated"
                    .to_owned(),
            );
        }
        let Some(limit) = &job.time else { return lines };
        let (_, longest) = self.wall();
        if job.longest_s > limit.seconds {
            lines.push(format!(
                "warning: the longest run takes about {}, more than --time {}: it would never end; give more time",
                duration(job.longest_s),
                limit.text
            ));
        } else if longest > limit.seconds {
            lines.push(format!(
                "note: the longest task needs about {}, more than --time {}: it stops between two runs, and the same \
                 command submits the rest; more --shards make shorter tasks",
                duration(longest),
                limit.text
            ));
        }
        lines
    }
}
