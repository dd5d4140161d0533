//! `reproduce`: experiment → plan → session → results → pages, in one go; on the real data sets when they are there.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::run::{self, SelectArgs, VerbosityArgs};
use super::{data as data_command, interrupt, note, pages, print, print_width};
use crate::dataset::{DataDir, Request};
use crate::experiment::catalog::Catalog;
use crate::experiment::{Experiment, Plan};
use crate::render;
use crate::render::tables;
use crate::run::session::{self, Report};
use crate::store::folder::{self, Contents};
use crate::store::manifest::Manifest;
use crate::study::{Study, Summary};
use crate::text::duration;

/// The configs for the real data sets: on this machine, then in the paper's regime.
const REAL: [&str; 2] = ["paper", "regime"];
/// The config for their synthetic stand-ins.
const SYNTHETIC: &str = "quick";

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench reproduce\n  ssvm-bench reproduce --fetch\n  \
    ssvm-bench reproduce --config quick --out results/quick --isolated")]
pub struct ReproduceArgs {
    #[arg(long, value_name = "FILE", help = run::config_help() + "; repeatable, all into one folder \
        [default: paper and regime where the real data sets are there, else quick on their twins]")]
    config: Vec<PathBuf>,
    /// Download the real data sets first
    #[arg(long)]
    fetch: bool,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    output: VerbosityArgs,
}

/// Runs the command. Failed runs do not keep the pages from being made: the error comes last.
pub fn run(args: &ReproduceArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let began = Instant::now();
    let say = |text: &str| {
        if !args.output.quiet {
            note(text);
        }
    };
    let experiments = experiments(args, catalog, data, &say)?;
    let first = experiments.first().map(Experiment::folder).unwrap_or_default();
    let out = args.select.out.clone().unwrap_or(first);
    // One after the other into one folder. Each record is read at most once: what is known of the folder goes from session
    // to session.
    let (mut manifest, mut contents) = (Manifest::default(), Contents::default());
    let mut reports: Vec<(String, Report)> = Vec::new();
    for experiment in &experiments {
        run::name_programs(experiment, catalog, args.output.quiet);
    }
    for mut experiment in experiments {
        let known = run::known_costs(&mut experiment, &out, contents, catalog);
        let mut options = args.select.options(out.clone(), &args.output, data);
        // What the configs before it left belongs there.
        options.warn_of_others &= reports.is_empty();
        let plan = Plan::new(&experiment, catalog, &options.data_dir)?;
        let finished = session::run(&experiment, plan, catalog, &options, known)?;
        let again = run::command(&experiment.path, &finished.report);
        if finished.report.interrupted {
            run::complete(&finished.report, &again, args.output.quiet)?;
        }
        (manifest, contents) = (finished.manifest, finished.contents);
        reports.push((again, finished.report));
    }
    // Pages are about the folder: `--only` narrows what is run, and must not put a part in the place of the whole.
    let results = Study::of(&out, manifest, contents, catalog, &[])?;
    pages::warn(&results);
    let (page, drawn) = write_pages(&results, &out, &say)?;
    let planned: u64 = reports.iter().map(|(_, report)| report.planned).sum();
    print(&format!(
        "\nreport   {}\nfigures  {} ({drawn} files)\nruns     {} ({planned} runs)\n",
        page.display(),
        out.join("figures").display(),
        out.join("runs").display()
    ))?;
    if args.output.verbose {
        note(&format!("{} records were read", folder::records_read()));
    }
    say(&format!("done in {}", duration(began.elapsed().as_secs_f64())));
    reports.iter().try_for_each(|(again, report)| run::complete(report, again, args.output.quiet))
}

/// The checked experiments: those that were named, else those of the paper when all its data sets are there.
fn experiments(
    args: &ReproduceArgs,
    catalog: &dyn Catalog,
    data: &DataDir,
    say: &dyn Fn(&str),
) -> anyhow::Result<Vec<Experiment>> {
    let load = |config: &Path| Experiment::load(config, catalog.solvers());
    let mut experiments: Vec<Experiment> = args.config.iter().map(|config| load(config)).collect::<Result<_, _>>()?;
    if args.fetch || experiments.is_empty() {
        let real: Vec<Experiment> = REAL.iter().map(|name| load(Path::new(name))).collect::<Result<_, _>>()?;
        let names: Vec<String> = real[0].datasets.iter().map(|spec| spec.name.clone()).collect();
        if args.fetch {
            data_command::fetch_sets(catalog, data, &names)?;
        }
        let is_there = |name: &str| catalog.dataset(name).is_some_and(|info| info.is_there(&Request::new(name, data)));
        let missing: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_there(name)).collect();
        if !experiments.is_empty() {
            // The configs were named; only the download needed the others.
        } else if missing.is_empty() {
            say("the real data sets are there: configs paper and regime (--config quick for their small twins)");
            experiments = real;
        } else {
            let (names, are) = (missing.join(", "), if missing.len() == 1 { "is" } else { "are" });
            say(&format!(
                "on synthetic twins, since {names} {are} not there: `ssvm-bench reproduce --fetch` gets the real data sets"
            ));
            experiments = vec![load(Path::new(SYNTHETIC))?];
        }
    }
    for experiment in &mut experiments {
        experiment.narrow(&args.select.only)?;
    }
    Ok(experiments)
}

/// Figures, tables, report and summary; prints the claims. The report, and how many files of figures and tables were written.
fn write_pages(results: &Study, out: &Path, say: &dyn Fn(&str)) -> anyhow::Result<(PathBuf, usize)> {
    let begin = |step: &str| {
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(crate::Error::invalid("stopped; all runs are done, the same command makes the pages"));
        }
        say(step);
        Ok(())
    };
    let summary = Summary::of(results, out).with_sensitivities(results);
    let made = render::write_pages(results, &summary, out, &begin)?;
    pages::note_left_out(&made.left_out);
    print(&tables::opening(&summary, print_width(), false))?;
    Ok((made.report, made.files.len()))
}
