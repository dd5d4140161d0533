//! Display names: keys → names of data sets and series with the facts in which they differ. They are never parsed.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::{Argument, DatasetName};
use crate::experiment::catalog::Catalog;
use crate::store::keys::{Facts, ProblemKey, SeriesKey};
use crate::text::solver_name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Data set as in the config, with the facts that distinguish problems of that name.
    pub dataset: String,
    /// Heading of the data set, with the facts that distinguish it from others with that heading.
    pub title: String,
    /// Solver, with the settings that distinguish it: `mp-bcfw (T=5)`.
    pub label: String,
    pub display: String,
}

/// The names of the series of a view. A series that also exists in `beside`, at another oracle cost, gets the same name there, so that a
/// solver on a data set has one name in both views.
pub fn names(keys: &[&SeriesKey], beside: &[&SeriesKey], catalog: &dyn Catalog) -> Vec<Name> {
    let lent: Vec<SeriesKey> = keys.iter().map(|key| as_beside(key, keys, beside)).collect();
    let all: Vec<&SeriesKey> = lent.iter().chain(beside.iter().copied()).collect();
    let problems: Vec<_> = all.iter().map(|key| (key.problem.dataset.as_str(), key.problem.facts())).collect();
    let solvers: Vec<_> = all.iter().map(|key| ((&key.problem, key.solver.name.as_str()), key.facts())).collect();
    let (problems, solvers) = (differences(&problems), differences(&solvers));
    let headings: Vec<(String, String)> =
        all.iter().zip(&problems).map(|(key, differs)| heading(&key.problem, differs, catalog)).collect();
    let mut names = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let dataset = bracketed(&key.problem.dataset, &problems[at]);
        let (title, apart) = &headings[at];
        let others = |other: usize| headings[other].0 == *title && all[other].problem != key.problem;
        let mut title = bracketed(title, if (0..all.len()).any(others) { apart } else { "" });
        let mut costs = keys.iter().filter(|other| other.problem == key.problem).map(|other| other.oracle_cost);
        if !key.oracle_cost.is_one() && costs.all(|cost| cost == key.oracle_cost) {
            title += &format!(", oracle × {}", key.oracle_cost);
        }
        let label = bracketed(&key.solver.name, &solvers[at]);
        names.push(Name { dataset, title, label, display: bracketed(&solver_name(&key.solver.name), &solvers[at]) });
    }
    names
}

/// A key with the oracle cost, the budget and the cadence of its counterpart beside it: the series of the same problem and
/// solver, in the same environment where there are several. Without one it takes those of another setting of its solver.
fn as_beside(key: &SeriesKey, keys: &[&SeriesKey], beside: &[&SeriesKey]) -> SeriesKey {
    let same = |other: &SeriesKey| (&other.problem, &other.solver) == (&key.problem, &key.solver);
    let alone = [keys, beside].iter().all(|keys| keys.iter().filter(|other| same(other)).count() == 1);
    let timed_alike = |other: &SeriesKey| (other.clock, &other.environment) == (key.clock, &key.environment);
    let counterparts = beside.iter().filter(|other| same(other) && (alone || timed_alike(other)));
    let differs = |other: &&&SeriesKey| (other.budget != key.budget, other.evaluate != key.evaluate);
    if let Some(other) = counterparts.min_by_key(differs) {
        return (*other).clone();
    }
    let setting = |other: &&&SeriesKey| other.problem == key.problem && other.solver.name == key.solver.name;
    let other = beside.iter().find(setting).copied().unwrap_or(key);
    SeriesKey {
        oracle_cost: other.oracle_cost,
        budget: other.budget.clone(),
        evaluate: other.evaluate.clone(),
        ..key.clone()
    }
}

/// Heading of a data set, and the facts that distinguish it from others with that heading: `usps-synth:n=9` at another λ is a
/// `USPS twin`, `n=9, lambda=1`. A file, and what this program does not have, is called as it is.
pub fn heading(problem: &ProblemKey, differs: &str, catalog: &dyn Catalog) -> (String, String) {
    let known = catalog.dataset(&problem.dataset).filter(|info| matches!(info.argument, Argument::Parameters(_)));
    let Some(info) = known else { return (bracketed(&problem.dataset, differs), String::new()) };
    let given = DatasetName::from(&*problem.dataset).argument.replace(',', ", ");
    let apart: Vec<&str> = [given.as_str(), differs].into_iter().filter(|part| !part.is_empty()).collect();
    (info.title.to_owned(), apart.join(", "))
}

fn bracketed(name: &str, differs: &str) -> String {
    if differs.is_empty() { name.to_owned() } else { format!("{name} ({differs})") }
}

/// For each item, `key=value, …` of the facts that differ within its group; a key that only some have differs.
fn differences<K: Ord>(items: &[(K, Facts)]) -> Vec<String> {
    let mut groups: BTreeMap<&K, Vec<&Facts>> = BTreeMap::new();
    for (group, facts) in items {
        groups.entry(group).or_default().push(facts);
    }
    let mut all = Vec::new();
    for (group, facts) in items {
        let differs = |(key, value): &(&String, &String)| groups[group].iter().any(|o| o.get(*key) != Some(*value));
        let parts: Vec<String> = facts.iter().filter(differs).map(|(key, value)| format!("{key}={value}")).collect();
        all.push(parts.join(", "));
    }
    all
}

pub fn file_stems(datasets: &[&str]) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut stems = Vec::new();
    for dataset in datasets {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "-.=".contains(c) { c } else { '_' };
        let stem: String = dataset.chars().map(safe).take(80).collect();
        let copies = std::iter::once(stem.clone()).chain((2..).map(|copy| format!("{stem}_{copy}")));
        stems.extend(copies.into_iter().find(|name| used.insert(name.clone())));
    }
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told() {
        let facts = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let found = differences(&[
            ("mp", facts(&[("clock", "wall"), ("T", "5")])),
            ("mp", facts(&[("clock", "wall")])),
            ("fw", facts(&[("clock", "wall")])),
        ]);
        assert_eq!(found, ["T=5", "", ""]);
        assert_eq!([bracketed("mp", &found[0]), bracketed("fw", &found[2])], ["mp (T=5)", "fw"]);
    }

    #[test]
    fn file_stems_are_safe_and_distinct() {
        assert_eq!(file_stems(&["a:b/c", "a/b:c", "usps-synth:n=5"]), ["a_b_c", "a_b_c_2", "usps-synth_n=5"]);
    }
}
