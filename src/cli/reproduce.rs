//! `reproduce`: experiment → plan → session → results → pages, in one go; on the real data sets when they are there.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::run::{self, RunArgs};
use super::{data as data_command, interrupt, note, pages, print};
use crate::dataset::{DataDir, Request};
use crate::experiment::Experiment;
use crate::experiment::Plan;
use crate::experiment::catalog::Catalog;
use crate::render::tables::claims;
use crate::render::{self, Summary};
use crate::run::session::{self, Finished};
use crate::study::frame::load::Results;
use crate::text::duration;

/// What is run where the real data sets are there: on this machine, then in the paper's regime.
const REAL: [&str; 2] = ["paper", "regime"];
/// What is run where one is not.
const TWINS: [&str; 1] = ["quick"];

/// Options of `reproduce`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench reproduce\n  ssvm-bench reproduce --fetch\n  \
    ssvm-bench reproduce --config quick --out results/quick --isolated")]
pub struct ReproduceArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper, regime, breakeven, league, league-short; repeatable,
    /// all into one folder [default: paper and regime where the real data sets are there, else quick on their twins]
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Download the real data sets first
    #[arg(long)]
    fetch: bool,
    #[command(flatten)]
    how: run::HowArgs,
}

/// The configs, and why: the real data sets when all of them are there.
fn configs(
    args: &ReproduceArgs,
    catalog: &dyn Catalog,
    data: &DataDir,
) -> anyhow::Result<(Vec<PathBuf>, Option<String>)> {
    if !args.config.is_empty() {
        return Ok((args.config.clone(), None));
    }
    let experiment = Experiment::load(REAL[0], catalog.solvers())?;
    let is_there = |name: &str| catalog.dataset(name).is_some_and(|info| info.is_there(&Request::new(name, data)));
    let names: Vec<&str> = experiment.datasets.iter().map(|spec| spec.name.as_str()).collect();
    let missing: Vec<&str> = names.iter().copied().filter(|name| !is_there(name)).collect();
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
    if missing.is_empty() {
        let words = "the real data sets are there: configs paper and regime (--config quick for their small twins)";
        return Ok((paths(&REAL), Some(words.to_owned())));
    }
    let words = format!(
        "on synthetic twins, since {} {} not there: `ssvm-bench reproduce --fetch` gets the real data sets",
        missing.join(", "),
        if missing.len() == 1 { "is" } else { "are" }
    );
    Ok((paths(&TWINS), Some(words)))
}

/// Runs the command. Failed runs do not keep the pages from being made: the error comes last.
pub fn run(args: &ReproduceArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let began = Instant::now();
    let quiet = args.how.quiet;
    let say = |text: &str| {
        if !quiet {
            note(text);
        }
    };
    if args.fetch {
        let experiment = Experiment::load(REAL[0], catalog.solvers())?;
        let names: Vec<String> = experiment.datasets.into_iter().map(|spec| spec.name).collect();
        data_command::fetch_sets(catalog, data, &names)?;
    }
    let (configs, why) = configs(args, catalog, data)?;
    if let Some(words) = why {
        say(&words);
    }
    // Before the first of them runs for an hour.
    configs.iter().try_for_each(|config| Experiment::load(config, catalog.solvers()).map(drop))?;
    let mut out: Option<PathBuf> = args.how.out.clone();
    let mut last = None;
    let mut reports = Vec::new();
    for config in configs {
        let how = run::HowArgs { out: out.clone(), ..args.how.clone() };
        let args = RunArgs::plain(config, how);
        let (experiment, mut options) = args.read(catalog, data)?;
        // What the configs before it left is meant to be there.
        options.warn_of_others &= reports.is_empty();
        let plan = Plan::new(&experiment, catalog, &options.data_dir)?;
        let Finished { report, manifest, contents } =
            session::run(&experiment, &plan, catalog, &options, interrupt::flag())?;
        if report.interrupted {
            return run::complete(&args, &report);
        }
        out = Some(options.out);
        last = Some((manifest, contents));
        reports.push((args, report));
    }
    let (Some(out), Some((manifest, contents))) = (out, last) else { anyhow::bail!("no config to run") };
    // Pages are about the folder: `--only` says what is run, and must not put a part in the place of the whole.
    let results = Results::of(&out, manifest, contents, catalog, &[])?;
    pages::warn(&results);
    let summary = Summary::of(&results, &out)?;
    let begin = |step: &str| {
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(crate::Error::invalid("stopped; all runs are done, the same command makes the pages"));
        }
        say(step);
        Ok(())
    };
    let made = render::write_pages(&results, &summary, &out, &begin)?;
    pages::note_left_out(&made.left_out);
    print(&claims::text(&summary.claims))?;
    summary.regimes.iter().try_for_each(|regime| print(&format!("{}\n", regime.text())))?;
    print(&format!("\nreport   {}\n", made.report.display()))?;
    print(&format!("figures  {} ({} files)\n", out.join("figures").display(), made.files.len()))?;
    let planned: u64 = reports.iter().map(|(_, report)| report.planned).sum();
    print(&format!("runs     {} ({planned} runs)\n", out.join("runs").display()))?;
    say(&format!("done in {}", duration(began.elapsed().as_secs_f64())));
    reports.iter().try_for_each(|(args, report)| run::complete(args, report))
}
