//! `data accuracy`: a graph file with pixel counts in; a model trained on four fifths of it, its accuracy in pixels out.
//!
//! Training sees the nodes with a known label, as every run does. Prediction sees all nodes, because a picture does not
//! tell which of its superpixels people left unlabelled; every pixel with a known label counts.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;

use super::format::table_or_json;
use super::{note, positive, print};
use crate::Error;
use crate::dataset::image::source::ImageSet;
use crate::dataset::npz::RawGraph;
use crate::dataset::prepare::{self, Meta, Recipe};
use crate::dataset::{DataDir, Request, split};
use crate::experiment::catalog::Catalog;
use crate::table::Format;
use ssvm::drive::{Observer, Solve, TracePoint};
use ssvm::oracle::predict::predict;
use ssvm::problem::{GraphProblem, Problem};
use ssvm::solver::SolverInfo;

/// Arguments of `data accuracy`.
#[derive(Args)]
pub struct AccuracyArgs {
    /// horses, stanford or graph:PATH with the array label_pixels.
    set: String,
    /// Solver.
    #[arg(long, default_value = "mp-bcfw", value_name = "S")]
    solver: String,
    /// Stop after this many iterations (50 when no limit is given).
    #[arg(long, value_name = "I")]
    iterations: Option<u64>,
    /// Stop after this much solver time in seconds.
    #[arg(long, value_name = "T", value_parser = positive)]
    time: Option<f64>,
    /// Weight of each border between different labels (1, or as in the file, unless given).
    #[arg(long, value_name = "THETA")]
    pairwise_weight: Option<f64>,
    /// Text for people or one JSON object.
    #[arg(long, value_parser = table_or_json(), default_value = "table")]
    format: Format,
}

/// Known pixels of one part of the set, and those that each labelling gets right.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Pixels {
    images: usize,
    known: u64,
    model: u64,
    majority: u64,
    ceiling: u64,
}

/// What the command prints.
#[derive(Serialize)]
struct Report {
    dataset: String,
    solver: String,
    pairwise_weight: f64,
    lambda: f64,
    iterations: u64,
    time_s: f64,
    stop_reason: &'static str,
    primal: f64,
    dual: f64,
    gap: f64,
    oracle_slack: f64,
    proven: u64,
    /// Training examples; `proven` counts them.
    #[serde(skip)]
    n: u64,
    majority_label: usize,
    majority_name: Option<String>,
    train: Shares,
    held_out: Shares,
}

/// [`Pixels`] as shares of the known ones.
#[derive(Serialize)]
struct Shares {
    images: usize,
    pixels: u64,
    model: f64,
    majority: f64,
    ceiling: f64,
}

struct Watcher;

impl Observer for Watcher {
    fn point(&mut self, point: &TracePoint) {
        let TracePoint { iteration, time_s, gap, oracle_slack, .. } = point;
        let part = if point.partial { " and a part" } else { "" };
        note(&format!(
            "iteration {iteration}{part}, {time_s:.1} s, certified gap {gap:.4} (oracle's slack {oracle_slack:.4})"
        ));
    }

    fn parallel_evaluation(&self) -> bool {
        true
    }
}

/// Runs the command.
pub fn run(args: &AccuracyArgs, catalog: &dyn Catalog, data: &DataDir) -> anyhow::Result<()> {
    SolverInfo::find(catalog.solvers(), &args.solver)?;
    let path = graph_file(&args.set, data)?;
    let raw = RawGraph::read(&path)?;
    let Some(label_pixels) = &raw.label_pixels else {
        return Err(Error::file(
            &path,
            "has no array label_pixels (nodes × K: pixels of each label in each node), which accuracy in pixels needs",
        )
        .into());
    };
    if raw.features.all().not_finite().is_some() {
        return Err(Error::file(&path, "has a feature that is not finite, perhaps of a node with label −1").into());
    }
    let (known, dropped) = raw.clone().into_known(&path)?;
    let (train, held_out) = split::held_out_fifth(&known);
    if held_out.is_empty() {
        return Err(Error::file(&path, format!("has {} examples, but a held-out fifth needs 5", known.len())).into());
    }
    let pairwise = args.pairwise_weight.unwrap_or(known.pairwise_weight);
    drop((known, held_out));
    let names = raw.meta.as_deref().and_then(|meta| serde_json::from_str::<Meta>(meta).ok()).map(|meta| meta.labels);

    let lambda = 1.0 / train.len() as f64;
    let problem = GraphProblem::new(Arc::new(train), lambda, pairwise)?;
    let (n, d) = (problem.terms(), problem.weights(&vec![0.0; problem.dim()]).len());
    note(&format!("{}: training on {n} examples, d = {d}, λ = {lambda:.6e}, solver {}", args.set, args.solver));
    let mut solve = Solve::new(&problem).solver(args.solver.as_str());
    if let Some(iterations) = args.iterations.or(if args.time.is_none() { Some(50) } else { None }) {
        solve = solve.iterations(iterations);
    }
    if let Some(time) = args.time {
        solve = solve.time(time);
    }
    let outcome = solve.run_watched(&mut Watcher)?;
    let Some(last) = outcome.points.last() else { bail!("the run ended before its first evaluation") };

    let examples: Vec<usize> = (0..raw.len()).filter(|i| dropped.examples.binary_search(i).is_err()).collect();
    let (held_out, train): (Vec<_>, Vec<_>) = examples.iter().enumerate().partition(|(at, _)| split::is_held_out(*at));
    let mut totals = vec![0u64; raw.num_labels];
    for (_, i) in &train {
        for row in label_pixels[pixel_range(&raw, **i)].chunks_exact(raw.num_labels) {
            totals.iter_mut().zip(row).for_each(|(total, &count)| *total += u64::from(count));
        }
    }
    let majority = argmax(&totals);
    let count = |part: &[(usize, &usize)]| {
        let pixels = part.par_iter().map(|(_, i)| {
            let rows = &label_pixels[pixel_range(&raw, **i)];
            count_pixels(&raw, **i, rows, majority, pairwise, &outcome.weights)
        });
        let total = pixels.try_reduce(Pixels::default, |a, b| Ok(a + b))?;
        total.shares().ok_or_else(|| Error::file(&path, "has no pixel with a known label in one of the parts"))
    };
    let report = Report {
        dataset: args.set.clone(),
        solver: args.solver.clone(),
        pairwise_weight: pairwise,
        lambda,
        iterations: last.iteration,
        time_s: last.time_s,
        stop_reason: outcome.stop.name(),
        primal: last.primal,
        dual: last.dual,
        gap: last.gap,
        oracle_slack: last.oracle_slack,
        proven: last.proven,
        n: n as u64,
        majority_label: usize::from(majority),
        majority_name: names.and_then(|names| names.get(usize::from(majority)).cloned()),
        train: count(&train)?,
        held_out: count(&held_out)?,
    };
    match args.format {
        Format::Json => print(&(serde_json::to_string(&report)? + "\n"))?,
        _ => print(&report.text())?,
    }
    Ok(())
}

/// The graph file of a set, prepared first if need be.
fn graph_file(set: &str, data: &DataDir) -> anyhow::Result<PathBuf> {
    let request = Request::new(set, data);
    match ImageSet::from_name(set) {
        Some(images) => Ok(prepare::prepared_path(images, data, &Recipe::default())?),
        None if request.head() == "graph" => Ok(request.path()?),
        None => bail!("{set} has no pixels to count; `data accuracy` takes horses, stanford and graph:PATH"),
    }
}

/// Where the pixel counts of example i are in `label_pixels`.
fn pixel_range(raw: &RawGraph, i: usize) -> std::ops::Range<usize> {
    raw.node_offsets[i] * raw.num_labels..raw.node_offsets[i + 1] * raw.num_labels
}

/// The largest entry, the lowest of equal ones.
fn argmax<T: Copy + Ord>(values: &[T]) -> u16 {
    (1..values.len()).fold(0, |best, k| if values[k] > values[best] { k } else { best }) as u16
}

fn count_pixels(
    raw: &RawGraph,
    i: usize,
    rows: &[u32],
    majority: u16,
    pairwise: f64,
    w: &[f64],
) -> crate::Result<Pixels> {
    let (k, p) = (raw.num_labels, raw.features_per_node);
    let nodes = raw.node_offsets[i]..raw.node_offsets[i + 1];
    let features = raw.features.rows(nodes.start * p..nodes.end * p).singles();
    let edges = &raw.edges[raw.edge_offsets[i]..raw.edge_offsets[i + 1]];
    let predicted = predict(&features, edges, k, pairwise, w)?;
    let best: Vec<u16> = rows.chunks_exact(k).map(argmax).collect();
    let (model, known) = split::pixels_right(rows, k, &predicted);
    Ok(Pixels {
        images: 1,
        known,
        model,
        majority: split::pixels_right(rows, k, &vec![majority; nodes.len()]).0,
        ceiling: split::pixels_right(rows, k, &best).0,
    })
}

impl std::ops::Add for Pixels {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            images: self.images + other.images,
            known: self.known + other.known,
            model: self.model + other.model,
            majority: self.majority + other.majority,
            ceiling: self.ceiling + other.ceiling,
        }
    }
}

impl Pixels {
    /// Nothing when no pixel is known.
    fn shares(self) -> Option<Shares> {
        let share = |right: u64| right as f64 / self.known as f64;
        (self.known > 0).then(|| Shares {
            images: self.images,
            pixels: self.known,
            model: share(self.model),
            majority: share(self.majority),
            ceiling: share(self.ceiling),
        })
    }
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: {}, pairwise weight {}, λ = {:.6e}\n{} iterations in {:.1} s, stopped by {}: primal {:.6}, dual {:.6}\n\
             certified gap {:.6}, of which {:.6} may be the oracle's slack; {} of {} terms proven\n\n",
            self.dataset,
            self.solver,
            self.pairwise_weight,
            self.lambda,
            self.iterations,
            self.time_s,
            self.stop_reason,
            self.primal,
            self.dual,
            self.gap,
            self.oracle_slack,
            self.proven,
            self.n
        );
        let label = self.majority_name.clone().unwrap_or_else(|| self.majority_label.to_string());
        text += &format!("{:<32} {:>9} {:>9}\n", "pixels right", "train", "held out");
        for (name, of) in [
            ("model".to_owned(), (|s: &Shares| s.model) as fn(&Shares) -> f64),
            (format!("majority label ({label})"), |s| s.majority),
            ("ceiling of the superpixels".to_owned(), |s| s.ceiling),
        ] {
            text += &format!("{name:<32} {:>7.2} % {:>7.2} %\n", 100.0 * of(&self.train), 100.0 * of(&self.held_out));
        }
        text + &format!("{:<32} {:>9} {:>9}\n", "examples", self.train.images, self.held_out.images)
    }
}
