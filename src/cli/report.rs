//! `report RESULTS`: a result folder → one HTML page; two result folders → one page with both side by side.

use std::path::{Path, PathBuf};

use super::args::OnlyArgs;
use super::terminal::own_name;
use super::{pages, print_path};
use crate::experiment::catalog::Catalog;
use crate::gate::folders::{self, Comparison};
use crate::gate::measure::by_cell;
use crate::gate::rounds::Design;
use crate::render::figure::{self, Figure};
use crate::render::report::{self, Beside, Page};
use crate::store::files;
use crate::study::{Study, Summary};

/// Write an HTML page about one result folder, or two side by side
///
/// The page is self-contained: verdicts, tables and interactive figures are in the file. Without --output the command
/// also writes RESULTS/summary.json, which `show` can read instead of the runs.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench report results/quick --output quick.html\n  \
    ssvm-bench report results/before results/after --output both.html")]
pub struct ReportArgs {
    /// Result folder
    results: PathBuf,
    /// Second result folder, shown beside the first
    other: Option<PathBuf>,
    /// File to write, - for standard output [default: RESULTS/report.html; required with two folders]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    only: OnlyArgs,
}

/// A folder with all that a page shows of it.
struct ReportSide {
    results: Study,
    summary: Summary,
    figures: Vec<Figure>,
}

impl ReportSide {
    fn open(folder: &Path, args: &ReportArgs, catalog: &dyn Catalog) -> anyhow::Result<Self> {
        let results = pages::open(folder, catalog, &args.only.only)?;
        let summary = Summary::of(&results, folder);
        let figures = figure::draw(&results, &summary, &[], false)?.0;
        Ok(Self { results, summary, figures })
    }

    fn page<'a>(&'a self, name: &'a str) -> Page<'a> {
        Page { name, results: &self.results, summary: &self.summary, figures: &self.figures }
    }
}

/// Runs the command; prints the file it wrote.
pub fn run(args: &ReportArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    anyhow::ensure!(args.other.is_none() || args.output.is_some(), "comparing two folders requires --output FILE");
    let side = ReportSide::open(&args.results, args, catalog)?;
    let html = match &args.other {
        None => report::html(&side.page(&side.summary.name))?,
        Some(folder) => {
            let names = [&args.results, folder].map(|folder| folder.display().to_string());
            let other = ReportSide::open(folder, args, catalog)?;
            let compared = compare(&side.results, &other.results).map_err(|error| error.to_string());
            report::side_by_side(&Beside { sides: [side.page(&names[0]), other.page(&names[1])], compared })?
        }
    };
    let out = args.output.clone().unwrap_or_else(|| args.results.join("report.html"));
    files::write_bytes(&out, own_name(&html).as_bytes())?;
    // The numbers of a page that stays with its folder, for the commands that read them instead of all runs.
    if args.output.is_none() && args.only.only.is_empty() {
        side.summary.write(&args.results.join("summary.json"))?;
    }
    print_path(&out)
}

fn compare(old: &Study, new: &Study) -> crate::Result<Comparison> {
    folders::compare(&by_cell(old.own.records())?, &by_cell(new.own.records())?, &Design::default())
}
