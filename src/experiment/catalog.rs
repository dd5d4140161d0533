//! The tables of solvers and data sets of a program, for modules that build neither: names → rows and opened data sets.

use std::sync::Arc;

use crate::dataset::{Argument, DatasetInfo, Described, Loaded, Request};
use crate::error::Result;
use ssvm::drive::AnyProblem;
use ssvm::problem::Paper;
use ssvm::solver::SolverInfo;

/// The tables of a program.
pub trait Catalog: Sync {
    /// Solvers, in the order of tables and legends.
    fn solvers(&self) -> &[SolverInfo];
    /// Data sets, in the order of tables and figures.
    fn datasets(&self) -> &[DatasetInfo];
    /// What is known of a data set without loading it. Fails when the request is wrong or files are missing.
    fn describe(&self, request: &Request<'_>) -> Result<Described>;
    /// Version of a solver that the program adds to the library's, as part of the identity of its runs; `None` for a solver
    /// of the library. An error when it is that of the executable and the executable cannot be read.
    fn solver_version(&self, name: &str) -> Result<Option<String>>;
    /// The same of a data set, by its name with or without argument.
    fn problem_version(&self, dataset: &str) -> Result<Option<String>>;
    /// Loads a data set, after the work that it needs first, and binds its problem to the solvers.
    fn open(&self, request: &Request<'_>) -> Result<Loaded<Arc<dyn AnyProblem>>>;
}

/// The name before any colon.
fn head(dataset: &str) -> &str {
    dataset.split_once(':').map_or(dataset, |(head, _)| head)
}

impl dyn Catalog + '_ {
    /// The row of a solver; `None` for one that this program does not have (results of another program).
    pub fn solver(&self, name: &str) -> Option<&SolverInfo> {
        self.solvers().iter().find(|info| info.name == name)
    }

    /// The row of a data set by its name with or without argument.
    pub fn dataset(&self, name: &str) -> Option<&DatasetInfo> {
        self.datasets().iter().find(|info| info.name == head(name))
    }

    /// Place of a solver in tables and legends; unknown ones come last.
    pub fn solver_rank(&self, name: &str) -> usize {
        self.solvers().iter().position(|info| info.name == name).unwrap_or(usize::MAX)
    }

    /// Sort key of data sets: the order of the table, then the name.
    pub fn dataset_rank<'n>(&self, name: &'n str) -> (usize, &'n str) {
        // A name with what differs behind it (`usps (lambda=…)`) is found by its first word.
        let row = |name: &str| self.datasets().iter().position(|info| info.name == head(name));
        let word = name.split(' ').next().unwrap_or(name);
        (row(name).or_else(|| row(word)).unwrap_or(usize::MAX), name)
    }

    /// The data set of the paper that this one is or stands for.
    pub fn paper(&self, name: &str) -> Option<Paper> {
        let word = name.split(' ').next().unwrap_or(name);
        let info = self.dataset(name).or_else(|| self.dataset(word))?;
        info.family.filter(|_| info.in_paper)?.paper
    }

    /// Whether this is a synthetic twin.
    pub fn is_twin(&self, name: &str) -> bool {
        self.dataset(name).is_some_and(|info| info.twin_of.is_some())
    }

    /// Heading of a data set, and what tells it apart from others with that heading: `usps-synth:n=9 (lambda=1)` is a
    /// `USPS twin`, `n=9, lambda=1`. A file, and what this program does not know, is called as it is.
    pub fn title(&self, name: &str) -> (String, String) {
        let (whole, differs) = name.strip_suffix(')').and_then(|name| name.split_once(" (")).unwrap_or((name, ""));
        let info = self.dataset(whole).filter(|info| matches!(info.argument, Argument::Parameters(_)));
        let Some(info) = info else { return (name.to_owned(), String::new()) };
        let given = whole.split_once(':').map_or("", |(_, given)| given).replace(',', ", ");
        let apart: Vec<&str> = [given.as_str(), differs].into_iter().filter(|part| !part.is_empty()).collect();
        (info.title.to_owned(), apart.join(", "))
    }

    /// The name of a solver in figures, with what differs behind it: `mp-bcfw (T=5)` → `MP-BCFW (T=5)`.
    pub fn label(&self, series: &str) -> String {
        let (name, rest) = series.split_at(series.find(' ').unwrap_or(series.len()));
        self.solver(name).map_or_else(|| series.to_owned(), |info| format!("{}{rest}", info.label))
    }

    /// The pairs that the paper compares: (single-plane, multi-plane).
    pub fn pairs(&self) -> Vec<(&SolverInfo, &SolverInfo)> {
        let paper = self.solvers().iter().filter(|multi| multi.in_paper);
        paper.filter_map(|multi| Some((self.solver(multi.partner?)?, multi))).collect()
    }
}
