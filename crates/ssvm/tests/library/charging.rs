//! Solvers are charged on the virtual clock for what they do, and the instrument for what it costs.

use crate::common::{chain, graph, multiclass};
use ssvm::{ClockKind, Hinge, OracleCost, Outcome, Problem, Simple, Solve};

fn run<P: Problem>(problem: &P, solver: &str) -> Outcome {
    Solve::new(problem).solver(solver).clock(ClockKind::VIRTUAL).iterations(12).run().unwrap()
}

/// Virtual time outside the oracle.
fn own<P: Problem>(problem: &P, solver: &str) -> f64 {
    run(problem, solver).points.last().map_or(0.0, |last| last.time_s - last.oracle_time_s)
}

fn averaging_costs_time<P: Problem>(problem: &P) {
    // The averaged solver makes the same steps.
    let [raw, averaged] = ["bcfw", "bcfw-avg"].map(|solver| own(problem, solver));
    assert!(averaged > raw, "{averaged} against {raw}");
}

fn one_product_costs_less_than_two<P: Problem>(problem: &P) {
    // FW adds a plane to its sum; BCFW makes a direction and moves, but where it has nothing to gain.
    let [fw, bcfw] = ["fw", "bcfw"].map(|solver| own(problem, solver));
    assert!(fw < bcfw, "{fw} against {bcfw}");
}

#[test]
fn averages_are_charged() {
    averaging_costs_time(&multiclass(1, 40));
    averaging_costs_time(&chain(1, 15));
    averaging_costs_time(&graph(1, 15, 2));
    averaging_costs_time(&graph(1, 10, 4));
}

#[test]
fn frank_wolfe_pays_for_one_product() {
    one_product_costs_less_than_two(&chain(1, 15));
    one_product_costs_less_than_two(&graph(1, 15, 2));
    one_product_costs_less_than_two(&graph(1, 10, 4));
}

#[test]
fn readings_are_never_free() {
    for _ in 0..5 {
        assert!(run(&multiclass(1, 40), "bcfw").instrument_s > 0.0);
    }
}

#[test]
fn a_run_that_would_measure_its_readings_is_refused() {
    let problem = Simple::new(Hinge);
    let run = |clock| Solve::new(&problem).clock(clock).oracle_cost(OracleCost::new(2.0).unwrap()).iterations(5).run();
    assert!(run(ClockKind::CPU).unwrap_err().to_string().contains("use the wall clock"));
    assert!(run(ClockKind::WALL).is_ok() && run(ClockKind::VIRTUAL).is_ok());
}
