//! A plan → shards of equal estimated cost, and the folders of shards → one result folder.
//!
//! No file has two writers. Every call runs a shard into a folder of its own below the result folder ([`part`]);
//! [`merge`] joins such folders, or those of other machines. Nothing here needs a lock that two nodes share, and a shard
//! that is run twice, or by two nodes at once, is merged once.

pub mod list;
pub mod merge;
pub mod part;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::experiment::{Plan, RunSpec};
use crate::store::files::sha256_hex;
use crate::store::manifest::PaperCosts;

/// A plan in shards.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Split {
    /// [`digest`] of the whole plan.
    pub plan: String,
    /// The paper's oracle costs that the plan was made with: every node takes these.
    pub costs: PaperCosts,
    /// One may be empty.
    pub shards: Vec<Shard>,
}

/// Runs that are made in one allocation.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Shard {
    pub runs: Vec<String>,
    /// Estimated seconds of all of them, one after the other.
    pub seconds: f64,
    /// Estimated seconds of its longest one.
    pub longest: f64,
}

/// Hash of a plan: two machines that have the same have the same runs.
pub fn digest(plan: &Plan) -> String {
    let mut ids: Vec<&str> = plan.runs.iter().map(|run| run.run_id.as_str()).collect();
    ids.sort_unstable();
    sha256_hex(ids.join(" ").as_bytes())[..16].to_owned()
}

/// Splits a plan into shards of about the same cost; the same plan and estimates give the same shards.
///
/// Timed runs are kept together: all solvers of one data set and seed are in one shard, so that their ratios are those
/// of one machine. Times of a repeatable clock are the same everywhere, so its runs may go to any shard; only a
/// projected run stays in the shard of its source.
pub fn split(
    plan: &Plan,
    shards: usize,
    wanted: impl Fn(&RunSpec) -> bool,
    seconds: impl Fn(&RunSpec) -> f64,
) -> Split {
    // By data set and repeat, or by the run that others follow from.
    let mut units: BTreeMap<(usize, u64, &str), Shard> = BTreeMap::new();
    for run in plan.runs.iter().filter(|run| wanted(run)) {
        let unit = if run.settings().clock.repeatable() {
            (0, 0, run.projected_from.as_ref().unwrap_or(&run.run_id).as_str())
        } else {
            (run.set, run.repeat, "")
        };
        let (runs, seconds) = (vec![run.run_id.clone()], seconds(run));
        units.entry(unit).or_default().take(&Shard { runs, seconds, longest: seconds });
    }
    // Longest first, each to the shard with the least work: at most a third above the optimum, and much less with many blocks.
    let mut units: Vec<Shard> = units.into_values().collect();
    units.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.runs.cmp(&b.runs)));
    let mut filled = vec![Shard::default(); shards];
    // Non-negative numbers are ordered as their bits are.
    let mut least: BinaryHeap<Reverse<(u64, usize)>> = (0..shards).map(|shard| Reverse((0, shard))).collect();
    for unit in units {
        let Some(Reverse((_, shard))) = least.pop() else { break };
        filled[shard].take(&unit);
        least.push(Reverse((filled[shard].seconds.max(0.0).to_bits(), shard)));
    }
    Split { plan: digest(plan), costs: plan.paper_costs.clone(), shards: filled }
}

impl Shard {
    fn take(&mut self, other: &Self) {
        self.runs.extend_from_slice(&other.runs);
        self.seconds += other.seconds;
        self.longest = self.longest.max(other.longest);
    }
}

impl Split {
    pub fn runs(&self) -> usize {
        self.shards.iter().map(|shard| shard.runs.len()).sum()
    }

    /// How much longer the longest shard takes than the average.
    pub fn imbalance(&self) -> f64 {
        let longest = self.shards.iter().map(|shard| shard.seconds).fold(0.0, f64::max);
        let mean = self.shards.iter().map(|shard| shard.seconds).sum::<f64>() / self.shards.len().max(1) as f64;
        if mean > 0.0 { longest / mean - 1.0 } else { 0.0 }
    }
}

/// `3/16`: the third of sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardIndex {
    /// From 1.
    pub shard: usize,
    /// Shards in all.
    pub of: usize,
}

/// Most shards of a plan.
pub const MOST_SHARDS: usize = 100_000;

impl std::str::FromStr for ShardIndex {
    type Err = super::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(shard, of)| Some((shard.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((shard, of)) if (1..=MOST_SHARDS).contains(&of) && (1..=of).contains(&shard) => Ok(Self { shard, of }),
            _ => Err(super::Error::ShardIndex),
        }
    }
}

impl std::fmt::Display for ShardIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.shard, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_shard_is_counted_from_one() {
        assert_eq!("3/16".parse::<ShardIndex>().ok(), Some(ShardIndex { shard: 3, of: 16 }));
        for wrong in ["0/4", "5/4", "4", "a/b", "1/0", "1/100001", "-1/4", ""] {
            assert!(wrong.parse::<ShardIndex>().is_err(), "{wrong}");
        }
    }
}
