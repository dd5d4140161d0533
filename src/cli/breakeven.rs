//! `breakeven RESULTS`: runs at several oracle costs → the table of ratios and crossings.

use super::pages::FoundIn;
use super::{print, print_width};
use crate::experiment::catalog::Catalog;
use crate::render::tables::breakeven;
use crate::table::Format;

/// Find the oracle cost at which each solver breaks even with BCFW
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench run --config breakeven --out results/breakeven\n  \
    ssvm-bench breakeven results/breakeven --format markdown")]
pub struct BreakEvenArgs {
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    found_in: FoundIn,
}

pub fn run(args: &BreakEvenArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let summary = args.found_in.summary(catalog)?;
    let remark = summary.remark().map_or(String::new(), |remark| format!("\n{remark}\n"));
    let table = summary.breakeven;
    if table.sets.is_empty() {
        anyhow::bail!(
            "{} has no data set with BCFW at two oracle costs; a config with oracle_cost = [1, 16] and `ssvm-bench run` make \
             them, `--config breakeven` for the built-in data sets",
            args.found_in.results.display()
        );
    }
    print(&match args.format {
        Format::Table => breakeven::text(&table, print_width()) + &remark,
        Format::Markdown => breakeven::table(&table).markdown() + &remark,
        format => breakeven::table(&table).render(format, print_width(), &table)?,
    })
}
