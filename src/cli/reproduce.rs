//! `reproduce`: experiment → plan → session → results → pages, in one go; on the real data sets when they are there.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::args::{SelectArgs, config_help};
use super::run::{Executed, complete, execute};
use super::terminal::{is_coloured, own_name, print_width, verbosity};
use super::{data as data_command, interrupt, note, pages, print, say};
use crate::dataset::{DataDir, Request};
use crate::experiment::Experiment;
use crate::experiment::catalog::Catalog;
use crate::render;
use crate::render::tables;
use crate::run::progress::Verbosity;
use crate::store::folder;
use crate::study::{Study, Summary};
use crate::table;
use crate::text::duration;

/// The configs for the real data sets: on this machine, then in the paper's regime.
const REAL: [&str; 2] = ["paper", "regime"];
/// The config for their synthetic stand-ins.
const SYNTHETIC: &str = "quick";

/// Run a config, then write its figures, report and claims
///
/// Without a config, runs `paper` and `regime` if the real data sets are on this machine, else `quick` on built-in
/// synthetic data. Several configs go into one folder, one after the other. You may kill the command at any time: the
/// same command continues it.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench reproduce smoke --out results/quick\n  ssvm-bench reproduce\n  \
    ssvm-bench reproduce --fetch\n  ssvm-bench reproduce quick --isolated")]
pub struct ReproduceArgs {
    #[arg(value_name = "CONFIG", help = config_help() + " [default: paper and regime if the real data sets are on this \
        machine, else quick]")]
    config: Vec<PathBuf>,
    /// Download the real data sets first
    #[arg(long)]
    fetch: bool,
    #[command(flatten)]
    select: SelectArgs,
}

/// Runs the command. The pages are written even if runs failed; the error is reported last.
pub fn run(args: &ReproduceArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let began = Instant::now();
    let configs = configs(args, catalog, data)?;
    let (experiments, out) = args.select.experiments(&configs, catalog)?;
    let options = args.select.options(out.clone(), data);
    let Executed { manifest, contents, reports } = execute(experiments, options, catalog)?;
    // Pages describe the whole folder: `--only` restricts what is run, not what the pages show.
    let results = Study::of(&out, manifest, contents, catalog, &[])?;
    pages::warn(&results);
    let (page, drawn) = write_pages(&results, &out)?;
    let planned: u64 = reports.iter().map(|report| report.planned).sum();
    say(&format!(
        "\nreport   {}\nfigures  {} ({drawn} files)\nruns     {} ({planned} runs)\n",
        page.display(),
        out.join("figures").display(),
        out.join("runs").display()
    ))?;
    if verbosity() == Verbosity::Verbose {
        note(&format!("{} records were read", folder::records_read()));
    }
    note(&format!("done in {}", duration(began.elapsed().as_secs_f64())));
    reports.iter().try_for_each(complete)
}

/// The configs that were named, else those of the paper when all its data sets are there.
fn configs(args: &ReproduceArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Vec<PathBuf>> {
    let named = !args.config.is_empty();
    if named && !args.fetch {
        return Ok(args.config.clone());
    }
    let paper = Experiment::load(REAL[0], catalog.solvers())?;
    let names: Vec<String> = paper.datasets.iter().map(|spec| spec.name.clone()).collect();
    if args.fetch {
        data_command::fetch_sets(catalog, data, &names)?;
    }
    if named {
        return Ok(args.config.clone());
    }
    let is_there = |name: &str| catalog.dataset(name).is_some_and(|info| info.is_there(&Request::new(name, data)));
    let missing: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_there(name)).collect();
    if missing.is_empty() {
        note("found the real data sets: running paper and regime (`ssvm-bench reproduce quick` for synthetic data)");
        return Ok(REAL.map(PathBuf::from).to_vec());
    }
    let (names, are) = (missing.join(", "), if missing.len() == 1 { "is" } else { "are" });
    note(&format!(
        "running on synthetic data, because {names} {are} missing; `ssvm-bench reproduce --fetch` downloads the \
         real data sets"
    ));
    Ok(vec![PathBuf::from(SYNTHETIC)])
}

/// Figures, tables, report and summary; prints the claims. The report, and how many files of figures and tables were written.
fn write_pages(results: &Study, out: &Path) -> anyhow::Result<(PathBuf, usize)> {
    let begin = |step: &str| {
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(crate::Error::invalid("stopped; all runs are done, and the same command writes the pages"));
        }
        note(step);
        Ok(())
    };
    let summary = Summary::of(results, out).with_sensitivities(results);
    let made = render::write_pages(results, &summary, out, &|page| own_name(page).into_owned(), &begin)?;
    pages::note_left_out(&made.left_out, results, &[]);
    let folder = shlex::try_quote(&out.to_string_lossy())?.into_owned();
    // This command has one format.
    let opening = tables::opening(&summary, &folder, print_width(), is_coloured());
    print(&opening.replace(table::MORE, "a wider terminal"))?;
    Ok((made.report, made.files.len()))
}
