//! `advise`: takes the cost of an oracle; prints the fastest solver at that cost and the numbers behind it.

use std::path::PathBuf;

use anyhow::Context as _;

use super::args::{self, FormatArgs, fraction, positive};
use super::terminal::print_width;
use super::{pages, print, say};
use crate::dataset::DatasetName;
use crate::experiment::catalog::Catalog;
use crate::render::tables::breakeven as text;
use crate::study::Summary;
use crate::study::break_even::{BreakEven, BreakEvenSet, CostGiven, advise};
use crate::table::Format;
use crate::text::nearest;

/// The summary of the table that comes with the program.
const BUILT_IN: &str = include_str!("../../results/summary/breakeven.json");

/// Recommend a solver for a given oracle latency
///
/// Looks up the latency in a table of runs at several oracle costs: the one that comes with the program, or your own
/// with --results. Prints the fastest solver and the numbers behind it.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench advise -d horseseg-synth --oracle-ms 3\n  \
    ssvm-bench advise -d ocr-synth --share 0.7")]
pub struct AdviseArgs {
    /// Data set that is most like yours, as `show RESULTS cost` names it; the part before the colon is enough
    #[arg(long, short, value_name = "DATA")]
    dataset: String,
    #[command(flatten)]
    known: Known,
    /// Result folder with runs at several oracle costs, or the summary.json of one [default: a table that comes with the program]
    #[arg(long, value_name = "RESULTS")]
    results: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

/// The cost of the oracle, stated in one of these ways.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Known {
    /// Time of one exact oracle call in milliseconds
    #[arg(long, value_name = "MS", value_parser = positive, allow_negative_numbers = true)]
    oracle_ms: Option<f64>,
    /// Share of BCFW's time that is spent in the oracle, between 0 and 1
    #[arg(long, value_name = "S", value_parser = fraction, allow_negative_numbers = true)]
    share: Option<f64>,
    /// Oracle cost: how many times slower your oracle is than that of the table
    #[arg(long, value_name = "K")]
    oracle_cost: Option<ssvm::clock::OracleCost>,
}

pub fn run(args: &AdviseArgs, catalog: &dyn Catalog) -> anyhow::Result<()> {
    let summary: Summary = match &args.results {
        Some(path) => pages::summary(path, catalog, &[])?,
        None => serde_json::from_str(BUILT_IN).context("the built-in table cannot be read")?,
    };
    let remark = summary.remark().map_or(String::new(), |remark| format!("\n{remark}"));
    let table = summary.breakeven;
    let set = find(&table, &args.dataset)?;
    let place = match &args.known {
        Known { oracle_ms: Some(ms), .. } => CostGiven::Call(ms * 1e-3),
        Known { share: Some(share), .. } => CostGiven::Share(*share),
        Known { oracle_cost, .. } => CostGiven::Factor(oracle_cost.unwrap_or_default().factor()),
    };
    if set.targets.is_empty() {
        anyhow::bail!(
            "{}: BCFW reached only a relative gap of {:.2}; solvers are compared at smaller gaps, so run it longer \
             (iterations, gap)",
            set.dataset,
            set.reached
        );
    }
    let advice = advise(set, place);
    let width = print_width();
    match args.format.format {
        Format::Table => {
            let one = BreakEven { sets: vec![set.clone()] };
            let basis = text::text_near(&one, Some(advice.read_at), width);
            say(&format!("{}\nThe table behind this:\n{basis}{remark}", text::advice(&advice, width)))
        }
        Format::Json => print(&args::json(&advice)?),
        format => print(&text::ranking(&advice).render(format, width, &())?),
    }
}

fn find<'t>(table: &'t BreakEven, name: &str) -> anyhow::Result<&'t BreakEvenSet> {
    if table.sets.is_empty() {
        anyhow::bail!(
            "these results have no data set with BCFW at two oracle costs; run a config with oracle_cost = [\"1/16\", 1, 16, \
             256]"
        );
    }
    let exact = table.sets.iter().find(|set| set.dataset == name);
    let by_name = || table.sets.iter().find(|set| DatasetName::from(&*set.dataset).head == name);
    exact.or_else(by_name).with_context(|| {
        let names: Vec<&str> = table.sets.iter().map(|set| set.dataset.as_str()).collect();
        format!(
            "the table has no data set '{name}'{}; it has {}. For your own data, run a config with oracle_cost = \
             [\"1/16\", 1, 16, 256], then `advise --results DIR`",
            nearest(name, names.iter().copied()),
            names.join(", ")
        )
    })
}
