//! Arguments → one library call each; one file per command.

mod advise;
mod breakeven;
mod check;
mod claims;
mod compare;
mod data;
mod engines;
mod figures;
mod findings;
mod format;
pub mod harness;
mod init;
mod interrupt;
mod league;
mod memory;
mod merge;
mod optimum;
mod oracle;
mod pages;
mod plan;
mod profile;
mod readme;
mod report;
mod reproduce;
mod run;
mod shell;
mod slurm;
mod solve;

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::store::files;
use crate::text::{NAME, name_program, printable, program_name, shortened};

/// Benchmarks of structural SVM training: FW, BCFW, MP-BCFW and their averaged variants.
#[derive(Parser)]
#[command(name = NAME, version, about, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    /// Folder with the official data files (else $SSVM_DATA, else data/).
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Refuse data sets that are programs (oracle:…) instead of starting them.
    #[arg(long, global = true)]
    no_programs: bool,
    /// Use the file of an official data set although it is not the official one: as NAME~accepted, data of your own in every claim.
    #[arg(long, global = true)]
    accept_data: bool,
    /// Wait for the program that writes to a named pipe without a limit, instead of 10 s.
    #[arg(long, global = true)]
    wait: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plan and run a config, then write its figures, report and claims.
    Reproduce(reproduce::ReproduceArgs),
    /// Write a commented config for your own data, or a crate for your own solver.
    Init(init::InitArgs),
    /// List the runs of a config with an estimate of time and memory; runs nothing.
    Plan(plan::PlanArgs),
    /// Execute the runs of a config that are not yet in the result folder.
    Run(run::RunArgs),
    /// Join result folders, such as those of shards, into one.
    Merge(merge::MergeArgs),
    /// Submit the shards of a config to a SLURM cluster, and show their state.
    Slurm(slurm::SlurmArgs),
    /// Execute one run and print it as it goes.
    Solve(solve::SolveArgs),
    /// Draw the figures of the paper from a result folder.
    Figures(figures::FiguresArgs),
    /// Write one self-contained HTML page about a result folder.
    Report(report::ReportArgs),
    /// Check the claims of the paper against a result folder.
    Claims(claims::ClaimsArgs),
    /// Compare all solvers of a result folder with each other.
    League(league::LeagueArgs),
    /// Find the oracle cost at which solvers cross: time to a gap over that of BCFW.
    #[command(name = "breakeven")]
    BreakEven(breakeven::BreakEvenArgs),
    /// Recommend a solver for an oracle that takes this long.
    Advise(advise::AdviseArgs),
    /// Show where the time goes: oracle shares and latencies.
    Profile(profile::ProfileArgs),
    /// Compare a result folder with a baseline and fail on a regression, or save one.
    Check(check::CheckArgs),
    /// Compare two builds or two result folders, with an interval for each ratio.
    Compare(compare::CompareArgs),
    /// Certify the optimum of a data set and store it.
    Optimum(optimum::OptimumArgs),
    /// Check a max-oracle that is a program of its own.
    Oracle(oracle::OracleArgs),
    /// List, check, fetch, prepare or show the known data sets.
    Data(data::DataArgs),
    /// Refresh or check the parts of README.md and docs/ that the program made.
    Readme(readme::ReadmeArgs),
    /// Print completions for a shell.
    Completions(shell::CompletionsArgs),
    /// Write man pages into a folder.
    Man(shell::ManArgs),
}

/// What a command reports beside errors.
pub enum Exit {
    /// Exit code 0.
    Fine,
    /// Exit code 2: a gate failed, or what was asked for was not reached.
    GateFailed,
}

/// The whole program: parses the arguments, runs the command, reports errors. Exit codes: 0 fine, 1 error, 2 gate.
pub fn main(catalog: &dyn Catalog) -> ExitCode {
    name_program();
    let ended = crate::store::panics::catch(|| {
        interrupt::listen();
        memory::watch();
        match parse(catalog) {
            Ok((cli, matches)) => exit_code(run(&cli, &matches, catalog)),
            Err(error) => usage(&error),
        }
    });
    // A run that was abandoned may still wait for its program.
    crate::dataset::program::kill_all();
    ended.unwrap_or_else(|panic| {
        note(&format!("error: this program has a fault; please report it: {panic}"));
        ExitCode::FAILURE
    })
}

/// The arguments, and what `solve` has beside them: parameters of solvers.
fn parse(catalog: &dyn Catalog) -> Result<(Cli, ArgMatches), clap::Error> {
    let matches = command(catalog).try_get_matches()?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

fn run(cli: &Cli, matches: &ArgMatches, catalog: &dyn Catalog) -> anyhow::Result<Exit> {
    let (programs, accept) = (!cli.no_programs, cli.accept_data);
    let data = DataDir { programs, accept, ..DataDir::resolve(cli.data_dir.as_deref()) };
    if cli.wait {
        crate::store::files::wait_for_writers();
    }
    // These read results as `pages` does, which refuses what must not be published.
    let shown = matches!(
        cli.command,
        Command::Claims(_)
            | Command::League(_)
            | Command::BreakEven(_)
            | Command::Advise(_)
            | Command::Profile(_)
            | Command::Figures(_)
    );
    if readme::publishing() && !shown {
        anyhow::bail!("this command cannot be shown on a page: it can read results that must not be published");
    }
    match &cli.command {
        Command::Check(args) => return check::run(args, catalog),
        Command::Compare(args) => return compare::run(args, catalog),
        Command::Optimum(args) => return optimum::run(args, catalog, &data),
        Command::Oracle(args) => return oracle::run(args, &data),
        Command::Reproduce(args) => reproduce::run(args, catalog, &data),
        Command::Init(args) => init::run(args, catalog, &data),
        Command::Plan(args) => plan::run(args, catalog, &data),
        Command::Run(args) => run::run(args, catalog, &data),
        Command::Merge(args) => merge::run(args),
        Command::Slurm(args) => slurm::run(args, catalog, &data),
        Command::Solve(args) => {
            let given = matches.subcommand_matches("solve").map(|m| solve::given(m, catalog)).unwrap_or_default();
            solve::run(args, &given, catalog, &data)
        }
        Command::Figures(args) => figures::run(args, catalog),
        Command::Report(args) => report::run(args, catalog),
        Command::Claims(args) => claims::run(args, catalog),
        Command::League(args) => league::run(args, catalog),
        Command::BreakEven(args) => breakeven::run(args, catalog),
        Command::Advise(args) => advise::run(args, catalog),
        Command::Profile(args) => profile::run(args, catalog),
        Command::Data(args) => data::run(args, catalog, &data),
        Command::Readme(args) => readme::run(args, catalog),
        Command::Completions(args) => shell::completions(args, command(catalog)),
        Command::Man(args) => shell::man(args, command(catalog)),
    }?;
    Ok(Exit::Fine)
}

fn exit_code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::GateFailed) => ExitCode::from(2),
        // A reader that went away (`| head`) is no error of this program.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints what clap has to say: an error, or the help and version that were asked for.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed.context(NO_OUTPUT) {
        // A message that cannot be printed changes no exit code.
        _ if error.use_stderr() => ExitCode::FAILURE,
        printed => exit_code(printed.map(|()| Exit::Fine)),
    }
}

/// The command line with what the tables of this program add to it; examples call the program by its own name.
fn command(catalog: &dyn Catalog) -> clap::Command {
    let command = Cli::command().mut_subcommand("solve", |solve| solve::with_parameters(solve, catalog));
    if program_name() == NAME { command } else { renamed(command, program_name()) }
}

fn renamed(mut command: clap::Command, name: &str) -> clap::Command {
    let with_name = |text: &clap::builder::StyledStr| text.to_string().replace(NAME, name);
    if let Some(text) = command.get_after_help().map(with_name) {
        command = command.after_help(text);
    }
    if let Some(text) = command.get_after_long_help().map(with_name) {
        command = command.after_long_help(text);
    }
    command.mut_subcommands(|one| renamed(one, name))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().or(match cause.downcast_ref() {
            Some(crate::Error::Io { reason, .. }) if files::standard_output_is_taken() => Some(reason),
            _ => None,
        });
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Prints lines to stderr, shortened to a readable length; a closed stderr is no error.
fn note(text: &str) {
    const LONGEST: usize = 2000;
    let lines: Vec<Cow<'_, str>> = text.lines().map(|line| shortened(line, LONGEST)).collect();
    let _ = writeln!(std::io::stderr(), "{}", printable(&lines.join("\n")));
}

/// Text on stdout, or on stderr where an output (`-`) has the other to itself: the one place that writes text there.
fn print(text: &str) -> anyhow::Result<()> {
    if files::standard_output_is_taken() {
        let _ = write!(std::io::stderr(), "{}", printable(text));
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    let written = out.write_all(printable(text).as_bytes()).and_then(|()| out.flush());
    written.context(NO_OUTPUT)
}

/// The name of a file that was written, unless it is standard output.
fn print_path(path: &Path) -> anyhow::Result<()> {
    if files::standard_output_is_taken() { Ok(()) } else { print(&format!("{}\n", path.display())) }
}

/// Columns that printed lines may have: those of the terminal, or of `COLUMNS` where output goes elsewhere.
fn print_width() -> usize {
    let given = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    width.or_else(given).unwrap_or(100).max(60)
}

const NO_OUTPUT: &str = "cannot write to standard output";

/// A positive finite number.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}
