//! The tables of solvers and data sets of a program, for modules that look up rows and open data sets but build
//! neither.

use std::sync::Arc;

use crate::dataset::{DataDir, DatasetInfo, DatasetName, Described, Loaded, Request};
use crate::error::Result;
use ssvm::drive::AnyProblem;
use ssvm::problem::Paper;
use ssvm::solver::SolverInfo;

pub trait Catalog: Sync {
    /// The solvers, in the order of tables and legends.
    fn solvers(&self) -> &[SolverInfo];
    /// The data sets, in the order of tables and figures.
    fn datasets(&self) -> &[DatasetInfo];
    /// Describes a data set without loading it. Fails when the request is wrong or files are missing.
    fn describe(&self, request: &Request<'_>) -> Result<Described>;
    /// Version of a solver that the program adds to the library's, as part of the identity of its runs; `None` for a
    /// solver of the library. Fails if the version is that of the executable and the executable cannot be read.
    fn solver_version(&self, name: &str) -> Result<Option<String>>;
    /// The same for a data set, by its name with or without argument.
    fn problem_version(&self, dataset: &str) -> Result<Option<String>>;
    /// Loads a data set, after the work that it needs, and binds its problem to the solvers.
    fn open(&self, request: &Request<'_>) -> Result<Loaded<Arc<dyn AnyProblem>>>;
}

impl dyn Catalog + '_ {
    /// The row of a solver; `None` for one that this program does not have, as in results of another program.
    pub fn solver(&self, name: &str) -> Option<&SolverInfo> {
        self.solvers().iter().find(|info| info.name == name)
    }

    /// The row of a data set by its name with or without argument.
    pub fn dataset(&self, name: &str) -> Option<&DatasetInfo> {
        self.datasets().get(self.dataset_rank(name))
    }

    /// The name under which a data set is used: another than its own if its file is not the official one and that is
    /// accepted.
    pub fn used_name(&self, name: &str, data: &DataDir) -> Result<String> {
        let official = self.dataset(name).and_then(|info| info.known).filter(|_| data.accept);
        let other = official.map(|set| data.other_content(set)).transpose()?.flatten();
        Ok(if other.is_some() { DatasetName::from(name).accepted() } else { name.to_owned() })
    }

    /// Place of a solver in tables and legends; unknown ones come last.
    pub fn solver_rank(&self, name: &str) -> usize {
        self.solvers().iter().position(|info| info.name == name).unwrap_or(usize::MAX)
    }

    /// Place of a data set in tables and figures; unknown ones come last.
    pub fn dataset_rank(&self, name: &str) -> usize {
        let head = DatasetName::from(name).head;
        self.datasets().iter().position(|info| info.name == head).unwrap_or(usize::MAX)
    }

    /// The data set of the paper that this one is or stands for.
    pub fn paper(&self, name: &str) -> Option<Paper> {
        let info = self.dataset(name)?;
        info.family.filter(|_| info.in_paper)?.paper
    }

    /// The pairs that the paper compares: (single-plane, multi-plane).
    pub fn pairs(&self) -> Vec<(&SolverInfo, &SolverInfo)> {
        let paper = self.solvers().iter().filter(|multi| multi.in_paper);
        paper.filter_map(|multi| Some((self.solver(multi.partner?)?, multi))).collect()
    }
}
