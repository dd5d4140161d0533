//! Arguments → one library call each; one file per command.

mod advise;
mod args;
mod check;
mod cluster;
mod compare;
mod data;
mod dry_run;
mod figures;
mod findings;
mod former;
pub mod harness;
mod help;
mod init;
mod interrupt;
mod list;
mod memory;
mod pages;
mod readme;
mod report;
mod reproduce;
mod run;
mod shell;
mod show;
mod solve;
mod terminal;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ColorChoice, FromArgMatches, Parser, Subcommand};

use crate::dataset::DataDir;
use crate::experiment::catalog::Catalog;
use crate::run::progress::Verbosity;
use crate::store::files;
use terminal::{NAME, note, print, print_path, say};

/// Benchmark structural SVM training: FW, BCFW, MP-BCFW and their averages
#[derive(Parser)]
#[command(name = NAME, version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(flatten, next_help_heading = "Options of all commands")]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// The short help of a command leaves out all but the first: they are about the program.
#[derive(clap::Args)]
struct GlobalArgs {
    /// Print no progress and no notes, but results, warnings and errors
    #[arg(long, short, global = true, conflicts_with = "verbose", hide_short_help = true)]
    quiet: bool,
    /// Print more, such as a line for every run
    #[arg(long, short, global = true, hide_short_help = true)]
    verbose: bool,
    /// When to use colour; $NO_COLOR is respected
    #[arg(long, global = true, value_name = "WHEN", default_value_t, hide_short_help = true)]
    color: ColorChoice,
    /// Folder with the official data files [default: $SSVM_DATA, else data/]
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    data_dir: Option<PathBuf>,
    /// Refuse data sets that are programs (oracle:…) instead of starting them
    #[arg(long, global = true, hide_short_help = true)]
    no_programs: bool,
    /// Accept a data file that is not the official one. The data set becomes NAME~accepted, which every claim treats as
    /// data of your own
    #[arg(long, global = true, hide_short_help = true)]
    accept_data: bool,
    /// Wait without a limit, instead of 10 s, for the program that writes to a named pipe
    #[arg(long, global = true, hide_short_help = true)]
    wait: bool,
}

impl GlobalArgs {
    fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }

    fn data(&self) -> DataDir {
        DataDir {
            programs: !self.no_programs,
            accept: self.accept_data,
            quiet: self.quiet,
            ..DataDir::resolve(self.data_dir.as_deref())
        }
    }
}

/// The help of each command is in its own file. The order and the groups of the help are those of [`help::GROUPS`].
#[derive(Subcommand)]
enum Command {
    Reproduce(reproduce::ReproduceArgs),
    Run(run::RunArgs),
    Solve(Box<solve::SolveArgs>),
    Show(show::ShowArgs),
    Report(report::ReportArgs),
    Figures(figures::FiguresArgs),
    Compare(compare::CompareArgs),
    Check(check::CheckArgs),
    Advise(advise::AdviseArgs),
    Data(data::DataArgs),
    List(list::ListArgs),
    Init(init::InitArgs),
    Cluster(cluster::ClusterArgs),
    #[command(hide = true)]
    Readme(readme::ReadmeArgs),
    #[command(hide = true)]
    Completions(shell::CompletionsArgs),
    #[command(hide = true)]
    Man(shell::ManArgs),
}

/// The result of a command that did not fail.
pub enum Exit {
    /// Exit code 0.
    Fine,
    /// Exit code 2: a gate or a check failed, or a requested bracket was not reached.
    GateFailed,
}

/// The whole program: parses the arguments, runs the command, reports errors. Exit codes: 0 fine, 1 error, 2 gate.
pub fn main(catalog: &dyn Catalog) -> ExitCode {
    let ended = crate::store::panics::catch(|| {
        interrupt::listen();
        memory::watch();
        limit_threads();
        match help::command().try_get_matches().and_then(|m| Cli::from_arg_matches(&m)) {
            Ok(cli) => exit_code(run(&cli, catalog)),
            Err(error) => usage(&error, catalog),
        }
    });
    // A run that was abandoned may still wait for its program.
    crate::dataset::program::kill_all();
    ended.unwrap_or_else(|panic| {
        note(&format!("error: internal error; please report it: {panic}"));
        ExitCode::FAILURE
    })
}

/// `RAYON_NUM_THREADS` may ask for fewer threads than there are cores. More would only wait for each other.
fn limit_threads() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse::<usize>().ok());
    if asked.is_some_and(|threads| threads > cores) {
        // Fails only where a pool exists already, which is then a caller's.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(cores).build_global();
    }
}

fn run(cli: &Cli, catalog: &dyn Catalog) -> anyhow::Result<Exit> {
    terminal::choose(cli.global.verbosity(), cli.global.color);
    let data = cli.global.data();
    if cli.global.wait {
        files::wait_for_writers();
    }
    // These commands read results through `pages`, which refuses what must not be published, or read no results.
    let shown = matches!(cli.command, Command::Show(_) | Command::Advise(_) | Command::Figures(_) | Command::List(_));
    if readme::publishing() && !shown {
        anyhow::bail!("this command cannot be shown on a page: it can read results that must not be published");
    }
    match &cli.command {
        Command::Check(args) => return check::run(args, catalog, &data),
        Command::Compare(args) => return compare::run(args, catalog, &data),
        Command::Data(args) => return data::run(args, catalog, &data),
        Command::Reproduce(args) => reproduce::run(args, catalog, &data),
        Command::Run(args) => run::run(args, catalog, &data),
        Command::Solve(args) => solve::run(args, catalog, &data),
        Command::Show(args) => show::run(args, catalog),
        Command::Report(args) => report::run(args, catalog),
        Command::Figures(args) => figures::run(args, catalog),
        Command::Advise(args) => advise::run(args, catalog),
        Command::List(args) => list::run(args, catalog),
        Command::Init(args) => init::run(args, catalog, &data),
        Command::Cluster(args) => cluster::run(args, catalog, &data),
        Command::Readme(args) => readme::run(args, catalog),
        Command::Completions(args) => shell::completions(args, help::command()),
        Command::Man(args) => shell::man(args, help::command()),
    }?;
    Ok(Exit::Fine)
}

fn exit_code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::GateFailed) => ExitCode::from(2),
        // A reader that closes the pipe (`| head`) is not an error of this program.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints the output of clap: an error, or the requested help or version.
fn usage(error: &clap::Error, catalog: &dyn Catalog) -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(message) = former::replaced(error, &words, catalog) {
        return exit_code(Err(anyhow::anyhow!(message)));
    }
    match terminal::print_usage(error) {
        // A message that cannot be printed changes no exit code.
        _ if error.use_stderr() => ExitCode::FAILURE,
        printed => exit_code(printed.map(|()| Exit::Fine)),
    }
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
