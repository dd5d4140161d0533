//! How much concurrent runs disturb each other. Some runs of every data set and solver are followed at once by short
//! pieces of their own work, four to a ratio: alone, in company, in company, alone.
//!
//! *Alone* means that the other workers are paused between two iterations, *in company* that each of them is inside a run.
//! The four pieces take about a second, and in this order a steady drift of the machine cancels.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::worker::WorkerContext;
use crate::experiment::RunSpec;
use crate::store::keys::ProblemKey;
use crate::store::manifest::Inflation;
use crate::store::{RunRecord, panics};
use ssvm::clock::ClockKind;
use ssvm::drive::{Execution, Observer};
use ssvm::settings::{Budget, Cadence};
use ssvm::solver::Moment;
use ssvm::stats::{FEWEST_PAIRS, Interval, median, median_interval};

/// A piece of work lasts about this long: repeated when the run is shorter, its first iterations when it is longer.
const PIECE_S: f64 = 0.05;
const ROUNDS: usize = 2;
/// A run whose first evaluation comes later than this is not probed: the others would stand still for too long.
const LONGEST_S: f64 = 5.0;
/// Most repetitions within a piece; a run that needs more of them is too short to be measured.
const MOST_REPETITIONS: f64 = 50.0;
/// Inflation above this is worth a warning.
pub const TOLERATED: f64 = 1.05;
const CONFIDENCE: f64 = 0.95;

/// Ratios by problem and solver, see [`Inflation::cell`].
type Ratios = BTreeMap<(String, Option<ProblemKey>, String), Vec<f64>>;

/// The probes of a batch, shared by its workers.
pub struct Probing {
    per_cell: usize,
    one_at_a_time: Mutex<()>,
    ratios: Mutex<Ratios>,
}

impl Probing {
    /// Makes this many probes per data set and solver. Probes of earlier sessions with the same number of workers count.
    pub fn new(per_cell: u32, jobs: usize, earlier: &[Inflation]) -> Self {
        let earlier = earlier.iter().filter(|row| row.jobs == jobs as u64);
        let ratios = earlier.map(|row| (row.cell(), row.ratios.clone())).collect();
        Self { per_cell: per_cell as usize, one_at_a_time: Mutex::new(()), ratios: Mutex::new(ratios) }
    }

    /// Probes a run that has just ended on this worker, when one more is wanted and all other workers are inside a run.
    pub fn after(&self, worker: WorkerContext<'_>, run: &RunSpec, record: &RunRecord) {
        let gate = &worker.batch.gate;
        let neighbours = worker.batch.jobs - 1;
        let problem = record.identity.problem.clone();
        let cell = (problem.dataset.clone(), Some(problem), record.settings().solver.to_string());
        let enough = self.ratios.lock().get(&cell).is_some_and(|ratios| ratios.len() >= self.per_cell * ROUNDS);
        let Some(piece) = Piece::of(run, record).filter(|_| neighbours > 0 && !enough) else { return };
        // While another worker probes, its neighbours have to work.
        let Some(_turn) = self.one_at_a_time.try_lock() else { return };
        if gate.running() != neighbours {
            return;
        }
        let patience = Duration::from_secs_f64((0.5 + 0.1 * record.measured.totals.total_s).min(60.0));
        let alone = || {
            let _alone = gate.hold(patience)?;
            piece.seconds(worker)
        };
        // Paused workers need a moment to wake up, and must not end their runs in the meantime.
        let company = || {
            let seconds = gate.await_running(neighbours, patience).then(|| piece.seconds(worker))?;
            seconds.filter(|_| gate.running() == neighbours)
        };
        let ratios: Vec<f64> = (0..ROUNDS).map_while(|_| ratio(alone, company)).collect();
        if !ratios.is_empty() {
            self.ratios.lock().entry(cell).or_default().extend(ratios);
        }
    }

    /// One row per data set and solver that was probed.
    pub fn rows(&self, jobs: usize) -> Vec<Inflation> {
        let row = |((dataset, problem, solver), ratios): ((String, Option<ProblemKey>, String), Vec<f64>)| {
            let Interval { median: ratio, low, high } = median_interval(&ratios, CONFIDENCE)?;
            let (jobs, probes) = (jobs as u64, ratios.len() as u64);
            Some(Inflation { dataset, problem, solver, jobs, ratio, low, high, probes, ratios })
        };
        self.ratios.lock().clone().into_iter().filter_map(row).collect()
    }
}

/// Time in company over time alone, from pieces in the order alone, company, company, alone. `None` when one of the four
/// could not be measured.
pub fn ratio(mut alone: impl FnMut() -> Option<f64>, mut company: impl FnMut() -> Option<f64>) -> Option<f64> {
    let before = alone()?;
    let (first, second) = (company()?, company()?);
    let after = alone()?;
    let ratio = ((first * second) / (before * after)).sqrt();
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// The first iterations of a run under the virtual clock: the same steps every time, on any machine.
struct Piece {
    run: RunSpec,
    iterations: u64,
    repetitions: u64,
    /// Whether the run counts CPU time.
    cpu: bool,
}

impl Piece {
    /// Of a run that ended well, timed by a clock that others can disturb.
    fn of(run: &RunSpec, record: &RunRecord) -> Option<Self> {
        let clock = record.settings().clock;
        if clock.repeatable() || !record.status.is_done() {
            return None;
        }
        let points = || record.points().iter().filter(|point| point.iteration > 0);
        let point = points().rfind(|point| point.time_s <= PIECE_S).or_else(|| points().next())?;
        let repetitions = (PIECE_S / point.time_s).floor().max(1.0);
        if point.time_s > LONGEST_S || repetitions > MOST_REPETITIONS {
            return None;
        }
        let mut run = run.clone();
        let settings = &mut run.identity.settings;
        settings.clock = ClockKind::VIRTUAL;
        settings.budget = Budget::iterations(point.iteration);
        settings.evaluate = Cadence::At(Vec::new());
        let (iterations, repetitions) = (point.iteration, repetitions as u64);
        Some(Self { run, iterations, repetitions, cpu: clock == ClockKind::CPU })
    }

    /// Seconds of solver work; `None` when the batch is being stopped.
    fn seconds(&self, worker: WorkerContext<'_>) -> Option<f64> {
        let mut sum = 0.0;
        for _ in 0..self.repetitions {
            let reached = AtomicBool::new(false);
            let mut observer = FirstIterations { iterations: self.iterations, reached: &reached };
            let execution = Execution {
                parallel_evaluation: false,
                helpers: worker.helpers.cloned(),
                cancelled: &|| reached.load(Ordering::Relaxed) || worker.batch.stop.is_cancelled(),
            };
            // The run itself has just succeeded; if its beginning panics now, this probe is omitted.
            let outcome = panics::catch(|| (worker.batch.execute)(&self.run, &execution, &mut observer)).ok()?.ok()?;
            sum += if self.cpu { outcome.cpu_s } else { outcome.wall_s };
            if worker.batch.stop.is_cancelled() {
                return None;
            }
        }
        Some(sum)
    }
}

/// Ends a run after this many iterations without evaluating it.
struct FirstIterations<'a> {
    iterations: u64,
    reached: &'a AtomicBool,
}

impl Observer for FirstIterations<'_> {
    fn iteration(&mut self, iteration: u64, _passes: &[Moment]) {
        self.reached.store(iteration >= self.iterations, Ordering::Relaxed);
    }
}

/// What to print: the overall inflation with its interval, then a warning for every data set and solver whose whole
/// interval is above [`TOLERATED`], if there are enough ratios for one. `load` is the highest load average during the
/// runs: above the number of workers, other programs were busy too.
pub fn summary(rows: &[Inflation], load: f64) -> Vec<String> {
    let Some(worst) = rows.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio)) else { return Vec::new() };
    let all: Vec<f64> = rows.iter().flat_map(|row| row.ratios.iter().copied()).collect();
    let (low, high) = median_interval(&all, CONFIDENCE).map_or((f64::NAN, f64::NAN), |all| (all.low, all.high));
    let mut lines = vec![format!(
        "parallel timing is {:.2}× isolated ({low:.2}–{high:.2}; {} probes of {} data sets and solvers; largest {:.2}×: \
         {} {})",
        median(&all),
        all.len(),
        rows.len(),
        worst.ratio,
        worst.dataset,
        worst.solver
    )];
    let above: Vec<String> = rows
        .iter()
        .filter(|row| row.low > TOLERATED && row.ratios.len() >= FEWEST_PAIRS)
        .map(|row| format!("{} {} {:.2}× ({:.2}–{:.2})", row.dataset, row.solver, row.ratio, row.low, row.high))
        .collect();
    if !above.is_empty() {
        lines.push(format!(
            "warning: times are inflated by more than 5 %: {}; for times to publish run with --isolated (add --force to \
             redo finished runs), or use fewer --jobs",
            above.join(", ")
        ));
        if load > worst.jobs as f64 + 1.0 {
            let jobs = worst.jobs;
            lines.push(format!("other programs were busy as well: the load was up to {load:.1} for {jobs} workers"));
        }
    }
    lines
}
