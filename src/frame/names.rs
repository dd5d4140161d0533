//! Data set and series names: records in; family, title, order and label out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::trace::RunRecord;

/// The four data sets of the paper; a twin or a set of the same family counts as one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Multiclass.
    Usps,
    /// Chains.
    Ocr,
    /// Binary graphs.
    HorseSeg,
    /// Potts graphs.
    Stanford,
}

impl Family {
    /// By prefix of the data set's name.
    pub fn of(dataset: &str) -> Option<Self> {
        [("usps", Self::Usps), ("ocr", Self::Ocr), ("horse", Self::HorseSeg), ("stanford", Self::Stanford)]
            .into_iter()
            .find_map(|(prefix, family)| dataset.starts_with(prefix).then_some(family))
    }

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usps => "USPS",
            Self::Ocr => "OCR",
            Self::HorseSeg => "HorseSeg",
            Self::Stanford => "Stanford",
        }
    }
}

/// Sort key: the paper's families first, in its order; the real set before its twins; then by name.
pub fn dataset_rank(dataset: &str) -> (u8, bool, &str) {
    let twin = dataset.contains("-synth");
    (Family::of(dataset).map_or(u8::MAX, |family| family as u8), twin, dataset)
}

/// Heading of a data set: the usual name of a known set, otherwise the config's.
pub fn title(dataset: &str) -> &str {
    match dataset {
        "usps" => "USPS",
        "ocr" => "OCR",
        "horses" => "Weizmann horses",
        "horseseg" => "HorseSeg",
        "stanford" => "Stanford",
        other => other,
    }
}

/// File name part for each data set, distinct and safe on any system.
pub fn file_stems(datasets: &[&str]) -> Vec<String> {
    let mut used = BTreeSet::new();
    datasets
        .iter()
        .map(|dataset| {
            let safe = |c: char| if c.is_ascii_alphanumeric() || "-.=".contains(c) { c } else { '_' };
            let stem: String = dataset.chars().map(safe).take(80).collect();
            let mut name = stem.clone();
            let mut copy = 2;
            while !used.insert(name.clone()) {
                name = format!("{stem}_{copy}");
                copy += 1;
            }
            name
        })
        .collect()
}

/// The data set and the label of each record's series. Runs of one name that differ in λ, pairwise weight or content
/// are different problems and must not share bounds; runs of one solver on one problem that differ in parameters,
/// clock, budget or cadence are different lines. What differs is added to the name, as in `mp-bcfw (passes=5)`.
pub fn series(records: &[&RunRecord]) -> Vec<(String, String)> {
    let stored: Vec<Value> =
        records.iter().map(|r| serde_json::from_str(&r.facts.settings).unwrap_or(Value::Null)).collect();
    let problems = records.iter().zip(&stored).map(|(record, stored)| {
        let mut facts = Facts::from([("lambda".to_owned(), record.facts.lambda.to_string())]);
        facts.insert("data".to_owned(), record.facts.data_checksum.chars().take(8).collect());
        facts.insert("pairwise_weight".to_owned(), text(&stored["pairwise_weight"]));
        (record.dataset.as_str(), facts)
    });
    let problems = told_apart(problems.collect());
    let datasets: Vec<String> = records.iter().zip(&problems).map(|(r, told)| r.dataset.clone() + told).collect();
    let solvers = records.iter().zip(&stored).zip(&datasets).map(|((record, stored), dataset)| {
        let mut facts = Facts::from([("clock".to_owned(), record.clock.name().to_owned())]);
        let settings = &stored["settings"];
        facts.insert("evaluate".to_owned(), text(&settings["evaluate"]));
        for part in ["solver", "budget"] {
            let values = settings[part].as_object().into_iter().flatten();
            facts.extend(values.map(|(key, value)| (key.clone(), text(value))));
        }
        ((dataset.as_str(), record.solver), facts)
    });
    let labels = told_apart(solvers.collect());
    let labels = records.iter().zip(labels).map(|(record, told)| record.solver.name().to_owned() + &told);
    datasets.iter().cloned().zip(labels).collect()
}

type Facts = BTreeMap<String, String>;

/// For each item, ` (key=value, …)` of the facts that differ within its group; empty when none does.
fn told_apart<K: Ord + Clone>(items: Vec<(K, Facts)>) -> Vec<String> {
    let mut seen: BTreeMap<(K, &str), BTreeSet<&str>> = BTreeMap::new();
    for (group, facts) in &items {
        for (key, value) in facts {
            seen.entry((group.clone(), key)).or_default().insert(value);
        }
    }
    let tell = |(group, facts): &(K, Facts)| {
        let differs = |key: &str| seen[&(group.clone(), key)].len() > 1;
        let parts: Vec<String> =
            facts.iter().filter(|(key, _)| differs(key)).map(|(key, value)| format!("{key}={value}")).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    };
    items.iter().map(tell).collect()
}

/// A setting as a person would write it: `"auto"` → auto, `{"fixed":5}` → 5, absent → none.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(one) if one.len() == 1 => one.values().map(ToString::to_string).collect(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_by_prefix_in_the_papers_order() {
        let mut sets = ["zoo", "stanford-synth", "horses", "ocr", "usps-synth:n=9", "usps"];
        sets.sort_by_key(|name| dataset_rank(name));
        assert_eq!(sets, ["usps", "usps-synth:n=9", "ocr", "horses", "stanford-synth", "zoo"]);
    }

    #[test]
    fn file_stems_are_safe_and_distinct() {
        assert_eq!(file_stems(&["a:b/c", "a/b:c", "usps-synth:n=5"]), ["a_b_c", "a_b_c_2", "usps-synth_n=5"]);
    }
}
