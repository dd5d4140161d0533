//! Regression gates: results (and another build) in, verdicts out. Nothing here prints.
//!
//! | gate | compares | noise |
//! |---|---|---|
//! | counters ([`counters`]) | runs under the virtual clock with a [`baseline`] file, exactly | none |
//! | time ([`rounds`], [`folders`]) | paired CPU times of two builds or two result folders, by interval | judged by its bootstrap interval |
//! | instructions ([`instructions`]) | callgrind counts of the same work with the baseline file | below 0.1 % |
//!
//! Every gate returns [`Finding`]s; [`output`] writes them as files that CI systems read, `render` as tables.

pub mod baseline;
pub mod build;
pub mod counters;
mod error;
mod finding;
pub mod folders;
pub mod instructions;
pub mod measure;
mod metric;
pub mod output;
pub mod rounds;
pub mod workload;

pub use baseline::Baseline;
pub use error::Error;
pub use finding::{Finding, Judgement, judge_ratio};
pub use metric::{Metric, TraceColumn};

pub(crate) use crate::store::keys::CellKey;

use std::collections::{BTreeMap, BTreeSet};

/// Every key of two maps, with its value in each.
fn both<'a, K: Ord, A, B>(
    old: &'a BTreeMap<K, A>,
    new: &'a BTreeMap<K, B>,
) -> impl Iterator<Item = (&'a K, Option<&'a A>, Option<&'a B>)> {
    let keys: BTreeSet<&K> = old.keys().chain(new.keys()).collect();
    keys.into_iter().map(|key| (key, old.get(key), new.get(key)))
}
