//! Real data: trajectories of the authors' own C++ on USPS, and known optima.

mod common;

use std::path::Path;

use ssvm_bench::config::{Budget, Cadence, ClockKind, Order, Passes, RunSettings, SolverKind, SolverSpec};
use ssvm_bench::dataset::{self, DataDir};
use ssvm_bench::exec::{Quiet, execute};
use ssvm_bench::problem::AnyProblem;
use ssvm_bench::trace::TracePoint;

fn load(name: &str, folder: &Path) -> AnyProblem {
    let dataset = dataset::load(name, &DataDir::resolve(Some(folder))).unwrap();
    AnyProblem::new(&dataset, None, None).unwrap()
}

fn points(problem: &AnyProblem, solver: SolverSpec, iterations: u64, evaluate: Cadence) -> Vec<TracePoint> {
    let settings = RunSettings {
        solver,
        seed: 1,
        clock: ClockKind::Virtual,
        budget: Budget { iterations: Some(iterations), ..Budget::default() },
        evaluate,
    };
    execute(problem, &settings, &mut Quiet).unwrap().points
}

#[test]
fn usps_follows_the_authors_trajectories() {
    let Some(folder) = common::real_data("usps_follows_the_authors_trajectories") else { return };
    let problem = load("usps", &folder);
    for passes in [0, 1, 5] {
        for averaged in [false, true] {
            let name = format!("usps_sequential_passes{passes}_{}.csv", if averaged { "avg" } else { "raw" });
            let text = std::fs::read_to_string(Path::new("tests/fixtures/reference").join(&name)).unwrap();
            let rows: Vec<Vec<f64>> =
                text.lines().skip(1).map(|line| line.split(',').map(|f| f.parse().unwrap()).collect()).collect();
            assert!(rows.len() >= 5);
            let kind = match (passes, averaged) {
                (0, false) => SolverKind::Bcfw,
                (0, true) => SolverKind::BcfwAvg,
                (_, false) => SolverKind::MpBcfw,
                (_, true) => SolverKind::MpBcfwAvg,
            };
            let spec = SolverSpec { order: Order::Sequential, passes: Passes::Fixed(passes), ..SolverSpec::new(kind) };
            let at: Vec<u64> = rows.iter().map(|row| row[0] as u64).collect();
            let ours = points(&problem, spec, at[at.len() - 1], Cadence::At(at));
            assert_eq!(ours.len(), rows.len());
            for (row, point) in rows.iter().zip(&ours) {
                let dual = row[2].max(row[3]);
                for (what, theirs, ours) in [
                    ("primal", row[1], point.primal),
                    ("dual_solution", row[2], point.dual_solution),
                    ("dual", dual, point.dual),
                ] {
                    // Their files have 12 decimals.
                    let allowed = 1e-9 * theirs.abs() + 1e-12;
                    assert!(
                        (theirs - ours).abs() <= allowed,
                        "{name}, iteration {}: {what} {ours:.14} instead of {theirs:.12}",
                        row[0]
                    );
                }
            }
        }
    }
}

#[test]
fn every_solver_brackets_the_optimum_of_usps() {
    let Some(folder) = common::real_data("every_solver_brackets_the_optimum_of_usps") else { return };
    const LOW: f64 = 0.016_587_734_792;
    const HIGH: f64 = 0.016_587_739_933;
    let problem = load("usps", &folder);
    for kind in SolverKind::ALL {
        for point in points(&problem, SolverSpec::new(kind), 10, Cadence::Log) {
            assert!(point.dual <= HIGH && point.dual_solution <= HIGH, "{kind}: dual {}", point.dual);
            assert!(point.primal >= LOW, "{kind}: primal {}", point.primal);
        }
    }
    let long = points(&problem, SolverSpec::new(SolverKind::MpBcfwAvg), 150, Cadence::At(vec![150]));
    let last = &long[long.len() - 1];
    assert!(last.dual <= HIGH && last.primal >= LOW);
    assert!(last.gap < 1.2e-3, "the long run leaves a gap of {}", last.gap);
}

#[test]
fn ocr_is_read_whole_and_solvers_agree() {
    let Some(folder) = common::real_data("ocr_is_read_whole_and_solvers_agree") else { return };
    let problem = load("ocr", &folder);
    assert_eq!((problem.facts().0, problem.facts().1), (6877, 4004));
    let (mut best_dual, mut best_primal) = (f64::NEG_INFINITY, f64::INFINITY);
    for kind in SolverKind::ALL {
        for point in points(&problem, SolverSpec::new(kind), 6, Cadence::Every(2)) {
            best_dual = best_dual.max(point.dual);
            best_primal = best_primal.min(point.primal);
        }
    }
    assert!(best_dual <= best_primal);
}
