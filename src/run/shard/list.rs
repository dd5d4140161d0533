//! The id file: the shards of a plan as text that every engine and `run --ids` reads. After a header with what all nodes
//! must agree on, a line per shard: the identities of its runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{ShardIndex, Split};
use crate::error::{Error, Result};
use crate::store::files;
use crate::store::manifest::PaperCosts;

/// How the header begins; then `plan=`, `shards=`, `runs=`, and `costs=` with the paper's oracle costs as JSON.
const HEADER: &str = "# ssvm-bench shards";

#[derive(Clone, Debug, PartialEq)]
pub struct IdFile {
    path: PathBuf,
    /// [`super::digest`] of the plan that it was made from; absent in a list written by hand.
    plan: Option<String>,
    /// The paper's oracle costs of that plan.
    pub costs: PaperCosts,
    /// The runs of every shard.
    pub shards: Vec<Vec<String>>,
}

impl Split {
    /// The text of the id file.
    pub fn lines(&self) -> String {
        let mut text = format!("{HEADER}\tplan={}\tshards={}\truns={}", self.plan, self.shards.len(), self.runs());
        if !self.costs.is_empty() {
            // Names and numbers always serialise.
            text += &format!("\tcosts={}", serde_json::to_string(&self.costs).unwrap_or_default());
        }
        text.push('\n');
        for shard in &self.shards {
            text += &(shard.runs.join(" ") + "\n");
        }
        text
    }
}

impl IdFile {
    /// Reads an id file: one of `cluster plan --emit lines`, or any text of identities.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        let mut list = Self { path: path.to_owned(), plan: None, costs: PaperCosts::default(), shards: Vec::new() };
        // What the header says of the number of shards and runs.
        let mut declared: [Option<usize>; 2] = [None; 2];
        for (number, line) in text.lines().enumerate() {
            let wrong = |message: String| Error::line(path, number + 1, message);
            if let Some(header) = line.strip_prefix(HEADER) {
                for field in header.split('\t').filter(|field| !field.is_empty()) {
                    list.read_field(field, &mut declared).ok_or_else(|| {
                        wrong(format!(
                            "'{field}' is not part of a header; make the file again with cluster plan --emit lines"
                        ))
                    })?;
                }
            } else if !line.starts_with('#') {
                let is_id = |word: &&str| word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
                if let Some(word) = line.split_whitespace().find(|word| !is_id(word)) {
                    let word: String = word.chars().take(40).collect();
                    return Err(wrong(format!("'{word}' is not the identity of a run; run --dry-run -v lists them")));
                }
                list.shards.push(line.split_whitespace().map(str::to_owned).collect());
            }
        }
        let runs = list.shards.iter().map(Vec::len).sum();
        for (declared, count, what) in [(declared[0], list.shards.len(), "shards"), (declared[1], runs, "runs")] {
            if let Some(declared) = declared.filter(|declared| *declared != count) {
                let message =
                    format!("has {count} of its {declared} {what}; make it again with cluster plan --emit lines");
                return Err(Error::file(path, message));
            }
        }
        if declared[0].is_none() && runs == 0 {
            return Err(Error::file(path, "contains no runs; make it again with cluster plan --shards N --emit lines"));
        }
        Ok(list)
    }

    fn read_field(&mut self, field: &str, [shards, runs]: &mut [Option<usize>; 2]) -> Option<()> {
        let (key, value) = field.split_once('=')?;
        match key {
            "plan" => self.plan = Some(value.to_owned()),
            "shards" => *shards = Some(value.parse().ok()?),
            "runs" => *runs = Some(value.parse().ok()?),
            "costs" => self.costs = serde_json::from_str(value).ok()?,
            _ => return None,
        }
        Some(())
    }

    /// The runs of one shard, or of all.
    pub fn ids(&self, which: Option<ShardIndex>) -> Result<BTreeSet<String>> {
        let Some(which) = which else { return Ok(self.shards.iter().flatten().cloned().collect()) };
        if which.of != self.shards.len() {
            let message = format!("has {} shards, not the {} of --shard {which}", self.shards.len(), which.of);
            return Err(Error::file(&self.path, message));
        }
        Ok(self.shards[which.shard - 1].iter().cloned().collect())
    }

    /// An error when the file was made from another plan than this one.
    pub fn belongs_to(&self, plan: &str) -> Result<()> {
        match &self.plan {
            Some(other) if other != plan => Err(Error::file(
                &self.path,
                "was made from another plan: the config, the program, the data or --only is not the same here; make it \
                 again with cluster plan --shards N --emit lines",
            )),
            _ => Ok(()),
        }
    }
}
