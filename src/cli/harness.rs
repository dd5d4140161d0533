//! The program as a value: the standard tables plus what the caller adds; [`Harness::main`] is the whole command line.

use std::process::ExitCode;
use std::sync::Arc;

use crate::dataset::{self, Bind, DatasetInfo, DatasetRow, DatasetTable, Described, Loaded, Request};
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::text::nearest;
use ssvm::drive::{AnyProblem, bind};
use ssvm::problem::Problem;
use ssvm::solver::{self, Added, SolverInfo, SolverRow, SolverTable};

/// A program with these solvers and data sets.
///
/// ```no_run
/// # use ssvm_bench::{Harness, Metered, Params, Problem, Solver, SolverInfo, SolverRow};
/// # use ssvm::solver::FrankWolfe;
/// struct Mine;
///
/// impl SolverRow for Mine {
///     fn info(&self) -> SolverInfo {
///         SolverInfo { name: "mine", label: "Mine", about: "a solver of my own", ..SolverInfo::PLAIN }
///     }
///     fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _: &Params, seed: u64) -> Box<dyn Solver + 'p> {
///         Box::new(FrankWolfe::new(problem, seed))
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     Harness::standard().solver(Mine).main()
/// }
/// ```
pub struct Harness<S, D> {
    solvers: Arc<S>,
    datasets: D,
    dataset_infos: Vec<DatasetInfo>,
}

impl Harness<solver::Standard, dataset::Standard> {
    /// The solvers and data sets of this crate.
    pub fn standard() -> Self {
        Self::of(solver::Standard, dataset::Standard)
    }
}

impl<S: SolverTable, D: DatasetTable> Harness<S, D> {
    fn of(solvers: S, datasets: D) -> Self {
        let dataset_infos = datasets.infos();
        Self { solvers: Arc::new(solvers), datasets, dataset_infos }
    }

    /// Adds a solver; one with the name of another takes its place.
    pub fn solver<R: SolverRow>(self, row: R) -> Harness<Added<S, R>, D> {
        let Self { solvers, datasets, dataset_infos } = self;
        match Arc::try_unwrap(solvers) {
            Ok(solvers) => Harness { solvers: Arc::new(Added::new(solvers, row)), datasets, dataset_infos },
            // A harness is put together before anything is opened, so nobody else holds its tables.
            Err(_) => unreachable!("a data set was opened before the harness was complete"),
        }
    }

    /// Adds a data set with its problem; one with the name of another takes its place.
    pub fn problem<R: DatasetRow>(self, row: R) -> Harness<S, (D, R)> {
        let datasets = (self.datasets, row);
        let dataset_infos = datasets.infos();
        Harness { solvers: self.solvers, datasets, dataset_infos }
    }

    /// The whole program: parses the arguments of the process, runs the command, reports errors.
    pub fn main(&self) -> ExitCode {
        crate::cli::main(self)
    }
}

impl<S: SolverTable, D: DatasetTable> Catalog for Harness<S, D> {
    fn solvers(&self) -> &[SolverInfo] {
        self.solvers.infos()
    }

    fn datasets(&self) -> &[DatasetInfo] {
        &self.dataset_infos
    }

    fn describe(&self, request: &Request<'_>) -> Result<Described> {
        self.datasets.describe(request).unwrap_or_else(|| Err(self.unknown(request)))
    }

    fn open(&self, request: &Request<'_>) -> Result<Loaded<Arc<dyn AnyProblem>>> {
        self.datasets.open(request, self).unwrap_or_else(|| Err(self.unknown(request)))
    }
}

impl<S: SolverTable, D> Bind for Harness<S, D> {
    type Bound = Arc<dyn AnyProblem>;

    fn bind<P: Problem + Send + Sync + 'static>(&self, problem: P) -> Arc<dyn AnyProblem> {
        bind(problem, self.solvers.clone())
    }
}

impl<S, D> Harness<S, D> {
    fn unknown(&self, request: &Request<'_>) -> Error {
        let near = nearest(request.head(), self.dataset_infos.iter().map(|info| info.name));
        let known: Vec<String> = self.dataset_infos.iter().map(DatasetInfo::usage).collect();
        Error::invalid(format!("unknown data set '{}'{near}; known: {}", request.name, known.join(", ")))
    }
}
