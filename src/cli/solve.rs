//! `solve`: one run, printed as it goes, as a table or as JSON lines.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::bail;
use clap::Args;
use hdrhistogram::Histogram;
use serde_json::json;

use super::args::{FormatArgs, count, duration, pair, positive, seed, workers};
use super::terminal::print_width;
use super::{interrupt, note, print, say};
use crate::dataset::{DataDir, Loaded, Request, npy};
use crate::experiment::catalog::Catalog;
use crate::run::host;
use crate::store::files;
use crate::table::{Cell, Format, Kind, Table};
use crate::text::{number, seconds};
use ssvm::clock::{ClockKind, Helpers, OracleCost, ReadingCost};
use ssvm::drive::{Execution, Observer, Outcome, StopReason, TracePoint};
use ssvm::settings::{Budget, Cadence, RunSettings, Until};
use ssvm::solver::SolverInfo;

/// Run one solver on one data set and print its progress
///
/// Prints a row per evaluation, then totals: why the run ended, where the time went, oracle latencies. `list solvers`
/// and `list datasets` name what `-s`, `--set` and `-d` take. JSON is one object per evaluation, then a summary; csv,
/// markdown and latex print the rows at the end, and the totals on standard error.
#[derive(Args)]
#[command(after_help = "Example:\n  ssvm-bench solve -d usps-synth:n=1000 -s mp-bcfw --iterations 20\n  \
    ssvm-bench solve -d ocr-synth:n=100 -s mp-bcfw --set T=5 --set passes=3 --time 2s\n  \
    ssvm-bench solve -d usps -s mp-bcfw-avg --gap 1e-3 --format json --save-weights w.npy")]
pub struct SolveArgs {
    /// Data set, such as usps, libsvm:PATH or horseseg-synth:n=300
    #[arg(long, short, value_name = "DATA")]
    dataset: String,
    /// Solver, such as mp-bcfw
    #[arg(long, short, value_name = "SOLVER")]
    solver: String,
    /// Parameter of the solver; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Seed of the order of the terms
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = seed)]
    seed: u64,
    /// Stop after this many iterations [default: 50 when no limit is given]
    #[arg(long, value_name = "I", value_parser = count)]
    iterations: Option<u64>,
    /// Stop when an evaluation shows a certified gap at or below this
    #[arg(long, value_name = "EPS", value_parser = positive, allow_negative_numbers = true)]
    gap: Option<f64>,
    /// Stop after this much solver time, such as 90s or 5m; a plain number is seconds
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    time: Option<f64>,
    /// Stop after this many exact oracle calls
    #[arg(long, value_name = "C", value_parser = count)]
    oracle_calls: Option<u64>,
    /// Stop at the first limit (first), or when --iterations and --time are both reached (all)
    #[arg(long, default_value = "first", value_name = "WHICH")]
    until: Until,
    /// Clock of the run: wall, cpu or virtual
    #[arg(long, default_value = "wall")]
    clock: ClockKind,
    /// Seconds to count for each second inside the exact oracle, such as 16 or 1/4
    #[arg(long, default_value = "1", value_name = "K")]
    oracle_cost: OracleCost,
    /// When to evaluate: every:K, log or at:1,2,5; the last iteration is always evaluated
    #[arg(long, default_value = "log", value_name = "WHEN")]
    evaluate: Cadence,
    /// Regularisation parameter λ [default: 1/n]
    #[arg(long, value_parser = positive, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Weight of the pairwise term of graphs [default: that of the file, else 1]
    #[arg(long, value_name = "THETA", allow_negative_numbers = true)]
    pairwise_weight: Option<f64>,
    /// Threads for the oracle calls that a solver makes at one w (--set tau=N); their number does not change the result
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = workers)]
    threads: u16,
    /// Write the returned weights as NumPy f64 into a folder that exists; - is standard output
    #[arg(long, value_name = "W.npy")]
    save_weights: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

type ColumnText = fn(&TracePoint) -> String;

/// The columns of the table: name, width and value. The last two are of oracles that are not exact.
const COLUMNS: [(&str, usize, ColumnText); 10] = [
    ("iteration", 9, |point| format!("{}{}", point.iteration, if point.partial { "+" } else { "" })),
    ("time s", 10, |point| format!("{:.5}", point.time_s)),
    ("oracle", 10, |point| point.oracle_calls.to_string()),
    ("passes", 8, |point| point.approx_passes.to_string()),
    ("primal", 16, |point| format!("{:.12}", point.primal)),
    ("dual", 16, |point| format!("{:.12}", point.dual)),
    ("gap", 13, |point| format!("{:.5e}", point.gap)),
    ("planes", 8, |point| format!("{:.2}", point.planes_mean)),
    ("oracle slack", 12, |point| format!("{:.5e}", point.oracle_slack)),
    ("proven", 8, |point| point.proven.to_string()),
];

/// Columns of an exact oracle.
const EXACT: usize = 8;

/// The columns that a narrow terminal omits, in this order.
const SPARE: [&str; 6] = ["planes", "passes", "proven", "oracle slack", "dual", "oracle"];

/// Prints evaluations as they come.
struct Printer {
    format: Format,
    exact: bool,
    /// Whether primals are certified upper bounds of P. Known from the first evaluation on; the head is not printed before.
    certified: Option<bool>,
    terms: u64,
    /// Places in [`COLUMNS`].
    columns: Vec<usize>,
    partial: bool,
    /// The rows of a table that is printed at the end.
    table: Table,
    /// The trace columns that have the same value in every evaluation.
    identity: serde_json::Value,
    error: Option<anyhow::Error>,
}

impl Printer {
    fn print(&mut self, line: &str) {
        if let Err(error) = print(&format!("{line}\n")) {
            self.error.get_or_insert(error);
        }
    }

    /// A row of the table, or its head.
    fn row(&self, point: Option<&TracePoint>) -> String {
        let mut cells = Vec::new();
        for (name, width, value) in self.columns.iter().map(|at| &COLUMNS[*at]) {
            let name = match *name {
                "primal" if !self.exact && self.certified == Some(true) => "primal at most",
                "gap" if !self.exact && self.certified == Some(true) => "certified gap",
                name => name,
            };
            cells.push(format!("{:>width$}", point.map_or(name.to_owned(), value)));
        }
        cells.join(" ")
    }
}

impl Observer for Printer {
    fn point(&mut self, point: &TracePoint) {
        if !matches!(self.format, Format::Table | Format::Json) {
            let columns = COLUMNS.iter().take(self.table.columns.len());
            self.table.push(columns.map(|(_, _, value)| Cell::from(value(point))).collect());
            self.partial |= point.partial;
        } else if self.format == Format::Table {
            if self.certified.is_none() {
                self.certified = Some(is_certified(self.exact, point, self.terms));
                self.print(&self.row(None));
            }
            self.partial |= point.partial;
            self.print(&self.row(Some(point)));
        } else {
            let mut value = serde_json::to_value(point).unwrap_or_default();
            if let (Some(value), Some(identity)) = (value.as_object_mut(), self.identity.as_object()) {
                value.extend(identity.clone());
            }
            self.print(&value.to_string());
        }
    }
}

fn settings(args: &SolveArgs, catalog: &dyn Catalog) -> anyhow::Result<RunSettings> {
    let SolveArgs { iterations, time, oracle_calls, gap, until, .. } = *args;
    let unlimited = iterations.is_none() && time.is_none() && oracle_calls.is_none() && gap.is_none();
    let iterations = iterations.or(unlimited.then_some(50));
    let budget = Budget { iterations, time_s: time, oracle_calls, gap, until };
    if budget.lacks_one_of_both() {
        bail!("--until all needs --iterations and --time: it ends when both are reached");
    }
    let info = SolverInfo::find(catalog.solvers(), &args.solver)?;
    let given: Vec<(&str, String)> = args.set.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    Ok(RunSettings {
        solver: info.spec(&given, catalog.solvers()).map_err(ssvm::Error::from)?,
        seed: args.seed,
        clock: args.clock,
        oracle_cost: args.oracle_cost,
        budget,
        evaluate: args.evaluate.clone(),
    })
}

pub fn run(args: &SolveArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    let settings = settings(args, catalog)?;
    if let Some(path) = &args.save_weights {
        // Tried before the work starts: a wrong path must not cost a run.
        files::try_file(path)?;
    }
    if args.threads > 1 && !settings.solver.params.contains_key("tau") {
        note(ONE_CALL_AT_A_TIME);
    }
    let SolveArgs {
        solver,
        seed,
        clock,
        oracle_cost,
        threads,
        format: FormatArgs { format },
        lambda,
        pairwise_weight,
        ..
    } = args;
    let dataset = catalog.used_name(&args.dataset, data)?;
    let request = Request { name: &dataset, data, lambda: *lambda, pairwise_weight: *pairwise_weight };
    let Loaded { description, problem, features } = catalog.open(&request)?;
    let (n, d, lambda) = (description.size.n, description.size.d, problem.lambda());
    let beside = args.save_weights.as_deref().filter(|_| features.is_some()).map(features_file).transpose()?;
    if let Some(features) = &features {
        note(&format!("{dataset}: {} features occur; the others have no weights", features.len()));
    }
    let cost = if oracle_cost.is_one() { String::new() } else { format!(", oracle × {oracle_cost}") };
    note(&format!("{dataset}: n = {n}, d = {d}, λ = {lambda:.6e}, solver {solver}{cost}"));
    let identity = json!({
        "kind": "point", "run_id": "solve", "dataset": dataset, "solver": solver, "seed": seed, "repeat": 0,
        "clock": clock.name(), "oracle_cost": oracle_cost, "jobs": 1, "threads": threads, "core": -1, "status": "running",
    });
    let exact = problem.exact();
    let (columns, left_out) = columns(exact, print_width());
    let mut table = Table::default();
    table.widen(Kind::Values, COLUMNS.iter().take(if exact { EXACT } else { COLUMNS.len() }).map(|(name, ..)| *name));
    let (format, terms) = (*format, n);
    let mut printer =
        Printer { format, exact, certified: None, terms, columns, partial: false, table, identity, error: None };
    if format == Format::Table && !left_out.is_empty() {
        note(&format!("the terminal is too narrow for: {}", left_out.join(", ")));
    }
    let count = usize::from(*threads) - 1;
    let helpers = (count > 0).then(|| Helpers::new(count, |_| {}).map(Arc::new)).transpose()?;
    let stopped = || interrupt::flag().load(Ordering::Relaxed);
    // Evaluations in parallel would start copies of a program, each of which may load its data first.
    let is_program = request.head() == "oracle";
    let execution = Execution { parallel_evaluation: !is_program, helpers, cancelled: &stopped };
    let outcome = match problem.run(&settings, &execution, &mut printer) {
        // Its program may have been ended with it.
        Err(_) if stopped() => bail!(STOPPED),
        Err(error @ ssvm::Error::NegativeGap { .. }) if is_program => {
            bail!("{error}; `ssvm-bench data test` names the mistake of an oracle")
        }
        outcome => outcome?,
    };
    if outcome.stop == StopReason::Cancelled {
        bail!(STOPPED);
    }
    let mut summary = summary_text(&outcome, ReadingCost::of_call(*clock, *oracle_cost), exact, n);
    if printer.partial {
        summary += "\niteration N+: evaluated inside the iteration after N";
    }
    let printed = match format {
        Format::Table => say(&summary),
        Format::Json => print(&format!("{}\n", summary_json(args, &dataset, &outcome))),
        _ => {
            note(&summary);
            print(&printer.table.render(format, print_width(), &())?)
        }
    };
    // Also then the weights are saved.
    printer.error = printer.error.or(printed.err());
    outcome.notes.iter().for_each(|text| note(&format!("warning: {text}")));
    if args.gap.is_some() && outcome.points.last().is_some_and(|point| !point.has_dual()) {
        note(&format!("note: {solver} has no dual, so its gap is not known and --gap cannot end its run"));
    }
    if let Some(path) = &args.save_weights {
        let features = features.as_deref().zip(beside.as_deref());
        save_weights(path, &outcome.weights, features)?;
    }
    printer.error.map_or(Ok(()), Err)
}

const ONE_CALL_AT_A_TIME: &str = "--threads helps only a solver that makes several calls at one w: bcfw, mp-bcfw and their averages with --set tau=N";

/// Whether the primal is above P for certain: the oracle is exact, all maximisers are proven, or bounds take their place.
fn is_certified(exact: bool, point: &TracePoint, terms: u64) -> bool {
    exact || point.proven == terms || point.oracle_slack > 0.0
}

/// The columns that fit into this width, and the names of those that do not.
fn columns(exact: bool, width: usize) -> (Vec<usize>, Vec<&'static str>) {
    let mut columns: Vec<usize> = (0..if exact { EXACT } else { COLUMNS.len() }).collect();
    let mut left_out = Vec::new();
    for name in SPARE {
        if columns.iter().map(|at| COLUMNS[*at].1 + 1).sum::<usize>() > width + 1 {
            let before = columns.len();
            columns.retain(|at| COLUMNS[*at].0 != name);
            left_out.extend((columns.len() < before).then_some(name));
        }
    }
    (columns, left_out)
}

/// How a file of features begins; its length follows.
const FEATURES: &[u8] = b"{'descr': '<u4', 'fortran_order': False, 'shape': (";

/// The second file of weights whose features are not all up to the last. Fails, before the run, where it cannot be written or would
/// replace a file that no earlier save has made.
fn features_file(weights: &Path) -> anyhow::Result<PathBuf> {
    if files::is_stream(weights) {
        bail!(
            "--save-weights {}: these weights need a second file, with the indices of their features, which a stream cannot \
             have; name a file",
            weights.display()
        );
    }
    let path = weights.with_extension("features.npy");
    files::try_file(&path)?;
    let begin = |path: &Path| -> Option<Vec<u8>> {
        let (mut bytes, most) = (Vec::new(), 10 + FEATURES.len() as u64);
        files::plain(path).ok()?;
        files::open_input(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    // The magic bytes, a version and the length of the header precede it.
    let ours = || weights.exists() && begin(&path).is_some_and(|bytes| bytes.get(10..) == Some(FEATURES));
    if path.exists() && !ours() {
        bail!(
            "{}: the indices of the features would replace this file, which was not saved with {}; move it away, or choose \
             another name",
            path.display(),
            weights.display()
        );
    }
    Ok(path)
}

/// Writes the weights, and beside them the features that they belong to where these are not all features up to the last.
fn save_weights(path: &Path, weights: &[f64], features: Option<(&[u32], &Path)>) -> anyhow::Result<()> {
    files::write_atomically(path, |file| {
        npy::write_header(file, "<f8", &[weights.len()])?;
        file.write_all(weights.iter().map(|w| w.to_le_bytes()).collect::<Vec<_>>().as_flattened())
    })?;
    if let Some((ids, beside)) = features {
        files::write_atomically(beside, |file| {
            npy::write_header(file, "<u4", &[ids.len()])?;
            file.write_all(ids.iter().map(|id| id.to_le_bytes()).collect::<Vec<_>>().as_flattened())
        })?;
        let (count, beside) = (ids.len(), beside.display());
        note(&format!("the weights of each label are those of {count} features, whose indices are in {beside}"));
    }
    Ok(())
}

const STOPPED: &str = "stopped by a signal before the end; nothing was saved";

fn oracle_share(outcome: &Outcome) -> f64 {
    outcome.points.last().map_or(0.0, |point| if point.time_s > 0.0 { point.oracle_time_s / point.time_s } else { 0.0 })
}

fn summary_text(outcome: &Outcome, reading: ReadingCost, exact: bool, n: u64) -> String {
    let last = outcome.points.last();
    let of_wall = |seconds: f64| 100.0 * seconds / outcome.wall_s.max(1e-12);
    let mut text = format!(
        "stopped by {}; solver time {:.4} s (wall {:.4}, cpu {:.4}), oracle share {:.1} %, instrument {} % of wall ({})",
        outcome.stop.name(),
        last.map_or(0.0, |point| point.time_s),
        outcome.wall_s,
        outcome.cpu_s,
        100.0 * oracle_share(outcome),
        number(of_wall(outcome.instrument_s)),
        reading,
    );
    text += &last.map_or(String::new(), steps_text);
    if outcome.pipe_s > 0.0 {
        text += &format!(", pipe {:.1} % of wall", of_wall(outcome.pipe_s));
    }
    text += &format!("; peak memory {} MiB", host::peak_memory() >> 20);
    if let Some(last) = last.filter(|last| !is_certified(exact, last, n)) {
        text += &format!("\ngap {:.6}, which is not certified", last.gap);
    } else if let (false, Some(last)) = (exact, last) {
        text += &format!(
            "\ncertified gap {:.6}, of which {:.6} may be the oracle's slack; {} of {n} terms proven",
            last.gap, last.oracle_slack, last.proven
        );
    }
    for (name, h) in [("exact oracle", &outcome.oracle_ns), ("approximate steps (sampled)", &outcome.approx_ns)] {
        if name == "exact oracle" || !h.is_empty() {
            let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| seconds(h.value_at_quantile(q) as f64 * 1e-9));
            let most = seconds(h.max() as f64 * 1e-9);
            text += &format!("\n{name}: {} calls, p50 {p50}, p90 {p90}, p99 {p99}, max {most}", h.len());
        }
    }
    text
}

/// Mean time of a step.
fn steps_text(last: &TracePoint) -> String {
    let mean = |seconds: f64, steps: u64| seconds / steps.max(1) as f64 * 1e6;
    if last.approx_steps > 0 && last.approx_passes == 0 {
        // A solver that asks a cache or the oracle in one pass has no time of approximate passes.
        let steps = last.oracle_calls + last.approx_steps;
        let cached = 100.0 * last.approx_steps as f64 / steps as f64;
        return format!("\nstep {:.3} µs, {cached:.0} % of them without an oracle call", mean(last.time_s, steps));
    }
    let mut text = format!("\nexact step {:.3} µs", mean(last.time_s - last.approx_time_s, last.oracle_calls));
    if last.approx_steps > 0 {
        let made = last.approx_steps - last.skipped_steps;
        let skipped = 100.0 * last.skipped_steps as f64 / last.approx_steps as f64;
        text += &format!(", approximate step {:.3} µs, {skipped:.0} % skipped", mean(last.approx_time_s, made));
    }
    text
}

fn summary_json(args: &SolveArgs, dataset: &str, outcome: &Outcome) -> serde_json::Value {
    let quantiles = |h: &Histogram<u64>| {
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|q| h.value_at_quantile(q));
        json!({ "count": h.len(), "mean": h.mean(), "p50": p50, "p90": p90, "p99": p99, "p999": p999, "max": h.max() })
    };
    let last = serde_json::to_value(outcome.points.last()).unwrap_or_default();
    let mut summary = json!({
        "kind": "summary",
        "dataset": dataset,
        "solver": args.solver,
        "seed": args.seed,
        "clock": args.clock.name(),
        "oracle_cost": args.oracle_cost,
        "stop_reason": outcome.stop.name(),
        "iterations": last["iteration"],
        "wall_s": outcome.wall_s,
        "cpu_s": outcome.cpu_s,
        "oracle_share": oracle_share(outcome),
        "pipe_s": outcome.pipe_s,
        "instrument_s": outcome.instrument_s,
        "notes": outcome.notes,
        "peak_memory_bytes": host::peak_memory(),
        "oracle_ns": quantiles(&outcome.oracle_ns),
        "approx_ns": quantiles(&outcome.approx_ns),
    });
    let steps = ["oracle_calls", "approx_steps", "skipped_steps", "approx_passes"];
    let times = ["time_s", "oracle_time_s", "approx_time_s"];
    for key in [&steps[..], &times, &["primal", "dual", "gap", "oracle_slack", "proven", "partial"]].concat() {
        summary[key] = last[key].clone();
    }
    summary
}
