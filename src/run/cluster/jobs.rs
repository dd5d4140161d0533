//! `slurm/jobs.json` of a result folder: which shards were submitted as which jobs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SLURM_FOLDER;
use super::slurm::QueueTask;
use crate::error::{Error, Result};
use crate::store::files::{self, SharedFile};

/// What was submitted for one split of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jobs {
    /// Name of the experiment.
    pub name: String,
    /// Config, as the tasks read it.
    pub config: String,
    /// Estimated seconds of each shard.
    pub seconds: Vec<f64>,
    /// Every call of `cluster submit`, in order.
    pub submissions: Vec<Submission>,
}

/// One call of `cluster submit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    pub unix_s: u64,
    pub arrays: Vec<Submitted>,
    /// The array whose submission was in progress when the command ended, in whatever way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The job that gathers the results.
    pub gather: Option<u64>,
}

/// An array that SLURM accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submitted {
    pub job: u64,
    /// Shard of an index minus the index.
    pub offset: usize,
    /// Such as `1-3,7`.
    pub indices: String,
}

/// An array before SLURM has given it a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The comment by which the queue knows it.
    pub comment: String,
    pub offset: usize,
    pub indices: String,
    /// When sbatch was called.
    #[serde(default)]
    pub unix_s: u64,
}

/// How long sbatch may work on after the command that called it has ended, and its array be missing in the queue.
const UNCERTAIN_S: u64 = 600;

impl Asked {
    /// What is known of it.
    pub fn text(&self) -> String {
        let shards = numbers(&self.indices).unwrap_or_default();
        let shards = ranges(&shards.iter().map(|index| self.offset + index).collect::<Vec<_>>());
        format!(
            "a submission of shards {shards} ended before sbatch answered, and the queue does not show them (comment {}), but \
             sbatch may still be at work",
            self.comment
        )
    }
}

impl Jobs {
    /// The file of a result folder.
    pub fn path(out: &Path) -> PathBuf {
        out.join(SLURM_FOLDER).join("jobs.json")
    }

    /// `None` when nothing was submitted from the folder.
    pub fn read(out: &Path) -> Result<Option<Self>> {
        let path = Self::path(out);
        files::plain(&path)?;
        let Some(text) = files::read_text_if_there(&path)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let message = format!("{error}; the file is damaged: delete it; the results stay valid");
            Error::line(&path, error.line(), message)
        })
    }

    /// The right to submit from a folder, which one process has at a time. For other processes, reading the queue and adding to it are
    /// then one step.
    pub fn lock(out: &Path) -> Result<SharedFile> {
        SharedFile::lock(&Self::path(out))
    }

    pub fn write(&self, file: &SharedFile) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::invalid(e.to_string()))?;
        file.write(&(text + "\n"))
    }

    /// Records the arrays that are in the queue although their submission was interrupted before it recorded their number.
    pub fn adopt(&mut self, tasks: &[QueueTask]) {
        for submission in &mut self.submissions {
            let Some(asked) = &submission.asked else { continue };
            if let Some(task) = tasks.iter().find(|task| task.comment == asked.comment) {
                let Asked { offset, indices, .. } = asked.clone();
                submission.arrays.push(Submitted { job: task.job, offset, indices });
                submission.asked = None;
            }
        }
    }

    /// The array that may still enter the queue although it is not in it, and for how many seconds more.
    pub fn unanswered(&self, now_unix_s: u64) -> Option<(&Asked, u64)> {
        let mut asked = self.submissions.iter().filter_map(|submission| submission.asked.as_ref());
        asked.find_map(|asked| {
            let left = (asked.unix_s + UNCERTAIN_S).checked_sub(now_unix_s).filter(|left| *left > 0)?;
            Some((asked, left.min(UNCERTAIN_S)))
        })
    }

    /// All arrays, the last one last.
    pub fn arrays(&self) -> impl Iterator<Item = &Submitted> {
        self.submissions.iter().flat_map(|submission| &submission.arrays)
    }

    /// The jobs of all submissions.
    pub fn ids(&self) -> BTreeSet<u64> {
        let gathers = self.submissions.iter().filter_map(|submission| submission.gather);
        self.arrays().map(|array| array.job).chain(gathers).collect()
    }
}

/// Numbers in rising order as ranges, such as `1-3,7`, the form of the indices of an array.
pub fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let parts = runs.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    parts.collect::<Vec<_>>().join(",")
}

/// Maximum number of indices in a text, more than any queue has.
const MOST: usize = 5_000_000;

/// The numbers of a text such as `1-3,7,10-20:5%4`; `None` when it was cut (`…`) or is something else.
pub fn numbers(text: &str) -> Option<Vec<usize>> {
    let text = text.split('%').next()?.trim().trim_start_matches('[').trim_end_matches(']');
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<usize>().ok();
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if step == 0 || last < first || (last - first) / step >= MOST - all.len() {
            return None;
        }
        all.extend((first..=last).step_by(step));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_there_and_back() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(ranges(&[]), "");
        assert_eq!(numbers("1-3,7,9-10"), Some(vec![1, 2, 3, 7, 9, 10]));
        assert_eq!(numbers("[4-6%2]"), Some(vec![4, 5, 6]));
        assert_eq!(numbers("0-10:5"), Some(vec![0, 5, 10]));
        assert_eq!(numbers(""), Some(vec![]));
        for cut in ["1,3,5,...", "1-", "a", "5-1", "1-9:0", "0-99999999999"] {
            assert_eq!(numbers(cut), None, "{cut}");
        }
    }
}
