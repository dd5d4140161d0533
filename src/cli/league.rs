//! `league RESULTS`: a result folder in, every solver against every other out, on the terminal or as files. Succeeds
//! whatever the verdicts are.

use std::path::{Path, PathBuf};

use super::pages::Summary;
use super::print;
use crate::experiment::catalog::Catalog;
use crate::render::tables::league::{Part, Section, sections, text};
use crate::render::tables::long::tables;
use crate::store::files;
use crate::study::frame::export;
use crate::study::league::League;

/// Compare all solvers of a result folder with each other
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench league results/league\n  ssvm-bench league results/league --dataset usps --part winners --format markdown\n  \
    ssvm-bench league results/league --tables tables --format csv,tex\n\n\
    CSV and Parquet hold one long table per statistic, Markdown and LaTeX the tables that are printed, a file for each \
    part. LaTeX needs booktabs and graphicx."
)]
pub struct LeagueArgs {
    /// Result folder, or the summary.json of one
    results: PathBuf,
    /// How to print it, or the formats of --tables [default: text; with --tables all that are for files]
    #[arg(long, value_enum, value_delimiter = ',')]
    format: Vec<LeagueFormat>,
    /// Write the tables into this folder instead of printing them
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LeagueFormat {
    /// For the terminal.
    Text,
    /// For programs.
    Json,
    /// For a page.
    #[value(alias = "md")]
    Markdown,
    /// For a paper (booktabs, graphicx).
    #[value(alias = "tex")]
    Latex,
    /// For other plotters; needs --tables.
    Csv,
    /// For other plotters; needs --tables.
    Parquet,
}

impl LeagueFormat {
    /// Those of files.
    const FILES: [Self; 4] = [Self::Csv, Self::Parquet, Self::Markdown, Self::Latex];
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
    if let Some(dir) = &args.tables {
        let formats = if args.format.is_empty() { &LeagueFormat::FILES[..] } else { &args.format[..] };
        for name in write(&league, &args.part, dir, formats)? {
            print(&format!("{}\n", dir.join(name).display()))?;
        }
        return Ok(());
    }
    let sections = || sections(&league, &args.part);
    let each = |show: fn(&Section) -> String| sections().iter().map(show).collect::<Vec<_>>().join("\n");
    print(&match args.format[..] {
        [] | [LeagueFormat::Text] => text(&sections()),
        [LeagueFormat::Markdown] => each(Section::markdown),
        [LeagueFormat::Latex] => each(Section::latex),
        [LeagueFormat::Json] => serde_json::to_string_pretty(&league)? + "\n",
        [LeagueFormat::Csv | LeagueFormat::Parquet] => {
            anyhow::bail!("csv and parquet are several files: name their folder with --tables DIR")
        }
        _ => anyhow::bail!("only one format can be printed; --tables DIR writes several"),
    })
}

/// Writes the tables in these formats; returns the names of the files.
fn write(league: &League, parts: &[Part], dir: &Path, formats: &[LeagueFormat]) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    for format in formats {
        match format {
            LeagueFormat::Csv => written.extend(export::write_csv(&tables(league)?, dir)?),
            LeagueFormat::Parquet => written.extend(export::write_parquet(&tables(league)?, dir)?),
            LeagueFormat::Markdown => written.extend(pages(league, parts, dir, "md", Section::markdown)?),
            LeagueFormat::Latex => written.extend(pages(league, parts, dir, "tex", Section::latex)?),
            LeagueFormat::Text | LeagueFormat::Json => {
                anyhow::bail!("text and json are printed; --tables DIR writes csv, parquet, markdown and latex")
            }
        }
    }
    Ok(written)
}

/// A file for each part that has a table.
fn pages(
    league: &League,
    parts: &[Part],
    dir: &Path,
    extension: &str,
    show: fn(&Section) -> String,
) -> anyhow::Result<Vec<String>> {
    let sections = sections(league, parts);
    let mut written = Vec::new();
    for part in Part::ALL {
        let own: Vec<String> = sections.iter().filter(|section| section.part == part).map(show).collect();
        if !own.is_empty() {
            let name = format!("{}.{extension}", part.name());
            files::write_bytes(&dir.join(&name), own.join("\n").as_bytes())?;
            written.push(name);
        }
    }
    Ok(written)
}
