//! Series and file names: records in; for each the name of its data set and of its line, with what differs.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{Environment, RunRecord};
use ssvm::settings::{Cadence, Until};

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

/// What a record's line is called, and what it is told by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Data set.
    pub dataset: String,
    /// Solver with the settings that tell it apart.
    pub label: String,
    /// Parameters, budget, cadence, clock; circumstances where they change its times.
    pub facts: Facts,
}

/// Keys of [`circumstances`]: times of runs that differ in one of them are not put together.
pub const CIRCUMSTANCES: [&str; 6] = ["clock", "host", "jobs", "threads", "build", PRICE];

/// Key of the price of the oracle; those at its own price do not have it.
pub const PRICE: &str = "oracle_cost";

/// The clock and, unless it gives the same times everywhere, what changes times and is not the solver.
fn circumstances(record: &RunRecord) -> Facts {
    let clock = record.settings().clock;
    let mut facts = Facts::from([("clock".to_owned(), clock.name().to_owned())]);
    let cost = record.settings().oracle_cost;
    if !cost.is_one() {
        facts.insert(PRICE.to_owned(), cost.to_string());
    }
    if !clock.repeatable() {
        let Environment { host, host_class, jobs, threads, build, .. } = &record.environment;
        let host = if host_class.is_empty() { host } else { host_class };
        facts.insert("host".to_owned(), host.clone());
        facts.insert("jobs".to_owned(), if *jobs <= 1 { "isolated".to_owned() } else { jobs.to_string() });
        facts.insert("threads".to_owned(), threads.to_string());
        facts.insert("build".to_owned(), build.clone());
    }
    facts
}

/// The names of each record's series. Runs of one name that differ in λ, pairwise weight or content are different
/// problems and must not share bounds; runs of one solver on one problem that differ in parameters, clock, budget or
/// cadence are different lines, and so are those that a wall or CPU clock timed on other machines, beside other
/// numbers of workers, with other numbers of threads or in other builds. What differs is added to the name, as in `mp-bcfw (passes=5)`.
pub fn series(records: &[&RunRecord]) -> Vec<Name> {
    let optional = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let problems = records.iter().map(|record| {
        let identity = &record.identity;
        let facts = Facts::from([
            ("lambda".to_owned(), identity.problem.lambda.to_string()),
            ("data".to_owned(), identity.problem.checksum.chars().take(8).collect()),
            ("pairwise_weight".to_owned(), optional(identity.problem.pairwise_weight.map(|weight| weight.to_string()))),
        ]);
        (record.dataset(), facts)
    });
    let problems = differences(problems.collect());
    let datasets: Vec<String> =
        records.iter().zip(&problems).map(|(r, differs)| r.dataset().to_owned() + differs).collect();
    let solvers = records.iter().zip(&datasets).map(|(record, dataset)| {
        let settings = record.settings();
        let budget = &settings.budget;
        let mut facts = circumstances(record);
        facts.extend([
            ("evaluate".to_owned(), cadence(&settings.evaluate)),
            ("iterations".to_owned(), optional(budget.iterations.map(|v| v.to_string()))),
            ("time_s".to_owned(), optional(budget.time_s.map(|v| v.to_string()))),
            ("oracle_calls".to_owned(), optional(budget.oracle_calls.map(|v| v.to_string()))),
            ("gap".to_owned(), optional(budget.gap.map(|v| v.to_string()))),
            ("until".to_owned(), Until::NAMES[budget.until as usize].to_owned()),
        ]);
        facts.extend(settings.solver.params.iter().map(|(key, value)| (key.clone(), value.to_string())));
        ((dataset.as_str(), record.solver()), facts)
    });
    let solvers: Vec<((&str, &str), Facts)> = solvers.collect();
    let labels = differences(solvers.clone());
    let named = |(((dataset, solver), facts), differs): (((&str, &str), Facts), String)| Name {
        dataset: dataset.to_owned(),
        label: solver.to_owned() + &differs,
        facts,
    };
    solvers.into_iter().zip(labels).map(named).collect()
}

/// As in a config.
fn cadence(evaluate: &Cadence) -> String {
    match evaluate {
        Cadence::Every(k) => format!("every:{k}"),
        Cadence::Log => "log".to_owned(),
        Cadence::At(list) => format!("at:{}", list.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// Key → value, as a config would write them.
pub type Facts = BTreeMap<String, String>;

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
