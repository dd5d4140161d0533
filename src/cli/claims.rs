//! `claims RESULTS`: the paper's claims with verdicts. Succeeds whatever the verdicts are.

use clap::ValueEnum as _;

use super::pages::FoundIn;
use super::{print, print_width};
use crate::experiment::catalog::Catalog;
use crate::render::tables::claims;
use crate::study::Summary;
use crate::table::Format;
use crate::text::wrapped;

/// Check the claims of the paper against a result folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench claims results/quick --explain\n  \
    ssvm-bench claims results/quick --format markdown")]
pub struct ClaimsArgs {
    /// How to print them: table, json, csv, markdown, latex; matrix for the verdicts alone, claims × data sets, as Markdown
    #[arg(long, default_value = "table", value_parser = layout)]
    format: Layout,
    /// Print the evidence below each verdict, and the thresholds with what half and twice of each would change
    #[arg(long)]
    explain: bool,
    /// Print the thresholds alone
    #[arg(long, conflicts_with = "explain")]
    thresholds: bool,
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
    let summary = if args.explain || args.thresholds {
        args.found_in.explained(catalog)?
    } else {
        args.found_in.summary(catalog)?
    };
    let remark = summary.remark().filter(|_| !args.thresholds);
    let Summary { claims, regimes, sensitivities, .. } = summary;
    let width = print_width();
    let markdown = remark.as_ref().map_or(String::new(), |remark| format!("\n{remark}\n"));
    print(&match args.format {
        Layout::Rows(Format::Table) if args.thresholds => claims::thresholds_text(&sensitivities, width),
        Layout::Rows(format) if args.thresholds => {
            claims::thresholds(&sensitivities).render(format, width, &sensitivities)?
        }
        Layout::Matrix => claims::matrix(&claims).markdown() + &markdown,
        Layout::Rows(Format::Table) => {
            let mut text = claims::text(&claims, width, args.explain, false) + "\n";
            for regime in &regimes {
                text += &wrapped(&regime.text(), width, 0);
            }
            if args.explain {
                text += &format!("\n{}", claims::thresholds_text(&sensitivities, width));
            }
            text + &remark.map_or(String::new(), |remark| format!("\n{}", wrapped(&remark, width, 0)))
        }
        Layout::Rows(Format::Markdown) => claims::table(&claims).markdown() + &markdown,
        Layout::Rows(format) => claims::table(&claims).render(format, width, &claims)?,
    })
}
