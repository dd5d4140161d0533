//! Rows that a bench adds to the table of solvers of the standard program, so that it times the same compiled code as the program.

use std::sync::Arc;

use ssvm::clock::Limits;
use ssvm::drive::AnyProblem;
use ssvm::solver::{SolverTable, Standard};
use ssvm_bench::{
    Budget, Cadence, Catalog, ClockKind, DataDir, Execution, Harness, Interrupt, Iteration, Meter, Metered, Outcome,
    Params, Problem, Quiet, Request, RunSettings, Solution, Solver, SolverInfo, SolverRow, SolverSpec,
};

/// The data set of this name, ready for every standard solver and the rows of this file.
pub fn open(name: &str) -> Arc<dyn AnyProblem> {
    let harness = Harness::standard().solver(Bare);
    let opened = harness.open(&Request::new(name, &DataDir::resolve(None)));
    opened.unwrap_or_else(|error| panic!("{name}: {error}")).problem
}

/// Some iterations, evaluated once at the end, off the clock.
pub fn run(problem: &dyn AnyProblem, solver: impl Into<SolverSpec>, clock: ClockKind, iterations: u64) -> Outcome {
    let budget = Budget::iterations(iterations);
    let evaluate = Cadence::At(vec![iterations]);
    let settings = RunSettings {
        solver: solver.into(),
        seed: 1,
        clock,
        oracle_cost: ssvm_bench::OracleCost::ONE,
        budget,
        evaluate,
    };
    problem.run(&settings, &Execution::default(), &mut Quiet).unwrap_or_else(|error| panic!("{error}"))
}

/// `bare`: BCFW without latency readings. Its calls are not counted.
pub struct Bare;

impl SolverRow for Bare {
    fn info(&self) -> SolverInfo {
        let infos = Standard.infos();
        let bcfw = infos.iter().find(|info| info.name == "bcfw").expect("BCFW is a standard solver");
        SolverInfo { name: "bare", about: "BCFW without the instrument", ..bcfw.clone() }
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
    fn iterate(&mut self, _: &mut Meter<'_>) -> Result<Iteration, Interrupt> {
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
