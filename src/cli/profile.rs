//! `profile RESULTS`: a result folder in, the oracle-time table out.

use std::path::PathBuf;

use super::pages::Summary;
use super::print;
use crate::experiment::catalog::Catalog;
use crate::render::tables::profile;
use crate::table::TableFormat;

/// Print where the time went: oracle share and latencies per data set and solver
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench profile results/quick --format latex")]
pub struct ProfileArgs {
    /// Result folder, or the summary.json of one
    results: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Only runs whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// Runs the command; prints the table.
pub fn run(args: &ProfileArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let rows = Summary::open(&args.results, catalog, &args.only)?.profile;
    print(&match args.format {
        TableFormat::Text => profile::grid(&rows).text(),
        TableFormat::Json => serde_json::to_string_pretty(&rows)? + "\n",
        TableFormat::Markdown => profile::grid(&rows).markdown(),
        TableFormat::Latex => profile::grid(&rows).latex(),
    })
}
