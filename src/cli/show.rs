//! `show RESULTS [VIEW]`: the tables of a result folder, in the terminal or as files. Succeeds whatever the verdicts are.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::args::json;
use super::pages::FoundIn;
use super::terminal::{is_coloured, print_width};
use super::{print, print_path};
use crate::experiment::catalog::Catalog;
use crate::render::tables::league::{Part, Section, sections};
use crate::render::tables::{self, breakeven, claims, league, long, profile};
use crate::store::files;
use crate::study::{Summary, export};
use crate::table::{Format, Table};
use crate::text::wrapped;

/// Show the tables of a result folder
///
/// Without a view, shows the verdicts on the paper's claims, if its data sets were run, and the fastest solver on each
/// data set; only the latter when a solver or data of your own was run. `show` only reads: it needs no data set, and succeeds whatever the verdicts are.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  ssvm-bench show results/quick\n  ssvm-bench show results/quick claims --explain\n  \
    ssvm-bench show results/quick oracle --format latex\n  \
    ssvm-bench show results/quick league --only 'usps*' --part winners --format markdown\n  \
    ssvm-bench show results/quick targets --out tables"
)]
pub struct ShowArgs {
    #[command(flatten)]
    found_in: FoundIn,
    /// What to show
    view: Option<View>,
    /// Output format; with --out, the format of the files [default: table; with --out csv, markdown and latex]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Only these tables of the view; repeatable. claims: verdicts, matrix, thresholds; league: winners, anytime, profile,
    /// matrix; targets: targets, ert
    #[arg(long, value_name = "PART")]
    part: Vec<String>,
    /// Add the evidence below each verdict on a claim, and how verdicts change when a threshold is halved or doubled
    #[arg(long)]
    explain: bool,
    /// Write files into this folder instead of printing: one per table, or the long tables as CSV and Parquet
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    /// The paper's claims with verdicts
    Claims,
    /// Where the time goes: oracle share and latencies
    Oracle,
    /// Every solver against every other
    League,
    /// The oracle cost at which each solver breaks even with BCFW
    Cost,
    /// Time and oracle calls to each gap
    Targets,
}

/// A view of a summary.
struct Shown {
    /// For the terminal.
    text: String,
    /// For programs.
    json: String,
    /// Each with the name of its part and of its file.
    tables: Vec<(&'static str, &'static str, Table)>,
    /// A remark that the reader needs about the numbers.
    remark: String,
    /// Whether its CSV is the long tables of the league.
    long: bool,
}

pub fn run(args: &ShowArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let thresholds = args.explain || args.part.iter().any(|part| part == "thresholds");
    let summary = if thresholds { args.found_in.explained(catalog)? } else { args.found_in.summary(catalog)? };
    let width = print_width();
    let mut shown = match args.view {
        None => overview(&summary, args, width)?,
        Some(View::Claims) => of_claims(&summary, args, width)?,
        Some(View::Oracle) => of_oracle(&summary, width)?,
        Some(View::League) => of_league(&summary, args, &[Part::Winners, Part::Anytime, Part::Profile, Part::Matrix])?,
        Some(View::Targets) => of_league(&summary, args, &[Part::Targets, Part::Ert])?,
        Some(View::Cost) => of_cost(&summary, &args.found_in.results)?,
    };
    shown.select(&args.part)?;
    if !shown.text.ends_with('\n') {
        shown.text.push('\n');
    }
    if let Some(dir) = &args.out {
        let all = [Format::Csv, Format::Markdown, Format::Latex];
        for format in args.format.as_ref().map_or(&all[..], std::slice::from_ref) {
            for file in shown.write(&summary, *format, dir)? {
                print_path(&dir.join(file))?;
            }
        }
        return Ok(());
    }
    print(&shown.printed(args.format.unwrap_or_default())?)
}

impl Shown {
    /// Only these parts.
    fn select(&mut self, parts: &[String]) -> anyhow::Result<()> {
        let known: Vec<&str> = self.tables.iter().map(|(part, ..)| *part).collect();
        if let Some(unknown) = parts.iter().find(|part| !known.contains(&part.as_str())) {
            let mut known = known;
            known.dedup();
            bail!("this view has no part '{unknown}'; it has: {}", known.join(", "));
        }
        if !parts.is_empty() {
            self.tables.retain(|(part, ..)| parts.iter().any(|wanted| wanted == part));
            self.text =
                self.tables.iter().map(|(.., table)| table.text(print_width())).collect::<Vec<_>>().join("\n\n");
        }
        Ok(())
    }

    fn printed(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Table if self.remark.is_empty() => self.text.clone(),
            Format::Table => format!("{}\n{}", self.text, wrapped(&self.remark, print_width(), 0)),
            Format::Json => self.json.clone(),
            Format::Csv => match &self.tables[..] {
                [(.., table)] => table.csv(),
                _ => {
                    bail!(
                        "this view has several tables, but a CSV file holds only one: write all to a folder with \
                         --out DIR, or choose one with --part"
                    )
                }
            },
            Format::Markdown if !self.remark.is_empty() => format!("{}\n{}\n", self.joined(format, None), self.remark),
            Format::Markdown | Format::Latex => self.joined(format, None),
        })
    }

    /// The tables of a file, or all of them.
    fn joined(&self, format: Format, file: Option<&str>) -> String {
        let tables = self.tables.iter().filter(|(_, name, _)| file.is_none_or(|file| file == *name));
        let texts = tables.map(|(.., table)| match format {
            Format::Markdown => table.markdown(),
            Format::Latex => table.latex(),
            Format::Csv => table.csv(),
            _ => table.text(print_width()),
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Writes the files of a format; returns their names.
    fn write(&self, summary: &Summary, format: Format, dir: &Path) -> anyhow::Result<Vec<String>> {
        if format == Format::Csv && self.long {
            let tables = long::tables(&summary.league)?;
            let mut written = export::write_csv(&tables, dir)?;
            written.extend(export::write_parquet(&tables, dir)?);
            return Ok(written);
        }
        let extension = match format {
            Format::Csv => "csv",
            Format::Markdown => "md",
            Format::Latex => "tex",
            Format::Table | Format::Json => {
                bail!("--out DIR writes csv, markdown or latex; table and json can only be printed")
            }
        };
        let mut names: Vec<&str> = self.tables.iter().map(|(_, file, _)| *file).collect();
        names.dedup();
        let mut written = Vec::new();
        for file in names {
            let name = format!("{file}.{extension}");
            files::write_bytes(&dir.join(&name), self.joined(format, Some(file)).as_bytes())?;
            written.push(name);
        }
        Ok(written)
    }
}

fn remark(summary: &Summary) -> String {
    summary.remark().unwrap_or_default()
}

/// Verdicts and winners.
fn overview(summary: &Summary, args: &ShowArgs, width: usize) -> anyhow::Result<Shown> {
    let folder = shlex::try_quote(&args.found_in.results.to_string_lossy())?.into_owned();
    let (own, paper) = (summary.has_own(), summary.has_paper_data());
    let mut text = if own || !args.explain || !paper {
        tables::opening(summary, &folder, width, is_coloured())
    } else {
        String::new()
    };
    if args.explain && paper {
        text += &of_claims(summary, args, width)?.text;
    }
    let mut tables = Vec::new();
    if own || !paper {
        tables.extend(league::leads(&summary.league).into_iter().map(|table| ("fastest", "fastest", table)));
    }
    if paper {
        tables.push(("verdicts", "claims", claims::table(&summary.claims)));
    }
    if paper && !own {
        let winners = sections(&summary.league, &[Part::Winners]);
        text += &format!("\n{}", league::text(&winners, width));
        tables.extend(winners.into_iter().map(named));
    }
    Ok(Shown { text, json: json(summary)?, tables, remark: remark(summary), long: false })
}

fn of_claims(summary: &Summary, args: &ShowArgs, width: usize) -> anyhow::Result<Shown> {
    let Summary { claims, sensitivities, regimes, .. } = summary;
    let thresholds = args.part.iter().any(|part| part == "thresholds");
    let mut text = claims::text(claims, width, args.explain, is_coloured()) + "\n";
    for regime in regimes {
        text += &wrapped(&regime.text(), width, 0);
    }
    if args.explain {
        text += &format!("\n{}", claims::thresholds_text(sensitivities, width));
    }
    let mut tables = vec![("verdicts", "claims", claims::table(claims))];
    if !args.part.is_empty() {
        tables.push(("matrix", "claims_matrix", claims::matrix(claims)));
        tables.push(("thresholds", "thresholds", claims::thresholds(sensitivities)));
    }
    // Thresholds are those of this program, whoever judged the claims.
    let remark = if thresholds { String::new() } else { remark(summary) };
    let json = if thresholds { json(sensitivities)? } else { json(claims)? };
    Ok(Shown { text, json, tables, remark, long: false })
}

fn of_oracle(Summary { profile, .. }: &Summary, width: usize) -> anyhow::Result<Shown> {
    let table = profile::table(profile);
    let (text, json) = (table.text(width), json(profile)?);
    Ok(Shown { text, json, tables: vec![("oracle", "oracle_time", table)], remark: String::new(), long: false })
}

fn of_cost(summary: &Summary, results: &Path) -> anyhow::Result<Shown> {
    let cost = &summary.breakeven;
    if cost.sets.is_empty() {
        bail!(
            "{} has no data set with BCFW at two oracle costs; run a config with oracle_cost = [1, 16], or \
             `ssvm-bench run breakeven` for the built-in data sets",
            results.display()
        );
    }
    let tables = vec![("cost", "breakeven", breakeven::table(cost))];
    Ok(Shown {
        text: breakeven::text(cost, print_width()),
        json: json(cost)?,
        tables,
        remark: remark(summary),
        long: false,
    })
}

fn of_league(summary: &Summary, args: &ShowArgs, parts: &[Part]) -> anyhow::Result<Shown> {
    if summary.league.standings.is_empty() {
        bail!("{}: contains nothing to compare", args.found_in.results.display());
    }
    let wanted = parts.iter().copied().filter(|part| args.part.iter().any(|word| word == part.word()));
    let wanted: Vec<Part> = if args.part.is_empty() { parts.to_vec() } else { wanted.collect() };
    let shown = sections(&summary.league, &wanted);
    let text = league::text(&shown, print_width());
    let tables = shown.into_iter().map(named).collect();
    Ok(Shown { text, json: json(&summary.league)?, tables, remark: remark(summary), long: true })
}

fn named(Section { part, table, .. }: Section) -> (&'static str, &'static str, Table) {
    (part.word(), part.file(), table)
}
