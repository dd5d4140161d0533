//! `figures RESULTS`: a result folder in, figure files out (and tables for people who plot elsewhere).

use std::path::PathBuf;

use crate::figure::explain::PassTrace;
use crate::figure::{self, Format};
use crate::frame::load::Results;
use crate::frame::{export, profile};

/// Draw the figures of the paper from a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench figures results/quick --format svg,pdf --tables")]
pub struct FiguresArgs {
    /// Result folder
    pub results: PathBuf,
    /// Folder for the figures [default: RESULTS/figures]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// File formats
    #[arg(long, value_delimiter = ',', default_value = "svg,png")]
    pub format: Vec<Format>,
    /// Also write the tables behind the figures as Parquet and CSV into RESULTS/tables
    #[arg(long)]
    pub tables: bool,
}

/// Runs the command; prints the files it wrote.
pub fn run(args: &FiguresArgs) -> anyhow::Result<()> {
    for file in draw(args)? {
        println!("{}", file.display());
    }
    Ok(())
}

/// Writes the figures, and the tables when asked; returns the files.
pub fn draw(args: &FiguresArgs) -> anyhow::Result<Vec<PathBuf>> {
    let results = Results::open(&args.results)?;
    results.warnings().iter().for_each(|line| eprintln!("warning: {line}"));
    let rows = profile::profile(&results.records, &results.frames)?;
    let passes = PassTrace::pick(&results.records);
    if passes.is_none() {
        eprintln!("note: no run made approximate passes, slope_rule is left out");
    }
    let figures = figure::all(&results.frames, &rows, passes.as_ref())?;
    let out = args.out.clone().unwrap_or_else(|| args.results.join("figures"));
    let mut files = figure::write(&figures, &out, &args.format)?;
    if args.tables {
        let dir = args.results.join("tables");
        files.extend(export::write_frames(&results.frames, &dir)?.into_iter().map(|name| dir.join(name)));
    }
    Ok(files)
}
