//! Sessions on configs that are texts: the checked experiment, the options of a quiet session, the session itself.

use std::path::Path;

use ssvm_bench::experiment::Experiment;
use ssvm_bench::experiment::Plan;
use ssvm_bench::run::progress::Verbosity;
use ssvm_bench::run::session::{self, Finished, Options};
use ssvm_bench::run::worker::StopSignal;
use ssvm_bench::store::folder::{Contents, Folder, Store};
use ssvm_bench::{Catalog, DataDir, Harness, Result};

/// A config that is right.
pub fn experiment(text: &str) -> Experiment {
    Experiment::parse(Path::new("test.toml"), text, Harness::standard().solvers()).unwrap()
}

/// This many workers, nothing forced, no messages.
pub fn options(out: &Path, jobs: usize) -> Options {
    Options {
        out: out.to_owned(),
        data_dir: DataDir::resolve(None),
        jobs: Some(jobs),
        isolated: false,
        force: false,
        prune: false,
        warn_of_others: true,
        verbosity: Verbosity::Quiet,
        part: None,
        stop: StopSignal::default(),
    }
}

/// Everything that is missing, with these options and tables.
pub fn run_with(text: &str, options: &Options, catalog: &dyn Catalog) -> Result<Finished> {
    let experiment = Experiment::parse(Path::new("test.toml"), text, catalog.solvers())?;
    let plan = Plan::new(&experiment, catalog, &options.data_dir)?;
    session::run(&experiment, plan, catalog, options, Contents::default())
}

/// The same with the standard tables.
pub fn run(text: &str, out: &Path, jobs: usize) -> Result<Finished> {
    run_with(text, &options(out, jobs), &Harness::standard())
}

/// Rewrites the runs of a folder as those of another cost model, under the identities that they then have.
pub fn under_cost_model(out: &Path, model: u32) {
    let store = Store::open(out).unwrap();
    for mut record in store.scan(Folder::Runs).unwrap().records {
        std::fs::remove_file(store.path(Folder::Runs, &record.run_id())).unwrap();
        record.identity.cost_model = Some(model);
        store.write(Folder::Runs, &record).unwrap();
    }
}
