//! `report RESULTS`: a result folder → one HTML page; two result folders → one page with both side by side.

use std::path::{Path, PathBuf};

use super::{pages, print_path};
use crate::experiment::catalog::Catalog;
use crate::gate::folders::{self, Comparison};
use crate::gate::measure::by_cell;
use crate::gate::rounds::Design;
use crate::render::figure::{self, Figure};
use crate::render::report::{self, Beside, Page};
use crate::store::files;
use crate::study::{Study, Summary};

/// Write one self-contained HTML page about a result folder, or about two side by side
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench report results/quick --out quick.html\n  \
    ssvm-bench report results/before results/after --out both.html")]
pub struct ReportArgs {
    /// Result folder
    results: PathBuf,
    /// Another one to put beside it
    other: Option<PathBuf>,
    /// The page, - for standard output [default: RESULTS/report.html; needed for two folders]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only runs whose DATASET/SOLVER matches, such as 'usps*' or '*/mp-*'; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
}

/// A folder with all that a page shows of it.
struct ReportSide {
    results: Study,
    summary: Summary,
    figures: Vec<Figure>,
}

impl ReportSide {
    fn open(folder: &Path, args: &ReportArgs, catalog: &dyn Catalog) -> anyhow::Result<Self> {
        let results = pages::open(folder, catalog, &args.only)?;
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
    anyhow::ensure!(args.other.is_none() || args.out.is_some(), "comparing two folders requires --out FILE");
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
    let out = args.out.clone().unwrap_or_else(|| args.results.join("report.html"));
    files::write_bytes(&out, html.as_bytes())?;
    // The numbers of a page that stays with its folder, for the commands that read them instead of all runs.
    if args.out.is_none() && args.only.is_empty() {
        side.summary.write(&args.results.join("summary.json"))?;
    }
    print_path(&out)
}

fn compare(old: &Study, new: &Study) -> crate::Result<Comparison> {
    folders::compare(&by_cell(old.own.records())?, &by_cell(new.own.records())?, &Design::default())
}
