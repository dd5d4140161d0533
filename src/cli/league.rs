//! `league RESULTS`: a result folder in, every solver against every other out. Succeeds whatever the verdicts are.

use std::path::PathBuf;

use super::pages::Summary;
use super::print;
use crate::catalog::Catalog;
use crate::league::text::{Part, Section, sections, text};

/// Compare all solvers of a result folder with each other
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench league results/league\n  ssvm-bench league results/league --dataset usps --part winners --format markdown"
)]
pub struct LeagueArgs {
    /// Result folder, or the summary.json of one
    results: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: LeagueFormat,
    /// Only these tables; repeatable [default: all]
    #[arg(long, value_enum)]
    part: Vec<Part>,
    /// Only these data sets; repeatable [default: all]
    #[arg(long, value_name = "D")]
    dataset: Vec<String>,
    /// Only runs whose DATASET/SOLVER fits, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// How the league is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum LeagueFormat {
    /// For the terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For a page.
    Markdown,
}

/// Runs the command; prints the tables.
pub fn run(args: &LeagueArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let league = Summary::open(&args.results, catalog, &args.only)?.league;
    let known: Vec<String> = league.standings.iter().map(|standing| standing.dataset.clone()).collect();
    let league = league.only(&args.dataset);
    if league.standings.is_empty() {
        anyhow::bail!(
            "no league of {} in {}; it has: {}",
            args.dataset.join(", "),
            args.results.display(),
            known.join(", ")
        );
    }
    let sections = || sections(&league, &args.part);
    print(&match args.format {
        LeagueFormat::Text => text(&sections()),
        LeagueFormat::Markdown => sections().iter().map(Section::markdown).collect::<Vec<_>>().join("\n"),
        LeagueFormat::Json => serde_json::to_string_pretty(&league)? + "\n",
    })
}
