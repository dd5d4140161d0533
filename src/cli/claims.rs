//! `claims RESULTS`: a result folder in, the paper's claims with verdicts out. Succeeds whatever the verdicts are.

use std::path::PathBuf;

use crate::claims;
use crate::frame::layout::TableFormat;
use crate::frame::load::Results;
use crate::frame::profile;

/// Check the claims of the paper against a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench claims results/quick --format markdown")]
pub struct ClaimsArgs {
    /// Result folder
    pub results: PathBuf,
    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Runs the command; prints the claims.
pub fn run(args: &ClaimsArgs) -> anyhow::Result<()> {
    let results = Results::open(&args.results)?;
    results.warnings().iter().for_each(|line| eprintln!("warning: {line}"));
    let profile = profile::profile(&results.records, &results.frames)?;
    let claims = claims::check(&results.frames, &profile)?;
    match args.format {
        TableFormat::Text => print!("{}", claims::text(&claims)),
        TableFormat::Json => println!("{}", serde_json::to_string_pretty(&claims)?),
        TableFormat::Markdown => print!("{}", claims::grid(&claims).markdown()),
        TableFormat::Latex => print!("{}", claims::grid(&claims).latex()),
    }
    Ok(())
}
