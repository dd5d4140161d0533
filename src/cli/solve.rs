//! `solve`: one run, printed as it goes, as a table or as JSON lines.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use hdrhistogram::Histogram;
use serde_json::json;

use super::format::table_or_json;
use super::{interrupt, note, positive, print};
use crate::dataset::{DataDir, DatasetInfo, Loaded, Request, npy};
use crate::experiment::catalog::Catalog;
use crate::run::host;
use crate::store::files;
use crate::table::Format;
use ssvm::clock::{ClockKind, Helpers, OracleCost};
use ssvm::drive::{Execution, Observer, Outcome, StopReason, TracePoint};
use ssvm::settings::{Budget, Cadence, RunSettings, Until, time_limit};
use ssvm::solver::SolverInfo;

/// Options of `solve`.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench solve --dataset usps-synth:n=1000 --solver mp-bcfw --iterations 20\n  \
    ssvm-bench solve --dataset usps --solver mp-bcfw-avg --gap 1e-3 --format json --save-weights w.npy")]
pub struct SolveArgs {
    /// Data set, such as usps, libsvm:PATH or horseseg-synth:n=300; --help lists them.
    #[arg(long, value_name = "D")]
    dataset: String,
    /// Solver; --help lists them.
    #[arg(long, value_name = "S")]
    solver: String,
    /// Seed of the order of the terms.
    #[arg(long, default_value_t = 1, value_name = "K")]
    seed: u64,
    /// Stop after this many iterations (50 when no limit is given).
    #[arg(long, value_name = "I", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// Stop when an evaluation shows a certified gap at or below this.
    #[arg(long, value_name = "EPS", value_parser = positive, allow_negative_numbers = true)]
    gap: Option<f64>,
    /// Stop after this much solver time in seconds.
    #[arg(long, value_name = "T", value_parser = limit, allow_negative_numbers = true)]
    time: Option<f64>,
    /// Stop after this many exact oracle calls.
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u64).range(1..))]
    oracle_calls: Option<u64>,
    /// first or all: end at the first limit, or when iterations and time are both reached.
    #[arg(long, default_value = "first", value_name = "WHICH")]
    until: Until,
    /// wall, cpu or virtual.
    #[arg(long, default_value = "wall")]
    clock: ClockKind,
    /// Count so many seconds for each second inside the exact oracle, such as 16 or 1/4.
    #[arg(long, default_value = "1", value_name = "K")]
    oracle_cost: OracleCost,
    /// When to evaluate: every:K, log or at:1,2,5. The last iteration always is.
    #[arg(long, default_value = "log", value_name = "WHEN")]
    evaluate: Cadence,
    /// λ (1/n unless given).
    #[arg(long, value_parser = positive, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Weight of the pairwise term of graphs (1, or as in the file, unless given).
    #[arg(long, value_name = "THETA", allow_negative_numbers = true)]
    pairwise_weight: Option<f64>,
    /// Threads for the oracle calls that a solver makes at one w (--tau); the result is the same at any number of them.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Write the returned weights as NumPy f64; its folder must exist.
    #[arg(long, value_name = "W.npy")]
    save_weights: Option<PathBuf>,
    /// table or json (one object per evaluation, then a summary).
    #[arg(long, value_parser = table_or_json(), default_value = "table")]
    format: Format,
}

/// A number of seconds that a clock can count.
fn limit(text: &str) -> Result<f64, String> {
    let seconds = positive(text)?;
    time_limit(seconds).map(|_| seconds).map_err(|error| error.to_string())
}

/// Adds the parameters of every solver, and the tables to the help.
pub(super) fn with_parameters(mut command: clap::Command, catalog: &dyn Catalog) -> clap::Command {
    let mut keys: Vec<&str> = Vec::new();
    for param in catalog.solvers().iter().flat_map(|info| info.params) {
        if keys.contains(&param.key) {
            continue;
        }
        keys.push(param.key);
        let owners: Vec<&str> = catalog
            .solvers()
            .iter()
            .filter(|info| info.params.iter().any(|row| row.key == param.key))
            .map(|info| info.name)
            .collect();
        let help = format!("{} [{}; default: {}]", param.about, owners.join(", "), param.default);
        let arg = clap::Arg::new(param.key).long(param.key).value_name(param.key).help(help);
        command = command.arg(arg.help_heading("Parameters of the solver"));
    }
    let row = |name: &str, about: &str| format!("  {name:<34} {about}\n");
    let solvers: String = catalog.solvers().iter().map(|info| row(info.name, info.about)).collect();
    let datasets: String = catalog.datasets().iter().map(|info| row(&DatasetInfo::usage(info), info.about)).collect();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_long_help(format!("Solvers:\n{solvers}\nData sets:\n{datasets}\n{examples}"))
}

/// The parameters that were given.
pub(super) fn given(matches: &clap::ArgMatches, catalog: &dyn Catalog) -> Vec<(String, String)> {
    let mut given: Vec<(String, String)> = Vec::new();
    for param in catalog.solvers().iter().flat_map(|info| info.params) {
        if let Ok(Some(value)) = matches.try_get_one::<String>(param.key)
            && !given.iter().any(|(key, _)| key == param.key)
        {
            given.push((param.key.to_owned(), value.clone()));
        }
    }
    given
}

struct Printer {
    format: Format,
    /// Whether gaps are exact, or bounded by a relaxation.
    exact: bool,
    /// The trace columns that are the same in every point.
    identity: serde_json::Value,
    error: Option<anyhow::Error>,
}

impl Printer {
    fn print(&mut self, line: &str) {
        if let Err(error) = print(&format!("{line}\n")) {
            self.error.get_or_insert(error);
        }
    }
}

impl Observer for Printer {
    fn point(&mut self, point: &TracePoint) {
        let line = if self.format == Format::Table {
            format!(
                "{:>9} {:>11.5} {:>11} {:>9} {:>17.12} {:>17.12} {:>13.5e} {:>8.2}{}{}",
                point.iteration,
                point.time_s,
                point.oracle_calls,
                point.approx_passes,
                point.primal,
                point.dual,
                point.gap,
                point.planes_mean,
                if self.exact { String::new() } else { format!(" {:>12.5e} {:>8}", point.oracle_slack, point.proven) },
                if point.partial { " inside the next iteration" } else { "" }
            )
        } else {
            let mut value = serde_json::to_value(point).unwrap_or_default();
            if let (Some(value), Some(identity)) = (value.as_object_mut(), self.identity.as_object()) {
                value.extend(identity.clone());
            }
            value.to_string()
        };
        self.print(&line);
    }
}

/// Runs the command with the parameters of the solver that were given.
pub fn run(args: &SolveArgs, given: &[(String, String)], catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let mut budget = Budget {
        iterations: args.iterations,
        time_s: args.time,
        oracle_calls: args.oracle_calls,
        gap: args.gap,
        until: Until::First,
    };
    if budget == Budget::default() {
        budget.iterations = Some(50);
    }
    budget.until = args.until;
    if budget.lacks_one_of_both() {
        anyhow::bail!("--until all needs --iterations and --time: it ends when both are reached");
    }
    if let Some(path) = &args.save_weights {
        // Tried before the work starts: a wrong path must not cost a run.
        files::try_file(path)?;
    }
    let info = SolverInfo::find(catalog.solvers(), &args.solver)?;
    let given: Vec<(&str, String)> = given.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let settings = RunSettings {
        solver: info.spec(&given, catalog.solvers()).map_err(ssvm::Error::from)?,
        seed: args.seed,
        clock: args.clock,
        oracle_cost: args.oracle_cost,
        budget,
        evaluate: args.evaluate.clone(),
    };
    if args.threads > 1 && !settings.solver.params.contains_key("tau") {
        note(
            "--threads helps only a solver that makes several calls at one w: bcfw, mp-bcfw and their averages with --tau",
        );
    }
    let Loaded { description, problem } = catalog.open(&Request {
        name: &args.dataset,
        data,
        lambda: args.lambda,
        pairwise_weight: args.pairwise_weight,
    })?;
    let (n, d, lambda) = (description.size.n, description.size.d, problem.lambda());
    let price = if args.oracle_cost.is_one() { String::new() } else { format!(", oracle × {}", args.oracle_cost) };
    note(&format!("{}: n = {n}, d = {d}, λ = {lambda:.6e}, solver {}{price}", args.dataset, args.solver));
    let identity = json!({
        "kind": "point", "run_id": "solve", "dataset": args.dataset, "solver": args.solver, "seed": args.seed,
        "repeat": 0, "clock": args.clock.name(), "oracle_cost": args.oracle_cost, "jobs": 1, "threads": args.threads, "core": -1, "status": "running",
    });
    let exact = problem.exact();
    let count = usize::from(args.threads) - 1;
    let helpers = (count > 0).then(|| Helpers::new(count, |_| {}).map(Arc::new)).transpose()?;
    let mut printer = Printer { format: args.format, exact, identity, error: None };
    if args.format == Format::Table {
        let (primal, gap) = if exact { ("primal", "gap") } else { ("primal at most", "certified gap") };
        let more = if exact { String::new() } else { format!(" {:>12} {:>8}", "oracle slack", "proven") };
        printer.print(&format!(
            "{:>9} {:>11} {:>11} {:>9} {:>17} {:>17} {:>13} {:>8}{more}",
            "iteration", "time s", "oracle", "passes", primal, "dual", gap, "planes"
        ));
    }
    let stopped = || interrupt::flag().load(Ordering::Relaxed);
    let execution = Execution { parallel_evaluation: true, helpers, cancelled: &stopped };
    let outcome = match problem.run(&settings, &execution, &mut printer) {
        // Its program may have been ended with it.
        Err(_) if stopped() => anyhow::bail!(STOPPED),
        outcome => outcome?,
    };
    if outcome.stop == StopReason::Cancelled {
        anyhow::bail!(STOPPED);
    }
    printer.print(&match args.format {
        Format::Table => summary_text(&outcome, exact, n),
        _ => summary_json(args, &outcome).to_string(),
    });
    outcome.notes.iter().for_each(|text| note(&format!("warning: {text}")));
    if let Some(path) = &args.save_weights {
        files::write_atomically(path, |file| {
            npy::write_header(file, "<f8", &[outcome.weights.len()])?;
            file.write_all(outcome.weights.iter().map(|w| w.to_le_bytes()).collect::<Vec<_>>().as_flattened())
        })?;
    }
    printer.error.map_or(Ok(()), Err)
}

const STOPPED: &str = "stopped by a signal before the end; nothing was saved";

fn oracle_share(outcome: &Outcome) -> f64 {
    outcome.points.last().map_or(0.0, |point| if point.time_s > 0.0 { point.oracle_time_s / point.time_s } else { 0.0 })
}

fn summary_text(outcome: &Outcome, exact: bool, n: u64) -> String {
    let line = |name: &str, h: &Histogram<u64>| {
        format!(
            "{name}: {} calls, p50 {} p90 {} p99 {} max {} ns",
            h.len(),
            h.value_at_quantile(0.5),
            h.value_at_quantile(0.9),
            h.value_at_quantile(0.99),
            h.max()
        )
    };
    let mut text = format!(
        "stopped by {}; solver time {:.4} s (wall {:.4}, cpu {:.4}), oracle share {:.1} %, instrument {:.2} % of wall",
        outcome.stop.name(),
        outcome.points.last().map_or(0.0, |point| point.time_s),
        outcome.wall_s,
        outcome.cpu_s,
        100.0 * oracle_share(outcome),
        100.0 * outcome.instrument_s / outcome.wall_s.max(1e-12),
    );
    if let Some(last) = outcome.points.last() {
        let mean = |seconds: f64, steps: u64| seconds / steps.max(1) as f64 * 1e6;
        // A solver that asks a cache or the oracle in one pass has no time of approximate passes.
        let mixed = last.approx_steps > 0 && last.approx_passes == 0;
        if mixed {
            let steps = last.oracle_calls + last.approx_steps;
            let cached = 100.0 * last.approx_steps as f64 / steps as f64;
            text += &format!("\nstep {:.3} µs, {cached:.0} % of them without an oracle call", mean(last.time_s, steps));
        } else {
            text += &format!("\nexact step {:.3} µs", mean(last.time_s - last.approx_time_s, last.oracle_calls));
        }
        if last.approx_steps > 0 && !mixed {
            let made = last.approx_steps - last.skipped_steps;
            let skipped = 100.0 * last.skipped_steps as f64 / last.approx_steps as f64;
            text += &format!(", approximate step {:.3} µs, {skipped:.0} % skipped", mean(last.approx_time_s, made));
        }
    }
    if outcome.pipe_s > 0.0 {
        text += &format!(", pipe {:.1} % of wall", 100.0 * outcome.pipe_s / outcome.wall_s.max(1e-12));
    }
    text += &format!("; peak memory {} MiB", host::peak_memory() >> 20);
    if let (false, Some(last)) = (exact, outcome.points.last()) {
        text += &format!(
            "\ncertified gap {:.6}, of which {:.6} may be the oracle's slack; {} of {n} terms proven",
            last.gap, last.oracle_slack, last.proven
        );
    }
    text += &format!("\n{}", line("exact oracle", &outcome.oracle_ns));
    if !outcome.approx_ns.is_empty() {
        text += &format!("\n{}", line("approximate steps (sampled)", &outcome.approx_ns));
    }
    text
}

fn summary_json(args: &SolveArgs, outcome: &Outcome) -> serde_json::Value {
    let quantiles = |h: &Histogram<u64>| {
        json!({
            "count": h.len(), "mean": h.mean(), "p50": h.value_at_quantile(0.5), "p90": h.value_at_quantile(0.9),
            "p99": h.value_at_quantile(0.99), "p999": h.value_at_quantile(0.999), "max": h.max(),
        })
    };
    let last = outcome.points.last();
    json!({
        "kind": "summary",
        "dataset": args.dataset,
        "solver": args.solver,
        "seed": args.seed,
        "clock": args.clock.name(),
        "oracle_cost": args.oracle_cost,
        "stop_reason": outcome.stop.name(),
        "iterations": last.map(|point| point.iteration),
        "time_s": last.map(|point| point.time_s),
        "wall_s": outcome.wall_s,
        "cpu_s": outcome.cpu_s,
        "oracle_calls": last.map(|point| point.oracle_calls),
        "approx_steps": last.map(|point| point.approx_steps),
        "skipped_steps": last.map(|point| point.skipped_steps),
        "approx_passes": last.map(|point| point.approx_passes),
        "oracle_time_s": last.map(|point| point.oracle_time_s),
        "approx_time_s": last.map(|point| point.approx_time_s),
        "oracle_share": oracle_share(outcome),
        "pipe_s": outcome.pipe_s,
        "instrument_s": outcome.instrument_s,
        "notes": outcome.notes,
        "peak_memory_bytes": host::peak_memory(),
        "primal": last.map(|point| point.primal),
        "dual": last.map(|point| point.dual),
        "gap": last.map(|point| point.gap),
        "oracle_slack": last.map(|point| point.oracle_slack),
        "proven": last.map(|point| point.proven),
        "partial": last.map(|point| point.partial),
        "oracle_ns": quantiles(&outcome.oracle_ns),
        "approx_ns": quantiles(&outcome.approx_ns),
    })
}
