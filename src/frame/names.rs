//! Series and file names: records in; for each the name of its data set and of its line, with what differs.

use std::collections::{BTreeMap, BTreeSet};

use crate::settings::Cadence;
use crate::trace::RunRecord;

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
    let optional = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let problems = records.iter().map(|record| {
        let identity = &record.identity;
        let facts = Facts::from([
            ("lambda".to_owned(), identity.lambda.to_string()),
            ("data".to_owned(), identity.data_checksum.chars().take(8).collect()),
            ("pairwise_weight".to_owned(), optional(identity.pairwise_weight.map(|weight| weight.to_string()))),
        ]);
        (record.dataset(), facts)
    });
    let problems = differences(problems.collect());
    let datasets: Vec<String> =
        records.iter().zip(&problems).map(|(r, differs)| r.dataset().to_owned() + differs).collect();
    let solvers = records.iter().zip(&datasets).map(|(record, dataset)| {
        let settings = record.settings();
        let budget = &settings.budget;
        let mut facts = Facts::from([
            ("clock".to_owned(), settings.clock.name().to_owned()),
            ("evaluate".to_owned(), cadence(&settings.evaluate)),
            ("iterations".to_owned(), optional(budget.iterations.map(|v| v.to_string()))),
            ("time_s".to_owned(), optional(budget.time_s.map(|v| v.to_string()))),
            ("oracle_calls".to_owned(), optional(budget.oracle_calls.map(|v| v.to_string()))),
            ("gap".to_owned(), optional(budget.gap.map(|v| v.to_string()))),
        ]);
        facts.extend(settings.solver.params.iter().map(|(key, value)| (key.clone(), value.to_string())));
        ((dataset.as_str(), record.solver()), facts)
    });
    let labels = differences(solvers.collect());
    let labels = records.iter().zip(labels).map(|(record, differs)| record.solver().to_owned() + &differs);
    datasets.iter().cloned().zip(labels).collect()
}

/// As in a config.
fn cadence(evaluate: &Cadence) -> String {
    match evaluate {
        Cadence::Every(k) => format!("every:{k}"),
        Cadence::Log => "log".to_owned(),
        Cadence::At(list) => format!("at:{}", list.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
    }
}

type Facts = BTreeMap<String, String>;

/// For each item, ` (key=value, …)` of the facts that differ within its group (a key that only some have differs); empty
/// when none does.
fn differences<K: Ord + Clone>(items: Vec<(K, Facts)>) -> Vec<String> {
    let mut seen: BTreeMap<(K, &str), BTreeSet<&str>> = BTreeMap::new();
    let mut sizes: BTreeMap<K, usize> = BTreeMap::new();
    let mut counts: BTreeMap<(K, &str), usize> = BTreeMap::new();
    for (group, facts) in &items {
        *sizes.entry(group.clone()).or_default() += 1;
        for (key, value) in facts {
            seen.entry((group.clone(), key)).or_default().insert(value);
            *counts.entry((group.clone(), key)).or_default() += 1;
        }
    }
    let tell = |(group, facts): &(K, Facts)| {
        let differs = |key: &str| {
            let place = (group.clone(), key);
            seen[&place].len() > 1 || counts[&place] < sizes[group]
        };
        let parts: Vec<String> =
            facts.iter().filter(|(key, _)| differs(key)).map(|(key, value)| format!("{key}={value}")).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    };
    items.iter().map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told() {
        let facts = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let told = differences(vec![
            ("mp", facts(&[("clock", "wall"), ("T", "5")])),
            ("mp", facts(&[("clock", "wall")])),
            ("fw", facts(&[("clock", "wall")])),
        ]);
        assert_eq!(told, [" (T=5)", "", ""]);
    }

    #[test]
    fn file_stems_are_safe_and_distinct() {
        assert_eq!(file_stems(&["a:b/c", "a/b:c", "usps-synth:n=5"]), ["a_b_c", "a_b_c_2", "usps-synth_n=5"]);
    }
}
