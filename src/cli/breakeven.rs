//! `breakeven RESULTS`: runs at several prices of the oracle in, the table of ratios and crossings out.

use std::path::PathBuf;

use super::pages::Summary;
use super::print;
use crate::experiment::catalog::Catalog;
use crate::render::tables::breakeven as text;

/// At which price of the oracle solvers cross: time to a gap over that of BCFW
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench run --config breakeven --out results/breakeven\n  \
    ssvm-bench breakeven results/breakeven --format markdown")]
pub struct BreakEvenArgs {
    /// Result folder with runs at several prices (oracle_cost), or the summary.json of one
    results: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Only runs whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// How the table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For the terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For a page.
    Markdown,
    /// For a paper (booktabs).
    Latex,
}

/// Runs the command; prints the table.
pub fn run(args: &BreakEvenArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let table = Summary::open(&args.results, catalog, &args.only)?.breakeven;
    if table.sets.is_empty() {
        anyhow::bail!(
            "{} has no data set with BCFW at two prices of the oracle; a config with oracle_cost = [1, 16] and `ssvm-bench \
             run` make them, `--config breakeven` for the built-in data sets",
            args.results.display()
        );
    }
    print(&match args.format {
        Format::Text => text::text(&table),
        Format::Json => serde_json::to_string_pretty(&table)? + "\n",
        Format::Markdown => text::grid(&table).markdown(),
        Format::Latex => text::grid(&table).latex(),
    })
}
