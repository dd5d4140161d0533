//! Rows of the table of solvers that measure instead of solving: what a bench adds to the standard program, so that it
//! times the same compiled code as everybody runs.
#![allow(dead_code)] // each bench uses its own part

use std::sync::Arc;

use ssvm_bench::clock::Limits;
use ssvm_bench::drive::AnyProblem;
use ssvm_bench::solver::{SolverTable, Standard};
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Harness, Iteration, Meter, Metered, Outcome, Params, Problem, Quiet,
    Request, RunSettings, Solution, Solver, SolverInfo, SolverRow, SolverSpec,
};

/// The data set of this name, ready for every standard solver and the rows of this file.
pub fn open(name: &str) -> Arc<dyn AnyProblem> {
    let harness = Harness::standard().solver(Sweep).solver(Bare);
    let opened = harness.open(&Request::new(name, &DataDir::resolve(None)));
    opened.unwrap_or_else(|error| panic!("{name}: {error}")).problem
}

/// Some iterations, evaluated once at the end, off the clock.
pub fn run(problem: &dyn AnyProblem, solver: impl Into<SolverSpec>, clock: ClockKind, iterations: u64) -> Outcome {
    let budget = Budget::iterations(iterations);
    let evaluate = Cadence::At(vec![iterations]);
    let settings = RunSettings { solver: solver.into(), seed: 1, clock, budget, evaluate };
    problem.run(&settings, &mut Quiet).unwrap_or_else(|error| panic!("{error}"))
}

/// `sweep`: an iteration is one oracle call for every term at a w that is not trivial, and nothing else.
pub struct Sweep;

impl SolverRow for Sweep {
    fn info(&self) -> SolverInfo {
        SolverInfo { name: "sweep", label: "sweep", about: "oracle calls at one w", ..SolverInfo::PLAIN }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, _: &Params, _: u64) -> Box<dyn Solver + 'p> {
        // A tenth of a Frank–Wolfe step away from zero, under a meter of its own: no part of what is measured.
        let mut aside = Meter::new(ClockKind::VIRTUAL, Limits::default(), &never);
        let (mut work, mut plane) = (problem.work(), P::Plane::default());
        let zero = vec![0.0; problem.dim()];
        let mut w = zero.clone();
        for i in 0..problem.terms() {
            problem.oracle(&mut aside, i, &zero, &mut work, &mut plane);
            problem.add_plane(i, &plane, -0.1 / problem.lambda(), &mut w);
        }
        Box::new(Sweeping { problem, w, work, plane })
    }
}

struct Sweeping<'p, P: Problem> {
    problem: Metered<'p, P>,
    w: Vec<f64>,
    work: P::Work,
    plane: P::Plane,
}

impl<P: Problem> Solver for Sweeping<'_, P> {
    fn iterate(&mut self, meter: &mut Meter<'_>) -> Iteration {
        for i in 0..self.problem.terms() {
            self.problem.oracle(meter, i, &self.w, &mut self.work, &mut self.plane);
        }
        Iteration::Complete
    }

    fn solution(&self) -> Solution {
        Solution { w: self.w.clone(), offset: 0.0 }
    }

    fn dual(&self) -> f64 {
        0.0
    }
}

/// `bare`: BCFW without latency readings. Its calls are not counted.
pub struct Bare;

impl SolverRow for Bare {
    fn info(&self) -> SolverInfo {
        let infos = Standard.infos();
        let bcfw = infos.iter().find(|info| info.name == "bcfw").expect("BCFW is a standard solver");
        SolverInfo { name: "bare", label: "bare", about: "BCFW without the instrument", ..bcfw.clone() }
    }

    fn build<'p, P: Problem>(&self, problem: Metered<'p, P>, params: &Params, seed: u64) -> Box<dyn Solver + 'p> {
        let solver = Standard.build_row("bcfw", problem, params, seed).expect("BCFW is a standard solver");
        let meter = Meter::new(ClockKind::WALL, Limits::default(), &never).without_instrument();
        Box::new(Uninstrumented { solver, meter })
    }
}

fn never() -> bool {
    false
}

struct Uninstrumented<'p> {
    solver: Box<dyn Solver + 'p>,
    meter: Meter<'static>,
}

impl Solver for Uninstrumented<'_> {
    fn iterate(&mut self, _: &mut Meter<'_>) -> Iteration {
        self.meter.resume();
        let ended = self.solver.iterate(&mut self.meter);
        self.meter.pause();
        ended
    }

    fn solution(&self) -> Solution {
        self.solver.solution()
    }

    fn dual(&self) -> f64 {
        self.solver.dual()
    }
}
