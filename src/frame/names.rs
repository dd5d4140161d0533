//! Data set and series names: records in; family, title, order and label out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::config::SolverKind;
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

/// The label of each record's series: the solver's name, followed by the settings in which runs of that solver differ
/// within one data set (parameters of the solver, clock).
pub fn labels(records: &[&RunRecord]) -> Vec<String> {
    let settings: Vec<BTreeMap<String, String>> = records.iter().map(|record| settings_of(record)).collect();
    let mut seen: BTreeMap<(&str, SolverKind, &str), BTreeSet<&str>> = BTreeMap::new();
    for (record, settings) in records.iter().zip(&settings) {
        for (key, value) in settings {
            seen.entry((&record.dataset, record.solver, key)).or_default().insert(value);
        }
    }
    records
        .iter()
        .zip(&settings)
        .map(|(record, settings)| {
            let differs = |key: &str| seen[&(record.dataset.as_str(), record.solver, key)].len() > 1;
            let parts: Vec<String> =
                settings.iter().filter(|(key, _)| differs(key)).map(|(key, value)| format!("{key}={value}")).collect();
            if parts.is_empty() {
                record.solver.name().to_owned()
            } else {
                format!("{} ({})", record.solver.name(), parts.join(", "))
            }
        })
        .collect()
}

/// The settings that make two runs of one solver different lines.
fn settings_of(record: &RunRecord) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([("clock".to_owned(), record.clock.name().to_owned())]);
    let stored: Value = serde_json::from_str(&record.facts.settings).unwrap_or(Value::Null);
    if let Some(solver) = stored.get("solver").and_then(Value::as_object) {
        for (key, value) in solver.iter().filter(|(key, _)| *key != "kind") {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Object(one) if one.len() == 1 => one.values().map(ToString::to_string).collect(),
                other => other.to_string(),
            };
            settings.insert(key.clone(), text);
        }
    }
    settings
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
