//! The id file, the result folder and the queue → the state of every shard, and a table of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::jobs::{Jobs, numbers, ranges};
use super::slurm::{Phase, QueueTask};
use crate::error::Result;
use crate::store::RunRecord;
use crate::table::Kind::{Text, Values};
use crate::table::{Table, cells};
use crate::text::duration;

/// Which runs are in a result folder and in its shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundRuns {
    pub done: BTreeSet<String>,
    /// Runs whose last record is a failure, with the reason.
    pub failed: BTreeMap<String, String>,
}

impl FoundRuns {
    pub fn of<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Self {
        let mut found = Self::default();
        for record in records {
            if record.status.is_done() {
                found.done.insert(record.run_id());
            } else {
                found.failed.insert(record.run_id(), record.status.reason());
            }
        }
        found.failed.retain(|id, _| !found.done.contains(id));
        found
    }

    fn count_done(&self, ids: &[String]) -> usize {
        ids.iter().filter(|id| self.done.contains(*id)).count()
    }

    /// Fails when a run of a shard is not done, and names the shards.
    pub fn complete(&self, lists: &[Vec<String>]) -> Result<()> {
        let (mut shards, mut missing) = (Vec::new(), 0);
        for (at, ids) in lists.iter().enumerate() {
            let left = ids.len() - self.count_done(ids);
            missing += left;
            shards.extend((left > 0).then_some(at + 1));
        }
        if shards.is_empty() {
            return Ok(());
        }
        let failed: Vec<_> = lists.iter().flatten().filter_map(|id| self.failed.get_key_value(id)).collect();
        let failed = failed
            .first()
            .map_or(String::new(), |(id, why)| format!("; {} of them failed, such as {id}: {why}", failed.len()));
        let (runs, shards) = (lists.iter().map(Vec::len).sum(), ranges(&shards));
        Err(crate::run::Error::Incomplete { missing, runs, shards, failed }.into())
    }
}

/// How far a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ShardState {
    Done,
    /// A task of it has a node.
    Running,
    /// A task of it is waiting.
    Pending,
    /// It was submitted and has ended, but some of its runs are missing.
    Failed,
    /// Not submitted, or not known.
    Open,
}

impl ShardState {
    const ALL: [Self; 5] = [Self::Done, Self::Running, Self::Pending, Self::Failed, Self::Open];

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShardStatus {
    /// From 1.
    pub shard: usize,
    pub state: ShardState,
    pub runs: usize,
    /// Runs that are done.
    pub done: usize,
    /// Its last task, such as `123_4`; empty when there is none.
    pub task: String,
    pub nodes: String,
    /// Estimated.
    pub seconds_left: f64,
    /// Seconds until its time limit, where it runs and has one.
    pub limit_s: Option<u64>,
    /// Why it waits or failed.
    pub reason: String,
}

/// The most advanced task of a shard: job, index in its array, and its entry in the queue.
type LastTask<'q> = (u64, usize, Option<&'q QueueTask>);

/// All shards, in order. Without a queue (`None`) it is not known what runs. `log` gives the last line of the log of a task
/// (job, index).
pub fn shards(
    lists: &[Vec<String>],
    found: &FoundRuns,
    jobs: &Jobs,
    queue: Option<&[QueueTask]>,
    log: impl Fn(u64, usize) -> Option<String>,
    now_unix_s: u64,
) -> Vec<ShardStatus> {
    let last = last_tasks(jobs, queue.unwrap_or_default());
    let mut shards = Vec::new();
    for (at, ids) in lists.iter().enumerate() {
        let (runs, done) = (ids.len(), found.count_done(ids));
        let submitted = last.get(&(at + 1));
        let task = submitted.and_then(|(_, _, task)| *task);
        let failure = ids.iter().find_map(|id| Some(format!("run {id} failed: {}", found.failed.get(id)?)));
        let (state, reason) = match task {
            _ if done == runs => (ShardState::Done, String::new()),
            Some(task) if task.phase == Phase::Running => (ShardState::Running, String::new()),
            Some(task) if task.phase == Phase::Pending => (ShardState::Pending, task.reason.clone()),
            None if submitted.is_none() => (ShardState::Open, "not submitted".to_owned()),
            None if queue.is_none() && failure.is_none() => (ShardState::Open, "the queue cannot be asked".to_owned()),
            ended => {
                let words = failure.or_else(|| submitted.and_then(|(job, index, _)| log(*job, *index)));
                let parts: Vec<String> = ended.map(|task| task.state.clone()).into_iter().chain(words).collect();
                let reason = if parts.is_empty() { "ended without a message".to_owned() } else { parts.join(": ") };
                (ShardState::Failed, reason)
            }
        };
        let running = task.filter(|_| state == ShardState::Running);
        let share = (runs - done) as f64 / runs.max(1) as f64;
        shards.push(ShardStatus {
            shard: at + 1,
            state,
            runs,
            done,
            task: submitted.map_or(String::new(), |(job, index, _)| format!("{job}_{index}")),
            nodes: running.map(|task| task.nodes.clone()).unwrap_or_default(),
            seconds_left: jobs.seconds.get(at).copied().unwrap_or(0.0) * share,
            limit_s: running.and_then(|task| task.ends_unix_s).map(|ends| ends.saturating_sub(now_unix_s)),
            reason,
        });
    }
    shards
}

/// The last task of every shard that was submitted: the one that is furthest in the queue, of equal ones the youngest.
fn last_tasks<'q>(jobs: &Jobs, queue: &'q [QueueTask]) -> BTreeMap<usize, LastTask<'q>> {
    let mut last: BTreeMap<usize, LastTask<'q>> = BTreeMap::new();
    for array in jobs.arrays() {
        let ours: Vec<&QueueTask> = queue.iter().filter(|task| task.job == array.job).collect();
        let listed: BTreeSet<usize> = ours.iter().filter_map(|task| task.indices.as_ref()).flatten().copied().collect();
        for index in numbers(&array.indices).unwrap_or_default() {
            // A task without a list has the indices that no other one lists.
            let has = |task: &&QueueTask| match &task.indices {
                Some(list) => list.contains(&index),
                None => !listed.contains(&index),
            };
            let task = ours.iter().copied().filter(has).max_by_key(|task| task.phase);
            let old = last.entry(array.offset + index).or_insert((array.job, index, task));
            if task.map(|task| task.phase) >= old.2.map(|task| task.phase) {
                *old = (array.job, index, task);
            }
        }
    }
    last
}

/// Shards to submit: not done, and no task will do them.
pub fn due(shards: &[ShardStatus]) -> Vec<usize> {
    let is_due = |shard: &&ShardStatus| matches!(shard.state, ShardState::Failed | ShardState::Open) && shard.runs > 0;
    shards.iter().filter(is_due).map(|shard| shard.shard).collect()
}

/// `16 shards: 12 done, 4 running; 200 of 240 runs are done, about 5 min of work left`.
pub fn summary(shards: &[ShardStatus]) -> String {
    let mut counts = Vec::new();
    for state in ShardState::ALL {
        let count = shards.iter().filter(|shard| shard.state == state).count();
        counts.extend((count > 0).then(|| format!("{count} {}", state.name())));
    }
    let (mut done, mut runs, mut left) = (0, 0, 0.0);
    for shard in shards {
        (done, runs, left) = (done + shard.done, runs + shard.runs, left + shard.seconds_left);
    }
    let left = if left > 0.0 { format!(", about {} of work left", duration(left)) } else { String::new() };
    format!("{} shards: {}; {done} of {runs} runs are done{left}", shards.len(), counts.join(", "))
}

/// One row per group of similar shards or, if requested, one row per shard.
pub fn table(shards: &[ShardStatus], all: bool) -> Table {
    let mut groups: Vec<Vec<&ShardStatus>> = Vec::new();
    for shard in shards {
        let grouped = !all && !matches!(shard.state, ShardState::Running | ShardState::Failed);
        let alike = |group: &&mut Vec<&ShardStatus>| {
            grouped && (group[0].state, &group[0].reason) == (shard.state, &shard.reason)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(shard),
            None => groups.push(vec![shard]),
        }
    }
    let mut table =
        Table::new("", [("shard", Text), ("state", Text), ("runs", Values), ("task", Text), ("node", Text)]);
    table.widen(Values, ["work left", "limit in"]);
    table.widen(Text, ["reason"]);
    table.spare(["limit in", "node", "task", "work left"]);
    for group in groups {
        let first = group[0];
        let (done, runs) = group.iter().fold((0, 0), |(done, runs), shard| (done + shard.done, runs + shard.runs));
        let left: f64 = group.iter().map(|shard| shard.seconds_left).sum();
        let numbers: Vec<usize> = group.iter().map(|shard| shard.shard).collect();
        table.push(cells![
            ranges(&numbers),
            first.state.name(),
            format!("{done}/{runs}"),
            if group.len() == 1 { first.task.clone() } else { String::new() },
            &first.nodes,
            if left > 0.0 { duration(left) } else { "–".to_owned() },
            first.limit_s.map_or("–".to_owned(), |seconds| duration(seconds as f64)),
            &first.reason,
        ]);
    }
    table
}
