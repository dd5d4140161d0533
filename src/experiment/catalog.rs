//! What the program knows: the tables of solvers and data sets, as everybody sees them who does not build any. Names in,
//! rows and opened data sets out.

use crate::dataset::{DatasetInfo, Description, Opened, Request};
use crate::error::Result;
use ssvm::problem::Paper;
use ssvm::solver::SolverInfo;

/// The tables of a program.
pub trait Catalog: Sync {
    /// Solvers, in the order of tables and legends.
    fn solvers(&self) -> &[SolverInfo];
    /// Data sets, in the order of tables and figures.
    fn datasets(&self) -> &[DatasetInfo];
    /// What a plan needs to know, without loading when that is possible. Everything in the request is checked.
    fn describe(&self, request: &Request<'_>) -> Result<Described>;
    /// Loads a data set.
    fn open(&self, request: &Request<'_>) -> Result<Opened>;
}

/// A data set that is known, and perhaps already loaded.
pub enum Described {
    /// It can be loaded later.
    Known(Description),
    /// It had to be loaded.
    Loaded(Opened),
}

/// The name before any colon.
fn head(dataset: &str) -> &str {
    dataset.split_once(':').map_or(dataset, |(head, _)| head)
}

impl dyn Catalog + '_ {
    /// The row of a solver; `None` for one that this program does not have (results of somebody else's).
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

    /// Place of a data set in tables and figures; unknown ones come last.
    pub fn dataset_rank(&self, name: &str) -> usize {
        self.datasets().iter().position(|info| info.name == head(name)).unwrap_or(usize::MAX)
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
