//! `profile RESULTS`: the oracle-time table.

use std::path::PathBuf;

use super::{format, pages, print};
use crate::experiment::catalog::Catalog;
use crate::render::tables::profile;
use crate::table::Format;

/// Print where the time went: oracle share and latencies per data set and solver
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench profile results/quick --format latex")]
pub struct ProfileArgs {
    /// Result folder, or the summary.json of one
    results: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Only runs whose DATASET/SOLVER matches, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

pub fn run(args: &ProfileArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let rows = pages::summary(&args.results, catalog, &args.only)?.profile;
    print(&format::shown(args.format, &rows, &profile::table(&rows))?)
}
