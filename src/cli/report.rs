//! `report RESULTS`: a result folder in, one HTML page out; two result folders in, one page with both side by side out.

use std::path::PathBuf;

use super::pages::{self, Summary};
use super::print;
use crate::experiment::catalog::Catalog;

/// Write one self-contained HTML page about a result folder, or about two side by side
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench report results/quick --out quick.html\n  \
    ssvm-bench report results/before results/after --out both.html")]
pub struct ReportArgs {
    /// Result folder
    results: PathBuf,
    /// Another one to put beside it
    other: Option<PathBuf>,
    /// The page [default: RESULTS/report.html; needed for two folders]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only runs whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// Runs the command; prints the file it wrote.
pub fn run(args: &ReportArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let results = pages::open(&args.results, catalog, &args.only)?;
    let summary = Summary::of(&results, &args.results)?;
    let out = match (&args.other, &args.out) {
        (None, out) => {
            let out = out.clone().unwrap_or_else(|| args.results.join("report.html"));
            pages::report(&results, &summary, &out)?;
            out
        }
        (Some(_), None) => {
            anyhow::bail!("where to? A page about two folders belongs to neither: name it with --out FILE")
        }
        (Some(other), Some(out)) => {
            let others = pages::open(other, catalog, &args.only)?;
            let names = [&args.results, other].map(|folder| folder.display().to_string());
            let second = Summary::of(&others, other)?;
            pages::report_of_two(names, [&results, &others], [&summary, &second], out)?;
            out.clone()
        }
    };
    print(&format!("{}\n", out.display()))
}
