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
    /// Estimated seconds of the other runs of each shard to submit.
    pub left: Vec<Vec<f64>>,
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
    /// Estimated wall seconds of each task.
    fn wall(&self) -> impl Iterator<Item = f64> {
        self.left.iter().map(|runs| runs.iter().sum::<f64>() / self.workers.max(1) as f64)
    }

    /// Lines to print before the submission.
    pub fn text(&self, job: &ClusterJob) -> String {
        let (tasks, due) = (self.left.len(), self.left.iter().map(Vec::len).sum::<usize>());
        let (sum, longest) = (self.wall().sum::<f64>(), self.wall().fold(0.0, f64::max));
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
            "{}: {} runs in {} shards, {} runs done; {tasks} shards to submit with {due} runs{queued}\n\
             tasks     {tasks}{arrays}{at_once}; {place}{partition}\n\
             estimate  {}: {} of all tasks, with {workers} each; the longest task {}, the longest run {}\n\
             at most   {most}\n\
             memory    about {} per task\n\
             then      one job that merges and makes figures and report, however the tasks end\n",
            job.name,
            self.runs,
            job.shards,
            self.done,
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
        let (run, task, text) = (job.longest_s, self.wall().fold(0.0, f64::max), &limit.text);
        if run > limit.seconds {
            let needed = duration(run);
            lines.push(format!(
                "warning: the longest run takes about {needed}, more than --time {text}: it would never end; give more time"
            ));
        } else if task > limit.seconds {
            let needed = duration(task);
            lines.push(format!(
                "note: the longest task needs about {needed}, more than --time {text}: it stops between two runs, and the \
                 same command submits the rest; more --shards make shorter tasks"
            ));
        }
        lines
    }
}
