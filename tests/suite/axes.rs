//! Budgets that ask for iterations and time, and axes on which all solvers of a data set end together.

use std::path::Path;

use crate::common::hand;
use crate::common::records::{executed, point, results, run};
use ssvm_bench::experiment::{BUILTIN, Experiment};
use ssvm_bench::render::figure::convergence::drawn_length;
use ssvm_bench::store::Status;
use ssvm_bench::study::{Axis, Bands};
use ssvm_bench::{Budget, Cadence, Catalog, Harness, StopReason, TracePoint, Until};

const SET: &str = "usps-synth:n=40";

fn parse(text: &str) -> ssvm_bench::Result<Experiment> {
    Experiment::parse(Path::new("c.toml"), text, Harness::standard().solvers())
}

#[test]
fn a_run_goes_on_until_iterations_and_time_are_both_reached() {
    let short = executed(SET, "bcfw", 1, &Budget::iterations(8), &Cadence::Every(1));
    let time = short[0].points().last().unwrap().time_s;
    let both = |iterations: u64, factor: f64| {
        let budget = Budget { time_s: Some(factor * time), until: Until::All, ..Budget::iterations(iterations) };
        let record = executed(SET, "bcfw", 1, &budget, &Cadence::Every(1)).remove(0);
        let last = record.points().last().unwrap().clone();
        (record.status, last)
    };
    let (status, last) = both(8, 3.0);
    assert_eq!(status, Status::Done(StopReason::Time));
    assert!(last.iteration > 20 && last.time_s >= 3.0 * time && !last.partial, "{last:?}");
    let (status, last) = both(8, 0.25);
    assert_eq!((status, last.iteration), (Status::Done(StopReason::Iterations), 8));
    let first = Budget { time_s: Some(0.25 * time), ..Budget::iterations(8) };
    let first = executed(SET, "bcfw", 1, &first, &Cadence::Every(1)).remove(0);
    assert_eq!(first.status, Status::Done(StopReason::Time), "the first is the default");
}

#[test]
fn a_gap_and_oracle_calls_end_a_run_in_any_case() {
    let budget = Budget { time_s: Some(1e3), oracle_calls: Some(120), until: Until::All, ..Budget::iterations(1000) };
    let record = executed(SET, "bcfw", 1, &budget, &Cadence::Every(1)).remove(0);
    assert_eq!(record.status, Status::Done(StopReason::OracleCalls));
    let budget = Budget { oracle_calls: None, gap: Some(0.5), ..budget };
    let record = executed(SET, "mp-bcfw", 1, &budget, &Cadence::Every(1)).remove(0);
    assert_eq!(record.status, Status::Done(StopReason::Gap));
}

#[test]
fn configs_say_until() {
    let text = |budget: &str| {
        format!("name = \"x\"\n[budget]\n{budget}\n[[dataset]]\nname = \"{SET}\"\n[[solver]]\nname = \"bcfw\"\n")
    };
    let all = parse(&text("iterations = 3\ntime_s = 0.5\nuntil = \"all\"")).unwrap();
    assert_eq!(all.datasets[0].budget.until, Until::All);
    assert_eq!(parse(&text("iterations = 3\ntime_s = 0.5")).unwrap().datasets[0].budget.until, Until::First);
    for (budget, said) in [
        ("iterations = 3\nuntil = \"all\"", "needs iterations and time_s"),
        ("iterations = 3\ntime_s = 1\nuntil = \"both\"", "first, all"),
    ] {
        let error = parse(&text(budget)).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("c.toml"), "{error}");
    }
    for name in ["quick", "paper"] {
        let (_, text) = BUILTIN.iter().find(|(builtin, _)| *builtin == name).unwrap();
        assert!(parse(text).unwrap().datasets.iter().all(|set| set.budget.until == Until::All), "{name}");
    }
}

#[test]
fn the_time_axis_reaches_to_the_end_of_the_last_solver_and_lines_end_where_runs_end() {
    let curve = |second: f64| -> Vec<TracePoint> {
        (1..=40).map(|k| point(k, second * k as f64, 1.0 + 1.0 / k as f64, 1.0)).collect()
    };
    let results = results(vec![run("usps", "bcfw", 0, curve(0.0125)), run("usps", "mp-bcfw", 0, curve(0.0375))]);
    let bands = results.own.bands(Axis::Time).unwrap();
    for (band, end) in bands.iter().zip([0.5, 1.5]) {
        let last = band.x[drawn_length(band) - 1];
        assert!((last / end - 1.0).abs() < 1e-9, "drawn to {last} of {end}");
    }
    assert!(hand::figures(&results, &[]).unwrap().0.iter().any(|figure| figure.name == "runtime_convergence"));
}

#[test]
fn the_line_of_a_solver_that_reached_its_gap_ends_there() {
    let curve = |last: u64| (1..=last).map(|k| point(k, 0.1 * k as f64, 1.0 + 1.0 / k as f64, 1.0)).collect();
    let mut fast = run("usps", "bcfw", 0, curve(4));
    fast.status = Status::Done(StopReason::Gap);
    let results = results(vec![fast, run("usps", "mp-bcfw", 0, curve(40))]);
    for axis in [Axis::Time, Axis::Iteration] {
        let bands = results.own.bands(axis).unwrap();
        let [fast, slow] = [bands[0], bands[1]].map(|band| band.x[drawn_length(band) - 1]);
        assert!((slow / fast - 10.0).abs() < 1e-9, "{axis:?}: {fast} and {slow}");
    }
}

#[test]
fn solvers_with_a_budget_of_both_share_both_axes() {
    let slow = executed(SET, "mp-bcfw", 1, &Budget::iterations(20), &Cadence::Log);
    let time = slow[0].points().last().unwrap().time_s;
    let budget = Budget { time_s: Some(time), until: Until::All, ..Budget::iterations(20) };
    let solvers = ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"];
    let records = solvers.iter().flat_map(|solver| executed(SET, solver, 2, &budget, &Cadence::Log)).collect();
    let frames = results(records).own;
    let end = |band: &&Bands| band.x[drawn_length(band) - 1];
    let ends = [Axis::Iteration, Axis::Time]
        .map(|axis| frames.bands(axis).unwrap().iter().map(end).fold(f64::INFINITY, f64::min));
    assert!(ends[0] >= 20.0 && ends[1] >= time * (1.0 - 1e-9), "{ends:?} of 20 and {time}");
}
