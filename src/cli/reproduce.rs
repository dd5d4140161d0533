//! `reproduce`: plan, run, figures, report and claims in one go.

use std::path::PathBuf;
use std::time::Instant;

use crate::dataset::DataDir;
use crate::exec::progress::duration;
use crate::figure::Format;
use crate::frame::layout::TableFormat;

use super::{claims, figures, report, run};

/// Options of `reproduce`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench reproduce\n  \
    ssvm-bench reproduce --config configs/paper.toml --out results/paper --isolated")]
pub struct ReproduceArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper
    #[arg(long, value_name = "FILE", default_value = "quick")]
    config: PathBuf,
    /// Result folder [default: results/NAME of the config]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Concurrent runs, each pinned to its core [default: the config's, else the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Time runs one at a time, for numbers to publish
    #[arg(long, conflicts_with = "jobs")]
    isolated: bool,
    /// Say nothing but errors and the verdicts
    #[arg(long, short, conflicts_with = "verbose")]
    quiet: bool,
    /// A line for every run
    #[arg(long, short)]
    verbose: bool,
}

/// Runs the command. Failed runs do not keep the pages from being made: the error comes last.
pub fn run(args: &ReproduceArgs, data: &DataDir) -> anyhow::Result<()> {
    let began = Instant::now();
    let say = |text: &str| {
        if !args.quiet {
            eprintln!("{text}");
        }
    };
    let run_args = run::RunArgs {
        config: args.config.clone(),
        out: args.out.clone(),
        jobs: args.jobs,
        isolated: args.isolated,
        force: false,
        prune: false,
        quiet: args.quiet,
        verbose: args.verbose,
    };
    let outcome = run::execute(&run_args, data)?;
    let results = outcome.out.clone();
    if outcome.interrupted {
        return run::complete(&run_args, &outcome);
    }
    say("drawing figures");
    let format = vec![Format::Svg, Format::Png, Format::Pdf];
    let drawn = figures::draw(&figures::FiguresArgs { results: results.clone(), out: None, format, tables: true })?;
    say("writing the report");
    let page = report::write(&report::ReportArgs { results: results.clone(), out: None })?;
    claims::run(&claims::ClaimsArgs { results: results.clone(), format: TableFormat::Text })?;
    println!();
    println!("report   {}", page.display());
    println!("figures  {} ({} files)", results.join("figures").display(), drawn.len());
    println!("runs     {} ({} runs)", results.join("runs").display(), outcome.planned);
    say(&format!("done in {}", duration(began.elapsed().as_secs_f64())));
    run::complete(&run_args, &outcome)
}
