//! τ oracle calls at one w: the same bits at any number of threads, time by lanes and not by threads, limits kept, and
//! bad values of `tau` and `lanes` refused by name.

use std::sync::Arc;

use crate::common::{chain, graph, multiclass};
use ssvm::clock::Helpers;
use ssvm::solver::{SolverTable, Standard};
use ssvm::{
    Budget, Cadence, ClockKind, Execution, Outcome, Problem, Quiet, RunLimits, SolverInfo, SolverSpec, TracePoint,
    Value, drive,
};

const SOLVERS: [&str; 4] = ["bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"];

/// A run without an observer, with helper threads.
struct With(Option<Arc<Helpers>>);

impl With {
    fn threads(count: usize) -> Self {
        Self((count > 1).then(|| Arc::new(Helpers::new(count - 1, |_| {}).unwrap())))
    }
}

fn batched(solver: &str, tau: u64) -> SolverSpec {
    SolverSpec::new(solver).with("tau", Value::Count(tau))
}

fn run<P: Problem>(problem: &P, spec: &SolverSpec, clock: ClockKind, budget: &Budget, with: &mut With) -> Outcome {
    let mut solver = Standard.build(spec, problem, 7).unwrap();
    let execution = Execution { helpers: with.0.clone(), ..Execution::default() };
    let limits = RunLimits { clock, execution, ..RunLimits::new(budget.clone(), Cadence::Every(1)) };
    drive(problem, &mut *solver, &limits, &mut Quiet).unwrap()
}

fn virtual_points<P: Problem>(problem: &P, spec: &SolverSpec, with: &mut With) -> (Vec<TracePoint>, Vec<u64>) {
    let mut outcome = run(problem, spec, ClockKind::VIRTUAL, &Budget::iterations(6), with);
    for point in &mut outcome.points {
        // The only measured time on the virtual clock.
        point.cpu_s = 0.0;
    }
    (outcome.points, outcome.weights.iter().map(|w| w.to_bits()).collect())
}

/// The slope rule decides on passes: times would change them.
#[test]
fn the_number_of_threads_changes_no_bit() {
    fn check<P: Problem>(problem: &P) {
        let mut crews: Vec<With> = [1, 2, 3, 7].map(With::threads).into();
        for solver in SOLVERS {
            for tau in [2, 5, problem.terms() as u64] {
                for order in ["permutation", "uniform"] {
                    let spec = batched(solver, tau).with("order", Value::Word(order.into()));
                    let alone = virtual_points(problem, &spec, &mut crews[0]);
                    for crew in &mut crews[1..] {
                        assert_eq!(virtual_points(problem, &spec, crew), alone, "{spec:?}");
                    }
                }
            }
        }
    }
    check(&multiclass(1, 23));
    check(&chain(1, 14));
    check(&graph(1, 17, 2));
    check(&graph(1, 9, 4));
}

#[test]
fn every_call_is_counted_and_read_at_any_number_of_threads() {
    let problem = graph(3, 11, 2);
    for threads in [1, 3] {
        let budget = Budget { oracle_calls: Some(3 * 11 + 5), ..Budget::default() };
        let outcome = run(&problem, &batched("bcfw", 4), ClockKind::WALL, &budget, &mut With::threads(threads));
        let last = outcome.points.last().unwrap();
        assert_eq!((outcome.oracle_ns.len(), last.oracle_calls, last.iteration), (38, 38, 3));
        assert!(last.oracle_time_s > 0.0 && last.oracle_time_s <= last.time_s);
    }
}

/// With the passes fixed, lanes change the time and nothing else: one lane takes as long as all calls in turn.
#[test]
fn lanes_change_virtual_time_alone() {
    let problem = graph(2, 12, 2);
    let points = |lanes: Option<u64>| {
        let spec = lanes.into_iter().fold(batched("bcfw", 4), |spec, lanes| spec.with("lanes", Value::Count(lanes)));
        virtual_points(&problem, &spec, &mut With::threads(2)).0
    };
    let (one, two, four) = (points(Some(1)), points(Some(2)), points(None));
    for ((one, two), four) in one.iter().zip(&two).zip(&four) {
        assert_eq!(one.dual.to_bits(), two.dual.to_bits());
        assert_eq!(one.dual.to_bits(), four.dual.to_bits());
        assert!(one.oracle_time_s > two.oracle_time_s && two.oracle_time_s > four.oracle_time_s);
        assert!(two.oracle_time_s >= one.oracle_time_s / 2.0 && four.oracle_time_s >= one.oracle_time_s / 4.0);
        let (steps_one, steps_four) = (one.time_s - one.oracle_time_s, four.time_s - four.oracle_time_s);
        assert!((steps_one - steps_four).abs() < 1e-12, "steps are taken one after another");
    }
}

/// At w = 0 all calls of a first pass are the same with τ = n as in Frank–Wolfe, and none knows the steps of the others.
#[test]
fn the_calls_of_a_batch_see_one_w() {
    let problem = multiclass(4, 20);
    let first = |spec: &SolverSpec| {
        let outcome = run(&problem, spec, ClockKind::VIRTUAL, &Budget::iterations(1), &mut With::threads(1));
        outcome.points[0].dual
    };
    let (bcfw, all, fw) = (first(&"bcfw".into()), first(&batched("bcfw", 20)), first(&"fw".into()));
    assert!(bcfw != all, "staleness shows");
    assert!(all >= fw, "n line searches towards the planes of one w are not worse than one: {all} and {fw}");
}

#[test]
fn wrong_values_are_refused_by_name() {
    let problem = multiclass(1, 6);
    for solver in SOLVERS {
        let refused = Standard.build(&batched(solver, 7), &problem, 1).err().unwrap().to_string();
        assert_eq!(refused, "tau = 7 is more than the 6 examples of the data set; make it smaller");
        assert!(Standard.build(&batched(solver, 6), &problem, 1).is_ok());
        let infos = Standard.infos();
        let refusal = |given: &[(&str, &str)]| {
            let given: Vec<(&str, String)> = given.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
            SolverInfo::find(infos, solver).unwrap().spec(&given, infos).unwrap_err()
        };
        assert_eq!(refusal(&[("tau", "0")]).key, "tau");
        assert_eq!(refusal(&[("lanes", "1")]).key, "lanes");
        assert!(refusal(&[("tau", "4"), ("lanes", "4")]).message.contains("must be below tau = 4"));
    }
}
