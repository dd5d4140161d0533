//! `figures RESULTS`: a result folder → figure files, and tables for other plotters.

use std::path::PathBuf;

use super::args::OnlyArgs;
use super::{pages, print};
use crate::experiment::catalog::Catalog;
use crate::render;
use crate::render::figure::{self, FileFormat};
use crate::study::Summary;

/// Draw the figures of the paper from a result folder
///
/// The figures of the paper show all solvers, or those of the paper if there are more than eight; --only selects
/// others. --tables also writes the numbers behind the figures. `list figures` says what each figure shows.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench figures results/quick --format svg,pdf --tables\n  \
    ssvm-bench figures results/quick --only '*/mp-*' --out figures\n  \
    ssvm-bench figures results/quick/figures --index")]
pub struct FiguresArgs {
    /// Result folder; with --index, a folder of figures
    results: PathBuf,
    /// Print a Markdown page about the figures in the folder, and draw nothing
    #[arg(long, conflicts_with_all = ["out", "tables", "only"])]
    index: bool,
    /// Folder for the figures [default: RESULTS/figures]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// File formats
    #[arg(long, value_enum, value_delimiter = ',', default_value = "svg,png")]
    format: Vec<FileFormat>,
    /// Also write the tables behind the figures as Parquet and CSV, into DIR (relative to RESULTS)
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "tables")]
    tables: Option<PathBuf>,
    /// Write only the tables
    #[arg(long, requires = "tables", conflicts_with = "out")]
    no_figures: bool,
    #[command(flatten)]
    only: OnlyArgs,
}

/// Runs the command; prints the files it wrote.
pub fn run(args: &FiguresArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    if args.index {
        return print(&figure::index::page(&args.results)?);
    }
    let only = &args.only.only;
    let results = pages::open(&args.results, catalog, only)?;
    let summary = Summary::of(&results, &args.results);
    let mut files = Vec::new();
    if !args.no_figures {
        // Requested solvers are all shown, however many lines that makes.
        let shown = if only.is_empty() { Vec::new() } else { vec!["*".to_owned()] };
        let (figures, left_out) = figure::draw(&results, &summary, &shown, true)?;
        pages::note_left_out(&left_out, &results, &shown);
        let out = args.out.clone().unwrap_or_else(|| args.results.join("figures"));
        files = figure::write(&figures, &out, &args.format)?;
    }
    if let Some(tables) = &args.tables {
        files.extend(render::write_tables(&results, &summary, &args.results.join(tables))?);
    }
    for file in files {
        print(&format!("{}\n", file.display()))?;
    }
    Ok(())
}
