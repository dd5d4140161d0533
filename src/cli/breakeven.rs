//! `breakeven RESULTS`: runs at several oracle costs → the table of ratios and crossings.

use std::path::PathBuf;

use super::{format, pages, print};
use crate::experiment::catalog::Catalog;
use crate::render::tables::breakeven;
use crate::table::Format;

/// Find the oracle cost at which each solver breaks even with BCFW
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench run --config breakeven --out results/breakeven\n  \
    ssvm-bench breakeven results/breakeven --format markdown")]
pub struct BreakEvenArgs {
    /// Result folder with runs at several oracle costs (oracle_cost), or the summary.json of one
    results: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Only runs whose DATASET/SOLVER matches, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

pub fn run(args: &BreakEvenArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let table = pages::summary(&args.results, catalog, &args.only)?.breakeven;
    if table.sets.is_empty() {
        anyhow::bail!(
            "{} has no data set with BCFW at two oracle costs; a config with oracle_cost = [1, 16] and `ssvm-bench run` make \
             them, `--config breakeven` for the built-in data sets",
            args.results.display()
        );
    }
    print(&match args.format {
        Format::Table => breakeven::text(&table),
        format => format::shown(format, &table, &breakeven::table(&table))?,
    })
}
