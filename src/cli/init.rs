//! `init`: a commented config for data and solvers of your own, or a crate with a solver of your own.

mod own_crate;
mod pilot;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::bail;

use self::pilot::{Limits, Pilot};
use super::terminal::{NAME, own_name};
use super::{interrupt, note, print_path};
use crate::dataset::{Argument, DataDir, Request};
use crate::experiment::catalog::Catalog;
use crate::run::host;
use crate::store::files;
use crate::text::{counted, duration};
use ssvm::solver::SolverInfo;
use ssvm::stats::FEWEST_PAIRS;

/// Active beside the solvers of the paper: the first reaches small gaps in the shortest time, the second with the fewest oracle
/// calls (docs/league.md).
const LEAGUE: [&str; 2] = ["mp-bcfw-gram", "bcfw-gap-pair-cache"];
/// Limits where nothing was measured: exact passes that bring BCFW far enough to compare, and a time that ends a slow oracle.
const UNKNOWN_ITERATIONS: u32 = 100;
const UNKNOWN_TIME_S: f64 = 50.0;

/// Write a config for your own data, or a crate for your own solver
///
/// In the config the solvers of the paper and two faster ones are active, and the others are commented out. Each
/// active solver first runs on each data set for a quarter of a second, which sets the limits of the runs and the
/// estimate of their time. An oracle program is not started: its runs end after 100 iterations or 50 s, at no gap.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example:\n  ssvm-bench init mine.toml -d libsvm:digits.txt -s bcfw -s mp-bcfw\n  \
    ssvm-bench init --crate my-solver --solver my-bcfw")]
pub struct InitArgs {
    /// Config to write; - prints it
    #[arg(required_unless_present = "folder")]
    file: Option<PathBuf>,
    /// Instead write a crate with a solver of your own into this folder
    #[arg(long = "crate", value_name = "DIR", requires = "solver", conflicts_with_all = ["file", "dataset", "force"])]
    folder: Option<PathBuf>,
    /// Data set of the config; repeatable
    #[arg(short, long, value_name = "DATA", default_value = "usps-synth:n=1000")]
    dataset: Vec<String>,
    /// Solver to compare; repeatable [default: those of the paper and two faster ones]. With --crate, the name of
    /// your solver
    #[arg(short, long, value_name = "SOLVER")]
    solver: Vec<String>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

pub fn run(args: &InitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    match (&args.folder, &args.file) {
        (Some(folder), _) => own_crate::write(folder, &args.solver, catalog),
        (None, Some(file)) => write_config(file, args, catalog, data),
        (None, None) => bail!("name the file to write, such as mine.toml, or - to print the config"),
    }
}

fn write_config(file: &Path, args: &InitArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let stream = files::is_stream(file);
    if file.exists() && !stream && !args.force {
        bail!("{} already exists; replace it with --force", file.display());
    }
    let active = active(&args.solver, catalog)?;
    let mut estimate = Estimate::default();
    let mut datasets = String::new();
    for name in &args.dataset {
        let limits = estimate.add(&Request::new(name, data), &active, catalog)?;
        datasets += &format!(
            "\n[[dataset]]\nname = {}\n# lambda = 0.001    # 1/n unless given\n{}",
            quoted(name),
            budget(limits)
        );
    }
    let title = file.file_stem().filter(|_| !stream).unwrap_or("mine".as_ref()).to_string_lossy();
    let shown = if stream { "FILE".into() } else { shlex::try_quote(&file.to_string_lossy())?.into_owned() };
    let text = head(&title, &shown, &active, catalog) + &datasets;
    files::write_bytes(file, text.as_bytes())?;
    note(&estimate.text(active.len()));
    if stream {
        return Ok(());
    }
    note(&format!("next: `{NAME} run {shown} --dry-run`; `{NAME} reproduce {shown}`"));
    print_path(file)
}

/// The limits of runs on a data set; `None` when nothing is known about it, not even the size of its objective.
fn budget(limits: Option<Limits>) -> String {
    match limits {
        Some(Limits { gap, time_s }) => format!(
            "# A run ends at the first limit that it reaches: this gap, or seconds of solver time.\n\
             budget = {{ gap = {gap}, time_s = {time_s} }}\n"
        ),
        None => format!(
            "# A run ends at the first limit that it reaches: iterations, or seconds of solver time. Nothing was run to choose a\n\
             # gap; when you know the objective, add gap = 0.001 times its value.\n\
             budget = {{ iterations = {UNKNOWN_ITERATIONS}, time_s = {UNKNOWN_TIME_S} }}\n"
        ),
    }
}

/// The requested solvers; else those of the paper, those of [`LEAGUE`], and those that are not in the library.
fn active<'a>(names: &[String], catalog: &'a dyn Catalog) -> anyhow::Result<Vec<&'a SolverInfo>> {
    if !names.is_empty() {
        let find = |name: &String| SolverInfo::find(catalog.solvers(), name);
        return Ok(names.iter().map(find).collect::<Result<_, _>>()?);
    }
    let mut active = Vec::new();
    for info in catalog.solvers() {
        if info.in_paper || LEAGUE.contains(&info.name) || catalog.solver_version(info.name)?.is_some() {
            active.push(info);
        }
    }
    Ok(active)
}

/// The config without its data sets.
fn head(title: &str, file: &str, active: &[&SolverInfo], catalog: &dyn Catalog) -> String {
    let entry = |info: &SolverInfo| format!("{{ name = {} }},", quoted(info.name));
    let width = catalog.solvers().iter().map(|info| entry(info).len()).max().unwrap_or(0);
    let line = |info: &SolverInfo, mark: &str| format!("    {mark}{:<width$} # {}", entry(info), info.about);
    let is_active = |info: &SolverInfo| active.iter().any(|other| other.name == info.name);
    let others = catalog.solvers().iter().filter(|info| !is_active(info));
    include_str!("init.toml")
        .replace("ACTIVE", &active.iter().map(|info| line(info, "")).collect::<Vec<_>>().join("\n"))
        .replace("OTHERS", &others.map(|info| line(info, "# ")).collect::<Vec<_>>().join("\n"))
        .replace("FEWEST", &FEWEST_PAIRS.to_string())
        .replace("PROGRAM", own_name(&format!("{NAME} ")).trim_end())
        .replace("FILE", file)
        .replace("NAME", &quoted(title))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Wall seconds of a config.
#[derive(Default)]
struct Estimate {
    /// To load the data, once.
    loading_s: f64,
    /// Solver time and evaluations of one repeat.
    seconds: f64,
    /// Data sets that nothing was measured on, each with the reason; their part of `seconds` is the time limit of all runs.
    unknown: Vec<String>,
}

impl Estimate {
    /// Limits for runs on a data set, from a pilot; `None` where none can be made.
    fn add(
        &mut self,
        request: &Request<'_>,
        solvers: &[&SolverInfo],
        catalog: &dyn Catalog,
    ) -> anyhow::Result<Option<Limits>> {
        let stopped = || interrupt::flag().load(Ordering::Relaxed);
        let info = catalog.dataset(request.head());
        let reason = if info.is_some_and(|info| matches!(info.argument, Argument::Program(_))) {
            "`init` does not start oracle programs".to_owned()
        } else {
            let began = Instant::now();
            match catalog.open(request) {
                Ok(loaded) => {
                    self.loading_s += began.elapsed().as_secs_f64();
                    let solvers_text = counted(solvers.len(), "solver");
                    note(&format!("{}: trying {solvers_text}, {} s each", request.name, pilot::SECONDS));
                    let pilot = Pilot::run(&*loaded.problem, solvers, &stopped)?;
                    let limits = pilot.limits();
                    self.seconds += pilot.seconds(&limits);
                    return Ok(Some(limits));
                }
                // An official data set may be fetched later.
                Err(error) if info.is_some_and(|info| info.known.is_some()) => error.to_string(),
                Err(error) => return Err(error.into()),
            }
        };
        self.unknown.push(format!("{}: {reason}", request.name));
        self.seconds += UNKNOWN_TIME_S * solvers.len() as f64;
        Ok(None)
    }

    fn text(&self, solvers: usize) -> String {
        let jobs = host::core_count();
        let total = duration(self.loading_s + self.seconds * FEWEST_PAIRS as f64 / jobs as f64);
        let workers = if jobs == 1 { "one worker".to_owned() } else { format!("{jobs} workers") };
        if self.unknown.is_empty() {
            return format!(
                "estimate: {total} with {workers}, {FEWEST_PAIRS} repeats of {} (from {} s of each)",
                counted(solvers, "solver"),
                pilot::SECONDS
            );
        }
        let unknown = self.unknown.join("\n  ");
        format!(
            "estimate: not known, because of\n  {unknown}\n  the time limits add up to {total} with {workers}, without evaluations"
        )
    }
}
