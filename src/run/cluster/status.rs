//! The id file, the result folder and the queue → the state of every shard, and a table of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

use super::jobs::Jobs;
use super::ranges;
use super::squeue::{Phase, Task};
use crate::error::{Error, Result};
use crate::store::Status;
use crate::store::codec::Head;
use crate::store::folder::{Folder, Store, read_head, stem};
use crate::table::Kind::{Text, Values};
use crate::table::{Table, cells};
use crate::text::duration;

/// What is in a result folder and in its shards.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Runs that are done.
    pub done: BTreeSet<String>,
    /// Runs whose last record says that they failed, with the reason.
    pub failed: BTreeMap<String, String>,
}

impl Found {
    /// What result folders hold of these runs; a folder without results holds nothing. Of a file that is no sound record
    /// it is said what is wrong.
    pub fn read(folders: &[PathBuf], wanted: &BTreeSet<String>) -> Result<(Self, Vec<String>)> {
        let (mut found, mut damaged) = (Self::default(), Vec::new());
        for store in folders.iter().filter_map(|folder| Store::open(folder).ok()) {
            let mut paths = store.files(Folder::Runs)?;
            paths.retain(|path| wanted.contains(&stem(path)));
            let heads: Vec<Result<Head>> = paths.par_iter().map(|path| read_head(path)).collect();
            for head in heads {
                match head.map(|head| (head.record.run_id(), head.record.status)) {
                    Ok((id, Status::Done(_))) => drop(found.done.insert(id)),
                    Ok((id, status)) => drop(found.failed.insert(id, status.reason())),
                    Err(error @ Error::Invalid(_)) => return Err(error),
                    Err(error) => damaged.push(error.to_string()),
                }
            }
        }
        found.failed.retain(|id, _| !found.done.contains(id));
        Ok((found, damaged))
    }

    /// An error when a run of a shard is not done, with the shards.
    pub fn complete(&self, lists: &[Vec<String>]) -> Result<()> {
        let left = |ids: &Vec<String>| ids.iter().filter(|id| !self.done.contains(*id)).count();
        let counts: Vec<usize> = lists.iter().map(left).collect();
        let shards: Vec<usize> = (1..=lists.len()).filter(|shard| counts[shard - 1] > 0).collect();
        if shards.is_empty() {
            return Ok(());
        }
        let (runs, all) = (counts.iter().sum::<usize>(), lists.iter().map(Vec::len).sum::<usize>());
        let failed = match self.failed.first_key_value() {
            Some((id, why)) => format!("; {} of them failed, such as {id}: {why}", self.failed.len()),
            None => String::new(),
        };
        let shards = ranges::text(&shards);
        Err(Error::invalid(format!(
            "{runs} of {all} runs are missing, in shards {shards}{failed}; run these shards again"
        )))
    }
}

/// How far a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All its runs are done.
    Done,
    /// A task of it has a node.
    Running,
    /// A task of it waits.
    Pending,
    /// It was submitted, is over, and runs of it are missing.
    Failed,
    /// Not submitted, or nobody knows.
    Open,
}

impl State {
    const ALL: [Self; 5] = [Self::Done, Self::Running, Self::Pending, Self::Failed, Self::Open];

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }
}

/// One shard.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShardStatus {
    /// Number, from 1.
    pub shard: usize,
    /// How far it is.
    pub state: State,
    /// Its runs.
    pub runs: usize,
    /// Of these, done.
    pub done: usize,
    /// Its last task, such as `123_4`; empty when there is none.
    pub task: String,
    /// The nodes of that.
    pub nodes: String,
    /// Estimated seconds of what is left of it.
    pub seconds_left: f64,
    /// Seconds until its time limit, where it runs and has one.
    pub limit_s: Option<u64>,
    /// Why it waits or failed.
    pub reason: String,
}

/// All shards, in order. Without a queue (`None`) nobody knows what runs. `log` gives the last words of a task (job,
/// index).
pub fn shards(
    lists: &[Vec<String>],
    found: &Found,
    jobs: &Jobs,
    queue: Option<&[Task]>,
    log: impl Fn(u64, usize) -> Option<String>,
    now_unix_s: u64,
) -> Vec<ShardStatus> {
    let last = submitted(jobs);
    let known = queue.map(|queue| tasks(jobs, queue));
    let status = |(at, ids): (usize, &Vec<String>)| {
        let shard = at + 1;
        let done = ids.iter().filter(|id| found.done.contains(*id)).count();
        let task = known.as_ref().and_then(|known| known.get(&shard)).map(|(task, ..)| *task);
        let submitted = known.as_ref().and_then(|known| known.get(&shard)).map(|(_, job, index)| (*job, *index));
        let submitted = submitted.or_else(|| last.get(&shard).copied());
        let failure = ids.iter().find_map(|id| Some(format!("run {id} failed: {}", found.failed.get(id)?)));
        let phase = task.map(|task| task.phase);
        let state = match (phase, submitted) {
            _ if done == ids.len() => State::Done,
            (Some(Phase::Running), _) => State::Running,
            (Some(Phase::Pending), _) => State::Pending,
            (Some(Phase::Ended), _) => State::Failed,
            (None, Some(_)) if known.is_some() || failure.is_some() => State::Failed,
            (None, _) => State::Open,
        };
        let reason = match state {
            State::Done | State::Running => String::new(),
            State::Pending => task.map(|task| task.reason.clone()).unwrap_or_default(),
            State::Failed => {
                let word = task.filter(|task| task.phase == Phase::Ended).map(|task| task.state.clone());
                let said = failure.or_else(|| submitted.and_then(|(job, index)| log(job, index)));
                let parts: Vec<String> = word.into_iter().chain(said).collect();
                if parts.is_empty() { "ended without a word".to_owned() } else { parts.join(": ") }
            }
            State::Open if submitted.is_none() => "not submitted".to_owned(),
            State::Open => "the queue cannot be asked".to_owned(),
        };
        let share = (ids.len() - done) as f64 / ids.len().max(1) as f64;
        let running = task.filter(|_| state == State::Running);
        ShardStatus {
            shard,
            state,
            runs: ids.len(),
            done,
            task: submitted.map_or(String::new(), |(job, index)| format!("{job}_{index}")),
            nodes: running.map(|task| task.nodes.clone()).unwrap_or_default(),
            seconds_left: jobs.seconds.get(at).copied().unwrap_or(0.0) * share,
            limit_s: running.and_then(|task| task.ends_unix_s).map(|ends| ends.saturating_sub(now_unix_s)),
            reason,
        }
    };
    lists.iter().enumerate().map(status).collect()
}

/// Job and index of the last task of each shard.
fn submitted(jobs: &Jobs) -> BTreeMap<usize, (u64, usize)> {
    let of = |array: &super::jobs::Submitted| {
        let (job, offset) = (array.job, array.offset);
        array.shards().into_iter().map(move |shard| (shard, (job, shard - offset)))
    };
    jobs.arrays().flat_map(of).collect()
}

/// What the queue says of each shard: the task that is furthest, of equal ones the last; with its job and index.
fn tasks<'q>(jobs: &Jobs, queue: &'q [Task]) -> BTreeMap<usize, (&'q Task, u64, usize)> {
    let mut known: BTreeMap<usize, (&Task, u64, usize)> = BTreeMap::new();
    for array in jobs.arrays() {
        let ours = || queue.iter().filter(|task| task.job == array.job);
        let named: BTreeSet<usize> = ours().filter_map(|task| task.indices.as_ref()).flatten().copied().collect();
        for task in ours() {
            let rest = || array.shards().into_iter().map(|shard| shard - array.offset).filter(|at| !named.contains(at));
            let indices = task.indices.clone().unwrap_or_else(|| rest().collect());
            for index in indices {
                let entry = known.entry(array.offset + index).or_insert((task, array.job, index));
                if (task.phase, array.job) >= (entry.0.phase, entry.1) {
                    *entry = (task, array.job, index);
                }
            }
        }
    }
    known
}

/// Shards that are not done and that nobody will do: those to submit.
pub fn due(shards: &[ShardStatus]) -> Vec<usize> {
    let is_due = |shard: &&ShardStatus| matches!(shard.state, State::Failed | State::Open) && shard.runs > 0;
    shards.iter().filter(is_due).map(|shard| shard.shard).collect()
}

/// `16 shards: 12 done, 4 running; 200 of 240 runs are done, about 5 min of work left`.
pub fn summary(shards: &[ShardStatus]) -> String {
    let count = |state: State| shards.iter().filter(|shard| shard.state == state).count();
    let counts = State::ALL.map(|state| (count(state), state.name()));
    let counts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    let sum = |of: fn(&ShardStatus) -> usize| shards.iter().map(of).sum::<usize>();
    let left: f64 = shards.iter().map(|shard| shard.seconds_left).sum();
    let left = if left > 0.0 { format!(", about {} of work left", duration(left)) } else { String::new() };
    let (done, runs) = (sum(|shard| shard.done), sum(|shard| shard.runs));
    format!("{} shards: {}; {done} of {runs} runs are done{left}", shards.len(), counts.join(", "))
}

/// A row for each shard, or for several that are alike; finished ones only when asked for.
pub fn table(shards: &[ShardStatus], all: bool) -> String {
    let alike = |a: &ShardStatus, b: &ShardStatus| {
        let quiet = |shard: &ShardStatus| matches!(shard.state, State::Done | State::Pending | State::Open);
        !all && quiet(a) && (a.state, &a.reason) == (b.state, &b.reason)
    };
    let mut groups: Vec<Vec<&ShardStatus>> = Vec::new();
    for shard in shards {
        match groups.iter_mut().find(|group| alike(group[0], shard)) {
            Some(group) => group.push(shard),
            None => groups.push(vec![shard]),
        }
    }
    let mut table =
        Table::new("", [("shard", Text), ("state", Text), ("runs", Values), ("task", Text), ("node", Text)]);
    table.widen(Values, ["work left", "limit in"]);
    table.widen(Text, ["reason"]);
    for group in groups {
        let first = group[0];
        let sum = |of: fn(&ShardStatus) -> usize| group.iter().map(|shard| of(shard)).sum::<usize>();
        let left: f64 = group.iter().map(|shard| shard.seconds_left).sum();
        let numbers: Vec<usize> = group.iter().map(|shard| shard.shard).collect();
        table.push(cells![
            ranges::text(&numbers),
            first.state.name(),
            format!("{}/{}", sum(|shard| shard.done), sum(|shard| shard.runs)),
            if group.len() == 1 { first.task.clone() } else { String::new() },
            &first.nodes,
            if left > 0.0 { duration(left) } else { "–".to_owned() },
            first.limit_s.map_or("–".to_owned(), |seconds| duration(seconds as f64)),
            &first.reason,
        ]);
    }
    table.text()
}
