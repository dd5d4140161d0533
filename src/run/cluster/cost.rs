//! A forecast of a submission and its cost, printed before it is made.

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
    /// Bytes of a task.
    pub memory: u64,
    /// Whether seconds are measured, on a clock that differs from machine to machine.
    pub timed: bool,
}

impl SubmissionCost {
    /// Estimated wall seconds of each task.
    fn wall(&self, job: &ClusterJob) -> impl Iterator<Item = f64> {
        let workers = job.workers() as f64;
        self.left.iter().map(move |runs| runs.iter().sum::<f64>() / workers)
    }

    /// Lines to print before the submission.
    pub fn text(&self, job: &ClusterJob) -> String {
        let (tasks, due) = (self.left.len(), self.left.iter().map(Vec::len).sum::<usize>());
        let (sum, longest) = (self.wall(job).sum::<f64>(), self.wall(job).fold(0.0, f64::max));
        let queued = if self.queued > 0 { format!(", {} in the queue", self.queued) } else { String::new() };
        let arrays = if self.arrays > 1 { format!(" in {} arrays", self.arrays) } else { String::new() };
        let at_once = job.at_once.map_or(String::new(), |count| format!(", {count} at once"));
        let partition = job.partition.as_ref().map_or(String::new(), |name| format!(", partition {name}"));
        let more = if job.jobs.is_none() && !job.isolated { " or less, where a node has more cores" } else { "" };
        // What a cluster counts: whole nodes, or cores.
        let (unit, of_task) = if job.exclusive { ("node", 1) } else { ("core", job.cores()) };
        let hours = |seconds: f64| format!("{:.1} {unit} hours", seconds * of_task as f64 / 3600.0);
        let most = match job.time {
            Some(limit) => format!(
                "{}: {tasks} × {}; no new run in the last {} s of a task",
                hours(limit * tasks as f64),
                duration(limit),
                job.lead_s()
            ),
            None => "the limit of the partition, because --time is not given".to_owned(),
        };
        format!(
            "{}: {} runs in {} shards, {} runs done; {tasks} shards to submit with {due} runs{queued}\n\
             tasks     {tasks}{arrays}{at_once}; {}{partition}\n\
             estimate  {}: {} of all tasks at --jobs {}{more}; the longest task {}, the longest run {}\n\
             at most   {most}\n\
             memory    about {} per task\n\
             then      one job that merges and makes figures and report, however the tasks end\n",
            job.name,
            self.runs,
            job.shards,
            self.done,
            job.node_share(),
            hours(sum),
            duration(sum),
            job.workers(),
            duration(longest),
            duration(job.longest_s),
            bytes(self.memory)
        )
    }

    /// Warnings about likely problems.
    pub fn warnings(&self, job: &ClusterJob) -> Vec<String> {
        let mut lines = Vec::new();
        if self.timed && !job.exclusive {
            lines.push(
                "warning: runs are timed, and without --exclusive other jobs of the node disturb them; for numbers to \
                 publish add --exclusive --isolated"
                    .to_owned(),
            );
        }
        let Some(limit) = job.time else { return lines };
        let (run, task, text) = (job.longest_s, self.wall(job).fold(0.0, f64::max), duration(limit));
        if run > limit {
            let needed = duration(run);
            lines.push(format!(
                "warning: the longest run takes about {needed}, more than the limit of {text}, so it can never finish; set a longer --time"
            ));
        } else if task > limit {
            let needed = duration(task);
            lines.push(format!(
                "note: the longest task needs about {needed}, more than the limit of {text}: it stops between two runs, and the \
                 same command submits the rest; more --shards make shorter tasks"
            ));
        }
        lines
    }
}
