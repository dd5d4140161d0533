//! `reproduce`: experiment → plan → session → results → pages, in one go.

use std::path::PathBuf;
use std::time::Instant;

use super::run::{self, RunArgs};
use super::{interrupt, note, pages, print};
use crate::catalog::Catalog;
use crate::claims;
use crate::dataset::DataDir;
use crate::exec::session::{self, Finished};
use crate::figure::FileFormat;
use crate::frame::load::Results;
use crate::plan::Plan;
use crate::text::duration;

/// Options of `reproduce`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench reproduce\n  \
    ssvm-bench reproduce --config configs/paper.toml --out results/paper --isolated")]
pub struct ReproduceArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper, league, league-short
    #[arg(long, value_name = "FILE", default_value = "quick")]
    config: PathBuf,
    #[command(flatten)]
    how: run::HowArgs,
}

/// Runs the command. Failed runs do not keep the pages from being made: the error comes last.
pub fn run(args: &ReproduceArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let began = Instant::now();
    let args = RunArgs::plain(args.config.clone(), args.how.clone());
    let say = |text: &str| {
        if !args.how.quiet {
            note(text);
        }
    };

    let (experiment, options) = args.read(catalog, data)?;
    let plan = Plan::new(&experiment, catalog, &options.data_dir)?;
    let Finished { report, manifest, contents } =
        session::run(&experiment, &plan, catalog, &options, interrupt::flag())?;
    if report.interrupted {
        return run::complete(&args, &report);
    }
    let out = &options.out;
    // Pages are about the folder: `--only` says what is run, and must not put a part in the place of the whole.
    let results = Results::of(out, manifest, contents, catalog, &[])?;
    pages::warn(&results);
    let summary = pages::Summary::of(&results, out)?;
    say("drawing figures");
    let formats = [FileFormat::Svg, FileFormat::Png, FileFormat::Pdf];
    let drawn = pages::figures(&results, &out.join("figures"), &formats, Some(&out.join("tables")), &[])?;
    say("writing the report");
    let page = out.join("report.html");
    pages::report(&results, &summary, &page)?;
    pages::summary(&summary, out)?;

    print(&claims::text(&summary.claims))?;
    print(&format!("\nreport   {}\n", page.display()))?;
    print(&format!("figures  {} ({} files)\n", out.join("figures").display(), drawn.len()))?;
    print(&format!("runs     {} ({} runs)\n", out.join("runs").display(), report.planned))?;
    say(&format!("done in {}", duration(began.elapsed().as_secs_f64())));
    run::complete(&args, &report)
}
