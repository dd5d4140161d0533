//! `slurm/jobs.json` of a result folder: which shards were submitted as which jobs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ranges, sbatch};
use crate::error::{Error, Result};
use crate::store::files;

/// What was submitted for one split of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jobs {
    /// Name of the experiment.
    pub name: String,
    /// Config, as the tasks read it.
    pub config: String,
    /// The id file.
    pub ids: String,
    /// Shards in it.
    pub shards: usize,
    /// Estimated seconds of each.
    pub seconds: Vec<f64>,
    /// Every call of `slurm submit`, in order.
    pub submissions: Vec<Submission>,
}

/// One call of `slurm submit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Unix time.
    pub unix_s: u64,
    /// Its arrays.
    pub arrays: Vec<Submitted>,
    /// The job that gathers the results.
    pub gather: Option<u64>,
}

/// An array that SLURM took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submitted {
    /// Its job.
    pub job: u64,
    /// Shard of an index minus the index.
    pub offset: usize,
    /// Indices, such as `1-3,7`.
    pub indices: String,
}

impl Submitted {
    /// Its shards.
    pub fn shards(&self) -> Vec<usize> {
        ranges::numbers(&self.indices).unwrap_or_default().into_iter().map(|index| self.offset + index).collect()
    }
}

impl Jobs {
    fn path(out: &Path) -> PathBuf {
        out.join(sbatch::FOLDER).join("jobs.json")
    }

    /// Those of a result folder; `None` when nothing was submitted from it.
    pub fn read(out: &Path) -> Result<Option<Self>> {
        let path = Self::path(out);
        files::plain(&path)?;
        let Some(text) = files::read_text_if_there(&path)? else { return Ok(None) };
        let broken = |e: serde_json::Error| {
            Error::line(&path, e.line(), format!("{e}; the file is damaged: delete it, the results stay valid"))
        };
        serde_json::from_str(&text).map(Some).map_err(broken)
    }

    /// Writes them into a result folder.
    pub fn write(&self, out: &Path) -> Result<()> {
        let path = Self::path(out);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::file(&path, e.to_string()))?;
        files::write_bytes(&path, (text + "\n").as_bytes())
    }

    /// All arrays, the last one last.
    pub fn arrays(&self) -> impl DoubleEndedIterator<Item = &Submitted> {
        self.submissions.iter().flat_map(|submission| &submission.arrays)
    }

    /// The jobs of all submissions.
    pub fn ids(&self) -> BTreeSet<u64> {
        let gathers = self.submissions.iter().filter_map(|submission| submission.gather);
        self.arrays().map(|array| array.job).chain(gathers).collect()
    }
}
