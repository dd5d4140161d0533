//! The program as a value: the standard tables plus what the caller adds; [`Harness::main`] is the whole command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crate::dataset::{self, Bind, DatasetInfo, DatasetName, DatasetRow, DatasetTable, Described, Loaded, Request};
use crate::error::{Error, Result};
use crate::experiment::catalog::Catalog;
use crate::store::identity::program_version;
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
///         SolverInfo { name: "mine", about: "a solver of my own", ..SolverInfo::PLAIN }
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
    /// Solvers and data sets that are not the library's, by name, with the version that their row gives.
    own_solvers: Versions,
    own_datasets: Versions,
}

type Versions = BTreeMap<&'static str, Option<String>>;

/// Version of a row that is not the library's.
fn version_of(own: &Versions, name: &str) -> Result<Option<String>> {
    match own.get(name) {
        Some(None) => program_version().map(Some),
        Some(given) => Ok(given.clone()),
        None => Ok(None),
    }
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
        let (own_solvers, own_datasets) = (Versions::new(), Versions::new());
        Self { solvers: Arc::new(solvers), datasets, dataset_infos, own_solvers, own_datasets }
    }

    /// Adds a solver; one with the name of another takes its place.
    pub fn solver<R: SolverRow>(self, row: R) -> Harness<Added<S, R>, D> {
        let Self { solvers, datasets, dataset_infos, mut own_solvers, own_datasets } = self;
        own_solvers.insert(row.info().name, row.version());
        // A harness is put together before anything is opened, so its tables have one owner.
        let Ok(solvers) = Arc::try_unwrap(solvers) else {
            unreachable!("a data set was opened before the harness was complete")
        };
        let solvers = Arc::new(Added::new(solvers, row));
        Harness { solvers, datasets, dataset_infos, own_solvers, own_datasets }
    }

    /// Adds a data set with its problem; one with the name of another takes its place.
    pub fn problem<R: DatasetRow>(self, row: R) -> Harness<S, (D, R)> {
        let Self { solvers, own_solvers, mut own_datasets, .. } = self;
        own_datasets.insert(row.info().name, row.version());
        let datasets = (self.datasets, row);
        let dataset_infos = datasets.infos();
        Harness { solvers, datasets, dataset_infos, own_solvers, own_datasets }
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

    fn solver_version(&self, name: &str) -> Result<Option<String>> {
        version_of(&self.own_solvers, name)
    }

    fn problem_version(&self, dataset: &str) -> Result<Option<String>> {
        version_of(&self.own_datasets, DatasetName::from(dataset).row().0)
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
        let path = Path::new(request.name);
        if path.is_file() {
            let (kind, other) = match path.extension().and_then(|ending| ending.to_str()) {
                Some("npz") => ("graph", ""),
                _ => ("libsvm", ", or letters: for the layout of letter.data"),
            };
            return dataset::Error::IsAFile { name: request.name.to_owned(), kind, other }.into();
        }
        let near = nearest(request.head(), self.dataset_infos.iter().map(|info| info.name));
        let known: Vec<String> = self.dataset_infos.iter().map(DatasetInfo::usage).collect();
        dataset::Error::Unknown { name: request.name.to_owned(), near, known: known.join(", ") }.into()
    }
}
