//! `profile RESULTS`: the oracle-time table.

use super::pages::FoundIn;
use super::{print, print_width};
use crate::experiment::catalog::Catalog;
use crate::render::tables::profile;
use crate::table::Format;

/// Print where the time went: oracle share and latencies per data set and solver
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench profile results/quick --format latex")]
pub struct ProfileArgs {
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    found_in: FoundIn,
}

pub fn run(args: &ProfileArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let rows = args.found_in.summary(catalog)?.profile;
    print(&profile::table(&rows).render(args.format, print_width(), &rows)?)
}
