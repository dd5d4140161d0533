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
    let results = Results::open(&args.results)?;
    results.warnings().iter().for_each(|line| eprintln!("warning: {line}"));
    let rows = profile::profile(&results.records, &results.frames)?;
    let passes = PassTrace::read(&args.results)?;
    if passes.is_none() {
        eprintln!("note: no {} in the folder, slope_rule is left out", PassTrace::FILE);
    }
    let figures = figure::all(&results.frames, &rows, passes.as_ref())?;
    let out = args.out.clone().unwrap_or_else(|| args.results.join("figures"));
    for file in figure::write(&figures, &out, &args.format)? {
        println!("{}", file.display());
    }
    if args.tables {
        let dir = args.results.join("tables");
        for name in export::write_frames(&results.frames, &dir)? {
            println!("{}", dir.join(name).display());
        }
    }
    Ok(())
}
