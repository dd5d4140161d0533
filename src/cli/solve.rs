//! `solve`: one run, printed as it goes, as a table or as JSON lines.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use hdrhistogram::Histogram;
use serde_json::json;

use crate::config::{Budget, Cadence, ClockKind, Order, Passes, RunSettings, SolverKind, SolverSpec};
use crate::dataset::{self, DataDir, npy};
use crate::exec::{self, Observer, host};
use crate::problem::AnyProblem;
use crate::trace::{Outcome, TracePoint};

/// Options of `solve`.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench solve --dataset usps-synth:n=1000 --solver mp-bcfw --iterations 20\n  \
    ssvm-bench solve --dataset usps --solver mp-bcfw-avg --gap 1e-3 --format json --save-weights w.npy")]
pub struct SolveArgs {
    /// Data set: usps, ocr, horses, stanford, horseseg, libsvm:PATH, letters:PATH, graph:PATH or a twin such as
    /// horseseg-synth:n=300.
    #[arg(long, value_name = "D")]
    dataset: String,
    /// fw, bcfw, bcfw-avg, mp-bcfw or mp-bcfw-avg.
    #[arg(long, value_name = "S")]
    solver: SolverKind,
    /// Seed of the order of the terms.
    #[arg(long, default_value_t = 1, value_name = "K")]
    seed: u64,
    /// Stop after this many iterations (50 when no limit is given).
    #[arg(long, value_name = "I")]
    iterations: Option<u64>,
    /// Stop when an evaluation shows a gap at or below this.
    #[arg(long, value_name = "EPS", value_parser = positive)]
    gap: Option<f64>,
    /// Stop after this much solver time in seconds.
    #[arg(long, value_name = "T", value_parser = positive)]
    time: Option<f64>,
    /// Stop after this many exact oracle calls.
    #[arg(long, value_name = "C")]
    oracle_calls: Option<u64>,
    /// wall, cpu or virtual.
    #[arg(long, default_value = "wall")]
    clock: ClockKind,
    /// permutation, sequential or uniform.
    #[arg(long, default_value = "permutation")]
    order: Order,
    /// Approximate passes per iteration: auto (slope rule) or a number.
    #[arg(long, default_value = "auto", value_name = "auto|K")]
    passes: Passes,
    /// When to evaluate: every:K, log or at:1,2,5. The last iteration always is.
    #[arg(long, default_value = "log", value_name = "WHEN")]
    evaluate: Cadence,
    /// T: planes inactive for more than T iterations are dropped.
    #[arg(long = "T", default_value_t = 10, value_name = "T")]
    t: u64,
    /// N: most planes kept per term.
    #[arg(long = "N", default_value_t = 1000, value_name = "N")]
    n: usize,
    /// M: most approximate passes per iteration.
    #[arg(long = "M", default_value_t = 1000, value_name = "M")]
    m: u32,
    /// λ (1/n unless given).
    #[arg(long, value_parser = positive)]
    lambda: Option<f64>,
    /// Weight of the pairwise term of graphs (1, or as in the file, unless given).
    #[arg(long, value_name = "THETA")]
    pairwise_weight: Option<f64>,
    /// Write the returned weights as NumPy f64.
    #[arg(long, value_name = "W.npy")]
    save_weights: Option<PathBuf>,
    /// table or json (one object per evaluation, then a summary).
    #[arg(long, default_value = "table")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}

struct Printer {
    format: Format,
    /// The trace columns that are the same in every point.
    identity: serde_json::Value,
    error: Option<std::io::Error>,
}

impl Printer {
    fn print(&mut self, line: &str) {
        let mut out = std::io::stdout().lock();
        let result = writeln!(out, "{line}").and_then(|()| out.flush());
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl Observer for Printer {
    fn point(&mut self, point: &TracePoint) {
        let line = match self.format {
            Format::Table => format!(
                "{:>9} {:>11.5} {:>11} {:>9} {:>17.12} {:>17.12} {:>12.5e} {:>8.2}",
                point.iteration,
                point.time_s,
                point.oracle_calls,
                point.approx_passes,
                point.primal,
                point.dual,
                point.gap,
                point.planes_mean
            ),
            Format::Json => {
                let mut value = serde_json::to_value(point).unwrap_or_default();
                if let (Some(value), Some(identity)) = (value.as_object_mut(), self.identity.as_object()) {
                    value.extend(identity.clone());
                }
                value.to_string()
            }
        };
        self.print(&line);
    }

    fn parallel_evaluation(&self) -> bool {
        true
    }
}

/// Runs the command.
pub fn run(args: &SolveArgs, data: &DataDir) -> anyhow::Result<()> {
    let mut budget =
        Budget { iterations: args.iterations, time_s: args.time, oracle_calls: args.oracle_calls, gap: args.gap };
    if budget == Budget::default() {
        budget.iterations = Some(50);
    }
    let weights_file = match &args.save_weights {
        // Opened before the work starts: a wrong path must not cost a run.
        Some(path) => Some(std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?),
        None => None,
    };
    let settings = RunSettings {
        solver: SolverSpec {
            kind: args.solver,
            t: args.t,
            n: args.n,
            m: args.m,
            order: args.order,
            passes: args.passes,
        },
        seed: args.seed,
        clock: args.clock,
        budget,
        evaluate: args.evaluate.clone(),
    };
    let dataset = dataset::load(&args.dataset, data)?;
    let problem = AnyProblem::new(&dataset, args.lambda, args.pairwise_weight)?;
    let (n, d, lambda) = problem.facts();
    eprintln!("{}: n = {n}, d = {d}, λ = {lambda:.6e}, solver {}", dataset.name, args.solver);
    let identity = json!({
        "kind": "point", "run_id": "solve", "dataset": args.dataset, "solver": args.solver.name(), "seed": args.seed,
        "repeat": 0, "clock": args.clock.name(), "jobs": 1, "core": -1, "status": "running",
    });
    let mut printer = Printer { format: args.format, identity, error: None };
    if args.format == Format::Table {
        printer.print(&format!(
            "{:>9} {:>11} {:>11} {:>9} {:>17} {:>17} {:>12} {:>8}",
            "iteration", "time s", "oracle", "passes", "primal", "dual", "gap", "planes"
        ));
    }
    let outcome = exec::execute(&problem, &settings, &mut printer)?;
    printer.print(&match args.format {
        Format::Table => summary_text(&outcome),
        Format::Json => summary_json(args, &outcome).to_string(),
    });
    if let (Some(mut file), Some(path)) = (weights_file, &args.save_weights) {
        npy::write_header(&mut file, "<f8", &[outcome.weights.len()])
            .and_then(|()| npy::write_values(&mut file, outcome.weights.iter().copied(), f64::to_le_bytes))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match printer.error {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn oracle_share(outcome: &Outcome) -> f64 {
    outcome.points.last().map_or(0.0, |point| if point.time_s > 0.0 { point.oracle_time_s / point.time_s } else { 0.0 })
}

fn summary_text(outcome: &Outcome) -> String {
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
        text += &format!("\nexact step {:.3} µs", mean(last.time_s - last.approx_time_s, last.oracle_calls));
        if last.approx_steps > 0 {
            text += &format!(", approximate step {:.3} µs", mean(last.approx_time_s, last.approx_steps));
        }
    }
    text += &format!("; peak memory {} MiB", host::peak_memory() >> 20);
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
        "solver": args.solver.name(),
        "seed": args.seed,
        "clock": args.clock.name(),
        "stop_reason": outcome.stop.name(),
        "iterations": last.map(|point| point.iteration),
        "time_s": last.map(|point| point.time_s),
        "wall_s": outcome.wall_s,
        "cpu_s": outcome.cpu_s,
        "oracle_calls": last.map(|point| point.oracle_calls),
        "approx_steps": last.map(|point| point.approx_steps),
        "approx_passes": last.map(|point| point.approx_passes),
        "oracle_time_s": last.map(|point| point.oracle_time_s),
        "approx_time_s": last.map(|point| point.approx_time_s),
        "oracle_share": oracle_share(outcome),
        "instrument_s": outcome.instrument_s,
        "peak_memory_bytes": host::peak_memory(),
        "primal": last.map(|point| point.primal),
        "dual": last.map(|point| point.dual),
        "gap": last.map(|point| point.gap),
        "oracle_ns": quantiles(&outcome.oracle_ns),
        "approx_ns": quantiles(&outcome.approx_ns),
    })
}
