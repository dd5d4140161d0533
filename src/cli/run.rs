//! `ssvm-bench run`: executes what is not yet in the result folder.

use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;

use crate::config::Experiment;
use crate::dataset::DataDir;
use crate::exec::progress::{Verbosity, duration};
use crate::exec::session::{self, Options, Report};

/// Arguments of `run`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench run --config configs/quick.toml --out results/quick --jobs 2\n\n\
    Safe to kill and start again: finished runs are kept, failed ones are tried again.")]
pub struct RunArgs {
    /// Config file, or one that is built in: quick, smoke, ci, paper
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Result folder [default: results/NAME of the config]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Concurrent runs, each pinned to its core [default: the config's, else the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Time runs one at a time whatever --jobs says, for numbers to publish
    #[arg(long)]
    pub isolated: bool,
    /// Redo finished runs
    #[arg(long)]
    pub force: bool,
    /// Move runs that are not in this config's plan to DIR/stale
    #[arg(long)]
    pub prune: bool,
    /// Say nothing but errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// A line for every run
    #[arg(long, short)]
    pub verbose: bool,
}

/// Executes what is missing and prints the outcome; an error when a run failed or was left out.
pub fn run(args: &RunArgs, data: &DataDir) -> anyhow::Result<()> {
    let report = execute(args, data)?;
    // Outputs for programs come first: whatever is said below, the numbers are there.
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&report)?)?;
    complete(args, &report)
}

/// Executes what is missing.
pub fn execute(args: &RunArgs, data: &DataDir) -> anyhow::Result<Report> {
    let experiment = Experiment::load(&args.config)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(&experiment.name));
    let options = Options {
        out,
        data_dir: data.clone(),
        jobs: args.jobs.map(usize::from),
        isolated: args.isolated,
        force: args.force,
        prune: args.prune,
        verbosity: verbosity(args.quiet, args.verbose),
    };
    Ok(session::run(&experiment, &options, interrupt_flag())?)
}

/// An error when a run failed or was left out, with the command that continues.
pub fn complete(args: &RunArgs, report: &Report) -> anyhow::Result<()> {
    let again = format!("ssvm-bench run --config {} --out {}", args.config.display(), report.out.display());
    let failed = report.failed.len() as u64;
    if report.interrupted {
        let left = report.planned - report.already - report.finished - failed;
        bail!("stopped: {left} of {} runs are left; continue with: {again}", report.planned);
    }
    if let Some((label, message)) = report.failed.first() {
        bail!("{failed} of {} runs failed, such as {label}: {message}; try them again with: {again}", report.planned);
    }
    if !args.quiet {
        let (now, before) = (report.finished, report.already);
        note(&format!(
            "{now} runs finished in {}, {before} were done before: {}",
            duration(report.seconds),
            report.out.display()
        ));
    }
    Ok(())
}

/// A line on stderr; nobody there to read it is no error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// How much to say.
pub fn verbosity(quiet: bool, verbose: bool) -> Verbosity {
    match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

/// Set by the first Ctrl-C (or SIGTERM): runs in flight are dropped, finished ones stay. The second ends the process.
pub fn interrupt_flag() -> &'static AtomicBool {
    static FLAG: AtomicBool = AtomicBool::new(false);
    static HANDLER: OnceLock<()> = OnceLock::new();
    HANDLER.get_or_init(|| {
        // Without a handler Ctrl-C still works, only less politely.
        let _ = ctrlc::set_handler(|| {
            if FLAG.swap(true, Ordering::Relaxed) {
                std::process::exit(1);
            }
            note("stopping; once more to stop at once");
        });
    });
    &FLAG
}
