//! `claims RESULTS`: the paper's claims with verdicts. Succeeds whatever the verdicts are.

use clap::ValueEnum as _;

use super::pages::FoundIn;
use super::{format, print};
use crate::experiment::catalog::Catalog;
use crate::render::tables::claims;
use crate::study::Summary;
use crate::table::Format;

/// Check the claims of the paper against a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench claims results/quick --format markdown")]
pub struct ClaimsArgs {
    /// How to print them: table, json, csv, markdown, latex; matrix for the verdicts alone, claims × data sets, as Markdown
    #[arg(long, default_value = "table", value_parser = layout)]
    format: Layout,
    #[command(flatten)]
    found_in: FoundIn,
}

#[derive(Clone, Copy, Debug)]
enum Layout {
    Matrix,
    Rows(Format),
}

fn layout(word: &str) -> Result<Layout, String> {
    if word == "matrix" {
        return Ok(Layout::Matrix);
    }
    let format = Format::from_str(word, false);
    format.map(Layout::Rows).map_err(|_| "must be table, json, csv, markdown, latex or matrix".to_owned())
}

pub fn run(args: &ClaimsArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let Summary { claims, regimes, .. } = args.found_in.summary(catalog)?;
    print(&match args.format {
        Layout::Matrix => claims::matrix(&claims).markdown(),
        Layout::Rows(Format::Table) => {
            let regimes: String = regimes.iter().map(|regime| format!("{}\n", regime.text())).collect();
            format!("{}\n{regimes}", claims::text(&claims))
        }
        Layout::Rows(format) => format::shown(format, &claims, &claims::table(&claims))?,
    })
}
