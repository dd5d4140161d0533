//! `report RESULTS`: a result folder in, one HTML page out.

use std::path::PathBuf;

use super::pages::{self, Summary};
use super::print;
use crate::catalog::Catalog;

/// Write one self-contained HTML page about a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench report results/quick --out quick.html")]
pub struct ReportArgs {
    /// Result folder
    results: PathBuf,
    /// The page [default: RESULTS/report.html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only runs whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// Runs the command; prints the file it wrote.
pub fn run(args: &ReportArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let results = pages::open(&args.results, catalog, &args.only)?;
    let out = args.out.clone().unwrap_or_else(|| args.results.join("report.html"));
    pages::report(&results, &Summary::of(&results, &args.results)?, &out)?;
    print(&format!("{}\n", out.display()))
}
