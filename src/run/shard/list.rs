//! The id file: the shards of a plan as text that every engine and `run --ids` reads. After a header with what all nodes
//! must agree on, a line per shard: the identities of its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{ShardIndex, Split};
use crate::error::{Error, Result};
use crate::store::files;
use ssvm::clock::OracleCost;

/// How the header begins; then `plan=`, `shards=`, `runs=` and a `price:DATA SET CLOCK=` for each price.
const HEADER: &str = "# ssvm-bench shards";

/// An id file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct IdFile {
    path: PathBuf,
    /// [`super::digest`] of the plan that it was made from; absent in a list written by hand.
    pub plan: Option<String>,
    /// The paper's prices of that plan.
    pub prices: BTreeMap<String, OracleCost>,
    shards: Vec<Vec<String>>,
}

impl Split {
    /// The text of the id file.
    pub fn lines(&self) -> String {
        let mut text = format!("{HEADER}\tplan={}\tshards={}\truns={}", self.plan, self.shards.len(), self.runs());
        for (key, price) in &self.prices {
            text += &format!("\tprice:{key}={}", price.factor());
        }
        text.push('\n');
        for shard in &self.shards {
            text += &shard.runs.join(" ");
            text.push('\n');
        }
        text
    }
}

impl IdFile {
    /// Reads an id file: one of `plan --emit lines`, or any text of identities.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        let mut list = Self { path: path.to_owned(), plan: None, prices: BTreeMap::new(), shards: Vec::new() };
        let (mut declared_shards, mut declared_runs) = (None, None);
        for (number, line) in text.lines().enumerate() {
            let wrong = |message: String| Error::line(path, number + 1, message);
            if let Some(header) = line.strip_prefix(HEADER) {
                for field in header.split('\t').filter(|field| !field.is_empty()) {
                    let parsed = match field.rsplit_once('=') {
                        Some(("plan", value)) => {
                            list.plan = Some(value.to_owned());
                            Some(())
                        }
                        Some(("runs", value)) => value.parse().ok().map(|count: usize| declared_runs = Some(count)),
                        Some(("shards", value)) => value.parse().ok().map(|count: usize| declared_shards = Some(count)),
                        Some((key, value)) => key.strip_prefix("price:").and_then(|set| {
                            let cost = OracleCost::new(value.parse().ok()?).ok()?;
                            list.prices.insert(set.to_owned(), cost);
                            Some(())
                        }),
                        None => None,
                    };
                    parsed.ok_or_else(|| {
                        wrong(format!("'{field}' is not part of a header; make the file again with plan --emit lines"))
                    })?;
                }
            } else if !line.starts_with('#') {
                let is_id = |word: &&str| word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
                if let Some(word) = line.split_whitespace().find(|word| !is_id(word)) {
                    let word: String = word.chars().take(40).collect();
                    return Err(wrong(format!("'{word}' is not the identity of a run; plan --verbose lists them")));
                }
                list.shards.push(line.split_whitespace().map(str::to_owned).collect());
            }
        }
        let (shards, runs) = (list.shards.len(), list.shards.iter().map(Vec::len).sum::<usize>());
        for (declared, count, what) in [(declared_shards, shards, "shards"), (declared_runs, runs, "runs")] {
            if let Some(declared) = declared.filter(|declared| *declared != count) {
                let message = format!("has {count} of its {declared} {what}; make it again with plan --emit lines");
                return Err(Error::file(path, message));
            }
        }
        if declared_shards.is_none() && runs == 0 {
            return Err(Error::file(path, "holds no run; make it again with plan --shards N --emit lines"));
        }
        Ok(list)
    }

    /// The runs of every shard, in order.
    pub fn shards(&self) -> &[Vec<String>] {
        &self.shards
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
                 again with plan --shards N --emit lines",
            )),
            _ => Ok(()),
        }
    }
}
