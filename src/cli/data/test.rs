//! `data test`: checks a max-oracle that is a program of its own before a long run.

use clap::Args;
use serde_json::json;

use super::super::args::{FormatArgs, count, seed};
use super::super::terminal::print_width;
use super::{Exit, note, print, say};
use crate::dataset::program::{Handshake, ProgramProblem, Trial, trial};
use crate::dataset::{DataDir, Request, program};
use crate::table::{Format, Kind, Table, cells};
use crate::text::{counted, number, seconds};
use ssvm::problem::Problem;

/// Check an oracle program for mistakes
///
/// Calls the oracle for some terms near 0, near the solution and between, and checks the answers. Exit code 2 means
/// that a check failed.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench data test 'oracle:python3 examples/digits_oracle.py'\n  \
    ssvm-bench data test 'oracle:./segment,limit=5 --data horses.npz' --terms 200")]
pub struct TestArgs {
    /// The program as a data set: oracle:PROGRAM[,limit=S] [ARGUMENTS]
    #[arg(value_name = "ORACLE")]
    oracle: String,
    /// Number of terms; each is called 24 times or more
    #[arg(long, default_value_t = 50, value_name = "K", value_parser = count)]
    terms: u64,
    /// Seed that selects the terms and the points
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = seed)]
    seed: u64,
    #[command(flatten)]
    format: FormatArgs,
}

/// Most findings of a check that are printed.
const SHOWN: usize = 5;

pub fn run(args: &TestArgs, data: &DataDir) -> anyhow::Result<Exit> {
    let request = Request::new(&args.oracle, data);
    if request.head() != "oracle" {
        anyhow::bail!("'{}' is not an oracle program; write oracle:PROGRAM [ARGUMENTS]", args.oracle);
    }
    let (problem, _) = program::open(&request)?;
    let found = trial(&problem, args.terms as usize, args.seed)?;
    match args.format.format {
        Format::Table => say(&text(&problem, &found))?,
        Format::Json => print(&json_text(&problem, &found))?,
        format => print(&table(&found).render(format, print_width(), &())?)?,
    }
    problem.notes().iter().for_each(|text| note(&format!("warning: {text}")));
    Ok(if found.findings.is_empty() { Exit::Fine } else { Exit::GateFailed })
}

fn text(problem: &ProgramProblem, trial: &Trial) -> String {
    let Handshake { n, d, exact, version, .. } = problem.handshake();
    let exact = if *exact { "exact" } else { "not exact" };
    let version = if version.is_empty() { String::new() } else { format!(", version {version}") };
    let mut text = format!("n = {n}, d = {d}, λ = {:e}, {exact}{version}\n", problem.lambda());
    let (median, most) = trial.call_ns;
    let times = [trial.total_ns, median, most, trial.pipe_ns, trial.pipe.fixed_ns, 1024.0 * trial.pipe.byte_ns];
    let [total, median, most, around, round_trip, kilobyte] = times.map(|ns| seconds(ns * 1e-9));
    let Trial { loss_at_zero, feature_length, .. } = trial;
    text += &format!(
        "Σ H_i(0) = {}, the mean of the largest losses\n\
         n ‖φ⋆‖ = {} in the median, the length of φ(x, y) − φ(x, y_i)\n",
        number(*loss_at_zero),
        number(*feature_length)
    );
    text += &format!(
        "a call with a new w takes {total}: {median} in the program (at most {most}), {around} around it\n\
         the pipe: {round_trip} a round trip and {kilobyte} a kilobyte\n"
    );
    trial.remarks.iter().for_each(|remark| text += &format!("remark: {remark}\n"));
    for (check, count) in &trial.checks {
        let findings: Vec<_> = trial.findings.iter().filter(|finding| finding.check == *check).collect();
        text += &match findings.len() {
            0 => format!("{check}: fine ({})\n", counted(*count as usize, "check")),
            failed => format!("{check}: {failed} of {} failed\n", counted(*count as usize, "check")),
        };
        for (_, advice) in trial.advice.iter().filter(|(about, _)| about == check) {
            text += &format!("  {advice}\n");
        }
        for finding in findings.iter().take(SHOWN) {
            let term = finding.term.map_or(String::new(), |term| format!("term {term}: "));
            text += &format!("  {term}{}\n", finding.text);
        }
    }
    text
}

/// A row for each check.
fn table(trial: &Trial) -> Table {
    let mut table = Table::new("", [("check", Kind::Text), ("made", Kind::Count), ("failed", Kind::Count)]);
    table.widen(Kind::Text, ["advice"]);
    for (check, made) in &trial.checks {
        let failed = trial.findings.iter().filter(|finding| finding.check == *check).count();
        let advice = trial.advice.iter().filter(|(about, _)| about == check).map(|(_, text)| text.as_str());
        table.push(cells![*check, *made, failed, advice.collect::<Vec<_>>().join("; ")]);
    }
    table
}

fn json_text(problem: &ProgramProblem, trial: &Trial) -> String {
    let checks: Vec<_> = trial.checks.iter().map(|(check, count)| json!({ "check": check, "count": count })).collect();
    let advice: Vec<_> = trial.advice.iter().map(|(check, text)| json!({ "check": check, "text": text })).collect();
    let handshake = problem.handshake();
    let value = json!({
        "n": handshake.n, "d": handshake.d, "lambda": problem.lambda(), "exact": handshake.exact, "version": handshake.version,
        "call_ns": trial.call_ns.0, "call_max_ns": trial.call_ns.1, "pipe_ns": trial.pipe_ns, "total_ns": trial.total_ns,
        "round_trip_ns": trial.pipe.fixed_ns, "byte_ns": trial.pipe.byte_ns, "checks": checks, "findings": trial.findings,
        "advice": advice, "loss_at_zero": trial.loss_at_zero, "feature_length": trial.feature_length,
        "remarks": trial.remarks, "notes": problem.notes(),
    });
    format!("{value}\n")
}
