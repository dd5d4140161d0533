//! The cost model of the virtual clock against this machine. Runs are made on the virtual clock, so that every round does the
//! same work; their wall times are measured beside it.
//!
//! `cargo bench --bench clock` fits the weights and prints them with what is left of each cell, `-- --write` also puts them
//! into the library, `-- --check` compares the weights that are there. Needs a quiet machine: it pins itself to a core.

use std::fmt::Write as _;
use std::sync::Arc;

use ssvm::clock::{COST_MODEL, Charge, PerCharge, UNIT_NS, cost_weights};
use ssvm::drive::{AnyProblem, bind};
use ssvm::solver::Standard;
use ssvm_bench::{ClockKind, Fault, MaxOracle, Simple, SparsePlane};

#[path = "rows.rs"]
mod rows;

/// The solvers of `configs/quick.toml`, with its iterations: the cells that the model is judged by.
const QUICK: [(&str, u64); 5] = [("fw", 40), ("bcfw", 40), ("bcfw-avg", 40), ("mp-bcfw", 40), ("mp-bcfw-avg", 40)];
/// Others, mostly shorter: they tell kinds of work apart that the first ones do together.
const OTHERS: [(&str, u64); 12] = [
    ("mp-bcfw", 6),
    ("mp-bcfw", 80),
    ("mp-bcfw-gram", 15),
    ("mp-bcfw-gram-avg", 15),
    ("mp-bcfw-gap", 15),
    ("bcfw-gap-cache", 15),
    ("bcfw-gap-pair-cache", 15),
    ("bcfw-pair", 15),
    ("bcfw-lazy", 15),
    ("one-slack", 15),
    ("one-slack-cache", 6),
    ("ssg-avg", 15),
];
/// Wall times are the medians of this many rounds.
const ROUNDS: usize = 5;
/// A cell of another solver counts this part of one of `quick` in the fit.
const OTHER_SHARE: f64 = 0.1;
/// What a weight is about, by kind, and how much the fit minds one that is far from it: it decides between kinds that no cell
/// tells apart. Not the last fit, so that a fit does not depend on the ones before it.
const ABOUT: PerCharge = [25, 2000, 50, 10000, 50, 25, 10000, 500, 50, 250, 1000, 25];
const INERTIA: f64 = 3e-4;
/// No work is free: a weight is at least this part of that.
const LEAST: f64 = 0.1;

const DATASETS: [(&str, &str); 5] = [
    ("MULTICLASS", "usps-synth:n=3000"),
    ("CHAIN", "ocr-synth:n=1000"),
    ("BINARY_GRAPH", "horseseg-synth:n=200"),
    ("POTTS_GRAPH", "stanford-synth:n=40"),
    ("GENERIC", "sparse planes"),
];

/// What one solver did on one data set, and how long it took.
struct Cell {
    solver: &'static str,
    iterations: u64,
    work: PerCharge,
    wall_ns: f64,
    oracle_ns: f64,
}

impl Cell {
    fn in_quick(&self) -> bool {
        QUICK.contains(&(self.solver, self.iterations))
    }

    fn virtual_ns(&self, weights: &PerCharge, kinds: impl Fn(usize) -> bool) -> f64 {
        let each = self.work.iter().zip(weights).enumerate().filter(|(kind, _)| kinds(*kind));
        each.map(|(_, (count, weight))| (count * weight) as f64).sum::<f64>() * UNIT_NS
    }
}

/// The first kinds are those inside the oracle.
const IN_ORACLE: usize = Charge::OracleCall as usize + 1;

/// Multi-label classification of random points through the adapter for callers' oracles.
struct Points {
    examples: Vec<([f64; 40], [bool; 25])>,
}

impl Points {
    fn new(n: usize) -> Self {
        let mut state = 1u64;
        let mut unit = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
        };
        let mut example = || {
            let x: [f64; 40] = std::array::from_fn(|_| unit());
            let on = std::array::from_fn(|k| x[k] + x[(3 * k + 1) % 40] + 0.3 * unit() > 0.0);
            (x, on)
        };
        Self { examples: (0..n).map(|_| example()).collect() }
    }
}

impl MaxOracle for Points {
    fn terms(&self) -> usize {
        self.examples.len()
    }

    fn dim(&self) -> usize {
        25 * 40
    }

    fn max_plane(&self, i: usize, w: &[f64], plane: &mut SparsePlane) -> Result<u64, Fault> {
        let (x, on) = &self.examples[i];
        let n = self.terms() as f64;
        plane.entries.clear();
        plane.offset = 0.0;
        for (k, (on, w)) in on.iter().zip(w.chunks_exact(40)).enumerate() {
            let score: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
            let sign = if *on { -1.0 } else { 1.0 };
            if 0.04 + sign * score > 0.0 {
                plane.entries.extend(x.iter().enumerate().map(|(f, x)| (k * 40 + f, sign * x / n)));
                plane.offset += 0.04 / n;
            }
        }
        Ok((self.dim() + plane.entries.len()) as u64)
    }
}

fn open(name: &str) -> Arc<dyn AnyProblem> {
    if name == "sparse planes" { bind(Simple::new(Points::new(400)), Standard.into()) } else { rows::open(name) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// All cells of a data set; rounds go through all solvers in turn, so that drift of the machine meets all alike.
fn measure(problem: &dyn AnyProblem, solvers: &[(&'static str, u64)]) -> Vec<Cell> {
    let mut times: Vec<[Vec<f64>; 2]> = solvers.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut work = vec![PerCharge::default(); solvers.len()];
    for round in 0..=ROUNDS {
        for (at, (solver, iterations)) in solvers.iter().enumerate() {
            let outcome = rows::run(problem, *solver, ClockKind::VIRTUAL, *iterations);
            assert!(round == 0 || work[at] == outcome.work, "{solver}: two rounds did different work");
            work[at] = outcome.work;
            if round > 0 {
                times[at][0].push(outcome.wall_s * 1e9);
                times[at][1].push(outcome.oracle_wall_s * 1e9);
            }
        }
    }
    let measured = solvers.iter().zip(work).zip(times);
    measured
        .map(|(((solver, iterations), work), [wall, oracle])| Cell {
            solver,
            iterations: *iterations,
            work,
            wall_ns: median(wall),
            oracle_ns: median(oracle),
        })
        .collect()
}

/// Weights of these kinds: the smallest is rounded first, and the others make up for it.
fn fit(cells: &[Cell], kinds: std::ops::Range<usize>, target: impl Fn(&Cell) -> f64) -> Vec<u64> {
    let mut fixed: Vec<Option<u64>> = vec![None; kinds.len()];
    loop {
        let weights = least_squares(cells, kinds.clone(), &fixed, &target);
        let free = (0..weights.len()).filter(|kind| fixed[*kind].is_none());
        let Some(smallest) = free.min_by(|a, b| weights[*a].total_cmp(&weights[*b])) else {
            return fixed.into_iter().flatten().collect();
        };
        fixed[smallest] = Some(weights[smallest].round() as u64);
    }
}

/// Weights of these kinds by least squares on errors of `target` relative to all time of a cell, by coordinate descent.
fn least_squares(
    cells: &[Cell],
    kinds: std::ops::Range<usize>,
    fixed: &[Option<u64>],
    target: &impl Fn(&Cell) -> f64,
) -> Vec<f64> {
    let rows: Vec<(f64, f64, Vec<f64>)> = cells
        .iter()
        .map(|cell| {
            let share = if cell.in_quick() { 1.0 } else { OTHER_SHARE };
            let counts = cell.work[kinds.clone()].iter().map(|count| *count as f64 * UNIT_NS / cell.wall_ns);
            (share, target(cell) / cell.wall_ns, counts.collect())
        })
        .collect();
    let about: Vec<f64> = ABOUT[kinds].iter().map(|weight| *weight as f64).collect();
    let start = fixed.iter().zip(&about).map(|(fixed, about)| fixed.map_or(*about, |fixed| fixed as f64));
    let mut weights: Vec<f64> = start.collect();
    for _ in 0..20_000 {
        for k in (0..weights.len()).filter(|k| fixed[*k].is_none()) {
            let inertia = INERTIA / (about[k] * about[k]);
            let (mut above, mut below) = (inertia * about[k], inertia);
            for (share, target, row) in &rows {
                let others: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() - row[k] * weights[k];
                above += share * row[k] * (target - others);
                below += share * row[k] * row[k];
            }
            weights[k] = (above / below).max(LEAST * about[k]);
        }
    }
    weights
}

/// Lines for one data set: virtual over wall, over the geometric mean of `quick`'s cells, and BCFW's share of oracle time.
fn residuals(name: &str, cells: &[Cell], weights: &PerCharge) -> String {
    let ratio = |cell: &Cell| cell.virtual_ns(weights, |_| true) / cell.wall_ns;
    let quick: Vec<f64> = cells.iter().filter(|cell| cell.in_quick()).map(|cell| ratio(cell).ln()).collect();
    let scale = (quick.iter().sum::<f64>() / quick.len() as f64).exp();
    let mut text = format!("{name}: virtual over wall {scale:.3}; over that, by solver:");
    for cell in cells {
        let _ = write!(text, " {}@{} {:.2},", cell.solver, cell.iterations, ratio(cell) / scale);
    }
    for cell in cells.iter().filter(|cell| cell.solver == "bcfw" && cell.in_quick()) {
        let share = cell.virtual_ns(weights, |kind| kind < IN_ORACLE) / cell.virtual_ns(weights, |_| true);
        let _ = write!(text, " oracle share of bcfw {:.1} %, on the wall clock {:.1} %", 100.0 * share, {
            100.0 * cell.oracle_ns / cell.wall_ns
        });
    }
    text
}

fn table(fitted: &[(&str, PerCharge, String)], version: u32) -> String {
    let kinds: Vec<String> = Charge::ALL.iter().map(|kind| format!("{kind:?}")).collect();
    let mut text = format!(
        "//! Weights of the virtual clock, in 1/256 ns, by kind of work. Written by `cargo bench --bench clock -- --write`.\n\n\
         use super::model::PerCharge;\n\n\
         /// Version of this table: part of the identity of runs on the virtual clock, and of baselines.\n\
         pub const COST_MODEL: u32 = {version};\n\n// {}\n",
        kinds.join(", ")
    );
    for (family, weights, left) in fitted {
        let _ = write!(text, "\n// {left}\npub(super) const {family}: PerCharge = {weights:?};\n");
    }
    text
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
        core_affinity::set_for_current(core);
    }
    let check = given("--check");
    let solvers: Vec<(&str, u64)> = if check { QUICK.to_vec() } else { QUICK.into_iter().chain(OTHERS).collect() };
    let mut fitted = Vec::new();
    for (family, name) in DATASETS {
        let problem = open(name);
        let last = *cost_weights(problem.family());
        let cells = measure(&*problem, &solvers);
        if given("--counts") {
            for cell in &cells {
                println!(
                    "{name} {}@{} {:.0} {:.0} {:?}",
                    cell.solver, cell.iterations, cell.wall_ns, cell.oracle_ns, cell.work
                );
            }
        }
        println!("cost model {COST_MODEL}, {}", residuals(name, &cells, &last));
        if !check {
            let mut weights = fit(&cells, 0..IN_ORACLE, |cell| cell.oracle_ns);
            weights.extend(fit(&cells, IN_ORACLE..Charge::ALL.len(), |cell| cell.wall_ns - cell.oracle_ns));
            let whole: PerCharge = std::array::from_fn(|kind| weights[kind]);
            let left = residuals(name, &cells, &whole);
            println!("fitted: {left}\n");
            fitted.push((family, whole, left));
        }
    }
    if check {
        return;
    }
    let text = table(&fitted, COST_MODEL + 1);
    println!("{text}");
    if given("--write") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/ssvm/src/clock/weights.rs");
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{path}: {error}"));
        println!("written to {path}; run `cargo fmt`");
    }
}
