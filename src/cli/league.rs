//! `league RESULTS`: every solver against every other, on the terminal or as files. Succeeds whatever the verdicts are.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::pages::FoundIn;
use super::{format, print, print_width};
use crate::experiment::catalog::Catalog;
use crate::render::tables::league::{Part, Section, sections, text};
use crate::render::tables::long;
use crate::store::files;
use crate::study::export;
use crate::study::league::League;
use crate::table::Format;

/// Compare all solvers of a result folder with each other
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench league results/league\n  ssvm-bench league results/league --dataset usps --part winners --format markdown\n  \
    ssvm-bench league results/league --tables tables --format csv,tex\n\n\
    CSV comes with Parquet and holds one long table per statistic; Markdown and LaTeX hold the tables that are printed, a file \
    for each part. LaTeX needs booktabs and graphicx."
)]
pub struct LeagueArgs {
    /// How to print it, or the formats of --tables: table, json, csv, markdown, latex [default: table; with --tables csv,
    /// markdown and latex]
    #[arg(long, value_delimiter = ',', value_parser = format_of_files)]
    format: Vec<Format>,
    /// Write the tables into this folder instead of printing them
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Only these tables; repeatable [default: all]
    #[arg(long, value_enum)]
    part: Vec<Part>,
    /// Only these data sets; repeatable [default: all]
    #[arg(long, value_name = "D")]
    dataset: Vec<String>,
    #[command(flatten)]
    found_in: FoundIn,
}

impl ValueEnum for Part {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

/// CSV and Parquet are written together.
fn format_of_files(word: &str) -> Result<Format, String> {
    let format = Format::from_str(if word == "parquet" { "csv" } else { word }, false);
    format.map_err(|_| "must be csv, parquet, markdown or latex".to_owned())
}

pub fn run(args: &LeagueArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let summary = args.found_in.summary(catalog)?;
    let remark = summary.remark().map_or(String::new(), |remark| format!("\n{remark}\n"));
    let league = summary.league;
    let known: Vec<String> = league.standings.iter().map(|standing| standing.dataset.clone()).collect();
    let league = league.only(&args.dataset);
    if league.standings.is_empty() {
        anyhow::bail!(
            "no league of {} in {}; it has: {}",
            args.dataset.join(", "),
            args.found_in.results.display(),
            known.join(", ")
        );
    }
    let sections = sections(&league, &args.part);
    if let Some(dir) = &args.tables {
        let all = [Format::Csv, Format::Markdown, Format::Latex];
        let mut formats = if args.format.is_empty() { all.to_vec() } else { args.format.clone() };
        formats.dedup();
        for name in write(&league, &sections, dir, &formats)? {
            print(&format!("{}\n", dir.join(name).display()))?;
        }
        return Ok(());
    }
    print(&match args.format[..] {
        [] | [Format::Table] => text(&sections, print_width()) + &remark,
        [Format::Json] => format::json(&league)?,
        [Format::Csv] => anyhow::bail!("csv and parquet are several files: name their folder with --tables DIR"),
        [Format::Markdown] => joined(&league, &sections, Format::Markdown)? + &remark,
        [format] => joined(&league, &sections, format)?,
        _ => anyhow::bail!("only one format can be printed; --tables DIR writes several"),
    })
}

fn joined<'a>(
    league: &League,
    sections: impl IntoIterator<Item = &'a Section>,
    format: Format,
) -> anyhow::Result<String> {
    let texts = sections.into_iter().map(|section| section.table.render(format, print_width(), league));
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// Writes the tables in these formats; returns the names of the files.
fn write(league: &League, sections: &[Section], dir: &Path, formats: &[Format]) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    for format in formats {
        let extension = match format {
            Format::Csv => {
                let tables = long::tables(league)?;
                written.extend(export::write_csv(&tables, dir)?);
                written.extend(export::write_parquet(&tables, dir)?);
                continue;
            }
            Format::Markdown => "md",
            Format::Latex => "tex",
            Format::Table | Format::Json => {
                anyhow::bail!("text and json are printed; --tables DIR writes csv, parquet, markdown and latex")
            }
        };
        // A file for each part that has a table.
        for part in Part::ALL {
            let own = joined(league, sections.iter().filter(|section| section.part == part), *format)?;
            if !own.is_empty() {
                let name = format!("{}.{extension}", part.file());
                files::write_bytes(&dir.join(&name), own.as_bytes())?;
                written.push(name);
            }
        }
    }
    Ok(written)
}
