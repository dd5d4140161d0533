//! Arguments → one library call each; one file per command. Nothing imports this room.

mod accuracy;
mod check;
mod claims;
mod compare;
mod data;
mod figures;
mod plan;
mod profile;
mod readme;
mod report;
mod reproduce;
mod run;
mod solve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::dataset::DataDir;

/// Benchmarks of structural SVM training: FW, BCFW, MP-BCFW and their averaged variants.
#[derive(Parser)]
#[command(name = "ssvm-bench", version, about, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    /// Folder with the official data files (else $SSVM_DATA, else data/).
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plan, run, figures, report and claims in one go.
    Reproduce(reproduce::ReproduceArgs),
    /// The runs of a config, with an estimate of time and memory; runs nothing.
    Plan(plan::PlanArgs),
    /// Executes the runs of a config that are not yet in the result folder.
    Run(run::RunArgs),
    /// One run, printed as it goes.
    Solve(solve::SolveArgs),
    /// Draws the figures of the paper from a result folder.
    Figures(figures::FiguresArgs),
    /// Writes one self-contained HTML page about a result folder.
    Report(report::ReportArgs),
    /// Checks the claims of the paper against a result folder.
    Claims(claims::ClaimsArgs),
    /// Where the time goes: oracle shares and latencies.
    Profile(profile::ProfileArgs),
    /// Regression gates: compares a result folder with a baseline, or saves one.
    Check(check::CheckArgs),
    /// Two builds or two result folders side by side, with an interval for each ratio.
    Compare(compare::CompareArgs),
    /// The known data sets: list, check, fetch, prepare, show, accuracy.
    Data(data::DataArgs),
    /// Refreshes or checks the parts of README.md that the program made.
    Readme(readme::ReadmeArgs),
}

/// What a command reports beside errors.
pub enum Verdict {
    /// Exit code 0.
    Fine,
    /// Exit code 2: a gate failed.
    GateFailed,
}

/// The whole program: parses the arguments, runs the command, reports errors. Exit codes: 0 fine, 1 error, 2 gate.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = u8::from(error.use_stderr());
            // Nothing can be done when even the message cannot be printed.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let data = DataDir::resolve(cli.data_dir.as_deref());
    let result = match &cli.command {
        Command::Reproduce(args) => reproduce::run(args, &data).map(|()| Verdict::Fine),
        Command::Plan(args) => plan::run(args, &data).map(|()| Verdict::Fine),
        Command::Run(args) => run::run(args, &data).map(|()| Verdict::Fine),
        Command::Solve(args) => solve::run(args, &data).map(|()| Verdict::Fine),
        Command::Figures(args) => figures::run(args).map(|()| Verdict::Fine),
        Command::Report(args) => report::run(args).map(|()| Verdict::Fine),
        Command::Claims(args) => claims::run(args).map(|()| Verdict::Fine),
        Command::Profile(args) => profile::run(args).map(|()| Verdict::Fine),
        Command::Check(args) => check::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Data(args) => data::run(args, &data).map(|()| Verdict::Fine),
        Command::Readme(args) => readme::run(args).map(|()| Verdict::Fine),
    };
    match result {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::GateFailed) => ExitCode::from(2),
        Err(error) => {
            // A reader that went away (`| head`) is no error of ours.
            if is_broken_pipe(&error) {
                return ExitCode::SUCCESS;
            }
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
