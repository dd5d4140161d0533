//! `list`: what this program has, one line each.

use clap::ValueEnum;
use serde_json::Value;

use super::args::FormatArgs;
use super::print;
use super::terminal::print_width;
use crate::dataset::DatasetInfo;
use crate::experiment::catalog::Catalog;
use crate::experiment::{BUILTIN, Experiment};
use crate::render::figure::FIGURES;
use crate::study::claims::CLAIMS;
use crate::table::Kind::{Count, Text};
use crate::table::{Cell, Table, cells};

/// List solvers, data sets, configs, claims or figures, one line each
///
/// Solvers and data sets are listed with their parameters, which `solve --set` and the keys of a config take.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench list solvers\n  ssvm-bench list configs --format json")]
pub struct ListArgs {
    /// What to list
    what: What,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Solvers with their parameters and defaults
    Solvers,
    /// Data sets with their parameters
    Datasets,
    /// Built-in configs
    Configs,
    /// Statements of the paper that `show RESULTS claims` checks
    Claims,
    /// Figures that `figures` draws
    Figures,
}

pub fn run(args: &ListArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let mut table = match args.what {
        What::Configs => Table::new("", [("name", Text), ("data sets", Count), ("solvers", Count), ("repeats", Count)]),
        What::Solvers => Table::new("", [("name", Text), ("parameters", Text)]),
        What::Datasets | What::Claims | What::Figures => Table::new("", [("name", Text)]),
    };
    table.widen(Text, ["what it is"]);
    match args.what {
        What::Solvers => {
            for info in catalog.solvers() {
                let params: Vec<String> = info.params.iter().map(|p| format!("{}={}", p.key, p.default)).collect();
                table.push(cells![info.name, params.join(" "), info.about]);
            }
        }
        What::Datasets => {
            for info in catalog.datasets() {
                table.push(cells![DatasetInfo::usage(info), info.about]);
            }
        }
        What::Configs => {
            for (name, text) in BUILTIN {
                let experiment = Experiment::load(name, catalog.solvers())?;
                let Experiment { datasets, solvers, repeats, .. } = &experiment;
                table.push(cells![name, datasets.len(), solvers.len(), *repeats, purpose(text)]);
            }
        }
        What::Claims => CLAIMS.iter().for_each(|row| table.push(cells![row.id(), row.title])),
        What::Figures => FIGURES.iter().for_each(|row| table.push(cells![row.name, &row.about])),
    }
    let object = |row: &Vec<Cell>| -> serde_json::Map<String, Value> {
        let fields = table.columns.iter().zip(row);
        fields.map(|(column, cell)| (column.name.clone(), cell.to_string().into())).collect()
    };
    let value: Vec<_> = table.rows.iter().map(object).collect();
    if args.what == What::Solvers {
        table.note = meanings(catalog);
    }
    print(&table.render(args.format.format, print_width(), &value)?)
}

/// What each parameter means, once for all solvers that have it with that meaning.
fn meanings(catalog: &dyn Catalog) -> String {
    let mut known: Vec<String> = Vec::new();
    for param in catalog.solvers().iter().flat_map(|info| info.params) {
        let meaning = format!("{}: {}.", param.key, param.about);
        if !known.contains(&meaning) {
            known.push(meaning);
        }
    }
    known.join(" ")
}

/// The first sentence of the comment that a config begins with.
fn purpose(text: &str) -> String {
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    let comment = comment.join(" ");
    comment
        .split_once(": ")
        .map_or(comment.as_str(), |(first, _)| first)
        .split(". ")
        .next()
        .unwrap_or_default()
        .to_owned()
}
