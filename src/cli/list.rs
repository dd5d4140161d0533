//! `list`: what this program has, one line each.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::args::FormatArgs;
use super::print;
use super::terminal::print_width;
use crate::dataset::DatasetInfo;
use crate::experiment::catalog::Catalog;
use crate::experiment::{BUILTIN, Experiment};
use crate::render::figure::FIGURES;
use crate::study::claims::CLAIMS;
use crate::table::Kind::{Count, Text};
use crate::table::{Format, Table, cells};
use crate::text::cut;
use ssvm::settings::Param;
use ssvm::solver::SolverInfo;

/// List solvers, data sets, configs, claims or figures, one line each
///
/// Solvers and data sets are listed with their parameters, which `solve --set` and the keys of a config take. With the name
/// of a solver, says what each of its parameters means.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench list solvers\n  ssvm-bench list solvers mp-bcfw\n  \
    ssvm-bench list configs --format json")]
pub struct ListArgs {
    /// What to list
    what: What,
    /// One solver of `list solvers`, with the meaning of its parameters
    name: Option<String>,
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
    let (format, width) = (args.format.format, print_width());
    let mut table = Table::new("", [("name", Text), ("what it is", Text)]);
    let mut values = Vec::new();
    match (args.what, &args.name) {
        (What::Solvers, Some(name)) => {
            let info = SolverInfo::find(catalog.solvers(), name)?;
            table = meanings(info);
            values.push(solver(info));
        }
        (_, Some(name)) => anyhow::bail!("only a solver is listed by name; leave out '{name}'"),
        (What::Solvers, None) => {
            table.widen(Text, ["parameters"]);
            for info in catalog.solvers() {
                table.push(cells![info.name, info.about, with_defaults(info)]);
                values.push(solver(info));
            }
            if format == Format::Table {
                one_line_each(&mut table, width);
            }
        }
        (What::Datasets, None) => {
            for info in catalog.datasets() {
                table.push(cells![DatasetInfo::usage(info), info.about]);
                values.push(json!({"name": DatasetInfo::usage(info), "about": info.about}));
            }
        }
        (What::Configs, None) => {
            table.widen(Count, ["data sets", "solvers", "repeats"]);
            for (name, text) in BUILTIN {
                let experiment = Experiment::load(name, catalog.solvers())?;
                let Experiment { datasets, solvers, repeats, .. } = &experiment;
                let (datasets, solvers, about) = (datasets.len(), solvers.len(), purpose(text));
                table.push(cells![name, &about, datasets, solvers, *repeats]);
                values.push(json!({"name": name, "about": about, "datasets": datasets, "solvers": solvers,
                    "repeats": repeats}));
            }
        }
        (What::Claims, None) => {
            for row in CLAIMS {
                table.push(cells![row.id(), row.title]);
                values.push(json!({"name": row.id(), "about": row.title}));
            }
        }
        (What::Figures, None) => {
            for row in FIGURES.iter() {
                table.push(cells![row.name, &row.about]);
                values.push(json!({"name": row.name, "about": row.about}));
            }
        }
    }
    print(&table.render(format, width, &values)?)
}

fn with_defaults(info: &SolverInfo) -> String {
    info.params.iter().map(|param| format!("{}={}", param.key, param.default)).collect::<Vec<_>>().join(" ")
}

fn solver(info: &SolverInfo) -> Value {
    let param = |param: &Param| json!({"key": param.key, "default": param.default, "about": param.about});
    let parameters: Vec<Value> = info.params.iter().map(param).collect();
    json!({"name": info.name, "about": info.about, "parameters": parameters})
}

/// A row for each parameter of a solver.
fn meanings(info: &SolverInfo) -> Table {
    let title = format!("{}: {}", info.name, info.about);
    let mut table = Table::new(title, [("parameter", Text), ("default", Text), ("what it means", Text)]);
    info.params.iter().for_each(|param| table.push(cells![param.key, param.default, param.about]));
    table
}

/// Cuts descriptions, then parameters, so that a row is a line of this width.
fn one_line_each(table: &mut Table, width: usize) {
    let longest = |at: usize| table.rows.iter().map(|row| row[at].to_string().chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(longest(0) + 4);
    let about = longest(1).min(room * 2 / 3);
    for row in &mut table.rows {
        for (at, most) in [(1, about), (2, room - about)] {
            row[at] = cut(&row[at].to_string(), most).into_owned().into();
        }
    }
    table.note.push_str("`ssvm-bench list solvers NAME` says what the parameters of a solver mean.");
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
