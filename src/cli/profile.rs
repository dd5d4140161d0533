//! `profile RESULTS`: a result folder in, the oracle-time table out.

use std::path::PathBuf;

use crate::frame::layout::TableFormat;
use crate::frame::load::Results;
use crate::frame::profile;

/// Print where the time went: oracle share and latencies per data set and solver
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench profile results/quick --format latex")]
pub struct ProfileArgs {
    /// Result folder
    pub results: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Runs the command; prints the table.
pub fn run(args: &ProfileArgs) -> anyhow::Result<()> {
    let results = Results::open(&args.results)?;
    results.warnings().iter().for_each(|line| eprintln!("warning: {line}"));
    let rows = profile::profile(&results.records, &results.frames)?;
    match args.format {
        TableFormat::Text => print!("{}", profile::grid(&rows).text()),
        TableFormat::Json => println!("{}", serde_json::to_string_pretty(&rows)?),
        TableFormat::Markdown => print!("{}", profile::grid(&rows).markdown()),
        TableFormat::Latex => print!("{}", profile::grid(&rows).latex()),
    }
    Ok(())
}
