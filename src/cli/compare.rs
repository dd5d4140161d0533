//! `compare`: two builds in turns, two solvers of one build, or two result folders, with an interval for each ratio.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use super::args::{count, fraction, seed};
use super::findings::{OutputArgs, records};
use super::{Exit, note};
use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::gate::build::Builds;
use crate::gate::folders::{self, Comparison};
use crate::gate::measure::by_cell;
use crate::gate::rounds::{self, Design, Side};
use crate::gate::workload::{self, Workload};
use crate::gate::{Finding, instructions};
use crate::run::host;
use crate::store::RunRecord;
use crate::store::folder::Store;
use crate::store::keys::{CellKey, CellPattern};
use crate::text::change;
use ssvm::solver::SolverInfo;

/// Compare two result folders or two builds
///
/// Prints each ratio with its interval. A ratio is new over old: the second folder over the first, or this program over
/// the other. Builds run in turns on one core. Exit code 2 means that the whole interval of a ratio is beyond the
/// threshold or, for folders, that inputs differ or that runs or gaps were lost. An interval within the threshold is
/// 'same', one that reaches beyond it 'undecided': more repeats or rounds make it narrower.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  ssvm-bench compare results/before results/after\n  \
    ssvm-bench compare --against HEAD~1\n  \
    ssvm-bench compare --against target/baseline/ssvm-bench --only '*/mp-bcfw'\n  \
    ssvm-bench compare --versus bcfw --only usps-synth:n=100/mp-bcfw --iterations 10 --rounds 5")]
pub struct CompareArgs {
    /// Two result folders, the older one first
    #[arg(value_name = "FOLDER", num_args = 2)]
    folders: Vec<PathBuf>,
    /// Another build of this program, or a commit to build it from; both run in turns on one core
    ///
    /// The commit and the files as they are now, without untracked ones, are built in target/against, one after the other in
    /// one folder, so that nothing differs but the change. The first build there takes as long as a first build of the
    /// program. Both builds stay there for the next comparison. Path dependencies outside the repository cannot be built.
    #[arg(long, value_name = "BUILD", conflicts_with = "folders")]
    against: Option<String>,
    /// Another solver of this build, compared with the solver of every cell that --only selects
    #[arg(long, value_name = "SOLVER", conflicts_with_all = ["folders", "against"], requires = "only")]
    versus: Option<String>,
    /// Only cells DATASET/SOLVER that match; for builds and solvers also the full name of a cell that is not a standard
    /// workload; repeatable
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    /// Iterations of cells that are not standard workloads
    #[arg(long, value_name = "I", default_value_t = 10, value_parser = count, requires = "only")]
    iterations: u64,
    /// Approximate passes per iteration of such cells [default: the slope rule under the virtual clock]
    #[arg(long, value_name = "K", requires = "only")]
    passes: Option<u32>,
    /// Rounds of four runs per workload
    #[arg(long, value_name = "N", default_value_t = Design::default().rounds as u64, value_parser = count, conflicts_with = "folders")]
    rounds: u64,
    /// Threshold of a failure: the whole interval must show a larger change than this
    #[arg(long, value_name = "X", default_value_t = Design::default().threshold, value_parser = fraction)]
    noise_threshold: f64,
    /// Confidence of all intervals together
    #[arg(long, value_name = "P", default_value_t = Design::default().confidence, value_parser = fraction)]
    confidence_level: f64,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = Design::default().seed, value_parser = seed)]
    seed: u64,
    /// Core that both programs run on [default: the last one]
    #[arg(long, value_name = "N", conflicts_with = "folders")]
    core: Option<usize>,
    /// Also exit with code 2 when these metrics cannot be judged because the machine was busy or the repeats are too few
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "folders")]
    require: Vec<Required>,
    #[command(flatten)]
    outputs: OutputArgs,
}

/// What must have been judged for a comparison to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Required {
    Time,
}

pub fn run(args: &CompareArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<Exit> {
    if let Some(solver) = &args.versus {
        SolverInfo::find(catalog.solvers(), solver)?;
    }
    let design = Design {
        rounds: args.rounds as usize,
        confidence: args.confidence_level,
        threshold: args.noise_threshold,
        seed: args.seed,
    };
    args.outputs.check(None)?;
    let [old, new] = &args.folders[..] else {
        return args.outputs.write(
            "Comparison of builds",
            &interleaved(args, &design, catalog, &data.arguments())?,
            None,
        );
    };
    let patterns = CellPattern::parse_all(&args.only)?;
    let selected = |folder: &Path| -> anyhow::Result<Vec<RunRecord>> {
        let mut records = records(&Store::open(folder)?)?;
        records.retain(|record| patterns.is_empty() || patterns.iter().any(|pattern| record.matches(pattern)));
        if records.is_empty() {
            bail!("{}: no run matches --only {}", folder.display(), args.only.join(", "));
        }
        Ok(records)
    };
    let (old, new) = (selected(old)?, selected(new)?);
    if [&old, &new].into_iter().all(|side| side.iter().any(|run| !run.settings().clock.repeatable())) {
        note(folders::DRIFT);
    }
    let Comparison { findings, remark, unjudged_times } = folders::compare(&by_cell(&old)?, &by_cell(&new)?, &design)?;
    let verdict = args.outputs.write("Comparison of results", &findings, remark.as_deref())?;
    if unjudged_times > 0 {
        let times = if unjudged_times == 1 { "time" } else { "times" };
        note(&format!("warning: {unjudged_times} {times} could not be judged, see the reasons in the table"));
        if args.require.contains(&Required::Time) {
            return Ok(Exit::GateFailed);
        }
    }
    Ok(verdict)
}

/// The standard workloads that --only selects, and those that it names in full.
fn workloads(args: &CompareArgs, catalog: &dyn Catalog) -> anyhow::Result<Vec<Workload>> {
    let mut standard = workload::standard();
    if args.only.is_empty() {
        return Ok(standard);
    }
    let patterns = CellPattern::parse_all(&args.only)?;
    let wanted =
        |pattern: &CellPattern, CellKey { dataset, solver, .. }: &CellKey| pattern.matches(dataset, solver, None);
    let mut named = Vec::new();
    for (text, pattern) in args.only.iter().zip(&patterns) {
        if standard.iter().any(|workload| wanted(pattern, &workload.cell)) {
            continue;
        }
        let Some((dataset, solver)) = text.rsplit_once('/').filter(|_| !text.contains(['*', '?', '[', '{'])) else {
            let known: Vec<String> = standard.iter().map(|workload| workload.cell.to_string()).collect();
            bail!(
                "--only '{text}' matches no standard workload and is not a DATASET/SOLVER; the standard workloads \
                 are {}",
                known.join(", ")
            );
        };
        SolverInfo::find(catalog.solvers(), solver)?;
        let (cell, iterations, passes) = (CellKey::new(dataset, solver), args.iterations, args.passes);
        named.push(Workload { cell, iterations, passes });
    }
    standard.retain(|workload| patterns.iter().any(|pattern| wanted(pattern, &workload.cell)));
    standard.extend(named);
    Ok(standard)
}

/// The build to compare with and the present one: two files, or a commit and the files as they are now, both built here.
fn builds(named: &str, this: PathBuf) -> anyhow::Result<[PathBuf; 2]> {
    if let Ok(other) = Path::new(named).canonicalize() {
        return Ok([other, this]);
    }
    let program = this.file_name().unwrap_or_default().to_owned();
    let builds = Builds::of(&std::env::current_dir()?, program)?;
    let build = |commit: String, what: &str| {
        note(&format!("building {what}"));
        builds.build(&commit)
    };
    Ok([build(builds.commit(named)?, named)?, build(builds.now()?, "the files as they are now")?])
}

/// `options` are those that every `solve` gets: what this call may read and start, its children may.
fn interleaved(
    args: &CompareArgs,
    design: &Design,
    catalog: &dyn Catalog,
    options: &[OsString],
) -> anyhow::Result<Vec<Finding>> {
    let workloads = workloads(args, catalog)?;
    let this = std::env::current_exe().context("cannot locate the executable of this program")?;
    let [other, this] = match (&args.against, &args.versus) {
        (Some(build), _) => builds(build, this)?,
        (None, Some(_)) => [this.clone(), this],
        (None, None) => {
            bail!("nothing to compare; name two result folders, --against BUILD, or --versus SOLVER with --only")
        }
    };
    // Programs started from here inherit the core.
    let core = args.core.or_else(|| host::cores().last().copied());
    if !core.is_some_and(host::pin) {
        note("warning: cannot pin to a core; the intervals will be wider");
    }
    let run = |workload: &Workload, side: Side| match (side, &args.versus) {
        (Side::New, _) => workload.run(&this, options),
        (Side::Old, None) => workload.run(&other, options),
        (Side::Old, Some(solver)) => {
            let cell = CellKey::new(&workload.cell.dataset, solver);
            Workload { cell, ..workload.clone() }.run(&other, options)
        }
    };
    let mut findings = rounds::compare(&workloads, design, run, |round| {
        if round % 5 == 0 {
            note(&format!("round {round} of {}", design.rounds));
        }
    })?;
    if args.versus.is_none() && instructions::version().is_some() {
        for (finding, workload) in findings.iter_mut().zip(&workloads).filter(|(f, _)| f.judgement.fails()) {
            explain(finding, workload, [&other, &this], options)?;
        }
    }
    Ok(findings)
}

/// Adds to the finding of a slower workload whether it also takes more instructions. Any change of the sources moves code in
/// memory, which alone can change the time by as much as the threshold.
fn explain(
    finding: &mut Finding,
    workload: &Workload,
    programs: [&Path; 2],
    options: &[OsString],
) -> anyhow::Result<()> {
    note(&format!("counting instructions: {}", workload.cell));
    let count = |program| -> anyhow::Result<f64> {
        let counts = instructions::count(program, options, std::slice::from_ref(workload), |_| {})?;
        Ok(counts.values().sum::<u64>() as f64)
    };
    let ratio = count(programs[1])? / count(programs[0])?;
    let join = if finding.note.is_empty() { "" } else { "; " };
    finding.note += &if (ratio - 1.0).abs() <= instructions::TOLERANCE {
        format!(
            "{join}as many instructions as before: the cause is in caches, or only in the position of the code in memory"
        )
    } else {
        format!("{join}instructions {}", change(ratio))
    };
    Ok(())
}
