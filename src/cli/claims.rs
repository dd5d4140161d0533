//! `claims RESULTS`: a result folder in, the paper's claims with verdicts out. Succeeds whatever the verdicts are.

use std::path::PathBuf;

use super::pages::Summary;
use super::print;
use crate::experiment::catalog::Catalog;
use crate::render::tables::claims;

/// Check the claims of the paper against a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench claims results/quick --format markdown")]
pub struct ClaimsArgs {
    /// Result folder, or the summary.json of one
    results: PathBuf,
    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    format: ClaimsFormat,
    /// Only runs whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// How the claims are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ClaimsFormat {
    /// For the terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// Every row with its evidence, as Markdown.
    Markdown,
    /// For a paper (booktabs).
    Latex,
    /// The verdicts only, claims × data sets, as Markdown.
    Matrix,
}

/// Runs the command; prints the claims.
pub fn run(args: &ClaimsArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let Summary { claims, regimes, .. } = Summary::open(&args.results, catalog, &args.only)?;
    let regimes: Vec<String> = regimes.iter().map(|regime| format!("{}\n", regime.text())).collect();
    print(&match args.format {
        ClaimsFormat::Text => claims::text(&claims) + "\n" + &regimes.concat(),
        ClaimsFormat::Json => serde_json::to_string_pretty(&claims)? + "\n",
        ClaimsFormat::Markdown => claims::grid(&claims).markdown(),
        ClaimsFormat::Latex => claims::grid(&claims).latex(),
        ClaimsFormat::Matrix => claims::matrix(&claims).markdown(),
    })
}
