//! What a result folder holds of a plan: runs that are done, runs to be made again, runs of other plans.

use std::collections::{BTreeMap, BTreeSet};

use crate::experiment::{Estimator, Plan, RunSpec};
use crate::store::files;
use crate::store::folder::{Contents, Damage, stem};
use crate::store::{RunRecord, Status};

#[derive(Debug, Default)]
pub struct Existing {
    /// Runs of the plan that ended well, by identity.
    pub done: BTreeMap<String, RunRecord>,
    /// Runs of the plan with a failed record; they are tried again.
    pub failed: u64,
    /// Files that are damaged or cannot be read.
    pub damaged: Vec<Damage>,
    /// Runs of the plan made by other code, from other data, or timed by another build (a debug build, for instance).
    pub stale: Vec<String>,
    /// Runs that are not in the plan.
    pub foreign: Vec<RunRecord>,
    /// Estimates that have learned from the finished runs.
    pub estimator: Estimator,
}

impl Existing {
    /// Compares the contents of a folder with a plan.
    pub fn of(contents: Contents, plan: &Plan) -> Self {
        let planned: BTreeMap<&str, &RunSpec> = plan.runs.iter().map(|run| (run.run_id.as_str(), run)).collect();
        let experiments: BTreeSet<String> = plan.runs.iter().map(|run| run.identity.experiment()).collect();
        let mut existing = Self { damaged: contents.damaged, ..Self::default() };
        let mut failed = BTreeSet::new();
        for record in contents.records {
            let run_id = record.run_id();
            if planned.contains_key(run_id.as_str()) {
                match record.status {
                    Status::Done(_) if timed_by_another_build(&record) => existing.stale.push(run_id),
                    Status::Done(_) => drop(existing.done.insert(run_id, record)),
                    _ => drop(failed.insert(run_id)),
                }
            } else if experiments.contains(&record.identity.experiment()) {
                existing.stale.push(run_id);
            } else {
                existing.foreign.push(record);
            }
        }
        // Shards may hold a run twice, and one that failed on one node may have ended on another.
        existing.failed = failed.iter().filter(|id| !existing.done.contains_key(*id)).count() as u64;
        for (id, done) in &existing.done {
            existing.estimator.learn(planned[id.as_str()], done.measured.totals.total_s);
        }
        existing
    }

    pub fn has(&self, run: &RunSpec) -> bool {
        self.done.contains_key(&run.run_id)
    }

    /// Discards timed runs of other machines if some solver is missing for their data set and seed, and returns their number. The
    /// missing runs would be timed here, and ratios of solvers must come from one machine.
    pub(super) fn forget_split_blocks(&mut self, plan: &Plan, host: &str) -> usize {
        let before = self.done.len();
        let timed = plan.runs.iter().filter(|run| !run.settings().clock.repeatable());
        let open: BTreeSet<(usize, u64)> =
            timed.filter(|run| !self.has(run)).map(|run| (run.set, run.repeat)).collect();
        for run in plan.runs.iter().filter(|run| open.contains(&(run.set, run.repeat))) {
            if self.done.get(&run.run_id).is_some_and(|done| done.environment.host != host) {
                self.done.remove(&run.run_id);
            }
        }
        before - self.done.len()
    }

    /// Runs of the plan whose file the system refuses to read, with its reason. They may be sound, so they are not redone.
    pub fn unread<'p>(&self, plan: &'p Plan) -> Vec<(&'p RunSpec, String)> {
        let mut unread = Vec::new();
        for damage in self.damaged.iter().filter(|damage| damage.is_unread()) {
            let Some(run) = plan.runs.iter().find(|run| run.run_id == stem(&damage.path)) else { continue };
            // A folder or a pipe cannot be replaced by a file.
            let message = files::plain(&damage.path).err().map_or_else(
                || format!("{}; make the file readable, or redo the run with --force", damage.error),
                |error| error.to_string(),
            );
            unread.push((run, message));
        }
        unread
    }
}

/// Whether the times of a run are those of other compiler flags than this program's.
fn timed_by_another_build(record: &RunRecord) -> bool {
    !record.settings().clock.repeatable() && record.environment.build != ssvm::BUILD_FLAGS
}
