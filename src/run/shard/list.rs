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
    /// [`super::digest`] of the plan that it was made from; absent in a list that somebody wrote by hand.
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
        let (mut declared, mut runs) = (None, None);
        for (number, line) in text.lines().enumerate() {
            let wrong = |message: String| Error::line(path, number + 1, message);
            if let Some(header) = line.strip_prefix(HEADER) {
                for field in header.split('\t').filter(|field| !field.is_empty()) {
                    let broken = || {
                        wrong(format!("'{field}' is not part of a header; make the file anew with plan --emit lines"))
                    };
                    let (key, value) = field.rsplit_once('=').ok_or_else(broken)?;
                    match (key, key.strip_prefix("price:")) {
                        ("plan", _) => list.plan = Some(value.to_owned()),
                        ("runs", _) => runs = Some(value.parse::<usize>().map_err(|_| broken())?),
                        ("shards", _) => declared = Some(value.parse::<usize>().map_err(|_| broken())?),
                        (_, Some(set)) => {
                            let factor = value.parse().map_err(|_| broken())?;
                            list.prices.insert(set.to_owned(), OracleCost::new(factor).map_err(|_| broken())?);
                        }
                        _ => return Err(broken()),
                    }
                }
                continue;
            }
            if line.starts_with('#') {
                continue;
            }
            let is_id = |word: &&str| word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some(word) = line.split_whitespace().find(|word| !is_id(word)) {
                let word: String = word.chars().take(40).collect();
                return Err(wrong(format!("'{word}' is not the identity of a run; plan --verbose lists them")));
            }
            list.shards.push(line.split_whitespace().map(str::to_owned).collect());
        }
        if let Some(declared) = declared.filter(|declared| *declared != list.shards.len()) {
            let message =
                format!("has {} of its {declared} shards; make it anew with plan --emit lines", list.shards.len());
            return Err(Error::file(path, message));
        }
        let count = list.shards.iter().map(Vec::len).sum::<usize>();
        if let Some(runs) = runs.filter(|runs| *runs != count) {
            let message = format!("has {count} of its {runs} runs; make it anew with plan --emit lines");
            return Err(Error::file(path, message));
        }
        if declared.is_none() && count == 0 {
            return Err(Error::file(path, "holds no run; make it anew with plan --shards N --emit lines"));
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
                 anew with plan --shards N --emit lines",
            )),
            _ => Ok(()),
        }
    }
}
