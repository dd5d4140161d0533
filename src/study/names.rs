//! Names for people: keys → what a data set and a series are called, with what differs. Made here, read back nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::Argument;
use crate::experiment::catalog::Catalog;
use crate::store::keys::{Facts, ProblemKey, SeriesKey};
use crate::text::solver_name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Data set as in the config, with what tells problems of that name apart.
    pub dataset: String,
    /// Heading of the data set, with what tells it apart from others of that heading.
    pub title: String,
    /// Solver, with the settings that tell it apart: `mp-bcfw (T=5)`.
    pub label: String,
    pub display: String,
}

pub fn names(keys: &[&SeriesKey], catalog: &dyn Catalog) -> Vec<Name> {
    let problems: Vec<_> = keys.iter().map(|key| (key.problem.dataset.as_str(), key.problem.facts())).collect();
    let solvers: Vec<_> = keys.iter().map(|key| ((&key.problem, key.solver.name.as_str()), key.facts())).collect();
    let (problems, solvers) = (differences(&problems), differences(&solvers));
    let headings: Vec<(String, String)> =
        keys.iter().zip(&problems).map(|(key, differs)| heading(&key.problem, differs, catalog)).collect();
    let mut all = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let dataset = bracketed(&key.problem.dataset, &problems[at]);
        let (title, apart) = &headings[at];
        let others = |other: usize| headings[other].0 == *title && keys[other].problem != key.problem;
        let mut title = bracketed(title, if (0..keys.len()).any(others) { apart } else { "" });
        let mut costs = keys.iter().filter(|other| other.problem == key.problem).map(|other| other.oracle_cost);
        if !key.oracle_cost.is_one() && costs.all(|cost| cost == key.oracle_cost) {
            title += &format!(", oracle × {}", key.oracle_cost);
        }
        let label = bracketed(&key.solver.name, &solvers[at]);
        all.push(Name { dataset, title, label, display: bracketed(&solver_name(&key.solver.name), &solvers[at]) });
    }
    all
}

/// Heading of a data set, and what tells it apart from others with that heading: `usps-synth:n=9` at another λ is a
/// `USPS twin`, `n=9, lambda=1`. A file, and what this program does not have, is called as it is.
pub fn heading(problem: &ProblemKey, differs: &str, catalog: &dyn Catalog) -> (String, String) {
    let known = catalog.dataset(&problem.dataset).filter(|info| matches!(info.argument, Argument::Parameters(_)));
    let Some(info) = known else { return (bracketed(&problem.dataset, differs), String::new()) };
    let given = name_and_arguments(&problem.dataset).1.replace(',', ", ");
    let apart: Vec<&str> = [given.as_str(), differs].into_iter().filter(|part| !part.is_empty()).collect();
    (info.title.to_owned(), apart.join(", "))
}

/// `usps-synth:n=9` → `usps-synth`, `n=9`: the one place here that takes the name of a data set apart.
pub fn name_and_arguments(dataset: &str) -> (&str, &str) {
    dataset.split_once(':').unwrap_or((dataset, ""))
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
        let told = differences(&[
            ("mp", facts(&[("clock", "wall"), ("T", "5")])),
            ("mp", facts(&[("clock", "wall")])),
            ("fw", facts(&[("clock", "wall")])),
        ]);
        assert_eq!(told, ["T=5", "", ""]);
        assert_eq!([bracketed("mp", &told[0]), bracketed("fw", &told[2])], ["mp (T=5)", "fw"]);
    }

    #[test]
    fn file_stems_are_safe_and_distinct() {
        assert_eq!(file_stems(&["a:b/c", "a/b:c", "usps-synth:n=5"]), ["a_b_c", "a_b_c_2", "usps-synth_n=5"]);
    }
}
