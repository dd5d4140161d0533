//! The types that decide whether runs are comparable: the problem they solve ([`ProblemKey`]), the line of a figure or
//! row of a table that they belong to ([`SeriesKey`]), and the origin of their times ([`EnvironmentKey`]).
//!
//! Text is made from keys for people (`study::names`). Code compares keys; only arguments of commands are parsed from
//! text.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::record::RunRecord;
use crate::error::{Error, Result};
use crate::text::Pattern;
use ssvm::clock::{ClockKind, OracleCost};
use ssvm::ordered_by_key;
use ssvm::settings::{Budget, Cadence, SolverSpec, total_order};

/// A problem: runs with the same key have the same optimum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProblemKey {
    /// Name of the data set as in the config, such as `usps-synth:n=500`.
    pub dataset: String,
    #[serde(rename = "data_checksum")]
    pub checksum: String,
    /// λ, with the default resolved.
    pub lambda: f64,
    /// The pairwise weight; absent when it is the data set's own, which the checksum covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise_weight: Option<f64>,
}

ordered_by_key!(ProblemKey);

impl ProblemKey {
    fn key(&self) -> (&str, &str, i64, Option<i64>) {
        (&self.dataset, &self.checksum, total_order(self.lambda), self.pairwise_weight.map(total_order))
    }

    /// The facts that distinguish problems of one data set name, named as in configs.
    pub fn facts(&self) -> Facts {
        facts([
            ("lambda", self.lambda.to_string()),
            ("data", self.checksum.chars().take(8).collect()),
            ("pairwise_weight", or_none(self.pairwise_weight)),
        ])
    }
}

/// Runs that differ only in their seed: one line of a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    pub problem: ProblemKey,
    pub solver: SolverSpec,
    /// Factor on the time inside the exact oracle.
    pub oracle_cost: OracleCost,
    pub clock: ClockKind,
    pub budget: Budget,
    pub evaluate: Cadence,
    pub environment: EnvironmentKey,
}

impl SeriesKey {
    /// Whether times of the two may be compared: same clock, same oracle cost, same environment.
    pub fn same_times(&self, other: &Self) -> bool {
        (self.clock, self.oracle_cost, &self.environment) == (other.clock, other.oracle_cost, &other.environment)
    }

    /// Number of facts that the two have in common.
    pub fn alike(&self, other: &Self) -> usize {
        let other = other.facts();
        self.facts().iter().filter(|(name, value)| other.get(*name) == Some(value)).count()
    }

    /// The facts that distinguish series of one problem and solver name, named as in configs.
    pub fn facts(&self) -> Facts {
        let Budget { iterations, time_s, oracle_calls, gap, until } = &self.budget;
        let mut pairs = vec![
            ("clock", self.clock.name().to_owned()),
            ("evaluate", self.evaluate.to_string()),
            ("iterations", or_none(*iterations)),
            ("time_s", or_none(*time_s)),
            ("oracle_calls", or_none(*oracle_calls)),
            ("gap", or_none(*gap)),
            ("until", until.name().to_owned()),
        ];
        if !self.oracle_cost.is_one() {
            pairs.push(("oracle_cost", self.oracle_cost.to_string()));
        }
        match &self.environment {
            EnvironmentKey::Modelled { cost_model } => pairs.push(("cost_model", or_none(*cost_model))),
            EnvironmentKey::Measured { host, jobs, threads, build } => {
                let jobs = if *jobs == 1 { "isolated".to_owned() } else { jobs.to_string() };
                let threads = threads.to_string();
                pairs.extend([("host", host.clone()), ("jobs", jobs), ("threads", threads), ("build", build.clone())]);
            }
        }
        pairs.extend(self.solver.params.iter().map(|(name, value)| (name.as_str(), value.to_string())));
        facts(pairs)
    }
}

/// One setting of a solver on a data set, whatever its seed and budget: what gates compare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// Name of the data set as in the config, such as `usps-synth:n=300`.
    pub dataset: String,
    pub solver: SolverSpec,
    pub oracle_cost: OracleCost,
}

impl CellKey {
    /// The solver with its defaults, at oracle cost 1.
    pub fn new(dataset: impl Into<String>, solver: impl Into<String>) -> Self {
        Self { dataset: dataset.into(), solver: SolverSpec::new(solver), oracle_cost: OracleCost::ONE }
    }

    /// The solver with its parameters, and with the oracle cost unless that is 1: `mp-bcfw (T=5) k=16`.
    pub fn setting(&self) -> String {
        let cost = if self.oracle_cost.is_one() { String::new() } else { format!(" k={}", self.oracle_cost) };
        format!("{}{cost}", self.solver)
    }
}

impl fmt::Display for CellKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.dataset, self.setting()))
    }
}

/// Everything besides the solver that changes times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EnvironmentKey {
    /// A clock that gives the same times on every machine: the version of its cost model, absent in records from before
    /// versions.
    Modelled { cost_model: Option<u32> },
    Measured {
        /// Host class; the host's name if the class is not known.
        host: String,
        jobs: u64,
        threads: u64,
        build: String,
    },
}

/// A selection of `--only`: data sets, or data sets and solvers, optionally at one oracle cost.
///
/// `usps*` selects every data set whose name begins with `usps`, `*/mp-bcfw (T=5)` that setting of the solver on every
/// data set, and `*/mp-bcfw k=16` the solver at that oracle cost; without ` k=…` all oracle costs match.
#[derive(Clone, Debug)]
pub struct CellPattern {
    text: String,
    cell: Pattern,
    cost: Option<Pattern>,
}

impl CellPattern {
    /// Parses patterns; fails when one is malformed.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>> {
        texts.iter().map(|text| text.parse()).collect()
    }

    /// Whether the pattern selects a data set and solver, at this oracle cost or at any.
    pub fn matches(&self, dataset: &str, solver: &SolverSpec, cost: Option<OracleCost>) -> bool {
        let at_cost = |pattern: &Pattern| cost.is_none_or(|cost| pattern.matches(&cost.to_string()));
        self.cell.matches(&format!("{dataset}/{solver}")) && self.cost.as_ref().is_none_or(at_cost)
    }
}

impl std::str::FromStr for CellPattern {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let (cell, cost) = text.rsplit_once(" k=").map_or((text, None), |(cell, cost)| (cell, Some(cost)));
        let pattern =
            |part: &str| Pattern::new(part).map_err(|reason| super::Error::Pattern { text: text.to_owned(), reason });
        Ok(Self { text: text.to_owned(), cell: pattern(cell)?, cost: cost.map(pattern).transpose()? })
    }
}

impl PartialEq for CellPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for CellPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Name → value, for people: labels show those that differ.
pub type Facts = BTreeMap<String, String>;

fn facts<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> Facts {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn or_none(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

impl RunRecord {
    pub fn problem(&self) -> &ProblemKey {
        &self.identity.problem
    }

    pub fn cell(&self) -> CellKey {
        self.identity.cell()
    }

    pub fn series(&self) -> SeriesKey {
        let (settings, here) = (self.settings(), &self.environment);
        SeriesKey {
            problem: self.problem().clone(),
            solver: settings.solver.clone(),
            oracle_cost: settings.oracle_cost,
            clock: settings.clock,
            budget: settings.budget.clone(),
            evaluate: settings.evaluate.clone(),
            environment: if settings.clock.repeatable() {
                EnvironmentKey::Modelled { cost_model: self.identity.cost_model }
            } else {
                EnvironmentKey::Measured {
                    host: here.host_kind().to_owned(),
                    jobs: here.jobs.max(1),
                    threads: here.threads,
                    build: here.build.clone(),
                }
            },
        }
    }
}
