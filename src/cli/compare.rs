//! `compare`: two builds in turns, two solvers of one build, or two result folders, with an interval for each ratio.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use super::findings::{OutputArgs, records};
use super::{Exit, note};
use crate::experiment::catalog::Catalog;
use crate::gate::folders::{self, Comparison};
use crate::gate::measure::by_cell;
use crate::gate::rounds::{self, Design, Side};
use crate::gate::workload::{self, Workload};
use crate::gate::{Finding, instructions};
use crate::run::host;
use crate::store::folder::Store;
use crate::store::keys::CellKey;
use crate::text::change;
use ssvm::solver::SolverInfo;

#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  ssvm-bench compare results/before results/after\n  \
    ssvm-bench compare --against target/baseline/ssvm-bench\n  \
    ssvm-bench compare --versus bcfw --cell usps-synth:n=300/mp-bcfw --iterations 10\n\n\
    Ratios are new over old, the second folder over the first, this program over the other. Exit code 2 means that the \
    whole interval of a ratio is beyond the threshold; of folders also that runs were made from other inputs or that runs \
    or gaps were lost. An interval within the threshold is 'same', one that reaches beyond it 'undecided': more repeats \
    or rounds make it narrower.")]
pub struct CompareArgs {
    /// Two result folders, the older one first
    #[arg(value_name = "FOLDER", num_args = 2)]
    folders: Vec<PathBuf>,
    /// Another build of this program: both run in turns on one core
    #[arg(long, value_name = "BINARY", conflicts_with = "folders")]
    against: Option<PathBuf>,
    /// Another solver of this build, compared with the solver of every --cell
    #[arg(long, value_name = "SOLVER", conflicts_with_all = ["folders", "against"], requires = "cell")]
    versus: Option<String>,
    /// What to run, instead of the standard workloads; repeatable
    #[arg(long, value_name = "DATASET/SOLVER", value_parser = cell, conflicts_with = "folders")]
    cell: Vec<CellKey>,
    /// Iterations of every --cell
    #[arg(long, value_name = "I", default_value_t = 10, requires = "cell")]
    iterations: u64,
    /// Approximate passes per iteration of every --cell; the slope rule under the virtual clock when not given
    #[arg(long, value_name = "K", requires = "cell")]
    passes: Option<u32>,
    /// Rounds of four runs per workload
    #[arg(long, value_name = "N", default_value_t = Design::default().rounds, conflicts_with = "folders")]
    rounds: usize,
    /// Change that the whole interval must be beyond to fail
    #[arg(long, value_name = "X", default_value_t = Design::default().threshold, value_parser = fraction)]
    noise_threshold: f64,
    /// Confidence of the intervals; of folders, of all intervals together
    #[arg(long, value_name = "P", default_value_t = Design::default().confidence, value_parser = fraction)]
    confidence_level: f64,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = Design::default().seed)]
    seed: u64,
    /// The core that both programs run on [default: the last one]
    #[arg(long, value_name = "N", conflicts_with = "folders")]
    core: Option<usize>,
    /// Exit with code 2 also when these cannot be judged: on a busy machine, or with too few repeats
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

fn cell(text: &str) -> Result<CellKey, String> {
    let named = text.rsplit_once('/').filter(|(dataset, solver)| !dataset.is_empty() && !solver.is_empty());
    named.map(|(dataset, solver)| CellKey::new(dataset, solver)).ok_or_else(|| "must be DATASET/SOLVER".to_owned())
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("must be between 0 and 1".into()),
    }
}

pub fn run(args: &CompareArgs, catalog: &dyn Catalog) -> anyhow::Result<Exit> {
    for solver in args.cell.iter().map(|cell| &cell.solver.name).chain(&args.versus) {
        SolverInfo::find(catalog.solvers(), solver)?;
    }
    let design = Design {
        rounds: args.rounds,
        confidence: args.confidence_level,
        threshold: args.noise_threshold,
        seed: args.seed,
    };
    args.outputs.check()?;
    let [old, new] = &args.folders[..] else {
        return args.outputs.write("Comparison of builds", &interleaved(args, &design)?, None);
    };
    let (old, new) = (records(&Store::open(old)?)?, records(&Store::open(new)?)?);
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

fn interleaved(args: &CompareArgs, design: &Design) -> anyhow::Result<Vec<Finding>> {
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    let other = match (&args.against, &args.versus) {
        (Some(binary), _) => binary.canonicalize().with_context(|| {
            format!("cannot find {}; build the version to compare with and keep a copy of it", binary.display())
        })?,
        (None, Some(_)) => this.clone(),
        (None, None) => {
            bail!("nothing to compare; name two result folders, --against BINARY, or --versus SOLVER with --cell")
        }
    };
    let workloads = if args.cell.is_empty() {
        workload::standard()
    } else {
        let work = |cell: &CellKey| Workload { cell: cell.clone(), iterations: args.iterations, passes: args.passes };
        args.cell.iter().map(work).collect()
    };
    // Programs started from here inherit the core.
    let core = args.core.or_else(|| host::cores().last().copied());
    if !core.is_some_and(host::pin) {
        note("warning: cannot pin to a core; the intervals will be wider");
    }
    let run = |workload: &Workload, side: Side| match (side, &args.versus) {
        (Side::New, _) => workload.run(&this),
        (Side::Old, None) => workload.run(&other),
        (Side::Old, Some(solver)) => {
            let cell = CellKey::new(&workload.cell.dataset, solver);
            Workload { cell, ..workload.clone() }.run(&other)
        }
    };
    let mut findings = rounds::compare(&workloads, design, run, |round| {
        if round % 5 == 0 {
            note(&format!("round {round} of {}", design.rounds));
        }
    })?;
    if args.versus.is_none() && instructions::version().is_some() {
        for (finding, workload) in findings.iter_mut().zip(&workloads).filter(|(f, _)| f.judgement.fails()) {
            explain(finding, workload, [&other, &this])?;
        }
    }
    Ok(findings)
}

/// Adds to a slower workload whether it also takes more instructions. Any change of the sources moves code in memory, and
/// that alone can cost as much as the threshold.
fn explain(finding: &mut Finding, workload: &Workload, programs: [&Path; 2]) -> anyhow::Result<()> {
    note(&format!("counting instructions: {}", workload.cell));
    let count = |program| -> anyhow::Result<f64> {
        let counts = instructions::count(program, std::slice::from_ref(workload), |_| {})?;
        Ok(counts.values().sum::<u64>() as f64)
    };
    let ratio = count(programs[1])? / count(programs[0])?;
    let join = if finding.note.is_empty() { "" } else { "; " };
    finding.note += &if (ratio - 1.0).abs() <= instructions::TOLERANCE {
        format!("{join}as many instructions as before: caches, or only where the code lies in memory")
    } else {
        format!("{join}instructions {}", change(ratio))
    };
    Ok(())
}
